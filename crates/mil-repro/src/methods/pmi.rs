//! PMI and plain one-class machines: positive bags alone in the training folds, both classes in the test folds.

use mil_core::{Learner, PositivesOnly, Scaled, Scaling, Tuned};
use mil_kernels::KernelChoice;
use mil_pmi::{ConsistencySearch, Mixture, OneClassModel, OneClassSvm, Over, Pmi};

use crate::method::{LearnerFor, Method, for_all};

/// "These accuracies are average results of 10 runs" (PMI, Table 3).
const RUNS: &[(&str, usize)] = &[("musk1", 10), ("musk2", 10), ("elephant", 10), ("fox", 10), ("tiger", 10)];

const FIXED: &str = "positive bags alone, scaled to [0, 1] by them; gamma = 4 over the median squared distance, nu = 0.2; fixed for all sets";
const CONSISTENT: &str = "positive bags alone, scaled to [0, 1] by them; nu = 0.2; gamma the narrowest of 0.5 to 12 over the median squared distance that still accepts 1 - nu of the positive bags held out by 5 inner folds, but for two binomial deviations";
const TUNED: &str = "fits see positive bags alone, scaled to [0, 1] by them, but gamma = 0.5, 1, 2, 4, 8 over the median squared distance and nu = 0.05, 0.1, 0.2, 0.3 are chosen by 5 inner folds of the training bags, negative ones among them";

pub(super) fn methods() -> Vec<Method> {
    vec![
        Method { repeats: RUNS, ..method("pmi", "PMI", FIXED, for_all(blind(Pmi::default()))) },
        method(
            "pmi-consistent",
            "PMI, width by consistency",
            CONSISTENT,
            for_all(blind(ConsistencySearch::of(Pmi::default()))),
        ),
        method("pmi-negatives", "PMI, tuned with negative bags", TUNED, for_all(tuned())),
        method(
            "pmi-uniform",
            "PMI without weights (bag means in feature space)",
            FIXED,
            for_all(blind(Pmi { mixture: Mixture::Uniform, ..Pmi::default() })),
        ),
        method("one-class", "One-class SVM over instances", FIXED, for_all(blind(OneClassSvm::default()))),
        method(
            "one-class-means",
            "One-class SVM over bag means",
            FIXED,
            for_all(blind(OneClassSvm { over: Over::Means, ..OneClassSvm::default() })),
        ),
    ]
}

fn method(id: &'static str, name: &'static str, settings: &'static str, learner: LearnerFor) -> Method {
    Method { id, name, settings, quick: &["musk1"], repeats: &[], code: &["mil-pmi"], source: file!(), learner }
}

/// A learner that sees nothing of negative bags, not even through the scale.
fn blind<L: Learner<(), Model = OneClassModel>>(learner: L) -> PositivesOnly<Scaled<L>> {
    PositivesOnly { learner: Scaled { scaling: Scaling::MinMax, learner } }
}

fn tuned() -> Tuned<PositivesOnly<Scaled<Pmi>>> {
    let mut settings = Vec::new();
    for ratio in [0.5, 1.0, 2.0, 4.0, 8.0] {
        let kernel = KernelChoice::GaussianOverMedian(ratio);
        settings.extend([0.05, 0.1, 0.2, 0.3].map(|nu| blind(Pmi { kernel: kernel.clone(), nu, ..Pmi::default() })));
    }
    Tuned { settings, n_folds: 5, n_repeats: 1, seed: 0 }
}
