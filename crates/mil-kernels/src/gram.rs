//! Gram matrices, whole or between two sets of instances.
//!
//! One block of [`BLOCK`] × [`BLOCK`] pairs at a time, tile by tile: the inner products, the kernel's own function on the sums just
//! computed, then one store to their place and, in the symmetric case, one to the mirrored place. Blocks are spread over threads;
//! which thread computes a block changes nothing about its values.

use std::ops::Range;

use nalgebra::{DMatrix, DMatrixView};
use pulp::Simd;
use rayon::prelude::*;

use crate::form::{Form, Pairs};
use crate::tile::{
    HEIGHT, Side, Sink, Tile, WIDTH, centre_for, require_finite, require_non_negative, transpose, visit,
};
use crate::{Gram, Kernel, KernelError};

/// Instances on a side of a block: eight panels of one side, twenty-four of the other. The packed sides of a block of 166 features
/// take 0.5 MB, which second-level caches hold.
pub(crate) const BLOCK: usize = 192;

/// The matrix of $k(x_i, x_j)$ over the instances, one per column. Symmetric to the bit; on its diagonal a Gaussian is exactly 1.
///
/// Cost: $\tfrac12 n^2 d$ multiplications with additions and $\tfrac12 n^2$ evaluations of the kernel's function.
///
/// # Errors
/// If the kernel is out of range, does not suit the instances, a value overflows, or there is no memory for the matrix.
pub fn gram<'a>(kernel: &Kernel, instances: impl Into<DMatrixView<'a, f64>>) -> Result<Gram, KernelError> {
    let mut gram = Gram::new();
    gram_into(kernel, instances, &mut gram)?;
    Ok(gram)
}

/// [`gram`] into a matrix whose memory is used again where it has the right size.
///
/// Fresh memory costs time, with small pages as much as half the arithmetic; a search over kernels on the same instances does well to
/// keep one matrix. After an error its content means nothing.
///
/// # Errors
/// As for [`gram`].
pub fn gram_into<'a>(
    kernel: &Kernel,
    instances: impl Into<DMatrixView<'a, f64>>,
    gram: &mut Gram,
) -> Result<(), KernelError> {
    let (form, instances) = (Form::of(kernel)?, instances.into());
    let n = instances.ncols();
    let (values, stride) = gram.prepare(n)?;
    let centre = centre_for(&form, instances);
    let side = Side::new(&form, instances, &centre)?;
    let mut pieces = split_into_blocks(values.chunks_mut(stride.max(1)).map(|column| &mut column[..n]), n);
    let n_blocks = n.div_ceil(BLOCK);
    let mut places = Vec::with_capacity(n_blocks * (n_blocks + 1) / 2);
    for column in 0..n_blocks {
        for row in column..n_blocks {
            let direct = std::mem::take(&mut pieces[column * n_blocks + row]);
            let mirror = if row == column {
                Mirror::Here
            } else {
                Mirror::There(std::mem::take(&mut pieces[row * n_blocks + column]))
            };
            places.push(Place::new(row, column, direct, mirror));
        }
    }
    fill(Pairs::new(&form, &side, &side), places)
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
    require_finite(instances)?;
    if form.uses_minima() {
        require_non_negative(instances)?;
    }
    // A function of the distance alone has the same value everywhere.
    let varies = form.uses_products() || form.uses_minima();
    let value_at = |(idx, instance): (usize, nalgebra::DVectorView<'_, f64>)| {
        let (norm, sum) = if varies { (instance.norm_squared(), instance.sum()) } else { (0.0, 0.0) };
        let value = kernel.value_with_itself(norm, sum);
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
    left: &Side<'_>,
    right: DMatrixView<'_, f64>,
    centre: &[f64],
) -> Result<DMatrix<f64>, KernelError> {
    let right = Side::new(form, right, centre)?;
    let (n_left, n_right) = (left.len(), right.len());
    let mut values = vec![0.0; n_left * n_right];
    let mut columns: Vec<&mut [f64]> = values.chunks_mut(n_left.max(1)).collect();
    fill_columns(Pairs::new(form, left, &right), &mut columns)?;
    Ok(DMatrix::from_vec(n_left, n_right, values))
}

/// Writes the values of all left instances with each right one to the column given for it.
pub(crate) fn fill_columns(pairs: Pairs<'_>, columns: &mut [&mut [f64]]) -> Result<(), KernelError> {
    let n_left = pairs.left.len();
    let n_block_rows = n_left.div_ceil(BLOCK).max(1);
    let places = split_into_blocks(columns.iter_mut().map(|column| &mut **column), n_left)
        .into_iter()
        .enumerate()
        .map(|(i, direct)| Place::new(i % n_block_rows, i / n_block_rows, direct, Mirror::Nowhere))
        .collect();
    fill(pairs, places)
}

/// Where the mirror image of a block goes.
enum Mirror<'a> {
    Nowhere,
    /// To the block itself, which lies on the diagonal: tiles above it are not computed.
    Here,
    /// To the pieces of the columns that it covers.
    There(Vec<&'a mut [f64]>),
}

/// Where a block goes: the pieces of the columns it covers, and its mirror image.
struct Place<'a> {
    row: usize,
    column: usize,
    direct: Vec<&'a mut [f64]>,
    mirror: Mirror<'a>,
    /// Sums of 0 times a value: not all 0 once a value is infinite or NaN.
    defect: [f64; HEIGHT],
}

