//! Duals with a cap for each group: closed forms, every active set of small problems, published results, and the checker's word on the rest.

use mil_core::KernelRows;
use mil_qp::{GroupDual, GroupSettings, Outcome, ProblemError, Solution, SvmDual};
use mil_testkit::golden::{numbers, read};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

fn tight() -> GroupSettings {
    GroupSettings { tolerance: 1e-11, ..GroupSettings::default() }
}

fn solved<K: KernelRows>(problem: &GroupDual<'_, K>, settings: &GroupSettings) -> Solution {
    let solution = problem.solve(settings).unwrap().solved().expect("solvable");
    let certificate = solution.certify(problem).unwrap();
    assert!(certificate.holds(2.0 * settings.tolerance), "{certificate:?}");
    solution
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    let close = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= tolerance);
    assert!(close, "{found:?} is not {expected:?}");
}

fn random_points(seed: u64, n_features: usize, n: usize) -> DMatrix<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    DMatrix::from_fn(n_features, n, |_, _| rng.random_range(-1.0..1.0))
}

fn gaussian(points: &DMatrix<f64>, gamma: f64) -> DMatrix<f64> {
    let n = points.ncols();
    DMatrix::from_fn(n, n, |i, j| (-gamma * (points.column(i) - points.column(j)).norm_squared()).exp())
}

/// Positive points, each a group, then negative bags of three: signs and groups.
fn bags(n_positive: usize, n_bags: usize) -> (Vec<f64>, Vec<usize>) {
    let n = n_positive + 3 * n_bags;
    let signs = (0..n).map(|idx| if idx < n_positive { 1.0 } else { -1.0 }).collect();
    let groups = (0..n).map(|idx| if idx < n_positive { idx } else { n_positive + (idx - n_positive) / 3 });
    (signs, groups.collect())
}

#[test]
fn a_bag_pays_once_for_all_its_instances() {
    // A point at 1 against a bag of two instances at -1: together they carry what one would.
    let points = [1.0, -1.0, -1.0];
    let gram = DMatrix::from_fn(3, 3, |i, j| points[i] * points[j]);
    for (penalty, expected) in [(10.0, 0.5), (0.25, 0.25)] {
        let signs = vec![1.0, -1.0, -1.0];
        let problem = GroupDual::classification(&gram, signs, vec![0, 1, 1], vec![penalty; 2]).unwrap();
        let solution = solved(&problem, &tight());
        assert_near(&[solution.primal[0], solution.primal[1] + solution.primal[2]], &[expected; 2], 1e-11);
        assert!(problem.bias(&solution).abs() < 1e-10);
    }
}

#[test]
fn the_bias_is_the_middle_of_what_the_conditions_allow() {
    // Points at 1 and -1 with multipliers at the cap 0.1: w = 0.2, and b may be anything with |b| <= 1 - 0.2.
    let gram = DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]);
    let problem = GroupDual::classification(&gram, vec![1.0, -1.0], vec![0, 1], vec![0.1; 2]).unwrap();
    let solution = solved(&problem, &tight());
    assert_eq!(solution.primal, [0.1, 0.1]);
    assert!(problem.bias(&solution).abs() < 1e-15);
    // Only positive points: no multiplier can leave 0, and b >= 1 is all that is asked.
    let problem = GroupDual::classification(&gram, vec![1.0, 1.0], vec![0, 1], vec![0.1; 2]).unwrap();
    let solution = solved(&problem, &tight());
    assert_eq!((solution.primal.as_slice(), problem.bias(&solution)), ([0.0, 0.0].as_slice(), 1.0));
}

