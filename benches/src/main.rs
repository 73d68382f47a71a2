//! `cargo xtask bench`: ours and the peers side by side in one run, as ratios with their spread, and how time and memory grow.
//!
//! A contest alternates between us and the peer, so that both meet the machine in the same mood, and checks that both computed the same thing. A point of
//! a growth curve is measured in a process of its own. One file under `contests/` adds what is measured.
#![expect(clippy::print_stderr, reason = "this is the program's own output")]

mod contest;
mod contests;
mod curve;
mod data;
mod duel;
mod growth;
mod peer;
mod report;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use contest::{Bench, Contest, Pace, Report};
use curve::Stopwatch;
use peer::Peer;

/// Ours and the peers side by side in one run, and how time and memory grow; into target/bench.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", version)]
struct Cli {
    /// Benchmarks to run, by name; all when none is given
    names: Vec<String>,
    /// List the benchmarks with what each measures, and stop
    #[arg(long)]
    list: bool,
    /// The short run: two turns of one call, the three smallest sizes
    #[arg(long, conflicts_with = "long")]
    quick: bool,
    /// The long run: sizes and peers that take minutes each, too
    #[arg(long)]
    long: bool,
    /// Write the Markdown to this file as well, at the end
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// Measure one point of a growth curve in this process
    #[arg(long, hide = true, num_args = 2, value_names = ["CURVE", "N"], exclusive = true)]
    point: Option<Vec<String>>,
}

fn main() -> ExitCode {
    let watch = Stopwatch::at_start();
    let cli = Cli::parse();
    let outcome = match cli.point.as_deref() {
        Some([name, n]) => curve::point(contests::curves(), name, n, watch).map(|line| tell(&line)),
        _ => run(&cli),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line; a reader who has gone away, as `head` does, ends no measurement.
fn tell(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn run(cli: &Cli) -> Result<(), String> {
    let contests = chosen(&cli.names)?;
    if cli.list {
        contests.iter().for_each(|contest| tell(&format!("{:<16} {}", contest.name, contest.about)));
        return Ok(());
    }
    if let Some(file) = &cli.snapshot {
        // Said before the minutes of measuring rather than after.
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        if file.is_dir() || parent.is_some_and(|parent| !parent.is_dir()) {
            return Err(format!("{} cannot be a file", file.display()));
        }
    }
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let pace = match (cli.quick, cli.long) {
        (true, _) => Pace::Quick,
        (false, false) => Pace::Standard,
        (false, true) => Pace::Long,
    };
    let bench = Bench { peer: Peer::from_environment(&folder), pace };
    if !bench.peer.is_present() {
        eprintln!("{}", report::NO_PEERS);
    }
    let names: Vec<&str> = contests.iter().map(|contest| contest.name).collect();
    eprintln!("running {}", names.join(", "));
    let keep = |report: &Report| {
        let entry = report.contests.last().expect("one has just ended");
        tell(&report::lines(entry));
        report::write(&folder, report)
    };
    let report = contest::run(&contests, contests::ALL.len(), &bench, keep)?;
    if let Some(file) = &cli.snapshot {
        report::write_text(file, &report::markdown(&report))?;
        tell(&file.display().to_string());
    }
    report::FILES.iter().for_each(|file| tell(&folder.join(file).display().to_string()));
    match &report.failed()[..] {
        [] => Ok(()),
        failed => Err(format!("failed: {}; the results say why", failed.join(", "))),
    }
}

/// The contests of these names, or all.
fn chosen(names: &[String]) -> Result<Vec<&'static Contest>, String> {
    let known: Vec<&str> = contests::ALL.iter().map(|contest| contest.name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let hint =
            mil_core::nearest_name(unknown, &known).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(format!("there is no benchmark {unknown:?}; {hint}known: {}", known.join(", ")));
    }
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    Ok(contests::ALL.iter().filter(|contest| is_wanted(contest.name)).collect())
}

/// Where the results go, beside what cargo makes; written as seen from the folder the user is in.
fn folder() -> PathBuf {
    let target = std::env::var_os("MIL_TARGET").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let here = std::env::current_dir().unwrap_or_default();
    target.strip_prefix(&here).map_or_else(|_| target.join("bench"), |relative: &Path| relative.join("bench"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_gets_a_hint() {
        let chosen = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            chosen(&names).map(|contests| contests.iter().map(|contest| contest.name).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&["svm", "gram"]), Ok(vec!["gram", "svm"]), "in our order");
        assert_eq!(chosen(&[]).unwrap().len(), contests::ALL.len());
        let said = chosen(&["gram_grwth"]).unwrap_err();
        assert!(said.contains("did you mean gram_growth?") && said.contains("mi_svm"), "{said}");
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
        assert!(Cli::try_parse_from(["bench", "--quick", "--long"]).is_err());
        assert!(Cli::try_parse_from(["bench", "--point", "gram"]).is_err());
        assert!(!Cli::command().render_long_help().to_string().contains("--point"));
    }
}
