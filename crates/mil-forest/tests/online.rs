//! Forests on a stream: what they promise, seen from outside.

use mil_core::model_file::{decode, encode};
use mil_core::{
    Bag, BagLabel, BagModel, BagRule, BagSet, ClassId, ClassNames, FitError, Label, Learner, OnlineLearner, Params,
    ScoreError, Target, stream,
};
use mil_forest::{Cooling, ForestLabel, Loss, OnlineForest, OnlineForestStream, OnlineMiForest, TestCount, Weighting};
use mil_testkit::conformance::{check, check_classes};
use proptest::prelude::*;
use rand::RngExt;

/// Small and quick to split, so that a few bags reach every part.
fn mi() -> OnlineMiForest {
    OnlineMiForest { n_trees: 12, n_naive: 3, n_ranging: 10, min_seen: 4, ..OnlineMiForest::default() }
}

fn orf() -> OnlineForest {
    OnlineForest { n_trees: 12, n_ranging: 10, min_seen: 4, ..OnlineForest::default() }
}

const N_FEATURES: usize = 4;

/// A bag of 1 to `max_size` instances; in one of them the first feature tells the class.
fn values(bag_idx: u64, class: usize, max_size: usize) -> Vec<f64> {
    let mut rng = stream(11, "bag", bag_idx);
    let n_instances = rng.random_range(1..=max_size);
    let mut values: Vec<f64> = (0..N_FEATURES * n_instances).map(|_| rng.random()).collect();
    values[N_FEATURES * rng.random_range(0..n_instances)] += class as f64;
    values
}

fn sign(bag_idx: u64) -> Label {
    if bag_idx.is_multiple_of(2) { Label::Positive } else { Label::Negative }
}

fn class_of_three(bag_idx: u64) -> ClassId {
    ClassId((bag_idx % 3) as u32)
}

fn feed<Y: ForestLabel>(
    stream: &mut OnlineForestStream<Y>,
    bags: std::ops::Range<u64>,
    max_size: usize,
    label: fn(u64) -> Y,
) {
    for bag_idx in bags {
        let label = label(bag_idx);
        let values = values(bag_idx, label.class_idx(), max_size);
        stream.update(Bag::new("next", N_FEATURES, &values).unwrap(), label).unwrap();
    }
}

fn bytes<Y: ForestLabel>(stream: &OnlineForestStream<Y>) -> Vec<u8> {
    encode(stream, &[]).expect("a stream encodes")
}

fn score<Y: ForestLabel>(stream: &OnlineForestStream<Y>, bag_idx: u64) -> Y::Score {
    let values = values(bag_idx, 1, 6);
    stream.score(Bag::new("asked", N_FEATURES, &values).unwrap()).unwrap()
}

#[test]
fn both_conform() {
    check(&OnlineForest { n_trees: 8, ..OnlineForest::default() });
    check_classes(&OnlineForest { n_trees: 8, ..OnlineForest::default() });
    check(&OnlineMiForest { n_trees: 8, ..OnlineMiForest::default() });
    check_classes(&OnlineMiForest { n_trees: 8, ..OnlineMiForest::default() });
}

#[test]
fn both_conform_with_every_choice_turned() {
    let schedule = Cooling::From { start: 1.0, cooling: 0.5, end: 0.1 };
    check(&OnlineForest { weighting: Weighting::Bags, rule: BagRule::Mean, ..orf() });
    check(&OnlineMiForest { weighting: Weighting::Instances, cooling: schedule, n_naive: 0, n_ranging: 0, ..mi() });
    let turned = OnlineMiForest {
        weighting: Weighting::Bags,
        loss: Loss::MarginLogistic,
        cooling: Cooling::At(0.05),
        n_naive: 0,
        n_ranging: 0,
        min_seen: 1,
        n_tests: TestCount::All,
        rate: 3.0,
        rule: BagRule::NoisyOr,
        ..mi()
    };
    check(&turned);
    check_classes(&turned);
    check_classes(&OnlineMiForest { max_depth: 0, n_passes: 1, ..mi() });
}

#[test]
fn a_stream_resumed_from_its_bytes_goes_on_as_if_nothing_had_happened() {
    fn holds<Y: ForestLabel>(mut whole: OnlineForestStream<Y>, label: fn(u64) -> Y) {
        let mut parts = whole.clone();
        feed(&mut whole, 0..90, 6, label);
        for part in [0..1, 1..2, 2..31, 31..60, 60..90] {
            feed(&mut parts, part, 6, label);
            parts = decode(&bytes(&parts)).expect("the bytes of a stream");
        }
        assert!(whole.n_leaves() > 3 * whole.n_trees(), "{} leaves", whole.n_leaves());
        assert_eq!(bytes(&parts), bytes(&whole));
        assert_eq!(score(&parts, 1000), score(&whole, 1000));
    }
    holds(mi().stream(N_FEATURES).unwrap(), sign);
    holds(orf().stream(N_FEATURES).unwrap(), sign);
    holds(mi().stream_of_classes(N_FEATURES, 3).unwrap(), class_of_three);
}

