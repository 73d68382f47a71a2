//! Random forests against scikit-learn's on the instances of Musk2, each carrying its bag's label; the multi-class MIForest against MILES for each class on half of Corel-2000; and how both grow with instances.

use mil_core::{BagSet, ClassId, Label, Learner, StratifiedKFold};
use mil_data::catalogue::{DataSet, musk2};
use mil_forest::{Columns, Criterion, Drawn, Forest, MiForest, RandomForest, Resolution, Sample, Sampling, Weighting};
use mil_kernels::BagSimilarity;
use mil_mio::{Miles, Width};

use super::{fetched, say};
use crate::contest::{Bench, Contest, Entry, Work};
use crate::curve::{Curve, PeerCurve, Stopwatch, pool};
use crate::data::{self, N_FEATURES};
use crate::duel::{Calls, Challenge, alternate, alternate_ours};
use crate::peer::{Agreement, Peer};

pub(super) const DUELS: Contest = Contest {
    name: "forest",
    about: "growing a random forest on Musk2, and its posteriors, against scikit-learn",
    notes: &[
        "The two draw differently; their out-of-bag errors must agree to a tenth. Posteriors take milliseconds and are easily disturbed.",
    ],
    work: Work::Duels(duels),
};

pub(super) const COREL_DUELS: Contest = Contest {
    name: "forest_corel",
    about: "MIForest on half of Corel-2000 against our own MILES for each class, and against HiGHS",
    notes: &[
        "In the paper's Table 2 MIForest takes 22 seconds and MILES 960, a ratio of 0.023. It is the MILES of its time that made the difference: ours takes the program of a class by column generation. The line against HiGHS shows what a general solver makes of one class of twenty, without the similarities.",
    ],
    work: Work::Duels(corel_duels),
};

pub(super) const GROWTH: Contest = Contest {
    name: "forest_growth",
    about: "how a random forest grows with instances, ours and scikit-learn's, and ours in 256 bins; with --long up to a million",
    notes: &[],
    work: Work::Curves(&[
        Curve {
            name: "forest",
            title: "random forest, exact, 100 features, 20 trees of depth 20, Gini, one thread",
            unit: "instances",
            sizes: &[2000, 4000, 8000, 16_000, 32_000],
            long_sizes: &[64_000, 128_000],
            measure: |n, watch| measure(Resolution::Exact, n, watch),
            peer: Some(PeerCurve {
                script: include_str!("../../peers/forest.py"),
                args,
                agreement: Agreement::AnotherProblem,
                most: 64_000,
            }),
        },
        Curve {
            name: "forest_bins",
            title: "random forest, 256 bins, 100 features, 20 trees of depth 20, Gini, one thread",
            unit: "instances",
            sizes: &[4000, 8000, 16_000, 32_000, 64_000],
            long_sizes: &[128_000, 256_000, 512_000, 1_024_000],
            measure: |n, watch| measure(Resolution::Bins(256), n, watch),
            peer: None,
        },
    ]),
};

pub(super) const MI_FOREST_GROWTH: Contest = Contest {
    name: "mi_forest_growth",
    about: "how MIForest grows with instances",
    notes: &[],
    work: Work::Curves(&[Curve {
        name: "mi_forest",
        title: "MIForest, bags of 10, 100 features, 50 trees of depth 20, one thread",
        unit: "instances",
        sizes: &[500, 1000, 2000, 4000, 8000],
        long_sizes: &[16_000, 32_000],
        measure: measure_mi_forest,
        peer: None,
    }]),
};

/// Two forests of other draws may differ by this part of their errors.
const NOISE: f64 = 0.1;

/// Trees, as many as scikit-learn has by default, and their depth.
const N_TREES: usize = 100;
const MAX_DEPTH: usize = 20;

/// What scikit-learn does by default, but for the depth.
fn like_peer(n_trees: usize) -> RandomForest {
    RandomForest {
        n_trees,
        max_depth: MAX_DEPTH,
        criterion: Criterion::Gini,
        sampling: Sampling::Instances,
        weighting: Weighting::Instances,
        ..RandomForest::default()
    }
}

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let bags = musk2();
    let (n_features, n) = bags.instances().shape();
    let labels = data::instance_classes(&bags);
    let learner = like_peer(N_TREES);
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

    let instances = bench.peer.give("musk2-instances.f64", bags.instances().as_slice())?;
    let classes: Vec<f64> = labels.iter().map(|label| f64::from(*label)).collect();
    let classes = bench.peer.give("musk2-classes.f64", &classes)?;
    let size = format!("Musk2 {n} x {n_features}, {N_TREES} trees of depth {MAX_DEPTH}, Gini");
    for (n_threads, threads) in [(1, "one thread"), (2, "two threads")] {
        let args = |task: &str| {
            let numbers = [n_features, N_TREES, MAX_DEPTH, n_threads].map(|number| number.to_string());
            [vec![instances.clone(), classes.clone(), task.to_owned()], numbers.to_vec()].concat()
        };
        let pool = pool(n_threads)?;
        let (args_of_fit, args_of_prediction) = (args("fit"), args("predict"));
        let challenge = Challenge {
            script: include_str!("../../peers/forest.py"),
            args: &args_of_fit,
            agreement: Agreement::NoWorse(NOISE),
            total: Some("out-of-bag error"),
            calls: Calls::Few,
        };
        let name = format!("random forest, {size}, {threads}");
        entry.duels.push(pool.install(|| alternate(name, grow, out_of_bag_error, bench, &challenge))?);
        let challenge = Challenge { args: &args_of_prediction, total: None, calls: Calls::Many, ..challenge };
        let name = format!("posteriors of a random forest, {size}, {threads}");
        entry.duels.push(pool.install(|| alternate(name, predict, training_loss, bench, &challenge))?);
    }
    Ok(())
}

