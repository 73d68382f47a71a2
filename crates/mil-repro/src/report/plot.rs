//! A panel of a figure as inline SVG, with its labels and legend around it.

use std::fmt::Write;

use crate::figure::{Panel, Point, Scale, Series, Style};

use super::axis::{Axis, Tick};
use super::html::escape;

/// Width of the drawing in its own units; the page scales it.
const WIDTH: f64 = 400.0;
const TOP: f64 = 8.0;
/// Height of the plot, unless it is a picture of the plane.
const HEIGHT: f64 = 230.0;
/// A picture of the plane is at least this high and at most 1, where its width is 1.
const LEAST_HEIGHT: f64 = 0.5;
/// Room below the plot for what is written at the ticks.
const TICK_HEIGHT: f64 = 18.0;
/// Room at the right for half of what is written at the last tick.
const RIGHT: f64 = 18.0;
/// Width of a digit at the ticks; rather too wide.
const DIGIT: f64 = 6.0;
/// Points nearer to one another than this are drawn as a curve with a few marks and a band around it.
const DENSE: f64 = 8.0;
/// Marks along a dense curve are this far apart.
const MARK_GAP: f64 = 30.0;
/// Size of the marks of a cloud, where that of marks on a line is 1.
const SMALL: f64 = 0.65;

/// The panel with its title, labels and legend.
pub(super) fn of(panel: &Panel) -> String {
    let frame = Frame::around(panel);
    let mut html = format!(
        "<figure><figcaption>{}</figcaption><p class=\"axis\">{}</p>",
        escape(&panel.title),
        escape(&panel.y.label)
    );
    let _ = write!(
        html,
        "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}: {} against {}\">",
        frame.bottom.ceil() + TICK_HEIGHT,
        escape(&panel.title),
        escape(&panel.y.label),
        escape(&panel.x.label)
    );
    draw_ticks(&mut html, &frame);
    for (level_idx, level) in panel.levels.iter().enumerate() {
        let (class, y) = (level_class(level_idx), frame.y(level.y));
        let _ = write!(html, "<path class=\"{class}\" d=\"M{:.1} {y:.1}H{:.1}\"/>", frame.left, WIDTH - RIGHT);
    }
    let looks = panel.looks();
    for series in &panel.series {
        let look_idx = looks.iter().position(|&look| look == series.look()).expect("looks are those of the series");
        draw_series(&mut html, &frame, look_idx, series);
    }
    let _ = write!(html, "</svg><p class=\"axis x\">{}</p>{}</figure>", escape(&panel.x.label), legend(panel));
    html
}

/// Where the axes lie and how they map.
struct Frame {
    left: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
    y_ticks: Vec<Tick>,
}

impl Frame {
    fn around(panel: &Panel) -> Frame {
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let mut x = Axis::around(panel.x.scale, points().map(|point| point.x));
        let mut y = Axis::around(panel.y.scale, ends(panel).chain(panel.levels.iter().map(|level| level.y)));
        let has_one_unit = panel.shows_the_plane() && [panel.x.scale, panel.y.scale] == [Scale::Linear; 2];
        if has_one_unit {
            x = x.widened(y.length());
            y = y.widened(LEAST_HEIGHT * x.length());
        }
        let y_ticks = y.ticks(8);
        let widest = y_ticks.iter().map(width).fold(0.0, f64::max);
        let left = widest + 9.0;
        let height = if has_one_unit { (WIDTH - RIGHT - left) * (y.length() / x.length()) } else { HEIGHT };
        Frame { left, bottom: TOP + height, x, y, y_ticks }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (WIDTH - RIGHT - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - TOP)
    }

    /// As many as can be read side by side.
    fn x_ticks(&self) -> Vec<Tick> {
        let are_apart = |pair: &[Tick]| {
            let gap = self.x(pair[1].value) - self.x(pair[0].value);
            gap >= width(&pair[0]).midpoint(width(&pair[1])) + DIGIT
        };
        let counts = (3..=8).rev().map(|max_ticks| self.x.ticks(max_ticks));
        counts.into_iter().find(|ticks| ticks.windows(2).all(are_apart)).unwrap_or_else(|| self.x.ticks(2))
    }
}

/// The heights that the vertical axis must reach.
///
/// On a logarithmic axis an interval may end at 0 or near it; it does not stretch the axis by more than half a decade.
fn ends(panel: &Panel) -> impl Iterator<Item = f64> {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let floor = match panel.y.scale {
        Scale::Linear => f64::NEG_INFINITY,
        Scale::Log => points().map(|point| point.y).fold(f64::INFINITY, f64::min) / 3.0,
    };
    points().flat_map(move |point| {
        let half_width = point.half_width.unwrap_or(0.0);
        [(point.y - half_width).max(floor), point.y + half_width]
    })
}

