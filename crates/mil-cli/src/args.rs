//! What can be asked of `mil`: the one definition from which parsing, help, completions and manual pages are made.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use mil_core::{ParamField, Scaling};
use mil_data::Format as DataFormat;

use crate::report::Format;

/// Learn from bags of instances: train, evaluate and explain multiple-instance models on your own tables.
#[derive(Debug, Parser)]
#[command(
    name = "mil",
    version,
    after_help = "DATA is a file (.csv, .svm, .data, .arff, .npz, .parquet, each also .gz), a name from `mil datasets`, or - for standard input.\n\n\
                  A first look:  mil evaluate --learner mi-svm musk1\n\
                  Your own file: mil train --learner miforest bags.csv -o model.mil && mil predict model.mil new.csv"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// How results are printed; JSON is a stable contract (docs/cli.md)
    #[arg(long, global = true, value_enum, default_value_t, help_heading = "Everywhere")]
    pub format: Format,
    /// Threads to use; all cores when not given. The results are the same whatever it is
    #[arg(long, global = true, value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Everywhere")]
    pub threads: Option<u16>,
    /// Fixes what is random: folds in evaluate, tune and compare, the learner in train, tune and stream, the bags in synth
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub seed: Option<u64>,
    /// No progress on standard error
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the data sets that have names, and where they are
    Datasets(DataFolder),
    /// Tell what a data set holds
    Info(InfoArgs),
    /// Read a data set in one format and write it in another
    Convert(ConvertArgs),
    /// Generate bags whose truth is known
    Synth(SynthArgs),
    /// List the learners, or tell all about one
    Learners(LearnersArgs),
    /// Fit a learner and keep the model in a file
    Train(TrainArgs),
    /// Score and label bags with a model
    Predict(PredictArgs),
    /// Cross-validate a learner
    Evaluate(EvaluateArgs),
    /// Search a grid of parameters by cross-validation
    Tune(TuneArgs),
    /// Cross-validate several learners on the same folds and test their differences
    Compare(CompareArgs),
    /// Predict bags as they come in on standard input, then learn from each
    Stream(StreamArgs),
    /// Ask about instances until PMI knows what makes bags positive
    Query(QueryArgs),
    /// Show why bags score as they do: instances, witness, features
    Explain(ExplainArgs),
    /// Write a completion script for a shell to standard output
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Write the manual pages, one file for each command
    Man {
        /// Folder for the pages
        #[arg(long, short, value_name = "DIR")]
        output: PathBuf,
    },
}

/// Where data that are not shipped lie.
#[derive(Debug, Clone, Args)]
pub struct DataFolder {
    /// Folder with data sets that are not shipped
    #[arg(long = "data", value_name = "DIR", env = "MIL_DATA", hide_env_values = true)]
    pub folder: Option<PathBuf>,
}

/// How DATA is read.
#[derive(Debug, Clone, Args)]
pub struct Reading {
    /// Format of the file, where its name does not tell; CSV on standard input unless given
    #[arg(long, value_enum, help_heading = "Reading")]
    pub input_format: Option<InputFormat>,
    /// Column with the name of the bag, by name or as #POSITION [default: bag, bag_id, ...]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub bag_column: Option<String>,
    /// Column with the label of the bag, by name or as #POSITION, or `none` [default: label, class, target, y, ...]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub label_column: Option<String>,
    /// Column with the label of the instance [default: instance_label, ...]
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub instance_label_column: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Reading")]
    pub ignore_columns: Vec<String>,
    /// The word that is positive; all others are negative
    #[arg(long, value_name = "WORD", help_heading = "Reading")]
    pub positive: Option<String>,
    /// Every label is a class of its own
    #[arg(long, conflicts_with = "positive", help_heading = "Reading")]
    pub multiclass: bool,
    /// What separates the fields of a CSV file; `tab` for a tab
    #[arg(long, value_name = "CHARACTER", help_heading = "Reading")]
    pub separator: Option<String>,
    /// The first line of the CSV file holds values, not names
    #[arg(long, help_heading = "Reading")]
    pub no_header: bool,
    /// Where data that are not shipped lie.
    #[command(flatten)]
    pub folder: DataFolder,
}

/// Formats by their extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Comma-separated values
    Csv,
    /// Andrews' multiple-instance .svm
    Svm,
    /// UCI's C4.5 .data
    Data,
    /// Weka's multi-instance ARFF
    Arff,
    /// A NumPy archive
    Npz,
    /// Apache Parquet
    Parquet,
}

