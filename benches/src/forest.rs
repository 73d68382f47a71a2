//! Random forests against scikit-learn's on the instances of Musk2, each carrying its bag's label; the multi-class MIForest against MILES for each class on half of Corel-2000; and how growth scales up to a million instances.

use std::path::PathBuf;

use mil_core::{BagLabel, BagSet, ClassId, FitError, Label, Learner, StratifiedKFold};
use mil_data::catalogue::{self, DataSet, musk2};
use mil_data::synth::WitnessParams;
use mil_forest::{Columns, Criterion, Drawn, Forest, MiForest, RandomForest, Resolution, Sample, Sampling, Weighting};
use mil_kernels::BagSimilarity;
use mil_mio::{Miles, Width};

use crate::contest::{Agreement, Challenge, Outcome, Peer, alternate, alternate_briefly, once, peak_memory, pool};

/// What scikit-learn does by default, but for the depth.
const LIKE_PEER: RandomForestChoices = RandomForestChoices { n_trees: 100, max_depth: 20 };
/// Two forests of other draws may differ by this part of their errors.
const NOISE: f64 = 0.1;

struct RandomForestChoices {
    n_trees: usize,
    max_depth: usize,
}

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let bags = musk2();
    let (n_features, n) = bags.instances().shape();
    let labels = instance_labels(&bags);
    let RandomForestChoices { n_trees, max_depth } = LIKE_PEER;
    let learner = RandomForest {
        n_trees,
        max_depth,
        criterion: Criterion::Gini,
        sampling: Sampling::Instances,
        weighting: Weighting::Instances,
        ..RandomForest::default()
    };
    let grow = || {
        let columns = Columns::new(bags.instances(), Resolution::Exact).expect("exact is no number");
        let sample = Sample { labels: &labels, weights: None, n_classes: 2, offsets: &[] };
        Forest::grow(&columns, &sample, &learner.growth(n_features)).expect("sound labels")
    };
    let out_of_bag_error = |(forest, drawn): &(Forest, Vec<Drawn>)| {
        let posteriors = forest.out_of_sample_posteriors(bags.instances(), drawn);
        let is_wrong = |(posterior, label): &(&Option<Vec<f64>>, &u32)| {
            posterior.as_ref().is_some_and(|posterior| (posterior[1] > 0.5) != (**label == 1))
        };
        posteriors.iter().zip(&labels).filter(is_wrong).count() as f64 / n as f64
    };
    let forest = grow().0;
    let predict = || forest.posteriors(bags.instances().as_slice());
    let training_loss = |posteriors: &nalgebra::DMatrix<f64>| {
        let distance = |(idx, label): (usize, &u32)| (posteriors[(1, idx)] - f64::from(*label)).abs();
        labels.iter().enumerate().map(distance).sum::<f64>() / n as f64
    };

    let instances = peer.give("musk2-instances.f64", bags.instances().as_slice())?.display().to_string();
    let classes: Vec<f64> = labels.iter().map(|label| f64::from(*label)).collect();
    let classes = peer.give("musk2-classes.f64", &classes)?.display().to_string();
    let size = format!("Musk2 {n} x {n_features}, {n_trees} trees of depth {max_depth}, Gini");
    let mut outcomes = Vec::new();
    for (n_threads, threads) in [(1, "one thread"), (2, "two threads")] {
        let args = |task: &str| {
            let numbers = [n_features, n_trees, max_depth, n_threads].map(|number| number.to_string());
            [vec![instances.clone(), classes.clone(), task.to_owned()], numbers.to_vec()].concat()
        };
        let script = include_str!("../peers/forest.py");
        let pool = pool(n_threads)?;
        let (args_of_fit, args_of_prediction) = (args("fit"), args("predict"));
        let challenge = Challenge { script, args: &args_of_fit, agreement: Agreement::NoWorse(NOISE) };
        let name = format!("random forest, {size}, {threads}");
        outcomes.push(pool.install(|| alternate(name, grow, out_of_bag_error, peer, &challenge))?);
        let challenge = Challenge { script, args: &args_of_prediction, agreement: Agreement::NoWorse(NOISE) };
        let name = format!("posteriors of a random forest, {size}, {threads}");
        outcomes.push(pool.install(|| alternate(name, predict, training_loss, peer, &challenge))?);
    }
    Ok(outcomes)
}

fn instance_labels(bags: &BagSet<Label>) -> Vec<u32> {
    let of_bag =
        |bag_idx: usize| std::iter::repeat_n(bags.labels()[bag_idx].class_idx() as u32, bags.columns_of(bag_idx).len());
    (0..bags.n_bags()).flat_map(of_bag).collect()
}

/// Turns of the two that take turns on Corel.
const N_TURNS: usize = 3;
/// What the paper's two take on half of Corel-2000 in seconds, MIForest and MILES (MIForests, Table 2).
const OF_PAPER: [f64; 2] = [22.0, 960.0];

