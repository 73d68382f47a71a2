//! MI-SVM: the maximum bag margin.
//!
//! Andrews, Tsochantaridis & Hofmann, *Support Vector Machines for Multiple-Instance Learning*, NIPS 2002. A bag has one slack: a positive bag is held by its witness $s(I)$, which is unknown, a negative bag by
//! all its instances.
//!
//! $$ \min_s\min_{w,b,\xi\ge0}\ \tfrac12\lVert w\rVert^2 + \sum_IC_{Y_I}\xi_I \quad\text{subject to}\quad \langle w,\phi(x_{s(I)})\rangle + b\ge1-\xi_I\ (Y_I=1),\quad -\langle w,\phi(x_i)\rangle - b\ge1-\xi_I\ \ \forall i\in I\ (Y_I=-1). $$
//!
//! The heuristic alternates: a machine for given witnesses ([`GroupDual`](mil_qp::GroupDual)), then $s(I)=\arg\max_{i\in I}f(x_i)$, which is the best for that machine; so the objective never rises. Only the start is no
//! choice of witnesses: the mean of the bag.
//!
//! Cost: a machine over the witnesses and all instances of negative bags in each round, from where the last one ended; 3 to 8 rounds.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::MiSvmBag;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[-2.0], [1.0]])?.bag("n", Label::Negative, [[-1.0], [-3.0]])?;
//! let bags = builder.build()?;
//! let (model, trace) = MiSvmBag { penalty: 10.0, ..Default::default() }.fit_traced(&bags)?;
//! assert_eq!(trace.choice, [Some(1)]);
//! assert!((model.score(bags.bag(0))? - 1.0).abs() < 1e-3 && (model.score(bags.bag(1))? + 1.0).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, ParamRange, Params, argmax, stream};
use mil_kernels::Kernel;
use nalgebra::DMatrix;
use rand::RngExt;

use crate::alternation::{Trace, alternate, better};
use crate::learner::{Separates, fit_with, over_instances};
use crate::machine::{Demands, Machine, Separation};
use crate::points::Points;
use crate::{InstanceSvm, SvmError, Task};

mil_core::params! {
    /// The MI-SVM learner.
    pub struct MiSvmBag {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack.";
        positive_weight: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Factor of the cost for positive bags.";
        slack: Slack = Slack::PerBag, ParamRange::Any, "What shares a slack in negative bags.";
        start: WitnessStart = WitnessStart::FeatureMean, ParamRange::Any, "What stands for a positive bag in the first round.";
        max_rounds: usize = 100, ParamRange::AtLeast(1.0), "Rounds of witness selection before we stop.";
        n_restarts: usize = 0, ParamRange::AtLeast(0.0), "Further starts from random witnesses; the lowest objective wins.";
        seed: u64 = 0, ParamRange::Any, "Fixes the random witnesses.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

/// What shares a slack in negative bags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Slack {
    /// The bag, as the problem says: it pays for its worst instance.
    #[default]
    PerBag,
    /// No one. Deviation: the usual shortcut, which makes the machine an ordinary one and charges a negative bag of a hundred instances up to a hundred times.
    PerInstance,
}

mil_core::choice!(Slack { PerBag = "bag", PerInstance = "instance" });

/// What stands for a positive bag in the first round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WitnessStart {
    /// $\tfrac1{|I|}\sum_{i\in I}\phi(x_i)$. For a linear kernel the mean of the bag; for all kernels the start from which the objective cannot rise.
    #[default]
    FeatureMean,
    /// $\phi\bigl(\tfrac1{|I|}\sum_{i\in I}x_i\bigr)$: the paper's $x_I=\sum_ix_i/|I|$ by the letter. The first step may raise the objective.
    InputMean,
}

mil_core::choice!(WitnessStart { FeatureMean = "feature-mean", InputMean = "input-mean" });

over_instances!(MiSvmBag, "MI-SVM");

/// The witness of each positive bag, as a position in its bag; `None` in the first round, where the mean stands for it.
pub type Witnesses = Vec<Option<usize>>;

