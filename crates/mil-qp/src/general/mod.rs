//! The general path: any convex quadratic program of modest size.
//!
//! $$ \min_x\ \tfrac12 x^\top P x + q^\top x \quad\text{subject to}\quad l \le A x \le u $$
//!
//! Solved by operator splitting: Stellato, Banjac, Goulart, Bemporad & Boyd, *OSQP: an operator splitting solver for quadratic programs*,
//! Mathematical Programming Computation 12, 2020, in their own C program (feature `osqp`). Whatever it answers is judged by our checker.
//!
//! Cost: a factorisation of order $n + m$, about $n^3/6$ for a dense $P$, again whenever the step size changes and for polishing; then about $n^2$ an
//! iteration. Problems of a support vector machine's shape have faster paths.
//!
//! ```
//! # #[cfg(feature = "osqp")] {
//! use mil_qp::{GeneralSettings, QuadraticProgram, SparseMatrix};
//! use nalgebra::DMatrix;
//! // The point of the line x + y = 1 that is nearest to (2, 0), with x at most 1.25.
//! let rows = SparseMatrix::from_dense(&DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 0.0]))?;
//! let quadratic = DMatrix::identity(2, 2);
//! let nearest =
//!     QuadraticProgram::new(quadratic, vec![-2.0, 0.0], rows, vec![1.0, f64::NEG_INFINITY], vec![1.0, 1.25])?;
//! let solution = nearest.solve(&GeneralSettings::default())?.solved().expect("an optimum exists");
//! assert!((solution.primal[0] - 1.25).abs() < 1e-6 && (solution.primal[1] + 0.25).abs() < 1e-6);
//! assert!((solution.dual[1] - 0.5).abs() < 1e-6, "the bound on x is worth a half");
//! # }
//! # Ok::<(), mil_qp::ProblemError>(())
//! ```

#[cfg(feature = "osqp")]
mod splitting;

use std::borrow::Cow;

use nalgebra::{DMatrix, DVector, DVectorView};

use crate::certificate::require_length;
#[cfg(feature = "osqp")]
use crate::error::require_setting;
use crate::error::{require, require_finite};
use crate::{Problem, ProblemError, SparseMatrix};

/// The matrix $P$ of a quadratic form $\tfrac12 x^\top P x$, symmetric.
#[derive(Debug, Clone, PartialEq)]
pub enum Quadratic {
    /// In full, both triangles.
    Dense(DMatrix<f64>),
    /// By its entries, both triangles.
    Sparse(SparseMatrix),
}

impl Quadratic {
    /// The size of the largest entry.
    #[cfg(feature = "osqp")]
    fn largest(&self) -> f64 {
        match self {
            Quadratic::Dense(matrix) => matrix.amax(),
            Quadratic::Sparse(matrix) => matrix.largest(),
        }
    }

    /// The matrix in full, of the given order.
    #[cfg(feature = "osqp")]
    fn to_dense(&self, n: usize) -> DMatrix<f64> {
        match self {
            Quadratic::Dense(matrix) => matrix.clone(),
            Quadratic::Sparse(matrix) => {
                let mut dense = DMatrix::zeros(n, n);
                for column in 0..n {
                    let (rows, values) = matrix.column(column);
                    rows.iter().zip(values).for_each(|(&row, &value)| dense[(row, column)] = value);
                }
                dense
            }
        }
    }
}

impl From<DMatrix<f64>> for Quadratic {
    fn from(matrix: DMatrix<f64>) -> Quadratic {
        Quadratic::Dense(matrix)
    }
}

impl From<SparseMatrix> for Quadratic {
    fn from(matrix: SparseMatrix) -> Quadratic {
        Quadratic::Sparse(matrix)
    }
}

/// Entries across the diagonal may differ by so much of the largest entry: the rounding of a product $F F^\top$ whose sums run in two orders.
const ASYMMETRY: f64 = 1e-12;

