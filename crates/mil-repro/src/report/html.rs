//! The report as one HTML page that loads nothing from anywhere.

use std::fmt::Write;

use crate::comparison::{RULE, Verdict};
use crate::figure::{Panel, Table};
use crate::papers::Paper;
use crate::results::{
    CellState, DataState, FigureResult, FigureState, FigureTiming, Raster, Results, RunRecord, TableResult,
};

use super::compared::{self, Compared, Ours, TALLY_HEADS, Tally, seconds_text, state_text};
use super::{
    TIMES, cell_text, chart, columns, counted, duration_text, larger_class, made_text, of_paper, papers, picture, plot,
    protocol_text, share_text, stand_ins,
};

const STYLE: &str = include_str!("style.css");

pub(super) fn page(results: &Results, record: &RunRecord) -> String {
    let mut body = String::from("<h1>The papers, recomputed</h1>");
    let _ = write!(body, "<p class=\"lead\">{} {}</p>", escape(&protocol_text(results)), escape(&made_text(record)));
    body.push_str(&overview(results, record));
    for paper in papers(results) {
        body.push_str(&paper_section(results, record, paper));
    }
    if !results.methods.is_empty() {
        body.push_str(&methods_section(results, record));
    }
    let _ = write!(
        body,
        "<section id=\"rule\"><h2>How cells are judged</h2><p class=\"prose\">{}</p></section>",
        escape(RULE)
    );
    body.push_str(&data_section(results));
    let _ = write!(
        body,
        "<footer>{}. Layout {}; code versions, runs and parameters are in results.json, times in run.json beside this page.</footer>",
        escape(&record.provenance.machine_text()),
        escape(&results.schema)
    );
    shell("The papers, recomputed", &body)
}

/// The page around a body.
pub(super) fn shell(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>{body}</main>\n\
         </body>\n</html>\n",
        escape(title)
    )
}

/// Makes text safe inside elements and quoted attributes.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The class of a verdict in the style sheet.
fn class_of(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Matches) => "matches",
        Some(Verdict::Better) => "better",
        Some(Verdict::Worse) => "worse",
        Some(Verdict::NotComparable) => "unlike",
        None => "open",
    }
}

/// The heads of the summary where there is no room for words.
const TALLY_SIGNS: [&str; TALLY_HEADS.len()] = ["=", "\u{25b2}", "\u{25bc}", "~", "not run", "not ours"];

/// A sign for a verdict, so that it is not told by colour alone.
fn sign_of(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Matches) => "=",
        Some(Verdict::Better) => "\u{25b2}",
        Some(Verdict::Worse) => "\u{25bc}",
        Some(Verdict::NotComparable) => "~",
        None => "\u{b7}",
    }
}

fn chip(verdict: Option<Verdict>, text: &str) -> String {
    format!("<span class=\"chip {}\">{} {}</span>", class_of(verdict), sign_of(verdict), escape(text))
}

/// One line for each experiment: a square for each of its cells, and how many came out how.
fn overview(results: &Results, record: &RunRecord) -> String {
    let mut table = String::from(
        "<section id=\"overview\"><h2>At a glance</h2><div class=\"scroll\"><table class=\"overview\"><thead><tr><th>experiment</th><th>cells</th>",
    );
    for (head, sign) in TALLY_HEADS.iter().zip(TALLY_SIGNS) {
        let _ = write!(
            table,
            "<th class=\"number\"><span class=\"short\" title=\"{head}\">{sign}</span><span class=\"long\">{head}</span></th>"
        );
    }
    table.push_str("</tr></thead><tbody>");
    let mut total = [0; TALLY_HEADS.len()];
    for paper in papers(results) {
        let (tables, figures) = of_paper(results, record, paper);
        let _ = write!(
            table,
            "<tr class=\"paper\"><th colspan=\"8\"><a href=\"#{}\">{}</a></th></tr>",
            anchor(paper),
            escape(paper.short())
        );
        for experiment in tables {
            let cells = compared::of_table(experiment, results, record);
            let counts = Tally::of(&cells).counts();
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            table.push_str(&overview_line(
                &experiment.id,
                &experiment.place,
                &experiment.title,
                &squares(&cells),
                counts,
            ));
        }
        for (figure, _) in figures {
            let cells = compared::of_figure(figure);
            let counts = Tally::of(&cells).counts();
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            let state = format!("<span class=\"quiet\">{}</span>", state_text(figure));
            let shown = if cells.is_empty() { state } else { squares(&cells) };
            table.push_str(&overview_line(&figure.id, &figure.place, &figure.title, &shown, counts));
        }
    }
    table.push_str("<tr class=\"total\"><th>all</th><td></td>");
    for count in total {
        let _ = write!(table, "<td class=\"number\">{count}</td>");
    }
    table.push_str("</tr></tbody></table></div><ul class=\"legend\">");
    for verdict in Verdict::ALL {
        let _ = write!(table, "<li>{}</li>", chip(Some(verdict), verdict.word()));
    }
    let _ = write!(
        table,
        "<li>{}</li></ul><p class=\"quiet\"><a href=\"#rule\">How cells are judged</a>. Not ours: methods that a paper quotes and this workspace does not have.</p></section>",
        chip(None, "no figure of ours")
    );
    table
}

