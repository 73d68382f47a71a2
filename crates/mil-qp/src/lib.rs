//! Certified solvers for the quadratic and linear programs of multiple-instance learning.

mod cache;
mod certificate;
mod error;
mod general;
mod outcome;
mod problem;
mod smo;
mod sparse;
#[cfg(feature = "proptest")]
pub mod strategies;
mod svm_dual;

pub use certificate::{Certificate, InfeasibilityProof, UnboundednessProof};
pub use error::ProblemError;
pub use general::{GeneralSettings, Polish, Quadratic, QuadraticProgram};
pub use outcome::{Outcome, Solution};
pub use problem::Problem;
pub use smo::{Shrinking, SmoSettings};
pub use sparse::SparseMatrix;
pub use svm_dual::SvmDual;
