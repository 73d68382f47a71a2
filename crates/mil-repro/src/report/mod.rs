//! The results for people: a table on the terminal, Markdown, and one HTML page that needs nothing else.

mod axis;
mod chart;
mod compared;
mod html;
mod markdown;
mod picture;
mod plot;

use std::io;
use std::path::Path;

use mil_core::atomic_file;

use self::compared::{Compared, Tally};
use crate::comparison::Verdict;
use crate::figure::{Panel, Table};
use crate::papers::Paper;
use crate::results::{
    CellState, DataState, Estimate, FigureResult, FigureState, FigureTiming, MethodResult, Raster, Results, RunRecord,
    TableResult, percent,
};

/// A page of its own with a title, in the look of the report; the body is HTML.
#[must_use]
pub fn page_of(title: &str, body: &str) -> String {
    html::shell(title, body)
}

/// A panel as HTML with inline SVG, for a [`page_of`].
#[must_use]
pub fn plot_of(panel: &Panel) -> String {
    plot::of(panel)
}

/// Makes text safe inside elements and quoted attributes of a [`page_of`].
#[must_use]
pub fn escaped(text: &str) -> String {
    html::escape(text)
}

/// The report as Markdown.
#[must_use]
pub fn markdown(results: &Results, record: &RunRecord) -> String {
    markdown::page(results, record)
}

/// What [`write()`] leaves in the folder.
pub const FILES: [&str; 4] = ["results.json", "run.json", "report.md", "report.html"];

/// Makes the folder and sees whether it can be written to, before the work begins whose results go there.
///
/// # Errors
/// If it cannot.
pub fn prepare(folder: &Path) -> io::Result<()> {
    let probe = folder.join(format!(".writable-{}", std::process::id()));
    std::fs::create_dir_all(folder)
        .and_then(|()| atomic_file::write(&probe, |_| Ok(())))
        .and_then(|()| std::fs::remove_file(&probe))
        .map_err(|error| named(folder, &error))
}

/// Writes all files, each whole or not at all, into a folder that [`prepare`] has made.
///
/// # Errors
/// If one cannot be written.
pub fn write(folder: &Path, results: &Results, record: &RunRecord) -> io::Result<()> {
    let texts = [json(results)?, json(record)?, markdown::page(results, record), html::page(results, record)];
    for (file, text) in FILES.iter().zip(texts) {
        write_text(&folder.join(file), &text)?;
    }
    Ok(())
}

/// Writes a text, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_text(path: &Path, text: &str) -> io::Result<()> {
    atomic_file::write(path, |out| out.write_all(text.as_bytes())).map_err(|error| named(path, &error))
}

