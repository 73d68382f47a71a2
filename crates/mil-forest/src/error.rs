//! Every way that only this crate can fail in.

use mil_core::{FitError, ParamError};

/// Why a forest could not be grown. Each is the caller's to mend.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ForestError {
    /// A parameter of growth is out of its range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// There is nothing to grow on.
    #[error(
        "{n_instances} instances of {n_features} features; expected at least one of each, and fewer than 2^32 instances"
    )]
    Size {
        /// Number of instances.
        n_instances: usize,
        /// Number of features.
        n_features: usize,
    },
    /// A value is NaN or infinite.
    #[error("instance {instance_idx}, feature {feature_idx} is {value}; expected a finite number")]
    NotFinite {
        /// Position of the instance.
        instance_idx: usize,
        /// Position of the feature.
        feature_idx: usize,
        /// The offending value.
        value: f64,
    },
    /// There are too many or too few of something.
    #[error("{found} {what}, expected {expected}, one per instance")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A label is none of the classes.
    #[error("instance {instance_idx} is of class {class}, but there are only {n_classes} classes, counted from 0")]
    Class {
        /// Position of the instance.
        instance_idx: usize,
        /// The class it claims.
        class: u32,
        /// Number of classes.
        n_classes: usize,
    },
    /// A weight that sums and squares do not bear.
    #[error("the weight of instance {instance_idx} is {weight}, expected a number from 1e-100 to 1e100")]
    Weight {
        /// Position of the instance.
        instance_idx: usize,
        /// Its weight.
        weight: f64,
    },
    /// Weights that differ so much that sums lose the smaller ones.
    #[error("weights range from {least} to {most}; expected none more than 1e8 times another")]
    WeightSpread {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// Bags are to be drawn, and the offsets do not tell which instances are theirs.
    #[error(
        "trees draw bags, but the offsets do not divide the {n_instances} instances among any: they start at 0, rise, and end at {n_instances}"
    )]
    Offsets {
        /// Number of instances.
        n_instances: usize,
    },
    /// Scores of bags by trees that have not seen them were asked of trees that draw instances.
    #[error(
        "trees that draw instances leave hardly any bag out whole; draw bags (`sampling=bags`) to score them out of bag"
    )]
    NoBagsLeftOut,
    /// A bag that every tree has drawn has no score out of bag.
    #[error("bag {bag_idx} was drawn for all {n_trees} trees and has no score out of bag; grow more trees")]
    AlwaysDrawn {
        /// Position of the bag.
        bag_idx: usize,
        /// Number of trees.
        n_trees: usize,
    },
}

impl From<ForestError> for FitError {
    fn from(source: ForestError) -> FitError {
        match source {
            ForestError::Param(error) => FitError::Param(error),
            source => FitError::Learner { learner: "forest", source: Box::new(source) },
        }
    }
}
