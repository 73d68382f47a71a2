//! A learner whose kernel takes its width from the training bags.
//!
//! The learners of this crate take a [`Kernel`](mil_kernels::Kernel), whose width is a number. [`WithKernel`] takes a [`KernelChoice`] instead, such as `gaussian(4/median)`, and works the kernel out when it is
//! fitted. Cost beyond the fit: the [median](mil_kernels::median_squared_distance) of a sample of pairs.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, Params};
//! use mil_svm::{MiSvmBag, WithKernel};
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[0.0], [4.0]])?.bag("n", Label::Negative, [[0.0], [1.0]])?;
//! let bags = builder.build()?;
//! let mut learner = WithKernel::<MiSvmBag>::default();
//! learner.set("kernel", "gaussian(4/median)")?;
//! learner.set("penalty", "10")?;
//! assert!(learner.fit(&bags)?.score(bags.bag(0))? > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, Learner, ParamError, ParamField, ParamSpec, Params, Tunable};
use mil_kernels::{Kernel, KernelChoice};

use crate::{OverKernel, SvmError};

/// A learner with a kernel that is found for the bags at hand.
#[derive(Debug, Clone, PartialEq)]
pub struct WithKernel<L> {
    /// The kernel, or how to find it.
    pub kernel: KernelChoice,
    /// Who learns; its own kernel does not matter.
    pub learner: L,
    /// Fixes the pairs of instances that a median is taken over.
    pub seed: u64,
}

const NAME: &str = "kernel from data";
const KERNEL: &str = "kernel";

impl<L: OverKernel> WithKernel<L> {
    /// The learner with its kernel worked out for these bags.
    fn resolved(&self, bags: &BagSet<Label>) -> Result<L, FitError> {
        let kernel =
            self.kernel.resolve(bags.instances(), self.seed).map_err(|error| SvmError::from(error).of(NAME))?;
        Ok(self.learner.with_kernel(&kernel))
    }
}

impl<L: Params> Default for WithKernel<L> {
    fn default() -> Self {
        WithKernel { kernel: KernelChoice::Fixed(Kernel::Linear), learner: L::default(), seed: 0 }
    }
}

/// The parameters of the learner, but for a kernel that may take its width from the data.
impl<L: Params> Params for WithKernel<L> {
    fn specs() -> Vec<ParamSpec> {
        let mut specs = L::specs();
        for spec in specs.iter_mut().filter(|spec| spec.name == KERNEL) {
            spec.kind = KernelChoice::KIND;
        }
        specs
    }

    fn get(&self, name: &str) -> Option<String> {
        if name == KERNEL { Some(self.kernel.show()) } else { self.learner.get(name) }
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.learner.number(name)
    }

    fn check_fields(&self) -> Result<(), ParamError> {
        self.kernel.check()?;
        self.learner.check_fields()
    }

    fn assign(&mut self, name: &str, word: &str) -> bool {
        if name != KERNEL {
            return self.learner.assign(name, word);
        }
        let parsed = KernelChoice::parse(word);
        parsed.map(|kernel| self.kernel = kernel).is_some()
    }
}

impl<L: OverKernel> Learner for WithKernel<L> {
    type Model = L::Model;

    fn fit(&self, bags: &BagSet<Label>) -> Result<L::Model, FitError> {
        bags.require_both_classes()?;
        self.resolved(bags)?.fit(bags)
    }
}

