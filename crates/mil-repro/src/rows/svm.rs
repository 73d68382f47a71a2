//! The maximum-margin family. Penalty and kernel of every row are chosen by a grid search inside the training folds.

use mil_core::{Scaled, Scaling};
use mil_kernels::Kernel;
use mil_svm::{GridKernel, GridSearch, MiSvmBag, MiSvmPattern, SilSvm, Tunable};

use crate::row::{AnyLearner, LearnerFor, Row};

const SETTINGS: &str = "penalty and kernel by 5 inner folds of the training bags (3 on Musk2), Gaussian kernels of gamma = 1, 3, 8, 25 over the median \
                        squared distance and C = 1, 10, 100; on Elephant and Tiger Gaussian ones of 0.3, 1, 3 and the linear one, C = 0.01, 0.1, 1, 10. \
                        Musk and Fox scaled to [0, 1] on the training folds, Elephant and Tiger as they come";

/// All with the max rule where the method scores instances.
pub(super) fn rows() -> Vec<Row> {
    vec![
        row("sil-svm", "SIL-SVM", tuned(SilSvm::default())),
        row("mi-svm", "mi-SVM", tuned(MiSvmPattern::default())),
        row("mi-svm-bag", "MI-SVM", tuned(MiSvmBag::default())),
    ]
}

fn row(id: &'static str, method: &'static str, learner: LearnerFor) -> Row {
    Row { id, method, settings: SETTINGS, quick: &["musk1"], learner }
}

/// The learner tuned inside the training folds, on the grid of [`SETTINGS`].
fn tuned<L: Tunable + Send + 'static>(learner: L) -> LearnerFor {
    Box::new(move |data| {
        let is_image = matches!(data, "elephant" | "tiger");
        let (scaling, ratios, penalties) = match is_image {
            true => (Scaling::None, &[0.3, 1.0, 3.0][..], vec![0.01, 0.1, 1.0, 10.0]),
            false => (Scaling::MinMax, &[1.0, 3.0, 8.0, 25.0][..], vec![1.0, 10.0, 100.0]),
        };
        let linear = is_image.then_some(GridKernel::Fixed(Kernel::Linear));
        let gaussian = ratios.iter().map(|&ratio| GridKernel::GaussianOverMedian(ratio));
        let grid = GridSearch {
            learner: learner.clone(),
            kernels: linear.into_iter().chain(gaussian).collect(),
            penalties,
            n_folds: if data == "musk2" { 3 } else { 5 },
            seed: 0,
        };
        Box::new(Scaled { scaling, learner: grid }) as Box<dyn AnyLearner>
    })
}
