//! What theory says of forests, on random instances and bags.

use mil_core::model_file::{decode, encode};
use mil_core::{
    Bag, BagModel, BagRule, BagSet, Calibrated, ClassId, ClassNames, FitError, Label, Learner, OutOfBag,
    OutOfBagScores, Params, stream,
};
use mil_forest::{
    Columns, Criterion, Forest, ForestModel, Growth, Loss, MiForest, RandomForest, Resolution, Sample, Sampling, Stop,
    TestCount, Tests, Weighting, annealed,
};
use nalgebra::DMatrix;
use proptest::prelude::*;
use rand::RngExt;

/// Instances with ties, classes and weights.
#[derive(Debug, Clone)]
struct Problem {
    instances: DMatrix<f64>,
    labels: Vec<u32>,
    weights: Vec<f64>,
    n_classes: usize,
}

fn problems() -> impl Strategy<Value = Problem> {
    (1usize..5, 2usize..40, 2usize..5).prop_flat_map(|(n_features, n, n_classes)| {
        let value = prop_oneof![(-3i32..4).prop_map(f64::from), -10.0f64..10.0];
        let values = prop::collection::vec(value, n_features * n);
        let labels = prop::collection::vec(0..n_classes as u32, n);
        let weights = prop::collection::vec(0.1f64..4.0, n);
        (values, labels, weights).prop_map(move |(values, labels, weights)| Problem {
            instances: DMatrix::from_vec(n_features, n, values),
            labels,
            weights,
            n_classes,
        })
    })
}

impl Problem {
    fn grow(&self, weights: Option<&[f64]>, resolution: Resolution, growth: &Growth) -> Forest {
        let columns = Columns::new(&self.instances, resolution).unwrap();
        let sample = Sample { labels: &self.labels, weights, n_classes: self.n_classes, offsets: &[] };
        Forest::grow(&columns, &sample, growth).unwrap().0
    }

    /// A tree on all instances that looks at all features.
    fn whole(criterion: Criterion, tests: Tests, max_depth: usize) -> Growth {
        let forest = RandomForest {
            n_trees: 1,
            criterion,
            tests,
            max_depth,
            n_tests: TestCount::All,
            sampling: Sampling::All,
            ..RandomForest::default()
        };
        forest.growth(usize::MAX)
    }
}

/// Impurity of some instances times their weight, from the definition.
fn impurity(problem: &Problem, weights: &[f64], members: &[usize], criterion: Criterion) -> f64 {
    let mut counts = vec![0.0; problem.n_classes];
    members.iter().for_each(|&idx| counts[problem.labels[idx] as usize] += weights[idx]);
    let total: f64 = counts.iter().sum();
    let shares = counts.iter().filter(|count| **count > 0.0).map(|count| count / total);
    total
        * match criterion {
            Criterion::Entropy => -shares.map(|p| p * p.ln()).sum::<f64>(),
            Criterion::Gini => 1.0 - shares.map(|p| p * p).sum::<f64>(),
        }
}

/// The largest gain of any threshold of any feature, by trying all.
fn best_gain(problem: &Problem, weights: &[f64], criterion: Criterion) -> f64 {
    let all: Vec<usize> = (0..problem.labels.len()).collect();
    let whole = impurity(problem, weights, &all, criterion);
    let mut best = 0.0f64;
    for row in 0..problem.instances.nrows() {
        for &at in &all {
            let threshold = problem.instances[(row, at)];
            let (left, right): (Vec<usize>, Vec<usize>) =
                all.iter().partition(|&&idx| problem.instances[(row, idx)] <= threshold);
            if !right.is_empty() {
                let sides =
                    impurity(problem, weights, &left, criterion) + impurity(problem, weights, &right, criterion);
                best = best.max(whole - sides);
            }
        }
    }
    best / weights.iter().sum::<f64>()
}

