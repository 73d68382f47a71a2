//! The interior-point method, for either loss.
//!
//! Mehrotra, *On the Implementation of a Primal-Dual Interior Point Method*, SIAM J. Optim. 2(4), 1992; for linear machines, with the small matrix below,
//! Ferris & Munson, *Interior-Point Methods for Massive Support Vector Machines*, SIAM J. Optim. 13(3), 2002.
//!
//! With surplus $t\ge0$ and slack $\xi\ge0$ of each margin, $\tilde x = (x, \text{feature})$ as in [`Lifted`], and $v = C - \alpha$, the conditions of optimality are
//!
//! $$ J\tilde w = \sum_i\alpha_iy_i\tilde x_i,\qquad y_i\langle\tilde w,\tilde x_i\rangle + \xi_i - t_i = 1,\qquad \alpha_it_i = 0,\qquad v_i\xi_i = 0. $$
//!
//! Under the squared hinge $\xi_i = \alpha_i/2C_i$, and the last condition is absent. The method asks for products $\sigma\mu$ instead of 0 and linearises.
//! Eliminating all but $\Delta\tilde w$ leaves, with $D_i = t_i/\alpha_i + \xi_i/v_i$ (squared hinge: $t_i/\alpha_i + 1/2C_i$) and a vector $g$ that depends on the right-hand sides,
//!
//! $$ \Bigl(J + \sum_i D_i^{-1}\tilde x_i\tilde x_i^\top\Bigr)\Delta\tilde w = \sum_i y_i(\alpha_i + D_i^{-1}g_i)\,\tilde x_i - J\tilde w,
//!    \qquad \Delta\alpha_i = D_i^{-1}(g_i - y_i\langle\Delta\tilde w,\tilde x_i\rangle). $$
//!
//! Cost: that matrix and its factor once a step, and four passes over the points.

use super::normal::{Cholesky, NormalMatrix};
use super::second_order::Lifted;
use super::{LinearSettings, LinearSvm, Loss};
use crate::Solution;

/// Part of the way to the boundary that a step goes.
const BACKOFF: f64 = 0.995;
/// A step of predictor and corrector shorter than this is not taken.
const POOR: f64 = 0.1;
/// While more than this is left of the first equation's residual, the products may rise for its sake.
const UNMET: f64 = 1e-3;
/// No product may fall below this part of their mean.
const CENTRALITY: f64 = 1e-4;
/// Steps shorter than this come to nothing.
const SHORTEST: f64 = 1e-3;
/// So many steps in a row that come to nothing, or whose answers are judged no better, end the method: rounding forbids to go on.
const PATIENCE: usize = 5;
/// A dual's distance from a bound, over its penalty, is evidently 0 if it is below this part of the other factor of their product: tried in turn.
const EVIDENT: [f64; 3] = [1e-2, 1e-4, 1e-6];

/// Starts from ever farther inside, should rounding end the method: products so large dwarf what the equations are off by.
const STARTS: [f64; 3] = [1.0, 1e3, 1e6];

pub(super) fn solve(svm: &LinearSvm<'_>, settings: &LinearSettings) -> Solution {
    let lifted = Lifted::new(svm);
    let mut best: Option<Solution> = None;
    for start in STARTS {
        let n_before = best.as_ref().map_or(0, |best| best.n_steps);
        let rest = LinearSettings { max_passes: settings.max_passes - n_before, ..settings.clone() };
        let solution = solve_from(State::centred(svm, &lifted, start), &rest);
        let solution = match best {
            Some(best) => LinearSvm::better(best, solution),
            None => solution,
        };
        if solution.certificate.holds(settings.tolerance) || solution.n_steps == settings.max_passes {
            return solution;
        }
        best = Some(solution);
    }
    best.expect("there was an attempt")
}

