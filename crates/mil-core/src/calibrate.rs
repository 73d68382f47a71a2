//! Calibrated decision thresholds.
//!
//! A rule such as the maximum shifts all bag scores upwards, the more so the larger the bags; the ranking may be good while the threshold 0
//! is not. [`Calibrated`] learns the threshold from scores of training bags that their model has not been fitted on, and subtracts it, so that the
//! sign decides again. The test bags play no part.

use serde::{Deserialize, Serialize};

use crate::bag::{Bag, BagSet};
use crate::cross_validation::CrossValidation;
use crate::error::{FitError, ScoreError};
use crate::label::Label;
use crate::learner::{BagModel, Learner};
use crate::model_file::SavedModel;

/// A learner whose threshold is set inside the training bags.
///
/// ```
/// use mil_core::{Calibrated, NearestCentroid, OutOfFold};
/// let learner = Calibrated { learner: NearestCentroid::default(), source: OutOfFold { n_folds: 5, seed: 0 } };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated<L, S = OutOfFold> {
    /// Who learns.
    pub learner: L,
    /// Where unbiased scores of the training bags come from.
    pub source: S,
}

/// A source of one score per training bag, from models that have not seen that bag.
pub trait ScoreSource<L: Learner>: Sync {
    /// Fits the final model and scores the training bags.
    ///
    /// # Errors
    /// If a fit fails.
    fn fit_and_score(&self, learner: &L, bags: &BagSet<Label>) -> Result<(L::Model, Vec<f64>), FitError>;
}

/// Scores from a stratified cross-validation inside the training bags. Costs `n_folds` further fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfFold {
    /// Number of folds, at least 2.
    pub n_folds: usize,
    /// Fixes the folds.
    pub seed: u64,
}

/// Scores from the trees that did not draw the bag. Costs nothing further. Where trees learn from labels that other trees have guessed, something of the bag may reach them through the labels of others; the model's documentation says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutOfBag;

/// A model that scored its own training bags without peeking, as bootstrap ensembles do.
pub trait OutOfBagScores: BagModel {
    /// One score per training bag, in the scale of [`BagModel::score`].
    ///
    /// # Errors
    /// If the ensemble was not grown so that it has them.
    fn out_of_bag_scores(&self) -> Result<Vec<f64>, FitError>;
}

impl<L> ScoreSource<L> for OutOfFold
where
    L: Learner,
    L::Model: BagModel,
{
    fn fit_and_score(&self, learner: &L, bags: &BagSet<Label>) -> Result<(L::Model, Vec<f64>), FitError> {
        let plan = CrossValidation { n_folds: self.n_folds, n_repeats: 1, seed: self.seed };
        let report = plan.run(learner, bags, &())?;
        let scores = report.scores().first().expect("one repeat").clone();
        Ok((learner.fit(bags)?, scores))
    }
}

impl<L> ScoreSource<L> for OutOfBag
where
    L: Learner,
    L::Model: OutOfBagScores,
{
    fn fit_and_score(&self, learner: &L, bags: &BagSet<Label>) -> Result<(L::Model, Vec<f64>), FitError> {
        let model = learner.fit(bags)?;
        let scores = model.out_of_bag_scores()?;
        Ok((model, scores))
    }
}

impl<L, S> Learner for Calibrated<L, S>
where
    L: Learner,
    S: ScoreSource<L>,
{
    type Model = CalibratedModel<L::Model>;

    fn fit(&self, bags: &BagSet<Label>) -> Result<Self::Model, FitError> {
        bags.require_both_classes()?;
        let (model, scores) = self.source.fit_and_score(&self.learner, bags)?;
        if let Some(&value) = scores.iter().find(|score| !score.is_finite()) {
            return Err(FitError::Overflow { quantity: "the score of a training bag", value });
        }
        Ok(CalibratedModel { threshold: best_threshold(&scores, bags.labels()), model })
    }
}

