//! One chart per column of a paper's table: a dot for ours and a diamond for the paper's, with their intervals, a line each, as inline SVG.

use std::fmt::Write;

use crate::comparison::Spread;
use crate::results::Estimate;

use super::compared::{Compared, Ours};
use super::html::escape;

/// Width of the drawing in its own units; the page scales it.
const WIDTH: f64 = 400.0;
/// Room left and right of the axis for half a label.
const MARGIN: f64 = 18.0;
const ROW_HEIGHT: f64 = 30.0;
const AXIS_HEIGHT: f64 = 34.0;

/// The chart of one column; `None` where nothing of ours is in it.
pub(super) fn of(cells: &[Compared<'_>], column: &str, larger_class: Option<f64>) -> Option<String> {
    let marks: Vec<Mark> = cells.iter().filter(|cell| cell.column == column).map(Mark::of).collect();
    if marks.iter().all(|mark| mark.ours.is_none()) {
        return None;
    }
    let axis = Axis::around(&marks, larger_class);
    let height = marks.len() as f64 * ROW_HEIGHT + AXIS_HEIGHT;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Accuracy of each method on {}\">",
        escape(column)
    );
    draw_axis(&mut svg, &axis, height, larger_class);
    for (mark_idx, mark) in marks.iter().enumerate() {
        draw_mark(&mut svg, &axis, mark, mark_idx as f64 * ROW_HEIGHT);
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// One method: the ends of an interval and what is between them, in percent.
struct Mark {
    name: String,
    text: String,
    ours: Option<[f64; 3]>,
    printed: [f64; 3],
}

impl Mark {
    fn of(cell: &Compared<'_>) -> Mark {
        let (ours, text) = match cell.ours {
            Ours::Measured(Estimate { mean, half_width, .. }) => {
                let half = half_width.unwrap_or(0.0);
                (Some([mean - half, mean, mean + half]), format!("{} / {}", cell.ours_text(), cell.printed.text()))
            }
            Ours::Absent(_) => (None, cell.printed.text()),
        };
        let value = cell.printed.value;
        let printed = match cell.printed.spread {
            Spread::Interval { low, high } => [low, value, high],
            Spread::PlusMinus { half_width } => [value - half_width, value, value + half_width],
            Spread::Runs { .. } | Spread::Silent => [value; 3],
        };
        Mark { name: cell.line.to_owned(), text, ours, printed }
    }
}

/// Maps percentages to positions.
struct Axis {
    low: f64,
}

impl Axis {
    /// From the whole tenth below everything shown to 100.
    fn around(marks: &[Mark], larger_class: Option<f64>) -> Axis {
        let ends = marks.iter().flat_map(|mark| mark.ours.into_iter().chain([mark.printed]).map(|[low, ..]| low));
        let lowest = ends.chain(larger_class.map(|share| 100.0 * share)).fold(100.0, f64::min);
        Axis { low: (10.0 * (lowest / 10.0).floor()).clamp(0.0, 90.0) }
    }

    fn x(&self, percent: f64) -> f64 {
        let share = (percent.clamp(self.low, 100.0) - self.low) / (100.0 - self.low);
        MARGIN + share * (WIDTH - 2.0 * MARGIN)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let first = (self.low / 10.0).round() as i32;
        (first..=10).map(|tenth| 10.0 * f64::from(tenth))
    }
}

fn draw_axis(svg: &mut String, axis: &Axis, height: f64, larger_class: Option<f64>) {
    let bottom = height - AXIS_HEIGHT;
    for tick in axis.ticks() {
        let x = axis.x(tick);
        let _ = write!(svg, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{bottom:.1}\"/>");
        let y = bottom + 13.0;
        let _ = write!(svg, "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{tick:.0} %</text>");
    }
    if let Some(share) = larger_class {
        let x = axis.x(100.0 * share);
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
    let _ = write!(svg, "<text class=\"name\" x=\"{MARGIN}\" y=\"{name_y:.1}\">{}</text>", escape(&mark.name));
    let _ = write!(
        svg,
        "<text class=\"value\" x=\"{:.1}\" y=\"{name_y:.1}\" text-anchor=\"end\">{}</text>",
        WIDTH - MARGIN,
        escape(&mark.text)
    );
    let of_paper = ("interval of-paper", mark.printed);
    for (class, [low, _, high]) in mark.ours.map(|ours| ("interval", ours)).into_iter().chain([of_paper]) {
        if low < high {
            let (from, to) = (axis.x(low), axis.x(high));
            let _ =
                write!(svg, "<line class=\"{class}\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        }
    }
    if let Some([_, mean, _]) = mark.ours {
        let _ = write!(svg, "<circle class=\"ours\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>", axis.x(mean));
    }
    let (x, top) = (axis.x(mark.printed[1]), y - 4.5);
    let _ = write!(svg, "<path class=\"published\" d=\"M{x:.1} {top:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z\"/>");
}
