//! The kernel between the points of a machine, in memory where it fits.

use mil_core::{KernelRows, RowError};
use mil_kernels::{Gram, GramRows, Kernel, KernelError, diagonal, gram};
use nalgebra::DMatrix;

/// What is done over kernel values, wherever they come from.
pub(crate) trait OverRows {
    type Output;

    /// Does it, with so many bytes for rows that the kernel does not keep itself.
    fn over<K: KernelRows>(self, rows: &K, cache_bytes: usize) -> Self::Output;
}

/// A kernel between points, scaled so that the largest value of a point with itself is 1: tolerances are absolute, and neither the weights of a mixture nor the multipliers of a machine know of the scale.
#[derive(Debug)]
pub(crate) struct Points<'a> {
    instances: &'a DMatrix<f64>,
    kernel: Kernel,
    /// What kernel values were divided by.
    pub(crate) scale: f64,
}

impl<'a> Points<'a> {
    /// Over the columns of a matrix.
    pub(crate) fn new(kernel: &Kernel, instances: &'a DMatrix<f64>) -> Result<Points<'a>, KernelError> {
        let largest = diagonal(kernel, instances)?.into_iter().fold(0.0, f64::max);
        let factor = 1.0 / largest;
        if largest == 1.0 || !(factor.is_finite() && factor > 0.0) {
            return Ok(Points { instances, kernel: kernel.clone(), scale: 1.0 });
        }
        Ok(Points { instances, kernel: Kernel::Sum(vec![(factor, kernel.clone())]), scale: largest })
    }

    /// Does something over the kernel values: half of the bytes are for a matrix of all, if that holds them, and else all for rows.
    pub(crate) fn visit<W: OverRows>(&self, memory_bytes: usize, work: W) -> Result<W::Output, KernelError> {
        let n = self.instances.ncols();
        let matrix_bytes = n.saturating_mul(n).saturating_mul(size_of::<f64>());
        if matrix_bytes <= memory_bytes / 2 {
            let gram: Gram = gram(&self.kernel, self.instances)?;
            return Ok(work.over(&gram, memory_bytes - matrix_bytes));
        }
        let rows = GramRows::new(&self.kernel, self.instances)?;
        Ok(work.over(&rows, memory_bytes))
    }
}

/// What tolerances cannot be below: sums of kernel values of magnitude 1 are rounded.
const LEAST_TOLERANCE: f64 = 1e-13;

/// The tolerance as a part of the largest squared distance from the first point, for kernel values of magnitude 1.
///
/// Neither problem of PMI knows where the origin of feature space is, since multipliers and the weights of each bag add up to 1: a constant added to all kernel values adds one to the objective. Points that are close
/// together and far from the origin, as under a wide Gaussian, are thus told apart as well as others.
pub(crate) fn tolerance_between<K: KernelRows>(rows: &K, tolerance: f64) -> Result<f64, RowError> {
    let squares = rows.diagonal_values()?;
    let mut products = vec![0.0; squares.len()];
    rows.fill_rows(&[0], &rows.prepare(&(0..squares.len()).collect::<Vec<_>>()), &mut [&mut products])?;
    let distances = squares.iter().zip(&products).map(|(square, product)| square - 2.0 * product + squares[0]);
    Ok((tolerance * distances.fold(0.0, f64::max).min(1.0)).max(LEAST_TOLERANCE))
}
