//! The contracts between data, learners and models.
//!
//! A learner is a plain value that holds parameters; [`Learner::fit`] turns a bag set into a model, and a model scores bags
//! ([`BagModel`]). In two classes the sign of a score decides: a bag is positive iff its score is at least 0. A model whose natural
//! output is a probability subtracts its threshold.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bag::{Bag, BagSet};
use crate::error::{FitError, ScoreError};
use crate::label::{BagLabel, Label, Target};

/// A method that fits a model to labelled bags.
pub trait Learner<Y: BagLabel = Label>: Sync {
    /// What [`fit`](Self::fit) returns; a [`BagModel`] for all learners of this workspace.
    type Model;

    /// Fits a model. The same learner and the same bags give the same model to the bit, whatever the number of threads.
    ///
    /// # Errors
    /// If a parameter is out of range or the bags do not suit the learner.
    fn fit(&self, bags: &BagSet<Y>) -> Result<Self::Model, FitError>;
}

/// A model that scores and labels bags.
pub trait BagModel<Y: Target = Label>: Send + Sync {
    /// Dimension of the instances the model was fitted on.
    fn n_features(&self) -> usize;

    /// Score of a bag. It does not depend on the order of the instances beyond rounding.
    ///
    /// # Errors
    /// If the bag has another dimension than the training bags, or the score is not finite.
    fn score(&self, bag: Bag<'_>) -> Result<Y::Score, ScoreError>;

    /// One score per instance, in the scale of [`score`](Self::score); `None` where the model knows whole bags only, as a set-kernel
    /// machine does.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<Y::Score>>, ScoreError> {
        bag.require_features(self.n_features())?;
        Ok(None)
    }

    /// Predicted label of a bag.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    fn predict(&self, bag: Bag<'_>) -> Result<Y, ScoreError> {
        self.score(bag).map(|score| Y::decide(&score))
    }

    /// The scores of all bags of a set, in order.
    ///
    /// # Errors
    /// As for [`score`](Self::score), at the first bag that fails.
    fn scores<Z: BagLabel>(&self, bags: &BagSet<Z>) -> Result<Vec<Y::Score>, ScoreError>
    where
        Self: Sized,
    {
        bags.bags().map(|bag| self.score(bag)).collect()
    }
}

/// The instance that speaks for its bag, $\arg\max_{x \in B} f(x)$, the first on ties; `None` where there are no instance scores.
///
/// # Errors
/// As for [`BagModel::score`].
pub fn witness_of<M: BagModel + ?Sized>(model: &M, bag: Bag<'_>) -> Result<Option<usize>, ScoreError> {
    Ok(model.instance_scores(bag)?.map(|scores| argmax(&scores)))
}

/// A model that learns bag by bag. Its whole state is serialisable, so that a stream can stop and go on elsewhere.
pub trait OnlineLearner<Y: Target = Label>: BagModel<Y> + Serialize + DeserializeOwned {
    /// Learns from one bag, after [`BagModel::predict`] had its say.
    ///
    /// # Errors
    /// If the bag has another dimension than those before it, or is of a class that the model does not have.
    fn update(&mut self, bag: Bag<'_>, label: Y) -> Result<(), ScoreError>;
}

/// Position of the largest value, the first on ties.
///
/// # Panics
/// If there is no value.
#[must_use]
pub fn argmax(values: &[f64]) -> usize {
    assert!(!values.is_empty(), "the largest of nothing");
    let mut best = 0;
    for (idx, value) in values.iter().enumerate() {
        if value.total_cmp(&values[best]).is_gt() {
            best = idx;
        }
    }
    best
}

/// The sum of values, added in ascending order: where large ones cancel, what is left does not depend on the order in which they came.
///
/// ```
/// assert_eq!(mil_core::ascending_sum(vec![1e20, 1.0, -1e20]), mil_core::ascending_sum(vec![-1e20, 1e20, 1.0]));
/// ```
#[must_use]
pub fn ascending_sum(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.iter().sum()
}

/// The score itself, if it is finite.
///
/// # Errors
/// [`ScoreError::Overflow`].
pub fn finite_score(bag: Bag<'_>, value: f64) -> Result<f64, ScoreError> {
    if value.is_finite() { Ok(value) } else { Err(ScoreError::Overflow { name: bag.name().to_owned(), value }) }
}
