//! One chart per data set: a dot per method with its confidence interval, and what papers print, as inline SVG.

use std::fmt::Write;

use crate::results::{Cell, Data, Results};

use super::html::escape;
use super::{larger_class, percent, published_for};

/// Width of the drawing in its own units; the page scales it.
const WIDTH: f64 = 400.0;
/// Room left and right of the axis for half a label.
const MARGIN: f64 = 18.0;
const ROW_HEIGHT: f64 = 30.0;
const AXIS_HEIGHT: f64 = 34.0;

/// The chart of one data set; `None` where nothing was measured on it.
pub(super) fn of(results: &Results, data_idx: usize) -> Option<String> {
    let data = &results.data[data_idx];
    let marks = marks(results, data_idx);
    if !marks.iter().any(|mark| mark.class == "ours") {
        return None;
    }
    let axis = Axis::around(&marks, larger_class(&data.state));
    let height = marks.len() as f64 * ROW_HEIGHT + AXIS_HEIGHT;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Accuracy of each method on {}\">",
        escape(&data.name)
    );
    draw_axis(&mut svg, &axis, height, data);
    for (mark_idx, mark) in marks.iter().enumerate() {
        draw_mark(&mut svg, &axis, mark, mark_idx as f64 * ROW_HEIGHT);
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// One method.
struct Mark {
    name: String,
    class: &'static str,
    text: String,
    mean: f64,
    half_width: f64,
}

fn marks(results: &Results, data_idx: usize) -> Vec<Mark> {
    let ours = results.rows.iter().filter_map(|row| match row.cells[data_idx] {
        Cell::Measured { accuracy, .. } => Some(Mark {
            name: row.method.clone(),
            class: "ours",
            text: percent(accuracy),
            mean: accuracy.mean,
            half_width: accuracy.half_width.unwrap_or(0.0),
        }),
        _ => None,
    });
    let data = &results.data[data_idx].name;
    let published = published_for(data).map(|(row, accuracy)| Mark {
        name: format!("{}: {}", row.method, row.source),
        class: "published",
        text: row.text(data),
        mean: accuracy,
        half_width: 0.0,
    });
    ours.chain(published).collect()
}

/// Maps accuracies to positions.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// From the whole tenth below everything shown to 1.
    fn around(marks: &[Mark], larger_class: Option<f64>) -> Axis {
        let lowest = marks.iter().map(|mark| mark.mean - mark.half_width).chain(larger_class).fold(1.0, f64::min);
        Axis { low: ((lowest * 10.0).floor() / 10.0).clamp(0.0, 0.9), high: 1.0 }
    }

    fn x(&self, accuracy: f64) -> f64 {
        let share = (accuracy.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        MARGIN + share * (WIDTH - 2.0 * MARGIN)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let first = (self.low * 10.0).round() as i32;
        (first..=10).map(|tenth| f64::from(tenth) / 10.0)
    }
}

fn draw_axis(svg: &mut String, axis: &Axis, height: f64, data: &Data) {
    let bottom = height - AXIS_HEIGHT;
    for tick in axis.ticks() {
        let x = axis.x(tick);
        let _ = write!(svg, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{bottom:.1}\"/>");
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.0} %</text>",
            bottom + 13.0,
            100.0 * tick
        );
    }
    if let Some(share) = larger_class(&data.state) {
        let x = axis.x(share);
        let anchor = if x > WIDTH / 2.0 { "end" } else { "start" };
        let _ = write!(svg, "<line class=\"chance\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{bottom:.1}\"/>");
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">dashed: always the larger class</text>",
            bottom + 28.0
        );
    }
}

fn draw_mark(svg: &mut String, axis: &Axis, mark: &Mark, top: f64) {
    let (name_y, y) = (top + 12.0, top + 21.0);
    let x = axis.x(mark.mean);
    let class = mark.class;
    let _ = write!(svg, "<text class=\"name\" x=\"{MARGIN}\" y=\"{name_y:.1}\">{}</text>", escape(&mark.name));
    let _ = write!(
        svg,
        "<text class=\"value\" x=\"{:.1}\" y=\"{name_y:.1}\" text-anchor=\"end\">{}</text>",
        WIDTH - MARGIN,
        escape(&mark.text)
    );
    if mark.half_width > 0.0 {
        let (from, to) = (axis.x(mark.mean - mark.half_width), axis.x(mark.mean + mark.half_width));
        let _ = write!(svg, "<line class=\"interval\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
    }
    match class {
        "ours" => {
            let _ = write!(svg, "<circle class=\"ours\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>");
        }
        _ => {
            let _ = write!(svg, "<path class=\"published\" d=\"M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z\"/>", y - 4.5);
        }
    }
}
