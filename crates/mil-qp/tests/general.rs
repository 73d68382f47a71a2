//! The general path on random problems of every flavour, against brute force, and against golden cases.

mod common;

use common::best_by_enumeration;
use mil_qp::strategies::{
    FLAVOURS, Flavour, GRAM_FLAVOURS, GramFlavour, QuadraticCase, quadratic_programs, quadratic_programs_of, svm_cases,
    svm_cases_of,
};
use mil_qp::{GeneralSettings, Outcome, Polish, Problem, ProblemError, QuadraticProgram, Solution, SparseMatrix};
use mil_testkit::golden::{numbers, read};
use nalgebra::DMatrix;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

/// Cases of a flavour, the same each time.
fn cases(flavour: Flavour, n_cases: usize) -> Vec<QuadraticCase> {
    let mut runner = TestRunner::deterministic();
    (0..n_cases).map(|_| quadratic_programs_of(flavour).new_tree(&mut runner).unwrap().current()).collect()
}

fn settings(tolerance: f64, polish: Polish) -> GeneralSettings {
    GeneralSettings { tolerance, polish, ..Default::default() }
}

/// Whether a solve ended as the flavour says; none if the budget ran out. What is claimed must be true.
fn ends_as_it_must(case: &QuadraticCase, outcome: &Outcome, tolerance: f64) -> Option<bool> {
    match outcome {
        Outcome::Solved(solution) => {
            assert!(solution.certify(&case.program).unwrap().holds(tolerance), "{:?}", solution.certificate);
            Some(!matches!(case.flavour, Flavour::Infeasible | Flavour::Unbounded))
        }
        Outcome::OutOfBudget(solution) => {
            assert!(!solution.certify(&case.program).unwrap().holds(tolerance));
            assert!(solution.primal.iter().chain(&solution.dual).all(|value| value.is_finite()));
            None
        }
        Outcome::Infeasible(proof) => {
            assert!(proof.holds(&case.program, tolerance));
            Some(case.flavour == Flavour::Infeasible)
        }
        Outcome::Unbounded(proof) => {
            assert!(proof.holds(&case.program, tolerance).unwrap());
            Some(case.flavour == Flavour::Unbounded)
        }
    }
}

proptest! {
    #[test]
    fn no_problem_ends_as_it_must_not(case in quadratic_programs()) {
        let tolerance = 1e-7;
        let settings = GeneralSettings { max_iterations: 4_000, ..settings(tolerance, Polish::On) };
        let outcome = case.program.solve(&settings).unwrap();
        prop_assert_ne!(ends_as_it_must(&case, &outcome, tolerance), Some(false), "{:?}", outcome);
    }

    #[test]
    fn numbers_of_any_size_neither_panic_nor_deceive(
        case in quadratic_programs(),
        exponents in prop::array::uniform3(-300i32..=300),
    ) {
        let program = case.program;
        let n = program.n_variables();
        let [p, q, b] = exponents.map(|e| 10f64.powi(e));
        let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let columns: Vec<f64> = (0..n).flat_map(|i| program.quadratic_product(&unit(i)).unwrap()).map(|v| v * p).collect();
        let rows: Vec<f64> = (0..n).flat_map(|i| program.rows_product(&unit(i))).collect();
        let rows = SparseMatrix::from_dense(&DMatrix::from_vec(program.n_rows(), n, rows)).unwrap();
        let linear = program.linear_term().iter().map(|v| v * q).collect();
        let (lower, upper) = program.row_bounds();
        let scaled = |bounds: &[f64]| bounds.iter().map(|v| v * b).collect();
        let extreme = QuadraticProgram::new(DMatrix::from_vec(n, n, columns), linear, rows, scaled(&lower), scaled(&upper));
        let Ok(extreme) = extreme else { return Ok(()) };
        let settings = GeneralSettings { max_iterations: 300, ..Default::default() };
        match extreme.solve(&settings) {
            Ok(Outcome::Solved(solution)) => prop_assert!(solution.certify(&extreme).unwrap().holds(settings.tolerance)),
            Ok(Outcome::OutOfBudget(solution)) => prop_assert!(solution.primal.iter().all(|value| value.is_finite())),
            Ok(Outcome::Infeasible(proof)) => prop_assert!(proof.holds(&extreme, settings.tolerance)),
            Ok(Outcome::Unbounded(proof)) => prop_assert!(proof.holds(&extreme, settings.tolerance).unwrap()),
            Err(error) => prop_assert!(matches!(error, ProblemError::NotConvex)),
        }
    }

    #[test]
    fn support_vector_duals_agree_with_enumeration(case in svm_cases()) {
        prop_assume!(case.signs.len() <= 6);
        let best = best_by_enumeration(&case.gram, &case.signs, &case.linear, &case.upper, case.total);
        prop_assert_eq!(best.is_some(), case.feasible);
        match (case.program().solve(&GeneralSettings::default()).unwrap(), best) {
            (Outcome::Solved(solution), Some((_, objective))) => {
                let found = solution.certificate.primal_objective;
                prop_assert!((found - objective).abs() <= 1e-6 * (1.0 + objective.abs()), "{} {}", found, objective);
            }
            (Outcome::Infeasible(proof), None) => prop_assert!(proof.holds(&case.program(), 1e-7)),
            (Outcome::OutOfBudget(_), Some(_)) => {}
            (outcome, _) => prop_assert!(false, "{:?}", outcome),
        }
    }
}

