//! Gram matrices, whole or between two sets of instances.
//!
//! One block of [`BLOCK`] × [`BLOCK`] pairs at a time: the inner products, the kernel's own function while the block is in the
//! cache, then one copy to its place and, in the symmetric case, one to the mirrored place. Blocks are spread over threads; which
//! thread computes a block changes nothing about its values.

use std::ops::Range;

use nalgebra::{DMatrix, DMatrixView};
use rayon::prelude::*;

use crate::form::{Form, Pairs};
use crate::tile::{Block, HEIGHT, Side, WIDTH, centre_for, require_non_negative};
use crate::{Kernel, KernelError};

/// Instances on a side of a block: eight panels of one side, twenty-four of the other. The packed sides and the values of a block
/// of 166 features take 0.8 MB, which second-level caches hold.
pub(crate) const BLOCK: usize = 192;

/// The matrix of $k(x_i, x_j)$ over the instances, one per column. Symmetric to the bit; on its diagonal a Gaussian is exactly 1.
///
/// Cost: $\tfrac12 n^2 d$ multiplications with additions and $\tfrac12 n^2$ evaluations of the kernel's function.
///
/// # Errors
/// If the kernel is out of range, does not suit the instances, or a value overflows.
pub fn gram<'a>(kernel: &Kernel, instances: impl Into<DMatrixView<'a, f64>>) -> Result<DMatrix<f64>, KernelError> {
    let mut gram = DMatrix::zeros(0, 0);
    gram_into(kernel, instances, &mut gram)?;
    Ok(gram)
}

/// [`gram`] into a matrix whose memory is used again where it has the right shape.
///
/// Fresh memory can cost as much as the arithmetic does, since the system hands it out page by page; a search over kernels on the
/// same instances does well to keep one matrix. After an error its content means nothing.
///
/// # Errors
/// As for [`gram`].
pub fn gram_into<'a>(
    kernel: &Kernel,
    instances: impl Into<DMatrixView<'a, f64>>,
    gram: &mut DMatrix<f64>,
) -> Result<(), KernelError> {
    let (form, instances) = (Form::of(kernel)?, instances.into());
    let centre = centre_for(&form, instances);
    let (left, right) = (Side::new(&form, instances, &centre)?, Side::new(&form, instances, &centre)?);
    let n = instances.ncols();
    if gram.shape() != (n, n) {
        // Zeroed memory comes from the system untouched.
        *gram = DMatrix::from_vec(n, n, vec![0.0; n * n]);
    }
    let mut pieces = split_into_blocks(gram.as_mut_slice(), n);
    let n_blocks = n.div_ceil(BLOCK);
    let mut places = Vec::with_capacity(n_blocks * (n_blocks + 1) / 2);
    for column in 0..n_blocks {
        for row in column..n_blocks {
            let direct = std::mem::take(&mut pieces[column * n_blocks + row]);
            let mirror = std::mem::take(&mut pieces[row * n_blocks + column]);
            places.push(Place { row, column, direct, mirror });
        }
    }
    fill(Pairs { form: &form, left: &left, right: &right }, places)
}

/// The matrix of $k(x_i, z_j)$, a row for each left instance and a column for each right one.
///
/// # Errors
/// As for [`gram`], and if the two sets differ in dimension.
pub fn cross_gram<'a, 'b>(
    kernel: &Kernel,
    left: impl Into<DMatrixView<'a, f64>>,
    right: impl Into<DMatrixView<'b, f64>>,
) -> Result<DMatrix<f64>, KernelError> {
    let (form, left, right) = (Form::of(kernel)?, left.into(), right.into());
    let centre = centre_for(&form, left);
    let left = Side::new(&form, left, &centre)?;
    between(&form, &left, right, &centre)
}

/// The values $k(x_i, x_i)$; up to rounding, the diagonal of [`gram`].
///
/// # Errors
/// As for [`gram`].
pub fn diagonal<'a>(kernel: &Kernel, instances: impl Into<DMatrixView<'a, f64>>) -> Result<Vec<f64>, KernelError> {
    let (form, instances) = (Form::of(kernel)?, instances.into());
    if form.uses_minima() {
        require_non_negative(instances)?;
    }
    let value_at = |(idx, instance): (usize, nalgebra::DVectorView<'_, f64>)| {
        let value = kernel.value_with_itself(instance.norm_squared(), instance.sum());
        if !value.is_finite() {
            return Err(KernelError::Overflow { quantity: "kernel value", left_idx: idx, right_idx: idx, value });
        }
        Ok(value)
    };
    instances.column_iter().enumerate().map(value_at).collect()
}

