//! Squared distances from all instances to all bags, which all widths, penalties and folds of a search share.

use mil_core::{BagSet, FitError, Label};
use mil_kernels::{Centre, KernelError, median_squared_distance, similarities_of, squared_distances_within};
use nalgebra::DMatrix;

use crate::mio::needed_mib;
use crate::{MioError, Width};

/// $\min_{x\in B}\lVert x_k-x\rVert^2$ for all instances $x_k$ and bags $B$ of a set, and the median squared distance between instances.
#[derive(Debug, Clone)]
pub struct Distances {
    /// Instances × bags.
    squared: DMatrix<f64>,
    median: f64,
}

impl Distances {
    pub(crate) fn new(bags: &BagSet<Label>, seed: u64, memory_mib: usize) -> Result<Distances, MioError> {
        require_memory(bags, memory_mib)?;
        let squared = squared_distances_within(bags, Centre::AllBags)?;
        Ok(Distances { squared, median: median_squared_distance(bags.instances(), seed) })
    }

    /// $\sigma^2$, the median that of the whole set.
    pub(crate) fn sigma2(&self, width: Width) -> Result<f64, MioError> {
        width.over(|| self.median)
    }

    /// The similarities of some bags to the instances of others, in the order given, candidates × bags.
    pub(crate) fn embed(
        &self,
        bags: &BagSet<Label>,
        candidates_of: &[usize],
        embedded: &[usize],
        sigma2: f64,
    ) -> Result<DMatrix<f64>, KernelError> {
        let n_candidates = candidates_of.iter().map(|&bag_idx| bags.columns_of(bag_idx).len()).sum();
        let mut values = Vec::with_capacity(n_candidates * embedded.len());
        let n_instances = self.squared.nrows();
        for &bag_idx in embedded {
            let column = &self.squared.as_slice()[bag_idx * n_instances..][..n_instances];
            candidates_of.iter().for_each(|&of| values.extend_from_slice(&column[bags.columns_of(of)]));
        }
        similarities_of(&mut values, sigma2)?;
        Ok(DMatrix::from_vec(n_candidates, embedded.len(), values))
    }
}

/// Scores of embedded bags, candidates × bags, under weights of the candidates.
pub(crate) fn scores(similarities: &DMatrix<f64>, weights: &[f64], bias: f64) -> Vec<f64> {
    let score = |column: &[f64]| column.iter().zip(weights).map(|(z, weight)| z * weight).sum::<f64>() + bias;
    similarities.as_slice().chunks_exact(similarities.nrows()).map(score).collect()
}

/// Refuses a set whose similarities do not fit.
pub(crate) fn require_memory(bags: &BagSet<Label>, memory_mib: usize) -> Result<(), MioError> {
    let (n_bags, n_instances) = (bags.n_bags(), bags.n_instances());
    match needed_mib(n_instances, n_bags) {
        needed_mib if needed_mib <= memory_mib => Ok(()),
        needed_mib => Err(MioError::Memory { n_bags, n_instances, needed_mib, memory_mib }),
    }
}

/// Refuses a part of the bags that are of one class only.
pub(crate) fn require_both_classes(bags: &BagSet<Label>, part: &[usize]) -> Result<(), FitError> {
    let has = |wanted: Label| part.iter().any(|&bag_idx| bags.labels()[bag_idx] == wanted);
    match (has(Label::Negative), has(Label::Positive)) {
        (true, true) => Ok(()),
        (negative, _) => {
            let label = if negative { Label::Negative } else { Label::Positive };
            Err(FitError::SingleClass { label, n_bags: part.len() })
        }
    }
}
