//! The checks every learner passes.

use mil_core::{BagRule, Calibrated, HeldOut, NearestCentroid, OutOfFold, Probabilistic, Scaled, Scaling, Tuned};
use mil_testkit::conformance::{check, check_classes, check_with};

#[test]
fn nearest_centroid_with_every_rule() {
    for rule in
        [BagRule::Max, BagRule::Mean, BagRule::TopMean { k: 2 }, BagRule::NoisyOr, BagRule::SoftMax { sharpness: 0.5 }]
    {
        check(&NearestCentroid { rule });
        check_classes(&NearestCentroid { rule });
    }
}

#[test]
fn scaled_learners() {
    for scaling in [Scaling::None, Scaling::MinMax, Scaling::Standard] {
        check(&Scaled { scaling, learner: NearestCentroid::default() });
        check_classes(&Scaled { scaling, learner: NearestCentroid::default() });
    }
}

#[test]
fn calibrated_learners() {
    let source = OutOfFold { n_folds: 2, seed: 3 };
    check_with(&Calibrated { learner: NearestCentroid::default(), source }, 2);
    let scaled = Scaled { scaling: Scaling::MinMax, learner: NearestCentroid::default() };
    check_with(&Calibrated { learner: scaled, source }, 2);
}

#[test]
fn probabilistic_learners() {
    let source = OutOfFold { n_folds: 2, seed: 3 };
    check_with(&Probabilistic { learner: NearestCentroid::default(), source }, 2);
    let scaled = Scaled { scaling: Scaling::MinMax, learner: NearestCentroid::default() };
    check_with(&Probabilistic { learner: scaled, source }, 2);
}

#[test]
fn tuned_learners() {
    let settings = [BagRule::Max, BagRule::Mean].map(|rule| NearestCentroid { rule }).to_vec();
    let tuned = Tuned { settings, n_folds: 2, n_repeats: 2, seed: 3 };
    check_with(&tuned, 2);
    check_with(&Scaled { scaling: Scaling::MinMax, learner: tuned.clone() }, 2);
    check_with(&Calibrated { learner: tuned.clone(), source: HeldOut }, 2);
    check_with(&Probabilistic { learner: tuned, source: HeldOut }, 2);
}
