//! mi-SVM, linear and Gaussian, on 120,000 instances of 100 features in bounded memory, where a dense kernel matrix would take 115 GB.

use mil_data::synth::WitnessParams;
use mil_kernels::Kernel;
use mil_svm::MiSvmPattern;

use crate::contest::{Outcome, Peer, once, peak_memory};

/// Bags of ten, nine of ten instances of a positive bag witnesses.
const BAGS: WitnessParams = WitnessParams {
    n_positive: 6_000,
    n_negative: 6_000,
    n_features: 100,
    min_bag_size: 10,
    max_bag_size: 10,
    witness_rate: 0.9,
    separation: 5.0,
    seed: 1,
};

/// What is measured is that a round fits into the memory; the heuristic goes on for dozens, each like the last.
const MAX_ROUNDS: usize = 5;

pub(crate) fn run(_: &Peer) -> Result<Vec<Outcome>, String> {
    let bags = BAGS.generate().map_err(|error| error.to_string())?;
    let kernels = [("linear", Kernel::Linear), ("Gaussian", Kernel::Gaussian { gamma: 1.0 / BAGS.n_features as f64 })];
    let fit = |(name, kernel): (&str, Kernel)| {
        let learner = MiSvmPattern { kernel, max_rounds: MAX_ROUNDS, ..Default::default() };
        let (mut outcome, fitted) = once(String::new(), || learner.fit_traced(&bags));
        let (model, trace) = fitted.map_err(|error| error.to_string())?;
        outcome.name = format!(
            "mi-SVM, {name}, {} x {} synthetic, C = 1: {} rounds, {:?}, defect {:.0e}, peak memory {}",
            bags.n_instances(),
            bags.n_features(),
            trace.objectives.len(),
            trace.stop,
            model.defect(),
            peak_memory()
                .map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.2} GiB", bytes / f64::from(1 << 30))),
        );
        Ok(outcome)
    };
    kernels.into_iter().map(fit).collect()
}
