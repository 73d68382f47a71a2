//! sMIL: positive bags in which few instances are positive.
//!
//! Bunescu & Mooney, *Multiple Instance Learning for Sparse Positive Bags*, ICML 2007. With one positive instance among $|B|$ the labels of a positive bag add up to $1-(|B|-1) = 2-|B|$, and that is all that
//! is asked of it, at the mean of the bag in feature space. Over the $n_-$ instances of negative bags and the $m_+$ positive bags:
//!
//! $$ \min_{w,b,\xi\ge0}\ \tfrac12\lVert w\rVert^2 + \tfrac{C}{n_-}\sum_x\xi_x + \tfrac{C}{m_+}\sum_B\xi_B $$
//!
//! subject to $\langle w,\phi(x)\rangle + b\le-1+\xi_x$ for the instances and $\tfrac1{|B|}\sum_{x\in B}\langle w,\phi(x)\rangle + b\ge\tfrac{2-|B|}{|B|}-\xi_B$ for the bags. A bag is as positive as its most positive instance.
//!
//! The problem is convex: there is nothing to guess and nothing to alternate. Cost: one machine over the instances of negative bags and the means of positive ones.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, witness_of};
//! use mil_svm::Smil;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[3.0], [-1.0], [-1.0]])?.bag("n", Label::Negative, [[-1.0], [-2.0]])?;
//! let bags = builder.build()?;
//! let model = Smil::default().fit(&bags)?;
//! assert_eq!(witness_of(&model, bags.bag(0))?, Some(0));
//! assert!(model.score(bags.bag(0))? > 0.0 && model.score(bags.bag(1))? < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{Label, ParamRange};
use mil_kernels::Kernel;

use crate::learner::{Separates, over_instances};
use crate::machine::{Demands, Machine, Separation};
use crate::points::Points;
use crate::{SvmError, Task};

mil_core::params! {
    /// The sMIL learner.
    pub struct Smil {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 100.0, ParamRange::UpTo(0.0, 1e12), "Cost `C`, shared evenly by the instances of negative bags, and once more by the positive bags.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(Smil, "sMIL");

impl Separates for Smil {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        let mut machine = Machine::new(with_means(task)?, self.tolerance);
        machine.solve(sparse_demands(task, self.penalty))
    }
}

/// All instances, and the mean of each positive bag in play.
pub(crate) fn with_means<'a>(task: &Task<'a>) -> Result<Points<'a>, SvmError> {
    Points::with_means(task.kernel(), task.blocks(Label::Positive).collect())
}

/// What sMIL asks of the points of [`with_means`].
pub(crate) fn sparse_demands(task: &Task<'_>, penalty: f64) -> Demands {
    let n_positive_bags = task.blocks(Label::Positive).count();
    let mut demands = Demands::none(task.n_instances() + n_positive_bags);
    demands.hold(task.negative_instances(), -1.0, penalty / task.negative_instances().count() as f64);
    for (block, idx) in task.blocks(Label::Positive).zip(task.n_instances()..) {
        demands.hold([idx], 1.0, penalty / n_positive_bags as f64);
        demands.margins[idx] = required_margin(block.len());
    }
    demands
}

/// Margin owed by the mean of a positive bag of so many instances, $\tfrac{2-|B|}{|B|}$ (Bunescu & Mooney 2007, problem sMIL). A lone instance owes the usual 1, and ever larger bags tend to −1.
fn required_margin(n_instances: usize) -> f64 {
    let n_instances = n_instances as f64;
    (2.0 - n_instances) / n_instances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_instance_owes_the_full_margin() {
        assert_eq!(required_margin(1), 1.0);
    }

    #[test]
    fn a_pair_owes_nothing_and_a_crowd_next_to_minus_one() {
        assert_eq!(required_margin(2), 0.0);
        assert!((required_margin(1_000_000) + 1.0).abs() < 1e-5);
    }
}
