//! The model of all machines that judge instances: a bag is as positive as its most positive instance.

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, ScoreError, argmax};
use mil_kernels::Separator;
use serde::{Deserialize, Serialize};

use crate::machine::Separation;

/// A separator of instances; the score of a bag is $\max_{x\in B} f(x)$, and its witness the instance that attains it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceSvm {
    separator: Separator,
    defect: f64,
}

impl InstanceSvm {
    pub(crate) fn of(separation: Separation) -> InstanceSvm {
        InstanceSvm { separator: separation.separator, defect: separation.defect }
    }

    /// The function $f$.
    #[must_use]
    pub fn separator(&self) -> &Separator {
        &self.separator
    }

    /// How far the last machine may be from optimal: the worst relative defect of feasibility, stationarity and duality gap that its certificate shows. Above the tolerance of
    /// the parameters only where rounding or the solver's budget did not allow for more.
    #[must_use]
    pub fn defect(&self) -> f64 {
        self.defect
    }
}

impl BagModel for InstanceSvm {
    fn n_features(&self) -> usize {
        self.separator.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        let values = self.separator.values(bag)?;
        Ok(values[argmax(&values)])
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        self.separator.values(bag).map(Some)
    }
}

impl SavedModel for InstanceSvm {
    fn kind() -> String {
        "instance-svm".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.defect.is_nan() { Err("the defect is not a number") } else { self.separator.check() }
    }
}
