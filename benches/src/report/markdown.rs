//! The results as Markdown, fit to be kept as a snapshot.

use std::fmt::Write;

use mil_repro::figure::Table;

use super::words;
use crate::contest::{Entry, Report};

/// The whole page.
pub(crate) fn page(report: &Report) -> String {
    let mut page = format!("# Benchmarks\n\n{}\n", words::origin(report));
    for warning in words::warnings(report) {
        let _ = write!(page, "\n{warning}\n");
    }
    if let Some(duels) = words::duel_table(report) {
        let _ = write!(page, "\n## Ratios\n\n{}\n\n{}", words::ABOUT_RATIOS, table(&duels));
    }
    if let Some(growths) = words::growth_table(report) {
        let _ = write!(page, "\n## Growth\n\n{}\n\n{}", words::about_growth(), table(&growths));
    }
    page.push_str("\n## One by one\n");
    page.extend(report.contests.iter().map(section));
    page.push_str("\nEvery single time is in `benchmarks.json`, and the plots are in `benchmarks.html`, both in `target/bench`.\n");
    page
}

fn section(entry: &Entry) -> String {
    let mut section = format!("\n### `{}`\n\n{}\n", entry.name, words::about(entry));
    for paragraph in entry.notes.iter().cloned().chain(words::asides(entry)) {
        let _ = write!(section, "\n{}\n", one_line(&paragraph));
    }
    let remarks = words::remarks(entry);
    if !remarks.is_empty() {
        section.push('\n');
        section.extend(remarks.iter().map(|remark| format!("- {}\n", one_line(remark))));
    }
    for growth in &entry.growths {
        let _ = write!(section, "\n{}:\n\n{}\n", growth.title, table(&words::point_table(growth)));
        section.extend(words::growth_findings(growth).iter().map(|finding| format!("- {finding}\n")));
    }
    section
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn table(table: &Table) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|---|{}\n", "---:|".repeat(table.heads.len() - 1));
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{rows}", line(&table.heads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::Pace;
    use crate::report::tests::report;

    #[test]
    fn the_page_shows_ratios_growth_and_what_is_missing() {
        let page = page(&report());
        for expected in [
            "commit 1a2b3c4 (version ",
            "2026-03-01",
            "| work & <toil> | 0.50 [0.50, 0.50] | 200 [100, 300] ms | Peer 1: 400 [200, 600] ms |",
            "| work, two threads |  | 4.00 µs | none |",
            "| Squares | 2.00 | 2.00 | 1 to 8 numbers | Peer 1 | 2.00 | 2.00 |",
            "| 4 | 16.0 ms | 16.0 MiB | 64.0 ms | 16.0 MiB | 0.25 |",
            "- ours, time: exponent 2.00 over 4 points",
            "- work & <toil>: found | so",
            "### `toil`\n\nAbout toil.\n\nA note.\n\nLeft out: Corel\n",
            "Failed: fail.",
            "Failed: no memory",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        assert!(!page.contains("quick run") && !page.contains("Not all") && !page.contains("no Python"));
        assert!(page.lines().all(|line| !line.ends_with(' ')) && page.ends_with('\n'));
    }

    #[test]
    fn a_page_of_a_part_without_peers_says_so() {
        let mut report = report();
        (report.pace, report.is_complete, report.has_peers) = (Pace::Quick, false, false);
        report.contests.truncate(1);
        let page = page(&report);
        for expected in ["A quick run", "Not all benchmarks, but: toil.", words::NO_PEERS, "bench --quick`"] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    #[test]
    fn a_bar_inside_a_cell_does_not_end_it() {
        let bar = Table { title: String::new(), heads: vec!["a".to_owned()], rows: vec![vec!["b | c\nd".to_owned()]] };
        assert_eq!(table(&bar), "| a |\n|---|\n| b \\| c d |\n");
    }
}
