//! Linear support vector machines, solved through their weights and never through a Gram matrix.
//!
//! Over points $x_i$, the columns of a matrix, with signs $y_i=\pm1$ and penalties $C_i\ge0$:
//!
//! $$ \min_{w,b}\ \tfrac12\lVert w\rVert^2 + \sum_i C_i\,\ell\bigl(1 - y_i(\langle w,x_i\rangle + b)\bigr), \qquad \ell(t) = t_+ \text{ or } t_+^2. $$
//!
//! The bias $b$ is [absent, free, or regularised](Bias). The dual is
//!
//! $$ \min_\alpha\ \tfrac12\alpha^\top P\alpha - 1^\top\alpha \quad\text{subject to}\quad 0\le\alpha_i\le C_i\ (\text{hinge}),\quad 0\le\alpha_i\ (\text{squared hinge}),\quad
//!    y^\top\alpha = 0\ (\text{free bias}), $$
//!
//! where $P = Y(X^\top X + s^211^\top)Y$, the second term for a regularised bias of scale $s$, plus $\operatorname{diag}(1/2C_i)$ for the squared hinge.
//! As a [`Problem`] the machine is this dual. Its multipliers follow from $(w,b)$: stationarity holds exactly, and for the hinge the
//! certificate's duality gap is the objective above less the dual one.
//!
//! | method | source | a pass or step costs |
//! |---|---|---|
//! | [coordinate descent](Method::Coordinate) on the dual | Hsieh, Chang, Lin, Keerthi & Sundararajan, ICML 2008 | all entries, twice |
//! | [interior point](Method::Interior) on both | Mehrotra, SIAM J. Optim. 2(4), 1992; Ferris & Munson, SIAM J. Optim. 13(3), 2002 | $nk^2 + k^3/3$, $k=\min(n,d)+1$ |
//! | [Newton](Method::Newton) on the primal | Mangasarian, Optim. Methods Softw. 17(5), 2002; Keerthi & DeCoste, JMLR 6, 2005 | the same over points that changed sides |
//!
//! ```
//! use mil_qp::{Bias, LinearSettings, LinearSvm, Loss};
//! let points = nalgebra::DMatrix::from_row_slice(1, 2, &[1.0, -1.0]);
//! let svm = LinearSvm::new(&points, vec![1.0, -1.0], vec![10.0; 2], Bias::Free, Loss::Hinge)?;
//! let solution = svm.solve(&LinearSettings::default())?.solved().expect("two points are no trouble");
//! assert!(solution.certify(&svm)?.holds(1e-6));
//! let (weights, bias) = svm.separator(&solution)?;
//! assert!((weights[0] - 1.0).abs() < 1e-5 && bias.abs() < 1e-5);
//! # Ok::<(), mil_qp::ProblemError>(())
//! ```

mod coordinate;
mod interior;
mod newton;
mod normal;
mod points;
mod second_order;

use std::borrow::Cow;

pub use points::Points;

use crate::certificate::{dot, require_length};
use crate::error::{require, require_setting};
use crate::{Certificate, Outcome, Problem, ProblemError, Solution};

/// What is paid for a margin that falls short by $t$.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// $t_+$.
    Hinge,
    /// $t_+^2$.
    SquaredHinge,
}

/// What becomes of the bias $b$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bias {
    /// $b = 0$.
    None,
    /// $b$ costs nothing: the ordinary machine. Where several $b$ are optimal we answer the middle one, or the finite end if there is no middle.
    Free,
    /// $b$ costs $b^2/2s^2$, as if every point had a further feature $s$ (LIBLINEAR's `-B`, scikit-learn's `intercept_scaling`).
    Regularised {
        /// The further feature $s$.
        scale: f64,
    },
}

/// How to solve a linear machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By the shape of the problem: see [`LinearSvm::solve`].
    Auto,
    /// Coordinate descent on the dual: little memory, sparse points, quick if the classes separate, slow to high accuracy if they overlap.
    Coordinate,
    /// The interior-point method: some twenty steps whatever the data.
    Interior,
    /// Newton's method on the primal of the squared hinge. The hinge has no curvature to use: there it means [`Interior`](Self::Interior).
    Newton,
}

/// How exactly and how long to solve.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSettings {
    /// What [`Certificate::worst`] may be at the end. Above 0.
    pub tolerance: f64,
    /// Passes of coordinate descent over the points, or steps of the other methods.
    pub max_passes: usize,
    /// The method.
    pub method: Method,
    /// For the order in which coordinate descent visits the points; the other methods draw nothing.
    pub seed: u64,
}

