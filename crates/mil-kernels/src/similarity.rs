//! Similarity of bags to candidate instances.

use mil_core::{Bag, BagLabel, BagSet, ParamError, ParamRange};
use nalgebra::{DMatrix, DMatrixView};
use pulp::Simd;
use rayon::prelude::*;

use crate::KernelError;
use crate::form::{Form, Pairs};
use crate::tile::{HEIGHT, Side, Sink, Tile, WIDTH, centre_for, visit};

/// Candidates that one task takes.
const CANDIDATES: usize = 2 * HEIGHT;

/// The similarity of a bag to each of a number of candidate instances $x_k$,
///
/// $$ z_k = \max_j \exp(-\lVert x_k - x_{tj}\rVert^2 / \sigma^2) $$
///
/// over the instances $x_{tj}$ of bag $t$ (MIO eq. 1, after MILES: Chen, Bi & Wang 2006). A bag that holds a candidate is exactly 1
/// similar to it.
///
/// The maximum is that of the nearest instance, so there is one exponential for each candidate and bag. Cost: $d$ multiplications
/// for each pair of a candidate and an instance.
///
/// ```
/// use mil_core::Bag;
/// use mil_kernels::BagSimilarity;
/// use nalgebra::DMatrix;
/// let candidates = DMatrix::from_row_slice(1, 2, &[0.0, 2.0]); // two instances of one feature
/// let similarity = BagSimilarity::new(&candidates, 1.0)?;
/// let bag = Bag::new("bag", 1, &[5.0, 2.0])?;
/// assert_eq!(similarity.to_bag(&bag)?, [(-4.0_f64).exp(), 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BagSimilarity<'a> {
    sigma2: f64,
    form: Form,
    centre: Vec<f64>,
    candidates: Side<'a>,
}

impl<'a> BagSimilarity<'a> {
    /// Makes ready the candidates, one per column, for the squared width `sigma2`.
    ///
    /// # Errors
    /// If `sigma2` is not a finite number above 0, or the norm of a candidate overflows.
    pub fn new(candidates: impl Into<DMatrixView<'a, f64>>, sigma2: f64) -> Result<BagSimilarity<'a>, KernelError> {
        require_width(sigma2)?;
        let (form, candidates) = (Form::squared_distance(1.0 / sigma2), candidates.into());
        let centre = centre_for(&form, candidates);
        let candidates = Side::new(&form, candidates, &centre)?;
        Ok(BagSimilarity { sigma2, form, centre, candidates })
    }

    /// Number of candidates.
    #[must_use]
    pub fn n_candidates(&self) -> usize {
        self.candidates.len()
    }

    /// The similarity of one bag to each candidate.
    ///
    /// # Errors
    /// If the bag differs in dimension from the candidates, or the norm of an instance overflows.
    pub fn to_bag(&self, bag: &Bag<'_>) -> Result<Vec<f64>, KernelError> {
        Ok(self.embed(bag.matrix(), &[bag.n_instances()])?.data.into())
    }

    /// The similarities of all bags, candidates × bags.
    ///
    /// # Errors
    /// As for [`to_bag`](Self::to_bag).
    pub fn to_bags<Y: BagLabel>(&self, bags: &BagSet<Y>) -> Result<DMatrix<f64>, KernelError> {
        let ends: Vec<usize> = (0..bags.n_bags()).map(|bag_idx| bags.columns_of(bag_idx).end).collect();
        self.embed(bags.instances().as_view(), &ends)
    }

    /// Bag `i` ends before the instance `ends[i]`, where the next begins.
    fn embed(&self, instances: DMatrixView<'_, f64>, ends: &[usize]) -> Result<DMatrix<f64>, KernelError> {
        let right = Side::new(&self.form, instances, &self.centre)?;
        let pairs = Pairs::new(&self.form, &self.candidates, &right);
        let starts = [0].iter().chain(ends);
        let bags: Vec<usize> =
            starts.zip(ends).enumerate().flat_map(|(bag_idx, (start, end))| vec![bag_idx; end - start]).collect();
        let mut nearest = DMatrix::repeat(self.n_candidates(), ends.len(), f64::INFINITY);
        let mut tasks: Vec<Vec<&mut [f64]>> = Vec::new();
        tasks.resize_with(self.n_candidates().div_ceil(CANDIDATES), || Vec::with_capacity(ends.len()));
        for column in nearest.as_mut_slice().chunks_mut(self.n_candidates().max(1)) {
            tasks.iter_mut().zip(column.chunks_mut(CANDIDATES)).for_each(|(task, piece)| task.push(piece));
        }
        tasks.into_par_iter().enumerate().for_each(|(task_idx, nearest)| {
            let first = task_idx * CANDIDATES / HEIGHT;
            let left_panels = first..self.candidates.n_panels().min(first + CANDIDATES / HEIGHT);
            let mut nearest = Nearest { bags: &bags, nearest };
            visit(pairs, left_panels, 0..instances.ncols().div_ceil(WIDTH), &mut nearest);
            for nearest in nearest.nearest {
                nearest.iter_mut().for_each(|value| *value = (-*value / self.sigma2).exp());
            }
        });
        Ok(nearest)
    }
}

/// The least squared distances so far of some candidates to each bag.
struct Nearest<'a> {
    /// The bag of each instance.
    bags: &'a [usize],
    nearest: Vec<&'a mut [f64]>,
}

