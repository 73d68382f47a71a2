//! Coordinate descent on the dual.
//!
//! Hsieh, Chang, Lin, Keerthi & Sundararajan, *A Dual Coordinate Descent Method for Large-scale Linear SVM*, ICML 2008. One dual at a time goes to its best value,
//! with $\tilde w = \sum_i\alpha_iy_i\tilde x_i$ kept up to date so that the derivative costs one product:
//!
//! $$ G = y_i\langle\tilde w,\tilde x_i\rangle + p_i + D_i\alpha_i,\qquad \alpha_i \leftarrow \min\bigl(\max(\alpha_i - G/P_{ii},\,0),\,C_i\bigr), $$
//!
//! where $p = -1$, and $D_i = 1/2C_i$ for the squared hinge. Points are visited in a new random order in each pass; those that sit at a bound, with a derivative that
//! was never so large in the pass before, are left out until the others have converged (Algorithm 3).
//!
//! **Free bias.** The equality is met by the method of multipliers: with a feature $\sqrt\rho$ added to every point and $p_i = -1 + y_ib$, coordinate descent
//! minimises the augmented Lagrangian, and $b$ grows by $\rho\,y^\top\alpha$. Choice: $\rho$ starts at the mean squared norm of the points, which leaves the conditioning as
//! it was, and doubles, up to a hundredfold, when the equality's residual has not halved; the threshold falls when $b$ has moved less than it.
//!
//! Deviation: the paper stops by the derivatives; we stop by the duality gap, measured whenever the derivatives have met a threshold that falls from round to round.
//!
//! Cost of a pass: the entries of the points still in play, once or twice.

use mil_core::Rng;
use pulp::{Arch, Simd, WithSimd};
use rand::seq::SliceRandom;

use super::{Bias, LinearSettings, LinearSvm};
use crate::Solution;
use crate::certificate::dot;

/// The first round's threshold, and by how much it falls from one to the next.
const FIRST_THRESHOLD: f64 = 0.1;
const THRESHOLD_FACTOR: f64 = 0.3;
/// Below this the derivatives are rounding.
const LAST_THRESHOLD: f64 = 1e-14;

pub(super) fn solve(svm: &LinearSvm<'_>, start: Vec<f64>, settings: &LinearSettings) -> Solution {
    let mut descent = Descent::new(svm, start, mil_core::stream(settings.seed, "coordinate descent", 0));
    let mut threshold = FIRST_THRESHOLD;
    loop {
        descent.round(threshold, settings.max_passes);
        let bias_move = if svm.bias == Bias::Free { descent.move_bias() } else { 0.0 };
        let solution = svm.judge(descent.alpha.clone(), descent.bias, descent.n_passes);
        let at_end = descent.n_passes >= settings.max_passes || threshold < LAST_THRESHOLD;
        if at_end || solution.certificate.holds(settings.tolerance) {
            return solution;
        }
        if bias_move <= threshold {
            threshold *= THRESHOLD_FACTOR;
        }
    }
}

struct Descent<'a> {
    svm: &'a LinearSvm<'a>,
    rng: Rng,
    alpha: Vec<f64>,
    /// $\tilde w$ without its last entry.
    weights: Vec<f64>,
    /// $y^\top\alpha$.
    balance: f64,
    /// The added feature, squared: $s^2$ of a regularised bias, $\rho$ for a free one.
    rho: f64,
    /// Beyond this the added feature would rule all others.
    largest_rho: f64,
    /// $|y^\top\alpha|$ after the last round.
    residual: f64,
    /// The multiplier of the equality, if the bias is free.
    bias: f64,
    norms: Vec<f64>,
    n_passes: usize,
}

