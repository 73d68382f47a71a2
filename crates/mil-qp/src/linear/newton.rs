//! Newton's method on the primal of the squared hinge.
//!
//! Mangasarian, *A Finite Newton Method for Classification*, Optim. Methods Softw. 17(5), 2002; with an exact line search Keerthi & DeCoste, *A Modified Finite
//! Newton Method for Fast Solution of Large Scale Linear SVMs*, JMLR 6, 2005.
//!
//! With $\tilde x$ and $J$ as in [`Lifted`], the objective $F(\tilde w) = \tfrac12\tilde w^\top J\tilde w + \sum_i C_i(1 - y_i\langle\tilde w,\tilde x_i\rangle)_+^2$ is quadratic
//! as long as no point changes sides. Over the active points $A$, those whose margin is below 1,
//!
//! $$ \nabla F = J\tilde w - \sum_{i\in A}\alpha_iy_i\tilde x_i,\quad \alpha_i = 2C_i(1 - y_i\langle\tilde w,\tilde x_i\rangle)_+,\qquad
//!    \nabla^2F = J + \sum_{i\in A}2C_i\tilde x_i\tilde x_i^\top. $$
//!
//! A step goes to the least point on the line along $-(\nabla^2F)^{-1}\nabla F$, and the method ends after finitely many. At the end the $\alpha_i$ are the solution of
//! the dual. Cost of a step: the matrix for the points that became active or ceased to be, its factor, and two passes.

use super::normal::NormalMatrix;
use super::second_order::Lifted;
use super::{LinearSettings, LinearSvm};
use crate::Solution;
use crate::certificate::dot;

/// A step that promises less than this part of the tolerance may well be the last: the answer is then judged.
const PROMISE: f64 = 0.1;

pub(super) fn solve(svm: &LinearSvm<'_>, start: &[f64], settings: &LinearSettings) -> Solution {
    let lifted = Lifted::new(svm);
    let mut curvature = Curvature::new(svm, &lifted);
    let mut weights = lifted.combination(&svm.signed(start));
    // Of a free bias the combination holds the sum of the signed duals, which says nothing.
    if let Some((weight, form)) = weights.last_mut().zip(lifted.form.last()) {
        *weight *= form;
    }
    let mut margins = svm.signed(&lifted.scores(&weights));
    let mut best: Option<Solution> = None;
    for n_steps in 0.. {
        let shortfall = |i: usize| (1.0 - margins[i]).max(0.0);
        let alpha: Vec<f64> = (0..margins.len()).map(|i| 2.0 * svm.penalties[i] * shortfall(i)).collect();
        let objective: f64 = (0..margins.len()).map(|i| 0.5 * alpha[i] * shortfall(i)).sum();

        let mut direction = lifted.combination(&svm.signed(&alpha));
        for ((right, form), weight) in direction.iter_mut().zip(&lifted.form).zip(&weights) {
            *right -= form * weight;
        }
        let descent = direction.clone();
        curvature.solve(&margins, &mut direction);
        let promise = 0.5 * dot(&descent, &direction);

        let at_end = n_steps == settings.max_passes || !promise.is_finite();
        if at_end || promise <= PROMISE * settings.tolerance * (1.0 + objective) {
            let solution = svm.judge(alpha, weights.last().copied().unwrap_or(0.0), n_steps);
            let solved = solution.certificate.holds(settings.tolerance);
            let stuck = best.as_ref().is_some_and(|best| solution.certificate.worst() >= best.certificate.worst());
            if !stuck {
                best = Some(solution);
            }
            if solved || stuck || at_end {
                break;
            }
        }
        let changes = svm.signed(&lifted.scores(&direction));
        let length = line_minimum(svm, &lifted, &weights, &direction, &margins, &changes);
        weights.iter_mut().zip(&direction).for_each(|(weight, change)| *weight += length * change);
        margins = svm.signed(&lifted.scores(&weights));
    }
    best.expect("a solution is judged before the loop ends")
}

/// The second derivative, brought up to date by the points that changed sides.
struct Curvature<'a> {
    svm: &'a LinearSvm<'a>,
    lifted: &'a Lifted<'a>,
    matrix: NormalMatrix,
    active: Vec<bool>,
}

impl<'a> Curvature<'a> {
    fn new(svm: &'a LinearSvm<'a>, lifted: &'a Lifted<'a>) -> Self {
        let matrix = NormalMatrix::diagonal(&lifted.form);
        Curvature { svm, lifted, matrix, active: vec![false; svm.signs.len()] }
    }

    /// Multiplies a vector by the inverse.
    fn solve(&mut self, margins: &[f64], vector: &mut [f64]) {
        let penalties = &self.svm.penalties;
        let active: Vec<bool> = margins.iter().zip(penalties).map(|(m, c)| *m < 1.0 && *c > 0.0).collect();
        let n_changed = active.iter().zip(&self.active).filter(|(now, before)| now != before).count();
        if n_changed > active.iter().filter(|active| **active).count() {
            self.matrix = NormalMatrix::diagonal(&self.lifted.form);
            self.active.fill(false);
        }
        let weight = |i: usize| if active[i] { 2.0 * penalties[i] } else { -2.0 * penalties[i] };
        let changed: Vec<(usize, f64)> =
            (0..active.len()).filter(|&i| active[i] != self.active[i]).map(|i| (i, weight(i))).collect();
        self.lifted.add_to(&mut self.matrix, &changed);
        self.active = active;
        let weights_sum = (0..penalties.len()).filter(|&i| self.active[i]).map(|i| 2.0 * penalties[i]).sum();
        self.lifted.factor(self.matrix.clone(), weights_sum).solve(vector);
    }
}

/// The length $\tau$ that minimises $F(\tilde w + \tau\Delta)$: the zero of a derivative that is piecewise linear and rises. Newton's method from either side would
/// cross a bend at a time at worst; it is kept within an interval that is halved where that gains more.
fn line_minimum(
    svm: &LinearSvm<'_>,
    lifted: &Lifted<'_>,
    weights: &[f64],
    direction: &[f64],
    margins: &[f64],
    changes: &[f64],
) -> f64 {
    let form = |a: &[f64], b: &[f64]| -> f64 { (0..a.len()).map(|i| lifted.form[i] * a[i] * b[i]).sum() };
    let (slope, bend) = (form(weights, direction), form(direction, direction));
    let derivatives = |length: f64| {
        let (mut first, mut second) = (slope + length * bend, bend);
        for i in 0..margins.len() {
            let shortfall = 1.0 - margins[i] - length * changes[i];
            if shortfall > 0.0 {
                first -= 2.0 * svm.penalties[i] * shortfall * changes[i];
                second += 2.0 * svm.penalties[i] * changes[i] * changes[i];
            }
        }
        (first, second)
    };
    let (mut below, mut above) = (0.0, f64::INFINITY);
    let mut length = 1.0;
    for _ in 0..60 {
        let (first, second) = derivatives(length);
        if first < 0.0 {
            below = length;
        } else {
            above = length;
        }
        let newton = length - first / second;
        let next = if (below..=above).contains(&newton) {
            newton
        } else if above.is_finite() {
            0.5 * (below + above)
        } else {
            2.0 * below
        };
        if next.is_nan() || (next - length).abs() <= 1e-12 * length {
            break;
        }
        length = next;
    }
    length
}
