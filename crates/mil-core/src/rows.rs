//! Where kernels and solvers meet: rows of a symmetric matrix, computed when asked for.

use std::error::Error;

use nalgebra::DMatrix;

/// Why a row could not be computed; the message is the kernel's own.
pub type RowError = Box<dyn Error + Send + Sync>;

/// A symmetric matrix known by its rows.
///
/// A solver asks for a few rows at a time and only for the columns it still works on; whoever computes them may make these columns
/// ready beforehand. A row must be the same to the bit whichever rows it is computed with, whatever the columns beside it.
///
/// ```
/// use mil_core::KernelRows;
/// use nalgebra::dmatrix;
/// let matrix = dmatrix![2.0, 1.0; 1.0, 3.0];
/// let (mut first, mut second) = ([0.0], [0.0]);
/// let last_column = matrix.prepare_columns(&[1]);
/// matrix.fill_rows(&[0, 1], &last_column, &mut [&mut first, &mut second])?;
/// assert_eq!((first, second), ([1.0], [3.0]));
/// # Ok::<(), mil_core::RowError>(())
/// ```
pub trait KernelRows: Sync {
    /// Some of the columns, made ready.
    type Columns: Send + Sync;

    /// Rows of the matrix, which are as many as its columns.
    fn order(&self) -> usize;

    /// The diagonal.
    ///
    /// # Errors
    /// If a value cannot be computed.
    fn diagonal_values(&self) -> Result<Vec<f64>, RowError>;

    /// The columns at these positions, in this order.
    ///
    /// # Panics
    /// If a position is out of range.
    fn prepare_columns(&self, idxs: &[usize]) -> Self::Columns;

    /// Writes the rows at the given positions, restricted to the columns, each to its place.
    ///
    /// # Errors
    /// If a value cannot be computed; the places then hold anything.
    ///
    /// # Panics
    /// If a position is out of range, or a place has not the length of the columns.
    fn fill_rows(&self, idxs: &[usize], columns: &Self::Columns, places: &mut [&mut [f64]]) -> Result<(), RowError>;
}

/// A matrix in memory; only its columns are read, so that what is above the diagonal should mirror what is below.
impl KernelRows for DMatrix<f64> {
    type Columns = Vec<usize>;

    fn order(&self) -> usize {
        self.ncols()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        Ok(self.diagonal().as_slice().to_vec())
    }

    fn prepare_columns(&self, idxs: &[usize]) -> Vec<usize> {
        assert!(idxs.iter().all(|&idx| idx < self.ncols()), "a column out of range");
        idxs.to_vec()
    }

    fn fill_rows(&self, idxs: &[usize], columns: &Vec<usize>, places: &mut [&mut [f64]]) -> Result<(), RowError> {
        for (&idx, place) in idxs.iter().zip(places) {
            let row = self.column(idx);
            for (value, &column) in place.iter_mut().zip(columns) {
                *value = row[column];
            }
        }
        Ok(())
    }
}
