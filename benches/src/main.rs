//! `cargo xtask bench`: ours and the peers side by side in one run, as ratios.
//!
//! A contest alternates between us and the peer, so that both meet the machine in the same mood, and checks once that both computed the same thing.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the program's own output")]

mod contest;
mod dict;
mod forest;
mod gram;
mod mi_scale;
mod mi_svm;
mod mio;
mod one_norm;
mod pmi;
mod scale;
mod svm;

use std::path::PathBuf;
use std::process::ExitCode;

use contest::{Outcome, Peer};

/// All contests by name.
const CONTESTS: [(&str, Contest); 15] = [
    ("gram", gram::run),
    ("svm", svm::run),
    ("linear", svm::run_linear),
    ("one_norm", one_norm::run),
    ("mi_svm", mi_svm::run),
    ("mio", mio::run),
    ("pmi", pmi::run),
    ("dict", dict::run),
    ("forest", forest::run),
    ("forest_corel", forest::run_corel),
    ("scale", scale::run),
    ("mi_scale", mi_scale::run),
    ("mio_stream", mio::run_stream),
    ("forest_scale", forest::run_scale),
    ("dict_scale", dict::run_scale),
];

/// Runs one contest.
type Contest = fn(&Peer) -> Result<Vec<Outcome>, String>;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(names: &[String]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|name| !CONTESTS.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = CONTESTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no benchmark {unknown:?}; known: {}", known.join(", ")));
    }
    let target = std::env::var_os("MIL_TARGET").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = target.join("bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let peer = Peer::from_environment(&folder);
    let mut outcomes = Vec::new();
    for (name, contest) in CONTESTS {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            eprintln!("running {name}");
            outcomes.extend(contest(&peer)?);
        }
    }
    let page = contest::page(&outcomes);
    println!("{page}");
    contest::write_json(&folder.join("benchmarks.json"), &outcomes)?;
    contest::write_text(&folder.join("benchmarks.md"), &page)
}
