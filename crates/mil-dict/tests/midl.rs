//! MIDL on digit-like images: what its steps promise, what it selects, what it is good for.

use mil_core::{Bag, BagModel, BagSet, Label, Learner};
use mil_data::LabelledInstances;
use mil_data::synth::{DigitsParams, FromInstancesParams, TrainTest};
use mil_dict::{BaseKernels, Cost, Midl, MidlTrace, Selection, Side, Stop};
use mil_kernels::Kernel;

/// Bags of small images, one digit against the others.
fn digits(digit: &str, seed: u64) -> TrainTest {
    let pool = DigitsParams { n_per_class: 120, size: 12, seed, ..DigitsParams::default() }.generate().unwrap();
    let pixels = pool.instances().map(|value| (value + 1.0) / 2.0);
    let pool = LabelledInstances::new(pixels, pool.classes().to_vec(), pool.class_names().clone()).unwrap();
    let sizes = FromInstancesParams {
        n_positive: 15,
        n_negative: 15,
        n_test_positive: 25,
        n_test_negative: 25,
        seed,
        ..FromInstancesParams::default()
    };
    sizes.train_test(&pool, digit).unwrap()
}

fn midl() -> Midl {
    Midl { n_negative_atoms: 30, n_positive_atoms: 6, ..Midl::default() }
}

fn share_right(bags: &BagSet<Label>, trace: &MidlTrace) -> f64 {
    let truth = bags.instance_labels().unwrap();
    let n_right = trace.chosen.iter().filter(|&&idx| truth[idx] == Label::Positive).count();
    n_right as f64 / trace.chosen.len() as f64
}

#[test]
fn each_step_keeps_what_it_promises() {
    for digit in ["0", "4", "8"] {
        let bags = digits(digit, 1).train;
        let (_, trace) = midl().fit_traced(&bags).unwrap();
        assert_eq!((trace.iterations.len(), trace.stop), (40, Stop::IterationLimit));
        for iteration in &trace.iterations {
            let [before, after] = iteration.weight_objectives;
            assert!(after <= before + 1e-9 * before.abs(), "the weights lower eq. 26: {before} {after}");
            assert!(iteration.certificate.holds(1e-7), "{:?}", iteration.certificate);
            let sum: f64 = iteration.kernel_weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12 && iteration.kernel_weights.iter().all(|weight| *weight >= 0.0));
            let Cost { negatives, positives, .. } = iteration.after_weights;
            let after = iteration.after_dictionaries;
            assert!(
                after.negatives <= negatives + 1e-9 && after.positives <= positives + 1e-9,
                "codes and atoms lower errors"
            );
        }
    }
}

#[test]
fn the_cost_falls_but_where_a_selection_changed() {
    let (mut n_rises, mut first, mut last) = (0, 0.0, 0.0);
    for (digit, seed) in [("0", 1), ("1", 2), ("2", 3), ("5", 4)] {
        let (_, trace) = midl().fit_traced(&digits(digit, seed).train).unwrap();
        let cost = |idx: usize| trace.iterations[idx].after_selection.total(1.0, 1.0);
        for idx in 1..trace.iterations.len() {
            if cost(idx) > cost(idx - 1) {
                n_rises += 1;
                let change = cost(idx) / cost(idx - 1) - 1.0;
                assert!(trace.iterations[idx].n_changed > 0 || change < 5e-3, "iteration {idx} of {digit}: {change}");
            }
        }
        first += cost(0);
        last += cost(trace.iterations.len() - 1);
    }
    assert!(last < 0.5 * first, "{first} {last}");
    assert!(n_rises < 16, "{n_rises} of 156 steps");
}

#[test]
fn an_instance_is_chosen_from_each_positive_bag() {
    let bags = digits("3", 5).train;
    let (_, trace) = midl().fit_traced(&bags).unwrap();
    let positive = (0..bags.n_bags()).filter(|&idx| bags.labels()[idx] == Label::Positive);
    assert_eq!(trace.chosen.len(), 15);
    assert!(positive.zip(&trace.chosen).all(|(bag, chosen)| bags.columns_of(bag).contains(chosen)));
}

#[test]
fn what_bags_share_is_selected_better_than_what_negatives_lack() {
    let (mut of_paper, mut shared) = (0.0, 0.0);
    for (digit, seed) in [("0", 1), ("3", 2), ("6", 3), ("9", 4)] {
        let bags = digits(digit, seed).train;
        let right = |selection| share_right(&bags, &Midl { selection, ..midl() }.fit_traced(&bags).unwrap().1) / 4.0;
        of_paper += right(Selection::NegativeDictionary);
        shared += right(Selection::SharedByBags);
    }
    assert!(of_paper > 0.6, "half of the instances are positive: {of_paper}");
    assert!(shared > 0.9 && shared > of_paper, "{shared} {of_paper}");
}

#[test]
fn bags_held_out_get_their_labels() {
    let (mut n_right, mut n) = (0, 0);
    for (digit, seed) in [("0", 1), ("2", 2), ("7", 3)] {
        let TrainTest { train, test } = digits(digit, seed);
        let model = Midl { selection: Selection::SharedByBags, ..midl() }.fit(&train).unwrap();
        n_right +=
            test.bags().zip(test.labels()).filter(|(bag, label)| model.predict(*bag).unwrap() == **label).count();
        n += test.n_bags();
    }
    assert!(n_right * 10 > 8 * n, "{n_right} of {n}");
}

