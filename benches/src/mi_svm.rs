//! mi-SVM and MI-SVM against the same heuristics as loops over scikit-learn's SVC, on Musk2 and, where it is here, Elephant.
//!
//! SVC knows no slack that a bag shares, so that MI-SVM runs with a slack for each instance on both sides, from means in input space; ours with the bag's slack is timed beside it. Features of
//! Musk2 are scaled to $[0, 1]$, Elephant's are as they come.

use std::path::PathBuf;

use mil_core::{BagSet, Label, Scaler, Scaling};
use mil_data::catalogue::{self, DataSet, musk2};
use mil_kernels::Kernel;
use mil_svm::{MiSvmBag, MiSvmPattern, Slack, WitnessStart};

use crate::contest::{Agreement, Challenge, Outcome, Peer, alone, alternate, pool};

const TOLERANCE: f64 = 1e-3;
const MAX_ROUNDS: usize = 50;
/// Two solutions to the tolerance, and two ways of a heuristic whose labels may flip within it, may differ by this part of the objective.
const AGREEMENT: f64 = 1e-2;

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let mut outcomes = Task::new("Musk2", scaled(musk2())?, peer)?.contests(0.3, 1.0, &[1.0, 10.0], peer)?;
    match elephant() {
        Some(bags) => outcomes.extend(Task::new("Elephant", bags, peer)?.contests(0.003, 10.0, &[1.0], peer)?),
        None => eprintln!("Elephant is not here and left out; `cargo xtask data fetch elephant` obtains it"),
    }
    Ok(outcomes)
}

fn scaled(bags: BagSet<Label>) -> Result<BagSet<Label>, String> {
    let scaler = Scaler::fit(Scaling::MinMax, &bags).map_err(|error| error.to_string())?;
    scaler.scaled(bags).map_err(|error| error.to_string())
}

fn elephant() -> Option<BagSet<Label>> {
    let target = std::env::var_os("MIL_TARGET").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = std::env::var_os("MIL_DATA").map_or_else(|| target.join("data"), PathBuf::from);
    match catalogue::find("elephant").ok()?.load(Some(&folder)).ok()? {
        DataSet::Binary(bags) => Some(bags),
        _ => None,
    }
}

/// Bags for both sides.
struct Task {
    name: String,
    bags: BagSet<Label>,
    files: [String; 3],
}

impl Task {
    fn new(name: &str, bags: BagSet<Label>, peer: &Peer) -> Result<Task, String> {
        let labels: Vec<f64> =
            bags.labels().iter().map(|label| if *label == Label::Positive { 1.0 } else { -1.0 }).collect();
        let sizes: Vec<f64> = bags.bags().map(|bag| bag.n_instances() as f64).collect();
        let give = |what: &str, values: &[f64]| {
            let file = format!("mi-svm-{}-{what}.f64", name.to_lowercase());
            peer.give(&file, values).map(|path| path.display().to_string())
        };
        let files = [give("instances", bags.instances().as_slice())?, give("labels", &labels)?, give("sizes", &sizes)?];
        let (n_features, n) = bags.instances().shape();
        Ok(Task { name: format!("{name} {n} x {n_features}"), bags, files })
    }

    fn contests(
        &self,
        gamma: f64,
        pattern_penalty: f64,
        bag_penalties: &[f64],
        peer: &Peer,
    ) -> Result<Vec<Outcome>, String> {
        let kernel = Kernel::Gaussian { gamma };
        let pattern = MiSvmPattern {
            kernel: kernel.clone(),
            penalty: pattern_penalty,
            max_rounds: MAX_ROUNDS,
            tolerance: TOLERANCE,
            ..Default::default()
        };
        let ours = || pattern.fit_traced(&self.bags).expect("sound bags").1.objectives;
        let mut outcomes = vec![self.contest("mi-SVM", ours, gamma, pattern_penalty, "mi", peer)?];
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
            outcomes.push(self.contest("MI-SVM, slack per instance", ours, gamma, penalty, "MI", peer)?);
            let name = format!("MI-SVM, slack per bag, {}, gamma = {gamma}, C = {penalty}, one thread", self.name);
            outcomes.push(pool(1)?.install(|| alone(name, || shared.fit_traced(&self.bags).expect("sound bags"))));
        }
        Ok(outcomes)
    }

    /// Compares the last objectives.
    fn contest(
        &self,
        method: &str,
        ours: impl Fn() -> Vec<f64> + Send,
        gamma: f64,
        penalty: f64,
        peer_method: &str,
        peer: &Peer,
    ) -> Result<Outcome, String> {
        let mut args = self.files.to_vec();
        args.extend([self.bags.n_features().to_string(), peer_method.to_owned()]);
        args.extend([gamma, penalty, TOLERANCE, MAX_ROUNDS as f64].map(|number| number.to_string()));
        let challenge = Challenge {
            script: include_str!("../peers/mi_svm.py"),
            args: &args,
            agreement: Agreement::NoWorse(AGREEMENT),
        };
        let name = format!("{method}, {}, gamma = {gamma}, C = {penalty}, one thread", self.name);
        let last = |objectives: &Vec<f64>| *objectives.last().expect("a round was made");
        pool(1)?.install(|| alternate(name, ours, last, peer, &challenge))
    }
}
