//! Pages that people look at in a browser: one file each, without a script and without the network.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::error::CliError;
use crate::models::About;
use crate::report::{Cell, Table};

/// What speaks for a bag.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// Name of the bag.
    pub bag: String,
    /// How much speaks for the predicted label.
    pub score: f64,
    /// The predicted label.
    pub predicted: String,
    /// The label it has, where it has one.
    pub actual: Option<String>,
    /// How much each instance speaks for the predicted label, where the model knows instances.
    pub instances: Option<Vec<f64>>,
    /// The instance that speaks loudest.
    pub witness: Option<usize>,
    /// The features that matter most.
    pub features: Vec<FeatureWeight>,
}

/// What a feature does for a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureWeight {
    /// Its name.
    pub name: String,
    /// Its value in the witness, where there is one.
    pub value: Option<f64>,
    /// What the score would lose if the feature had its mean over the data.
    pub weight: f64,
}

/// Instances of a bag that a page draws.
const MAX_BARS: usize = 30;

/// Writes a page, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, html: &str) -> Result<(), CliError> {
    mil_core::atomic_file::write(path, |out| out.write_all(html.as_bytes())).map_err(|error| CliError::io(path, error))
}

/// Positions of the largest scores, in the order of the instances.
#[must_use]
pub fn leading(scores: &[f64], n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.truncate(n);
    order.sort_unstable();
    order
}

/// The page of `mil explain`.
#[must_use]
pub fn explanation(about: &About, data: &str, bags: &[Explained]) -> String {
    let n_wrong = bags.iter().filter(|bag| bag.actual.as_ref().is_some_and(|actual| *actual != bag.predicted)).count();
    let mut body = format!(
        "<h1>Why {} bags score as they do</h1>\n<p class=\"lead\">Model: {} (features scaled: {}). Data: {}. A bar is the score of an instance, or its posterior of the predicted class where there are many; the \
         <span class=\"witness-word\">witness</span> has the highest. A feature's weight is what the score of the witness would lose if the feature had its mean over the data.",
        bags.len(),
        escaped(&about.learner),
        escaped(&about.scaling),
        escaped(data)
    );
    if bags.iter().any(|bag| bag.actual.is_some()) {
        let _ = write!(body, " {n_wrong} of {} bags are predicted otherwise than labelled.", bags.len());
    }
    body.push_str("</p>\n");
    for bag in bags {
        body.push_str(&card(bag));
    }
    document("mil explain", &body)
}

fn card(bag: &Explained) -> String {
    let verdict = match &bag.actual {
        Some(actual) if *actual == bag.predicted => {
            format!("predicted <b>{}</b>, as labelled", escaped(&bag.predicted))
        }
        Some(actual) => format!(
            "predicted <b>{}</b>, <span class=\"wrong\">labelled {}</span>",
            escaped(&bag.predicted),
            escaped(actual)
        ),
        None => format!("predicted <b>{}</b>", escaped(&bag.predicted)),
    };
    let mut html = format!(
        "<section>\n<h2>Bag {}</h2>\n<p>Score {:.4}, {verdict}.</p>\n<div class=\"charts\">\n",
        escaped(&bag.bag),
        bag.score
    );
    match &bag.instances {
        None => html.push_str("<p class=\"lead\">This model scores whole bags; it has no scores of instances.</p>\n"),
        Some(scores) => {
            let shown = leading(scores, MAX_BARS);
            let bars: Vec<Bar> = shown
                .iter()
                .map(|&idx| Bar {
                    name: format!("instance {idx}"),
                    note: String::new(),
                    value: scores[idx],
                    is_marked: bag.witness == Some(idx),
                })
                .collect();
            let rest = if scores.len() > shown.len() {
                format!(" (the {} highest of {})", shown.len(), scores.len())
            } else {
                String::new()
            };
            let _ = write!(
                html,
                "<figure><figcaption>Instances{rest}</figcaption>\n{}</figure>\n",
                bar_chart(&bars, "witness")
            );
        }
    }
    let bars: Vec<Bar> = bag
        .features
        .iter()
        .map(|feature| Bar {
            name: feature.name.clone(),
            note: feature.value.map_or(String::new(), |value| format!(" = {}", short(value))),
            value: feature.weight,
            is_marked: false,
        })
        .collect();
    let _ = write!(
        html,
        "<figure><figcaption>Features that matter most</figcaption>\n{}</figure>\n</div>\n</section>\n",
        bar_chart(&bars, "")
    );
    html
}

struct Bar {
    name: String,
    note: String,
    value: f64,
    is_marked: bool,
}

/// Horizontal bars around 0, as inline SVG.
fn bar_chart(bars: &[Bar], mark: &str) -> String {
    const NAMES: f64 = 150.0;
    const FIELD: f64 = 240.0;
    const NUMBERS: f64 = 130.0;
    const LINE: f64 = 20.0;
    let low = bars.iter().fold(0.0_f64, |low, bar| low.min(bar.value));
    let high = bars.iter().fold(0.0_f64, |high, bar| high.max(bar.value));
    let spread = if high > low { high - low } else { 1.0 };
    let at = |value: f64| NAMES + FIELD * (value - low) / spread;
    let height = LINE * bars.len().max(1) as f64 + 4.0;
    let mut svg = format!("<svg viewBox=\"0 0 {} {height}\" role=\"img\">\n", NAMES + FIELD + NUMBERS);
    let _ = writeln!(svg, "<line class=\"grid\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"0\" y2=\"{height}\"/>", at(0.0));
    for (idx, bar) in bars.iter().enumerate() {
        let (top, left, right) = (LINE * idx as f64 + 4.0, at(bar.value.min(0.0)), at(bar.value.max(0.0)));
        let class = match (bar.is_marked, bar.value < 0.0) {
            (true, _) => "witness",
            (false, true) => "against",
            (false, false) => "for",
        };
        let middle = top + 11.0;
        let label = format!("{}{}", shortened(&bar.name), bar.note);
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>", NAMES - 8.0, escaped(&label));
        let _ = writeln!(
            svg,
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"14\"/>",
            (right - left).max(1.0)
        );
        let marked = if bar.is_marked { format!(" {mark}") } else { String::new() };
        let _ = writeln!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{middle}\">{}{marked}</text>",
            NAMES + FIELD + 6.0,
            short(bar.value)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Four significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e5).contains(&size) => format!("{value:.2e}"),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}

