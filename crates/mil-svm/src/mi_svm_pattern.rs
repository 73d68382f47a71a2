//! mi-SVM: the maximum pattern margin.
//!
//! Andrews, Tsochantaridis & Hofmann, *Support Vector Machines for Multiple-Instance Learning*, NIPS 2002. The labels of the instances of positive bags are unknowns:
//!
//! $$ \min_y\min_{w,b,\xi\ge0}\ \tfrac12\lVert w\rVert^2 + \sum_iC_{y_i}\xi_i \quad\text{subject to}\quad y_i(\langle w,\phi(x_i)\rangle + b)\ge1-\xi_i, $$
//!
//! $y_i=-1$ in negative bags, and $\sum_{i\in I}\tfrac{y_i+1}2\ge1$ in positive ones: at least one instance is positive (slides print $\le1$, which says the opposite). The heuristic alternates: a machine for given
//! labels, then for a given machine the best labels, $y_i=\operatorname{sgn}f(x_i)$, and where that leaves a positive bag without a positive instance, its largest $f$ is one.
//!
//! Both steps minimise the same objective exactly, so it never rises, and no labelling comes up twice: flipping $i$ to positive costs $[1-f_i]_+-[1+f_i]_+$, which falls with $f_i$. With solutions to a tolerance a
//! cycle is possible and seen to. With unequal costs the best label is the cheaper of $C_+[1-f_i]_+$ and $C_-[1+f_i]_+$.
//!
//! Cost: a machine over all instances in each round, from where the last one ended; 1 to 5 rounds on Musk, 10 to 40 on Elephant.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, witness_of};
//! use mil_svm::MiSvmPattern;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[-3.0], [1.0]])?.bag("n", Label::Negative, [[-1.0], [-3.0]])?;
//! let bags = builder.build()?;
//! let (model, trace) = MiSvmPattern { penalty: 10.0, ..Default::default() }.fit_traced(&bags)?;
//! assert_eq!(trace.choice, [Label::Negative, Label::Positive]); // the instance at -3 is none of the positive ones
//! assert_eq!(witness_of(&model, bags.bag(0))?, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, ParamRange, Params, argmax, stream};
use mil_kernels::Kernel;
use rand::RngExt;

use crate::alternation::{Trace, alternate, better};
use crate::learner::{Separates, fit_with, over_instances};
use crate::machine::{Demands, Machine, Separation};
use crate::points::Points;
use crate::{InstanceSvm, SvmError, Task};

mil_core::params! {
    /// The mi-SVM learner.
    pub struct MiSvmPattern {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack.";
        positive_weight: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Factor of the cost for instances labelled positive.";
        max_rounds: usize = 100, ParamRange::AtLeast(1.0), "Rounds of imputation before we stop.";
        n_restarts: usize = 0, ParamRange::AtLeast(0.0), "Further starts from random labels; the lowest objective wins.";
        seed: u64 = 0, ParamRange::Any, "Fixes the random labels.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(MiSvmPattern, "mi-SVM");

impl MiSvmPattern {
    /// Fits, and tells how it went; the choice is the label of each instance of the positive bags, bag after bag.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(InstanceSvm, Trace<Vec<Label>>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| params.impute(task))?;
        Ok((InstanceSvm::of(separation), trace))
    }

    /// Imputes from the labels of the bags and, if asked to, from random ones.
    fn impute(&self, task: &Task<'_>) -> Result<(Separation, Trace<Vec<Label>>), SvmError> {
        let start = vec![Label::Positive; task.positive_instances().count()];
        let mut best = self.impute_from(task, start)?;
        for restart_idx in 0..self.n_restarts {
            best = better(best, self.impute_from(task, self.random_labels(task, restart_idx))?);
        }
        Ok(best)
    }

    pub(crate) fn impute_from(
        &self,
        task: &Task<'_>,
        start: Vec<Label>,
    ) -> Result<(Separation, Trace<Vec<Label>>), SvmError> {
        let mut machine = Machine::new(Points::instances(task.kernel()), self.tolerance);
        let solve = |labels: &Vec<Label>| {
            let mut demands = Demands::none(task.n_instances());
            demands.hold(task.negative_instances(), -1.0, self.penalty);
            demands.hold_labelled(task.positive_instances(), labels, |label| match label {
                Label::Positive => self.penalty * self.positive_weight,
                Label::Negative => self.penalty,
            });
            machine.solve(demands)
        };
        alternate(start, self.max_rounds, solve, |labels, separation| self.relabel(task, labels, &separation.values))
    }

    /// The cheapest labels that leave each positive bag a positive instance.
    ///
    /// Choice: a tie, $f_i=0$ at equal costs, keeps its label; of several largest $f_i$ the first becomes positive.
    pub(crate) fn relabel(&self, task: &Task<'_>, labels: &[Label], values: &[f64]) -> Vec<Label> {
        let mut relabelled = Vec::with_capacity(labels.len());
        for block in task.blocks(Label::Positive) {
            let first = relabelled.len();
            let extra_costs: Vec<f64> = values[block]
                .iter()
                .map(|&value| self.positive_weight * (1.0 - value).max(0.0) - (1.0 + value).max(0.0))
                .collect();
            relabelled.extend(extra_costs.iter().zip(&labels[first..]).map(|(&extra, &label)| match extra {
                extra if extra < 0.0 => Label::Positive,
                extra if extra > 0.0 => Label::Negative,
                _ => label,
            }));
            if relabelled[first..].iter().all(|&label| label == Label::Negative) {
                let gains: Vec<f64> = extra_costs.iter().map(|extra| -extra).collect();
                relabelled[first + argmax(&gains)] = Label::Positive;
            }
        }
        relabelled
    }

    /// Labels drawn evenly; a bag without a positive one gets it at a place drawn evenly.
    fn random_labels(&self, task: &Task<'_>, restart_idx: usize) -> Vec<Label> {
        let mut rng = stream(self.seed, "mi-SVM restart", restart_idx as u64);
        let mut labels = Vec::new();
        for block in task.blocks(Label::Positive) {
            let first = labels.len();
            labels.extend(block.map(|_| if rng.random() { Label::Positive } else { Label::Negative }));
            if labels[first..].iter().all(|&label| label == Label::Negative) {
                let place = rng.random_range(first..labels.len());
                labels[place] = Label::Positive;
            }
        }
        labels
    }
}

impl Separates for MiSvmPattern {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        self.impute(task).map(|(separation, _)| separation)
    }
}
