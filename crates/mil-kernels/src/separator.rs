//! The function that all machines over instances end in: $f(x) = \sum_i\beta_ik(x,x_i) + b$.

use mil_core::{Bag, ScoreError, finite_score};
use nalgebra::{DMatrix, DMatrixView, DVector};
use serde::{Deserialize, Serialize};

use crate::{Kernel, KernelError, cross_gram};

/// A separator in the kernel's feature space, $f(x) = \sum_i\beta_ik(x_i,x) + b$, told by what it needs alone: the instances of non-zero weight, or one vector where the kernel is linear.
///
/// ```
/// use mil_core::Bag;
/// use mil_kernels::{Kernel, Separator};
/// use nalgebra::DMatrix;
/// let instances = DMatrix::from_row_slice(1, 3, &[0.0, 1.0, 5.0]); // three instances of one feature
/// let separator = Separator::new(&Kernel::Gaussian { gamma: 1.0 }, &[(&instances, &[1.0, 0.0, -2.0])], 0.5);
/// assert_eq!(separator.support().unwrap().1, [1.0, -2.0]);
/// assert_eq!(separator.values(Bag::new("far", 1, &[100.0])?)?, [0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Separator {
    expansion: Expansion,
    bias: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Expansion {
    /// $\langle w, x\rangle$.
    Weights(DVector<f64>),
    /// $\sum_i\beta_ik(x_i, x)$ over the columns $x_i$.
    Support {
        kernel: Kernel,
        #[serde(deserialize_with = "mil_core::model_file::checked_matrix")]
        instances: DMatrix<f64>,
        weights: Vec<f64>,
    },
}

impl Separator {
    /// The separator of these weights, one for each column of its matrix; columns of weight 0 are left out.
    ///
    /// # Panics
    /// If there is no matrix, or they differ in dimension.
    #[must_use]
    pub fn new(kernel: &Kernel, parts: &[(&DMatrix<f64>, &[f64])], bias: f64) -> Separator {
        let n_features = parts[0].0.nrows();
        let support = parts.iter().flat_map(|(instances, weights)| instances.column_iter().zip(weights.iter()));
        let support = support.filter(|(_, weight)| **weight != 0.0);
        let expansion = if *kernel == Kernel::Linear {
            let mut sum = DVector::zeros(n_features);
            support.for_each(|(instance, weight)| sum.axpy(*weight, &instance, 1.0));
            Expansion::Weights(sum)
        } else {
            let (columns, weights): (Vec<_>, Vec<f64>) = support.map(|(instance, weight)| (instance, *weight)).unzip();
            let values: Vec<f64> = columns.iter().flat_map(|column| column.iter().copied()).collect();
            let instances = DMatrix::from_vec(n_features, weights.len(), values);
            Expansion::Support { kernel: kernel.clone(), instances, weights }
        };
        Separator { expansion, bias }
    }

    /// The separator $\langle w, x\rangle + b$.
    #[must_use]
    pub fn linear(weights: Vec<f64>, bias: f64) -> Separator {
        Separator { expansion: Expansion::Weights(DVector::from_vec(weights)), bias }
    }

    /// Dimension of the instances.
    #[must_use]
    pub fn n_features(&self) -> usize {
        match &self.expansion {
            Expansion::Weights(weights) => weights.len(),
            Expansion::Support { instances, .. } => instances.nrows(),
        }
    }

    /// The kernel $k$.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        match &self.expansion {
            Expansion::Weights(_) => &Kernel::Linear,
            Expansion::Support { kernel, .. } => kernel,
        }
    }

    /// $b$.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The vector $w$ of a linear machine; `None` for other kernels.
    #[must_use]
    pub fn weights(&self) -> Option<&DVector<f64>> {
        match &self.expansion {
            Expansion::Weights(weights) => Some(weights),
            Expansion::Support { .. } => None,
        }
    }

    /// The support vectors, one per column, and the weight $\beta_i$ of each; `None` for linear machines, which keep their sum alone.
    #[must_use]
    pub fn support(&self) -> Option<(&DMatrix<f64>, &[f64])> {
        match &self.expansion {
            Expansion::Weights(_) => None,
            Expansion::Support { instances, weights, .. } => Some((instances, weights)),
        }
    }

    /// $f - b$ for each column.
    ///
    /// # Errors
    /// If the columns have another dimension or a value is not finite.
    pub fn sums<'a>(&self, instances: impl Into<DMatrixView<'a, f64>>) -> Result<Vec<f64>, KernelError> {
        let instances = instances.into();
        if instances.nrows() != self.n_features() {
            return Err(KernelError::Dimension { left: self.n_features(), right: instances.nrows() });
        }
        match &self.expansion {
            Expansion::Weights(weights) => Ok(instances.column_iter().map(|x| weights.dot(&x)).collect()),
            Expansion::Support { weights, .. } if weights.is_empty() => Ok(vec![0.0; instances.ncols()]),
            Expansion::Support { kernel, instances: support, weights } => {
                let values = cross_gram(kernel, support, instances)?;
                let sum = |column: nalgebra::DVectorView<'_, f64>| column.iter().zip(weights).map(|(k, w)| k * w).sum();
                Ok(values.column_iter().map(sum).collect())
            }
        }
    }

    /// $f$ at each instance of a bag.
    ///
    /// # Errors
    /// If the bag has another dimension, or a value is not finite.
    pub fn values(&self, bag: Bag<'_>) -> Result<Vec<f64>, ScoreError> {
        bag.require_features(self.n_features())?;
        let overflow = |_| ScoreError::Overflow { name: bag.name().to_owned(), value: f64::INFINITY };
        let sums = self.sums(bag.matrix()).map_err(overflow)?;
        sums.into_iter().map(|sum| finite_score(bag, sum + self.bias)).collect()
    }

    /// Whether a separator that was read is one that could have been made.
    ///
    /// # Errors
    /// What is not sound.
    pub fn check(&self) -> Result<(), &'static str> {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let sound = self.bias.is_finite()
            && self.n_features() > 0
            && match &self.expansion {
                Expansion::Weights(weights) => finite(weights.as_slice()),
                Expansion::Support { kernel, instances, weights } => {
                    kernel.check().is_ok()
                        && instances.ncols() == weights.len()
                        && finite(instances.as_slice())
                        && finite(weights)
                }
            };
        if sound { Ok(()) } else { Err("the separator's kernel, vectors, weights or bias are out of range") }
    }
}
