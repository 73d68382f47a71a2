//! The 1-norm support vector machine: closed forms, brute force over vertices, certificates of degenerate problems, the golden linear programs of MILES.

use mil_core::Bag;
use mil_kernels::BagSimilarity;
use mil_qp::{OneNormSettings, OneNormStart, OneNormSvm, Outcome, Problem, ProblemError, Solution};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;

/// What we ask of every certificate: far below the default tolerance.
const TOLERANCE: f64 = 1e-10;

/// A problem's numbers, of which the problem itself is a view.
#[derive(Debug, Clone)]
struct Data {
    features: DMatrix<f64>,
    signs: Vec<f64>,
    penalties: Vec<f64>,
    lambda: f64,
    has_bias: bool,
}

impl Data {
    fn new(features: DMatrix<f64>, signs: &[f64], lambda: f64) -> Data {
        Data { features, signs: signs.to_vec(), penalties: vec![1.0; signs.len()], lambda, has_bias: true }
    }

    fn problem(&self) -> OneNormSvm<'_> {
        let problem = OneNormSvm::new(&self.features, self.signs.clone(), self.penalties.clone(), self.lambda).unwrap();
        if self.has_bias { problem } else { problem.without_bias() }
    }

    /// The solution, certified anew.
    fn solve(&self) -> Solution {
        let problem = self.problem();
        certified(&problem, problem.solve(&OneNormSettings::default()).unwrap())
    }

    fn optimum(&self) -> f64 {
        self.solve().certificate.primal_objective
    }

    fn separator(&self) -> (Vec<f64>, f64) {
        self.problem().separator(&self.solve())
    }

    fn objective(&self, weights: &[f64], bias: f64) -> f64 {
        let norm: f64 = weights.iter().map(|weight| weight.abs()).sum();
        let hinges = self.features.column_iter().zip(&self.signs).zip(&self.penalties).map(|((z, sign), penalty)| {
            let score: f64 = z.iter().zip(weights).map(|(z, weight)| z * weight).sum();
            penalty * (1.0 - sign * (score + bias)).max(0.0)
        });
        self.lambda * norm + hinges.sum::<f64>()
    }

    /// The least value over all vertices: points where as many weights and residuals are 0 as there are unknowns.
    fn brute_force(&self) -> f64 {
        let (n, m) = self.features.shape();
        let dimension = n + usize::from(self.has_bias);
        // Hyperplanes: weight k is 0, then residual i is 0.
        let plane = |idx: usize| {
            let mut normal = vec![0.0; dimension];
            if idx < n {
                normal[idx] = 1.0;
                return (normal, 0.0);
            }
            normal[..n].copy_from_slice(self.features.column(idx - n).as_slice());
            normal[n..].fill(1.0);
            (normal, self.signs[idx - n])
        };
        let mut least = f64::INFINITY;
        for subset in (0_u32..1 << (n + m)).filter(|subset| subset.count_ones() as usize == dimension) {
            let planes: Vec<_> = (0..n + m).filter(|idx| subset >> idx & 1 == 1).map(plane).collect();
            let matrix = DMatrix::from_fn(dimension, dimension, |r, c| planes[r].0[c]);
            let rhs = DVector::from_fn(dimension, |r, _| planes[r].1);
            if let Some(point) = matrix.lu().solve(&rhs).filter(|point| point.iter().all(|value| value.is_finite())) {
                let bias = if self.has_bias { point[n] } else { 0.0 };
                least = least.min(self.objective(&point.as_slice()[..n], bias));
            }
        }
        least
    }
}

fn certified(problem: &OneNormSvm<'_>, outcome: Outcome) -> Solution {
    let solution = outcome.solved().expect("the problem is always feasible and bounded");
    let certificate = solution.certify(problem).unwrap();
    assert!(certificate.holds(TOLERANCE), "{certificate:?}");
    solution
}

fn by_rows<const M: usize, const N: usize>(rows: [[f64; M]; N]) -> DMatrix<f64> {
    DMatrix::from_fn(N, M, |r, c| rows[r][c])
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} against {expected}");
}

#[test]
fn one_feature_at_plus_and_minus_one_has_weight_one_until_lambda_reaches_two() {
    // lambda |w| + 2 (1 - w)_+
    for has_bias in [true, false] {
        let mut data = Data { has_bias, ..Data::new(by_rows([[1.0, -1.0]]), &[1.0, -1.0], 1.9) };
        assert_eq!(data.separator(), (vec![1.0], 0.0));
        assert_close(data.optimum(), 1.9);
        data.lambda = 2.1;
        assert_eq!(data.separator().0, [0.0]);
        assert_close(data.optimum(), 2.0);
    }
}

