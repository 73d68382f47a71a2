//! Certified solvers for the quadratic and linear programs of multiple-instance learning.

mod cache;
mod certificate;
mod error;
mod linear;
mod outcome;
mod problem;
mod sparse;
mod svm_dual;

pub use certificate::{Certificate, InfeasibilityProof, UnboundednessProof};
pub use error::ProblemError;
pub use linear::{Bias, LinearSettings, LinearSvm, Loss, Method, Points};
pub use outcome::{Outcome, Solution};
pub use problem::Problem;
pub use sparse::SparseMatrix;
pub use svm_dual::SvmDual;
