//! What holds for all bags: optimality by definition, the paper's theorems, and sessions that are saved and resumed.

use mil_core::model_file::{SavedModel, decode, encode};
use mil_core::{BagModel, BagSet, FitError, Label, Learner, PositivesOnly, Scaled, Scaling, stream};
use mil_data::synth::ClustersParams;
use mil_kernels::{Kernel, KernelChoice, gram};
use mil_pmi::{
    ConsistencySearch, Interactive, Mixture, OneClassSvm, Pmi, PmiTrace, Query, QueryError, QuerySession, QueryStop,
    QueryTrail, Recorded, Role,
};
use mil_testkit::strategies::bag_sets;
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::RngExt;

fn gaussian(gamma: f64, nu: f64) -> Pmi {
    Pmi { kernel: Kernel::Gaussian { gamma }.into(), nu, ..Pmi::default() }
}

/// Bags of one to six instances in three dimensions, some of them copies.
fn random_bags(seed: u64, n_bags: usize) -> BagSet<()> {
    let mut rng = stream(seed, "bags of a test", 0);
    let mut builder = BagSet::builder();
    for bag_idx in 0..n_bags {
        let n_instances = rng.random_range(1..=6);
        let mut instances: Vec<[f64; 3]> =
            (0..n_instances).map(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0))).collect();
        if rng.random_range(0..4) == 0 {
            instances.push(instances[0]);
        }
        builder.bag(bag_idx.to_string(), (), instances).unwrap();
    }
    builder.build().unwrap()
}

/// $H = \sum_i (Z_i - I/N)^\top K(Z_i - I/N)$, as eq. 8 has it.
fn variance_matrix(bags: &BagSet<()>, kernel: &Kernel) -> DMatrix<f64> {
    let (n, n_bags) = (bags.n_instances(), bags.n_bags());
    let values = gram(kernel, bags.instances()).unwrap();
    let kernel = DMatrix::from_fn(n, n, |i, j| values[(i, j)]);
    let mut sum = DMatrix::zeros(n, n);
    for bag_idx in 0..n_bags {
        let own = bags.columns_of(bag_idx);
        let part = DMatrix::from_fn(n, n, |i, j| {
            if i == j { f64::from(u8::from(own.contains(&i))) - 1.0 / n_bags as f64 } else { 0.0 }
        });
        sum += part.transpose() * &kernel * part;
    }
    sum
}

/// Whether the weights are optimal, from the definition: no weight may move inside its bag to advantage.
fn assert_mixture_is_optimal(bags: &BagSet<()>, trace: &PmiTrace, tolerance: f64) {
    let gradient = variance_matrix(bags, &trace.kernel) * DVector::from_column_slice(&trace.mixture);
    for bag_idx in 0..bags.n_bags() {
        let own = bags.columns_of(bag_idx);
        let total: f64 = trace.mixture[own.clone()].iter().sum();
        assert!((total - 1.0).abs() < 1e-12 && trace.mixture[own.clone()].iter().all(|weight| *weight >= 0.0));
        let lowest = own.clone().map(|i| gradient[i]).fold(f64::INFINITY, f64::min);
        let waste: f64 = own.map(|i| trace.mixture[i] * (gradient[i] - lowest)).sum();
        assert!(waste <= tolerance, "bag {bag_idx} could save {waste}");
    }
}