fn width(tick: &Tick) -> f64 {
    tick.text.chars().count() as f64 * DIGIT
}

fn draw_ticks(svg: &mut String, frame: &Frame) {
    let Frame { left, bottom, .. } = *frame;
    for tick in &frame.y_ticks {
        let y = frame.y(tick.value);
        let _ = write!(svg, "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{:.1}\"/>", WIDTH - RIGHT);
        let (x, y) = (left - 6.0, y + 3.5);
        let _ = write!(svg, "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", tick.text);
    }
    for tick in frame.x_ticks() {
        let x = frame.x(tick.value);
        let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>");
        let y = bottom + 14.0;
        let _ =
            write!(svg, "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", tick.text);
    }
    let _ = write!(svg, "<path class=\"frame\" d=\"M{left:.1} {TOP}V{bottom:.1}H{:.1}\"/>", WIDTH - RIGHT);
}

fn draw_series(svg: &mut String, frame: &Frame, look_idx: usize, series: &Series) {
    let places: Vec<(f64, f64)> = series.points.iter().map(|point| (frame.x(point.x), frame.y(point.y))).collect();
    let _ = write!(svg, "<g class=\"{}\">", series_class(look_idx, series.style));
    match series.style {
        Style::Line | Style::Dashed => draw_line(svg, frame, look_idx, series, &places),
        Style::Marks | Style::Rings => {
            draw_intervals(svg, frame, &series.points);
            svg.extend(places.iter().map(|&(x, y)| mark(look_idx, series.style, x, y)));
        }
        Style::Curve => {
            draw_intervals(svg, frame, &series.points);
            // A line of no length, so that a curve of one point is a dot and not nothing.
            let dot = if places.len() == 1 { "h0" } else { "" };
            let _ = write!(svg, "<path class=\"curve\" d=\"M{}{dot}\"/>", joined(places.iter().copied()));
        }
    }
    svg.push_str("</g>");
}

/// A line with marks: on each point, or where points are dense on a few.
fn draw_line(svg: &mut String, frame: &Frame, look_idx: usize, series: &Series, places: &[(f64, f64)]) {
    let is_dense = places.windows(2).any(|pair| (pair[1].0 - pair[0].0).abs() < DENSE);
    if is_dense {
        draw_band(svg, frame, &series.points);
    } else {
        draw_intervals(svg, frame, &series.points);
    }
    if places.len() > 1 {
        let _ = write!(svg, "<path class=\"curve\" d=\"M{}\"/>", joined(places.iter().copied()));
    }
    let mut last: Option<(f64, f64)> = None;
    for &(x, y) in places {
        if last.is_none_or(|(last_x, last_y)| !is_dense || (x - last_x).hypot(y - last_y) >= MARK_GAP) {
            svg.push_str(&mark(look_idx, series.style, x, y));
            last = Some((x, y));
        }
    }
}

/// `x y` for each place, as a path lists them.
fn joined(places: impl Iterator<Item = (f64, f64)>) -> String {
    places.map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L")
}

/// The two ends of the interval around a point, lower value first.
fn interval(frame: &Frame, point: &Point) -> Option<(f64, f64)> {
    let half_width = point.half_width.filter(|&half_width| half_width > 0.0)?;
    Some((frame.y(point.y - half_width), frame.y(point.y + half_width)))
}

fn draw_intervals(svg: &mut String, frame: &Frame, points: &[Point]) {
    for point in points {
        if let Some((from, to)) = interval(frame, point) {
            let x = frame.x(point.x);
            let left = x - 3.0;
            let _ = write!(
                svg,
                "<path class=\"bar\" d=\"M{x:.1} {from:.1}V{to:.1}M{left:.1} {from:.1}h6M{left:.1} {to:.1}h6\"/>"
            );
        }
    }
}

fn draw_band(svg: &mut String, frame: &Frame, points: &[Point]) {
    if points.iter().all(|point| interval(frame, point).is_none()) {
        return;
    }
    let around = |point: &Point| interval(frame, point).unwrap_or((frame.y(point.y), frame.y(point.y)));
    let there = points.iter().map(|point| (frame.x(point.x), around(point).1));
    let back = points.iter().rev().map(|point| (frame.x(point.x), around(point).0));
    let _ = write!(svg, "<path class=\"band\" d=\"M{}z\"/>", joined(there.chain(back)));
}