fn overview_line(id: &str, place: &str, title: &str, cells: &str, counts: [usize; 6]) -> String {
    let mut line = format!(
        "<tr><th><a href=\"#{}\">{}</a> <span class=\"quiet\">{}</span></th><td>{cells}</td>",
        escape(id),
        escape(place),
        escape(title)
    );
    for count in counts {
        let shown = if count == 0 { String::new() } else { count.to_string() };
        let _ = write!(line, "<td class=\"number\">{shown}</td>");
    }
    line.push_str("</tr>");
    line
}

/// A square for each cell, lines of the paper's table apart.
fn squares(cells: &[Compared<'_>]) -> String {
    let mut html = String::from("<span class=\"squares\">");
    for of_line in cells.chunk_by(|a, b| a.line == b.line) {
        html.push_str("<span>");
        for cell in of_line {
            let _ = write!(
                html,
                "<i class=\"{}\" title=\"{}, {}: {} ({} printed) {}\"></i>",
                class_of(cell.verdict),
                escape(cell.line),
                escape(cell.column),
                escape(&cell.ours_text()),
                escape(&cell.printed.text()),
                cell.verdict_text()
            );
        }
        html.push_str("</span>");
    }
    html.push_str("</span>");
    html
}

fn anchor(paper: Paper) -> String {
    paper.short().to_lowercase().replace(' ', "-")
}

/// The tables and figures of a paper, its errata, and where we depart from it.
fn paper_section(results: &Results, record: &RunRecord, paper: Paper) -> String {
    let (tables, figures) = of_paper(results, record, paper);
    let mut html = format!(
        "<section class=\"paper\" id=\"{}\"><h2>{}</h2><p class=\"lead\">{}</p>",
        anchor(paper),
        escape(paper.short()),
        escape(paper.citation())
    );
    for table in tables {
        html.push_str(&paper_table(table, results, record));
    }
    for (figure, timing) in figures {
        html.push_str(&figure_section(figure, timing));
    }
    for (summary, entries) in [
        ("Errata of the paper", paper.errata()),
        ("Where we depart from it, and what it leaves open", paper.departures()),
        ("Not recomputed", paper.not_recomputed()),
    ] {
        if !entries.is_empty() {
            let list: String = entries.iter().map(|entry| format!("<li>{}</li>", escape(entry))).collect();
            let _ = write!(html, "<details><summary>{summary} ({})</summary><ul>{list}</ul></details>", entries.len());
        }
    }
    html.push_str("</section>");
    html
}

/// A table of a paper: a grid of ours over theirs, charts, remarks, and all figures in full.
fn paper_table(table: &TableResult, results: &Results, record: &RunRecord) -> String {
    let cells = compared::of_table(table, results, record);
    let mut html = format!(
        "<article id=\"{}\"><h3>{}: {}</h3><p class=\"lead\">{} Ours in bold, below it the paper's.</p>",
        escape(&table.id),
        escape(&table.place),
        escape(&table.title),
        escape(&table.protocol)
    );
    html.push_str(&grid(&cells, &table.columns, &|data| larger_class(results, data).map(share_text)));
    html.push_str(&notes_list(&cells));
    let charts: String = table
        .columns
        .iter()
        .filter_map(|data| {
            let title =
                results.data.iter().find(|known| known.name == *data).map_or(data.as_str(), |known| &known.title);
            let svg = chart::of(&cells, data, larger_class(results, data))?;
            Some(format!("<figure><figcaption>{}</figcaption>{svg}</figure>", escape(title)))
        })
        .collect();
    if !charts.is_empty() {
        let _ = write!(
            html,
            "<details><summary>As charts</summary><p class=\"quiet\">Dots are ours and diamonds the paper's, with their intervals; what has a diamond alone is not in this workspace or was not run.</p><div class=\"charts\">{charts}</div></details>"
        );
    }
    html.push_str(&full_table(&cells, "%"));
    html.push_str("</article>");
    html
}

/// Ours over the paper's, line by line and column by column, with a sign for the verdict.
fn grid(cells: &[Compared<'_>], columns: &[String], larger: &dyn Fn(&str) -> Option<String>) -> String {
    let mut html = String::from("<div class=\"scroll\"><table class=\"grid\"><thead><tr><th></th>");
    for column in columns {
        let _ = write!(html, "<th class=\"number\">{}</th>", escape(column));
    }
    html.push_str("</tr></thead><tbody>");
    for of_line in cells.chunk_by(|a, b| a.line == b.line) {
        let _ = write!(html, "<tr><th>{}</th>", escape(of_line[0].line));
        for column in columns {
            match of_line.iter().find(|cell| cell.column == column) {
                Some(cell) => html.push_str(&grid_cell(cell)),
                None => html.push_str("<td></td>"),
            }
        }
        html.push_str("</tr>");
    }
    if columns.iter().any(|column| larger(column).is_some()) {
        html.push_str("<tr class=\"quiet\"><th>always the larger class</th>");
        for column in columns {
            let _ = write!(html, "<td class=\"number\">{}</td>", larger(column).unwrap_or_default());
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

fn grid_cell(cell: &Compared<'_>) -> String {
    let class = class_of(cell.verdict);
    let ours = match cell.ours {
        Ours::Measured(_) => format!("<b>{}</b>", escape(&cell.ours_text())),
        Ours::Absent("not in this workspace") => String::new(),
        Ours::Absent(reason) => format!("<span class=\"quiet\">{reason}</span>"),
    };
    let sign = cell.verdict.map_or(String::new(), |verdict| {
        format!(
            "<span class=\"sign\" title=\"{0}\" aria-label=\"{0}\">{1}</span>",
            verdict.word(),
            sign_of(Some(verdict))
        )
    });
    format!(
        "<td class=\"number {class}\">{sign}{ours}<span class=\"printed\">{}</span></td>",
        escape(&cell.printed.text())
    )
}

/// What is to be said of single cells.
fn notes_list(cells: &[Compared<'_>]) -> String {
    let told: Vec<&Compared<'_>> = cells.iter().filter(|cell| !cell.note_text().is_empty()).collect();
    // One remark may be about several cells.
    let mut texts: Vec<&str> = Vec::new();
    for cell in &told {
        if !texts.contains(&cell.note_text()) {
            texts.push(cell.note_text());
        }
    }
    let entries: Vec<String> = texts
        .iter()
        .map(|text| {
            let about: Vec<String> = told
                .iter()
                .filter(|cell| cell.note_text() == *text)
                .map(|cell| {
                    format!(
                        "{} {}, {}",
                        chip(cell.verdict, cell.verdict_text()),
                        escape(cell.line),
                        escape(cell.column)
                    )
                })
                .collect();
            format!("<li>{}: {}</li>", about.join("; "), escape(text))
        })
        .collect();
    if entries.is_empty() { String::new() } else { format!("<ul class=\"notes\">{}</ul>", entries.concat()) }
}

/// Every cell with all that is known of it.
fn full_table(cells: &[Compared<'_>], unit: &str) -> String {
    let has_times = cells.iter().any(|cell| cell.fit_seconds.is_some());
    let mut html = format!(
        "<details><summary>All {}</summary><div class=\"scroll\"><table><thead><tr><th>line</th><th>column</th><th class=\"number\">ours{unit}</th><th class=\"number\">95 % interval</th><th class=\"number\">runs</th>\
         <th class=\"number\">paper</th><th class=\"number\">difference</th><th>verdict</th>{}<th>notes</th></tr></thead><tbody>",
        counted(cells.len(), "cell"),
        if has_times { "<th class=\"number\">one fit</th>" } else { "" },
        unit = if unit.is_empty() { String::new() } else { format!(", {unit}") },
    );
    for cell in cells {
        let verdict = cell.verdict.map_or(String::new(), |verdict| chip(Some(verdict), verdict.word()));
        let _ = write!(
            html,
            "<tr><th>{}</th><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{verdict}</td>",
            escape(cell.line),
            escape(cell.column),
            escape(&cell.ours_text()),
            cell.interval_text(),
            cell.runs_text(),
            escape(&cell.printed.text()),
            cell.difference_text(),
        );
        if has_times {
            let _ = write!(html, "<td class=\"number\">{}</td>", cell.time_text());
        }
        let _ = write!(html, "<td class=\"note\">{}</td></tr>", escape(cell.note_text()));
    }
    html.push_str("</tbody></table></div></details>");
    html
}

fn figure_section(figure: &FigureResult, timing: &FigureTiming) -> String {
    let mut html = format!(
        "<article id=\"{}\"><h3>{}: {}</h3><p class=\"lead\">{} {}</p>",
        escape(&figure.id),
        escape(&figure.place),
        escape(&figure.title),
        escape(&figure.protocol),
        duration_text(timing)
    );
    html.extend(stand_ins(figure).map(|text| format!("<p class=\"stand-in\">{}</p>", escape(&text))));
    match &figure.state {
        FigureState::Drawn { drawn: figures, .. } => {
            let cells = compared::of_figure(figure);
            if !cells.is_empty() {
                html.push_str(&verdict_line(&cells));
                html.push_str(&notes_list(&cells));
                html.push_str(&full_table(&cells, ""));
            }
            html.push_str(&drawn(&figures.panels, &figures.pictures, &figures.tables, &figures.findings));
            if timing.tells_anything() {
                let _ = write!(html, "<p class=\"lead\">{TIMES}</p>");
                html.push_str(&drawn(&timing.panels, &[], &timing.tables, &timing.findings));
            }
        }
        FigureState::NoData { reason } => {
            let _ = write!(html, "<p class=\"quiet\">Left out: {}</p>", escape(reason));
        }
        FigureState::Failed { reason } => {
            let _ = write!(html, "<p>Failed: {}</p>", escape(reason));
        }
    }
    html.push_str("</article>");
    html
}

/// How the cells came out, in chips.
fn verdict_line(cells: &[Compared<'_>]) -> String {
    let chips: String = Verdict::ALL
        .into_iter()
        .filter_map(|verdict| {
            let count = cells.iter().filter(|cell| cell.verdict == Some(verdict)).count();
            (count > 0).then(|| chip(Some(verdict), &format!("{count} {}", verdict.word())))
        })
        .collect();
    format!("<p>{chips}</p>")
}

fn drawn(panels: &[Panel], pictures: &[Raster], tables: &[Table], findings: &[String]) -> String {
    let mut body: String = tables.iter().map(table).collect();
    body.push_str(&findings_list(findings));
    body.extend(pictures.iter().map(picture::of));
    if !panels.is_empty() {
        body.push_str(&panels_grid(panels));
    }
    body
}

fn table(table: &Table) -> String {
    let cells = |element: &str, cells: &[String]| -> String {
        let figure = |cell: &String| format!("<{element} class=\"number\">{}</{element}>", escape(cell));
        cells.iter().map(figure).collect()
    };
    let line = |element: &str, row: &[String]| {
        let (name, figures) = row.split_first().expect("a table has a column of names");
        format!("<tr><th>{}</th>{}</tr>", escape(name), cells(element, figures))
    };
    let rows: String = table.rows.iter().map(|row| line("td", row)).collect();
    format!(
        "<div class=\"scroll\"><table><caption>{}</caption><thead>{}</thead><tbody>{rows}</tbody></table></div>",
        escape(&table.title),
        line("th", &table.heads)
    )
}

fn findings_list(findings: &[String]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let entries: Vec<String> = findings.iter().map(|finding| format!("<li>{}</li>", escape(finding))).collect();
    format!("<ul>{}</ul>", entries.concat())
}

fn panels_grid(panels: &[Panel]) -> String {
    let plots: Vec<String> = panels.iter().map(plot::of).collect();
    format!("<div class=\"charts\">{}</div>", plots.concat())
}

/// Every method on every data set, baselines and variants among them, with parameters.
fn methods_section(results: &Results, record: &RunRecord) -> String {
    let columns = columns(results);
    let mut html = String::from(
        "<section id=\"methods\"><h2>All methods</h2><p class=\"lead\">Baselines and variants among them, which no paper prints. Percentage of bags labelled right.</p><div class=\"scroll\"><table><thead><tr><th>method</th>",
    );
    for data in &columns {
        let _ = write!(html, "<th class=\"number\">{}</th>", escape(data));
    }
    html.push_str("</tr></thead><tbody>");
    for method in &results.methods {
        let _ = write!(html, "<tr><th>{}</th>", escape(&method.name));
        for data in &columns {
            let is_measured =
                results.cell(&method.id, data).is_some_and(|cell| matches!(cell.state, CellState::Measured { .. }));
            let class = if is_measured { "number" } else { "number quiet" };
            let _ = write!(html, "<td class=\"{class}\">{}</td>", escape(&cell_text(results, method, data)));
        }
        html.push_str("</tr>");
    }
    html.push_str("<tr class=\"quiet\"><th>always the larger class</th>");
    for data in &columns {
        let share = larger_class(results, data).map_or(String::new(), share_text);
        let _ = write!(html, "<td class=\"number\">{share}</td>");
    }
    html.push_str("</tr></tbody></table></div>");
    html.push_str(&failures(results));
    html.push_str(&settings_table(results));
    html.push_str(&areas_table(results, record));
    html.push_str("</section>");
    html
}

fn failures(results: &Results) -> String {
    let mut list = String::new();
    for method in &results.methods {
        for cell in &method.cells {
            if let CellState::Failed { reason } = &cell.state {
                let _ = write!(list, "<li>{} on {}: {}</li>", escape(&method.name), escape(&cell.data), escape(reason));
            }
        }
    }
    if list.is_empty() { String::new() } else { format!("<h3>Failures</h3><ul>{list}</ul>") }
}

fn settings_table(results: &Results) -> String {
    let mut html = String::from(
        "<details><summary>Parameters</summary><div class=\"scroll\"><table><thead><tr><th>method</th><th>name</th><th>parameters</th><th>code</th></tr></thead><tbody>",
    );
    for method in &results.methods {
        let _ = write!(
            html,
            "<tr><th>{}</th><td>{}</td><td class=\"note\">{}</td><td><code>{}</code></td></tr>",
            escape(&method.name),
            escape(&method.id),
            escape(&method.settings),
            escape(&method.code[..8.min(method.code.len())])
        );
    }
    html.push_str("</tbody></table></div></details>");
    html
}

fn areas_table(results: &Results, record: &RunRecord) -> String {
    let mut html = String::from(
        "<details><summary>Areas under the ROC curve, runs and times</summary><div class=\"scroll\"><table><thead><tr><th>method</th><th>data set</th><th class=\"number\">accuracy, %</th><th class=\"number\">AUC, %</th><th class=\"number\">runs</th><th class=\"number\">one fit</th></tr></thead><tbody>",
    );
    for method in &results.methods {
        for cell in &method.cells {
            let Some(accuracy) = cell.state.accuracy() else { continue };
            let auc = cell.state.auc().map_or(String::new(), crate::results::percent);
            let time =
                compared::fit_seconds(results, record, &method.id, &cell.data).map_or(String::new(), seconds_text);
            let _ = write!(
                html,
                "<tr><th>{}</th><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{auc}</td><td class=\"number\">{}</td><td class=\"number\">{time}</td></tr>",
                escape(&method.name),
                escape(&cell.data),
                crate::results::percent(accuracy),
                accuracy.n_runs
            );
        }
    }
    html.push_str("</tbody></table></div></details>");
    html
}

fn data_section(results: &Results) -> String {
    if results.data.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section id=\"data\"><h2>Data</h2><div class=\"scroll\"><table><thead><tr><th>name</th><th>what it is</th><th>what it holds, SHA-256 of the uncompressed files</th></tr></thead><tbody>",
    );
    for data in &results.data {
        let _ = write!(html, "<tr><th>{}</th><td>{}</td>", escape(&data.name), escape(&data.title));
        match &data.state {
            DataState::Present { contents, sha256, .. } => {
                let _ = write!(html, "<td>{}", escape(contents));
                html.extend(sha256.iter().map(|sum| format!("<br><code>{}</code>", escape(sum))));
                html.push_str("</td></tr>");
            }
            DataState::Absent { reason } => {
                let _ = write!(html, "<td class=\"quiet note\">{}</td></tr>", escape(reason));
            }
        }
    }
    html.push_str("</tbody></table></div></section>");
    html
}
