//! The report as Markdown.

use std::fmt::Write;

use crate::results::{Cell, DataState, Results};
use crate::rows;

use super::{cell_text, larger_class, method_text, protocol_text};

pub(super) fn page(results: &Results) -> String {
    let mut page = String::from("# Reproduction report\n\n");
    page.push_str(&protocol_text(results));
    page.push_str("\n\n## Accuracy\n\n");
    page.push_str(&accuracy_table(results));
    page.push_str("\n## Parameters\n\n| method | repetitions | parameters |\n|---|---:|---|\n");
    for row in &results.rows {
        line(&mut page, &[row.method.clone(), row.n_repeats.to_string(), row.settings.clone()]);
    }
    page.push_str("\n## Data\n\n");
    page.push_str(&data_table(results));
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
        let printed = results.data.iter().map(|data| {
            let found = row.accuracies.iter().find(|(name, _)| *name == data.name);
            found.map_or(String::new(), |(_, accuracy)| format!("{accuracy}"))
        });
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

fn failures(results: &Results) -> String {
    let mut text = String::new();
    for row in &results.rows {
        for (cell, data) in row.cells.iter().zip(&results.data) {
            if let Cell::Failed { reason } = cell {
                let _ = writeln!(text, "- {} on {}: {reason}", row.method, data.name);
            }
        }
    }
    text
}

fn line(table: &mut String, cells: &[String]) {
    let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(table, "| {} |", escaped.join(" | "));
}