#[test]
fn two_points_on_a_line_need_the_weight_that_their_distance_asks_for() {
    // Margins 1 at 3 and -1 at 1: w = 1, b = -2.
    let data = Data::new(by_rows([[3.0, 1.0]]), &[1.0, -1.0], 0.5);
    let (weights, bias) = data.separator();
    assert_close(weights[0], 1.0);
    assert_close(bias, -2.0);
    assert_close(data.optimum(), 0.5);
}

#[test]
fn weights_appear_when_lambda_falls_below_the_largest_price_of_full_multipliers() {
    // Balanced classes: a = C is feasible for the bias, and w = 0 is optimal as long as no |sum_i C_i y_i z_ik| passes lambda; here the largest is 1.25.
    let features = by_rows([[1.0, 0.5, 0.25, 0.0], [0.0, 0.5, 0.25, 0.5]]);
    for has_bias in [true, false] {
        let mut data = Data { has_bias, ..Data::new(features.clone(), &[1.0, 1.0, -1.0, -1.0], 1.2501) };
        assert_eq!(data.separator().0, [0.0, 0.0]);
        assert_close(data.optimum(), 4.0);
        data.lambda = 1.2499;
        assert!(data.separator().0[0] > 0.0);
    }
}

#[test]
fn duplicated_features_leave_the_optimum_where_it_is() {
    let data = random_bags(11, 30, 0.1);
    let optimum = data.optimum();
    let n = data.features.nrows();
    let thrice = DMatrix::from_fn(3 * n, 30, |k, i| data.features[(k % n, i)]);
    assert_close(Data { features: thrice, ..data }.optimum(), optimum);
}

#[test]
fn a_feature_in_other_units_is_a_feature_with_another_penalty_of_its_own() {
    // One feature scaled by s in all examples: lambda s^-1 |w s| is the same problem for lambda / s.
    for scale in [1e-6, 1e-3, 1e3, 1e6] {
        let features = by_rows([[1.0, 0.75, 0.25, -0.5, 0.5]]);
        let signs = [1.0, 1.0, -1.0, -1.0, -1.0];
        let scaled = Data::new(&features * scale, &signs, 0.1 * scale);
        assert_close(scaled.optimum(), Data::new(features, &signs, 0.1).optimum());
    }
}

#[test]
fn a_single_class_costs_nothing_with_a_bias() {
    for sign in [1.0, -1.0] {
        let data = Data::new(by_rows([[0.5, 1.0, 0.0], [1.0, 1.0, 1.0]]), &[sign; 3], 0.1);
        let (weights, bias) = data.separator();
        assert_eq!(weights, [0.0, 0.0]);
        assert!(sign * bias >= 1.0);
        assert_eq!(data.optimum(), 0.0);
        // Without one, the constant feature serves: w = sign, at the price lambda.
        let data = Data { has_bias: false, ..data };
        assert_close(data.optimum(), 0.1);
    }
}

#[test]
fn a_single_example_is_solved() {
    let data = Data { has_bias: false, ..Data::new(by_rows([[0.0], [2.0], [1.0]]), &[-1.0], 0.5) };
    assert_eq!(data.separator(), (vec![0.0, -0.5, 0.0], 0.0));
    assert_close(data.optimum(), 0.25);
    assert_eq!(Data { has_bias: true, ..data }.optimum(), 0.0);
}

#[test]
fn the_same_example_with_both_signs_costs_its_lesser_penalty_twice() {
    // (C+ (1 - f)_+ + C- (1 + f)_+) is least at f = 1 if C+ > C-.
    let mut data = Data::new(by_rows([[0.5, 0.5], [1.0, 1.0]]), &[1.0, -1.0], 0.1);
    data.penalties = vec![3.0, 1.0];
    assert_close(data.optimum(), 2.0);
    assert_eq!(data.separator().0, [0.0, 0.0]);
}

#[test]
fn an_example_without_penalty_has_no_say() {
    let mut data = random_bags(5, 20, 0.1);
    data.penalties[3] = 0.0;
    data.penalties[8] = 0.0;
    let kept: Vec<usize> = (0..20).filter(|i| ![3, 8].contains(i)).collect();
    let without = Data {
        features: data.features.select_columns(&kept),
        signs: kept.iter().map(|&i| data.signs[i]).collect(),
        penalties: vec![1.0; kept.len()],
        ..data
    };
    assert_close(data.optimum(), without.optimum());
    data.penalties.fill(0.0);
    assert_eq!(data.optimum(), 0.0);
}

