//! Every way fitting can fail that only this crate knows.

use mil_core::FitError;
use mil_kernels::KernelError;
use mil_qp::ProblemError;

/// Why MIO or MILES could not be fitted. Each is the caller's to mend.
#[derive(Debug, thiserror::Error)]
pub enum MioError {
    /// A similarity could not be computed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The solver refused the numbers.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The similarities of all bags to all instances are needed at once, and the budget does not hold them.
    #[error(
        "the similarities of {n_bags} bags to {n_instances} instances take {needed_mib} MiB, but memory_mib is {memory_mib}; raise it, or fit on fewer bags"
    )]
    Memory {
        /// Bags.
        n_bags: usize,
        /// Instances.
        n_instances: usize,
        /// What is needed.
        needed_mib: usize,
        /// What is allowed.
        memory_mib: usize,
    },
    /// A multiple of the median squared distance that is 0 or beyond `f64`.
    #[error(
        "the median squared distance between instances is {median}, and {ratio} times that is no width; rescale the features, or state the width itself (`width=1.5`)"
    )]
    NoMedian {
        /// The median.
        median: f64,
        /// The multiple asked for.
        ratio: f64,
    },
    /// A stream knows no median beforehand.
    #[error("a stream cannot know the median distance of bags to come; state the width itself (`width=1.5`)")]
    WidthOfStream,
    /// A step that is to be taken back was taken over candidates that may be gone.
    #[error(
        "revisit is replace and budget {0}; steps cannot be taken back from candidates that went: lift the budget, or let revisits be rounds"
    )]
    ReplaceWithin(usize),
    /// A comparator uses what the game does not have.
    #[error(
        "the comparator has a bias of {0} and the game has none; give the game a bias, or compare with a machine without one"
    )]
    ComparatorBias(f64),
}

impl MioError {
    /// The error under the name of its learner.
    pub(crate) fn of(self, learner: &'static str) -> FitError {
        match self {
            MioError::Kernel(KernelError::Param(error)) => FitError::Param(error),
            source => FitError::Learner { learner, source: Box::new(source) },
        }
    }
}
