//! Quadratic forms over products of simplices: closed forms, every support of small problems, published results, and the checker's word on the rest.

use mil_core::KernelRows;
use mil_qp::{BlockVariance, GroupSettings, Outcome, Problem, ProblemError, SimplexBlocks, Solution};
use mil_testkit::golden::{numbers, read};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

fn tight() -> GroupSettings {
    GroupSettings { tolerance: 1e-12, ..GroupSettings::default() }
}

fn solved<K: KernelRows>(problem: &SimplexBlocks<'_, K>, settings: &GroupSettings) -> Solution {
    let solution = problem.solve(settings).unwrap().solved().expect("solvable");
    let certificate = solution.certify(problem).unwrap();
    assert!(certificate.holds(2.0 * settings.tolerance), "{certificate:?}");
    solution
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    let close = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= tolerance);
    assert!(close, "{found:?} is not {expected:?}");
}

/// Points in the plane, one per column, and their Gaussian kernel.
fn gaussian(points: &DMatrix<f64>, gamma: f64) -> DMatrix<f64> {
    let n = points.ncols();
    DMatrix::from_fn(n, n, |i, j| (-gamma * (points.column(i) - points.column(j)).norm_squared()).exp())
}

fn random_points(seed: u64, n_features: usize, n: usize) -> DMatrix<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    DMatrix::from_fn(n_features, n, |_, _| rng.random_range(-1.0..1.0))
}

#[test]
fn a_lone_instance_carries_its_whole_block() {
    let gram = gaussian(&random_points(1, 2, 5), 1.0);
    let variance = BlockVariance::new(&gram, &[1; 5]).unwrap();
    let problem = SimplexBlocks::new(&variance, vec![1; 5]).unwrap();
    assert_eq!(solved(&problem, &tight()).primal, [1.0; 5]);
}

#[test]
fn the_identity_shares_weight_equally() {
    let identity = DMatrix::identity(7, 7);
    let problem = SimplexBlocks::new(&identity, vec![7]).unwrap();
    let solution = solved(&problem, &tight());
    assert_near(&solution.primal, &[1.0 / 7.0; 7], 1e-11);
    assert!((solution.certificate.primal_objective - 0.5 / 7.0).abs() < 1e-12);
}

#[test]
fn a_diagonal_shares_weight_by_its_inverse() {
    let diagonal = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 2.0, 4.0, 3.0, 1.0]));
    let problem = SimplexBlocks::new(&diagonal, vec![3, 2]).unwrap();
    let expected = [4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0, 0.25, 0.75];
    assert_near(&solved(&problem, &tight()).primal, &expected, 1e-10);
}

#[test]
fn identical_instances_have_no_variance_whatever_their_weights() {
    let gram = DMatrix::from_element(6, 6, 1.0);
    let variance = BlockVariance::new(&gram, &[2, 3, 1]).unwrap();
    let problem = SimplexBlocks::new(&variance, vec![2, 3, 1]).unwrap();
    let solution = solved(&problem, &tight());
    assert!(solution.certificate.primal_objective.abs() < 1e-15);
}

#[test]
fn two_bags_on_the_line_meet_where_they_are_nearest() {
    // {0, 2} and {3, 7}: the mixtures nearest to each other are 2 and 3, each half a unit from their mean.
    let points = [0.0, 2.0, 3.0, 7.0];
    let gram = DMatrix::from_fn(4, 4, |i, j| points[i] * points[j]);
    let variance = BlockVariance::new(&gram, &[2, 2]).unwrap();
    let problem = SimplexBlocks::new(&variance, vec![2, 2]).unwrap();
    let solution = solved(&problem, &tight());
    assert_near(&solution.primal, &[0.0, 1.0, 1.0, 0.0], 1e-12);
    assert!((2.0 * solution.certificate.primal_objective - 0.5).abs() < 1e-12);
}

#[test]
fn two_blocks_agree_with_the_solution_by_hand() {
    // With weights (s, 1-s) and (t, 1-t): s^2 + (1-s)^2 + t^2 + 3 (1-t)^2 + s t, least where 4s + t = 2 and s + 8t = 6, at s = 10/31, t = 22/31.
    let matrix = DMatrix::from_row_slice(
        4,
        4,
        &[1.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0],
    );
    let problem = SimplexBlocks::new(&matrix, vec![2, 2]).unwrap();
    let expected = [10.0 / 31.0, 21.0 / 31.0, 22.0 / 31.0, 9.0 / 31.0];
    assert_near(&solved(&problem, &tight()).primal, &expected, 1e-11);
}

