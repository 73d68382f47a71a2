//! Sequential minimal optimisation from kernel rows on demand.
//!
//! Platt (1999) moves two variables at a time; Fan, Chen & Lin (2005) choose them by second-order information. Each step of that scheme needs two
//! rows of the kernel, and nearly all of its time goes into computing and reading them. We therefore work on blocks, as Joachims (1999) does, in signed
//! variables $\beta_i = y_i\alpha_i$, which take the signs out of the matrix:
//!
//! $$ \min_\beta\ \tfrac12\beta^\top K\beta + c^\top\beta \quad\text{subject to}\quad \ell_i\le\beta_i\le h_i,\quad \mathbf 1^\top\beta = \Delta,\qquad c_i = y_ip_i. $$
//!
//! The variables that violate optimality most enter a block whose matrix is in memory; pairs among its members move until they agree, all free ones at
//! once where pairs crawl; then the gradient of all variables is brought up to date. Only variables that moved cost a whole row of the kernel, and these rows are
//! computed many at a time: a matrix product instead of many products of a matrix with a vector.
//!
//! Choice: the solve begins on every ninth variable (every $3^k$th, where that leaves at least 500), goes on with every third, then with all. A coarse level is cheap, its rows
//! are extended to the columns that come, and the next level begins near its optimum.
//!
//! Cost: a row of $n$ kernel values for each variable that ever moves, as long as the cache holds them, and $n$ operations for each
//! variable that moved in a round. Memory: a few vectors of length $n$, the block, and the cache.

mod block;
mod newton;
mod variables;

use mil_core::KernelRows;

use self::block::Block;
use self::variables::Variables;
use crate::cache::{RowCache, add_rows};
use crate::certificate::require_length;
use crate::error::{require_finite, require_setting};
use crate::svm_dual::add_kernel_product;
use crate::warm::WarmStart;
use crate::{Certificate, InfeasibilityProof, Outcome, ProblemError, Solution, SvmDual};

/// Settings of [`SvmDual::solve`].
#[derive(Debug, Clone, PartialEq)]
pub struct SmoSettings {
    /// Bound of the largest violation of optimality by a pair of variables, in units of the gradient and as far as rounding admits, and of
    /// [`Certificate::worst`]. Finite, above 0.
    pub tolerance: f64,
    /// Pairs moved before we stop. At least 1.
    pub max_steps: usize,
    /// Bytes for kernel rows; two rows are always kept.
    pub cache_bytes: usize,
    /// When to leave variables aside that seem settled at a bound.
    pub shrinking: Shrinking,
}

/// When to leave variables aside that seem settled at a bound. Their gradient is computed anew before the end, so that the answer is
/// as good in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrinking {
    /// Never.
    Never,
    /// Once the cache has no room for further rows: then shorter rows save more than the gradient costs that is computed anew.
    WhenCacheIsFull,
    /// As soon as possible.
    Always,
}

impl Default for SmoSettings {
    /// Tolerance $10^{-3}$, ten million pairs, 256 MiB, [`Shrinking::WhenCacheIsFull`].
    fn default() -> SmoSettings {
        SmoSettings {
            tolerance: 1e-3,
            max_steps: 10_000_000,
            cache_bytes: 256 << 20,
            shrinking: Shrinking::WhenCacheIsFull,
        }
    }
}

