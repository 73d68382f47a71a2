//! How good an answer is, recomputed from the problem alone.
//!
//! The Lagrangian of [`Problem`] with a multiplier $y$ for each row is least over $x$ where
//!
//! $$ P x + q + A^\top y = 0, $$
//!
//! and there its value is the dual objective $-\tfrac12 x^\top P x - \sum_r (u_r y_r^+ - l_r y_r^-)$, a lower bound of the optimum.
//! A multiplier above 0 holds its row to the upper bound, one below 0 to the lower. For any pair $(x, y)$ the checker measures how far
//! $x$ is from the feasible set, how far $y$ is from the equation above, and the gap between the two objectives. What is small in all three is
//! optimal, whoever found it.

use crate::{Problem, ProblemError, Solution};

/// What the checker found about a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// $\tfrac12 x^\top P x + q^\top x$.
    pub primal_objective: f64,
    /// $-\tfrac12 x^\top P x - \sum_r (u_r y_r^+ - l_r y_r^-)$; a lower bound of the optimum as far as [`dual_residual`](Self::dual_residual) is 0.
    pub dual_objective: f64,
    /// The largest violation of a bound, $\max_r\,(l_r - (Ax)_r,\ (Ax)_r - u_r,\ 0)$.
    pub primal_residual: f64,
    /// $\lVert Px + q + A^\top y\rVert_\infty$, or the largest multiplier that names an infinite bound, where that is more.
    pub dual_residual: f64,
    /// $\max_r \min(|y_r|,\ \text{distance of } (Ax)_r \text{ from the bound that the sign of } y_r \text{ names})$.
    pub complementarity: f64,
    /// The magnitude that `primal_residual` is measured against: the largest of 1 and all $|(Ax)_r|$.
    pub primal_scale: f64,
    /// The magnitude that `dual_residual` is measured against: the largest of 1 and all $|(Px)_i|$, $|q_i|$, $|(A^\top y)_i|$.
    pub dual_scale: f64,
}

impl Certificate {
    /// Judges a pair. `quadratic` is $Px$: a solver passes the product it kept up to date, the checker one made anew.
    pub(crate) fn of(problem: &impl Problem, x: &[f64], y: &[f64], quadratic: &[f64]) -> Certificate {
        let linear = problem.linear_term();
        let rows = problem.rows_product(x);
        let adjoint = problem.adjoint_product(y);
        let (lower, upper) = problem.row_bounds();

        let curvature = dot(x, quadratic);
        let mut certificate = Certificate {
            primal_objective: 0.5 * curvature + dot(&linear, x),
            dual_objective: -0.5 * curvature,
            primal_residual: 0.0,
            dual_residual: 0.0,
            complementarity: 0.0,
            primal_scale: 1.0,
            dual_scale: 1.0,
        };
        for ((&px, &q), &aty) in quadratic.iter().zip(linear.iter()).zip(&adjoint) {
            worsen(&mut certificate.dual_residual, (px + q + aty).abs());
            for part in [px, q, aty] {
                worsen(&mut certificate.dual_scale, part.abs());
            }
        }
        for (((&row, &l), &u), &multiplier) in rows.iter().zip(lower.iter()).zip(upper.iter()).zip(y) {
            worsen(&mut certificate.primal_residual, (l - row).max(row - u));
            worsen(&mut certificate.primal_scale, row.abs());
            let bound = if multiplier > 0.0 { u } else { l };
            if multiplier == 0.0 {
                continue;
            }
            if bound.is_infinite() {
                worsen(&mut certificate.dual_residual, multiplier.abs());
            } else {
                certificate.dual_objective -= bound * multiplier;
                worsen(&mut certificate.complementarity, multiplier.abs().min((row - bound).abs()));
            }
        }
        certificate
    }

    /// Primal less dual objective. Below 0 only as far as the residuals are above 0, or by rounding.
    #[must_use]
    pub fn duality_gap(&self) -> f64 {
        self.primal_objective - self.dual_objective
    }

    /// The largest relative defect: of the residuals, each against its scale, and of the gap against $1 + |\text{primal objective}|$.
    #[must_use]
    pub fn worst(&self) -> f64 {
        let mut worst = self.primal_residual / self.primal_scale;
        worsen(&mut worst, self.dual_residual / self.dual_scale);
        worsen(&mut worst, self.duality_gap().abs() / (1.0 + self.primal_objective.abs()));
        worst
    }

    /// Whether a gradient that rounding may move by so much tells anything to the tolerance: moved by more than that it proves nothing, and each variable
    /// takes it into the gap.
    pub(crate) fn can_be_told(&self, rounding: f64, variables: &[f64], tolerance: f64) -> bool {
        let weight: f64 = variables.iter().map(|value| value.abs()).sum();
        rounding <= tolerance * self.dual_scale && rounding * weight <= tolerance * (1.0 + self.primal_objective.abs())
    }

