//! `mil-repro`: the program behind `cargo xtask reproduce` and `cargo xtask data`.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use mil_repro::check::Snapshot;
use mil_repro::progress::Progress;
use mil_repro::results::{Protocol, Results, RunRecord};
use mil_repro::run::{Plan, Shard, ShardDone};
use mil_repro::selection::Selection;
use mil_repro::store::{Merged, Store};
use mil_repro::{data, report};

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
    Reproduce(Box<Reproduce>),
    /// List, verify and obtain data sets
    Data {
        #[command(subcommand)]
        action: Option<DataAction>,
        #[command(flatten)]
        folder: DataFolder,
    },
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
struct Reproduce {
    #[command(subcommand)]
    action: Option<ReproduceAction>,
    /// Tables, figures and methods to compute, by name; all when none is given
    names: Vec<String>,
    /// The short run: repetitions as by default, most methods on Musk1 alone, figures with fewer points
    #[arg(long)]
    quick: bool,
    /// Repetitions of each cross-validation [default: as many as the paper's, else 3]
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
    #[command(flatten)]
    out: OutFolder,
    /// Compute what is stored already once more
    #[arg(long)]
    force: bool,
    /// Compute one part of several, as in 2/8, and write no report: `merge` joins the parts
    #[arg(long, value_name = "I/N", conflicts_with_all = ["check", "snapshot", "list"])]
    shard: Option<Shard>,
    /// Compare with the committed snapshot, or with another, and fail if figures have drifted
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "absent, bare, or with a file")]
    check: Option<Option<PathBuf>>,
    /// Write the report to this file as well, and what `--check` needs beside it, as in docs/results.md
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    snapshot: Option<PathBuf>,
    /// List what there is to compute and stop
    #[arg(long)]
    list: bool,
}

#[derive(Subcommand)]
enum ReproduceAction {
    /// Join the results of shards into one folder
    Merge {
        /// The folders that were given to the shards as --out
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        #[command(flatten)]
        out: OutFolder,
    },
}

/// The snapshot in the folder of the workspace, which `cargo xtask` tells.
fn committed_snapshot() -> PathBuf {
    std::env::var_os("MIL_ROOT").map_or_else(PathBuf::new, PathBuf::from).join("docs/results.json")
}

#[derive(Args)]
struct OutFolder {
    /// Folder for the results [default: target/reproduce]
    #[arg(long)]
    out: Option<PathBuf>,
}

impl OutFolder {
    fn path(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| in_target("reproduce"))
    }
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
    // Whoever interrupts us finds files whole or absent. Where no handler can be set, the system's own ends us just the same.
    let _ = ctrlc::set_handler(|| {
        mil_core::atomic_file::abandon();
        std::process::exit(130);
    });
    let outcome = match Cli::parse().command {
        Command::Reproduce(options) => reproduce(&options),
        Command::Data { action, folder } => look_after(action.unwrap_or(DataAction::List), &folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(io::stderr(), "error: {error}"));
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
    if let Some(ReproduceAction::Merge { folders, out }) = &options.action {
        return merge(folders, &out.path());
    }
    let selection = Selection::of(&options.names)?;
    if options.list {
        return list(&selection);
    }
    let data_dir = options.folder.path(false)?;
    let out = options.out.path();
    // What cannot be compared or written in the end is told before the work begins.
    let known = options.check.as_ref().map(|path| path.clone().unwrap_or_else(committed_snapshot));
    let known = known.map(|path| Snapshot::read(&path)).transpose()?;
    report::prepare(&out)?;
    if let Some(path) = &options.snapshot {
        see_whether_snapshot_fits(path, &out)?;
    }
    let store = Store::open(&out)?;
    if let Some(jobs) = options.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global()?;
    }
    let plan = Plan {
        selection: &selection,
        protocol: Protocol {
            n_folds: 10,
            repeats: options.repeats.map(usize::from),
            seed: options.seed,
            quick: options.quick,
        },
        data_dir: Some(&data_dir),
        store: &store,
        force: options.force,
        progress: &Progress::to_stderr(),
    };
    if let Some(snapshot) = &known {
        snapshot.suits(&plan.protocol)?;
    }
    if let Some(shard) = options.shard {
        return run_shard(&plan, shard, &out);
    }
    let (results, record) = plan.run()?;
    report::write(&out, &results, &record)?;
    say(&report::summary(&results, &record))?;
    for file in report::FILES {
        say(&out.join(file).display().to_string())?;
    }
    if results.n_failed() > 0 {
        return Err(format!("{} cells and figures failed; report.md says why", results.n_failed()).into());
    }
    if let Some(path) = &options.snapshot {
        write_snapshot(path, &plan, &results, &record)?;
    }
    if let Some(snapshot) = &known {
        check(snapshot, &results)?;
    }
    Ok(())
}

