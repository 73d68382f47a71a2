//! Times of ours and of a peer, measured in turn, and their ratio with its spread.

use std::time::Instant;

use serde::Serialize;

use crate::contest::{Bench, Pace};
use crate::peer::Agreement;

/// One thing computed by us, and where there is one by a peer.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Duel {
    /// What was computed, with its sizes.
    pub(crate) name: String,
    /// Name and version of the peer; `None` where there is none to be had.
    pub(crate) peer: Option<String>,
    /// Our time over the peer's.
    pub(crate) ratio: Option<Ratio>,
    /// Median of the seconds of all calls of ours.
    pub(crate) our_seconds: f64,
    /// Median of the seconds of all calls of the peer.
    pub(crate) peer_seconds: Option<f64>,
    /// Every single time.
    pub(crate) turns: Vec<Turn>,
    /// The numbers by which both were seen to have done the same work.
    pub(crate) totals: Option<Totals>,
    /// What else was found.
    pub(crate) remarks: Vec<String>,
}

/// Seconds of each call of a turn, first ours, then the peer's, which are none where it runs alone.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Turn {
    /// Of ours.
    pub(crate) ours: Vec<f64>,
    /// Of the peer.
    pub(crate) peer: Vec<f64>,
}

/// Our time over the peer's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Ratio {
    /// The middle one of the turns' ratios.
    pub(crate) median: f64,
    /// The smallest of them.
    pub(crate) smallest: f64,
    /// The largest.
    pub(crate) largest: f64,
}

/// What each side computed in the last turn.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Totals {
    /// Ours.
    pub(crate) ours: f64,
    /// The peer's.
    pub(crate) peer: f64,
}

impl Duel {
    /// The duel of these turns.
    pub(crate) fn of(name: String, peer: Option<String>, turns: Vec<Turn>) -> Duel {
        let all = |side: fn(&Turn) -> &Vec<f64>| turns.iter().flat_map(side).copied().collect::<Vec<f64>>();
        let (of_ours, of_peer) = (all(|turn| &turn.ours), all(|turn| &turn.peer));
        let peer_seconds = (!of_peer.is_empty()).then(|| median(&of_peer));
        let ratio = Ratio::over(&turns);
        Duel {
            name,
            peer,
            ratio,
            our_seconds: median(&of_ours),
            peer_seconds,
            turns,
            totals: None,
            remarks: Vec::new(),
        }
    }

    /// The same with a remark.
    pub(crate) fn with_remark(mut self, remark: String) -> Duel {
        self.remarks.push(remark);
        self
    }
}

impl Ratio {
    /// Over turns: of each, the ratio of the medians of its two sides. `None` if a turn has no peer.
    pub(crate) fn over(turns: &[Turn]) -> Option<Ratio> {
        if turns.is_empty() || turns.iter().any(|turn| turn.ours.is_empty() || turn.peer.is_empty()) {
            return None;
        }
        let ratios: Vec<f64> = turns.iter().map(|turn| median(&turn.ours) / median(&turn.peer)).collect();
        let (smallest, largest) = range(&ratios);
        Some(Ratio { median: median(&ratios), smallest, largest })
    }
}

/// What a peer is asked for: a script, its arguments, and how its answer relates to ours.
pub(crate) struct Challenge<'a> {
    /// What it runs.
    pub(crate) script: &'a str,
    /// With these arguments, and the number of calls behind them.
    pub(crate) args: &'a [String],
    /// How the totals of both must agree.
    pub(crate) agreement: Agreement,
    /// What the totals are, where that is worth telling.
    pub(crate) total: Option<&'a str>,
    /// How often both are called.
    pub(crate) calls: Calls,
}

/// How often each side is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// Five turns of three calls.
    Many,
    /// Five turns of one call, where one takes seconds.
    Few,
    /// One call, where it takes minutes.
    One,
}

impl Calls {
    /// Turns, and calls in a turn.
    fn counts(self, pace: Pace) -> [usize; 2] {
        match (self, pace) {
            (Calls::One, _) => [1, 1],
            (_, Pace::Quick) => [2, 1],
            (Calls::Many, _) => [5, 3],
            (Calls::Few, _) => [5, 1],
        }
    }
}

/// Ours against a peer, turn by turn; the `total` of what we computed must agree with the peer's.
pub(crate) fn alternate<T>(
    name: String,
    ours: impl Fn() -> T,
    total: impl Fn(&T) -> f64,
    bench: &Bench,
    challenge: &Challenge<'_>,
) -> Result<Duel, String> {
    let [n_turns, n_calls] = challenge.calls.counts(bench.pace);
    let (mut turns, mut last) = (Vec::new(), None);
    for _ in 0..n_turns {
        let mut turn = Turn { ours: Vec::new(), peer: Vec::new() };
        let mut our_total = f64::NAN;
        for _ in 0..n_calls {
            let (seconds, computed) = timed(&ours);
            turn.ours.push(seconds);
            our_total = total(&computed);
        }
        if let Some(report) = bench.peer.call(challenge.script, challenge.args, n_calls)? {
            challenge.agreement.check(&name, our_total, report.total)?;
            turn.peer.clone_from(&report.seconds);
            last = Some((our_total, report));
        }
        turns.push(turn);
    }
    let Some((our_total, report)) = last else { return Ok(Duel::of(name, None, turns)) };
    let mut duel = Duel::of(name, Some(report.peer), turns);
    if !matches!(challenge.agreement, Agreement::AnotherProblem) {
        duel.totals = Some(Totals { ours: our_total, peer: report.total });
        let said = challenge.total.map(|what| format!("{what} {our_total:.4}, the peer's {:.4}", report.total));
        duel.remarks.extend(said);
    }
    duel.remarks.extend(report.remark.map(|remark| format!("the peer: {remark}")));
    Ok(duel)
}