#[test]
fn all_but_a_few_problems_of_each_flavour_are_decided() {
    for flavour in FLAVOURS {
        let cases = cases(flavour, 200);
        let decided = cases
            .iter()
            .filter(|case| {
                let outcome = case.program.solve(&GeneralSettings::default()).unwrap();
                ends_as_it_must(case, &outcome, 1e-7) == Some(true)
            })
            .count();
        assert!(decided >= 198, "{flavour:?}: {decided}");
    }
}

#[test]
fn all_but_a_few_support_vector_duals_of_each_kernel_are_decided() {
    let mut runner = TestRunner::deterministic();
    for flavour in GRAM_FLAVOURS {
        let strategy = svm_cases_of(flavour, any::<bool>());
        let mut n_decided = 0;
        for _ in 0..100 {
            let case = strategy.new_tree(&mut runner).unwrap().current();
            match case.program().solve(&GeneralSettings::default()).unwrap() {
                Outcome::Solved(_) => assert!(case.feasible),
                Outcome::Infeasible(_) => assert!(!case.feasible),
                Outcome::OutOfBudget(_) => continue,
                other => panic!("{flavour:?} {other:?}"),
            }
            n_decided += 1;
        }
        // Curvatures and bounds that both span many orders of magnitude are hard for a splitting method.
        let least = if flavour == GramFlavour::WideRange { 95 } else { 99 };
        assert!(n_decided >= least, "{flavour:?}: {n_decided}");
    }
}

fn solved(program: &QuadraticProgram, settings: &GeneralSettings) -> Solution {
    match program.solve(settings).unwrap() {
        Outcome::Solved(solution) => solution,
        other => panic!("{other:?}"),
    }
}

#[test]
fn polished_or_not_the_optimum_is_the_same() {
    let mut n_polished_better = 0;
    for case in cases(Flavour::WellPosed, 60) {
        let (on, off) =
            (solved(&case.program, &settings(1e-7, Polish::On)), solved(&case.program, &settings(1e-7, Polish::Off)));
        let objective = on.certificate.primal_objective;
        assert!((objective - off.certificate.primal_objective).abs() <= 1e-6 * (1.0 + objective.abs()));
        n_polished_better += usize::from(on.certificate.worst() < off.certificate.worst());
    }
    assert!(n_polished_better > 40, "{n_polished_better}: polishing does something");
}

#[test]
fn from_the_optimum_there_is_nothing_to_do_and_from_near_it_little() {
    let (mut cold_steps, mut warm_steps) = (0, 0);
    for case in cases(Flavour::WellPosed, 60) {
        let settings = settings(1e-7, Polish::Off);
        let optimum = solved(&case.program, &settings);
        let again = case.program.solve_from(&optimum.primal, &optimum.dual, &settings).unwrap().solved().unwrap();
        assert_eq!((again.n_steps, &again.primal), (0, &optimum.primal));
        let nearby: Vec<f64> = optimum.primal.iter().map(|x| x + 1e-5).collect();
        let warm = case.program.solve_from(&nearby, &optimum.dual, &settings).unwrap().solved().unwrap();
        cold_steps += optimum.n_steps;
        warm_steps += warm.n_steps;
    }
    assert!(warm_steps < cold_steps, "{warm_steps} against {cold_steps}");
}

