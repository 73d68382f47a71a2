//! What the papers print for methods that, like our baseline, ignore that instances come in bags, and for the best of the five papers on these data.

use crate::row::Published;

const MIFORESTS_TABLE_1: &str = "MIForests, Table 1";

pub(super) const ROWS: [Published; 3] = [
    Published {
        method: "RandomForest on single instances",
        source: MIFORESTS_TABLE_1,
        accuracies: &[("musk1", 85.0), ("musk2", 78.0), ("elephant", 74.0), ("fox", 60.0), ("tiger", 77.0)],
    },
    Published {
        method: "SIL-SVM on single instances",
        source: MIFORESTS_TABLE_1,
        accuracies: &[("musk1", 88.0), ("musk2", 87.0), ("elephant", 85.0), ("fox", 53.0), ("tiger", 77.0)],
    },
    Published {
        method: "MIForest",
        source: MIFORESTS_TABLE_1,
        accuracies: &[("musk1", 85.0), ("musk2", 82.0), ("elephant", 84.0), ("fox", 64.0), ("tiger", 82.0)],
    },
];
