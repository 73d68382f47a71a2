//! When, where and from which code something was measured.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// When, where and from which code a run was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The day, in UTC, as `2026-03-01`.
    pub date: String,
    /// The commit of the sources, with `-dirty` behind it where they had been changed since; `None` outside a checkout.
    pub commit: Option<String>,
    /// Version of the workspace.
    pub version: String,
    /// The compiler.
    pub compiler: String,
    /// Operating system.
    pub os: String,
    /// Instruction set.
    pub arch: String,
    /// Name of the processor, where the system tells it.
    pub processor: Option<String>,
    /// Cores of the machine.
    pub n_cores: usize,
    /// Memory of the machine in GiB, where the system tells it.
    pub memory_gib: Option<u64>,
    /// Threads used.
    pub n_threads: usize,
}

impl Provenance {
    /// Here and now. The commit is the variable `MIL_COMMIT`, which `cargo xtask` sets.
    #[must_use]
    pub fn here_and_now() -> Provenance {
        Provenance {
            date: today(),
            commit: std::env::var("MIL_COMMIT").ok().filter(|commit| !commit.is_empty()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            compiler: env!("MIL_COMPILER").to_owned(),
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            processor: system_line("/proc/cpuinfo", "model name"),
            n_cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: system_line("/proc/meminfo", "MemTotal").and_then(|text| gibibytes(&text)),
            n_threads: rayon::current_num_threads(),
        }
    }

    /// Code and day, as in `commit 1a2b3c4 (version 0.1.0), 2026-03-01`.
    #[must_use]
    pub fn code_text(&self) -> String {
        match &self.commit {
            Some(commit) => format!("commit {commit} (version {}), {}", self.version, self.date),
            None => format!("version {}, {}", self.version, self.date),
        }
    }

    /// The machine, as in `2 threads of 2 cores, 23 GiB, Some Processor, linux x86_64, rustc 1.95.0`.
    #[must_use]
    pub fn machine_text(&self) -> String {
        let memory = self.memory_gib.map_or(String::new(), |gib| format!("{gib} GiB, "));
        let processor = self.processor.as_ref().map_or(String::new(), |name| format!("{name}, "));
        format!(
            "{} threads on {} cores, {memory}{processor}{} {}, {}",
            self.n_threads, self.n_cores, self.os, self.arch, self.compiler
        )
    }
}

/// Today in UTC.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date_of_day(seconds / 86_400)
}

/// The date of a day counted from 1 January 1970, in the calendar of Gregory.
fn date_of_day(n_days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, n_days);
    while left >= 365 + u64::from(is_leap(year)) {
        left -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, left + 1)
}

/// What stands behind a name and a colon in a file of the system.
fn system_line(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Of a text like `24596296 kB`.
fn gibibytes(text: &str) -> Option<u64> {
    let kilobytes: u64 = text.strip_suffix(" kB")?.parse().ok()?;
    Some((kilobytes + (1 << 19)) >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (n_days, date) in [
            (0, "1970-01-01"),
            (31, "1970-02-01"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (20_819, "2027-01-01"),
        ] {
            assert_eq!(date_of_day(n_days), date);
        }
    }

    #[test]
    fn memory_is_rounded_to_the_nearest() {
        assert_eq!(gibibytes("24596296 kB"), Some(23));
        assert_eq!(gibibytes("24 MB"), None);
    }
}
