//! Rows of a Gram matrix on demand, for sets of instances whose whole matrix does not fit the memory.

use std::sync::OnceLock;

use mil_core::{KernelRows, RowError};
use nalgebra::{DMatrix, DMatrixView};

use crate::form::{Form, Pairs};
use crate::gram::{BLOCK, between, fill_columns};
use crate::tile::{Side, centre_for};
use crate::{Gram, Kernel, KernelError, diagonal};

/// Rows of [`gram`](crate::gram()), the same to the bit, computed when asked for.
///
/// A row costs $n d$ multiplications; several asked for at once are computed together, eight for twice the price of one.
/// Nothing is kept: solvers have a cache of their own.
///
/// ```
/// use mil_core::KernelRows;
/// use mil_kernels::{GramRows, Kernel};
/// use nalgebra::DMatrix;
/// let instances = DMatrix::from_row_slice(1, 3, &[1.0, 2.0, 3.0]); // three instances of one feature
/// let rows = GramRows::new(&Kernel::Linear, &instances)?;
/// let mut row = [0.0; 2];
/// rows.fill_rows(&[2], &rows.prepare(&[0, 1]), &mut [&mut row])?;
/// assert_eq!(row, [3.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct GramRows<'a> {
    form: Form,
    instances: DMatrixView<'a, f64>,
    centre: Vec<f64>,
    diagonal: Vec<f64>,
}

/// Some of the instances, packed.
#[derive(Debug)]
pub struct PackedInstances<'a> {
    idxs: Vec<usize>,
    side: Side<'a>,
}

impl<'a> GramRows<'a> {
    /// Rows over the instances, one per column.
    ///
    /// # Errors
    /// If the kernel is out of range or does not suit the instances, or a value of the diagonal overflows.
    pub fn new(kernel: &Kernel, instances: impl Into<DMatrixView<'a, f64>>) -> Result<GramRows<'a>, KernelError> {
        let (form, instances) = (Form::of(kernel)?, instances.into());
        let diagonal = diagonal(kernel, instances)?;
        let centre = centre_for(&form, instances);
        require_norms(&form, instances, &centre)?;
        Ok(GramRows { form, instances, centre, diagonal })
    }
}

/// Refuses instances whose norms overflow, block by block: the whole need not be packed for it.
fn require_norms(form: &Form, instances: DMatrixView<'_, f64>, centre: &[f64]) -> Result<(), KernelError> {
    for first in (0..instances.ncols()).step_by(BLOCK) {
        let block: Vec<usize> = (first..instances.ncols().min(first + BLOCK)).collect();
        if Side::of_chosen(form, instances, &block, centre).is_err() {
            // The whole side knows the position among all instances.
            return Side::new(form, instances, centre).map(drop);
        }
    }
    Ok(())
}

impl<'a> KernelRows for GramRows<'a> {
    type Prepared = PackedInstances<'a>;

    fn order(&self) -> usize {
        self.instances.ncols()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        Ok(self.diagonal.clone())
    }

    fn prepare(&self, idxs: &[usize]) -> PackedInstances<'a> {
        let side =
            Side::of_chosen(&self.form, self.instances, idxs, &self.centre).expect("the whole set suits the form");
        PackedInstances { idxs: idxs.to_vec(), side }
    }

    fn fill(
        &self,
        rows: &PackedInstances<'a>,
        columns: &PackedInstances<'a>,
        places: &mut [&mut [f64]],
    ) -> Result<(), RowError> {
        assert_eq!(rows.idxs.len(), places.len(), "a place for each row");
        assert!(places.iter().all(|place| place.len() == columns.idxs.len()), "a value for each column");
        fill_columns(Pairs::new(&self.form, &columns.side, &rows.side), places).map_err(|error| match error {
            // Positions among the columns and rows asked for become those among all instances.
            KernelError::Overflow { quantity, left_idx, right_idx, value } => {
                let (left_idx, right_idx) = (columns.idxs[left_idx], rows.idxs[right_idx]);
                KernelError::Overflow { quantity, left_idx, right_idx, value }.into()
            }
            other => other.into(),
        })
    }
}

/// A matrix computed beforehand.
impl KernelRows for Gram {
    type Prepared = Vec<usize>;

    fn order(&self) -> usize {
        self.n_instances()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        Ok((0..self.n_instances()).map(|idx| self[(idx, idx)]).collect())
    }

    fn prepare(&self, idxs: &[usize]) -> Vec<usize> {
        assert!(idxs.iter().all(|&idx| idx < self.n_instances()), "a position out of range");
        idxs.to_vec()
    }