/// The least objective over all supports: on each, stationarity and the sums are linear equations.
fn least_over_supports(matrix: &DMatrix<f64>, sizes: &[usize]) -> f64 {
    let block_of: Vec<usize> = sizes.iter().enumerate().flat_map(|(b, &size)| vec![b; size]).collect();
    let (n, n_blocks) = (block_of.len(), sizes.len());
    let mut least = f64::INFINITY;
    for mask in 1_u32..1 << n {
        let support: Vec<usize> = (0..n).filter(|&idx| mask >> idx & 1 == 1).collect();
        let m = support.len();
        let equations = DMatrix::from_fn(m + n_blocks, m + n_blocks, |r, c| match (support.get(r), support.get(c)) {
            (Some(&i), Some(&j)) => matrix[(i, j)],
            (Some(&i), None) => f64::from(u8::from(block_of[i] == c - m)),
            (None, Some(&j)) => f64::from(u8::from(block_of[j] == r - m)),
            (None, None) => 0.0,
        });
        let mut right = DVector::zeros(m + n_blocks);
        right.rows_mut(m, n_blocks).fill(1.0);
        let found = equations.clone().svd(true, true).solve(&right, 1e-12).unwrap();
        let weights = found.rows(0, m);
        if (equations * &found - right).amax() < 1e-8 && weights.min() > -1e-9 {
            let part = DMatrix::from_fn(m, m, |r, c| matrix[(support[r], support[c])]);
            least = least.min(0.5 * weights.dot(&(part * weights)));
        }
    }
    least
}

#[test]
fn no_support_of_a_small_problem_does_better() {
    for seed in 0..30 {
        let sizes = [vec![8], vec![3, 4], vec![2, 2, 3], vec![1, 4, 1]][seed as usize % 4].clone();
        let gram = gaussian(
            &random_points(seed, 1 + seed as usize % 3, sizes.iter().sum()),
            [0.1, 1.0, 10.0][seed as usize % 3],
        );
        for matrix in [gram.clone(), in_full(&BlockVariance::new(&gram, &sizes).unwrap())] {
            let problem = SimplexBlocks::new(&matrix, sizes.clone()).unwrap();
            let found = solved(&problem, &tight()).certificate.primal_objective;
            assert!((found - least_over_supports(&matrix, &sizes)).abs() < 1e-9, "seed {seed}");
        }
    }
}

fn in_full(rows: &impl KernelRows) -> DMatrix<f64> {
    let n = rows.order();
    let mut matrix = DMatrix::zeros(n, n);
    let mut places: Vec<&mut [f64]> = matrix.as_mut_slice().chunks_mut(n).collect();
    rows.fill_rows(&(0..n).collect::<Vec<_>>(), &rows.prepare(&(0..n).collect::<Vec<_>>()), &mut places).unwrap();
    matrix
}

#[test]
fn pmi_weights_are_those_of_the_reference() {
    let golden = read(include_str!("../../../fixtures/golden/pmi_toy.json"));
    let points: Vec<f64> = golden["X"].as_array().unwrap().iter().flat_map(numbers).collect();
    let points = DMatrix::from_column_slice(2, points.len() / 2, &points);
    let bags = numbers(&golden["bag"]);
    let sizes: Vec<usize> = (0..6).map(|bag| bags.iter().filter(|&&other| other == f64::from(bag)).count()).collect();
    let mut n_matrices = 0;
    for case in golden["cases"].as_array().unwrap() {
        let gram = gaussian(&points, case["gamma"].as_f64().unwrap());
        let variance = BlockVariance::new(&gram, &sizes).unwrap();
        // The file holds the matrix of the first case only.
        if let Some(rows) = case["H"].as_array() {
            assert_near(in_full(&variance).as_slice(), &rows.iter().flat_map(numbers).collect::<Vec<_>>(), 1e-12);
            n_matrices += 1;
        }
        assert_near(&variance.diagonal_values().unwrap(), in_full(&variance).diagonal().as_slice(), 1e-15);
        let problem = SimplexBlocks::new(&variance, sizes.clone()).unwrap();
        let solution = solved(&problem, &tight());
        assert_near(&solution.primal, &numbers(&case["lam"]), 1e-7);
        assert!((2.0 * solution.certificate.primal_objective - case["variance"].as_f64().unwrap()).abs() < 1e-9);
    }
    assert_eq!(n_matrices, 1);
}

#[test]
fn a_cache_of_two_rows_and_any_start_lead_to_the_same_weights() {
    let gram = gaussian(&random_points(3, 3, 40), 1.0);
    let variance = BlockVariance::new(&gram, &[8; 5]).unwrap();
    let problem = SimplexBlocks::new(&variance, vec![8; 5]).unwrap();
    let weights = solved(&problem, &tight()).primal;
    let meagre = GroupSettings { cache_bytes: 0, ..tight() };
    assert_near(&solved(&problem, &meagre).primal, &weights, 1e-9);
    for start in [vec![1.0; 40], vec![-1.0; 40], (0..40).map(|idx| f64::from(idx) * 1e300).collect(), weights.clone()] {
        let solution = problem.solve_from(&start, &tight()).unwrap().solved().unwrap();
        assert_near(&solution.primal, &weights, 1e-9);
    }
}

