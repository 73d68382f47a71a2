//! The kernel between the points of a machine.
//!
//! The points are all instances of a bag set, in order, and after them what else a method holds to a margin: instances that take part in two ways, or the mean of a bag in feature space,
//! $\tfrac1{|B|}\sum_{x\in B}\phi(x)$. Rows of values between instances are computed when first asked for, and kept where the budget allows; all other values follow from them.

use std::ops::Range;
use std::sync::OnceLock;

use mil_core::{BagSet, KernelRows, Label, RowError};
use mil_kernels::{GramRows, KeptRows, Kernel, PackedInstances, cross_gram, gram};
use mil_qp::ProblemError;
use nalgebra::DMatrix;

use crate::SvmError;

/// The kernel between all instances of a bag set, to be shared by all machines over them.
#[derive(Debug)]
pub struct InstanceKernel<'a> {
    kernel: Kernel,
    instances: &'a DMatrix<f64>,
    values: Values<'a>,
    memory_bytes: usize,
}

#[derive(Debug)]
enum Values<'a> {
    Kept(Box<KeptRows<'a>>),
    Forgotten(GramRows<'a>),
}

impl<'a> InstanceKernel<'a> {
    /// Rows are kept if all of them fit into so many bytes; else these bytes are for the cache of each solve.
    ///
    /// # Errors
    /// If the kernel is out of range, does not suit the instances, or a value overflows.
    pub fn new(kernel: &Kernel, bags: &'a BagSet<Label>, memory_bytes: usize) -> Result<InstanceKernel<'a>, SvmError> {
        let instances = bags.instances();
        let n_bytes = instances.ncols().saturating_mul(instances.ncols()).saturating_mul(size_of::<f64>());
        let values = if n_bytes <= memory_bytes {
            Values::Kept(Box::new(KeptRows::new(kernel, instances)?))
        } else {
            Values::Forgotten(GramRows::new(kernel, instances)?)
        };
        Ok(InstanceKernel { kernel: kernel.clone(), instances, values, memory_bytes })
    }

    /// The kernel itself.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(crate) fn instances(&self) -> &'a DMatrix<f64> {
        self.instances
    }

    /// Whether rows are kept from solve to solve.
    pub(crate) fn keeps_rows(&self) -> bool {
        matches!(self.values, Values::Kept(_))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    fn diagonal(&self) -> Result<Vec<f64>, RowError> {
        match &self.values {
            Values::Kept(rows) => rows.diagonal_values(),
            Values::Forgotten(rows) => rows.diagonal_values(),
        }
    }

    fn against(&self, others: &DMatrix<f64>) -> Result<DMatrix<f64>, SvmError> {
        Ok(match &self.values {
            Values::Kept(rows) => rows.against(others)?,
            Values::Forgotten(_) => cross_gram(&self.kernel, self.instances, others)?,
        })
    }

    fn kept_row(&self, idx: usize) -> Option<&[f64]> {
        match &self.values {
            Values::Kept(rows) => rows.kept_row(idx),
            Values::Forgotten(_) => None,
        }
    }

    /// Shows whole rows one after the other, with their places among those asked for. Rows that are kept are computed once for all who ask.
    pub(crate) fn visit_rows(&self, idxs: &[usize], mut visit: impl FnMut(usize, &[f64])) -> Result<(), SvmError> {
        let n = self.instances.ncols();
        match &self.values {
            Values::Kept(rows) => {
                rows.keep(idxs).map_err(ProblemError::Rows)?;
                for (place, &idx) in idxs.iter().enumerate() {
                    visit(place, rows.kept_row(idx).expect("it was kept"));
                }
            }
            Values::Forgotten(rows) => {
                let all = rows.prepare(&(0..n).collect::<Vec<_>>());
                let mut values = vec![0.0; BATCH.min(idxs.len()) * n];
                for (batch, first) in idxs.chunks(BATCH).zip((0..).step_by(BATCH)) {
                    let mut places: Vec<&mut [f64]> = values.chunks_mut(n).take(batch.len()).collect();
                    rows.fill(&rows.prepare(batch), &all, &mut places).map_err(ProblemError::Rows)?;
                    places.iter().zip(first..).for_each(|(row, place)| visit(place, row));
                }
            }
        }
        Ok(())
    }

    fn prepare(&self, idxs: &[usize]) -> PackedInstances<'a> {
        match &self.values {
            Values::Kept(rows) => rows.prepare(idxs),
            Values::Forgotten(rows) => rows.prepare(idxs),
        }
    }

    fn fill(
        &self,
        rows: &PackedInstances<'a>,
        columns: &PackedInstances<'a>,
        places: &mut [&mut [f64]],
    ) -> Result<(), RowError> {
        match &self.values {
            Values::Kept(all) => all.fill(rows, columns, places),
            Values::Forgotten(all) => all.fill(rows, columns, places),
        }
    }
}

/// What a machine has beyond the instances.
#[derive(Debug, Clone, Copy)]
enum Extra {
    /// An instance once more.
    Instance(usize),
    /// A point of which only the values are known: the position of its column.
    Known(usize),
}

/// The kernel between all points of a machine.
#[derive(Debug)]
pub(crate) struct Points<'a> {
    base: &'a InstanceKernel<'a>,
    extras: Vec<Extra>,
    /// Values between the known points and all instances, a column for each point.
    known: DMatrix<f64>,
    /// Values between the known points.
    among_known: DMatrix<f64>,
    /// What the known points are made of.
    recipe: Recipe,
    /// Whole rows, where the base keeps its own and there are further points.
    kept: Vec<OnceLock<Box<[f64]>>>,
}

