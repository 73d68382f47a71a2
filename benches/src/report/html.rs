//! The results as one HTML page that loads nothing from anywhere, in the look of the reproduction report.

use std::fmt::Write;

use mil_repro::figure::{AxisSpec, Panel, Point, Series, Style, Table};
use mil_repro::report::{escaped, page_of, plot_of};

use super::words;
use crate::contest::{Entry, Report};
use crate::growth::{Fit, Growth, Side, SizePoint};

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let mut body = format!("<h1>Benchmarks</h1><p class=\"lead\">{}</p>", text(&words::origin(report)));
    body.extend(words::warnings(report).iter().map(|warning| format!("<p class=\"stand-in\">{}</p>", text(warning))));
    if let Some(duels) = words::duel_table(report) {
        let _ =
            write!(body, "<section><h2>Ratios</h2><p>{}</p>{}</section>", text(words::ABOUT_RATIOS), table(&duels, 3));
    }
    if let Some(growths) = words::growth_table(report) {
        let about = text(&words::about_growth());
        let _ = write!(body, "<section><h2>Growth</h2><p>{about}</p>{}</section>", table(&growths, 7));
    }
    body.extend(report.contests.iter().map(section));
    body.push_str("<footer>Every single time is in benchmarks.json beside this page.</footer>");
    page_of("Benchmarks", &body)
}

fn section(entry: &Entry) -> String {
    let mut section =
        format!("<section><h2>{}</h2><p class=\"lead\">{}</p>", text(&entry.name), text(&words::about(entry)));
    section.extend(entry.notes.iter().map(|note| format!("<p>{}</p>", text(note))));
    section.extend(words::asides(entry).iter().map(|aside| format!("<p class=\"stand-in\">{}</p>", text(aside))));
    section.push_str(&list(&words::remarks(entry)));
    for growth in &entry.growths {
        let points = words::point_table(growth);
        // What was found is text behind the figures.
        let _ = write!(
            section,
            "<h3>{}</h3>{}{}<div class=\"charts\">{}</div>",
            text(&growth.title),
            table(&points, points.heads.len()),
            list(&words::growth_findings(growth)),
            plots(growth)
        );
    }
    section.push_str("</section>");
    section
}

/// Time and memory against size, on logarithmic axes.
fn plots(growth: &Growth) -> String {
    let sides: Vec<&Side> = std::iter::once(&growth.ours).chain(&growth.peer).collect();
    let panel = |title: &str, label: &str, value: fn(&SizePoint) -> Option<f64>, fit: fn(&Side) -> Option<Fit>| {
        let series = |side: &&Side| {
            let points: Vec<Point> = side
                .points
                .iter()
                .filter_map(|point| Some(Point::at(point.n as f64, value(point).filter(|value| *value > 0.0)?)))
                .collect();
            let exponent = fit(side).map_or(String::new(), |fit| format!(", exponent {:.2}", fit.exponent));
            let name = format!("{}{exponent}", side.who);
            (!points.is_empty()).then_some(Series { name, style: Style::Line, points })
        };
        let series: Vec<Series> = sides.iter().filter_map(series).collect();
        let (x, y) = (AxisSpec::log(&growth.unit), AxisSpec::log(label));
        (!series.is_empty()).then(|| plot_of(&Panel { title: title.to_owned(), x, y, series, levels: Vec::new() }))
    };
    let time = panel("Time", "seconds", |point| Some(point.seconds), |side| side.time);
    let memory = panel(
        "Memory",
        "MiB beyond an empty process",
        |point| point.bytes.map(|bytes| bytes / f64::from(1 << 20)),
        |side| side.memory,
    );
    time.into_iter().chain(memory).collect()
}

fn list(sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let entries: String = sentences.iter().map(|sentence| format!("<li>{}</li>", text(sentence))).collect();
    format!("<ul>{entries}</ul>")
}

/// The first column names, the others up to the `n_figures`-th hold figures, those behind text.
fn table(table: &Table, n_figures: usize) -> String {
    let line = |element: &str, row: &[String]| {
        let cell = |(idx, cell): (usize, &String)| match idx {
            0 => format!("<th>{}</th>", text(cell)),
            _ if idx < n_figures => format!("<{element} class=\"number\">{}</{element}>", text(cell)),
            _ => format!("<{element}>{}</{element}>", text(cell)),
        };
        format!("<tr>{}</tr>", row.iter().enumerate().map(cell).collect::<String>())
    };
    let rows: String = table.rows.iter().map(|row| line("td", row)).collect();
    let caption =
        if table.title.is_empty() { String::new() } else { format!("<caption>{}</caption>", text(&table.title)) };
    let heads = line("th", &table.heads);
    format!("<div class=\"scroll\"><table>{caption}<thead>{heads}</thead><tbody>{rows}</tbody></table></div>")
}

/// Safe inside elements; what stands between backquotes is code.
fn text(text: &str) -> String {
    let pieces = text.split('`').collect::<Vec<_>>();
    if pieces.len() % 2 == 0 {
        return escaped(text);
    }
    let piece = |(idx, piece): (usize, &&str)| {
        if idx % 2 == 1 { format!("<code>{}</code>", escaped(piece)) } else { escaped(piece) }
    };
    pieces.iter().enumerate().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report;

    #[test]
    fn the_page_stands_on_its_own_and_escapes_what_it_shows() {
        let page = page(&report());
        for expected in
            ["work &amp; &lt;toil&gt;", "0.50 [0.50, 0.50]", "<code>cargo xtask bench</code>", "Failed: no memory"]
        {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        for absent in ["<script", "http:", "https:", "src=", "@import", "<toil>"] {
            assert!(!page.contains(absent), "{absent}");
        }
    }

    #[test]
    fn time_and_memory_are_drawn_for_both_sides() {
        let mut report = report();
        let growth = &mut report.contests[1].growths[0];
        let plots_of = |growth: &Growth| {
            let drawn = plots(growth);
            [drawn.matches("<figure").count(), drawn.matches("class=\"key\"").count()]
        };
        assert_eq!(plots_of(growth), [2, 4]);
        assert!(plots(growth).contains("Peer 1, exponent 2.00"));
        growth.peer = None;
        assert_eq!(plots_of(growth), [2, 2]);
        growth.ours.points.iter_mut().for_each(|point| point.bytes = Some(0.0));
        assert_eq!(plots_of(growth), [1, 1], "what has no place on a logarithmic axis is not drawn");
    }

    #[test]
    fn backquotes_make_code_where_they_pair() {
        assert_eq!(text("run `a < b` now"), "run <code>a &lt; b</code> now");
        assert_eq!(text("a ` b"), "a ` b");
    }
}
