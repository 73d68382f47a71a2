//! AL-SVM: mi-SVM with annealed labels.
//!
//! Gehler & Chapelle, *Deterministic Annealing for Multiple-Instance Learning*, AISTATS 2007. The problem is that of [mi-SVM](crate::MiSvmPattern), but an instance of a positive bag has at first a probability $p_i$ of being
//! positive in place of a label, at least one of each bag in expectation, and the temperature $T$ falls:
//!
//! $$ \min_{w,b}\min_{p}\ \tfrac12\lVert w\rVert^2 + C_-\!\!\sum_{i\in B^-}(1+f_i)_+ + \sum_{i\in B^+}\bigl(C_+p_i(1-f_i)_+ + C_-(1-p_i)(1+f_i)_+\bigr) - T\,H(p),\qquad \sum_{i\in B}p_i\ge1. $$
//!
//! For a given machine the best probabilities are $p_i = 1/\bigl(1+e^{-(g_i+\mu_B)/T}\bigr)$, $g_i = C_-(1+f_i)_+-C_+(1-f_i)_+$ what the instance gains by being positive, and $\mu_B\ge0$ the least that meets the constraint.
//! For given probabilities it is an ordinary machine in which every instance of a positive bag stands on both sides, at costs $C_+p_i$ and $C_-(1-p_i)$.
//!
//! At the end every instance takes the side it is on, and mi-SVM's own alternation goes on from there to its fixed point, so that the two differ in nothing but where they start: this is annealed imputation.
//!
//! Choice: temperatures fall from ten times to a hundredth of $C$, by a factor of 2; the first machine has $p_i=\tfrac12$ (1 where the bag has no other). Choice: where a machine arrives at $w=0$, which no cooling leaves, the last one
//! before it decides. Choice: the labels of the bags, mi-SVM's start, compete, and the lower objective wins; with a narrow kernel many instances stay undecided at $f_i=0$, where no label gains.
//!
//! Cost: a machine over all instances, those of positive bags twice, for each round at each of 10 temperatures, each from where the last ended; then mi-SVM's.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::AlSvm;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[-3.0], [1.0]])?.bag("q", Label::Positive, [[1.2]])?;
//! builder.bag("n", Label::Negative, [[-1.0], [-3.0]])?;
//! let bags = builder.build()?;
//! let (model, trace) = AlSvm { penalty: 10.0, ..Default::default() }.fit_traced(&bags)?;
//! assert_eq!(trace.alternation.choice, [Label::Negative, Label::Positive, Label::Positive]);
//! assert!(trace.levels[0].entropy > 1.0 && trace.levels.last().unwrap().entropy < 1e-3); // it froze
//! assert!((model.score(bags.bag(0))? - 1.0).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, ParamRange, Params};
use mil_kernels::Kernel;

use crate::alternation::{AnnealedTrace, better, nearer_sides};
use crate::annealing::{Schedule, anneal, growth, surprise, tells_apart};
use crate::learner::{Separates, fit_with, over_instances};
use crate::machine::{Demands, Machine, Separation};
use crate::points::Points;
use crate::{InstanceSvm, MiSvmPattern, SvmError, Task};

