//! Times of ours and of a peer, measured in turn, and the table they make.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use mil_core::atomic_file;
use serde::{Deserialize, Serialize};

/// How often each side is called in a turn, and how many turns there are.
const PER_TURN: usize = 3;
const N_TURNS: usize = 4;

/// Times of one contest.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Outcome {
    /// What was computed, with its sizes.
    pub(crate) name: String,
    /// Seconds of each call of ours.
    pub(crate) ours: Vec<f64>,
    /// Name and version of the peer and the seconds of each of its calls; `None` where there is none to be had.
    pub(crate) peer: Option<(String, Vec<f64>)>,
}

/// The Python that runs the peers, where there is one.
pub(crate) struct Peer {
    python: Option<PathBuf>,
    folder: PathBuf,
}

/// What a peer's script prints.
#[derive(Deserialize)]
pub(crate) struct PeerReport {
    peer: String,
    seconds: Vec<f64>,
    /// A number that tells whether it computed the same thing.
    pub(crate) total: f64,
}

impl Peer {
    /// The Python that `cargo xtask bench` has prepared.
    pub(crate) fn from_environment(folder: &Path) -> Peer {
        Peer { python: std::env::var_os("MIL_PEER_PYTHON").map(PathBuf::from), folder: folder.to_owned() }
    }

