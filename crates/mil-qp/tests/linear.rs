//! Linear machines: closed forms, certificates, and the agreement of methods.

use mil_qp::{
    Bias, LinearSettings, LinearSvm, Loss, Method, Outcome, Points, Problem, ProblemError, Solution, SparseMatrix,
};
use nalgebra::DMatrix;
use proptest::prelude::*;

/// What is asked of every method where not said otherwise.
const TOLERANCE: f64 = 1e-7;
const METHODS: [Method; 4] = [Method::Auto, Method::Coordinate, Method::Interior, Method::Newton];
const LOSSES: [Loss; 2] = [Loss::Hinge, Loss::SquaredHinge];
const BIASES: [Bias; 4] = [Bias::None, Bias::Free, Bias::Regularised { scale: 1.0 }, Bias::Regularised { scale: 3.0 }];

fn settings(method: Method) -> LinearSettings {
    LinearSettings { tolerance: TOLERANCE, max_passes: 100_000, method, seed: 3 }
}

/// The solution, which must be optimal by its own word and by the checker's.
fn solved(svm: &LinearSvm<'_>, method: Method) -> Solution {
    judged(svm, svm.solve(&settings(method)).unwrap(), &format!("{method:?}"))
}

fn judged(svm: &LinearSvm<'_>, outcome: Outcome, context: &str) -> Solution {
    match outcome {
        Outcome::Solved(solution) => {
            let certificate = solution.certify(svm).unwrap();
            assert!(certificate.holds(2.0 * TOLERANCE), "{context}: {certificate:?}");
            solution
        }
        other => panic!("{context}: {:?}", other.best().map(|solution| solution.certificate)),
    }
}

/// [`judged`], but `None` where coordinate descent crawled to the end of its budget, as it does on one problem in some thousands: then it must say so, be near,
/// and be feasible.
fn judged_if_done(svm: &LinearSvm<'_>, outcome: Outcome, method: Method) -> Option<Solution> {
    match outcome {
        Outcome::OutOfBudget(solution) if method == Method::Coordinate => {
            let certificate = solution.certify(svm).unwrap();
            assert!(certificate.holds(1e-3) && solution.n_steps >= 100_000, "{certificate:?}");
            None
        }
        other => Some(judged(svm, other, &format!("{method:?}"))),
    }
}

/// Points, their signs and penalties.
type Labelled = (DMatrix<f64>, Vec<f64>, Vec<f64>);

/// The objective from its definition.
fn primal_objective((x, signs, penalties): &Labelled, bias: Bias, loss: Loss, (w, b): &(Vec<f64>, f64)) -> f64 {
    let norm: f64 = w.iter().map(|w| w * w).sum();
    let cost = match bias {
        Bias::Regularised { scale } => b * b / (2.0 * scale * scale),
        Bias::None | Bias::Free => 0.0,
    };
    let losses = (0..signs.len()).map(|i| {
        let score: f64 = x.column(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
        let t = (1.0 - signs[i] * score).max(0.0);
        penalties[i] * if loss == Loss::Hinge { t } else { t * t }
    });
    0.5 * norm + cost + losses.sum::<f64>()
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

/// A machine, and what its solution must be.
struct Known<'a> {
    x: &'a DMatrix<f64>,
    signs: &'a [f64],
    penalty: f64,
    bias: Bias,
    loss: Loss,
    /// The duals, if they are unique.
    duals: &'a [f64],
    weights: &'a [f64],
    b: f64,
}

impl Known<'_> {
    fn is_found_by_every_method(&self) {
        let penalties = vec![self.penalty; self.signs.len()];
        let svm = LinearSvm::new(self.x, self.signs.to_vec(), penalties, self.bias, self.loss).unwrap();
        for method in METHODS {
            // As exact as rounding allows, which may be less than asked for.
            let exact = LinearSettings { tolerance: 1e-13, max_passes: 50_000, ..settings(method) };
            let solution = svm.solve(&exact).unwrap().best().unwrap();
            let context = format!("{method:?} {:?} {:?}", self.loss, self.bias);
            assert!(solution.certify(&svm).unwrap().holds(1e-7), "{context}: {:?}", solution.certificate);
            let (weights, bias) = svm.separator(&solution).unwrap();
            assert_eq!(weights.len(), self.weights.len());
            for (idx, (found, expected)) in weights.iter().zip(self.weights).enumerate() {
                near(*found, *expected, &format!("{context}: weight {idx}"));
            }
            near(bias, self.b, &format!("{context}: bias"));
            for (idx, expected) in self.duals.iter().enumerate() {
                near(solution.primal[idx], *expected, &format!("{context}: dual {idx}"));
            }
        }
    }
}

