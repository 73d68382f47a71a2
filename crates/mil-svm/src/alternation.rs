//! The engine of all methods that guess what the bags hide: choose, solve, choose anew.

use std::collections::HashSet;
use std::hash::Hash;

use mil_core::Label;

use crate::annealing::Level;
use crate::machine::Separation;
use crate::{SvmError, Task};

/// How a method went.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace<C> {
    /// What the model was fitted to: a label for each instance of the positive bags, or a witness for each of them.
    pub choice: C,
    /// The objective after each round.
    pub objectives: Vec<f64>,
    /// Why it stopped.
    pub stop: Stop,
}

/// How an annealed method went.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnealedTrace<C> {
    /// The temperatures, falling; they end early where a machine no longer tells instances apart.
    pub levels: Vec<Level>,
    /// The alternation at temperature 0 whose end the model is: from what the levels froze to, or from the plain start where that ended lower.
    pub alternation: Trace<C>,
}

/// Why an alternation stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The model chose what it was fitted to.
    FixedPoint,
    /// A choice came up again. Exact solutions exclude it: the objective falls whenever the choice changes. The model is that of the lowest objective.
    Cycle,
    /// The rounds were used up. The model is that of the lowest objective.
    RoundLimit,
}

/// Solves for a choice and chooses by the solution until the choice stays.
pub(crate) fn alternate<C: Clone + Eq + Hash>(
    start: C,
    max_rounds: usize,
    mut solve: impl FnMut(&C) -> Result<Separation, SvmError>,
    choose: impl Fn(&C, &Separation) -> C,
) -> Result<(Separation, Trace<C>), SvmError> {
    let mut choice = start;
    let mut visited = HashSet::from([choice.clone()]);
    let mut objectives = Vec::new();
    let mut best: Option<(Separation, C)> = None;
    loop {
        let separation = solve(&choice)?;
        objectives.push(separation.objective);
        let chosen = choose(&choice, &separation);
        if chosen == choice {
            return Ok((separation, Trace { choice, objectives, stop: Stop::FixedPoint }));
        }
        if best.as_ref().is_none_or(|(best, _)| separation.objective < best.objective) {
            best = Some((separation, choice));
        }
        let stop = if !visited.insert(chosen.clone()) {
            Stop::Cycle
        } else if objectives.len() == max_rounds {
            Stop::RoundLimit
        } else {
            choice = chosen;
            continue;
        };
        let (separation, choice) = best.expect("a round was made");
        return Ok((separation, Trace { choice, objectives, stop }));
    }
}

/// The better of two ends: the lower objective, the first on ties.
pub(crate) fn better<C>(first: (Separation, Trace<C>), second: (Separation, Trace<C>)) -> (Separation, Trace<C>) {
    if second.0.objective < first.0.objective { second } else { first }
}

/// The label of each instance of the positive bags by the side that its value is on; at 0 it keeps the one it had. Of the two hinges $(1\mp f)_+$ it has the lesser.
pub(crate) fn nearer_sides(task: &Task<'_>, labels: &[Label], values: &[f64]) -> Vec<Label> {
    let side = |(idx, &label): (usize, &Label)| match values[idx] {
        value if value > 0.0 => Label::Positive,
        value if value < 0.0 => Label::Negative,
        _ => label,
    };
    task.positive_instances().zip(labels).map(side).collect()
}
