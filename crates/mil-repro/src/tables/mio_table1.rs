//! MIO, Table 1: Musk, among methods of others whose figures it takes from Chen, Bi & Wang (MILES, 2006).

use crate::comparison::Printed;
use crate::papers::Paper;
use crate::table::{Line, PaperTable, line, printed_only};

pub(super) fn table() -> PaperTable {
    PaperTable {
        id: "mio-table1",
        paper: Paper::Mio,
        place: "Table 1",
        title: "Accuracy on Musk",
        protocol: "Stratified ten-fold cross-validation, fifteen runs for MIO and MILES as in the paper, else three; every setting fixed or chosen inside the training folds. The paper states intervals for six of its figures.",
        columns: &["musk1", "musk2"],
        lines: vec![
            line("MIO", "mio", [tenths(88.3).within(86.5, 90.2), tenths(87.7).within(85.8, 89.6)]),
            line("MILES", "miles", [tenths(85.5).within(83.0, 88.0), tenths(87.1).within(82.3, 91.9)]),
            absent("APR", [92.4, 89.2]),
            absent("Bagging-APR", [92.8, 93.1]),
            absent("DD", [88.9, 82.5]),
            absent("DD-SVM", [85.8, 91.3]),
            absent("EM-DD", [84.8, 84.9]),
            line("mi-SVM", "mi-svm", [87.4, 83.6].map(tenths)),
            line("MI-SVM", "mi-svm-bag", [77.9, 84.3].map(tenths)),
            printed_only("Multinst", [tenths(76.7).within(73.6, 79.8), tenths(84.0).within(81.4, 86.6)]),
            absent("RELIC", [83.7, 87.3]),
        ],
    }
}

fn tenths(value: f64) -> Printed {
    Printed::tenths(value)
}

fn absent(name: &'static str, printed: [f64; 2]) -> Line {
    printed_only(name, printed.map(tenths))
}