impl Quadratic {
    /// Checks entries and symmetry, and makes the symmetry exact.
    fn symmetric(self) -> Result<Quadratic, ProblemError> {
        let (n_rows, n_columns) = match &self {
            Quadratic::Dense(matrix) => matrix.shape(),
            Quadratic::Sparse(matrix) => (matrix.n_rows(), matrix.n_columns()),
        };
        require_length("a column of the quadratic form", n_columns, n_rows)?;
        let what = "the quadratic form";
        let mut largest: f64 = 0.0;
        let mut infinite = None;
        self.for_each(|row, column, value| {
            largest = largest.max(value.abs());
            if !value.is_finite() && infinite.is_none() {
                infinite = Some(ProblemError::Entry { what, row, column, value, expected: "a finite number" });
            }
        });
        if let Some(error) = infinite {
            return Err(error);
        }
        let mut lopsided = None;
        self.for_each(|row, column, value| {
            let mirrored = self.get(column, row);
            if (value - mirrored).abs() > ASYMMETRY * largest && lopsided.is_none() {
                let expected = "the value across the diagonal";
                lopsided = Some(ProblemError::Entry { what, row, column, value, expected });
            }
        });
        if let Some(error) = lopsided {
            return Err(error);
        }
        Ok(match self {
            Quadratic::Dense(matrix) => {
                let n = matrix.ncols();
                Quadratic::Dense(DMatrix::from_fn(n, n, |r, c| 0.5 * matrix[(r, c)] + 0.5 * matrix[(c, r)]))
            }
            Quadratic::Sparse(matrix) => {
                let mut entries = Vec::with_capacity(2 * matrix.n_entries());
                Quadratic::Sparse(matrix).for_each(|row, column, value| {
                    entries.extend([(row, column, 0.5 * value), (column, row, 0.5 * value)]);
                });
                Quadratic::Sparse(SparseMatrix::from_entries(n_rows, n_rows, &entries)?)
            }
        })
    }

    /// Column by column, rows ascending.
    fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        match self {
            Quadratic::Dense(matrix) => {
                for (column, values) in matrix.column_iter().enumerate() {
                    values.iter().enumerate().for_each(|(row, &value)| visit(row, column, value));
                }
            }
            Quadratic::Sparse(matrix) => {
                for column in 0..matrix.n_columns() {
                    let (rows, values) = matrix.column(column);
                    rows.iter().zip(values).for_each(|(&row, &value)| visit(row, column, value));
                }
            }
        }
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        match self {
            Quadratic::Dense(matrix) => matrix[(row, column)],
            Quadratic::Sparse(matrix) => {
                let (rows, values) = matrix.column(column);
                rows.binary_search(&row).map_or(0.0, |place| values[place])
            }
        }
    }

    fn product(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Quadratic::Dense(matrix) => {
                let product: DVector<f64> = matrix * DVectorView::from_slice(x, x.len());
                product.as_slice().to_vec()
            }
            Quadratic::Sparse(matrix) => matrix.product(x),
        }
    }
}

/// When to stop.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneralSettings {
    /// What the solution's [`Certificate`](crate::Certificate) must hold to, and a proof that there is none. Above 0, below 1.
    pub tolerance: f64,
    /// Steps of the splitting method before we stop. At least 1.
    pub max_iterations: usize,
    /// Whether to polish.
    pub polish: Polish,
}

/// Whether to guess the active bounds from a rough solution and to solve the equations that they leave: one more factorisation, and the answer
/// is good to rounding if the guess was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polish {
    /// Polish; a high accuracy then costs little more than a low one.
    On,
    /// Iterate until the tolerance is met.
    Off,
}

impl Default for GeneralSettings {
    /// A tolerance of 1e-7, 50,000 iterations, polished.
    fn default() -> GeneralSettings {
        GeneralSettings { tolerance: 1e-7, max_iterations: 50_000, polish: Polish::On }
    }
}

