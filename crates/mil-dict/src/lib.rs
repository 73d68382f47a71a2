//! Dictionaries from bags: kernel OMP, kernel K-SVD and MIDL.
//!
//! A dictionary is a set of atoms such that few of them suffice to represent any one sample. In the feature space of a kernel atoms are mixtures of samples, and all that is ever computed are kernel values.
//!
//! | | |
//! |---|---|
//! | [`encode`] | kernel OMP: sparse codes of samples on given atoms |
//! | [`KernelKsvd`] | kernel K-SVD: atoms for given samples |
//! | [`Midl`] | MIDL: dictionaries of the negative and the positive class from bags, under a mixture of kernels that is learnt too; [`MidlTrace`] tells how |
//! | [`MidlModel::pre_image`] | what an atom looks like |
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, witness_of};
//! use mil_dict::Midl;
//!
//! let mut builder = BagSet::builder();
//! for i in 0..8 {
//!     let wobble = 0.05 * f64::from(i);
//!     builder.bag(format!("with {i}"), Label::Positive, [[1.0, wobble, 0.0], [0.1, wobble, 1.0]])?; // the second is what counts
//!     builder.bag(format!("without {i}"), Label::Negative, [[1.0, 0.4 - wobble, 0.1], [wobble, 1.0, 0.0]])?;
//! }
//! let bags = builder.build()?;
//! let model = Midl { n_negative_atoms: 6, n_positive_atoms: 2, ..Midl::default() }.fit(&bags)?;
//! assert_eq!(model.predict(bags.bag(0))?, Label::Positive);
//! assert_eq!(witness_of(&model, bags.bag(0))?, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base_grams;
mod base_kernels;
mod error;
mod input;
mod ksvd;
mod midl;
mod omp;
mod pre_image;
mod weights;

pub use base_kernels::{BaseKernels, KernelScale};
pub use error::DictError;
pub use input::InputForm;
pub use ksvd::{KernelKsvd, LearntDictionary};
pub use midl::{Cost, Midl, MidlIteration, MidlModel, MidlTrace, Selection, Side, Stop};
pub use omp::{Code, encode};
pub use pre_image::PreImage;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
