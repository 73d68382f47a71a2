//! The facts that hold for every learner, for each way of selecting and scaling.

use mil_dict::{BaseKernels, InputForm, KernelScale, Midl, Selection};
use mil_kernels::Kernel;
use mil_testkit::conformance::check;

fn small() -> Midl {
    Midl { n_negative_atoms: 6, n_positive_atoms: 3, n_iterations: 13, ..Midl::default() }
}

#[test]
fn midl_conforms() {
    check(&small());
}

#[test]
fn midl_conforms_by_its_other_selection() {
    check(&Midl { selection: Selection::SharedByBags, tolerance: 1e-3, ..small() });
}

#[test]
fn midl_conforms_on_raw_kernels_and_instances_as_given() {
    let kernels = vec![Kernel::Linear, Kernel::Gaussian { gamma: 0.5 }, Kernel::Gaussian { gamma: 1.0 }];
    let kernels = BaseKernels::List(kernels);
    check(&Midl { scale: KernelScale::Raw, input: InputForm::AsGiven, kernels, ..small() });
}
