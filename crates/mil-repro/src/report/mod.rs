//! The results for people: a table on the terminal, Markdown, and one HTML page that needs nothing else.

mod axis;
mod chart;
mod html;
mod markdown;
mod picture;
mod plot;

use std::io;
use std::path::Path;

use mil_core::atomic_file;

use crate::figure::{Panel, Table};
use crate::results::{Cell, DataState, Estimate, FigureResult, FigureState, FigureTiming, Raster, Results, RowResult};
use crate::row::Published;
use crate::rows;

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

/// What [`write()`] leaves in the folder.
pub const FILES: [&str; 3] = ["results.json", "report.md", "report.html"];

/// Makes the folder and sees whether it can be written to, before the work begins whose results go there.
///
/// # Errors
/// If it cannot.
pub fn prepare(folder: &Path) -> io::Result<()> {
    let probe = folder.join(".writable");
    std::fs::create_dir_all(folder)
        .and_then(|()| atomic_file::write(&probe, |_| Ok(())))
        .and_then(|()| std::fs::remove_file(&probe))
        .map_err(|error| named(folder, &error))
}

/// Writes all three files, each whole or not at all, into a folder that [`prepare`] has made.
///
/// # Errors
/// If one cannot be written.
pub fn write(folder: &Path, results: &Results) -> io::Result<()> {
    let mut json = serde_json::to_string_pretty(results).map_err(io::Error::other)?;
    json.push('\n');
    let texts = [json, markdown::page(results), html::page(results)];
    for (file, text) in FILES.iter().zip(texts) {
        atomic_file::write(&folder.join(file), |out| out.write_all(text.as_bytes()))
            .map_err(|error| named(folder, &error))?;
    }
    Ok(())
}

fn named(folder: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
}

/// The table and the findings for a terminal.
#[must_use]
pub fn summary(results: &Results) -> String {
    let mut lines = if results.rows.is_empty() { Vec::new() } else { table(results) };
    lines.push(protocol_text(results));
    for data in &results.data {
        if let DataState::Absent { reason } = &data.state {
            lines.push(format!("Left out: {reason}"));
        }
    }
    for (figure, timing) in results.figures.iter().zip(&results.figure_timing) {
        lines.push(format!("\n{} ({})", figure.title, figure.source));
        lines.extend(stand_ins(figure).map(|text| format!("  {text}")));
        match &figure.state {
            FigureState::Drawn { tables, findings, .. } => {
                for table in tables.iter().chain(&timing.tables) {
                    lines.extend(table_lines(table).iter().map(|line| format!("  {line}")));
                }
                lines.extend(findings.iter().chain(&timing.findings).map(|finding| format!("  {finding}")));
            }
            FigureState::NoData { reason } => lines.push(format!("  Left out: {reason}")),
            FigureState::Failed { reason } => lines.push(format!("  Failed: {reason}")),
        }
    }
    lines.join("\n") + "\n"
}

/// A line per row, and one above and below.
fn table(results: &Results) -> Vec<String> {
    let methods: Vec<String> = results.rows.iter().map(|row| method_text(results, row)).collect();
    let width = methods.iter().map(|method| method.chars().count()).max().unwrap_or(0);
    let columns: Vec<String> = results.data.iter().map(|data| format!("{:>12}", data.name)).collect();
    let mut lines = vec![format!("{:<width$}{}", "", columns.concat())];
    for (row, method) in results.rows.iter().zip(&methods) {
        let cells: Vec<String> = row.cells.iter().map(|cell| format!("{:>12}", cell_text(cell))).collect();
        lines.push(format!("{method:<width$}{}", cells.concat()));
    }
    lines.push(String::new());
    lines
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
    if results.rows.is_empty() {
        return format!("Figures alone (seed {}){quick}.", protocol.seed);
    }
    format!(
        "Percentage of bags labelled right, {} repetitions of stratified {}-fold cross-validation{} (seed {}), mean ± half the 95 % \
         confidence interval over the repetitions{quick}.",
        protocol.n_repeats,
        protocol.n_folds,
        if results.rows.iter().any(|row| row.n_repeats != protocol.n_repeats) {
            " unless the row says otherwise"
        } else {
            ""
        },
        protocol.seed,
    )
}

/// Name of the method, and its repetitions where they are its own.
fn method_text(results: &Results, row: &RowResult) -> String {
    match row.n_repeats {
        n_repeats if n_repeats == results.protocol.n_repeats => row.method.clone(),
        1 => format!("{} (not repeated)", row.method),
        n_repeats => format!("{} ({n_repeats} repetitions)", row.method),
    }
}

/// What is said of the panels of times.
const TIMES: &str = "Times, which differ from machine to machine and from run to run:";

/// How long a figure took, where it was drawn.
fn duration_text(timing: &FigureTiming) -> String {
    timing.seconds.map_or(String::new(), |seconds| format!("Drawn in {seconds:.1} s."))
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

fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Measured { accuracy, .. } => percent(*accuracy),
        Cell::NoData => "no data".to_owned(),
        Cell::LeftOut => "full run".to_owned(),
        Cell::Failed { .. } => "failed".to_owned(),
    }
}

/// `78.3 ± 2.1`, in percent.
pub(crate) fn percent(estimate: Estimate) -> String {
    match estimate.half_width {
        Some(half_width) => format!("{:.1} ± {:.1}", 100.0 * estimate.mean, 100.0 * half_width),
        None => format!("{:.1}", 100.0 * estimate.mean),
    }
}

/// Share of the larger class, where the data are there: what always saying the same would reach.
fn larger_class(state: &DataState) -> Option<f64> {
    match *state {
        DataState::Present { n_bags, n_positive, .. } => {
            Some(n_positive.max(n_bags - n_positive) as f64 / n_bags as f64)
        }
        DataState::Absent { .. } => None,
    }
}

/// The rows of papers that have a figure for a data set, with that figure.
fn published_for(data: &str) -> impl Iterator<Item = (&'static Published, f64)> {
    let figure = move |row: &'static Published| {
        let (_, accuracy) = row.accuracies.iter().find(|(name, _)| *name == data)?;
        Some((row, accuracy / 100.0))
    };
    rows::published().iter().filter_map(figure)
}
