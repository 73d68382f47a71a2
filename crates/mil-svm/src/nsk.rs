//! NSK: the machine over the normalised set kernel, the "MI-Kernel" of later papers' tables and the `NSK` of the Python library misvm (there by the kernel's suffix `_av` or `_fs`, with the penalty
//! divided by the number of bags).
//!
//! Gärtner, Flach, Kowalczyk & Smola, *Multi-Instance Kernels*, ICML 2002. Two bags are as similar as their instances are on the whole,
//!
//! $$ K(B,B') = \frac{\sum_{x\in B}\sum_{z\in B'}k(x,z)}{\operatorname{len}(B)\,\operatorname{len}(B')}, $$
//!
//! and an ordinary machine separates the bags: $f(B)=\sum_I\beta_IK(B_I,B)+b$ with $\beta_I=Y_I\alpha_I$, $0\le\alpha_I\le C_{Y_I}$. The paper gives two lengths ([`BagScale`]): the size of the bag,
//! so that $K$ is the mean over pairs, and the length of $\sum_{x\in B}\phi(x)$, so that $K$ is a cosine. No instance is singled out: there are no instance scores, and one
//! positive instance among many has little say unless the kernel is narrow or of high degree.
//!
//! Choice: $\operatorname{len}$ is that of the feature space unless asked otherwise. All bags then have length 1, so that a penalty means the same whatever the kernel and however far the instances of a bag
//! lie apart; under the mean a bag shrinks as it spreads. The mean, in turn, makes bags of one instance the ordinary machine ([`SilSvm`](crate::SilSvm)).
//!
//! Cost: the sums over all pairs of instances, one machine with a variable for each bag. A score costs a kernel value for each pair of an instance and an instance of a support bag, or for a
//! linear kernel one product for each instance; the length of the feature space, also the pairs within the bag.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_kernels::BagScale;
//! use mil_svm::Nsk;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[2.0], [0.0]])?.bag("n", Label::Negative, [[-3.0], [1.0]])?;
//! let bags = builder.build()?;
//! let model = Nsk { scale: BagScale::Mean, penalty: 10.0, ..Default::default() }.fit(&bags)?;
//! assert!((model.score(bags.bag(0))? - 1.0).abs() < 1e-3); // on the margin, by its mean of 1
//! assert_eq!(model.instance_scores(bags.bag(0))?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, BagSet, Label, ParamRange, ScoreError, ascending_sum, finite_score};
use mil_kernels::{BagScale, Kernel, Separator, SetKernel};
use serde::{Deserialize, Serialize};

use crate::SvmError;
use crate::over_bags::{BagSeparation, SeparatesBags, over_bags};

mil_core::params! {
    /// The NSK learner.
    pub struct Nsk {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack.";
        positive_weight: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Factor of the cost for positive bags.";
        scale: BagScale = BagScale::FeatureSpace, ParamRange::Any, "What the sum over pairs of instances is divided by.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
    }
}

over_bags!(Nsk, SetSvm, "NSK");

impl SeparatesBags for Nsk {
    fn set_kernel(&self) -> SetKernel {
        SetKernel::Instances { kernel: self.kernel.clone(), scale: self.scale }
    }

    fn model(&self, bags: &BagSet<Label>, separation: &BagSeparation) -> Result<SetSvm, SvmError> {
        let mut weights = Vec::with_capacity(bags.n_instances());
        for (bag, dual) in bags.bags().zip(&separation.signed_duals) {
            let weight = if *dual == 0.0 { 0.0 } else { over(*dual, self.scale.length(&self.kernel, bag)?) };
            weights.extend(std::iter::repeat_n(weight, bag.n_instances()));
        }
        let separator = Separator::new(&self.kernel, &[(bags.instances(), &weights)], 0.0);
        let model = SetSvm { separator, scale: self.scale, bias: separation.bias, defect: separation.defect };
        model.check().map_err(|_| SvmError::Overflow)?;
        Ok(model)
    }
}

/// A sum over a length, 0 for a bag without direction.
fn over(sum: f64, length: f64) -> f64 {
    if length == 0.0 { 0.0 } else { sum / length }
}

/// A separator of bags by all their instances: the score of a bag is $\tfrac1{\operatorname{len}(B)}\sum_{x\in B}h(x) + b$ with $h(x)=\sum_I\tfrac{\beta_I}{\operatorname{len}(B_I)}\sum_{z\in B_I}k(z,x)$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetSvm {
    /// $h$.
    separator: Separator,
    scale: BagScale,
    bias: f64,
    defect: f64,
}

impl SetSvm {
    /// The function $h$, whose own bias is 0. It is no score of an instance: what an instance adds to that of its bag depends on the others.
    #[must_use]
    pub fn separator(&self) -> &Separator {
        &self.separator
    }

