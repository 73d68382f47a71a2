//! Similarity of bags to candidate instances.

use mil_core::{Bag, BagLabel, BagSet, ParamError, ParamRange};
use nalgebra::{DMatrix, DMatrixView};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize, Serializer};

use crate::KernelError;
use crate::exp::exp_non_positive;
use crate::form::{Form, Pairs};
use crate::tile::{HEIGHT, Side, Sink, Tile, WIDTH, centre_for, require_finite, visit};

/// Candidates that one task takes at least: two panels, which stay in the cache while the instances pass by.
const MIN_CANDIDATES: usize = 2 * HEIGHT;
/// Multiplications that one task does at least, since waking another thread takes as long as tens of thousands of them.
pub(crate) const MIN_WORK: usize = 1 << 20;

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
/// let z = similarity.to_bag(&bag)?;
/// assert!((z[0] - (-4.0_f64).exp()).abs() < 1e-15 && z[1] == 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct BagSimilarity<'a> {
    sigma2: f64,
    form: Form,
    /// What is subtracted from all instances; fixed by the first candidates.
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
        let (form, candidates) = (Form::squared_distance(), candidates.into());
        let centre = centre_for(&form, candidates);
        let candidates = Side::new(&form, candidates, &centre)?;
        Ok(BagSimilarity { sigma2, form, centre, candidates })
    }

    /// Number of candidates.
    #[must_use]
    pub fn n_candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.centre.len()
    }

    /// The squared width $\sigma^2$.
    #[must_use]
    pub fn sigma2(&self) -> f64 {
        self.sigma2
    }

    /// The similarity of one bag to each candidate.
    ///
    /// # Errors
    /// If the bag differs in dimension from the candidates, or the norm of an instance overflows.
    pub fn to_bag(&self, bag: &Bag<'_>) -> Result<Vec<f64>, KernelError> {
        let mut similarities = Vec::new();
        self.to_bag_into(bag, &mut similarities)?;
        Ok(similarities)
    }

    /// The same in memory that a loop over many bags uses again; its content does not matter.
    ///
    /// # Errors
    /// As for [`to_bag`](Self::to_bag).
    pub fn to_bag_into(&self, bag: &Bag<'_>, similarities: &mut Vec<f64>) -> Result<(), KernelError> {
        similarities.clear();
        similarities.resize(self.n_candidates(), f64::INFINITY);
        self.find_nearest(bag.matrix(), &[bag.n_instances()], similarities)?;
        similarities_of(similarities, self.sigma2)?;
        Ok(())
    }

    /// The similarities of all bags, candidates × bags.
    ///
    /// # Errors
    /// As for [`to_bag`](Self::to_bag).
    pub fn to_bags<Y: BagLabel>(&self, bags: &BagSet<Y>) -> Result<DMatrix<f64>, KernelError> {
        let mut values = self.squared_distances(bags)?;
        similarities_of(values.as_mut_slice(), self.sigma2)?;
        Ok(values)
    }

    /// $\min_j\lVert x_k - x_{tj}\rVert^2$ for all bags, candidates × bags: what [`similarities_of`] makes similarities of any width of. It does not
    /// depend on the width.
    ///
    /// # Errors
    /// As for [`to_bag`](Self::to_bag).
    pub fn squared_distances<Y: BagLabel>(&self, bags: &BagSet<Y>) -> Result<DMatrix<f64>, KernelError> {
        let ends: Vec<usize> = (0..bags.n_bags()).map(|bag_idx| bags.columns_of(bag_idx).end).collect();
        let mut nearest = DMatrix::repeat(self.n_candidates(), ends.len(), f64::INFINITY);
        self.find_nearest(bags.instances().as_view(), &ends, nearest.as_mut_slice())?;
        Ok(nearest)
    }

    /// Bag `i` ends before the instance `ends[i]`, where the next begins; `nearest` is infinite, a column for each bag.
    fn find_nearest(
        &self,
        instances: DMatrixView<'_, f64>,
        ends: &[usize],
        nearest: &mut [f64],
    ) -> Result<(), KernelError> {
        let right = Side::new(&self.form, instances, &self.centre)?;
        let pairs = Pairs::new(&self.form, &self.candidates, &right);
        let starts = [0].iter().chain(ends);
        let bags: Vec<usize> =
            starts.zip(ends).enumerate().flat_map(|(bag_idx, (start, end))| vec![bag_idx; end - start]).collect();
        let n_candidates = self.n_candidates();
        let per_task = candidates_per_task(instances.ncols(), self.n_features());
        let mut tasks: Vec<Vec<&mut [f64]>> = Vec::new();
        tasks.resize_with(n_candidates.div_ceil(per_task), || Vec::with_capacity(ends.len()));
        for column in nearest.chunks_mut(n_candidates.max(1)) {
            tasks.iter_mut().zip(column.chunks_mut(per_task)).for_each(|(task, piece)| task.push(piece));
        }
        let run = |(task_idx, nearest): (usize, Vec<&mut [f64]>)| {
            let first = task_idx * per_task / HEIGHT;
            let left_panels = first..self.candidates.n_panels().min(first + per_task / HEIGHT);
            visit(pairs, left_panels, 0..instances.ncols().div_ceil(WIDTH), &mut Nearest { bags: &bags, nearest });
        };
        if tasks.len() < 2 {
            tasks.into_iter().enumerate().for_each(run);
        } else {
            tasks.into_par_iter().enumerate().for_each(run);
        }
        Ok(())
    }
}

