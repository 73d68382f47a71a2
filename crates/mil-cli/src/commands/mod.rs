//! One file for each command, or for two that are alike.

mod compare;
mod data;
mod evaluate;
mod explain;
mod learners;
mod manual;
mod predict;
mod query;
mod stream;
mod train;
mod tune;

use mil_core::{ParamField, Scaling};

use crate::args::{Cli, Command, Common, LearnerArgs};
use crate::error::CliError;
use crate::learners::Entry;

/// Does what was asked.
pub(crate) fn run(cli: &Cli) -> Result<(), CliError> {
    let common = &cli.common;
    match &cli.command {
        Command::Datasets(folder) => data::datasets(folder, common),
        Command::Info(args) => data::info(args, common),
        Command::Convert(args) => data::convert(args, common),
        Command::Synth(args) => data::synth(args, common),
        Command::Learners(args) => learners::run(args, common),
        Command::Train(args) => train::run(args, common),
        Command::Predict(args) => predict::run(args, common),
        Command::Evaluate(args) => evaluate::run(args, common),
        Command::Tune(args) => tune::run(args, common),
        Command::Compare(args) => compare::run(args, common),
        Command::Stream(args) => stream::run(args, common),
        Command::Query(args) => query::run(args, common),
        Command::Explain(args) => explain::run(args, common),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { output } => manual::man(output),
    }
}

/// A learner as the command line sets it up.
struct Chosen {
    entry: &'static Entry,
    words: Vec<(String, String)>,
    scaling: Scaling,
}

impl Chosen {
    /// The learner that was asked for.
    fn of(args: &LearnerArgs) -> Result<Chosen, CliError> {
        let entry = crate::learners::find(&args.learner)?;
        Ok(Chosen { entry, words: args.settings.clone(), scaling: args.scale.unwrap_or(entry.scaling) })
    }

    /// The same, with `--seed` for its own seed, unless it has none or is set otherwise.
    fn seeded(mut self, common: &Common) -> Chosen {
        let has_seed = (self.entry.specs)().iter().any(|spec| spec.name == SEED);
        if let (Some(seed), true, false) = (common.seed, has_seed, self.words.iter().any(|(key, _)| key == SEED)) {
            self.words.push((SEED.to_owned(), seed.to_string()));
        }
        self
    }

    fn scaling_word(&self) -> String {
        self.scaling.show()
    }
}

const SEED: &str = "seed";

/// Folds come from this seed unless another is given; it is that of the reproduction.
const DEFAULT_SEED: u64 = 1;