/// What points of which only values are known stand for.
#[derive(Debug)]
enum Recipe {
    /// The mean of a block of instances, in feature space.
    Means(Vec<Range<usize>>),
    /// Vectors of their own.
    Vectors(DMatrix<f64>),
}

/// Weights of the points of a machine, as those of what they are made of.
pub(crate) struct Collapsed<'p> {
    /// A weight for each instance.
    pub(crate) of_instances: Vec<f64>,
    /// Vectors that are no instances, a column each, and their weights.
    pub(crate) of_vectors: Option<(&'p DMatrix<f64>, Vec<f64>)>,
}

impl<'a> Points<'a> {
    /// The instances alone.
    pub(crate) fn instances(base: &'a InstanceKernel<'a>) -> Points<'a> {
        Points::with_instances(base, [])
    }

    /// The instances, and some of them once more.
    pub(crate) fn with_instances(base: &'a InstanceKernel<'a>, again: impl IntoIterator<Item = usize>) -> Points<'a> {
        let extras = again.into_iter().map(Extra::Instance).collect();
        let (known, among_known) = (DMatrix::zeros(base.instances.ncols(), 0), DMatrix::zeros(0, 0));
        Points::new(base, extras, known, among_known, Recipe::Means(Vec::new()))
    }

    fn new(
        base: &'a InstanceKernel<'a>,
        extras: Vec<Extra>,
        known: DMatrix<f64>,
        among_known: DMatrix<f64>,
        recipe: Recipe,
    ) -> Points<'a> {
        // Whole rows are kept beside those of the base, where the budget holds both.
        let order = base.instances.ncols() + extras.len();
        let n_bytes = 2 * order.saturating_mul(order).saturating_mul(size_of::<f64>());
        let is_kept = !extras.is_empty() && base.keeps_rows() && n_bytes <= base.memory_bytes;
        let n_kept = if is_kept { order } else { 0 };
        let kept = (0..n_kept).map(|_| OnceLock::new()).collect();
        Points { base, extras, known, among_known, recipe, kept }
    }

    /// The instances, and the means of some blocks of them.
    ///
    /// Cost: the rows of all instances in the blocks, once; memory for a row of each mean.
    pub(crate) fn with_means(base: &'a InstanceKernel<'a>, blocks: Vec<Range<usize>>) -> Result<Points<'a>, SvmError> {
        let n = base.instances.ncols();
        let mut known = DMatrix::zeros(n, blocks.len());
        for (block, mut mean) in blocks.iter().zip(known.column_iter_mut()) {
            let idxs: Vec<usize> = block.clone().collect();
            base.visit_rows(&idxs, |_, row| {
                mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / block.len() as f64);
            })?;
        }
        let mean_over = |block: &Range<usize>, column: usize| {
            let values = known.view((block.start, column), (block.len(), 1));
            values.iter().map(|value| value / block.len() as f64).sum::<f64>()
        };
        let among_known = DMatrix::from_fn(blocks.len(), blocks.len(), |i, j| {
            // The same sum for both triangles; that of a mean with itself is no less than 0, whatever rounding says.
            let mean = mean_over(&blocks[i.max(j)], i.min(j));
            if i == j { mean.max(0.0) } else { mean }
        });
        let extras = (0..blocks.len()).map(Extra::Known).collect();
        Ok(Points::new(base, extras, known, among_known, Recipe::Means(blocks)))
    }

    /// The instances, and further vectors.
    pub(crate) fn with_vectors(base: &'a InstanceKernel<'a>, vectors: DMatrix<f64>) -> Result<Points<'a>, SvmError> {
        let known = base.against(&vectors)?;
        let among_known = gram(&base.kernel, &vectors)?.to_matrix();
        let extras = (0..vectors.ncols()).map(Extra::Known).collect();
        Ok(Points::new(base, extras, known, among_known, Recipe::Vectors(vectors)))
    }

    pub(crate) fn base(&self) -> &'a InstanceKernel<'a> {
        self.base
    }

    pub(crate) fn n_instances(&self) -> usize {
        self.base.instances.ncols()
    }

    /// Weights of points as weights of instances, and those of vectors that are none.
    pub(crate) fn collapse(&self, weights: &[f64]) -> Collapsed<'_> {
        let n = self.n_instances();
        let mut of_instances = weights[..n].to_vec();
        let mut of_known = vec![0.0; self.known.ncols()];
        for (extra, weight) in self.extras.iter().zip(&weights[n..]) {
            match extra {
                Extra::Instance(idx) => of_instances[*idx] += weight,
                Extra::Known(idx) => of_known[*idx] += weight,
            }
        }
        match &self.recipe {
            Recipe::Vectors(vectors) => Collapsed { of_instances, of_vectors: Some((vectors, of_known)) },
            Recipe::Means(blocks) => {
                for (block, weight) in blocks.iter().zip(of_known).filter(|(_, weight)| *weight != 0.0) {
                    of_instances[block.clone()].iter_mut().for_each(|own| *own += weight / block.len() as f64);
                }
                Collapsed { of_instances, of_vectors: None }
            }
        }
    }

    /// The instance behind a point, or the position of a known point.
    fn at(&self, idx: usize) -> Extra {
        idx.checked_sub(self.n_instances()).map_or(Extra::Instance(idx), |beyond| self.extras[beyond])
    }

    /// A whole row, from one of the base that is kept.
    fn extended_row(&self, point: &Extra) -> Box<[f64]> {
        let of_instances = match point {
            Extra::Instance(idx) => self.base.kept_row(*idx).expect("the row was kept"),
            Extra::Known(idx) => &self.known.as_slice()[idx * self.n_instances()..][..self.n_instances()],
        };
        let of_extra = |extra: &Extra| match extra {
            Extra::Instance(idx) => of_instances[*idx],
            Extra::Known(idx) => self.value_with_known(point, *idx),
        };
        of_instances.iter().copied().chain(self.extras.iter().map(of_extra)).collect()
    }

    fn value_with_known(&self, point: &Extra, known: usize) -> f64 {
        match point {
            Extra::Instance(idx) => self.known[(*idx, known)],
            Extra::Known(idx) => self.among_known[(*idx, known)],
        }
    }
}

