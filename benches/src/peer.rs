//! The Python peers: handing them numbers, calling their scripts, and holding their answers against ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use mil_core::atomic_file;
use serde::Deserialize;

/// What every script begins with.
const PRELUDE: &str = include_str!("../peers/memory.py");

/// The Python that runs the peers, where there is one.
pub(crate) struct Peer {
    python: Option<PathBuf>,
    folder: PathBuf,
}

/// What a peer's script prints.
#[derive(Debug, Deserialize)]
pub(crate) struct PeerReport {
    /// Name and version.
    pub(crate) peer: String,
    /// Seconds of each call.
    pub(crate) seconds: Vec<f64>,
    /// A number that tells whether it computed the same thing.
    pub(crate) total: f64,
    /// What else there is to say of its answer.
    pub(crate) remark: Option<String>,
    /// The most memory it has had, in bytes; only some scripts tell.
    pub(crate) peak: Option<f64>,
    /// What of it was there before the data.
    pub(crate) baseline: Option<f64>,
}

impl Peer {
    /// The Python that `cargo xtask bench` has prepared.
    pub(crate) fn from_environment(folder: &Path) -> Peer {
        Peer { python: std::env::var_os("MIL_PEER_PYTHON").map(PathBuf::from), folder: folder.to_owned() }
    }

    /// No peer at all.
    #[cfg(test)]
    pub(crate) fn absent() -> Peer {
        Peer { python: None, folder: std::env::temp_dir() }
    }

    /// Whether there is a Python.
    pub(crate) fn is_present(&self) -> bool {
        self.python.is_some()
    }

    /// Hands numbers to the peer, as plain little-endian float64; gives the path to tell it.
    pub(crate) fn give(&self, name: &str, values: &[f64]) -> Result<String, String> {
        let path = self.folder.join(name);
        if self.is_present() {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            atomic_file::write(&path, |out| out.write_all(&bytes))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(path.display().to_string())
    }

    /// The answer of a script; `None` without a Python.
    pub(crate) fn call(&self, script: &str, args: &[String], n_calls: usize) -> Result<Option<PeerReport>, String> {
        let Some(python) = &self.python else { return Ok(None) };
        let output = Command::new(python)
            .args(["-c", &format!("{PRELUDE}{script}")])
            .args(args)
            .arg(n_calls.to_string())
            .envs(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1")))
            .output()
            .map_err(|error| format!("{}: {error}", python.display()))?;
        if !output.status.success() {
            return Err(format!("the peer failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        let report: PeerReport =
            serde_json::from_slice(&output.stdout).map_err(|error| format!("the peer's answer: {error}"))?;
        if report.seconds.len() == n_calls {
            Ok(Some(report))
        } else {
            Err(format!("the peer was called {n_calls} times and told {} times", report.seconds.len()))
        }
    }
}

/// When the totals of ours and the peer's, off the clock, say that both did the same work.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Agreement {
    /// They are the same to nine digits.
    Same,
    /// Ours, an objective to be minimised, is the peer's to this part of it, or better.
    NoWorse(f64),
    /// Nothing is compared but the times: the peer solves another problem over the same data.
    AnotherProblem,
}

impl Agreement {
    fn holds(self, ours: f64, peer: f64) -> bool {
        match self {
            Agreement::Same => (peer - ours).abs() <= 1e-9 * ours.abs(),
            Agreement::NoWorse(share) => ours - peer <= share * peer.abs(),
            Agreement::AnotherProblem => true,
        }
    }

    /// Sees whether it holds.
    pub(crate) fn check(self, name: &str, ours: f64, peer: f64) -> Result<(), String> {
        if self.holds(ours, peer) { Ok(()) } else { Err(format!("{name}: ours gives {ours}, the peer {peer}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_may_be_better_but_not_worse() {
        assert!(Agreement::NoWorse(0.01).holds(-2.0, -1.0) && Agreement::NoWorse(0.01).holds(-0.995, -1.0));
        assert!(!Agreement::NoWorse(0.01).holds(-0.98, -1.0) && !Agreement::NoWorse(0.01).holds(f64::NAN, -1.0));
        assert!(!Agreement::Same.holds(1.0, 1.0 + 1e-8));
        let said = Agreement::Same.check("sum", 1.0, 2.0).unwrap_err();
        assert_eq!(said, "sum: ours gives 1, the peer 2");
    }

    #[test]
    fn without_python_nothing_is_written_and_nothing_called() {
        let peer = Peer::absent();
        let path = peer.give("mil-benches-never-written.f64", &[1.0]).unwrap();
        assert!(!Path::new(&path).exists());
        assert!(peer.call("", &[], 1).unwrap().is_none());
    }
}
