//! Every way a known data set can be missing or not the one meant.

use std::fmt;
use std::path::PathBuf;

use mil_core::nearest_name;

use super::{Contents, Entry};
use crate::DataError;

/// Why a data set could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// No data set has this name.
    #[error("there is no data set {name:?}; {}known: {}", hint(name, known), known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The data set was not found.
    #[error("{}: {missing}. {}", entry.name, entry.obtain)]
    Missing {
        /// The data set.
        entry: &'static Entry,
        /// What is not there.
        missing: Missing,
    },
    /// A file was found, but is not the one meant.
    #[error("{}: {origin}: {fault}. {}", entry.name, entry.obtain)]
    File {
        /// The data set.
        entry: &'static Entry,
        /// Which file.
        origin: Origin,
        /// What is wrong with it.
        fault: Box<FileFault>,
    },
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// It cannot be read, or is compressed and damaged.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It is longer than it should be; how much longer was not looked into.
    #[error("holds more than {expected} bytes (uncompressed), expected just as many")]
    TooLong {
        /// Bytes it should hold, uncompressed.
        expected: u64,
    },
    /// It is shorter than it should be.
    #[error("holds {found} bytes (uncompressed), expected {expected}")]
    TooShort {
        /// Bytes it holds.
        found: u64,
        /// Bytes it should hold.
        expected: u64,
    },
    /// Its bytes are others.
    #[error("has the SHA-256 {found} (uncompressed), expected {expected}")]
    Checksum {
        /// SHA-256 of its bytes.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// It does not read as its format.
    #[error("does not read: {0}")]
    Read(Box<DataError>),
    /// It holds other numbers of things.
    #[error("holds {found}; expected {expected}")]
    Contents {
        /// What it holds.
        found: Contents,
        /// What it should hold.
        expected: Contents,
    },
}

/// Why a data set was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// It is not shipped, and there was no folder to look in.
    NoFolderGiven,
    /// What was given as data folder is not a folder.
    FolderAbsent {
        /// The path given.
        folder: PathBuf,
    },
    /// The folder holds none of the files of a section.
    FileAbsent {
        /// The data folder.
        folder: PathBuf,
        /// Name of the section.
        section: &'static str,
        /// The paths tried, in order.
        looked_for: Vec<PathBuf>,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::NoFolderGiven => {
                f.write_str("it is not shipped, and no data folder was given (option --data or variable MIL_DATA)")
            }
            Missing::FolderAbsent { folder } => write!(f, "there is no data folder {}", folder.display()),
            Missing::FileAbsent { folder, section, looked_for } => {
                let relative = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).display().to_string();
                let names: Vec<String> = looked_for.iter().map(relative).collect();
                write!(
                    f,
                    "the folder {} has no file of its {section}; looked for {}",
                    folder.display(),
                    names.join(", ")
                )
            }
        }
    }
}

/// Where the bytes of a file came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Inside this crate; the path is the one it would have in a data folder.
    Shipped(&'static str),
    /// A file of the caller's.
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Shipped(path) => write!(f, "{path} (shipped)"),
            Origin::File(path) => write!(f, "{}", path.display()),
        }
    }
}

fn hint(name: &str, known: &[&str]) -> String {
    nearest_name(name, known).map_or(String::new(), |candidate| format!("did you mean `{candidate}`? "))
}
