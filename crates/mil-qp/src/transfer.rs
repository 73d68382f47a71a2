//! What [`GroupDual`](crate::GroupDual) and [`SimplexBlocks`](crate::SimplexBlocks) share: weights in capped groups that change by transfers.
//!
//! With $\beta_i = y_ia_i$ the group dual is $\min\tfrac12\beta^\top K\beta + (yp)^\top\beta$ under $\sum_i\beta_i = \Delta$, $y_i\beta_i\ge0$ and
//! $\sum_{i\in g}y_i\beta_i\le C_g$. Whatever keeps the equality is a sum of transfers of $\beta$ from some $j$ to some $i$: inside a group they
//! leave its sum alone, between groups they need room under the caps. So a point is optimal when no allowed transfer has $g_i < g_j$, $g$ the gradient in
//! $\beta$; the largest such $g_j - g_i$ is the *violation*. Simplex blocks are the case where $\Delta$ is the sum of all caps: no group ever has
//! room, and transfers stay inside.
//!
//! Decomposition (Joachims 1999) in rounds. A round chooses weights that violate most, and among those with a row at hand the positive ones;
//! fetches the missing rows together; makes the problem over the chosen weights optimal in memory; and brings the gradient of all up to
//! date. In memory, transfers are chosen by the gain they bring (second order; Fan, Chen & Lin 2005). Where the kernel is wide, transfers crawl
//! along narrow valleys; so after a while without an end the weights inside their bounds take a Newton step over the face they span, cut where the first of
//! them meets a bound.

use std::ops::Range;

use mil_core::KernelRows;
use nalgebra::{Cholesky, DMatrix, DVector};

use crate::cache::{RowCache, add_rows};
use crate::certificate::dot;
use crate::error::{require_finite, require_setting};
use crate::warm::WarmStart;
use crate::{Certificate, Outcome, ProblemError, Solution};

/// How far to go, for [`GroupDual`](crate::GroupDual) and [`SimplexBlocks`](crate::SimplexBlocks).
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSettings {
    /// The largest violation of the optimality conditions that is accepted, against the magnitude of the gradient (its parts, at least 1), and the bound of
    /// [`Certificate::worst`]. Above 0. Rounding sets in near 1e-14.
    pub tolerance: f64,
    /// Transfers before we stop; a Newton step counts as many as it has weights. At least 1.
    pub max_steps: usize,
    /// Bytes for kernel rows. Two rows are kept whatever this says.
    pub cache_bytes: usize,
}

impl Default for GroupSettings {
    /// 1e-8, ten million transfers, 256 MiB.
    fn default() -> Self {
        GroupSettings { tolerance: 1e-8, max_steps: 10_000_000, cache_bytes: 256 << 20 }
    }
}

impl GroupSettings {
    fn check(&self) -> Result<(), ProblemError> {
        let positive = self.tolerance.is_finite() && 0.0 < self.tolerance;
        require_setting("tolerance", self.tolerance, positive, "a finite number above 0")?;
        require_setting("max_steps", self.max_steps as f64, 1 <= self.max_steps, "at least 1")
    }
}

/// Weights, the room their groups have left, and the gradient in $\beta$: of a whole problem, or of the part worked on.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    /// $y_i$, the same throughout a group.
    pub(crate) signs: Vec<f64>,
    pub(crate) group_of: Vec<usize>,
    /// $a_i$.
    pub(crate) values: Vec<f64>,
    /// $C_g - \sum_{i\in g}a_i$. Moves with every transfer between groups, so that a full group has 0, exactly.
    pub(crate) room: Vec<f64>,
    /// $g_i = (K\beta)_i + y_ip_i$.
    pub(crate) gradient: Vec<f64>,
}

impl Weights {
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// $\beta_i$.
    fn signed(&self, idx: usize) -> f64 {
        self.signs[idx] * self.values[idx]
    }

    /// How much of $\beta$ may go from `giver` to `taker`; 0 if the transfer is not allowed.
    fn reach(&self, taker: usize, giver: usize) -> f64 {
        let inside = self.group_of[taker] == self.group_of[giver];
        let grow = |idx: usize| if inside { f64::INFINITY } else { self.room[self.group_of[idx]] };
        let taken = if self.signs[taker] > 0.0 { grow(taker) } else { self.values[taker] };
        let given = if self.signs[giver] > 0.0 { self.values[giver] } else { grow(giver) };
        taken.min(given)
    }