impl Sink for Nearest<'_> {
    #[inline(always)]
    fn take<S: Simd>(&mut self, _simd: S, left_panel: usize, right_panel: usize, tile: &Tile) {
        let (left, right) = (left_panel * HEIGHT, right_panel * WIDTH);
        for (bag, distances) in self.bags[right..].iter().zip(tile) {
            for (nearest, distance) in self.nearest[*bag][left..].iter_mut().zip(distances) {
                *nearest = if distance < nearest { *distance } else { *nearest };
            }
        }
    }
}

/// The similarity of two patches that agree in some of their features,
///
/// $$ \exp\Bigl(-\sum_{i \in S} (x_i - z_i)^2 / \sigma^2\Bigr) $$
///
/// where $S$ holds the `n_nearest` features with the smallest $|x_i - z_i|$ (MIO §4.3), or all where there are no more.
///
/// Cost: linear in the number of features, by selection. `scratch` is memory that a loop over many pairs uses again; its content
/// does not matter.
///
/// # Errors
/// If `sigma2` is not a finite number above 0, the instances differ in dimension, or a difference is NaN.
pub fn partial_similarity(
    x: &[f64],
    z: &[f64],
    n_nearest: usize,
    sigma2: f64,
    scratch: &mut Vec<f64>,
) -> Result<f64, KernelError> {
    require_width(sigma2)?;
    if x.len() != z.len() {
        return Err(KernelError::Dimension { left: x.len(), right: z.len() });
    }
    scratch.clear();
    // In units of sigma, lest a square leave the range before it is divided.
    let sigma = sigma2.sqrt();
    scratch.extend(x.iter().zip(z).map(|(x, z)| (x / sigma - z / sigma).abs()));
    if let Some(feature_idx) = scratch.iter().position(|difference| difference.is_nan()) {
        return Err(KernelError::NotFinite { instance_idx: 0, feature_idx, value: x[feature_idx] - z[feature_idx] });
    }
    if n_nearest < scratch.len() {
        scratch.select_nth_unstable_by(n_nearest, f64::total_cmp);
        scratch.truncate(n_nearest);
    }
    let squared_distance: f64 = scratch.iter().map(|difference| difference * difference).sum();
    Ok((-squared_distance).exp())
}

fn require_width(sigma2: f64) -> Result<(), ParamError> {
    ParamRange::Above(0.0).require("sigma2", sigma2)
}
