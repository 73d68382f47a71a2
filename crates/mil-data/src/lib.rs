//! Data for multiple-instance learning: synthetic generators and the catalogue of known data sets.

pub mod catalogue;
mod instances;
pub mod synth;

pub use instances::{InstancesError, LabelledInstances};
