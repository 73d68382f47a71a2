//! What is said of the results, the same in Markdown, in HTML and on the terminal.

use mil_repro::figure::Table;

use crate::contest::{Entry, Pace, Report};
use crate::duel::{Duel, Ratio, range};
use crate::growth::{Fit, Growth, LEAST_BYTES, LEAST_FITTED, LEAST_SECONDS, MOST_FITTED, Side, SizePoint};

/// Said where no peer could run.
pub(crate) const NO_PEERS: &str = "There was no Python for the peers, so that ours ran alone; `cargo xtask bench` installs them where python3 is present.";

/// What the ratios are.
pub(super) const ABOUT_RATIOS: &str = "A ratio is our time over the peer's: at 0.5 ours takes half the time. Both take turns in one run, and in each turn the medians of their calls give one ratio; shown are the median of these and, in brackets, the smallest and the largest. Times are the median of all calls with the fastest and the slowest.";

/// What the growth curves are.
pub(super) fn about_growth() -> String {
    format!(
        "Each point is measured in a process of its own: the median time of its calls, and the most memory the process has had beyond what it had before there were data, which are counted themselves. Starting Python and what it imports are left out likewise. \
         An exponent p says that a quantity grows as n to the power p. It is fitted by least squares to the logarithms of the {MOST_FITTED} largest sizes among those that take at least {} ms, or {} MiB for memory; fewer than {LEAST_FITTED} have none.",
        1e3 * LEAST_SECONDS,
        LEAST_BYTES / f64::from(1 << 20),
    )
}

/// Where the figures come from.
pub(super) fn origin(report: &Report) -> String {
    let pace = match report.pace {
        Pace::Quick => " --quick",
        Pace::Standard => "",
        Pace::Long => " --long",
    };
    let provenance = &report.provenance;
    format!("Written by `cargo xtask bench{pace}`: {}, on {}.", provenance.code_text(), provenance.machine_text())
}

/// What a reader must know of the run, a sentence each.
pub(super) fn warnings(report: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.pace == Pace::Quick {
        warnings.push("A quick run: few calls and small sizes, to see that all works rather than how fast.".to_owned());
    }
    if !report.is_complete {
        let names: Vec<&str> = report.contests.iter().map(|entry| entry.name.as_str()).collect();
        warnings.push(format!("Not all benchmarks, but: {}.", names.join(", ")));
    }
    if !report.has_peers {
        warnings.push(NO_PEERS.to_owned());
    }
    match &report.failed()[..] {
        [] => {}
        failed => warnings.push(format!("Failed: {}.", failed.join(", "))),
    }
    warnings
}

/// All duels.
pub(super) fn duel_table(report: &Report) -> Option<Table> {
    let rows: Vec<Vec<String>> = report.contests.iter().flat_map(|entry| &entry.duels).map(duel_row).collect();
    let heads = ["what", "ours / peer", "ours", "peer"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| Table { title: "Ours and peers in turns".to_owned(), heads, rows })
}

fn duel_row(duel: &Duel) -> Vec<String> {
    let calls = |ours: bool| -> Vec<f64> {
        duel.turns.iter().flat_map(|turn| if ours { &turn.ours } else { &turn.peer }).copied().collect()
    };
    let peer = duel.peer.as_ref().zip(duel.peer_seconds);
    vec![
        duel.name.clone(),
        duel.ratio.map_or(String::new(), ratio),
        spread(duel.our_seconds, &calls(true)),
        peer.map_or("none".to_owned(), |(name, median)| format!("{name}: {}", spread(median, &calls(false)))),
    ]
}

/// All growths.
pub(super) fn growth_table(report: &Report) -> Option<Table> {
    let rows: Vec<Vec<String>> = report.contests.iter().flat_map(|entry| &entry.growths).map(growth_row).collect();
    let heads = ["what", "time", "memory", "sizes", "peer", "its time", "its memory"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| Table { title: "Exponents of growth".to_owned(), heads, rows })
}

fn growth_row(growth: &Growth) -> Vec<String> {
    let exponent = |fit: Option<Fit>| fit.map_or(String::new(), |fit| format!("{:.2}", unsigned(fit.exponent)));
    let points = &growth.ours.points;
    let ends = points.first().zip(points.last());
    let sizes = ends.map_or(String::new(), |(first, last)| format!("{} to {} {}", first.n, last.n, growth.unit));
    let peer = growth.peer.as_ref();
    vec![
        growth.title.clone(),
        exponent(growth.ours.time),
        exponent(growth.ours.memory),
        sizes,
        peer.map_or("none".to_owned(), |side| side.who.clone()),
        exponent(peer.and_then(|side| side.time)),
        exponent(peer.and_then(|side| side.memory)),
    ]
}

/// The points of a growth, whose title stands above.
pub(super) fn point_table(growth: &Growth) -> Table {
    let mut heads = vec![growth.unit.clone(), "ours".to_owned(), "memory".to_owned()];
    if let Some(peer) = &growth.peer {
        heads.extend([peer.who.clone(), "its memory".to_owned(), "ours / peer".to_owned()]);
    }
    let has_remarks = growth.ours.points.iter().any(|point| point.remark.is_some());
    heads.extend(has_remarks.then(|| "found by ours".to_owned()));
    let memory = |point: &SizePoint| point.bytes.map_or("unknown".to_owned(), bytes);
    let row = |point: &SizePoint| {
        let mut row = vec![point.n.to_string(), seconds(point.seconds), memory(point)];
        if let Some(peer) = &growth.peer {
            match peer.points.iter().find(|other| other.n == point.n) {
                Some(other) => {
                    let ratio = point.seconds / other.seconds;
                    row.extend([seconds(other.seconds), memory(other), with_decimals(ratio, decimals(ratio))]);
                }
                None => row.extend([const { String::new() }; 3]),
            }
        }
        row.extend(has_remarks.then(|| point.remark.clone().unwrap_or_default()));
        row
    };
    Table { title: String::new(), heads, rows: growth.ours.points.iter().map(row).collect() }
}

