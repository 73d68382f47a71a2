//! STK: the machine over the statistic kernel, with the minimax statistic.
//!
//! Gärtner, Flach, Kowalczyk & Smola, *Multi-Instance Kernels*, ICML 2002. A bag is told by a vector of twice as many features, the corners of the box that its instances span,
//!
//! $$ s(B) = (\min_{x\in B}x_1,\dots,\min_{x\in B}x_d,\ \max_{x\in B}x_1,\dots,\max_{x\in B}x_d),\qquad K(B,B') = k(s(B),s(B')), $$
//!
//! and an ordinary machine separates these vectors: $f(B)=\sum_I\beta_Ik(s(B_I),s(B))+b$ with $\beta_I=Y_I\alpha_I$, $0\le\alpha_I\le C_{Y_I}$. What is inside the box has no say, and there are no instance scores. It is the
//! `STK` of the Python library misvm (there with the penalty divided by the number of bags).
//!
//! A [grid search](crate::GridSearch) measures widths in units of the distance between instances; that between statistics, of twice the features, is as a rule longer.
//!
//! Cost: a pass over the instances, one machine with a variable for each bag. A score costs a kernel value for each support bag, or for a linear kernel one product.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::Stk;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[-1.0], [3.0]])?.bag("n", Label::Negative, [[-1.0], [1.0]])?;
//! let bags = builder.build()?;
//! let model = Stk { penalty: 10.0, ..Default::default() }.fit(&bags)?;
//! assert!((model.score(bags.bag(0))? - 1.0).abs() < 1e-3); // on the margin, by its greatest value
//! assert_eq!(model.instance_scores(bags.bag(0))?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, BagSet, Label, ParamRange, ScoreError};
use mil_kernels::{Kernel, Separator, SetKernel, min_max};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::SvmError;
use crate::over_bags::{BagSeparation, SeparatesBags, over_bags};

mil_core::params! {
    /// The STK learner.
    pub struct Stk {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between statistics.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack.";
        positive_weight: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Factor of the cost for positive bags.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
    }
}

over_bags!(Stk, StatisticSvm, "STK");

impl SeparatesBags for Stk {
    fn set_kernel(&self) -> SetKernel {
        SetKernel::MinMax { kernel: self.kernel.clone() }
    }

    fn model(&self, bags: &BagSet<Label>, separation: &BagSeparation) -> Result<StatisticSvm, SvmError> {
        let statistics = DMatrix::from_columns(&bags.bags().map(min_max).collect::<Vec<_>>());
        let parts = [(&statistics, separation.signed_duals.as_slice())];
        let separator = Separator::new(&self.kernel, &parts, separation.bias);
        let model = StatisticSvm { separator, defect: separation.defect };
        model.check().map_err(|_| SvmError::Overflow)?;
        Ok(model)
    }
}

/// A separator of statistics; the score of a bag is $f(s(B))$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticSvm {
    separator: Separator,
    defect: f64,
}

impl StatisticSvm {
    /// The function $f$ of a statistic, of twice as many features as an instance.
    #[must_use]
    pub fn separator(&self) -> &Separator {
        &self.separator
    }

    /// How far the machine may be from optimal, as for [`InstanceSvm::defect`](crate::InstanceSvm::defect).
    #[must_use]
    pub fn defect(&self) -> f64 {
        self.defect
    }
}

impl BagModel for StatisticSvm {
    fn n_features(&self) -> usize {
        self.separator.n_features() / 2
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        bag.require_features(self.n_features())?;
        let statistic = min_max(bag);
        let alone = Bag::new(bag.name(), statistic.len(), statistic.as_slice()).expect("values of a bag");
        Ok(self.separator.values(alone)?[0])
    }
}

impl SavedModel for StatisticSvm {
    fn kind() -> String {
        "statistic-svm".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.defect.is_nan() {
            Err("the defect is not a number")
        } else if self.separator.n_features() % 2 == 1 {
            Err("a statistic has an even number of features")
        } else {
            self.separator.check()
        }
    }
}

#[cfg(test)]
mod tests {
    use mil_core::Learner;

    use super::*;

    #[test]
    fn two_bags_are_separated_halfway_between_their_boxes() {
        // Statistics (0, 3) and (0, 1): w = (0, 1), b = -2.
        let mut builder = BagSet::builder();
        builder.bag("p", Label::Positive, [[3.0], [0.0]]).unwrap();
        builder.bag("n", Label::Negative, [[0.0], [0.5], [1.0]]).unwrap();
        let model =
            Stk { penalty: 10.0, tolerance: 1e-9, ..Default::default() }.fit(&builder.build().unwrap()).unwrap();
        let weights = model.separator().weights().unwrap();
        assert!(weights[0].abs() < 1e-9 && (weights[1] - 1.0).abs() < 1e-9, "{weights}");
        assert!((model.separator().bias() + 2.0).abs() < 1e-9 && model.defect() < 1e-9);
    }

    #[test]
    fn a_file_with_numbers_that_no_fit_gives_is_refused() {
        let model = StatisticSvm { separator: Separator::linear(vec![1.0, 2.0], 0.0), defect: 0.0 };
        assert_eq!(model.check(), Ok(()));
        assert!(StatisticSvm { defect: f64::NAN, ..model.clone() }.check().is_err());
        assert!(StatisticSvm { separator: Separator::linear(vec![1.0], 0.0), ..model.clone() }.check().is_err());
        assert!(StatisticSvm { separator: Separator::linear(vec![1.0, 2.0], f64::NAN), ..model }.check().is_err());
    }
}
