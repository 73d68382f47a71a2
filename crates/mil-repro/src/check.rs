//! Whether figures have drifted since a snapshot was committed.
//!
//! A snapshot holds, beside the report of a full run, the accuracy of every repetition, and what short runs draw: on the data that were there, and without any. A later run of the same seed
//! must give the same; where another processor rounds otherwise, it may differ a little.

use std::collections::BTreeMap;
use std::path::Path;

use mil_core::stats::Summary;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::provenance::Provenance;
use crate::results::{CellState, DataState, FigureState, Protocol, Results};

/// Name and version of the layout of a snapshot.
const SCHEMA: &str = "mil-repro-snapshot/1";

/// Figures may differ by this part before they have drifted; a difference beyond rounding that is smaller has moved.
const TOLERANCE: f64 = 0.05;
/// Differences below this part are rounding and not worth telling.
const ROUNDING: f64 = 1e-9;

/// Numbers smaller than this are rounding.
const NEXT_TO_NOTHING: f64 = 1e-6;

/// What is committed to be compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    schema: String,
    /// When, where and from which code it was made.
    pub provenance: Provenance,
    seed: u64,
    n_folds: usize,
    /// Accuracies of the repetitions, by method and data set.
    cells: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    /// Figures of short runs, by name; several where data were there in one run and not in another.
    figures: BTreeMap<String, Vec<Drawn>>,
}

/// What a figure came to in a short run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Drawn {
    /// The data sets it was drawn from.
    data: Vec<String>,
    /// Panels, tables, findings and comparisons.
    figures: Value,
    /// Tells pictures from others.
    digest: String,
}

impl Snapshot {
    /// Of a full run, and of short runs of the same seed.
    #[must_use]
    pub fn of(full: &Results, short: &[Results], provenance: Provenance) -> Snapshot {
        let mut figures: BTreeMap<String, Vec<Drawn>> = BTreeMap::new();
        for results in short {
            for (id, drawn) in drawn(results) {
                let known = figures.entry(id).or_default();
                if !known.iter().any(|known| known.data == drawn.data) {
                    known.push(drawn);
                }
            }
        }
        let cells = cells(full);
        let (seed, n_folds) = (full.protocol.seed, full.protocol.n_folds);
        Snapshot { schema: SCHEMA.to_owned(), provenance, seed, n_folds, cells, figures }
    }

    /// Reads one.
    ///
    /// # Errors
    /// If the file cannot be read or is not a snapshot.
    pub fn read(path: &Path) -> Result<Snapshot, String> {
        let about = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let bytes = std::fs::read(path).map_err(|error| about(&error))?;
        let snapshot: Snapshot = serde_json::from_slice(&bytes).map_err(|error| about(&error))?;
        if snapshot.schema == SCHEMA {
            Ok(snapshot)
        } else {
            Err(about(&format!("its layout is {}, expected {SCHEMA}", snapshot.schema)))
        }
    }

    /// Sees whether a run compares with it.
    ///
    /// # Errors
    /// If the run has another seed or number of folds.
    pub fn suits(&self, protocol: &Protocol) -> Result<(), String> {
        if (protocol.seed, protocol.n_folds) == (self.seed, self.n_folds) {
            return Ok(());
        }
        Err(format!(
            "the snapshot is of seed {} and {} folds, the run of seed {} and {} folds; they do not compare",
            self.seed, self.n_folds, protocol.seed, protocol.n_folds
        ))
    }

    /// Compares a run with it.
    ///
    /// # Errors
    /// If the run has another seed or number of folds.
    pub fn compare(&self, results: &Results) -> Result<Drift, String> {
        self.suits(&results.protocol)?;
        let mut drift = Drift::default();
        for (method, of_method) in cells(results) {
            for (data, now) in of_method {
                let what = format!("{method} on {data}");
                match self.cells.get(&method).and_then(|known| known.get(&data)) {
                    None => drift.unknown.push(what),
                    Some(then) => drift.compare_cell(&what, then, &now),
                }
            }
        }
        if results.protocol.quick {
            for (id, now) in drawn(results) {
                match self.figures.get(&id).and_then(|known| known.iter().find(|then| then.data == now.data)) {
                    None => drift.unknown.push(format!("{id}, drawn from {}", now.data.join(", "))),
                    Some(then) => drift.compare_figure(&id, then, &now),
                }
            }
        }
        Ok(drift)
    }
}

/// Accuracies by method and data set.
fn cells(results: &Results) -> BTreeMap<String, BTreeMap<String, Vec<f64>>> {
    let mut cells: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for method in &results.methods {
        for cell in &method.cells {
            if let CellState::Measured { accuracies, .. } = &cell.state {
                cells.entry(method.id.clone()).or_default().insert(cell.data.clone(), accuracies.clone());
            }
        }
    }
    cells
}