/// Rows computed together.
const BATCH: usize = 64;

/// Points made ready: what they are, and the instances among them as the base wants them.
#[derive(Debug)]
pub(crate) struct ReadyPoints<'a> {
    points: Vec<Extra>,
    instances: PackedInstances<'a>,
    n_instances: usize,
}

impl<'a> KernelRows for Points<'a> {
    type Prepared = ReadyPoints<'a>;

    fn order(&self) -> usize {
        self.n_instances() + self.extras.len()
    }

    fn diagonal_values(&self) -> Result<Vec<f64>, RowError> {
        let mut values = self.base.diagonal()?;
        for extra in &self.extras {
            values.push(match extra {
                Extra::Instance(idx) => values[*idx],
                Extra::Known(idx) => self.among_known[(*idx, *idx)],
            });
        }
        Ok(values)
    }

    fn prepare(&self, idxs: &[usize]) -> ReadyPoints<'a> {
        let points: Vec<Extra> = idxs.iter().map(|&idx| self.at(idx)).collect();
        let instances = instances_among(points.iter().copied());
        ReadyPoints { points, n_instances: instances.len(), instances: self.base.prepare(&instances) }
    }

    fn fill(
        &self,
        rows: &ReadyPoints<'a>,
        columns: &ReadyPoints<'a>,
        places: &mut [&mut [f64]],
    ) -> Result<(), RowError> {
        if rows.n_instances == rows.points.len() && columns.n_instances == columns.points.len() {
            return self.base.fill(&rows.instances, &columns.instances, places);
        }
        let mut values = vec![0.0; rows.n_instances * columns.n_instances];
        if !values.is_empty() {
            let mut between: Vec<&mut [f64]> = values.chunks_mut(columns.n_instances).collect();
            self.base.fill(&rows.instances, &columns.instances, &mut between)?;
        }
        let mut computed = values.chunks(columns.n_instances.max(1));
        for (row, place) in rows.points.iter().zip(places) {
            let mut of_row = match row {
                Extra::Instance(_) => computed.next().unwrap_or_default().iter(),
                Extra::Known(_) => [].iter(),
            };
            for (column, place) in columns.points.iter().zip(place.iter_mut()) {
                *place = match (row, column) {
                    (Extra::Instance(_), Extra::Instance(_)) => *of_row.next().expect("a value for each instance"),
                    (Extra::Known(known), other) | (other, Extra::Known(known)) => self.value_with_known(other, *known),
                };
            }
        }
        Ok(())
    }

    fn keeps_rows(&self) -> bool {
        if self.extras.is_empty() { self.base.keeps_rows() } else { !self.kept.is_empty() }
    }

    fn keep(&self, idxs: &[usize]) -> Result<(), RowError> {
        let Values::Kept(rows) = &self.base.values else { return Ok(()) };
        if self.extras.is_empty() {
            return rows.keep(idxs);
        }
        if self.kept.is_empty() {
            return Ok(());
        }
        let missing = || idxs.iter().filter(|&&idx| self.kept[idx].get().is_none());
        rows.keep(&instances_among(missing().map(|&idx| self.at(idx))))?;
        for &idx in missing() {
            self.kept[idx].get_or_init(|| self.extended_row(&self.at(idx)));
        }
        Ok(())
    }

    fn kept_row(&self, idx: usize) -> Option<&[f64]> {
        if self.extras.is_empty() { self.base.kept_row(idx) } else { self.kept.get(idx)?.get().map(|row| &row[..]) }
    }
}