/// Whether the multipliers are optimal, from the definition.
fn assert_duals_are_optimal(trace: &PmiTrace, nu: f64, tolerance: f64) {
    let n = trace.duals.len() as f64;
    assert!((trace.duals.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    for ((&dual, &score), role) in trace.duals.iter().zip(&trace.virtual_scores).zip(&trace.roles) {
        assert!((0.0..=1.0 / (nu * n) + 1e-9).contains(&dual));
        let is_placed = match role {
            Role::Inside => score >= -tolerance,
            Role::Support => score.abs() <= tolerance,
            Role::Outlier => score <= tolerance,
        };
        assert!(is_placed, "{role:?} at {score}");
    }
}

#[test]
fn weights_and_multipliers_are_optimal_by_definition_and_theorem_1_holds() {
    let (mut n_outlying, mut n_without_support) = (0, 0);
    for seed in 0..60 {
        let bags = random_bags(seed, 2 + seed as usize % 17);
        let nu = [0.05, 0.2, 0.5, 0.9, 1.0][seed as usize % 5];
        let learner = gaussian([0.1, 1.0, 10.0][seed as usize % 3], nu);
        let (_, trace) = learner.fit_traced(&bags).unwrap();
        assert_mixture_is_optimal(&bags, &trace, 1e-7);
        assert_duals_are_optimal(&trace, nu, 1e-7);
        // Theorem 1: at most a share nu of outlier bags, hence of bags that are outside with all their instances.
        let most = nu * bags.n_bags() as f64 + 1e-9;
        let n_outliers = trace.roles.iter().filter(|role| **role == Role::Outlier).count();
        let is_outside = |bag_idx: &usize| {
            trace.instance_scores[bags.columns_of(*bag_idx)].iter().all(|score| *score < trace.inside_from)
        };
        let n_outside = (0..bags.n_bags()).filter(is_outside).count();
        assert!(n_outliers as f64 <= most && n_outside <= n_outliers, "{n_outliers} outliers, {n_outside} outside");
        assert!(trace.second_stage_excess <= 1e-12);
        n_outlying += n_outside;
        n_without_support += usize::from(!trace.roles.contains(&Role::Support));
    }
    assert!(n_outlying > 20 && n_without_support > 5, "the bags reach both: {n_outlying}, {n_without_support}");
}

#[test]
fn the_variance_is_that_of_eq_8_and_least() {
    for seed in 0..10 {
        let bags = random_bags(seed, 8);
        let (_, least) = gaussian(1.0, 0.2).fit_traced(&bags).unwrap();
        let (_, uniform) = Pmi { mixture: Mixture::Uniform, ..gaussian(1.0, 0.2) }.fit_traced(&bags).unwrap();
        let matrix = variance_matrix(&bags, &least.kernel);
        for trace in [&least, &uniform] {
            let weights = DVector::from_column_slice(&trace.mixture);
            assert!((weights.dot(&(&matrix * &weights)) - trace.variance).abs() < 1e-9);
        }
        assert!(least.variance < uniform.variance);
    }
}

#[test]
fn rows_on_demand_and_a_matrix_in_memory_give_the_same_model() {
    // 1 MiB holds the matrix of 250 instances but not that of 600.
    let bags = random_bags(5, 150);
    assert!(8 * bags.n_instances() * bags.n_instances() > 1 << 20);
    let roomy = gaussian(1.0, 0.2).fit_traced(&bags).unwrap().1;
    let meagre = Pmi { memory_mib: 1, ..gaussian(1.0, 0.2) }.fit_traced(&bags).unwrap().1;
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7);
    assert!(close(&roomy.mixture, &meagre.mixture) && close(&roomy.instance_scores, &meagre.instance_scores));
}

#[test]
fn the_scale_of_a_linear_kernel_does_not_matter() {
    let shift = |instance: &mut [f64]| instance.iter_mut().for_each(|value| *value += 3.0);
    let bags = random_bags(3, 12).map_instances(shift).unwrap();
    let linear = Pmi { kernel: Kernel::Linear.into(), nu: 0.3, ..Pmi::default() };
    let trace = linear.fit_traced(&bags).unwrap().1;
    assert_mixture_is_optimal(&bags, &trace, 1e-7);
    for factor in [1e-9, 1e9] {
        let scaled = bags.clone().map_instances(|instance| instance.iter_mut().for_each(|v| *v *= factor)).unwrap();
        let other = linear.fit_traced(&scaled).unwrap().1;
        assert!((other.rho / (factor * factor) - trace.rho).abs() < 1e-6 * trace.rho);
        assert!((other.variance / (factor * factor) - trace.variance).abs() < 1e-6 * trace.variance.max(1e-3));
    }
}

#[test]
fn bags_that_surround_the_origin_leave_a_linear_machine_nothing_to_tell() {
    let mut builder = BagSet::builder();
    for (idx, x) in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]].into_iter().enumerate() {
        builder.bag(idx.to_string(), (), [x]).unwrap();
    }
    let bags = builder.build().unwrap();
    let learner = Pmi { kernel: Kernel::Linear.into(), nu: 0.1, ..Pmi::default() };
    let model = learner.fit(&bags).unwrap();
    assert!(model.rho().abs() < 1e-9);
    // All bags are wholly inside: there is nothing to ask.
    let session = QuerySession::begin(Scaled { scaling: Scaling::None, learner }, &bags).unwrap();
    assert_eq!(session.trail().stop(), Some(QueryStop::WholeBag { bag_idx: 0 }));
}

