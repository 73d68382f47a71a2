//! The naive single-instance baseline: what a method must beat to have learnt anything from bags.

use mil_core::{BagRule, Calibrated, NearestCentroid, OutOfFold, Scaled, Scaling};

use crate::row::{Row, for_all};
use crate::rows::DATA;

/// Features standardised on the training folds in all three.
pub(super) fn rows() -> Vec<Row> {
    let standardised = |rule| Scaled { scaling: Scaling::Standard, learner: NearestCentroid { rule } };
    vec![
        Row {
            id: "nearest-centroid-max",
            method: "Nearest centroid, max rule",
            settings: "standardised features, threshold 0",
            quick: &DATA,
            repeats: None,
            learner: for_all(standardised(BagRule::Max)),
        },
        Row {
            id: "nearest-centroid-calibrated",
            method: "Nearest centroid, max rule, calibrated",
            settings: "standardised features, threshold from 5 inner folds of the training bags",
            quick: &DATA,
            repeats: None,
            learner: for_all(Calibrated {
                learner: standardised(BagRule::Max),
                source: OutOfFold { n_folds: 5, seed: 0 },
            }),
        },
        Row {
            id: "nearest-centroid-mean",
            method: "Nearest centroid, mean rule",
            settings: "standardised features, threshold 0",
            quick: &DATA,
            repeats: None,
            learner: for_all(standardised(BagRule::Mean)),
        },
    ]
}
