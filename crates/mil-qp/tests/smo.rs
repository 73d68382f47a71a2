//! The dual of a support vector machine by sequential minimal optimisation: closed forms, certificates, references, and every switch both ways.

mod common;

use common::best_by_enumeration;
use mil_core::{KernelRows, RowError, stream};
use mil_kernels::{GramRows, Kernel};
use mil_qp::strategies::{SvmCase, svm_cases};
use mil_qp::{Outcome, ProblemError, Shrinking, SmoSettings, Solution, SvmDual};
use mil_testkit::golden::{numbers, read};
use nalgebra::DMatrix;
use proptest::prelude::*;
use rand::RngExt;

/// Tight enough for closed forms.
fn exact() -> SmoSettings {
    SmoSettings { tolerance: 1e-9, ..SmoSettings::default() }
}

fn solved<K: KernelRows>(problem: &SvmDual<'_, K>, settings: &SmoSettings) -> Solution {
    let solution = problem.solve(settings).unwrap().solved().expect("solved within the budget");
    assert!(solution.certify(problem).unwrap().holds(2.0 * settings.tolerance));
    solution
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }
}

fn linear_gram(points: &[f64]) -> DMatrix<f64> {
    DMatrix::from_fn(points.len(), points.len(), |i, j| points[i] * points[j])
}