impl From<InputFormat> for DataFormat {
    fn from(format: InputFormat) -> DataFormat {
        match format {
            InputFormat::Csv => DataFormat::Csv,
            InputFormat::Svm => DataFormat::Svm,
            InputFormat::Data => DataFormat::C45,
            InputFormat::Arff => DataFormat::Arff,
            InputFormat::Npz => DataFormat::Npz,
            InputFormat::Parquet => DataFormat::Parquet,
        }
    }
}

/// `mil info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// File, name, or - for standard input
    pub data: String,
    /// How it is read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// File, name, or - for standard input
    pub input: String,
    /// File to write; its extension tells the format, a final .gz compresses
    pub output: PathBuf,
    /// Leave out what the format cannot carry instead of refusing to write
    #[arg(long)]
    pub lossy: bool,
    /// How the input is read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil synth`.
#[derive(Debug, Args)]
pub struct SynthArgs {
    /// What to generate; without --output its parameters are listed
    #[arg(value_enum)]
    pub kind: SynthKind,
    /// File to write; its extension tells the format
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Set a parameter
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pub settings: Vec<(String, String)>,
    /// Leave out what the format cannot carry, such as labels of instances
    #[arg(long)]
    pub lossy: bool,
}

/// What can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SynthKind {
    /// Bags with few or many witnesses
    Witness,
    /// Clusters of positives and negatives in the plane (PMI)
    Clusters,
    /// Five Gaussians, the concept a pair (MIO)
    FiveGaussians,
    /// Images like those of digits; a bag is positive if it shows the positive digit (MIDL)
    Digits,
}

/// `mil learners`.
#[derive(Debug, Args)]
pub struct LearnersArgs {
    /// The learner to tell all about
    pub name: Option<String>,
}

/// Which learner, and how it is set up.
#[derive(Debug, Clone, Args)]
pub struct LearnerArgs {
    /// Name of the learner (`mil learners` lists them)
    #[arg(long, short, value_name = "NAME")]
    pub learner: String,
    /// Set a parameter (`mil learners NAME` lists them)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pub settings: Vec<(String, String)>,
    /// How features are scaled, by the training bags alone: none, min-max or standard [default: the learner's own]
    #[arg(long, value_name = "HOW", value_parser = scaling)]
    pub scale: Option<Scaling>,
}

/// The grid that is searched.
#[derive(Debug, Clone, Args)]
pub struct GridArgs {
    /// Values of a parameter to try, all combinations of several; commas inside parentheses do not separate [default: the learner's own grid]
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = pair)]
    pub grid: Vec<(String, String)>,
    /// Folds of the inner cross-validation
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    pub inner_folds: u32,
}

/// Folds and repetitions.
#[derive(Debug, Clone, Args)]
pub struct FoldArgs {
    /// Folds of the cross-validation
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    pub folds: u32,
    /// How often it is repeated with other folds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeats: u32,
}

/// `mil train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// File, name, or - for standard input
    pub data: String,
    /// File for the model
    #[arg(long, short)]
    pub output: PathBuf,
    /// Who learns.
    #[command(flatten)]
    pub learner: LearnerArgs,
    /// How the data are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil predict`.
#[derive(Debug, Args)]
pub struct PredictArgs {
    /// Model file
    pub model: PathBuf,
    /// File, name, or - for standard input; labels are not needed
    pub data: String,
    /// A line for each instance instead of each bag
    #[arg(long)]
    pub instances: bool,
    /// How the data are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateArgs {
    /// File, name, or - for standard input
    pub data: String,
    /// Choose parameters from a grid inside each training fold
    #[arg(long)]
    pub tune: bool,
    /// Who learns.
    #[command(flatten)]
    pub learner: LearnerArgs,
    /// How it is judged.
    #[command(flatten)]
    pub folds: FoldArgs,
    /// What is tried with --tune.
    #[command(flatten)]
    pub grid: GridArgs,
    /// How the data are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// File, name, or - for standard input
    pub data: String,
    /// File for the model of the best setting, fitted to all bags
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// How often the inner cross-validation is repeated
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeats: u32,
    /// Who learns.
    #[command(flatten)]
    pub learner: LearnerArgs,
    /// What is tried.
    #[command(flatten)]
    pub grid: GridArgs,
    /// How the data are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// File, name, or - for standard input
    pub data: String,
    /// Names of the learners, separated by commas
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', required = true)]
    pub learners: Vec<String>,
    /// Set a parameter of one learner
    #[arg(long = "set", value_name = "LEARNER.KEY=VALUE", value_parser = pair)]
    pub settings: Vec<(String, String)>,
    /// How features are scaled, by the training bags alone, for all learners [default: each learner's own]
    #[arg(long, value_name = "HOW", value_parser = scaling)]
    pub scale: Option<Scaling>,
    /// Choose the parameters of each learner from its own grid inside each training fold
    #[arg(long)]
    pub tune: bool,
    /// Also write the comparison as a page with a picture
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// How they are judged.
    #[command(flatten)]
    pub folds: FoldArgs,
    /// How the data are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil stream`.
#[derive(Debug, Args)]
pub struct StreamArgs {
    /// Learner of streams
    #[arg(long, short, value_enum, required_unless_present = "resume")]
    pub learner: Option<StreamLearner>,
    /// Set a parameter
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair, conflicts_with = "resume")]
    pub settings: Vec<(String, String)>,
    /// Go on with the model of an earlier stream
    #[arg(long, value_name = "MODEL", conflicts_with = "learner")]
    pub resume: Option<PathBuf>,
    /// File for the model once the stream ends
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Bags that MIO holds back to work out its width from, unless `--set width=NUMBER` states it
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub warm_up: u32,
    /// How standard input is read: CSV, the rows of a bag one after the other; a blank line ends a bag at once
    #[command(flatten)]
    pub reading: StreamReading,
}