#[test]
fn features_that_are_zero_or_constant_are_left_alone_where_there_is_a_bias() {
    let mut data = random_bags(7, 25, 0.2);
    let optimum = data.optimum();
    let n = data.features.nrows();
    data.features = data.features.insert_rows(n, 1, 0.0).insert_rows(0, 1, 1.0);
    assert_close(data.optimum(), optimum);
    let (weights, _) = data.separator();
    assert_eq!((weights[0], weights[n + 1]), (0.0, 0.0));
    assert_eq!(Data::new(DMatrix::zeros(4, 3), &[1.0, -1.0, 1.0], 1.0).optimum(), 2.0);
}

#[test]
fn weights_are_zero_exactly_or_matter() {
    let (weights, _) = random_bags(3, 60, 0.1).separator();
    let support: Vec<f64> = weights.iter().copied().filter(|&weight| weight != 0.0).collect();
    assert!((5..=60).contains(&support.len()), "a vertex has no more weights than examples: {}", support.len());
    assert!(support.iter().all(|weight| weight.abs() > 1e-10));
}

#[test]
fn the_golden_programs_of_miles_are_reproduced() {
    let golden: Value = serde_json::from_str(include_str!("../../../fixtures/golden/miles.json")).unwrap();
    let rows: Vec<Vec<f64>> = serde_json::from_value(golden["Z"].clone()).unwrap();
    let features = DMatrix::from_iterator(rows[0].len(), rows.len(), rows.into_iter().flatten());
    let signs: Vec<f64> = serde_json::from_value(golden["labels"].clone()).unwrap();
    let programs = golden["lp"].as_array().unwrap();
    assert_eq!(programs.len(), 4);
    for program in programs {
        let number = |name: &str| program[name].as_f64().unwrap();
        let data = Data {
            penalties: signs.iter().map(|&sign| number(if sign > 0.0 { "C_pos" } else { "C_neg" })).collect(),
            lambda: number("lam"),
            has_bias: program["bias"].as_bool().unwrap(),
            ..Data::new(features.clone(), &signs, 1.0)
        };
        let solution = data.solve();
        assert_close(solution.certificate.primal_objective, number("objective"));
        assert_close(solution.certificate.dual_objective, number("objective"));
    }
}

#[test]
fn a_start_changes_the_way_and_not_the_optimum() {
    let data = random_bags(17, 80, 0.1);
    let (problem, settings) = (data.problem(), OneNormSettings::default());
    let cold = data.solve();
    let from = |start: &OneNormStart| certified(&problem, problem.solve_from(start, &settings).unwrap());
    let vertex = problem.start_at(&cold);
    let same = from(&vertex);
    assert!(same.n_steps < cold.n_steps / 4, "{} of {} steps", same.n_steps, cold.n_steps);
    let features_only = OneNormStart { examples: vec![], ..vertex.clone() };
    let useless = OneNormStart { features: vec![7, 7, 0, 7], examples: (0..80).rev().chain([5, 5]).collect() };
    let other_lambda = Data { lambda: 0.15, ..data.clone() };
    let neighbour = other_lambda.problem().start_at(&other_lambda.solve());
    for start in [&features_only, &useless, &neighbour] {
        assert_close(from(start).certificate.primal_objective, cold.certificate.primal_objective);
    }
    assert!(from(&neighbour).n_steps < cold.n_steps / 2);
}

#[test]
fn the_answer_is_the_same_to_the_bit_on_any_number_of_threads() {
    let data = random_bags(23, 60, 0.1);
    let wide =
        DMatrix::from_fn(3000, 60, |k, i| data.features[(k % data.features.nrows(), i)] + 1e-3 * (k as f64).sin());
    let data = Data { features: wide, ..data };
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| data.solve())
    };
    assert_eq!(on(1), on(4));
}

#[test]
fn a_budget_that_is_too_small_is_admitted_with_a_feasible_pair() {
    let data = random_bags(29, 60, 0.05);
    let problem = data.problem();
    let optimum = data.optimum();
    for max_steps in [0, 1, 10, 40] {
        let settings = OneNormSettings { max_steps, ..Default::default() };
        let Outcome::OutOfBudget(solution) = problem.solve(&settings).unwrap() else { panic!("solved in {max_steps}") };
        let certificate = solution.certify(&problem).unwrap();
        assert!(solution.n_steps <= max_steps && certificate.primal_residual <= 1e-12);
        assert!(certificate.primal_objective > optimum && certificate.duality_gap() > 0.0);
    }
}

