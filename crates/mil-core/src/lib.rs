//! The ground every multiple-instance learner of this workspace stands on.
//!
//! In multiple-instance learning a *bag* is a set of feature vectors, its *instances*, and only the bag is labelled.
//! Under the standard assumption a bag is positive as soon as one of its instances is; which one, its *witness*, is
//! not known. This crate holds what all such learners share and nothing that only one of them needs:
//!
//! 1. [`BagSet`], the validated and immutable data, and [`Bag`], a view of one bag;
//! 2. [`Label`] for two classes, [`ClassId`] for many, `()` for none;
//! 3. [`Learner`], [`BagModel`], [`InstanceModel`] and [`OnlineLearner`], the contracts, and [`params!`](crate::params!), which states a
//!    learner's parameters once for code, documentation, command line and grid search;
//! 4. [`Scaled`] and [`Calibrated`], wrappers that turn one learner into another, and [`BagRule`], which pools instance
//!    scores into the score of the bag;
//! 5. [`CrossValidation`], with [`metrics`] and [`stats`] to read its outcome;
//! 6. [`model_file`], the one format in which models are kept;
//! 7. [`NearestCentroid`], the naive baseline.
//!
//! Data flow in one direction: bags, scaler fitted on the training bags, learner, model, scores, metrics.
//!
//!
//! Everything here computes in `f64`, prints nothing and reads no clock. The one place that touches the file system is
//! [`model_file::save`] and [`model_file::load`], beside [`atomic_file`], which they share with other crates.

mod bag;
mod error;
mod label;
mod learner;
mod params;
mod random;
mod split;

pub use bag::{Bag, BagSet, BagSetBuilder};
pub use error::{BagError, FitError, ScoreError};
pub use label::{BagLabel, ClassId, ClassNames, Label, Target};
pub use learner::{BagModel, InstanceModel, Learner, OnlineLearner, witness_of};
pub use params::{Checked, ParamError, ParamField, ParamRange, ParamSpec, Params};
pub use random::{Rng, stream};
pub use split::{Split, SplitError, StratifiedKFold};
