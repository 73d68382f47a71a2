//! The results for programs and people: JSON with every single time, Markdown, and one HTML page that needs nothing else.

mod html;
mod markdown;
mod words;

use std::path::Path;

use mil_core::atomic_file;

use crate::contest::{Entry, Report};

pub(crate) use markdown::page as markdown;
pub(crate) use words::NO_PEERS;

/// What [`write()`] leaves in the folder.
pub(crate) const FILES: [&str; 3] = ["benchmarks.json", "benchmarks.md", "benchmarks.html"];

/// Writes all three files, each whole or not at all.
pub(crate) fn write(folder: &Path, report: &Report) -> Result<(), String> {
    let mut json = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    json.push('\n');
    let texts = [json, markdown::page(report), html::page(report)];
    FILES.iter().zip(texts).try_for_each(|(file, text)| write_text(&folder.join(file), &text))
}

/// Writes a text file, whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), String> {
    atomic_file::write(path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// What came out of a contest, for a terminal.
pub(crate) fn lines(entry: &Entry) -> String {
    let mut lines = vec![format!("{} ({:.1} s)", entry.name, entry.seconds)];
    for duel in &entry.duels {
        let ratio = duel.ratio.map_or(String::new(), |ratio| format!("{}  ", words::ratio(ratio)));
        lines.push(format!("  {ratio}{}", duel.name));
    }
    for growth in &entry.growths {
        lines.push(format!("  {}", growth.title));
        lines.extend(words::growth_findings(growth).iter().map(|finding| format!("    {finding}")));
    }
    lines.extend(words::asides(entry).iter().map(|aside| format!("  {aside}")));
    lines.join("\n")
}

#[cfg(test)]
pub(crate) mod tests {
    use mil_repro::provenance::Provenance;

    use super::*;
    use crate::contest::Pace;
    use crate::duel::{Duel, Turn};
    use crate::growth::{Growth, LEAST_BYTES, Side, SizePoint};

    /// A ratio of a half, a growth with the squares of both, and a contest that failed.
    pub(crate) fn report() -> Report {
        let turn = |speed: f64| Turn { ours: vec![speed, speed], peer: vec![2.0 * speed] };
        let duel =
            Duel::of("work & <toil>".to_owned(), Some("Peer 1".to_owned()), vec![turn(0.1), turn(0.3), turn(0.2)]);
        let alone = Duel::of("work, two threads".to_owned(), None, vec![Turn { ours: vec![4e-6], peer: Vec::new() }]);
        let side = |who: &str, cost: f64| {
            let point = |n: usize| {
                let square = (n * n) as f64;
                SizePoint::of(
                    n,
                    vec![1e-3 * cost * square],
                    Some(LEAST_BYTES * (7.0 + square)),
                    Some(7.0 * LEAST_BYTES),
                )
            };
            Side::of(who.to_owned(), [1, 2, 4, 8].map(point).to_vec())
        };
        let growth = Growth {
            name: "square".to_owned(),
            title: "Squares".to_owned(),
            unit: "numbers".to_owned(),
            ours: side("ours", 1.0),
            peer: Some(side("Peer 1", 4.0)),
        };
        let entry = |name: &str| Entry { name: name.to_owned(), about: format!("about {name}"), ..Entry::default() };
        Report {
            schema: "mil-benches/2",
            provenance: Provenance {
                date: "2026-03-01".to_owned(),
                commit: Some("1a2b3c4".to_owned()),
                processor: None,
                memory_gib: None,
                ..Provenance::here_and_now()
            },
            pace: Pace::Standard,
            is_complete: true,
            has_peers: true,
            contests: vec![
                Entry {
                    duels: vec![duel.with_remark("found | so".to_owned()), alone],
                    notes: vec!["A note.".to_owned()],
                    left_out: vec!["Corel".to_owned()],
                    ..entry("toil")
                },
                Entry { growths: vec![growth], ..entry("grow") },
                Entry { failure: Some("no\nmemory".to_owned()), ..entry("fail") },
            ],
        }
    }

    #[test]
    fn json_has_every_time_by_turn_and_the_schema() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &report()).unwrap();
        let text = std::fs::read_to_string(folder.path().join(FILES[0])).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["schema"], "mil-benches/2");
        assert_eq!(json["provenance"]["commit"], "1a2b3c4");
        let duel = &json["contests"][0]["duels"][0];
        assert_eq!(duel["turns"][1]["ours"][1], 0.3);
        assert_eq!((&duel["ratio"]["median"], &duel["turns"][2]["peer"][0]), (&0.5.into(), &0.4.into()));
        let growth = &json["contests"][1]["growths"][0];
        assert_eq!((&growth["unit"], &growth["ours"]["points"][3]["n"]), (&"numbers".into(), &8.into()));
        assert!((growth["peer"]["time"]["exponent"].as_f64().unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(json["contests"][2]["failure"], "no\nmemory");
        assert!(FILES.iter().all(|file| folder.path().join(file).is_file()));
    }

    #[test]
    fn the_terminal_is_told_ratios_exponents_and_failures() {
        let said: String = report().contests.iter().map(lines).collect();
        for expected in ["0.50 [0.50, 0.50]  work & <toil>", "time: exponent 2.00", "Failed: no memory"] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }
}
