//! Measuring a growth: each point in a process of its own, since a process knows only the most memory it has had in all its life.

use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::contest::{Bench, Pace};
use crate::duel::timed;
use crate::growth::{Growth, Side, SizePoint};
use crate::peer::{Agreement, Peer};

/// Work whose growth is measured.
pub(crate) struct Curve {
    /// Short name, by which a process is asked for a point.
    pub(crate) name: &'static str,
    /// What is computed.
    pub(crate) title: &'static str,
    /// What a size counts.
    pub(crate) unit: &'static str,
    /// Rising sizes; a quick run takes the first three.
    pub(crate) sizes: &'static [usize],
    /// Further sizes of a long run.
    pub(crate) long_sizes: &'static [usize],
    /// Makes data of a size, then times the work on them, on one thread.
    pub(crate) measure: Measure,
    /// The peer's side, where there is one.
    pub(crate) peer: Option<PeerCurve>,
}

/// Measures one point; gives the total by which a peer is seen to do the same work, and a remark.
pub(crate) type Measure = fn(usize, &mut Stopwatch) -> Result<(f64, Option<String>), String>;

/// What a peer is asked for at each size.
pub(crate) struct PeerCurve {
    /// What it runs.
    pub(crate) script: &'static str,
    /// Hands over the data of a size and gives the arguments.
    pub(crate) args: fn(usize, &Peer) -> Result<Vec<String>, String>,
    /// How the totals of both must agree.
    pub(crate) agreement: Agreement,
    /// It is spared larger sizes than this.
    pub(crate) most: usize,
}

/// Calls go on until they have taken so long together, in seconds,
const LONG_ENOUGH: f64 = 0.5;
/// or there have been so many.
const MOST_CALLS: usize = 9;
/// A peer that took less than this for a size is called three times for the next.
const BRIEF: f64 = 0.1;
/// Sizes of a quick run.
const N_QUICK: usize = 3;

/// Takes the times and the memory of a point, inside its process.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    baseline: Option<f64>,
    seconds: Vec<f64>,
    peak: Option<f64>,
}

impl Stopwatch {
    /// Notes what the process has before there are data.
    pub(crate) fn at_start() -> Stopwatch {
        Stopwatch { baseline: peak_memory(), seconds: Vec::new(), peak: None }
    }

    /// From here on the peak counts: what making the data took for a moment does not, what is still there does.
    ///
    /// Where the system cannot forget a peak, it counts from the start.
    pub(crate) fn data_are_ready(&self) {
        let _ = std::fs::write("/proc/self/clear_refs", "5");
    }

    /// Notes the seconds of a call, and the memory of the process so far.
    pub(crate) fn record(&mut self, seconds: f64) {
        self.seconds.push(seconds);
        self.peak = peak_memory();
    }

    /// Calls until it has been long enough; gives the last result.
    pub(crate) fn repeat<T>(&mut self, work: impl Fn() -> T) -> T {
        self.data_are_ready();
        loop {
            let (seconds, computed) = timed(&work);
            self.record(seconds);
            if self.seconds.len() >= MOST_CALLS || self.seconds.iter().sum::<f64>() >= LONG_ENOUGH {
                return computed;
            }
        }
    }
}

/// What the process of a point prints, as one line of JSON.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct PointReport {
    seconds: Vec<f64>,
    peak: Option<f64>,
    baseline: Option<f64>,
    total: Option<f64>,
    remark: Option<String>,
}

/// Measures a point in this very process; gives the line to print.
pub(crate) fn point<'a>(
    mut curves: impl Iterator<Item = &'a Curve>,
    name: &str,
    n: &str,
    mut watch: Stopwatch,
) -> Result<String, String> {
    let curve = curves.find(|curve| curve.name == name).ok_or_else(|| format!("there is no curve {name:?}"))?;
    let n: usize = n
        .parse()
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| format!("the size is {n:?}, expected a whole number above 0"))?;
    let (total, remark) = pool(1)?.install(|| (curve.measure)(n, &mut watch))?;
    let Stopwatch { baseline, seconds, peak } = watch;
    let report = PointReport { seconds, peak, baseline, total: Some(total).filter(|total| total.is_finite()), remark };
    serde_json::to_string(&report).map_err(|error| error.to_string())
}

/// A growth, as far as its points could be measured, and the fault that ended it early.
pub(crate) fn grow(curve: &Curve, bench: &Bench) -> (Growth, Result<(), String>) {
    follow(curve, bench, measured_elsewhere)
}

/// Points of a curve by whatever measures one.
fn follow(
    curve: &Curve,
    bench: &Bench,
    measured: impl Fn(&Curve, usize) -> Result<PointReport, String>,
) -> (Growth, Result<(), String>) {
    let (mut ours, mut theirs, mut who) = (Vec::new(), Vec::new(), None);
    let mut step = |n: usize| {
        let report = measured(curve, n)?;
        let mut point = SizePoint::of(n, report.seconds, report.peak, report.baseline);
        point.remark = report.remark;
        ours.push(point);
        let Some(peer) = curve.peer.as_ref().filter(|peer| n <= peer.most && bench.peer.is_present()) else {
            return Ok(());
        };
        let n_calls = if theirs.last().is_none_or(|last: &SizePoint| last.seconds < BRIEF) { 3 } else { 1 };
        let args = (peer.args)(n, &bench.peer)?;
        if let Some(answer) = bench.peer.call(peer.script, &args, n_calls)? {
            let place = format!("{}, n = {n}", curve.name);
            peer.agreement.check(&place, report.total.unwrap_or(f64::NAN), answer.total)?;
            theirs.push(SizePoint::of(n, answer.seconds, answer.peak, answer.baseline));
            who = Some(answer.peer);
        }
        Ok(())
    };
    let outcome = sizes(curve, bench.pace).into_iter().try_for_each(&mut step);
    let growth = Growth {
        name: curve.name.to_owned(),
        title: curve.title.to_owned(),
        unit: curve.unit.to_owned(),
        ours: Side::of("ours".to_owned(), ours),
        peer: who.map(|who| Side::of(who, theirs)),
    };
    (growth, outcome)
}