    /// Whether the pair is optimal to the tolerance, which bounds [`worst`](Self::worst). False if anything is NaN.
    #[must_use]
    pub fn holds(&self, tolerance: f64) -> bool {
        self.worst() <= tolerance
    }
}

impl Solution {
    /// Judges the solution by the problem's definition alone. What the solver believed of it is in
    /// [`certificate`](Self::certificate); this is the independent word.
    ///
    /// # Errors
    /// If the solution has not the problem's dimensions, or a kernel row cannot be computed.
    pub fn certify(&self, problem: &impl Problem) -> Result<Certificate, ProblemError> {
        Certificate::judge(problem, &self.primal, &self.dual)
    }
}

impl Certificate {
    /// Judges a point and multipliers of any origin by the problem's definition alone.
    ///
    /// # Errors
    /// As for [`Solution::certify`].
    pub fn judge(problem: &impl Problem, primal: &[f64], dual: &[f64]) -> Result<Certificate, ProblemError> {
        require_length("the primal solution", problem.n_variables(), primal.len())?;
        require_length("the multipliers", problem.n_rows(), dual.len())?;
        let quadratic = problem.quadratic_product(primal)?;
        Ok(Certificate::of(problem, primal, dual, &quadratic))
    }
}

/// A proof that no $x$ is feasible: multipliers with $A^\top y = 0$ for which $\sum_r (u_r y_r^+ - l_r y_r^-) < 0$. For a feasible $x$ the sum
/// would be at least $y^\top A x = 0$. Where a single row contradicts itself, $l_r > u_r$, that row has a multiplier of 1, the others none.
#[derive(Debug, Clone, PartialEq)]
pub struct InfeasibilityProof {
    /// The multipliers $y$, the largest of them 1 in size.
    pub dual: Vec<f64>,
}

/// A proof that the objective falls for ever: a direction with $Pd = 0$ and $q^\top d < 0$ along which no row leaves its bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct UnboundednessProof {
    /// The direction $d$, its largest entry 1 in size.
    pub direction: Vec<f64>,
}

impl InfeasibilityProof {
    /// From multipliers of any size, which are scaled to a largest of 1.
    #[must_use]
    pub fn new(dual: Vec<f64>) -> InfeasibilityProof {
        InfeasibilityProof { dual: scaled_to_one(dual) }
    }

    /// Whether the proof stands: $\lVert A^\top y\rVert_\infty$ and multipliers that name infinite bounds at most `tolerance`, and the sum below
    /// `-tolerance`; or a row with a multiplier has $l_r - u_r$ above `tolerance`. False if the length is wrong.
    pub fn holds(&self, problem: &impl Problem, tolerance: f64) -> bool {
        if self.dual.len() != problem.n_rows() {
            return false;
        }
        let (lower, upper) = problem.row_bounds();
        let crossed = |((y, l), u): ((&f64, &f64), &f64)| y.abs() > 0.0 && l - u > tolerance;
        if self.dual.iter().zip(lower.iter()).zip(upper.iter()).any(crossed) {
            return true;
        }
        let (residual, support) = self.measure(problem);
        residual <= tolerance && support < -tolerance
    }

    /// What should be 0, and the sum that should be below it.
    pub(crate) fn measure(&self, problem: &impl Problem) -> (f64, f64) {
        let mut residual = 0.0;
        problem.adjoint_product(&self.dual).iter().for_each(|value| worsen(&mut residual, value.abs()));
        let (lower, upper) = problem.row_bounds();
        let mut support = 0.0;
        for ((&l, &u), &multiplier) in lower.iter().zip(upper.iter()).zip(&self.dual) {
            let bound = if multiplier > 0.0 { u } else { l };
            if bound.is_infinite() {
                worsen(&mut residual, multiplier.abs());
            } else {
                support += bound * multiplier;
            }
        }
        (residual, support)
    }
}

impl UnboundednessProof {
    /// From a direction of any size, which is scaled to a largest entry of 1.
    #[must_use]
    pub fn new(direction: Vec<f64>) -> UnboundednessProof {
        UnboundednessProof { direction: scaled_to_one(direction) }
    }

    /// Whether the proof stands: $\lVert Pd\rVert_\infty$ and the excursion of rows with finite bounds at most `tolerance`, and $q^\top d$ below
    /// `-tolerance`.
    ///
    /// # Errors
    /// If the direction has not the problem's dimension, or a kernel row cannot be computed.
    pub fn holds(&self, problem: &impl Problem, tolerance: f64) -> Result<bool, ProblemError> {
        require_length("the direction", problem.n_variables(), self.direction.len())?;
        let (residual, slope) = self.measure(problem)?;
        Ok(residual <= tolerance && slope < -tolerance)
    }

