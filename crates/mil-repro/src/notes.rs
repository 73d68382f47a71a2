//! What is to be said of single cells: why one is worse than what is printed, above all.
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

const NOTES: &[Note] = &[];

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
