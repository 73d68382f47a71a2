//! MissSVM: positive bags as unlabelled instances.
//!
//! Zhou & Xu, *On the Relation between Multi-Instance Learning and Semi-Supervised Learning*, ICML 2007. The instances of negative bags are labelled, those of positive bags are not, and a positive bag asks for one
//! positive instance among them. Over $n_-$ and $n_+$ instances and $m_+$ positive bags:
//!
//! $$ \min_{w,b}\ \tfrac12\lVert w\rVert^2 + \tfrac C{n_-}\sum_{x\in B^-}(1+f(x))_+ + \tfrac C{m_+}\sum_{B^+}\bigl(1-\max_{x\in B^+}f(x)\bigr)_+ + \tfrac C{n_+}\sum_{x\in B^+}\bigl(1-\lvert f(x)\rvert\bigr)_+. $$
//!
//! As in [stMIL](crate::Stmil) the last cost is the lesser of two hinges, hence one over a label; the second is the least over a witness, as in [MI-SVM](crate::MiSvmBag) with a slack for each instance. We alternate: a machine for given
//! labels and witnesses, then the sign of $f$ and the highest $f$ of each bag. Both steps are exact, so the objective never rises.
//!
//! Choice: each of the three sums has the weight $C$. Choice: labels and witnesses of the first round are those that a machine chooses which takes every instance of a positive bag for positive. Choice: alternation instead of a
//! concave-convex procedure, with the same subproblems but a bound on the cost of an unlabelled instance that is nowhere higher.
//!
//! Cost: a machine over all instances, those of positive bags twice, in each round.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::MissSvm;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[-1.5], [3.0], [-1.0]])?.bag("n", Label::Negative, [[-1.0], [-2.0]])?;
//! let bags = builder.build()?;
//! let (model, trace) = MissSvm::default().fit_traced(&bags)?;
//! assert_eq!(trace.choice.witnesses, [1]);
//! assert!(model.score(bags.bag(0))? > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, ParamRange, Params, argmax};
use mil_kernels::Kernel;

use crate::alternation::{Trace, alternate, nearer_sides};
use crate::learner::{Separates, fit_with, over_instances};
use crate::machine::{Demands, Machine, Separation};
use crate::points::Points;
use crate::{InstanceSvm, SvmError, Task};

mil_core::params! {
    /// The MissSVM learner.
    pub struct MissSvm {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 100.0, ParamRange::UpTo(0.0, 1e12), "Cost `C`, shared evenly by the instances of negative bags, by the positive bags, and by the instances of positive bags.";
        max_rounds: usize = 100, ParamRange::AtLeast(1.0), "Rounds of labelling before we stop.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(MissSvm, "MissSVM");

/// What MissSVM guesses of the positive bags.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MissChoice {
    /// The label of each instance, bag after bag.
    pub labels: Vec<Label>,
    /// The witness of each bag, as a position in it.
    pub witnesses: Vec<usize>,
}

impl MissSvm {
    /// Fits, and tells how it went.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(InstanceSvm, Trace<MissChoice>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| params.guess(task))?;
        Ok((InstanceSvm::of(separation), trace))
    }

    fn guess(&self, task: &Task<'_>) -> Result<(Separation, Trace<MissChoice>), SvmError> {
        // Each instance of a positive bag takes part as an unlabelled one; as the witness it takes part once more, behind all instances.
        let mut machine =
            Machine::new(Points::with_instances(task.kernel(), task.positive_instances()), self.tolerance);
        let n_positive = task.positive_instances().count();
        let n_positive_bags = task.blocks(Label::Positive).count();
        let unlabelled = |labels: &[Label]| {
            let mut demands = Demands::none(task.n_instances() + n_positive);
            demands.hold(task.negative_instances(), -1.0, self.penalty / task.negative_instances().count() as f64);
            demands.hold_labelled(task.positive_instances(), labels, |_| self.penalty / n_positive as f64);
            demands
        };
        let choose = |labels: &[Label], values: &[f64]| MissChoice {
            labels: nearer_sides(task, labels, values),
            witnesses: task.blocks(Label::Positive).map(|block| argmax(&values[block])).collect(),
        };
        let all_positive = vec![Label::Positive; n_positive];
        let start = choose(&all_positive, &machine.solve(unlabelled(&all_positive))?.values);
        let solve = |choice: &MissChoice| {
            let mut demands = unlabelled(&choice.labels);
            let mut first = task.n_instances();
            for (block, witness) in task.blocks(Label::Positive).zip(&choice.witnesses) {
                demands.hold([first + witness], 1.0, self.penalty / n_positive_bags as f64);
                first += block.len();
            }
            machine.solve(demands)
        };
        alternate(start, self.max_rounds, solve, |choice, separation| choose(&choice.labels, &separation.values))
    }
}

impl Separates for MissSvm {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        self.guess(task).map(|(separation, _)| separation)
    }
}
