//! MIO on a stream: predict, then learn, bag after bag.

use std::collections::BinaryHeap;

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, Label, OnlineLearner, ParamError, ParamField, ScoreError, finite_score};
use mil_kernels::{Candidates, KernelError};
use serde::{Deserialize, Serialize};

use crate::game::{Dual, ElasticNet, Round, Rules};
use crate::model::refused;
use crate::{Budget, EmbeddingModel};

/// MIO in the middle of a stream (Algorithm 1). [`Mio::stream`](crate::Mio::stream) begins one.
///
/// Everything that the future depends on is here and is kept in a file to the bit: a stream that is stopped, saved, loaded and resumed goes on as if nothing had happened.
///
/// A round costs the similarities of the bag to all $N$ candidates, $O(N\,|B|\,d)$, and $O(N)$ for the rest. Memory grows with the candidates unless there is a budget.
///
/// # Budget
///
/// Deviation: the paper keeps every instance that ever arrived, which no endless stream can. With a budget of $B$, after each round candidates go until $B$ are left: first those of the smallest
/// $|v_k|/\sqrt{a_k}$, where $a_k$ is the number of rounds since candidate $k$ arrived; among equals the oldest, then the one in the lowest place. A weight is not 0 only if
/// $|v_k|>\alpha_0\sqrt t$, so that what counts is what a candidate gathers for the root of its age, and a newcomer has its chance.
///
/// The bound on the regret still holds against every comparator whose candidates have survived: what a candidate that goes takes from $f^*(v)$ only raises the dual objective, and $v_k$ of the
/// survivors is complete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MioStream {
    rules: Rules,
    budget: Option<usize>,
    candidates: Candidates,
    dual: Dual,
    /// The round in which each candidate arrived, counted from 1.
    arrivals: Vec<u64>,
    n_arrived: u64,
    #[serde(skip)]
    similarities: Vec<f64>,
}

impl MioStream {
    pub(crate) fn new(rules: Rules, budget: Budget, n_features: usize, sigma2: f64) -> Result<MioStream, KernelError> {
        Ok(MioStream {
            rules,
            budget: limit(budget),
            candidates: Candidates::new(n_features, sigma2)?,
            dual: Dual::new(),
            arrivals: Vec::new(),
            n_arrived: 0,
            similarities: Vec::new(),
        })
    }

    /// The same stream under another budget, from the next round on.
    ///
    /// # Errors
    /// If the budget is 0.
    pub fn with_budget(self, budget: Budget) -> Result<MioStream, ParamError> {
        budget.check()?;
        Ok(MioStream { budget: limit(budget), ..self })
    }

    /// Plays a round: predicts the bag, then learns its label. The instances of the bag become candidates.
    ///
    /// # Errors
    /// If the bag has another dimension than those before it, or the square of a number leaves `f64`. Nothing has changed then.
    pub fn round(&mut self, bag: Bag<'_>, label: Label) -> Result<Round, ScoreError> {
        bag.require_features(self.n_features())?;
        self.candidates.extend(&bag).map_err(|error| refused(bag, &error))?;
        self.dual.values.resize(self.n_candidates(), 0.0);
        self.arrivals.resize(self.n_candidates(), self.dual.n_rounds + 1);
        self.n_arrived += bag.n_instances() as u64;
        self.again(bag, label)
    }

    /// Plays a round with a bag that was presented before: nothing is appended.
    ///
    /// # Errors
    /// As for [`round`](Self::round).
    pub fn again(&mut self, bag: Bag<'_>, label: Label) -> Result<Round, ScoreError> {
        let mut similarities = std::mem::take(&mut self.similarities);
        self.embed(bag, &mut similarities)?;
        let round = self.dual.play(&self.rules, &similarities, label);
        self.similarities = similarities;
        self.evict();
        Ok(round)
    }

    /// Plays the bag again with its earlier step taken back: that step, over the candidates known then.
    pub(crate) fn replace(&mut self, bag: Bag<'_>, label: Label, earlier: (f64, usize)) -> Result<Round, ScoreError> {
        let mut similarities = std::mem::take(&mut self.similarities);
        self.embed(bag, &mut similarities)?;
        let round = self.dual.replay(&self.rules, &similarities, label, earlier);
        self.similarities = similarities;
        Ok(round)
    }

    fn embed(&self, bag: Bag<'_>, similarities: &mut Vec<f64>) -> Result<(), ScoreError> {
        bag.require_features(self.n_features())?;
        self.candidates.similarity().to_bag_into(&bag, similarities).map_err(|error| refused(bag, &error))
    }

