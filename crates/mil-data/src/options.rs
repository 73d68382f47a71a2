//! Formats and the choices a caller has in reading and writing them.

use std::fmt;
use std::path::Path;

use crate::error::DataError;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// UCI's C4.5 data, `bag,instance,f1,…,fd,class.`, extension `.data`.
    C45,
    /// Andrews' multiple-instance `.svm`, `instance:bag:label 1:v1 2:v2 …`.
    Svm,
    /// Comma-separated values, by default `label,bag,f1,…,fd`, extension `.csv`.
    Csv,
    /// Weka's multi-instance ARFF with one relational attribute, extension `.arff`.
    Arff,
    /// A NumPy archive, extension `.npz`.
    Npz,
    /// Apache Parquet, one row per instance, extension `.parquet`.
    Parquet,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] = [Format::C45, Format::Svm, Format::Csv, Format::Arff, Format::Npz, Format::Parquet];

    /// The extension of the format, without a dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Format::C45 => "data",
            Format::Svm => "svm",
            Format::Csv => "csv",
            Format::Arff => "arff",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
        }
    }

    /// The format that a path's extension names, a final `.gz` aside; case does not matter.
    ///
    /// ```
    /// use mil_data::Format;
    /// assert_eq!(Format::of_path("data/musk1.CSV.gz".as_ref())?, Format::Csv);
    /// assert!(Format::of_path("data/musk1.txt".as_ref()).is_err());
    /// # Ok::<(), mil_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::UnknownFormat`].
    pub fn of_path(path: &Path) -> Result<Format, DataError> {
        let bare = if has_extension(path, "gz") { path.with_extension("") } else { path.to_owned() };
        Format::ALL
            .into_iter()
            .find(|format| has_extension(&bare, format.extension()))
            .ok_or_else(|| DataError::UnknownFormat { path: path.display().to_string() })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::C45 => "C4.5 (.data)",
            Format::Svm => "MIL .svm",
            Format::Csv => "CSV",
            Format::Arff => "ARFF",
            Format::Npz => ".npz",
            Format::Parquet => "Parquet",
        })
    }
}

/// Whether a path's extension is this one, case aside.
pub(crate) fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(wanted))
}

/// How to read. The default suits files laid out as the documentation of their format says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The format; `None` takes it from the extension.
    pub format: Option<Format>,
    /// Which columns hold what, in formats with columns of free choice: CSV and Parquet.
    pub columns: Columns,
    /// Peculiarities of CSV.
    pub csv: CsvOptions,
    /// Bounds on what is read, against damaged and hostile files.
    pub limits: Limits,
}

/// Which columns of a CSV or Parquet file hold what; all others are features.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Columns {
    /// The bag's name. Found by default: `bag`, `bag_id`, `bag_name`, `bags`; without a header, the second column.
    pub bag: Column,
    /// The bag's label. Found by default: `label`, `bag_label`, `class`, `target`, `y`; without a header, the first column.
    pub label: Column,
    /// The instance's label. Found by default: `instance_label`, `instance_class`; without a header, none.
    pub instance_label: Column,
    /// Columns that are neither: skipped.
    pub ignore: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Column {
    /// Found by the names that [`Columns`] lists (case, blanks, `-` and `_` aside), or at its default position.
    #[default]
    Found,
    /// The column of exactly this name.
    Named(String),
    /// The column at this position, counted from 1.
    At(usize),
    /// There is none.
    Absent,
}

/// Peculiarities of a CSV file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// Whether the first line names the columns.
    pub header: Header,
    /// The separator, one ASCII character other than a quote or a line break.
    pub separator: u8,
}

impl Default for CsvOptions {
    fn default() -> Self {
        CsvOptions { header: Header::Found, separator: b',' }
    }
}

/// Whether the first line of a CSV file names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// Yes if some column is chosen by name; else, yes if a field is a name of the bag column and either another is a name of
    /// the label column or no field is a number.
    #[default]
    Found,
    /// It does.
    Present,
    /// It does not.
    Absent,
}

/// Bounds on what is read. Beyond them reading ends with an error that names the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Columns of a table, or features of an instance.
    pub max_columns: usize,
    /// Bytes of one line of text. In ARFF a line holds a whole bag.
    pub max_line_bytes: usize,
    /// Values of the whole set, instances times features. A value takes 8 bytes of memory.
    pub max_values: usize,
}

impl Default for Limits {
    /// 100,000 columns, 64 MiB per line, 2³⁰ values (8 GiB).
    fn default() -> Self {
        Limits { max_columns: 100_000, max_line_bytes: 64 << 20, max_values: 1 << 30 }
    }
}

/// How to write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// The format; `None` takes it from the extension.
    pub format: Option<Format>,
    /// What to do with what the format cannot carry: `false` refuses to write, `true` drops it. A set written with `false` reads back
    /// equal.
    pub lossy: bool,
    /// Whether to compress.
    pub compression: Compression,
}

/// Whether to compress what is written with gzip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// If the path ends in `.gz`; never if there is no path.
    #[default]
    ByExtension,
    /// In any case.
    Gzip,
    /// In no case.
    Plain,
}