    /// Whether $\beta$ may rise, by a transfer inside the group or by one from another.
    fn may_take(&self, idx: usize) -> (bool, bool) {
        let positive = self.values[idx] > 0.0;
        if self.signs[idx] > 0.0 { (true, self.room[self.group_of[idx]] > 0.0) } else { (positive, positive) }
    }

    /// Whether $\beta$ may fall, by a transfer inside the group or by one to another.
    fn may_give(&self, idx: usize) -> (bool, bool) {
        let positive = self.values[idx] > 0.0;
        if self.signs[idx] > 0.0 { (positive, positive) } else { (true, self.room[self.group_of[idx]] > 0.0) }
    }

    fn transfer(&mut self, taker: usize, giver: usize, amount: f64) {
        self.values[taker] += self.signs[taker] * amount;
        self.values[giver] -= self.signs[giver] * amount;
        if self.group_of[taker] != self.group_of[giver] {
            self.room[self.group_of[taker]] -= self.signs[taker] * amount;
            self.room[self.group_of[giver]] += self.signs[giver] * amount;
        }
    }

    /// The part at some positions, with groups numbered by first appearance, and the group of each number.
    fn part(&self, idxs: &[usize], number_of: &mut [usize]) -> (Weights, Vec<usize>) {
        let mut groups = Vec::new();
        for &idx in idxs {
            let number = &mut number_of[self.group_of[idx]];
            if *number == usize::MAX {
                *number = groups.len();
                groups.push(self.group_of[idx]);
            }
        }
        let pick = |from: &[f64]| idxs.iter().map(|&idx| from[idx]).collect();
        let part = Weights {
            signs: pick(&self.signs),
            group_of: idxs.iter().map(|&idx| number_of[self.group_of[idx]]).collect(),
            values: pick(&self.values),
            room: groups.iter().map(|&group| self.room[group]).collect(),
            gradient: pick(&self.gradient),
        };
        groups.iter().for_each(|&group| number_of[group] = usize::MAX);
        (part, groups)
    }
}

/// The ends of the gradient that decide the violation.
pub(crate) struct Extremes {
    /// The highest gradient among those that may give, in each group; and the lowest among those that may take.
    highest_inside: Vec<f64>,
    lowest_inside: Vec<f64>,
    /// The same between groups.
    pub(crate) highest: f64,
    pub(crate) lowest: f64,
}

impl Extremes {
    pub(crate) fn of(weights: &Weights) -> Extremes {
        let n_groups = weights.room.len();
        let mut extremes = Extremes {
            highest_inside: vec![f64::NEG_INFINITY; n_groups],
            lowest_inside: vec![f64::INFINITY; n_groups],
            highest: f64::NEG_INFINITY,
            lowest: f64::INFINITY,
        };
        extremes.update(weights);
        extremes
    }

