//! Learning from positive bags only, where negative ones are at hand but must not be seen.

use crate::bag::BagSet;
use crate::error::FitError;
use crate::label::Label;
use crate::learner::{BagModel, Learner};
use crate::tuning::Tunable;

/// Shows a learner of unlabelled bags the positive ones of a labelled set, and nothing of the others.
///
/// A one-class learner takes a `BagSet<()>`, all of whose bags it takes for positive; so it cannot see a negative bag by its type. This wrapper makes it a learner of two classes, for
/// [cross-validation](crate::CrossValidation) above all: training folds lose their negative bags, test folds keep them. Scaling goes inside, `PositivesOnly { learner: Scaled { .. } }`, so that negative bags have no say
/// in it either. [`Tuned`](crate::Tuned) over it does look at negative bags: it chooses settings by how they tell both classes apart.
///
/// A set without a positive bag is refused, one without a negative bag is not.
///
/// ```
/// use mil_core::{BagModel, BagSet, FitError, Label, Learner, PositivesOnly, ScoreError};
/// # use mil_core::Bag;
/// /// Takes a bag for positive if it is as large as the smallest training bag.
/// struct Large;
/// struct AtLeast(usize);
/// # impl BagModel for AtLeast {
/// #     fn n_features(&self) -> usize { 1 }
/// #     fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> { Ok(bag.n_instances() as f64 - self.0 as f64) }
/// # }
/// impl Learner<()> for Large {
///     type Model = AtLeast;
///     fn fit(&self, bags: &BagSet<()>) -> Result<AtLeast, FitError> {
///         Ok(AtLeast(bags.bags().map(|bag| bag.n_instances()).min().expect("a set has bags")))
///     }
/// }
/// let mut builder = BagSet::builder();
/// builder.bag("a", Label::Positive, [[1.0], [2.0]])?.bag("b", Label::Negative, [[1.0]])?;
/// let model = PositivesOnly { learner: Large }.fit(&builder.build()?)?;
/// assert_eq!(model.0, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PositivesOnly<L> {
    /// Who learns from the positive bags.
    pub learner: L,
}

impl<L: Learner<()>> Learner for PositivesOnly<L> {
    type Model = L::Model;

    fn fit(&self, bags: &BagSet<Label>) -> Result<L::Model, FitError> {
        self.learner.fit(&bags.positives()?)
    }
}

/// Nothing is shared: what a fit computes depends on which positive bags it sees, the scale of their features to begin with.
impl<L: Learner<(), Model: BagModel> + Clone> Tunable for PositivesOnly<L> {
    type Values<'a> = ();

    fn shares_values(&self, _: &Self) -> bool {
        true
    }

    fn values(&self, _: &BagSet<Label>) -> Result<(), FitError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bag::Bag;
    use crate::error::ScoreError;
    use crate::scale::{Scaled, Scaling};
    use crate::tuning::Tuned;

    /// A bag is positive if its first feature is at most a multiple of the largest seen.
    #[derive(Debug, Clone)]
    struct UpTo(f64);

    impl Learner<()> for UpTo {
        type Model = UpTo;

        fn fit(&self, bags: &BagSet<()>) -> Result<UpTo, FitError> {
            Ok(UpTo(self.0 * bags.instances().row(0).max()))
        }
    }

    impl BagModel for UpTo {
        fn n_features(&self) -> usize {
            1
        }

        fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
            Ok(self.0 - bag.instance(0)[0])
        }
    }

    /// Positive bags at 1 to 4, negative ones at 10.
    fn bags() -> BagSet<Label> {
        let mut builder = BagSet::builder();
        for i in 1..=4 {
            builder.bag(format!("p{i}"), Label::Positive, [[f64::from(i)]]).unwrap();
            builder.bag(format!("n{i}"), Label::Negative, [[10.0]]).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn negative_bags_have_no_say_not_even_in_the_scale() {
        assert_eq!(PositivesOnly { learner: UpTo(1.0) }.fit(&bags()).unwrap().0, 4.0);
        let scaled = PositivesOnly { learner: Scaled { scaling: Scaling::MinMax, learner: UpTo(1.0) } };
        let model = scaled.fit(&bags()).unwrap();
        assert_eq!(model.score(bags().bag(0)).unwrap(), 1.0); // 1 is scaled to 0
        assert_eq!(model.score(bags().bag(1)).unwrap(), -2.0); // 10 to 3
    }

    #[test]
    fn a_set_without_a_positive_bag_is_refused_and_one_without_a_negative_bag_is_not() {
        let learner = PositivesOnly { learner: UpTo(1.0) };
        let negative = bags().select(&[1, 3]);
        assert!(matches!(learner.fit(&negative), Err(FitError::SingleClass { label: Label::Negative, n_bags: 2 })));
        assert_eq!(learner.fit(&bags().select(&[0, 2])).unwrap().0, 2.0);
    }

    #[test]
    fn tuning_looks_at_negative_bags_to_choose() {
        // All that is positive in a held-out fold is below twice the largest seen; ten times that lets negative bags in.
        let settings = [10.0, 2.0].map(|factor| PositivesOnly { learner: UpTo(factor) }).to_vec();
        let report = Tuned { settings, n_folds: 2, n_repeats: 1, seed: 0 }.search(&bags()).unwrap();
        assert_eq!(report.best, 1);
        assert_eq!((report.figures[0].accuracy, report.figures[1].accuracy), (0.5, 1.0));
    }
}
