//! What the property tests share: random bags and kernels, and objectives from their definitions.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use mil_core::{BagModel, BagSet, Label};
use mil_kernels::Kernel;
use mil_svm::InstanceSvm;
use mil_testkit::strategies::{Flavour, bag_sets_of};
use proptest::prelude::*;

/// Tolerance of the solver, tight enough for what theory says of exact solutions.
pub const TOLERANCE: f64 = 1e-9;
/// What the tolerance may leave of an objective.
pub const CLOSE: f64 = 1e-6;

pub fn kernels() -> impl Strategy<Value = Kernel> {
    prop::sample::select(vec![
        Kernel::Linear,
        Kernel::Polynomial { degree: 2, scale: 0.1, offset: 1.0 },
        Kernel::Gaussian { gamma: 0.05 },
    ])
}

/// Bags that do not strain the solver.
pub fn bags() -> impl Strategy<Value = BagSet<Label>> {
    prop::sample::select(vec![Flavour::Plain, Flavour::Ties, Flavour::Duplicates, Flavour::ConstantFeature])
        .prop_flat_map(|flavour| bag_sets_of(flavour, 2))
}

pub fn never_rises(objectives: &[f64]) -> Result<(), TestCaseError> {
    for pair in objectives.windows(2) {
        prop_assert!(pair[1] <= pair[0] + CLOSE * pair[0].abs().max(1.0), "{objectives:?}");
    }
    Ok(())
}

/// $\tfrac12\lVert w\rVert^2$, from the support vectors and the bare definition of the kernel.
pub fn half_squared_norm(model: &InstanceSvm, kernel: &Kernel) -> f64 {
    match (model.separator().weights(), model.separator().support()) {
        (Some(weights), _) => 0.5 * weights.norm_squared(),
        (None, Some((vectors, duals))) => {
            let value = |i: usize, j: usize| kernel.value(vectors.column(i).as_slice(), vectors.column(j).as_slice());
            let n = duals.len();
            0.5 * (0..n)
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .map(|(i, j)| duals[i] * duals[j] * value(i, j))
                .sum::<f64>()
        }
        (None, None) => unreachable!("a separator has one form or the other"),
    }
}

pub fn values(model: &InstanceSvm, bags: &BagSet<Label>, bag_idx: usize) -> Vec<f64> {
    model.instance_scores(bags.bag(bag_idx)).expect("finite").expect("a model of instances")
}
