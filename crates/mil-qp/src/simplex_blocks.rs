//! The least value of a quadratic form over a product of simplices.
//!
//! $$ \min_\lambda\ \tfrac12\lambda^\top M\lambda \quad\text{subject to}\quad \lambda\ge0,\quad \sum_{i\in B}\lambda_i = 1\ \text{for every block } B, $$
//!
//! with $M$ symmetric and positive semidefinite, known by its rows. PMI (eq. 9, corrected) mixes the instances of each of its $N$ bags to one virtual instance $b_B=\sum_{i\in B}\lambda_i\phi(x_i)$ so that these are
//! as alike as can be: $\sum_B\lVert b_B-\bar b\rVert^2=\lambda^\top M\lambda$ with $M=\operatorname{blockdiag}(K_{BB})-K/N$, which is [`BlockVariance`].
//! Objectives here carry the factor $\tfrac12$: the variance is twice the objective.
//!
//! Deviation: eq. 9 as printed collapses to $(1-1/N)K$, which would select instances that are unlike each other; the left $Z_i$ was dropped in print.
//!
//! Weight moves inside blocks, from one instance to another, and by Newton steps over faces where the kernel is wide (see [`GroupSettings`]). Memory: a few numbers for each
//! instance and the rows that the settings allow. Cost: rows as there are positive weights, and $n$ for each row in each round.
//!
//! ```
//! use mil_qp::{GroupSettings, SimplexBlocks};
//! use nalgebra::DMatrix;
//!
//! let identity = DMatrix::identity(4, 4);
//! let solution = SimplexBlocks::new(&identity, vec![4])?.solve(&GroupSettings::default())?.solved().expect("solvable");
//! assert!(solution.primal.iter().all(|weight| (weight - 0.25).abs() < 1e-7));
//! # Ok::<(), mil_qp::ProblemError>(())
//! ```

use std::borrow::Cow;

use mil_core::{KernelRows, RowError};

use crate::certificate::require_length;
use crate::error::require_finite;
use crate::svm_dual::kernel_product;
use crate::transfer::{Weights, descend};
use crate::{Certificate, GroupSettings, Outcome, Problem, ProblemError};

/// A quadratic form over a product of simplices.
///
/// As a [`Problem`] its $P$ is $M$, so that objectives are $\tfrac12\lambda^\top M\lambda$; its rows are the bounds $\lambda_i\ge0$, in order, then the sums of
/// the blocks.
#[derive(Debug, Clone)]
pub struct SimplexBlocks<'a, K> {
    matrix: &'a K,
    sizes: Vec<usize>,
    block_of: Vec<usize>,
}

impl<'a, K: KernelRows> SimplexBlocks<'a, K> {
    /// The form of a matrix over contiguous blocks of the given sizes.
    ///
    /// # Errors
    /// If there is no variable, a block is empty, or the sizes do not add up to the order of the matrix.
    pub fn new(matrix: &'a K, sizes: Vec<usize>) -> Result<SimplexBlocks<'a, K>, ProblemError> {
        let block_of = blocks_of(matrix.order(), &sizes)?;
        Ok(SimplexBlocks { matrix, sizes, block_of })
    }

    /// Solves from the first instance of each block.
    ///
    /// # Errors
    /// If a setting is out of range, a row cannot be computed or is not finite, or the matrix shows negative curvature.
    pub fn solve(&self, settings: &GroupSettings) -> Result<Outcome, ProblemError> {
        self.solve_from(&vec![0.0; self.block_of.len()], settings)
    }

    /// Solves from given weights: those below 0 become 0, and each block is scaled to a sum of 1, or starts at its first instance if nothing is left.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve); and if the start has a wrong length or a number that is not finite.
    pub fn solve_from(&self, start: &[f64], settings: &GroupSettings) -> Result<Outcome, ProblemError> {
        let n = self.block_of.len();
        require_length("the start", n, start.len())?;
        require_finite("start", start)?;
        let mut values = start.to_vec();
        let mut rest = values.as_mut_slice();
        for &size in &self.sizes {
            let (block, others) = rest.split_at_mut(size);
            scale_to_one(block);
            rest = others;
        }
        let weights = Weights {
            signs: vec![1.0; n],
            group_of: self.block_of.clone(),
            values,
            room: vec![0.0; self.sizes.len()],
            gradient: Vec::new(),
        };
        descend(self.matrix, &vec![0.0; n], weights, None, settings, |weights| self.judge(weights))
    }

    /// Multipliers that meet stationarity: of a block's sum, the one that takes the lowest gradient to 0; of the bounds, what then remains.
    fn judge(&self, weights: &Weights) -> (Vec<f64>, Certificate) {
        let mut lowest = vec![f64::INFINITY; self.sizes.len()];
        for (&gradient, &block) in weights.gradient.iter().zip(&self.block_of) {
            lowest[block] = lowest[block].min(gradient);
        }
        let bounds = weights.gradient.iter().zip(&self.block_of).map(|(gradient, &block)| lowest[block] - gradient);
        let dual: Vec<f64> = bounds.chain(lowest.iter().map(|lowest| -lowest)).collect();
        let certificate = Certificate::of(self, &weights.values, &dual, &weights.gradient);
        (dual, certificate)
    }
}

impl<K: KernelRows> Problem for SimplexBlocks<'_, K> {
    fn n_variables(&self) -> usize {
        self.block_of.len()
    }

