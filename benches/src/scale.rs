//! A Gaussian SVM on 120,000 instances of 100 features in bounded memory, where a dense kernel matrix would take 115 GB.

use mil_core::stream;
use mil_kernels::{GramRows, Kernel};
use mil_qp::{SmoSettings, SvmDual};
use nalgebra::DMatrix;
use rand::RngExt;

use crate::contest::{Outcome, Peer, once, peak_memory};

const N: usize = 120_000;
const N_FEATURES: usize = 100;
const SEED: u64 = 1;
/// How far each class is from the middle, in ten of the features, in standard deviations.
const SHIFT: f64 = 0.5;
const CACHE_BYTES: usize = 1 << 30;

pub(crate) fn run(_: &Peer) -> Result<Vec<Outcome>, String> {
    let signs: Vec<f64> = (0..N).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut rng = stream(SEED, "scale", 0);
    let points = DMatrix::from_fn(N_FEATURES, N, |feature, i| {
        let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        if feature < 10 { normal + SHIFT * signs[i] } else { normal }
    });
    let kernel = Kernel::Gaussian { gamma: 1.0 / N_FEATURES as f64 };
    let settings = SmoSettings { cache_bytes: CACHE_BYTES, ..SmoSettings::default() };
    let ours = || {
        let rows = GramRows::new(&kernel, &points).expect("finite points");
        let problem = SvmDual::classification(&rows, signs.clone(), vec![1.0; N]).expect("a proper problem");
        problem.solve(&settings).expect("finite rows").solved().expect("within the budget")
    };
    let (mut outcome, solution) = once(String::new(), ours);
    let n_support = solution.primal.iter().filter(|&&dual| dual > 0.0).count();
    outcome.name = format!(
        "Gaussian SVM, {N} x {N_FEATURES} synthetic, C = 1, tolerance {}: {n_support} support vectors, relative gap {:.0e}, peak memory {}",
        settings.tolerance,
        solution.certificate.worst(),
        peak_memory().map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.2} GiB", bytes / f64::from(1 << 30))),
    );
    Ok(vec![outcome])
}
