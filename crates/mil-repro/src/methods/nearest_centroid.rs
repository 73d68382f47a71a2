//! The naive single-instance baseline: what a method must beat to have learnt anything from bags.

use mil_core::{BagRule, Calibrated, NearestCentroid, OutOfFold, Scaled, Scaling};

use crate::method::{Method, for_all};
use crate::methods::DATA;

/// Features standardised on the training folds in all three.
pub(super) fn methods() -> Vec<Method> {
    let standardised = |rule| Scaled { scaling: Scaling::Standard, learner: NearestCentroid { rule } };
    vec![
        Method {
            id: "nearest-centroid-max",
            name: "Nearest centroid, max rule",
            settings: "standardised features, threshold 0",
            quick: &DATA,
            repeats: &[],
            code: &["mil-core", "mil-data"],
            source: file!(),
            learner: for_all(standardised(BagRule::Max)),
        },
        Method {
            id: "nearest-centroid-calibrated",
            name: "Nearest centroid, max rule, calibrated",
            settings: "standardised features, threshold from 5 inner folds of the training bags",
            quick: &DATA,
            repeats: &[],
            code: &["mil-core", "mil-data"],
            source: file!(),
            learner: for_all(Calibrated {
                learner: standardised(BagRule::Max),
                source: OutOfFold { n_folds: 5, seed: 0 },
            }),
        },
        Method {
            id: "nearest-centroid-mean",
            name: "Nearest centroid, mean rule",
            settings: "standardised features, threshold 0",
            quick: &DATA,
            repeats: &[],
            code: &["mil-core", "mil-data"],
            source: file!(),
            learner: for_all(standardised(BagRule::Mean)),
        },
    ]
}