/// Candidates that come and go, as those of a stream of bags do, with the similarity of bags to them. A change costs no more than the features of the
/// instances that it touches.
///
/// ```
/// use mil_core::Bag;
/// use mil_kernels::Candidates;
/// let mut candidates = Candidates::new(1, 2.0)?; // one feature, squared width 2
/// candidates.extend(&Bag::new("first", 1, &[5.0, 2.0])?)?;
/// candidates.extend(&Bag::new("second", 1, &[7.0])?)?;
/// candidates.swap_remove(0); // the last one takes its place
/// assert_eq!(candidates.get(0), [7.0]);
/// assert_eq!(candidates.similarity().to_bag(&Bag::new("bag", 1, &[7.0])?)?[0], 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In a file the centre goes along: what comes back gives the same similarities to the bit. The centre is the mean of the first bag; where that lies far from all others compared with the distances among them, most pairs are computed
/// from the definition, which takes some 25 times as long (twenty features).
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Kept<Vec<f64>>")]
pub struct Candidates(BagSimilarity<'static>);

impl Candidates {
    /// None yet, of so many features.
    ///
    /// # Errors
    /// If `sigma2` is not a finite number above 0, or the number of features not from 1 to 100 million.
    pub fn new(n_features: usize, sigma2: f64) -> Result<Candidates, KernelError> {
        FEATURES.require("number of features", n_features as f64)?;
        Kept { sigma2, centre: vec![0.0; n_features], candidates: Vec::new() }.try_into()
    }

    /// The similarity of bags to the candidates that are there.
    #[must_use]
    pub fn similarity(&self) -> &BagSimilarity<'static> {
        &self.0
    }

    /// Adds the instances of a bag behind the candidates that are there. If it fails nothing has changed.
    ///
    /// # Errors
    /// If the bag differs in dimension from the candidates, or the norm of an instance overflows.
    pub fn extend(&mut self, bag: &Bag<'_>) -> Result<(), KernelError> {
        let BagSimilarity { form, centre, candidates, .. } = &mut self.0;
        let is_first = candidates.len() == 0 && bag.n_features() == centre.len();
        // Choice: the first bag is the centre of all that follow; see `centre_for`.
        let new_centre = if is_first { centre_for(form, bag.matrix()) } else { centre.clone() };
        candidates.append(&Side::new(form, bag.matrix(), &new_centre)?);
        *centre = new_centre;
        Ok(())
    }

    /// Takes a candidate away; the last one moves to its place.
    ///
    /// # Panics
    /// If the position is out of range.
    pub fn swap_remove(&mut self, idx: usize) {
        self.0.candidates.swap_remove(idx);
    }

    /// A candidate.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn get(&self, idx: usize) -> &[f64] {
        let n_features = self.0.n_features();
        &self.0.candidates.own_values()[idx * n_features..][..n_features]
    }
}

/// How many features candidates may have.
const FEATURES: ParamRange = ParamRange::Within(1.0, 1e8);

/// Candidates as a file keeps them.
#[derive(Serialize, Deserialize)]
struct Kept<V> {
    sigma2: f64,
    centre: V,
    /// One instance after another.
    candidates: V,
}

impl Serialize for Candidates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BagSimilarity { sigma2, centre, candidates, .. } = &self.0;
        Kept { sigma2: *sigma2, centre: &centre[..], candidates: candidates.own_values() }.serialize(serializer)
    }
}

impl TryFrom<Kept<Vec<f64>>> for Candidates {
    type Error = KernelError;

    fn try_from(Kept { sigma2, centre, candidates }: Kept<Vec<f64>>) -> Result<Candidates, KernelError> {
        require_width(sigma2)?;
        FEATURES.require("number of features", centre.len() as f64)?;
        if !candidates.len().is_multiple_of(centre.len()) {
            return Err(KernelError::Dimension { left: centre.len(), right: candidates.len() % centre.len() });
        }
        require_finite(DMatrixView::from_slice(&centre, centre.len(), 1))?;
        let form = Form::squared_distance();
        let candidates = Side::owned(&form, candidates, &centre)?;
        Ok(Candidates(BagSimilarity { sigma2, form, centre, candidates }))
    }
}

/// Turns squared distances into similarities, $\delta \mapsto \exp(-\delta/\sigma^2)$, in place.
///
/// ```
/// let mut values = [0.0, 2.0];
/// mil_kernels::similarities_of(&mut values, 4.0)?;
/// assert!(values[0] == 1.0 && (values[1] - (-0.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), mil_kernels::KernelError>(())
/// ```
///
/// # Errors
/// If `sigma2` is not a finite number above 0.
pub fn similarities_of(squared_distances: &mut [f64], sigma2: f64) -> Result<(), KernelError> {
    require_width(sigma2)?;
    Arch::new().dispatch(Exponentials { values: squared_distances, sigma2 });
    Ok(())
}

struct Exponentials<'a> {
    values: &'a mut [f64],
    sigma2: f64,
}

impl WithSimd for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for value in self.values {
            *value = exp_non_positive::<S>(-*value / self.sigma2);
        }
    }
}

/// Candidates for one task: whole panels, and enough of them to be worth a thread's while.
fn candidates_per_task(n_instances: usize, n_features: usize) -> usize {
    // Some steps of a pair have nothing to do with its features.
    let work = n_instances * (n_features + WIDTH);
    (MIN_WORK / work.max(1)).next_multiple_of(HEIGHT).max(MIN_CANDIDATES)
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