    /// Hands numbers to the peer, as plain little-endian float64.
    pub(crate) fn give(&self, name: &str, values: &[f64]) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        atomic_file::write(&path, |out| out.write_all(&bytes))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn call(&self, script: &str, args: &[String], n_calls: usize) -> Result<Option<PeerReport>, String> {
        let Some(python) = &self.python else { return Ok(None) };
        let output = Command::new(python)
            .args(["-c", script])
            .args(args)
            .arg(n_calls.to_string())
            .envs(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1")))
            .output()
            .map_err(|error| format!("{}: {error}", python.display()))?;
        if !output.status.success() {
            return Err(format!("the peer failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).map(Some).map_err(|error| format!("the peer's answer: {error}"))
    }
}

/// When the totals of ours and the peer's, off the clock, say that both did the same work.
pub(crate) enum Agreement {
    /// They are the same to nine digits.
    Same,
    /// Ours, an objective to be minimised, is the peer's to this part of it, or better.
    NoWorse(f64),
    /// Nothing is compared but the times: the peer solves another problem over the same data.
    AnotherProblem,
}

impl Agreement {
    fn holds(&self, ours: f64, peer: f64) -> bool {
        match self {
            Agreement::Same => (peer - ours).abs() <= 1e-9 * ours.abs(),
            Agreement::NoWorse(share) => ours - peer <= share * peer.abs(),
            Agreement::AnotherProblem => true,
        }
    }
}

/// What a peer is asked for: a script, its arguments, and how its answer relates to ours.
pub(crate) struct Challenge<'a> {
    pub(crate) script: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) agreement: Agreement,
}

/// Ours against a peer, turn by turn; the `total` of what we computed must agree with the peer's.
pub(crate) fn alternate<T>(
    name: String,
    ours: impl Fn() -> T,
    total: impl Fn(&T) -> f64,
    peer: &Peer,
    challenge: &Challenge<'_>,
) -> Result<Outcome, String> {
    take_turns(name, [N_TURNS, PER_TURN], ours, total, peer, challenge)
}

/// The same with few turns of a single call each, against peers that take long.
pub(crate) fn alternate_briefly<T>(
    n_turns: usize,
    name: String,
    ours: impl Fn() -> T,
    total: impl Fn(&T) -> f64,
    peer: &Peer,
    challenge: &Challenge<'_>,
) -> Result<Outcome, String> {
    take_turns(name, [n_turns, 1], ours, total, peer, challenge)
}

fn take_turns<T>(
    name: String,
    [n_turns, per_turn]: [usize; 2],
    ours: impl Fn() -> T,
    total: impl Fn(&T) -> f64,
    peer: &Peer,
    challenge: &Challenge<'_>,
) -> Result<Outcome, String> {
    let mut outcome = Outcome { name, ours: Vec::new(), peer: None };
    for _ in 0..n_turns {
        let mut our_total = 0.0;
        for _ in 0..per_turn {
            let (seconds, computed) = timed(&ours);
            outcome.ours.push(seconds);
            our_total = total(&computed);
        }
        if let Some(report) = peer.call(challenge.script, challenge.args, per_turn)? {
            if !challenge.agreement.holds(our_total, report.total) {
                return Err(format!("{}: ours gives {our_total}, the peer {}", outcome.name, report.total));
            }
            outcome.peer.get_or_insert((report.peer, Vec::new())).1.extend(report.seconds);
        }
    }
    Ok(outcome)
}

/// Ours alone.
pub(crate) fn alone<T>(name: String, ours: impl Fn() -> T) -> Outcome {
    Outcome { name, ours: (0..PER_TURN * N_TURNS).map(|_| timed(&ours).0).collect(), peer: None }
}

/// Ours alone and once, for what takes long.
pub(crate) fn once<T>(name: String, ours: impl Fn() -> T) -> (Outcome, T) {
    let (seconds, computed) = timed(ours);
    (Outcome { name, ours: vec![seconds], peer: None }, computed)
}

/// The most memory this process has had at once, in bytes; `None` where the system does not tell.
pub(crate) fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}

/// Seconds and result of one call; dropping the result is the caller's and off the clock.
fn timed<T>(work: impl Fn() -> T) -> (f64, T) {
    let start = Instant::now();
    let computed = std::hint::black_box(work());
    (start.elapsed().as_secs_f64(), computed)
}

/// Threads for what is measured.
pub(crate) fn pool(n_threads: usize) -> Result<rayon::ThreadPool, String> {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().map_err(|error| error.to_string())
}

/// A page in Markdown: medians, quartiles, and the ratio of the medians.
pub(crate) fn page(outcomes: &[Outcome]) -> String {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut table = format!(
        "# Benchmarks\n\nWritten by `cargo xtask bench`, version {}, on {} {} with {n_cores} cores.\n\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    table.push_str("| what | ours, s | peer, s | ours / peer |\n|---|---:|---:|---:|\n");
    for outcome in outcomes {
        let (peer, ratio) = match &outcome.peer {
            Some((name, seconds)) => (
                format!("{name}: {}", spread(seconds)),
                format!("{:.2}", quantile(&outcome.ours, 0.5) / quantile(seconds, 0.5)),
            ),
            None => ("none".to_owned(), String::new()),
        };
        let _ = writeln!(table, "| {} | {} | {peer} | {ratio} |", outcome.name, spread(&outcome.ours));
    }
    table.push_str("\nMedian of all calls, quartiles in brackets; ours and the peer take turns in one run.\n");
    table
}

fn spread(seconds: &[f64]) -> String {
    let [low, middle, high] = [0.25, 0.5, 0.75].map(|share| quantile(seconds, share));
    format!("{middle:.3} [{low:.3}, {high:.3}]")
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Keeps every single time for whoever wants to look closer.
pub(crate) fn write_json(path: &Path, outcomes: &[Outcome]) -> Result<(), String> {
    let text = serde_json::to_string_pretty(outcomes).map_err(|error| error.to_string())?;
    write_text(path, &text)
}

/// Writes a text file, whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), String> {
    atomic_file::write(path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_ratio_of_the_medians() {
        let outcome = |peer| Outcome { name: "work".to_owned(), ours: vec![0.3, 0.1, 0.2], peer };
        let page = page(&[outcome(Some(("Peer 1".to_owned(), vec![0.5, 0.4, 9.0]))), outcome(None)]);
        assert!(page.contains("| work | 0.200 [0.200, 0.300] | Peer 1: 0.500 [0.500, 9.000] | 0.40 |"), "{page}");
        assert!(page.contains("| work | 0.200 [0.200, 0.300] | none |  |"), "{page}");
    }

    #[test]
    fn an_objective_may_be_better_but_not_worse() {
        assert!(Agreement::NoWorse(0.01).holds(-2.0, -1.0) && Agreement::NoWorse(0.01).holds(-0.995, -1.0));
        assert!(!Agreement::NoWorse(0.01).holds(-0.98, -1.0) && !Agreement::NoWorse(0.01).holds(f64::NAN, -1.0));
        assert!(!Agreement::Same.holds(1.0, 1.0 + 1e-8));
    }

    #[test]
    fn without_python_there_is_no_peer() {
        let peer = Peer { python: None, folder: std::env::temp_dir() };
        let challenge = Challenge { script: "", args: &[], agreement: Agreement::Same };
        let outcome = alternate("sum".to_owned(), || 1.0, |total| *total, &peer, &challenge).unwrap();
        assert!(outcome.peer.is_none() && outcome.ours.len() == PER_TURN * N_TURNS);
    }
}
