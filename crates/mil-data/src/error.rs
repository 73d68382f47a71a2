//! Every way reading and writing data can fail.
//!
//! A fault of the input has two halves: *where* ([`Location`]: the source and a [`Place`] in it) and *what* ([`Fault`]).

use std::fmt;

use mil_core::BagError;

use crate::options::Format;

/// Why data could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused, or the reader or writer handed to us did.
    #[error("{source_name}: {error}")]
    Io {
        /// Name of the source or target.
        source_name: String,
        /// What the system said.
        #[source]
        error: std::io::Error,
    },
    /// The name of a file does not tell its format.
    #[error(
        "{path}: the file name tells no format; expected .data, .svm, .csv, .arff, .npz or .parquet \
         (each also with .gz), or state the format"
    )]
    UnknownFormat {
        /// The path as given.
        path: String,
    },
    /// The contents of a source are not what its format demands.
    #[error("{at}: {fault}")]
    Input {
        /// Where.
        at: Box<Location>,
        /// What.
        fault: Fault,
    },
    /// The words of a source are read, but do not make a bag set.
    #[error("{source_name}: {error}")]
    Bags {
        /// Name of the source.
        source_name: String,
        /// What the bag set found wrong.
        #[source]
        error: BagError,
    },
    /// The format has no place for something the bag set holds. Nothing was written.
    #[error("{format} cannot carry {what}")]
    CannotCarry {
        /// The format asked for.
        format: Format,
        /// What it has no place for.
        what: Uncarried,
    },
    /// The format was left out when this program was built.
    #[error("this build does not know {format}; enable the cargo feature `parquet` of mil-data")]
    NotBuilt {
        /// The format asked for.
        format: Format,
    },
}

/// A source and a place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Name of the source, mostly the path of a file.
    pub source_name: String,
    /// Where in it.
    pub place: Place,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source_name)?;
        match &self.place {
            Place::Whole => Ok(()),
            Place::Text { line, column } => write!(f, ", line {line}, column {column}"),
            Place::Member { name, row, column } => {
                write!(f, ", member {name:?}")?;
                row.map_or(Ok(()), |row| write!(f, ", row {row}"))?;
                column.map_or(Ok(()), |column| write!(f, ", column {column}"))
            }
            Place::Column { name, row } => {
                write!(f, ", column {name:?}")?;
                row.map_or(Ok(()), |row| write!(f, ", row {row}"))
            }
        }
    }
}

/// A place inside a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The source as a whole.
    Whole,
    /// A character of a text. Both count from 1; the column counts characters, not fields, as editors do.
    Text {
        /// Line, from 1.
        line: u64,
        /// Character within the line, from 1.
        column: u64,
    },
    /// An array of an `.npz` file.
    Member {
        /// Name of the array.
        name: String,
        /// Row, from 0 as in Python.
        row: Option<u64>,
        /// Column, from 0.
        column: Option<u64>,
    },
    /// A column of a Parquet file.
    Column {
        /// Name of the column.
        name: String,
        /// Row in the whole file, from 0.
        row: Option<u64>,
    },
}

/// One of the things a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The name of the bag.
    Bag,
    /// The label of the bag.
    Label,
    /// The label of the instance.
    InstanceLabel,
    /// The name of the instance.
    Instance,
    /// The name of a class.
    ClassName,
    /// The name of a feature.
    FeatureName,
    /// A feature, counted from 1.
    Feature(usize),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Bag => f.write_str("the bag's name"),
            Part::Label => f.write_str("the label"),
            Part::InstanceLabel => f.write_str("the instance's label"),
            Part::Instance => f.write_str("the instance's name"),
            Part::ClassName => f.write_str("the class name"),
            Part::FeatureName => f.write_str("the feature's name"),
            Part::Feature(number) => write!(f, "feature {number}"),
        }
    }
}

