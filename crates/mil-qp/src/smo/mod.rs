//! Sequential minimal optimisation from kernel rows on demand.
//!
//! Platt (1998) moves two variables at a time; Fan, Chen & Lin (2005) choose them by second-order information. Each step of that scheme needs two
//! rows of the kernel, and nearly all of its time goes into computing and reading them. So we work on blocks, as Joachims (1999) does: the variables that
//! violate optimality most are taken together, their missing rows are computed in one go (a matrix product instead of many
//! products of a matrix with a vector), pairs among them are moved until they agree, and only then the gradient of all variables is
//! brought up to date. With a cache of two rows the block is a pair and the scheme is Platt's again.
//!
//! Cost: a row of $n$ kernel values for each variable that ever enters a block, as long as the cache holds them, and $n$ operations for each
//! variable that moved in a block. Memory: a few vectors of length $n$ and the cache.

mod pairs;

use mil_core::KernelRows;
use rayon::prelude::*;

use self::pairs::{Variables, minimise};
use crate::cache::RowCache;
use crate::certificate::require_length;
use crate::error::{require_finite, require_setting};
use crate::svm_dual::add_kernel_product;
use crate::{Certificate, InfeasibilityProof, Outcome, ProblemError, Solution, SvmDual};

/// Settings of [`SvmDual::solve`].
#[derive(Debug, Clone, PartialEq)]
pub struct SmoSettings {
    /// Bound of the largest violation of optimality by a pair of variables, in units of the gradient, and of
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
    fn default() -> SmoSettings {
        SmoSettings {
            tolerance: 1e-3,
            max_steps: 100_000_000,
            cache_bytes: 256 << 20,
            shrinking: Shrinking::WhenCacheIsFull,
        }
    }
}

/// Variables in a block.
const BLOCK: usize = 128;
/// A block is worked on until its own violation is this part of what it was over all variables.
const INNER_TOLERANCE: f64 = 0.1;
/// Pairs moved in a block before the others are looked at again, for each of its variables.
const INNER_STEPS: usize = 64;
/// Blocks between attempts to shrink.
const SHRINK_EVERY: usize = 8;
/// Shrinking must free this part of the variables, lest the columns be prepared anew for little.
const WORTH_SHRINKING: f64 = 0.1;
/// The tolerance on pairs is at most this many times lowered to make the gap small enough.
const MAX_TIGHTENINGS: usize = 12;

impl<K: KernelRows> SvmDual<'_, K> {
    /// Solves from a start of the solver's own choice.
    ///
    /// # Errors
    /// If a setting is out of range or a kernel row cannot be computed or is not finite.
    pub fn solve(&self, settings: &SmoSettings) -> Result<Outcome, ProblemError> {
        self.solve_with(None, settings)
    }

    /// Solves from given variables $\alpha$, the solution of a similar problem say; they are moved into the bounds and onto the equality first.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve), and if the start has the wrong length or is not finite.
    pub fn solve_from(&self, start: &[f64], settings: &SmoSettings) -> Result<Outcome, ProblemError> {
        require_length("the start", self.signs.len(), start.len())?;
        require_finite("start", start)?;
        self.solve_with(Some(start), settings)
    }

    fn solve_with(&self, start: Option<&[f64]>, settings: &SmoSettings) -> Result<Outcome, ProblemError> {
        let tolerance = settings.tolerance;
        require_setting("tolerance", tolerance, tolerance.is_finite() && 0.0 < tolerance, "a finite number above 0")?;
        require_setting("max_steps", settings.max_steps as f64, 0 < settings.max_steps, "at least 1")?;
        if let Some(proof) = self.infeasible() {
            return Ok(Outcome::Infeasible(proof));
        }
        let mut solver = Solver::new(self, start, settings)?;
        solver.run()?;
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

/// The state of a solve. Arrays of `live` and the cache's rows run over the active variables only.
struct Solver<'a, K: KernelRows> {
    problem: &'a SvmDual<'a, K>,
    settings: &'a SmoSettings,
    cache: RowCache<'a, K>,
    /// All signed variables and, as of when they were last active, their gradients.
    all: Variables,
    /// Positions of the active variables, ascending.
    active: Vec<usize>,
    live: Variables,
    n_steps: usize,
}