#[test]
fn groups_of_one_are_the_ordinary_dual() {
    for seed in 0..10 {
        let gram = gaussian(&random_points(seed, 2, 40), 0.7);
        let signs: Vec<f64> = (0..40).map(|idx| if idx % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let problem = GroupDual::classification(&gram, signs.clone(), (0..40).collect(), vec![2.0; 40]).unwrap();
        let mut solution = solved(&problem, &tight());
        let ordinary = SvmDual::classification(&gram, signs, vec![2.0; 40]).unwrap();
        let bias = problem.bias(&solution);
        let boxes = (0..40).map(|idx| solution.dual[idx] + solution.dual[40 + idx]);
        solution.dual = boxes.chain([bias]).collect();
        assert!(solution.certify(&ordinary).unwrap().holds(2e-11));
        assert_eq!(ordinary.bias(&solution), bias);
    }
}

/// The least objective over all choices of positive weights and full groups: on each, stationarity and the sums are linear equations.
fn least_over_active_sets(
    signed_gram: &DMatrix<f64>,
    linear: &[f64],
    signs: &[f64],
    group_of: &[usize],
    caps: &[f64],
    total: f64,
) -> f64 {
    let (n, n_groups) = (signs.len(), caps.len());
    let mut least = f64::INFINITY;
    for mask in 0_u32..1 << (n + n_groups) {
        let support: Vec<usize> = (0..n).filter(|&idx| mask >> idx & 1 == 1).collect();
        let full: Vec<usize> = (0..n_groups).filter(|&group| mask >> (n + group) & 1 == 1).collect();
        let (m, order) = (support.len(), support.len() + full.len() + 1);
        let row = |place: usize, idx: usize| match full.get(place) {
            Some(&group) => f64::from(u8::from(group_of[idx] == group)),
            None => signs[idx],
        };
        let equations = DMatrix::from_fn(order, order, |r, c| match (support.get(r), support.get(c)) {
            (Some(&i), Some(&j)) => signed_gram[(i, j)],
            (Some(&i), None) => row(c - m, i),
            (None, Some(&j)) => row(r - m, j),
            (None, None) => 0.0,
        });
        let right = DVector::from_fn(order, |r, _| match (support.get(r), full.get(r.wrapping_sub(m))) {
            (Some(&i), _) => -linear[i],
            (None, Some(&group)) => caps[group],
            (None, None) => total,
        });
        let found = equations.clone().svd(true, true).solve(&right, 1e-12).unwrap();
        let mut weights = DVector::zeros(n);
        support.iter().zip(found.iter()).for_each(|(&idx, &value)| weights[idx] = value);
        let mut room = caps.to_vec();
        group_of.iter().zip(weights.iter()).for_each(|(&group, weight)| room[group] -= weight);
        if (equations * &found - right).amax() < 1e-8 && weights.min() > -1e-9 && room.iter().all(|&room| room > -1e-9)
        {
            least = least
                .min(0.5 * weights.dot(&(signed_gram * &weights)) + weights.dot(&DVector::from_column_slice(linear)));
        }
    }
    least
}

#[test]
fn no_active_set_of_a_small_problem_does_better() {
    let group_of = vec![0, 1, 2, 2, 3, 3];
    let signs = vec![1.0, 1.0, -1.0, -1.0, -1.0, -1.0];
    for seed in 0..24 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let points = random_points(100 + seed, 1 + seed as usize % 2, 6);
        let gram = if seed % 3 == 0 { points.transpose() * &points } else { gaussian(&points, 1.0) };
        let linear: Vec<f64> = (0..6).map(|_| rng.random_range(-2.0..0.5)).collect();
        let caps: Vec<f64> = (0..4).map(|_| [0.0, 0.3, 1.0, 50.0][rng.random_range(0..4)]).collect();
        let total = 0.5 * (caps[0] + caps[1]) * f64::from(u8::from(seed % 2 == 0));
        let signed_gram = DMatrix::from_fn(6, 6, |i, j| signs[i] * signs[j] * gram[(i, j)]);
        let expected = least_over_active_sets(&signed_gram, &linear, &signs, &group_of, &caps, total);
        let problem = GroupDual::new(&gram, signs.clone(), linear, group_of.clone(), caps, total).unwrap();
        let found = solved(&problem, &tight()).certificate.primal_objective;
        assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "seed {seed}: {found} is not {expected}");
    }
}

#[test]
fn the_inner_problems_of_mi_svm_are_those_of_the_reference() {
    let golden = read(include_str!("../../../fixtures/golden/misvm_toy.json"));
    let points: Vec<DVector<f64>> =
        golden["X"].as_array().unwrap().iter().map(|point| DVector::from_vec(numbers(point))).collect();
    let (bag_of, labels) = (numbers(&golden["bag"]), numbers(&golden["Y"]));
    let negatives: Vec<usize> = (0..points.len()).filter(|&idx| labels[bag_of[idx] as usize] < 0.0).collect();
    for case in golden["cases"].as_array().unwrap() {
        let (kernel, expected) = (&case["kernel"], &case["MI_svm_slack_per_bag"]);
        let value = |x: &DVector<f64>, z: &DVector<f64>| match kernel["kind"].as_str().unwrap() {
            "linear" => x.dot(z),
            "poly" => (kernel["gamma"].as_f64().unwrap() * x.dot(z) + kernel["coef0"].as_f64().unwrap()).powi(2),
            _ => (-kernel["gamma"].as_f64().unwrap() * (x - z).norm_squared()).exp(),
        };
        let selected: Vec<usize> = numbers(&expected["selectors"]).into_iter().map(|idx| idx as usize).collect();
        let used: Vec<usize> = selected.iter().chain(&negatives).copied().collect();
        let gram = DMatrix::from_fn(used.len(), used.len(), |i, j| value(&points[used[i]], &points[used[j]]));
        let signs = used.iter().map(|&idx| labels[bag_of[idx] as usize]).collect();
        // Bags 0 to 3 are positive and have one representative each.
        let group_of = used.iter().map(|&idx| bag_of[idx] as usize).collect();
        let penalties = vec![case["C"].as_f64().unwrap(); labels.len()];
        let problem = GroupDual::classification(&gram, signs, group_of, penalties).unwrap();
        let solution = solved(&problem, &tight());
        let objective = *numbers(&expected["objective_history"]).last().unwrap();
        assert!((solution.certificate.primal_objective + objective).abs() < 1e-8 * objective);
        assert_near(&[problem.bias(&solution)], &[expected["b"].as_f64().unwrap()], 1e-6);
        if kernel["kind"] == "rbf" {
            let dual: Vec<f64> =
                numbers(&expected["alpha_pos"]).into_iter().chain(numbers(&expected["alpha_neg"])).collect();
            assert_near(&solution.primal, &dual, 1e-6);
        }
    }
}