    /// $b$.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// How far the machine may be from optimal, as for [`InstanceSvm::defect`](crate::InstanceSvm::defect).
    #[must_use]
    pub fn defect(&self) -> f64 {
        self.defect
    }
}

impl BagModel for SetSvm {
    fn n_features(&self) -> usize {
        self.separator.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        let sum = ascending_sum(self.separator.values(bag)?);
        let overflow = |_| ScoreError::Overflow { name: bag.name().to_owned(), value: f64::INFINITY };
        let length = self.scale.length(self.separator.kernel(), bag).map_err(overflow)?;
        finite_score(bag, over(sum, length) + self.bias)
    }
}

impl SavedModel for SetSvm {
    fn kind() -> String {
        "set-svm".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if !self.bias.is_finite() || self.separator.bias() != 0.0 {
            Err("the bias is not a number, or there are two")
        } else if self.defect.is_nan() {
            Err("the defect is not a number")
        } else {
            self.separator.check()
        }
    }
}

#[cfg(test)]
mod tests {
    use mil_core::Learner;

    use super::*;

    fn set(bags: &[(Label, &[f64])]) -> BagSet<Label> {
        let mut builder = BagSet::builder();
        for (bag_idx, (label, values)) in bags.iter().enumerate() {
            builder.bag(bag_idx.to_string(), *label, values.iter().map(|x| [*x])).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn two_bags_are_separated_halfway_between_their_means() {
        // Means 2 and -1: w = 2/3, b = -1/3.
        let bags = set(&[(Label::Positive, &[1.0, 3.0]), (Label::Negative, &[-4.0, 0.0, 1.0])]);
        let nsk = Nsk { scale: BagScale::Mean, penalty: 10.0, tolerance: 1e-9, ..Default::default() };
        let model = nsk.fit(&bags).unwrap();
        assert!((model.separator().weights().unwrap()[0] - 2.0 / 3.0).abs() < 1e-9);
        assert!((model.bias() + 1.0 / 3.0).abs() < 1e-9 && model.defect() < 1e-9);
    }

    #[test]
    fn directions_are_all_that_the_feature_space_keeps() {
        // Directions 1 and -1: w = 1, b = 0, and every bag scores the sign of its sum.
        let bags = set(&[(Label::Positive, &[1.0, 3.0]), (Label::Negative, &[-4.0, 0.0, 1.0])]);
        let model = Nsk { penalty: 10.0, tolerance: 1e-9, ..Default::default() }.fit(&bags).unwrap();
        for (values, expected) in [(&[100.0, -1.0][..], 1.0), (&[-1e-3], -1.0), (&[5.0, -5.0], 0.0), (&[0.0], 0.0)] {
            let score = model.score(Bag::new("", 1, values).unwrap()).unwrap();
            assert!((score - expected).abs() < 1e-9, "{values:?} score {score}");
        }
    }

    #[test]
    fn the_order_of_instances_has_no_say_where_they_cancel() {
        // Features 127 decades apart: the two terms of the middle bag are some 1e147, their sum is rounding.
        let instances = [[5.083e141, 0.0], [0.0, -2.177e132], [-1.503e131, 0.0]];
        let mut builder = BagSet::builder();
        builder.bag("origin", Label::Positive, [[0.0, 0.0]]).unwrap();
        builder.bag("huge", Label::Negative, instances).unwrap();
        builder.bag("large", Label::Negative, [[0.0, 6.053e14]]).unwrap();
        let bags = builder.build().unwrap();
        let model = Nsk { scale: BagScale::Mean, positive_weight: 2.0, ..Default::default() }.fit(&bags).unwrap();
        let values: Vec<f64> = instances.iter().rev().flatten().copied().collect();
        let backwards = model.score(Bag::new("huge", 2, &values).unwrap()).unwrap();
        assert_eq!(model.score(bags.bag(1)).unwrap().to_bits(), backwards.to_bits());
    }

    #[test]
    fn a_file_with_numbers_that_no_fit_gives_is_refused() {
        let model = Nsk::default().fit(&set(&[(Label::Positive, &[1.0]), (Label::Negative, &[-1.0])])).unwrap();
        assert_eq!(model.check(), Ok(()));
        assert!(SetSvm { bias: f64::NAN, ..model.clone() }.check().is_err());
        assert!(SetSvm { defect: f64::NAN, ..model.clone() }.check().is_err());
        assert!(SetSvm { separator: Separator::linear(vec![1.0], 1.0), ..model.clone() }.check().is_err());
        assert!(SetSvm { separator: Separator::linear(vec![f64::INFINITY], 0.0), ..model }.check().is_err());
    }
}