/// Every bag that is no outlier has an instance inside, whatever the solver leaves undone.
fn assert_theorem_1(bags: &BagSet<()>, trace: &PmiTrace, nu: f64) {
    let is_empty = |&bag_idx: &usize| bags.columns_of(bag_idx).all(|at| trace.instance_scores[at] < trace.inside_from);
    let n_empty = (0..bags.n_bags()).filter(is_empty).count();
    assert!(n_empty as f64 <= nu * bags.n_bags() as f64 + 1e-9, "{n_empty} bags are outside at nu = {nu}");
}

#[test]
fn theorem_1_holds_where_sums_of_kernel_values_are_noise() {
    // Around the origin, under a linear kernel: rho is what the solver leaves of 0.
    let mut builder = BagSet::builder();
    for (idx, x) in [[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.9]].into_iter().enumerate() {
        builder.bag(idx.to_string(), (), [x]).unwrap();
    }
    let bags = builder.build().unwrap();
    let linear = Pmi { kernel: Kernel::Linear.into(), nu: 0.01, ..Pmi::default() };
    assert_theorem_1(&bags, &linear.fit_traced(&bags).unwrap().1, 0.01);
    // So narrow that all instances are orthogonal, and loosely solved; rows on demand or in memory.
    for (gamma, tolerance, memory_mib, nu) in
        [(1e9, 1e-3, 1024, 0.1), (1e4, 1e-1, 1024, 0.3), (1e4, 1e-9, 1, 0.1), (1e6, 1e-2, 1, 0.05)]
    {
        let bags = random_bags(11, 150);
        let learner = Pmi { tolerance, memory_mib, ..gaussian(gamma, nu) };
        let (_, trace) = learner.fit_traced(&bags).unwrap();
        assert_theorem_1(&bags, &trace, nu);
        let mut session = QuerySession::begin(plain(learner), &bags).unwrap();
        session.run(&mut |_: &Query<'_>| Some(Label::Negative)).unwrap().expect("it stops by itself");
        assert!(session.trail().entries().len() <= session.trail().bounds().tight);
    }
}

#[test]
fn a_wide_kernel_tells_close_instances_apart() {
    let bags = random_bags(5, 12);
    // With k = 1 - gamma ||x - z||^2 / 1 + ..., the variance is that of a linear kernel, times 2 gamma.
    let (_, flat) = Pmi { kernel: Kernel::Linear.into(), nu: 0.3, ..Pmi::default() }.fit_traced(&bags).unwrap();
    for gamma in [1e-5, 1e-7, 1e-9] {
        let (_, wide) = gaussian(gamma, 0.3).fit_traced(&bags).unwrap();
        let ratio = wide.variance / (2.0 * gamma * flat.variance);
        assert!((ratio - 1.0).abs() < 1e-2, "gamma {gamma}: {ratio}");
    }
}

#[test]
fn lone_bags_and_lone_instances_are_fitted() {
    let lone = random_bags(1, 1);
    for nu in [0.1, 1.0] {
        let (model, trace) = gaussian(1.0, nu).fit_traced(&lone).unwrap();
        let share = 1.0 / lone.n_instances() as f64;
        assert!(trace.mixture.iter().all(|weight| *weight == share) && trace.variance.abs() < 1e-12);
        assert!(model.score(lone.bag(0)).unwrap() >= 0.0);
    }
    let mut builder = BagSet::builder();
    for x in 0..5 {
        builder.bag(x.to_string(), (), [[f64::from(x)]]).unwrap();
    }
    // Bags of one instance: PMI is the plain machine.
    let bags = builder.build().unwrap();
    let pmi = gaussian(0.3, 0.4).fit(&bags).unwrap();
    let plain = OneClassSvm { kernel: Kernel::Gaussian { gamma: 0.3 }.into(), nu: 0.4, ..OneClassSvm::default() };
    let plain = plain.fit(&bags).unwrap();
    for bag in bags.bags() {
        assert!((pmi.score(bag).unwrap() - plain.score(bag).unwrap()).abs() < 1e-8);
    }
}

#[test]
fn what_is_out_of_range_is_named() {
    let bags = random_bags(2, 6);
    let refusal = |pmi: Pmi| pmi.fit(&bags).unwrap_err().to_string();
    assert_eq!(refusal(gaussian(1.0, 0.0)), "nu is 0, expected a number above 0, at most 1");
    assert_eq!(refusal(gaussian(1.0, f64::NAN)), "nu is NaN, expected a number above 0, at most 1");
    assert_eq!(refusal(gaussian(-1.0, 0.5)), "gamma is -1, expected a finite number above 0");
    let equal = bags.clone().map_instances(|instance| instance.fill(1.0)).unwrap();
    let error = Pmi::default().fit(&equal).unwrap_err().to_string();
    assert!(error.contains("median squared distance between instances is 0"), "{error}");
    let huge = bags.clone().map_instances(|instance| instance.iter_mut().for_each(|v| *v *= 1e200)).unwrap();
    assert!(Pmi { kernel: Kernel::Linear.into(), ..Pmi::default() }.fit(&huge).is_err());
    let search = ConsistencySearch::of(Pmi::default());
    assert!(matches!(ConsistencySearch { ratios: vec![], ..search.clone() }.fit(&bags), Err(FitError::NoSettings)));
    assert!(matches!(ConsistencySearch { n_folds: 9, ..search.clone() }.fit(&bags), Err(FitError::Split(_))));
    assert!(ConsistencySearch { n_deviations: f64::NAN, ..search.clone() }.fit(&bags).is_err());
    assert!(ConsistencySearch { ratios: vec![1.0, -1.0], ..search }.fit(&bags).is_err());
}

#[test]
fn the_width_chosen_is_the_narrowest_consistent_one() {
    let bags = ClustersParams { n_positive: 30, seed: 4, ..ClustersParams::figure_2() }.generate().unwrap();
    let bags = bags.positives().unwrap();
    let search = ConsistencySearch::of(Pmi { nu: 0.2, ..Pmi::default() });
    let report = search.search(&bags).unwrap();
    assert!((report.required - (0.8 - 2.0 * (0.16_f64 / 30.0).sqrt())).abs() < 1e-12);
    let (last, narrower) = report.tried.split_last().unwrap();
    assert!(last.accepted >= report.required && narrower.iter().all(|width| width.accepted < report.required));
    assert!(report.tried.windows(2).all(|pair| pair[0].ratio > pair[1].ratio));
    let chosen = Pmi { kernel: Kernel::Gaussian { gamma: last.gamma }.into(), nu: 0.2, ..Pmi::default() };
    assert_eq!(search.fit(&bags).unwrap(), chosen.fit(&bags).unwrap());
    // Widths so narrow that nothing held out is accepted: the widest of them.
    let absurd = ConsistencySearch { ratios: vec![1e5, 1e6], ..search };
    assert_eq!(absurd.search(&bags).unwrap().tried.len(), 2);
    assert_eq!(absurd.search(&bags).unwrap().tried[1].ratio, 1e5);
}

/// A session over clustered negatives, answered from the labels of instances.
fn clustered(seed: u64, n_clusters: usize, n_scattered: usize, n_positive: usize) -> BagSet<Label> {
    ClustersParams { n_positive, n_clusters, n_scattered, seed, ..Default::default() }.generate().unwrap()
}

fn plain(learner: Pmi) -> Scaled<Pmi> {
    Scaled { scaling: Scaling::None, learner }
}

#[test]
fn the_number_of_queries_stays_within_theorem_3() {
    let (mut most, mut attained) = (0, 0);
    for seed in 0..60 {
        let (n_clusters, n_scattered) = (seed as usize % 4, seed as usize % 3);
        let bags = clustered(seed, n_clusters, n_scattered, 6 + seed as usize % 15);
        let nu = [0.01, 0.1, 0.3, 0.6][seed as usize % 4];
        let positives = bags.positives().unwrap();
        let learner = plain(gaussian([0.2, 0.5, 2.0][seed as usize % 3], nu));
        let mut session = QuerySession::begin(learner, &positives).unwrap();
        session.run(&mut Recorded::of_labels(&bags).unwrap()).unwrap().expect("all labels are known");
        // However the answers come out: only negative ones, the longest way.
        let mut unwilling = QuerySession::begin(plain(gaussian(0.5, nu)), &positives).unwrap();
        unwilling.run(&mut |_: &Query<'_>| Some(Label::Negative)).unwrap().expect("it stops by itself");
        for session in [session, unwilling] {
            let (n_asked, bounds) = (session.trail().entries().len(), session.trail().bounds());
            assert!(n_asked <= bounds.tight && Some(bounds.tight) <= bounds.printed, "{n_asked} of {bounds:?}");
            most = most.max(n_asked);
            attained += usize::from(n_asked > 0 && n_asked == bounds.tight);
        }
    }
    assert!(most >= 3 && attained >= 3, "{most} questions at the most, the bound attained {attained} times");
}

#[test]
fn queries_turn_to_the_positive_cluster() {
    let bags = clustered(7, 2, 2, 40);
    let positives = bags.positives().unwrap();
    let mut session = QuerySession::begin(plain(gaussian(0.5, 0.1)), &positives).unwrap();
    let centre = mil_core::Bag::new("centre", 2, &[0.0, 0.0]).unwrap();
    let tight = mil_core::Bag::new("tight clusters", 2, &[4.0, 0.0, -4.0, 0.0]).unwrap();
    assert!(session.model().score(centre).unwrap() < 0.0 && session.model().score(tight).unwrap() > 0.0);
    let stop = session.run(&mut Recorded::of_labels(&bags).unwrap()).unwrap();
    assert_eq!(stop, Some(QueryStop::Positive));
    assert!(session.model().score(centre).unwrap() > 0.0 && session.model().score(tight).unwrap() < 0.0);
}

#[test]
fn a_session_that_is_saved_after_each_answer_goes_on_to_the_bit() {
    let bags = clustered(3, 3, 2, 20);
    let positives = bags.positives().unwrap();
    for scaling in [Scaling::None, Scaling::MinMax] {
        let learner = Scaled {
            scaling,
            learner: Pmi { kernel: KernelChoice::GaussianOverMedian(8.0), nu: 0.1, ..Pmi::default() },
        };
        let mut whole = QuerySession::begin(learner.clone(), &positives).unwrap();
        whole.run(&mut Recorded::of_labels(&bags).unwrap()).unwrap();
        assert!(whole.trail().entries().len() >= 2, "{} questions", whole.trail().entries().len());
        let mut parts = QuerySession::begin(learner.clone(), &positives).unwrap();
        loop {
            let bytes = encode(parts.trail(), &[]).unwrap();
            parts = QuerySession::resume(decode::<QueryTrail>(&bytes).unwrap(), &positives).unwrap();
            let Some(query) = parts.question() else { break };
            let mut one = Recorded::of_labels(&bags).unwrap();
            let answer = mil_pmi::Labeler::label(&mut one, &query).unwrap().unwrap();
            parts.answer(answer).unwrap();
        }
        assert_eq!(parts.trail(), whole.trail());
        assert_eq!(encode(parts.model(), &[]).unwrap(), encode(whole.model(), &[]).unwrap());
        // The record of the answers alone plays the same session again.
        let mut again = QuerySession::begin(learner, &positives).unwrap();
        again.run(&mut Recorded::of_trail(whole.trail())).unwrap();
        assert_eq!(again.trail(), whole.trail());
    }
}

#[test]
fn a_labeler_without_an_answer_leaves_the_session_waiting() {
    let bags = clustered(3, 1, 2, 20);
    let positives = bags.positives().unwrap();
    let mut session = QuerySession::begin(plain(gaussian(0.5, 0.1)), &positives).unwrap();
    assert_eq!(session.run(&mut Recorded::default()).unwrap(), None);
    let mut shown = Vec::new();
    assert_eq!(session.run(&mut Interactive::new(&b"what\n"[..], &mut shown, None)).unwrap(), None);
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.starts_with("Question 1: bag \"positive-") && shown.contains("Please answer y, n or q."), "{shown}");
    assert!(session.trail().entries().is_empty() && session.question().is_some());
    assert_eq!(session.run(&mut Interactive::new(&b"y\n"[..], Vec::new(), None)).unwrap(), Some(QueryStop::Positive));
    assert!(matches!(session.answer(Label::Positive), Err(QueryError::Stopped)));
}

#[test]
fn a_trail_over_other_bags_or_that_cannot_be_is_refused() {
    let bags = clustered(3, 1, 2, 20);
    let positives = bags.positives().unwrap();
    let mut session = QuerySession::begin(plain(gaussian(0.5, 0.1)), &positives).unwrap();
    session.answer(Label::Negative).unwrap();
    let trail = session.trail().clone();
    let moved = positives.clone().map_instances(|instance| instance[0] += 1e-12).unwrap();
    for other in [moved, positives.select(&[0, 1, 2])] {
        assert!(matches!(QuerySession::resume(trail.clone(), &other), Err(QueryError::OtherBags)));
    }
    assert!(trail.check().is_ok());
    // Each value of the file that is changed is either refused or leads to a session that stands.
    let bytes = encode(&trail, &[]).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x41;
        assert!(decode::<QueryTrail>(&broken).is_err(), "byte {at}");
    }
}

