//! mi-SVM and MI-SVM against the same heuristics as loops over scikit-learn's SVC, on Musk2 and, where it is here, Elephant.
//!
//! SVC knows no slack that a bag shares, so that MI-SVM runs with a slack for each instance on both sides, from means in input space; ours with the bag's slack is timed beside it. Features of
//! Musk2 are scaled to $[0, 1]$, Elephant's are as they come.

use mil_core::{BagSet, Label, Scaler, Scaling};
use mil_data::catalogue::{DataSet, musk2};
use mil_kernels::Kernel;
use mil_svm::{MiSvmBag, MiSvmPattern, Slack, WitnessStart};

use super::{fetched, say};
use crate::contest::{Bench, Contest, Entry, Work};
use crate::curve::{Curve, Stopwatch, pool};
use crate::data::{self, N_FEATURES};
use crate::duel::{Calls, Challenge, Duel, alone, alternate};
use crate::peer::{Agreement, Peer};

pub(super) const DUELS: Contest = Contest {
    name: "mi_svm",
    about: "mi-SVM and MI-SVM on Musk2 and Elephant against loops over scikit-learn's SVC",
    notes: &[
        "SVC knows no slack that a bag shares, so that MI-SVM runs with a slack for each instance on both sides; ours with the bag's slack is timed beside it.",
        "Features of Musk2 are scaled to [0, 1], Elephant's are as they come.",
    ],
    work: Work::Duels(duels),
};

pub(super) const GROWTH: Contest = Contest {
    name: "mi_svm_growth",
    about: "how mi-SVM grows with instances, Gaussian and linear; both beyond 120,000 with --long, where a dense kernel matrix would take 115 GB",
    notes: &[
        "Both stop after five rounds at the latest: the heuristic goes on for dozens, each like the last.",
        "The linear curve begins where the solver has left the kernel matrix, which it takes for smaller problems, for the weights of features.",
    ],
    work: Work::Curves(&[
        Curve {
            name: "mi_svm_gaussian",
            title: "mi-SVM, Gaussian, 100 features, C = 1, at most 5 rounds, one thread",
            unit: "instances",
            sizes: &[1000, 2000, 4000, 8000, 16_000],
            long_sizes: &[32_000, 64_000, 128_000],
            measure: |n, watch| measure(Kernel::Gaussian { gamma: 1.0 / N_FEATURES as f64 }, n, watch),
            peer: None,
        },
        Curve {
            name: "mi_svm_linear",
            title: "mi-SVM, linear, 100 features, C = 1, at most 5 rounds, one thread",
            unit: "instances",
            sizes: &[15_000, 30_000, 60_000, 120_000],
            long_sizes: &[240_000],
            measure: |n, watch| measure(Kernel::Linear, n, watch),
            peer: None,
        },
    ]),
};

const TOLERANCE: f64 = 1e-3;
const MAX_ROUNDS: usize = 50;
/// Two solutions to the tolerance, and two ways of a heuristic whose labels may flip within it, may differ by this part of the objective.
const AGREEMENT: f64 = 1e-2;

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    Task::new("Musk2", scaled(musk2())?, &bench.peer)?.duels([0.3, 1.0], &[1.0, 10.0], Calls::Few, bench, entry)?;
    if let Some(DataSet::Binary(bags)) = fetched("elephant") {
        return Task::new("Elephant", bags, &bench.peer)?.duels([0.003, 10.0], &[1.0], Calls::Few, bench, entry);
    }
    entry.left_out.push("Elephant is not here; `cargo xtask data fetch elephant` obtains it".to_owned());
    Ok(())
}

fn scaled(bags: BagSet<Label>) -> Result<BagSet<Label>, String> {
    let scaler = Scaler::fit(Scaling::MinMax, &bags).map_err(say)?;
    scaler.scaled(bags).map_err(say)
}

/// Bags for both sides.
struct Task {
    name: String,
    bags: BagSet<Label>,
    files: [String; 3],
}

