//! Tuning: the best of several settings of a learner, by cross-validation inside the training bags.
//!
//! What fits on parts of the same bags have in common, such as kernel values, is computed once for all folds and for all settings that share it ([`Tunable`]). Settings that share values stand side by
//! side in the list; the values of one such group are in memory at a time. Cost: the values of each group, a fit for each setting and fold, and one of the best on all bags.
//!
//! [`Tuned`] is itself a learner, hence goes inside any training fold. It sees what the learner sees. Scaling therefore goes outside, `Scaled { scaling, learner: Tuned { .. } }`: the features of a bag that an
//! inner fold holds out have a say in the scale, its label has none, and the bags that an outer fold holds out have neither.
//!
//! ```
//! use mil_core::{BagModel, BagRule, BagSet, Label, Learner, NearestCentroid, Tuned};
//! let mut builder = BagSet::builder();
//! for i in 0..6 {
//!     let x = f64::from(i) / 10.0;
//!     builder.bag(format!("p{i}"), Label::Positive, [[4.0 + x], [4.0], [4.0 - x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[0.0 + x], [0.0], [5.0 - x]])?; // an outlier in each
//! }
//! let bags = builder.build()?;
//! let settings = [BagRule::Max, BagRule::Mean].map(|rule| NearestCentroid { rule }).to_vec();
//! let tuned = Tuned { settings, n_folds: 3, n_repeats: 1, seed: 0 };
//! let report = tuned.search(&bags)?;
//! assert_eq!(report.best, 1);
//! assert_eq!((report.figures[0].accuracy, report.figures[1].accuracy), (0.5, 1.0));
//! assert_eq!(tuned.fit(&bags)?.predict(bags.bag(1))?, Label::Negative);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rayon::prelude::*;

use crate::bag::BagSet;
use crate::calibrate::ScoreSource;
use crate::error::FitError;
use crate::label::{Label, Target};
use crate::learner::{BagModel, Learner};
use crate::metrics::{accuracy, roc_auc};
use crate::split::{Split, StratifiedKFold};

/// A learner that chooses among settings of another inside the training bags.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned<L> {
    /// The settings to try, at least one; those that [share values](Tunable::shares_values) side by side.
    pub settings: Vec<L>,
    /// Folds of the cross-validation, from 2 to the number of bags.
    pub n_folds: usize,
    /// How often it is repeated with other folds, at least 1. On few bags the choice depends on the folds as much as on the settings, and repetitions steady it.
    pub n_repeats: usize,
    /// Fixes the folds.
    pub seed: u64,
}

/// A learner of which several settings can be cross-validated over values that are computed once.
///
/// One that has nothing to share says so, and leaves [`held_out_scores`](Self::held_out_scores) as it is:
///
/// ```
/// # use mil_core::{BagSet, FitError, Label, Learner, NearestCentroid, NearestCentroidModel};
/// # use mil_core::Tunable;
/// # #[derive(Clone)]
/// # struct Mine;
/// # impl Learner for Mine {
/// #     type Model = NearestCentroidModel<Label>;
/// #     fn fit(&self, bags: &BagSet<Label>) -> Result<Self::Model, FitError> { NearestCentroid::default().fit(bags) }
/// # }
/// impl Tunable for Mine {
///     type Values<'a> = ();
///
///     fn shares_values(&self, _: &Self) -> bool {
///         true
///     }
///
///     fn values(&self, _: &BagSet<Label>) -> Result<(), FitError> {
///         Ok(())
///     }
/// }
/// ```
pub trait Tunable: Learner<Model: BagModel> + Clone {
    /// What fits on parts of one set of bags share, such as kernel values.
    type Values<'a>: Sync;

    /// Whether the other setting can read the values of this one.
    fn shares_values(&self, other: &Self) -> bool;

    /// The values over all bags. They must not depend on the labels, since some of the bags will be held out.
    ///
    /// # Errors
    /// If a parameter is out of range or a value cannot be computed.
    fn values<'a>(&self, bags: &'a BagSet<Label>) -> Result<Self::Values<'a>, FitError>;

    /// Fits on some of the bags and scores others, one score for each: what [`fit`](Learner::fit) on the training part and [`score`](BagModel::score) say. Unless a learner knows better, just these
    /// are called, and the values not read.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit), parameters out of range among them, and [`score`](BagModel::score).
    fn held_out_scores(
        &self,
        bags: &BagSet<Label>,
        _values: &Self::Values<'_>,
        train: &[usize],
        test: &[usize],
    ) -> Result<Vec<f64>, FitError> {
        let model = self.fit(&bags.select(train))?;
        test.iter().map(|&bag_idx| Ok(model.score(bags.bag(bag_idx))?)).collect()
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct TuningReport {
    /// How each setting does, in the order of the settings.
    pub figures: Vec<SettingFigures>,
    /// Position of the best: the highest accuracy, among these the highest area under the curve, among these the first.
    pub best: usize,
    /// The scores of the training bags under the best setting, each while it was held out; means over the repetitions.
    pub scores: Vec<f64>,
}

/// How one setting does. The higher accuracy is greater; where it is the same, the higher area under the curve.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct SettingFigures {
    /// Share of the training bags that were labelled right while held out, the mean over the repetitions.
    pub accuracy: f64,
    /// Area under the ROC curve of their scores, the folds pooled.
    pub auc: f64,
}

