//! Where kernels and solvers meet: rows of a symmetric matrix, computed when asked for.

use std::error::Error;

use nalgebra::DMatrix;

/// Why a row could not be computed; the message is the kernel's own.
pub type RowError = Box<dyn Error + Send + Sync>;

/// A symmetric matrix known by its rows.
///
/// A solver asks for a few rows at a time and only for the columns it still works on; both are made ready beforehand, so that what it asks for often is made
/// ready once. A value must be the same to the bit whichever rows and columns it is computed with.
///
/// ```
/// use mil_core::KernelRows;
/// use nalgebra::DMatrix;
/// let matrix = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 3.0]);
/// let (mut first, mut second) = ([0.0], [0.0]);
/// let last_column = matrix.prepare(&[1]);
/// matrix.fill_rows(&[0, 1], &last_column, &mut [&mut first, &mut second])?;
/// assert_eq!((first, second), ([1.0], [3.0]));
/// # Ok::<(), mil_core::RowError>(())
/// ```
pub trait KernelRows: Sync {
    /// Some positions, as rows or as columns, made ready.
    type Prepared: Send + Sync;

    /// Rows of the matrix, which are as many as its columns.
    fn order(&self) -> usize;

    /// The diagonal.
    ///
    /// # Errors
    /// If a value cannot be computed.
    fn diagonal_values(&self) -> Result<Vec<f64>, RowError>;

    /// Makes positions ready, in this order.
    ///
    /// # Panics
    /// If a position is out of range.
    fn prepare(&self, idxs: &[usize]) -> Self::Prepared;

    /// Writes rows, restricted to columns, each to its place.
    ///
    /// # Errors
    /// If a value cannot be computed; the places then hold anything.
    ///
    /// # Panics
    /// If there is not a place for each row, or a place has not the length of the columns.
    fn fill(&self, rows: &Self::Prepared, columns: &Self::Prepared, places: &mut [&mut [f64]]) -> Result<(), RowError>;

    /// [`fill`](Self::fill) for rows that are not ready yet.
    ///
    /// # Errors
    /// As for [`fill`](Self::fill).
    ///
    /// # Panics
    /// As for [`fill`](Self::fill) and [`prepare`](Self::prepare).
    fn fill_rows(&self, idxs: &[usize], columns: &Self::Prepared, places: &mut [&mut [f64]]) -> Result<(), RowError> {
        self.fill(&self.prepare(idxs), columns, places)
    }

    /// Whether the matrix keeps whole rows in memory by itself, computed beforehand or by [`keep`](Self::keep), so that a cache would hold them twice.
    fn keeps_rows(&self) -> bool {
        false
    }

    /// Sees to it that [`kept_row`](Self::kept_row) has these rows, if the matrix keeps rows; those that are missing are computed together.
    ///
    /// # Errors
    /// If a value cannot be computed.
    ///
    /// # Panics
    /// If a position is out of range.
    fn keep(&self, _idxs: &[usize]) -> Result<(), RowError> {
        Ok(())
    }

    /// A whole row, all columns in order, if the matrix keeps it.
    ///
    /// # Panics
    /// If the position is out of range.
    fn kept_row(&self, _idx: usize) -> Option<&[f64]> {
        None
    }
}

/// A matrix in memory; only its columns are read, so that what is above the diagonal should mirror what is below.
impl KernelRows for DMatrix<f64> {
    type Prepared = Vec<usize>;

    fn order(&self) -> usize {
        self.ncols()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        if !self.is_square() {
            return Err(format!("the matrix is {} x {}, expected a square one", self.nrows(), self.ncols()).into());
        }
        Ok(self.diagonal().as_slice().to_vec())
    }

    fn prepare(&self, idxs: &[usize]) -> Vec<usize> {
        assert!(idxs.iter().all(|&idx| idx < self.ncols()), "a position out of range");
        idxs.to_vec()
    }

    fn fill(&self, rows: &Vec<usize>, columns: &Vec<usize>, places: &mut [&mut [f64]]) -> Result<(), RowError> {
        assert_eq!(rows.len(), places.len(), "a place for each row");
        for (&row, place) in rows.iter().zip(places) {
            assert_eq!(columns.len(), place.len(), "a value for each column");
            let row = self.column(row);
            place.iter_mut().zip(columns).for_each(|(value, &column)| *value = row[column]);
        }
        Ok(())
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn kept_row(&self, idx: usize) -> Option<&[f64]> {
        Some(&self.as_slice()[idx * self.nrows()..(idx + 1) * self.nrows()])
    }
}
