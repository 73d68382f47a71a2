//! `mil-repro`: the program behind `cargo xtask reproduce` and `cargo xtask data`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the program's own output")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use mil_repro::results::Protocol;
use mil_repro::{data, report, rows, run};

/// Recompute the papers' tables; look after the data they need.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Recompute the tables and write results.json, report.md and report.html
    Reproduce(Reproduce),
    /// List, verify and obtain data sets
    Data {
        #[command(subcommand)]
        action: Option<DataAction>,
        /// Folder with the data sets that cannot be shipped
        #[arg(long, env = "MIL_DATA", default_value = data::DEFAULT_FOLDER, global = true)]
        data: PathBuf,
    },
}

#[derive(Args)]
struct Reproduce {
    /// Rows to compute, by name; all when none is given
    rows: Vec<String>,
    /// Five repetitions instead of ten
    #[arg(long)]
    quick: bool,
    /// Folder with the data sets that cannot be shipped
    #[arg(long, env = "MIL_DATA", default_value = data::DEFAULT_FOLDER)]
    data: PathBuf,
    /// Threads to use; all cores when not given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Fixes the folds
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the results
    #[arg(long, default_value = "target/reproduce")]
    out: PathBuf,
    /// List the rows and stop
    #[arg(long)]
    list: bool,
}

#[derive(Subcommand)]
enum DataAction {
    /// Which data sets are known and which are here
    List,
    /// Hold every file that is here to its checksum and counts
    Verify,
    /// Obtain a data set that can be obtained
    Fetch {
        /// Name of the data set
        name: String,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Reproduce(options) => reproduce(&options),
        Command::Data { action, data } => look_after(action.unwrap_or(DataAction::List), &data),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn look_after(action: DataAction, folder: &Path) -> Result<(), Box<dyn Error>> {
    match action {
        DataAction::List => println!("{}", data::list(folder)),
        DataAction::Fetch { name } => println!("{}", data::fetch(&name, folder)?),
        DataAction::Verify => {
            let (text, outcome) = data::verify(folder);
            println!("{text}");
            outcome?;
        }
    }
    Ok(())
}

fn reproduce(options: &Reproduce) -> Result<(), Box<dyn Error>> {
    let mut chosen = rows::all();
    if options.list {
        for row in &chosen {
            println!("{:<28} {} ({})", row.id, row.method, row.settings);
        }
        return Ok(());
    }
    if !options.rows.is_empty() {
        let known: Vec<&str> = chosen.iter().map(|row| row.id).collect();
        if let Some(unknown) = options.rows.iter().find(|name| !known.contains(&name.as_str())) {
            let hint =
                mil_core::nearest_name(unknown, &known).map_or(String::new(), |near| format!("did you mean {near}? "));
            return Err(format!("there is no row {unknown:?}; {hint}known: {}", known.join(", ")).into());
        }
        chosen.retain(|row| options.rows.iter().any(|name| name == row.id));
    }
    if let Some(jobs) = options.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global()?;
    }
    let n_repeats = if options.quick { 5 } else { 10 };
    let protocol = Protocol { n_folds: 10, n_repeats, seed: options.seed, quick: options.quick };
    let results = run::run(&chosen, &rows::DATA, &protocol, Some(&options.data), &run::Progress::to_stderr())?;
    report::write(&options.out, &results)?;
    println!("{}", report::summary(&results));
    for file in report::FILES {
        println!("{}", options.out.join(file).display());
    }
    Ok(())
}