/// What is wrong at a place of the input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// There is no instance at all.
    Empty,
    /// Something every row must have is not there.
    Missing {
        /// What is missing.
        part: Part,
    },
    /// A feature is a word.
    NotANumber {
        /// The feature, from 1.
        feature: usize,
        /// The word, shortened if long.
        word: String,
    },
    /// A feature is NaN, infinite, or too large for a double.
    NotFinite {
        /// The feature, from 1.
        feature: usize,
        /// The word, shortened if long.
        word: String,
    },
    /// A row has another number of fields than those before it.
    Ragged {
        /// Fields of this row.
        found: usize,
        /// Fields it should have.
        expected: usize,
    },
    /// A row has too few fields to hold a bag and a feature.
    TooFewFields {
        /// Fields of this row.
        found: usize,
        /// The least it should have.
        least: usize,
    },
    /// Two rows of a bag have different labels.
    LabelsDisagree {
        /// Name of the bag.
        bag: String,
        /// Label of this row.
        found: String,
        /// Label of the bag's first row.
        first: String,
        /// Line (or row) of the bag's first row.
        first_line: u64,
    },
    /// A bag was closed by another and comes again.
    BagReappears {
        /// Name of the bag.
        bag: String,
        /// Line (or row) where it began.
        first_line: u64,
    },
    /// Something that must be unique comes twice.
    Duplicate {
        /// What.
        part: Part,
        /// The value that comes twice.
        value: String,
        /// Line (or row) of its first coming.
        first_line: u64,
    },
    /// A byte that is not part of UTF-8 text.
    NotUtf8 {
        /// The byte.
        byte: u8,
        /// Its position in the (uncompressed) source, from 0.
        offset: u64,
    },
    /// More columns than [`Limits::max_columns`](crate::Limits::max_columns).
    TooManyColumns {
        /// The limit.
        limit: usize,
    },
    /// A line longer than [`Limits::max_line_bytes`](crate::Limits::max_line_bytes).
    LineTooLong {
        /// The limit.
        limit: usize,
    },
    /// More values than [`Limits::max_values`](crate::Limits::max_values).
    TooManyValues {
        /// The limit.
        limit: usize,
    },
    /// A quote that never closes on its line.
    UnterminatedQuote,
    /// Something between a closing quote and the next separator.
    TextAfterQuote,
    /// The compressed data end before they are complete.
    GzipTruncated,
    /// The compressed data are damaged.
    GzipDamaged,
    /// Something that is not gzip follows the compressed data.
    GzipTrailing {
        /// Position of the first surplus byte in the compressed source, from 0.
        offset: u64,
    },
    /// A label is none of the words that stand for positive and negative.
    UnknownLabel {
        /// Whose label it is.
        part: Part,
        /// The word.
        word: String,
    },
    /// Two words of one source would both stand for negative, so there may be three classes.
    AmbiguousLabels {
        /// One word.
        first: String,
        /// The other.
        second: String,
    },
    /// The word chosen as positive is the label of no bag.
    NoPositive {
        /// The word chosen.
        chosen: String,
        /// The words there are.
        found: Vec<String>,
    },
    /// A bag has no label, and a labelled set was asked for.
    Unlabelled {
        /// Name of the bag.
        bag: String,
    },
    /// Some instances have labels and some not.
    PartlyUnlabelled,
    /// A word is not among those the header declares.
    Undeclared {
        /// What the word is.
        part: Part,
        /// The word.
        word: String,
    },
    /// The column chosen does not exist.
    NoColumn {
        /// Name or position as given.
        wanted: String,
    },
    /// Two columns claim one role.
    TwoColumns {
        /// The role.
        part: Part,
        /// Position of the first, from 1.
        first: usize,
        /// Position of the second, from 1.
        second: usize,
    },
    /// An array or column that must be there is not.
    NoMember {
        /// Its name.
        name: &'static str,
    },
    /// Two lengths that must agree do not.
    Length {
        /// Length found.
        found: u64,
        /// Length expected.
        expected: u64,
    },
    /// Anything else the format's grammar demands.
    Expected {
        /// What should stand here.
        expected: &'static str,
        /// What does, shortened if long.
        found: String,
    },
    /// The Parquet library refused the file.
    Parquet {
        /// What it said.
        message: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Empty => f.write_str("no instance found; expected at least one"),
            Fault::Missing { part: part @ Part::Feature(_) } => {
                write!(
                    f,
                    "{part} is missing; expected a number (fill missing values in first, this library does not guess)"
                )
            }
            Fault::Missing { part: part @ (Part::Label | Part::InstanceLabel) } => {
                write!(f, "{part} is missing; expected a word, or ? if it is not known")
            }
            Fault::Missing { part: Part::FeatureName } => f.write_str(
                "a column has no name; name it, or ignore it in the read options if it only counts the rows",
            ),
            Fault::Missing { part } => write!(f, "{part} is missing; expected a word"),
            Fault::NotANumber { feature, word } => write!(f, "feature {feature} is {word:?}; expected a number"),
            Fault::NotFinite { feature, word } => write!(f, "feature {feature} is {word}; expected a finite number"),
            Fault::Ragged { found, expected } => {
                write!(f, "the row has {found} fields; expected {expected}")
            }
            Fault::TooFewFields { found, least } => write!(f, "the row has {found} fields; expected at least {least}"),
            Fault::LabelsDisagree { bag, found, first, first_line } => write!(
                f,
                "bag {bag:?} has label {found:?} here and {first:?} on line (or row) {first_line}; all rows of a bag must agree"
            ),
            Fault::BagReappears { bag, first_line } => write!(
                f,
                "bag {bag:?} began on line (or row) {first_line}, was followed by another bag and comes again; \
                 the rows of a bag must stand together (sort the file by bag)"
            ),
            Fault::Duplicate { part, value, first_line } => {
                write!(f, "{part} {value:?} was used before, on line (or row) {first_line}; it must be unique")
            }
            Fault::NotUtf8 { byte, offset } => write!(
                f,
                "byte 0x{byte:02x} (byte {offset} of the source, from 0) is not UTF-8 text; convert the file to UTF-8"
            ),
            Fault::TooManyColumns { limit } => {
                write!(f, "more than {limit} columns; if that is meant, raise `limits.max_columns` of the read options")
            }
            Fault::LineTooLong { limit } => write!(
                f,
                "the line is longer than {limit} bytes; if that is meant, raise `limits.max_line_bytes` of the read options"
            ),
            Fault::TooManyValues { limit } => {
                write!(f, "more than {limit} values; if that is meant, raise `limits.max_values` of the read options")
            }
            Fault::UnterminatedQuote => {
                f.write_str("this quote is never closed; expected its partner on the same line")
            }
            Fault::TextAfterQuote => {
                f.write_str("text after a closing quote; expected a separator or the end of the line")
            }
            Fault::GzipTruncated => f.write_str("the gzip data end too early; the file is incomplete"),
            Fault::GzipDamaged => f.write_str("the gzip data are damaged"),
            Fault::GzipTrailing { offset } => {
                write!(f, "byte {offset} (from 0) follows the end of the gzip data and is not gzip; expected nothing")
            }
            Fault::UnknownLabel { part, word } => write!(
                f,
                "{part} is {word:?}; expected one of {} or {}, or say which word is positive",
                crate::table::POSITIVE_WORDS.join(", "),
                crate::table::NEGATIVE_WORDS.join(", ")
            ),
            Fault::AmbiguousLabels { first, second } => write!(
                f,
                "label {second:?}, but {first:?} stood for negative before; say which word is positive, or read the set as many classes"
            ),
            Fault::NoPositive { chosen, found } => {
                write!(f, "no bag has the positive label {chosen:?}; the labels are {}", found.join(", "))
            }
            Fault::Unlabelled { bag } => {
                write!(f, "bag {bag:?} has no label (?); give it one, or read the set as unlabelled")
            }
            Fault::PartlyUnlabelled => {
                f.write_str("some instances have a label and this one has none (?); label all or none")
            }
            Fault::Undeclared { part, word } => write!(f, "{part} {word:?} is not among those declared in the header"),
            Fault::NoColumn { wanted } => write!(f, "there is no column {wanted}"),
            Fault::TwoColumns { part, first, second } => {
                write!(f, "columns {first} and {second} could both hold {part}; choose one in the read options")
            }
            Fault::NoMember { name } => write!(f, "{name:?} is missing"),
            Fault::Length { found, expected } => write!(f, "length is {found}; expected {expected}"),
            Fault::Expected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Fault::Parquet { message } => write!(f, "not a readable Parquet file: {message}"),
        }
    }
}