impl<'a> Descent<'a> {
    fn new(svm: &'a LinearSvm<'a>, alpha: Vec<f64>, rng: Rng) -> Descent<'a> {
        let norms = svm.points.squared_norms();
        let signed = svm.signed(&alpha);
        let weights = svm.points.combination(&signed);
        let mean_norm = norms.iter().sum::<f64>() / norms.len() as f64;
        let (rho, bias) = match svm.bias {
            Bias::Free => (if mean_norm > 0.0 { mean_norm } else { 1.0 }, first_bias(svm, &alpha, &weights)),
            Bias::None | Bias::Regularised { .. } => (svm.scale_squared(), 0.0),
        };
        let (largest_rho, residual) = (100.0 * rho, f64::INFINITY);
        let balance = signed.iter().sum();
        Descent { svm, rng, weights, balance, alpha, rho, largest_rho, residual, bias, norms, n_passes: 0 }
    }

    /// Passes until the projected derivatives of all points lie within the threshold.
    fn round(&mut self, threshold: f64, max_passes: usize) {
        let all: Vec<usize> = (0..self.alpha.len()).filter(|&i| self.svm.penalties[i] > 0.0).collect();
        let mut order = all.clone();
        let mut limits = Limits::open();
        while self.n_passes < max_passes {
            order.shuffle(&mut self.rng);
            let reached = Arch::new().dispatch(Pass { descent: self, order: &mut order, limits: &limits });
            self.n_passes += 1;
            if reached.highest - reached.lowest <= threshold {
                if order.len() == all.len() {
                    return;
                }
                order.clone_from(&all);
                limits = Limits::open();
            } else {
                limits = reached.as_limits();
            }
        }
    }

    /// A step of the method of multipliers: moves $b$, and raises the penalty if the equality's residual has not halved. How far $b$ moved.
    fn move_bias(&mut self) -> f64 {
        // Summed anew, since the running sums have their rounding.
        self.balance = dot(&self.svm.signs, &self.alpha);
        self.weights = self.svm.points.combination(&self.svm.signed(&self.alpha));
        let change = self.rho * self.balance;
        self.bias += change;
        if self.balance.abs() > 0.5 * self.residual && self.rho < self.largest_rho {
            self.rho *= 2.0;
        }
        self.residual = self.balance.abs();
        change.abs()
    }
}

/// The bias by which the margins of the points between their bounds are met on average, or 0.
fn first_bias(svm: &LinearSvm<'_>, alpha: &[f64], weights: &[f64]) -> f64 {
    let scores = svm.points.scores(weights);
    let free: Vec<f64> = (0..alpha.len())
        .filter(|&i| 0.0 < alpha[i] && alpha[i] < svm.upper(i))
        .map(|i| svm.signs[i] * (1.0 - svm.ridge(i) * alpha[i]) - scores[i])
        .collect();
    if free.is_empty() { 0.0 } else { free.iter().sum::<f64>() / free.len() as f64 }
}

/// The highest and lowest projected derivative of a pass.
struct Limits {
    highest: f64,
    lowest: f64,
}

impl Limits {
    /// Limits that no derivative exceeds.
    fn open() -> Limits {
        Limits { highest: f64::INFINITY, lowest: f64::NEG_INFINITY }
    }

    /// What derivatives must exceed in the next pass for their point to be left out.
    fn as_limits(&self) -> Limits {
        Limits {
            highest: if self.highest > 0.0 { self.highest } else { f64::INFINITY },
            lowest: if self.lowest < 0.0 { self.lowest } else { f64::NEG_INFINITY },
        }
    }
}

struct Pass<'p, 'a> {
    descent: &'p mut Descent<'a>,
    order: &'p mut Vec<usize>,
    limits: &'p Limits,
}

impl WithSimd for Pass<'_, '_> {
    type Output = Limits;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Limits {
        let Pass { descent: state, order, limits } = self;
        let svm = state.svm;
        // With 0 among them: derivatives that are all alike may still be far from 0.
        let mut reached = Limits { highest: 0.0, lowest: 0.0 };
        let mut n_kept = 0;
        for place in 0..order.len() {
            let i = order[place];
            let (sign, upper, ridge, alpha) = (svm.signs[i], svm.upper(i), svm.ridge(i), state.alpha[i]);
            let score = svm.points.score(simd, i, &state.weights) + state.rho * state.balance + state.bias;
            let derivative = sign * score - 1.0 + ridge * alpha;
            let (at_lower, at_upper) = (alpha == 0.0, alpha == upper);
            if (at_lower && derivative > limits.highest) || (at_upper && derivative < limits.lowest) {
                continue;
            }
            order[n_kept] = i;
            n_kept += 1;
            let projected = if at_lower && derivative > 0.0 || at_upper && derivative < 0.0 { 0.0 } else { derivative };
            reached.highest = reached.highest.max(projected);
            reached.lowest = reached.lowest.min(projected);
            if projected == 0.0 {
                continue;
            }
            let curvature = state.norms[i] + state.rho + ridge;
            // Without curvature the quotient is infinite, and the bound holds it.
            let moved = (alpha - derivative / curvature).clamp(0.0, upper);
            let change = sign * (moved - alpha);
            if change != 0.0 {
                state.alpha[i] = moved;
                state.balance += change;
                svm.points.add_to(simd, i, change, &mut state.weights);
            }
        }
        order.truncate(n_kept);
        reached
    }
}
