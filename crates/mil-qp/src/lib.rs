//! Certified solvers for the quadratic and linear programs of multiple-instance learning.

mod cache;
mod certificate;
mod error;
mod group_dual;
mod outcome;
mod problem;
mod simplex_blocks;
mod sparse;
mod svm_dual;
mod transfer;

pub use certificate::{Certificate, InfeasibilityProof, UnboundednessProof};
pub use error::ProblemError;
pub use group_dual::GroupDual;
pub use outcome::{Outcome, Solution};
pub use problem::Problem;
pub use simplex_blocks::{BlockVariance, SimplexBlocks};
pub use sparse::SparseMatrix;
pub use svm_dual::SvmDual;
pub use transfer::GroupSettings;