#[test]
fn numbers_at_the_end_of_their_range_do_no_harm() {
    for (size, lambda) in [(1e300, 1e-300), (1e-300, 1e300), (1e308, 1.0), (1e-308, 1e-308), (1e160, 1e10)] {
        for penalty in [1e-300, 1.0, 1e300] {
            let features = by_rows([[1.0, 0.5, -0.5, -1.0], [0.25, 0.5, 1.0, 1.0]]) * size;
            let data = Data { penalties: vec![penalty; 4], ..Data::new(features, &[1.0, 1.0, -1.0, -1.0], lambda) };
            let solution = data.problem().solve(&OneNormSettings::default()).unwrap().best().unwrap();
            assert!(solution.primal.iter().chain(&solution.dual).all(|value| value.is_finite()));
        }
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let features = by_rows([[1.0, 2.0], [3.0, 4.0]]);
    let refusal = |features: &DMatrix<f64>, signs: &[f64], penalties: &[f64], lambda| {
        OneNormSvm::new(features, signs.to_vec(), penalties.to_vec(), lambda).map(|_| ()).unwrap_err().to_string()
    };
    let (signs, ones) = ([1.0, -1.0], [1.0, 1.0]);
    assert_eq!(
        refusal(&by_rows([[1.0, 2.0], [3.0, f64::NAN]]), &signs, &ones, 1.0),
        "feature value, counted example by example, 3 is NaN; expected a finite number"
    );
    assert_eq!(refusal(&features, &[1.0, 0.5], &ones, 1.0), "sign 1 is 0.5; expected 1 or -1");
    assert_eq!(refusal(&features, &[1.0], &ones, 1.0), "the signs: 1 in number, expected 2");
    assert_eq!(refusal(&features, &signs, &[1.0], 1.0), "the penalties: 1 in number, expected 2");
    assert_eq!(refusal(&features, &signs, &[-1.0, 1.0], 1.0), "penalty 0 is -1; expected a finite number, at least 0");
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(&features, &signs, &ones, lambda).starts_with("lambda is "));
    }
    assert_eq!(refusal(&DMatrix::zeros(2, 0), &[], &[], 1.0), "the problem has no examples");
    assert_eq!(refusal(&DMatrix::zeros(0, 2), &signs, &ones, 1.0), "the problem has no features");

    let data = Data::new(features, &signs, 1.0);
    let settings = OneNormSettings::default();
    let feature = OneNormStart { features: vec![1, 2], examples: vec![] };
    let example = OneNormStart { features: vec![], examples: vec![2] };
    for (start, place) in [(feature, 1), (example, 0)] {
        let refused = data.problem().solve_from(&start, &settings);
        assert!(matches!(refused, Err(ProblemError::Value { idx, value: 2.0, .. }) if idx == place));
    }
    let settings = OneNormSettings { tolerance: f64::NAN, ..settings };
    assert!(matches!(data.problem().solve(&settings), Err(ProblemError::Setting { name: "tolerance", .. })));
}

#[test]
fn products_are_adjoint_to_each_other() {
    for has_bias in [true, false] {
        let data = Data { has_bias, ..random_bags(31, 12, 0.1) };
        let problem = data.problem();
        let x: Vec<f64> = (0..problem.n_variables()).map(|idx| (idx as f64).sin()).collect();
        let y: Vec<f64> = (0..problem.n_rows()).map(|idx| (3.0 * idx as f64).cos()).collect();
        let of = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert_close(of(&problem.rows_product(&x), &y), of(&x, &problem.adjoint_product(&y)));
    }
}

