//! Rows of a Gram matrix on demand, for sets of instances whose whole matrix does not fit the memory.

use std::sync::Arc;

use nalgebra::{DMatrix, DMatrixView};

use crate::form::Form;
use crate::gram::between;
use crate::tile::{Side, centre_for};
use crate::{Kernel, KernelError};

/// Rows of [`gram`](crate::gram), the same to the bit, computed when asked for and kept as long as the cache has room.
///
/// A row costs $n d$ multiplications; several asked for at once are computed together, eight for little more than the price of one.
/// The row used longest ago leaves first.
///
/// ```
/// use mil_kernels::{GramRows, Kernel};
/// use nalgebra::DMatrix;
/// let instances = DMatrix::from_row_slice(1, 3, &[1.0, 2.0, 3.0]); // three instances of one feature
/// let mut rows = GramRows::new(&Kernel::Linear, &instances, 1 << 20)?;
/// let (first, last) = (rows.row(0)?, rows.row(2)?);
/// assert_eq!((&first[..], &last[..]), (&[1.0, 2.0, 3.0][..], &[3.0, 6.0, 9.0][..]));
/// rows.row(0)?;
/// assert_eq!((rows.n_hits(), rows.n_misses()), (1, 2));
/// # Ok::<(), mil_kernels::KernelError>(())
/// ```
#[derive(Debug)]
pub struct GramRows<'a> {
    form: Form,
    centre: Vec<f64>,
    side: Side<'a>,
    cache: Cache,
    n_hits: usize,
    n_misses: usize,
}

