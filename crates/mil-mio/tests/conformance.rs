//! The facts that hold for every learner, for each of this crate's.

use mil_core::{Calibrated, HeldOut, Tuned};
use mil_mio::{Budget, Miles, Mio, Order, Revisit, Schedule, Width};
use mil_testkit::conformance::{check, check_with};

/// A width that no median decides: that of bags which repeat two instances is 0, and refused.
const WIDTH: Width = Width::Squared(4.0);

#[test]
fn mio_conforms() {
    check(&Mio { width: WIDTH, ..Mio::default() });
}

#[test]
fn mio_conforms_with_every_choice_turned() {
    let plain = Mio { width: WIDTH, n_passes: 3, ..Mio::default() };
    check(&Mio { schedule: Schedule::AnyTime, bias: 0.0, ..plain.clone() });
    check(&Mio { revisit: Revisit::Replace, order: Order::AsGiven, alpha0: 0.0, ..plain.clone() });
    check(&Mio { budget: Budget::Candidates(3), order: Order::Cyclic, positive_penalty: 2.0, ..plain });
}

#[test]
fn miles_conforms() {
    check(&Miles { width: WIDTH, ..Miles::default() });
    check(&Miles { width: WIDTH, has_bias: false, lambda: 1e-3, negative_penalty: 3.0, ..Miles::default() });
}

#[test]
fn both_conform_when_tuned() {
    let widths = [1.0, 100.0].map(Width::Squared);
    let mio = Tuned {
        settings: widths.map(|width| Mio { width, ..Mio::default() }).to_vec(),
        n_folds: 2,
        n_repeats: 2,
        seed: 0,
    };
    let miles = Tuned {
        settings: widths.map(|width| Miles { width, ..Miles::default() }).to_vec(),
        n_folds: 2,
        n_repeats: 2,
        seed: 0,
    };
    check_with(&Calibrated { learner: mio, source: HeldOut }, 2);
    check_with(&miles, 2);
}