#[test]
fn a_solve_is_the_same_to_the_bit_whoever_else_is_solving() {
    for case in FLAVOURS.into_iter().flat_map(|flavour| cases(flavour, 10)) {
        let settings = GeneralSettings { max_iterations: 2_000, ..Default::default() };
        let alone = case.program.solve(&settings).unwrap();
        let (program, settings) = (&case.program, &settings);
        std::thread::scope(|scope| {
            let others: Vec<_> = (0..4).map(|_| scope.spawn(move || program.solve(settings).unwrap())).collect();
            for other in others {
                let other = other.join().unwrap();
                assert_eq!(format!("{other:?}"), format!("{alone:?}"), "digits that round-trip, hence bits");
            }
        });
    }
}

#[test]
fn the_budget_is_kept_and_what_was_reached_is_told() {
    let case = &cases(Flavour::DuplicatedPoints, 200)[7];
    let settings = GeneralSettings { tolerance: 1e-12, max_iterations: 3, polish: Polish::Off };
    match case.program.solve(&settings).unwrap() {
        Outcome::OutOfBudget(solution) => {
            assert_eq!(solution.n_steps, 3);
            assert!(solution.certificate.worst() > 1e-12);
        }
        other => panic!("{other:?}"),
    }
}

/// A square matrix from its rows.
fn matrix(order: usize, values: &[f64]) -> DMatrix<f64> {
    DMatrix::from_row_slice(order, order, values)
}

/// No rows at all.
fn free(quadratic: DMatrix<f64>, linear: Vec<f64>) -> QuadraticProgram {
    let rows = SparseMatrix::from_entries(0, linear.len(), &[]).unwrap();
    QuadraticProgram::new(quadratic, linear, rows, vec![], vec![]).unwrap()
}

/// One row, $l \le x_1 + \dots + x_n \le u$.
fn with_sum(
    quadratic: DMatrix<f64>,
    linear: Vec<f64>,
    lower: f64,
    upper: f64,
) -> Result<QuadraticProgram, ProblemError> {
    let entries: Vec<_> = (0..linear.len()).map(|i| (0, i, 1.0)).collect();
    let rows = SparseMatrix::from_entries(1, linear.len(), &entries)?;
    QuadraticProgram::new(quadratic, linear, rows, vec![lower], vec![upper])
}

#[test]
fn a_problem_without_rows_is_solved_or_falls_for_ever() {
    let solution = solved(&free(matrix(2, &[2.0, 0.0, 0.0, 4.0]), vec![-2.0, 4.0]), &GeneralSettings::default());
    assert!((solution.primal[0] - 1.0).abs() < 1e-7 && (solution.primal[1] + 1.0).abs() < 1e-7);
    assert!(solution.dual.is_empty());
    let falling = free(matrix(2, &[0.0, 0.0, 0.0, 1.0]), vec![1.0, 0.0]);
    match falling.solve(&GeneralSettings::default()).unwrap() {
        Outcome::Unbounded(proof) => assert_eq!(proof.direction[0], -1.0),
        other => panic!("{other:?}"),
    }
    let flat = solved(&free(matrix(1, &[0.0]), vec![0.0]), &GeneralSettings::default());
    assert_eq!((flat.primal[0], flat.n_steps), (0.0, 0));
}

#[test]
fn bounds_that_cross_are_a_proof_and_not_an_error() {
    let crossed = with_sum(matrix(1, &[1.0]), vec![0.0], 2.0, 1.0).unwrap();
    match crossed.solve(&GeneralSettings::default()).unwrap() {
        Outcome::Infeasible(proof) => {
            assert_eq!(proof.dual, [1.0]);
            assert!(proof.holds(&crossed, 0.5) && !proof.holds(&crossed, 1.5));
        }
        other => panic!("{other:?}"),
    }
    let by_rounding = with_sum(matrix(1, &[1.0]), vec![0.0], 2.0 + 1e-12, 2.0).unwrap();
    assert!((solved(&by_rounding, &GeneralSettings::default()).primal[0] - 2.0).abs() < 1e-6);
}

