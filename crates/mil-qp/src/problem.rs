//! What a problem is to those who judge its solutions.

use std::borrow::Cow;

use crate::ProblemError;

/// A convex quadratic program, told by its products alone:
///
/// $$ \min_x\ \tfrac12 x^\top P x + q^\top x \quad\text{subject to}\quad l \le A x \le u $$
///
/// with $P$ positive semidefinite. Every problem of this crate is one, whatever its own form; so one checker
/// ([`Solution::certify`](crate::Solution::certify)) judges the answers of all solvers. Bounds may be infinite; an equality has equal bounds.
pub trait Problem {
    /// Length of $x$.
    fn n_variables(&self) -> usize;

    /// Rows of $A$, simple bounds on variables included.
    fn n_rows(&self) -> usize;

    /// $Px$.
    ///
    /// # Errors
    /// If a kernel row cannot be computed.
    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError>;

    /// $q$.
    fn linear_term(&self) -> Cow<'_, [f64]>;

    /// $Ax$.
    fn rows_product(&self, x: &[f64]) -> Vec<f64>;

    /// $A^\top y$.
    fn adjoint_product(&self, y: &[f64]) -> Vec<f64>;

    /// $l$ and $u$.
    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>);
}