impl<'a> Place<'a> {
    fn new(row: usize, column: usize, direct: Vec<&'a mut [f64]>, mirror: Mirror<'a>) -> Place<'a> {
        Place { row, column, direct, mirror, defect: [0.0; HEIGHT] }
    }

    /// Takes a tile at the edge of the matrix, whose last instances only fill it up.
    #[cold]
    #[inline(never)]
    fn take_edge(&mut self, left: usize, right: usize, tile: &Tile) {
        for (target, values) in self.direct[right..].iter_mut().zip(tile) {
            for ((target, value), defect) in target[left..].iter_mut().zip(values).zip(&mut self.defect) {
                *target = *value;
                *defect += 0.0 * value;
            }
        }
        for (r, target) in self.mirrored().iter_mut().skip(left).take(HEIGHT).enumerate() {
            target[right..].iter_mut().zip(tile).for_each(|(target, values)| *target = values[r]);
        }
    }

    /// The pieces of columns that the mirror image covers.
    #[inline(always)]
    fn mirrored(&mut self) -> &mut [&'a mut [f64]] {
        match &mut self.mirror {
            Mirror::Nowhere => &mut [],
            Mirror::Here => &mut self.direct,
            Mirror::There(columns) => columns,
        }
    }

    fn first_overflow(&self) -> KernelError {
        let mut pairs = self
            .direct
            .iter()
            .enumerate()
            .flat_map(|(c, column)| column.iter().enumerate().map(move |(r, &value)| (r, c, value)));
        let (r, c, value) = pairs.find(|(_, _, value)| !value.is_finite()).expect("some value is not finite");
        let (left_idx, right_idx) = (self.row * BLOCK + r, self.column * BLOCK + c);
        KernelError::Overflow { quantity: "kernel value", left_idx, right_idx, value }
    }
}

impl Sink for Place<'_> {
    #[inline(always)]
    fn wants(&self, left_panel: usize, right_panel: usize) -> bool {
        !matches!(self.mirror, Mirror::Here) || right_panel * WIDTH < (left_panel + 1) * HEIGHT
    }

    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, left_panel: usize, right_panel: usize, tile: &Tile) {
        let (left, right) = (left_panel * HEIGHT, right_panel * WIDTH);
        let columns = &mut self.direct[right..];
        let whole = columns.len() >= WIDTH && columns[0].len() >= left + HEIGHT;
        if !whole {
            return self.take_edge(left, right, tile);
        }
        let mut defect = self.defect;
        for (target, values) in columns.iter_mut().zip(tile) {
            target[left..left + HEIGHT].copy_from_slice(values);
            for (defect, value) in defect.iter_mut().zip(values) {
                *defect += 0.0 * value;
            }
        }
        self.defect = defect;
        let columns = self.mirrored();
        if !columns.is_empty() {
            let mut lines = [[0.0; WIDTH]; HEIGHT];
            transpose(simd, tile, &mut lines);
            for (target, line) in columns[left..left + HEIGHT].iter_mut().zip(&lines) {
                target[right..right + WIDTH].copy_from_slice(line);
            }
        }
    }
}

/// Computes all blocks; the error, if any, is that of the first block that has one.
fn fill(pairs: Pairs<'_>, places: Vec<Place<'_>>) -> Result<(), KernelError> {
    let errors: Vec<KernelError> = places
        .into_par_iter()
        .filter_map(|mut place| {
            let left_panels = panels_of::<HEIGHT>(place.row, pairs.left.len());
            let right_panels = panels_of::<WIDTH>(place.column, pairs.right.len());
            visit(pairs, left_panels, right_panels, &mut place);
            place.defect.iter().any(|defect| *defect != 0.0).then(|| place.first_overflow())
        })
        .collect();
    errors.into_iter().next().map_or(Ok(()), Err)
}

/// The panels of a block among `n` instances.
pub(crate) fn panels_of<const W: usize>(block_idx: usize, n: usize) -> Range<usize> {
    block_idx * (BLOCK / W)..((block_idx + 1) * BLOCK).min(n).div_ceil(W)
}

/// Columns cut into blocks, block column after block column, each block a list of pieces of columns.
fn split_into_blocks<'a>(columns: impl Iterator<Item = &'a mut [f64]>, n_rows: usize) -> Vec<Vec<&'a mut [f64]>> {
    let n_block_rows = n_rows.div_ceil(BLOCK);
    let mut blocks = Vec::new();
    for (c, column) in columns.enumerate() {
        if c % BLOCK == 0 {
            blocks.extend((0..n_block_rows).map(|_| Vec::with_capacity(BLOCK)));
        }
        let first = c / BLOCK * n_block_rows;
        blocks[first..].iter_mut().zip(column.chunks_mut(BLOCK)).for_each(|(block, piece)| block.push(piece));
    }
    blocks
}
