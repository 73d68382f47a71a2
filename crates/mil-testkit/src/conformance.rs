//! The facts that hold for every learner.
//!
//! One call in the crate's `tests/conformance.rs` per learner, [`check`] in two classes, [`check_positives_only`] for those that learn from one of them, and [`check_classes`] in many:
//!
//! ```
//! use mil_core::NearestCentroid;
//! mil_testkit::conformance::check(&NearestCentroid::default());
//! mil_testkit::conformance::check_classes(&NearestCentroid::default());
//! ```
//!
//! Empty bags, NaN and ragged instances cannot reach a learner: `BagSet` refuses them, and is tested for it.

use mil_core::model_file::{SavedModel, decode, encode};
use mil_core::{
    Bag, BagModel, BagSet, ClassId, ClassNames, CrossValidation, FitError, Label, Learner, ScoreError, Target,
    witness_of,
};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::strategies::{bag_sets, class_sets};

/// Relative difference that rounding may make when the instances of a bag change places.
const ROUNDING: f64 = 1e-9;
/// Magnitude of features from which a learner may refuse the numbers.
const HUGE: f64 = 1e50;

/// A check of one learner on one bag set, with what is wrong.
type Fact<L, Y> = fn(&L, &BagSet<Y>) -> Result<(), String>;

/// A model and the scores of its training bags; `None` where huge numbers excuse a refusal.
type Fitted<M, S> = Option<(M, Vec<S>)>;

/// Checks every fact of two classes, on random bag sets of all flavours.
///
/// # Panics
/// If one does not hold; the message says which and shows the smallest bag set found.
pub fn check<L>(learner: &L)
where
    L: Learner,
    L::Model: BagModel + SavedModel,
{
    check_with(learner, 1);
}

/// The same for a learner that needs several bags of each class, as one that splits its training bags does.
///
/// # Panics
/// As [`check`].
pub fn check_with<L>(learner: &L, min_per_class: usize)
where
    L: Learner,
    L::Model: BagModel + SavedModel,
{
    check_facts(learner, min_per_class);
    single_class_is_refused(learner);
}

/// The same for a learner that looks at positive bags only: it needs no negative bags, and they make no difference.
///
/// # Panics
/// As [`check`].
pub fn check_positives_only<L>(learner: &L)
where
    L: Learner,
    L::Model: BagModel + SavedModel,
{
    check_facts(learner, 1);
    let facts: [(&str, Fact<L, Label>); 1] = [("negative bags make no difference", negative_bags_have_no_say)];
    hold(learner, &facts, &bag_sets(1));
    refuses_all(learner, Label::Negative);
}

fn check_facts<L>(learner: &L, min_per_class: usize)
where
    L: Learner,
    L::Model: BagModel + SavedModel,
{
    let facts: [(&str, Fact<L, Label>); 3] = [
        ("all scores are finite and agree with the labels", scores_are_finite_and_decide),
        ("the witness is the instance of the largest score", witness_has_the_largest_score),
        ("the order of the instances does not matter", order_of_instances_is_irrelevant),
    ];
    hold(learner, &facts, &bag_sets(min_per_class));
    hold(learner, &common_facts(), &bag_sets(min_per_class));
    cross_validation_ignores_threads(learner);
}

/// Checks every fact of many classes, on random bag sets of which one class has no bag.
///
/// # Panics
/// As [`check`].
pub fn check_classes<L>(learner: &L)
where
    L: Learner<ClassId>,
    L::Model: BagModel<ClassId> + SavedModel,
{
    let facts: [(&str, Fact<L, ClassId>); 1] =
        [("scores are posteriors and agree with the labels", scores_are_posteriors)];
    hold(learner, &facts, &class_sets(3));
    hold(learner, &common_facts(), &class_sets(4));
    lone_class_is_refused(learner);
}

