//! MIO and MILES, every setting chosen inside the training folds.

use mil_core::{Tunable, Tuned};
use mil_mio::{Miles, Mio, Width};

use crate::method::{LearnerFor, Method};

const MIO: &str = "ten passes; sigma^2 = 0.05, 0.1, 0.2 times the median squared distance, alpha0 = 0.005, 0.02, 0.05, beta0 = 0.2, 1, with a bias (on Elephant, Fox and Tiger also without), \
                   by 3 repetitions of 10 inner folds of the training bags; features as they come";

const MILES: &str = "sigma^2 = 0.1, 0.2, 0.3 times the median squared distance, lambda = 0.1, 0.2, 0.4 for penalties of 1, with and without a bias, by 5 inner folds of the training bags; features as they come";

/// "Fifteen runs of 10-fold cross-validation" (MIO §4.2).
const RUNS: &[(&str, usize)] = &[("musk1", 15), ("musk2", 15)];

pub(super) fn methods() -> Vec<Method> {
    vec![
        method("mio", "MIO", MIO, Box::new(|data| Box::new(tuned(mio(data), 10, 3)))),
        method("miles", "MILES", MILES, Box::new(|_| Box::new(tuned(miles(), 5, 1)))),
    ]
}

fn method(id: &'static str, name: &'static str, settings: &'static str, learner: LearnerFor) -> Method {
    Method { id, name, settings, quick: &["musk1"], repeats: RUNS, code: &["mil-mio"], source: file!(), learner }
}

fn tuned<L: Tunable>(settings: Vec<L>, n_folds: usize, n_repeats: usize) -> Tuned<L> {
    Tuned { settings, n_folds, n_repeats, seed: 0 }
}

fn mio(data: &str) -> Vec<Mio> {
    let biases: &[f64] = if data.starts_with("musk") { &[1.0] } else { &[0.0, 1.0] };
    let mut settings = Vec::new();
    for width in [0.05, 0.1, 0.2].map(Width::OverMedian) {
        for &bias in biases {
            for alpha0 in [0.005, 0.02, 0.05] {
                let settings_of = |beta0| Mio { width, alpha0, beta0, bias, ..Mio::default() };
                settings.extend([0.2, 1.0].map(settings_of));
            }
        }
    }
    settings
}

fn miles() -> Vec<Miles> {
    let mut settings = Vec::new();
    for width in [0.1, 0.2, 0.3].map(Width::OverMedian) {
        for has_bias in [false, true] {
            settings.extend([0.1, 0.2, 0.4].map(|lambda| Miles { width, lambda, has_bias, ..Miles::default() }));
        }
    }
    settings
}
