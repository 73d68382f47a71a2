//! What all tables have in common: a figure of ours, if there is one, beside a figure that a paper prints.

use crate::comparison::{Printed, Verdict};
use crate::results::{
    CellState, Drawn, Estimate, FigureResult, FigureState, LineResult, Protocol, Results, RunRecord, TableResult,
};

/// A cell of a paper's table and ours.
pub(super) struct Compared<'a> {
    pub(super) line: &'a str,
    pub(super) column: &'a str,
    pub(super) ours: Ours,
    pub(super) printed: Printed,
    pub(super) verdict: Option<Verdict>,
    pub(super) note: Option<&'a str>,
    /// Seconds of one fit, on average.
    pub(super) fit_seconds: Option<f64>,
}

/// Ours, in the unit of the paper, or why there is nothing.
pub(super) enum Ours {
    Measured(Estimate),
    Absent(&'static str),
}

impl Compared<'_> {
    /// `86.8 ± 1.0`, or why there is nothing.
    pub(super) fn ours_text(&self) -> String {
        match self.ours {
            Ours::Measured(estimate) => plus_minus(estimate),
            Ours::Absent(reason) => reason.to_owned(),
        }
    }

    /// `[85.8, 87.8]`, where there is more than one run.
    pub(super) fn interval_text(&self) -> String {
        match self.ours {
            Ours::Measured(Estimate { mean, half_width: Some(half), .. }) => {
                format!("[{:.1}, {:.1}]", mean - half, mean + half)
            }
            _ => String::new(),
        }
    }

    pub(super) fn runs_text(&self) -> String {
        match self.ours {
            Ours::Measured(Estimate { n_runs, .. }) => n_runs.to_string(),
            Ours::Absent(_) => String::new(),
        }
    }

    /// `-1.5`, or `+0.8`.
    pub(super) fn difference_text(&self) -> String {
        match self.ours {
            Ours::Measured(Estimate { mean, .. }) => format!("{:+.1}", mean - self.printed.value),
            Ours::Absent(_) => String::new(),
        }
    }

    pub(super) fn time_text(&self) -> String {
        self.fit_seconds.map_or(String::new(), seconds_text)
    }

    /// In a word, or nothing where there is nothing to judge.
    pub(super) fn verdict_text(&self) -> &'static str {
        self.verdict.map_or("", Verdict::word)
    }

    /// What is to be said of it; a cell that is worse and has no remark says so.
    pub(super) fn note_text(&self) -> &str {
        match (self.note, self.verdict) {
            (None, Some(Verdict::Worse)) => "no explanation yet",
            (note, _) => note.unwrap_or(""),
        }
    }
}

/// `86.8 ± 1.0`.
fn plus_minus(estimate: Estimate) -> String {
    match estimate.half_width {
        Some(half_width) => format!("{:.1} ± {half_width:.1}", estimate.mean),
        None => format!("{:.1}", estimate.mean),
    }
}

/// With digits that suit its size.
pub(super) fn seconds_text(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.01 => format!("{:.1} ms", 1e3 * seconds),
        _ if seconds < 1.0 => format!("{:.0} ms", 1e3 * seconds),
        _ if seconds < 100.0 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

/// The cells of a table, line by line.
pub(super) fn of_table<'a>(table: &'a TableResult, results: &'a Results, record: &RunRecord) -> Vec<Compared<'a>> {
    let cell = |line: &'a LineResult, column_idx: usize| {
        let (column, cell) = (&table.columns[column_idx], &line.cells[column_idx]);
        let state = line.method.as_ref().and_then(|method| results.cell(method, column)).map(|cell| &cell.state);
        let ours = match state {
            None => Ours::Absent("not in this workspace"),
            Some(CellState::NoData) => Ours::Absent("no data"),
            Some(CellState::LeftOut) => Ours::Absent("full run"),
            Some(CellState::Failed { .. }) => Ours::Absent("failed"),
            Some(CellState::Measured { accuracies, .. }) => {
                Ours::Measured(Estimate::of(&accuracies.iter().map(|share| 100.0 * share).collect::<Vec<_>>()))
            }
        };
        let fit_seconds = line.method.as_ref().and_then(|method| fit_seconds(results, record, method, column));
        let note = cell.note.as_deref();
        cell.printed.map(|printed| Compared {
            line: &line.name,
            column,
            ours,
            printed,
            verdict: cell.verdict,
            note,
            fit_seconds,
        })
    };
    let of_line = |line: &'a LineResult| (0..table.columns.len()).filter_map(move |column_idx| cell(line, column_idx));
    table.lines.iter().flat_map(of_line).collect()
}