#[test]
fn any_number_of_threads_gives_the_same_stream() {
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let mut stream = OnlineMiForest { n_trees: 50, ..mi() }.stream(N_FEATURES).unwrap();
            // Large enough that several threads take part.
            feed(&mut stream, 0..30, 300, sign);
            (bytes(&stream), score(&stream, 1000))
        })
    };
    let alone = on(1);
    assert_eq!(on(2), alone);
    assert_eq!(on(3), alone);
}

#[test]
fn bags_of_one_instance_make_both_forests_the_same() {
    let (mut annealed, mut copied) = (mi().stream(N_FEATURES).unwrap(), orf().stream(N_FEATURES).unwrap());
    feed(&mut annealed, 0..200, 1, sign);
    feed(&mut copied, 0..200, 1, sign);
    assert_eq!((annealed.n_leaves(), annealed.depth()), (copied.n_leaves(), copied.depth()));
    for bag_idx in 1000..1050 {
        assert_eq!(score(&annealed, bag_idx).to_bits(), score(&copied, bag_idx).to_bits());
    }
    // And larger bags do not.
    feed(&mut annealed, 200..240, 6, sign);
    feed(&mut copied, 200..240, 6, sign);
    assert_ne!(score(&annealed, 1000), score(&copied, 1000));
}

#[test]
fn as_long_as_bags_are_naive_both_forests_are_the_same() {
    let mut naive = OnlineMiForest { n_naive: 1000, ..mi() }.stream(N_FEATURES).unwrap();
    let mut copied = orf().stream(N_FEATURES).unwrap();
    feed(&mut naive, 0..60, 6, sign);
    feed(&mut copied, 0..60, 6, sign);
    assert_eq!(score(&naive, 1000).to_bits(), score(&copied, 1000).to_bits());
}

#[test]
fn a_fit_is_a_stream_of_passes_and_learns_the_concept() {
    let mut builder = BagSet::builder();
    for bag_idx in 0..80 {
        let values = values(bag_idx, 2 * sign(bag_idx).class_idx(), 5);
        builder.bag(bag_idx.to_string(), sign(bag_idx), values.chunks_exact(N_FEATURES)).unwrap();
    }
    let bags = builder.build().unwrap();
    let model = OnlineMiForest { n_passes: 3, n_trees: 30, ..mi() }.fit(&bags).unwrap();
    assert_eq!((model.n_bags(), model.n_bags_of()), (240, &[120, 120][..]));
    let n_right = bags.bags().zip(bags.labels()).filter(|(bag, label)| model.predict(*bag).as_ref() == Ok(label));
    assert!(n_right.count() >= 76);
    // The instance that tells has the largest score.
    let values = [0.5, 0.5, 0.5, 0.5, 2.5, 0.5, 0.5, 0.5];
    let scores = model.instance_scores(Bag::new("", N_FEATURES, &values).unwrap()).unwrap().unwrap();
    assert!(scores[0] < 0.0 && scores[1] > 0.0, "{scores:?}");
}

#[test]
fn a_fit_never_predicts_a_class_without_bags() {
    let mut builder = BagSet::builder_of_classes(ClassNames::new(["a", "b", "c"]));
    for bag_idx in 0..30 {
        let class = ClassId(1 + (bag_idx % 2) as u32);
        let values = values(bag_idx, class.idx(), 5);
        builder.bag(bag_idx.to_string(), class, values.chunks_exact(N_FEATURES)).unwrap();
    }
    let bags = builder.build().unwrap();
    let model = mi().fit(&bags).unwrap();
    for bag in bags.bags() {
        let posterior = model.score(bag).unwrap();
        assert!(posterior[0] == 0.0 && ClassId::decide(&posterior) != ClassId(0));
    }
}

#[test]
fn a_bag_of_another_dimension_changes_nothing() {
    let mut stream = mi().stream(N_FEATURES).unwrap();
    feed(&mut stream, 0..10, 6, sign);
    let before = bytes(&stream);
    let values = [0.0; N_FEATURES + 1];
    let expected = ScoreError::Dimension { name: "wide".into(), found: N_FEATURES + 1, expected: N_FEATURES };
    let wide = Bag::new("wide", N_FEATURES + 1, &values).unwrap();
    assert_eq!(stream.update(wide, Label::Positive), Err(expected));
    assert_eq!(bytes(&stream), before);
}

#[test]
fn a_bag_of_a_class_that_the_stream_does_not_have_changes_nothing() {
    let mut stream = orf().stream_of_classes(N_FEATURES, 3).unwrap();
    let before = bytes(&stream);
    let bag = Bag::new("new", N_FEATURES, &[1.0; N_FEATURES]).unwrap();
    let expected = ScoreError::UnknownClass { name: "new".into(), class_idx: 3, n_classes: 3 };
    assert_eq!(stream.update(bag, ClassId(3)), Err(expected));
    assert_eq!(bytes(&stream), before);
}

