//! The contracts between data, learners and models.
//!
//! A learner is a plain value that holds parameters; [`Learner::fit`] turns a bag set into a model. A model always scores whole
//! bags ([`BagModel`]); what not every model can give is a trait of its own ([`InstanceModel`]), so that a set-kernel machine,
//! which has no instance scores, does not have to invent any.
//!
//! In two classes the sign of a score decides: a bag is positive iff its score is at least 0. A model whose natural output is a
//! probability subtracts its threshold.

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

    /// Predicted label of a bag.
    ///
    /// # Errors
    /// As for [`score`](Self::score).
    fn predict(&self, bag: Bag<'_>) -> Result<Y, ScoreError> {
        self.score(bag).map(|score| Y::decide(&score))
    }

    /// This model's view of single instances, if it has one.
    fn as_instance_model(&self) -> Option<&dyn InstanceModel<Y>> {
        None
    }
}

/// A model that scores single instances too.
pub trait InstanceModel<Y: Target = Label>: BagModel<Y> {
    /// One score per instance, in the scale of [`BagModel::score`].
    ///
    /// # Errors
    /// As for [`BagModel::score`].
    fn instance_scores(&self, bag: Bag<'_>) -> Result<Vec<Y::Score>, ScoreError>;
}

/// The instance that speaks for its bag, $\arg\max_{x \in B} f(x)$, the first on ties.
///
/// # Errors
/// As for [`BagModel::score`].
pub fn witness_of<M: InstanceModel<Label> + ?Sized>(model: &M, bag: Bag<'_>) -> Result<usize, ScoreError> {
    model.instance_scores(bag).map(|scores| argmax(&scores))
}

/// A model that learns bag by bag. Its whole state is serialisable, so that a stream can stop and go on elsewhere.
pub trait OnlineLearner<Y: Target = Label>: BagModel<Y> + Serialize + DeserializeOwned {
    /// Learns from one bag, after [`BagModel::predict`] had its say.
    ///
    /// # Errors
    /// If the bag has another dimension than those before it.
    fn update(&mut self, bag: Bag<'_>, label: Y) -> Result<(), ScoreError>;
}

/// Position of the largest value, the first on ties.
///
/// # Panics
/// If there is no value.
pub(crate) fn argmax(values: &[f64]) -> usize {
    assert!(!values.is_empty(), "the largest of nothing");
    let mut best = 0;
    for (idx, value) in values.iter().enumerate() {
        if value.total_cmp(&values[best]).is_gt() {
            best = idx;
        }
    }
    best
}