/// The threshold $t$ at which most scores fall on the right side, positive iff $s \ge t$.
///
/// Candidates lie midway between neighbouring distinct scores, below all, and above all. Among equally good ones the widest gap wins, then the
/// lowest.
///
/// # Panics
/// If there is no score, the scores are not one per label, or one is not finite.
#[must_use]
pub fn best_threshold(scores: &[f64], labels: &[Label]) -> f64 {
    assert_eq!(scores.len(), labels.len(), "one score per label");
    assert!(!scores.is_empty(), "a threshold between no scores");
    assert!(scores.iter().all(|score| score.is_finite()), "a threshold between scores that are not finite");
    let mut sorted: Vec<(f64, Label)> = scores.iter().copied().zip(labels.iter().copied()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));

    // Below all scores: everything is positive.
    let n_positive = labels.iter().filter(|label| **label == Label::Positive).count();
    let mut n_right = n_positive;
    let mut best = (n_right, 0.0, sorted[0].0);
    for (position, &(score, label)) in sorted.iter().enumerate() {
        match label {
            Label::Negative => n_right += 1,
            Label::Positive => n_right -= 1,
        }
        let (gap, threshold) = match sorted.get(position + 1) {
            Some(&(next, _)) if next > score => (next - score, midpoint(score, next)),
            Some(_) => continue,
            None => (0.0, score.next_up()),
        };
        if n_right > best.0 || (n_right == best.0 && gap > best.1) {
            best = (n_right, gap, threshold);
        }
    }
    best.2
}

/// A number above `low` and at most `high`.
fn midpoint(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    if middle > low { middle } else { high }
}

/// A model with its own threshold, subtracted from every score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibratedModel<M> {
    threshold: f64,
    model: M,
}

impl<M> CalibratedModel<M> {
    /// What is subtracted, in the scale of the inner model's scores.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The model before calibration.
    #[must_use]
    pub fn inner(&self) -> &M {
        &self.model
    }
}

impl<M: BagModel> BagModel for CalibratedModel<M> {
    fn n_features(&self) -> usize {
        self.model.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        self.model.score(bag).map(|score| score - self.threshold)
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        let scores = self.model.instance_scores(bag)?;
        Ok(scores.map(|scores| scores.into_iter().map(|score| score - self.threshold).collect()))
    }
}

impl<M: SavedModel> SavedModel for CalibratedModel<M> {
    fn kind() -> String {
        format!("calibrated {}", M::kind())
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.threshold.is_finite() { self.model.check() } else { Err("the threshold is not finite") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Label::{Negative, Positive};
    use proptest::prelude::*;

    fn n_right(threshold: f64, scores: &[f64], labels: &[Label]) -> usize {
        scores.iter().zip(labels).filter(|(score, label)| (**score >= threshold) == (**label == Positive)).count()
    }

    #[test]
    fn separable_scores_are_cut_in_the_middle() {
        assert_eq!(best_threshold(&[3.0, 1.0, 5.0, 0.0], &[Positive, Negative, Positive, Negative]), 2.0);
    }

    #[test]
    fn one_class_is_kept_whole() {
        assert_eq!(best_threshold(&[1.0, 2.0], &[Positive, Positive]), 1.0);
        assert!(best_threshold(&[1.0, 2.0], &[Negative, Negative]) > 2.0);
    }

    #[test]
    fn neighbouring_floats_are_still_told_apart() {
        let (low, high) = (1.0, 1.0f64.next_up());
        let threshold = best_threshold(&[low, high], &[Negative, Positive]);
        assert!(low < threshold && threshold <= high);
    }

    proptest! {
        #[test]
        fn no_other_threshold_does_better(
            pairs in prop::collection::vec((-4i8..4, any::<bool>()), 1..30),
        ) {
            let scores: Vec<f64> = pairs.iter().map(|(score, _)| f64::from(*score)).collect();
            let labels: Vec<Label> = pairs.iter().map(|(_, positive)| if *positive { Positive } else { Negative }).collect();
            let found = n_right(best_threshold(&scores, &labels), &scores, &labels);
            for half in -10..10 {
                prop_assert!(n_right(f64::from(half) / 2.0, &scores, &labels) <= found);
            }
        }
    }
}
