//! Every way a command can fail.

use std::io;
use std::path::{Path, PathBuf};

use mil_core::model_file::ModelFileError;
use mil_core::{FitError, ParamError, ScoreError};
use mil_data::DataError;
use mil_data::catalogue::CatalogueError;
use mil_data::synth::SynthError;
use mil_pmi::QueryError;

/// Why a command failed. Each is the user's to mend, and says how.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The data cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A data set of the catalogue cannot be had.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// DATA is neither a file nor a name.
    #[error(
        "there is no file {data:?}, nor a data set of that name; {hint}the names are: {known} (`mil datasets` tells more)"
    )]
    NoData {
        /// What was given.
        data: String,
        /// A name that is near, in a sentence.
        hint: String,
        /// All names.
        known: String,
    },
    /// The labels are not of two classes by themselves.
    #[error(
        "{source}. Name the positive class with --positive WORD (all others are negative), or take each word for a class of its own with --multiclass"
    )]
    Labels {
        /// Which label, and where.
        source: DataError,
    },
    /// Bags could not be generated.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// A parameter is wrong.
    #[error("{learner}: {source}")]
    Param {
        /// Who has the parameters.
        learner: String,
        /// What is wrong.
        source: ParamError,
    },
    /// A fit failed.
    #[error("{learner}: {source}")]
    Fit {
        /// Who was fitted.
        learner: String,
        /// Why.
        source: FitError,
    },
    /// Bags cannot be scored.
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// A model file cannot be used.
    #[error("{}: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ModelFileError,
    },
    /// A model file of a kind that is none of a learner.
    #[error("{}: the file holds a {kind:?} model, which this command cannot use", path.display())]
    ModelKind {
        /// The file.
        path: PathBuf,
        /// Its kind.
        kind: String,
    },
    /// The features are not those the model was fitted on.
    #[error(
        "feature {position} is named {found:?} in the data and {expected:?} in the model; bring the columns into the order of the model"
    )]
    FeatureName {
        /// Counted from 1.
        position: usize,
        /// In the data.
        found: String,
        /// In the model.
        expected: String,
    },
    /// A query session cannot go on.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Standard output or input failed.
    #[error("standard output: {0}")]
    Output(io::Error),
    /// Whoever read our output has closed it.
    #[error("the output was closed")]
    PipeClosed,
    /// Options that do not go together, or words that do not read.
    #[error("{0}")]
    Usage(String),
}

impl CliError {
    /// A failure of the system at a file.
    pub fn io(path: &Path, source: io::Error) -> CliError {
        CliError::Io { path: path.to_owned(), source }
    }

    /// A failure of a model file.
    pub fn model(path: &Path, source: ModelFileError) -> CliError {
        match source {
            // It names the file itself.
            ModelFileError::Io { path, source } => CliError::Io { path, source },
            source => CliError::Model { path: path.to_owned(), source },
        }
    }
}

/// Failures while printing.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        if error.kind() == io::ErrorKind::BrokenPipe { CliError::PipeClosed } else { CliError::Output(error) }
    }
}

/// A sentence that offers the nearest name, or nothing.
#[must_use]
pub fn hint(name: &str, known: &[&str]) -> String {
    mil_core::nearest_name(name, known).map_or(String::new(), |near| format!("did you mean `{near}`? "))
}
