//! Every way that only this crate can fail in.

use mil_core::FitError;

/// Why a forest could not be grown. Each is the caller's to mend.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ForestError {
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
    /// A weight is not a finite number above 0.
    #[error("the weight of instance {instance_idx} is {weight}, expected a finite number above 0")]
    Weight {
        /// Position of the instance.
        instance_idx: usize,
        /// Its weight.
        weight: f64,
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
    #[error("every tree has seen some instances of every bag; draw bags (`sampling=bags`) to score them out of bag")]
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
        FitError::Learner { learner: "forest", source: Box::new(source) }
    }
}
