//! The model of all one-class machines: a region of the instance space, or of the space of bag means.

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, ScoreError, argmax, ascending_sum};
use mil_kernels::Separator;
use nalgebra::DVector;
use serde::{Deserialize, Serialize};

/// What a one-class machine encloses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Over {
    /// Instances: a bag is as far inside as the instance that is furthest inside, $\max_{x\in B}l(x)$.
    Instances,
    /// Means of bags: a bag is as far inside as the mean of its instances.
    Means,
}

mil_core::choice!(Over { Instances = "instances", Means = "means" });

/// The region $l(x)\ge0$ of
///
/// $$ l(x) = \sum_j\alpha_j\sum_k\lambda_{jk}\,k(x, B_{jk}) - \rho $$
///
/// (PMI, eq. 12), or of a plain one-class machine, which has no $\lambda$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneClassModel {
    separator: Separator,
    over: Over,
    defect: f64,
}

impl OneClassModel {
    pub(crate) fn new(separator: Separator, over: Over, defect: f64) -> OneClassModel {
        OneClassModel { separator, over, defect }
    }

    /// The function $l$; its bias is $-\rho$.
    #[must_use]
    pub fn separator(&self) -> &Separator {
        &self.separator
    }

    /// The threshold $\rho$. It is 0, up to the tolerance, where the points enclosed surround the origin of feature space, as they may under a linear kernel: then $l$ is all but 0 everywhere, and the machine tells nothing.
    #[must_use]
    pub fn rho(&self) -> f64 {
        -self.separator.bias()
    }

    /// What is enclosed.
    #[must_use]
    pub fn over(&self) -> Over {
        self.over
    }

    /// How far the machine may be from optimal: the worst relative defect of feasibility, stationarity and duality gap that the certificates of its problems show. Above the tolerance of the parameters only where rounding
    /// or the solver's budget did not allow for more.
    #[must_use]
    pub fn defect(&self) -> f64 {
        self.defect
    }
}

impl BagModel for OneClassModel {
    fn n_features(&self) -> usize {
        self.separator.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        match self.over {
            Over::Instances => {
                let values = self.separator.values(bag)?;
                Ok(values[argmax(&values)])
            }
            Over::Means => {
                bag.require_features(self.n_features())?;
                let mean = mean_of(bag);
                let overflow = |_| ScoreError::Overflow { name: bag.name().to_owned(), value: f64::INFINITY };
                let mean = Bag::new(bag.name(), self.n_features(), mean.as_slice()).map_err(overflow)?;
                Ok(self.separator.values(mean)?[0])
            }
        }
    }

    /// $l$ at each instance; `None` over means.
    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        match self.over {
            Over::Instances => self.separator.values(bag).map(Some),
            Over::Means => bag.require_features(self.n_features()).map(|()| None),
        }
    }
}

/// The mean of a bag's instances.
///
/// Choice: values are added in ascending order, so that the order of the instances has no say even where they cancel.
pub(crate) fn mean_of(bag: Bag<'_>) -> DVector<f64> {
    let share = 1.0 / bag.n_instances() as f64;
    let features = bag.matrix();
    let mean = |idx| ascending_sum(features.row(idx).iter().map(|value| share * value).collect());
    DVector::from_fn(bag.n_features(), |idx, _| mean(idx))
}

impl SavedModel for OneClassModel {
    fn kind() -> String {
        "one-class".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.defect.is_nan() { Err("the defect is not a number") } else { self.separator.check() }
    }
}