/// The features of MILES over bags of instances on a coarse grid: duplicates among features, many values of exactly 1, some examples twice; noisy labels.
fn random_bags(seed: u64, n_bags: usize, lambda: f64) -> Data {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let bags: Vec<DMatrix<f64>> = (0..n_bags)
        .map(|_| DMatrix::from_fn(2, rng.random_range(1..=6), |_, _| f64::from(rng.random_range(-4..=4_i32))))
        .collect();
    let instances: Vec<f64> = bags.iter().flat_map(|bag| bag.iter().copied()).collect();
    let candidates = DMatrix::from_vec(2, instances.len() / 2, instances);
    let similarity = BagSimilarity::new(&candidates, 4.0).unwrap();
    let embed = |bag: &DMatrix<f64>| similarity.to_bag(&Bag::new("bag", 2, bag.as_slice()).unwrap()).unwrap();
    let columns: Vec<DVector<f64>> = bags.iter().map(|bag| DVector::from_vec(embed(bag))).collect();
    let signs: Vec<f64> = bags
        .iter()
        .map(|bag| {
            let is_positive = bag.column_iter().any(|instance| instance[0] > 1.0 && instance[1] > 0.0);
            if is_positive != rng.random_bool(0.1) { 1.0 } else { -1.0 }
        })
        .collect();
    Data::new(DMatrix::from_columns(&columns), &signs, lambda)
}

#[test]
fn the_bags_of_these_tests_have_ties_and_duplicates() {
    let data = random_bags(3, 60, 0.1);
    let rows: Vec<Vec<u64>> = data.features.row_iter().map(|row| row.iter().map(|z| z.to_bits()).collect()).collect();
    let mut distinct = rows.clone();
    distinct.sort();
    distinct.dedup();
    assert!(distinct.len() < rows.len() * 3 / 4);
    assert!(data.features.iter().filter(|&&z| z == 1.0).count() > 2 * rows.len());
}

/// Problems of few numbers, hence full of ties.
fn tiny() -> impl Strategy<Value = Data> {
    let value = prop_oneof![Just(-1.0), Just(0.0), Just(0.5), Just(1.0), Just(2.0), -1.0..1.0];
    (1_usize..=3, 1_usize..=6, any::<bool>()).prop_flat_map(move |(n, m, has_bias)| {
        let lambda = prop_oneof![Just(0.01), Just(0.25), Just(1.0), Just(4.0)];
        let penalty = prop_oneof![Just(0.0), Just(0.5), Just(1.0), Just(1.0), Just(1.0), 0.1..3.0];
        let values = prop::collection::vec(value.clone(), n * m);
        let signs = prop::collection::vec(prop_oneof![Just(1.0), Just(-1.0)], m);
        (values, signs, prop::collection::vec(penalty, m), lambda).prop_map(
            move |(values, signs, penalties, lambda)| Data {
                features: DMatrix::from_vec(n, m, values),
                signs,
                penalties,
                lambda,
                has_bias,
            },
        )
    })
}

/// Problems of some size, made hard.
#[derive(Debug, Clone)]
struct Hard {
    seed: u64,
    n_examples: usize,
    n_features: usize,
    has_few_values: bool,
    repeats_examples: bool,
    repeats_features: bool,
    /// Of the units of features and of examples, and of the penalties: powers of ten from minus this to this.
    feature_magnitudes: i32,
    example_magnitudes: i32,
    penalty_magnitudes: i32,
    lambda_magnitude: i32,
    has_bias: bool,
}

impl Hard {
    fn strategy() -> impl Strategy<Value = Hard> {
        let sizes = (1_usize..=40, 1_usize..=80);
        let units = prop_oneof![Just((0, 0)), Just((0, 2)), Just((3, 0)), Just((3, 2)), Just((6, 0))];
        let magnitudes = (units, prop_oneof![Just(0), Just(3), Just(6)], -4_i32..=2);
        (any::<u64>(), sizes, any::<[bool; 4]>(), magnitudes).prop_map(|(seed, sizes, traits, magnitudes)| Hard {
            seed,
            n_examples: sizes.0,
            n_features: sizes.1,
            has_few_values: traits[0],
            repeats_examples: traits[1],
            repeats_features: traits[2],
            feature_magnitudes: magnitudes.0.0,
            example_magnitudes: magnitudes.0.1,
            penalty_magnitudes: magnitudes.1,
            lambda_magnitude: magnitudes.2,
            has_bias: traits[3],
        })
    }

