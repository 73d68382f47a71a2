//! Squared distances from all instances to all bags, which all widths, penalties and folds of a search share.

use std::collections::HashMap;
use std::sync::Mutex;

use mil_core::{BagSet, Label};
use mil_kernels::{Centre, KernelError, median_squared_distance, similarities_of, squared_distances_within};
use nalgebra::DMatrix;

use crate::mio::needed_mib;
use crate::{MioError, Width};

/// $\min_{x\in B}\lVert x_k-x\rVert^2$ for all instances $x_k$ and bags $B$ of a set.
#[derive(Debug)]
pub struct Distances {
    /// Instances × bags.
    squared: DMatrix<f64>,
    seed: u64,
    /// The median squared distance between the instances of a part of the bags, for each part that was asked for.
    medians: Mutex<HashMap<Vec<usize>, f64>>,
}

impl Distances {
    pub(crate) fn new(bags: &BagSet<Label>, seed: u64) -> Result<Distances, MioError> {
        Ok(Distances { squared: squared_distances_within(bags, Centre::AllBags)?, seed, medians: Mutex::default() })
    }

    /// $\sigma^2$ for a fit on a part of the bags, which alone has a say in the median.
    pub(crate) fn sigma2(&self, width: Width, bags: &BagSet<Label>, part: &[usize]) -> Result<f64, MioError> {
        let median = || {
            let known = self.medians.lock().expect("no holder panics").get(part).copied();
            known.unwrap_or_else(|| {
                // Whoever else computes it meanwhile finds the same.
                let median = median_squared_distance(bags.select(part).instances(), self.seed);
                self.medians.lock().expect("no holder panics").insert(part.to_vec(), median);
                median
            })
        };
        width.over(median)
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