#[test]
fn two_points_at_one_and_minus_one_have_duals_of_one_half_and_no_bias() {
    let gram = linear_gram(&[1.0, -1.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![10.0; 2]).unwrap();
    let solution = solved(&problem, &exact());
    assert_close(&solution.primal, &[0.5, 0.5], 1e-9);
    assert_close(&[problem.bias(&solution)], &[0.0], 1e-9);
    assert_close(&[solution.certificate.primal_objective], &[-0.5], 1e-9);
}

#[test]
fn a_small_penalty_leaves_every_dual_at_its_bound() {
    let gram = linear_gram(&[1.0, 3.0, -1.0, -2.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, 1.0, -1.0, -1.0], vec![1e-6; 4]).unwrap();
    assert_eq!(solved(&problem, &exact()).primal, [1e-6; 4]);
}

#[test]
fn a_penalty_of_zero_leaves_nothing_to_choose() {
    let gram = linear_gram(&[1.0, -1.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![0.0; 2]).unwrap();
    assert_eq!(solved(&problem, &exact()).primal, [0.0; 2]);
}

#[test]
fn a_huge_penalty_gives_the_hard_margin() {
    // The margin lies between 2 and -1: weight 2/3, bias -1/3, and only the two points nearest to it count.
    let gram = linear_gram(&[2.0, 5.0, -1.0, -9.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, 1.0, -1.0, -1.0], vec![1e9; 4]).unwrap();
    let solution = solved(&problem, &exact());
    assert_close(&solution.primal, &[2.0 / 9.0, 0.0, 2.0 / 9.0, 0.0], 1e-8);
    assert_close(&[problem.bias(&solution)], &[-1.0 / 3.0], 1e-8);
}

#[test]
fn duplicated_points_share_the_dual_of_one() {
    let gram = linear_gram(&[1.0, 1.0, 1.0, -1.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, 1.0, 1.0, -1.0], vec![10.0; 4]).unwrap();
    let solution = solved(&problem, &exact());
    assert_close(&[solution.primal[..3].iter().sum(), solution.primal[3]], &[0.5, 0.5], 1e-9);
}

#[test]
fn points_in_the_same_place_with_opposite_signs_are_at_their_bounds() {
    let gram = linear_gram(&[1.0, 1.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![2.0; 2]).unwrap();
    assert_eq!(solved(&problem, &exact()).primal, [2.0, 2.0]);
}

#[test]
fn one_class_on_identical_points_has_the_objective_of_one_point() {
    let gram = DMatrix::from_element(5, 5, 1.0);
    for nu in [0.2, 0.5, 1.0] {
        let problem = SvmDual::one_class(&gram, nu).unwrap();
        let solution = solved(&problem, &exact());
        assert_close(&[solution.certificate.primal_objective, problem.bias(&solution)], &[0.5, -1.0], 1e-12);
    }
}

#[test]
fn one_class_with_nu_of_one_takes_all_points_alike_and_the_largest_value_as_its_offset() {
    let gram = DMatrix::from_row_slice(3, 3, &[1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let problem = SvmDual::one_class(&gram, 1.0).unwrap();
    let solution = solved(&problem, &exact());
    assert_close(&solution.primal, &[1.0 / 3.0; 3], 1e-12);
    assert_close(&[problem.bias(&solution)], &[-0.5], 1e-12);
}

#[test]
fn without_a_free_variable_the_bias_is_in_the_middle_of_what_is_left() {
    // Both at the bound: the positive wants b <= 1 - 0.1, the negative b >= -1 + 0.1.
    let gram = linear_gram(&[1.0, -1.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![0.05; 2]).unwrap();
    let solution = solved(&problem, &exact());
    assert_eq!((solution.primal.as_slice(), problem.bias(&solution)), (&[0.05, 0.05][..], 0.0));
}

#[test]
fn a_single_class_needs_no_support() {
    let gram = linear_gram(&[1.0, 2.0, 3.0]);
    let problem = SvmDual::classification(&gram, vec![1.0; 3], vec![1.0; 3]).unwrap();
    let solution = solved(&problem, &exact());
    assert_eq!((solution.primal.as_slice(), problem.bias(&solution)), (&[0.0; 3][..], 1.0));
}

#[test]
fn one_class_reproduces_the_golden_case() {
    let golden = read(include_str!("../../../fixtures/golden/one_class_svm.json"));
    let rows: Vec<Vec<f64>> = golden["K"].as_array().unwrap().iter().map(numbers).collect();
    let gram = DMatrix::from_fn(rows.len(), rows.len(), |i, j| rows[i][j]);
    for case in golden["cases"].as_array().unwrap() {
        let problem = SvmDual::one_class(&gram, case["nu"].as_f64().unwrap()).unwrap();
        let solution = solved(&problem, &SmoSettings { tolerance: 1e-12, ..SmoSettings::default() });
        assert_close(&solution.primal, &numbers(&case["alpha"]), 1e-8);
        assert_close(&[-problem.bias(&solution)], &[case["rho"].as_f64().unwrap()], 1e-8);
    }
}

/// The problem of a case; its numbers are in range.
fn problem_of(case: &SvmCase) -> SvmDual<'_, DMatrix<f64>> {
    SvmDual::new(&case.gram, case.signs.clone(), case.linear.clone(), case.upper.clone(), case.total).unwrap()
}

proptest! {
    #[test]
    fn every_ending_is_certified_and_agrees_with_brute_force(case in svm_cases()) {
        let problem = problem_of(&case);
        let settings = SmoSettings { tolerance: 1e-7, ..SmoSettings::default() };
        match problem.solve(&settings).unwrap() {
            Outcome::Solved(solution) => {
                prop_assert!(case.feasible);
                let certificate = solution.certify(&problem).unwrap();
                prop_assert!(certificate.holds(2e-7), "{certificate:?}");
                // The certificate bounds the optimum from below, the reference from above; it solves by pseudo-inverse and may miss a little.
                if case.signs.len() <= 6 && case.gram.amax() < 1e5 {
                    let (_, best) =
                        best_by_enumeration(&case.gram, &case.signs, &case.linear, &case.upper, case.total).unwrap();
                    let found = certificate.primal_objective;
                    prop_assert!(found - best <= 1e-6 * (1.0 + best.abs()), "{} is not {}", found, best);
                }
            }
            Outcome::Infeasible(proof) => {
                prop_assert!(!case.feasible);
                prop_assert!(proof.holds(&problem, 1e-9));
            }
            // Where points differ by six orders of magnitude in length, rounding may end it, and soon: then the answer is feasible and says how far it may be.
            Outcome::OutOfBudget(solution) => {
                prop_assert!(solution.n_steps < 20_000);
                let (own, certificate) = (solution.certificate, solution.certify(&problem).unwrap());
                prop_assert!(case.gram.amax() > 1e5 || certificate.holds(1e-5), "{certificate:?}");
                prop_assert!(certificate.primal_residual <= 1e-9 * certificate.primal_scale, "{certificate:?}");
                let difference = (own.duality_gap() - certificate.duality_gap()).abs();
                prop_assert!(difference <= 0.01 * (1.0 + certificate.primal_objective.abs()), "{own:?} {certificate:?}");
            }
            Outcome::Unbounded(_) => prop_assert!(false, "a box is bounded"),
        }
    }

    #[test]
    fn a_start_anywhere_leads_to_the_same_objective(case in svm_cases().prop_filter("feasible", |case| case.feasible), start in prop::collection::vec(-2.0..2.0, 12)) {
        let problem = problem_of(&case);
        let settings = SmoSettings { tolerance: 1e-7, ..SmoSettings::default() };
        let cold = problem.solve(&settings).unwrap().best().unwrap();
        for start in [&start[..case.signs.len()], &cold.primal] {
            let warm = problem.solve_from(start, &settings).unwrap().best().unwrap();
            // Objectives differ by no more than the two gaps.
            let [cold, warm] = [&cold, &warm].map(|solution| solution.certify(&problem).unwrap());
            let allowed = cold.duality_gap().abs() + warm.duality_gap().abs() + 1e-6 * (1.0 + cold.primal_objective.abs());
            prop_assert!((cold.primal_objective - warm.primal_objective).abs() <= allowed, "{cold:?} {warm:?}");
        }
    }
}

/// Two overlapping clouds, large enough for several levels and many blocks.
fn clouds(n: usize) -> (DMatrix<f64>, Vec<f64>) {
    let mut rng = stream(7, "smo test", 0);
    let signs: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let points = DMatrix::from_fn(5, n, |_, i| 0.8 * signs[i] + rng.random::<f64>() * 4.0 - 2.0);
    (points, signs)
}

#[test]
fn shrinking_the_cache_and_the_start_change_nothing_about_the_optimum() {
    let (points, signs) = clouds(1700);
    let rows = GramRows::new(&Kernel::Gaussian { gamma: 0.3 }, &points).unwrap();
    let penalties: Vec<f64> = signs.iter().map(|sign| if *sign > 0.0 { 2.0 } else { 1.0 }).collect();
    let problem = SvmDual::classification(&rows, signs, penalties).unwrap();
    let settings = SmoSettings { tolerance: 1e-6, ..SmoSettings::default() };
    let reference = solved(&problem, &settings).certificate.primal_objective;
    let row_bytes = 1700 * size_of::<f64>();
    for shrinking in [Shrinking::Never, Shrinking::WhenCacheIsFull, Shrinking::Always] {
        for cache_bytes in [0, 3 * row_bytes, 100 * row_bytes, 1 << 30] {
            let settings = SmoSettings { shrinking, cache_bytes, ..settings.clone() };
            let found = solved(&problem, &settings);
            let objective = found.certificate.primal_objective;
            assert!((objective - reference).abs() < 1e-5 * reference.abs(), "{shrinking:?} {cache_bytes}: {objective}");
            let warm = problem.solve_from(&found.primal, &settings).unwrap().solved().unwrap();
            assert!(warm.n_steps < found.n_steps / 4, "{} steps from the solution", warm.n_steps);
        }
    }
}

#[test]
fn one_class_problems_are_solved_through_all_levels() {
    let (points, _) = clouds(1700);
    let rows = GramRows::new(&Kernel::Gaussian { gamma: 0.3 }, &points).unwrap();
    for nu in [0.001, 0.1, 0.5, 0.99] {
        let problem = SvmDual::one_class(&rows, nu).unwrap();
        let reference = solved(&problem, &SmoSettings { tolerance: 1e-8, ..SmoSettings::default() });
        let other =
            SmoSettings { tolerance: 1e-8, shrinking: Shrinking::Always, cache_bytes: 0, ..SmoSettings::default() };
        let objective = solved(&problem, &other).certificate.primal_objective;
        assert!((objective - reference.certificate.primal_objective).abs() < 1e-8, "nu {nu}");
        // At most a part nu of the points is outside, at least a part nu supports (Schoelkopf et al. 2001, proposition 3).
        let bound = 1.0 / (nu * 1700.0);
        let n_outside = reference.primal.iter().filter(|&&alpha| alpha >= bound).count() as f64;
        let n_support = reference.primal.iter().filter(|&&alpha| alpha > 0.0).count() as f64;
        assert!(n_outside <= nu * 1700.0 + 1e-9 && nu * 1700.0 <= n_support + 1e-9, "nu {nu}: {n_outside} {n_support}");
    }
}

#[test]
fn one_thread_or_two_the_solution_is_the_same_to_the_bit() {
    let (points, signs) = clouds(1700);
    let rows = GramRows::new(&Kernel::Gaussian { gamma: 0.3 }, &points).unwrap();
    let problem = SvmDual::classification(&rows, signs, vec![1.0; 1700]).unwrap();
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| problem.solve(&SmoSettings::default()).unwrap())
    };
    assert!(on(1) == on(2));
}

#[test]
fn a_spent_budget_leaves_a_feasible_point_that_says_how_far_it_is() {
    let (points, signs) = clouds(400);
    let rows = GramRows::new(&Kernel::Gaussian { gamma: 0.3 }, &points).unwrap();
    let problem = SvmDual::classification(&rows, signs, vec![1.0; 400]).unwrap();
    for shrinking in [Shrinking::Never, Shrinking::Always] {
        let settings = SmoSettings { max_steps: 30, shrinking, ..SmoSettings::default() };
        let Outcome::OutOfBudget(solution) = problem.solve(&settings).unwrap() else { panic!("30 steps are too few") };
        let certificate = solution.certify(&problem).unwrap();
        assert!(certificate.primal_residual < 1e-12 && certificate.dual_residual < 1e-10);
        assert!(certificate.duality_gap() > 1.0 && !certificate.holds(1e-3));
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let gram = linear_gram(&[1.0, -1.0]);
    let message = |result: Result<SvmDual<'_, DMatrix<f64>>, ProblemError>| result.unwrap_err().to_string();
    let of = |signs: [f64; 2], linear: [f64; 2], upper: [f64; 2], total| {
        message(SvmDual::new(&gram, signs.to_vec(), linear.to_vec(), upper.to_vec(), total))
    };
    assert_eq!(of([1.0, 0.5], [0.0; 2], [1.0; 2], 0.0), "sign 1 is 0.5; expected 1 or -1");
    assert_eq!(of([1.0; 2], [0.0, f64::NAN], [1.0; 2], 0.0), "linear term 1 is NaN; expected a finite number");
    assert!(of([1.0; 2], [0.0; 2], [-1.0, 1.0], 0.0).starts_with("upper bound 0 is -1"));
    assert!(of([1.0; 2], [0.0; 2], [f64::INFINITY; 2], 0.0).starts_with("upper bound 0 is inf"));
    assert!(of([1.0; 2], [0.0; 2], [1.0; 2], f64::NAN).starts_with("total 0 is NaN"));
    assert_eq!(message(SvmDual::classification(&gram, vec![1.0], vec![1.0; 2])), "the signs: 1 in number, expected 2");
    for nu in [0.0, 1.5, f64::NAN] {
        assert!(message(SvmDual::one_class(&gram, nu)).starts_with("nu is"));
    }
    let empty = DMatrix::zeros(0, 0);
    assert_eq!(message(SvmDual::classification(&empty, vec![], vec![])), "the problem has no variables");

    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![1.0; 2]).unwrap();
    for settings in [
        SmoSettings { tolerance: 0.0, ..SmoSettings::default() },
        SmoSettings { tolerance: f64::NAN, ..SmoSettings::default() },
        SmoSettings { max_steps: 0, ..SmoSettings::default() },
    ] {
        assert!(matches!(problem.solve(&settings), Err(ProblemError::Setting { .. })), "{settings:?}");
    }
    assert!(matches!(problem.solve_from(&[0.0], &exact()), Err(ProblemError::Length { .. })));
    assert!(matches!(problem.solve_from(&[0.0, f64::NAN], &exact()), Err(ProblemError::Value { idx: 1, .. })));
}

#[test]
fn kernel_values_that_are_not_finite_are_an_error() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut gram = linear_gram(&[1.0, 2.0, -1.0]);
        gram[(0, 2)] = bad;
        gram[(2, 0)] = bad;
        let problem = SvmDual::classification(&gram, vec![1.0, 1.0, -1.0], vec![10.0; 3]).unwrap();
        let error = problem.solve(&exact()).unwrap_err();
        assert!(error.to_string().starts_with("a kernel value in row 0 is"), "{error}");
        gram[(1, 1)] = bad;
        let problem = SvmDual::classification(&gram, vec![1.0, 1.0, -1.0], vec![10.0; 3]).unwrap();
        assert!(matches!(problem.solve(&exact()), Err(ProblemError::Value { .. })), "{bad}");
    }
}

#[test]
fn negative_curvature_is_refused() {
    let gram = -DMatrix::<f64>::identity(2, 2);
    let problem = SvmDual::one_class(&gram, 0.5).unwrap();
    assert!(matches!(problem.solve_from(&[0.5, 0.5], &exact()), Err(ProblemError::NotConvex)));
    let gram = DMatrix::from_row_slice(2, 2, &[1.0, 3.0, 3.0, 1.0]);
    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![1.0; 2]).unwrap();
    assert!(matches!(problem.solve(&exact()), Err(ProblemError::NotConvex)));
}

