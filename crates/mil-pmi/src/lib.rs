//! PMI: multiple-instance learning from positive bags only.
//!
//! Where only what is sought is collected, molecules that work or photographs that show the thing, there are no negative bags to learn from. PMI (Hu & Xue, *On the Complexity of One-class SVM for Multiple Instance Learning*)
//! assumes that positive instances are alike and looks for what all bags share:
//!
//! 1. mix each bag to one *virtual instance* in the kernel's feature space, so that these differ as little as can be;
//! 2. enclose them with a one-class machine, of which a share $\nu$ may stay outside.
//!
//! A bag is positive if one of its instances lies in the region. Where the bags share something else as well, a background say, the [query loop](QuerySession) asks about an instance and removes what was wrong.
//!
//! | | |
//! |---|---|
//! | [`Pmi`] | the method; [`PmiTrace`] tells weights, multipliers, roles of bags, certificates |
//! | [`QuerySession`] | steps 5 to 8 of its Algorithm 1: questions, answers, removals; resumable, with a [bound](QueryBounds) on their number |
//! | [`OneClassSvm`] | the plain machine over instances or over bag means, for comparison |
//! | [`ConsistencySearch`] | the width of the kernel without a negative label |
//!
//! All of them take `BagSet<()>`, bags without labels, so that no negative bag can reach them. To cross-validate with negative bags in the test folds, wrap them in [`PositivesOnly`](mil_core::PositivesOnly); to choose
//! settings by negative bags of the training folds, which is another method than the paper's, wrap that in [`Tuned`](mil_core::Tuned).
//!
//! ```
//! use mil_core::{CrossValidation, PositivesOnly, Scaled, Scaling};
//! use mil_data::synth::ClustersParams;
//! use mil_pmi::Pmi;
//!
//! let bags = ClustersParams { n_negative: 40, ..ClustersParams::figure_2() }.generate()?;
//! let learner = PositivesOnly { learner: Scaled { scaling: Scaling::MinMax, learner: Pmi { nu: 0.1, ..Pmi::default() } } };
//! let report = CrossValidation { n_folds: 5, n_repeats: 1, seed: 0 }.run(&learner, &bags, &())?;
//! assert!(report.accuracy().mean > 0.6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod consistency;
mod enclosure;
mod error;
mod mixing;
mod model;
mod one_class_svm;
mod pmi;
mod points;
mod query;

pub use consistency::{ConsistencyReport, ConsistencySearch, Width};
pub use enclosure::Role;
pub use error::PmiError;
pub use mixing::Mixture;
pub use model::{OneClassModel, Over};
pub use one_class_svm::OneClassSvm;
pub use pmi::{Pmi, PmiTrace};
pub use query::{
    Interactive, Labeler, LabelerError, Query, QueryBounds, QueryEntry, QueryError, QuerySession, QueryStop,
    QueryTrail, Recorded,
};

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
