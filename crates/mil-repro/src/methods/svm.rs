//! The maximum-margin family. Penalty and kernel of every method are chosen by a grid search inside the training folds.

use mil_core::{BagModel, Calibrated, HeldOut, Learner, Scaled, Scaling};
use mil_kernels::{Kernel, KernelChoice};
use mil_svm::{AlSvm, AwSvm, GridSearch, MiSvmBag, MiSvmPattern, Mica, Nsk, OverKernel, SilSvm};

use crate::method::{AnyLearner, LearnerFor, Method};

const GAUSSIAN: &str = "penalty and kernel by 5 inner folds of the training bags (3 on Musk2), Gaussian kernels of gamma = 1, 3, 8, 25 over the median \
                        squared distance and C = 1, 10, 100; on Elephant and Tiger Gaussian ones of 0.3, 1, 3 and the linear one, C = 0.01, 0.1, 1, 10. \
                        Musk and Fox scaled to [0, 1] on the training folds, Elephant and Tiger as they come";

const ANNEALED: &str = "as for mi-SVM, but Gaussian kernels of 3 and 8 and C = 1, 10; on Elephant and Tiger the linear one and a Gaussian one of 1, \
                        C = 0.1, 1. Temperatures from 10 C down to C / 100 by halves";

const ONE_NORM: &str = "penalty and kernel by inner folds as for mi-SVM; on Musk and Fox Gaussian kernels of 1 and 3, C = 1, 10; on Elephant and Tiger the linear one, \
                        C = 0.1, 0.3, 1, 3";

const CALIBRATED: &str = "as for SIL-SVM, and the threshold from the scores of the same inner folds";

/// All with the max rule where the method scores instances.
pub(super) fn methods() -> Vec<Method> {
    vec![
        method("sil-svm", "SIL-SVM", GAUSSIAN, tuned(SilSvm::default(), gaussian)),
        method("sil-svm-calibrated", "SIL-SVM, calibrated", CALIBRATED, calibrated(SilSvm::default(), gaussian)),
        method("mi-svm", "mi-SVM", GAUSSIAN, tuned(MiSvmPattern::default(), gaussian)),
        method("mi-svm-bag", "MI-SVM", GAUSSIAN, tuned(MiSvmBag::default(), gaussian)),
        method("mi-kernel", "MI-Kernel", GAUSSIAN, tuned(Nsk::default(), gaussian)),
        method("mica", "MICA", ONE_NORM, tuned(Mica::default(), one_norm)),
        method("aw-svm", "AW-SVM", ANNEALED, tuned(AwSvm::default(), annealed)),
        method("al-svm", "AL-SVM", ANNEALED, tuned(AlSvm::default(), annealed)),
    ]
}

fn method(id: &'static str, name: &'static str, settings: &'static str, learner: LearnerFor) -> Method {
    Method { id, name, settings, quick: &["musk1"], repeats: &[], code: &["mil-svm"], source: file!(), learner }
}

/// What a method tries.
struct Grid {
    is_linear_too: bool,
    /// Of Gaussian kernels, $\gamma$ times the median squared distance.
    ratios: &'static [f64],
    penalties: &'static [f64],
}

/// The features of these come standardised; those of the others differ in range.
fn is_standardised(data: &str) -> bool {
    matches!(data, "elephant" | "tiger")
}

fn gaussian(data: &str) -> Grid {
    if is_standardised(data) {
        Grid { is_linear_too: true, ratios: &[0.3, 1.0, 3.0], penalties: &[0.01, 0.1, 1.0, 10.0] }
    } else {
        Grid { is_linear_too: false, ratios: &[1.0, 3.0, 8.0, 25.0], penalties: &[1.0, 10.0, 100.0] }
    }
}

fn annealed(data: &str) -> Grid {
    if is_standardised(data) {
        Grid { is_linear_too: true, ratios: &[1.0], penalties: &[0.1, 1.0] }
    } else {
        Grid { is_linear_too: false, ratios: &[3.0, 8.0], penalties: &[1.0, 10.0] }
    }
}

fn one_norm(data: &str) -> Grid {
    if is_standardised(data) {
        Grid { is_linear_too: true, ratios: &[], penalties: &[0.1, 0.3, 1.0, 3.0] }
    } else {
        Grid { is_linear_too: false, ratios: &[1.0, 3.0], penalties: &[1.0, 10.0] }
    }
}

/// The learner tuned inside the training folds.
fn tuned<L: OverKernel + Send + 'static>(learner: L, grid: fn(&str) -> Grid) -> LearnerFor {
    Box::new(move |data| scaled(data, search(data, learner.clone(), &grid(data))))
}

/// The same, with a threshold learnt there as well.
fn calibrated<L: OverKernel + Send + 'static>(learner: L, grid: fn(&str) -> Grid) -> LearnerFor {
    Box::new(move |data| {
        scaled(data, Calibrated { learner: search(data, learner.clone(), &grid(data)), source: HeldOut })
    })
}

fn search<L>(data: &str, learner: L, grid: &Grid) -> GridSearch<L> {
    let linear = grid.is_linear_too.then_some(KernelChoice::Fixed(Kernel::Linear));
    let gaussian = grid.ratios.iter().map(|&ratio| KernelChoice::GaussianOverMedian(ratio));
    GridSearch {
        learner,
        kernels: linear.into_iter().chain(gaussian).collect(),
        penalties: grid.penalties.to_vec(),
        n_folds: if data == "musk2" { 3 } else { 5 },
        seed: 0,
    }
}

fn scaled<L: Learner<Model: BagModel> + Send + 'static>(data: &str, learner: L) -> Box<dyn AnyLearner> {
    let scaling = if is_standardised(data) { Scaling::None } else { Scaling::MinMax };
    Box::new(Scaled { scaling, learner })
}