/// Ours against another way of ours, turn by turn, with one call each.
pub(crate) fn alternate_ours<T, U>(
    name: String,
    ours: impl Fn() -> T,
    other: &str,
    theirs: impl Fn() -> U,
    bench: &Bench,
) -> Duel {
    let [n_turns, _] = Calls::Few.counts(bench.pace);
    let turn = |_| Turn { ours: vec![timed(&ours).0], peer: vec![timed(&theirs).0] };
    Duel::of(name, Some(other.to_owned()), (0..n_turns).map(turn).collect())
}

/// Ours alone, in as many turns of as many calls as against a peer.
pub(crate) fn alone<T>(name: String, ours: impl Fn() -> T, bench: &Bench) -> Duel {
    let [n_turns, n_calls] = Calls::Many.counts(bench.pace);
    let turn = |_| Turn { ours: (0..n_calls).map(|_| timed(&ours).0).collect(), peer: Vec::new() };
    Duel::of(name, None, (0..n_turns).map(turn).collect())
}

/// Seconds and result of one call; dropping the result is the caller's and off the clock.
pub(crate) fn timed<T>(work: impl Fn() -> T) -> (f64, T) {
    let start = Instant::now();
    let computed = std::hint::black_box(work());
    (start.elapsed().as_secs_f64(), computed)
}

/// The middle value, or the mean of the two in the middle; NaN of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => sorted[n / 2 - 1].midpoint(sorted[n / 2]),
    }
}

/// The smallest and the largest value.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Peer;

    fn turn(ours: &[f64], peer: &[f64]) -> Turn {
        Turn { ours: ours.to_vec(), peer: peer.to_vec() }
    }

    #[test]
    fn a_ratio_is_taken_turn_by_turn() {
        // The machine was three times as slow in the second turn, for both sides.
        let turns = [turn(&[1.0, 2.0, 9.0], &[4.0, 4.0]), turn(&[6.0], &[12.0, 12.0, 1.0]), turn(&[2.0], &[5.0])];
        let ratio = Ratio::over(&turns).unwrap();
        assert_eq!(ratio, Ratio { median: 0.5, smallest: 0.4, largest: 0.5 });
        let even = Ratio::over(&[turn(&[1.0], &[2.0]), turn(&[3.0], &[4.0])]).unwrap();
        assert_eq!(even, Ratio { median: 0.625, smallest: 0.5, largest: 0.75 });
        assert_eq!(Ratio::over(&[turn(&[1.0], &[2.0]), turn(&[1.0], &[])]), None, "a turn without its peer");
        assert_eq!(Ratio::over(&[]), None);
    }

    #[test]
    fn a_duel_knows_the_medians_of_all_calls() {
        let duel = Duel::of(
            "work".to_owned(),
            Some("Peer 1".to_owned()),
            vec![turn(&[3.0, 1.0], &[8.0]), turn(&[2.0], &[4.0])],
        );
        assert_eq!((duel.our_seconds, duel.peer_seconds), (2.0, Some(6.0)));
        let alone = Duel::of("work".to_owned(), None, vec![turn(&[3.0], &[])]);
        assert_eq!((alone.our_seconds, alone.peer_seconds, alone.ratio), (3.0, None, None));
    }

    #[test]
    fn without_python_ours_runs_alone_and_as_often() {
        let bench = Bench { peer: Peer::absent(), pace: Pace::Standard };
        let challenge =
            Challenge { script: "", args: &[], agreement: Agreement::Same, total: None, calls: Calls::Many };
        let duel = alternate("sum".to_owned(), || 1.0, |total| *total, &bench, &challenge).unwrap();
        assert!(duel.peer.is_none() && duel.ratio.is_none() && duel.totals.is_none());
        assert_eq!(duel.turns.iter().map(|turn| turn.ours.len()).collect::<Vec<_>>(), [3; 5]);
    }

    #[test]
    fn two_ways_of_ours_take_turns() {
        let bench = Bench { peer: Peer::absent(), pace: Pace::Quick };
        let duel = alternate_ours("sum".to_owned(), || 1, "the other way", || 2, &bench);
        assert!(duel.ratio.is_some() && duel.peer.as_deref() == Some("the other way") && duel.turns.len() == 2);
    }
}
