//! Development only: what the tests of every learner share.
//!
//! - [`strategies`]: random bag sets that reach the awkward corners (ties, duplicates, single instances, constant features, large
//!   magnitudes);
//! - [`conformance`]: the facts that hold for every learner;
//! - [`golden`]: reading the golden cases;
//! - [`brute`]: exhaustive enumeration of witnesses and labellings, for small problems.

pub mod brute;
pub mod conformance;
pub mod golden;
pub mod strategies;