/// The facts that have nothing to do with the kind of label.
fn common_facts<Y, L>() -> [(&'static str, Fact<L, Y>); 4]
where
    Y: Target,
    L: Learner<Y>,
    L::Model: BagModel<Y> + SavedModel,
{
    [
        ("fitting twice gives the same model", same_model_twice),
        ("one thread or several give the same model", same_model_on_any_threads),
        ("a bag of another dimension is refused", wrong_dimension_is_refused),
        ("a model file gives the model back", model_file_gives_the_model_back),
    ]
}

fn hold<L, Y: Target>(learner: &L, facts: &[(&str, Fact<L, Y>)], sets: &impl Strategy<Value = BagSet<Y>>) {
    for (fact, holds) in facts {
        let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
        let outcome = runner.run(sets, |bags| holds(learner, &bags).map_err(TestCaseError::fail));
        if let Err(error) = outcome {
            panic!("{fact}: {error}");
        }
    }
}

/// The fitted model, or `None` where the learner refused the numbers, which only huge ones excuse.
fn fit<Y: Target, L: Learner<Y>>(learner: &L, bags: &BagSet<Y>) -> Result<Option<L::Model>, String> {
    match learner.fit(bags) {
        Ok(model) => Ok(Some(model)),
        Err(_) if bags.instances().amax() > HUGE => Ok(None),
        Err(error) => Err(format!("refused a sound bag set: {error}")),
    }
}

/// The scores, or `None` where the model refused the numbers, which only huge ones excuse.
fn score_all<Y: Target, M: BagModel<Y>>(model: &M, bags: &BagSet<Y>) -> Result<Option<Vec<Y::Score>>, String> {
    match model.scores(bags) {
        Ok(scores) => Ok(Some(scores)),
        Err(ScoreError::Overflow { .. }) if bags.instances().amax() > HUGE => Ok(None),
        Err(error) => Err(format!("could not score its own training bags: {error}")),
    }
}

fn fit_and_score<Y, L>(learner: &L, bags: &BagSet<Y>) -> Result<Fitted<L::Model, Y::Score>, String>
where
    Y: Target,
    L: Learner<Y>,
    L::Model: BagModel<Y>,
{
    let Some(model) = fit(learner, bags)? else { return Ok(None) };
    Ok(score_all(&model, bags)?.map(|scores| (model, scores)))
}

fn demand(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn bytes_of<M: SavedModel>(model: &M) -> Vec<u8> {
    encode(model, &[]).expect("a fitted model encodes")
}

fn same_model_twice<Y, L>(learner: &L, bags: &BagSet<Y>) -> Result<(), String>
where
    Y: Target,
    L: Learner<Y>,
    L::Model: SavedModel,
{
    let (first, second) = (fit(learner, bags)?, fit(learner, bags)?);
    demand(first.map(|m| bytes_of(&m)) == second.map(|m| bytes_of(&m)), || "two fits differ".to_owned())
}

fn same_model_on_any_threads<Y, L>(learner: &L, bags: &BagSet<Y>) -> Result<(), String>
where
    Y: Target,
    L: Learner<Y>,
    L::Model: SavedModel,
{
    // The model itself need not cross threads; its bytes do.
    let on = |n_threads| on_threads(n_threads, || fit(learner, bags).map(|model| model.map(|m| bytes_of(&m))));
    let alone = on(1)?;
    for n_threads in [2, 3] {
        demand(on(n_threads)? == alone, || format!("{n_threads} threads give another model than one"))?;
    }
    Ok(())
}

fn on_threads<T: Send>(n_threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a small pool");
    pool.install(work)
}

fn wrong_dimension_is_refused<Y, L>(learner: &L, bags: &BagSet<Y>) -> Result<(), String>
where
    Y: Target,
    L: Learner<Y>,
    L::Model: BagModel<Y>,
{
    let Some(model) = fit(learner, bags)? else { return Ok(()) };
    let values = vec![0.0; bags.n_features() + 1];
    let bag = Bag::new("wide", values.len(), &values).expect("a sound bag");
    let expected = ScoreError::Dimension { name: "wide".into(), found: values.len(), expected: bags.n_features() };
    demand(model.score(bag) == Err(expected.clone()), || format!("score: {:?}", model.score(bag)))?;
    demand(model.predict(bag) == Err(expected.clone()), || format!("label: {:?}", model.predict(bag)))?;
    demand(model.instance_scores(bag) == Err(expected), || format!("instances: {:?}", model.instance_scores(bag)))
}

fn model_file_gives_the_model_back<Y, L>(learner: &L, bags: &BagSet<Y>) -> Result<(), String>
where
    Y: Target,
    L: Learner<Y>,
    L::Model: BagModel<Y> + SavedModel,
{
    let Some((model, scores)) = fit_and_score(learner, bags)? else { return Ok(()) };
    let bytes = bytes_of(&model);
    let again: L::Model = decode(&bytes).map_err(|error| error.to_string())?;
    demand(bytes_of(&again) == bytes, || "the bytes differ after a round trip".to_owned())?;
    let restored = score_all(&again, bags)?.ok_or("the restored model refuses its training bags")?;
    demand(restored == scores, || "the scores differ after a round trip".to_owned())
}

fn scores_are_finite_and_decide<L>(learner: &L, bags: &BagSet<Label>) -> Result<(), String>
where
    L: Learner,
    L::Model: BagModel,
{
    let Some((model, scores)) = fit_and_score(learner, bags)? else { return Ok(()) };
    for (bag, &score) in bags.bags().zip(&scores) {
        demand(score.is_finite(), || format!("bag {:?} scores {score}", bag.name()))?;
        let alone = model.score(bag).map_err(|error| error.to_string())?;
        demand(alone.to_bits() == score.to_bits(), || {
            format!("bag {:?}: {alone} alone, {score} in the set", bag.name())
        })?;
        let label = model.predict(bag).map_err(|error| error.to_string())?;
        demand((label == Label::Positive) == (score >= 0.0), || format!("score {score} is called {label}"))?;
    }
    Ok(())
}

fn scores_are_posteriors<L>(learner: &L, bags: &BagSet<ClassId>) -> Result<(), String>
where
    L: Learner<ClassId>,
    L::Model: BagModel<ClassId>,
{
    let Some((model, scores)) = fit_and_score(learner, bags)? else { return Ok(()) };
    for (bag, posterior) in bags.bags().zip(&scores) {
        let total: f64 = posterior.iter().sum();
        let sound = posterior.len() == bags.n_classes()
            && posterior.iter().all(|p| (0.0..=1.0).contains(p))
            && (total - 1.0).abs() < ROUNDING;
        demand(sound, || format!("the posterior of bag {:?} is {posterior:?}", bag.name()))?;
        let class = model.predict(bag).map_err(|error| error.to_string())?;
        demand(class == ClassId::decide(posterior), || format!("{posterior:?} is called class {}", class.0))?;
        demand(bags.class_counts()[class.idx()] > 0, || format!("class {} has no training bag", class.0))?;
    }
    Ok(())
}

fn witness_has_the_largest_score<L>(learner: &L, bags: &BagSet<Label>) -> Result<(), String>
where
    L: Learner,
    L::Model: BagModel,
{
    let Some((model, _)) = fit_and_score(learner, bags)? else { return Ok(()) };
    for bag in bags.bags() {
        let Some(scores) = model.instance_scores(bag).map_err(|error| error.to_string())? else { continue };
        demand(scores.len() == bag.n_instances(), || format!("{} scores for {}", scores.len(), bag.n_instances()))?;
        let witness = witness_of(&model, bag).map_err(|error| error.to_string())?.expect("there are scores");
        let first_best = scores.iter().position(|s| scores.iter().all(|other| s >= other));
        demand(first_best == Some(witness), || format!("witness {witness} of scores {scores:?}"))?;
    }
    Ok(())
}

fn order_of_instances_is_irrelevant<L>(learner: &L, bags: &BagSet<Label>) -> Result<(), String>
where
    L: Learner,
    L::Model: BagModel,
{
    let Some((model, scores)) = fit_and_score(learner, bags)? else { return Ok(()) };
    let scale = scores.iter().fold(1.0f64, |scale, score| scale.max(score.abs()));
    for (bag, score) in bags.bags().zip(scores) {
        let values: Vec<f64> = bag.instances().rev().flatten().copied().collect();
        let reversed = Bag::new(bag.name(), bag.n_features(), &values).expect("the same instances");
        let other = model.score(reversed).map_err(|error| error.to_string())?;
        demand((other - score).abs() <= ROUNDING * scale, || format!("{score} forwards, {other} backwards"))?;
    }
    Ok(())
}

fn single_class_is_refused<L: Learner>(learner: &L) {
    refuses_all(learner, Label::Positive);
    refuses_all(learner, Label::Negative);
}

fn refuses_all<L: Learner>(learner: &L, label: Label) {
    let mut builder = BagSet::builder();
    for bag_idx in 0..4 {
        builder.bag(bag_idx.to_string(), label, [[f64::from(bag_idx), 1.0]]).expect("a sound bag");
    }
    match learner.fit(&builder.build().expect("a sound set")) {
        Err(FitError::SingleClass { label: found, n_bags: 4 }) => assert_eq!(found, label),
        Err(error) => panic!("a single class is refused with another error: {error}"),
        Ok(_) => panic!("four {label} bags and no other were accepted"),
    }
}

fn negative_bags_have_no_say<L>(learner: &L, bags: &BagSet<Label>) -> Result<(), String>
where
    L: Learner,
    L::Model: SavedModel,
{
    let positive: Vec<usize> = (0..bags.n_bags()).filter(|&idx| bags.labels()[idx] == Label::Positive).collect();
    let alone = bags.select(&positive);
    // Both are fitted or both refused: huge numbers among negative bags excuse nothing.
    let bytes = |bags: &BagSet<Label>| learner.fit(bags).ok().map(|model| bytes_of(&model));
    fit(learner, &alone)?;
    demand(bytes(bags) == bytes(&alone), || "the model is another without the negative bags".to_owned())
}

fn lone_class_is_refused<L: Learner<ClassId>>(learner: &L) {
    let mut builder = BagSet::builder_of_classes(ClassNames::new(["a", "b"]));
    builder.bag("0", ClassId(1), [[1.0]]).expect("a sound bag");
    match learner.fit(&builder.build().expect("a sound set")) {
        Err(FitError::TooFewClasses { n_classes: 1, n_bags: 1 }) => {}
        Err(error) => panic!("a lone class is refused with another error: {error}"),
        Ok(_) => panic!("bags of one class and no other were accepted"),
    }
}

fn cross_validation_ignores_threads<L>(learner: &L)
where
    L: Learner,
    L::Model: BagModel,
{
    let mut builder = BagSet::builder();
    for bag_idx in 0..12 {
        let (x, label) = if bag_idx % 2 == 0 { (1.0, Label::Positive) } else { (-1.0, Label::Negative) };
        let spread = f64::from(bag_idx) / 10.0;
        builder.bag(bag_idx.to_string(), label, [[x + spread, spread], [-spread, x]]).expect("a sound bag");
    }
    let bags = builder.build().expect("a sound set");
    let plan = CrossValidation { n_folds: 3, n_repeats: 2, seed: 5 };
    let on = |n_threads| {
        on_threads(n_threads, || plan.run(learner, &bags, &())).expect("two classes in every training fold")
    };
    let alone = on(1);
    assert!(on(2) == alone && on(4) == alone, "the number of threads changes the cross-validation");
}