fn sizes(curve: &Curve, pace: Pace) -> Vec<usize> {
    match pace {
        Pace::Quick => curve.sizes.iter().take(N_QUICK).copied().collect(),
        Pace::Standard => curve.sizes.to_vec(),
        Pace::Long => [curve.sizes, curve.long_sizes].concat(),
    }
}

/// Starts this program once more for the point.
fn measured_elsewhere(curve: &Curve, n: usize) -> Result<PointReport, String> {
    let place = |error: &dyn std::fmt::Display| format!("{}, n = {n}: {error}", curve.name);
    let program = std::env::current_exe().map_err(|error| place(&error))?;
    let output =
        Command::new(program).args(["--point", curve.name, &n.to_string()]).output().map_err(|error| place(&error))?;
    if !output.status.success() {
        return Err(place(&format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())));
    }
    read_report(&output.stdout).map_err(|error| place(&error))
}

/// The report of a process that said nothing is wrong.
fn read_report(stdout: &[u8]) -> Result<PointReport, String> {
    let report: PointReport = serde_json::from_slice(stdout).map_err(|error| format!("no report: {error}"))?;
    if report.seconds.is_empty() {
        return Err("a report without times".to_owned());
    }
    Ok(report)
}

/// The most memory this process has had at once, in bytes; `None` where the system does not tell.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}

/// Threads for what is measured.
pub(crate) fn pool(n_threads: usize) -> Result<rayon::ThreadPool, String> {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: Curve = Curve {
        name: "sum",
        title: "the sum of the first numbers",
        unit: "numbers",
        sizes: &[10, 20, 40, 80],
        long_sizes: &[160],
        measure: |n, watch| Ok((watch.repeat(|| (1..=n).sum::<usize>()) as f64, Some("summed".to_owned()))),
        peer: None,
    };

    #[test]
    fn what_the_process_of_a_point_prints_is_read_back() {
        let line = point([&SUM].into_iter(), "sum", "10", Stopwatch::at_start()).unwrap();
        assert!(!line.contains('\n'));
        let report = read_report(line.as_bytes()).unwrap();
        assert_eq!((report.total, report.remark.as_deref()), (Some(55.0), Some("summed")));
        assert!((1..=MOST_CALLS).contains(&report.seconds.len()));
        assert_eq!(report.peak.is_some(), report.baseline.is_some());
        for nonsense in ["", "{}", "[1]", r#"{"seconds":[],"peak":null,"baseline":null,"total":1,"remark":null}"#] {
            assert!(read_report(nonsense.as_bytes()).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_point_of_no_curve_or_no_size_is_refused() {
        let refusal = |name: &str, n: &str| point([&SUM].into_iter(), name, n, Stopwatch::at_start()).unwrap_err();
        assert_eq!(refusal("summ", "10"), "there is no curve \"summ\"");
        for n in ["0", "-1", "ten", ""] {
            assert_eq!(refusal("sum", n), format!("the size is {n:?}, expected a whole number above 0"));
        }
    }

    #[test]
    fn a_curve_has_the_sizes_of_the_pace() {
        let seen = |pace: Pace| {
            let bench = Bench { peer: Peer::absent(), pace };
            let measured = |_: &Curve, n: usize| {
                let seconds = vec![n as f64];
                Ok(PointReport { seconds, peak: Some(3e7), baseline: Some(1e7), total: None, remark: None })
            };
            let (growth, outcome) = follow(&SUM, &bench, measured);
            outcome.unwrap();
            assert!(growth.peer.is_none() && (growth.ours.time.unwrap().exponent - 1.0).abs() < 1e-12);
            assert!(growth.ours.memory.unwrap().exponent.abs() < 1e-12);
            growth.ours.points.iter().map(|point| point.n).collect::<Vec<_>>()
        };
        assert_eq!(seen(Pace::Quick), [10, 20, 40]);
        assert_eq!(seen(Pace::Standard), [10, 20, 40, 80]);
        assert_eq!(seen(Pace::Long), [10, 20, 40, 80, 160]);
    }

    #[test]
    fn points_before_a_fault_are_kept() {
        let bench = Bench { peer: Peer::absent(), pace: Pace::Standard };
        let measured = |_: &Curve, n: usize| {
            if n > 20 {
                return Err("out of memory".to_owned());
            }
            Ok(PointReport { seconds: vec![1.0], peak: None, baseline: None, total: None, remark: None })
        };
        let (growth, outcome) = follow(&SUM, &bench, measured);
        assert_eq!((growth.ours.points.len(), outcome), (2, Err("out of memory".to_owned())));
    }
}