fn solve_from(mut state: State<'_>, settings: &LinearSettings) -> Solution {
    let svm = state.svm;
    let (mut n_steps, mut n_idle) = (0, 0);
    let mut best: Option<Solution> = None;
    loop {
        let at_end = n_steps == settings.max_passes || n_idle == PATIENCE;
        let mut is_idle = false;
        // Where the equations hold, the products add up to the duality gap.
        let enough = settings.tolerance * (1.0 + state.objective().abs());
        if at_end || state.products(None, 0.0) <= enough {
            let solution = svm.judge(state.alpha.clone(), state.bias(), n_steps);
            if solution.certificate.holds(settings.tolerance) {
                let mut rounded = EVIDENT.iter().map(|&part| svm.judge(state.rounded(part), state.bias(), n_steps));
                let holds = |rounded: &Solution| rounded.certificate.holds(settings.tolerance);
                return rounded.find(holds).unwrap_or(solution);
            }
            match &best {
                Some(best) if best.certificate.worst() <= solution.certificate.worst() => is_idle = true,
                _ => best = Some(solution),
            }
        }
        if at_end {
            return Solution { n_steps, ..best.expect("a solution has been judged") };
        }
        is_idle |= state.step(0.1 * enough) < SHORTEST;
        n_idle = if is_idle { n_idle + 1 } else { 0 };
        n_steps += 1;
    }
}

/// All that is positive, and the weights. Vectors have an entry for each point, but only those of points that count are used.
struct State<'a> {
    svm: &'a LinearSvm<'a>,
    lifted: &'a Lifted<'a>,
    /// Positions of the points with a penalty above 0.
    idxs: Vec<usize>,
    weights: Vec<f64>,
    /// $y_i\langle\tilde w,\tilde x_i\rangle$.
    margins: Vec<f64>,
    alpha: Vec<f64>,
    /// $v = C - \alpha$, kept by itself to stay exact near 0. Under the squared hinge neither it nor the slack is used.
    room: Vec<f64>,
    surplus: Vec<f64>,
    slack: Vec<f64>,
    /// How much is left of what the first equation was off by at the start.
    unmet: f64,
}

/// Changes of the state's vectors; the room changes by $-\Delta\alpha$.
struct Direction {
    weights: Vec<f64>,
    margins: Vec<f64>,
    alpha: Vec<f64>,
    surplus: Vec<f64>,
    slack: Vec<f64>,
}