mil_core::params! {
    /// The AL-SVM learner.
    pub struct AlSvm {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack.";
        positive_weight: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Factor of the cost for instances labelled positive.";
        start_temperature: f64 = 10.0, ParamRange::Within(1e-6, 1e6), "The first temperature, in units of the penalty.";
        end_temperature: f64 = 0.01, ParamRange::Within(1e-6, 1e6), "No temperature is below, in units of the penalty.";
        cooling: f64 = 2.0, ParamRange::Within(1.01, 1e6), "What a temperature is divided by to give the next.";
        max_rounds: usize = 100, ParamRange::AtLeast(1.0), "Rounds of imputation, once labels are hard, before we stop.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(AlSvm, "AL-SVM");

impl AlSvm {
    /// Fits, and tells how it went; the choice is the label of each instance of the positive bags, bag after bag.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(InstanceSvm, AnnealedTrace<Vec<Label>>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| params.freeze(task))?;
        Ok((InstanceSvm::of(separation), trace))
    }

    fn freeze(&self, task: &Task<'_>) -> Result<(Separation, AnnealedTrace<Vec<Label>>), SvmError> {
        let (positive_penalty, negative_penalty) = (self.penalty * self.positive_weight, self.penalty);
        let n_positive = task.positive_instances().count();
        // Behind all instances those of positive bags stand once more, on the negative side.
        let mut machine =
            Machine::new(Points::with_instances(task.kernel(), task.positive_instances()), self.tolerance)
                .within(WARM_STEPS);
        let mut last: Vec<f64> = Vec::new();
        let solve = |probabilities: &[f64]| {
            let complements = |ps: &[f64]| ps.iter().map(|p| 1.0 - p).collect::<Vec<_>>();
            machine.scale_duals(task.positive_instances().zip(growth(&last, probabilities)));
            machine.scale_duals((task.n_instances()..).zip(growth(&complements(&last), &complements(probabilities))));
            last = probabilities.to_vec();
            let mut demands = Demands::none(task.n_instances() + n_positive);
            demands.hold(task.negative_instances(), -1.0, negative_penalty);
            for ((idx, again), p) in task.positive_instances().zip(task.n_instances()..).zip(probabilities) {
                demands.hold([idx], 1.0, positive_penalty * p);
                demands.hold([again], -1.0, negative_penalty * (1.0 - p));
            }
            machine.solve(demands)
        };
        let spread = |values: &[f64], temperature: f64| {
            let mut probabilities = Vec::with_capacity(n_positive);
            for block in task.blocks(Label::Positive) {
                let gain = |&f: &f64| negative_penalty * (1.0 + f).max(0.0) - positive_penalty * (1.0 - f).max(0.0);
                let gains: Vec<f64> = values[block].iter().map(gain).collect();
                probabilities.extend(positive_in_expectation(&gains, temperature));
            }
            let entropy = probabilities.iter().map(|&p| surprise(p) + surprise(1.0 - p)).sum();
            (probabilities, entropy)
        };
        let even =
            task.blocks(Label::Positive).flat_map(|block| vec![if block.len() == 1 { 1.0 } else { 0.5 }; block.len()]);
        let (warm, levels) =
            anneal(self.schedule(), even.collect(), solve, spread, |values| tells_apart(task, values, self.tolerance))?;
        let hard = self.hard();
        let of_bags = vec![Label::Positive; n_positive];
        let plain = hard.impute_from(task, of_bags.clone())?;
        let (separation, alternation) = match warm {
            None => plain,
            Some(warm) => {
                let frozen = hard.relabel(task, &nearer_sides(task, &of_bags, &warm.values), &warm.values);
                better(hard.impute_from(task, frozen)?, plain)
            }
        };
        Ok((separation, AnnealedTrace { levels, alternation }))
    }

    fn schedule(&self) -> Schedule {
        let AlSvm { penalty, start_temperature, end_temperature, cooling, .. } = *self;
        Schedule { start: start_temperature, end: end_temperature, cooling, penalty }
    }

    /// The learner of the same problem at $T=0$.
    fn hard(&self) -> MiSvmPattern {
        let AlSvm { ref kernel, penalty, positive_weight, max_rounds, tolerance, memory_mib, .. } = *self;
        let kernel = kernel.clone();
        MiSvmPattern { kernel, penalty, positive_weight, max_rounds, tolerance, memory_mib, ..Default::default() }
    }
}

impl Separates for AlSvm {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        self.freeze(task).map(|(separation, _)| separation)
    }
}

/// Steps of the solver for each point of a warm machine.
///
/// Choice: many times what it needs as a rule. The two copies of an instance can make it creep; what it has by then is good enough to cool on.
const WARM_STEPS: usize = 100;

/// Beyond this the logistic function is 1 in `f64`.
const SURE: f64 = 40.0;

/// Halvings that bring any interval of `f64` down to its rounding.
const HALVINGS: usize = 200;

/// $p_i = 1/(1+e^{-(g_i+\mu)/T})$ with the least $\mu\ge0$ that makes them add up to 1 at least.
fn positive_in_expectation(gains: &[f64], temperature: f64) -> Vec<f64> {
    let at = |mu: f64| gains.iter().map(move |gain| logistic((gain + mu) / temperature));
    let is_met = |mu: f64| at(mu).sum::<f64>() >= 1.0;
    if is_met(0.0) {
        return at(0.0).collect();
    }
    let greatest = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Rounding may swallow what makes sure; then twice the way to the greatest gain does.
    let (mut low, mut high) = (0.0, (SURE * temperature - greatest).max(-2.0 * greatest).max(0.0));
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || high <= middle {
            break;
        }
        if is_met(middle) { high = middle } else { low = middle }
    }
    at(high).collect()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_add_up_to_one_where_they_would_fall_short() {
        let probabilities = positive_in_expectation(&[-4.0, -3.0, -10.0], 0.5);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{probabilities:?}");
        assert!(probabilities[1] > probabilities[0] && probabilities[0] > probabilities[2]);
        // One multiplier for the bag: log-odds differ by the gains over the temperature.
        let odds = |p: f64| (p / (1.0 - p)).ln();
        assert!((odds(probabilities[1]) - odds(probabilities[0]) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_constraint_that_holds_changes_nothing() {
        let probabilities = positive_in_expectation(&[3.0, -1.0], 1.0);
        assert_eq!(probabilities, [logistic(3.0), logistic(-1.0)]);
    }

    #[test]
    fn a_lone_instance_is_positive_whatever_it_costs() {
        assert_eq!(positive_in_expectation(&[-1e3], 1e-2), [1.0]);
    }

    #[test]
    fn heat_makes_labels_even_and_cold_makes_them_hard() {
        let gains = [2.0, -2.0, -1.0];
        assert!(positive_in_expectation(&gains, 1e6).iter().all(|p| (p - 0.5).abs() < 1e-5));
        assert_eq!(positive_in_expectation(&gains, 1e-3), [1.0, 0.0, 0.0]);
    }
}
