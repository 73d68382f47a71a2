//! What theory says of the rivals of mi-SVM and MI-SVM, on random bag sets.

mod common;

use common::{CLOSE, TOLERANCE, bags, half_squared_norm, kernels, never_rises, values};
use mil_core::{BagModel, BagSet, Label, Learner, Scaler, Scaling, StratifiedKFold};
use mil_kernels::Kernel;
use mil_svm::{
    AlSvm, AwSvm, InstanceSvm, Level, MiSvmBag, MiSvmPattern, Mica, MissSvm, OverKernel, Sbmil, SilSvm, Slack, Smil,
    Stmil, Stop,
};
use mil_testkit::brute;
use mil_testkit::strategies::{Flavour, bag_sets_of};
use proptest::prelude::*;

/// What a bag of one label adds to an objective, given $f$ at its instances.
type BagCost<'a> = &'a dyn Fn(Label, &[f64]) -> f64;

/// An objective by its definition: half the squared norm, and what each bag adds.
fn objective(model: &InstanceSvm, kernel: &Kernel, bags: &BagSet<Label>, cost: BagCost<'_>) -> f64 {
    let costs = (0..bags.n_bags()).map(|bag_idx| cost(bags.labels()[bag_idx], &values(model, bags, bag_idx)));
    half_squared_norm(model, kernel) + costs.sum::<f64>()
}