fn shortened(name: &str) -> String {
    const MAX: usize = 18;
    if name.chars().count() <= MAX { name.to_owned() } else { name.chars().take(MAX - 1).chain(['…']).collect() }
}

/// The page of `mil compare`: an interval for each learner, and the table.
///
/// # Panics
/// If the table is not that of the command.
#[must_use]
pub fn comparison(table: &Table) -> String {
    let column =
        |key: &str| table.columns.iter().position(|column| column.key == key).expect("a column of the comparison");
    let number = |row: &[Cell], key: &str| match row[column(key)] {
        Cell::Share(value) | Cell::Number(value, _) => Some(value),
        _ => None,
    };
    let mut body = format!("<h1>Learners compared</h1>\n<p class=\"lead\">{}</p>\n", escaped(&table.title));
    const NAMES: f64 = 130.0;
    const FIELD: f64 = 380.0;
    const LINE: f64 = 26.0;
    let bounds = table.rows.iter().flat_map(|row| ["low", "accuracy", "high"].map(|key| number(row, key))).flatten();
    let (low, high) =
        bounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = (((low - 0.01) * 20.0).floor() / 20.0, ((high + 0.01) * 20.0).ceil() / 20.0);
    let at = |value: f64| NAMES + FIELD * (value - low) / (high - low);
    let height = LINE * table.rows.len() as f64 + 26.0;
    let _ = write!(
        body,
        "<figure class=\"wide\"><figcaption>Accuracy with its 95 % interval, in percent</figcaption>\n<svg viewBox=\"0 0 {} {height}\" role=\"img\">\n",
        NAMES + FIELD + 20.0
    );
    let n_steps = ((high - low) / 0.05).round() as usize;
    let stride = n_steps.div_ceil(8).max(1);
    for step in (0..=n_steps).step_by(stride) {
        let value = low + 0.05 * step as f64;
        let _ = writeln!(
            body,
            "<line class=\"grid\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"0\" y2=\"{1}\"/>",
            at(value),
            height - 20.0
        );
        let _ = writeln!(
            body,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{:.0}</text>",
            at(value),
            height - 6.0,
            100.0 * value
        );
    }
    for (idx, row) in table.rows.iter().enumerate() {
        let y = LINE * idx as f64 + 14.0;
        let _ = writeln!(
            body,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            NAMES - 8.0,
            y + 4.0,
            escaped(&row[column("learner")].shown())
        );
        if let (Some(low), Some(high)) = (number(row, "low"), number(row, "high")) {
            let _ = writeln!(
                body,
                "<line class=\"interval\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\"/>",
                at(low),
                at(high)
            );
        }
        let accuracy = number(row, "accuracy").expect("every learner has an accuracy");
        let class = if row[column("verdict")] == Cell::text("best") { "witness" } else { "for" };
        let _ = writeln!(body, "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y}\" r=\"4.5\"/>", at(accuracy));
    }
    body.push_str("</svg></figure>\n<div class=\"scroll\"><table>\n<thead><tr>");
    for column in &table.columns {
        let _ = write!(body, "<th>{}</th>", escaped(&column.head));
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        body.push_str("<tr>");
        for cell in row {
            let class = if cell.is_numeric() || *cell == Cell::Absent { " class=\"number\"" } else { "" };
            let _ = write!(body, "<td{class}>{}</td>", escaped(&cell.shown()));
        }
        body.push_str("</tr>\n");
    }
    body.push_str(
        "</tbody></table></div>\n<p class=\"lead\">The difference to the best is in points of accuracy; p is that of the corrected resampled t-test over the folds (Nadeau &amp; Bengio 2003), \
         not corrected for several learners.</p>\n",
    );
    document("mil compare", &body)
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        include_str!("page.css")
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_page() {
        let bag = Explained {
            bag: "<script>".to_owned(),
            score: 1.0,
            predicted: "a&b".to_owned(),
            actual: Some("\"".to_owned()),
            instances: Some(vec![0.5, -0.25]),
            witness: Some(0),
            features: vec![FeatureWeight { name: "<f>".to_owned(), value: Some(2.0), weight: 0.0 }],
        };
        let html = card(&bag);
        assert!(!html.contains("<script>") && !html.contains("<f>") && html.contains("a&amp;b"), "{html}");
        assert!(html.contains("class=\"witness\"") && html.contains("class=\"against\""));
    }

    #[test]
    fn the_leading_instances_keep_their_order() {
        assert_eq!(leading(&[0.1, 3.0, 2.0, 5.0], 3), [1, 2, 3]);
        assert_eq!(leading(&[1.0, 1.0, 1.0], 2), [0, 1]);
    }
}