/// Each level has this many times the variables of the one before.
const LEVEL_RATIO: usize = 3;
/// The coarsest level has at least this many variables.
const LEAST_LEVEL: usize = 500;
/// All levels but the last end at this part of the violation they began with.
const COARSE: f64 = 0.1;
/// Rows computed together.
const BATCH: usize = 64;
/// Most variables in a block: its matrix has the square of this, 32 MiB.
const BLOCK_LIMIT: usize = 2048;
/// Variables that enter a block at once, of those to rise and of those to fall: a quarter of what is there, but not fewer than this.
const LEAST_ADMITTED: usize = 24;
/// And not more than this.
const MOST_ADMITTED: usize = 64;
/// A block is thinned when fewer than this part of its variables take part in a violation.
const WORTH_KEEPING: f64 = 0.7;
/// A block is worked on until its own violation is this part of what it was over all variables.
const INNER_TOLERANCE: f64 = 0.1;
/// Pairs moved in a block before the others are looked at again, for each of its variables.
const INNER_STEPS: usize = 64;
/// A variable enters the block if its violation is at least this part of the worst.
const WORTH_ADMITTING: f64 = 0.3;
/// Rounds between attempts to shrink.
const SHRINK_EVERY: usize = 8;
/// Shrinking must free this part of the variables, lest the columns be prepared anew for little.
const WORTH_SHRINKING: f64 = 0.1;
/// The tolerance on pairs is at most this many times lowered to make the gap small enough.
const MAX_TIGHTENINGS: usize = 12;
/// What rounding may leave of a sum, as a part of its terms: no reason to free a variable.
const SUM_ROUNDING: f64 = 1e-14;
/// What rounding may leave of a slope, as a part of its terms.
const SLOPE_ROUNDING: f64 = 1e-13;
/// Where rounding may reach this part of the tolerance, the gradient is computed anew before the verdict.
const DRIFT: f64 = 1e-3;
/// But not more often than this.
const MAX_REFRESHES: usize = 3;
/// Rounds in a row that fail to lower the objective, after which rounding is to blame.
const MAX_IDLE: usize = 10;

impl<K: KernelRows> SvmDual<'_, K> {
    /// Solves from a start of the solver's own choice.
    ///
    /// # Errors
    /// If a setting is out of range, a kernel row cannot be computed or is not finite, or the kernel shows negative curvature.
    pub fn solve(&self, settings: &SmoSettings) -> Result<Outcome, ProblemError> {
        self.solve_with(None, settings)
    }

    /// Solves from given variables $\alpha$, the solution of a similar problem say; they are moved into the bounds and onto the equality first.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve), and if the start has the wrong length or is not finite.
    pub fn solve_from(&self, start: &[f64], settings: &SmoSettings) -> Result<Outcome, ProblemError> {
        require_length("the start", self.signs.len(), start.len())?;
        let signed = start.iter().zip(&self.signs).map(|(start, sign)| start * sign).collect();
        self.solve_with(Some(&WarmStart::from_signed(signed)), settings)
    }

    /// Solves from the solution of another problem over the same kernel, whatever its signs, penalties and linear term: only variables that have to move cost a kernel row.
    ///
    /// # Errors
    /// As for [`solve_from`](Self::solve_from).
    pub fn solve_warm(&self, start: &WarmStart, settings: &SmoSettings) -> Result<Outcome, ProblemError> {
        self.solve_with(Some(start), settings)
    }

    fn solve_with(&self, start: Option<&WarmStart>, settings: &SmoSettings) -> Result<Outcome, ProblemError> {
        let tolerance = settings.tolerance;
        require_setting("tolerance", tolerance, tolerance.is_finite() && 0.0 < tolerance, "a finite number above 0")?;
        require_setting("max_steps", settings.max_steps as f64, 0 < settings.max_steps, "at least 1")?;
        if let Some(start) = start {
            start.check(self.signs.len())?;
        }
        if let Some(proof) = self.infeasible() {
            return Ok(Outcome::Infeasible(proof));
        }
        let mut solver = Solver::new(self, start, settings)?;
        // Coarse levels compute parts of rows; a kernel that keeps rows has whole ones.
        solver.run(if start.is_some() || self.kernel.keeps_rows() { 1 } else { n_levels(self.signs.len()) })?;
        Ok(solver.outcome())
    }

    /// A proof that the bounds do not admit the total, if that is so.
    fn infeasible(&self) -> Option<InfeasibilityProof> {
        let reach = |sign: f64| -> f64 {
            self.signs.iter().zip(&self.upper).filter(|(own, _)| **own == sign).map(|(_, upper)| upper).sum()
        };
        let (least, most) = (-reach(-1.0), reach(1.0));
        let rounding = 1e-12 * (most - least);
        // At the bounds that come nearest to the total, all multipliers cancel against that of the equality.
        let side = if self.total > most + rounding {
            1.0
        } else if self.total < least - rounding {
            -1.0
        } else {
            return None;
        };
        let mut dual: Vec<f64> = self.signs.iter().map(|sign| side * sign).collect();
        dual.push(-side);
        Some(InfeasibilityProof::new(dual))
    }
}

