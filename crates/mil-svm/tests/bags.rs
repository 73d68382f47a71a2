//! What theory says of the machines over whole bags, on random bag sets.

use mil_core::model_file::{SavedModel, decode, encode};
use mil_core::{Bag, BagModel, BagSet, CrossValidation, FitError, Label, Learner, Params, StratifiedKFold};
use mil_kernels::{BagScale, Kernel, KernelChoice, SetKernel};
use mil_qp::{SmoSettings, SvmDual};
use mil_svm::{GridSearch, Nsk, OverKernel, Separator, SilSvm, Stk};
use mil_testkit::strategies::{Flavour, bag_sets_of};
use proptest::prelude::*;

/// Tolerance of the solver, tight enough for what theory says of exact solutions.
const TOLERANCE: f64 = 1e-9;
/// What the tolerance may leave of an objective.
const CLOSE: f64 = 1e-6;
/// What rounding may do to a score.
const ROUNDING: f64 = 1e-9;

const SCALES: [BagScale; 2] = [BagScale::Mean, BagScale::FeatureSpace];

fn kernels() -> impl Strategy<Value = Kernel> {
    prop::sample::select(vec![
        Kernel::Linear,
        Kernel::Polynomial { degree: 2, scale: 0.1, offset: 1.0 },
        Kernel::Gaussian { gamma: 0.05 },
    ])
}

fn scales() -> impl Strategy<Value = BagScale> {
    prop::sample::select(SCALES.to_vec())
}

/// Bags that do not strain the solver.
fn bags() -> impl Strategy<Value = BagSet<Label>> {
    prop::sample::select(vec![Flavour::Plain, Flavour::Ties, Flavour::Duplicates, Flavour::ConstantFeature])
        .prop_flat_map(|flavour| bag_sets_of(flavour, 2))
}

fn nsk(kernel: &Kernel, scale: BagScale) -> Nsk {
    Nsk { kernel: kernel.clone(), scale, penalty: 2.0, tolerance: TOLERANCE, ..Default::default() }
}

fn stk(kernel: &Kernel) -> Stk {
    Stk { kernel: kernel.clone(), penalty: 2.0, tolerance: TOLERANCE, ..Default::default() }
}

/// The largest score, at least 1: what differences are measured by.
fn size(scores: &[f64]) -> f64 {
    scores.iter().fold(1.0, |size, score| size.max(score.abs()))
}

fn require_close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    let difference =
        found.iter().zip(expected).fold(0.0_f64, |most, (found, expected)| most.max((found - expected).abs()));
    prop_assert!(difference <= tolerance * size(expected), "{found:?}, expected {expected:?}");
    Ok(())
}

/// $f(B) = \sum_I\beta_IK(B_I,B) + b$ at the bags of `others`, with the duals of a machine over the matrix of $K$.
fn by_definition(kernel: &SetKernel, weight: f64, bags: &BagSet<Label>, others: &BagSet<Label>) -> Vec<f64> {
    let gram = kernel.gram(bags).unwrap();
    let demand = |label: &Label| match label {
        Label::Positive => (1.0, 2.0 * weight),
        Label::Negative => (-1.0, 2.0),
    };
    let (signs, penalties): (Vec<f64>, Vec<f64>) = bags.labels().iter().map(demand).unzip();
    let dual = SvmDual::classification(&gram, signs.clone(), penalties).unwrap();
    let settings = SmoSettings { tolerance: TOLERANCE, ..SmoSettings::default() };
    let solution = dual.solve(&settings).unwrap().best().unwrap();
    let values = kernel.cross_gram(bags, others).unwrap();
    let score = |column: nalgebra::DVectorView<'_, f64>| {
        let terms = column.iter().zip(&solution.primal).zip(&signs).map(|((value, dual), sign)| value * dual * sign);
        terms.sum::<f64>() + dual.bias(&solution)
    };
    values.column_iter().map(score).collect()
}

/// $\tfrac12\lVert w\rVert^2$, from the support vectors and the bare definition of the kernel.
fn half_squared_norm(separator: &Separator) -> f64 {
    match separator.support() {
        None => 0.5 * separator.weights().expect("one form or the other").norm_squared(),
        Some((vectors, weights)) => {
            let pairs = || (0..weights.len()).flat_map(|i| (0..weights.len()).map(move |j| (i, j)));
            let value = |i: usize, j: usize| {
                separator.kernel().value(vectors.column(i).as_slice(), vectors.column(j).as_slice())
            };
            0.5 * pairs().map(|(i, j)| weights[i] * weights[j] * value(i, j)).sum::<f64>()
        }
    }
}

