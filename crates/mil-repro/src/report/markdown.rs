//! The report as Markdown.

use std::fmt::Write;

use crate::figure::{Panel, Point, Style, Table};
use crate::results::{Cell, DataState, FigureResult, FigureState, FigureTiming, Raster, Results};
use crate::rows;

use super::{
    TIMES, cell_text, counted, duration_text, larger_class, method_text, protocol_text, raster_text, stand_ins,
};

pub(super) fn page(results: &Results) -> String {
    let mut page = String::from("# Reproduction report\n\n");
    page.push_str(&protocol_text(results));
    page.push('\n');
    if !results.rows.is_empty() {
        page.push_str(&sections_of_rows(results));
    }
    for (figure, timing) in results.figures.iter().zip(&results.figure_timing) {
        page.push_str(&figure_section(figure, timing));
    }
    let failures = failures(results);
    if !failures.is_empty() {
        page.push_str("\n## Failures\n\n");
        page.push_str(&failures);
    }
    let machine = &results.machine;
    let _ = writeln!(
        page,
        "\nVersion {}, {} threads, {} on {}.",
        results.version, machine.n_threads, machine.os, machine.arch
    );
    page
}

fn sections_of_rows(results: &Results) -> String {
    let mut page = String::from("\n## Accuracy\n\n");
    page.push_str(&accuracy_table(results));
    page.push_str("\n## Parameters\n\n| method | repetitions | parameters |\n|---|---:|---|\n");
    for row in &results.rows {
        line(&mut page, &[row.method.clone(), row.n_repeats.to_string(), row.settings.clone()]);
    }
    page.push_str("\n## Data\n\n");
    page.push_str(&data_table(results));
    page
}

fn accuracy_table(results: &Results) -> String {
    let names = results.data.iter().map(|data| data.name.clone());
    let mut table = String::new();
    line(&mut table, &std::iter::once("method".to_owned()).chain(names).collect::<Vec<_>>());
    table.push_str(&format!("|---|{}\n", "---:|".repeat(results.data.len())));
    for row in &results.rows {
        let cells = row.cells.iter().map(cell_text);
        line(&mut table, &std::iter::once(method_text(results, row)).chain(cells).collect::<Vec<_>>());
    }
    let larger = results
        .data
        .iter()
        .map(|data| larger_class(&data.state).map_or("no data".to_owned(), |share| format!("{:.1}", 100.0 * share)));
    line(&mut table, &std::iter::once("*always the larger class*".to_owned()).chain(larger).collect::<Vec<_>>());
    for row in rows::published() {
        let printed = results.data.iter().map(|data| row.text(&data.name));
        let method = format!("*{}: {}*", row.method, row.source);
        line(&mut table, &std::iter::once(method).chain(printed).collect::<Vec<_>>());
    }
    table
}

fn data_table(results: &Results) -> String {
    let mut table =
        String::from("| data set | what it is | bags (positive) | instances | features |\n|---|---|---:|---:|---:|\n");
    for data in &results.data {
        let counts = match &data.state {
            DataState::Present { n_bags, n_positive, n_instances, n_features } => {
                [format!("{n_bags} ({n_positive})"), n_instances.to_string(), n_features.to_string()]
            }
            DataState::Absent { .. } => ["missing".to_owned(), String::new(), String::new()],
        };
        line(&mut table, &[&[data.name.clone(), data.title.clone()][..], &counts[..]].concat());
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
        format!("\n## {}\n\n{}. {} {}\n", figure.title, figure.source, figure.protocol, duration_text(timing));
    text.extend(stand_ins(figure).map(|stand_in| format!("\n{stand_in}\n")));
    match &figure.state {
        FigureState::Drawn { panels, pictures, tables, findings } => {
            text.push_str(&drawn(panels, pictures, tables, findings));
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
    for row in &results.rows {
        for (cell, data) in row.cells.iter().zip(&results.data) {
            if let Cell::Failed { reason } = cell {
                let _ = writeln!(text, "- {} on {}: {reason}", row.method, data.name);
            }
        }
    }
    for figure in &results.figures {
        if let FigureState::Failed { reason } = &figure.state {
            let _ = writeln!(text, "- {} ({}): {reason}", figure.title, figure.source);
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
