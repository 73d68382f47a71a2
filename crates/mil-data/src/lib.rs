//! Multiple-instance data in the file formats people have.

mod atomic_file;
mod columns;
mod error;
mod formats;
mod gzip;
mod options;
mod read;
mod sheet;
mod table;
mod text;
mod write;
mod zip;

pub use error::{DataError, Fault, Location, Part, Place, Uncarried};
pub use options::{Column, Columns, Compression, CsvOptions, Format, Header, Limits, ReadOptions, WriteOptions};
pub use read::{read, read_path};
pub use sheet::WrittenLabel;
pub use table::{BagTable, NEGATIVE_WORDS, POSITIVE_WORDS, UNLABELLED};
pub use write::{write, write_path};
