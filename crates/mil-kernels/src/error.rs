//! Every way a kernel computation can fail.

use mil_core::ParamError;

/// Why a kernel, a Gram matrix or a similarity could not be computed. Each is the caller's to mend.
///
/// Positions of instances count from 0, the left set's own and the right set's own.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// A parameter of the kernel is out of its range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Two sets of instances differ in dimension.
    #[error("instances of {left} features against instances of {right}; both need the same number")]
    Dimension {
        /// Features on the left.
        left: usize,
        /// Features on the right.
        right: usize,
    },
    /// A feature is NaN or infinite.
    #[error("instance {instance_idx}, feature {feature_idx} is {value}; expected a finite number")]
    NotFinite {
        /// Position of the instance.
        instance_idx: usize,
        /// Position of the feature.
        feature_idx: usize,
        /// The offending value.
        value: f64,
    },
    /// The length of an instance in feature space is too small for `f64`, though the instance is not 0, so it cannot be normalised.
    #[error("instance {instance_idx} is not 0 but its length in feature space is; rescale the features or the kernel")]
    Underflow {
        /// Position of the instance.
        instance_idx: usize,
    },
    /// The intersection kernel met a negative feature, for which it is not positive semi-definite.
    #[error(
        "instance {instance_idx}, feature {feature_idx} is {value}; the intersection kernel needs features of at least 0"
    )]
    Negative {
        /// Position of the instance.
        instance_idx: usize,
        /// Position of the feature.
        feature_idx: usize,
        /// The offending value.
        value: f64,
    },
    /// A number left the range of `f64`, as features of magnitude 1e200 squared do.
    #[error(
        "the {quantity} of instances {left_idx} and {right_idx} is {value}, not a finite number; rescale the features"
    )]
    Overflow {
        /// What was being computed.
        quantity: &'static str,
        /// Position of the instance on the left.
        left_idx: usize,
        /// Position of the instance on the right.
        right_idx: usize,
        /// What came out.
        value: f64,
    },
    /// The sum over all pairs of instances of two bags left the range of `f64`.
    #[error(
        "the kernel value of bags {left_bag} and {right_bag} is {value}, not a finite number; rescale the features"
    )]
    BagOverflow {
        /// Position of the bag on the left.
        left_bag: usize,
        /// Position of the bag on the right.
        right_bag: usize,
        /// What came out.
        value: f64,
    },
    /// The median squared distance is 0, as where more than half of all pairs of instances are equal, or beyond `f64`, so that a width in units of it means nothing.
    #[error(
        "the median squared distance between instances is {0}; rescale the features, or state the kernel's gamma instead of a multiple of the median"
    )]
    NoMedian(f64),
    /// There is no memory for the Gram matrix of so many instances; [`GramRows`](crate::GramRows) needs less.
    #[error(
        "no memory for the Gram matrix of {n_instances} instances, {:.1} GiB; take its rows on demand",
        8.0 * (*n_instances as f64).powi(2) / 2_f64.powi(30)
    )]
    TooLarge {
        /// Number of instances.
        n_instances: usize,
    },
}