#[test]
fn two_points_at_one_and_minus_one_have_duals_of_one_half() {
    let x = &DMatrix::from_row_slice(1, 2, &[1.0, -1.0]);
    let known = Known {
        x,
        signs: &[1.0, -1.0],
        penalty: 10.0,
        bias: Bias::Free,
        loss: Loss::Hinge,
        duals: &[0.5, 0.5],
        weights: &[1.0],
        b: 0.0,
    };
    for bias in BIASES {
        // Without a bias only the sum of the duals is unique.
        let duals: &[f64] = if bias == Bias::None { &[] } else { known.duals };
        Known { bias, duals, ..known }.is_found_by_every_method();
        // Both margins fall short by 1 - w: the derivative w - 4C(1 - w) is 0.
        let w = 40.0 / 41.0;
        Known { bias, loss: Loss::SquaredHinge, duals: &[w / 2.0, w / 2.0], weights: &[w], ..known }
            .is_found_by_every_method();
    }
}

#[test]
fn a_free_bias_follows_shifted_points_and_a_regularised_one_pays_for_it() {
    let free = Known {
        x: &DMatrix::from_row_slice(1, 2, &[3.0, 1.0]),
        signs: &[1.0, -1.0],
        penalty: 10.0,
        bias: Bias::Free,
        loss: Loss::Hinge,
        duals: &[0.5, 0.5],
        weights: &[1.0],
        b: -2.0,
    };
    free.is_found_by_every_method();
    // Both margins are met: 3w + b = 1 and w + b = -1; w = 3a - c = 1 and b = a - c = -2.
    Known { bias: Bias::Regularised { scale: 1.0 }, duals: &[1.5, 3.5], ..free }.is_found_by_every_method();
}

#[test]
fn points_given_twice_give_the_weights_of_points_given_once() {
    for bias in BIASES {
        let w = 80.0 / 81.0;
        let hinge = Known {
            x: &DMatrix::from_row_slice(1, 4, &[1.0, 1.0, -1.0, -1.0]),
            signs: &[1.0, 1.0, -1.0, -1.0],
            penalty: 10.0,
            bias,
            loss: Loss::Hinge,
            duals: &[],
            weights: &[1.0],
            b: 0.0,
        };
        hinge.is_found_by_every_method();
        Known { loss: Loss::SquaredHinge, duals: &[w / 4.0; 4], weights: &[w], ..hinge }.is_found_by_every_method();
    }
}

#[test]
fn a_small_penalty_is_reached_by_every_dual() {
    let c = 1e-4;
    Known {
        x: &DMatrix::from_row_slice(2, 4, &[1.0, 2.0, -1.0, -2.0, 0.5, -1.0, 0.0, 1.0]),
        signs: &[1.0, 1.0, -1.0, -1.0],
        penalty: c,
        bias: Bias::Regularised { scale: 1.0 },
        loss: Loss::Hinge,
        duals: &[c; 4],
        weights: &[6.0 * c, -1.5 * c],
        b: 0.0,
    }
    .is_found_by_every_method();
}

#[test]
fn a_large_penalty_gives_the_widest_margin() {
    // The closest points of the classes are (0, 0) and (2, 2).
    Known {
        x: &DMatrix::from_row_slice(2, 4, &[0.0, -1.0, 2.0, 3.0, 0.0, 0.0, 2.0, 4.0]),
        signs: &[-1.0, -1.0, 1.0, 1.0],
        penalty: 1e6,
        bias: Bias::Free,
        loss: Loss::Hinge,
        duals: &[0.25, 0.0, 0.25, 0.0],
        weights: &[0.5, 0.5],
        b: -1.0,
    }
    .is_found_by_every_method();
}

#[test]
fn one_class_is_met_by_a_free_bias_alone() {
    for loss in LOSSES {
        let positive = Known {
            x: &DMatrix::from_row_slice(1, 3, &[1.0, 2.0, 5.0]),
            signs: &[1.0; 3],
            penalty: 1.0,
            bias: Bias::Free,
            loss,
            duals: &[0.0; 3],
            weights: &[0.0],
            b: 1.0,
        };
        positive.is_found_by_every_method();
        Known { signs: &[-1.0; 3], b: -1.0, ..positive }.is_found_by_every_method();
        Known { signs: &[1.0, -1.0, 1.0], penalty: 0.0, b: 0.0, ..positive }.is_found_by_every_method();
    }
}

