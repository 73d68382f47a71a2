//! The report as Markdown.

use std::fmt::Write;

use crate::comparison::RULE;
use crate::figure::{Panel, Point, Style, Table};
use crate::papers::Paper;
use crate::results::{
    CellState, DataState, FigureResult, FigureState, FigureTiming, Raster, Results, RunRecord, TableResult, percent,
};

use super::compared::{self, Compared, Ours, TALLY_HEADS, Tally, seconds_text, state_text};
use super::{
    TIMES, cell_text, columns, counted, duration_text, larger_class, made_text, of_paper, papers, protocol_text,
    raster_text, share_text, stand_ins,
};

pub(super) fn page(results: &Results, record: &RunRecord) -> String {
    let mut page = format!(
        "# The papers, recomputed\n\n{}\n\n{} On {}.\n",
        protocol_text(results),
        made_text(record),
        record.provenance.machine_text()
    );
    page.push_str(&overview(results, record));
    for paper in papers(results) {
        page.push_str(&paper_section(results, record, paper));
    }
    if !results.methods.is_empty() {
        page.push_str(&methods_section(results, record));
    }
    let _ = write!(page, "\n## How cells are judged\n\n{RULE}\n");
    let failures = failures(results);
    if !failures.is_empty() {
        page.push_str("\n## Failures\n\n");
        page.push_str(&failures);
    }
    if !results.data.is_empty() {
        page.push_str("\n## Data\n\n");
        page.push_str(&data_table(results));
    }
    page
}

/// One line for each experiment, with how many cells came out how.
fn overview(results: &Results, record: &RunRecord) -> String {
    let mut text = String::from("\n## At a glance\n\n");
    let heads = ["paper", "experiment", "what"].into_iter().chain(TALLY_HEADS).map(str::to_owned);
    line(&mut text, &heads.collect::<Vec<_>>());
    text.push_str(&format!("|---|---|---|{}\n", "---:|".repeat(TALLY_HEADS.len())));
    for paper in papers(results) {
        let (tables, figures) = of_paper(results, record, paper);
        let tables = tables.iter().map(|table| {
            let counts = Tally::of(&compared::of_table(table, results, record)).counts();
            (&table.place, table.title.clone(), counts)
        });
        let figures = figures.iter().map(|(figure, _)| {
            let counts = Tally::of(&compared::of_figure(figure)).counts();
            (&figure.place, format!("{} ({})", figure.title, state_text(figure)), counts)
        });
        for (place, title, counts) in tables.chain(figures) {
            let counts = counts.iter().map(|count| if *count == 0 { String::new() } else { count.to_string() });
            let names = [paper.short().to_owned(), place.clone(), title];
            line(&mut text, &names.into_iter().chain(counts).collect::<Vec<_>>());
        }
    }
    text
}

fn paper_section(results: &Results, record: &RunRecord, paper: Paper) -> String {
    let (tables, figures) = of_paper(results, record, paper);
    let mut text = format!("\n## {}\n\n{}\n", paper.short(), paper.citation());
    for table in tables {
        text.push_str(&paper_table(table, results, record));
    }
    for (figure, timing) in figures {
        text.push_str(&figure_section(figure, timing));
    }
    for (head, entries) in [
        ("Errata of the paper", paper.errata()),
        ("Where we depart from it, and what it leaves open", paper.departures()),
        ("Not recomputed", paper.not_recomputed()),
    ] {
        if !entries.is_empty() {
            let list: String = entries.iter().map(|entry| format!("- {entry}\n")).collect();
            let _ = write!(text, "\n**{head}**\n\n{list}");
        }
    }
    text
}