    fn update(&mut self, weights: &Weights) {
        self.highest_inside.fill(f64::NEG_INFINITY);
        self.lowest_inside.fill(f64::INFINITY);
        (self.highest, self.lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for (idx, (&gradient, &group)) in weights.gradient.iter().zip(&weights.group_of).enumerate() {
            let (give_inside, give) = weights.may_give(idx);
            let (take_inside, take) = weights.may_take(idx);
            if give_inside && gradient > self.highest_inside[group] {
                self.highest_inside[group] = gradient;
            }
            if take_inside && gradient < self.lowest_inside[group] {
                self.lowest_inside[group] = gradient;
            }
            if give && gradient > self.highest {
                self.highest = gradient;
            }
            if take && gradient < self.lowest {
                self.lowest = gradient;
            }
        }
    }

    /// The largest difference of gradients over which the weight may take.
    fn taking(&self, weights: &Weights, idx: usize) -> f64 {
        let (inside, across) = weights.may_take(idx);
        let from_inside = if inside { self.highest_inside[weights.group_of[idx]] } else { f64::NEG_INFINITY };
        let from_across = if across { self.highest } else { f64::NEG_INFINITY };
        from_inside.max(from_across) - weights.gradient[idx]
    }

    /// The largest difference of gradients over which the weight may give.
    fn giving(&self, weights: &Weights, idx: usize) -> f64 {
        let (inside, across) = weights.may_give(idx);
        let to_inside = if inside { self.lowest_inside[weights.group_of[idx]] } else { f64::INFINITY };
        let to_across = if across { self.lowest } else { f64::INFINITY };
        weights.gradient[idx] - to_inside.min(to_across)
    }

    /// The largest difference of gradients over which a transfer is allowed; at most 0 at an optimum.
    fn violation(&self) -> f64 {
        self.inside().max(self.across())
    }

    fn inside_of(&self, group: usize) -> f64 {
        self.highest_inside[group] - self.lowest_inside[group]
    }

    fn inside(&self) -> f64 {
        (0..self.highest_inside.len()).map(|group| self.inside_of(group)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn across(&self) -> f64 {
        self.highest - self.lowest
    }
}

/// Weights worked on together. More make rounds fewer and transfers dearer; measured best where they hold all positive weights.
const WORKING_SET: usize = 2048;
/// Weights worked on together even where not all their rows fit at once and are computed twice: pairs alone would crawl.
const LEAST_SET: usize = 64;
/// Rows computed for a round: enough for products of matrices to be fast, not so many that most turn out useless.
const FRESH: usize = 256;
/// What a round leaves of the violation for the next: to go further before the other weights have had their say is wasted.
const INNER_SHARE: f64 = 0.05;
/// Steps of a round for each of its weights, before the gradient of all is brought up to date.
const ROUND_STEPS: usize = 1000;
/// Rounds in which the violation may be rounding alone before we take it for that.
const VAIN_ROUNDS: usize = 20;
/// Rounding of the gradient that cannot sway a verdict, against the tolerance.
const TRUSTED_SHARE: f64 = 1e-3;
/// A sweep passes over groups that violate less than this share of the worst.
const SWEEP_SHARE: f64 = 0.1;
/// The price of factorising a matrix of order $m$, as a share of $m^3$, where a pass over a number costs 1.
const FACTOR_PRICE: f64 = 0.05;
/// Added to the diagonal of a Newton step, against the largest entry there. What the step leaves of the gradient is this much of its length.
const RIDGE: f64 = 1e-13;
/// A slope below this, against the sizes of its terms, is rounding.
const SLOPE_ROUNDING: f64 = 1e-15;
/// A curvature below this, against the sizes of its terms, is rounding; as far below 0, it is a matrix with a negative eigenvalue.
const FLAT: f64 = 1e-13;
const INDEFINITE: f64 = -1e-8;

/// Lowers the objective from a feasible start until the violation is at most the tolerance and the certificate holds. `offsets` are $y_ip_i$;
/// the gradient of `weights` is made here, from the start's where that is known; `judge` gives a point its multipliers.
pub(crate) fn descend<K: KernelRows>(
    kernel: &K,
    offsets: &[f64],
    mut weights: Weights,
    start: Option<&WarmStart>,
    settings: &GroupSettings,
    judge: impl Fn(&Weights) -> (Vec<f64>, Certificate),
) -> Result<Outcome, ProblemError> {
    settings.check()?;
    let roots = roots_of_diagonal(kernel)?;
    let mut cache = RowCache::new(kernel, settings.cache_bytes)?;
    let known = start.and_then(|start| start.product.as_ref().map(|product| (&start.signed, product)));
    let mut is_fresh = known.is_none();
    match known {
        None => refresh_gradient(&mut weights, offsets, &mut cache)?,
        Some((signed, product)) => {
            weights.gradient = offsets.iter().zip(product).map(|(offset, product)| offset + product).collect();
            let changes: Vec<f64> = (0..weights.len()).map(|idx| weights.signed(idx) - signed[idx]).collect();
            add_product(&mut weights.gradient, &changes, &mut cache)?;
        }
    }
    let mut chosen = Vec::new();
    let mut numbers = vec![usize::MAX; weights.room.len()];
    let mut target = settings.tolerance;
    let (mut n_steps, mut n_vain) = (0, 0);
    loop {
        let scale = gradient_scale(&weights, offsets)?;
        let extremes = Extremes::of(&weights);
        let violation = extremes.violation();
        let rounding = rounding_of_gradient(&weights, &roots);
        n_vain += usize::from(violation <= 32.0 * rounding);
        let floor = if n_vain < VAIN_ROUNDS { 0.25 * rounding } else { 32.0 * rounding };
        if violation <= (target * scale).max(floor) || settings.max_steps <= n_steps {
            // The gradient was kept up to date by sums over many rounds; where their rounding could be felt, the verdict is on one made anew.
            if !is_fresh && (violation <= floor || rounding > TRUSTED_SHARE * settings.tolerance * scale) {
                refresh_gradient(&mut weights, offsets, &mut cache)?;
                is_fresh = true;
                continue;
            }
            let (dual, certificate) = judge(&weights);
            let is_optimal = violation <= settings.tolerance * scale
                && certificate.can_be_told(rounding, &weights.values, settings.tolerance)
                && certificate.holds(settings.tolerance);
            if is_optimal || violation <= floor || settings.max_steps <= n_steps {
                let solution = Solution { primal: weights.values, dual, certificate, n_steps };
                return Ok(if is_optimal { Outcome::Solved(solution) } else { Outcome::OutOfBudget(solution) });
            }
            target = 0.1 * violation / scale;
            continue;
        }
        chosen = choose(&weights, &extremes, &chosen, &cache);
        let (part, groups) = weights.part(&chosen, &mut numbers);
        let gram = gram_of(&chosen, &mut cache)?;
        if let Some(place) = gram.iter().position(|value| !value.is_finite()) {
            let idx = chosen[place / chosen.len()];
            return Err(ProblemError::Value {
                what: "kernel row",
                idx,
                value: gram[place],
                expected: "finite numbers",
            });
        }
        let mut small = Small { weights: part, gram, from_giver: [true; 2] };
        let tolerance = (INNER_SHARE * violation).max(0.5 * target * scale);
        n_steps += small.relax(tolerance, settings.max_steps - n_steps)?;
        let moved = absorb(&mut weights, &chosen, &groups, &small.weights, &mut cache)?;
        if !moved && is_fresh {
            // Rounding: what the violation asks for no weight can express.
            let (dual, certificate) = judge(&weights);
            return Ok(Outcome::OutOfBudget(Solution { primal: weights.values, dual, certificate, n_steps }));
        }
        is_fresh = !moved;
        if !moved {
            refresh_gradient(&mut weights, offsets, &mut cache)?;
        }
    }
}

/// $\sqrt{K_{ii}}$.
fn roots_of_diagonal(kernel: &impl KernelRows) -> Result<Vec<f64>, ProblemError> {
    let diagonal = kernel.diagonal_values().map_err(ProblemError::Rows)?;
    require_finite("kernel diagonal", &diagonal)?;
    if diagonal.iter().any(|&value| value < 0.0) {
        return Err(ProblemError::NotConvex);
    }
    Ok(diagonal.into_iter().map(f64::sqrt).collect())
}

/// The magnitude that violations are measured against: the largest of 1 and all $|(K\beta)_i|$, $|p_i|$.
fn gradient_scale(weights: &Weights, offsets: &[f64]) -> Result<f64, ProblemError> {
    let mut scale = 1.0_f64;
    for (idx, (&gradient, &offset)) in weights.gradient.iter().zip(offsets).enumerate() {
        if !gradient.is_finite() {
            return Err(ProblemError::Value {
                what: "gradient",
                idx,
                value: gradient,
                expected: "finite kernel values",
            });
        }
        scale = scale.max((gradient - offset).abs()).max(offset.abs());
    }
    Ok(scale)
}

/// What rounding may make of the gradient: a unit in the last place of $\max_i\sum_j|K_{ij}\beta_j| \le \max_i\sqrt{K_{ii}}\sum_j\sqrt{K_{jj}}\,|\beta_j|$.
fn rounding_of_gradient(weights: &Weights, roots: &[f64]) -> f64 {
    let largest = roots.iter().fold(0.0_f64, |largest, &root| largest.max(root));
    f64::EPSILON * largest * dot(roots, &weights.values)
}

/// The gradient from its definition, by the rows of positive weights.
fn refresh_gradient<K: KernelRows>(
    weights: &mut Weights,
    offsets: &[f64],
    cache: &mut RowCache<'_, K>,
) -> Result<(), ProblemError> {
    weights.gradient = offsets.to_vec();
    let signed: Vec<f64> = (0..weights.len()).map(|idx| weights.signed(idx)).collect();
    add_product(&mut weights.gradient, &signed, cache)
}

/// Adds $K\delta$, by the rows where $\delta$ is not 0.
fn add_product<K: KernelRows>(
    sums: &mut [f64],
    changes: &[f64],
    cache: &mut RowCache<'_, K>,
) -> Result<(), ProblemError> {
    let support: Vec<usize> = (0..changes.len()).filter(|&idx| changes[idx] != 0.0).collect();
    for idxs in support.chunks(cache.capacity().min(WORKING_SET)) {
        cache.fetch(idxs)?;
        let moves: Vec<(f64, &[f64])> = idxs.iter().map(|&idx| (changes[idx], cache.row(idx))).collect();
        add_rows(sums, &moves);
    }
    Ok(())
}

/// The weights of a round: the pair that violates most; others that violate, those that may take and those that may give in turn, up to half of the
/// places and to [`FRESH`] rows still to be computed, of no group more than its share; then positive weights whose row is at hand, those of the last
/// round first.
fn choose<K: KernelRows>(
    weights: &Weights,
    extremes: &Extremes,
    last: &[usize],
    cache: &RowCache<'_, K>,
) -> Vec<usize> {
    let n_most = cache.capacity().clamp(LEAST_SET, WORKING_SET);
    let takers = most_violating(weights.len(), n_most / 2, |idx| extremes.taking(weights, idx));
    let givers = most_violating(weights.len(), n_most / 2, |idx| extremes.giving(weights, idx));
    let taker = takers[0];
    let allowed = |&giver: &usize| weights.reach(taker, giver) > 0.0;
    let giver = (0..weights.len())
        .filter(allowed)
        .fold(taker, |best, idx| if weights.gradient[idx] > weights.gradient[best] { idx } else { best });

    let mut chosen = vec![taker, giver];
    let mut is_chosen = vec![false; weights.len()];
    (is_chosen[taker], is_chosen[giver]) = (true, true);
    let mut n_fresh = 0;
    let is_fresh = |idx: usize| weights.values[idx] == 0.0 || !cache.holds(idx);
    let mut fresh_of = vec![0; weights.room.len()];
    // Of groups that violate, not of all: towards the end a few large ones are left, which would wait for their weights for many rounds.
    let mut violating: Vec<usize> =
        takers.iter().chain(&givers).filter(|&&idx| is_fresh(idx)).map(|&idx| weights.group_of[idx]).collect();
    violating.sort_unstable();
    violating.dedup();
    let share_of_group = (FRESH / violating.len().max(1)).max(2);
    let n_pairs = takers.len().max(givers.len());
    let in_turn = (0..n_pairs).flat_map(|rank| [takers.get(rank), givers.get(rank)]).flatten();
    for &idx in in_turn {
        if chosen.len() >= n_most / 2 {
            break;
        }
        if is_chosen[idx] {
            continue;
        }
        // What has a row but no weight counts as well: else a round would take in most of what violates at first and matters little later.
        if is_fresh(idx) {
            let of_group = &mut fresh_of[weights.group_of[idx]];
            if n_fresh == FRESH || *of_group == share_of_group {
                continue;
            }
            n_fresh += 1;
            *of_group += 1;
        }
        is_chosen[idx] = true;
        chosen.push(idx);
    }
    for idx in last.iter().copied().chain(0..weights.len()) {
        let is_cheap = cache.holds(idx) || chosen.len() < LEAST_SET;
        if chosen.len() < n_most && !is_chosen[idx] && weights.values[idx] > 0.0 && is_cheap {
            is_chosen[idx] = true;
            chosen.push(idx);
        }
    }
    chosen.sort_unstable_by_key(|&idx| (weights.group_of[idx], idx));
    chosen
}

/// Up to `n_most` positions with a score above 0, the largest first; the largest of all in any case.
fn most_violating(n: usize, n_most: usize, score: impl Fn(usize) -> f64) -> Vec<usize> {
    let scores: Vec<f64> = (0..n).map(score).collect();
    let mut best: Vec<usize> = (0..n).filter(|&idx| scores[idx] > 0.0).collect();
    let order = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    if best.len() > n_most {
        best.select_nth_unstable_by(n_most, order);
        best.truncate(n_most);
    }
    best.sort_unstable_by(order);
    best
}

/// The kernel between the weights of a round.
fn gram_of<K: KernelRows>(chosen: &[usize], cache: &mut RowCache<'_, K>) -> Result<DMatrix<f64>, ProblemError> {
    let mut gram = DMatrix::zeros(chosen.len(), chosen.len());
    let mut columns = gram.column_iter_mut();
    for idxs in chosen.chunks(cache.capacity()) {
        cache.fetch(idxs)?;
        for (&idx, mut column) in idxs.iter().zip(&mut columns) {
            let row = cache.row(idx);
            column.iter_mut().zip(chosen).for_each(|(value, &other)| *value = row[other]);
        }
    }
    Ok(gram)
}

/// Takes over the weights of a part and brings the gradient up to date. Whether any weight moved.
fn absorb<K: KernelRows>(
    weights: &mut Weights,
    chosen: &[usize],
    groups: &[usize],
    part: &Weights,
    cache: &mut RowCache<'_, K>,
) -> Result<bool, ProblemError> {
    groups.iter().zip(&part.room).for_each(|(&group, &room)| weights.room[group] = room);
    let moved: Vec<(usize, f64)> = chosen
        .iter()
        .zip(&part.values)
        .filter(|&(&idx, &value)| value != weights.values[idx])
        .map(|(&idx, &value)| (idx, value))
        .collect();
    for moves in moved.chunks(cache.capacity()) {
        cache.fetch(&moves.iter().map(|&(idx, _)| idx).collect::<Vec<_>>())?;
        let change = |idx: usize, value: f64| weights.signs[idx] * (value - weights.values[idx]);
        let rows: Vec<(f64, &[f64])> = moves.iter().map(|&(idx, value)| (change(idx, value), cache.row(idx))).collect();
        add_rows(&mut weights.gradient, &rows);
        moves.iter().for_each(|&(idx, value)| weights.values[idx] = value);
    }
    Ok(!moved.is_empty())
}

fn add_scaled(sum: &mut [f64], factor: f64, row: &[f64]) {
    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += factor * value);
}

/// A problem in memory, its weights in the order of their groups.
struct Small {
    weights: Weights,
    gram: DMatrix<f64>,
    /// Whether the last transfer, across groups and inside one, was chosen by its giver.
    from_giver: [bool; 2],
}

impl Small {
    /// Transfers and Newton steps until the violation is at most the tolerance. Returns the steps taken.
    ///
    /// Where the worst violation is inside a group, one sweep makes a transfer in each group that is nearly as bad; else a transfer between groups is
    /// made. When transfers have cost as much as a Newton step would, it is tried: so the two together take at most twice the time of the better.
    fn relax(&mut self, tolerance: f64, max_steps: usize) -> Result<usize, ProblemError> {
        let n = self.weights.len();
        let spans = spans(&self.weights.group_of);
        let mut extremes = Extremes::of(&self.weights);
        let (mut n_steps, mut work) = (0, 0);
        while n_steps < max_steps.min(ROUND_STEPS * n) && extremes.violation() > tolerance {
            let mut n_transfers = 0;
            if extremes.across() > extremes.inside() {
                n_transfers += usize::from(self.transfer_within(0..n, false)?);
            } else {
                let bar = SWEEP_SHARE * extremes.inside();
                for (_, span) in spans.iter().enumerate().filter(|&(group, _)| extremes.inside_of(group) >= bar) {
                    n_transfers += usize::from(self.transfer_within(span.clone(), true)?);
                }
            }
            if n_transfers == 0 {
                break;
            }
            n_steps += n_transfers;
            work += n * (4 + n_transfers);
            let n_positive = self.weights.values.iter().filter(|&&value| value > 0.0).count();
            if work as f64 > FACTOR_PRICE * (n_positive as f64).powi(3) + (2 * n * n_positive) as f64 {
                n_steps += self.newton_steps();
                work = 0;
            }
            extremes.update(&self.weights);
        }
        Ok(n_steps)
    }

    /// A transfer between weights of a span: by turns to the one of lowest gradient, from the one for which the objective falls most, or from the one of highest
    /// gradient, to the one for which it falls most. One alone may crawl, where many gradients tie and only one of the pairs has a long way to go. False if
    /// there is none, or the weights cannot express it.
    fn transfer_within(&mut self, span: Range<usize>, inside: bool) -> Result<bool, ProblemError> {
        let from_giver = &mut self.from_giver[usize::from(inside)];
        *from_giver = !*from_giver;
        let (weights, from_giver) = (&self.weights, *from_giver);
        let pick = |(in_group, across): (bool, bool)| if inside { in_group } else { across };
        let is_candidate =
            |&idx: &usize| if from_giver { pick(weights.may_give(idx)) } else { pick(weights.may_take(idx)) };
        let urgency = |idx: usize| if from_giver { weights.gradient[idx] } else { -weights.gradient[idx] };
        let Some(first) =
            span.clone().filter(is_candidate).reduce(|best, idx| if urgency(idx) > urgency(best) { idx } else { best })
        else {
            return Ok(false);
        };
        let row = self.gram.column(first);
        let (mut best_gain, mut second, mut amount) = (0.0, first, 0.0);
        for other in span {
            let (taker, giver) = if from_giver { (other, first) } else { (first, other) };
            let slope = weights.gradient[giver] - weights.gradient[taker];
            if slope <= 0.0 {
                continue;
            }
            let reach = weights.reach(taker, giver);
            let (sum, cross) = (row[first] + self.gram[(other, other)], 2.0 * row[other]);
            let (curvature, size) = (sum - cross, sum + cross.abs());
            if curvature < INDEFINITE * size {
                return Err(ProblemError::NotConvex);
            }
            let length = if curvature <= FLAT * size { reach } else { reach.min(slope / curvature) };
            let gain = length * (slope - 0.5 * length * curvature.max(0.0));
            if gain > best_gain {
                (best_gain, second, amount) = (gain, other, length);
            }
        }
        let (taker, giver) = if from_giver { (second, first) } else { (first, second) };
        // An amount that one of the two would swallow is only worth its while if it takes something to a bound.
        let larger = weights.values[taker].max(weights.values[giver]);
        if best_gain == 0.0 || (larger + amount == larger && amount < weights.reach(taker, giver)) {
            return Ok(false);
        }
        self.weights.transfer(taker, giver, amount);
        add_scaled(&mut self.weights.gradient, amount, self.gram.column(taker).as_slice());
        add_scaled(&mut self.weights.gradient, -amount, self.gram.column(giver).as_slice());
        Ok(true)
    }

    /// Newton steps until one is not cut short; each that is has brought a weight to a bound. Returns their price in steps.
    fn newton_steps(&mut self) -> usize {
        let mut n_steps = 0;
        for _ in 0..2 * self.weights.len() {
            let Some((direction, reference_of)) = self.newton_direction() else {
                break;
            };
            n_steps += reference_of.iter().flatten().count();
            if self.follow(direction, &reference_of) {
                break;
            }
        }
        n_steps
    }

    /// To the least value over the face of the positive weights. What a full group holds stays in it; the groups with room share what they hold. In each of these parts the largest
    /// weight is the reference $r$ that gives what others take, so that the Hessian is $K_{ij} - K_{ir_j} - K_{r_ij} + K_{r_ir_j}$. Returns the direction in $\beta$ and
    /// the reference of each weight that moves against one; nothing if no weight can move.
    fn newton_direction(&self) -> Option<(Vec<f64>, Vec<Option<usize>>)> {
        let (weights, gram) = (&self.weights, &self.gram);
        let n_groups = weights.room.len();
        let part_of = |idx: usize| {
            let group = weights.group_of[idx];
            if weights.room[group] > 0.0 { n_groups } else { group }
        };
        let positive = || (0..weights.len()).filter(|&idx| weights.values[idx] > 0.0);
        let mut references: Vec<Option<usize>> = vec![None; n_groups + 1];
        for idx in positive() {
            let reference = &mut references[part_of(idx)];
            if reference.is_none_or(|other| weights.values[other] < weights.values[idx]) {
                *reference = Some(idx);
            }
        }
        let mut reference_of = vec![None; weights.len()];
        for idx in positive() {
            reference_of[idx] = references[part_of(idx)].filter(|&reference| reference != idx);
        }
        let moving: Vec<(usize, usize)> =
            (0..weights.len()).filter_map(|idx| reference_of[idx].map(|reference| (idx, reference))).collect();

        let mut hessian = DMatrix::from_fn(moving.len(), moving.len(), |row, column| {
            let ((i, r_i), (j, r_j)) = (moving[row], moving[column]);
            if row < column { 0.0 } else { gram[(i, j)] - gram[(r_i, j)] - gram[(i, r_j)] + gram[(r_i, r_j)] }
        });
        let ridge = RIDGE * hessian.diagonal().iter().fold(0.0_f64, |largest, &value| largest.max(value));
        (0..moving.len()).for_each(|place| hessian[(place, place)] += ridge);
        let slopes = moving.iter().map(|&(i, r_i)| weights.gradient[r_i] - weights.gradient[i]);
        let slopes = DVector::from_iterator(moving.len(), slopes);
        let rates = Cholesky::new(hessian).filter(|_| !moving.is_empty())?.solve(&slopes);
        let mut direction = vec![0.0; weights.len()];
        for (&(i, r_i), rate) in moving.iter().zip(rates.iter()) {
            direction[i] += rate;
            direction[r_i] -= rate;
        }
        direction.iter().all(|rate| rate.is_finite()).then_some((direction, reference_of))
    }

    /// Follows a direction to its lowest point. A weight that meets its bound on the way stays there, its reference takes over its part, and the path
    /// goes on as long as it falls. False if it ended early: the weights at bounds have changed.
    fn follow(&mut self, mut direction: Vec<f64>, reference_of: &[Option<usize>]) -> bool {
        let weights = &mut self.weights;
        let mut product = vec![0.0; direction.len()];
        for (idx, &rate) in direction.iter().enumerate().filter(|&(_, &rate)| rate != 0.0) {
            add_scaled(&mut product, rate, self.gram.column(idx).as_slice());
        }
        let mut is_straight = true;
        loop {
            let slope = dot(&weights.gradient, &direction);
            let curvature = dot(&product, &direction);
            let size: f64 = weights.gradient.iter().zip(&direction).map(|(g, rate)| (g * rate).abs()).sum();
            if -slope <= SLOPE_ROUNDING * size {
                return is_straight;
            }
            // A flat direction ends at a bound, since no weight can grow for ever.
            let mut length = if curvature > 0.0 { -slope / curvature } else { f64::MAX };
            let mut growth = vec![0.0; weights.room.len()];
            let (mut emptied, mut filled) = (None, None);
            for (idx, rate) in direction.iter().enumerate() {
                let growing = weights.signs[idx] * rate;
                growth[weights.group_of[idx]] += growing;
                if -growing * length > weights.values[idx] {
                    length = weights.values[idx] / -growing;
                    emptied = Some(idx);
                }
            }
            for (group, (&room, &growing)) in weights.room.iter().zip(&growth).enumerate() {
                if room > 0.0 && growing * length > room {
                    length = room / growing;
                    filled = Some(group);
                }
            }

            for (idx, rate) in direction.iter().enumerate().filter(|&(_, &rate)| rate != 0.0) {
                weights.values[idx] = (weights.values[idx] + length * weights.signs[idx] * rate).max(0.0);
            }
            for (room, growing) in weights.room.iter_mut().zip(&growth).filter(|(room, _)| **room > 0.0) {
                *room = (*room - length * growing).max(0.0);
            }
            add_scaled(&mut weights.gradient, length, &product);

            if let Some(group) = filled {
                weights.room[group] = 0.0;
                return false;
            }
            let Some(idx) = emptied else {
                return is_straight;
            };
            weights.values[idx] = 0.0;
            let Some(reference) = reference_of[idx] else {
                return false;
            };
            is_straight = false;
            let rate = std::mem::take(&mut direction[idx]);
            let others = direction.iter().zip(reference_of).filter(|(_, other)| **other == Some(reference));
            let against_others = -others.map(|(rate, _)| rate).sum::<f64>();
            let change = against_others - std::mem::replace(&mut direction[reference], against_others);
            add_scaled(&mut product, change, self.gram.column(reference).as_slice());
            add_scaled(&mut product, -rate, self.gram.column(idx).as_slice());
        }
    }
}

/// Where each group lies in a part, whose weights are in the order of their groups.
fn spans(group_of: &[usize]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (idx, &group) in group_of.iter().enumerate() {
        if group == spans.len() {
            spans.push(idx..idx);
        }
        spans[group].end = idx + 1;
    }
    spans
}