#[test]
fn a_lone_point_is_met_by_the_shortest_weights() {
    let met = Known {
        x: &DMatrix::from_row_slice(1, 1, &[2.0]),
        signs: &[1.0],
        penalty: 10.0,
        bias: Bias::None,
        loss: Loss::Hinge,
        duals: &[0.25],
        weights: &[0.5],
        b: 0.0,
    };
    met.is_found_by_every_method();
    Known { signs: &[-1.0], penalty: 0.1, duals: &[0.1], weights: &[-0.2], ..met }.is_found_by_every_method();
    Known { bias: Bias::Regularised { scale: 1.0 }, duals: &[0.2], weights: &[0.4], b: 0.2, ..met }
        .is_found_by_every_method();
    // (4 + 1/2C) a = 1.
    Known { loss: Loss::SquaredHinge, penalty: 0.5, duals: &[0.2], weights: &[0.4], ..met }.is_found_by_every_method();
}

#[test]
fn points_without_features_are_left_to_the_bias() {
    for x in [DMatrix::zeros(0, 3), DMatrix::zeros(2, 3)] {
        let none = Known {
            x: &x,
            signs: &[1.0, 1.0, -1.0],
            penalty: 1.0,
            bias: Bias::None,
            loss: Loss::Hinge,
            duals: &[1.0; 3],
            weights: &vec![0.0; x.nrows()],
            b: 0.0,
        };
        none.is_found_by_every_method();
        Known { bias: Bias::Free, duals: &[], b: 1.0, ..none }.is_found_by_every_method();
        // The least of 2(1 - b)² + (1 + b)².
        Known { bias: Bias::Free, loss: Loss::SquaredHinge, duals: &[], b: 1.0 / 3.0, ..none }
            .is_found_by_every_method();
    }
}

#[test]
fn of_many_optimal_biases_the_middle_is_given() {
    // Both duals are at their bound. With w = 1/4 and b in [-3/4, 3/4] neither margin is met, and the losses add up to the same.
    let c = 0.125;
    let centred = Known {
        x: &DMatrix::from_row_slice(1, 2, &[1.0, -1.0]),
        signs: &[1.0, -1.0],
        penalty: c,
        bias: Bias::Free,
        loss: Loss::Hinge,
        duals: &[c, c],
        weights: &[0.25],
        b: 0.0,
    };
    centred.is_found_by_every_method();
    Known { x: &DMatrix::from_row_slice(1, 2, &[2.0, 0.0]), b: -0.25, ..centred }.is_found_by_every_method();
}

#[test]
fn a_penalty_of_zero_takes_its_point_out() {
    let x = DMatrix::from_row_slice(1, 3, &[1.0, -1.0, -5.0]);
    let first = x.columns(0, 2).into_owned();
    for loss in LOSSES {
        for bias in BIASES {
            let with = LinearSvm::new(&x, vec![1.0, -1.0, 1.0], vec![1.0, 1.0, 0.0], bias, loss).unwrap();
            let without = LinearSvm::new(&first, vec![1.0, -1.0], vec![1.0, 1.0], bias, loss).unwrap();
            for method in METHODS {
                let (with, without) = (solved(&with, method), solved(&without, method));
                assert_eq!(with.primal[2], 0.0);
                near(with.certificate.primal_objective, without.certificate.primal_objective, "objective");
            }
        }
    }
}

#[test]
fn the_gap_is_the_objective_less_the_dual_one_wherever_the_hinge_stops() {
    let labelled: Labelled = (
        DMatrix::from_row_slice(2, 4, &[1.0, 2.0, -1.5, 0.5, 0.5, -1.0, 0.0, 1.0]),
        vec![1.0, 1.0, -1.0, -1.0],
        vec![1.0, 0.5, 2.0, 1.0],
    );
    for bias in BIASES {
        let svm = LinearSvm::new(&labelled.0, labelled.1.clone(), labelled.2.clone(), bias, Loss::Hinge).unwrap();
        for max_passes in [0, 1, 3] {
            let hasty = LinearSettings { max_passes, ..settings(Method::Coordinate) };
            let solution = svm.solve(&hasty).unwrap().best().unwrap();
            let certificate = solution.certify(&svm).unwrap();
            assert!(certificate.dual_residual <= 1e-14 && certificate.primal_residual <= 1e-14);
            let primal = primal_objective(&labelled, bias, Loss::Hinge, &svm.separator(&solution).unwrap());
            near(certificate.duality_gap(), primal + certificate.primal_objective, "gap");
        }
    }
}