/// The state of a solve. What is named `live`, and the rows of the cache, run over the active variables in the order of `active`.
struct Solver<'a, K: KernelRows> {
    problem: &'a SvmDual<'a, K>,
    settings: &'a SmoSettings,
    cache: RowCache<'a, K>,
    /// All signed variables; the gradients of those that are not active are out of date.
    all: Variables,
    active: Vec<usize>,
    /// By how much variables differ from those that the gradients belong to, before the first variables become active.
    pending: Vec<(usize, f64)>,
    /// Whether the gradients began as someone else's, with the rounding these had.
    is_warm: bool,
    live: Variables,
    block: Block,
    /// Places of the block's variables among the active ones.
    members: Vec<usize>,
    /// Their columns, made ready in groups as they came, and how many are in each.
    member_columns: Vec<(K::Prepared, usize)>,
    n_steps: usize,
    /// Whether rounding forbids to go on.
    is_stalled: bool,
}

impl<'a, K: KernelRows> Solver<'a, K> {
    fn new(
        problem: &'a SvmDual<'a, K>,
        start: Option<&WarmStart>,
        settings: &'a SmoSettings,
    ) -> Result<Self, ProblemError> {
        let n = problem.signs.len();
        let diagonal = problem.kernel.diagonal_values().map_err(ProblemError::Rows)?;
        require_finite("diagonal of the kernel", &diagonal)?;
        if diagonal.iter().any(|&value| value < 0.0) {
            return Err(ProblemError::NotConvex);
        }
        let mut all = Variables { diagonal, ..Variables::default() };
        for idx in 0..n {
            let (sign, upper) = (problem.signs[idx], problem.upper[idx]);
            let (lower, upper) = if sign > 0.0 { (0.0, upper) } else { (-upper, 0.0) };
            all.lower.push(lower);
            all.upper.push(upper);
            all.beta.push(start.map_or(0.0, |start| start.signed[idx].clamp(lower, upper)));
            all.gradient.push(sign * problem.linear[idx]);
        }
        let pending = match start.and_then(|start| start.product.as_ref().map(|product| (start, product))) {
            None => all.support(),
            Some((start, product)) => {
                all.gradient.iter_mut().zip(product).for_each(|(gradient, product)| *gradient += product);
                let changes = all.beta.iter().zip(&start.signed).map(|(beta, start)| beta - start);
                changes.enumerate().filter(|&(_, change)| change != 0.0).collect()
            }
        };
        let is_warm = start.is_some_and(|start| start.product.is_some());
        let cache = RowCache::without_columns(problem.kernel, settings.cache_bytes)?;
        let (live, block) = (Variables::default(), Block::default());
        Ok(Solver {
            problem,
            settings,
            cache,
            all,
            active: Vec::new(),
            pending,
            is_warm,
            live,
            block,
            members: Vec::new(),
            member_columns: Vec::new(),
            n_steps: 0,
            is_stalled: false,
        })
    }

    /// Solves on ever more of the variables, each time from what came before.
    fn run(&mut self, n_levels: usize) -> Result<(), ProblemError> {
        let n = self.all.len();
        for level in (0..n_levels).rev() {
            let stride = LEVEL_RATIO.pow(level as u32);
            let is_new = |idx: &usize| {
                idx.is_multiple_of(stride) && (self.active.is_empty() || !idx.is_multiple_of(stride * LEVEL_RATIO))
            };
            let newcomers: Vec<usize> = (0..n).filter(is_new).collect();
            let first_new = self.active.len();
            self.activate(&newcomers)?;
            let share = self.active.len() as f64 / n as f64;
            self.settle(share * self.problem.total, first_new)?;
            let tolerance = if level == 0 {
                self.settings.tolerance
            } else {
                self.settings.tolerance.max(COARSE * self.live.violation())
            };
            self.descend(tolerance)?;
        }
        self.store();
        Ok(())
    }

    /// Takes up the first variables, their gradients those of the start and what has changed since.
    fn begin(&mut self, idxs: &[usize]) -> Result<(), ProblemError> {
        self.cache.widen(idxs, &[])?;
        self.active.extend(idxs);
        self.live = self.all.select(&self.active);
        let pending = std::mem::take(&mut self.pending);
        self.add_support(&pending)?;
        self.require_finite_gradient()
    }