#[test]
fn negative_curvature_is_refused_even_where_the_rows_hide_it() {
    for quadratic in
        [matrix(2, &[1.0, 2.0, 2.0, 1.0]), matrix(2, &[1.0, 0.0, 0.0, -1e-3]), matrix(2, &[-1.0, 0.0, 0.0, 0.0])]
    {
        let rows = SparseMatrix::from_dense(&matrix(2, &[10.0, 0.0, 0.0, 10.0])).unwrap();
        let boxed = QuadraticProgram::new(quadratic.clone(), vec![0.0; 2], rows, vec![-1.0; 2], vec![1.0; 2]).unwrap();
        // Away from 0, which is stationary.
        let found = boxed.solve_from(&[0.25, 0.5], &[0.0; 2], &GeneralSettings::default());
        assert!(matches!(found, Err(ProblemError::NotConvex)), "{quadratic} {found:?}");
    }
}

#[test]
fn what_is_wrong_with_the_data_is_said_with_its_place() {
    let message = |result: Result<QuadraticProgram, ProblemError>| result.unwrap_err().to_string();
    let identity = || matrix(2, &[1.0, 0.0, 0.0, 1.0]);
    assert_eq!(
        message(with_sum(matrix(2, &[1.0, 2.0, 3.0, 1.0]), vec![0.0; 2], 0.0, 1.0)),
        "the quadratic form has 3 at row 1, column 0; expected the value across the diagonal"
    );
    assert_eq!(
        message(with_sum(matrix(2, &[1.0, f64::NAN, 0.0, 1.0]), vec![0.0; 2], 0.0, 1.0)),
        "the quadratic form has NaN at row 0, column 1; expected a finite number"
    );
    assert_eq!(
        message(with_sum(identity(), vec![0.0, f64::INFINITY], 0.0, 1.0)),
        "linear term 1 is inf; expected a finite number"
    );
    assert_eq!(
        message(with_sum(identity(), vec![0.0; 2], f64::INFINITY, f64::INFINITY)),
        "lower bound 0 is inf; expected a number below infinity"
    );
    assert_eq!(
        message(with_sum(identity(), vec![0.0; 2], 0.0, f64::NEG_INFINITY)),
        "upper bound 0 is -inf; expected a number above -infinity"
    );
    assert_eq!(
        message(with_sum(identity(), vec![0.0; 2], f64::NAN, 0.0)),
        "lower bound 0 is NaN; expected a number below infinity"
    );
    assert_eq!(message(with_sum(identity(), vec![0.0; 3], 0.0, 1.0)), "the linear term: 3 in number, expected 2");
    assert_eq!(message(with_sum(DMatrix::zeros(0, 0), vec![], 0.0, 1.0)), "the problem has no variables");
    let lopsided = SparseMatrix::from_entries(2, 2, &[(0, 1, 1.0)]).unwrap();
    let rows = SparseMatrix::from_entries(0, 2, &[]).unwrap();
    assert_eq!(
        message(QuadraticProgram::new(lopsided, vec![0.0; 2], rows, vec![], vec![])),
        "the quadratic form has 1 at row 0, column 1; expected the value across the diagonal"
    );
}

#[test]
fn settings_and_starts_out_of_range_are_refused() {
    let program = with_sum(matrix(1, &[1.0]), vec![0.0], 0.0, 1.0).unwrap();
    for tolerance in [0.0, -1.0, 1.0, f64::NAN, f64::INFINITY] {
        let error = program.solve(&settings(tolerance, Polish::On)).unwrap_err();
        assert!(matches!(error, ProblemError::Setting { name: "tolerance", .. }), "{error}");
    }
    let none = GeneralSettings { max_iterations: 0, ..Default::default() };
    assert_eq!(program.solve(&none).unwrap_err().to_string(), "max_iterations is 0; expected at least 1");
    let default = GeneralSettings::default();
    let error = program.solve_from(&[f64::NAN], &[0.0], &default).unwrap_err();
    assert_eq!(error.to_string(), "start 0 is NaN; expected a finite number");
    assert!(matches!(program.solve_from(&[0.0], &[], &default), Err(ProblemError::Length { .. })));
}

fn square(value: &Value) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    DMatrix::from_fn(rows.len(), rows.len(), |r, c| rows[r][c])
}

