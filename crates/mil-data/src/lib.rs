//! Data of multiple-instance learning: file formats, synthetic generators, and the catalogue of known data sets.

mod atomic_file;
pub mod catalogue;
mod columns;
mod error;
mod formats;
mod gzip;
mod instances;
mod options;
mod read;
mod sheet;
pub mod synth;
mod table;
mod text;
mod write;
mod zip;

pub use error::{DataError, Fault, Location, Part, Place, Uncarried};
pub use instances::{InstancesError, LabelledInstances};
pub use options::{Column, Columns, Compression, CsvOptions, Format, Header, Limits, ReadOptions, WriteOptions};
pub use read::{read, read_path};
pub use sheet::WrittenLabel;
pub use table::{BagTable, NEGATIVE_WORDS, POSITIVE_WORDS, UNLABELLED};
pub use write::{write, write_path};