    /// Takes up further variables, their gradients computed from all variables that are not 0.
    fn activate(&mut self, idxs: &[usize]) -> Result<(), ProblemError> {
        let first_new = self.active.len();
        if first_new == 0 {
            return self.begin(idxs);
        }
        self.store();
        let (mut held, mut streamed) = (Vec::new(), vec![0.0; self.all.len()]);
        for (idx, &beta) in self.all.beta.iter().enumerate().filter(|&(_, &beta)| beta != 0.0) {
            if self.cache.holds(idx) {
                held.push(idx);
            } else {
                streamed[idx] = beta;
            }
        }
        self.cache.widen(idxs, &held)?;
        self.active.extend(idxs);
        let mut gradient: Vec<f64> =
            idxs.iter().map(|&idx| self.problem.linear[idx] * self.problem.signs[idx]).collect();
        for &idx in held.iter().filter(|&&idx| !self.cache.holds(idx)) {
            streamed[idx] = self.all.beta[idx];
        }
        add_kernel_product(self.problem.kernel, &streamed, idxs, &mut gradient)?;
        held.retain(|&idx| self.cache.holds(idx));
        let moves: Vec<(f64, &[f64])> =
            held.iter().map(|&idx| (self.all.beta[idx], &self.cache.row(idx)[first_new..])).collect();
        add_rows(&mut gradient, &moves);
        for (&idx, gradient) in idxs.iter().zip(gradient) {
            self.all.gradient[idx] = gradient;
        }
        self.live = self.all.select(&self.active);
        self.require_finite_gradient()
    }

    /// Brings the gradient up to date after changes of variables. Rows in the cache come first, before others push them out.
    fn add_support(&mut self, changes: &[(usize, f64)]) -> Result<(), ProblemError> {
        let (mut changes, missing): (Vec<_>, Vec<_>) =
            changes.iter().partition(|&&(at, _)| self.cache.holds(self.active[at]));
        changes.extend(missing);
        for changes in changes.chunks(BATCH.min(self.cache.capacity())) {
            let idxs: Vec<usize> = changes.iter().map(|&(at, _)| self.active[at]).collect();
            self.cache.fetch(&idxs)?;
            let moves: Vec<(f64, &[f64])> =
                changes.iter().zip(&idxs).map(|(&(_, change), &idx)| (change, self.cache.row(idx))).collect();
            add_rows(&mut self.live.gradient, &moves);
        }
        Ok(())
    }

    /// Computes the gradient of all variables anew.
    fn refresh(&mut self) -> Result<(), ProblemError> {
        let offsets = self.active.iter().map(|&idx| self.problem.linear[idx] * self.problem.signs[idx]);
        self.live.gradient = offsets.collect();
        let support = self.live.support();
        self.add_support(&support)?;
        self.require_finite_gradient()
    }

