//! Certified solvers for the quadratic and linear programs of multiple-instance learning.
//!
//! Each solver turns the statement of a problem into a solution *and a proof of how good it is*. All problems are, whatever their own form, of the one kind
//!
//! $$ \min_x\ \tfrac12 x^\top P x + q^\top x \quad\text{subject to}\quad l \le A x \le u $$
//!
//! ([`Problem`]), so that one checker, [`Solution::certify`], judges every answer from the definition alone: objectives, feasibility, stationarity, gap.
//! It shares no code with the solvers. How a solve ends is a value, [`Outcome`]: solved, out of budget, infeasible or unbounded, the last two with a proof that can be
//! checked as well.
//!
//! | problem | what for | method | cost |
//! |---|---|---|---|
//! | [`SvmDual`] | C-SVM, one-class SVM, any weights | sequential minimal optimisation in blocks, by levels | a kernel row for each variable that moves |
//! | [`LinearSvm`] | linear SVM on many points | interior points, Newton's method or coordinate descent, by shape | linear in the points; no Gram matrix |
//! | [`GroupDual`] | one slack shared by a group (MI-SVM) | the same blocks with transfers between groups | as for `SvmDual` |
//! | [`SimplexBlocks`] | weights on a simplex for each block (PMI) | transfers within blocks | as for `SvmDual` |
//! | [`OneNormSvm`] | linear program of the 1-norm SVM (MILES) | column generation over a simplex method | a pass over all features for each batch of columns |
//! | [`QuadraticProgram`] | anything else of modest size | OSQP (feature `osqp`) | cubic in a dense $P$ |
//!
//! Two points at ±1 have the separator through 0, and the certificate says so:
//!
//! ```
//! use mil_qp::{SmoSettings, SvmDual};
//! use nalgebra::DMatrix;
//!
//! let points = [1.0, -1.0];
//! let gram = DMatrix::from_fn(2, 2, |i, j| points[i] * points[j]);
//! let problem = SvmDual::classification(&gram, vec![1.0, -1.0], vec![10.0; 2])?;
//! let solution = problem.solve(&SmoSettings { tolerance: 1e-9, ..SmoSettings::default() })?.solved().expect("small and easy");
//! assert!((solution.primal[0] - 0.5).abs() < 1e-9 && problem.bias(&solution).abs() < 1e-9);
//! assert!(solution.certify(&problem)?.holds(1e-9));
//! # Ok::<(), mil_qp::ProblemError>(())
//! ```
//!
//! # Kernels
//!
//! Solvers over kernels see them through [`KernelRows`](mil_core::KernelRows): rows on demand, a few at a time, from `mil-kernels` or from a matrix in memory.
//! Rows are kept in a cache of as many bytes as the settings say; two rows are enough.
//!
//! # Features
//!
//! - `osqp` (default): [`QuadraticProgram::solve`]. OSQP is C; its build needs `cmake` and a C compiler. All other solvers are Rust.
//! - `proptest`: `strategies` of random problems, degenerate, rank-deficient, infeasible and unbounded ones among them, for property tests of
//!   solvers, yours included.
//!
//! # What a solution is good for
//!
//! `Solved` means that [`Certificate::worst`] is at most the tolerance of the settings: relative defects of feasibility, stationarity and gap. A certificate within a solution is
//! from products that the solver kept up to date; `certify` computes them anew. Nothing here reads a clock, draws at random without a seed, or depends on the number of
//! threads: the same problem gives the same solution to the bit.

mod cache;
mod certificate;
mod error;
mod general;
mod group_dual;
mod linear;
mod one_norm;
mod outcome;
mod problem;
mod simplex_blocks;
mod smo;
mod sparse;
#[cfg(feature = "proptest")]
pub mod strategies;
mod svm_dual;
mod transfer;
mod warm;

pub use certificate::{Certificate, InfeasibilityProof, UnboundednessProof};
pub use error::ProblemError;
pub use general::{GeneralSettings, Polish, Quadratic, QuadraticProgram};
pub use group_dual::GroupDual;
pub use linear::{Bias, LinearSettings, LinearSvm, Loss, Method, Points};
pub use one_norm::{OneNormSettings, OneNormStart, OneNormSvm};
pub use outcome::{Outcome, Solution};
pub use problem::Problem;
pub use simplex_blocks::{BlockVariance, SimplexBlocks};
pub use smo::{Shrinking, SmoSettings};
pub use sparse::SparseMatrix;
pub use svm_dual::SvmDual;
pub use transfer::GroupSettings;
pub use warm::WarmStart;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