fn instances_among(points: impl Iterator<Item = Extra>) -> Vec<usize> {
    let instance = |point| match point {
        Extra::Instance(idx) => Some(idx),
        Extra::Known(_) => None,
    };
    points.filter_map(instance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five instances of two features in bags of three and two.
    fn bags() -> BagSet<Label> {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[0.0, 1.0], [2.0, 1.5], [0.5, -1.0]]).unwrap();
        builder.bag("b", Label::Negative, [[1.0, 1.0], [-2.0, 0.25]]).unwrap();
        builder.build().unwrap()
    }

    fn whole(points: &Points<'_>) -> DMatrix<f64> {
        let n = points.order();
        let all: Vec<usize> = (0..n).collect();
        let mut matrix = DMatrix::zeros(n, n);
        let mut places: Vec<&mut [f64]> = matrix.as_mut_slice().chunks_mut(n).collect();
        points.fill_rows(&all, &points.prepare(&all), &mut places).unwrap();
        matrix
    }

    #[test]
    fn a_mean_has_the_mean_of_the_values_of_its_bag() {
        let (bags, kernel) = (bags(), Kernel::Gaussian { gamma: 0.3 });
        for memory_bytes in [0, 1 << 20] {
            let base = InstanceKernel::new(&kernel, &bags, memory_bytes).unwrap();
            let points = Points::with_means(&base, vec![0..3, 3..5]).unwrap();
            let matrix = whole(&points);
            // Each point as weights of instances, in columns.
            let third = 1.0 / 3.0;
            let mut recipe = DMatrix::zeros(5, 7);
            recipe.view_mut((0, 0), (5, 5)).fill_with_identity();
            recipe.view_mut((0, 5), (3, 1)).fill(third);
            recipe.view_mut((3, 6), (2, 1)).fill(0.5);
            let gram = DMatrix::from_fn(5, 5, |i, j| {
                kernel.value(bags.instances().column(i).as_slice(), bags.instances().column(j).as_slice())
            });
            let expected = recipe.transpose() * gram * recipe;
            assert!((&matrix - &expected).amax() < 1e-14, "{matrix} {expected}");
            let all: Vec<usize> = (0..7).collect();
            points.keep(&all).unwrap();
            for idx in all {
                let kept = points.kept_row(idx).map(|row| row.to_vec());
                assert_eq!(kept, points.keeps_rows().then(|| matrix.column(idx).as_slice().to_vec()));
            }
        }
    }
}