/// A snapshot is two files, which must not be in the way of the other results.
fn see_whether_snapshot_fits(path: &Path, out: &Path) -> Result<(), String> {
    if path.extension().is_none_or(|ending| ending != "md") {
        return Err(format!(
            "{}: a snapshot is a file that ends in .md, with another that ends in .json beside it",
            path.display()
        ));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if !folder.is_dir() || path.is_dir() || same(folder, out) {
        return Err(format!(
            "{}: expected a file in a folder that is there and is not that of the results",
            path.display()
        ));
    }
    Ok(())
}

/// The report, and beside it what a later `--check` compares with: this run, and short runs on its data and without any.
fn write_snapshot(path: &Path, plan: &Plan<'_>, results: &Results, record: &RunRecord) -> Result<(), Box<dyn Error>> {
    let quick = Protocol { quick: true, ..plan.protocol };
    let short = Plan { protocol: quick, force: false, ..*plan };
    let on_data = short.run()?.0;
    let without = Plan { data_dir: None, ..short }.run()?.0;
    let snapshot = Snapshot::of(results, &[on_data, without], record.provenance.clone());
    let beside = path.with_extension("json");
    report::write_text(path, &report::markdown(results, record))?;
    report::write_text(&beside, &report::json(&snapshot)?)?;
    say(&format!("{}\n{}", path.display(), beside.display()))?;
    Ok(())
}

/// Fails if what was computed has drifted from a snapshot.
fn check(snapshot: &Snapshot, results: &Results) -> Result<(), Box<dyn Error>> {
    let drift = snapshot.compare(results)?;
    say(&drift.report(snapshot))?;
    match drift.drifted.len() {
        0 => Ok(()),
        n_drifted => Err(format!("{n_drifted} cells and figures have drifted").into()),
    }
}

fn list(selection: &Selection) -> Result<(), Box<dyn Error>> {
    say("Tables, each of cells of methods on data sets:")?;
    for table in &selection.tables {
        say(&format!("  {:<28} {} ({}, {})", table.id, table.title, table.paper.short(), table.place))?;
    }
    say("Figures, and tables of other kinds:")?;
    for figure in &selection.figures {
        say(&format!("  {:<28} {} ({}, {})", figure.id, figure.title, figure.paper.short(), figure.place))?;
    }
    say("Methods, with the data sets that are asked for:")?;
    for (method, data) in &selection.methods {
        say(&format!("  {:<28} {} on {}: {}", method.id, method.name, data.join(", "), method.settings))?;
    }
    Ok(())
}

fn run_shard(plan: &Plan<'_>, shard: Shard, out: &Path) -> Result<(), Box<dyn Error>> {
    let ShardDone { n_computed, n_stored, n_failed } = plan.run_shard(shard)?;
    say(&format!(
        "Shard {}/{}: {n_computed} pieces computed, {n_stored} there before. When all shards are done: cargo xtask reproduce merge {} ... --out FOLDER",
        shard.number,
        shard.of,
        out.display()
    ))?;
    if n_failed > 0 { Err(format!("{n_failed} pieces failed").into()) } else { Ok(()) }
}

fn merge(folders: &[PathBuf], out: &Path) -> Result<(), Box<dyn Error>> {
    report::prepare(out)?;
    let store = Store::open(out)?;
    for folder in folders {
        let Merged { n_new, n_known } = store.merge(folder)?;
        say(&format!("{}: {n_new} results taken over, {n_known} known", folder.display()))?;
    }
    say(&format!("Now the report, with the options of the shards: cargo xtask reproduce --out {}", out.display()))?;
    Ok(())
}
