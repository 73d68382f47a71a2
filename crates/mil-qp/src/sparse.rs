//! Matrices that are mostly zeros.

use nalgebra::DMatrix;

use crate::ProblemError;

/// A matrix by its non-zero entries, column after column (compressed sparse columns). Within a column the rows ascend.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    n_rows: usize,
    /// Where each column begins among the entries, and where the last one ends.
    starts: Vec<usize>,
    row_idxs: Vec<usize>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// From entries (row, column, value) in any order; those at the same place are added.
    ///
    /// ```
    /// use mil_qp::SparseMatrix;
    /// let matrix = SparseMatrix::from_entries(2, 2, &[(1, 0, 3.0), (0, 0, 1.0), (1, 0, 1.0)])?;
    /// assert_eq!(matrix.product(&[2.0, 5.0]), [2.0, 8.0]);
    /// # Ok::<(), mil_qp::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// If a place is out of range or a value is not finite.
    pub fn from_entries(
        n_rows: usize,
        n_columns: usize,
        entries: &[(usize, usize, f64)],
    ) -> Result<SparseMatrix, ProblemError> {
        for (idx, &(row, column, value)) in entries.iter().enumerate() {
            if row >= n_rows || column >= n_columns {
                let (value, expected) = if row >= n_rows {
                    (row, "a row within the matrix")
                } else {
                    (column, "a column within the matrix")
                };
                return Err(ProblemError::Value { what: "place of entry", idx, value: value as f64, expected });
            }
            if !value.is_finite() {
                return Err(ProblemError::Value { what: "entry", idx, value, expected: "a finite number" });
            }
        }
        let mut starts = Vec::new();
        let n_starts = n_columns.saturating_add(1);
        starts.try_reserve_exact(n_starts).map_err(|_| ProblemError::NoMemory { n_values: n_starts })?;
        starts.resize(n_starts, 0);
        let mut ordered = entries.to_vec();
        ordered.sort_by_key(|&(row, column, _)| (column, row));
        let mut matrix = SparseMatrix { n_rows, starts, row_idxs: Vec::new(), values: Vec::new() };
        let mut last = None;
        for (row, column, value) in ordered {
            if last == Some((row, column)) {
                *matrix.values.last_mut().expect("an entry precedes") += value;
            } else {
                matrix.row_idxs.push(row);
                matrix.values.push(value);
                matrix.starts[column + 1] = matrix.values.len();
                last = Some((row, column));
            }
        }
        for (idx, &value) in matrix.values.iter().enumerate() {
            if !value.is_finite() {
                return Err(ProblemError::Value { what: "sum of entries", idx, value, expected: "a finite number" });
            }
        }
        for column in 0..n_columns {
            matrix.starts[column + 1] = matrix.starts[column + 1].max(matrix.starts[column]);
        }
        Ok(matrix)
    }

    /// From a matrix in full, zeros left out.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn from_dense(dense: &DMatrix<f64>) -> Result<SparseMatrix, ProblemError> {
        let entries: Vec<(usize, usize, f64)> = dense
            .column_iter()
            .enumerate()
            .flat_map(|(c, column)| {
                column.iter().copied().enumerate().map(move |(r, value)| (r, c, value)).collect::<Vec<_>>()
            })
            .filter(|&(_, _, value)| value != 0.0)
            .collect();
        SparseMatrix::from_entries(dense.nrows(), dense.ncols(), &entries)
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of entries kept.
    #[must_use]
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// The rows and values of a column's entries.
    ///
    /// # Panics
    /// If the column is out of range.
    #[must_use]
    pub fn column(&self, column: usize) -> (&[usize], &[f64]) {
        let span = self.starts[column]..self.starts[column + 1];
        (&self.row_idxs[span.clone()], &self.values[span])
    }

    /// The size of the largest entry; 0 where there is none.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |largest, value| value.abs().max(largest))
    }

    /// The matrix times a vector.
    ///
    /// # Panics
    /// If the vector has not one entry per column.
    #[must_use]
    pub fn product(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.n_columns(), "one entry per column");
        let mut product = vec![0.0; self.n_rows];
        for (column, &x) in x.iter().enumerate() {
            let (rows, values) = self.column(column);
            rows.iter().zip(values).for_each(|(&row, value)| product[row] += value * x);
        }
        product
    }

    /// The transposed matrix times a vector.
    ///
    /// # Panics
    /// If the vector has not one entry per row.
    #[must_use]
    pub fn transposed_product(&self, y: &[f64]) -> Vec<f64> {
        assert_eq!(y.len(), self.n_rows, "one entry per row");
        let of_column = |column| {
            let (rows, values) = self.column(column);
            rows.iter().zip(values).map(|(&row, value)| value * y[row]).sum()
        };
        (0..self.n_columns()).map(of_column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_whose_sum_overflows_are_refused() {
        let error = SparseMatrix::from_entries(1, 1, &[(0, 0, 1e308), (0, 0, 1e308)]).unwrap_err();
        assert_eq!(error.to_string(), "sum of entries 0 is inf; expected a finite number");
    }

    #[test]
    fn more_columns_than_memory_are_an_error() {
        assert!(matches!(SparseMatrix::from_entries(1, usize::MAX, &[]), Err(ProblemError::NoMemory { .. })));
    }

    #[test]
    fn a_place_outside_the_matrix_is_refused() {
        for entry in [(2, 0, 1.0), (0, 3, 1.0)] {
            assert!(matches!(
                SparseMatrix::from_entries(2, 3, &[(0, 0, 1.0), entry]),
                Err(ProblemError::Value { idx: 1, .. })
            ));
        }
    }
}