/// How a stream is read.
#[derive(Debug, Clone, Args)]
pub struct StreamReading {
    /// Column with the name of the bag, by name or as #POSITION
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub bag_column: Option<String>,
    /// Column with the label; `?` for a bag to predict only
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub label_column: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Reading")]
    pub ignore_columns: Vec<String>,
    /// The word that is positive; all others are negative
    #[arg(long, value_name = "WORD", help_heading = "Reading")]
    pub positive: Option<String>,
    /// What separates the fields; `tab` for a tab
    #[arg(long, value_name = "CHARACTER", help_heading = "Reading")]
    pub separator: Option<String>,
    /// The first line holds values, not names
    #[arg(long, help_heading = "Reading")]
    pub no_header: bool,
}

/// Learners of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StreamLearner {
    /// Online MILES with an elastic net
    Mio,
    /// The online random forest
    OnlineForest,
    /// The online MIForest
    OnlineMiforest,
}

/// `mil query`.
#[derive(Debug, Args)]
pub struct QueryArgs {
    /// File or name; only positive bags are looked at
    pub data: String,
    /// File that keeps questions and answers; a session that it holds goes on
    #[arg(long, value_name = "FILE")]
    pub trail: PathBuf,
    /// File for the model once the session has stopped
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Set a parameter of PMI, at the beginning
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pub settings: Vec<(String, String)>,
    /// How features are scaled, by the positive bags alone, at the beginning [default: min-max]
    #[arg(long, value_name = "HOW", value_parser = scaling)]
    pub scale: Option<Scaling>,
    /// How the data are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// `mil explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Model file
    pub model: PathBuf,
    /// File, name, or - for standard input; labels are not needed
    pub data: String,
    /// Only the bag of this name
    #[arg(long, value_name = "ID")]
    pub bag: Option<String>,
    /// Write a page with a picture of each bag
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// How many features to name
    #[arg(long, default_value_t = 5)]
    pub top: usize,
    /// How the data are read.
    #[command(flatten)]
    pub reading: Reading,
}

fn pair(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected KEY=VALUE, such as penalty=10".to_owned()),
    }
}

fn scaling(word: &str) -> Result<Scaling, String> {
    Scaling::parse(word).ok_or_else(|| format!("expected {}", Scaling::KIND))
}

/// The values of a grid, separated by the commas that stand in no parentheses.
#[must_use]
pub fn grid_values(words: &str) -> Vec<String> {
    let (mut values, mut depth) = (vec![String::new()], 0_usize);
    for letter in words.chars() {
        match letter {
            ',' if depth == 0 => {
                values.push(String::new());
                continue;
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        values.last_mut().expect("there is one from the start").push(letter);
    }
    values.iter().map(|value| value.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn commas_in_parentheses_do_not_separate() {
        assert_eq!(
            grid_values("linear, polynomial(2,1,0),gaussian(1/median)"),
            ["linear", "polynomial(2,1,0)", "gaussian(1/median)"]
        );
        assert_eq!(grid_values("1"), ["1"]);
        assert_eq!(grid_values("a),b"), ["a)", "b"]);
    }

    #[test]
    fn a_setting_is_a_key_and_a_value() {
        assert_eq!(pair("penalty = 10"), Ok(("penalty".to_owned(), "10".to_owned())));
        assert_eq!(pair("kernel=sum(1*linear)=x").unwrap().1, "sum(1*linear)=x");
        assert!(pair("penalty").is_err() && pair("=3").is_err());
    }
}
