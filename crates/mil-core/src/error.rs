//! Every way building a bag set, fitting and scoring can fail.

use crate::Label;
use crate::params::ParamError;

/// Why a bag or a set of bags is refused.
///
/// Positions count from 0; the names of bags are the caller's own.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BagError {
    /// The set has no bag.
    #[error("the set has no bag; expected at least one")]
    NoBags,
    /// A bag has no instance.
    #[error("bag {bag_idx} ({name:?}) has no instance; remove the bag or give it at least one")]
    EmptyBag {
        /// Position of the bag.
        bag_idx: usize,
        /// Name of the bag.
        name: String,
    },
    /// Two bags share a name.
    #[error("bags {first_idx} and {bag_idx} are both named {name:?}; names must be unique")]
    DuplicateName {
        /// Position of the first bag of that name.
        first_idx: usize,
        /// Position of the second.
        bag_idx: usize,
        /// The name they share.
        name: String,
    },
    /// An instance differs in dimension from those before it.
    #[error("bag {bag_idx} ({name:?}), instance {instance_idx} has {found} features, expected {expected}")]
    Dimension {
        /// Position of the bag.
        bag_idx: usize,
        /// Name of the bag.
        name: String,
        /// Position of the instance within its bag.
        instance_idx: usize,
        /// Features the instance has.
        found: usize,
        /// Features it should have.
        expected: usize,
    },
    /// Instances have no feature.
    #[error("bag {bag_idx} ({name:?}), instance {instance_idx} has no feature; expected at least one")]
    NoFeatures {
        /// Position of the bag.
        bag_idx: usize,
        /// Name of the bag.
        name: String,
        /// Position of the instance within its bag.
        instance_idx: usize,
    },
    /// A value is NaN or infinite.
    #[error(
        "bag {bag_idx} ({name:?}), instance {instance_idx}, feature {feature_idx} is {value}; expected a finite number"
    )]
    NotFinite {
        /// Position of the bag.
        bag_idx: usize,
        /// Name of the bag.
        name: String,
        /// Position of the instance within its bag.
        instance_idx: usize,
        /// Position of the feature.
        feature_idx: usize,
        /// The offending value.
        value: f64,
    },
    /// An instance came before any bag was opened.
    #[error("an instance was added before any bag; open a bag first")]
    InstanceBeforeBag,
    /// There are too many or too few of something.
    #[error("{found} {what}, expected {expected}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The offsets of the bags do not start at 0, or fall.
    #[error("the offsets of the bags must start at 0 and never fall")]
    Offsets,
    /// The feature names are not one per feature, or not unique.
    #[error("feature names: {found} distinct ones for {expected} features")]
    FeatureNames {
        /// Distinct names given.
        found: usize,
        /// Features in the set.
        expected: usize,
    },
    /// A class id has no name.
    #[error("bag {bag_idx} is of class {class_idx}, but only {n_classes} classes are named")]
    UnknownClass {
        /// Position of the bag.
        bag_idx: usize,
        /// The class it claims.
        class_idx: usize,
        /// Number of named classes.
        n_classes: usize,
    },
}

/// Why a learner could not be fitted. Each is the caller's to mend.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// A parameter is out of its range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A two-class learner was given bags of one class only.
    #[error("all {n_bags} bags are {label}; this learner needs both classes")]
    SingleClass {
        /// The class that every bag has.
        label: Label,
        /// How many bags there are.
        n_bags: usize,
    },
    /// A learner of many classes was given bags of one class only, or of none.
    #[error("{n_bags} bags of {n_classes} class(es); this learner needs at least two classes with bags")]
    TooFewClasses {
        /// Classes that have bags.
        n_classes: usize,
        /// How many bags there are.
        n_bags: usize,
    },
    /// A learner that chooses among settings was given none.
    #[error("there is no setting to choose among; give at least one")]
    NoSettings,
    /// An inner split of the training bags, as for calibration, is not possible.
    #[error(transparent)]
    Split(#[from] crate::SplitError),
    /// Scoring failed inside the fit, as for out-of-fold scores.
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// The numbers left the range of `f64`, as features of magnitude 1e200 squared do.
    #[error("{quantity} is {value} and no longer finite; rescale the features (see `Scaling`)")]
    Overflow {
        /// What was being computed.
        quantity: &'static str,
        /// What came out.
        value: f64,
    },
    /// A fold of a cross-validation failed.
    #[error("repeat {repeat_idx}, fold {fold_idx}: {source}")]
    Fold {
        /// Which repetition, from 0.
        repeat_idx: usize,
        /// Which fold of it, from 0.
        fold_idx: usize,
        /// Why.
        source: Box<FitError>,
    },
    /// A failure that only one learner knows, with its own error inside.
    #[error("{learner}: {source}")]
    Learner {
        /// Name of the learner.
        learner: &'static str,
        /// Its own error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why a model could not score a bag, or learn from one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ScoreError {
    /// The bag has another number of features than the model was fitted on.
    #[error("bag {name:?} has {found} features, the model expects {expected}")]
    Dimension {
        /// Name of the bag.
        name: String,
        /// Features the bag has.
        found: usize,
        /// Features the model was fitted on.
        expected: usize,
    },
    /// A bag to be learnt claims a class that the model does not have.
    #[error("bag {name:?} is of class {class_idx}, but the model has {n_classes} classes, counted from 0")]
    UnknownClass {
        /// Name of the bag.
        name: String,
        /// The class it claims.
        class_idx: usize,
        /// Classes there are.
        n_classes: usize,
    },
    /// The score is not a finite number: the bag lies too far from the training data for `f64`.
    #[error("the score of bag {name:?} is {value}; its features are too large in magnitude")]
    Overflow {
        /// Name of the bag.
        name: String,
        /// What came out.
        value: f64,
    },
}
