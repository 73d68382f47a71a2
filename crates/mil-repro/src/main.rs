//! `mil-repro`: the program behind `cargo xtask reproduce` and `cargo xtask data`.
#![expect(clippy::print_stderr, reason = "this is the program's own output")]

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use mil_repro::results::Protocol;
use mil_repro::row::Row;
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
        #[command(flatten)]
        folder: DataFolder,
    },
}

#[derive(Args)]
struct Reproduce {
    /// Rows to compute, by name; all when none is given
    rows: Vec<String>,
    /// The short run: five repetitions instead of ten, and rows that take long on Musk1 alone
    #[arg(long)]
    quick: bool,
    /// Repetitions of each cross-validation [default: the row's own, else 10; 5 with --quick]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: Option<u16>,
    #[command(flatten)]
    folder: DataFolder,
    /// Threads to use, at most 1024; all cores when not given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Fixes the folds
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the results [default: target/reproduce]
    #[arg(long)]
    out: Option<PathBuf>,
    /// List the rows and stop
    #[arg(long)]
    list: bool,
}

#[derive(Args)]
struct DataFolder {
    /// Folder with the data sets that cannot be shipped [default: the variable MIL_DATA, else target/data]
    #[arg(long, global = true)]
    data: Option<PathBuf>,
}

impl DataFolder {
    /// The folder; one that the user names must be there, unless it is to be filled.
    fn path(&self, may_be_absent: bool) -> Result<PathBuf, String> {
        let variable = std::env::var_os("MIL_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
        match self.data.clone().or(variable) {
            None => Ok(in_target("data")),
            Some(named) if may_be_absent || named.is_dir() => Ok(named),
            Some(named) => Err(format!("there is no data folder {}", named.display())),
        }
    }
}

/// A folder for what we make, beside what cargo makes, whichever folder the user is in.
fn in_target(name: &str) -> PathBuf {
    let target = std::env::var_os("MIL_TARGET").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let here = std::env::current_dir().unwrap_or_default();
    target.strip_prefix(&here).map_or_else(|_| target.join(name), |relative| relative.join(name))
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
        Command::Data { action, folder } => look_after(action.unwrap_or(DataAction::List), &folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line; a reader who has gone away, as `head` does, is no fault.
fn say(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

fn look_after(action: DataAction, folder: &DataFolder) -> Result<(), Box<dyn Error>> {
    match action {
        DataAction::List => say(&data::list(&folder.path(false)?))?,
        DataAction::Fetch { name } => say(&data::fetch(&name, &folder.path(true)?)?)?,
        DataAction::Verify => {
            let (text, outcome) = data::verify(&folder.path(false)?);
            say(&text)?;
            outcome?;
        }
    }
    Ok(())
}

fn reproduce(options: &Reproduce) -> Result<(), Box<dyn Error>> {
    let rows = chosen(&options.rows)?;
    if options.list {
        return Ok(rows
            .iter()
            .try_for_each(|row| say(&format!("{:<28} {} ({})", row.id, row.method, row.settings)))?);
    }
    let data_dir = options.folder.path(false)?;
    let out = options.out.clone().unwrap_or_else(|| in_target("reproduce"));
    report::prepare(&out)?;
    if let Some(jobs) = options.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global()?;
    }
    let n_repeats = options.repeats.map_or(if options.quick { 5 } else { 10 }, usize::from);
    let repeats_given = options.repeats.is_some();
    let protocol = Protocol { n_folds: 10, n_repeats, repeats_given, seed: options.seed, quick: options.quick };
    let results = run::run(&rows, &rows::DATA, &protocol, Some(&data_dir), &run::Progress::to_stderr())?;
    report::write(&out, &results)?;
    say(&report::summary(&results))?;
    for file in report::FILES {
        say(&out.join(file).display().to_string())?;
    }
    match results.n_failed() {
        0 => Ok(()),
        n_failed => Err(format!("{n_failed} cells failed; report.md says why").into()),
    }
}

/// The rows of these names, or all.
fn chosen(names: &[String]) -> Result<Vec<Row>, String> {
    let mut rows = rows::all();
    let known: Vec<&str> = rows.iter().map(|row| row.id).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let hint =
            mil_core::nearest_name(unknown, &known).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(format!("there is no row {unknown:?}; {hint}known: {}", known.join(", ")));
    }
    rows.retain(|row| names.is_empty() || names.iter().any(|name| name == row.id));
    Ok(rows)
}
