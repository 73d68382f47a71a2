//! The engine of the annealed methods: what the bags hide is a distribution, which cools.
//!
//! With $J(w,b;h)$ the objective of a machine for the guess $h$, and $p$ a distribution over guesses, the free energy
//!
//! $$ F_T(w,b;p) = \mathbf E_{h\sim p}\,J(w,b;h) - T\,H(p) $$
//!
//! is smooth in the guess at a high temperature $T$ and is $J$ at $T=0$. At each temperature two steps alternate, each an exact minimiser, so that $F_T$ never rises: a machine for given $p$, whose costs are
//! weighted by $p$, and the Gibbs distribution for a given machine.

use crate::machine::Separation;
use crate::{SvmError, Task};

/// How it cools, in units of the penalty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    /// The first temperature.
    pub(crate) start: f64,
    /// No temperature is below.
    pub(crate) end: f64,
    /// What a temperature is divided by to give the next. Above 1.
    pub(crate) cooling: f64,
    /// The unit.
    pub(crate) penalty: f64,
}

/// Rounds at one temperature before it cools all the same.
///
/// Choice: few; the next temperature moves the distribution more than a better minimum at this one would.
const ROUNDS_AT_ONE_TEMPERATURE: usize = 3;

/// A change of all probabilities below which a temperature is done with.
const STILL: f64 = 1e-2;

/// How it went at one temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The temperature $T$, in the units of the objective.
    pub temperature: f64,
    /// The free energy $F_T$ after each machine.
    pub free_energies: Vec<f64>,
    /// The entropy $H(p)$ at the end, in nats, summed over the bags.
    pub entropy: f64,
}

/// Cools from a machine over the start distribution to the last temperature, and gives the last machine that tells the instances of positive bags apart, if one does.
///
/// `solve` fits to probabilities; `spread` gives the best probabilities for values at a temperature, and their entropy; `tells_apart` whether values differ at all. A machine of $w=0$ tells nothing: all gain
/// alike, hence the probabilities are even at any temperature and the next machine is the same. There it ends.
pub(crate) fn anneal(
    schedule: Schedule,
    start: Vec<f64>,
    mut solve: impl FnMut(&[f64]) -> Result<Separation, SvmError>,
    spread: impl Fn(&[f64], f64) -> (Vec<f64>, f64),
    tells_apart: impl Fn(&[f64]) -> bool,
) -> Result<(Option<Separation>, Vec<Level>), SvmError> {
    let mut separation = solve(&start)?;
    let mut last = None;
    let mut probabilities = start;
    let mut levels = Vec::new();
    let mut share = schedule.start;
    while share >= schedule.end {
        if !tells_apart(&separation.values) {
            return Ok((last, levels));
        }
        last = Some(separation.clone());
        let temperature = (share * schedule.penalty).max(f64::MIN_POSITIVE);
        let mut level = Level { temperature, free_energies: Vec::new(), entropy: 0.0 };
        for _ in 0..ROUNDS_AT_ONE_TEMPERATURE {
            let (spread, entropy) = spread(&separation.values, temperature);
            let change = spread.iter().zip(&probabilities).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
            if change <= STILL && !level.free_energies.is_empty() {
                break;
            }
            separation = solve(&spread)?;
            probabilities = spread;
            level.free_energies.push(separation.objective - temperature * entropy);
            level.entropy = entropy;
        }
        levels.push(level);
        share /= schedule.cooling;
    }
    Ok((if tells_apart(&separation.values) { Some(separation) } else { last }, levels))
}

/// Whether the values of the instances of positive bags differ by more than the solver's tolerance.
pub(crate) fn tells_apart(task: &Task<'_>, values: &[f64], tolerance: f64) -> bool {
    let of_positives = task.positive_instances().map(|idx| values[idx]);
    let highest = of_positives.clone().fold(f64::NEG_INFINITY, f64::max);
    highest - of_positives.fold(f64::INFINITY, f64::min) > tolerance
}

/// $-p\ln p$, which is 0 at 0.
pub(crate) fn surprise(probability: f64) -> f64 {
    if probability > 0.0 { -probability * probability.ln() } else { 0.0 }
}

/// By what each probability has grown; 1 where it was 0.
pub(crate) fn growth(before: &[f64], after: &[f64]) -> Vec<f64> {
    before.iter().zip(after).map(|(&before, &after)| if before > 0.0 { after / before } else { 1.0 }).collect()
}
