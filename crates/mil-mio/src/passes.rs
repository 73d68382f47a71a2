//! Passes over a set of bags: who is presented when, and where the similarities come from.

use std::convert::Infallible;

use mil_core::{BagSet, Label, Rng, ScoreError, stream};
use nalgebra::DMatrix;
use rand::seq::SliceRandom;

use crate::game::{Dual, Round, Rules};
use crate::{Mio, MioStream, Order, Revisit};

/// What one pass over the training bags came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassFigures {
    /// $\sum_tg_t(w_t)$ over its rounds.
    pub loss: f64,
    /// Rounds whose bag was on the wrong side.
    pub n_mistakes: usize,
    /// Rounds that moved the weights.
    pub n_steps: usize,
    /// Candidates with a weight at its end.
    pub n_selected: usize,
}

impl Mio {
    /// All passes.
    pub(crate) fn play<T: Table>(&self, table: &mut T, labels: &[Label]) -> Result<Vec<PassFigures>, T::Error> {
        // The step of each bag when it was last presented, and how many candidates were known then.
        let mut steps = vec![(0.0, 0); labels.len()];
        let mut passes = Vec::new();
        for pass in 0..self.n_passes {
            let mut figures = PassFigures { loss: 0.0, n_mistakes: 0, n_steps: 0, n_selected: 0 };
            for bag_idx in self.order_of(pass, labels.len()) {
                let label = labels[bag_idx];
                let visit = match (pass, self.revisit) {
                    (0, _) => Visit::First,
                    (_, Revisit::Round) => Visit::Again,
                    (_, Revisit::Replace) => Visit::Instead(steps[bag_idx]),
                };
                let round = table.round(bag_idx, label, visit)?;
                steps[bag_idx] = (round.step, table.n_candidates());
                figures.loss += round.loss;
                figures.n_mistakes += usize::from(round.is_mistake(label));
                figures.n_steps += usize::from(round.step > 0.0);
            }
            figures.n_selected = table.n_selected();
            passes.push(figures);
        }
        Ok(passes)
    }

    /// The order of a pass over bags that are in the order of the first.
    fn order_of(&self, pass: usize, n_bags: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n_bags).collect();
        if pass > 0 && self.order == Order::Shuffled {
            order.shuffle(&mut order_rng(self.seed, pass));
        }
        order
    }
}

/// What shuffles the bags for a pass.
pub(crate) fn order_rng(seed: u64, pass: usize) -> Rng {
    stream(seed, "presentation of bags", pass as u64)
}

/// How a bag is presented.
pub(crate) enum Visit {
    /// For the first time: its instances become candidates.
    First,
    /// As a new round.
    Again,
    /// In place of its earlier round: the step it took, over so many candidates.
    Instead((f64, usize)),
}

/// Where rounds are played.
pub(crate) trait Table {
    type Error;

    fn round(&mut self, bag_idx: usize, label: Label, visit: Visit) -> Result<Round, Self::Error>;

    fn n_candidates(&self) -> usize;

    fn n_selected(&self) -> usize;
}

/// All similarities are there.
pub(crate) struct OnMatrix<'a> {
    /// Candidates × bags.
    pub(crate) similarities: &'a DMatrix<f64>,
    /// Instances of each bag.
    pub(crate) sizes: &'a [usize],
    pub(crate) dual: Dual,
    pub(crate) rules: &'a Rules,
}

impl Table for OnMatrix<'_> {
    type Error = Infallible;

    fn round(&mut self, bag_idx: usize, label: Label, visit: Visit) -> Result<Round, Infallible> {
        if let Visit::First = visit {
            self.dual.values.resize(self.n_candidates() + self.sizes[bag_idx], 0.0);
        }
        let n_all = self.similarities.nrows();
        let known = &self.similarities.as_slice()[bag_idx * n_all..][..self.n_candidates()];
        Ok(match visit {
            Visit::First | Visit::Again => self.dual.play(self.rules, known, label),
            Visit::Instead(earlier) => self.dual.replay(self.rules, known, label, earlier),
        })
    }

    fn n_candidates(&self) -> usize {
        self.dual.values.len()
    }

    fn n_selected(&self) -> usize {
        self.dual.n_selected(self.rules)
    }
}

/// Similarities are computed bag by bag.
pub(crate) struct OnStream<'a> {
    pub(crate) bags: &'a BagSet<Label>,
    pub(crate) stream: MioStream,
}

impl Table for OnStream<'_> {
    type Error = ScoreError;

    fn round(&mut self, bag_idx: usize, label: Label, visit: Visit) -> Result<Round, ScoreError> {
        let bag = self.bags.bag(bag_idx);
        match visit {
            Visit::First => self.stream.round(bag, label),
            Visit::Again => self.stream.again(bag, label),
            Visit::Instead(earlier) => self.stream.replace(bag, label, earlier),
        }
    }

    fn n_candidates(&self) -> usize {
        self.stream.n_candidates()
    }

    fn n_selected(&self) -> usize {
        self.stream.n_selected()
    }
}
