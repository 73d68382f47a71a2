//! From a file or any reader to a [`BagTable`].

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use crate::error::{DataError, Fault, Place};
use crate::formats::{arff, c45, csv, npz, svm};
use crate::gzip::{self, Plain};
use crate::options::{Format, Limits, ReadOptions};
use crate::table::BagTable;
use crate::text::{Lines, input, io};

/// A file held in memory may have this for each of [`Limits::max_values`] values, and some to spare.
const BYTES_PER_VALUE: u64 = 8;
const SPARE_BYTES: u64 = 64 << 20;

/// Reads a file. The format comes from the options or else from the extension; gzip is found by its first bytes, whatever the name.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/musk1.csv.gz");
/// let bags = mil_data::read_path(path, &Default::default())?.binary(None)?;
/// assert_eq!((bags.n_bags(), bags.n_instances(), bags.n_features()), (92, 476, 166));
/// # Ok::<(), mil_data::DataError>(())
/// ```
///
/// # Errors
/// If the file cannot be read or its contents are not what the format demands; the error names the place.
pub fn read_path(path: impl AsRef<Path>, options: &ReadOptions) -> Result<BagTable, DataError> {
    let path = path.as_ref();
    let source_name = path.display().to_string();
    let format = options.format.map_or_else(|| Format::of_path(path), Ok)?;
    let mut file = File::open(path).map_err(|error| io(&source_name, error))?;
    // An archive that is not compressed once more is read in place.
    if format == Format::Npz && !gzip::is_next(&mut file).map_err(|error| io(&source_name, error))? {
        return npz::read(&mut std::io::BufReader::new(file), &source_name, options);
    }
    read(file, &source_name, format, options)
}

/// Reads from any reader. Gzip is found by its first bytes. `source_name` is what errors call the source.
///
/// Text is read as a stream; `.npz` and Parquet, which need to jump about, are first read into memory.
///
/// ```
/// use mil_data::{Format, ReadOptions, read};
/// let text = "# two bags\n0:left:1 1:0.5 3:2\n1:left:1 2:1\n2:right:-1 1:4\n";
/// let bags = read(text.as_bytes(), "inline", Format::Svm, &ReadOptions::default())?.binary(None)?;
/// assert_eq!(bags.bag(0).instance(0), [0.5, 0.0, 2.0]);
/// # Ok::<(), mil_data::DataError>(())
/// ```
///
/// # Errors
/// If reading fails or the contents are not what the format demands; the error names the place.
pub fn read(
    reader: impl Read,
    source_name: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<BagTable, DataError> {
    let plain = gzip::open(reader).map_err(|error| io(source_name, error))?;
    let lines = |plain| Lines::new(plain, source_name, &options.limits);
    match format {
        Format::C45 => c45::read(lines(plain), source_name, options),
        Format::Svm => svm::read(lines(plain), source_name, options),
        Format::Csv => csv::read(lines(plain), source_name, options),
        Format::Arff => arff::read(lines(plain), source_name, options),
        Format::Npz => {
            let bytes = read_whole(plain, source_name, &options.limits)?;
            npz::read(&mut Cursor::new(bytes), source_name, options)
        }
        Format::Parquet => {
            let bytes = read_whole(plain, source_name, &options.limits)?;
            read_parquet(bytes, source_name, options)
        }
    }
}

#[cfg(feature = "parquet")]
fn read_parquet(bytes: Vec<u8>, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    crate::formats::parquet::read(bytes, source_name, options)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(_: Vec<u8>, _: &str, _: &ReadOptions) -> Result<BagTable, DataError> {
    Err(DataError::NotBuilt { format: Format::Parquet })
}

fn read_whole(plain: Plain<'_>, source_name: &str, limits: &Limits) -> Result<Vec<u8>, DataError> {
    let max_bytes = (limits.max_values as u64).saturating_mul(BYTES_PER_VALUE).saturating_add(SPARE_BYTES);
    let mut bytes = Vec::new();
    plain.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| io(source_name, error))?;
    if bytes.len() as u64 > max_bytes {
        return Err(input(source_name, Place::Whole, Fault::TooManyValues { limit: limits.max_values }));
    }
    if bytes.is_empty() {
        return Err(input(source_name, Place::Whole, Fault::Empty));
    }
    Ok(bytes)
}