impl Task {
    fn new(name: &str, bags: BagSet<Label>, peer: &Peer) -> Result<Task, String> {
        let labels: Vec<f64> = bags.labels().iter().map(|label| label.sign()).collect();
        let sizes: Vec<f64> = bags.bags().map(|bag| bag.n_instances() as f64).collect();
        let give = |what: &str, values: &[f64]| {
            let file = format!("mi-svm-{}-{what}.f64", name.to_lowercase());
            peer.give(&file, values)
        };
        let files = [give("instances", bags.instances().as_slice())?, give("labels", &labels)?, give("sizes", &sizes)?];
        let (n_features, n) = bags.instances().shape();
        Ok(Task { name: format!("{name} {n} x {n_features}"), bags, files })
    }

    /// mi-SVM at one penalty, where a call takes the peer seconds, and MI-SVM at each of several.
    fn duels(
        &self,
        [gamma, pattern_penalty]: [f64; 2],
        bag_penalties: &[f64],
        pattern_calls: Calls,
        bench: &Bench,
        entry: &mut Entry,
    ) -> Result<(), String> {
        let kernel = Kernel::Gaussian { gamma };
        let pattern = MiSvmPattern {
            kernel: kernel.clone(),
            penalty: pattern_penalty,
            max_rounds: MAX_ROUNDS,
            tolerance: TOLERANCE,
            ..Default::default()
        };
        let ours = || pattern.fit_traced(&self.bags).expect("sound bags").1.objectives;
        entry.duels.push(self.duel(["mi-SVM", "mi"], ours, [gamma, pattern_penalty], pattern_calls, bench)?);
        for &penalty in bag_penalties {
            let shared = MiSvmBag {
                kernel: kernel.clone(),
                penalty,
                start: WitnessStart::InputMean,
                max_rounds: MAX_ROUNDS,
                tolerance: TOLERANCE,
                ..Default::default()
            };
            let single = MiSvmBag { slack: Slack::PerInstance, ..shared.clone() };
            let ours = || single.fit_traced(&self.bags).expect("sound bags").1.objectives;
            let names = ["MI-SVM, slack per instance", "MI"];
            entry.duels.push(self.duel(names, ours, [gamma, penalty], Calls::Many, bench)?);
            let name = format!("MI-SVM, slack per bag, {}, gamma = {gamma}, C = {penalty}, one thread", self.name);
            let fit = || shared.fit_traced(&self.bags).expect("sound bags");
            entry.duels.push(pool(1)?.install(|| alone(name, fit, bench)));
        }
        Ok(())
    }

    /// Compares the last objectives.
    fn duel(
        &self,
        [method, peer_method]: [&str; 2],
        ours: impl Fn() -> Vec<f64> + Send,
        [gamma, penalty]: [f64; 2],
        calls: Calls,
        bench: &Bench,
    ) -> Result<Duel, String> {
        let mut args = self.files.to_vec();
        args.extend([self.bags.n_features().to_string(), peer_method.to_owned()]);
        args.extend([gamma, penalty, TOLERANCE, MAX_ROUNDS as f64].map(|number| number.to_string()));
        let challenge = Challenge {
            script: include_str!("../../peers/mi_svm.py"),
            args: &args,
            agreement: Agreement::NoWorse(AGREEMENT),
            total: None,
            calls,
        };
        let name = format!("{method}, {}, gamma = {gamma}, C = {penalty}, one thread", self.name);
        let last = |objectives: &Vec<f64>| *objectives.last().expect("a round was made");
        pool(1)?.install(|| alternate(name, ours, last, bench, &challenge))
    }
}

/// Nine of ten instances of a positive bag are witnesses here.
const WITNESS_RATE: f64 = 0.9;
const GROWTH_ROUNDS: usize = 5;

fn measure(kernel: Kernel, n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let bags = data::bags(n, WITNESS_RATE)?;
    let learner = MiSvmPattern { kernel, max_rounds: GROWTH_ROUNDS, ..Default::default() };
    let (_, trace) = watch.repeat(|| learner.fit_traced(&bags)).map_err(say)?;
    let objective = trace.objectives.last().copied().unwrap_or(f64::NAN);
    Ok((objective, Some(format!("{} rounds", trace.objectives.len()))))
}