/// One forest of all classes against a machine of MILES for each, and against a solver of linear programs for the first class.
fn corel_duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let Some(DataSet::Classes(bags)) = fetched("corel-2000") else {
        entry.left_out.push(
            "Corel-2000 is not here; set MIL_DATA to a folder that has it, see `cargo xtask data fetch`".to_owned(),
        );
        return Ok(());
    };
    let halves = StratifiedKFold { n_folds: 2, n_repeats: 1, seed: 1 }.split(bags.labels()).map_err(say)?;
    let half = bags.select(&halves[0].train);
    let (n_bags, n) = (half.n_bags(), half.n_instances());
    let miles = Miles { width: Width::OverMedian(0.1), lambda: 0.5, ..Miles::default() };
    let tasks: Vec<BagSet<Label>> =
        (0..half.n_classes() as u32).map(|class| half.one_against_rest(ClassId(class))).collect();
    // Seen once to work, before the clock.
    MiForest::default().fit(&half).map_err(say)?;
    tasks.iter().try_for_each(|task| miles.fit(task).map(drop)).map_err(say)?;
    let fit = || MiForest::default().fit(&half).expect("it has been fitted before");
    let machines = || tasks.iter().map(|task| miles.fit(task).expect("it has been fitted before")).collect::<Vec<_>>();

    let one = pool(1)?;
    let size = format!("{} classes, half of Corel-2000, {n_bags} bags, {n} instances, one thread", tasks.len());
    let name = format!("MIForest, {size}, against our own MILES for each class");
    let other = format!("MILES, {} machines", tasks.len());
    entry.duels.push(one.install(|| alternate_ours(name, fit, &other, machines, bench)));

    // The program of one class of the twenty, by a solver as there were when the paper was written; the others are alike.
    let selection = miles.select(&tasks[0]).map_err(say)?;
    let similarity = BagSimilarity::new(half.instances(), selection.sigma2).map_err(say)?;
    let features = similarity.to_bags(&tasks[0]).map_err(say)?;
    let signs: Vec<f64> = tasks[0].labels().iter().map(|label| label.sign()).collect();
    let args = [
        bench.peer.give("corel-miles.f64", features.as_slice())?,
        bench.peer.give("corel-signs.f64", &signs)?,
        n.to_string(),
        miles.lambda.to_string(),
    ];
    let challenge = Challenge {
        script: include_str!("../../peers/one_norm.py"),
        args: &args,
        agreement: Agreement::AnotherProblem,
        total: None,
        calls: Calls::One,
    };
    let name = format!("MIForest, {size}, against the linear program of MILES for one class, {n_bags} x {n}");
    entry.duels.push(one.install(|| alternate(name, fit, |_| 0.0, bench, &challenge))?);
    Ok(())
}

/// Trees of a forest whose growth is measured.
const N_GROWTH_TREES: usize = 20;

/// Making the columns is on the clock, since the peer sorts, too.
fn measure(resolution: Resolution, n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let bags = data::bags(n, data::ALL)?;
    let labels = data::instance_classes(&bags);
    let learner = like_peer(N_GROWTH_TREES);
    let (forest, _) = watch.repeat(|| {
        let columns = Columns::new(bags.instances(), resolution).expect("at least two bins");
        let sample = Sample { labels: &labels, weights: None, n_classes: 2, offsets: &[] };
        Forest::grow(&columns, &sample, &learner.growth(N_FEATURES)).expect("sound labels")
    });
    let n_leaves: usize = forest.trees().iter().map(mil_forest::Tree::n_leaves).sum();
    Ok((0.0, Some(format!("{n_leaves} leaves"))))
}

fn args(n: usize, peer: &Peer) -> Result<Vec<String>, String> {
    let classes = |bags: &BagSet<Label>| data::instance_classes(bags).into_iter().map(f64::from).collect();
    let mut args = data::give(n, peer, classes)?.to_vec();
    args.push("grow".to_owned());
    args.extend([N_FEATURES, N_GROWTH_TREES, MAX_DEPTH, 1].map(|number| number.to_string()));
    Ok(args)
}

fn measure_mi_forest(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let bags = data::bags(n, data::HALF)?;
    let learner = MiForest { n_trees: 50, max_depth: MAX_DEPTH, ..MiForest::default() };
    watch.repeat(|| learner.fit(&bags)).map_err(say)?;
    Ok((f64::NAN, None))
}