#[test]
fn caps_that_never_bind_leave_groups_without_effect() {
    let gram = gaussian(&random_points(9, 3, 42), 1.0);
    let (signs, group_of) = bags(12, 10);
    let settings = GroupSettings { tolerance: 1e-9, ..tight() };
    let huge = GroupDual::classification(&gram, signs.clone(), group_of, vec![1e4; 22]).unwrap();
    let alone = GroupDual::classification(&gram, signs, (0..42).collect(), vec![1e4; 42]).unwrap();
    assert_near(&solved(&huge, &settings).primal, &solved(&alone, &settings).primal, 1e-5);
}

#[test]
fn a_group_with_cap_zero_stays_at_zero() {
    let gram = gaussian(&random_points(9, 3, 42), 1.0);
    let (signs, group_of) = bags(12, 10);
    let mut caps = vec![1.0; 22];
    (caps[0], caps[12]) = (0.0, 0.0);
    let solution = solved(&GroupDual::classification(&gram, signs, group_of, caps).unwrap(), &tight());
    assert!([0, 12, 13, 14].iter().all(|&idx| solution.primal[idx] == 0.0));
    assert!(solution.primal.iter().any(|&value| value > 0.0));
}

#[test]
fn a_cache_of_two_rows_and_any_start_lead_to_the_same_optimum() {
    let gram = gaussian(&random_points(4, 2, 60), 2.0);
    let (signs, group_of) = bags(15, 15);
    let problem = GroupDual::classification(&gram, signs, group_of, vec![1.5; 30]).unwrap();
    let expected = solved(&problem, &tight());
    let meagre = GroupSettings { cache_bytes: 0, ..tight() };
    assert_near(&solved(&problem, &meagre).primal, &expected.primal, 1e-8);
    let mut starts = vec![vec![-3.0; 60], vec![1e9; 60], (0..60).map(|idx| f64::from(idx % 7)).collect()];
    starts.extend([(0..60).map(|idx| f64::from(u8::from(idx < 15))).collect(), expected.primal.clone()]);
    for start in starts {
        let solution = problem.solve_from(&start, &tight()).unwrap().solved().unwrap();
        assert_near(&solution.primal, &expected.primal, 1e-8);
    }
    let again = problem.solve_from(&expected.primal, &tight()).unwrap().solved().unwrap();
    assert!(again.n_steps <= expected.n_steps / 4, "{} steps from the optimum", again.n_steps);
}

