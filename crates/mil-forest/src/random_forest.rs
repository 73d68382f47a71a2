//! The plain forest: every instance takes the label of its bag.
//!
//! The naive learner of MIForests' Table 1: a random forest (Breiman 2001) on instances with the labels of their bags, whose posteriors a rule pools,
//!
//! $$ p(k\mid B)=\max_{x\in B}p(k\mid x) $$
//!
//! in the paper. Under the maximum a large negative bag needs only one unlucky instance to exceed 1/2: the mean does better, and so does a threshold from trees that have not seen the bag
//! ([`Calibrated`](mil_core::Calibrated) with [`OutOfBag`](mil_core::OutOfBag)).
//!
//! ```
//! use mil_core::{BagModel, BagSet, Calibrated, Label, Learner, OutOfBag};
//! use mil_forest::RandomForest;
//! let mut builder = BagSet::builder();
//! for i in 0..20 {
//!     let x = f64::from(i) / 20.0;
//!     builder.bag(format!("p{i}"), Label::Positive, [[x, 1.0 - x], [3.0 + x, x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[x, x], [1.0 - x, 0.5]])?;
//! }
//! let bags = builder.build()?;
//! let model = Calibrated { learner: RandomForest::default(), source: OutOfBag }.fit(&bags)?;
//! assert!(model.score(bags.bag(0))? >= 0.0 && model.score(bags.bag(1))? < 0.0);
//! assert!(model.inner().forest().gains()[0] > model.inner().forest().gains()[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Choice: the paper says neither how thresholds are drawn nor what is bootstrapped nor how much an instance counts. Here a test takes the best threshold of a feature ([`Tests`]), trees draw bags
//! ([`Sampling::Bags`]), and bags count alike however large they are ([`Weighting::Bags`](crate::Weighting::Bags)). The last is worth three to four points on the Musk sets.

use mil_core::{BagSet, FitError, Label, Learner, Params, Tunable};

use crate::columns::Columns;
use crate::forest::Forest;
use crate::model::ForestModel;
use crate::params::{Sampling, Tests, forest_params};
use crate::task::{ForestLabel, Task};

forest_params! {
    /// The plain forest, for two classes or many. The defaults are the paper's 50 trees of depth 20.
    pub struct RandomForest {
    }
}

impl RandomForest {
    /// Extremely randomised trees (Geurts, Ernst & Wehenkel 2006): random thresholds, all instances for every tree.
    ///
    /// Deviation: a node none of whose tests gains anything is a leaf; theirs are split as long as a feature varies.
    #[must_use]
    pub fn extra_trees() -> RandomForest {
        RandomForest { tests: Tests::Uniform, sampling: Sampling::All, ..RandomForest::default() }
    }
}

impl<Y: ForestLabel> Learner<Y> for RandomForest {
    type Model = ForestModel<Y>;

    fn fit(&self, bags: &BagSet<Y>) -> Result<ForestModel<Y>, FitError> {
        let params = self.check()?;
        Y::require_classes(bags)?;
        let task = Task::new(bags, params.weighting);
        let columns = Columns::new(bags.instances(), params.resolution)?;
        let (forest, drawn) = Forest::grow(&columns, &task.sample(), &params.growth(bags.n_features()))?;
        Ok(ForestModel::new(&task, forest, &drawn, params.rule, params.sampling))
    }
}

/// Nothing that folds share is worth keeping: ranks of part of the instances are others than those of all.
impl Tunable for RandomForest {
    type Values<'a> = ();

    fn shares_values(&self, _: &RandomForest) -> bool {
        true
    }

    fn values(&self, _: &BagSet<Label>) -> Result<(), FitError> {
        Ok(())
    }
}
