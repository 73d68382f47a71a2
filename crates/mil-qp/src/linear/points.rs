//! The points of a linear machine: columns of a matrix, in full or by their non-zero entries.

use nalgebra::{DMatrix, DMatrixView};
use pulp::{Arch, Simd, WithSimd};

use crate::{ProblemError, SparseMatrix};

/// Points $x_1,\dots,x_n$ as the columns of a features × instances matrix.
///
/// ```
/// use mil_qp::{Points, SparseMatrix};
/// let dense = nalgebra::DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 0.0, 2.0, 3.0, 0.0]);
/// let sparse = SparseMatrix::from_dense(&dense)?;
/// assert_eq!((Points::from(&dense).n_features(), Points::from(&sparse).n_points()), (3, 2));
/// # Ok::<(), mil_qp::ProblemError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Points<'a> {
    /// Every entry.
    Dense(DMatrixView<'a, f64>),
    /// The non-zero entries.
    Sparse(&'a SparseMatrix),
}

impl<'a> From<&'a DMatrix<f64>> for Points<'a> {
    fn from(matrix: &'a DMatrix<f64>) -> Self {
        Points::Dense(matrix.as_view())
    }
}

impl<'a> From<DMatrixView<'a, f64>> for Points<'a> {
    fn from(matrix: DMatrixView<'a, f64>) -> Self {
        Points::Dense(matrix)
    }
}

impl<'a> From<&'a SparseMatrix> for Points<'a> {
    fn from(matrix: &'a SparseMatrix) -> Self {
        Points::Sparse(matrix)
    }
}

impl Points<'_> {
    /// Number of rows $d$.
    #[must_use]
    pub fn n_features(&self) -> usize {
        match self {
            Points::Dense(matrix) => matrix.nrows(),
            Points::Sparse(matrix) => matrix.n_rows(),
        }
    }

    /// Number of columns $n$.
    #[must_use]
    pub fn n_points(&self) -> usize {
        match self {
            Points::Dense(matrix) => matrix.ncols(),
            Points::Sparse(matrix) => matrix.n_columns(),
        }
    }

    /// Entries that a pass over the points reads.
    pub(super) fn n_entries(&self) -> usize {
        match self {
            Points::Dense(matrix) => matrix.len(),
            Points::Sparse(matrix) => matrix.n_entries(),
        }
    }

    /// Checks every entry.
    pub(super) fn require(&self, holds: impl Fn(f64) -> bool, expected: &'static str) -> Result<(), ProblemError> {
        for idx in 0..self.n_points() {
            let entries = match self {
                Points::Dense(matrix) => column(matrix, idx),
                Points::Sparse(matrix) => matrix.column(idx).1,
            };
            if let Some(&value) = entries.iter().find(|value| !holds(**value)) {
                return Err(ProblemError::Value { what: "an entry of point", idx, value, expected });
            }
        }
        Ok(())
    }

    /// $\langle w, x_i\rangle$ for each point. The vector may be longer than the points, and its end is then not used.
    pub(super) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        Arch::new().dispatch(Scores { points: self, weights })
    }

    /// $\sum_i c_ix_i$.
    pub(super) fn combination(&self, coefficients: &[f64]) -> Vec<f64> {
        Arch::new().dispatch(Combination { points: self, coefficients })
    }

    /// $\lVert x_i\rVert^2$ for each point.
    pub(super) fn squared_norms(&self) -> Vec<f64> {
        let norm = |idx| match self {
            Points::Dense(matrix) => matrix.column(idx).norm_squared(),
            Points::Sparse(matrix) => matrix.column(idx).1.iter().map(|value| value * value).sum(),
        };
        (0..self.n_points()).map(norm).collect()
    }

    /// Writes a point in full.
    pub(super) fn write(&self, idx: usize, target: &mut [f64]) {
        match self {
            Points::Dense(matrix) => target.copy_from_slice(column(matrix, idx)),
            Points::Sparse(matrix) => {
                target.fill(0.0);
                let (rows, values) = matrix.column(idx);
                rows.iter().zip(values).for_each(|(&row, &value)| target[row] = value);
            }
        }
    }

    /// $\langle w, x_i\rangle$.
    #[inline(always)]
    pub(super) fn score<S: Simd>(&self, simd: S, idx: usize, weights: &[f64]) -> f64 {
        match self {
            Points::Dense(matrix) => dot(simd, column(matrix, idx), weights),
            Points::Sparse(matrix) => {
                let (rows, values) = matrix.column(idx);
                let mut sum = 0.0;
                for (&row, value) in rows.iter().zip(values) {
                    sum += value * weights[row];
                }
                sum
            }
        }
    }

    /// $w \mathrel{+}= c\,x_i$.
    #[inline(always)]
    pub(super) fn add_to<S: Simd>(&self, simd: S, idx: usize, coefficient: f64, weights: &mut [f64]) {
        match self {
            Points::Dense(matrix) => add_scaled(simd, column(matrix, idx), coefficient, weights),
            Points::Sparse(matrix) => {
                let (rows, values) = matrix.column(idx);
                for (&row, value) in rows.iter().zip(values) {
                    weights[row] += coefficient * value;
                }
            }
        }
    }
}