impl Default for LinearSettings {
    /// Tolerance $10^{-6}$, 10000 passes, [`Method::Auto`], seed 0.
    fn default() -> Self {
        LinearSettings { tolerance: 1e-6, max_passes: 10_000, method: Method::Auto, seed: 0 }
    }
}

/// Entries, penalties and the bias' scale stay within this size, so that no sum of products overflows.
const LARGEST: f64 = 1e20;
/// Penalties other than 0, and the bias' scale, are at least this.
const SMALLEST: f64 = 1e-20;

/// Matrices of a higher order (128 MB) are not tried unless asked for.
const LARGEST_ORDER: f64 = 4000.0;
/// What a second-order method may be worth in passes of coordinate descent to be tried first.
const FEW_PASSES: f64 = 700.0;

/// A linear support vector machine.
///
/// As a [`Problem`] its rows are the bounds of the duals, in order, then the equality if the bias is free.
#[derive(Debug, Clone)]
pub struct LinearSvm<'a> {
    points: Points<'a>,
    signs: Vec<f64>,
    penalties: Vec<f64>,
    bias: Bias,
    loss: Loss,
}

impl<'a> LinearSvm<'a> {
    /// States the problem: a sign $\pm1$ and a penalty for each point. A penalty of 0 takes its point out. There may be no features.
    ///
    /// # Errors
    /// If there is no point, lengths differ, a sign is not $\pm1$, or a number is not finite; an entry above $10^{20}$ in size, and a penalty or a scale of the bias
    /// outside $10^{\pm20}$, are refused as well.
    pub fn new(
        points: impl Into<Points<'a>>,
        signs: Vec<f64>,
        penalties: Vec<f64>,
        bias: Bias,
        loss: Loss,
    ) -> Result<LinearSvm<'a>, ProblemError> {
        let points = points.into();
        if points.n_points() == 0 {
            return Err(ProblemError::Empty("points"));
        }
        require_length("the signs", points.n_points(), signs.len())?;
        require_length("the penalties", points.n_points(), penalties.len())?;
        require("sign", &signs, |sign| sign.abs() == 1.0, "1 or -1")?;
        let in_range = |value: f64| (SMALLEST..=LARGEST).contains(&value);
        require("penalty", &penalties, |c| c == 0.0 || in_range(c), "0 or a number from 1e-20 to 1e20")?;
        points.require(|value| value.abs() <= LARGEST, "a number of size at most 1e20")?;
        if let Bias::Regularised { scale } = bias {
            require_setting("the scale of the bias", scale, in_range(scale), "a number from 1e-20 to 1e20")?;
        }
        Ok(LinearSvm { points, signs, penalties, bias, loss })
    }

    /// Solves the problem.
    ///
    /// [`Method::Auto`] takes a second-order method at once if its matrix, of order $\min(n,d)+1$, is small (up to some 700 dense features, and fewer than points), after an attempt with coordinate
    /// descent with at most half of the budget if it is larger, and not at all above 4000. A second-order method holds that matrix, and a copy of the points if $d>n$.
    ///
    /// ```
    /// use mil_qp::{Bias, LinearSettings, LinearSvm, Loss, Method};
    /// let points = nalgebra::DMatrix::from_row_slice(2, 4, &[0.0, 1.0, 3.0, 4.0, 1.0, 0.0, 1.0, 0.0]);
    /// let svm = LinearSvm::new(&points, vec![-1.0, -1.0, 1.0, 1.0], vec![1.0; 4], Bias::Regularised { scale: 1.0 }, Loss::SquaredHinge)?;
    /// let objective = |method| -> Result<f64, mil_qp::ProblemError> {
    ///     let settings = LinearSettings { method, ..LinearSettings::default() };
    ///     Ok(svm.solve(&settings)?.solved().expect("solved").certificate.primal_objective)
    /// };
    /// assert!((objective(Method::Coordinate)? - objective(Method::Newton)?).abs() < 1e-5);
    /// # Ok::<(), mil_qp::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// If the tolerance is not above 0.
    pub fn solve(&self, settings: &LinearSettings) -> Result<Outcome, ProblemError> {
        self.solve_from(&vec![0.0; self.signs.len()], settings)
    }

    /// Solves the problem from duals of a related one, such as for other penalties. Those out of bounds are moved to the bound.
    /// Coordinate descent and Newton's method save steps by them; the interior method ignores them.
    ///
    /// # Errors
    /// If the tolerance is not above 0, or the start has not one finite number per point.
    pub fn solve_from(&self, start: &[f64], settings: &LinearSettings) -> Result<Outcome, ProblemError> {
        let tolerance = settings.tolerance;
        require_setting("tolerance", tolerance, tolerance.is_finite() && 0.0 < tolerance, "a finite number above 0")?;
        require_length("the start", self.signs.len(), start.len())?;
        crate::error::require_finite("start", start)?;
        let alpha: Vec<f64> = (0..start.len()).map(|i| start[i].clamp(0.0, self.upper(i).min(LARGEST))).collect();

        let solution = match self.settled_bias() {
            Some(bias) => self.judge(vec![0.0; start.len()], bias, 0),
            None => {
                let start = self.judge(alpha.clone(), 0.0, 0);
                LinearSvm::better(start, self.solve_by(settings.method, alpha, settings))
            }
        };
        Ok(Outcome::judged(solution, tolerance))
    }

    /// The separator $(w, b)$ of $f(x) = \langle w,x\rangle + b$: $w = \sum_i\alpha_iy_ix_i$, and $b$ from the equality's multiplier or $s^2\sum_i\alpha_iy_i$.
    ///
    /// # Errors
    /// If the solution has not the problem's dimensions.
    pub fn separator(&self, solution: &Solution) -> Result<(Vec<f64>, f64), ProblemError> {
        require_length("the primal solution", self.n_variables(), solution.primal.len())?;
        require_length("the multipliers", self.n_rows(), solution.dual.len())?;
        let signed = self.signed(&solution.primal);
        let bias = match self.bias {
            Bias::Free => solution.dual[self.signs.len()],
            Bias::None | Bias::Regularised { .. } => self.regularised_bias(&signed),
        };
        Ok((self.points.combination(&signed), bias))
    }

    fn solve_by(&self, method: Method, start: Vec<f64>, settings: &LinearSettings) -> Solution {
        match (method, self.loss) {
            (Method::Auto, _) => self.solve_automatically(start, settings),
            (Method::Coordinate, _) => coordinate::solve(self, start, settings),
            (Method::Newton, Loss::SquaredHinge) => self.solve_by_newton(start, settings),
            (Method::Interior, _) | (Method::Newton, Loss::Hinge) => interior::solve(self, settings),
        }
    }

    /// By shape; where that ends early, coordinate descent goes on with what is left of the budget.
    fn solve_automatically(&self, start: Vec<f64>, settings: &LinearSettings) -> Solution {
        let first = self.solve_by_shape(start, settings);
        let max_passes = settings.max_passes.saturating_sub(first.n_steps);
        if first.certificate.holds(settings.tolerance) || max_passes == 0 || !first.certificate.worst().is_finite() {
            return first;
        }
        let rest = LinearSettings { max_passes, ..settings.clone() };
        let second = coordinate::solve(self, first.primal.clone(), &rest);
        LinearSvm::better(first, second)
    }

    /// Newton's method knows a dual no better than its penalty times the rounding of a margin. Where that is not enough the interior method, which knows each dual to
    /// its own size, takes over.
    fn solve_by_newton(&self, start: Vec<f64>, settings: &LinearSettings) -> Solution {
        let first = newton::solve(self, &start, settings);
        let max_passes = settings.max_passes - first.n_steps;
        if first.certificate.holds(settings.tolerance) || max_passes == 0 {
            return first;
        }
        let second = interior::solve(self, &LinearSettings { max_passes, ..settings.clone() });
        LinearSvm::better(first, second)
    }

    /// The second solution unless the first has the better certificate, with the steps of both.
    fn better(first: Solution, second: Solution) -> Solution {
        let n_steps = first.n_steps + second.n_steps;
        // What is NaN is never better.
        let second_is_worse =
            second.certificate.worst().is_nan() || second.certificate.worst() > first.certificate.worst();
        let better = if second_is_worse { first } else { second };
        Solution { n_steps, ..better }
    }

    /// Solves by the method that the shape suggests.
    ///
    /// Per entry of the points, a second-order step costs the order of its matrix squared times the points, a pass of coordinate descent a constant. Measured to
    /// a certificate of $10^{-6}$ in CPU seconds (dense Gaussian classes; text-like sparse points; Musk2), interior for the hinge, Newton for the squared:
    ///
    /// | points × features | hinge, interior | hinge, coordinate | squared, Newton | squared, coordinate |
    /// |---|---|---|---|---|
    /// | 6598 × 166, Musk2 | 0.20 | not in 2000 passes | 0.02 | not in 2000 passes |
    /// | 20000 × 20 | 0.05 | not in 2000 passes | 0.01 | 0.29 |
    /// | 5000 × 500 | 0.84 | not in 2000 passes | 0.08 | not in 2000 passes |
    /// | 3000 × 1000, separable | 1.6 | 0.33 | 0.77 | 0.28 |
    /// | 2000 × 2000, separable | 4.4 | 0.38 | 4.2 | 0.19 |
    /// | 500 × 5000, separable | 0.47 | 0.05 | 0.50 | 0.04 |
    /// | 20000 × 5000, 50 non-zeros each | | 0.37 | | 0.40 |
    ///
    /// So small matrices are tried at once, unless there are more features than points, which then mostly separate; larger ones after coordinate descent has had about as much time as they would take; the largest never.
    fn solve_by_shape(&self, start: Vec<f64>, settings: &LinearSettings) -> Solution {
        let (n, d) = (self.points.n_points() as f64, self.points.n_features() as f64);
        let order = n.min(d) + 1.0;
        let reduction = if d > n { n } else { 0.0 };
        let worth_in_passes = reduction + order * order * n / (self.points.n_entries() as f64 + n);
        if order > LARGEST_ORDER {
            return self.solve_by(Method::Coordinate, start, settings);
        }
        if worth_in_passes <= FEW_PASSES && d <= n {
            return self.solve_by(Method::Newton, start, settings);
        }
        let max_passes = (settings.max_passes / 2).min(worth_in_passes as usize);
        let first = self.solve_by(Method::Coordinate, start, &LinearSettings { max_passes, ..settings.clone() });
        if first.certificate.holds(settings.tolerance) {
            return first;
        }
        let settings = LinearSettings { max_passes: settings.max_passes - first.n_steps, ..settings.clone() };
        let second = self.solve_by(Method::Newton, first.primal.clone(), &settings);
        LinearSvm::better(first, second)
    }

    /// The bias, if it is free and all points that count have one sign: it alone meets every margin, and $\alpha = 0$.
    fn settled_bias(&self) -> Option<f64> {
        let counts = |sign| (0..self.signs.len()).any(|i| self.signs[i] == sign && self.penalties[i] > 0.0);
        match (self.bias, counts(1.0), counts(-1.0)) {
            (Bias::None | Bias::Regularised { .. }, _, _) | (Bias::Free, true, true) => None,
            (Bias::Free, positive, negative) => Some(f64::from(positive) - f64::from(negative)),
        }
    }

    /// Upper bound of a dual.
    fn upper(&self, idx: usize) -> f64 {
        match self.loss {
            Loss::SquaredHinge if self.penalties[idx] > 0.0 => f64::INFINITY,
            _ => self.penalties[idx],
        }
    }

    /// The diagonal that the squared hinge adds to $P$. Where the penalty is 0 the dual is 0 too, and nothing is added.
    fn ridge(&self, idx: usize) -> f64 {
        match self.loss {
            Loss::SquaredHinge if self.penalties[idx] > 0.0 => 0.5 / self.penalties[idx],
            _ => 0.0,
        }
    }

    /// The constant feature of a regularised bias, squared.
    fn scale_squared(&self) -> f64 {
        match self.bias {
            Bias::Regularised { scale } => scale * scale,
            Bias::None | Bias::Free => 0.0,
        }
    }

    fn signed(&self, values: &[f64]) -> Vec<f64> {
        values.iter().zip(&self.signs).map(|(value, sign)| value * sign).collect()
    }

    /// $s^2\sum_i\alpha_iy_i$ from the $\alpha_iy_i$.
    fn regularised_bias(&self, signed: &[f64]) -> f64 {
        self.scale_squared() * signed.iter().sum::<f64>()
    }

    /// $P\alpha$ through $w$, and the scores $\langle w,x_i\rangle$ on the way.
    fn product_and_scores(&self, alpha: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let signed = self.signed(alpha);
        let scores = self.points.scores(&self.points.combination(&signed));
        let bias = self.regularised_bias(&signed);
        let product = |i: usize| self.signs[i] * (scores[i] + bias) + self.ridge(i) * alpha[i];
        ((0..alpha.len()).map(product).collect(), scores)
    }

    /// A solution from duals within their bounds, and the free bias under the squared hinge; under the hinge the bias is the best for the weights.
    fn judge(&self, mut alpha: Vec<f64>, bias: f64, n_steps: usize) -> Solution {
        if self.bias == Bias::Free {
            self.balance(&mut alpha);
        }
        let (product, scores) = self.product_and_scores(&alpha);
        let mut dual: Vec<f64> = product.iter().map(|value| 1.0 - value).collect();
        if self.bias == Bias::Free {
            let bias = if self.loss == Loss::Hinge {
                self.settled_bias().unwrap_or_else(|| self.best_bias(&scores))
            } else {
                bias
            };
            dual.iter_mut().zip(&self.signs).for_each(|(multiplier, sign)| *multiplier -= sign * bias);
            dual.push(bias);
        }
        let certificate = Certificate::of(self, &alpha, &dual, &product);
        Solution { primal: alpha, dual, certificate, n_steps }
    }

    /// Restores $y^\top\alpha = 0$, which methods reach in the limit only: each dual moves in proportion to its distance from its bounds, and where that does not
    /// suffice those of the heavier sign shrink.
    fn balance(&self, alpha: &mut [f64]) {
        let room = |i: usize, alpha: f64| match self.loss {
            _ if self.penalties[i] == 0.0 => 0.0,
            Loss::Hinge => alpha * (1.0 - alpha / self.penalties[i]).max(0.0),
            Loss::SquaredHinge => alpha,
        };
        let excess = dot(&self.signs, alpha);
        let total: f64 = alpha.iter().enumerate().map(|(i, &alpha)| room(i, alpha)).sum();
        if total > 0.0 {
            let share = (excess / total).clamp(-1.0, 1.0);
            for (i, alpha) in alpha.iter_mut().enumerate() {
                *alpha = (*alpha - self.signs[i] * share * room(i, *alpha)).clamp(0.0, self.upper(i));
            }
        }
        let sum = |sign: f64| (0..alpha.len()).filter(|&i| self.signs[i] == sign).map(|i| alpha[i]).sum::<f64>();
        let (positive, negative) = (sum(1.0), sum(-1.0));
        let (heavier, factor) =
            if positive > negative { (1.0, negative / positive) } else { (-1.0, positive / negative) };
        if factor < 1.0 {
            (0..alpha.len()).filter(|&i| self.signs[i] == heavier).for_each(|i| alpha[i] *= factor);
        }
    }

    /// A $b$ that minimises $\sum_i C_i(1 - y_i(f_i+b))_+$, the middle one if there are several, for points of both signs.
    ///
    /// The sum is convex and bends at $b_i = y_i - f_i$: left of all bends it falls by the penalties of the positive points, and at each bend its slope rises by $C_i$.
    fn best_bias(&self, scores: &[f64]) -> f64 {
        let mut bends: Vec<(f64, f64)> = (0..scores.len())
            .filter(|&i| self.penalties[i] > 0.0)
            .map(|i| (self.signs[i] - scores[i], self.penalties[i]))
            .collect();
        bends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = bends.iter().map(|bend| bend.1).sum();
        let positive: f64 =
            self.penalties.iter().zip(&self.signs).filter(|(_, sign)| **sign > 0.0).map(|(penalty, _)| penalty).sum();
        // A slope this small is one of 0 that was summed with rounding.
        let flat = total * f64::EPSILON * bends.len() as f64;
        let mut slope = -positive;
        let mut from = None;
        for (place, penalty) in bends {
            slope += penalty;
            if slope > flat {
                return from.map_or(place, |from: f64| 0.5 * (from + place));
            }
            if slope >= -flat && from.is_none() {
                from = Some(place);
            }
        }
        from.unwrap_or(0.0)
    }
}