/// The bags with each bag's instances replaced.
fn map_bags(bags: &BagSet<Label>, map: impl Fn(Vec<Vec<f64>>) -> Vec<Vec<f64>>) -> BagSet<Label> {
    let mut builder = BagSet::builder();
    for (bag, label) in bags.bags().zip(bags.labels()) {
        let instances = map(bag.instances().map(<[f64]>::to_vec).collect());
        builder.bag(bag.name(), *label, instances).unwrap();
    }
    builder.build().unwrap()
}

fn require_survival<M: SavedModel + BagModel + PartialEq + std::fmt::Debug>(
    model: &M,
    bags: &BagSet<Label>,
) -> Result<(), TestCaseError> {
    let again: M = decode(&encode(model, &[]).unwrap()).unwrap();
    prop_assert_eq!(&again, model);
    prop_assert_eq!(again.scores(bags).unwrap(), model.scores(bags).unwrap());
    Ok(())
}

/// What a search reads off its matrix is what a fit on the fold would say.
fn require_no_say<L: OverKernel>(learner: &L, bags: &BagSet<Label>) -> Result<(), TestCaseError> {
    let fold = &StratifiedKFold { n_folds: 2, n_repeats: 1, seed: 1 }.split(bags.labels()).unwrap()[0];
    let values = learner.values(bags).unwrap();
    let held_out = learner.held_out_scores(bags, &values, &fold.train, &fold.test).unwrap();
    let model = learner.fit(&bags.select(&fold.train)).unwrap();
    require_close(&held_out, &model.scores(&bags.select(&fold.test)).unwrap(), 1e-4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_score_is_that_of_the_dual_over_the_set_kernel(
        bags in bags(),
        kernel in kernels(),
        scale in scales(),
        weight in 0.5..3.0,
    ) {
        let fold = &StratifiedKFold { n_folds: 2, n_repeats: 1, seed: 1 }.split(bags.labels()).unwrap()[0];
        let (bags, others) = (bags.select(&fold.train), bags.select(&fold.test));
        let learner = Nsk { positive_weight: weight, ..nsk(&kernel, scale) };
        let expected = by_definition(&SetKernel::Instances { kernel: kernel.clone(), scale }, weight, &bags, &others);
        require_close(&learner.fit(&bags).unwrap().scores(&others).unwrap(), &expected, ROUNDING)?;
        let learner = Stk { positive_weight: weight, ..stk(&kernel) };
        let expected = by_definition(&SetKernel::MinMax { kernel }, weight, &bags, &others);
        require_close(&learner.fit(&bags).unwrap().scores(&others).unwrap(), &expected, ROUNDING)?;
    }

    #[test]
    fn bags_of_one_instance_make_the_mean_the_plain_machine(
        bags in bag_sets_of(Flavour::SingleInstances, 2),
        kernel in kernels(),
        weight in 0.5..3.0,
    ) {
        let objective = |separator: &Separator, scores: Vec<f64>| {
            let slack = |(score, label): (&f64, &Label)| match label {
                Label::Positive => 2.0 * weight * (1.0 - score).max(0.0),
                Label::Negative => 2.0 * (1.0 + score).max(0.0),
            };
            half_squared_norm(separator) + scores.iter().zip(bags.labels()).map(slack).sum::<f64>()
        };
        let plain = SilSvm { kernel: kernel.clone(), penalty: 2.0, positive_weight: weight, tolerance: TOLERANCE, ..Default::default() };
        let plain = plain.fit(&bags).unwrap();
        let model = Nsk { positive_weight: weight, ..nsk(&kernel, BagScale::Mean) }.fit(&bags).unwrap();
        let expected = objective(plain.separator(), plain.scores(&bags).unwrap());
        let found = objective(model.separator(), model.scores(&bags).unwrap());
        prop_assert!((found - expected).abs() <= CLOSE * expected.max(1.0), "{found}, expected {expected}");
    }

    #[test]
    fn a_bag_told_twice_is_the_same_bag(bags in bags(), kernel in kernels(), scale in scales()) {
        let twice = map_bags(&bags, |instances| [instances.clone(), instances].concat());
        let model = nsk(&kernel, scale).fit(&bags).unwrap();
        require_close(&model.scores(&twice).unwrap(), &model.scores(&bags).unwrap(), ROUNDING)?;
    }

    #[test]
    fn the_order_of_instances_in_training_bags_is_irrelevant(bags in bags(), kernel in kernels(), scale in scales()) {
        let reversed = map_bags(&bags, |instances| instances.into_iter().rev().collect());
        let (forwards, backwards) = (nsk(&kernel, scale).fit(&bags).unwrap(), nsk(&kernel, scale).fit(&reversed).unwrap());
        let (norm, other) = (half_squared_norm(forwards.separator()), half_squared_norm(backwards.separator()));
        prop_assert!((norm - other).abs() <= CLOSE * norm.max(1.0), "{norm} forwards, {other} backwards");
        prop_assert_eq!(stk(&kernel).fit(&bags).unwrap(), stk(&kernel).fit(&reversed).unwrap());
    }

    #[test]
    fn the_weights_of_a_linear_machine_are_its_expansion(bags in bags(), scale in scales()) {
        // The same kernel under a name that does not collapse.
        let kernel = Kernel::Polynomial { degree: 1, scale: 1.0, offset: 0.0 };
        let (collapsed, expanded) = (nsk(&Kernel::Linear, scale).fit(&bags).unwrap(), nsk(&kernel, scale).fit(&bags).unwrap());
        prop_assert!(collapsed.separator().weights().is_some() && expanded.separator().support().is_some());
        require_close(&collapsed.scores(&bags).unwrap(), &expanded.scores(&bags).unwrap(), CLOSE)?;
        let (collapsed, expanded) = (stk(&Kernel::Linear).fit(&bags).unwrap(), stk(&kernel).fit(&bags).unwrap());
        prop_assert!(collapsed.separator().weights().is_some() && expanded.separator().support().is_some());
        require_close(&collapsed.scores(&bags).unwrap(), &expanded.scores(&bags).unwrap(), CLOSE)?;
    }

    #[test]
    fn what_is_inside_the_box_has_no_say_in_the_statistic(bags in bags(), kernel in kernels(), at in 0.0..1.0) {
        let inside = |instances: Vec<Vec<f64>>| {
            let (first, last) = (&instances[0], &instances[instances.len() - 1]);
            // Never beyond the two, whatever rounding does.
            let between = |(&a, &b): (&f64, &f64)| f64::clamp(a + at * (b - a), a.min(b), a.max(b));
            let inner = first.iter().zip(last).map(between).collect();
            [instances.clone(), vec![inner]].concat()
        };
        let model = stk(&kernel).fit(&bags).unwrap();
        let filled = map_bags(&bags, inside);
        prop_assert_eq!(&stk(&kernel).fit(&filled).unwrap(), &model);
        prop_assert_eq!(model.scores(&filled).unwrap(), model.scores(&bags).unwrap());
    }

    #[test]
    fn a_bag_held_out_has_no_say(bags in bags(), kernel in kernels(), scale in scales()) {
        require_no_say(&nsk(&kernel, scale), &bags)?;
        require_no_say(&stk(&kernel), &bags)?;
    }

    #[test]
    fn a_model_survives_the_model_file(bags in bags(), kernel in kernels(), scale in scales()) {
        require_survival(&nsk(&kernel, scale).fit(&bags).unwrap(), &bags)?;
        require_survival(&stk(&kernel).fit(&bags).unwrap(), &bags)?;
    }

    #[test]
    fn the_machine_is_as_exact_as_it_was_asked_to_be(bags in bags(), kernel in kernels(), scale in scales()) {
        prop_assert!(nsk(&kernel, scale).fit(&bags).unwrap().defect() <= TOLERANCE);
        prop_assert!(stk(&kernel).fit(&bags).unwrap().defect() <= TOLERANCE);
    }

    #[test]
    fn bags_with_their_mirror_image_can_be_told_apart_by_nothing_linear(bags in bags(), scale in scales()) {
        let mirrored = map_bags(&bags, |instances| {
            let image = instances.iter().map(|x| x.iter().map(|x| -x).collect()).collect();
            [instances, image].concat()
        });
        let model = nsk(&Kernel::Linear, scale).fit(&mirrored).unwrap();
        for score in model.scores(&mirrored).unwrap() {
            prop_assert!((score - model.bias()).abs() < ROUNDING, "{score}, expected the bias {}", model.bias());
        }
    }
}

#[test]
fn the_grid_finds_what_cross_validation_finds() {
    let bags = mil_data::catalogue::musk1();
    let bags = bags.select(&(30..62).collect::<Vec<_>>());
    let grid = GridSearch {
        kernels: vec![KernelChoice::Fixed(Kernel::Gaussian { gamma: 1e-9 }), KernelChoice::GaussianOverMedian(8.0)],
        penalties: vec![0.01, 10.0],
        n_folds: 4,
        seed: 3,
        ..GridSearch::of(Nsk { tolerance: 1e-6, ..Default::default() })
    };
    let report = grid.search(&bags).unwrap();
    for cell in &report.cells {
        let learner = OverKernel::tuned(&grid.learner, cell.penalty, &cell.kernel);
        let plan = CrossValidation { n_folds: 4, n_repeats: 1, seed: 3 };
        let accuracy = plan.run(&learner, &bags, &()).unwrap().accuracy().mean;
        assert_eq!(accuracy, cell.accuracy, "{cell:?}");
    }
    let best = report.best_cell().accuracy;
    assert!(report.cells.iter().any(|cell| cell.accuracy < best), "a grid in which all is equal tells nothing");
}

/// Bags of one feature.
fn set(bags: &[(Label, &[f64])]) -> BagSet<Label> {
    let mut builder = BagSet::builder();
    for (bag_idx, (label, values)) in bags.iter().enumerate() {
        builder.bag(bag_idx.to_string(), *label, values.iter().map(|x| [*x])).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn degenerate_bags_give_a_sound_model() {
    let equal: &[f64] = &[1.0, -2.0];
    let cases = [
        ("equal bags", set(&[(Label::Positive, equal), (Label::Negative, equal)])),
        (
            "equal bags, one class more often",
            set(&[(Label::Positive, equal), (Label::Negative, equal), (Label::Negative, equal)]),
        ),
        ("nothing but 0", set(&[(Label::Positive, &[0.0]), (Label::Negative, &[0.0, 0.0])])),
        ("a sum of 0 against something", set(&[(Label::Positive, &[0.1, 0.2, -0.3]), (Label::Negative, &[1.0])])),
        ("numbers that underflow", set(&[(Label::Positive, &[1e-170]), (Label::Negative, &[-1e-170])])),
        ("lengths that underflow", set(&[(Label::Positive, &[3e-162]), (Label::Negative, &[-3e-162, 1e-162])])),
    ];
    for (what, bags) in &cases {
        for kernel in [Kernel::Linear, Kernel::Gaussian { gamma: 1.0 }, Kernel::Normalised(Box::new(Kernel::Linear))] {
            // The kernel itself refuses to normalise what is not 0 and has no length.
            if matches!(kernel, Kernel::Normalised(_)) && what.contains("underflow") {
                continue;
            }
            let mut scores = stk(&kernel).fit(bags).unwrap().scores(bags).unwrap();
            for scale in SCALES {
                scores.extend(nsk(&kernel, scale).fit(bags).unwrap().scores(bags).unwrap());
            }
            assert!(scores.iter().all(|score| score.is_finite() && score.abs() < 1.0 + CLOSE), "{what}: {scores:?}");
        }
    }
}

#[test]
fn numbers_beyond_f64_are_refused_by_name() {
    let huge = set(&[(Label::Positive, &[1e200]), (Label::Negative, &[-1e200])]);
    let named = |error: FitError, name: &str| {
        assert!(matches!(&error, FitError::Learner { learner, .. } if *learner == name), "{error}")
    };
    for scale in SCALES {
        named(nsk(&Kernel::Linear, scale).fit(&huge).unwrap_err(), "NSK");
    }
    named(stk(&Kernel::Linear).fit(&huge).unwrap_err(), "STK");
    // A bag that the model has not met.
    let model = nsk(&Kernel::Linear, BagScale::FeatureSpace)
        .fit(&set(&[(Label::Positive, &[1.0]), (Label::Negative, &[-1.0])]))
        .unwrap();
    assert!(model.score(Bag::new("far", 1, &[1e200]).unwrap()).is_err());
}

#[test]
fn every_parameter_is_read_from_a_word() {
    let mut learner = Nsk::default();
    learner.set("scale", "mean").unwrap();
    learner.set("kernel", "gaussian(0.5)").unwrap();
    assert_eq!((learner.scale, &learner.kernel), (BagScale::Mean, &Kernel::Gaussian { gamma: 0.5 }));
    assert!(learner.set("scale", "median").is_err());
    learner.tolerance = 0.0;
    assert!(matches!(
        learner.fit(&set(&[(Label::Positive, &[1.0]), (Label::Negative, &[-1.0])])),
        Err(FitError::Param(_))
    ));
}
