//! Repeated stratified cross-validation: folds in parallel, results in index order.

use rayon::prelude::*;

use crate::bag::BagSet;
use crate::error::FitError;
use crate::label::{Label, Target};
use crate::learner::{BagModel, Learner};
use crate::metrics::{Confusion, accuracy, roc_auc};
use crate::split::{Split, StratifiedKFold};
use crate::stats::{Summary, TTest, corrected_t_test};

/// A plan: how many folds, how often, from which seed. Scaling and calibration belong to the learner ([`Scaled`](crate::Scaled),
/// [`Calibrated`](crate::Calibrated)), so that they happen inside the training folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrossValidation {
    /// Number of folds, from 2 to the number of bags.
    pub n_folds: usize,
    /// How often the whole is repeated with other folds. At least 1.
    pub n_repeats: usize,
    /// Fixes the folds.
    pub seed: u64,
}

/// What a cross-validation tells while it runs. The three stages of one fold come from one thread, in order; those of different folds mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Which repetition, from 0.
    pub repeat_idx: usize,
    /// Which fold of it, from 0.
    pub fold_idx: usize,
    /// How far that fold is.
    pub stage: Stage,
}

/// How far a fold is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The learner is about to be fitted.
    Fitting,
    /// The model is fitted and about to score the bags held out.
    Scoring,
    /// The fold is done.
    Done,
}

/// Who is told. A closure `Fn(Event)` will do, and `()` does not listen.
///
/// This crate reads no clock: whoever wants times takes them at the events.
pub trait Observer: Sync {
    /// Called at each stage of each fold, from any thread.
    fn on_event(&self, event: Event);
}

impl Observer for () {
    fn on_event(&self, _: Event) {}
}

impl<F: Fn(Event) + Sync> Observer for F {
    fn on_event(&self, event: Event) {
        self(event);
    }
}

impl CrossValidation {
    /// Fits on each training part, scores each part held out.
    ///
    /// # Errors
    /// If the bags cannot be split, or the first fold in index order whose fit or scores fail.
    pub fn run<Y, L>(&self, learner: &L, bags: &BagSet<Y>, observer: &dyn Observer) -> Result<CvReport<Y>, FitError>
    where
        Y: Target,
        L: Learner<Y>,
        L::Model: BagModel<Y>,
    {
        let splits = self.folds().split(bags.labels())?;
        run_splits(learner, bags, splits, observer)
    }

    /// One repetition alone, counted from 0: the same folds and figures as in the whole, so that it can be had piece by piece.
    ///
    /// # Errors
    /// As for the whole, and if there is no such repetition.
    pub fn run_repeat<Y, L>(
        &self,
        repeat_idx: usize,
        learner: &L,
        bags: &BagSet<Y>,
        observer: &dyn Observer,
    ) -> Result<CvReport<Y>, FitError>
    where
        Y: Target,
        L: Learner<Y>,
        L::Model: BagModel<Y>,
    {
        let splits = self.folds().split_repeat(bags.labels(), repeat_idx)?;
        run_splits(learner, bags, splits, observer)
    }

    fn folds(&self) -> StratifiedKFold {
        let CrossValidation { n_folds, n_repeats, seed } = *self;
        StratifiedKFold { n_folds, n_repeats, seed }
    }
}

/// Fits and scores on whole repetitions that follow one another.
fn run_splits<Y, L>(
    learner: &L,
    bags: &BagSet<Y>,
    splits: Vec<Split>,
    observer: &dyn Observer,
) -> Result<CvReport<Y>, FitError>
where
    Y: Target,
    L: Learner<Y>,
    L::Model: BagModel<Y>,
{
    let (first, n_repeats) = repeats(&splits);
    let held_out: Vec<Result<Vec<Held<Y>>, FitError>> =
        splits.par_iter().map(|split| run_split(learner, bags, split, observer)).collect();
    let mut by_repeat: Vec<Vec<Option<Held<Y>>>> = vec![vec![None; bags.n_bags()]; n_repeats];
    for (split, held) in splits.iter().zip(held_out) {
        let Split { repeat_idx, fold_idx, .. } = *split;
        let held = held.map_err(|source| FitError::Fold { repeat_idx, fold_idx, source: Box::new(source) })?;
        for (&bag_idx, held) in split.test.iter().zip(held) {
            by_repeat[repeat_idx - first][bag_idx] = Some(held);
        }
    }
    let (scores, predicted) = by_repeat
        .into_iter()
        .map(|repeat| repeat.into_iter().map(|held| held.expect("every bag is held out once")).unzip())
        .unzip();
    Ok(CvReport { splits, n_classes: bags.n_classes(), actual: bags.labels().to_vec(), scores, predicted })
}