impl<L: Tunable> Tuned<L> {
    /// Cross-validates every setting.
    ///
    /// # Errors
    /// If there is no setting, the bags are of one class or cannot be split, or a fit fails: the first in the order of the settings and folds.
    pub fn search(&self, bags: &BagSet<Label>) -> Result<TuningReport, FitError> {
        bags.require_both_classes()?;
        if self.settings.is_empty() {
            return Err(FitError::NoSettings);
        }
        let Tuned { n_folds, n_repeats, seed, .. } = *self;
        let folds = StratifiedKFold { n_folds, n_repeats, seed }.split(bags.labels())?;
        let (mut figures, mut best, mut best_scores) = (Vec::<SettingFigures>::new(), 0, Vec::new());
        for group in groups(&self.settings) {
            let scores = scores_of_group(group, bags, &folds, n_folds)?;
            for repeats in scores.chunks(n_repeats) {
                let found = SettingFigures::of(repeats, bags.labels());
                if figures.get(best).is_none_or(|best| found > *best) {
                    (best, best_scores) = (figures.len(), means(repeats));
                }
                figures.push(found);
            }
        }
        Ok(TuningReport { figures, best, scores: best_scores })
    }
}

/// Runs of settings that can read the values of their first.
fn groups<L: Tunable>(settings: &[L]) -> impl Iterator<Item = &[L]> {
    let mut rest = settings;
    std::iter::from_fn(move || {
        let (first, others) = rest.split_first()?;
        let n_sharing = others.iter().take_while(|other| first.shares_values(other)).count();
        let (group, later) = rest.split_at(1 + n_sharing);
        rest = later;
        Some(group)
    })
}

/// For each setting of a group and each repetition the scores of all bags, each while it was held out.
fn scores_of_group<L: Tunable>(
    group: &[L],
    bags: &BagSet<Label>,
    folds: &[Split],
    n_folds: usize,
) -> Result<Vec<Vec<f64>>, FitError> {
    let values = group[0].values(bags)?;
    let jobs: Vec<(&L, &Split)> =
        group.iter().flat_map(|setting| folds.iter().map(move |fold| (setting, fold))).collect();
    let run = |(setting, fold): &(&L, &Split)| setting.held_out_scores(bags, &values, &fold.train, &fold.test);
    let outcomes: Vec<Result<Vec<f64>, FitError>> = jobs.par_iter().map(run).collect();
    let outcomes: Vec<Vec<f64>> = outcomes.into_iter().collect::<Result<_, _>>()?; // the first error, whatever the schedule
    let jobs_of_repeat = jobs.chunks(n_folds).zip(outcomes.chunks(n_folds));
    let in_order = |(jobs, held_out): (&[(&L, &Split)], &[Vec<f64>])| {
        let mut scores = vec![0.0; bags.n_bags()];
        for ((_, fold), held_out) in jobs.iter().zip(held_out) {
            assert_eq!(held_out.len(), fold.test.len(), "one score for each bag that is held out");
            fold.test.iter().zip(held_out).for_each(|(&bag_idx, score)| scores[bag_idx] = *score);
        }
        scores
    };
    Ok(jobs_of_repeat.map(in_order).collect())
}

impl SettingFigures {
    /// Means over repetitions.
    fn of(repeats: &[Vec<f64>], labels: &[Label]) -> SettingFigures {
        let share = 1.0 / repeats.len() as f64;
        let right = |scores: &Vec<f64>| accuracy(&scores.iter().map(Label::decide).collect::<Vec<_>>(), labels);
        // Choice: scores that are no numbers rank like those drawn at random.
        let ranked = |scores: &Vec<f64>| roc_auc(scores, labels).unwrap_or(0.5);
        SettingFigures {
            accuracy: repeats.iter().map(right).sum::<f64>() * share,
            auc: repeats.iter().map(ranked).sum::<f64>() * share,
        }
    }
}

/// The mean score of each bag over repetitions.
fn means(repeats: &[Vec<f64>]) -> Vec<f64> {
    let share = 1.0 / repeats.len() as f64;
    (0..repeats[0].len()).map(|bag_idx| repeats.iter().map(|scores| scores[bag_idx]).sum::<f64>() * share).collect()
}

