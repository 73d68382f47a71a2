//! The matrix of the second-order methods, $M = J + \sum_i\theta_i\tilde x_i\tilde x_i^\top$: built in tiles that stay in the registers, and factored.
//!
//! Only the lower triangle is computed. Features are taken in panels of [`HEIGHT`], points in blocks that fit the second-level cache; a tile of
//! [`HEIGHT`] × [`WIDTH`] entries is summed over a block before it is written. The same loop removes a factored panel from the rest of the matrix
//! in the Cholesky decomposition. Everything runs in one fixed order.

use pulp::{Arch, Simd, WithSimd};

/// Features in a panel: three vectors of eight.
const HEIGHT: usize = 24;
/// Columns of a tile.
const WIDTH: usize = 8;
/// Points in a block: a panel of them (24 KB) fits the first-level cache.
const DEPTH: usize = 128;
/// Part of a panel for each point.
type Lanes = [[f64; WIDTH]; HEIGHT / WIDTH];

/// A symmetric matrix by its lower triangle, filled up with zeros to whole panels.
#[derive(Debug, Clone)]
pub(super) struct NormalMatrix {
    order: usize,
    n_panels: usize,
    /// Column after column.
    values: Vec<f64>,
}

impl NormalMatrix {
    /// A diagonal matrix.
    pub(super) fn diagonal(diagonal: &[f64]) -> NormalMatrix {
        let n_panels = diagonal.len().div_ceil(HEIGHT);
        let stride = n_panels * HEIGHT;
        let mut values = vec![0.0; stride * stride];
        diagonal.iter().enumerate().for_each(|(idx, &value)| values[idx * (stride + 1)] = value);
        NormalMatrix { order: diagonal.len(), n_panels, values }
    }

    /// Adds $\theta\tilde x\tilde x^\top$ for each pair of a position and a weight, of either sign; `write` writes the point of a position.
    pub(super) fn add(&mut self, weights: &[(usize, f64)], mut write: impl FnMut(usize, &mut [f64])) {
        let mut block = Block::new(self.n_panels);
        let mut point = vec![0.0; self.order];
        for weights in weights.chunks(DEPTH) {
            block.n_points = weights.len();
            for (place, &(idx, weight)) in weights.iter().enumerate() {
                write(idx, &mut point);
                block.put(place, 0, &point, weight);
            }
            Arch::new().dispatch(AddBlock { matrix: self, block: &block, first_panel: 0 });
        }
    }

    /// The decomposition $M = LL^\top$, panel by panel. `floors` are lower bounds of the squared pivots, known from the problem; rounding may have
    /// taken a pivot below its own, even below 0.
    pub(super) fn cholesky(mut self, floors: &[f64]) -> Cholesky {
        let stride = self.n_panels * HEIGHT;
        let mut block = Block::new(self.n_panels);
        for panel in 0..self.n_panels {
            let columns = panel * HEIGHT..((panel + 1) * HEIGHT).min(self.order);
            for j in columns.clone() {
                let (before, from_j) = self.values.split_at_mut(j * stride);
                let column = &mut from_j[..self.order];
                for k in columns.start..j {
                    let earlier = &before[k * stride..][..self.order];
                    let factor = earlier[j];
                    column[j..].iter_mut().zip(&earlier[j..]).for_each(|(value, l)| *value -= factor * l);
                }
                let pivot = column[j].max(floors[j]).sqrt();
                column[j] = pivot;
                column[j + 1..].iter_mut().for_each(|value| *value /= pivot);
            }
            // The rest of the matrix loses what these columns explain: M -= L L'.
            let first = (panel + 1) * HEIGHT;
            if first < self.order {
                block.n_points = columns.len();
                for (place, j) in columns.enumerate() {
                    block.put(place, panel + 1, &self.values[j * stride + first..][..self.order - first], -1.0);
                }
                Arch::new().dispatch(AddBlock { matrix: &mut self, block: &block, first_panel: panel + 1 });
            }
        }
        Cholesky(self)
    }
}

/// A decomposition $M = LL^\top$.
pub(super) struct Cholesky(NormalMatrix);

impl Cholesky {
    /// $M^{-1}v$, in place.
    pub(super) fn solve(&self, vector: &mut [f64]) {
        let n = self.0.order;
        let column = |j: usize| &self.0.values[j * self.0.n_panels * HEIGHT..][j..n];
        for j in 0..n {
            let column = column(j);
            let value = vector[j] / column[0];
            vector[j] = value;
            vector[j + 1..].iter_mut().zip(&column[1..]).for_each(|(v, l)| *v -= value * l);
        }
        for j in (0..n).rev() {
            let column = column(j);
            let (head, tail) = vector.split_at_mut(j + 1);
            let known: f64 = column[1..].iter().zip(tail.iter()).map(|(l, v)| l * v).sum();
            head[j] = (head[j] - known) / column[0];
        }
    }
}

/// Points of a block, panel after panel, each point after point.
struct Block {
    n_points: usize,
    left: Vec<Lanes>,
    /// The same, times the weights.
    right: Vec<Lanes>,
}

impl Block {
    fn new(n_panels: usize) -> Block {
        let empty = vec![Lanes::default(); n_panels * DEPTH];
        Block { n_points: 0, left: empty.clone(), right: empty }
    }

