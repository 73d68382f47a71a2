//! What a contest is, what comes out of it, and how all of them are run so that one that fails takes no other with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use mil_repro::provenance::Provenance;
use serde::Serialize;

use crate::curve::{Curve, grow};
use crate::duel::Duel;
use crate::growth::Growth;
use crate::peer::Peer;

/// Benchmarks that belong together.
pub(crate) struct Contest {
    /// Short name, as given on the command line.
    pub(crate) name: &'static str,
    /// What it measures, in a line.
    pub(crate) about: &'static str,
    /// What a reader should know of its figures.
    pub(crate) notes: &'static [&'static str],
    /// What is measured: peers in turns, or growth.
    pub(crate) work: Work,
}

/// What a contest measures.
pub(crate) enum Work {
    /// Ours and peers in turns, told as they end.
    Duels(fn(&Bench, &mut Entry) -> Result<(), String>),
    /// How time and memory grow.
    Curves(&'static [Curve]),
}

/// What contests run with.
pub(crate) struct Bench {
    /// The peers.
    pub(crate) peer: Peer,
    /// How much is measured.
    pub(crate) pace: Pace,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pace {
    /// Two turns of a call, three sizes.
    Quick,
    /// All turns and sizes but those that take minutes.
    Standard,
    /// Those, too.
    Long,
}

/// All that came out.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Name and version of this format.
    pub(crate) schema: &'static str,
    /// When, where and from which code.
    pub(crate) provenance: Provenance,
    /// How much was measured.
    pub(crate) pace: Pace,
    /// Whether these are all contests there are.
    pub(crate) is_complete: bool,
    /// Whether there was a Python to run the peers.
    pub(crate) has_peers: bool,
    /// A contest each, in the order they were run.
    pub(crate) contests: Vec<Entry>,
}

/// What came out of one contest.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// What it measures.
    pub(crate) about: String,
    /// What a reader should know of its figures.
    pub(crate) notes: Vec<String>,
    /// Ours and peers in turns.
    pub(crate) duels: Vec<Duel>,
    /// How time and memory grow.
    pub(crate) growths: Vec<Growth>,
    /// What was not measured, and why.
    pub(crate) left_out: Vec<String>,
    /// Why it ended early; what it had by then is here.
    pub(crate) failure: Option<String>,
    /// How long it took altogether.
    pub(crate) seconds: f64,
}

/// Runs the contests one after the other; after each, `keep` is given all that came out so far.
///
/// A contest that fails is kept with its failure, and the rest go on; only a `keep` that fails ends the run.
pub(crate) fn run(
    contests: &[&Contest],
    n_known: usize,
    bench: &Bench,
    mut keep: impl FnMut(&Report) -> Result<(), String>,
) -> Result<Report, String> {
    let mut report = Report {
        schema: "mil-benches/2",
        provenance: Provenance::here_and_now(),
        pace: bench.pace,
        is_complete: false,
        has_peers: bench.peer.is_present(),
        contests: Vec::new(),
    };
    for contest in contests {
        report.contests.push(entry(contest, bench));
        report.is_complete = report.contests.len() == n_known;
        keep(&report)?;
    }
    Ok(report)
}

fn entry(contest: &Contest, bench: &Bench) -> Entry {
    let start = Instant::now();
    let mut entry = Entry {
        name: contest.name.to_owned(),
        about: contest.about.to_owned(),
        notes: contest.notes.iter().map(|&note| note.to_owned()).collect(),
        ..Entry::default()
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| work(contest, bench, &mut entry)));
    entry.failure = match outcome {
        Ok(outcome) => outcome.err(),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Some(format!("it panicked: {}", said.unwrap_or("without a word")))
        }
    };
    entry.seconds = start.elapsed().as_secs_f64();
    entry
}

fn work(contest: &Contest, bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    match contest.work {
        Work::Duels(duels) => duels(bench, entry),
        Work::Curves(curves) => {
            // One curve that fails does not keep the next from being measured.
            let faults: Vec<String> = curves.iter().filter_map(|curve| add_growth(curve, bench, entry).err()).collect();
            if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
        }
    }
}

fn add_growth(curve: &Curve, bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let (growth, outcome) = grow(curve, bench);
    if !growth.ours.points.is_empty() {
        entry.growths.push(growth);
    }
    outcome
}

impl Report {
    /// Names of the contests that failed.
    pub(crate) fn failed(&self) -> Vec<&str> {
        self.contests.iter().filter(|entry| entry.failure.is_some()).map(|entry| entry.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duel::alone;

    const fn contest(name: &'static str, duels: fn(&Bench, &mut Entry) -> Result<(), String>) -> Contest {
        Contest { name, about: "", notes: &["A note."], work: Work::Duels(duels) }
    }

    fn one_duel(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
        entry.duels.push(alone("work".to_owned(), || (), bench));
        Ok(())
    }

    #[test]
    fn a_contest_that_fails_takes_no_other_with_it() {
        let contests = [
            contest("errs", |bench, entry| one_duel(bench, entry).and(Err("no memory".to_owned()))),
            contest("panics", |_, _| panic!("out of {}", "budget")),
            contest("works", one_duel),
        ];
        let contests: Vec<&Contest> = contests.iter().collect();
        let bench = Bench { peer: Peer::absent(), pace: Pace::Quick };
        let mut kept = Vec::new();
        let keep = |report: &Report| {
            kept.push(report.contests.len());
            Ok(())
        };
        let report = run(&contests, 3, &bench, keep).unwrap();
        let [errs, panics, works] = &report.contests[..] else { panic!("three entries") };
        assert_eq!((errs.failure.as_deref(), errs.duels.len()), (Some("no memory"), 1), "what it had is kept");
        assert_eq!(panics.failure.as_deref(), Some("it panicked: out of budget"));
        assert_eq!(
            (works.failure.as_deref(), works.duels.len(), &works.notes[..]),
            (None, 1, &["A note.".to_owned()][..])
        );
        assert_eq!((report.failed(), report.is_complete), (vec!["errs", "panics"], true));
        assert_eq!(kept, [1, 2, 3], "results are kept after each");
    }

    #[test]
    fn where_nothing_can_be_kept_the_run_ends() {
        let works = contest("works", one_duel);
        let bench = Bench { peer: Peer::absent(), pace: Pace::Quick };
        let mut n_calls = 0;
        let keep = |_: &Report| {
            n_calls += 1;
            Err("no space".to_owned())
        };
        assert_eq!(run(&[&works, &works], 2, &bench, keep).unwrap_err(), "no space");
        assert_eq!(n_calls, 1);
    }
}