impl<L: Tunable> Learner for Tuned<L> {
    type Model = L::Model;

    fn fit(&self, bags: &BagSet<Label>) -> Result<L::Model, FitError> {
        HeldOut.fit_and_score(self, bags).map(|(model, _)| model)
    }
}

/// Scores for [`Calibrated`](crate::Calibrated) and [`Probabilistic`](crate::Probabilistic) from the search itself: those of the best setting, each bag held out. Costs nothing further.
///
/// The setting was chosen by the same scores, so that they flatter a little; [`OutOfFold`](crate::OutOfFold) searches anew in every fold and does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldOut;

impl<L: Tunable> ScoreSource<Tuned<L>> for HeldOut {
    fn fit_and_score(&self, tuned: &Tuned<L>, bags: &BagSet<Label>) -> Result<(L::Model, Vec<f64>), FitError> {
        let report = tuned.search(bags)?;
        Ok((tuned.settings[report.best].fit(bags)?, report.scores))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::bag::Bag;
    use crate::calibrate::{Calibrated, best_threshold};
    use crate::cross_validation::CrossValidation;
    use crate::error::ScoreError;
    use crate::nearest_centroid::NearestCentroid;
    use crate::rule::BagRule;
    use Label::{Negative, Positive};

    const N_BAGS: usize = 8;

    /// Bag `i` holds the number `i` and is positive from 4 on.
    fn numbered() -> BagSet<Label> {
        let mut builder = BagSet::builder();
        for i in 0..N_BAGS {
            let label = if i < N_BAGS / 2 { Negative } else { Positive };
            builder.bag(i.to_string(), label, [[i as f64]]).unwrap();
        }
        builder.build().unwrap()
    }

    /// Learner and model that knows its scores of the numbered bags beforehand. Its values are the name of its family.
    #[derive(Debug, Clone)]
    struct Known {
        family: usize,
        scores: [f64; N_BAGS],
        n_values: Arc<AtomicUsize>,
    }

    fn known(family: usize, scores: [f64; N_BAGS]) -> Known {
        Known { family, scores, n_values: Arc::default() }
    }

    impl Learner for Known {
        type Model = Known;

        fn fit(&self, _: &BagSet<Label>) -> Result<Known, FitError> {
            Ok(self.clone())
        }
    }

    impl BagModel for Known {
        fn n_features(&self) -> usize {
            1
        }

        fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
            Ok(self.scores[bag.instance(0)[0] as usize])
        }
    }

    impl Tunable for Known {
        type Values<'a> = usize;

        fn shares_values(&self, other: &Known) -> bool {
            self.family == other.family
        }

        fn values(&self, _: &BagSet<Label>) -> Result<usize, FitError> {
            self.n_values.fetch_add(1, Ordering::Relaxed);
            Ok(self.family)
        }

        fn held_out_scores(
            &self,
            bags: &BagSet<Label>,
            values: &usize,
            train: &[usize],
            test: &[usize],
        ) -> Result<Vec<f64>, FitError> {
            assert_eq!(*values, self.family, "values of another family");
            assert!(train.iter().all(|bag_idx| !test.contains(bag_idx)));
            let scores: Result<_, ScoreError> = test.iter().map(|&bag_idx| self.score(bags.bag(bag_idx))).collect();
            Ok(scores?)
        }
    }

    fn tuned<L>(settings: impl IntoIterator<Item = L>) -> Tuned<L> {
        Tuned { settings: settings.into_iter().collect(), n_folds: 4, n_repeats: 1, seed: 1 }
    }

    const PERFECT: [f64; N_BAGS] = [-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0];
    /// Ranks as well, but takes a bag for negative.
    const SHIFTED: [f64; N_BAGS] = [-4.0, -3.0, -3.0, -2.0, -1.0, 1.0, 1.0, 1.0];
    /// Takes a bag for negative, and ranks it below one that is.
    const RANKS_WORSE: [f64; N_BAGS] = [-4.0, -3.0, -3.0, -1.0, -2.0, 1.0, 1.0, 1.0];

    #[test]
    fn accuracy_decides_then_the_area_then_the_first() {
        let best = |scores: &[[f64; N_BAGS]]| {
            let report = tuned(scores.iter().map(|scores| known(0, *scores))).search(&numbered()).unwrap();
            assert_eq!(report.figures.len(), scores.len());
            assert_eq!(report.scores, scores[report.best], "the scores are those of the best setting");
            report.best
        };
        assert_eq!(best(&[SHIFTED, PERFECT, RANKS_WORSE]), 1);
        assert_eq!(best(&[RANKS_WORSE, SHIFTED]), 1);
        assert_eq!(best(&[SHIFTED, RANKS_WORSE]), 0);
        assert_eq!(best(&[RANKS_WORSE, PERFECT, PERFECT]), 1);
        // Accuracy of 7/8 at an area of 15/16 loses to nothing of lower accuracy, whatever its area.
        let all_negative_in_order = [-9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0];
        assert_eq!(best(&[all_negative_in_order, RANKS_WORSE]), 1);
    }