    /// Lets candidates go until the budget is kept.
    fn evict(&mut self) {
        let Some(n_kept) = self.budget.filter(|budget| *budget < self.n_candidates()) else { return };
        let n_gone = self.n_candidates() - n_kept;
        let now = self.dual.n_rounds + 1;
        // Those to go, the worthiest of them on top. Squares are at least 0, and such numbers rank as their bits do.
        let mut least: BinaryHeap<(u64, u64, usize)> = BinaryHeap::with_capacity(n_gone + 1);
        for (place, (value, &arrival)) in self.dual.values.iter().zip(&self.arrivals).enumerate() {
            let worth = value * value / (now - arrival) as f64;
            let rank = (worth.to_bits(), arrival, place);
            if least.len() < n_gone {
                least.push(rank);
            } else if least.peek().is_some_and(|worst| rank < *worst) {
                least.pop();
                least.push(rank);
            }
        }
        let mut gone: Vec<usize> = least.into_iter().map(|(_, _, place)| place).collect();
        // From the last place down, so that no place in the list is taken by another meanwhile.
        gone.sort_unstable_by(|a, b| b.cmp(a));
        for place in gone {
            self.candidates.swap_remove(place);
            self.dual.values.swap_remove(place);
            self.arrivals.swap_remove(place);
        }
    }

    /// Rounds played.
    #[must_use]
    pub fn n_rounds(&self) -> u64 {
        self.dual.n_rounds
    }

    /// Candidates there are now.
    #[must_use]
    pub fn n_candidates(&self) -> usize {
        self.candidates.similarity().n_candidates()
    }

    /// Instances that ever arrived.
    #[must_use]
    pub fn n_arrived(&self) -> u64 {
        self.n_arrived
    }

    /// Candidates whose weight in the round to come is not 0.
    #[must_use]
    pub fn n_selected(&self) -> usize {
        self.dual.n_selected(&self.rules)
    }

    /// The vector $v=-\pi$, one for each candidate, in the order of arrival unless a budget has let some go.
    #[must_use]
    pub fn dual(&self) -> &[f64] {
        &self.dual.values
    }

    /// The weights of the candidates as after the last round, and the bias.
    #[must_use]
    pub fn weights(&self) -> (Vec<f64>, f64) {
        self.dual.weights(&self.rules, self.dual.last_net(&self.rules))
    }

    /// $\alpha$ and $\beta$ of the round to come.
    #[must_use]
    pub fn regularisers(&self) -> (f64, f64) {
        let ElasticNet { alpha, beta } = self.dual.net(&self.rules);
        (alpha, beta)
    }

    /// The dual objective, which no round lowers while the elastic net stays the same.
    #[must_use]
    pub fn dual_objective(&self) -> f64 {
        self.dual.objective(self.dual.last_net(&self.rules))
    }

    /// The model as after the last round: only candidates with a weight are kept. Where the elastic net grows, [`score`](BagModel::score) is already that of the round to come, and a little smaller.
    ///
    /// # Panics
    /// Never: candidates have been measured when they arrived.
    #[must_use]
    pub fn model(&self) -> EmbeddingModel {
        self.model_under(self.dual.last_net(&self.rules))
    }

    fn model_under(&self, net: ElasticNet) -> EmbeddingModel {
        let (weights, bias) = self.dual.weights(&self.rules, net);
        let weighted = weights.iter().enumerate().map(|(idx, &weight)| (self.candidates.get(idx), weight));
        let sigma2 = self.candidates.similarity().sigma2();
        EmbeddingModel::new(sigma2, self.n_features(), weighted, bias).expect("candidates suit the similarity")
    }
}

fn limit(budget: Budget) -> Option<usize> {
    match budget {
        Budget::Unlimited => None,
        Budget::Candidates(n) => Some(n),
    }
}

impl BagModel for MioStream {
    fn n_features(&self) -> usize {
        self.candidates.similarity().n_features()
    }

    /// What the round to come would predict.
    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        let mut similarities = Vec::new();
        self.embed(bag, &mut similarities)?;
        finite_score(bag, self.dual.score(&self.rules, &similarities))
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        self.model_under(self.dual.net(&self.rules)).instance_scores(bag)
    }
}

impl OnlineLearner for MioStream {
    fn update(&mut self, bag: Bag<'_>, label: Label) -> Result<(), ScoreError> {
        self.round(bag, label).map(drop)
    }
}

/// Counts up to here are exact as `f64`.
const MAX_ROUNDS: u64 = 1 << 53;
/// More than any such number of steps of any penalty adds up to.
const MAX_DUAL: f64 = 1e30;

impl SavedModel for MioStream {
    fn kind() -> String {
        "mio-stream".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        let n = self.n_candidates();
        if self.dual.values.len() != n || self.arrivals.len() != n {
            return Err("the numbers of candidates, duals and arrivals differ");
        }
        if self.arrivals.iter().any(|arrival| *arrival == 0 || *arrival > self.dual.n_rounds) {
            return Err("a candidate arrived in a round that was not played");
        }
        if self.budget == Some(0) {
            return Err("the budget is 0");
        }
        if self.dual.n_rounds > MAX_ROUNDS || self.n_arrived > MAX_ROUNDS {
            return Err("no stream has lasted so long");
        }
        let dual = self.dual.values.iter().chain([&self.dual.bias, &self.dual.total_step]);
        let sound = self.rules.are_sound() && dual.into_iter().all(|value| value.abs() <= MAX_DUAL);
        if sound { Ok(()) } else { Err("a number is out of its range") }
    }
}
