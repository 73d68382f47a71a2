//! From a bag set to a file or any writer.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use mil_core::BagSet;

use crate::atomic_file;
use crate::error::{DataError, Uncarried};
use crate::formats::{arff, c45, csv, npz, svm};
use crate::options::{Compression, Format, WriteOptions, has_extension};
use crate::sheet::{Sheet, WrittenLabel};

/// Writes a file that reads back equal, or nothing at all.
///
/// The format comes from the options or else from the extension; a path that ends in `.gz` is compressed. The file appears whole under
/// its name or not at all: it is written beside its place, flushed to disk and renamed.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("mil-data-doc-{}.arff.gz", std::process::id()));
/// use mil_core::{BagSet, Label};
/// let mut builder = BagSet::builder();
/// builder.bag("left, first", Label::Positive, [[1.0, -0.0]])?.bag("right", Label::Negative, [[0.1, 1e308]])?;
/// let bags = builder.build()?;
/// mil_data::write_path(&path, &bags, &Default::default())?;
/// assert_eq!(mil_data::read_path(&path, &Default::default())?.binary(None)?, bags);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the format cannot carry the set, see [`Uncarried`], or writing fails.
pub fn write_path<Y: WrittenLabel>(
    path: impl AsRef<Path>,
    bags: &BagSet<Y>,
    options: &WriteOptions,
) -> Result<(), DataError> {
    let path = path.as_ref();
    let format = options.format.map_or_else(|| Format::of_path(path), Ok)?;
    let is_compressed = match options.compression {
        Compression::ByExtension => has_extension(path, "gz"),
        Compression::Gzip => true,
        Compression::Plain => false,
    };
    let sheet = fitting_sheet(bags, format, options.lossy)?;
    atomic_file::write(path, |out| write_sheet(&sheet, format, is_compressed, out))
        .map_err(|error| DataError::Io { source_name: path.display().to_string(), error })
}

/// Writes to any writer what [`write_path`] writes to a file. Compresses only if [`Compression::Gzip`] is asked for.
///
/// ```
/// use mil_core::BagSet;
/// use mil_data::{Format, WriteOptions, write};
/// let mut builder = BagSet::builder();
/// builder.bag("lone bag", (), [[1.0, 2.5]])?;
/// let bags = builder.build()?;
/// let mut text = Vec::new();
/// write(&mut text, &bags, Format::Csv, &WriteOptions::default())?;
/// assert_eq!(text, b"label,bag,f1,f2\n?,lone bag,1,2.5\n");
/// let refused = write(&mut text, &bags, Format::Svm, &WriteOptions::default()).unwrap_err();
/// assert!(refused.to_string().starts_with("MIL .svm cannot carry the name \"lone bag\" of bag 0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the format cannot carry the set, see [`Uncarried`], or writing fails.
pub fn write<Y: WrittenLabel>(
    mut writer: impl Write,
    bags: &BagSet<Y>,
    format: Format,
    options: &WriteOptions,
) -> Result<(), DataError> {
    let sheet = fitting_sheet(bags, format, options.lossy)?;
    write_sheet(&sheet, format, options.compression == Compression::Gzip, &mut writer)
        .map_err(|error| DataError::Io { source_name: format!("{format} output"), error })
}

/// The set as the format carries it whole, or without what may be dropped.
fn fitting_sheet<Y: WrittenLabel>(bags: &BagSet<Y>, format: Format, lossy: bool) -> Result<Sheet<'_>, DataError> {
    if format == Format::Parquet && !cfg!(feature = "parquet") {
        return Err(DataError::NotBuilt { format });
    }
    let mut sheet = Sheet::new(bags, format);
    while let Err(what) = check(&sheet, format) {
        if !(lossy && sheet.drop_part(&what)) {
            return Err(DataError::CannotCarry { format, what });
        }
    }
    Ok(sheet)
}

fn check(sheet: &Sheet<'_>, format: Format) -> Result<(), Uncarried> {
    match format {
        Format::C45 => c45::check(sheet),
        Format::Svm => svm::check(sheet),
        Format::Csv => csv::check(sheet),
        Format::Arff => arff::check(sheet),
        Format::Npz => npz::check(sheet),
        #[cfg(feature = "parquet")]
        Format::Parquet => crate::formats::parquet::check(sheet),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Ok(()),
    }
}

fn write_sheet(sheet: &Sheet<'_>, format: Format, is_compressed: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    if is_compressed {
        let mut encoder = BufWriter::with_capacity(1 << 16, GzEncoder::new(&mut out, flate2::Compression::default()));
        write_plain(sheet, format, &mut encoder)?;
        encoder.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    } else {
        write_plain(sheet, format, &mut out)?;
    }
    out.flush()
}

fn write_plain(sheet: &Sheet<'_>, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::C45 => c45::write(sheet, out),
        Format::Svm => svm::write(sheet, out),
        Format::Csv => csv::write(sheet, out),
        Format::Arff => arff::write(sheet, out),
        Format::Npz => npz::write(sheet, out),
        #[cfg(feature = "parquet")]
        Format::Parquet => crate::formats::parquet::write(sheet, out),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => unreachable!("refused before anything is written"),
    }
}