#[test]
fn the_budget_ends_every_method() {
    let x = DMatrix::from_fn(5, 40, |r, c| ((r * 31 + c * 17) % 23) as f64 - 11.0);
    let signs: Vec<f64> = (0..40).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    for loss in LOSSES {
        for bias in BIASES {
            let svm = LinearSvm::new(&x, signs.clone(), vec![1.0; 40], bias, loss).unwrap();
            for method in METHODS {
                match svm.solve(&LinearSettings { max_passes: 0, ..settings(method) }).unwrap() {
                    Outcome::OutOfBudget(solution) => {
                        let certificate = solution.certify(&svm).unwrap();
                        assert!(certificate.worst().is_finite() && !certificate.holds(TOLERANCE));
                    }
                    other => panic!("{method:?} ended with {other:?}"),
                }
                let hasty = svm.solve(&LinearSettings { max_passes: 2, ..settings(method) }).unwrap().best().unwrap();
                assert!(hasty.n_steps <= 2);
            }
        }
    }
}

#[test]
fn bad_input_is_an_error_that_says_where() {
    let x = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
    let refusal = |x: &DMatrix<f64>, signs: &[f64], penalties: &[f64], bias| {
        LinearSvm::new(x, signs.to_vec(), penalties.to_vec(), bias, Loss::Hinge).map(drop).unwrap_err().to_string()
    };
    let signs = [1.0, -1.0];
    assert_eq!(refusal(&DMatrix::zeros(2, 0), &[], &[], Bias::None), "the problem has no points");
    assert_eq!(refusal(&x, &[1.0], &[1.0; 2], Bias::None), "the signs: 1 in number, expected 2");
    assert_eq!(refusal(&x, &signs, &[1.0], Bias::None), "the penalties: 1 in number, expected 2");
    assert_eq!(refusal(&x, &[1.0, 0.5], &[1.0; 2], Bias::None), "sign 1 is 0.5; expected 1 or -1");
    assert_eq!(
        refusal(&x, &signs, &[1.0, -1.0], Bias::None),
        "penalty 1 is -1; expected 0 or a number from 1e-20 to 1e20"
    );
    assert_eq!(
        refusal(&DMatrix::from_row_slice(1, 2, &[1.0, f64::NAN]), &signs, &[1.0; 2], Bias::None),
        "an entry of point 1 is NaN; expected a number of size at most 1e20"
    );
    for scale in [f64::INFINITY, f64::NAN, -1.0, 0.0, 1e-60] {
        let refusal = refusal(&x, &signs, &[1.0; 2], Bias::Regularised { scale });
        assert!(refusal.starts_with("the scale of the bias is"), "{refusal}");
    }
    for penalty in [f64::INFINITY, f64::NAN, 1e60] {
        let refusal = refusal(&x, &signs, &[penalty, 1.0], Bias::Free);
        assert!(refusal.starts_with("penalty 0 is"), "{refusal}");
    }

    let svm = LinearSvm::new(&x, signs.to_vec(), vec![1.0; 2], Bias::Free, Loss::Hinge).unwrap();
    for tolerance in [0.0, -1.0, f64::NAN] {
        let error = svm.solve(&LinearSettings { tolerance, ..LinearSettings::default() }).unwrap_err();
        assert!(matches!(error, ProblemError::Setting { name: "tolerance", .. }));
    }
    let settings = LinearSettings::default();
    assert!(matches!(svm.solve_from(&[0.0], &settings), Err(ProblemError::Length { found: 1, .. })));
    assert!(matches!(svm.solve_from(&[0.0, f64::NAN], &settings), Err(ProblemError::Value { idx: 1, .. })));
    let mut solution = solved(&svm, Method::Auto);
    solution.dual.pop();
    assert!(matches!(svm.separator(&solution), Err(ProblemError::Length { found: 2, .. })));
}

#[test]
fn numbers_at_the_edge_of_the_range_leave_everything_finite() {
    let x = DMatrix::from_row_slice(2, 4, &[1e20, -1e20, 1e-300, 0.0, 1e20, 1e20, -1e-20, 1.0]);
    for loss in LOSSES {
        for bias in [Bias::None, Bias::Free, Bias::Regularised { scale: 1e20 }, Bias::Regularised { scale: 1e-20 }] {
            let penalties = vec![1e20, 1e-20, 0.0, 1.0];
            let svm = LinearSvm::new(&x, vec![1.0, -1.0, 1.0, -1.0], penalties, bias, loss).unwrap();
            for method in METHODS {
                let solution = svm.solve(&settings(method)).unwrap().best().unwrap();
                let (weights, b) = svm.separator(&solution).unwrap();
                let mut all = solution.primal.iter().chain(&solution.dual).chain(&weights).chain([&b]);
                assert!(all.all(|value| value.is_finite()), "{method:?} {loss:?} {bias:?}: {solution:?}");
            }
        }
    }
}

