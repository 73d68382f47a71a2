//! The facts that hold for every learner, for each of this crate's.

use mil_core::{PositivesOnly, Scaled, Scaling, Tuned};
use mil_kernels::Kernel;
use mil_pmi::{Mixture, OneClassSvm, Over, Pmi};
use mil_testkit::conformance::{check_positives_only, check_with};

/// Kernels that no median decides: that of bags which repeat one instance is 0, and refused.
const KERNELS: [Kernel; 3] =
    [Kernel::Linear, Kernel::Polynomial { degree: 2, scale: 0.5, offset: 1.0 }, Kernel::Gaussian { gamma: 0.5 }];

#[test]
fn pmi_conforms() {
    for kernel in KERNELS {
        for mixture in [Mixture::LeastVariance, Mixture::Uniform] {
            let learner = Pmi { kernel: kernel.clone().into(), mixture, ..Pmi::default() };
            check_positives_only(&PositivesOnly { learner });
        }
    }
}

#[test]
fn pmi_conforms_at_the_ends_of_its_share() {
    for nu in [1e-300, 1.0] {
        let learner = Pmi { kernel: Kernel::Gaussian { gamma: 0.5 }.into(), nu, ..Pmi::default() };
        check_positives_only(&PositivesOnly { learner: Scaled { scaling: Scaling::MinMax, learner } });
    }
}

#[test]
fn one_class_machines_conform() {
    for kernel in KERNELS {
        for over in [Over::Instances, Over::Means] {
            check_positives_only(&PositivesOnly {
                learner: OneClassSvm { over, kernel: kernel.clone().into(), ..OneClassSvm::default() },
            });
        }
    }
}

#[test]
fn pmi_conforms_when_tuned_by_negative_bags() {
    let setting =
        |gamma| PositivesOnly { learner: Pmi { kernel: Kernel::Gaussian { gamma }.into(), ..Pmi::default() } };
    let settings = [0.1, 1.0].map(setting).to_vec();
    check_with(&Tuned { settings, n_folds: 2, n_repeats: 1, seed: 0 }, 2);
}
