//! Instances as the kernels see them.

use nalgebra::{DMatrix, DMatrixView, DVectorViewMut};
use serde::{Deserialize, Serialize};

/// What is done to each instance before any kernel sees it.
///
/// The widths of MIDL's Gaussians suit instances of length 1. Images are best given as grey values from 0 (paper) to 1 (ink).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputForm {
    /// Divided by its Euclidean length; an instance of length 0 stays as it is.
    UnitNorm,
    /// Nothing.
    AsGiven,
}

mil_core::choice!(InputForm { UnitNorm = "unit-norm", AsGiven = "as-given" });

/// How the instances of a model are prepared: the same for those it learns from and those it scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Preparation {
    pub(crate) form: InputForm,
    /// Whether features below 0 count as 0. Choice: so they do where a model uses histogram intersection, which is for features of at least 0: no training instance had one below, and one that comes later is an empty bin.
    pub(crate) clips: bool,
}

impl Preparation {
    pub(crate) fn apply(self, instances: DMatrixView<'_, f64>) -> DMatrix<f64> {
        let mut prepared = instances.into_owned();
        if self.clips {
            prepared.iter_mut().for_each(|value| *value = value.max(0.0));
        }
        if self.form == InputForm::UnitNorm {
            prepared.column_iter_mut().for_each(to_unit_norm);
        }
        prepared
    }
}

/// Divides a vector by its length, if it has one.
pub(crate) fn to_unit_norm(mut vector: DVectorViewMut<'_, f64>) {
    // By the largest first, so that squares neither overflow nor vanish.
    let largest = vector.amax();
    if largest > 0.0 {
        vector.iter_mut().for_each(|value| *value /= largest);
        let length = vector.norm();
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_any_size_get_length_one() {
        let instances = DMatrix::from_column_slice(2, 4, &[3.0, 4.0, 3e200, -4e200, 0.0, 0.0, 5e-320, 0.0]);
        let prepared = Preparation { form: InputForm::UnitNorm, clips: false }.apply(instances.as_view());
        let expected = DMatrix::from_column_slice(2, 4, &[0.6, 0.8, 0.6, -0.8, 0.0, 0.0, 1.0, 0.0]);
        assert!((prepared - expected).amax() < 1e-15);
    }

    #[test]
    fn empty_bins_are_clipped_where_asked_for() {
        let instances = DMatrix::from_column_slice(2, 1, &[-1.0, 2.0]);
        let clipped = Preparation { form: InputForm::AsGiven, clips: true }.apply(instances.as_view());
        assert_eq!(clipped.as_slice(), [0.0, 2.0]);
        assert_eq!(Preparation { form: InputForm::AsGiven, clips: false }.apply(instances.as_view()), instances);
    }
}