/// Ours and, in brackets, the paper's, then every cell in full.
fn paper_table(table: &TableResult, results: &Results, record: &RunRecord) -> String {
    let cells = compared::of_table(table, results, record);
    let mut text =
        format!("\n### {}: {}\n\n{} Ours, the paper's in brackets.\n\n", table.place, table.title, table.protocol);
    line(&mut text, &std::iter::once(String::new()).chain(table.columns.iter().cloned()).collect::<Vec<_>>());
    text.push_str(&format!("|---|{}\n", "---:|".repeat(table.columns.len())));
    for of_line in cells.chunk_by(|a, b| a.line == b.line) {
        let shown = table.columns.iter().map(|column| {
            let cell = of_line.iter().find(|cell| cell.column == column);
            cell.map_or(String::new(), grid_cell)
        });
        line(&mut text, &std::iter::once(of_line[0].line.to_owned()).chain(shown).collect::<Vec<_>>());
    }
    text.push_str(&full_table(&cells));
    text
}

fn grid_cell(cell: &Compared<'_>) -> String {
    let printed = cell.printed.text();
    match cell.ours {
        Ours::Measured(_) => format!("{} ({printed}) {}", cell.ours_text(), cell.verdict_text()),
        Ours::Absent("not in this workspace") => format!("({printed})"),
        Ours::Absent(reason) => format!("{reason} ({printed})"),
    }
}