impl Problem for LinearSvm<'_> {
    fn n_variables(&self) -> usize {
        self.signs.len()
    }

    fn n_rows(&self) -> usize {
        self.signs.len() + usize::from(self.bias == Bias::Free)
    }

    /// Costs two passes over the points' entries.
    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
        Ok(self.product_and_scores(x).0)
    }

    fn linear_term(&self) -> Cow<'_, [f64]> {
        Cow::Owned(vec![-1.0; self.signs.len()])
    }

    fn rows_product(&self, x: &[f64]) -> Vec<f64> {
        let mut rows = x.to_vec();
        if self.bias == Bias::Free {
            rows.push(dot(&self.signs, x));
        }
        rows
    }

    fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
        let n = self.signs.len();
        let equality = if self.bias == Bias::Free { y[n] } else { 0.0 };
        y[..n].iter().zip(&self.signs).map(|(multiplier, sign)| multiplier + sign * equality).collect()
    }

    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        let mut lower = vec![0.0; self.signs.len()];
        let mut upper: Vec<f64> = (0..self.signs.len()).map(|i| self.upper(i)).collect();
        if self.bias == Bias::Free {
            lower.push(0.0);
            upper.push(0.0);
        }
        (Cow::Owned(lower), Cow::Owned(upper))
    }
}