impl<'a> State<'a> {
    /// Choice: the point of the central path that belongs to $\tilde w = 0$ and $\mu = $ the mean penalty times `start`. Every margin's equation and every product is then exact,
    /// and only the first equation remains to be met.
    fn centred(svm: &'a LinearSvm<'a>, lifted: &'a Lifted<'a>, start: f64) -> State<'a> {
        let n = svm.signs.len();
        let idxs: Vec<usize> = (0..n).filter(|&i| svm.penalties[i] > 0.0).collect();
        let mu = start * svm.penalties.iter().sum::<f64>() / idxs.len().max(1) as f64;
        let zeros = vec![0.0; n];
        let mut state = State {
            svm,
            lifted,
            idxs,
            weights: vec![0.0; lifted.form.len()],
            margins: zeros.clone(),
            alpha: zeros.clone(),
            room: zeros.clone(),
            surplus: zeros.clone(),
            slack: zeros,
            unmet: 1.0,
        };
        for &i in &state.idxs {
            let c = svm.penalties[i];
            // The positive root of mu/(C - a) - mu/a = 1, or of a/2C - mu/a = 1.
            let alpha = match svm.loss {
                Loss::Hinge => 2.0 * mu * c / ((2.0 * mu - c) + (2.0 * mu).hypot(c)),
                Loss::SquaredHinge => c * (1.0 + (1.0 + 2.0 * mu / c).sqrt()),
            };
            state.alpha[i] = alpha;
            state.surplus[i] = mu / alpha;
            if svm.loss == Loss::Hinge {
                state.room[i] = c - alpha;
                state.slack[i] = mu / state.room[i];
            }
        }
        state
    }

    fn hinge(&self) -> bool {
        self.svm.loss == Loss::Hinge
    }

    fn bias(&self) -> f64 {
        self.weights.last().copied().unwrap_or(0.0)
    }

    /// $\tfrac12\alpha^\top P\alpha - 1^\top\alpha$, as far as the equations hold.
    fn objective(&self) -> f64 {
        let form: f64 = self.weights.iter().zip(&self.lifted.form).map(|(w, form)| form * w * w).sum();
        let duals = |&i: &usize| self.alpha[i] * (0.5 * self.svm.ridge(i) * self.alpha[i] - 1.0);
        0.5 * form + self.idxs.iter().map(duals).sum::<f64>()
    }

    /// $\sum_i(\alpha_it_i + v_i\xi_i)$ after a step.
    fn products(&self, direction: Option<&Direction>, length: f64) -> f64 {
        let mut sum = 0.0;
        for &i in &self.idxs {
            let [alpha, surplus, slack] = direction.map_or([0.0; 3], |d| [d.alpha[i], d.surplus[i], d.slack[i]]);
            sum += (self.alpha[i] + length * alpha) * (self.surplus[i] + length * surplus);
            sum += (self.room[i] - length * alpha) * (self.slack[i] + length * slack);
        }
        sum
    }

    /// Predictor, corrector, and as long a step as stays positive; the products are to add up to no less than `enough`. The step's length; 0 if there was none.
    ///
    /// Deviation: Mehrotra's corrector takes the predictor's products whole, however short its step, and may then go in circles. We take the part that belongs to
    /// the step's length (Colombo & Gondzio, Comput. Optim. Appl. 41(3), 2008), stay in a neighbourhood of the central path in which the products fall (Wright, *Primal-Dual
    /// Interior-Point Methods*, 1997, ch. 6), and where the step is short all the same go towards the path at half of $\mu$ instead.
    fn step(&mut self, enough: f64) -> f64 {
        let hinge = self.hinge();
        let theta: Vec<(usize, f64)> = self.idxs.iter().map(|&i| (i, 1.0 / self.elasticity(i))).collect();
        let mut matrix = NormalMatrix::diagonal(&self.lifted.form);
        self.lifted.add_to(&mut matrix, &theta);
        let factor = self.lifted.factor(matrix, theta.iter().map(|(_, theta)| theta).sum());

        let n_products = self.idxs.len() as f64 * if hinge { 2.0 } else { 1.0 };
        let mu = self.products(None, 0.0) / n_products;
        let predictor = self.direction(&factor, &theta, |_| (0.0, 0.0));
        let foreseen = self.longest(&predictor).min(1.0);
        let centre = mu * (self.products(Some(&predictor), foreseen) / n_products / mu).clamp(0.0, 1.0).powi(3);
        // Products below what is asked for would only spoil the matrix.
        let centre = centre.max(mu.min(enough / n_products));
        // Only that part of the predictor's products which its length allows.
        let part = foreseen * foreseen;
        let mut direction = self.direction(&factor, &theta, |i| {
            let [alpha, surplus, slack] = [predictor.alpha[i], predictor.surplus[i], predictor.slack[i]];
            (centre - part * alpha * surplus, centre + part * alpha * slack)
        });
        let mut length = self.acceptable(&direction, 2.0 * enough);
        if length < POOR {
            direction = self.direction(&factor, &theta, |_| (0.5 * mu, 0.5 * mu));
            length = self.acceptable(&direction, 2.0 * enough);
        }
        let is_usable = length > 0.0 && direction.weights.iter().all(|value| value.is_finite());
        if !is_usable {
            return 0.0;
        }
        self.unmet *= 1.0 - length;
        advance(&mut self.weights, length, &direction.weights);
        advance(&mut self.margins, length, &direction.margins);
        advance(&mut self.alpha, length, &direction.alpha);
        advance(&mut self.surplus, length, &direction.surplus);
        if hinge {
            advance(&mut self.room, -length, &direction.alpha);
            advance(&mut self.slack, length, &direction.slack);
        }
        length
    }

    /// $D_i$.
    fn elasticity(&self, i: usize) -> f64 {
        let below = self.surplus[i] / self.alpha[i];
        below + if self.hinge() { self.slack[i] / self.room[i] } else { self.svm.ridge(i) }
    }

    /// The direction to given products $\alpha_it_i$ and $v_i\xi_i$, less the products of changes.
    fn direction(&self, factor: &Cholesky, theta: &[(usize, f64)], target: impl Fn(usize) -> (f64, f64)) -> Direction {
        let (signs, hinge) = (&self.svm.signs, self.hinge());
        let n = signs.len();
        let mut gains = vec![0.0; n];
        let mut coefficients = vec![0.0; n];
        for &(i, theta) in theta {
            let (to_surplus, to_slack) = target(i);
            let slack = if hinge { to_slack / self.room[i] } else { self.svm.ridge(i) * self.alpha[i] };
            gains[i] = 1.0 - self.margins[i] - slack + to_surplus / self.alpha[i];
            coefficients[i] = signs[i] * (self.alpha[i] + theta * gains[i]);
        }
        let mut weights = self.lifted.combination(&coefficients);
        for ((right, form), weight) in weights.iter_mut().zip(&self.lifted.form).zip(&self.weights) {
            *right -= form * weight;
        }
        factor.solve(&mut weights);

        let mut margins = self.lifted.scores(&weights);
        let (mut alpha, mut surplus, mut slack) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for &(i, theta) in theta {
            let (to_surplus, to_slack) = target(i);
            margins[i] *= signs[i];
            alpha[i] = theta * (gains[i] - margins[i]);
            surplus[i] = (to_surplus - self.surplus[i] * alpha[i]) / self.alpha[i] - self.surplus[i];
            if hinge {
                slack[i] = (to_slack + self.slack[i] * alpha[i]) / self.room[i] - self.slack[i];
            }
        }
        Direction { weights, margins, alpha, surplus, slack }
    }

    /// The longest step, of lengths that shrink geometrically, after which the products have fallen, or are at most `enough`, and none is far below their mean.
    fn acceptable(&self, direction: &Direction, enough: f64) -> f64 {
        let before = self.products(None, 0.0);
        let mut length = (BACKOFF * self.longest(direction)).min(1.0);
        while length >= SHORTEST {
            let after = self.products(Some(direction), length);
            let least = CENTRALITY * after / self.idxs.len() as f64;
            let is_central = |&i: &usize| {
                let alpha = length * direction.alpha[i];
                let first = (self.alpha[i] + alpha) * (self.surplus[i] + length * direction.surplus[i]);
                let second = (self.room[i] - alpha) * (self.slack[i] + length * direction.slack[i]);
                first >= least && (second >= least || !self.hinge())
            };
            let has_fallen = after <= (1.0 - 0.01 * length) * before || after <= enough || self.unmet > UNMET;
            if has_fallen && self.idxs.iter().all(is_central) {
                return length;
            }
            length *= 0.8;
        }
        0.0
    }

    /// The longest step that keeps everything at least 0, at most some steps of 1.
    fn longest(&self, direction: &Direction) -> f64 {
        let mut longest: f64 = 1.0 / BACKOFF;
        let mut limit = |value: f64, change: f64| {
            if value + longest * change < 0.0 {
                longest = -value / change;
            }
        };
        for &i in &self.idxs {
            limit(self.alpha[i], direction.alpha[i]);
            limit(self.surplus[i], direction.surplus[i]);
            if self.hinge() {
                limit(self.room[i], -direction.alpha[i]);
                limit(self.slack[i], direction.slack[i]);
            }
        }
        longest
    }

    /// The duals with those that are evidently on their way to a bound moved there, so that support vectors can be told from others.
    fn rounded(&self, part: f64) -> Vec<f64> {
        let mut alpha = self.alpha.clone();
        for &i in &self.idxs {
            let c = self.svm.penalties[i];
            if self.alpha[i] < part * c * self.surplus[i].min(1.0) {
                alpha[i] = 0.0;
            } else if self.hinge() && self.room[i] < part * c * self.slack[i].min(1.0) {
                alpha[i] = c;
            }
        }
        alpha
    }
}

fn advance(values: &mut [f64], length: f64, changes: &[f64]) {
    values.iter_mut().zip(changes).for_each(|(value, change)| *value += length * change);
}