/// What a format has no place for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uncarried {
    /// Feature names other than `f1`, `f2`, ….
    FeatureNames,
    /// One feature name that would be misread.
    FeatureName {
        /// The name.
        name: String,
    },
    /// Labels of instances.
    InstanceLabels,
    /// A bag name that would be misread.
    BagName {
        /// Position of the bag.
        bag_idx: usize,
        /// The name.
        name: String,
    },
    /// A class name that would be misread.
    ClassName {
        /// The name.
        name: String,
    },
    /// A class that no label uses.
    ClassWithoutBags {
        /// The name.
        name: String,
    },
}

impl fmt::Display for Uncarried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uncarried::FeatureNames => {
                f.write_str("feature names; write .csv, .arff, .npz or .parquet, or allow a lossy write to drop them")
            }
            Uncarried::FeatureName { name } => {
                write!(f, "the feature name {name:?}; rename it, write .npz, or allow a lossy write to drop all names")
            }
            Uncarried::InstanceLabels => {
                f.write_str("labels of instances; write .csv, .npz or .parquet, or allow a lossy write to drop them")
            }
            Uncarried::BagName { bag_idx, name } => write!(
                f,
                "the name {name:?} of bag {bag_idx}; rename it, write .parquet, or allow a lossy write to number the bags"
            ),
            Uncarried::ClassName { name } => write!(f, "the class name {name:?}; rename the class"),
            Uncarried::ClassWithoutBags { name } => write!(
                f,
                "the class {name:?}, which has no bag; write .arff, .npz or .parquet, or allow a lossy write to drop it"
            ),
        }
    }
}

/// A word as an error shows it: at most 40 characters.
pub(crate) fn shorten(word: &str) -> String {
    match word.char_indices().nth(40) {
        None => word.to_owned(),
        Some((end, _)) => format!("{}…", &word[..end]),
    }
}
