//! One file per format, each with the same parts: `read`, `check` (what the format cannot carry), `write`.

pub(crate) mod arff;
pub(crate) mod c45;
pub(crate) mod csv;
pub(crate) mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod svm;
