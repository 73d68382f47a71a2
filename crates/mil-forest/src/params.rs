//! The choices that all forests of this crate share.

use mil_core::{ParamError, ParamField, ParamRange};

/// What a test should make small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// $-\sum_k p_k\ln p_k$, the paper's.
    Entropy,
    /// $1-\sum_k p_k^2$.
    Gini,
}

/// Which tests a node draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tests {
    /// The best threshold of each feature drawn: `best`.
    Best,
    /// One threshold of each feature drawn, somewhere between two instances of the node: `random`. It falls where the values are, however long their tails.
    Random,
    /// One threshold of each feature drawn, somewhere between the smallest and the largest value of the node: `uniform`. With all instances for every tree these are extremely randomised trees (Geurts, Ernst & Wehenkel 2006).
    Uniform,
    /// One threshold of a plane over so many features, whose weights are uniform in $[-1,1]$ for features of unit deviation: `hyperplane(3)`.
    Hyperplane(usize),
}

/// How many tests a node draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestCount {
    /// $\lfloor\sqrt d\rfloor$ of $d$ features.
    Root,
    /// One for each feature.
    All,
    /// So many, at least 1; no more than there are features where each is a feature of its own.
    Number(usize),
}

impl TestCount {
    fn of(self, n_features: usize) -> usize {
        match self {
            TestCount::Root => n_features.isqrt(),
            TestCount::All => n_features,
            TestCount::Number(n) => n,
        }
    }
}

/// What each tree is grown on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// As many instances as there are, drawn with replacement: the paper's.
    Instances,
    /// As many bags as there are, drawn with replacement, each with all its instances. Only so is a bag that a tree has not drawn new to it.
    Bags,
    /// All instances.
    All,
}

/// How much an instance counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// All alike.
    Instances,
    /// As one of its bag, so that all bags count alike.
    Bags,
    /// As one of its bag's class, so that all classes count alike, whatever their instances. Labels that MIForest draws do not change it.
    Classes,
}

/// The parameters of growth, resolved for a number of features.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Number of trees.
    pub n_trees: usize,
    /// Tests on the way from the root to a leaf, at most.
    pub max_depth: usize,
    /// Instances that a node must have to be split.
    pub min_split: usize,
    /// What a test should make small.
    pub criterion: Criterion,
    /// Which tests a node draws.
    pub tests: Tests,
    /// How many.
    pub n_tests: usize,
    /// What each tree is grown on.
    pub sampling: Sampling,
    /// Fixes what is drawn.
    pub seed: u64,
}

impl Growth {
    /// Refuses what no forest can be grown with; the learners' own ranges are as wide or narrower.
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        ParamRange::Within(1.0, 1e6).require("n_trees", self.n_trees as f64)?;
        ParamRange::AtLeast(2.0).require("min_split", self.min_split as f64)?;
        ParamRange::AtLeast(1.0).require("n_tests", self.n_tests as f64)?;
        ParamField::check(&self.tests)
    }

    /// The number of tests for so many features.
    pub(crate) fn n_tests(count: TestCount, tests: Tests, n_features: usize) -> usize {
        let n_tests = count.of(n_features).max(1);
        match tests {
            Tests::Best | Tests::Random | Tests::Uniform => n_tests.min(n_features),
            Tests::Hyperplane(_) => n_tests,
        }
    }
}

/// Declares a learner that grows forests: the shared parameters, then its own.
macro_rules! forest_params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($own:tt)*
        }
    ) => {
        mil_core::params! {
            $(#[$meta])*
            pub struct $name {
                n_trees: usize = 50, mil_core::ParamRange::Within(1.0, 1e6), "Number of trees.";
                max_depth: usize = 20, mil_core::ParamRange::Within(0.0, 1e4), "Tests on the way from the root of a tree to a leaf, at most.";
                min_split: usize = 2, mil_core::ParamRange::AtLeast(2.0), "Instances that a node must have to be split.";
                criterion: $crate::Criterion = $crate::Criterion::Entropy, mil_core::ParamRange::Any, "What a test should make small.";
                tests: $crate::Tests = $crate::Tests::Best, mil_core::ParamRange::Any, "Which tests a node draws.";
                n_tests: $crate::TestCount = $crate::TestCount::Root, mil_core::ParamRange::Any, "How many tests a node draws.";
                sampling: $crate::Sampling = $crate::Sampling::Bags, mil_core::ParamRange::Any, "What each tree is grown on.";
                weighting: $crate::Weighting = $crate::Weighting::Bags, mil_core::ParamRange::Any, "How much an instance counts.";
                resolution: $crate::Resolution = $crate::Resolution::Exact, mil_core::ParamRange::Any, "How finely values are told apart during growth.";
                rule: mil_core::BagRule = mil_core::BagRule::Max, mil_core::ParamRange::Any, "How posteriors of instances become those of the bag.";
                seed: u64 = 0, mil_core::ParamRange::Any, "Fixes samples, tests and labels drawn.";
                $($own)*
            }
        }

        impl $name {
            /// The parameters of growth for instances of so many features.
            #[must_use]
            pub fn growth(&self, n_features: usize) -> $crate::Growth {
                $crate::Growth {
                    n_trees: self.n_trees,
                    max_depth: self.max_depth,
                    min_split: self.min_split,
                    criterion: self.criterion,
                    tests: self.tests,
                    n_tests: $crate::Growth::n_tests(self.n_tests, self.tests, n_features),
                    sampling: self.sampling,
                    seed: self.seed,
                }
            }
        }
    };
}
pub(crate) use forest_params;