#[test]
fn along_a_line_without_curvature_a_step_goes_to_the_bound() {
    let gram = DMatrix::zeros(2, 2);
    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![1e20; 2]).unwrap();
    let solution = problem.solve(&exact()).unwrap().best().unwrap();
    assert_eq!((solution.primal.as_slice(), solution.n_steps < 100), (&[1e20, 1e20][..], true));
}

#[test]
fn a_matrix_that_is_not_square_is_an_error() {
    let gram = DMatrix::from_element(3, 2, 1.0);
    let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![1.0; 2]).unwrap();
    let error = problem.solve(&exact()).unwrap_err();
    assert!(error.to_string().ends_with("the matrix is 3 x 2, expected a square one"), "{error}");
}

/// A kernel that fails on one of its rows.
struct Failing(DMatrix<f64>);

impl KernelRows for Failing {
    type Prepared = Vec<usize>;

    fn order(&self) -> usize {
        self.0.order()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        self.0.diagonal_values()
    }

    fn prepare(&self, idxs: &[usize]) -> Vec<usize> {
        idxs.to_vec()
    }

    fn fill(&self, rows: &Vec<usize>, columns: &Vec<usize>, places: &mut [&mut [f64]]) -> Result<(), RowError> {
        if rows.contains(&1) { Err("the sensor is gone".into()) } else { self.0.fill(rows, columns, places) }
    }
}

#[test]
fn a_failing_kernel_ends_the_solve_with_its_own_words() {
    let kernel = Failing(linear_gram(&[2.0, 1.0, -1.0]));
    let problem = SvmDual::classification(&kernel, vec![1.0, 1.0, -1.0], vec![10.0; 3]).unwrap();
    let error = problem.solve(&exact()).unwrap_err();
    assert_eq!(error.to_string(), "a kernel row could not be computed: the sensor is gone");
}
