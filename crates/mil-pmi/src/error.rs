//! Every way fitting can fail that only this crate knows.

use mil_core::FitError;
use mil_kernels::KernelError;
use mil_qp::ProblemError;

/// Why PMI or a one-class machine could not be fitted. Each is the caller's to mend.
#[derive(Debug, thiserror::Error)]
pub enum PmiError {
    /// A kernel value could not be computed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The solver refused the numbers.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A weight of the machine left the range of `f64`.
    #[error("a weight of the machine is not a finite number; rescale the features")]
    Overflow,
}

impl PmiError {
    /// The error under the name of its learner.
    pub(crate) fn of(self, learner: &'static str) -> FitError {
        match self {
            PmiError::Kernel(KernelError::Param(error)) => FitError::Param(error),
            source => FitError::Learner { learner, source: Box::new(source) },
        }
    }
}
