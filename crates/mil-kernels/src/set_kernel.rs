//! Kernels between whole bags.
//!
//! Gärtner, Flach, Kowalczyk & Smola, *Multi-Instance Kernels*, ICML 2002: a bag is compared with a bag either through all pairs of
//! their instances or through a statistic of each.

use mil_core::{Bag, BagLabel, BagSet};
use nalgebra::{DMatrix, DMatrixView, DVector};
use pulp::Simd;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::form::{Form, Pairs};
use crate::gram::{BLOCK, cross_gram, diagonal, gram, panels_of};
use crate::tile::{HEIGHT, Side, Sink, Tile, WIDTH, centre_for, visit};
use crate::{Kernel, KernelError};

/// A kernel $K(B, B')$ on bags.
///
/// ```
/// use mil_core::BagSet;
/// use mil_kernels::{BagScale, Kernel, SetKernel};
/// let mut builder = BagSet::<()>::builder();
/// builder.bag("a", (), [[1.0], [3.0]])?;
/// builder.bag("b", (), [[5.0]])?;
/// let bags = builder.build()?;
/// let kernel = SetKernel::Instances { kernel: Kernel::Linear, scale: BagScale::Mean };
/// assert_eq!(kernel.gram(&bags)?[(0, 1)], 10.0); // the mean of 1 · 5 and 3 · 5
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum SetKernel {
    /// The normalised set kernel, $\sum_{x\in B}\sum_{z\in B'} k(x,z)$ over a scale.
    Instances {
        /// The kernel $k$ on instances.
        kernel: Kernel,
        /// What the sum is divided by.
        scale: BagScale,
    },
    /// The statistic kernel $k(s(B), s(B'))$ with the minimax statistic of [`min_max`].
    MinMax {
        /// The kernel $k$ on statistics, vectors of twice as many features.
        kernel: Kernel,
    },
}

/// What keeps a sum over pairs of instances from growing with the bags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BagScale {
    /// The number of pairs, $|B||B'|$.
    Mean,
    /// The lengths in feature space, $\sqrt{K(B,B)\,K(B',B')}$ of the plain sums. Choice: 0 where one of them is 0, or so small beside
    /// $\bigl(\sum_{x\in B}\sqrt{k(x,x)}\bigr)^2$ that it is rounding alone: such a bag has no direction.
    FeatureSpace,
}

impl SetKernel {
    /// The matrix of $K(B_i, B_j)$ over the bags of a set. Its diagonal is not negative, and no entry is beyond
    /// $\sqrt{K(B_i,B_i)\,K(B_j,B_j)}$ by more than a rounding, however much the instances of a bag cancel.
    ///
    /// Cost: every pair of instances once, a block at a time; the matrix over instances is never held.
    ///
    /// # Errors
    /// If the kernel is out of range, does not suit the instances, or a value overflows.
    pub fn gram<Y: BagLabel>(&self, bags: &BagSet<Y>) -> Result<DMatrix<f64>, KernelError> {
        match self {
            SetKernel::MinMax { kernel } => {
                Form::of(kernel)?.require_suitable(bags.instances())?;
                Ok(gram(kernel, &statistics(bags)).map_err(of_bags)?.to_matrix())
            }
            SetKernel::Instances { kernel, scale } => {
                let form = Form::of(kernel)?;
                let offsets = offsets_of(bags);
                let mut sums = pair_sums(&form, (bags.instances(), &offsets), (bags.instances(), &offsets), true)?;
                sums.fill_upper_triangle_with_lower_triangle();
                let lengths = match scale {
                    BagScale::Mean => sizes(&offsets),
                    BagScale::FeatureSpace => {
                        let length = |(bag_idx, bag)| {
                            length_of(kernel, bag, sums[(bag_idx, bag_idx)]).map_err(|error| of_bag(error, bag_idx))
                        };
                        bags.bags().enumerate().map(length).collect::<Result<_, _>>()?
                    }
                };
                divide(&mut sums, &lengths, &lengths);
                bound_by_diagonal(&mut sums);
                Ok(sums)
            }
        }
    }

    /// The matrix of $K(B_i, B'_j)$, a row for each left bag and a column for each right one.
    ///
    /// # Errors
    /// As for [`gram`](Self::gram), and if the two sets differ in dimension.
    pub fn cross_gram<Y: BagLabel, Z: BagLabel>(
        &self,
        left: &BagSet<Y>,
        right: &BagSet<Z>,
    ) -> Result<DMatrix<f64>, KernelError> {
        match self {
            SetKernel::MinMax { kernel } => {
                let form = Form::of(kernel)?;
                form.require_suitable(left.instances())?;
                form.require_suitable(right.instances())?;
                cross_gram(kernel, &statistics(left), &statistics(right)).map_err(of_bags)
            }
            SetKernel::Instances { kernel, scale } => {
                let form = Form::of(kernel)?;
                let (left_offsets, right_offsets) = (offsets_of(left), offsets_of(right));
                let mut sums =
                    pair_sums(&form, (left.instances(), &left_offsets), (right.instances(), &right_offsets), false)?;
                divide(&mut sums, &lengths(*scale, kernel, left)?, &lengths(*scale, kernel, right)?);
                Ok(sums)
            }
        }
    }
}