#[test]
fn a_total_out_of_reach_is_proved_infeasible() {
    let gram = gaussian(&random_points(4, 2, 60), 2.0);
    let (signs, group_of) = bags(15, 15);
    for (total, feasible) in [(15.0, true), (15.1, false), (-15.0, true), (-15.1, false), (0.3, true)] {
        let caps = vec![1.0; 30];
        let problem = GroupDual::new(&gram, signs.clone(), vec![-1.0; 60], group_of.clone(), caps, total).unwrap();
        match problem.solve(&tight()).unwrap() {
            Outcome::Solved(solution) => assert!(feasible && solution.certify(&problem).unwrap().holds(2e-11)),
            Outcome::Infeasible(proof) => assert!(!feasible && proof.holds(&problem, 1e-9)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_spent_budget_leaves_a_feasible_point_and_its_gap() {
    let gram = gaussian(&random_points(4, 2, 60), 2.0);
    let (signs, group_of) = bags(15, 15);
    let problem = GroupDual::classification(&gram, signs, group_of, vec![1.5; 30]).unwrap();
    let settings = GroupSettings { max_steps: 5, ..tight() };
    let Outcome::OutOfBudget(solution) = problem.solve(&settings).unwrap() else { panic!("five steps are not enough") };
    let certificate = solution.certify(&problem).unwrap();
    assert!(certificate.primal_residual < 1e-14 && certificate.dual_residual < 1e-14);
    let optimum = solved(&problem, &tight()).certificate.primal_objective;
    assert!(certificate.dual_objective <= optimum && optimum < certificate.primal_objective);
}

#[test]
fn what_is_ill_stated_is_named() {
    let gram = DMatrix::<f64>::identity(3, 3);
    let new = |signs: [f64; 3], group_of: [usize; 3], caps: &[f64], total| {
        GroupDual::new(&gram, signs.to_vec(), vec![0.0; 3], group_of.to_vec(), caps.to_vec(), total)
    };
    let signs = [1.0, -1.0, -1.0];
    assert!(matches!(new(signs, [0, 0, 1], &[1.0; 2], 0.0), Err(ProblemError::Value { what: "sign", idx: 1, .. })));
    assert!(matches!(new(signs, [0, 1, 2], &[1.0; 2], 0.0), Err(ProblemError::Value { idx: 2, .. })));
    assert!(matches!(new([1.0, 0.5, 1.0], [0, 1, 1], &[1.0; 2], 0.0), Err(ProblemError::Value { idx: 1, .. })));
    assert!(matches!(new(signs, [0, 1, 1], &[1.0, f64::NAN], 0.0), Err(ProblemError::Value { idx: 1, .. })));
    assert!(matches!(new(signs, [0, 1, 1], &[1.0, -1.0], 0.0), Err(ProblemError::Value { idx: 1, .. })));
    assert!(matches!(new(signs, [0, 1, 1], &[1.0; 2], f64::INFINITY), Err(ProblemError::Value { .. })));
    let problem = new(signs, [0, 1, 1], &[1.0; 2], 0.0).unwrap();
    assert!(matches!(problem.solve_from(&[0.0], &tight()), Err(ProblemError::Length { .. })));
    let broken = DMatrix::from_row_slice(2, 2, &[1.0, f64::INFINITY, f64::INFINITY, 1.0]);
    let problem = GroupDual::classification(&broken, vec![1.0, -1.0], vec![0, 1], vec![1.0; 2]).unwrap();
    assert!(matches!(problem.solve(&tight()), Err(ProblemError::Value { what: "kernel row", .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Low rank, copies, groups of any size in any order, caps and kernels from 1e-6 to 1e6, caches of few rows.
    #[test]
    fn any_dual_comes_to_a_certified_optimum(
        seed in 0_u64..1000,
        n in 2_usize..40,
        n_groups in 2_usize..12,
        rank in 1_usize..5,
        kernel_exponent in -6..=6_i32,
        cap_exponent in -6..=6_i32,
        copies in any::<bool>(),
        n_rows in 2_usize..40,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut points = random_points(seed + 1, rank, n);
        if copies {
            (1..n).step_by(2).for_each(|idx| { let copy = points.column(idx - 1).into_owned(); points.set_column(idx, &copy); });
        }
        let gram = points.transpose() * &points * 10_f64.powi(kernel_exponent);
        let group_of: Vec<usize> = (0..n).map(|_| rng.random_range(0..n_groups)).collect();
        let signs = group_of.iter().map(|group| if group % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let caps: Vec<f64> = (0..n_groups).map(|_| [0.0, 1.0, 3.0, 10.0][rng.random_range(0..4)] * 10_f64.powi(cap_exponent)).collect();
        let largest_sum: f64 = caps.iter().sum();
        let problem = GroupDual::classification(&gram, signs, group_of, caps).unwrap();
        let settings = GroupSettings { tolerance: 1e-8, cache_bytes: n_rows * n * 8, max_steps: 1_000_000 };
        let outcome = problem.solve(&settings).unwrap();
        let is_solved = matches!(outcome, Outcome::Solved(_));
        let solution = outcome.best().unwrap();
        let certificate = solution.certify(&problem).unwrap();
        // What a unit in the last place of the products makes of the gap: numbers of 1e12 that cancel to 1 cannot do better.
        let sum: f64 = solution.primal.iter().sum();
        let rounding = f64::EPSILON * gram.diagonal().max() * sum * largest_sum / (1.0 + certificate.primal_objective.abs());
        prop_assert!(certificate.holds(2e-8_f64.max(10.0 * rounding)), "{:?}", certificate);
        prop_assert!(is_solved || rounding > 1e-9, "{:?}, rounding {}", certificate, rounding);
    }
}

#[test]
fn a_gradient_lost_in_rounding_proves_nothing() {
    for size in [1e16, 1e100, 1e308] {
        let gram = DMatrix::from_element(2, 2, size);
        let dual = GroupDual::classification(&gram, vec![1.0, -1.0], vec![0, 1], vec![1.0; 2]).unwrap();
        assert!(!matches!(dual.solve(&GroupSettings::default()), Ok(Outcome::Solved(_))), "{size}");
    }
}