mil_core::choice!(Criterion { Entropy = "entropy", Gini = "gini" });
mil_core::choice!(Sampling { Instances = "instances", Bags = "bags", All = "all" });
mil_core::choice!(Weighting { Instances = "instances", Bags = "bags", Classes = "classes" });

impl ParamField for Tests {
    const KIND: &'static str = "one of best, random, uniform, hyperplane(features)";

    fn parse(word: &str) -> Option<Tests> {
        match word {
            "best" => Some(Tests::Best),
            "random" => Some(Tests::Random),
            "uniform" => Some(Tests::Uniform),
            _ => word.strip_prefix("hyperplane(")?.strip_suffix(')')?.parse().ok().map(Tests::Hyperplane),
        }
    }

    fn show(&self) -> String {
        match self {
            Tests::Best => "best".to_owned(),
            Tests::Random => "random".to_owned(),
            Tests::Uniform => "uniform".to_owned(),
            Tests::Hyperplane(n_terms) => format!("hyperplane({n_terms})"),
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        match *self {
            Tests::Best | Tests::Random | Tests::Uniform => Ok(()),
            Tests::Hyperplane(n_terms) => ParamRange::AtLeast(1.0).require("features of a hyperplane", n_terms as f64),
        }
    }
}

impl ParamField for TestCount {
    const KIND: &'static str = "one of root, all, or an integer";

    fn parse(word: &str) -> Option<TestCount> {
        match word {
            "root" => Some(TestCount::Root),
            "all" => Some(TestCount::All),
            _ => word.parse().ok().map(TestCount::Number),
        }
    }

    fn show(&self) -> String {
        match self {
            TestCount::Root => "root".to_owned(),
            TestCount::All => "all".to_owned(),
            TestCount::Number(n) => n.to_string(),
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        match *self {
            TestCount::Root | TestCount::All => Ok(()),
            TestCount::Number(n) => ParamRange::Within(1.0, 1e9).require("n_tests", n as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_read_back_from_its_word() {
        fn holds<P: ParamField + PartialEq + std::fmt::Debug>(choices: &[P]) {
            for choice in choices {
                assert_eq!(P::parse(&choice.show()).as_ref(), Some(choice));
            }
            assert_eq!(P::parse("neither"), None);
        }
        holds(&[Criterion::Entropy, Criterion::Gini]);
        holds(&[Tests::Best, Tests::Random, Tests::Uniform, Tests::Hyperplane(4)]);
        holds(&[TestCount::Root, TestCount::All, TestCount::Number(7)]);
        holds(&[Sampling::Instances, Sampling::Bags, Sampling::All]);
        holds(&[Weighting::Instances, Weighting::Bags, Weighting::Classes]);
    }

    #[test]
    fn counts_of_nothing_are_refused() {
        assert!(Tests::Hyperplane(0).check().is_err() && TestCount::Number(0).check().is_err());
    }

    #[test]
    fn the_number_of_tests_is_at_least_one_and_no_more_than_the_features() {
        assert_eq!(Growth::n_tests(TestCount::Root, Tests::Best, 166), 12);
        assert_eq!(Growth::n_tests(TestCount::Root, Tests::Best, 1), 1);
        assert_eq!(Growth::n_tests(TestCount::Number(500), Tests::Random, 9), 9);
        assert_eq!(Growth::n_tests(TestCount::Number(500), Tests::Hyperplane(2), 9), 500);
    }
}