/// The matrix between a packed left side and right instances.
pub(crate) fn between(
    form: &Form,
    left: &Side<'_, HEIGHT>,
    right: DMatrixView<'_, f64>,
    centre: &[f64],
) -> Result<DMatrix<f64>, KernelError> {
    let right = Side::new(form, right, centre)?;
    let (n_left, n_right) = (left.instances.ncols(), right.instances.ncols());
    let mut values = vec![0.0; n_left * n_right];
    let n_block_rows = n_left.div_ceil(BLOCK).max(1);
    let places = split_into_blocks(&mut values, n_left)
        .into_iter()
        .enumerate()
        .map(|(i, direct)| Place { row: i % n_block_rows, column: i / n_block_rows, direct, mirror: Vec::new() })
        .collect();
    fill(Pairs { form, left, right: &right }, places)?;
    Ok(DMatrix::from_vec(n_left, n_right, values))
}

/// Where a block goes: the pieces of the columns it covers, and of those its mirror image covers.
struct Place<'a> {
    row: usize,
    column: usize,
    direct: Vec<&'a mut [f64]>,
    mirror: Vec<&'a mut [f64]>,
}

/// Computes all blocks; the error, if any, is that of the first block that has one.
fn fill(pairs: Pairs<'_>, places: Vec<Place<'_>>) -> Result<(), KernelError> {
    let errors: Vec<KernelError> = places
        .into_par_iter()
        .map_init(Block::default, |block, place| {
            let left_panels = panels_of::<HEIGHT>(place.row, pairs.left.instances.ncols());
            let right_panels = panels_of::<WIDTH>(place.column, pairs.right.instances.ncols());
            block.fill(pairs, left_panels, right_panels);
            for (c, target) in place.direct.into_iter().enumerate() {
                copy_pieces(block.column(c).copied(), target);
                require_finite(target, place.row * BLOCK, place.column * BLOCK + c)?;
            }
            for (r, target) in place.mirror.into_iter().enumerate() {
                copy_pieces(block.row(r), target);
            }
            Ok(())
        })
        .filter_map(Result::err)
        .collect();
    errors.into_iter().next().map_or(Ok(()), Err)
}

/// The panels of a block among `n` instances.
pub(crate) fn panels_of<const W: usize>(block_idx: usize, n: usize) -> Range<usize> {
    block_idx * (BLOCK / W)..((block_idx + 1) * BLOCK).min(n).div_ceil(W)
}

fn require_finite(values: &[f64], first_left: usize, right_idx: usize) -> Result<(), KernelError> {
    // Without an early exit the compiler can compare many values at once.
    if values.iter().fold(true, |finite, value| finite & value.is_finite()) {
        return Ok(());
    }
    let at = values.iter().position(|value| !value.is_finite()).expect("some value is not finite");
    Err(KernelError::Overflow { quantity: "kernel value", left_idx: first_left + at, right_idx, value: values[at] })
}

/// Copies pieces one after the other, cutting off what the target has no room for.
#[inline]
pub(crate) fn copy_pieces<const W: usize>(mut pieces: impl Iterator<Item = [f64; W]>, target: &mut [f64]) {
    let (whole, rest) = target.as_chunks_mut::<W>();
    for (target, piece) in whole.iter_mut().zip(&mut pieces) {
        *target = piece;
    }
    if let Some(piece) = pieces.next() {
        rest.copy_from_slice(&piece[..rest.len()]);
    }
}

/// The columns of a matrix cut into blocks, block column after block column, each block a list of pieces of columns.
fn split_into_blocks(values: &mut [f64], n_rows: usize) -> Vec<Vec<&mut [f64]>> {
    let n_block_rows = n_rows.div_ceil(BLOCK);
    let n_columns = values.len().checked_div(n_rows).unwrap_or(0);
    let mut blocks: Vec<_> = (0..n_block_rows * n_columns.div_ceil(BLOCK)).map(|_| Vec::with_capacity(BLOCK)).collect();
    for (c, column) in values.chunks_mut(n_rows.max(1)).enumerate() {
        for (row, piece) in column.chunks_mut(BLOCK).enumerate() {
            blocks[c / BLOCK * n_block_rows + row].push(piece);
        }
    }
    blocks
}