proptest! {
    #[test]
    fn the_root_has_the_best_of_all_thresholds(problem in problems(), weighted in any::<bool>()) {
        for criterion in [Criterion::Entropy, Criterion::Gini] {
            let ones = vec![1.0; problem.labels.len()];
            let weights = if weighted { &problem.weights } else { &ones };
            let given = weighted.then_some(weights.as_slice());
            let stump = problem.grow(given, Resolution::Exact, &Problem::whole(criterion, Tests::Best, 1));
            let found: f64 = stump.gains().iter().sum();
            let expected = best_gain(&problem, weights, criterion);
            prop_assert!((found - expected).abs() < 1e-9, "{criterion:?}: {found}, expected {expected}");
        }
    }

    #[test]
    fn no_random_test_beats_the_best(problem in problems(), seed in any::<u64>()) {
        let expected = best_gain(&problem, &problem.weights, Criterion::Gini);
        for tests in [Tests::Random, Tests::Uniform] {
            let growth = Growth { seed, ..Problem::whole(Criterion::Gini, tests, 1) };
            let stump = problem.grow(Some(&problem.weights), Resolution::Exact, &growth);
            prop_assert!(stump.gains().iter().sum::<f64>() <= expected + 1e-9);
        }
    }

    #[test]
    fn an_instance_of_weight_two_counts_as_two(problem in problems()) {
        let growth = Problem::whole(Criterion::Gini, Tests::Best, 20);
        let weights: Vec<f64> = problem.weights.iter().map(|weight| if *weight < 2.0 { 1.0 } else { 2.0 }).collect();
        let mut twice = problem.clone();
        for idx in (0..weights.len()).filter(|&idx| weights[idx] == 2.0) {
            let n = twice.instances.ncols();
            twice.instances = twice.instances.insert_column(n, 0.0);
            twice.instances.set_column(n, &problem.instances.column(idx));
            twice.labels.push(problem.labels[idx]);
        }
        let by_weight = problem.grow(Some(&weights), Resolution::Exact, &growth);
        let by_number = twice.grow(None, Resolution::Exact, &growth);
        for instance in problem.instances.column_iter() {
            let [a, b] = [&by_weight, &by_number].map(|forest| forest.posterior(instance.as_slice()));
            prop_assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_rising_map_of_the_features_changes_no_leaf(problem in problems(), seed in any::<u64>()) {
        let growth = Growth { seed, n_trees: 5, n_tests: 2, ..Problem::whole(Criterion::Entropy, Tests::Best, 20) };
        let mut mapped = problem.clone();
        mapped.instances.iter_mut().for_each(|value| *value = (*value / 4.0).exp());
        let [a, b] = [&problem, &mapped].map(|problem| problem.grow(None, Resolution::Exact, &growth));
        for (one, other) in a.trees().iter().zip(b.trees()) {
            for (x, y) in problem.instances.column_iter().zip(mapped.instances.column_iter()) {
                prop_assert_eq!(one.leaf_of(x.as_slice()), other.leaf_of(y.as_slice()));
            }
        }
        prop_assert_eq!(a.gains(), b.gains());
    }

    #[test]
    fn as_many_bins_as_values_are_exact(problem in problems(), seed in any::<u64>()) {
        for tests in [Tests::Best, Tests::Random, Tests::Uniform, Tests::Hyperplane(2)] {
            let growth = Growth { seed, n_trees: 3, sampling: Sampling::Instances, n_tests: 3, ..Problem::whole(Criterion::Entropy, tests, 20) };
            let [a, b] = [Resolution::Exact, Resolution::Bins(256)].map(|resolution| problem.grow(None, resolution, &growth));
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn trees_keep_their_depth_and_posteriors_are_distributions(problem in problems(), seed in any::<u64>(), max_depth in 0usize..6) {
        for tests in [Tests::Best, Tests::Random, Tests::Uniform, Tests::Hyperplane(3)] {
            let growth = Growth { seed, n_trees: 4, n_tests: 2, sampling: Sampling::Instances, ..Problem::whole(Criterion::Gini, tests, max_depth) };
            for resolution in [Resolution::Exact, Resolution::Bins(4)] {
                let forest = problem.grow(Some(&problem.weights), resolution, &growth);
                prop_assert!(forest.trees().iter().all(|tree| tree.depth() <= max_depth && tree.n_nodes() == 2 * tree.n_leaves() - 1));
                let together = forest.posteriors(problem.instances.as_slice());
                for (idx, instance) in problem.instances.column_iter().enumerate() {
                    let alone = forest.posterior(instance.as_slice());
                    prop_assert!((alone.iter().sum::<f64>() - 1.0).abs() < 1e-12 && alone.iter().all(|p| *p >= 0.0));
                    prop_assert!(together.column(idx).iter().eq(&alone));
                }
            }
        }
    }
}

#[test]
fn labels_and_weights_that_are_none_are_refused_by_instance() {
    let instances = DMatrix::from_element(1, 3, 1.0);
    let columns = Columns::new(&instances, Resolution::Exact).unwrap();
    let growth = RandomForest::default().growth(1);
    let grow = |labels: &[u32], weights: Option<&[f64]>| {
        let sample = Sample { labels, weights, n_classes: 2, offsets: &[0, 3] };
        Forest::grow(&columns, &sample, &growth).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(grow(&[0, 1, 0], None), Ok(()));
    assert_eq!(grow(&[0, 1], None).unwrap_err(), "2 labels, expected 3, one per instance");
    assert_eq!(
        grow(&[0, 2, 0], None).unwrap_err(),
        "instance 1 is of class 2, but there are only 2 classes, counted from 0"
    );
    assert_eq!(grow(&[0, 1, 0], Some(&[1.0])).unwrap_err(), "1 weights, expected 3, one per instance");
    for offsets in [&[][..], &[0], &[0, 2], &[1, 3], &[0, 0, 3], &[0, 2, 1, 3]] {
        let sample = Sample { labels: &[0, 1, 0], weights: None, n_classes: 2, offsets };
        let error = Forest::grow(&columns, &sample, &growth).map(drop).unwrap_err().to_string();
        assert!(error.starts_with("trees draw bags, but the offsets do not divide the 3 instances"), "{error}");
    }
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(grow(&[0, 1, 0], Some(&[1.0, 1.0, weight])).unwrap_err().starts_with("the weight of instance 2 is"));
    }
}

/// Bags of which one instance in each positive one tells, at 3 in the first feature.
fn bags(n: usize, n_instances: usize, seed: u64) -> BagSet<Label> {
    let mut rng = stream(seed, "bags", 0);
    let mut builder = BagSet::builder();
    for bag_idx in 0..n {
        let label = if bag_idx % 2 == 0 { Label::Positive } else { Label::Negative };
        let mut instances: Vec<[f64; 3]> = (0..n_instances).map(|_| [(); 3].map(|()| rng.random::<f64>())).collect();
        if label == Label::Positive {
            instances[n_instances - 1][0] += 3.0;
        }
        builder.bag(bag_idx.to_string(), label, instances).unwrap();
    }
    builder.build().unwrap()
}

fn bytes<Y: mil_forest::ForestLabel>(model: &ForestModel<Y>) -> Vec<u8> {
    encode(model, &[]).unwrap()
}

#[test]
fn bags_of_one_instance_make_mi_forest_the_plain_forest() {
    let bags = bags(30, 1, 0);
    let (model, trace) = MiForest::default().fit_traced(&bags).unwrap();
    assert_eq!((trace.stop, trace.epochs.len()), (Stop::NothingHidden, 0));
    assert_eq!(bytes(&model), bytes(&RandomForest::default().fit(&bags).unwrap()));
}

#[test]
fn no_epoch_is_the_plain_forest_and_each_epoch_is_colder() {
    let bags = bags(30, 4, 1);
    let plain = RandomForest::default().fit(&bags).unwrap();
    let (model, trace) = MiForest { max_epochs: 0, ..MiForest::default() }.fit_traced(&bags).unwrap();
    assert_eq!((bytes(&model), trace.stop), (bytes(&plain), Stop::EpochLimit));
    let (_, trace) = MiForest { end_temperature: 0.01, ..MiForest::default() }.fit_traced(&bags).unwrap();
    assert_eq!((trace.stop, trace.epochs.len()), (Stop::Cooled, 9));
    assert!(trace.epochs.windows(2).all(|pair| pair[0].temperature > pair[1].temperature));
    let (first, last) = (trace.epochs[0], trace.epochs[8]);
    assert!(first.entropy > 10.0 * last.entropy, "{first:?} {last:?}");
    assert_eq!(first.n_hidden, 15 * 4);
    // p* is the best distribution for the forest that it was computed from, not for the next.
    assert!(trace.epochs.iter().all(|epoch| epoch.objective.is_finite() && epoch.objective_after.is_finite()));
    let (_, trace) =
        MiForest { end_temperature: 1e-3, settled: 0.05, ..MiForest::default() }.fit_traced(&bags).unwrap();
    assert!(trace.stop == Stop::Settled && trace.epochs.len() < 13, "{:?}", trace.stop);
}

#[test]
fn annealing_finds_the_witnesses() {
    let bags = bags(60, 5, 2);
    let (model, trace) = MiForest { end_temperature: 0.05, ..MiForest::default() }.fit_traced(&bags).unwrap();
    for bag in bags.positive_bags() {
        assert_eq!(mil_core::witness_of(&model, bag).unwrap(), Some(4));
    }
    // One in five is of the bag's class, and all are taken for it at first.
    let members = |at: usize| trace.epochs[at].expected_members / 30.0;
    let last = trace.epochs.len() - 1;
    assert!(members(0) > 2.5 && (1.0..2.0).contains(&members(last)), "{} to {}", members(0), members(last));
    let plain = RandomForest::default().fit(&bags).unwrap();
    let others = |model: &ForestModel<Label>| -> f64 {
        bags.positive_bags().map(|bag| model.instance_scores(bag).unwrap().unwrap()[..4].iter().sum::<f64>()).sum()
    };
    assert!(others(&model) < others(&plain));
}

#[test]
fn two_classes_are_two_classes_by_either_name_without_hidden_negatives() {
    // In many classes negative bags hide labels too; with bags of one instance nobody hides any.
    let bags = bags(40, 1, 3);
    let mut builder = BagSet::builder_of_classes(ClassNames::new(["0", "1", "2"]));
    for (bag, label) in bags.bags().zip(bags.labels()) {
        let class = if *label == Label::Positive { ClassId(2) } else { ClassId(0) };
        builder.bag(bag.name(), class, bag.instances()).unwrap();
    }
    let classes = builder.build().unwrap();
    let two = RandomForest::default().fit(&bags).unwrap();
    let many = RandomForest::default().fit(&classes).unwrap();
    assert_eq!(two.forest(), many.forest());
    let posterior = many.score(classes.bag(0)).unwrap();
    assert_eq!((posterior[1], posterior[2] - 0.5), (0.0, two.score(bags.bag(0)).unwrap()));
}

#[test]
fn scores_out_of_bag_need_trees_that_draw_bags_and_leave_some_out() {
    let bags = bags(20, 3, 4);
    let fit = |learner: RandomForest| Calibrated { learner, source: OutOfBag }.fit(&bags).map(drop);
    assert!(fit(RandomForest::default()).is_ok());
    for sampling in [Sampling::Instances, Sampling::All] {
        let error = fit(RandomForest { sampling, ..RandomForest::default() }).unwrap_err().to_string();
        assert_eq!(
            error,
            "forest: trees that draw instances leave hardly any bag out whole; draw bags (`sampling=bags`) to score them out of bag"
        );
    }
    let error = fit(RandomForest { n_trees: 1, ..RandomForest::default() }).unwrap_err();
    assert!(matches!(error, FitError::Learner { .. }) && error.to_string().ends_with("grow more trees"), "{error}");
}

#[test]
fn a_bag_out_of_bag_is_scored_by_the_trees_that_have_not_drawn_it() {
    // Labels that no feature tells: what is learnt by heart does not help out of bag.
    let mut rng = stream(0, "noise", 0);
    let mut builder = BagSet::builder();
    for bag_idx in 0..100 {
        let label = if bag_idx % 2 == 0 { Label::Positive } else { Label::Negative };
        builder.bag(bag_idx.to_string(), label, vec![[rng.random::<f64>(), rng.random()]; 2]).unwrap();
    }
    let bags = builder.build().unwrap();
    let model = RandomForest::default().fit(&bags).unwrap();
    let n_right = |scores: &[f64]| {
        scores
            .iter()
            .zip(bags.labels())
            .filter(|(score, label)| (**score >= 0.0) == (**label == Label::Positive))
            .count()
    };
    assert_eq!(n_right(&model.scores(&bags).unwrap()), 100);
    // After an epoch, too, the trees that count are those of that epoch which have not drawn the bag.
    let annealed = MiForest::default().fit(&bags).unwrap();
    for scores in [model.out_of_bag_scores(), annealed.out_of_bag_scores()] {
        let out_of_bag = n_right(&scores.unwrap());
        assert!((30..70).contains(&out_of_bag), "{out_of_bag}");
    }
}

#[test]
fn weightings_and_samplings_make_other_forests_and_every_seed_one() {
    let bags = bags(20, 4, 5);
    let fit = |learner: RandomForest| bytes(&learner.fit(&bags).unwrap());
    let default = fit(RandomForest::default());
    for other in [
        RandomForest { seed: 1, ..RandomForest::default() },
        RandomForest { weighting: Weighting::Classes, sampling: Sampling::Instances, ..RandomForest::default() },
        RandomForest { tests: Tests::Random, ..RandomForest::default() },
        RandomForest { criterion: Criterion::Gini, n_tests: TestCount::All, min_split: 5, ..RandomForest::default() },
    ] {
        assert_ne!(fit(other), default);
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let mut params = MiForest::default();
    for (name, word) in [
        ("n_trees", "0"),
        ("min_split", "1"),
        ("resolution", "1"),
        ("resolution", "257"),
        ("n_tests", "0"),
        ("tests", "hyperplane(0)"),
        ("tests", "oblique"),
        ("start_temperature", "0"),
        ("end_temperature", "NaN"),
        ("cooling", "0"),
        ("settled", "2"),
        ("sampling", "bag"),
        ("loss", "l2"),
        ("rule", "median"),
    ] {
        let error = params.set(name, word).unwrap_err().to_string();
        assert!(error.contains(name) || error.contains("hyperplane"), "{name} = {word}: {error}");
    }
    assert_eq!(params, MiForest::default());
}

/// Whatever single byte of a file changes, with a checksum that fits: it is refused, or it is a model that scores.
#[test]
fn a_damaged_file_is_refused_or_harmless() {
    let bags = bags(8, 2, 6);
    for (tests, rule) in [(Tests::Best, BagRule::NoisyOr), (Tests::Hyperplane(2), BagRule::Max)] {
        let model = MiForest { n_trees: 2, tests, rule, ..MiForest::default() }.fit(&bags).unwrap();
        let whole = bytes(&model);
        let mut n_refused = 0;
        for at in 16..whole.len() - 4 {
            for flip in [1u8, 0x80, 0xFF] {
                let mut damaged = whole.clone();
                damaged[at] ^= flip;
                let end = damaged.len() - 4;
                let checksum = crc32fast::hash(&damaged[..end]).to_le_bytes();
                damaged[end..].copy_from_slice(&checksum);
                match decode::<ForestModel<Label>>(&damaged) {
                    Err(_) => n_refused += 1,
                    Ok(model) => {
                        let values = vec![0.5; model.n_features()];
                        let bag = Bag::new("x", model.n_features(), &values).unwrap();
                        assert!(model.score(bag).unwrap().is_finite());
                    }
                }
            }
        }
        assert!(n_refused > whole.len(), "{n_refused} of {}", 3 * whole.len());
    }
}

/// The trace of one epoch, recomputed from the plain forest that it began with and the one that it ended with.
#[test]
fn the_trace_is_what_its_definitions_say() {
    let bags = bags(24, 3, 7);
    for (loss, word) in [(Loss::Hinge, "hinge"), (Loss::LogLikelihood, "log-likelihood")] {
        let learner = MiForest { max_epochs: 1, loss, ..MiForest::default() };
        let plain = MiForest { max_epochs: 0, ..learner.clone() }.fit(&bags).unwrap();
        let (model, trace) = learner.fit_traced(&bags).unwrap();
        let epoch = trace.epochs[0];
        let value = |p: f64| if loss == Loss::Hinge { 1.0 - (p - 0.5) } else { -p.max(1e-12).ln() };
        let (mut before, mut after, mut entropy, mut members, mut change) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for bag in bags.positive_bags() {
            let grown = model.instance_posteriors(bag).unwrap();
            for (posterior, grown) in plain.instance_posteriors(bag).unwrap().iter().zip(&grown) {
                let p = annealed(posterior, loss, epoch.temperature);
                for class in 0..2 {
                    before += p[class] * value(posterior[class]);
                    after += p[class] * value(grown[class]);
                    entropy -= if p[class] > 0.0 { p[class] * p[class].ln() } else { 0.0 };
                }
                members += p[1];
                change += (1.0 - p[1]) / 36.0;
            }
        }
        let heat = epoch.temperature * entropy;
        for (found, expected) in [
            (epoch.objective, before - heat),
            (epoch.objective_after, after - heat),
            (epoch.entropy, entropy),
            (epoch.expected_members, members),
            (epoch.change, change),
        ] {
            assert!((found - expected).abs() < 1e-9, "{word}: {found}, expected {expected}");
        }
    }
}

#[test]
fn scores_out_of_bag_pool_all_instances_over_the_trees_that_left_the_bag_out() {
    let bags = bags(20, 4, 8);
    let learner = RandomForest { rule: BagRule::Mean, weighting: Weighting::Instances, ..RandomForest::default() };
    let columns = Columns::new(bags.instances(), Resolution::Exact).unwrap();
    let labels: Vec<u32> = (0..80).map(|idx| u32::from(idx / 4 % 2 == 0)).collect();
    let offsets: Vec<usize> = (0..=20).map(|bag_idx| 4 * bag_idx).collect();
    let sample = Sample { labels: &labels, weights: None, n_classes: 2, offsets: &offsets };
    let (forest, drawn) = Forest::grow(&columns, &sample, &learner.growth(3)).unwrap();
    let model = learner.fit(&bags).unwrap();
    assert_eq!(model.forest(), &forest);
    let unseen = forest.out_of_sample_posteriors(bags.instances(), &drawn);
    for (bag_idx, score) in model.out_of_bag_scores().unwrap().into_iter().enumerate() {
        let of_bag = &unseen[4 * bag_idx..4 * (bag_idx + 1)];
        let mean = of_bag.iter().map(|posterior| posterior.as_ref().unwrap()[1]).sum::<f64>() / 4.0;
        assert!((score - (mean - 0.5)).abs() < 1e-12);
    }
    // One tree answers for just the instances that it has not drawn.
    let (lone, drawn) = Forest::grow(&columns, &sample, &Growth { n_trees: 1, ..learner.growth(3) }).unwrap();
    for (idx, posterior) in lone.out_of_sample_posteriors(bags.instances(), &drawn).into_iter().enumerate() {
        let expected = lone.posterior(bags.instances().column(idx).as_slice());
        assert_eq!(posterior, (!drawn[0].contains(idx)).then_some(expected));
        assert_eq!(drawn[0].contains(idx), drawn[0].contains(idx / 4 * 4), "bags are drawn whole");
    }
}

#[test]
fn the_gain_of_a_feature_is_a_mean_over_trees_and_planes_share_theirs() {
    let instances = DMatrix::from_fn(1, 40, |_, idx| idx as f64);
    let labels: Vec<u32> = (0..40).map(|idx| u32::from(idx >= 20)).collect();
    let columns = Columns::new(&instances, Resolution::Exact).unwrap();
    let sample = Sample { labels: &labels, weights: None, n_classes: 2, offsets: &[] };
    let growth = Growth { n_trees: 7, ..Problem::whole(Criterion::Gini, Tests::Best, 20) };
    // Every tree takes all off the index of 1/2 with its one test.
    let gains = Forest::grow(&columns, &sample, &growth).unwrap().0;
    assert!((gains.gains()[0] - 0.5).abs() < 1e-12);
    let instances = DMatrix::from_fn(2, 40, |row, idx| if row == 0 { idx as f64 } else { 40.0 - idx as f64 });
    let columns = Columns::new(&instances, Resolution::Exact).unwrap();
    let growth = Growth { n_tests: 8, ..Problem::whole(Criterion::Gini, Tests::Hyperplane(2), 20) };
    let gains = Forest::grow(&columns, &sample, &growth).unwrap().0.gains().to_vec();
    assert!((gains.iter().sum::<f64>() - 0.5).abs() < 1e-12 && (gains[0] - gains[1]).abs() < 1e-12, "{gains:?}");
}

#[test]
fn a_node_draws_on_until_a_feature_varies() {
    // Feature 0 tells the classes apart; each other sets one instance apart and is constant below.
    let instances = DMatrix::from_fn(20, 60, |row, idx| match row {
        0 => idx as f64,
        _ => f64::from(idx == row),
    });
    let labels: Vec<u32> = (0..60).map(|idx| u32::from(idx >= 30)).collect();
    let columns = Columns::new(&instances, Resolution::Exact).unwrap();
    let sample = Sample { labels: &labels, weights: None, n_classes: 2, offsets: &[] };
    let growth = Growth { n_trees: 20, n_tests: 1, ..Problem::whole(Criterion::Entropy, Tests::Best, 100) };
    let forest = Forest::grow(&columns, &sample, &growth).unwrap().0;
    for (idx, instance) in instances.column_iter().enumerate() {
        assert_eq!(forest.posterior(instance.as_slice())[labels[idx] as usize], 1.0);
    }
}

/// Instances below the threshold of a stump, for a number of seeds.
fn counts_below(values: &[f64], tests: Tests) -> Vec<usize> {
    let instances = DMatrix::from_row_slice(1, values.len(), values);
    let labels: Vec<u32> = (0..values.len() as u32).map(|idx| idx % 2).collect();
    let columns = Columns::new(&instances, Resolution::Exact).unwrap();
    let sample = Sample { labels: &labels, weights: None, n_classes: 2, offsets: &[] };
    let stump = |seed| {
        let growth = Growth { seed, ..Problem::whole(Criterion::Gini, tests, 1) };
        let tree = Forest::grow(&columns, &sample, &growth).unwrap().0.trees()[0].clone();
        values.iter().filter(|value| tree.leaf_of(&[**value]) == 0).count()
    };
    (0..60).map(stump).collect()
}

#[test]
fn random_thresholds_fall_among_the_instances_and_uniform_ones_in_their_range() {
    let mut values: Vec<f64> = (0..101).map(f64::from).collect();
    values[100] = 1e9;
    // A stump may gain nothing, and is a leaf then, with all instances in it.
    let among = |counts: &[usize]| counts.iter().filter(|count| **count < 100).count();
    let (random, uniform) = (counts_below(&values, Tests::Random), counts_below(&values, Tests::Uniform));
    assert!(among(&uniform) == 0 && among(&random) > 40, "{} {}", among(&uniform), among(&random));
    values[100] = 100.0;
    let mut spread = counts_below(&values, Tests::Uniform);
    spread.sort_unstable();
    spread.dedup();
    assert!(spread.len() > 20, "thresholds vary: {spread:?}");
}

#[test]
fn planes_do_not_see_the_units_of_features() {
    let problem_of = |scale: f64| {
        let mut rng = stream(3, "units", 0);
        DMatrix::from_fn(3, 50, |row, _| rng.random::<f64>() * if row == 1 { scale } else { 1.0 })
    };
    let labels: Vec<u32> = (0..50).map(|idx| u32::from(idx % 3 == 0)).collect();
    let sample = Sample { labels: &labels, weights: None, n_classes: 2, offsets: &[] };
    let growth = Growth { n_trees: 4, n_tests: 5, ..Problem::whole(Criterion::Gini, Tests::Hyperplane(2), 20) };
    let gains = [1.0, 1024.0].map(|scale| {
        let instances = problem_of(scale);
        let columns = Columns::new(&instances, Resolution::Exact).unwrap();
        Forest::grow(&columns, &sample, &growth).unwrap().0.gains().to_vec()
    });
    assert_eq!(gains[0], gains[1]);
}

#[test]
fn samples_are_fresh_in_every_epoch_and_for_every_tree() {
    let bags = bags(20, 3, 9);
    let fit = |max_epochs| {
        // So hot that labels are even, whatever the forest: only the draws differ.
        let learner = MiForest { max_epochs, start_temperature: 1e9, end_temperature: 1.0, ..MiForest::default() };
        learner.fit(&bags).unwrap()
    };
    assert_ne!(fit(1).forest().trees()[0], fit(2).forest().trees()[0]);
    let trees = fit(1).forest().trees().to_vec();
    assert!(trees.windows(2).any(|pair| pair[0] != pair[1]) && trees[0] != trees[49]);
}

#[test]
fn another_rule_drops_scores_out_of_bag_and_changes_no_tree() {
    let bags = bags(20, 3, 10);
    let model = RandomForest::default().fit(&bags).unwrap();
    assert!(model.out_of_bag_scores().is_ok());
    let other = model.clone().with_rule(BagRule::Mean);
    assert!(other.out_of_bag_scores().is_err() && other.forest() == model.forest());
    assert_ne!(other.score(bags.bag(0)).unwrap(), model.score(bags.bag(0)).unwrap());
}

#[test]
fn values_and_growth_that_are_none_are_refused() {
    let bad = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 2.0, f64::NAN]);
    let error = Columns::new(&bad, Resolution::Exact).unwrap_err().to_string();
    assert_eq!(error, "instance 1, feature 1 is NaN; expected a finite number");
    for (rows, columns) in [(0, 3), (3, 0)] {
        assert!(Columns::new(&DMatrix::zeros(rows, columns), Resolution::Exact).is_err());
    }
    let instances = DMatrix::from_row_slice(1, 2, &[0.0, 1.0]);
    let columns = Columns::new(&instances, Resolution::Exact).unwrap();
    let whole = Problem::whole(Criterion::Gini, Tests::Best, 3);
    let grow = |growth: &Growth, weights: &[f64]| {
        let sample = Sample { labels: &[0, 1], weights: Some(weights), n_classes: 2, offsets: &[] };
        Forest::grow(&columns, &sample, growth).map(|(forest, _)| forest.posterior(&[0.0])[0])
    };
    for growth in [
        Growth { n_trees: 0, ..whole.clone() },
        Growth { n_tests: 0, ..whole.clone() },
        Growth { min_split: 0, ..whole.clone() },
        Growth { tests: Tests::Hyperplane(0), ..whole.clone() },
    ] {
        assert!(grow(&growth, &[1.0, 1.0]).is_err());
    }
    for scale in [1e-100, 1e-99, 1.0, 1e99] {
        assert_eq!(grow(&whole, &[scale, 3.0 * scale]), Ok(1.0), "{scale}");
    }
    assert!(grow(&whole, &[1e-9, 1.0]).unwrap_err().to_string().starts_with("weights range from"));
}
