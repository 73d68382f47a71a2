//! stMIL: sMIL with transduction.
//!
//! Bunescu & Mooney, *Multiple Instance Learning for Sparse Positive Bags*, ICML 2007. [sMIL](crate::Smil) lets the instances of positive bags lie where they like as long as their mean is right; stMIL also wants each of
//! them on one side or the other, clear of the margin. Over the $n_+$ instances of positive bags it adds
//!
//! $$ \tfrac{C}{n_+}\sum_x\xi_x,\qquad \lvert\langle w,\phi(x)\rangle + b\rvert\ge1-\xi_x, $$
//!
//! which is not convex. The cost of an instance is the lesser of $(1-f)_+$ and $(1+f)_+$, hence the problem is one over labels, too: $\min_{y}\min_{w,b}$ with $y_i=\pm1$ free. We alternate as for
//! [mi-SVM](crate::MiSvmPattern), without its repair, since the mean already speaks for the bag: a machine for given labels, then the sign of $f$ as label. Both steps are exact, so the objective never rises.
//!
//! Choice: the first labels are the signs under sMIL. Choice: a tie, $f=0$, keeps its label. The paper leaves it to a concave-convex procedure, whose bound on the cost of an instance is nowhere lower than ours.
//!
//! Cost: a machine over all instances and the means of positive bags in each round.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::Stmil;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[3.0], [-1.0], [-1.2]])?.bag("n", Label::Negative, [[-1.0], [-2.0]])?;
//! let bags = builder.build()?;
//! let (model, trace) = Stmil::default().fit_traced(&bags)?;
//! assert_eq!(trace.choice, [Label::Positive, Label::Negative, Label::Negative]);
//! assert!(model.score(bags.bag(0))? > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, ParamRange, Params};
use mil_kernels::Kernel;

use crate::alternation::{Trace, alternate, nearer_sides};
use crate::learner::{Separates, fit_with, over_instances};
use crate::machine::{Machine, Separation};
use crate::smil::{sparse_demands, with_means};
use crate::{InstanceSvm, SvmError, Task};

mil_core::params! {
    /// The stMIL learner.
    pub struct Stmil {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 100.0, ParamRange::UpTo(0.0, 1e12), "Cost `C`, shared evenly by the instances of negative bags, by the positive bags, and by the instances of positive bags.";
        max_rounds: usize = 100, ParamRange::AtLeast(1.0), "Rounds of labelling before we stop.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(Stmil, "stMIL");

impl Stmil {
    /// Fits, and tells how it went; the choice is the label of each instance of the positive bags, bag after bag.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(InstanceSvm, Trace<Vec<Label>>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| params.transduce(task))?;
        Ok((InstanceSvm::of(separation), trace))
    }

    fn transduce(&self, task: &Task<'_>) -> Result<(Separation, Trace<Vec<Label>>), SvmError> {
        let mut machine = Machine::new(with_means(task)?, self.tolerance);
        let n_positive = task.positive_instances().count();
        let sparse = machine.solve(sparse_demands(task, self.penalty))?;
        let start = nearer_sides(task, &vec![Label::Positive; n_positive], &sparse.values);
        let solve = |labels: &Vec<Label>| {
            let mut demands = sparse_demands(task, self.penalty);
            demands.hold_labelled(task.positive_instances(), labels, |_| self.penalty / n_positive as f64);
            machine.solve(demands)
        };
        alternate(start, self.max_rounds, solve, |labels, separation| nearer_sides(task, labels, &separation.values))
    }
}

impl Separates for Stmil {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        self.transduce(task).map(|(separation, _)| separation)
    }
}
