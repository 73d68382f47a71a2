//! What is to be said of single cells: why one is worse than what is printed, above all.
//!
//! A figure of ours that is told here was measured at the time; the tables have those of the run.
//!
//! Kept apart from methods, tables and figures, so that a remark changes no result.

/// A remark on a cell.
struct Note {
    /// The experiment.
    experiment: &'static str,
    /// The line of its table.
    line: &'static str,
    /// The columns, or all where there are none.
    columns: &'static [&'static str],
    /// The remark.
    text: &'static str,
}

const fn note(
    experiment: &'static str,
    line: &'static str,
    columns: &'static [&'static str],
    text: &'static str,
) -> Note {
    Note { experiment, line, columns, text }
}

const AL_SVM: &str = "AL-SVM ends no higher than mi-SVM by construction and often lower, and a lower objective may classify worse: on Musk1 with gamma 0.35 and C = 1 it falls below mi-SVM's and the accuracy from 88.6 to 48.9. Gehler and Chapelle report the same of their problem and bound the share of positive instances, which AL-SVM as printed does not. \
                      That this is what happens here is likely, not shown; the grid of the annealed methods is coarser as well.";

const MIDL: &str = "The paper's selection takes a positive image from about three quarters of the positive bags, where half of the images are positive; given the right ones the method reaches what is printed. Other sizes of dictionaries, sparsities, weights, widths and starts were tried, none of which closes the gap; a selection by what the positive bags share does \
                    (the table below), but is not the paper's. Test images from the training set, where 150 sevens can be had, are easier by about one point.";

const MIDL_DIGIT: &str = "As for the average; single digits differ by which images are drawn, and sevens have 73 positive test bags instead of 75.";

const DIGITS: &[&str] =
    &["digit 0", "digit 1", "digit 2", "digit 3", "digit 4", "digit 5", "digit 6", "digit 7", "digit 8", "digit 9"];

const NOTES: &[Note] = &[
    note(
        "miforests-table1",
        "SIL-SVM",
        &["elephant"],
        "The largest of a bag's scores is above 0 for most negative bags too, since most instances of positive bags were mislabelled; the ranking is good (area under the curve 0.92). With a threshold learnt from the same inner folds it gets 83.7 (SIL-SVM, calibrated, among all methods). The published figure needs one.",
    ),
    note(
        "miforests-table1",
        "SIL-SVM",
        &["musk2"],
        "A threshold does not help. At the settings recommended for mi-SVM the relabelling never acts and the two are the same machine, so that the published 87 and 84 for one machine show how much settings and folds matter on 102 bags.",
    ),
    note("miforests-table1", "AL-SVM", &[], AL_SVM),
    note(
        "miforests-table1",
        "AW-SVM",
        &[],
        "The grid of the annealed methods is coarse, two kernels by two penalties, since each fit is a whole cooling; inner folds of some eighty to a hundred and eighty bags choose among its cells with a noise larger than their differences. On Musk1 the fixed setting gamma 0.35, C = 10 gives 88.0.",
    ),
    note(
        "pmi-table3",
        "PMI",
        &["elephant"],
        "One width is fixed for all sets. The best cell of a grid over gamma and nu, read off the test folds, has about 76 (pmi-grid-images), and the rule that chooses the width by consistency 76.7: no gamma and nu reach 78.3 here.",
    ),
    note(
        "pmi-table3",
        "MICA",
        &["elephant"],
        "Linear, as its grid on Elephant and Tiger has no other kernel; the paper quotes a figure whose kernel is not stated.",
    ),
    note(
        "miforest-table2",
        "MIForest",
        &["Corel-2000"],
        "The columns of the paper look exchanged: it prints 66 for twenty categories and 59 for the first ten of them, which is the easier task. With its columns exchanged it would still be seven points below on twenty categories, and six above on ten. With many classes annealing with the hinge loses: most labels that it draws are noise. The log-likelihood and the plain forest, both with the mean rule, get about 63 here (the table below).",
    ),
    note("midl-table1", "MIDL, bags", &["average"], MIDL),
    note("midl-table1", "MIDL, images", &["average"], MIDL),
    note("midl-table1", "MIDL, bags", DIGITS, MIDL_DIGIT),
    note("midl-table1", "MIDL, images", DIGITS, MIDL_DIGIT),
];

/// What is to be said of a cell.
#[must_use]
pub(crate) fn of(experiment: &str, line: &str, column: &str) -> Option<&'static str> {
    let is_about = |note: &&Note| {
        note.experiment == experiment
            && note.line == line
            && (note.columns.is_empty() || note.columns.contains(&column))
    };
    NOTES.iter().find(is_about).map(|note| note.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_is_of_a_known_experiment_and_line() {
        let tables = crate::tables::all();
        let figures = crate::figures::all();
        for note in NOTES {
            let table = tables.iter().find(|table| table.id == note.experiment);
            let has_line = table.is_some_and(|table| {
                let is_column = |column: &&str| table.columns.contains(column);
                table.lines.iter().any(|line| line.name == note.line) && note.columns.iter().all(is_column)
            });
            let is_figure = figures.iter().any(|figure| figure.id == note.experiment);
            assert!(has_line || is_figure, "{}: {}", note.experiment, note.line);
        }
    }
}
