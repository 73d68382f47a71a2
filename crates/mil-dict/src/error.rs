//! Every way fitting can fail that only this crate knows.

use mil_core::{FitError, ParamError};
use mil_kernels::KernelError;
use mil_qp::ProblemError;

/// Why a dictionary could not be learnt or a code not be found. Each is the caller's to mend.
#[derive(Debug, thiserror::Error)]
pub enum DictError {
    /// A parameter is out of its range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A kernel value could not be computed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The solver refused the numbers.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A matrix has not the shape that another asks for.
    #[error("{what} is {found_rows} x {found_columns}, expected {expected_rows} x {expected_columns}")]
    Shape {
        /// Which matrix.
        what: &'static str,
        /// Rows it has.
        found_rows: usize,
        /// Columns it has.
        found_columns: usize,
        /// Rows it should have.
        expected_rows: usize,
        /// Columns it should have.
        expected_columns: usize,
    },
    /// A number of a matrix is NaN or infinite.
    #[error("{what}, row {row}, column {column} is {value}, expected a finite number")]
    NotFinite {
        /// Which matrix.
        what: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// What is there.
        value: f64,
    },
    /// No sample has a length in feature space, so that there is nothing to represent.
    #[error("all {n_samples} samples are 0 in the feature space; use another kernel, or an offset")]
    NoDirection {
        /// How many there are.
        n_samples: usize,
    },
    /// A feature below 0 under histogram intersection.
    #[error(
        "bag {bag:?}, instance {instance_idx}, feature {feature_idx} is {value}; histogram intersection needs features of at least 0: scale them to [0, 1], or leave that kernel out"
    )]
    BelowZero {
        /// Name of the bag.
        bag: String,
        /// Instance of the bag, from 0.
        instance_idx: usize,
        /// Feature, from 0.
        feature_idx: usize,
        /// What is there.
        value: f64,
    },
    /// The values of all base kernels are needed at once, and the budget does not hold them.
    #[error(
        "the base kernels take {needed_mib} MiB, but memory_mib is {memory_mib}; raise it, or name fewer base kernels"
    )]
    Memory {
        /// What is needed.
        needed_mib: usize,
        /// What is allowed.
        memory_mib: usize,
    },
}

impl DictError {
    /// The error under the name of its learner.
    pub(crate) fn of(self, learner: &'static str) -> FitError {
        match self {
            DictError::Param(error) | DictError::Kernel(KernelError::Param(error)) => FitError::Param(error),
            source => FitError::Learner { learner, source: Box::new(source) },
        }
    }
}