    #[test]
    fn figures_are_those_of_the_definition() {
        let report = tuned([known(0, SHIFTED), known(0, RANKS_WORSE)]).search(&numbered()).unwrap();
        let expected = [(7.0 / 8.0, 1.0), (7.0 / 8.0, 15.0 / 16.0)];
        assert_eq!(report.figures, expected.map(|(accuracy, auc)| SettingFigures { accuracy, auc }));
    }

    #[test]
    fn values_are_computed_once_for_each_run_of_settings_that_share_them() {
        let n_values = Arc::new(AtomicUsize::new(0));
        let families = [3, 3, 3, 1, 2, 2, 3];
        let settings = families.map(|family| Known { n_values: n_values.clone(), ..known(family, PERFECT) });
        assert_eq!(tuned(settings).search(&numbered()).unwrap().figures.len(), families.len());
        assert_eq!(n_values.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_choice_among_nothing_is_refused() {
        let error = tuned(Vec::<Known>::new()).fit(&numbered()).unwrap_err();
        assert!(matches!(error, FitError::NoSettings), "{error}");
    }

    #[test]
    fn every_setting_is_checked() {
        let settings = [BagRule::Max, BagRule::Mean, BagRule::TopMean { k: 0 }].map(|rule| NearestCentroid { rule });
        let error = tuned(settings).fit(&numbered()).unwrap_err();
        assert!(matches!(error, FitError::Param(_)), "{error}");
    }

    #[test]
    fn the_best_setting_is_fitted_again() {
        let model = tuned([known(1, SHIFTED), known(2, PERFECT)]).fit(&numbered()).unwrap();
        assert_eq!(model.family, 2);
    }

    #[test]
    fn thresholds_use_the_scores_of_the_search() {
        let bags = numbered();
        let learner = tuned([known(0, RANKS_WORSE), known(0, SHIFTED)]);
        let model = Calibrated { learner, source: HeldOut }.fit(&bags).unwrap();
        assert_eq!(model.threshold(), best_threshold(&SHIFTED, bags.labels()));
        assert!(bags.bags().zip(bags.labels()).all(|(bag, label)| model.predict(bag).unwrap() == *label));
    }

    /// Bags in which the rules differ, and rules.
    fn pooled() -> (BagSet<Label>, Tuned<NearestCentroid>) {
        let mut builder = BagSet::builder();
        for i in 0..20 {
            let (label, shift) = if i % 2 == 0 { (Positive, 1.0) } else { (Negative, 0.0) };
            let x = f64::from(i * 7 % 20) / 10.0;
            builder.bag(i.to_string(), label, [[x + shift, 0.3 * x], [1.7 - x, shift], [shift * x, -x]]).unwrap();
        }
        let rules = [BagRule::Max, BagRule::Mean, BagRule::TopMean { k: 2 }, BagRule::SoftMax { sharpness: 0.7 }];
        (builder.build().unwrap(), tuned(rules.map(|rule| NearestCentroid { rule })))
    }

    #[test]
    fn the_figures_are_those_of_cross_validation() {
        let (bags, tuned) = pooled();
        for n_repeats in [1, 3] {
            let tuned = Tuned { n_repeats, ..tuned.clone() };
            let report = tuned.search(&bags).unwrap();
            let plan = CrossValidation { n_folds: tuned.n_folds, n_repeats, seed: tuned.seed };
            let is_close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
            for (setting, figures) in tuned.settings.iter().zip(&report.figures) {
                let expected = plan.run(setting, &bags, &()).unwrap();
                assert!(is_close(figures.accuracy, expected.accuracy().mean));
                assert!(is_close(figures.auc, expected.roc_auc().unwrap().mean));
            }
            let expected = plan.run(&tuned.settings[report.best], &bags, &()).unwrap();
            for (bag_idx, score) in report.scores.iter().enumerate() {
                let mean = expected.scores().iter().map(|scores| scores[bag_idx]).sum::<f64>() / n_repeats as f64;
                assert!(is_close(*score, mean));
            }
            assert!(
                report.figures.iter().any(|figures| *figures != report.figures[0]),
                "rules that are all equal tell nothing"
            );
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let (bags, tuned) = pooled();
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| (tuned.search(&bags).unwrap(), tuned.fit(&bags).unwrap()))
        };
        let alone = on(1);
        for n_threads in [2, 3, 7] {
            assert!(on(n_threads) == alone, "on {n_threads} threads");
        }
    }
}