#[test]
fn more_weights_than_are_worked_on_at_once_come_to_an_optimum() {
    // A cache of 32 rows: rounds over 32 of 300 weights, wide and narrow.
    let points = random_points(5, 3, 300);
    for gamma in [0.05, 5.0] {
        let gram = gaussian(&points, gamma);
        let variance = BlockVariance::new(&gram, &[10; 30]).unwrap();
        let problem = SimplexBlocks::new(&variance, vec![10; 30]).unwrap();
        let settings = GroupSettings { tolerance: 1e-9, cache_bytes: 32 * 300 * 8, ..GroupSettings::default() };
        let roomy = GroupSettings { cache_bytes: 300 * 300 * 8, ..settings.clone() };
        let objective = solved(&problem, &settings).certificate.primal_objective;
        assert!((objective - solved(&problem, &roomy).certificate.primal_objective).abs() < 1e-8);
    }
}

#[test]
fn a_spent_budget_leaves_a_feasible_point_and_its_gap() {
    let gram = gaussian(&random_points(3, 3, 40), 1.0);
    let problem = SimplexBlocks::new(&gram, vec![8; 5]).unwrap();
    let settings = GroupSettings { max_steps: 3, ..tight() };
    let Outcome::OutOfBudget(solution) = problem.solve(&settings).unwrap() else {
        panic!("three steps are not enough")
    };
    let certificate = solution.certify(&problem).unwrap();
    assert!(certificate.primal_residual < 1e-15 && certificate.dual_residual < 1e-15);
    let optimum = solved(&problem, &tight()).certificate.primal_objective;
    assert!(certificate.dual_objective <= optimum && optimum < certificate.primal_objective);
}

#[test]
fn what_is_ill_stated_is_named() {
    let matrix = DMatrix::<f64>::identity(3, 3);
    assert!(matches!(SimplexBlocks::new(&matrix, vec![2]), Err(ProblemError::Length { .. })));
    assert!(matches!(SimplexBlocks::new(&matrix, vec![usize::MAX, 4]), Err(ProblemError::Length { .. })));
    assert!(matches!(SimplexBlocks::new(&matrix, vec![3, 0]), Err(ProblemError::Value { idx: 1, .. })));
    assert!(matches!(BlockVariance::new(&DMatrix::zeros(0, 0), &[]), Err(ProblemError::Empty(_))));
    let problem = SimplexBlocks::new(&matrix, vec![3]).unwrap();
    assert!(matches!(problem.solve_from(&[1.0], &tight()), Err(ProblemError::Length { .. })));
    assert!(matches!(problem.solve_from(&[1.0, f64::NAN, 0.0], &tight()), Err(ProblemError::Value { idx: 1, .. })));
    for settings in [GroupSettings { tolerance: f64::NAN, ..tight() }, GroupSettings { max_steps: 0, ..tight() }] {
        assert!(matches!(problem.solve(&settings), Err(ProblemError::Setting { .. })));
    }
    let broken = DMatrix::from_row_slice(3, 3, &[1.0, f64::NAN, 0.0, f64::NAN, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(matches!(SimplexBlocks::new(&broken, vec![3]).unwrap().solve(&tight()), Err(ProblemError::Value { .. })));
    let saddle = DMatrix::from_row_slice(2, 2, &[1.0, 5.0, 5.0, 1.0]);
    let outcome = SimplexBlocks::new(&saddle, vec![2]).unwrap().solve_from(&[0.6, 0.4], &tight());
    assert!(matches!(outcome, Err(ProblemError::NotConvex)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Low rank, copies, scales from 1e-6 to 1e6.
    #[test]
    fn any_form_comes_to_a_certified_optimum(
        seed in 0_u64..1000,
        sizes in prop::collection::vec(1_usize..6, 1..8),
        rank in 1_usize..6,
        exponent in -6..=6_i32,
        copies in any::<bool>(),
        n_rows in 2_usize..50,
    ) {
        let n: usize = sizes.iter().sum();
        let mut points = random_points(seed, rank, n);
        if copies {
            (1..n).step_by(2).for_each(|idx| { let copy = points.column(idx - 1).into_owned(); points.set_column(idx, &copy); });
        }
        let gram = points.transpose() * &points * 10_f64.powi(exponent);
        let n_blocks = sizes.len();
        let problem = SimplexBlocks::new(&gram, sizes).unwrap();
        let settings = GroupSettings { tolerance: 1e-9, cache_bytes: n_rows * n * 8, ..GroupSettings::default() };
        let outcome = problem.solve(&settings).unwrap();
        let is_solved = matches!(outcome, Outcome::Solved(_));
        let certificate = outcome.best().unwrap().certify(&problem).unwrap();
        // What a unit in the last place of the products makes of the gap.
        let rounding = f64::EPSILON * gram.diagonal().max() * (n_blocks * n_blocks) as f64;
        prop_assert!(certificate.holds(2e-9_f64.max(10.0 * rounding)), "{:?}", certificate);
        prop_assert!(is_solved || rounding > 1e-10, "{:?}", certificate);
        prop_assert_eq!(problem.n_rows(), n + n_blocks);
    }
}