impl MiSvmBag {
    /// Fits, and tells how it went; the choice is the witness of each positive bag.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(InstanceSvm, Trace<Witnesses>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| params.select(task))?;
        Ok((InstanceSvm::of(separation), trace))
    }

    /// Fits from given witnesses, or `None` for every bag to begin with the means, without restarts.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit); and if there is not a witness for each positive bag, or one is not in its bag.
    pub fn fit_from(
        &self,
        bags: &BagSet<Label>,
        start: Witnesses,
    ) -> Result<(InstanceSvm, Trace<Witnesses>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| {
            require_witnesses(task, &start)?;
            params.select_from(task, start)
        })?;
        Ok((InstanceSvm::of(separation), trace))
    }

    /// Selects from the means and, if asked to, from random witnesses.
    fn select(&self, task: &Task<'_>) -> Result<(Separation, Trace<Witnesses>), SvmError> {
        let mut best = self.select_from(task, task.blocks(Label::Positive).map(|_| None).collect())?;
        for restart_idx in 0..self.n_restarts {
            let mut rng = stream(self.seed, "MI-SVM restart", restart_idx as u64);
            let drawn = task.blocks(Label::Positive).map(|block| Some(rng.random_range(0..block.len())));
            best = better(best, self.select_from(task, drawn.collect())?);
        }
        Ok(best)
    }

    pub(crate) fn select_from(
        &self,
        task: &Task<'_>,
        start: Witnesses,
    ) -> Result<(Separation, Trace<Witnesses>), SvmError> {
        let mut machine = Machine::new(Points::instances(task.kernel()), self.tolerance);
        let mut duals_of_means = None;
        let at_full_cost = |idx: usize| (idx, self.penalty * self.positive_weight);
        let solve = |witnesses: &Witnesses| {
            let blocks = task.blocks(Label::Positive).zip(witnesses);
            match blocks.map(|(block, witness)| witness.map(|at| block.start + at)).collect::<Option<Vec<_>>>() {
                Some(held) => {
                    if let Some(mut signed) = duals_of_means.take() {
                        hand_over(&mut signed, task.n_instances(), &held);
                        machine.begin_from(signed);
                    }
                    self.solve(task, &mut machine, held.into_iter().map(at_full_cost))
                }
                None => {
                    let mut machine = Machine::new(self.means(task)?, self.tolerance);
                    let means = task.n_instances()..machine.n_points();
                    let separation = self.solve(task, &mut machine, means.map(at_full_cost))?;
                    duals_of_means = machine.signed_duals().map(<[f64]>::to_vec);
                    Ok(separation)
                }
            }
        };
        alternate(start, self.max_rounds, solve, |_, separation| {
            task.blocks(Label::Positive).map(|block| Some(argmax(&separation.values[block]))).collect()
        })
    }

    /// All instances, and the mean of each positive bag.
    fn means<'a>(&self, task: &Task<'a>) -> Result<Points<'a>, SvmError> {
        let blocks = task.blocks(Label::Positive);
        match self.start {
            WitnessStart::FeatureMean => Points::with_means(task.kernel(), blocks.collect()),
            WitnessStart::InputMean => {
                let instances = task.bags().instances();
                let means: Vec<_> =
                    blocks.map(|block| instances.columns(block.start, block.len()).column_mean()).collect();
                Points::with_vectors(task.kernel(), DMatrix::from_columns(&means))
            }
        }
    }

    /// The machine that holds these points to the positive side, each at its cost, and the instances of the negative bags to the other.
    pub(crate) fn solve(
        &self,
        task: &Task<'_>,
        machine: &mut Machine<'_>,
        held: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<Separation, SvmError> {
        match self.slack {
            Slack::PerInstance => {
                let mut demands = Demands::none(machine.n_points());
                demands.hold(task.negative_instances(), -1.0, self.penalty);
                held.into_iter().for_each(|(idx, penalty)| demands.hold([idx], 1.0, penalty));
                machine.solve(demands)
            }
            Slack::PerBag => {
                // The first group is for points that take no part.
                let (mut signs, mut group_of) = (vec![1.0; machine.n_points()], vec![0; machine.n_points()]);
                let mut caps = vec![0.0];
                for block in task.blocks(Label::Negative) {
                    signs[block.clone()].fill(-1.0);
                    group_of[block].fill(caps.len());
                    caps.push(self.penalty);
                }
                for (idx, penalty) in held {
                    group_of[idx] = caps.len();
                    caps.push(penalty);
                }
                machine.solve_in_groups(signs, group_of, caps)
            }
        }
    }
}

/// Refuses what is not a witness for each positive bag, or the mean for all of them.
fn require_witnesses(task: &Task<'_>, witnesses: &Witnesses) -> Result<(), SvmError> {
    let n_bags = task.blocks(Label::Positive).count();
    let n_named = witnesses.iter().flatten().count();
    if witnesses.len() != n_bags || (n_named != 0 && n_named != n_bags) {
        return Err(SvmError::WitnessCount { n_bags, n_named });
    }
    let named = task.blocks(Label::Positive).zip(witnesses).enumerate();
    for (bag, (block, witness)) in named {
        if let Some(witness) = witness.filter(|&at| at >= block.len()) {
            return Err(SvmError::NoSuchWitness { bag, witness, n_instances: block.len() });
        }
    }
    Ok(())
}

/// Gives the dual of each mean, which stand behind those of the instances, to the witness that follows it.
fn hand_over(signed: &mut Vec<f64>, n_instances: usize, witnesses: &[usize]) {
    let of_means = signed.split_off(n_instances);
    witnesses.iter().zip(of_means).for_each(|(&witness, dual)| signed[witness] += dual);
}

impl Separates for MiSvmBag {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        self.select(task).map(|(separation, _)| separation)
    }
}