#[test]
fn rare_classes_are_shown_more_often_where_classes_are_evened_out() {
    let share = |weighting| {
        // Trees of one leaf: the posterior is what has been shown.
        let learner = OnlineForest { max_depth: 0, weighting, ..OnlineForest::default() };
        let mut stream = learner.stream(1).unwrap();
        for bag_idx in 0..500 {
            let label = if bag_idx % 10 == 0 { Label::Positive } else { Label::Negative };
            stream.update(Bag::new("x", 1, &[0.0]).unwrap(), label).unwrap();
        }
        stream.posteriors(&[0.0])[(1, 0)]
    };
    let (even, plain) = (share(Weighting::Classes), share(Weighting::Instances));
    assert!((even - 0.5).abs() < 0.08 && (plain - 0.1).abs() < 0.02, "{even} {plain}");
}

#[test]
fn no_leaf_is_split_before_the_ranges_are_known() {
    let mut stream = OnlineForest { n_ranging: 60, ..orf() }.stream(N_FEATURES).unwrap();
    feed(&mut stream, 0..50, 1, sign);
    assert_eq!(stream.n_leaves(), stream.n_trees());
    feed(&mut stream, 50..300, 1, sign);
    assert!(stream.n_leaves() > stream.n_trees());
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (name, word) in [
        ("n_trees", "0"),
        ("min_gain", "0"),
        ("rate", "11"),
        ("min_seen", "0"),
        ("n_tests", "0"),
        ("rule", "top-mean(0)"),
        ("cooling", "at(0)"),
    ] {
        let mut params = mi();
        let set = params.set(name, word);
        assert!(set.is_err() || params.stream(2).is_err(), "{name}={word}");
    }
    assert!(matches!(mi().stream(0), Err(FitError::Param(_))));
    assert!(matches!(mi().stream_of_classes(2, 0), Err(FitError::Param(_))));
    let many = OnlineForest { n_tests: TestCount::Number(1 << 24), ..orf() };
    assert!(matches!(many.stream(2), Err(FitError::Param(_))));
}

#[test]
fn features_without_spread_or_of_absurd_size_do_no_harm() {
    let mut stream = mi().stream(3).unwrap();
    let values = [7.0, f64::MAX, 0.0, 7.0, -f64::MAX, -0.0, 7.0, f64::MIN_POSITIVE, 0.0];
    let bag = Bag::new("", 3, &values).unwrap();
    for bag_idx in 0..60 {
        stream.update(bag, sign(bag_idx)).unwrap();
    }
    assert!(stream.score(bag).unwrap().is_finite());
    assert!(decode::<OnlineForestStream<Label>>(&bytes(&stream)).is_ok());
    let constant = [7.0, 7.0, 7.0];
    let mut flat = mi().stream(3).unwrap();
    for bag_idx in 0..60 {
        flat.update(Bag::new("", 3, &constant).unwrap(), sign(bag_idx)).unwrap();
    }
    assert_eq!(flat.n_leaves(), flat.n_trees());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn posteriors_are_distributions_and_the_depth_is_kept(
        seed in 0u64..1000, n_bags in 0u64..60, max_depth in 0usize..6, max_size in 1usize..9, weighting in 0usize..3, rate in 0.1f64..4.0,
    ) {
        let weighting = [Weighting::Instances, Weighting::Bags, Weighting::Classes][weighting];
        let params = OnlineMiForest { seed, max_depth, weighting, rate, n_trees: 5, ..mi() };
        let mut stream = params.stream_of_classes(N_FEATURES, 4).unwrap();
        feed(&mut stream, 0..n_bags, max_size, class_of_three);
        prop_assert!(stream.depth() <= max_depth);
        let posteriors = stream.posteriors(&values(seed, 1, 20));
        for posterior in posteriors.column_iter() {
            prop_assert!(posterior.iter().all(|p| (0.0..=1.0).contains(p)));
            prop_assert!((posterior.sum() - 1.0).abs() < 1e-12);
            prop_assert!(n_bags == 0 || posterior[3] == 0.0);
        }
    }

    /// Whatever becomes of a byte, the stream is refused or can be used.
    #[test]
    fn damaged_streams_are_refused_or_harmless(at in 0.0f64..1.0, byte in any::<u8>(), many in any::<bool>()) {
        let mut stream = mi().stream(N_FEATURES).unwrap();
        feed(&mut stream, 0..if many { 40 } else { 8 }, 6, sign);
        let mut damaged = bytes(&stream);
        let end = damaged.len() - 4;
        // Past magic, version, header and the length of the payload; the checksum is mended.
        let start = 24 + u32::from_le_bytes(damaged[12..16].try_into().unwrap()) as usize;
        let at = start + ((end - start) as f64 * at) as usize;
        damaged[at] = byte;
        let checksum = crc32fast::hash(&damaged[..end]).to_le_bytes();
        damaged[end..].copy_from_slice(&checksum);
        if let Ok(mut stream) = decode::<OnlineForestStream<Label>>(&damaged) {
            feed(&mut stream, 100..130, 6, sign);
            prop_assert!(score(&stream, 1000).is_finite());
        }
    }
}