impl BagScale {
    /// What a bag adds to the divisor, so that $K(B,B') = S(B,B')/(\operatorname{len}B\,\operatorname{len}B')$ with the plain sums $S$ over
    /// pairs: $|B|$, or $\sqrt{S(B,B)}$, which is 0 where `FeatureSpace` says that the bag has no direction.
    ///
    /// # Errors
    /// As for [`SetKernel::gram`] of this bag alone.
    ///
    /// ```
    /// use mil_core::Bag;
    /// use mil_kernels::{BagScale, Kernel};
    /// let bag = Bag::new("a", 1, &[1.0, 3.0])?;
    /// assert_eq!(BagScale::Mean.length(&Kernel::Linear, bag)?, 2.0);
    /// assert_eq!(BagScale::FeatureSpace.length(&Kernel::Linear, bag)?, 4.0); // the root of 1 + 3 + 3 + 9
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn length(self, kernel: &Kernel, bag: Bag<'_>) -> Result<f64, KernelError> {
        match self {
            BagScale::Mean => Ok(bag.n_instances() as f64),
            BagScale::FeatureSpace => {
                let (instances, offsets) = (bag.matrix(), [0, bag.n_instances()]);
                let sums = pair_sums(&Form::of(kernel)?, (instances, &offsets), (instances, &offsets), true)?;
                length_of(kernel, bag, sums[(0, 0)])
            }
        }
    }
}

mil_core::choice!(BagScale { Mean = "mean", FeatureSpace = "feature-space" });

/// The minimax statistic $s(B)$ of a bag: the least value of each feature, then the greatest of each.
///
/// ```
/// use mil_core::Bag;
/// let bag = Bag::new("a", 2, &[1.0, 5.0, 3.0, 4.0])?; // two instances of two features
/// assert_eq!(mil_kernels::min_max(bag).as_slice(), [1.0, 4.0, 3.0, 5.0]);
/// # Ok::<(), mil_core::BagError>(())
/// ```
#[must_use]
pub fn min_max(bag: Bag<'_>) -> DVector<f64> {
    let matrix = bag.matrix();
    let (least, greatest) = (matrix.row_iter().map(|x| x.min()), matrix.row_iter().map(|x| x.max()));
    DVector::from_iterator(2 * bag.n_features(), least.chain(greatest))
}

/// $s(B)$ of every bag, one per column.
fn statistics<Y: BagLabel>(bags: &BagSet<Y>) -> DMatrix<f64> {
    DMatrix::from_columns(&bags.bags().map(min_max).collect::<Vec<_>>())
}

fn offsets_of<Y: BagLabel>(bags: &BagSet<Y>) -> Vec<usize> {
    (0..bags.n_bags()).map(|bag_idx| bags.columns_of(bag_idx).start).chain([bags.n_instances()]).collect()
}

