//! AW-SVM: MI-SVM with annealed witnesses.
//!
//! Gehler & Chapelle, *Deterministic Annealing for Multiple-Instance Learning*, AISTATS 2007. The problem is that of [MI-SVM](crate::MiSvmBag), but a positive bag has at first a distribution $p$ over its instances in place of a
//! witness, and the temperature $T$ falls:
//!
//! $$ \min_{w,b}\min_{p}\ \tfrac12\lVert w\rVert^2 + C_-\sum_{B^-}\xi_B + C_+\sum_{B^+}\sum_{i\in B^+}p_i(1-f_i)_+ - T\,H(p),\qquad \sum_{i\in B}p_i=1, $$
//!
//! with $\xi_B$ the slack of a negative bag, or of each of its instances ([`Slack`](crate::Slack)). For a given machine the best distribution is $p_i\propto e^{-C_+(1-f_i)_+/T}$; for a given distribution it is a machine in which
//! every instance of a positive bag takes part at the cost $C_+p_i$.
//!
//! At the end the highest instance of each bag is its witness, and MI-SVM's own alternation goes on to its fixed point.
//!
//! Choice: temperatures fall from ten times to a hundredth of $C$, by a factor of 2; the first machine has $p_i=1/|B|$. Choice: the means of the bags, MI-SVM's
//! start, compete with the witnesses found, and the lower objective wins.
//!
//! Cost: a machine over all instances for each round at each of 10 temperatures, each from where the last ended; then MI-SVM's.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::AwSvm;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[-2.0], [1.0]])?.bag("n", Label::Negative, [[-1.0], [-3.0]])?;
//! let bags = builder.build()?;
//! let (model, trace) = AwSvm { penalty: 10.0, ..Default::default() }.fit_traced(&bags)?;
//! assert_eq!(trace.alternation.choice, [Some(1)]);
//! assert!((model.score(bags.bag(0))? - 1.0).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, ParamRange, Params, argmax};
use mil_kernels::Kernel;

use crate::alternation::{AnnealedTrace, better};
use crate::annealing::{Schedule, anneal, growth, surprise, tells_apart};
use crate::learner::{Separates, fit_with, over_instances};
use crate::machine::{Machine, Separation};
use crate::points::Points;
use crate::{InstanceSvm, MiSvmBag, Slack, SvmError, Task, Witnesses};

mil_core::params! {
    /// The AW-SVM learner.
    pub struct AwSvm {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack.";
        positive_weight: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Factor of the cost for positive bags.";
        slack: Slack = Slack::PerBag, ParamRange::Any, "What shares a slack in negative bags.";
        start_temperature: f64 = 10.0, ParamRange::Within(1e-6, 1e6), "The first temperature, in units of the penalty.";
        end_temperature: f64 = 0.01, ParamRange::Within(1e-6, 1e6), "No temperature is below, in units of the penalty.";
        cooling: f64 = 2.0, ParamRange::Within(1.01, 1e6), "What a temperature is divided by to give the next.";
        max_rounds: usize = 100, ParamRange::AtLeast(1.0), "Rounds of witness selection, once witnesses are chosen, before we stop.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(AwSvm, "AW-SVM");

impl AwSvm {
    /// Fits, and tells how it went; the choice is the witness of each positive bag.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(InstanceSvm, AnnealedTrace<Witnesses>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| params.freeze(task))?;
        Ok((InstanceSvm::of(separation), trace))
    }

    fn freeze(&self, task: &Task<'_>) -> Result<(Separation, AnnealedTrace<Witnesses>), SvmError> {
        let positive_penalty = self.penalty * self.positive_weight;
        let hard = self.hard();
        let mut machine = Machine::new(Points::instances(task.kernel()), self.tolerance);
        let mut last: Vec<f64> = Vec::new();
        let solve = |probabilities: &[f64]| {
            machine.scale_duals(task.positive_instances().zip(growth(&last, probabilities)));
            last = probabilities.to_vec();
            let held = task.positive_instances().zip(probabilities).map(|(idx, p)| (idx, positive_penalty * p));
            hard.solve(task, &mut machine, held)
        };
        let spread = |values: &[f64], temperature: f64| {
            let mut probabilities = Vec::new();
            for block in task.blocks(Label::Positive) {
                let costs: Vec<f64> = values[block].iter().map(|f| positive_penalty * (1.0 - f).max(0.0)).collect();
                probabilities.extend(gibbs(&costs, temperature));
            }
            let entropy = probabilities.iter().copied().map(surprise).sum();
            (probabilities, entropy)
        };
        let even = task.blocks(Label::Positive).flat_map(|block| vec![1.0 / block.len() as f64; block.len()]);
        let (warm, levels) =
            anneal(self.schedule(), even.collect(), solve, spread, |values| tells_apart(task, values, self.tolerance))?;
        let plain = hard.select_from(task, task.blocks(Label::Positive).map(|_| None).collect())?;
        let (separation, alternation) = match warm {
            None => plain,
            Some(warm) => {
                let witnesses = task.blocks(Label::Positive).map(|block| Some(argmax(&warm.values[block])));
                better(hard.select_from(task, witnesses.collect())?, plain)
            }
        };
        Ok((separation, AnnealedTrace { levels, alternation }))
    }

    fn schedule(&self) -> Schedule {
        let AwSvm { penalty, start_temperature, end_temperature, cooling, .. } = *self;
        Schedule { start: start_temperature, end: end_temperature, cooling, penalty }
    }

    /// The learner of the same problem at $T=0$.
    fn hard(&self) -> MiSvmBag {
        let AwSvm { ref kernel, penalty, positive_weight, slack, max_rounds, tolerance, memory_mib, .. } = *self;
        let kernel = kernel.clone();
        MiSvmBag { kernel, penalty, positive_weight, slack, max_rounds, tolerance, memory_mib, ..Default::default() }
    }
}

impl Separates for AwSvm {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        self.freeze(task).map(|(separation, _)| separation)
    }
}

/// $p_i\propto e^{-c_i/T}$.
fn gibbs(costs: &[f64], temperature: f64) -> Vec<f64> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let weights: Vec<f64> = costs.iter().map(|cost| (-(cost - least) / temperature).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_makes_all_alike_and_cold_leaves_the_cheapest() {
        assert!(gibbs(&[0.0, 1.0, 5.0], 1e9).iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-8));
        assert_eq!(gibbs(&[2.0, 1.0, 5.0], 1e-3), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn equal_costs_share() {
        assert_eq!(gibbs(&[1e300, 1e300], 1e-3), [0.5, 0.5]);
    }
}
