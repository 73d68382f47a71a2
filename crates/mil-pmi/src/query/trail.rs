//! The audit of a query loop: every question, its answer, and what it removed.

use std::collections::BTreeSet;

use mil_core::model_file::SavedModel;
use mil_core::{BagSet, Label, Params, Scaler};
use serde::{Deserialize, Serialize};

use super::{QueryBounds, QueryError};
use crate::pmi::Pmi;

/// A question that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryEntry {
    /// Position of the bag.
    pub bag_idx: usize,
    /// Name of the bag.
    pub bag: String,
    /// Position of the instance within its bag, as it was before any was removed.
    pub instance_idx: usize,
    /// How far inside it was, $l(x)$.
    pub score: f64,
    /// $\rho$ of that round.
    pub rho: f64,
    /// The answer.
    pub answer: Label,
    /// The instances removed upon it, by their positions among all of the set; none after a positive answer.
    pub removed: Vec<usize>,
}

/// Why a query loop stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueryStop {
    /// The instance asked for is positive (step 8).
    Positive,
    /// All instances of a bag are inside, hence a positive one among them (step 6); the first such bag.
    WholeBag {
        /// Position of the bag.
        bag_idx: usize,
    },
}

/// All that a session needs to go on: what it learns with and over which bags, every question so far, and why it stopped, if it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryTrail {
    params: Vec<(String, String)>,
    scaler: Scaler,
    sizes: Vec<usize>,
    fingerprint: u64,
    bounds: QueryBounds,
    pub(super) entries: Vec<QueryEntry>,
    pub(super) stop: Option<QueryStop>,
}

impl QueryTrail {
    pub(super) fn new(learner: &Pmi, scaler: Scaler, bags: &BagSet<()>) -> QueryTrail {
        let sizes: Vec<usize> = bags.bags().map(|bag| bag.n_instances()).collect();
        QueryTrail {
            params: learner.to_pairs(),
            scaler,
            bounds: QueryBounds::of(&sizes, learner.nu),
            sizes,
            fingerprint: fingerprint(bags),
            entries: Vec::new(),
            stop: None,
        }
    }

    /// The questions that were answered, in order.
    #[must_use]
    pub fn entries(&self) -> &[QueryEntry] {
        &self.entries
    }

    /// Why the loop stopped; `None` while it waits for an answer.
    #[must_use]
    pub fn stop(&self) -> Option<QueryStop> {
        self.stop
    }

    /// The most questions there can be.
    #[must_use]
    pub fn bounds(&self) -> QueryBounds {
        self.bounds
    }

    /// The parameters of PMI, the kernel with its width worked out.
    #[must_use]
    pub fn params(&self) -> &[(String, String)] {
        &self.params
    }

    pub(super) fn scaler(&self) -> &Scaler {
        &self.scaler
    }

    pub(super) fn require_bags(&self, bags: &BagSet<()>) -> Result<(), QueryError> {
        let named = |entry: &QueryEntry| bags.names().get(entry.bag_idx) == Some(&entry.bag);
        let same = bags.bags().map(|bag| bag.n_instances()).eq(self.sizes.iter().copied())
            && bags.n_features() == self.scaler.n_features()
            && fingerprint(bags) == self.fingerprint
            && self.entries.iter().all(named);
        if same { Ok(()) } else { Err(QueryError::OtherBags) }
    }

    /// The learner, its parameters checked.
    pub(super) fn learner(&self) -> Result<Pmi, &'static str> {
        let mut learner = Pmi::default();
        for (name, value) in &self.params {
            learner.set(name, value).map_err(|_| "a parameter is not one of PMI")?;
        }
        learner.check().map_err(|_| "a parameter of PMI is out of range")?;
        Ok(learner)
    }

    /// Which instances are left after all removals. The trail is sound.
    pub(super) fn is_left(&self) -> Vec<bool> {
        let mut is_left = vec![true; self.sizes.iter().sum()];
        self.entries.iter().flat_map(|entry| &entry.removed).for_each(|&column| is_left[column] = false);
        is_left
    }

    /// Whether each question follows from those before: about an instance that was left, which went upon a negative answer with others that were left, until a positive one.
    fn is_told_in_order(&self, n_instances: usize) -> bool {
        let mut gone = BTreeSet::new();
        self.entries.iter().enumerate().all(|(at, entry)| {
            let is_last = at + 1 == self.entries.len();
            let Some(&size) = self.sizes.get(entry.bag_idx) else { return false };
            let asked = self.sizes[..entry.bag_idx].iter().sum::<usize>() + entry.instance_idx;
            let could_be_asked = entry.instance_idx < size && !gone.contains(&asked);
            let is_followed_up = match entry.answer {
                Label::Negative => entry.removed.contains(&asked),
                Label::Positive => entry.removed.is_empty() && is_last && self.stop == Some(QueryStop::Positive),
            };
            could_be_asked
                && is_followed_up
                && entry.score.is_finite()
                && entry.rho.is_finite()
                && entry.removed.iter().all(|&column| column < n_instances && gone.insert(column))
        })
    }
}