/// $0 \le x_i \le c$, $\sum_i x_i = 1$.
fn on_capped_simplex(quadratic: DMatrix<f64>, linear: Vec<f64>, cap: f64) -> QuadraticProgram {
    let n = linear.len();
    let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 1.0), (n, i, 1.0)]).collect();
    let rows = SparseMatrix::from_entries(n + 1, n, &entries).unwrap();
    let (mut lower, mut upper) = (vec![0.0; n], vec![cap; n]);
    lower.push(1.0);
    upper.push(1.0);
    QuadraticProgram::new(quadratic, linear, rows, lower, upper).unwrap()
}

#[test]
fn weights_of_kernels_agree_with_the_golden_ones() {
    let golden = read(include_str!("../../../fixtures/golden/beta_qp.json"));
    let (g, q_matrix) = (square(&golden["G"]), square(&golden["Q"]));
    let cases = golden["solutions"].as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let [lam, eta, lam_l] = ["lam", "eta", "lam_L"].map(|name| case[name].as_f64().unwrap());
        let quadratic = (&g * lam + &q_matrix * lam_l) * 2.0;
        let parts = numbers(&golden["e_n"]).into_iter().zip(numbers(&golden["e_p"])).zip(numbers(&golden["q"]));
        let linear = parts.map(|((e_n, e_p), q)| e_n + eta * e_p - 2.0 * lam_l * q).collect();
        let solution = solved(&on_capped_simplex(quadratic, linear, 1.0), &settings(1e-10, Polish::On));
        let objective = case["objective"].as_f64().unwrap();
        assert!((solution.certificate.primal_objective - objective).abs() <= 1e-8 * (1.0 + objective.abs()));
        for (found, expected) in solution.primal.iter().zip(numbers(&case["beta"])) {
            assert!((found - expected).abs() <= 1e-7, "{found} against {expected}");
        }
    }
}

#[test]
fn one_class_duals_agree_with_the_golden_ones() {
    let golden = read(include_str!("../../../fixtures/golden/one_class_svm.json"));
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let program = on_capped_simplex(square(&golden["K"]), vec![0.0; 7], case["cap"].as_f64().unwrap());
        let solution = solved(&program, &settings(1e-10, Polish::On));
        assert!((solution.certificate.primal_objective - case["objective"].as_f64().unwrap()).abs() <= 1e-8);
        for (found, expected) in solution.primal.iter().zip(numbers(&case["alpha"])) {
            assert!((found - expected).abs() <= 1e-8, "{found} against {expected}");
        }
        if case["free"].as_u64().unwrap() > 0 {
            assert!((-solution.dual[7] - case["rho"].as_f64().unwrap()).abs() <= 1e-8);
        }
    }
}

#[test]
fn a_small_matrix_is_not_taken_for_none() {
    let settings = GeneralSettings::default();
    let flat = SparseMatrix::from_entries(0, 1, &[]).unwrap();
    let bounded = QuadraticProgram::new(DMatrix::from_element(1, 1, 1e-8), vec![1.0], flat, vec![], vec![]).unwrap();
    assert!(!matches!(bounded.solve(&settings).unwrap(), Outcome::Unbounded(_)));
    let row = SparseMatrix::from_entries(1, 1, &[(0, 0, 1e-7)]).unwrap();
    let feasible =
        QuadraticProgram::new(DMatrix::identity(1, 1), vec![0.0], row, vec![1.0], vec![f64::INFINITY]).unwrap();
    assert!(!matches!(feasible.solve(&settings).unwrap(), Outcome::Infeasible(_)));
}

#[test]
fn negative_curvature_is_found_beside_much_larger_and_smaller_ones() {
    for (first, second) in [(1e10, -1.0), (1.0, -1e-10)] {
        let quadratic = DMatrix::from_row_slice(2, 2, &[first, 0.0, 0.0, second]);
        let rows = SparseMatrix::from_entries(1, 2, &[(0, 1, 1.0)]).unwrap();
        let program = QuadraticProgram::new(quadratic, vec![0.0; 2], rows, vec![-1.0], vec![1.0]).unwrap();
        assert!(matches!(program.solve(&GeneralSettings::default()), Err(ProblemError::NotConvex)));
    }
}