/// One forest of all classes against a machine of MILES for each, and against a solver of linear programs for the first class.
pub(crate) fn run_corel(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let Some(bags) = corel() else {
        eprintln!(
            "Corel-2000 is not here and left out; set MIL_DATA to a folder that has it, see `cargo xtask data fetch`"
        );
        return Ok(Vec::new());
    };
    let say = |error: FitError| error.to_string();
    let halves = StratifiedKFold { n_folds: 2, n_repeats: 1, seed: 1 };
    let halves = halves.split(bags.labels()).map_err(|error| error.to_string())?;
    let half = bags.select(&halves[0].train);
    let (n_bags, n) = (half.n_bags(), half.n_instances());
    let miles = Miles { width: Width::OverMedian(0.1), lambda: 0.5, ..Miles::default() };
    let tasks: Vec<BagSet<Label>> =
        (0..half.n_classes() as u32).map(|class| half.one_against_rest(ClassId(class))).collect();

    let one = pool(1)?;
    let (mut of_forest, mut of_miles) = (Vec::new(), Vec::new());
    for _ in 0..N_TURNS {
        let (outcome, fitted) = one.install(|| once(String::new(), || MiForest::default().fit(&half)));
        fitted.map_err(say)?;
        of_forest.extend(outcome.ours);
        let machines = || tasks.iter().map(|task| miles.fit(task)).collect::<Result<Vec<_>, _>>();
        let (outcome, fitted) = one.install(|| once(String::new(), machines));
        fitted.map_err(say)?;
        of_miles.extend(outcome.ours);
    }
    let name = format!(
        "MIForest, {} classes, half of Corel-2000, {n_bags} bags, {n} instances, one thread, against our own MILES for each class (times in the paper: {:.3})",
        tasks.len(),
        OF_PAPER[0] / OF_PAPER[1]
    );
    let peer_name = format!("MILES, {} machines", tasks.len());
    let mut outcomes = vec![Outcome { name, ours: of_forest, peer: Some((peer_name, of_miles)) }];

    // The program of one class of the twenty, by a solver as there were when the paper was written; the others are alike.
    let selection = miles.select(&tasks[0]).map_err(say)?;
    let similarity = BagSimilarity::new(half.instances(), selection.sigma2).map_err(|error| error.to_string())?;
    let features = similarity.to_bags(&tasks[0]).map_err(|error| error.to_string())?;
    let signs: Vec<f64> = tasks[0].labels().iter().map(|label| label.sign()).collect();
    let args = [
        peer.give("corel-miles.f64", features.as_slice())?.display().to_string(),
        peer.give("corel-signs.f64", &signs)?.display().to_string(),
        n.to_string(),
        miles.lambda.to_string(),
    ];
    let agreement = Agreement::AnotherProblem;
    let challenge = Challenge { script: include_str!("../peers/one_norm.py"), args: &args, agreement };
    let name = format!(
        "MIForest as before, against the linear program of MILES for one of {} classes, {n_bags} x {n}",
        tasks.len()
    );
    let fit = || MiForest::default().fit(&half).expect("it has been fitted before");
    outcomes.push(one.install(|| alternate_briefly(2, name, fit, |_| 0.0, peer, &challenge))?);
    Ok(outcomes)
}

fn corel() -> Option<BagSet<ClassId>> {
    let target = std::env::var_os("MIL_TARGET").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = std::env::var_os("MIL_DATA").map_or_else(|| target.join("data"), PathBuf::from);
    match catalogue::find("corel-2000").ok()?.load(Some(&folder)).ok()? {
        DataSet::Classes(bags) => Some(bags),
        _ => None,
    }
}

/// Bags of ten.
const N_BAGS: [usize; 3] = [1_000, 10_000, 100_000];
const BAG_SIZE: usize = 10;
const N_FEATURES: usize = 100;

/// Ever more instances on all threads, in as many bins as fit into a byte.
pub(crate) fn run_scale(_: &Peer) -> Result<Vec<Outcome>, String> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for n_bags in N_BAGS {
        let bags = WitnessParams {
            n_positive: n_bags / 2,
            n_negative: n_bags / 2,
            n_features: N_FEATURES,
            min_bag_size: BAG_SIZE,
            max_bag_size: BAG_SIZE,
            witness_rate: 0.5,
            separation: 3.0,
            seed: 1,
        };
        let bags = bags.generate().map_err(|error| error.to_string())?;
        let learner = RandomForest { resolution: Resolution::Bins(256), ..RandomForest::default() };
        let (mut outcome, fitted) = once(String::new(), || learner.fit(&bags));
        let model = fitted.map_err(|error| error.to_string())?;
        let growth = outcomes
            .last()
            .map_or_else(String::new, |last| format!(", exponent {:.2}", (outcome.ours[0] / last.ours[0]).log10()));
        let n_leaves: usize = model.forest().trees().iter().map(mil_forest::Tree::n_leaves).sum();
        outcome.name = format!(
            "random forest, {} x {N_FEATURES} synthetic in bags of {BAG_SIZE}, {} trees of depth {}, 256 bins, {} threads: {n_leaves} leaves, peak memory {}{growth}",
            bags.n_instances(),
            learner.n_trees,
            learner.max_depth,
            rayon::current_num_threads(),
            peak_memory()
                .map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.2} GiB", bytes / f64::from(1 << 30))),
        );
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