/// The 64-bit FNV-1a hash of names and values, to tell other bags by.
fn fingerprint(bags: &BagSet<()>) -> u64 {
    let names = bags.names().iter().flat_map(|name| name.bytes().chain([0]));
    let values = bags.instances().iter().flat_map(|value| value.to_le_bytes());
    names
        .chain(values)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl SavedModel for QueryTrail {
    fn kind() -> String {
        "pmi-queries".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        let n_instances = self.sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size));
        let Some(n_instances) = n_instances else { return Err("the bags are larger than can be") };
        if !self.scaler.is_sound() {
            return Err("the scaler's offsets and divisors are not sound");
        }
        if self.bounds != QueryBounds::of(&self.sizes, self.learner()?.nu) {
            return Err("the bounds are not those of its bags");
        }
        if self.entries.len() > self.bounds.tight || !self.is_told_in_order(n_instances) {
            return Err("a question is not one that could have been asked");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QuerySession;
    use mil_core::{Scaled, Scaling};
    use mil_kernels::Kernel;

    /// Two instances of each bag are alike, the third is not: something to ask, and a negative answer that does not end it.
    fn bags() -> BagSet<()> {
        let mut builder = BagSet::builder();
        for idx in 0..8 {
            let x = f64::from(idx);
            builder.bag(format!("bag {idx}"), (), [[0.1 * x, 0.0], [9.0, 0.05 * x], [7.0 * x, 20.0]]).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn what_was_not_recorded_is_refused() {
        let bags = bags();
        let learner = Pmi { kernel: Kernel::Gaussian { gamma: 0.5 }.into(), nu: 0.3, ..Pmi::default() };
        let learner = Scaled { scaling: Scaling::None, learner };
        let mut session = QuerySession::begin(learner, &bags).unwrap();
        session.answer(Label::Negative).unwrap();
        let sound = session.trail().clone();
        assert!(sound.check().is_ok() && QuerySession::resume(sound.clone(), &bags).is_ok());
        let asked = sound.entries[0].clone();
        let forged = |forge: &dyn Fn(&mut QueryTrail)| {
            let mut trail = sound.clone();
            forge(&mut trail);
            QuerySession::resume(trail, &bags).is_err()
        };
        assert!(forged(&|trail| trail.bounds.tight += 100));
        assert!(forged(&|trail| trail.bounds.printed = None));
        assert!(forged(&|trail| trail.params[1].1 = "0.4".to_owned()), "{:?}", sound.params[1]);
        assert!(forged(&|trail| trail.params[1].1 = "0".to_owned()));
        assert!(forged(&|trail| trail.entries[0].bag = "another".to_owned()));
        assert!(forged(&|trail| trail.entries[0].instance_idx = 3));
        assert!(forged(&|trail| trail.entries[0].bag_idx = 8));
        assert!(forged(&|trail| trail.entries[0].removed.clear()));
        assert!(forged(&|trail| trail.entries[0].removed.push(usize::MAX)));
        let asked_column = 3 * asked.bag_idx + asked.instance_idx;
        assert!(forged(&|trail| trail.entries[0].removed.retain(|&column| column != asked_column)));
        assert!(forged(&|trail| trail.entries[0].removed.push(asked.removed[0])));
        assert!(forged(&|trail| trail.entries.push(asked.clone())));
        assert!(forged(&|trail| trail.entries[0].removed = (0..24).collect()));
        assert!(forged(&|trail| trail.entries[0].answer = Label::Positive));
        assert!(forged(&|trail| trail.stop = Some(QueryStop::Positive)));
        assert!(forged(&|trail| trail.sizes = vec![usize::MAX, 2]));
    }
}