/// What is kept of the figures that were drawn.
fn drawn(results: &Results) -> Vec<(String, Drawn)> {
    let is_present = |name: &&String| {
        let found = results.data.iter().find(|data| data.name == **name);
        found.is_some_and(|data| matches!(data.state, DataState::Present { .. }))
    };
    let kept = results.figures.iter().filter_map(|figure| {
        let FigureState::Drawn { drawn, .. } = &figure.state else { return None };
        let data = figure.data.iter().chain(&figure.optional).filter(is_present).cloned().collect();
        let value = |what: &dyn Fn() -> serde_json::Result<Value>| what().expect("plain data");
        let figures =
            value(&|| serde_json::to_value((&drawn.panels, &drawn.tables, &drawn.findings, &drawn.comparisons)));
        let shown = serde_json::to_vec(&drawn.pictures).expect("plain data");
        Some((figure.id.clone(), Drawn { data, figures, digest: crate::code::digest(&shown) }))
    });
    kept.collect()
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drift {
    /// Cells and figures that are the same.
    pub n_same: usize,
    /// What differs by little.
    pub moved: Vec<String>,
    /// What differs by much.
    pub drifted: Vec<String>,
    /// What the snapshot does not have.
    pub unknown: Vec<String>,
}

impl Drift {
    /// The repetitions that both have. Their mean has drifted once it is further off than half the interval of the snapshot.
    fn compare_cell(&mut self, what: &str, then: &[f64], now: &[f64]) {
        let n_common = then.len().min(now.len());
        if n_common == 0 {
            self.unknown.push(what.to_owned());
            return;
        }
        let (common, now) = (&then[..n_common], &now[..n_common]);
        if common == now {
            self.n_same += 1;
            return;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / n_common as f64;
        let (was, is) = (mean(common), mean(now));
        let text = format!("{what}: {:.1} % over {n_common} repetitions, was {:.1} %", 100.0 * is, 100.0 * was);
        let allowed = Summary::of(then).half_width.unwrap_or(0.0);
        if (is - was).abs() <= allowed { self.moved.push(text) } else { self.drifted.push(text) }
    }

    fn compare_figure(&mut self, id: &str, then: &Drawn, now: &Drawn) {
        match furthest(&then.figures, &now.figures) {
            Some(apart) if apart <= ROUNDING && then.digest == now.digest => self.n_same += 1,
            Some(apart) if apart <= ROUNDING => {
                self.moved.push(format!("{id}: its numbers are the same, its pictures are not"))
            }
            Some(apart) if apart <= TOLERANCE => {
                self.moved.push(format!("{id}: numbers differ by up to {:.1e} of their size", apart));
            }
            Some(apart) => {
                self.drifted.push(format!("{id}: numbers differ by up to {:.0} % of their size", 100.0 * apart))
            }
            None => self.drifted.push(format!("{id}: it has other tables or sentences")),
        }
    }

    /// A line for each thing that is worth telling.
    #[must_use]
    pub fn report(&self, snapshot: &Snapshot) -> String {
        let mut lines = vec![format!(
            "Against the snapshot of {}: {} the same, {} moved a little, {} drifted, {} not in it (figures are compared in quick runs)",
            snapshot.provenance.code_text(),
            self.n_same,
            self.moved.len(),
            self.drifted.len(),
            self.unknown.len()
        )];
        for (word, entries) in [("drifted", &self.drifted), ("moved", &self.moved), ("not in it", &self.unknown)] {
            lines.extend(entries.iter().map(|entry| format!("  {word}: {entry}")));
        }
        lines.join("\n")
    }
}

/// The largest relative difference of numbers in the same places, those inside sentences among them; `None` where anything else differs.
fn furthest(then: &Value, now: &Value) -> Option<f64> {
    match (then, now) {
        (Value::Number(a), Value::Number(b)) => Some(apart(a.as_f64()?, b.as_f64()?)),
        (Value::String(a), Value::String(b)) => {
            let ((a_words, a_numbers), (b_words, b_numbers)) = (parts(a), parts(b));
            if a_words != b_words || a_numbers.len() != b_numbers.len() {
                return None;
            }
            largest(a_numbers.iter().zip(&b_numbers).map(|(a, b)| Some(apart(*a, *b))))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            largest(a.iter().zip(b).map(|(a, b)| furthest(a, b)))
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            largest(a.values().zip(b.values()).map(|(a, b)| furthest(a, b)))
        }
        (a, b) => (a == b).then_some(0.0),
    }
}

/// The largest of all, if all are there.
fn largest(mut differences: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    differences.try_fold(0.0, |most: f64, difference| Some(most.max(difference?)))
}

/// How far two numbers are apart, as a part of the larger. What is next to 0 in both is rounding, as in `certificates hold to 3e-9`.
fn apart(a: f64, b: f64) -> f64 {
    let size = a.abs().max(b.abs());
    if a == b || size < NEXT_TO_NOTHING { 0.0 } else { (a - b).abs() / size }
}

/// The words of a text and the numbers between them.
fn parts(text: &str) -> (Vec<&str>, Vec<f64>) {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let (mut words, mut numbers) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..].find(|c| !is_of_number(c)).map_or(rest.len(), |length| start + length);
        // A full stop ends a sentence, not a number; an exponent belongs to it.
        let number = match exponent_end(rest, end) {
            Some(end) => &rest[start..end],
            None => rest[start..end].trim_end_matches('.'),
        };
        let end = end.max(start + number.len());
        let Ok(value) = number.parse() else {
            words.push(&rest[..end]);
            rest = &rest[end..];
            continue;
        };
        words.push(&rest[..start]);
        numbers.push(value);
        rest = &rest[start + number.len()..];
    }
    words.push(rest);
    (words, numbers)
}

