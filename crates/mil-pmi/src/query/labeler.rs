//! Who answers: a closure, a record, or a person.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use mil_core::{BagSet, Label};

use super::{Query, QueryTrail};

/// Why a labeler failed; the message is its own.
pub type LabelerError = Box<dyn std::error::Error + Send + Sync>;

/// Answers questions about instances. Any closure from a [`Query`] to `Option<Label>` is one.
pub trait Labeler {
    /// The label of the instance; `None` if there is no answer for now, upon which the session waits.
    ///
    /// # Errors
    /// Whatever keeps the labeler from answering.
    fn label(&mut self, query: &Query<'_>) -> Result<Option<Label>, LabelerError>;
}

impl<F: FnMut(&Query<'_>) -> Option<Label>> Labeler for F {
    fn label(&mut self, query: &Query<'_>) -> Result<Option<Label>, LabelerError> {
        Ok(self(query))
    }
}

/// Answers that were given before, or are known; it has none about other instances.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recorded {
    /// By name of the bag and position of the instance in it.
    answers: BTreeMap<(String, usize), Label>,
}

impl Recorded {
    /// The answers of a trail.
    #[must_use]
    pub fn of_trail(trail: &QueryTrail) -> Recorded {
        let answer = |entry: &super::QueryEntry| ((entry.bag.clone(), entry.instance_idx), entry.answer);
        Recorded { answers: trail.entries().iter().map(answer).collect() }
    }

    /// The labels of all instances; `None` where the bags do not have them.
    #[must_use]
    pub fn of_labels(bags: &BagSet<Label>) -> Option<Recorded> {
        let labels = bags.instance_labels()?;
        let of_bag = |bag_idx: usize| {
            let labels = labels[bags.columns_of(bag_idx)].iter().enumerate();
            labels.map(move |(instance_idx, &label)| ((bags.names()[bag_idx].clone(), instance_idx), label))
        };
        Some(Recorded { answers: (0..bags.n_bags()).flat_map(of_bag).collect() })
    }
}

impl Labeler for Recorded {
    fn label(&mut self, query: &Query<'_>) -> Result<Option<Label>, LabelerError> {
        Ok(self.answers.get(&(query.bag.to_owned(), query.instance_idx)).copied())
    }
}

/// Asks a person by way of text: `y`, `n`, or `q` to stop for now. The end of the input is a `q` as well; whatever else is asked again.
///
/// ```
/// use mil_pmi::{Interactive, Labeler, Query};
/// use mil_core::Label;
/// let mut shown = Vec::new();
/// let query = Query { n_before: 0, bag_idx: 3, bag: "img 4", instance_idx: 1, instance: &[0.5, 2.0], score: 0.12, n_inside: 7 };
/// let answer = Interactive::new(&b"hm\ny\n"[..], &mut shown, None).label(&query)?;
/// assert_eq!(answer, Some(Label::Positive));
/// assert!(String::from_utf8(shown)?.starts_with("Question 1: bag \"img 4\", instance 1 (from 0): f1 = 0.5, f2 = 2\n"));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct Interactive<R, W> {
    input: R,
    output: W,
    feature_names: Option<Vec<String>>,
}

impl<R: BufRead, W: Write> Interactive<R, W> {
    /// Reads answers from one side and writes questions to the other; features go by these names, or `f1`, `f2` and so on.
    pub fn new(input: R, output: W, feature_names: Option<&[String]>) -> Interactive<R, W> {
        Interactive { input, output, feature_names: feature_names.map(<[String]>::to_vec) }
    }

    fn features(&self, instance: &[f64]) -> String {
        let name = |idx: usize| self.feature_names.as_ref().and_then(|names| names.get(idx).cloned());
        let named =
            |(idx, value): (usize, &f64)| format!("{} = {value}", name(idx).unwrap_or_else(|| format!("f{}", idx + 1)));
        let shown: Vec<String> = instance.iter().enumerate().take(MAX_SHOWN).map(named).collect();
        let rest = instance.len().saturating_sub(MAX_SHOWN);
        if rest == 0 { shown.join(", ") } else { format!("{}, and {rest} more", shown.join(", ")) }
    }
}

/// Features shown of an instance.
const MAX_SHOWN: usize = 12;

impl<R: BufRead, W: Write> Labeler for Interactive<R, W> {
    fn label(&mut self, query: &Query<'_>) -> Result<Option<Label>, LabelerError> {
        let features = self.features(query.instance);
        let Query { n_before, bag, instance_idx, n_inside, .. } = *query;
        writeln!(self.output, "Question {}: bag {bag:?}, instance {instance_idx} (from 0): {features}", n_before + 1)?;
        writeln!(self.output, "If it is negative, {n_inside} instances like it are removed.")?;
        loop {
            write!(self.output, "Is it positive? [y/n, q to stop for now] ")?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return Ok(Some(Label::Positive)),
                "n" | "no" => return Ok(Some(Label::Negative)),
                "q" | "quit" => return Ok(None),
                _ => writeln!(self.output, "Please answer y, n or q.")?,
            }
        }
    }
}
