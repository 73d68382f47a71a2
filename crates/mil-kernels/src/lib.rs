//! Kernels between instances and between bags, and their matrices.
//!
//! A kernel $k(x,z) = \langle\phi(x),\phi(z)\rangle$ lets a linear method work in a space that is never built. What methods ask for
//! in practice is the Gram matrix $K_{ij} = k(x_i, x_j)$ over thousands of instances, some of its rows, or sums over its blocks when
//! a bag is compared with a bag. This crate computes these quickly, in `f64`, and the same to the bit on any number of threads.
//!
//! | | | cost, for $n$ instances of $d$ features |
//! |---|---|---|
//! | [`Kernel`] | linear, polynomial, Gaussian, intersection, weighted sums, cosine normalisation | $d$ for a pair |
//! | [`gram`] | all pairs, as a [`Gram`] | $\tfrac12 n^2 d$, memory for $n^2$ numbers |
//! | [`cross_gram`] | all pairs of two sets | $n m d$ |
//! | [`GramRows`], [`KeptRows`] | rows on demand, for solvers; forgotten or kept | $n d$ for each row |
//! | [`SetKernel`] | the normalised set kernel and the statistic kernel (Gärtner et al. 2002) | $\tfrac12 n^2 d$, memory for bags only |
//! | [`BagSimilarity`] | $\max_j \exp(-\lVert x_k - x_{tj}\rVert^2/\sigma^2)$ of MILES (Chen, Bi & Wang 2006) | $n m d$ |
//! | [`squared_distances_within`] | the distances behind it, of bags to their own instances | $\tfrac12 n^2 d$ |
//! | [`Candidates`] | the same to candidates that come and go | $m d$ for each that comes |
//! | [`median_squared_distance`] | a unit for widths of kernels, as in [`KernelChoice`] | $d$ for each of at most 10,000 pairs |
//! | [`Separator`] | $\sum_i\beta_ik(x_i,x)+b$, what machines over instances end in | $d$ for each $\beta_i\ne0$ |
//!
//! Instances are the columns of a matrix of features × instances, as a [`BagSet`](mil_core::BagSet) keeps them.
//!
//! ```
//! use mil_core::{BagSet, Label};
//! use mil_kernels::{BagScale, Kernel, SetKernel, gram};
//!
//! let mut builder = BagSet::builder();
//! builder.bag("sunny", Label::Positive, [[0.0, 1.0], [2.0, 2.0]])?;
//! builder.bag("cloudy", Label::Negative, [[0.0, 1.0]])?;
//! let bags = builder.build()?;
//!
//! let kernel = Kernel::Gaussian { gamma: 0.5 };
//! let instance_gram = gram(&kernel, bags.instances())?;
//! assert_eq!(instance_gram[(0, 2)], 1.0); // the same instance in two bags
//!
//! let bag_gram = SetKernel::Instances { kernel, scale: BagScale::Mean }.gram(&bags)?;
//! assert_eq!(bag_gram[(0, 1)], 0.5 * (1.0 + instance_gram[(1, 2)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How
//!
//! A kernel becomes a flat sum of functions of $\langle x,z\rangle$, $\lVert x-z\rVert^2$ and $\sum_i\min(x_i,z_i)$, so that fifty kernels in one sum share
//! at most three passes over the features. Instances are packed in panels; the inner loop holds a tile of 24 × 8 sums in registers, compiled for
//! the instruction set found at run time (AVX-512, AVX2, NEON or plain). The function of the kernel, exponential included, is applied to
//! a tile before it leaves for its place in the matrix and, of a symmetric one, for the mirrored place.
//!
//! A [`Gram`] has memory of its own kind, since it is the one thing here that grows with the square of the instances. What is smaller or
//! not square (between two sets, over bags, similarities) is a plain `DMatrix`.
//!
//! Choice: instances are centred before squared distances are computed, and a pair that is close compared with its distance from
//! the centre is computed anew from $\sum_i (x_i - z_i)^2$ wherever the loss of digits could be felt. Equal instances have distance 0,
//! exactly.
//!
//! No matrix or similarity holds a value that is NaN or infinite: numbers that leave the range of `f64` are a [`KernelError`] that says where to
//! look. [`Kernel::value`] alone, the bare definition, gives what comes out.

mod choice;
mod error;
mod exp;
mod form;
mod gram;
mod kernel;
mod matrix;
mod median;
mod rows;
mod separator;
mod set_kernel;
mod similarity;
mod tile;
mod within;

pub use choice::KernelChoice;
pub use error::KernelError;
pub use gram::{cross_gram, diagonal, gram, gram_into};
pub use kernel::Kernel;
pub use matrix::Gram;
pub use median::median_squared_distance;
pub use rows::{GramRows, KeptRows, PackedInstances};
pub use separator::Separator;
pub use set_kernel::{BagScale, SetKernel, min_max};
pub use similarity::{BagSimilarity, Candidates, partial_similarity, similarities_of};
pub use within::{Centre, squared_distances_within};

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