/// Where the exponent ends that begins here, as in `3e-9`.
fn exponent_end(text: &str, start: usize) -> Option<usize> {
    let digits = text[start..].strip_prefix("e-").or_else(|| text[start..].strip_prefix('e'))?;
    let n_digits = digits.chars().take_while(char::is_ascii_digit).count();
    (n_digits > 0).then(|| text.len() - digits.len() + n_digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_in_sentences_are_compared_and_words_must_agree() {
        let text = |text: &str| Value::String(text.to_owned());
        assert_eq!(furthest(&text("slope -0.50 (3)."), &text("slope -0.50 (3).")), Some(0.0));
        assert_eq!(furthest(&text("80.0 % of 10."), &text("79.0 % of 10.")), Some(1.0 / 80.0));
        assert_eq!(furthest(&text("80.0 %, ahead"), &text("80.0 %, not ahead")), None);
        assert_eq!(parts("to 3e-9, 4e"), (vec!["to ", ", ", "e"], vec![3e-9, 4.0]));
        assert_eq!(furthest(&text("holds to 3e-9"), &text("holds to 1e-9")), Some(0.0), "rounding");
        assert_eq!(parts("version 1.2.3 of 4"), (vec!["version 1.2.3", " of ", ""], vec![4.0]));
    }

    #[test]
    fn numbers_anywhere_are_found() {
        let then = json!({"a": [1.0, 2.0], "b": "same"});
        assert_eq!(furthest(&then, &then), Some(0.0));
        assert_eq!(furthest(&then, &json!({"a": [1.0, 4.0], "b": "same"})), Some(0.5));
        for other in
            [json!({"a": [1.0], "b": "same"}), json!({"a": [1.0, 2.0]}), json!({"a": [1.0, null], "b": "same"})]
        {
            assert_eq!(furthest(&then, &other), None, "{other}");
        }
    }

    #[test]
    fn a_cell_moves_within_its_interval_and_drifts_beyond() {
        let then = [0.80, 0.82, 0.84, 0.82, 0.82];
        let mut drift = Drift::default();
        drift.compare_cell("same", &then, &then[..3]);
        drift.compare_cell("moved", &then, &[0.80, 0.82, 0.85]);
        drift.compare_cell("drifted", &then, &[0.80, 0.82, 0.94]);
        drift.compare_cell("alone", &[0.8], &[0.79]);
        assert_eq!(drift.n_same, 1);
        assert_eq!(drift.moved, ["moved: 82.3 % over 3 repetitions, was 82.0 %"]);
        assert_eq!((drift.drifted.len(), drift.unknown.len()), (2, 0), "a single run has no interval");
    }

    #[test]
    fn a_figure_moves_by_little_and_drifts_by_much() {
        let drawn =
            |value: f64, digest: &str| Drawn { data: Vec::new(), figures: json!([value]), digest: digest.to_owned() };
        let mut drift = Drift::default();
        for (value, digest) in [(1.0, "a"), (1.0, "b"), (1.01, "b"), (1.2, "b")] {
            drift.compare_figure("toy", &drawn(1.0, "a"), &drawn(value, digest));
        }
        assert_eq!((drift.n_same, drift.moved.len(), drift.drifted.len()), (1, 2, 1));
        assert_eq!(drift.drifted, ["toy: numbers differ by up to 17 % of their size"]);
    }
}
