//! The facts that hold for every learner, for each of this crate's.

use mil_core::BagModel;
use mil_core::Learner;
use mil_core::model_file::SavedModel;
use mil_kernels::{BagScale, Kernel, KernelChoice};
use mil_svm::{
    AlSvm, AwSvm, GridSearch, MiSvmBag, MiSvmPattern, Mica, MissSvm, Nsk, Sbmil, SilSvm, Slack, Smil, Stk, Stmil,
    WitnessStart,
};
use mil_testkit::conformance::{check, check_with};

const KERNELS: [Kernel; 3] =
    [Kernel::Linear, Kernel::Polynomial { degree: 2, scale: 0.5, offset: 1.0 }, Kernel::Gaussian { gamma: 0.5 }];

fn with_each_kernel<L: Learner<Model: BagModel + SavedModel>>(learner: impl Fn(Kernel) -> L) {
    for kernel in KERNELS {
        check(&learner(kernel));
    }
}

#[test]
fn sil_conforms() {
    with_each_kernel(|kernel| SilSvm { kernel, ..Default::default() });
}

#[test]
fn mi_svm_conforms() {
    with_each_kernel(|kernel| MiSvmPattern { kernel, positive_weight: 2.0, n_restarts: 1, ..Default::default() });
}

#[test]
fn bag_mi_svm_conforms() {
    with_each_kernel(|kernel| MiSvmBag { kernel, n_restarts: 1, ..Default::default() });
}

#[test]
fn bag_mi_svm_conforms_by_its_shortcuts() {
    with_each_kernel(|kernel| MiSvmBag {
        kernel,
        slack: Slack::PerInstance,
        start: WitnessStart::InputMean,
        ..Default::default()
    });
}

#[test]
fn smil_conforms() {
    with_each_kernel(|kernel| Smil { kernel, ..Default::default() });
}

#[test]
fn stmil_conforms() {
    with_each_kernel(|kernel| Stmil { kernel, ..Default::default() });
}

#[test]
fn sbmil_conforms() {
    with_each_kernel(|kernel| Sbmil { kernel, ..Default::default() });
}

#[test]
fn miss_svm_conforms() {
    with_each_kernel(|kernel| MissSvm { kernel, ..Default::default() });
}

#[test]
fn mica_conforms() {
    with_each_kernel(|kernel| Mica { kernel, ..Default::default() });
}

#[test]
fn al_svm_conforms() {
    with_each_kernel(|kernel| AlSvm { kernel, cooling: 4.0, ..Default::default() });
}

#[test]
fn aw_svm_conforms() {
    with_each_kernel(|kernel| AwSvm { kernel, cooling: 4.0, ..Default::default() });
}

#[test]
fn nsk_conforms() {
    for scale in [BagScale::Mean, BagScale::FeatureSpace] {
        with_each_kernel(|kernel| Nsk { kernel, scale, positive_weight: 2.0, ..Default::default() });
    }
}

#[test]
fn stk_conforms() {
    with_each_kernel(|kernel| Stk { kernel, positive_weight: 2.0, ..Default::default() });
}

#[test]
fn a_grid_search_conforms() {
    let grid = GridSearch {
        kernels: KERNELS.map(KernelChoice::Fixed).to_vec(),
        penalties: vec![1.0, 10.0],
        n_folds: 2,
        ..GridSearch::of(MiSvmPattern::default())
    };
    check_with(&grid, 2);
}
