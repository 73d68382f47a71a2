//! The ground every multiple-instance learner of this workspace stands on.
//!
//! In multiple-instance learning a *bag* is a set of feature vectors, its *instances*, and only the bag is labelled.
//! Under the standard assumption a bag is positive as soon as one of its instances is; which one, its *witness*, is
//! not known. This crate holds what all such learners share and nothing that only one of them needs:
//!
//! 1. [`BagSet`], the validated and immutable data, and [`Bag`], a view of one bag;
//! 2. [`Label`] for two classes, [`ClassId`] for many, `()` for none;
//! 3. [`Learner`], [`BagModel`] and [`OnlineLearner`], the contracts, and [`params!`](crate::params!), which states a
//!    learner's parameters once for code, documentation, command line and grid search;
//! 4. [`Scaled`], [`Calibrated`], [`PositivesOnly`] and [`Tuned`], wrappers that turn one learner, or several settings of one, into another, and
//!    [`BagRule`], which pools instance scores into the score of the bag;
//! 5. [`CrossValidation`], with [`metrics`] and [`stats`] to read its outcome, and [`permutation_importance`];
//! 6. [`model_file`], the one format in which models are kept;
//! 7. [`NearestCentroid`], the naive baseline.
//!
//! Data flow in one direction: bags, scaler fitted on the training bags, learner, model, scores, metrics.
//!
//! ```
//! use mil_core::{BagSet, CrossValidation, Label, Learner, BagModel, NearestCentroid};
//!
//! let mut builder = BagSet::builder();
//! for i in 0..10 {
//!     let x = f64::from(i) / 10.0;
//!     builder.bag(format!("p{i}"), Label::Positive, [[9.0, x], [0.0, x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[0.0, x], [1.0, x]])?;
//! }
//! let bags = builder.build()?;
//!
//! let learner = NearestCentroid::default();
//! let model = learner.fit(&bags)?;
//! assert_eq!(model.predict(bags.bag(0))?, Label::Positive);
//!
//! let report = CrossValidation { n_folds: 5, n_repeats: 2, seed: 1 }.run(&learner, &bags, &())?;
//! assert_eq!(report.accuracy().mean, 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything here computes in `f64`, prints nothing and reads no clock. The one place that touches the file system is
//! [`model_file::save`] and [`model_file::load`], beside [`atomic_file`], which they share with other crates.

mod bag;
mod buffer;
mod calibrate;
mod cross_validation;
mod error;
mod importance;
mod label;
mod learner;
mod nearest_centroid;
mod params;
mod positives;
mod probability;
mod random;
mod rows;
mod rule;
mod scale;
mod split;
mod tuning;

pub mod atomic_file;
pub mod metrics;
pub mod model_file;
pub mod stats;

pub use bag::{Bag, BagSet, BagSetBuilder, BagSetParts};
pub use buffer::Buffer;
pub use calibrate::{Calibrated, CalibratedModel, OutOfBag, OutOfBagScores, OutOfFold, ScoreSource, best_threshold};
pub use cross_validation::{CrossValidation, CvReport, Event, Observer, Stage};
pub use error::{BagError, FitError, ScoreError};
pub use importance::permutation_importance;
pub use label::{BagLabel, ClassId, ClassNames, Label, Target};
pub use learner::{BagModel, Learner, OnlineLearner, argmax, ascending_sum, finite_score, witness_of};
pub use nearest_centroid::{NearestCentroid, NearestCentroidModel};
pub use params::{Checked, ParamError, ParamField, ParamRange, ParamSpec, Params, nearest_name};
pub use positives::PositivesOnly;
pub use probability::{Probabilistic, ProbabilisticModel, Sigmoid, platt};
pub use random::{Rng, stream};
pub use rows::{KernelRows, RowError};
pub use rule::BagRule;
pub use scale::{Scaled, ScaledModel, Scaler, Scaling};
pub use split::{Split, SplitError, StratifiedKFold};
pub use tuning::{HeldOut, SettingFigures, Tunable, Tuned, TuningReport};

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
