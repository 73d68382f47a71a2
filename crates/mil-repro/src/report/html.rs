//! The report as one HTML page that loads nothing from anywhere.

use std::fmt::Write;

use crate::figure::{Panel, Table};
use crate::results::{Cell, DataState, FigureState, Raster, Results};
use crate::rows;

use super::{
    TIMES, cell_text, chart, duration_text, larger_class, method_text, percent, picture, plot, protocol_text, stand_ins,
};

const STYLE: &str = include_str!("style.css");

pub(super) fn page(results: &Results) -> String {
    let mut body = String::new();
    let _ = write!(body, "<h1>Reproduction report</h1><p class=\"lead\">{}</p>", escape(&protocol_text(results)));
    if !results.rows.is_empty() {
        body.push_str(&accuracy_table(results));
        body.push_str(&charts(results));
    }
    body.push_str(&figures(results));
    if !results.rows.is_empty() {
        body.push_str(&details_table(results));
        body.push_str(&data_table(results));
    }
    let machine = &results.machine;
    let _ = write!(
        body,
        "<footer>Version {}, {} threads, {} on {}. The numbers are in results.json beside this page.</footer>",
        escape(&results.version),
        machine.n_threads,
        escape(&machine.os),
        escape(&machine.arch)
    );
    shell("Reproduction report", &body)
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

fn accuracy_table(results: &Results) -> String {
    let mut table = String::from("<h2>Accuracy</h2><div class=\"scroll\"><table><thead><tr><th>method</th>");
    for data in &results.data {
        let _ = write!(table, "<th class=\"number\">{}</th>", escape(&data.name));
    }
    table.push_str("</tr></thead><tbody>");
    for row in &results.rows {
        let _ = write!(table, "<tr><th>{}</th>", escape(&method_text(results, row)));
        for cell in &row.cells {
            let class = if matches!(cell, Cell::Measured { .. }) { "number" } else { "number quiet" };
            let _ = write!(table, "<td class=\"{class}\">{}</td>", escape(&cell_text(cell)));
        }
        table.push_str("</tr>");
    }
    table.push_str("<tr class=\"quiet\"><th>always the larger class</th>");
    for data in &results.data {
        let share = larger_class(&data.state).map_or(String::new(), |share| format!("{:.1}", 100.0 * share));
        let _ = write!(table, "<td class=\"number\">{share}</td>");
    }
    table.push_str("</tr>");
    for row in rows::published() {
        let _ = write!(table, "<tr class=\"quiet\"><th>{}: {}</th>", escape(row.method), escape(row.source));
        for data in &results.data {
            let _ = write!(table, "<td class=\"number\">{}</td>", row.text(&data.name));
        }
        table.push_str("</tr>");
    }
    table.push_str("</tbody></table></div>");
    table
}

/// A chart for each data set.
fn charts(results: &Results) -> String {
    let mut body = String::from(
        "<h2>By data set</h2><p>Dots are ours, the bar is the 95 % confidence interval; diamonds are figures that papers print.</p>",
    );
    body.push_str("<div class=\"charts\">");
    for (data_idx, data) in results.data.iter().enumerate() {
        if let Some(svg) = chart::of(results, data_idx) {
            let _ = write!(body, "<figure><figcaption>{}</figcaption>{svg}</figure>", escape(&data.title));
        }
    }
    body.push_str("</div>");
    body
}

/// A section for each figure.
fn figures(results: &Results) -> String {
    let mut body = String::new();
    for (figure, timing) in results.figures.iter().zip(&results.figure_timing) {
        let _ = write!(
            body,
            "<section><h2>{}</h2><p class=\"lead\">{}. {} {}</p>",
            escape(&figure.title),
            escape(&figure.source),
            escape(&figure.protocol),
            duration_text(timing)
        );
        body.extend(stand_ins(figure).map(|text| format!("<p class=\"stand-in\">{}</p>", escape(&text))));
        match &figure.state {
            FigureState::Drawn { panels, pictures, tables, findings } => {
                body.push_str(&drawn(panels, pictures, tables, findings));
                if timing.tells_anything() {
                    let _ = write!(body, "<p class=\"lead\">{TIMES}</p>");
                    body.push_str(&drawn(&timing.panels, &[], &timing.tables, &timing.findings));
                }
            }
            FigureState::NoData { reason } => {
                let _ = write!(body, "<p class=\"quiet\">Left out: {}</p>", escape(reason));
            }
            FigureState::Failed { reason } => {
                let _ = write!(body, "<p>Failed: {}</p>", escape(reason));
            }
        }
        body.push_str("</section>");
    }
    body
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

fn details_table(results: &Results) -> String {
    let mut table = String::from(
        "<h2>In detail</h2><div class=\"scroll\"><table><thead><tr><th>method</th><th>data set</th><th class=\"number\">accuracy</th>\
         <th class=\"number\">area under ROC</th><th class=\"number\">repetitions</th><th class=\"number\">fit, all folds</th><th>parameters</th></tr></thead><tbody>",
    );
    for (row, seconds) in results.rows.iter().zip(&results.timing) {
        for ((cell, seconds), data) in row.cells.iter().zip(seconds).zip(&results.data) {
            let (accuracy, auc) = match cell {
                Cell::Measured { accuracy, auc } => (percent(*accuracy), auc.map(percent).unwrap_or_default()),
                Cell::NoData | Cell::LeftOut => continue,
                Cell::Failed { reason } => (reason.clone(), String::new()),
            };
            let _ = write!(
                table,
                "<tr><th>{}</th><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
                 <td class=\"number\">{}</td><td>{}</td></tr>",
                escape(&row.method),
                escape(&data.name),
                escape(&accuracy),
                escape(&auc),
                row.n_repeats,
                seconds.map_or(String::new(), |seconds| format!("{seconds:.2} s")),
                escape(&row.settings)
            );
        }
    }
    table.push_str("</tbody></table></div>");
    table
}

fn data_table(results: &Results) -> String {
    let mut table = String::from(
        "<h2>Data</h2><div class=\"scroll\"><table><thead><tr><th>name</th><th>what it is</th><th class=\"number\">bags (positive)</th>\
         <th class=\"number\">instances</th><th class=\"number\">features</th></tr></thead><tbody>",
    );
    for data in &results.data {
        let _ = write!(table, "<tr><th>{}</th><td>{}</td>", escape(&data.name), escape(&data.title));
        match &data.state {
            DataState::Present { n_bags, n_positive, n_instances, n_features } => {
                let _ = write!(
                    table,
                    "<td class=\"number\">{n_bags} ({n_positive})</td><td class=\"number\">{n_instances}</td><td class=\"number\">{n_features}</td></tr>"
                );
            }
            DataState::Absent { reason } => {
                let _ = write!(table, "<td class=\"quiet\" colspan=\"3\">{}</td></tr>", escape(reason));
            }
        }
    }
    table.push_str("</tbody></table></div>");
    table
}