impl<'a, K: KernelRows> Solver<'a, K> {
    fn new(
        problem: &'a SvmDual<'a, K>,
        start: Option<&[f64]>,
        settings: &'a SmoSettings,
    ) -> Result<Self, ProblemError> {
        let n = problem.signs.len();
        let signed = |sign: f64, upper: f64| if sign > 0.0 { (0.0, upper) } else { (-upper, 0.0) };
        let bounds = problem.signs.iter().zip(&problem.upper).map(|(&sign, &upper)| signed(sign, upper));
        let (lower, upper): (Vec<f64>, Vec<f64>) = bounds.unzip();
        let mut beta: Vec<f64> = match start {
            Some(alpha) => alpha.iter().zip(&problem.signs).map(|(alpha, sign)| alpha * sign).collect(),
            None => vec![0.0; n],
        };
        repair(&mut beta, &lower, &upper, problem.total);
        let diagonal = problem.kernel.diagonal_values().map_err(ProblemError::Rows)?;
        require_finite("diagonal of the kernel", &diagonal)?;
        let gradient = problem.linear.iter().zip(&problem.signs).map(|(linear, sign)| linear * sign).collect();
        let mut all = Variables { beta, lower, upper, gradient, diagonal };
        let mut cache = RowCache::new(problem.kernel, settings.cache_bytes);
        let support: Vec<usize> = (0..n).filter(|&at| all.beta[at] != 0.0).collect();
        for idxs in support.chunks(BLOCK.min(cache.capacity())) {
            cache.fetch(idxs)?;
            let moves: Vec<(f64, &[f64])> = idxs.iter().map(|&idx| (all.beta[idx], cache.row(idx))).collect();
            add_rows(&mut all.gradient, &moves);
        }
        require_finite("gradient", &all.gradient)?;
        let live = all.clone();
        Ok(Solver { problem, settings, cache, all, active: (0..n).collect(), live, n_steps: 0 })
    }

    /// Works on block after block until no pair violates optimality and the gap is small, or the budget is spent.
    fn run(&mut self) -> Result<(), ProblemError> {
        let mut tolerance = self.settings.tolerance;
        let mut n_tightenings = 0;
        let mut n_blocks = 0;
        loop {
            let violation = self.violation();
            if violation <= tolerance {
                if self.active.len() < self.all.len() {
                    self.unshrink()?;
                    continue;
                }
                self.store();
                if self.certificate().holds(self.settings.tolerance) || n_tightenings == MAX_TIGHTENINGS {
                    return Ok(());
                }
                tolerance = 0.25 * violation.max(0.0);
                n_tightenings += 1;
                continue;
            }
            if self.n_steps >= self.settings.max_steps {
                if self.active.len() < self.all.len() {
                    self.unshrink()?;
                }
                self.store();
                return Ok(());
            }
            if !self.improve_block((INNER_TOLERANCE * violation).max(0.5 * tolerance))? {
                self.store();
                return Ok(());
            }
            n_blocks += 1;
            if n_blocks % SHRINK_EVERY == 0 && self.may_shrink() {
                self.shrink();
            }
        }
    }

    fn violation(&self) -> f64 {
        let (least, largest) = self.live.extremes();
        if least.is_infinite() || largest.is_infinite() { 0.0 } else { largest - least }
    }

    /// Chooses a block, moves its pairs, and brings all gradients up to date. False if nothing moved.
    fn improve_block(&mut self, tolerance: f64) -> Result<bool, ProblemError> {
        let capacity = self.cache.capacity().min(BLOCK);
        let block = if capacity < 4 { self.choose_pair()? } else { self.choose_block(capacity) };
        let idxs: Vec<usize> = block.iter().map(|&at| self.active[at]).collect();
        self.cache.fetch(&idxs)?;
        let mut gram = Vec::with_capacity(block.len() * block.len());
        for &idx in &idxs {
            let row = self.cache.row(idx);
            gram.extend(block.iter().map(|&at| row[at]));
        }
        let mut own = self.live.select(&block);
        let budget = (INNER_STEPS * block.len()).min(self.settings.max_steps - self.n_steps);
        self.n_steps += minimise(&mut own, &gram, tolerance, budget);
        let mut moves = Vec::with_capacity(block.len());
        for ((&at, &idx), &beta) in block.iter().zip(&idxs).zip(&own.beta) {
            let change = beta - self.live.beta[at];
            self.live.beta[at] = beta;
            if change != 0.0 {
                moves.push((change, self.cache.row(idx)));
            }
        }
        add_rows(&mut self.live.gradient, &moves);
        Ok(!moves.is_empty())
    }

    /// The variables that violate optimality most, half of them to rise and half to fall, in ascending order.
    fn choose_block(&self, size: usize) -> Vec<usize> {
        let live = &self.live;
        let (least, largest) = live.extremes();
        let risers = (0..live.len()).filter(|&at| live.can_rise(at) && live.gradient[at] < largest);
        let fallers = (0..live.len()).filter(|&at| live.can_fall(at) && live.gradient[at] > least);
        let mut block = first_by(risers.collect(), size / 2, |&a, &b| live.gradient[a].total_cmp(&live.gradient[b]));
        block.extend(first_by(fallers.collect(), size / 2, |&a, &b| live.gradient[b].total_cmp(&live.gradient[a])));
        block.sort_unstable();
        block.dedup();
        block
    }

