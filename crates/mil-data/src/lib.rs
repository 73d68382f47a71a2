//! Multiple-instance data: the file formats people have, [synthetic generators](synth) and the [catalogue] of known data sets.
//!
//! | format | extension | bag names | feature names | instance labels | classes without bags |
//! |---|---|---|---|---|---|
//! | [C4.5 as UCI's Musk](Format::C45) | `.data` | no comma | – | – | – |
//! | [Andrews' MIL](Format::Svm) | `.svm` | no blank, no colon | – | – | – |
//! | [CSV](Format::Csv) | `.csv` | one line | yes, but `label`, `bag`, … | yes | – |
//! | [Weka's multi-instance ARFF](Format::Arff) | `.arff` | all | yes | – | yes |
//! | [NumPy](Format::Npz) | `.npz` | not ending in NUL | yes | yes | yes |
//! | [Parquet](Format::Parquet) | `.parquet` | all | yes, but `label`, `bag`, … | yes | yes |
//!
//! Each may be compressed with gzip, which is found by its first bytes. `docs/formats.md` describes every format precisely.
//!
//! **Reading** gives a [`BagTable`]: numbers, names, and labels still as words. From it come bags of two classes
//! ([`binary`](BagTable::binary)), of many ([`classes`](BagTable::classes)) or without labels ([`unlabelled`](BagTable::unlabelled)).
//! Text is read as a stream, in time linear in its length and about the memory of the matrix itself. Whatever is wrong is a [`DataError`] that
//! names the source, the line and the column; damaged and hostile files end in such an error too, within [`Limits`].
//!
//! **Writing** keeps one rule: what is written reads back equal (values to the bit, names, labels, classes), or the write is refused
//! with an error that says what the format [cannot carry](Uncarried). [`WriteOptions::lossy`] drops it instead.
//!
//! ```
//! use mil_data::{Format, ReadOptions, WriteOptions, read, write};
//!
//! let text = "MUSK-188,188_1+1,42,-198,1.\nMUSK-188,188_1+2,42,-191,1.\nNON-MUSK-1,1_1+1,46,-194,0.\n";
//! let bags = read(text.as_bytes(), "clean.data", Format::C45, &ReadOptions::default())?.binary(None)?;
//! assert_eq!((bags.n_bags(), bags.n_instances(), bags.positive_bags().count()), (2, 3, 1));
//!
//! let mut csv = Vec::new();
//! write(&mut csv, &bags, Format::Csv, &WriteOptions::default())?;
//! assert_eq!(read(&csv[..], "clean.csv", Format::Csv, &ReadOptions::default())?.binary(None)?, bags);
//!
//! let ragged = read(&b"1,a,2,3\n1,a,2\n"[..], "short.csv", Format::Csv, &ReadOptions::default()).unwrap_err();
//! assert_eq!(ragged.to_string(), "short.csv, line 2, column 6: the row has 3 fields; expected 4");
//! # Ok::<(), mil_data::DataError>(())
//! ```
//!
//! The cargo feature `parquet`, on by default, brings the one large dependency; `zstd` adds that compression to it.

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
pub use formats::csv::CsvStream;
pub use instances::{InstancesError, LabelledInstances};
pub use options::{Column, Columns, Compression, CsvOptions, Format, Header, Limits, ReadOptions, WriteOptions};
pub use read::{read, read_path};
pub use sheet::WrittenLabel;
pub use table::{BagTable, NEGATIVE_WORDS, POSITIVE_WORDS, UNLABELLED};
pub use write::{write, write_path};

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