    fn fill(&self, rows: &Vec<usize>, columns: &Vec<usize>, places: &mut [&mut [f64]]) -> Result<(), RowError> {
        assert_eq!(rows.len(), places.len(), "a place for each row");
        for (&row, place) in rows.iter().zip(places) {
            assert_eq!(columns.len(), place.len(), "a value for each column");
            let row = self.row(row);
            place.iter_mut().zip(columns).for_each(|(value, &column)| *value = row[column]);
        }
        Ok(())
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn kept_row(&self, idx: usize) -> Option<&[f64]> {
        Some(self.row(idx))
    }
}

/// Rows of [`gram`](crate::gram()) that are computed when first asked for and then kept, for whoever solves several problems over one kernel.
///
/// Threads may share it: the values do not depend on who computes them. Memory: the instances packed, and each row that was ever kept.
///
/// ```
/// use mil_core::KernelRows;
/// use mil_kernels::{Kernel, KeptRows};
/// use nalgebra::DMatrix;
/// let instances = DMatrix::from_row_slice(1, 3, &[1.0, 2.0, 3.0]); // three instances of one feature
/// let rows = KeptRows::new(&Kernel::Linear, &instances)?;
/// assert_eq!(rows.kept_row(2), None);
/// rows.keep(&[2])?;
/// assert_eq!(rows.kept_row(2), Some(&[3.0, 6.0, 9.0][..]));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct KeptRows<'a> {
    rows: GramRows<'a>,
    all: PackedInstances<'a>,
    kept: Vec<OnceLock<Box<[f64]>>>,
}

impl<'a> KeptRows<'a> {
    /// Rows over the instances, one per column; none is there yet.
    ///
    /// # Errors
    /// As for [`GramRows::new`].
    pub fn new(kernel: &Kernel, instances: impl Into<DMatrixView<'a, f64>>) -> Result<KeptRows<'a>, KernelError> {
        let (form, instances) = (Form::of(kernel)?, instances.into());
        let diagonal = diagonal(kernel, instances)?;
        let centre = centre_for(&form, instances);
        let side = Side::new(&form, instances, &centre)?;
        let n = instances.ncols();
        let rows = GramRows { form, instances, centre, diagonal };
        let all = PackedInstances { idxs: (0..n).collect(), side };
        Ok(KeptRows { rows, all, kept: (0..n).map(|_| OnceLock::new()).collect() })
    }

    /// The matrix of $k(x_i, z_j)$ with other instances, a row for each $x_i$ and a column for each $z_j$; not kept.
    ///
    /// # Errors
    /// As for [`cross_gram`](crate::cross_gram).
    pub fn against<'b>(&self, others: impl Into<DMatrixView<'b, f64>>) -> Result<DMatrix<f64>, KernelError> {
        between(&self.rows.form, &self.all.side, others.into(), &self.rows.centre)
    }
}

/// Rows computed together.
const BATCH: usize = 64;

impl<'a> KernelRows for KeptRows<'a> {
    type Prepared = PackedInstances<'a>;

    fn order(&self) -> usize {
        self.rows.order()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        self.rows.diagonal_values()
    }

    fn prepare(&self, idxs: &[usize]) -> PackedInstances<'a> {
        self.rows.prepare(idxs)
    }

    fn fill(
        &self,
        rows: &PackedInstances<'a>,
        columns: &PackedInstances<'a>,
        places: &mut [&mut [f64]],
    ) -> Result<(), RowError> {
        self.rows.fill(rows, columns, places)
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn keep(&self, idxs: &[usize]) -> Result<(), RowError> {
        let missing: Vec<usize> = idxs.iter().copied().filter(|&idx| self.kept[idx].get().is_none()).collect();
        for batch in missing.chunks(BATCH) {
            let mut values: Vec<Box<[f64]>> =
                batch.iter().map(|_| vec![0.0; self.order()].into_boxed_slice()).collect();
            let mut places: Vec<&mut [f64]> = values.iter_mut().map(|row| &mut row[..]).collect();
            self.rows.fill_rows(batch, &self.all, &mut places)?;
            for (&idx, row) in batch.iter().zip(values) {
                // Whoever was quicker has computed the same values.
                let _ = self.kept[idx].set(row);
            }
        }
        Ok(())
    }

    fn kept_row(&self, idx: usize) -> Option<&[f64]> {
        self.kept[idx].get().map(|row| &row[..])
    }
}