#[test]
fn cross_validation_shows_no_negative_bag_to_the_learner() {
    let bags = ClustersParams { n_negative: 30, n_positive: 30, ..ClustersParams::figure_2() }.generate().unwrap();
    let learner = PositivesOnly { learner: plain(gaussian(0.5, 0.1)) };
    let plan = mil_core::CrossValidation { n_folds: 5, n_repeats: 1, seed: 1 };
    let report = plan.run(&learner, &bags, &()).unwrap();
    assert!(report.accuracy().mean > 0.75, "{}", report.accuracy().mean);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// All flavours, ties, copies and large magnitudes among them: a session never panics and keeps its bound.
    #[test]
    fn sessions_over_any_bags_end_within_their_bound(bags in bag_sets(2), nu in 0.01..1.0_f64, linear in any::<bool>()) {
        let bags = bags.positives().unwrap();
        let kernel = if linear { Kernel::Linear } else { Kernel::Gaussian { gamma: 0.3 } };
        let learner = plain(Pmi { kernel: kernel.into(), nu, ..Pmi::default() });
        let Ok(mut session) = QuerySession::begin(learner, &bags) else {
            prop_assert!(bags.instances().amax() > 1e50);
            return Ok(());
        };
        match session.run(&mut |_: &Query<'_>| Some(Label::Negative)) {
            Ok(stop) => prop_assert!(stop.is_some()),
            Err(error) => prop_assert!(bags.instances().amax() > 1e50, "{}", error),
        }
        prop_assert!(session.trail().entries().len() <= session.trail().bounds().tight);
    }
}