    /// The pair of Platt's scheme, by the second-order rule.
    fn choose_pair(&mut self) -> Result<Vec<usize>, ProblemError> {
        let riser = self.live.riser().expect("some variable violates optimality");
        self.cache.fetch(&[self.active[riser]])?;
        let row = self.cache.row(self.active[riser]);
        let faller = self.live.faller(riser, row, 0.0).expect("some variable violates optimality");
        Ok(vec![riser.min(faller), riser.max(faller)])
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
        let stays = |at: usize| {
            let gradient = self.live.gradient[at];
            (self.live.can_rise(at) && gradient <= largest) || (self.live.can_fall(at) && gradient >= least)
        };
        let kept: Vec<usize> = (0..self.live.len()).filter(|&at| stays(at)).collect();
        let n_freed = self.live.len() - kept.len();
        if (n_freed as f64) < WORTH_SHRINKING * self.live.len() as f64 {
            return;
        }
        self.store();
        self.live = self.live.select(&kept);
        self.active = kept.iter().map(|&at| self.active[at]).collect();
        self.cache.narrow(&kept, &self.active);
    }

    /// Computes the gradients of the variables left aside anew, and goes on with all.
    fn unshrink(&mut self) -> Result<(), ProblemError> {
        self.store();
        let n = self.all.len();
        let mut is_active = vec![false; n];
        self.active.iter().for_each(|&idx| is_active[idx] = true);
        let idle: Vec<usize> = (0..n).filter(|&idx| !is_active[idx]).collect();
        let mut gradient: Vec<f64> =
            idle.iter().map(|&idx| self.problem.linear[idx] * self.problem.signs[idx]).collect();
        add_kernel_product(self.problem.kernel, &self.all.beta, &idle, &mut gradient)?;
        for (&idx, gradient) in idle.iter().zip(gradient) {
            self.all.gradient[idx] = gradient;
        }
        self.active = (0..n).collect();
        self.live = self.all.clone();
        self.cache.widen(&self.active);
        Ok(())
    }

    /// Writes the active variables back among all.
    fn store(&mut self) {
        for (at, &idx) in self.active.iter().enumerate() {
            self.all.beta[idx] = self.live.beta[at];
            self.all.gradient[idx] = self.live.gradient[at];
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

    /// The primal solution, multipliers for which stationarity holds exactly, and $Q\alpha$.
    fn solution_parts(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (signs, bias) = (&self.problem.signs, self.bias());
        let primal: Vec<f64> = self.all.beta.iter().zip(signs).map(|(beta, sign)| (beta * sign).max(0.0)).collect();
        let slope = |(gradient, sign): (&f64, &f64)| gradient * sign;
        let slopes: Vec<f64> = self.all.gradient.iter().zip(signs).map(slope).collect();
        let quadratic: Vec<f64> =
            slopes.iter().zip(&self.problem.linear).map(|(slope, linear)| slope - linear).collect();
        let mut dual: Vec<f64> = slopes.iter().zip(signs).map(|(slope, sign)| -(slope + sign * bias)).collect();
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
        let (least, largest) = self.all.extremes();
        let solution = Solution { primal, dual, certificate, n_steps: self.n_steps };
        if largest - least > self.settings.tolerance {
            return Outcome::OutOfBudget(solution);
        }
        Outcome::judged(solution, self.settings.tolerance)
    }
}

/// Moves variables into their bounds, then, in order, towards the total, which the bounds admit.
fn repair(beta: &mut [f64], lower: &[f64], upper: &[f64], total: f64) {
    for ((beta, &lower), &upper) in beta.iter_mut().zip(lower).zip(upper) {
        *beta = beta.clamp(lower, upper);
    }
    let mut missing = total - beta.iter().sum::<f64>();
    let scale = beta.iter().map(|beta| beta.abs()).sum::<f64>() + total.abs();
    for ((beta, &lower), &upper) in beta.iter_mut().zip(lower).zip(upper) {
        // What rounding alone may leave is no reason to free a variable.
        if missing.abs() <= 1e-14 * scale {
            return;
        }
        let moved = (*beta + missing).clamp(lower, upper);
        missing -= moved - *beta;
        *beta = moved;
    }
}

/// The first few in an order, ties by position.
fn first_by(mut items: Vec<usize>, n: usize, order: impl Fn(&usize, &usize) -> std::cmp::Ordering) -> Vec<usize> {
    if n < items.len() {
        items.select_nth_unstable_by(n, |a, b| order(a, b).then(a.cmp(b)));
        items.truncate(n);
    }
    items
}

/// Values of the gradient that one thread brings up to date.
const CHUNK: usize = 4096;

/// Adds multiples of rows, four at a time.
fn add_rows(gradient: &mut [f64], moves: &[(f64, &[f64])]) {
    gradient.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk_idx, gradient)| {
        let start = chunk_idx * CHUNK;
        let (fours, rest) = moves.as_chunks::<4>();
        for [(a, row_a), (b, row_b), (c, row_c), (d, row_d)] in fours {
            let span = start..start + gradient.len();
            let rows = row_a[span.clone()].iter().zip(&row_b[span.clone()]).zip(&row_c[span.clone()]).zip(&row_d[span]);
            for (gradient, (((ra, rb), rc), rd)) in gradient.iter_mut().zip(rows) {
                *gradient += a * ra + b * rb + (c * rc + d * rd);
            }
        }
        for (a, row) in rest {
            let row = &row[start..start + gradient.len()];
            gradient.iter_mut().zip(row).for_each(|(gradient, value)| *gradient += a * value);
        }
    });
}
