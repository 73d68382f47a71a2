//! A table of a paper whose cells are accuracies of methods on data sets.

use crate::comparison::Printed;
use crate::papers::Paper;

/// A table of a paper: which methods, on which data, and what the paper prints.
pub struct PaperTable {
    /// Short name, as given on the command line.
    pub id: &'static str,
    /// The paper.
    pub paper: Paper,
    /// Where in the paper.
    pub place: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// How it is measured here, in a sentence or two.
    pub protocol: &'static str,
    /// The data sets, by name, in the order of the columns.
    pub columns: &'static [&'static str],
    /// The lines, in the order of the paper.
    pub lines: Vec<Line>,
}

/// A line of a table: a method.
pub struct Line {
    /// What the paper calls it.
    pub name: &'static str,
    /// Our method, by name; none where there is none.
    pub method: Option<&'static str>,
    /// What the paper prints, in percent, one for each column.
    pub printed: Vec<Printed>,
}

/// A line that we recompute.
pub(crate) fn line(name: &'static str, method: &'static str, printed: impl Into<Vec<Printed>>) -> Line {
    Line { name, method: Some(method), printed: printed.into() }
}

/// A line of a method that is not in this workspace.
pub(crate) fn printed_only(name: &'static str, printed: impl Into<Vec<Printed>>) -> Line {
    Line { name, method: None, printed: printed.into() }
}