    fn data(&self) -> Data {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let (n, m) = (self.n_features, self.n_examples);
        let mut features = DMatrix::from_fn(n, m, |_, _| {
            let value: f64 = rng.random_range(-1.0..1.0);
            if self.has_few_values { (2.0 * value).round() / 2.0 } else { value }
        });
        let mut signs: Vec<f64> = (0..m).map(|_| if rng.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
        if self.repeats_examples {
            let (original, original_signs) = (features.clone(), signs.clone());
            for i in 0..m {
                features.set_column(i, &original.column(i / 2));
                signs[i] = if rng.random_bool(0.2) { -original_signs[i / 2] } else { original_signs[i / 2] };
            }
        }
        if self.repeats_features {
            let original = features.clone();
            (0..n).for_each(|k| features.set_row(k, &original.row(k / 3)));
        }
        let mut power = |largest: i32| 10.0_f64.powi(rng.random_range(-largest..=largest));
        features.row_iter_mut().for_each(|mut row| row *= power(self.feature_magnitudes));
        features.column_iter_mut().for_each(|mut column| column *= power(self.example_magnitudes));
        let penalties = (0..m).map(|_| power(self.penalty_magnitudes)).collect();
        Data { features, signs, penalties, lambda: 10.0_f64.powi(self.lambda_magnitude), has_bias: self.has_bias }
    }
}

/// Rounding once put two copies of a tight example on different sides of the margin, each in turn, for ever.
#[test]
fn copies_of_an_example_do_not_unsettle_each_other() {
    let hard = Hard {
        seed: 4_191_888_908_108_198_763,
        n_examples: 31,
        n_features: 52,
        has_few_values: false,
        repeats_examples: true,
        repeats_features: false,
        feature_magnitudes: 3,
        example_magnitudes: 2,
        penalty_magnitudes: 0,
        lambda_magnitude: -4,
        has_bias: false,
    };
    let data = hard.data();
    let solution = data.problem().solve(&OneNormSettings::default()).unwrap().solved().unwrap();
    assert!(solution.certify(&data.problem()).unwrap().holds(1e-8) && solution.n_steps < 200);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_vertex_is_better_than_the_answer(data in tiny()) {
        let optimum = data.optimum();
        prop_assert!((optimum - data.brute_force()).abs() <= 1e-9 * (1.0 + optimum));
    }

    /// The method tells a residual from 0 at 1e-12, or at the rounding of the terms it is made of, and penalties may magnify that beyond the
    /// tolerance; nothing else may.
    #[test]
    fn degenerate_and_badly_scaled_problems_are_solved_as_far_as_rounding_allows(hard in Hard::strategy()) {
        let data = hard.data();
        let problem = data.problem();
        let solution = problem.solve(&OneNormSettings::default()).unwrap().best().unwrap();
        let certificate = solution.certify(&problem).unwrap();
        let (weights, bias) = problem.separator(&solution);
        let terms = |z: &[f64]| z.iter().zip(&weights).map(|(z, weight)| (z * weight).abs()).sum::<f64>();
        let largest = data.features.as_slice().chunks(weights.len()).map(terms).fold(0.0, f64::max);
        let penalties: f64 = data.penalties.iter().sum();
        let attainable = (penalties * (1e-15 * largest).max(1e-12)).max(1e-8);
        prop_assert!(certificate.holds(attainable), "{} steps, {certificate:?}", solution.n_steps);
        let objective = data.objective(&weights, bias);
        prop_assert!((objective - certificate.primal_objective).abs() <= attainable * (1.0 + objective));
    }
}

#[test]
fn values_that_are_nearly_nothing_do_not_keep_the_walk_from_its_end() {
    // Similarities of bags on a line to their own instances, with width 1: 1 beside 1e-11 and 0. The first bags are {0}, {50, 100, 150}, {200} and {50}, the fourth, negative, {5, 104.8}.
    let bags: [(f64, &[f64]); 5] =
        [(1.0, &[0.0]), (1.0, &[50.0, 100.0, 150.0]), (1.0, &[200.0]), (-1.0, &[5.0, 104.8]), (1.0, &[50.0])];
    let candidates: Vec<f64> = bags.iter().flat_map(|(_, bag)| bag.to_vec()).collect();
    let similarity =
        |k: usize, i: usize| bags[i].1.iter().map(|x| (-(candidates[k] - x).powi(2)).exp()).fold(0.0, f64::max);
    let features = DMatrix::from_fn(candidates.len(), bags.len(), similarity);
    let signs = bags.iter().map(|(sign, _)| *sign).collect();
    let problem = OneNormSvm::new(&features, signs, vec![1.0; bags.len()], 0.3).unwrap().without_bias();
    let solution = problem.solve(&OneNormSettings::default()).unwrap().solved().expect("certified");
    assert!(solution.certify(&problem).unwrap().holds(1e-8));
    assert!((solution.certificate.primal_objective - 1.2).abs() < 1e-8);
}