/// All folds of a search share one kernel, worked out over all bags of the search.
impl<L: OverKernel> Tunable for WithKernel<L> {
    type Values<'a> = (Kernel, L::Values<'a>);

    fn shares_values(&self, other: &Self) -> bool {
        let alike = |learner: &L| learner.with_kernel(&Kernel::Linear);
        self.kernel == other.kernel
            && self.seed == other.seed
            && alike(&self.learner).shares_values(&alike(&other.learner))
    }

    fn values<'a>(&self, bags: &'a BagSet<Label>) -> Result<Self::Values<'a>, FitError> {
        let kernel =
            self.kernel.resolve(bags.instances(), self.seed).map_err(|error| SvmError::from(error).of(NAME))?;
        let values = self.learner.with_kernel(&kernel).values(bags)?;
        Ok((kernel, values))
    }

    fn held_out_scores(
        &self,
        bags: &BagSet<Label>,
        (kernel, values): &Self::Values<'_>,
        train: &[usize],
        test: &[usize],
    ) -> Result<Vec<f64>, FitError> {
        self.learner.with_kernel(kernel).held_out_scores(bags, values, train, test)
    }
}

#[cfg(test)]
mod tests {
    use mil_core::{BagModel, Tuned};
    use mil_data::synth::WitnessParams;

    use super::*;
    use crate::{GridSearch, MiSvmPattern, Nsk};

    fn bags() -> BagSet<Label> {
        WitnessParams { n_positive: 12, n_negative: 12, seed: 3, ..Default::default() }.generate().unwrap()
    }

    fn assert_searches_like_a_grid<L: OverKernel + Params>(learner: L) {
        let bags = bags();
        let kernels = [
            KernelChoice::GaussianOverMedian(1.0),
            KernelChoice::Fixed(Kernel::Linear),
            KernelChoice::GaussianOverMedian(8.0),
        ];
        let penalties = ["1.0", "10.0"];
        let mut settings = Vec::new();
        for kernel in &kernels {
            for penalty in penalties {
                let mut setting = WithKernel { kernel: kernel.clone(), learner: learner.clone(), seed: 5 };
                setting.set("penalty", penalty).unwrap();
                settings.push(setting);
            }
        }
        let tuned = Tuned { settings, n_folds: 4, n_repeats: 1, seed: 5 };
        let grid = GridSearch { learner, kernels: kernels.to_vec(), penalties: vec![1.0, 10.0], n_folds: 4, seed: 5 };
        let (found, expected) = (tuned.search(&bags).unwrap(), grid.search(&bags).unwrap());
        let cells: Vec<(f64, f64)> = expected.cells.iter().map(|cell| (cell.accuracy, cell.auc)).collect();
        let figures: Vec<(f64, f64)> = found.figures.iter().map(|figures| (figures.accuracy, figures.auc)).collect();
        assert_eq!(figures, cells);
        assert_eq!((found.best, found.scores), (expected.best, expected.scores));
    }

    #[test]
    fn a_search_over_choices_is_a_grid_search() {
        assert_searches_like_a_grid(MiSvmPattern::default());
        assert_searches_like_a_grid(Nsk::default());
    }

    #[test]
    fn the_width_is_that_of_the_training_bags() {
        let bags = bags();
        let choice = KernelChoice::GaussianOverMedian(4.0);
        let kernel = choice.resolve(bags.instances(), 0).unwrap();
        let expected = MiSvmPattern { kernel, ..Default::default() }.fit(&bags).unwrap();
        let found = WithKernel { kernel: choice, ..WithKernel::<MiSvmPattern>::default() }.fit(&bags).unwrap();
        assert_eq!(found.scores(&bags).unwrap(), expected.scores(&bags).unwrap());
    }

    #[test]
    fn parameters_are_those_of_the_learner_and_the_choice() {
        let mut learner = WithKernel::<MiSvmPattern>::default();
        learner.set("kernel", "gaussian(2/median)").unwrap();
        learner.set("penalty", "7").unwrap();
        assert_eq!(learner.get("kernel").as_deref(), Some("gaussian(2.0/median)"));
        assert_eq!(learner.learner.penalty, 7.0);
        assert!(learner.set("kernel", "gaussian(-2/median)").is_err());
        assert!(learner.set("kernel", "gausian(2)").is_err());
        assert!(learner.set("penalty", "-1").is_err());
        assert_eq!(learner.to_pairs().len(), MiSvmPattern::specs().len());
    }
}
