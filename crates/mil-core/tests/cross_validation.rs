//! Cross-validation against the same thing done by hand, and the wrappers that work inside its training folds.

use std::collections::HashMap;
use std::sync::Mutex;

use mil_core::{
    Bag, BagModel, BagSet, Calibrated, ClassId, ClassNames, CrossValidation, FitError, Label, Learner, NearestCentroid,
    OutOfBag, OutOfBagScores, OutOfFold, Probabilistic, ScoreError, Stage, StratifiedKFold, metrics, platt,
};

const PLAN: CrossValidation = CrossValidation { n_folds: 3, n_repeats: 2, seed: 11 };

/// Twelve bags whose classes overlap a little.
fn overlapping() -> BagSet<Label> {
    let mut builder = BagSet::builder();
    for bag_idx in 0..12 {
        let x = f64::from(bag_idx * 7 % 12);
        let label = if x + f64::from(bag_idx % 5) > 7.0 { Label::Positive } else { Label::Negative };
        builder.bag(bag_idx.to_string(), label, [[x, 0.0], [x / 2.0, 1.0]]).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn the_report_is_what_a_loop_over_the_splits_gives() {
    let (bags, learner) = (overlapping(), NearestCentroid::default());
    let report = PLAN.run(&learner, &bags, &()).unwrap();
    let splits = StratifiedKFold { n_folds: 3, n_repeats: 2, seed: 11 }.split(bags.labels()).unwrap();
    assert_eq!(report.splits(), splits);
    let mut fold_accuracies = Vec::new();
    for split in &splits {
        let model = learner.fit(&bags.select(&split.train)).unwrap();
        let mut n_right = 0;
        for &bag_idx in &split.test {
            let score = model.score(bags.bag(bag_idx)).unwrap();
            assert_eq!(report.scores()[split.repeat_idx][bag_idx], score);
            n_right += usize::from((score >= 0.0) == (bags.labels()[bag_idx] == Label::Positive));
        }
        fold_accuracies.push(n_right as f64 / split.test.len() as f64);
    }
    assert_eq!(report.fold_accuracies(), fold_accuracies);
    // Folds are of equal size here, so the mean over folds is the mean over repeats.
    let mean = fold_accuracies.iter().sum::<f64>() / 6.0;
    assert!((report.accuracy().mean - mean).abs() < 1e-12);
    assert_eq!(report.accuracy().n, 2);
    assert!(mean < 1.0, "the classes overlap");
    let area = metrics::roc_auc(&report.scores()[0], bags.labels()).unwrap();
    let other = metrics::roc_auc(&report.scores()[1], bags.labels()).unwrap();
    assert!((report.roc_auc().unwrap().mean - (area + other) / 2.0).abs() < 1e-12);
    let confusion = report.confusion();
    assert_eq!((0..4).map(|i| confusion.count(i / 2, i % 2)).sum::<usize>(), 24);
}

#[test]
fn every_fold_tells_its_three_stages_in_order() {
    let seen = Mutex::new(Vec::new());
    PLAN.run(&NearestCentroid::default(), &overlapping(), &|event: mil_core::Event| seen.lock().unwrap().push(event))
        .unwrap();
    let seen = seen.into_inner().unwrap();
    for repeat_idx in 0..2 {
        for fold_idx in 0..3 {
            let stages: Vec<Stage> = seen
                .iter()
                .filter(|event| (event.repeat_idx, event.fold_idx) == (repeat_idx, fold_idx))
                .map(|event| event.stage)
                .collect();
            assert_eq!(stages, [Stage::Fitting, Stage::Scoring, Stage::Done]);
        }
    }
}

#[test]
fn a_failing_fold_is_named() {
    // The only positive bag is missing from the training part of the fold that tests it.
    let bags = overlapping();
    let negatives: Vec<usize> = (0..12).filter(|&i| bags.labels()[i] == Label::Negative).take(5).collect();
    let positive = bags.labels().iter().position(|&label| label == Label::Positive).unwrap();
    let few = bags.select(&[negatives, vec![positive]].concat());
    let error = PLAN.run(&NearestCentroid::default(), &few, &()).unwrap_err();
    assert!(
        matches!(&error, FitError::Fold { repeat_idx: 0, source, .. } if matches!(**source, FitError::SingleClass { .. })),
        "{error}"
    );
}

#[test]
fn a_learner_against_itself_shows_no_difference() {
    let bags = overlapping();
    let report = PLAN.run(&NearestCentroid::default(), &bags, &()).unwrap();
    assert_eq!(report.compare(&report).unwrap().p_value, 1.0);
    let other = CrossValidation { seed: 12, ..PLAN }.run(&NearestCentroid::default(), &bags, &()).unwrap();
    assert_eq!(report.compare(&other), None, "other splits are not comparable");
}

#[test]
fn many_classes_are_cross_validated_alike() {
    let mut builder = BagSet::builder_of_classes(ClassNames::new(["a", "b", "c"]));
    for bag_idx in 0..9u32 {
        let x = f64::from(bag_idx % 3) * 10.0;
        builder.bag(bag_idx.to_string(), ClassId(bag_idx % 3), [[x], [x + 1.0]]).unwrap();
    }
    let report = PLAN.run(&NearestCentroid::default(), &builder.build().unwrap(), &()).unwrap();
    assert_eq!((report.accuracy().mean, report.balanced_accuracy().mean), (1.0, 1.0));
    assert_eq!(report.confusion().count(2, 2), 6);
}

/// Scores a bag by its first feature, far from 0: a perfect ranking with a useless threshold.
struct Shifted;

struct ShiftedModel(Vec<f64>);

impl Learner for Shifted {
    type Model = ShiftedModel;

    fn fit(&self, bags: &BagSet<Label>) -> Result<ShiftedModel, FitError> {
        Ok(ShiftedModel(bags.bags().map(|bag| bag.instance(0)[0]).collect()))
    }
}

impl BagModel for ShiftedModel {
    fn n_features(&self) -> usize {
        1
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        Ok(bag.instance(0)[0])
    }
}

impl OutOfBagScores for ShiftedModel {
    fn out_of_bag_scores(&self) -> Result<Vec<f64>, FitError> {
        Ok(self.0.clone())
    }
}

#[test]
fn calibration_repairs_a_threshold_but_not_a_ranking() {
    let mut builder = BagSet::builder();
    for bag_idx in 0..12 {
        let label = if bag_idx < 6 { Label::Positive } else { Label::Negative };
        builder.bag(bag_idx.to_string(), label, [[f64::from(100 - bag_idx)]]).unwrap();
    }
    let bags = builder.build().unwrap();
    let raw = PLAN.run(&Shifted, &bags, &()).unwrap();
    assert_eq!((raw.accuracy().mean, raw.roc_auc().unwrap().mean), (0.5, 1.0));
    let model = Calibrated { learner: Shifted, source: OutOfFold { n_folds: 3, seed: 0 } }.fit(&bags).unwrap();
    assert_eq!(model.threshold(), 94.5);
    assert!(bags.bags().zip(bags.labels()).all(|(bag, label)| model.predict(bag).unwrap() == *label));
    let by_out_of_bag = Calibrated { learner: Shifted, source: OutOfBag }.fit(&bags).unwrap();
    assert_eq!(by_out_of_bag.threshold(), 94.5);
    let calibrated = PLAN.run(&Calibrated { learner: Shifted, source: OutOfBag }, &bags, &()).unwrap();
    assert!(calibrated.accuracy().mean > 0.8);
}

/// Knows the bags it was fitted on by name, and nothing else.
struct ByHeart;

struct ByHeartModel(HashMap<String, f64>);

impl Learner for ByHeart {
    type Model = ByHeartModel;

    fn fit(&self, bags: &BagSet<Label>) -> Result<ByHeartModel, FitError> {
        Ok(ByHeartModel(
            bags.bags().zip(bags.labels()).map(|(bag, label)| (bag.name().to_owned(), label.sign())).collect(),
        ))
    }
}

impl BagModel for ByHeartModel {
    fn n_features(&self) -> usize {
        2
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        Ok(self.0.get(bag.name()).copied().unwrap_or(0.0))
    }
}

#[test]
fn what_is_known_by_heart_makes_no_probability_sure() {
    let bags = overlapping();
    let model = Probabilistic { learner: ByHeart, source: OutOfFold { n_folds: 3, seed: 0 } }.fit(&bags).unwrap();
    assert_eq!(model.sigmoid().slope(), 0.0);
    for (bag, label) in bags.bags().zip(bags.labels()) {
        assert_eq!(model.score(bag).unwrap(), label.sign());
        assert_eq!(model.probability(bag).unwrap(), model.probability(bags.bag(0)).unwrap());
    }
}

#[test]
fn probabilities_come_from_the_scores_of_the_source() {
    let mut builder = BagSet::builder();
    for bag_idx in 0..12 {
        let label = if bag_idx % 4 == 0 || bag_idx > 7 { Label::Positive } else { Label::Negative };
        builder.bag(bag_idx.to_string(), label, [[f64::from(100 + bag_idx)]]).unwrap();
    }
    let bags = builder.build().unwrap();
    let scores: Vec<f64> = (100..112).map(f64::from).collect();
    let by_hand = platt(&scores, bags.labels());
    assert!(by_hand.slope() > 0.0);
    let out_of_bag = Probabilistic { learner: Shifted, source: OutOfBag }.fit(&bags).unwrap();
    let out_of_fold = Probabilistic { learner: Shifted, source: OutOfFold { n_folds: 3, seed: 0 } }.fit(&bags).unwrap();
    assert_eq!((out_of_bag.sigmoid(), out_of_fold.sigmoid()), (by_hand, by_hand));
    assert_eq!(out_of_bag.probability(bags.bag(5)).unwrap(), by_hand.probability(105.0));
    assert_eq!(out_of_bag.score(bags.bag(5)).unwrap(), 105.0);
}

/// Scores every bag alike, with what is no score.
struct Boundless;

struct BoundlessModel;

impl Learner for Boundless {
    type Model = BoundlessModel;

    fn fit(&self, _: &BagSet<Label>) -> Result<BoundlessModel, FitError> {
        Ok(BoundlessModel)
    }
}

impl BagModel for BoundlessModel {
    fn n_features(&self) -> usize {
        2
    }

    fn score(&self, _: Bag<'_>) -> Result<f64, ScoreError> {
        Ok(f64::INFINITY)
    }
}

#[test]
fn a_score_that_is_not_finite_is_refused_by_the_wrappers() {
    let bags = overlapping();
    let source = OutOfFold { n_folds: 3, seed: 0 };
    let calibrated = Calibrated { learner: Boundless, source }.fit(&bags).map(|_| ());
    let probabilistic = Probabilistic { learner: Boundless, source }.fit(&bags).map(|_| ());
    for outcome in [calibrated, probabilistic] {
        assert!(matches!(outcome, Err(FitError::Overflow { value: f64::INFINITY, .. })), "{outcome:?}");
    }
}

#[test]
fn repetitions_one_by_one_are_the_whole() {
    let (bags, learner) = (overlapping(), NearestCentroid::default());
    let plan = CrossValidation { n_folds: 4, n_repeats: 3, seed: 7 };
    let whole = plan.run(&learner, &bags, &()).unwrap();
    for repeat_idx in 0..3 {
        let one = plan.run_repeat(repeat_idx, &learner, &bags, &()).unwrap();
        assert_eq!(one.scores(), &whole.scores()[repeat_idx..=repeat_idx]);
        assert_eq!(one.splits(), &whole.splits()[4 * repeat_idx..4 * (repeat_idx + 1)]);
        assert_eq!(one.fold_accuracies(), whole.fold_accuracies()[4 * repeat_idx..4 * (repeat_idx + 1)]);
    }
    let refused = plan.run_repeat(3, &learner, &bags, &()).unwrap_err();
    assert_eq!(refused.to_string(), "there is no repetition 3, they count from 0 to below 3");
}