    fn n_rows(&self) -> usize {
        self.block_of.len() + self.sizes.len()
    }

    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
        kernel_product(self.matrix, x)
    }

    fn linear_term(&self) -> Cow<'_, [f64]> {
        Cow::Owned(vec![0.0; self.block_of.len()])
    }

    fn rows_product(&self, x: &[f64]) -> Vec<f64> {
        let mut rows = x.to_vec();
        rows.resize(self.n_rows(), 0.0);
        let (_, sums) = rows.split_at_mut(x.len());
        x.iter().zip(&self.block_of).for_each(|(value, &block)| sums[block] += value);
        rows
    }

    fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
        let (bounds, sums) = y.split_at(self.block_of.len());
        bounds.iter().zip(&self.block_of).map(|(multiplier, &block)| multiplier + sums[block]).collect()
    }

    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        let n = self.block_of.len();
        let bounds = |bound: f64| {
            let mut bounds = vec![bound; n];
            bounds.resize(self.n_rows(), 1.0);
            bounds
        };
        (Cow::Owned(bounds(0.0)), Cow::Owned(bounds(f64::INFINITY)))
    }
}

/// Makes a block of weights sum to 1.
fn scale_to_one(block: &mut [f64]) {
    block.iter_mut().for_each(|value| *value = value.max(0.0));
    // By the largest first, so that the sum stays finite.
    let largest = block.iter().fold(0.0_f64, |largest, &value| largest.max(value));
    if largest > 0.0 {
        block.iter_mut().for_each(|value| *value /= largest);
        let sum: f64 = block.iter().sum();
        block.iter_mut().for_each(|value| *value /= sum);
    } else {
        block[0] = 1.0;
    }
}

/// The block of each position, for contiguous blocks.
fn blocks_of(n: usize, sizes: &[usize]) -> Result<Vec<usize>, ProblemError> {
    if n == 0 {
        return Err(ProblemError::Empty("variables"));
    }
    if let Some(idx) = sizes.iter().position(|&size| size == 0) {
        return Err(ProblemError::Value { what: "size of block", idx, value: 0.0, expected: "at least 1" });
    }
    // Sizes may overflow when added up; what exceeds n is wrong anyway.
    let total = sizes.iter().fold(0_usize, |total, &size| total.saturating_add(size));
    require_length("the instances in all blocks", n, total)?;
    Ok(sizes.iter().enumerate().flat_map(|(block, &size)| std::iter::repeat_n(block, size)).collect())
}

/// The matrix $M=\operatorname{blockdiag}(K_{BB})-K/N$ over $N$ contiguous blocks, made of the rows of $K$ as they are asked for:
/// $M_{ij}=K_{ij}([i,j\text{ in one block}]-1/N)$. Then $\lambda^\top M\lambda$ is the variance, summed over blocks, of $\sum_{i\in B}\lambda_i\phi(x_i)$.
///
/// ```
/// use mil_qp::{BlockVariance, GroupSettings, SimplexBlocks};
/// use nalgebra::DMatrix;
///
/// // Bags {0, 5} and {1, 9} on the line can mix to the same point, any in [1, 5]: no variance is left.
/// let points = [0.0, 5.0, 1.0, 9.0];
/// let gram = DMatrix::from_fn(4, 4, |i, j| points[i] * points[j]);
/// let variance = BlockVariance::new(&gram, &[2, 2])?;
/// let problem = SimplexBlocks::new(&variance, vec![2, 2])?;
/// let solution = problem.solve(&GroupSettings::default())?.solved().expect("solvable");
/// assert!(solution.certificate.primal_objective < 1e-8);
/// # Ok::<(), mil_qp::ProblemError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BlockVariance<'a, K> {
    kernel: &'a K,
    block_of: Vec<usize>,
    /// $1/N$.
    share: f64,
}

impl<'a, K: KernelRows> BlockVariance<'a, K> {
    /// Over a kernel and the sizes of its blocks.
    ///
    /// # Errors
    /// If there is no instance, a block is empty, or the sizes do not add up to the order of the kernel.
    pub fn new(kernel: &'a K, sizes: &[usize]) -> Result<BlockVariance<'a, K>, ProblemError> {
        let block_of = blocks_of(kernel.order(), sizes)?;
        Ok(BlockVariance { kernel, block_of, share: 1.0 / sizes.len() as f64 })
    }
}

impl<K: KernelRows> KernelRows for BlockVariance<'_, K> {
    /// What the kernel prepares, and the block of each position.
    type Prepared = (K::Prepared, Vec<usize>);

    fn order(&self) -> usize {
        self.block_of.len()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        let mut diagonal = self.kernel.diagonal_values()?;
        diagonal.iter_mut().for_each(|value| *value *= 1.0 - self.share);
        Ok(diagonal)
    }

    fn prepare(&self, idxs: &[usize]) -> Self::Prepared {
        (self.kernel.prepare(idxs), idxs.iter().map(|&idx| self.block_of[idx]).collect())
    }

    fn fill(&self, rows: &Self::Prepared, columns: &Self::Prepared, places: &mut [&mut [f64]]) -> Result<(), RowError> {
        let ((rows, row_blocks), (columns, column_blocks)) = (rows, columns);
        self.kernel.fill(rows, columns, places)?;
        for (own, place) in row_blocks.iter().zip(places) {
            for (value, block) in place.iter_mut().zip(column_blocks) {
                *value *= if block == own { 1.0 - self.share } else { -self.share };
            }
        }
        Ok(())
    }
}