impl<'a> GramRows<'a> {
    /// Rows over the instances, one per column, with a cache of at most `max_bytes`, or of two rows where that is more.
    ///
    /// Rows that have left the cache live on in the hands of whoever still holds them; the bound does not count those.
    ///
    /// # Errors
    /// If the kernel is out of range or does not suit the instances.
    pub fn new(
        kernel: &Kernel,
        instances: impl Into<DMatrixView<'a, f64>>,
        max_bytes: usize,
    ) -> Result<GramRows<'a>, KernelError> {
        let (form, instances) = (Form::of(kernel)?, instances.into());
        let centre = centre_for(&form, instances);
        let side = Side::new(&form, instances, &centre)?;
        let n = instances.ncols();
        let capacity = max_bytes / (n.max(1) * size_of::<f64>());
        Ok(GramRows { form, centre, side, cache: Cache::new(n, capacity.max(2)), n_hits: 0, n_misses: 0 })
    }

    /// Number of instances: of rows, and of values in each.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.side.instances.ncols()
    }

    /// One row.
    ///
    /// # Errors
    /// If a value overflows.
    ///
    /// # Panics
    /// If the position is out of range.
    pub fn row(&mut self, idx: usize) -> Result<Arc<[f64]>, KernelError> {
        Ok(self.rows(&[idx])?.swap_remove(0))
    }

    /// Several rows in the order asked for, those not in the cache computed together.
    ///
    /// # Errors
    /// If a value overflows.
    ///
    /// # Panics
    /// If a position is out of range.
    pub fn rows(&mut self, idxs: &[usize]) -> Result<Vec<Arc<[f64]>>, KernelError> {
        // Found rows are held from here on, so that the missing ones cannot push them out before they are returned.
        let mut found: Vec<Option<Arc<[f64]>>> = idxs.iter().map(|&idx| self.cache.get(idx)).collect();
        let mut missing: Vec<usize> =
            idxs.iter().zip(&found).filter(|(_, row)| row.is_none()).map(|(&idx, _)| idx).collect();
        missing.sort_unstable();
        missing.dedup();
        self.n_misses += missing.len();
        self.n_hits += idxs.len() - missing.len();
        let computed = self.compute(&missing)?;
        for (&idx, row) in idxs.iter().zip(&mut found) {
            if row.is_none() {
                let at = missing.binary_search(&idx).expect("a row not found is missing");
                self.cache.insert(idx, computed[at].clone());
                *row = Some(computed[at].clone());
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Rows asked for and found in the cache, a row asked for twice in one call included.
    #[must_use]
    pub fn n_hits(&self) -> usize {
        self.n_hits
    }

    /// Rows that had to be computed.
    #[must_use]
    pub fn n_misses(&self) -> usize {
        self.n_misses
    }

    /// Bytes of the rows in the cache.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.cache.n_rows * self.n_instances() * size_of::<f64>()
    }

    fn compute(&self, idxs: &[usize]) -> Result<Vec<Arc<[f64]>>, KernelError> {
        if idxs.is_empty() {
            return Ok(Vec::new());
        }
        let asked = self.side.instances.select_columns(idxs);
        let rows: DMatrix<f64> = between(&self.form, &self.side, asked.as_view(), &self.centre).map_err(|error| {
            match error {
                // The position among the rows asked for becomes that among all instances.
                KernelError::Overflow { quantity, left_idx, right_idx, value } => {
                    KernelError::Overflow { quantity, left_idx, right_idx: idxs[right_idx], value }
                }
                other => other,
            }
        })?;
        Ok(rows.column_iter().map(|row| Arc::from(row.as_slice())).collect())
    }
}

/// Rows in order of use: a doubly linked list threaded through arrays, hence each operation takes constant time.
#[derive(Debug)]
struct Cache {
    rows: Vec<Option<Arc<[f64]>>>,
    /// Neighbours of each cached row, newer and older; the last entry is the list's head, before the newest and after the oldest.
    newer: Vec<usize>,
    older: Vec<usize>,
    n_rows: usize,
    capacity: usize,
}

impl Cache {
    fn new(n: usize, capacity: usize) -> Cache {
        Cache { rows: vec![None; n], newer: vec![n; n + 1], older: vec![n; n + 1], n_rows: 0, capacity }
    }

    /// A row, which thereby becomes the newest.
    fn get(&mut self, idx: usize) -> Option<Arc<[f64]>> {
        let row = self.rows[idx].clone()?;
        self.unlink(idx);
        self.link(idx);
        Some(row)
    }

    /// Puts in a row as the newest, in place of the oldest where there is no room.
    fn insert(&mut self, idx: usize, row: Arc<[f64]>) {
        if self.rows[idx].replace(row).is_some() {
            self.unlink(idx);
        } else if self.n_rows == self.capacity {
            let oldest = self.newer[self.head()];
            self.unlink(oldest);
            self.rows[oldest] = None;
        } else {
            self.n_rows += 1;
        }
        self.link(idx);
    }

    fn head(&self) -> usize {
        self.rows.len()
    }

    fn link(&mut self, idx: usize) {
        let head = self.head();
        let second = self.older[head];
        (self.newer[idx], self.older[idx]) = (head, second);
        (self.newer[second], self.older[head]) = (idx, idx);
    }

    fn unlink(&mut self, idx: usize) {
        let (newer, older) = (self.newer[idx], self.older[idx]);
        (self.older[newer], self.newer[older]) = (older, newer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_used_longest_ago_leaves_first() {
        let instances = DMatrix::from_row_slice(1, 5, &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let mut rows = GramRows::new(&Kernel::Linear, &instances, 3 * 5 * size_of::<f64>()).unwrap();
        let cached = |rows: &GramRows<'_>| (0..5).filter(|&idx| rows.cache.rows[idx].is_some()).collect::<Vec<_>>();
        for (wish, expected) in [
            (0, vec![0]),
            (1, vec![0, 1]),
            (2, vec![0, 1, 2]),
            (0, vec![0, 1, 2]),
            (3, vec![0, 2, 3]),
            (4, vec![0, 3, 4]),
        ] {
            rows.row(wish).unwrap();
            assert_eq!(cached(&rows), expected, "after row {wish}");
            assert_eq!(rows.cached_bytes(), expected.len() * 5 * size_of::<f64>());
        }
        rows.rows(&[0, 1, 2, 3, 4]).unwrap();
        assert_eq!(cached(&rows).len(), 3);
    }
}