/// The first repetition of these splits, and how many there are.
fn repeats(splits: &[Split]) -> (usize, usize) {
    match (splits.first(), splits.last()) {
        (Some(first), Some(last)) => (first.repeat_idx, last.repeat_idx + 1 - first.repeat_idx),
        _ => (0, 0),
    }
}

/// Score and label of a bag that was held out.
type Held<Y> = (<Y as Target>::Score, Y);

fn run_split<Y, L>(
    learner: &L,
    bags: &BagSet<Y>,
    split: &Split,
    observer: &dyn Observer,
) -> Result<Vec<Held<Y>>, FitError>
where
    Y: Target,
    L: Learner<Y>,
    L::Model: BagModel<Y>,
{
    let tell = |stage| observer.on_event(Event { repeat_idx: split.repeat_idx, fold_idx: split.fold_idx, stage });
    tell(Stage::Fitting);
    let model = learner.fit(&bags.select(&split.train))?;
    tell(Stage::Scoring);
    let mut held = Vec::with_capacity(split.test.len());
    for &bag_idx in &split.test {
        let bag = bags.bag(bag_idx);
        held.push((model.score(bag)?, model.predict(bag)?));
    }
    tell(Stage::Done);
    Ok(held)
}

/// Out-of-fold scores and labels of every bag, once per repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct CvReport<Y: Target> {
    splits: Vec<Split>,
    n_classes: usize,
    actual: Vec<Y>,
    scores: Vec<Vec<Y::Score>>,
    predicted: Vec<Vec<Y>>,
}

impl<Y: Target> CvReport<Y> {
    /// The splits, repeat after repeat and fold after fold.
    #[must_use]
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The labels the bags have.
    #[must_use]
    pub fn actual(&self) -> &[Y] {
        &self.actual
    }

    /// For each repeat the scores of all bags, in the order of the bags.
    #[must_use]
    pub fn scores(&self) -> &[Vec<Y::Score>] {
        &self.scores
    }

    /// For each repeat the predicted labels of all bags, in the order of the bags.
    #[must_use]
    pub fn predicted(&self) -> &[Vec<Y>] {
        &self.predicted
    }

    /// Accuracy over all bags, summarised over the repeats.
    #[must_use]
    pub fn accuracy(&self) -> Summary {
        let per_repeat: Vec<f64> = self.predicted.iter().map(|predicted| accuracy(predicted, &self.actual)).collect();
        Summary::of(&per_repeat)
    }

    /// Mean recall over the classes, summarised over the repeats.
    #[must_use]
    pub fn balanced_accuracy(&self) -> Summary {
        let per_repeat: Vec<f64> = self
            .predicted
            .iter()
            .map(|predicted| {
                let confusion = Confusion::of(predicted, &self.actual, self.n_classes);
                confusion.balanced_accuracy().expect("a bag set has a bag")
            })
            .collect();
        Summary::of(&per_repeat)
    }

    /// Confusion counts over all repeats together.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        let actual: Vec<Y> = self.predicted.iter().flat_map(|_| self.actual.iter().copied()).collect();
        Confusion::of(&self.predicted.concat(), &actual, self.n_classes)
    }

    /// Accuracy on each test fold, in the order of [`splits`](Self::splits).
    #[must_use]
    pub fn fold_accuracies(&self) -> Vec<f64> {
        let (first, _) = repeats(&self.splits);
        self.splits
            .iter()
            .map(|split| {
                let of_repeat = &self.predicted[split.repeat_idx - first];
                let predicted: Vec<Y> = split.test.iter().map(|&i| of_repeat[i]).collect();
                let actual: Vec<Y> = split.test.iter().map(|&i| self.actual[i]).collect();
                accuracy(&predicted, &actual)
            })
            .collect()
    }

    /// The corrected t-test on the fold accuracies of this report and another; `None` unless both used the same splits.
    #[must_use]
    pub fn compare(&self, other: &CvReport<Y>) -> Option<TTest> {
        if self.splits != other.splits {
            return None;
        }
        let differences: Vec<f64> =
            self.fold_accuracies().iter().zip(other.fold_accuracies()).map(|(a, b)| a - b).collect();
        let first = self.splits.first()?;
        corrected_t_test(&differences, first.train.len(), first.test.len())
    }
}

impl CvReport<Label> {
    /// Area under the ROC curve of the out-of-fold scores, summarised over the repeats; `None` for bags of one class.
    ///
    /// `Choice:` the scores of the folds of one repeat are pooled, so the area includes how well the models' scales agree.
    #[must_use]
    pub fn roc_auc(&self) -> Option<Summary> {
        let areas: Option<Vec<f64>> = self.scores.iter().map(|scores| roc_auc(scores, &self.actual)).collect();
        areas.map(|areas| Summary::of(&areas))
    }
}