#[test]
fn a_problem_tells_its_dimensions() {
    let x = DMatrix::from_row_slice(1, 2, &[1.0, 2.0]);
    for (bias, n_rows) in [(Bias::None, 2), (Bias::Free, 3), (Bias::Regularised { scale: 1.0 }, 2)] {
        let svm = LinearSvm::new(&x, vec![1.0, -1.0], vec![1.0; 2], bias, Loss::Hinge).unwrap();
        assert_eq!((svm.n_variables(), svm.n_rows()), (2, n_rows));
    }
}

/// All methods, on dense and sparse points, certify and agree.
fn agree(labelled: &Labelled) {
    let (x, signs, penalties) = labelled;
    let sparse = SparseMatrix::from_dense(x).unwrap();
    for loss in LOSSES {
        for bias in BIASES {
            let mut objective = None;
            for points in [Points::from(x), Points::from(&sparse)] {
                let svm = LinearSvm::new(points, signs.clone(), penalties.clone(), bias, loss).unwrap();
                for method in METHODS {
                    let Some(solution) = judged_if_done(&svm, svm.solve(&settings(method)).unwrap(), method) else {
                        continue;
                    };
                    let found = -solution.certificate.primal_objective;
                    let context = format!("{method:?} {loss:?} {bias:?}");
                    near(found, *objective.get_or_insert(found), &context);
                    let primal = primal_objective(labelled, bias, loss, &svm.separator(&solution).unwrap());
                    near(primal, found, &format!("by definition, {context}"));
                }
            }
        }
    }
}

#[test]
fn more_features_than_points_are_no_obstacle() {
    let x = DMatrix::from_fn(50, 8, |r, c| ((r * 31 + c * 17 + r * c) % 23) as f64 / 11.0 - 1.0);
    let signs: Vec<f64> = (0..8).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    agree(&(x, signs, vec![1.0; 8]));
}

#[test]
fn more_points_than_a_block_holds_are_no_obstacle() {
    let x = DMatrix::from_fn(30, 300, |r, c| ((r * 31 + c * 17 + r * c * c) % 101) as f64 / 50.0 - 1.0);
    let signs: Vec<f64> = (0..300).map(|i| if x[(0, i)] + x[(1, i)] > 0.2 { 1.0 } else { -1.0 }).collect();
    agree(&(x, signs, vec![0.1; 300]));
}

#[test]
fn where_coordinate_descent_crawls_the_shape_still_leads_to_a_solution() {
    // Two non-zeros among 60 features: a second-order step is worth a thousand passes, so coordinate descent is tried first.
    let entries: Vec<(usize, usize, f64)> = (0..240)
        .flat_map(|c: usize| [((c * 7) % 60, c, 1.0 + (c % 5) as f64), ((c * 11 + 3) % 60, c, (c % 7) as f64 - 3.0)])
        .collect();
    let x = SparseMatrix::from_entries(60, 240, &entries).unwrap();
    let signs: Vec<f64> = (0..240).map(|i| if (i * i) % 11 < 5 { 1.0 } else { -1.0 }).collect();
    let svm = LinearSvm::new(&x, signs, vec![100.0; 240], Bias::Free, Loss::Hinge).unwrap();
    let brief = |method, max_passes| svm.solve(&LinearSettings { max_passes, ..settings(method) }).unwrap();
    assert!(matches!(brief(Method::Coordinate, 150), Outcome::OutOfBudget(_)));
    let solution = judged(&svm, brief(Method::Auto, 300), "Auto");
    assert!(solution.n_steps > 150, "coordinate descent was not tried");
}

/// Points with ties, duplicates and zeros, any signs, and penalties of which some are 0.
fn labelled_points(values: impl Strategy<Value = f64> + Clone) -> impl Strategy<Value = Labelled> {
    (0..6_usize, 1..24_usize).prop_flat_map(move |(d, n)| {
        let sign = prop_oneof![Just(1.0), Just(-1.0)];
        let penalty = prop_oneof![1 => Just(0.0), 4 => Just(1.0), 4 => 0.01..3.0];
        let values = prop::collection::vec(values.clone(), d * n);
        (values, prop::collection::vec(sign, n), prop::collection::vec(penalty, n))
            .prop_map(move |(values, signs, penalties)| (DMatrix::from_vec(d, n, values), signs, penalties))
    })
}

