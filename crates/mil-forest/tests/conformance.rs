//! The facts that hold for every learner, for each of this crate's.

use mil_core::{BagRule, Calibrated, OutOfBag, Scaled, Scaling, Tuned};
use mil_forest::{Criterion, Loss, MiForest, RandomForest, Resolution, Sampling, TestCount, Tests, Weighting};
use mil_testkit::conformance::{check, check_classes, check_with};

fn plain() -> RandomForest {
    RandomForest { n_trees: 7, ..RandomForest::default() }
}

fn annealed() -> MiForest {
    MiForest { n_trees: 7, end_temperature: 0.3, ..MiForest::default() }
}

#[test]
fn the_plain_forest_conforms() {
    check(&plain());
    check_classes(&plain());
}

#[test]
fn the_plain_forest_conforms_with_every_choice_turned() {
    check(&RandomForest {
        criterion: Criterion::Gini,
        tests: Tests::Random,
        sampling: Sampling::Instances,
        weighting: Weighting::Instances,
        rule: BagRule::Mean,
        ..plain()
    });
    check(&RandomForest {
        tests: Tests::Hyperplane(2),
        n_tests: TestCount::Number(3),
        weighting: Weighting::Classes,
        rule: BagRule::NoisyOr,
        ..plain()
    });
    check(&RandomForest {
        resolution: Resolution::Bins(2),
        rule: BagRule::TopMean { k: 2 },
        ..RandomForest::extra_trees()
    });
    check_classes(&RandomForest { max_depth: 0, rule: BagRule::SoftMax { sharpness: 3.0 }, ..plain() });
    check_classes(&RandomForest { tests: Tests::Hyperplane(9), n_tests: TestCount::All, min_split: 4, ..plain() });
}

#[test]
fn mi_forest_conforms() {
    check(&annealed());
    check_classes(&annealed());
}

#[test]
fn mi_forest_conforms_with_every_choice_turned() {
    check(&MiForest { loss: Loss::LogLikelihood, settled: 0.1, sampling: Sampling::All, ..annealed() });
    check(&MiForest { max_epochs: 1, cooling: 2.0, start_temperature: 100.0, tests: Tests::Random, ..annealed() });
    check_classes(&MiForest { loss: Loss::MarginExponential, rule: BagRule::NoisyOr, ..annealed() });
}

#[test]
fn wrapped_forests_conform() {
    // With fifty trees and four bags at least, some tree leaves out each.
    check_with(&Calibrated { learner: MiForest::default(), source: OutOfBag }, 2);
    check(&Scaled { scaling: Scaling::MinMax, learner: plain() });
    let settings = vec![plain(), RandomForest { rule: BagRule::Mean, ..plain() }];
    check_with(&Tuned { settings, n_folds: 2, n_repeats: 1, seed: 0 }, 2);
}