/// Values as text, a line each.
///
/// # Errors
/// If a value cannot be told in JSON.
pub fn json(value: &impl serde::Serialize) -> io::Result<String> {
    let mut text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    text.push('\n');
    Ok(text)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The cells, the verdicts and the findings for a terminal.
#[must_use]
pub fn summary(results: &Results, record: &RunRecord) -> String {
    let mut lines = if results.methods.is_empty() { Vec::new() } else { cells_table(results) };
    lines.push(protocol_text(results));
    for data in &results.data {
        if let DataState::Absent { reason } = &data.state {
            lines.push(format!("Left out: {reason}"));
        }
    }
    for table in &results.tables {
        lines.push(format!("\n{} ({}, {})", table.title, table.paper.short(), table.place));
        lines.extend(verdict_lines(&compared::of_table(table, results, record)));
    }
    for (figure, timing) in results.figures.iter().zip(&record.figure_timing) {
        lines.push(format!("\n{} ({}, {})", figure.title, figure.paper.short(), figure.place));
        lines.extend(stand_ins(figure).map(|text| format!("  {text}")));
        match &figure.state {
            FigureState::Drawn { drawn, .. } => {
                lines.extend(verdict_lines(&compared::of_figure(figure)));
                for table in drawn.tables.iter().chain(&timing.tables) {
                    lines.extend(table_lines(table).iter().map(|line| format!("  {line}")));
                }
                lines.extend(drawn.findings.iter().chain(&timing.findings).map(|finding| format!("  {finding}")));
            }
            FigureState::NoData { reason } => lines.push(format!("  Left out: {reason}")),
            FigureState::Failed { reason } => lines.push(format!("  Failed: {reason}")),
        }
    }
    lines.join("\n") + "\n"
}

/// How the cells came out, and a line for each that is worse.
fn verdict_lines(cells: &[Compared<'_>]) -> Vec<String> {
    let counts = Tally::of(cells).counts();
    let told: Vec<String> = counts
        .iter()
        .zip(compared::TALLY_HEADS)
        .filter(|(count, _)| **count > 0)
        .map(|(count, head)| format!("{count} {head}"))
        .collect();
    let mut lines = if told.is_empty() { Vec::new() } else { vec![format!("  {}", told.join(", "))] };
    for cell in cells.iter().filter(|cell| cell.verdict == Some(Verdict::Worse)) {
        lines.push(format!(
            "  worse: {}, {}: {} where {} is printed; {}",
            cell.line,
            cell.column,
            cell.ours_text(),
            cell.printed.text(),
            cell.note_text()
        ));
    }
    lines
}

/// A line per method, and one above and below.
fn cells_table(results: &Results) -> Vec<String> {
    let columns = columns(results);
    let width = results.methods.iter().map(|method| method.name.chars().count()).max().unwrap_or(0);
    let heads: Vec<String> = columns.iter().map(|data| format!("{data:>12}")).collect();
    let mut lines = vec![format!("{:<width$}{}", "", heads.concat())];
    for method in &results.methods {
        let cells: Vec<String> =
            columns.iter().map(|data| format!("{:>12}", cell_text(results, method, data))).collect();
        lines.push(format!("{:<width$}{}", method.name, cells.concat()));
    }
    lines.push(String::new());
    lines
}

/// The data sets that a method was measured on, by name.
fn columns(results: &Results) -> Vec<&str> {
    let is_column = |name: &str| results.methods.iter().any(|method| method.cells.iter().any(|cell| cell.data == name));
    results.data.iter().map(|data| data.name.as_str()).filter(|name| is_column(name)).collect()
}

/// The title of a table of a figure, then its lines, columns under one another.
fn table_lines(table: &Table) -> Vec<String> {
    let all = || std::iter::once(&table.heads).chain(&table.rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.heads.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let figures = row.iter().zip(&widths).skip(1).map(|(cell, width)| format!("  {cell:>width$}"));
        let line = format!("{:<width$}{}", row[0], figures.collect::<String>(), width = widths[0]);
        line.trim_end().to_owned()
    };
    std::iter::once(table.title.clone()).chain(all().map(line)).collect()
}

/// How it was measured, in a sentence.
fn protocol_text(results: &Results) -> String {
    let protocol = &results.protocol;
    let quick = if protocol.quick { "; a quick run" } else { "" };
    if results.methods.is_empty() {
        return format!("Figures alone (seed {}){quick}.", protocol.seed);
    }
    let repeats = match protocol.repeats {
        Some(n_repeats) => counted(n_repeats, "repetition"),
        None if protocol.quick => counted(crate::method::N_REPEATS, "repetition"),
        None => format!("as many repetitions as the paper's, else {},", crate::method::N_REPEATS),
    };
    format!(
        "Percentage of bags labelled right, {repeats} of stratified {}-fold cross-validation (seed {}), mean ± half the 95 % confidence interval over the repetitions{quick}.",
        protocol.n_folds, protocol.seed,
    )
}

/// When and from which code the report is, and what of it had been computed before.
fn made_text(record: &RunRecord) -> String {
    let before = match record.n_stored_before {
        0 => String::new(),
        n_before => format!(
            "; {n_before} of {} had been computed and stored before, by the same code",
            counted(record.n_pieces, "piece")
        ),
    };
    format!("Put together on {}{before}.", record.provenance.code_text())
}

/// What is said of the panels of times.
const TIMES: &str = "Times, which differ from machine to machine and from run to run:";

/// How long a figure took, where it was drawn.
fn duration_text(timing: &FigureTiming) -> String {
    timing.seconds.map_or(String::new(), |seconds| format!("Drawn in {}.", compared::seconds_text(seconds)))
}

/// What generated data stand in for, a sentence each; none where the figure was left out for want of other data.
fn stand_ins(figure: &FigureResult) -> impl Iterator<Item = String> {
    let is_left_out = matches!(figure.state, FigureState::NoData { .. });
    let absent = if is_left_out { &[][..] } else { &figure.absent };
    absent.iter().map(|reason| format!("On generated data, in place of {reason}"))
}

/// How much a picture shows, as in `20 images in 2 rows, 16 x 16 pixels each`.
fn raster_text(raster: &Raster) -> String {
    let n_images: usize = raster.rows.iter().map(|row| row.images.len()).sum();
    format!(
        "{} in {}, {} x {} pixels each",
        counted(n_images, "image"),
        counted(raster.rows.len(), "row"),
        raster.width,
        raster.height
    )
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What a method came to on a data set.
fn cell_text(results: &Results, method: &MethodResult, data: &str) -> String {
    match results.cell(&method.id, data).map(|cell| &cell.state) {
        Some(state @ CellState::Measured { .. }) => state.accuracy().map_or(String::new(), percent),
        Some(CellState::NoData) => "no data".to_owned(),
        Some(CellState::LeftOut) => "full run".to_owned(),
        Some(CellState::Failed { .. }) => "failed".to_owned(),
        None => String::new(),
    }
}

/// Share of the larger class of a data set, where it is there: what always saying the same would reach.
fn larger_class(results: &Results, data: &str) -> Option<f64> {
    match results.data.iter().find(|known| known.name == data)?.state {
        DataState::Present { larger_class, .. } => larger_class,
        DataState::Absent { .. } => None,
    }
}

/// Of a paper: its tables, and its figures with their times.
fn of_paper<'a>(
    results: &'a Results,
    record: &'a RunRecord,
    paper: Paper,
) -> (Vec<&'a TableResult>, Vec<(&'a FigureResult, &'a FigureTiming)>) {
    let tables = results.tables.iter().filter(|table| table.paper == paper).collect();
    let figures = results.figures.iter().zip(&record.figure_timing).filter(|(figure, _)| figure.paper == paper);
    (tables, figures.collect())
}

/// The papers of which there is something.
fn papers(results: &Results) -> impl Iterator<Item = Paper> {
    Paper::ALL.into_iter().filter(|paper| {
        results.tables.iter().any(|table| table.paper == *paper)
            || results.figures.iter().any(|figure| figure.paper == *paper)
    })
}

/// A share in percent, `48.9`.
fn share_text(share: f64) -> String {
    percent(Estimate { mean: share, half_width: None, n_runs: 1 })
}