fn positive_part(value: f64) -> f64 {
    value.max(0.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Counts of negative instances, positive bags, and positive instances, as the weights of the sparse methods want them.
fn counts(bags: &BagSet<Label>) -> (f64, f64, f64) {
    let n_of = |label| {
        bags.bags().zip(bags.labels()).filter(|(_, of)| **of == label).map(|(bag, _)| bag.n_instances()).sum::<usize>()
    };
    (n_of(Label::Negative) as f64, bags.positive_bags().count() as f64, n_of(Label::Positive) as f64)
}

/// The cost of sMIL, by Bunescu & Mooney's problem.
fn sparse_cost(bags: &BagSet<Label>, penalty: f64) -> impl Fn(Label, &[f64]) -> f64 {
    let (n_negative, n_positive_bags, _) = counts(bags);
    move |label, values| match label {
        Label::Negative => penalty / n_negative * values.iter().map(|f| positive_part(1.0 + f)).sum::<f64>(),
        Label::Positive => {
            let size = values.len() as f64;
            penalty / n_positive_bags * positive_part((2.0 - size) / size - mean(values))
        }
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= CLOSE * expected.abs().max(1.0)
}

fn never_rises_at_a_temperature(levels: &[Level]) -> Result<(), TestCaseError> {
    for level in levels {
        let energies = &level.free_energies;
        for pair in energies.windows(2) {
            // The machine's part of the free energy is known to the tolerance; the whole may be far from it by the entropy.
            let scale = pair[0].abs().max(level.temperature * level.entropy).max(1.0);
            prop_assert!(pair[1] <= pair[0] + CLOSE * scale, "{energies:?} at {}", level.temperature);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_small_step_improves_smil(bags in bags(), penalty in 0.5..50.0, steps in prop::collection::vec(-1.0..1.0, 5)) {
        let model = Smil { penalty, tolerance: TOLERANCE, ..Default::default() }.fit(&bags).unwrap();
        let weights = model.separator().weights().unwrap();
        let cost = sparse_cost(&bags, penalty);
        let at = |size: f64| {
            let mut moved = weights.clone();
            moved.iter_mut().zip(&steps).for_each(|(weight, step)| *weight += size * step);
            let bias = model.separator().bias() + size * steps[4];
            let costs = (0..bags.n_bags()).map(|bag_idx| {
                let values: Vec<f64> =
                    bags.bag(bag_idx).matrix().column_iter().map(|x| moved.dot(&x) + bias).collect();
                cost(bags.labels()[bag_idx], &values)
            });
            0.5 * moved.norm_squared() + costs.sum::<f64>()
        };
        let here = at(0.0);
        for size in [1e-3, 1e-2, 0.1, 1.0] {
            prop_assert!(here <= at(size) + CLOSE * here.max(1.0), "{here} here, {} there", at(size));
        }
    }

    #[test]
    fn transduction_never_raises_the_objective_and_tells_it(bags in bags(), kernel in kernels(), penalty in 0.5..50.0) {
        let learner = Stmil { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() };
        let (model, trace) = learner.fit_traced(&bags).unwrap();
        never_rises(&trace.objectives)?;
        prop_assert_ne!(trace.stop, Stop::RoundLimit);
        prop_assume!(trace.stop == Stop::FixedPoint);
        let (_, _, n_positive) = counts(&bags);
        let sparse = sparse_cost(&bags, penalty);
        let cost = |label, values: &[f64]| sparse(label, values) + match label {
            Label::Negative => 0.0,
            Label::Positive => penalty / n_positive * values.iter().map(|f| positive_part(1.0 - f.abs())).sum::<f64>(),
        };
        let (found, told) = (objective(&model, &kernel, &bags, &cost), *trace.objectives.last().unwrap());
        prop_assert!(close(found, told), "{found} by definition, {told} told");
    }

    #[test]
    fn miss_svm_never_raises_the_objective_and_tells_it(bags in bags(), kernel in kernels(), penalty in 0.5..50.0) {
        let learner = MissSvm { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() };
        let (model, trace) = learner.fit_traced(&bags).unwrap();
        never_rises(&trace.objectives)?;
        prop_assert_ne!(trace.stop, Stop::RoundLimit);
        prop_assume!(trace.stop == Stop::FixedPoint);
        let (n_negative, n_positive_bags, n_positive) = counts(&bags);
        let cost = |label, values: &[f64]| match label {
            Label::Negative => penalty / n_negative * values.iter().map(|f| positive_part(1.0 + f)).sum::<f64>(),
            Label::Positive => {
                penalty / n_positive_bags * positive_part(1.0 - greatest(values))
                    + penalty / n_positive * values.iter().map(|f| positive_part(1.0 - f.abs())).sum::<f64>()
            }
        };
        let (found, told) = (objective(&model, &kernel, &bags, &cost), *trace.objectives.last().unwrap());
        prop_assert!(close(found, told), "{found} by definition, {told} told");
    }

    #[test]
    fn mica_never_raises_the_objective_and_tells_it(bags in bags(), kernel in kernels(), penalty in 0.1..20.0) {
        let (model, trace) = Mica { kernel: kernel.clone(), penalty, ..Default::default() }.fit_traced(&bags).unwrap();
        never_rises(&trace.objectives)?;
        prop_assert_ne!(trace.stop, Stop::RoundLimit);
        prop_assert!(model.defect() <= 1e-6, "{}", model.defect());
        prop_assume!(trace.stop == Stop::FixedPoint);
        let norm: f64 = match (model.separator().weights(), model.separator().support()) {
            (Some(weights), _) => weights.iter().map(|weight| weight.abs()).sum(),
            (None, Some((_, weights))) => weights.iter().map(|weight| weight.abs()).sum(),
            (None, None) => unreachable!("a separator has one form or the other"),
        };
        let costs = (0..bags.n_bags()).map(|bag_idx| {
            let values = values(&model, &bags, bag_idx);
            penalty * match bags.labels()[bag_idx] {
                Label::Negative => values.iter().map(|f| positive_part(1.0 + f)).sum::<f64>(),
                Label::Positive => positive_part(1.0 - greatest(&values)),
            }
        });
        let (found, told) = (norm + costs.sum::<f64>(), *trace.objectives.last().unwrap());
        prop_assert!(close(found, told), "{found} by definition, {told} told");
    }

    #[test]
    fn free_energy_never_rises_at_a_temperature(bags in bags(), kernel in kernels(), weight in 0.5..3.0) {
        let labels = AlSvm { kernel: kernel.clone(), positive_weight: weight, tolerance: TOLERANCE, ..Default::default() };
        let (_, trace) = labels.fit_traced(&bags).unwrap();
        never_rises_at_a_temperature(&trace.levels)?;
        never_rises(&trace.alternation.objectives)?;
        for slack in [Slack::PerBag, Slack::PerInstance] {
            let kernel = kernel.clone();
            let learner = AwSvm { kernel, positive_weight: weight, slack, tolerance: TOLERANCE, ..Default::default() };
            let (_, trace) = learner.fit_traced(&bags).unwrap();
            never_rises_at_a_temperature(&trace.levels)?;
            never_rises(&trace.alternation.objectives)?;
        }
    }

    #[test]
    fn annealing_ends_no_higher_than_its_plain_sibling(bags in bags(), kernel in kernels(), penalty in 0.1..20.0) {
        let least = |objectives: &[f64]| objectives.iter().copied().fold(f64::INFINITY, f64::min);
        let tolerance = TOLERANCE;
        let plain = MiSvmPattern { kernel: kernel.clone(), penalty, tolerance, ..Default::default() };
        let annealed = AlSvm { kernel: kernel.clone(), penalty, tolerance, ..Default::default() };
        let (plain, annealed) = (plain.fit_traced(&bags).unwrap().1, annealed.fit_traced(&bags).unwrap().1.alternation);
        prop_assert!(least(&annealed.objectives) <= least(&plain.objectives) * (1.0 + CLOSE) + CLOSE);
        let plain = MiSvmBag { kernel: kernel.clone(), penalty, tolerance, ..Default::default() };
        let annealed = AwSvm { kernel, penalty, tolerance, ..Default::default() };
        let (plain, annealed) = (plain.fit_traced(&bags).unwrap().1, annealed.fit_traced(&bags).unwrap().1.alternation);
        prop_assert!(least(&annealed.objectives) <= least(&plain.objectives) * (1.0 + CLOSE) + CLOSE);
    }

    #[test]
    fn bags_of_one_instance_make_rivals_the_plain_machine(
        bags in bag_sets_of(Flavour::SingleInstances, 2),
        kernel in kernels(),
        weight in 0.5..3.0,
    ) {
        let (n_negative, n_positive, _) = counts(&bags);
        let penalty = 2.0;
        let hinge = |positive: f64, negative: f64| move |label, values: &[f64]| match label {
            Label::Positive => positive * positive_part(1.0 - values[0]),
            Label::Negative => negative * positive_part(1.0 + values[0]),
        };
        let plain = |positive: f64, negative: f64| {
            let positive_weight = positive / negative;
            let learner = SilSvm { kernel: kernel.clone(), penalty: negative, positive_weight, tolerance: TOLERANCE, ..Default::default() };
            objective(&learner.fit(&bags).unwrap(), &kernel, &bags, &hinge(positive, negative))
        };
        let found = |model: InstanceSvm, positive: f64, negative: f64| objective(&model, &kernel, &bags, &hinge(positive, negative));
        // The annealed ones with the costs of mi-SVM.
        let al = AlSvm { kernel: kernel.clone(), penalty, positive_weight: weight, tolerance: TOLERANCE, ..Default::default() };
        let aw = AwSvm { kernel: kernel.clone(), penalty, positive_weight: weight, tolerance: TOLERANCE, ..Default::default() };
        let expected = plain(penalty * weight, penalty);
        for model in [al.fit(&bags).unwrap(), aw.fit(&bags).unwrap()] {
            let found = found(model, penalty * weight, penalty);
            prop_assert!(close(found, expected), "{found}, expected {expected}");
        }
        // sMIL with the cost shared within each class.
        let smil = Smil { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() };
        let expected = plain(penalty / n_positive, penalty / n_negative);
        let found_smil = found(smil.fit(&bags).unwrap(), penalty / n_positive, penalty / n_negative);
        prop_assert!(close(found_smil, expected), "{found_smil}, expected {expected}");
        // sbMIL with the cost shared by all.
        let sbmil = Sbmil { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() };
        let share = penalty / (n_positive + n_negative);
        let (expected, found_sbmil) = (plain(share, share), found(sbmil.fit(&bags).unwrap(), share, share));
        prop_assert!(close(found_sbmil, expected), "{found_sbmil}, expected {expected}");
    }
}

/// Bags so few that all labellings and witnesses can be tried.
fn few_bags() -> impl Strategy<Value = BagSet<Label>> {
    bag_sets_of(Flavour::Plain, 1).prop_filter("few labellings", |bags| brute::labellings(bags).len() <= 256)
}

/// The objective of the machine for given labels of all instances: each is a bag of its own.
fn objective_of_labels(bags: &BagSet<Label>, labels: &[Label], kernel: &Kernel, penalty: f64) -> f64 {
    let mut builder = BagSet::builder();
    for (idx, (instance, &label)) in bags.bags().flat_map(|bag| bag.instances()).zip(labels).enumerate() {
        builder.bag(idx.to_string(), label, [instance]).unwrap();
    }
    let singles = builder.build().unwrap();
    let learner = SilSvm { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() };
    objective(&learner.fit(&singles).unwrap(), kernel, &singles, &|label, values: &[f64]| {
        penalty * positive_part(1.0 - if label == Label::Positive { values[0] } else { -values[0] })
    })
}

/// Labels of all instances, from those of the instances of positive bags.
fn labels_of_all(bags: &BagSet<Label>, of_positives: &[Label]) -> Vec<Label> {
    let mut of_positives = of_positives.iter();
    let of_bag = |(bag, label): (mil_core::Bag<'_>, &Label)| match label {
        Label::Positive => of_positives.by_ref().take(bag.n_instances()).copied().collect(),
        Label::Negative => vec![Label::Negative; bag.n_instances()],
    };
    bags.bags().zip(bags.labels()).flat_map(of_bag).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_heuristic_beats_trying_all_labels(bags in few_bags(), penalty in 0.2..5.0) {
        let kernel = Kernel::Gaussian { gamma: 0.05 };
        let best = brute::labellings(&bags)
            .iter()
            .map(|labels| objective_of_labels(&bags, labels, &kernel, penalty))
            .fold(f64::INFINITY, f64::min);
        let plain = MiSvmPattern { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() };
        let annealed = AlSvm { kernel: kernel.clone(), penalty, tolerance: TOLERANCE, ..Default::default() };
        let traces = [plain.fit_traced(&bags).unwrap().1, annealed.fit_traced(&bags).unwrap().1.alternation];
        for trace in traces {
            let told = trace.objectives.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(told >= best - CLOSE * best.max(1.0), "{told} told, {best} is the least");
            let of_choice = objective_of_labels(&bags, &labels_of_all(&bags, &trace.choice), &kernel, penalty);
            prop_assert!(close(told, of_choice), "{told} told, {of_choice} for the labels");
        }
    }

    #[test]
    fn enough_restarts_find_what_trying_all_witnesses_finds(bags in few_bags(), penalty in 0.2..5.0) {
        let kernel = Kernel::Gaussian { gamma: 0.05 };
        let learner = MiSvmBag { kernel, penalty, tolerance: TOLERANCE, n_restarts: 60, ..Default::default() };
        let last = |trace: &mil_svm::Trace<mil_svm::Witnesses>| trace.objectives.iter().copied().fold(f64::INFINITY, f64::min);
        let best = brute::witnesses(&bags)
            .map(|witnesses| last(&learner.fit_from(&bags, witnesses.into_iter().map(Some).collect()).unwrap().1))
            .fold(f64::INFINITY, f64::min);
        let found = last(&learner.fit_traced(&bags).unwrap().1);
        prop_assert!(found >= best - CLOSE * best.max(1.0), "{found} found, {best} is the least");
        prop_assert!(found <= best * 1.2 + CLOSE, "{found} found by restarts, {best} is the least");
    }
}

/// Scores of held-out bags over shared kernel values, and of the same bags by a model fitted to the others alone.
fn held_out_agrees<L: OverKernel>(learner: &L, gamma: f64, name: &str) {
    let bags = mil_data::catalogue::musk1();
    let bags = bags.select(&(27..67).collect::<Vec<_>>());
    let fold = &StratifiedKFold { n_folds: 4, n_repeats: 1, seed: 1 }.split(bags.labels()).unwrap()[0];
    let learner = learner.tuned(10.0, &Kernel::Gaussian { gamma });
    let held_out = learner.held_out_scores(&bags, &learner.values(&bags).unwrap(), &fold.train, &fold.test).unwrap();
    let model = learner.fit(&bags.select(&fold.train)).unwrap();
    for (&bag_idx, held_out) in fold.test.iter().zip(held_out) {
        let alone = model.score(bags.bag(bag_idx)).unwrap();
        assert!((alone - held_out).abs() <= 1e-4 * alone.abs().max(1.0), "{name}: {alone} alone, {held_out} held out");
    }
}

#[test]
fn a_bag_held_out_has_no_say_in_any_rival() {
    held_out_agrees(&Smil { tolerance: TOLERANCE, ..Default::default() }, 1e-6, "sMIL");
    held_out_agrees(&Stmil { tolerance: TOLERANCE, ..Default::default() }, 1e-6, "stMIL");
    held_out_agrees(&Sbmil { tolerance: TOLERANCE, ..Default::default() }, 1e-6, "sbMIL");
    held_out_agrees(&MissSvm { tolerance: TOLERANCE, ..Default::default() }, 1e-6, "MissSVM");
    held_out_agrees(&Mica::default(), 1e-6, "MICA");
    held_out_agrees(&AlSvm { tolerance: TOLERANCE, ..Default::default() }, 1e-6, "AL-SVM");
    // With a narrow kernel many instances end on the margin, and rounding decides which is the witness; with a wide one few do.
    held_out_agrees(&AwSvm { tolerance: TOLERANCE, ..Default::default() }, 1e-8, "AW-SVM");
}

#[test]
fn where_cooling_ends_in_a_flat_machine_the_order_of_bags_does_not_matter() {
    let bags = mil_data::catalogue::musk1();
    let scaler = Scaler::fit(Scaling::MinMax, &bags).unwrap();
    let bags = scaler.scaled(bags).unwrap();
    let reversed = bags.select(&(0..bags.n_bags()).rev().collect::<Vec<_>>());
    let learner = AlSvm { tolerance: 1e-6, ..Default::default() };
    let [(first, trace), (second, _)] = [&bags, &reversed].map(|bags| learner.fit_traced(bags).unwrap());
    assert!(trace.levels.len() < 10, "a flat machine was to end it early");
    for bag in bags.bags() {
        let (first, second) = (first.score(bag).unwrap(), second.score(bag).unwrap());
        assert!((first - second).abs() < 1e-3, "{first}, reversed {second}");
    }
}

#[test]
fn rows_beyond_the_budget_are_computed_anew_to_the_same_end() {
    // One MiB holds the rows of all instances, but not beside them those with each instance of a positive bag once more.
    let bags = mil_data::catalogue::musk1().select(&(15..75).collect::<Vec<_>>());
    let n = bags.n_instances();
    assert!(8 * n * n <= 1 << 20 && 16 * n * n > 1 << 20, "{n} instances");
    let kernel = Kernel::Gaussian { gamma: 1e-6 };
    let scores = |memory_mib| {
        let learner =
            MissSvm { kernel: kernel.clone(), penalty: 1e4, memory_mib, tolerance: TOLERANCE, ..Default::default() };
        let model = learner.fit(&bags).unwrap();
        bags.bags().map(|bag| model.score(bag).unwrap()).collect::<Vec<_>>()
    };
    for (tight, ample) in scores(1).iter().zip(scores(64)) {
        assert!((tight - ample).abs() < 1e-5, "{tight}, expected {ample}");
    }
}

#[test]
fn mica_with_a_kernel_says_how_much_memory_it_wants() {
    let bags = mil_data::catalogue::musk1();
    let error =
        Mica { kernel: Kernel::Gaussian { gamma: 1e-6 }, memory_mib: 1, ..Default::default() }.fit(&bags).unwrap_err();
    assert!(error.to_string().contains("memory_mib is 1"), "{error}");
}

#[test]
fn sbmil_with_all_positive_is_the_naive_machine() {
    let bags = mil_data::catalogue::musk1();
    let kernel = Kernel::Gaussian { gamma: 1e-6 };
    let (penalty, tolerance) = (500.0, TOLERANCE);
    let share = penalty / bags.n_instances() as f64;
    let balanced = Sbmil { kernel: kernel.clone(), penalty, positive_share: 1.0, tolerance, ..Default::default() };
    let naive = SilSvm { kernel, penalty: share, tolerance, ..Default::default() };
    let (balanced, naive) = (balanced.fit(&bags).unwrap(), naive.fit(&bags).unwrap());
    for bag in bags.bags() {
        let (balanced, naive) = (balanced.score(bag).unwrap(), naive.score(bag).unwrap());
        assert!((balanced - naive).abs() < 1e-5, "{balanced}, expected {naive}");
    }
}