#[test]
fn a_tolerance_ends_it_early_and_near_the_end() {
    let bags = digits("1", 1).train;
    let (_, whole) = midl().fit_traced(&bags).unwrap();
    let (_, short) = Midl { tolerance: 1e-2, ..midl() }.fit_traced(&bags).unwrap();
    assert_eq!(short.stop, Stop::Converged);
    let n = short.iterations.len();
    assert!((12..40).contains(&n), "after the ramp: {n}");
    assert_eq!(short.iterations, whole.iterations[..n]);
}

#[test]
fn what_terms_count_grows_by_equal_steps() {
    let (_, trace) = Midl { orthogonality: 2.0, positives: 0.5, n_ramp: 4, n_iterations: 7, ..midl() }
        .fit_traced(&digits("1", 1).train)
        .unwrap();
    let found: Vec<(f64, f64)> =
        trace.iterations.iter().map(|iteration| (iteration.orthogonality, iteration.positives)).collect();
    assert_eq!(found, [(0.0, 0.0), (0.5, 0.125), (1.0, 0.25), (1.5, 0.375), (2.0, 0.5), (2.0, 0.5), (2.0, 0.5)]);
}

#[test]
fn each_parameter_of_a_length_has_its_say() {
    let TrainTest { train, test } = digits("6", 1);
    let scores = |midl: &Midl| midl.fit(&train).unwrap().scores(&test).unwrap();
    let usual = scores(&midl());
    assert_eq!(usual, scores(&midl()));
    for other in
        [Midl { test_sparsity: 4, ..midl() }, Midl { sparsity: 3, ..midl() }, Midl { n_initial_rounds: 0, ..midl() }]
    {
        assert_ne!(usual, scores(&other), "{other:?}");
    }
}

#[test]
fn the_number_of_threads_has_no_say_where_work_is_divided() {
    // Some 400 instances of negative bags: more pairs, and more samples, than one thread takes alone.
    let pool = DigitsParams { n_per_class: 120, size: 6, ..DigitsParams::default() }.generate().unwrap();
    let sizes = FromInstancesParams { n_positive: 20, n_negative: 100, ..FromInstancesParams::default() };
    let bags = sizes.generate(&pool, "0").unwrap();
    let midl = Midl { n_iterations: 3, n_ramp: 1, ..midl() };
    let on = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| midl.fit_traced(&bags).unwrap())
    };
    let alone = on(1);
    assert!(on(2) == alone && on(3) == alone);
}

#[test]
fn another_seed_begins_elsewhere() {
    let bags = digits("1", 1).train;
    let traces = [0, 1].map(|seed| Midl { seed, ..midl() }.fit_traced(&bags).unwrap().1);
    assert_ne!(traces[0].iterations, traces[1].iterations);
}

#[test]
fn features_below_zero_are_left_to_other_kernels_or_count_as_none() {
    let bags = digits("1", 1);
    let intersection = Midl { kernels: BaseKernels::List(vec![Kernel::Intersection]), ..midl() };
    let model = intersection.fit(&bags.train).unwrap();
    let image: Vec<f64> = bags.test.bag(0).instances().next().unwrap().to_vec();
    let damaged: Vec<f64> = image.iter().map(|&pixel| if pixel == 0.0 { -0.5 } else { pixel }).collect();
    let score = |values: &[f64]| model.score(Bag::new("an image", 144, values).unwrap()).unwrap();
    assert!(damaged != image && score(&damaged) == score(&image), "an empty bin");
    let shifted = bags.train.map_instances(|image| image.iter_mut().for_each(|pixel| *pixel -= 0.5)).unwrap();
    let (_, trace) = midl().fit_traced(&shifted).unwrap();
    assert_eq!(trace.kernels.len(), 49);
    let error = intersection.fit(&shifted).unwrap_err();
    assert!(error.to_string().contains("instance 0, feature 0 is -0.5"), "{error}");
}

#[test]
fn pre_images_of_positive_atoms_look_like_what_was_chosen() {
    let TrainTest { train, .. } = digits("0", 2);
    let (model, trace) = Midl { selection: Selection::SharedByBags, ..midl() }.fit_traced(&train).unwrap();
    assert_eq!((model.n_atoms(Side::Positive), model.n_atoms(Side::Negative)), (6, 30));
    for atom in 0..6 {
        let found = model.pre_image(Side::Positive, atom);
        assert!((found.instance.iter().map(|pixel| pixel * pixel).sum::<f64>() - 1.0).abs() < 1e-9, "of length 1");
        let nearest = trace
            .chosen
            .iter()
            .map(|&idx| {
                let image = train.instances().column(idx).normalize();
                image.iter().zip(&found.instance).map(|(x, z)| x * z).sum::<f64>()
            })
            .fold(0.0, f64::max);
        assert!(nearest > 0.8, "atom {atom}: {nearest}");
    }
}

#[test]
fn bad_parameters_and_too_little_memory_are_told() {
    let bags = digits("1", 1).train;
    for (name, midl) in [
        ("sparsity", Midl { sparsity: 0, ..midl() }),
        ("orthogonality", Midl { orthogonality: f64::NAN, ..midl() }),
        ("first width", Midl { kernels: BaseKernels::Paper { first_width: -1.0 }, ..midl() }),
        ("n_positive_atoms", Midl { n_positive_atoms: 0, ..midl() }),
    ] {
        let error = midl.fit(&bags).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
    let error = Midl { memory_mib: 1, ..midl() }.fit(&digits_of_many_bags()).unwrap_err();
    assert!(error.to_string().contains("memory_mib is 1; raise it"), "{error}");
}

fn digits_of_many_bags() -> BagSet<Label> {
    let pool = DigitsParams { n_per_class: 100, size: 4, ..DigitsParams::default() }.generate().unwrap();
    FromInstancesParams { n_positive: 40, n_negative: 40, ..FromInstancesParams::default() }
        .generate(&pool, "0")
        .unwrap()
}
