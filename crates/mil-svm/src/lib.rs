//! mi-SVM, MI-SVM and the maximum-margin family of multiple-instance learning.
//!
//! A bag is positive if one of its instances is. Every method here seeks a separator $f(x)=\langle w,\phi(x)\rangle+b$ of wide margin, and they differ in what they make of not knowing which instance it is:
//!
//! | learner | of a positive bag it asks | unknown | problem |
//! |---|---|---|---|
//! | [`SilSvm`] | all instances positive | nothing | convex |
//! | [`MiSvmPattern`] (mi-SVM) | at least one instance positive, the rest either | labels | alternated |
//! | [`MiSvmBag`] (MI-SVM) | its witness positive; one slack for each bag | witnesses | alternated |
//! | [`AlSvm`], [`AwSvm`] | as mi-SVM, as MI-SVM | distributions, which cool | annealed, then alternated |
//! | [`Mica`] | as MI-SVM, $\lVert w\rVert_1$ in place of $\tfrac12\lVert w\rVert^2$ | convex combinations | linear programs, alternated |
//! | [`Smil`] | a mean as high as one positive instance makes it | nothing | convex |
//! | [`Stmil`] | the same, and instances clear of the margin | labels | alternated |
//! | [`Sbmil`] | a share of instances positive, by the rank under sMIL | nothing | two convex ones |
//! | [`MissSvm`] | its witness positive, and instances clear of the margin | labels, witnesses | alternated |
//! | [`Nsk`] (MI-Kernel), [`Stk`] | the bag as a whole positive | nothing | convex, over bags |
//!
//! The machines over instances end in an [`InstanceSvm`]: $f$ at each instance, the maximum as the score of the bag, the instance that attains it as the witness. Those over bags score bags alone.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, Scaled, Scaling, witness_of};
//! use mil_kernels::Kernel;
//! use mil_svm::MiSvmBag;
//!
//! let mut builder = BagSet::builder();
//! builder.bag("musk", Label::Positive, [[0.9, 0.1], [5.0, 4.8]])?;
//! builder.bag("also musk", Label::Positive, [[5.2, 5.1], [0.2, 0.4]])?;
//! builder.bag("no musk", Label::Negative, [[0.1, 0.3], [0.8, 0.2]])?;
//! let bags = builder.build()?;
//!
//! let learner = MiSvmBag { kernel: Kernel::Gaussian { gamma: 1.0 }, penalty: 10.0, ..Default::default() };
//! let model = Scaled { scaling: Scaling::MinMax, learner }.fit(&bags)?;
//! assert_eq!(model.predict(bags.bag(0))?, Label::Positive);
//! assert_eq!(witness_of(&model, bags.bag(0))?, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What they share
//!
//! - **One engine** alternates: a machine for a guess, the best guess for the machine, until the guess stays ([`Stop`]). Both steps are exact, so that the objective never rises ([`Trace`]); a guess that comes up again, which
//!   only the solver's tolerance can bring about, ends it with the best so far.
//! - **Solves start where the last one ended**: duals, and their product with the kernel, which does not know of labels. Kernel rows are computed once for all rounds where they fit into `memory_mib`, else they go through a cache
//!   of that size.
//! - **Every machine is certified** by `mil-qp`; [`InstanceSvm::defect`] tells what its certificate says.
//! - **Models are sparse**: support vectors, or one weight vector where the kernel is linear.
//! - **Tuning** ([`GridSearch`]) is itself a learner, hence goes inside any training fold; kernel values are shared by all folds and penalties.
//! - **Probabilities** come from wrapping any learner in [`Probabilistic`](mil_core::Probabilistic), thresholds from [`Calibrated`](mil_core::Calibrated), scaling from
//!   [`Scaled`](mil_core::Scaled). Over a grid search [`HeldOut`](mil_core::HeldOut) gives the first two their scores for nothing.

mod al_svm;
mod alternation;
mod annealing;
mod aw_svm;
mod error;
mod grid;
mod learner;
mod machine;
mod mi_svm_bag;
mod mi_svm_pattern;
mod mica;
mod miss_svm;
mod model;
mod nsk;
mod over_bags;
mod points;
mod sbmil;
mod sil;
mod smil;
mod stk;
mod stmil;
mod task;
mod with_kernel;

pub use al_svm::AlSvm;
pub use alternation::{AnnealedTrace, Stop, Trace};
pub use annealing::Level;
pub use aw_svm::AwSvm;
pub use error::SvmError;
pub use grid::{GridCell, GridReport, GridSearch};
pub use learner::OverKernel;
pub use mi_svm_bag::{MiSvmBag, Slack, WitnessStart, Witnesses};
pub use mi_svm_pattern::MiSvmPattern;
pub use mica::Mica;
pub use miss_svm::{MissChoice, MissSvm};
pub use model::InstanceSvm;
pub use nsk::{Nsk, SetSvm};
pub use points::InstanceKernel;
pub use sbmil::Sbmil;
pub use sil::SilSvm;
pub use smil::Smil;
pub use stk::{StatisticSvm, Stk};
pub use stmil::Stmil;
pub use task::Task;
pub use with_kernel::WithKernel;

pub use mil_kernels::Separator;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
