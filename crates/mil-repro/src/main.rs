//! `mil-repro`: the program behind `cargo xtask reproduce` and `cargo xtask data`.
#![expect(clippy::print_stderr, reason = "this is the program's own output")]

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use mil_repro::figure::Figure;
use mil_repro::results::Protocol;
use mil_repro::row::Row;
use mil_repro::{data, figures, report, rows, run};

/// Recompute the papers' tables and figures; look after the data they need.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Recompute the tables and figures and write results.json, report.md and report.html
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
    /// Rows and figures to compute, by name; all when none is given
    names: Vec<String>,
    /// The short run: five repetitions instead of ten, rows that take long on Musk1 alone, figures with fewer points
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
    /// Fixes the folds, and what figures draw at random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the results [default: target/reproduce]
    #[arg(long)]
    out: Option<PathBuf>,
    /// List the rows and figures and stop
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
    let (rows, figures) = chosen(&options.names, rows::all(), figures::all())?;
    if options.list {
        for row in &rows {
            say(&format!("{:<28} {} ({})", row.id, row.method, row.settings))?;
        }
        for figure in &figures {
            say(&format!("{:<28} {} ({})", figure.id, figure.title, figure.source))?;
        }
        return Ok(());
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
    let columns = if rows.is_empty() { &[][..] } else { &rows::DATA };
    let results = run::run(&rows, columns, &figures, &protocol, Some(&data_dir), &run::Progress::to_stderr())?;
    report::write(&out, &results)?;
    say(&report::summary(&results))?;
    for file in report::FILES {
        say(&out.join(file).display().to_string())?;
    }
    match results.n_failed() {
        0 => Ok(()),
        n_failed => Err(format!("{n_failed} cells and figures failed; report.md says why").into()),
    }
}

/// The rows and figures of these names, or all.
fn chosen(names: &[String], mut rows: Vec<Row>, mut figures: Vec<Figure>) -> Result<(Vec<Row>, Vec<Figure>), String> {
    let known: Vec<&str> = rows.iter().map(|row| row.id).chain(figures.iter().map(|figure| figure.id)).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let hint =
            mil_core::nearest_name(unknown, &known).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(format!("there is no row or figure {unknown:?}; {hint}known: {}", known.join(", ")));
    }
    let is_wanted = |id: &str| names.is_empty() || names.iter().any(|name| name == id);
    rows.retain(|row| is_wanted(row.id));
    figures.retain(|figure| is_wanted(figure.id));
    Ok((rows, figures))
}

#[cfg(test)]
mod tests {
    use mil_repro::figure::Drawing;

    use super::*;

    /// What is chosen by these names out of all rows and one figure.
    fn chosen_by(names: &[&str]) -> Result<(Vec<&'static str>, Vec<&'static str>), String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let figure = Figure {
            id: "toy-fig1",
            title: "",
            source: "",
            protocol: "",
            data: &[],
            optional: &[],
            draw: |_| Ok(Drawing::default()),
        };
        let (rows, figures) = chosen(&names, rows::all(), vec![figure])?;
        Ok((rows.iter().map(|row| row.id).collect(), figures.iter().map(|figure| figure.id).collect()))
    }

    #[test]
    fn a_name_is_that_of_a_row_or_of_a_figure() {
        assert_eq!(chosen_by(&["toy-fig1", "mi-svm"]), Ok((vec!["mi-svm"], vec!["toy-fig1"])));
        assert_eq!(chosen_by(&["toy-fig1"]), Ok((vec![], vec!["toy-fig1"])));
        assert_eq!(chosen_by(&["mi-svm"]), Ok((vec!["mi-svm"], vec![])));
        assert_eq!(chosen_by(&[]).map(|(rows, figures)| (rows.len(), figures.len())), Ok((rows::all().len(), 1)));
    }

    #[test]
    fn a_mistyped_name_gets_a_hint_from_rows_and_figures() {
        for (name, near) in [("toy-fig", "toy-fig1"), ("mi-svn", "mi-svm")] {
            let said = chosen_by(&[name]).unwrap_err();
            assert!(said.contains(&format!("did you mean {near}?")) && said.contains("row or figure"), "{said}");
        }
    }
}