/// A convex quadratic program in the form of [`Problem`].
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticProgram {
    quadratic: Quadratic,
    linear: Vec<f64>,
    rows: SparseMatrix,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl QuadraticProgram {
    /// From $P$, $q$, $A$, $l$ and $u$. Bounds may be infinite, and $l_r > u_r$ is a problem without a feasible point, not an error. $P$ may be
    /// lopsided by rounding; its symmetric part is kept. Whether it is positive semidefinite shows in solving.
    ///
    /// # Errors
    /// If there is no variable, lengths differ, $P$ is not symmetric, an entry is not finite, a bound is NaN, a lower bound $+\infty$ or an upper one
    /// $-\infty$.
    pub fn new(
        quadratic: impl Into<Quadratic>,
        linear: Vec<f64>,
        rows: SparseMatrix,
        lower: Vec<f64>,
        upper: Vec<f64>,
    ) -> Result<QuadraticProgram, ProblemError> {
        let quadratic = quadratic.into().symmetric()?;
        let n = match &quadratic {
            Quadratic::Dense(matrix) => matrix.ncols(),
            Quadratic::Sparse(matrix) => matrix.n_columns(),
        };
        if n == 0 {
            return Err(ProblemError::Empty("variables"));
        }
        require_length("the linear term", n, linear.len())?;
        require_length("a row of the constraints", n, rows.n_columns())?;
        require_length("the lower bounds", rows.n_rows(), lower.len())?;
        require_length("the upper bounds", rows.n_rows(), upper.len())?;
        require_finite("linear term", &linear)?;
        require("lower bound", &lower, |bound| bound < f64::INFINITY, "a number below infinity")?;
        require("upper bound", &upper, |bound| bound > f64::NEG_INFINITY, "a number above -infinity")?;
        Ok(QuadraticProgram { quadratic, linear, rows, lower, upper })
    }

    /// Solves the program, starting from 0.
    ///
    /// # Errors
    /// If a setting is out of range, or $P$ is found to have a direction of negative curvature.
    #[cfg(feature = "osqp")]
    pub fn solve(&self, settings: &GeneralSettings) -> Result<crate::Outcome, ProblemError> {
        self.solve_from(&vec![0.0; self.n_variables()], &vec![0.0; self.n_rows()], settings)
    }

    /// Solves the program, starting from a point and multipliers: those of a similar program, or the best of an earlier attempt.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve), or if the start has not the program's dimensions or is not finite.
    #[cfg(feature = "osqp")]
    pub fn solve_from(
        &self,
        primal: &[f64],
        dual: &[f64],
        settings: &GeneralSettings,
    ) -> Result<crate::Outcome, ProblemError> {
        let GeneralSettings { tolerance, max_iterations, .. } = *settings;
        require_setting("tolerance", tolerance, 0.0 < tolerance && tolerance < 1.0, "a number above 0 and below 1")?;
        require_setting("max_iterations", max_iterations as f64, max_iterations >= 1, "at least 1")?;
        require_length("the start", self.n_variables(), primal.len())?;
        require_length("the multipliers of the start", self.n_rows(), dual.len())?;
        require_finite("start", primal)?;
        require_finite("multiplier of the start", dual)?;
        splitting::solve(self, primal, dual, settings)
    }
}

impl Problem for QuadraticProgram {
    fn n_variables(&self) -> usize {
        self.linear.len()
    }

    fn n_rows(&self) -> usize {
        self.lower.len()
    }

    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
        Ok(self.quadratic.product(x))
    }

    fn linear_term(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(&self.linear)
    }

    fn rows_product(&self, x: &[f64]) -> Vec<f64> {
        self.rows.product(x)
    }

    fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
        self.rows.transposed_product(y)
    }

    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        (Cow::Borrowed(&self.lower), Cow::Borrowed(&self.upper))
    }
}