#[inline(always)]
fn column<'m>(matrix: &'m DMatrixView<'_, f64>, idx: usize) -> &'m [f64] {
    matrix.column(idx).data.into_slice()
}

struct Scores<'a> {
    points: &'a Points<'a>,
    weights: &'a [f64],
}

impl WithSimd for Scores<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut scores = vec![0.0; self.points.n_points()];
        for (idx, score) in scores.iter_mut().enumerate() {
            *score = self.points.score(simd, idx, self.weights);
        }
        scores
    }
}

struct Combination<'a> {
    points: &'a Points<'a>,
    coefficients: &'a [f64],
}

impl WithSimd for Combination<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut sum = vec![0.0; self.points.n_features()];
        for (idx, &coefficient) in self.coefficients.iter().enumerate() {
            if coefficient != 0.0 {
                self.points.add_to(simd, idx, coefficient, &mut sum);
            }
        }
        sum
    }
}

/// $\langle a, b\rangle$ over the length of $a$, in four sums so that an addition need not wait for the last one.
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (S::as_simd_f64s(a), S::as_simd_f64s(&b[..a.len()]));
    let zero = simd.splat_f64s(0.0);
    let mut sums = [zero; 4];
    let ((a, a_few), (b, b_few)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] = simd.mul_add_e_f64s(a[lane], b[lane], sums[lane]);
        }
    }
    for (a, b) in a_few.iter().zip(b_few) {
        sums[0] = simd.mul_add_e_f64s(*a, *b, sums[0]);
    }
    if !a_rest.is_empty() {
        let (a, b) = (simd.partial_load_f64s(a_rest), simd.partial_load_f64s(b_rest));
        sums[1] = simd.mul_add_e_f64s(a, b, sums[1]);
    }
    simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(sums[0], sums[1]), simd.add_f64s(sums[2], sums[3])))
}

/// $b \mathrel{+}= c\,a$ over the length of $a$.
#[inline(always)]
pub(super) fn add_scaled<S: Simd>(simd: S, a: &[f64], coefficient: f64, b: &mut [f64]) {
    let length = a.len();
    let ((a, a_rest), (b, b_rest)) = (S::as_simd_f64s(a), S::as_mut_simd_f64s(&mut b[..length]));
    let c = simd.splat_f64s(coefficient);
    for (a, b) in a.iter().zip(b) {
        *b = simd.mul_add_e_f64s(*a, c, *b);
    }
    if !a_rest.is_empty() {
        let sum = simd.mul_add_e_f64s(simd.partial_load_f64s(a_rest), c, simd.partial_load_f64s(b_rest));
        simd.partial_store_f64s(b_rest, sum);
    }
}