    /// Puts a vector that begins with a panel's first feature; the last panel keeps its zeros at the end.
    fn put(&mut self, place: usize, first_panel: usize, vector: &[f64], weight: f64) {
        for (panel, part) in vector.chunks(HEIGHT).enumerate() {
            let at = (first_panel + panel) * DEPTH + place;
            self.left[at].as_flattened_mut()[..part.len()].copy_from_slice(part);
            for (scaled, value) in self.right[at].as_flattened_mut().iter_mut().zip(part) {
                *scaled = weight * value;
            }
        }
    }
}

struct AddBlock<'a> {
    matrix: &'a mut NormalMatrix,
    block: &'a Block,
    first_panel: usize,
}

impl WithSimd for AddBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AddBlock { matrix, block, first_panel } = self;
        let stride = matrix.n_panels * HEIGHT;
        for panel in first_panel..matrix.n_panels {
            let left = &block.left[panel * DEPTH..][..block.n_points];
            for group in first_panel * (HEIGHT / WIDTH)..(panel + 1) * (HEIGHT / WIDTH) {
                let (of_panel, third) = (group / (HEIGHT / WIDTH), group % (HEIGHT / WIDTH));
                let right = &block.right[of_panel * DEPTH..][..block.n_points];
                let tile = &mut matrix.values[group * WIDTH * stride..][..WIDTH * stride];
                add_tile(simd, left, right, third, tile, stride, panel * HEIGHT);
            }
        }
    }
}

/// Adds a tile, in pieces whose sums fit the registers of the instruction set.
#[inline(always)]
fn add_tile<S: Simd>(
    simd: S,
    left: &[Lanes],
    right: &[Lanes],
    third: usize,
    tile: &mut [f64],
    stride: usize,
    row: usize,
) {
    match S::F64_LANES {
        8 => add_pieces::<S, 3, 8>(simd, left, right, third, tile, stride, row),
        2 => add_pieces::<S, 6, 4>(simd, left, right, third, tile, stride, row),
        _ => add_pieces::<S, 3, 4>(simd, left, right, third, tile, stride, row),
    }
}

/// Pieces of `V` vectors by `C` columns.
#[inline(always)]
fn add_pieces<S: Simd, const V: usize, const C: usize>(
    simd: S,
    left: &[Lanes],
    right: &[Lanes],
    third: usize,
    tile: &mut [f64],
    stride: usize,
    row: usize,
) {
    for v0 in (0..HEIGHT / S::F64_LANES).step_by(V) {
        for c0 in (0..WIDTH).step_by(C) {
            let mut sums = [[simd.splat_f64s(0.0); V]; C];
            for (x, z) in left.iter().zip(right) {
                let (x, z) = (S::as_simd_f64s(x.as_flattened()).0, &z[third]);
                for c in 0..C {
                    let z = simd.splat_f64s(z[c0 + c]);
                    for v in 0..V {
                        sums[c][v] = simd.mul_add_e_f64s(x[v0 + v], z, sums[c][v]);
                    }
                }
            }
            for c in 0..C {
                let rows = &mut tile[(c0 + c) * stride + row..][..HEIGHT];
                let target = S::as_mut_simd_f64s(rows).0;
                for v in 0..V {
                    target[v0 + v] = simd.add_f64s(target[v0 + v], sums[c][v]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// Numbers that look random.
    fn numbers(n: usize) -> Vec<f64> {
        (0..n).map(|idx| ((idx * 7919 + 13) % 1009) as f64 / 504.5 - 1.0).collect()
    }

    #[test]
    fn the_factored_matrix_solves_what_the_matrix_in_full_defines() {
        for (order, n_points) in [(1, 1), (7, 3), (24, 200), (25, 129), (60, 300)] {
            let points = DMatrix::from_vec(order, n_points, numbers(order * n_points));
            let weights: Vec<(usize, f64)> = numbers(n_points).iter().map(|w| w + 1.5).enumerate().collect();
            let mut matrix = NormalMatrix::diagonal(&vec![1.0; order]);
            matrix.add(&weights, |idx, target| target.copy_from_slice(points.column(idx).as_slice()));
            let mut full = DMatrix::<f64>::identity(order, order);
            for &(idx, weight) in &weights {
                full += weight * points.column(idx) * points.column(idx).transpose();
            }
            let right = DVector::from_vec(numbers(order));
            let mut solution = right.as_slice().to_vec();
            matrix.cholesky(&vec![1.0; order]).solve(&mut solution);
            let residual = (&full * DVector::from_vec(solution) - &right).amax();
            assert!(residual <= 1e-10, "order {order}: residual {residual}");
        }
    }

    #[test]
    fn a_point_added_and_taken_away_leaves_the_matrix() {
        let mut matrix = NormalMatrix::diagonal(&[1.0; 30]);
        let before = matrix.values.clone();
        matrix.add(&[(0, 2.0), (0, -2.0)], |_, target| target.copy_from_slice(&numbers(30)));
        let change =
            matrix.values.iter().zip(&before).map(|(after, before)| (after - before).abs()).fold(0.0, f64::max);
        assert!(change <= 1e-14, "an entry changed by {change}");
    }
}