fn small_values() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![2 => (-2..=2_i32).prop_map(f64::from), 3 => -2.0..2.0]
}

/// Sizes from 1e-6 to 1e6, side by side.
fn wild_values() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![1 => Just(0.0), 4 => (-1.0..1.0, -6..=6_i32).prop_map(|(x, e): (f64, i32)| x * 10.0_f64.powi(e))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn all_methods_certify_and_agree(labelled in labelled_points(small_values())) {
        agree(&labelled);
    }

    #[test]
    fn whatever_the_scales_the_second_order_methods_certify_and_no_answer_is_nan(
        (x, signs, penalties) in labelled_points(wild_values()),
    ) {
        for loss in LOSSES {
            for bias in BIASES {
                let svm = LinearSvm::new(&x, signs.clone(), penalties.clone(), bias, loss).unwrap();
                for method in METHODS {
                    let settings = LinearSettings { max_passes: 300, tolerance: 1e-6, ..settings(method) };
                    let outcome = svm.solve(&settings).unwrap();
                    let is_solved = matches!(outcome, Outcome::Solved(_));
                    let solution = outcome.best().unwrap();
                    let certificate = solution.certify(&svm).unwrap();
                    let context = format!("{method:?} {loss:?} {bias:?}: {is_solved} {certificate:?}");
                    prop_assert!(certificate.worst().is_finite());
                    prop_assert!(!is_solved || certificate.holds(2e-6), "{}", context);
                    // No product with P can be known better than the rounding of its terms.
                    let terms = x.column_iter().zip(&solution.primal).map(|(x, alpha)| x.norm() * alpha);
                    let rounding = 1e-14 * x.amax() * terms.sum::<f64>();
                    prop_assert!(method == Method::Coordinate || certificate.holds(2e-6 + rounding), "{}", context);
                }
            }
        }
    }

    #[test]
    fn a_start_elsewhere_ends_at_the_same_objective(
        (x, signs, penalties) in labelled_points(small_values()),
        start in prop::collection::vec(-1.0..5.0_f64, 24),
    ) {
        for loss in LOSSES {
            for bias in BIASES {
                let svm = LinearSvm::new(&x, signs.clone(), penalties.clone(), bias, loss).unwrap();
                for method in METHODS {
                    let Some(cold) = judged_if_done(&svm, svm.solve(&settings(method)).unwrap(), method) else {
                        continue;
                    };
                    for start in [&start[..signs.len()], &cold.primal] {
                        let outcome = svm.solve_from(start, &settings(method)).unwrap();
                        let Some(warm) = judged_if_done(&svm, outcome, method) else { continue };
                        near(warm.certificate.primal_objective, cold.certificate.primal_objective, "a warm start");
                    }
                }
            }
        }
    }

    #[test]
    fn the_result_is_the_same_to_the_bit_again_and_on_any_number_of_threads(
        (x, signs, penalties) in labelled_points(small_values()),
    ) {
        for loss in LOSSES {
            let svm = LinearSvm::new(&x, signs.clone(), penalties.clone(), Bias::Free, loss).unwrap();
            for method in METHODS {
                let once = svm.solve(&settings(method)).unwrap();
                for n_threads in [1, 2] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                    prop_assert_eq!(&once, &pool.install(|| svm.solve(&settings(method)).unwrap()));
                }
            }
        }
    }
}

#[test]
fn huge_points_leave_every_number_finite() {
    let x = DMatrix::from_column_slice(3, 4, &[1.0, 0.0, 1.0, 0.0, -2.0, 8.0, 5.0, 8.0, 7.0, 3.0, 8.0, 6.0]) * 1e19;
    for loss in LOSSES {
        for method in METHODS {
            let svm = LinearSvm::new(&x, vec![-1.0, -1.0, -1.0, 1.0], vec![1e6; 4], Bias::None, loss).unwrap();
            let settings = LinearSettings { tolerance: 1e-10, max_passes: 1000, ..settings(method) };
            let solution = svm.solve(&settings).unwrap().best().unwrap();
            assert!(solution.primal.iter().chain(&solution.dual).all(|value| value.is_finite()), "{method:?} {loss:?}");
        }
    }
}