    /// Makes the active variables sum up to a total, or as near as they can come: first those from `first_new` on move, which have not been worked on yet,
    /// in the order in which their gradients ask for it.
    fn settle(&mut self, total: f64, first_new: usize) -> Result<(), ProblemError> {
        let live = &mut self.live;
        let mut missing = total - live.beta.iter().sum::<f64>();
        let scale: f64 = live.beta.iter().map(|beta| beta.abs()).sum::<f64>() + total.abs();
        if missing.abs() <= SUM_ROUNDING * scale {
            return Ok(());
        }
        let direction = missing.signum();
        let mut order: Vec<usize> = (0..live.len()).collect();
        order.sort_by(|&a, &b| {
            let key = |at: usize| (at < first_new, direction * live.gradient[at]);
            key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)).then(a.cmp(&b))
        });
        let mut changes = Vec::new();
        for at in order {
            if missing.abs() <= SUM_ROUNDING * scale {
                break;
            }
            let moved = (live.beta[at] + missing).clamp(live.lower[at], live.upper[at]);
            let change = moved - live.beta[at];
            if change != 0.0 {
                (live.beta[at], missing) = (moved, missing - change);
                changes.push((at, change));
            }
        }
        self.add_support(&changes)?;
        self.require_finite_gradient()
    }

    /// Works on block after block until no pair of active variables violates optimality by more than the tolerance; where all are active, until the
    /// certificate holds as well; or until the budget is spent.
    fn descend(&mut self, mut tolerance: f64) -> Result<(), ProblemError> {
        let all_wanted = self.active.len() == self.all.len();
        let (mut n_rounds, mut n_tightenings, mut n_idle, mut scale) = (0, 0, 0, 0.0_f64);
        let inherited = if self.is_warm { self.live.rounding() } else { 0.0 };
        let (mut is_fresh, mut drift, mut n_refreshes) = (false, inherited, 0);
        loop {
            let (violation, rounding) = (self.live.violation(), self.live.rounding());
            self.is_stalled = n_idle == MAX_IDLE;
            let spent = self.n_steps >= self.settings.max_steps || self.is_stalled;
            if violation <= tolerance.max(rounding) || spent {
                if !all_wanted {
                    return Ok(());
                }
                if self.active.len() < self.all.len() {
                    self.unshrink()?;
                    n_idle = 0;
                    continue;
                }
                if drift > DRIFT * self.settings.tolerance && !is_fresh {
                    self.refresh()?;
                    (is_fresh, drift, n_refreshes) = (true, 0.0, n_refreshes + 1);
                    if n_refreshes < MAX_REFRESHES {
                        n_idle = 0;
                        continue;
                    }
                }
                self.store();
                let no_more = spent || n_tightenings == MAX_TIGHTENINGS || n_refreshes == MAX_REFRESHES;
                if no_more || self.certificate().holds(self.settings.tolerance) {
                    return Ok(());
                }
                if violation <= tolerance {
                    tolerance = 0.25 * violation;
                    n_tightenings += 1;
                }
            }
            // Rounding is that of the largest values on the way, not of those at the end.
            (is_fresh, drift) = (false, drift.max(rounding));
            let progress = self.improve((INNER_TOLERANCE * violation).max(0.5 * tolerance))?;
            self.require_finite_gradient()?;
            scale = scale.max(progress);
            n_idle = if progress > f64::EPSILON * scale { 0 } else { n_idle + 1 };
            n_rounds += 1;
            if all_wanted && n_rounds % SHRINK_EVERY == 0 && self.may_shrink() {
                self.shrink();
            }
        }
    }

    /// Takes the worst violators into the block, moves its pairs, and brings all gradients up to date. Only variables that moved cost a whole row.
    /// Returns by how much the objective fell: $-\tfrac12\delta^\top(g + g')$ for changes $\delta$ and the gradients before and after.
    fn improve(&mut self, tolerance: f64) -> Result<f64, ProblemError> {
        self.admit()?;
        for (place, &at) in self.members.iter().enumerate() {
            self.block.set(place, self.live.entry(at));
        }
        let budget = (INNER_STEPS * self.members.len()).min(self.settings.max_steps - self.n_steps);
        self.n_steps += self.block.minimise(tolerance, budget).max(1);
        if self.block.is_indefinite() {
            return Err(ProblemError::NotConvex);
        }
        let mut changes = Vec::with_capacity(self.members.len());
        let mut progress = 0.0;
        for (&at, &beta) in self.members.iter().zip(self.block.beta()) {
            let change = beta - self.live.beta[at];
            self.live.beta[at] = beta;
            if change != 0.0 {
                changes.push((at, change));
                progress -= 0.5 * change * self.live.gradient[at];
            }
        }
        self.add_support(&changes)?;
        progress -= changes.iter().map(|&(at, change)| 0.5 * change * self.live.gradient[at]).sum::<f64>();
        Ok(progress)
    }

    /// Takes into the block the variables outside it that violate optimality most, the worst pair among them unless it is there already.
    fn admit(&mut self) -> Result<(), ProblemError> {
        let n_each = (self.members.len() / 4).clamp(LEAST_ADMITTED, MOST_ADMITTED);
        self.thin(BLOCK_LIMIT - 2 * n_each);
        let newcomers = self.violators(n_each);
        if newcomers.is_empty() {
            return Ok(());
        }
        let kernel = self.problem.kernel;
        let idxs: Vec<usize> = newcomers.iter().map(|&at| self.active[at]).collect();
        self.member_columns.push((kernel.prepare(&idxs), idxs.len()));
        self.members.extend(&newcomers);
        let n = self.members.len();
        let mut values = vec![0.0; idxs.len() * n];
        let mut start = 0;
        let (rows, _) = self.member_columns.last().expect("the newcomers are there");
        for (columns, width) in &self.member_columns {
            let mut places: Vec<&mut [f64]> = values.chunks_mut(n).map(|row| &mut row[start..start + width]).collect();
            kernel.fill(rows, columns, &mut places).map_err(ProblemError::Rows)?;
            start += width;
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (idx, value) = (idxs[at / n], values[at]);
            return Err(ProblemError::Value { what: "a kernel value in row", idx, value, expected: "a finite number" });
        }
        self.block.extend(idxs.len(), |new, other| values[new * n + other]);
        Ok(())
    }

    /// Variables outside the block that violate optimality most, as many to rise and as many to fall.
    fn violators(&self, n_each: usize) -> Vec<usize> {
        let live = &self.live;
        let mut is_member = vec![false; live.len()];
        self.members.iter().for_each(|&at| is_member[at] = true);
        let (least, largest) = live.extremes();
        let margin = WORTH_ADMITTING * (largest - least);
        let (mut risers, mut fallers) = (Vec::new(), Vec::new());
        for at in (0..live.len()).filter(|&at| !is_member[at]) {
            if live.can_rise(at) && live.gradient[at] < largest - margin {
                risers.push(at);
            }
            if live.can_fall(at) && live.gradient[at] > least + margin {
                fallers.push(at);
            }
        }
        let mut violators = first_by(risers, n_each, |&a, &b| live.gradient[a].total_cmp(&live.gradient[b]));
        violators.extend(first_by(fallers, n_each, |&a, &b| live.gradient[b].total_cmp(&live.gradient[a])));
        violators.sort_unstable();
        violators.dedup();
        violators
    }

    /// Drops the members of the block that no longer take part in any violation, once they are many; where too many are left, those at a bound as well or, if
    /// need be, all.
    fn thin(&mut self, limit: usize) {
        let (least, largest) = self.live.extremes();
        let places = |keep: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..self.members.len()).filter(|&place| keep(self.members[place])).collect()
        };
        let mut kept = places(&|at| self.live.takes_part(at, least, largest));
        if kept.len() > limit {
            kept = places(&|at| self.live.can_rise(at) && self.live.can_fall(at));
        }
        if kept.len() > limit {
            kept.clear();
        }
        if self.members.len() > limit || (kept.len() as f64) < WORTH_KEEPING * self.members.len() as f64 {
            self.keep_members(&kept);
        }
    }

    fn keep_members(&mut self, places: &[usize]) {
        self.block.retain(places);
        self.members = places.iter().map(|&place| self.members[place]).collect();
        let idxs: Vec<usize> = self.members.iter().map(|&at| self.active[at]).collect();
        self.member_columns.clear();
        if !idxs.is_empty() {
            self.member_columns.push((self.problem.kernel.prepare(&idxs), idxs.len()));
        }
    }

    fn may_shrink(&self) -> bool {
        match self.settings.shrinking {
            Shrinking::Never => false,
            Shrinking::WhenCacheIsFull => self.cache.is_full(),
            Shrinking::Always => true,
        }
    }

    /// Leaves aside the variables at a bound whose gradient says that they would stay there: none of those in play can pull them off.
    fn shrink(&mut self) {
        let (least, largest) = self.live.extremes();
        let kept: Vec<usize> = (0..self.live.len()).filter(|&at| self.live.takes_part(at, least, largest)).collect();
        let n_freed = self.live.len() - kept.len();
        if (n_freed as f64) < WORTH_SHRINKING * self.live.len() as f64 {
            return;
        }
        self.store();
        let mut place_of = vec![None; self.live.len()];
        kept.iter().enumerate().for_each(|(place, &at)| place_of[at] = Some(place));
        let staying: Vec<usize> = (0..self.members.len()).filter(|&m| place_of[self.members[m]].is_some()).collect();
        self.keep_members(&staying);
        self.members.iter_mut().for_each(|at| *at = place_of[*at].expect("the member stays"));
        self.live = self.live.select(&kept);
        self.active = kept.iter().map(|&at| self.active[at]).collect();
        self.cache.narrow(&kept, &self.active);
    }

    /// Goes on with all variables.
    fn unshrink(&mut self) -> Result<(), ProblemError> {
        let mut is_active = vec![false; self.all.len()];
        self.active.iter().for_each(|&idx| is_active[idx] = true);
        let idle: Vec<usize> = (0..self.all.len()).filter(|&idx| !is_active[idx]).collect();
        self.activate(&idle)
    }

    /// Writes the active variables back among all.
    fn store(&mut self) {
        for (at, &idx) in self.active.iter().enumerate() {
            self.all.beta[idx] = self.live.beta[at];
            self.all.gradient[idx] = self.live.gradient[at];
        }
    }

    fn require_finite_gradient(&self) -> Result<(), ProblemError> {
        match self.live.gradient.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(ProblemError::Value {
                what: "gradient of variable",
                idx: self.active[at],
                value: self.live.gradient[at],
                expected: "a finite number: smaller kernel values or bounds",
            }),
        }
    }

    /// The multiplier of the equality: a free variable has $g_i + b = 0$, one at a bound restricts $b$ from one side.
    ///
    /// Choice: the mean over the free variables; without any, the middle of the interval that is left, or its finite end.
    fn bias(&self) -> f64 {
        let free: Vec<f64> = (0..self.all.len())
            .filter(|&at| self.all.can_rise(at) && self.all.can_fall(at))
            .map(|at| self.all.gradient[at])
            .collect();
        if !free.is_empty() {
            return -free.iter().sum::<f64>() / free.len() as f64;
        }
        match self.all.extremes() {
            (least, largest) if least.is_finite() && largest.is_finite() => -0.5 * (least + largest),
            (least, _) if least.is_finite() => -least,
            (_, largest) if largest.is_finite() => -largest,
            _ => 0.0,
        }
    }

    /// The primal solution, its multipliers, and $Q\alpha$. A bound's multiplier is what stationarity leaves for it, so that the gap bounds the distance from the
    /// optimum.
    ///
    /// Choice: what rounding alone may leave is 0 instead; a huge bound would make it a huge gap.
    fn solution_parts(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (problem, bias) = (self.problem, self.bias());
        let n = self.all.len();
        let (mut primal, mut dual, mut quadratic) =
            (Vec::with_capacity(n), Vec::with_capacity(n + 1), Vec::with_capacity(n));
        for idx in 0..n {
            let (sign, linear) = (problem.signs[idx], problem.linear[idx]);
            let slope = sign * self.all.gradient[idx];
            let left = slope + sign * bias;
            let scale = (slope - linear).abs() + linear.abs() + bias.abs();
            primal.push((sign * self.all.beta[idx]).max(0.0));
            dual.push(if left.abs() <= SLOPE_ROUNDING * scale { 0.0 } else { -left });
            quadratic.push(slope - linear);
        }
        dual.push(bias);
        (primal, dual, quadratic)
    }

    fn certificate(&self) -> Certificate {
        let (primal, dual, quadratic) = self.solution_parts();
        Certificate::of(self.problem, &primal, &dual, &quadratic)
    }

    fn outcome(self) -> Outcome {
        let (primal, dual, quadratic) = self.solution_parts();
        let certificate = Certificate::of(self.problem, &primal, &dual, &quadratic);
        let solution = Solution { primal, dual, certificate, n_steps: self.n_steps };
        let (violation, rounding) = (self.all.violation(), self.all.rounding());
        let is_settled = violation <= self.settings.tolerance.max(rounding) || self.is_stalled;
        if !is_settled || !solution.certificate.can_be_told(rounding, &solution.primal, self.settings.tolerance) {
            return Outcome::OutOfBudget(solution);
        }
        Outcome::judged(solution, self.settings.tolerance)
    }
}

/// Levels of a problem: the last has all variables, each one before it a third.
fn n_levels(n: usize) -> usize {
    1 + (1..).take_while(|&level| n / LEVEL_RATIO.pow(level) >= LEAST_LEVEL).count()
}

/// The first few in an order, ties by position.
fn first_by(mut items: Vec<usize>, n: usize, order: impl Fn(&usize, &usize) -> std::cmp::Ordering) -> Vec<usize> {
    if n < items.len() {
        items.select_nth_unstable_by(n, |a, b| order(a, b).then(a.cmp(b)));
        items.truncate(n);
    }
    items
}