/// Seconds of one fit of a method on a data set, on average.
pub(super) fn fit_seconds(results: &Results, record: &RunRecord, method: &str, data: &str) -> Option<f64> {
    let method_idx = results.methods.iter().position(|known| known.id == method)?;
    let cells = &results.methods[method_idx].cells;
    let cell_idx = cells.iter().position(|cell| cell.data == data)?;
    let CellState::Measured { accuracies, .. } = &cells[cell_idx].state else { return None };
    let seconds = record.fit_seconds.get(method_idx)?.get(cell_idx).copied()??;
    let Protocol { n_folds, .. } = results.protocol;
    Some(seconds / (n_folds * accuracies.len()) as f64)
}

/// The comparisons of a figure.
pub(super) fn of_figure(figure: &FigureResult) -> Vec<Compared<'_>> {
    let FigureState::Drawn { drawn: Drawn { comparisons, .. }, judged } = &figure.state else { return Vec::new() };
    comparisons
        .iter()
        .zip(judged)
        .map(|(comparison, judged)| Compared {
            line: &comparison.line,
            column: &comparison.column,
            ours: Ours::Measured(Estimate::of(&comparison.runs)),
            printed: comparison.printed,
            verdict: Some(judged.verdict),
            note: judged.note.as_deref(),
            fit_seconds: None,
        })
        .collect()
}

/// How many cells came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    pub(super) matches: usize,
    pub(super) better: usize,
    pub(super) worse: usize,
    pub(super) not_comparable: usize,
    /// Without data, left for a full run, failed.
    pub(super) open: usize,
    /// Of methods that are not in this workspace.
    pub(super) foreign: usize,
}

impl Tally {
    pub(super) fn of(cells: &[Compared<'_>]) -> Tally {
        let mut tally = Tally::default();
        for cell in cells {
            match (cell.verdict, &cell.ours) {
                (Some(Verdict::Matches), _) => tally.matches += 1,
                (Some(Verdict::Better), _) => tally.better += 1,
                (Some(Verdict::Worse), _) => tally.worse += 1,
                (Some(Verdict::NotComparable), _) => tally.not_comparable += 1,
                (None, Ours::Absent("not in this workspace")) => tally.foreign += 1,
                (None, _) => tally.open += 1,
            }
        }
        tally
    }

    /// The counts in the order of [`Verdict::ALL`], then the cells without a verdict of ours.
    pub(super) fn counts(self) -> [usize; 6] {
        [self.matches, self.better, self.worse, self.not_comparable, self.open, self.foreign]
    }
}

/// The heads of [`Tally::counts`].
pub(super) const TALLY_HEADS: [&str; 6] = ["matches", "better", "worse", "not comparable", "not run", "not ours"];

/// What became of a figure as a whole, in a word or two.
pub(super) fn state_text(figure: &FigureResult) -> &'static str {
    match &figure.state {
        FigureState::Drawn { .. } if figure.absent.is_empty() => "drawn",
        FigureState::Drawn { .. } => "drawn, generated data",
        FigureState::NoData { .. } => "no data",
        FigureState::Failed { .. } => "failed",
    }
}