/// What the fits say, a sentence for each quantity of each side.
pub(super) fn growth_findings(growth: &Growth) -> Vec<String> {
    let of_side = |side: &Side| {
        let whose = if growth.peer.is_some() { format!("{}, ", side.who) } else { String::new() };
        [("time", side.time), ("memory", side.memory)].map(|(what, fit)| match fit {
            Some(fit) => format!(
                "{whose}{what}: exponent {:.2} over {} points, the worst off the line by a factor of {:.2}",
                unsigned(fit.exponent),
                fit.n_points,
                fit.worst_factor
            ),
            None => format!("{whose}{what}: too few points large enough for an exponent"),
        })
    };
    std::iter::once(&growth.ours).chain(&growth.peer).flat_map(of_side).collect()
}

/// What a contest measures, as a sentence.
pub(super) fn about(entry: &Entry) -> String {
    let mut letters = entry.about.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).chain(['.']).collect())
}

/// What was found besides times.
pub(super) fn remarks(entry: &Entry) -> Vec<String> {
    let of_duel =
        |duel: &Duel| (!duel.remarks.is_empty()).then(|| format!("{}: {}", duel.name, duel.remarks.join("; ")));
    entry.duels.iter().filter_map(of_duel).collect()
}

/// What is missing.
pub(super) fn asides(entry: &Entry) -> Vec<String> {
    let left_out = entry.left_out.iter().map(|what| format!("Left out: {what}"));
    let failure =
        entry.failure.iter().map(|why| format!("Failed: {}", why.split_whitespace().collect::<Vec<_>>().join(" ")));
    left_out.chain(failure).collect()
}

/// `0.13 [0.12, 0.15]`.
pub(super) fn ratio(ratio: Ratio) -> String {
    let text = |value: f64| with_decimals(value, decimals(ratio.median));
    format!("{} [{}, {}]", text(ratio.median), text(ratio.smallest), text(ratio.largest))
}

/// Enough for two digits that tell something.
fn decimals(value: f64) -> usize {
    match value {
        value if value >= 10.0 => 1,
        value if value >= 0.1 => 2,
        value if value >= 0.01 => 3,
        value if value >= 0.001 => 4,
        _ => 5,
    }
}

fn with_decimals(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// `218 [215, 222] ms`, or `218 ms` of a single one.
fn spread(median: f64, values: &[f64]) -> String {
    let (unit, name) = unit_of(median);
    if values.len() < 2 {
        return format!("{} {name}", digits(median / unit));
    }
    let (least, most) = range(values);
    format!("{} [{}, {}] {name}", digits(median / unit), digits(least / unit), digits(most / unit))
}

/// A time in three digits.
fn seconds(value: f64) -> String {
    let (unit, name) = unit_of(value);
    format!("{} {name}", digits(value / unit))
}

fn unit_of(seconds: f64) -> (f64, &'static str) {
    match seconds {
        seconds if seconds >= 0.9995 => (1.0, "s"),
        seconds if seconds >= 0.9995e-3 => (1e-3, "ms"),
        _ => (1e-6, "µs"),
    }
}

/// Memory in three digits.
fn bytes(value: f64) -> String {
    const KIB: f64 = 1024.0;
    let (unit, name) = match value {
        value if value >= KIB.powi(3) => (KIB.powi(3), "GiB"),
        value if value >= KIB.powi(2) => (KIB.powi(2), "MiB"),
        _ => (KIB, "KiB"),
    };
    format!("{} {name}", digits(value / unit))
}

fn digits(value: f64) -> String {
    let decimals = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// Without the sign of a zero that rounding leaves.
fn unsigned(exponent: f64) -> f64 {
    if exponent.abs() < 0.005 { 0.0 } else { exponent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_memory_have_three_digits_and_a_unit() {
        for (value, text) in
            [(64.25, "64.2 s"), (1.0, "1.00 s"), (0.2184, "218 ms"), (9.996e-3, "10.0 ms"), (3.9e-6, "3.90 µs")]
        {
            assert_eq!(seconds(value), text);
        }
        assert_eq!(
            [bytes(LEAST_BYTES), bytes(1.5 * LEAST_BYTES * 1024.0), bytes(0.0)],
            ["1.00 MiB", "1.50 GiB", "0.00 KiB"]
        );
        assert_eq!(spread(0.2, &[0.2, 0.19, 1.3]), "200 [190, 1300] ms");
        assert_eq!(spread(0.2, &[0.2]), "200 ms");
    }

    #[test]
    fn a_ratio_keeps_two_digits() {
        let text = |median: f64| ratio(Ratio { median, smallest: 0.5 * median, largest: 2.0 * median });
        assert_eq!(text(0.13), "0.13 [0.07, 0.26]");
        assert_eq!(text(0.0213), "0.021 [0.011, 0.043]");
        assert_eq!(text(0.0045), "0.0045 [0.0022, 0.0090]");
        assert_eq!(text(12.0), "12.0 [6.0, 24.0]");
    }
}