/// A mark of the shape that belongs to the place among the looks; a ring is always round.
fn mark(look_idx: usize, style: Style, x: f64, y: f64) -> String {
    let shape = match look_idx {
        _ if style == Style::Rings => "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
        0 => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
        1 => "m-3.2 -3.2h6.4v6.4h-6.4z",
        2 => "m0 -4.2l4 7h-8z",
        3 => "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
        4 => "m0 4.2l4 -7h-8z",
        _ => "m-3.4 -3.4l6.8 6.8m0 -6.8l-6.8 6.8",
    };
    if style == Style::Marks {
        format!("<path class=\"mark\" transform=\"translate({x:.1} {y:.1})scale({SMALL})\" d=\"M0 0{shape}\"/>")
    } else {
        format!("<path class=\"mark\" d=\"M{x:.1} {y:.1}{shape}\"/>")
    }
}

fn series_class(look_idx: usize, style: Style) -> String {
    let name = match style {
        Style::Line => "",
        Style::Dashed => " dashed",
        Style::Marks => " cloud",
        Style::Curve => " contour",
        Style::Rings => " rings",
    };
    format!("series s{}{name}", look_idx + 1)
}

fn level_class(level_idx: usize) -> String {
    format!("level l{}", level_idx + 1)
}

/// A key for each name and style of the series, and for each level.
fn legend(panel: &Panel) -> String {
    let series = panel.looks().into_iter().enumerate().map(|(look_idx, (name, style))| {
        let (line, mark) = ("<path class=\"curve\" d=\"M0 6H36\"/>", mark(look_idx, style, 18.0, 6.0));
        let sample = match style {
            Style::Line | Style::Dashed => format!("{line}{mark}"),
            Style::Marks | Style::Rings => mark,
            Style::Curve => line.to_owned(),
        };
        (format!("<g class=\"{}\">{sample}</g>", series_class(look_idx, style)), name)
    });
    let levels = panel.levels.iter().enumerate().map(|(level_idx, level)| {
        (format!("<path class=\"{}\" d=\"M0 6H36\"/>", level_class(level_idx)), level.name.as_str())
    });
    let entries: Vec<String> = series
        .chain(levels)
        .map(|(key, name)| {
            format!(
                "<li><svg class=\"key\" viewBox=\"0 0 36 12\" aria-hidden=\"true\">{key}</svg>{}</li>",
                escape(name)
            )
        })
        .collect();
    format!("<ul class=\"legend\">{}</ul>", entries.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::AxisSpec;

    /// A curve of so many points from 1 to 1000, each within its value of 0.
    fn panel(n_points: usize) -> Panel {
        let points = (0..n_points).map(|idx| {
            let x = 1000f64.powf(idx as f64 / (n_points - 1) as f64);
            Point { x, y: 1.0 / x, half_width: Some(1.0 / x) }
        });
        Panel {
            title: "Error".to_owned(),
            x: AxisSpec::log("bags"),
            y: AxisSpec::log("error"),
            series: vec![Series { name: "ours".to_owned(), style: Style::Line, points: points.collect() }],
            levels: Vec::new(),
        }
    }

    #[test]
    fn few_points_have_a_mark_and_a_bar_each_and_many_a_band() {
        let (few, many) = (of(&panel(10)), of(&panel(300)));
        let count = |html: &str, class: &str| html.matches(&format!("class=\"{class}\"")).count();
        assert_eq!([count(&few, "mark"), count(&few, "bar"), count(&few, "band")], [10 + 1, 10, 0]);
        assert_eq!([count(&many, "bar"), count(&many, "band")], [0, 1]);
        assert!((5..30).contains(&count(&many, "mark")), "{}", count(&many, "mark"));
    }

    #[test]
    fn an_interval_down_to_0_ends_at_the_frame_of_a_logarithmic_axis() {
        let panel = panel(10);
        let frame = Frame::around(&panel);
        for point in &panel.series[0].points {
            let (from, to) = interval(&frame, point).unwrap();
            assert_eq!(from, frame.bottom);
            assert!(TOP <= to && to < frame.y(point.y));
        }
        assert!(frame.bottom - frame.y(1e-3) < 0.25 * HEIGHT, "the axis is not stretched");
    }

    /// A cloud, a boundary of two parts around it, and a point singled out; `stretch` is how much higher than wide.
    fn picture(stretch: f64) -> Panel {
        let series = |name: &str, style: Style, points: &[(f64, f64)]| Series {
            name: name.to_owned(),
            style,
            points: points.iter().map(|&(x, y)| Point::at(x, stretch * y)).collect(),
        };
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
        let cloud: Vec<(f64, f64)> = (0..100).map(|idx| (f64::from(idx % 10) / 9.0, f64::from(idx) / 99.0)).collect();
        Panel {
            x: AxisSpec::linear("first"),
            y: AxisSpec::linear("second"),
            series: vec![
                series("instances", Style::Marks, &cloud),
                series("boundary", Style::Curve, &corners),
                series("boundary", Style::Curve, &[(0.5, 0.5)]),
                series("queried", Style::Rings, &cloud[7..8]),
            ],
            ..panel(2)
        }
    }

    #[test]
    fn a_cloud_has_marks_alone_and_a_contour_a_line_alone() {
        let html = of(&picture(1.0));
        let (drawing, legend) = html.split_once("<ul").unwrap();
        let in_groups = |text: &str, style: &str| -> [usize; 3] {
            let groups = text.split("<g ").filter(|group| group.starts_with(&format!("class=\"series {style}\"")));
            let inside: String = groups.clone().map(|group| group.split("</g>").next().unwrap()).collect();
            let count = |class: &str| inside.matches(&format!("class=\"{class}\"")).count();
            [groups.count(), count("mark"), count("curve")]
        };
        for (style, drawn, key) in [
            ("s1 cloud", [1, 100, 0], [1, 1, 0]),
            ("s2 contour", [2, 0, 2], [1, 0, 1]),
            ("s3 rings", [1, 1, 0], [1, 1, 0]),
        ] {
            assert_eq!((in_groups(drawing, style), in_groups(legend, style)), (drawn, key), "{style}");
        }
        assert!(drawing.contains("h0\"/>"), "a curve of one point is a dot");
    }

    #[test]
    fn series_of_one_name_and_style_share_a_key() {
        let html = of(&picture(1.0));
        assert_eq!(html.matches("class=\"key\"").count(), 3);
        assert_eq!(html.matches("</svg>boundary</li>").count(), 1);
        let mut panel = picture(1.0);
        panel.series[2].name = "margin".to_owned();
        assert_eq!(of(&panel).matches("class=\"key\"").count(), 4);
    }

    #[test]
    fn a_unit_of_a_picture_is_as_long_on_one_axis_as_on_the_other() {
        let units = |panel: &Panel| {
            let frame = Frame::around(panel);
            let stretch = panel.series[1].points[2].y;
            let (across, up) = (frame.x(1.0) - frame.x(0.0), (frame.y(0.0) - frame.y(stretch)) / stretch);
            (across, up, (frame.bottom - TOP) / (WIDTH - RIGHT - frame.left))
        };
        for stretch in [1e-3, 0.3, 0.7, 1.0, 1.5, 100.0] {
            let (across, up, height) = units(&picture(stretch));
            assert!((across / up - 1.0).abs() < 1e-9, "{stretch}: {across} and {up}");
            assert!((LEAST_HEIGHT - 1e-9..=1.0 + 1e-9).contains(&height), "{stretch}: {height}");
        }
        let mut plot = picture(100.0);
        plot.series[0].style = Style::Line;
        let (across, up, _) = units(&plot);
        assert!(across > 50.0 * up, "a line with marks makes it a plot like others");
        assert_eq!(Frame::around(&plot).bottom, TOP + HEIGHT);
    }

    #[test]
    fn what_is_written_at_ticks_never_overlaps() {
        for (low, high) in [(0.0, 1.0), (1e-5, 2e-5), (-1e6, 1e6), (0.123_4, 0.123_9), (1.0, 99_999.0), (1e-9, 1e9)] {
            for (x, style) in [
                (AxisSpec::linear("x"), Style::Line),
                (AxisSpec::log("x"), Style::Line),
                (AxisSpec::linear("x"), Style::Marks),
            ] {
                if x.scale == Scale::Log && low <= 0.0 {
                    continue;
                }
                let points = vec![Point::at(low, low), Point::at(high, high)];
                let series = vec![Series { name: String::new(), style, points }];
                let frame = Frame::around(&Panel { y: x.clone(), x, series, ..panel(2) });
                let ticks = frame.x_ticks();
                assert!(ticks.len() >= 2, "{low} to {high}: {ticks:?}");
                for pair in ticks.windows(2) {
                    let free = frame.x(pair[1].value) - frame.x(pair[0].value);
                    assert!(free > width(&pair[0]).midpoint(width(&pair[1])), "{low} to {high}: {pair:?}");
                }
                for tick in &ticks {
                    let x = frame.x(tick.value);
                    assert!(0.0 <= x - width(tick) / 2.0, "{tick:?}");
                    assert!(x + width(tick) / 2.0 <= WIDTH, "{tick:?}");
                }
                for pair in frame.y_ticks.windows(2) {
                    assert!(frame.y(pair[0].value) - frame.y(pair[1].value) > 12.0, "{low} to {high}: {pair:?}");
                }
            }
        }
    }
}