/// Every cell that has a figure of ours, with all that is known of it.
fn full_table(cells: &[Compared<'_>]) -> String {
    let mut text = String::from("\n");
    let heads =
        ["line", "column", "ours", "95 % interval", "runs", "paper", "difference", "verdict", "one fit", "notes"];
    line(&mut text, &heads.map(str::to_owned));
    text.push_str("|---|---|---:|---:|---:|---:|---:|---|---:|---|\n");
    let measured: Vec<_> = cells.iter().filter(|cell| matches!(cell.ours, Ours::Measured(_))).collect();
    for cell in &measured {
        let cells = [
            cell.line.to_owned(),
            cell.column.to_owned(),
            cell.ours_text(),
            cell.interval_text(),
            cell.runs_text(),
            cell.printed.text(),
            cell.difference_text(),
            cell.verdict_text().to_owned(),
            cell.time_text(),
            cell.note_text().to_owned(),
        ];
        line(&mut text, &cells);
    }
    if measured.is_empty() { String::new() } else { text }
}

/// Every method on every data set, then runs, areas and times, then parameters.
fn methods_section(results: &Results, record: &RunRecord) -> String {
    let columns = columns(results);
    let mut text = String::from(
        "\n## All methods\n\nBaselines and variants among them, which no paper prints. Percentage of bags labelled right.\n\n",
    );
    line(&mut text, &std::iter::once("method").chain(columns.iter().copied()).map(str::to_owned).collect::<Vec<_>>());
    text.push_str(&format!("|---|{}\n", "---:|".repeat(columns.len())));
    for method in &results.methods {
        let cells = columns.iter().map(|data| cell_text(results, method, data));
        line(&mut text, &std::iter::once(method.name.clone()).chain(cells).collect::<Vec<_>>());
    }
    let larger = columns.iter().map(|data| larger_class(results, data).map_or("no data".to_owned(), share_text));
    line(&mut text, &std::iter::once("*always the larger class*".to_owned()).chain(larger).collect::<Vec<_>>());
    text.push_str("\n| method | data set | accuracy | AUC | runs | one fit |\n|---|---|---:|---:|---:|---:|\n");
    for method in &results.methods {
        for cell in &method.cells {
            let Some(accuracy) = cell.state.accuracy() else { continue };
            let auc = cell.state.auc().map_or(String::new(), percent);
            let time =
                compared::fit_seconds(results, record, &method.id, &cell.data).map_or(String::new(), seconds_text);
            let runs = accuracy.n_runs.to_string();
            line(&mut text, &[method.name.clone(), cell.data.clone(), percent(accuracy), auc, runs, time]);
        }
    }
    text.push_str("\n| method | name | parameters |\n|---|---|---|\n");
    for method in &results.methods {
        line(&mut text, &[method.name.clone(), method.id.clone(), method.settings.clone()]);
    }
    text
}

fn data_table(results: &Results) -> String {
    let mut table = String::from(
        "| data set | what it is | what it holds | SHA-256 of the uncompressed files |\n|---|---|---|---|\n",
    );
    for data in &results.data {
        let (contents, sums) = match &data.state {
            DataState::Present { contents, sha256, .. } => (contents.clone(), sha256.join(", ")),
            DataState::Absent { .. } => ("missing".to_owned(), String::new()),
        };
        line(&mut table, &[data.name.clone(), data.title.clone(), contents, sums]);
    }
    for data in &results.data {
        if let DataState::Absent { reason } = &data.state {
            let _ = write!(table, "\nMissing: {reason}\n");
        }
    }
    table
}

/// Rows of the table of a panel; the plot has them all.
const MAX_LINES: usize = 12;

fn figure_section(figure: &FigureResult, timing: &FigureTiming) -> String {
    let mut text =
        format!("\n### {}: {}\n\n{} {}\n", figure.place, figure.title, figure.protocol, duration_text(timing));
    // A figure that was not drawn has no time to tell.
    text.truncate(text.trim_end().len());
    text.push('\n');
    text.extend(stand_ins(figure).map(|stand_in| format!("\n{stand_in}\n")));
    match &figure.state {
        FigureState::Drawn { drawn: of_seed, .. } => {
            text.push_str(&full_table(&compared::of_figure(figure)));
            text.push_str(&drawn(&of_seed.panels, &of_seed.pictures, &of_seed.tables, &of_seed.findings));
            if timing.tells_anything() {
                let _ = write!(text, "\n{TIMES}\n");
                text.push_str(&drawn(&timing.panels, &[], &timing.tables, &timing.findings));
            }
        }
        FigureState::NoData { reason } => {
            let _ = write!(text, "\nLeft out: {reason}\n");
        }
        FigureState::Failed { .. } => text.push_str("\nFailed; see below.\n"),
    }
    text
}

fn drawn(panels: &[Panel], pictures: &[Raster], tables: &[Table], findings: &[String]) -> String {
    let mut text: String = tables.iter().map(table).collect();
    text.push_str(&findings_list(findings));
    text.extend(pictures.iter().map(picture_text));
    text.extend(panels.iter().map(panel_text));
    text
}

fn table(table: &Table) -> String {
    let mut text = format!("\n**{}**\n\n", table.title);
    line(&mut text, &table.heads);
    text.push_str(&format!("|---|{}\n", "---:|".repeat(table.heads.len() - 1)));
    table.rows.iter().for_each(|row| line(&mut text, row));
    text
}

fn findings_list(findings: &[String]) -> String {
    let entries: Vec<String> = findings.iter().map(|finding| format!("- {finding}\n")).collect();
    if entries.is_empty() { String::new() } else { format!("\n{}", entries.concat()) }
}

/// What a picture shows and how much of it; its values would say little as numbers.
fn picture_text(picture: &Raster) -> String {
    format!("\n**{}**\n\n(a picture of {}; see report.html)\n", picture.title, raster_text(picture))
}

fn panel_text(panel: &Panel) -> String {
    let mut text = if panel.shows_the_plane() { plane_line(panel) } else { values_table(panel) };
    for level in &panel.levels {
        let _ = write!(text, "\n{}: {}\n", level.name, number(level.y, 4));
    }
    text
}

/// What a picture of the plane shows and how much of it; its points would say little as numbers.
fn plane_line(panel: &Panel) -> String {
    let parts = panel.looks().into_iter().map(|look| {
        let alike = panel.series.iter().filter(|series| series.look() == look);
        let count = match look.1 {
            Style::Curve => counted(alike.count(), "curve"),
            _ => counted(alike.flat_map(|series| &series.points).count(), "point"),
        };
        format!("{}, {count}", look.0)
    });
    let parts = parts.collect::<Vec<_>>().join("; ");
    let Panel { title, x, y, .. } = panel;
    format!("\n**{title}**: {} against {}\n\n(a picture of the plane: {parts}; see report.html)\n", y.label, x.label)
}

/// The values of a panel at up to [`MAX_LINES`] places from the first to the last.
fn values_table(panel: &Panel) -> String {
    let mut text = format!("\n**{}**: {}\n\n", panel.title, panel.y.label);
    let names = panel.series.iter().map(|series| series.name.clone());
    line(&mut text, &std::iter::once(panel.x.label.clone()).chain(names).collect::<Vec<_>>());
    text.push_str(&format!("|{}\n", "---:|".repeat(panel.series.len() + 1)));
    let mut places: Vec<f64> = panel.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    for x in thinned(&places) {
        let values = panel.series.iter().map(|series| {
            let found = series.points.iter().find(|point| point.x == x);
            found.map_or(String::new(), value_text)
        });
        line(&mut text, &std::iter::once(number(x, 6)).chain(values).collect::<Vec<_>>());
    }
    text
}

/// Evenly chosen, the first and the last among them.
fn thinned(places: &[f64]) -> Vec<f64> {
    let n_lines = places.len().min(MAX_LINES);
    let last = places.len() - 1;
    (0..n_lines).map(|line_idx| places[line_idx * last / (n_lines - 1).max(1)]).collect()
}

fn value_text(point: &Point) -> String {
    match point.half_width {
        Some(half_width) => format!("{} ± {}", number(point.y, 4), number(half_width, 2)),
        None => number(point.y, 4),
    }
}

/// With so many digits that count.
fn number(value: f64, n_digits: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", n_digits - 1).parse().expect("a number that was just written");
    if value == 0.0 || (1e-4..1e6).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

fn failures(results: &Results) -> String {
    let mut text = String::new();
    for method in &results.methods {
        for cell in &method.cells {
            if let CellState::Failed { reason } = &cell.state {
                let _ = writeln!(text, "- {} on {}: {reason}", method.name, cell.data);
            }
        }
    }
    for figure in &results.figures {
        if let FigureState::Failed { reason } = &figure.state {
            let _ = writeln!(text, "- {} ({}, {}): {reason}", figure.title, figure.paper.short(), figure.place);
        }
    }
    text
}

fn line(table: &mut String, cells: &[String]) {
    let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(table, "| {} |", escaped.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{AxisSpec, Level, Series};

    #[test]
    fn a_picture_of_the_plane_is_told_in_a_line_and_not_point_by_point() {
        let series = |name: &str, style: Style, n_points: u32| Series {
            name: name.to_owned(),
            style,
            points: (0..n_points).map(|idx| Point::at(f64::from(idx), 1.0)).collect(),
        };
        let mut panel = Panel {
            title: "Boundary".to_owned(),
            x: AxisSpec::linear("first"),
            y: AxisSpec::linear("second"),
            series: vec![
                series("instances", Style::Marks, 120),
                series("boundary", Style::Curve, 80),
                series("boundary", Style::Curve, 40),
                series("queried", Style::Rings, 1),
            ],
            levels: vec![Level { name: "floor".to_owned(), y: 0.5 }],
        };
        let what = "instances, 120 points; boundary, 2 curves; queried, 1 point";
        let said = format!("(a picture of the plane: {what}; see report.html)");
        assert_eq!(panel_text(&panel), format!("\n**Boundary**: second against first\n\n{said}\n\nfloor: 0.5\n"));
        panel.series[0].style = Style::Line;
        let n_lines = panel_text(&panel).lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(n_lines, 1 + MAX_LINES, "a line with marks has a table");
    }

    #[test]
    fn places_are_thinned_from_the_first_to_the_last() {
        let places = |n_places: u32| (0..n_places).map(f64::from).collect::<Vec<_>>();
        assert_eq!(thinned(&places(1)), [0.0]);
        assert_eq!(thinned(&places(12)), places(12));
        let many = thinned(&places(1001));
        assert_eq!((many.len(), many[0], many[11]), (12, 0.0, 1000.0));
        assert!(many.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        assert_eq!(number(0.123_456, 4), "0.1235");
        assert_eq!(number(12_345.0, 6), "12345");
        assert_eq!(number(-1.5e-7, 4), "-1.5e-7");
        assert_eq!(number(0.0, 4), "0");
    }
}
