//! How a solve ends.

use crate::{Certificate, InfeasibilityProof, UnboundednessProof};

/// A point, its multipliers, and what the solver knows of their quality.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The variables $x$.
    pub primal: Vec<f64>,
    /// A multiplier for each row of $A$: above 0 where the row is held to its upper bound, below 0 at its lower.
    pub dual: Vec<f64>,
    /// The solver's own measurement, from products it kept up to date. [`certify`](Self::certify) measures anew.
    pub certificate: Certificate,
    /// Steps taken, in the unit of the solver's budget.
    pub n_steps: usize,
}

/// How a solve ended. Each ending carries just what is true of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Optimal: the solution's certificate holds to the tolerance.
    Solved(Solution),
    /// The budget ran out, or rounding forbids to go on: the best point so far, and in its certificate how far from optimal it may be.
    OutOfBudget(Solution),
    /// No point is feasible, and why.
    Infeasible(InfeasibilityProof),
    /// The objective falls without end, and where to.
    Unbounded(UnboundednessProof),
}

impl Outcome {
    /// Names a solution by what its certificate says.
    pub(crate) fn judged(solution: Solution, tolerance: f64) -> Outcome {
        if solution.certificate.holds(tolerance) { Outcome::Solved(solution) } else { Outcome::OutOfBudget(solution) }
    }

    /// The solution, if it is optimal.
    #[must_use]
    pub fn solved(self) -> Option<Solution> {
        match self {
            Outcome::Solved(solution) => Some(solution),
            _ => None,
        }
    }

    /// The solution, optimal or not, unless there is none.
    #[must_use]
    pub fn best(self) -> Option<Solution> {
        match self {
            Outcome::Solved(solution) | Outcome::OutOfBudget(solution) => Some(solution),
            Outcome::Infeasible(_) | Outcome::Unbounded(_) => None,
        }
    }
}
