//! Every way fitting can fail that only this crate knows.

use mil_core::FitError;
use mil_kernels::KernelError;
use mil_qp::ProblemError;

/// Why a machine could not be fitted. Each is the caller's to mend.
#[derive(Debug, thiserror::Error)]
pub enum SvmError {
    /// A kernel value could not be computed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The solver refused the numbers.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// All kernel values are needed at once, and the budget does not hold them.
    #[error(
        "all kernel values are needed at once, {needed_mib} MiB, but memory_mib is {memory_mib}; raise it, or use the linear kernel"
    )]
    Memory {
        /// What is needed.
        needed_mib: usize,
        /// What is allowed.
        memory_mib: usize,
    },
    /// A weight of the machine, or a score of its bags, left the range of `f64`.
    #[error("a weight of the machine is not a finite number; lower the penalty or rescale the features")]
    Overflow,
    /// Some positive bags have a witness and others have none.
    #[error(
        "{n_named} witnesses for {n_bags} positive bags; name one for each, or none at all to begin with their means"
    )]
    WitnessCount {
        /// Positive bags.
        n_bags: usize,
        /// Witnesses given.
        n_named: usize,
    },
    /// A witness that is not in its bag.
    #[error("positive bag {bag} has {n_instances} instances, but its witness is number {witness}, counted from 0")]
    NoSuchWitness {
        /// Position among the positive bags.
        bag: usize,
        /// The witness named.
        witness: usize,
        /// Instances of the bag.
        n_instances: usize,
    },
    /// A grid without a cell.
    #[error("the grid has no {0}; give at least one")]
    EmptyGrid(&'static str),
}

impl SvmError {
    /// The error under the name of its learner.
    pub(crate) fn of(self, learner: &'static str) -> FitError {
        match self {
            SvmError::Kernel(KernelError::Param(error)) => FitError::Param(error),
            source => FitError::Learner { learner, source: Box::new(source) },
        }
    }
}
