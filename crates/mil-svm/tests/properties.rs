//! What theory says of mi-SVM, MI-SVM and the naive machine, on random bag sets.

mod common;

use common::{CLOSE, TOLERANCE, bags, half_squared_norm, kernels, never_rises, values};
use mil_core::{
    BagModel, BagSet, Calibrated, CrossValidation, HeldOut, Label, Learner, StratifiedKFold, Tunable, best_threshold,
};
use mil_kernels::{BagScale, Kernel, KernelChoice};
use mil_svm::{
    GridReport, GridSearch, InstanceSvm, MiSvmBag, MiSvmPattern, Nsk, OverKernel, SilSvm, Slack, Stk, Stop,
    WitnessStart,
};
use mil_testkit::strategies::{Flavour, bag_sets_of};
use proptest::prelude::*;

fn pattern(kernel: &Kernel, penalty: f64) -> MiSvmPattern {
    MiSvmPattern { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() }
}

fn bag(kernel: &Kernel, penalty: f64, slack: Slack) -> MiSvmBag {
    MiSvmBag { kernel: kernel.clone(), penalty, slack, tolerance: TOLERANCE, ..Default::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn imputation_never_raises_the_objective(bags in bags(), kernel in kernels(), penalty in 0.1..20.0) {
        let (_, trace) = pattern(&kernel, penalty).fit_traced(&bags).unwrap();
        never_rises(&trace.objectives)?;
        prop_assert_ne!(trace.stop, Stop::RoundLimit);
    }

    #[test]
    fn selection_never_raises_the_objective(bags in bags(), kernel in kernels(), penalty in 0.1..20.0) {
        for slack in [Slack::PerBag, Slack::PerInstance] {
            let (_, trace) = bag(&kernel, penalty, slack).fit_traced(&bags).unwrap();
            never_rises(&trace.objectives)?;
            prop_assert_ne!(trace.stop, Stop::RoundLimit);
        }
    }

    #[test]
    fn the_objective_of_imputation_is_that_of_its_definition(bags in bags(), kernel in kernels(), weight in 0.5..3.0) {
        let penalty = 2.0;
        let learner = MiSvmPattern { positive_weight: weight, ..pattern(&kernel, penalty) };
        let (model, trace) = learner.fit_traced(&bags).unwrap();
        prop_assume!(trace.stop == Stop::FixedPoint);
        let mut labels = trace.choice.iter();
        let mut objective = half_squared_norm(&model, &kernel);
        for bag_idx in 0..bags.n_bags() {
            for value in values(&model, &bags, bag_idx) {
                let label = match bags.labels()[bag_idx] {
                    Label::Positive => *labels.next().unwrap(),
                    Label::Negative => Label::Negative,
                };
                objective += match label {
                    Label::Positive => penalty * weight * (1.0 - value).max(0.0),
                    Label::Negative => penalty * (1.0 + value).max(0.0),
                };
            }
        }
        let last = *trace.objectives.last().unwrap();
        prop_assert!((objective - last).abs() <= CLOSE * last.max(1.0), "{objective} by definition, {last} told");
    }

    #[test]
    fn the_objective_of_selection_is_that_of_its_definition(bags in bags(), kernel in kernels(), weight in 0.5..3.0) {
        let penalty = 2.0;
        for slack in [Slack::PerBag, Slack::PerInstance] {
            let learner = MiSvmBag { positive_weight: weight, ..bag(&kernel, penalty, slack) };
            let (model, trace) = learner.fit_traced(&bags).unwrap();
            prop_assume!(trace.stop == Stop::FixedPoint);
            let mut witnesses = trace.choice.iter();
            let mut objective = half_squared_norm(&model, &kernel);
            for bag_idx in 0..bags.n_bags() {
                let values = values(&model, &bags, bag_idx);
                let slacks = values.iter().map(|value| (1.0 + value).max(0.0));
                objective += match (bags.labels()[bag_idx], slack) {
                    (Label::Positive, _) => {
                        let witness = witnesses.next().unwrap().expect("the mean is no fixed point");
                        penalty * weight * (1.0 - values[witness]).max(0.0)
                    }
                    (Label::Negative, Slack::PerBag) => penalty * slacks.fold(0.0, f64::max),
                    (Label::Negative, Slack::PerInstance) => penalty * slacks.sum::<f64>(),
                };
            }
            let last = *trace.objectives.last().unwrap();
            prop_assert!((objective - last).abs() <= CLOSE * last.max(1.0), "{objective} by definition, {last} told");
        }
    }

    #[test]
    fn bags_of_one_instance_make_all_three_the_plain_machine(
        bags in bag_sets_of(Flavour::SingleInstances, 2),
        kernel in kernels(),
        weight in 0.5..3.0,
    ) {
        let plain = SilSvm { kernel: kernel.clone(), penalty: 2.0, positive_weight: weight, tolerance: TOLERANCE, ..Default::default() };
        let plain = plain.fit(&bags).unwrap();
        let objective = |model: &InstanceSvm| {
            let slack = |bag_idx: usize| {
                let value = values(model, &bags, bag_idx)[0];
                match bags.labels()[bag_idx] {
                    Label::Positive => 2.0 * weight * (1.0 - value).max(0.0),
                    Label::Negative => 2.0 * (1.0 + value).max(0.0),
                }
            };
            half_squared_norm(model, &kernel) + (0..bags.n_bags()).map(slack).sum::<f64>()
        };
        let expected = objective(&plain);
        let imputed = MiSvmPattern { positive_weight: weight, ..pattern(&kernel, 2.0) }.fit(&bags).unwrap();
        let mut others = vec![imputed];
        for slack in [Slack::PerBag, Slack::PerInstance] {
            for start in [WitnessStart::FeatureMean, WitnessStart::InputMean] {
                let learner = MiSvmBag { positive_weight: weight, start, ..bag(&kernel, 2.0, slack) };
                others.push(learner.fit(&bags).unwrap());
            }
        }
        for other in others {
            let found = objective(&other);
            prop_assert!((found - expected).abs() <= CLOSE * expected.max(1.0), "{found}, expected {expected}");
        }
    }

    #[test]
    fn rows_that_are_forgotten_give_the_same_optimum(bags in bags(), kernel in kernels()) {
        // The memory of one MiB keeps all rows of these small sets; that of none, which no parameter allows, is reached by a machine's own kernel.
        let kept = mil_svm::InstanceKernel::new(&kernel, &bags, 1 << 20).unwrap();
        let forgotten = mil_svm::InstanceKernel::new(&kernel, &bags, 0).unwrap();
        let all: Vec<usize> = (0..bags.n_bags()).collect();
        let learner = SilSvm { kernel: kernel.clone(), tolerance: TOLERANCE, ..Default::default() };
        let [first, second] = [&kept, &forgotten].map(|values| learner.held_out_scores(&bags, values, &all, &all).unwrap());
        for (first, second) in first.iter().zip(&second) {
            prop_assert!((first - second).abs() <= 1e-3 * first.abs().max(1.0), "{first} kept, {second} forgotten");
        }
    }

    #[test]
    fn a_bag_held_out_has_no_say(bags in bags(), kernel in kernels()) {
        let fold = &StratifiedKFold { n_folds: 2, n_repeats: 1, seed: 1 }.split(bags.labels()).unwrap()[0];
        let train = bags.select(&fold.train);
        let learner = SilSvm { kernel: kernel.clone(), tolerance: TOLERANCE, ..Default::default() };
        let held_out = learner.held_out_scores(&bags, &learner.values(&bags).unwrap(), &fold.train, &fold.test).unwrap();
        let model = learner.fit(&train).unwrap();
        for (&bag_idx, held_out) in fold.test.iter().zip(held_out) {
            let alone = model.score(bags.bag(bag_idx)).unwrap();
            prop_assert!((alone - held_out).abs() <= 1e-4 * alone.abs().max(1.0), "{alone} alone, {held_out} held out");
        }
    }
}

#[test]
fn restarts_can_only_help() {
    let bags = mil_data::catalogue::musk1();
    let bags = bags.select(&(20..70).collect::<Vec<_>>());
    let objective = |n_restarts| {
        let learner =
            MiSvmBag { kernel: Kernel::Gaussian { gamma: 1e-6 }, n_restarts, tolerance: 1e-6, ..Default::default() };
        *learner.fit_traced(&bags).unwrap().1.objectives.last().unwrap()
    };
    let (alone, with_restarts) = (objective(0), objective(5));
    assert!(with_restarts <= alone, "{alone} alone, {with_restarts} with restarts");
}

#[test]
fn the_grid_finds_the_cell_that_cross_validation_prefers() {
    let bags = mil_data::catalogue::musk1();
    let bags = bags.select(&(30..62).collect::<Vec<_>>());
    let grid = GridSearch {
        kernels: vec![KernelChoice::Fixed(Kernel::Gaussian { gamma: 1e-9 }), KernelChoice::GaussianOverMedian(2.0)],
        penalties: vec![0.01, 10.0],
        n_folds: 4,
        seed: 3,
        ..GridSearch::of(SilSvm { tolerance: 1e-6, ..Default::default() })
    };
    let report = grid.search(&bags).unwrap();
    for cell in &report.cells {
        let learner =
            SilSvm { kernel: cell.kernel.clone(), penalty: cell.penalty, tolerance: 1e-6, ..Default::default() };
        let plan = CrossValidation { n_folds: 4, n_repeats: 1, seed: 3 };
        let accuracy = plan.run(&learner, &bags, &()).unwrap().accuracy().mean;
        assert_eq!(accuracy, cell.accuracy, "{cell:?}");
    }
    let best = report.cells.iter().map(|cell| cell.accuracy).fold(0.0, f64::max);
    assert_eq!(report.best_cell().accuracy, best);
    let n_right = report
        .scores
        .iter()
        .zip(bags.labels())
        .filter(|(score, label)| (**score >= 0.0) == (**label == Label::Positive))
        .count();
    assert_eq!(n_right as f64 / bags.n_bags() as f64, best, "the scores are those of the best cell");
    assert!(report.cells.iter().any(|cell| cell.accuracy < best), "a grid in which all is equal tells nothing");
}

#[test]
fn a_search_gives_its_own_scores_to_thresholds() {
    let bags = mil_data::catalogue::musk1();
    let bags = bags.select(&(30..62).collect::<Vec<_>>());
    let search = GridSearch {
        kernels: vec![KernelChoice::GaussianOverMedian(2.0)],
        penalties: vec![1.0, 10.0],
        n_folds: 4,
        ..GridSearch::of(SilSvm::default())
    };
    let report = search.search(&bags).unwrap();
    let model = Calibrated { learner: search, source: HeldOut }.fit(&bags).unwrap();
    assert_eq!(model.threshold(), best_threshold(&report.scores, bags.labels()));
}

#[test]
fn penalties_share_kernel_values_and_kernels_do_not() {
    fn require<L: OverKernel>(learner: &L) {
        let of = |penalty, gamma| learner.tuned(penalty, &Kernel::Gaussian { gamma });
        assert!(of(1.0, 0.5).shares_values(&of(10.0, 0.5)));
        assert!(!of(1.0, 0.5).shares_values(&of(1.0, 0.25)));
    }
    require(&SilSvm::default());
    require(&Nsk::default());
    require(&Stk::default());
    assert!(!SilSvm::default().shares_values(&SilSvm { memory_mib: 0, ..Default::default() }));
    assert!(!Nsk::default().shares_values(&Nsk { scale: BagScale::Mean, ..Default::default() }));
}

/// The report of a search on so many threads.
fn searched_on<L: OverKernel>(n_threads: usize, learner: &L, bags: &BagSet<Label>) -> GridReport {
    let search = GridSearch {
        kernels: vec![KernelChoice::GaussianOverMedian(1.0), KernelChoice::GaussianOverMedian(8.0)],
        penalties: vec![0.5, 1.0, 10.0],
        n_folds: 4,
        ..GridSearch::of(learner.clone())
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    pool.install(|| search.search(bags).unwrap())
}

#[test]
fn searches_that_share_rows_do_not_feel_each_other() {
    let bags = mil_data::catalogue::musk1();
    let alone = (searched_on(1, &SilSvm::default(), &bags), searched_on(1, &MiSvmBag::default(), &bags));
    for n_threads in [2, 3, 7] {
        let found =
            (searched_on(n_threads, &SilSvm::default(), &bags), searched_on(n_threads, &MiSvmBag::default(), &bags));
        assert!(found == alone, "on {n_threads} threads");
    }
}

#[test]
fn a_width_in_units_of_no_distance_is_refused() {
    let mut builder = BagSet::builder();
    for idx in 0..6 {
        let label = if idx % 2 == 0 { Label::Positive } else { Label::Negative };
        builder.bag(idx.to_string(), label, [[1.0, 2.0]]).unwrap();
    }
    let error = GridSearch::of(SilSvm::default()).fit(&builder.build().unwrap()).unwrap_err();
    assert!(error.to_string().contains("median"), "{error}");
}