fn sizes(offsets: &[usize]) -> Vec<f64> {
    offsets.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

/// The length of every bag by itself.
fn lengths<Y: BagLabel>(scale: BagScale, kernel: &Kernel, bags: &BagSet<Y>) -> Result<Vec<f64>, KernelError> {
    let length = |(bag_idx, bag)| scale.length(kernel, bag).map_err(|error| of_bag(error, bag_idx));
    bags.bags().enumerate().map(length).collect()
}

/// The length behind a sum over all pairs within a bag, 0 where the sum is rounding alone.
fn length_of(kernel: &Kernel, bag: Bag<'_>, sum: f64) -> Result<f64, KernelError> {
    let reach: f64 = diagonal(kernel, bag.matrix())?.iter().map(|value| value.max(0.0).sqrt()).sum();
    // Each of the sums over features and over instances rounds about once a term.
    let rounding = f64::EPSILON * (bag.n_instances() + bag.n_features()) as f64 * reach * reach;
    Ok(if sum > rounding { sum.sqrt() } else { 0.0 })
}

/// An error about statistics of bags, one per bag, as one about the bags.
fn of_bags(error: KernelError) -> KernelError {
    match error {
        KernelError::Overflow { left_idx, right_idx, value, .. } => {
            KernelError::BagOverflow { left_bag: left_idx, right_bag: right_idx, value }
        }
        KernelError::Dimension { left, right } => KernelError::Dimension { left: left / 2, right: right / 2 },
        other => other,
    }
}

/// An error about a bag by itself, as one that names it.
fn of_bag(error: KernelError, bag_idx: usize) -> KernelError {
    match error {
        KernelError::Overflow { value, .. } | KernelError::BagOverflow { value, .. } => {
            KernelError::BagOverflow { left_bag: bag_idx, right_bag: bag_idx, value }
        }
        other => other,
    }
}

fn divide(sums: &mut DMatrix<f64>, left: &[f64], right: &[f64]) {
    for (mut column, right) in sums.column_iter_mut().zip(right) {
        for (value, left) in column.iter_mut().zip(left) {
            let lengths = left * right;
            *value = if lengths == 0.0 { 0.0 } else { *value / lengths };
        }
    }
}

/// Holds a matrix to what Cauchy and Schwarz say of exact ones, $K_{ii}\ge0$ and $|K_{ij}|\le\sqrt{K_{ii}K_{jj}}$: where the instances of bags cancel, what is
/// left may be rounding alone, and a solver would meet a kernel that is none.
fn bound_by_diagonal(gram: &mut DMatrix<f64>) {
    let roots: Vec<f64> = gram.diagonal().iter().map(|value| value.max(0.0).sqrt()).collect();
    for (j, mut column) in gram.column_iter_mut().enumerate() {
        for (i, value) in column.iter_mut().enumerate() {
            let bound = if i == j { value.max(0.0) } else { roots[i] * roots[j] };
            *value = value.clamp(-bound, bound);
        }
    }
}

/// $\sum_{x\in B}\sum_{z\in B'} k(x,z)$ for all pairs of bags; of the lower triangle at least, where no more is asked for.
///
/// A task takes the right instances of one block against all left ones and sums up by pairs of bags; a bag that spans tasks is
/// put together in their order.
fn pair_sums<'a, 'b>(
    form: &Form,
    (left, left_offsets): (impl Into<DMatrixView<'a, f64>>, &[usize]),
    (right, right_offsets): (impl Into<DMatrixView<'b, f64>>, &[usize]),
    lower_triangle: bool,
) -> Result<DMatrix<f64>, KernelError> {
    let (left, right) = (left.into(), right.into());
    let centre = centre_for(form, left);
    let (left, right) = (Side::new(form, left, &centre)?, Side::new(form, right, &centre)?);
    let pairs = Pairs::new(form, &left, &right);
    let (n_left, n_right) = (left.len(), right.len());
    let (left_bags, right_bags) = (bag_of_each(left_offsets), bag_of_each(right_offsets));
    let n_left_bags = left_offsets.len() - 1;
    let band_sums = |column: usize| {
        let right_bags = &right_bags[column * BLOCK..n_right.min((column + 1) * BLOCK)];
        let (first_bag, last_bag) = (right_bags[0], right_bags[right_bags.len() - 1]);
        // Rows before the panel in which the first right bag begins are the mirror image of rows computed elsewhere.
        let first_panel = if lower_triangle { left_offsets[first_bag] / HEIGHT } else { 0 };
        let mut band = Band {
            left_bags: &left_bags[first_panel * HEIGHT..],
            right_bags,
            sums: DMatrix::zeros(n_left_bags, last_bag + 1 - first_bag),
        };
        visit(pairs, first_panel..n_left.div_ceil(HEIGHT), panels_of::<WIDTH>(column, n_right), &mut band);
        (first_bag, band.sums)
    };
    let bands: Vec<(usize, DMatrix<f64>)> = (0..n_right.div_ceil(BLOCK)).into_par_iter().map(band_sums).collect();
    let mut sums = DMatrix::zeros(n_left_bags, right_offsets.len() - 1);
    for (first_bag, band) in bands {
        let mut columns = sums.columns_mut(first_bag, band.ncols());
        columns += band;
    }
    require_finite_sums(sums)
}

/// The sums of some right instances, by left bag and right bag.
struct Band<'a> {
    /// The bag of each left and each right instance.
    left_bags: &'a [usize],
    right_bags: &'a [usize],
    sums: DMatrix<f64>,
}

impl Sink for Band<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, _simd: S, left_panel: usize, right_panel: usize, tile: &Tile) {
        let (left, right) = (left_panel * HEIGHT, right_panel * WIDTH);
        for (right_bag, values) in self.right_bags[right..].iter().zip(tile) {
            let mut sums = self.sums.column_mut(right_bag - self.right_bags[0]);
            for (left_bag, value) in self.left_bags[left..].iter().zip(values) {
                sums[*left_bag] += value;
            }
        }
    }
}

fn bag_of_each(offsets: &[usize]) -> Vec<usize> {
    offsets.windows(2).enumerate().flat_map(|(bag_idx, pair)| (pair[0]..pair[1]).map(move |_| bag_idx)).collect()
}

fn require_finite_sums(sums: DMatrix<f64>) -> Result<DMatrix<f64>, KernelError> {
    match sums.iter().position(|sum| !sum.is_finite()) {
        None => Ok(sums),
        Some(at) => {
            let (left_bag, right_bag) = (at % sums.nrows(), at / sums.nrows());
            Err(KernelError::BagOverflow { left_bag, right_bag, value: sums[at] })
        }
    }
}
