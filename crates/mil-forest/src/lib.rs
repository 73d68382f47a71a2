//! MIForests: random forests over bags, which anneal the labels that bags hide.
//!
//! A random forest answers for single instances; a [`BagRule`](mil_core::BagRule) pools its posteriors into those of the bag. What the learners differ in is which labels the instances have while trees grow:
//!
//! | | learns from | labels of instances |
//! |---|---|---|
//! | [`RandomForest`] | a set of bags | those of their bags |
//! | [`MiForest`] | a set of bags | drawn anew for each tree, from a distribution that cools |
//! | [`OnlineForest`] | one bag at a time | those of their bags |
//! | [`OnlineMiForest`] | one bag at a time | drawn for each tree, from what the forest says of the bag |
//!
//! All take two classes or many, one forest for all. In many classes the instances of a bag may be of any class, as long as one is of the bag's.
//!
//! ```
//! use mil_core::{BagModel, BagSet, ClassId, ClassNames, Learner};
//! use mil_forest::MiForest;
//!
//! let mut builder = BagSet::builder_of_classes(ClassNames::new(["beach", "dunes", "sea"]));
//! for i in 0..30 {
//!     let x = f64::from(i) / 30.0;
//!     builder.bag(format!("b{i}"), ClassId(0), [[0.0, x], [1.0, x], [2.0, x]])?; // sand, sky and water
//!     builder.bag(format!("d{i}"), ClassId(1), [[0.1, x], [1.0, 1.0 - x]])?; // sand and sky
//!     builder.bag(format!("s{i}"), ClassId(2), [[2.1, x], [1.1, 1.0 - x]])?; // water and sky
//! }
//! let bags = builder.build()?;
//! let model = MiForest::default().fit(&bags)?;
//! assert_eq!(model.predict(bags.bag(1))?, ClassId(1));
//! assert_eq!(model.instance_posteriors(bags.bag(1))?.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is here
//!
//! - **An engine** ([`Columns`], [`Forest`], [`Tree`]) for instances with labels and weights: entropy or Gini, best or random thresholds, planes; exact, or in bins for large data; one model to the bit on any number of threads.
//! - **Annealing** ([`annealed`], [`temperatures`]) with its objective and entropies epoch by epoch ([`MiForest::fit_traced`]).
//! - **Streams** ([`OnlineForestStream`]) that learn a bag and forget it, and are kept in a file and resumed to the bit.
//! - **Scores out of bag** that cost nothing further, for calibrated thresholds: `Calibrated { learner: RandomForest::default(), source: OutOfBag }`. After annealing they are not quite unbiased; `docs/forest.md` says by how much.
//! - **Importance of features**, by impurity ([`Forest::gains`]) and by permutation ([`mil_core::permutation_importance`]).

mod annealing;
mod columns;
mod descent;
mod error;
mod forest;
mod grow;
mod mi_forest;
mod model;
mod online;
mod params;
mod random_forest;
mod sweep;
mod task;
mod tree;

pub use annealing::{Loss, annealed, temperatures};
pub use columns::{Columns, Resolution};
pub use error::ForestError;
pub use forest::{Drawn, Forest, Sample};
pub use mi_forest::{Epoch, MiForest, MiForestTrace, Stop};
pub use model::ForestModel;
pub use online::{Cooling, OnlineForest, OnlineForestStream, OnlineMiForest};
pub use params::{Criterion, Growth, Sampling, TestCount, Tests, Weighting};
pub use random_forest::RandomForest;
pub use task::ForestLabel;
pub use tree::Tree;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