    /// What should be 0, and the slope that should be below it.
    pub(crate) fn measure(&self, problem: &impl Problem) -> Result<(f64, f64), ProblemError> {
        let mut residual = 0.0;
        let quadratic = problem.quadratic_product(&self.direction)?;
        quadratic.iter().for_each(|value| worsen(&mut residual, value.abs()));
        let (lower, upper) = problem.row_bounds();
        for ((&row, &l), &u) in problem.rows_product(&self.direction).iter().zip(lower.iter()).zip(upper.iter()) {
            let leaves_below = if l.is_finite() { -row } else { 0.0 };
            let leaves_above = if u.is_finite() { row } else { 0.0 };
            worsen(&mut residual, leaves_below.max(leaves_above));
            if row.is_nan() {
                residual = f64::NAN;
            }
        }
        Ok((residual, dot(&problem.linear_term(), &self.direction)))
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Keeps the larger of two defects, and a NaN once there is one.
fn worsen(worst: &mut f64, defect: f64) {
    if defect > *worst || defect.is_nan() {
        *worst = defect;
    }
}

fn scaled_to_one(mut vector: Vec<f64>) -> Vec<f64> {
    let largest = vector.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest > 0.0 && largest.is_finite() {
        vector.iter_mut().for_each(|value| *value /= largest);
    }
    vector
}

pub(crate) fn require_length(what: &'static str, expected: usize, found: usize) -> Result<(), ProblemError> {
    if expected == found { Ok(()) } else { Err(ProblemError::Length { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// $\tfrac12 p x^2 + q x$ over $l \le x \le u$.
    struct OneVariable {
        p: f64,
        q: f64,
        l: f64,
        u: f64,
    }

    impl Problem for OneVariable {
        fn n_variables(&self) -> usize {
            1
        }

        fn n_rows(&self) -> usize {
            1
        }

        fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
            Ok(vec![self.p * x[0]])
        }

        fn linear_term(&self) -> Cow<'_, [f64]> {
            Cow::Owned(vec![self.q])
        }

        fn rows_product(&self, x: &[f64]) -> Vec<f64> {
            x.to_vec()
        }

        fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
            y.to_vec()
        }

        fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
            (Cow::Owned(vec![self.l]), Cow::Owned(vec![self.u]))
        }
    }

    /// $x^2 - 6x$ over $0 \le x \le 2$: the optimum is $x = 2$, where $2x - 6 + y = 0$ gives $y = 2$; both objectives are $-8$.
    const HELD_AT_2: OneVariable = OneVariable { p: 2.0, q: -6.0, l: 0.0, u: 2.0 };

    fn judged(problem: &OneVariable, x: f64, y: f64) -> Certificate {
        Certificate::of(problem, &[x], &[y], &[problem.p * x])
    }

    #[test]
    fn the_optimum_of_one_variable_has_the_numbers_worked_by_hand() {
        let expected = Certificate {
            primal_objective: -8.0,
            dual_objective: -8.0,
            primal_residual: 0.0,
            dual_residual: 0.0,
            complementarity: 0.0,
            primal_scale: 2.0,
            dual_scale: 6.0,
        };
        assert_eq!(judged(&HELD_AT_2, 2.0, 2.0), expected);
        assert!(expected.holds(0.0));
        // At the lower bound: x^2 + x over x >= 1 has its optimum at 1, y = -3, value 2.
        let held_at_1 = OneVariable { p: 2.0, q: 1.0, l: 1.0, u: f64::INFINITY };
        let certificate = judged(&held_at_1, 1.0, -3.0);
        assert_eq!((certificate.primal_objective, certificate.dual_objective), (2.0, 2.0));
        assert!(certificate.holds(0.0));
    }

    #[test]
    fn a_point_short_of_the_optimum_shows_in_residual_and_gap() {
        // x = 1, y = 2: 2 - 6 + 2 = -2; primal 1 - 6 = -5, dual -1 - 2 * 2 = -5; the row is 1 away from its bound.
        let certificate = judged(&HELD_AT_2, 1.0, 2.0);
        assert_eq!((certificate.dual_residual, certificate.duality_gap()), (2.0, 0.0));
        assert_eq!(certificate.complementarity, 1.0);
        assert_eq!(certificate.worst(), 2.0 / 6.0);
        // With y = 4 the equation holds and the gap tells: dual -1 - 2 * 4 = -9.
        let certificate = judged(&HELD_AT_2, 1.0, 4.0);
        assert_eq!((certificate.dual_residual, certificate.duality_gap()), (0.0, 4.0));
        assert!(!certificate.holds(0.5));
        for step in [1e-3, 1e-6, -1e-3, -1e-6] {
            assert!(!judged(&HELD_AT_2, 2.0 + step, 2.0 - 2.0 * step).holds(1e-8), "{step}");
            assert!(!judged(&HELD_AT_2, 2.0, 2.0 + step).holds(1e-8), "{step}");
        }
    }

    #[test]
    fn a_multiplier_of_the_wrong_sign_does_not_pass() {
        // The optimum of x^2 + 2x over x >= 0 is 0 with y = -2; +2 names the upper bound.
        let held_at_0 = OneVariable { p: 2.0, q: 2.0, l: 0.0, u: 5.0 };
        assert!(judged(&held_at_0, 0.0, -2.0).holds(0.0));
        let certificate = judged(&held_at_0, 0.0, 2.0);
        assert_eq!((certificate.dual_residual, certificate.complementarity), (4.0, 2.0));
        assert!(!certificate.holds(0.1));
        // At x = -2 the equation holds with +2; the point is infeasible and the gap is 4 - 4 - (-4 - 10).
        let certificate = judged(&held_at_0, -2.0, 2.0);
        assert_eq!((certificate.dual_residual, certificate.primal_residual), (0.0, 2.0));
        assert_eq!(certificate.duality_gap(), 14.0);
    }

    #[test]
    fn a_point_outside_its_bounds_does_not_pass() {
        // The free optimum of x^2 - 6x is 3, and stationary without a multiplier.
        let certificate = judged(&HELD_AT_2, 3.0, 0.0);
        assert_eq!((certificate.primal_residual, certificate.dual_residual, certificate.primal_scale), (1.0, 0.0, 3.0));
        assert!(!certificate.holds(0.3) && certificate.holds(0.34));
    }

    #[test]
    fn a_multiplier_at_an_infinite_bound_counts_in_full() {
        let open = OneVariable { p: 2.0, q: -6.0, l: 0.0, u: f64::INFINITY };
        let certificate = judged(&open, 2.0, 2.0);
        assert_eq!((certificate.dual_residual, certificate.dual_objective), (2.0, -4.0));
        assert!(!certificate.holds(0.3));
        assert!(judged(&open, 3.0, 0.0).holds(0.0));
    }

    #[test]
    fn nothing_with_nan_in_it_holds() {
        let nan = f64::NAN;
        assert!(!judged(&HELD_AT_2, nan, 2.0).holds(f64::MAX));
        assert!(!judged(&HELD_AT_2, 2.0, nan).holds(f64::MAX));
        assert!(!Certificate::of(&HELD_AT_2, &[2.0], &[2.0], &[nan]).holds(f64::MAX));
        assert!(!InfeasibilityProof { dual: vec![nan] }.holds(&HELD_AT_2, 1.0));
        assert!(!UnboundednessProof { direction: vec![nan] }.holds(&HELD_AT_2, 1.0).unwrap());
    }

    #[test]
    fn proofs_stand_or_fall_by_their_definition() {
        // One row cannot contradict the others, there being none; it can contradict itself.
        assert!(!InfeasibilityProof { dual: vec![1.0] }.holds(&HELD_AT_2, 1e-9));
        let crossed = OneVariable { l: 3.0, ..HELD_AT_2 };
        assert!(InfeasibilityProof { dual: vec![1.0] }.holds(&crossed, 1e-9));
        assert!(!InfeasibilityProof { dual: vec![0.0] }.holds(&crossed, 1e-9));
        assert!(!InfeasibilityProof { dual: vec![1.0] }.holds(&crossed, 1.0), "they cross by 1");
        assert!(!InfeasibilityProof { dual: vec![] }.holds(&crossed, 1e-9));
        // -6x falls for ever upwards if nothing is in the way.
        let up = UnboundednessProof { direction: vec![1.0] };
        let open = OneVariable { p: 0.0, q: -6.0, l: 0.0, u: f64::INFINITY };
        assert!(up.holds(&open, 1e-9).unwrap());
        assert!(!up.holds(&OneVariable { p: 2.0, ..open }, 1e-9).unwrap(), "the objective curves");
        assert!(!up.holds(&OneVariable { u: 9.0, ..open }, 1e-9).unwrap(), "a bound is in the way");
        assert!(!up.holds(&OneVariable { q: 6.0, ..open }, 1e-9).unwrap(), "it rises");
        assert!(UnboundednessProof { direction: vec![1.0, 0.0] }.holds(&open, 1e-9).is_err());
    }

    #[test]
    fn a_solution_of_other_dimensions_is_an_error() {
        let certificate = judged(&HELD_AT_2, 2.0, 2.0);
        let longer = Solution { primal: vec![2.0, 0.0], dual: vec![2.0], certificate, n_steps: 0 };
        assert!(matches!(longer.certify(&HELD_AT_2), Err(ProblemError::Length { expected: 1, found: 2, .. })));
    }
}
