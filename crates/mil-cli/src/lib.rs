//! `mil`: multiple-instance learning for the analyst with a CSV and no Rust.
//!
//! The only crate of the workspace that reads arguments and prints. Every command is thin glue: [`args`] states what can be asked, [`data`] brings the bags, [`learners`] knows every learner by name with the
//! parameters that its own crate states, [`models`] keeps fitted models in files, and [`report`] prints one report as a table, as JSON or as CSV. `docs/cli.md` is the contract.
//!
//! Exit codes: 0 done, 1 something that the user can mend, 2 a fault of ours.

pub mod args;
mod commands;
pub mod data;
pub mod error;
pub mod learners;
pub mod models;
pub mod page;
pub mod progress;
pub mod report;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::Cli;
use error::CliError;

/// Runs the program with these arguments, the first of which is its name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = match Cli::command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are asked for and go to standard output; all else is the user's to mend.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    let cli = Cli::from_arg_matches(&matches).expect("matches of the same definition");
    // Whoever interrupts us finds files whole or absent. Where no handler can be set, the system's own ends us just the same.
    let _ = ctrlc::set_handler(|| {
        mil_core::atomic_file::abandon();
        std::process::exit(130);
    });
    match std::panic::catch_unwind(|| in_threads(&cli)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        // Whoever closes the pipe has seen enough.
        Ok(Err(CliError::PipeClosed)) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            complain(&error.to_string());
            ExitCode::from(1)
        }
        Err(_) => {
            complain("this is a fault of mil, not yours; please report it with the command you ran");
            ExitCode::from(2)
        }
    }
}

fn in_threads(cli: &Cli) -> Result<(), CliError> {
    if let Some(n_threads) = cli.common.threads {
        // The pool is set once for the process; a library that set it before us keeps its own.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(n_threads.into()).build_global();
    }
    commands::run(cli)
}

fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "mil: {message}");
}
