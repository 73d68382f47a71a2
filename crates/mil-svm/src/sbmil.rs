//! sbMIL: balanced MIL, for bags that may be sparse or not.
//!
//! Bunescu & Mooney, *Multiple Instance Learning for Sparse Positive Bags*, ICML 2007. [sMIL](crate::Smil) ranks the instances of positive bags; a share $\eta$ of them, the highest, is taken for positive and the rest for
//! negative, and an ordinary machine is fitted to these labels:
//!
//! $$ \min_{w,b,\xi\ge0}\ \tfrac12\lVert w\rVert^2 + \tfrac Cn\sum_{i=1}^n\xi_i,\qquad y_i(\langle w,\phi(x_i)\rangle + b)\ge1-\xi_i. $$
//!
//! $\eta\to0$ is for sparse bags, $\eta=1$ is [SIL](crate::SilSvm). Choice: the highest instance of each positive bag is positive whatever its rank, for a bag without one would be none; these come first and the others fill up the
//! share. Choice: the $n$ instances share the cost evenly, whichever their label.
//!
//! Cost: a machine for sMIL, and one over all instances.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, witness_of};
//! use mil_svm::Sbmil;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[3.0], [-1.0], [-1.2]])?.bag("n", Label::Negative, [[-1.0], [-2.0]])?;
//! let bags = builder.build()?;
//! let model = Sbmil { positive_share: 0.3, ..Default::default() }.fit(&bags)?;
//! assert_eq!(witness_of(&model, bags.bag(0))?, Some(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{Label, ParamRange, argmax};
use mil_kernels::Kernel;

use crate::learner::{Separates, over_instances};
use crate::machine::{Demands, Machine, Separation};
use crate::points::Points;
use crate::{Smil, SvmError, Task};

mil_core::params! {
    /// The sbMIL learner.
    pub struct Sbmil {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 100.0, ParamRange::UpTo(0.0, 1e12), "Cost `C`, in the first machine that of sMIL, in the second shared evenly by all instances.";
        positive_share: f64 = 0.5, ParamRange::Within(0.0, 1.0), "Share of the instances of positive bags that are taken for positive; at least one of each bag is.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(Sbmil, "sbMIL");

impl Separates for Sbmil {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        let Sbmil { ref kernel, penalty, tolerance, memory_mib, .. } = *self;
        let sparse = Smil { kernel: kernel.clone(), penalty, tolerance, memory_mib }.separate(task)?;
        let labels = self.balance(task, &sparse.values);
        let mut machine = Machine::new(Points::instances(task.kernel()), self.tolerance);
        let mut demands = Demands::none(task.n_instances());
        let share = penalty / (labels.len() + task.negative_instances().count()) as f64;
        demands.hold(task.negative_instances(), -1.0, share);
        demands.hold_labelled(task.positive_instances(), &labels, |_| share);
        machine.solve(demands)
    }
}

impl Sbmil {
    /// The labels of the instances of positive bags: positive are the highest of each bag and then the highest of all, the first on ties, up to the share.
    fn balance(&self, task: &Task<'_>, values: &[f64]) -> Vec<Label> {
        let mut labels = Vec::new();
        for block in task.blocks(Label::Positive) {
            let highest = labels.len() + argmax(&values[block.clone()]);
            labels.resize(labels.len() + block.len(), Label::Negative);
            labels[highest] = Label::Positive;
        }
        let n_wanted = (self.positive_share * labels.len() as f64).round() as usize;
        let n_held = task.blocks(Label::Positive).count();
        let value_of: Vec<f64> = task.positive_instances().map(|idx| values[idx]).collect();
        let mut others: Vec<usize> = (0..labels.len()).filter(|&at| labels[at] == Label::Negative).collect();
        others.sort_by(|&a, &b| value_of[b].total_cmp(&value_of[a]));
        others.iter().take(n_wanted.saturating_sub(n_held)).for_each(|&at| labels[at] = Label::Positive);
        labels
    }
}

#[cfg(test)]
mod tests {
    use mil_core::BagSet;

    use super::*;
    use crate::InstanceKernel;

    #[test]
    fn each_bag_gives_its_highest_and_the_share_is_filled_by_rank() {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[0.0], [1.0], [2.0]]).unwrap();
        builder.bag("b", Label::Negative, [[3.0]]).unwrap();
        builder.bag("c", Label::Positive, [[4.0], [5.0]]).unwrap();
        let bags = builder.build().unwrap();
        let kernel = InstanceKernel::new(&Kernel::Linear, &bags, 1 << 20).unwrap();
        let task = Task::new(&bags, &kernel).unwrap();
        let values = [-1.0, -2.0, -3.0, 9.0, 5.0, 4.0];
        let positive = |positive_share: f64| {
            let labels = Sbmil { positive_share, ..Default::default() }.balance(&task, &values);
            (0..5).filter(|&at| labels[at] == Label::Positive).collect::<Vec<_>>()
        };
        assert_eq!(positive(0.0), [0, 3]);
        assert_eq!(positive(0.6), [0, 3, 4]);
        assert_eq!(positive(0.8), [0, 1, 3, 4]);
        assert_eq!(positive(1.0), [0, 1, 2, 3, 4]);
    }
}
