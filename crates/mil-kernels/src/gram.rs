//! Gram matrices.

use nalgebra::{DMatrix, DMatrixView};
use rayon::prelude::*;

use crate::form::{Form, Pairs};
use crate::tile::{Block, HEIGHT, Side, WIDTH, centre_for};
use crate::{Kernel, KernelError};

/// Instances on a side of a block: eight panels of one side, twenty-four of the other.
pub(crate) const BLOCK: usize = 192;

/// The matrix of $k(x_i, x_j)$ over the columns of a matrix.
///
/// # Errors
/// If the kernel is out of range, does not suit the instances, or a value overflows.
pub fn gram<'a>(kernel: &Kernel, instances: impl Into<DMatrixView<'a, f64>>) -> Result<DMatrix<f64>, KernelError> {
    let (form, instances) = (Form::of(kernel)?, instances.into());
    let centre = centre_for(&form, instances);
    let (left, right) = (Side::new(&form, instances, &centre)?, Side::new(&form, instances, &centre)?);
    let n = instances.ncols();
    let mut values = vec![0.0; n * n];
    let n_blocks = n.div_ceil(BLOCK);
    let mut blocks = split_into_blocks(&mut values, n);
    let mut tasks = Vec::with_capacity(n_blocks * (n_blocks + 1) / 2);
    for column in 0..n_blocks {
        for row in column..n_blocks {
            let direct = std::mem::take(&mut blocks[column * n_blocks + row]);
            let mirror = std::mem::take(&mut blocks[row * n_blocks + column]);
            tasks.push((row, column, direct, mirror));
        }
    }
    let pairs = Pairs { form: &form, left: &left, right: &right };
    let errors: Vec<KernelError> = tasks
        .into_par_iter()
        .map_init(Block::default, |block, (row, column, direct, mirror)| {
            block.fill(pairs, panels_of::<HEIGHT>(row, n), panels_of::<WIDTH>(column, n));
            write(block, row, column, direct)?;
            for (left, target) in mirror.into_iter().enumerate() {
                for (target, piece) in target.chunks_mut(WIDTH).zip(block.row(left)) {
                    target.copy_from_slice(&piece[..target.len()]);
                }
            }
            Ok(())
        })
        .filter_map(Result::err)
        .collect();
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(DMatrix::from_vec(n, n, values)),
    }
}

/// The panels of a block.
fn panels_of<const W: usize>(block_idx: usize, n: usize) -> std::ops::Range<usize> {
    block_idx * (BLOCK / W)..((block_idx + 1) * BLOCK).min(n).div_ceil(W)
}

/// Writes a block column by column, and refuses a value that is not finite.
fn write(block: &Block, row: usize, column: usize, target: Vec<&mut [f64]>) -> Result<(), KernelError> {
    for (c, target) in target.into_iter().enumerate() {
        for (target, piece) in target.chunks_mut(HEIGHT).zip(block.column(c)) {
            target.copy_from_slice(&piece[..target.len()]);
        }
        if !target.iter().fold(true, |finite, value| finite & value.is_finite()) {
            let at = target.iter().position(|value| !value.is_finite()).expect("one value is not finite");
            return Err(KernelError::Overflow {
                quantity: "kernel value",
                left_idx: row * BLOCK + at,
                right_idx: column * BLOCK + c,
                value: target[at],
            });
        }
    }
    Ok(())
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
