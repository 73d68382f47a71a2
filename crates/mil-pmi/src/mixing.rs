//! From bags to virtual instances: $b_i = \sum_j\lambda_{ij}\phi(B_{ij})$, known by their kernel values alone.

use mil_core::{KernelRows, RowError};
use mil_qp::{BlockVariance, Certificate, GroupSettings, ProblemError, SimplexBlocks};
use nalgebra::DMatrix;

use crate::PmiError;
use crate::points::tolerance_between;

/// How the instances of a bag are mixed to its virtual instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mixture {
    /// So that the virtual instances of all bags are as alike as can be (eqs. 7 to 9).
    LeastVariance,
    /// In equal parts, $\lambda_{ij} = 1/N_i$: the mean of the bag in feature space.
    Uniform,
}

mil_core::choice!(Mixture { LeastVariance = "least-variance", Uniform = "uniform" });

/// Weights $\lambda$, one for each instance, and what the solver's certificate says of them.
pub(crate) struct Mixed {
    pub(crate) weights: Vec<f64>,
    /// `None` where there was nothing to solve.
    pub(crate) certificate: Option<Certificate>,
}

/// The weights of all bags, given by their sizes, to a tolerance relative to the distances between instances.
///
/// Choice: a single bag has no variance to minimise, and is mixed in equal parts.
pub(crate) fn mix<K: KernelRows>(
    rows: &K,
    sizes: &[usize],
    mixture: Mixture,
    settings: &GroupSettings,
) -> Result<Mixed, PmiError> {
    if mixture == Mixture::Uniform || sizes.len() == 1 {
        let weights = sizes.iter().flat_map(|&size| std::iter::repeat_n(1.0 / size as f64, size)).collect();
        return Ok(Mixed { weights, certificate: None });
    }
    let tolerance = tolerance_between(rows, settings.tolerance).map_err(ProblemError::Rows)?;
    let variance = BlockVariance::new(rows, sizes)?;
    let outcome =
        SimplexBlocks::new(&variance, sizes.to_vec())?.solve(&GroupSettings { tolerance, ..settings.clone() })?;
    let solution = outcome.best().expect("weights on simplices are feasible, and the form is bounded below by 0");
    Ok(Mixed { weights: solution.primal, certificate: Some(solution.certificate) })
}

/// Rows of the kernel that are in memory together.
const BATCH: usize = 64;

/// Kernel values between virtual instances,
///
/// $$ k(b_i, b_j) = \sum_k\sum_r\lambda_{ik}\lambda_{jr}\,k(B_{ik}, B_{jr}) $$
///
/// (eq. 10), from the rows of instances that have a weight.
pub(crate) fn virtual_gram<K: KernelRows>(
    rows: &K,
    sizes: &[usize],
    weights: &[f64],
) -> Result<DMatrix<f64>, PmiError> {
    let bag_of: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(bag_idx, &size)| std::iter::repeat_n(bag_idx, size)).collect();
    let support: Vec<usize> = (0..weights.len()).filter(|&idx| weights[idx] > 0.0).collect();
    let columns = rows.prepare(&support);
    let mut gram = DMatrix::zeros(sizes.len(), sizes.len());
    let mut values = vec![0.0; BATCH.min(support.len()) * support.len()];
    for batch in support.chunks(BATCH) {
        let mut places: Vec<&mut [f64]> = values.chunks_mut(support.len()).take(batch.len()).collect();
        rows.fill_rows(batch, &columns, &mut places).map_err(|error: RowError| ProblemError::Rows(error))?;
        for (&idx, row) in batch.iter().zip(&places) {
            let mut sums = gram.column_mut(bag_of[idx]);
            for (&other, value) in support.iter().zip(row.iter()) {
                sums[bag_of[other]] += weights[idx] * weights[other] * value;
            }
        }
    }
    // Both halves are the same sums in another order; a squared length is not below 0.
    gram = (&gram + gram.transpose()) * 0.5;
    (0..sizes.len()).for_each(|idx| gram[(idx, idx)] = gram[(idx, idx)].max(0.0));
    Ok(gram)
}
