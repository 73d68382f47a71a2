//! The 1-norm support vector machine, the linear program of MILES:
//!
//! $$ \min_{w,b}\ \lambda\lVert w\rVert_1 + \sum_i C_i\,(1 - y_i(w^\top z_i + b))_+ $$
//!
//! Zhu, Rosset, Hastie & Tibshirani, *1-norm Support Vector Machines*, NIPS 2003; Chen, Bi & Wang, *MILES: Multiple-Instance Learning via Embedded Instance
//! Selection*, PAMI 28(12), 2006. There are few examples $z_i$ and many features; most weights are 0 at the optimum. The dual,
//!
//! $$ \max_a\ \sum_i a_i \quad\text{subject to}\quad 0\le a_i\le C_i,\quad \Bigl|\sum_i a_iy_iz_{ik}\Bigr|\le\lambda\ \text{for each } k,\quad \sum_i a_iy_i = 0, $$
//!
//! has a constraint for each feature (the last one is that of the bias), so an answer is proved optimal by pricing all features once.
//!
//! Features are generated as columns: a simplex method solves the problem over those held so far, the ones whose price passes $\lambda$ most are added, and so on until
//! none does. The simplex method knows the shape of the problem: its basis is only as large as the number of weights, and a step minimises the whole objective
//! along an edge, past as many kinks as it pays to pass. The answer is a vertex: weights that are 0 are 0 exactly, and the gap is of the order of rounding.
//!
//! Cost, with $m$ examples, $N$ features and $p$ weights at the optimum: $mN$ for each pricing of all features, some ten to thirty in all; $p(m + 8p)$ for a
//! step, of which there were two to forty for each weight below. CPU seconds on one thread, with a bias, to a gap of $10^{-13}$ or less; the others to their own tolerance:
//!
//! | $m\times N$ | | $\lambda$ | weights | this | HiGHS | Clarabel |
//! |---|---|---:|---:|---:|---:|---:|
//! | 92 × 476 | Musk1 | 0.05 | 60 | 0.004 | 0.064 | 0.26 |
//! | | | 1 | 25 | 0.0004 | 0.036 | 0.20 |
//! | 102 × 6598 | Musk2 | 0.05 | 30 | 0.008 | 1.0 | 25 |
//! | | | 0.2 | 29 | 0.005 | 0.85 | 18 |
//! | 200 × 50000 | normal deviates | 1 | 194 | 0.42 | 38 | |
//! | 500 × 2500 | similarities, noisy labels | 1 | 217 | 0.30 | 6.5 | stopped |
//! | 1000 × 5000 | normal deviates | 10 | 597 | 7.4 | 64 | |
//! | 2000 × 10000 | similarities, noisy labels | 5 | 142 | 0.64 | stopped | |
//! | | | 2 | 420 | 6.0 | | |
//!
//! Stopped: by a limit of two minutes by the clock, on a machine with other work. OSQP, asked for $10^{-6}$, ended unsolved at 20000 iterations on Musk1 (6 s)
//! and was stopped on Musk2. Empty: not measured.
//!
//! ```
//! use mil_qp::{OneNormSettings, OneNormSvm};
//! use nalgebra::DMatrix;
//!
//! // The first feature tells the classes apart, the second does not.
//! let features = DMatrix::from_row_slice(2, 4, &[1.0, 0.9, 0.0, 0.1, 0.5, 0.4, 0.4, 0.5]);
//! let problem = OneNormSvm::new(&features, vec![1.0, 1.0, -1.0, -1.0], vec![1.0; 4], 0.1)?;
//! let solution = problem.solve(&OneNormSettings::default())?.solved().expect("certified");
//! let (weights, bias) = problem.separator(&solution);
//! assert!((weights[0] - 2.5).abs() < 1e-12 && weights[1] == 0.0);
//! assert!((bias + 1.25).abs() < 1e-12);
//! assert!(solution.certify(&problem)?.holds(1e-12));
//! # Ok::<(), mil_qp::ProblemError>(())
//! ```

mod columns;
mod master;

use std::borrow::Cow;

use nalgebra::DMatrix;
use rayon::prelude::*;

use self::columns::Generated;
use crate::certificate::{dot, require_length};
use crate::error::{require, require_setting};
use crate::{Certificate, Outcome, Problem, ProblemError, Solution};

/// What is done about multipliers and prices that rounding leaves beyond their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mending {
    /// Multipliers are brought into their bounds, then scaled until no price passes $\lambda$: the dual objective is a bound without reserve.
    ToFeasible,
    /// Nothing: where penalties dwarf $\lambda$, mending would take more from the dual objective than the residuals amount to.
    None,
}

/// Where an answer is not proved, values of features that are less than these parts of their largest are taken for 0 in turn. Such values, as similarities of far instances are, can be told from 0 but not from
/// rounding once they have been pivots, and may keep the walk from coming to an end. The answer is judged with the true values.
const NEGLIGIBLE: [f64; 3] = [1e-10, 1e-8, 1e-6];

/// Features priced together by one thread.
const BLOCK: usize = 1024;

/// A 1-norm support vector machine over a matrix of features × examples, with a bias unless it is [taken away](Self::without_bias).
///
/// As a [`Problem`] its variables are $w^+$, $w^-$, $b$ (if there is one) and the slacks $\xi$; its rows are the margins
/// $y_i((w^+ - w^-)^\top z_i + b) + \xi_i \ge 1$, then $w^+\ge0$, $w^-\ge0$, $\xi\ge0$. The multiplier of margin $i$ is $-a_i$.
#[derive(Debug, Clone)]
pub struct OneNormSvm<'a> {
    features: &'a DMatrix<f64>,
    signs: Vec<f64>,
    penalties: Vec<f64>,
    lambda: f64,
    has_bias: bool,
    /// The largest size of each feature.
    scales: Vec<f64>,
}

/// When a solve ends.
#[derive(Debug, Clone, PartialEq)]
pub struct OneNormSettings {
    /// Bound on [`Certificate::worst`] of what counts as solved. Finite, above 0. The method aims at rounding whatever this is: a residual is told from 0
    /// at $10^{-12}$, so that penalties whose sum is $10^4$ times the objective may leave a gap beyond the default.
    pub tolerance: f64,
    /// Steps of the simplex method before it stops.
    pub max_steps: usize,
}

impl Default for OneNormSettings {
    fn default() -> OneNormSettings {
        OneNormSettings { tolerance: 1e-8, max_steps: 200_000 }
    }
}

/// Where to start: a guess of what the optimum rests on. The better the guess, the fewer the steps; the optimum is the same.
///
/// Features alone fit a problem with other examples (the next fold); with examples too it is a vertex, which fits the same data with other
/// penalties (the next $\lambda$).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OneNormStart {
    /// Features that may have a weight.
    pub features: Vec<usize>,
    /// Examples that may lie on the margin, $y_i(w^\top z_i + b) = 1$.
    pub examples: Vec<usize>,
}

impl<'a> OneNormSvm<'a> {
    /// The problem with a bias. An example is a column; signs are $\pm1$; penalties $C_i$ are finite and at least 0; $\lambda$ is finite and above 0.
    /// Cost $mN$.
    ///
    /// # Errors
    /// If there are no examples or no features, lengths differ, or a number is out of range. Feature values are counted example by example: value
    /// number $iN + k$ is that of feature $k$ in example $i$.
    pub fn new(
        features: &'a DMatrix<f64>,
        signs: Vec<f64>,
        penalties: Vec<f64>,
        lambda: f64,
    ) -> Result<OneNormSvm<'a>, ProblemError> {
        let (n, m) = features.shape();
        if m == 0 {
            return Err(ProblemError::Empty("examples"));
        }
        if n == 0 {
            return Err(ProblemError::Empty("features"));
        }
        require_length("the signs", m, signs.len())?;
        require_length("the penalties", m, penalties.len())?;
        require("feature value, counted example by example,", features.as_slice(), f64::is_finite, "a finite number")?;
        require("sign", &signs, |sign| sign.abs() == 1.0, "1 or -1")?;
        require("penalty", &penalties, |penalty| penalty.is_finite() && 0.0 <= penalty, "a finite number, at least 0")?;
        require_setting("lambda", lambda, lambda.is_finite() && 0.0 < lambda, "a finite number above 0")?;
        let mut scales = vec![0.0_f64; n];
        for example in features.as_slice().chunks_exact(n) {
            scales.iter_mut().zip(example).for_each(|(scale, value)| *scale = scale.max(value.abs()));
        }
        Ok(OneNormSvm { features, signs, penalties, lambda, has_bias: true, scales })
    }

    /// The same without a bias: $b = 0$.
    #[must_use]
    pub fn without_bias(self) -> OneNormSvm<'a> {
        OneNormSvm { has_bias: false, ..self }
    }

    /// Solves from $w = 0$.
    ///
    /// # Errors
    /// If the tolerance is out of range.
    pub fn solve(&self, settings: &OneNormSettings) -> Result<Outcome, ProblemError> {
        self.solve_from(&OneNormStart::default(), settings)
    }

    /// Solves from a start. Where the optimum is not unique (the bias often is not) another start may lead to another optimum.
    ///
    /// ```
    /// use mil_qp::{OneNormSettings, OneNormSvm};
    /// use nalgebra::DMatrix;
    ///
    /// let features = DMatrix::from_row_slice(2, 4, &[1.0, 0.9, 0.0, 0.1, 0.5, 0.4, 0.4, 0.5]);
    /// let problem = |lambda| OneNormSvm::new(&features, vec![1.0, 1.0, -1.0, -1.0], vec![1.0; 4], lambda);
    /// let settings = OneNormSettings::default();
    /// let first = problem(0.1)?.solve(&settings)?.solved().expect("certified");
    /// let start = problem(0.1)?.start_at(&first);
    /// let second = problem(0.2)?.solve_from(&start, &settings)?.solved().expect("certified");
    /// assert_eq!(second.n_steps, 0); // the same vertex is optimal
    /// # Ok::<(), mil_qp::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// If the tolerance is out of range, or the start names a feature or an example that is not there.
    pub fn solve_from(&self, start: &OneNormStart, settings: &OneNormSettings) -> Result<Outcome, ProblemError> {
        let tolerance = settings.tolerance;
        require_setting("tolerance", tolerance, tolerance.is_finite() && 0.0 < tolerance, "a finite number above 0")?;
        require_below("feature of the start", &start.features, self.n_features(), "a feature of the problem")?;
        require_below("example of the start", &start.examples, self.signs.len(), "an example of the problem")?;
        let mut solution = self.attempt(start, settings, 0.0);
        for negligible in NEGLIGIBLE {
            if solution.certificate.holds(tolerance) || !self.has_values_below(negligible) {
                break;
            }
            let another = self.attempt(start, settings, negligible);
            if another.certificate.worst() < solution.certificate.worst() {
                solution = another;
            }
        }
        Ok(Outcome::judged(solution, tolerance))
    }

    /// One run of column generation, judged as an answer to the true problem.
    fn attempt(&self, start: &OneNormStart, settings: &OneNormSettings, negligible: f64) -> Solution {
        let generated = columns::generate(self, start, settings.max_steps, negligible);
        let mut solution = self.solution(&generated, Mending::ToFeasible);
        if generated.is_complete && !solution.certificate.holds(settings.tolerance) {
            let unmended = self.solution(&generated, Mending::None);
            if unmended.certificate.worst() < solution.certificate.worst() {
                solution = unmended;
            }
        }
        if !solution.primal.iter().chain(&solution.dual).all(|value| value.is_finite()) {
            // Numbers have left the range of f64: what remains true is the bound 0.
            let nothing = Generated { weights: Vec::new(), bias: 0.0, duals: vec![0.0; self.signs.len()], ..generated };
            solution = self.solution(&nothing, Mending::None);
        }
        solution
    }

    /// Whether some value of a feature is not 0 and less than this part of its largest.
    fn has_values_below(&self, part: f64) -> bool {
        let n = self.n_features();
        let is_small = |(value, scale): (&f64, &f64)| *value != 0.0 && value.abs() < part * scale;
        self.features.as_slice().chunks_exact(n).any(|example| example.iter().zip(&self.scales).any(is_small))
    }

    /// Completes weights and multipliers to a pair: slacks take what the margins lack, bounds the multipliers that make the rest
    /// stationary, as far as these have the right sign.
    fn solution(&self, generated: &Generated, mending: Mending) -> Solution {
        let (n, m) = self.features.shape();
        let first_slack = self.n_variables() - m;
        let mut primal = vec![0.0; self.n_variables()];
        for &(k, weight) in &generated.weights {
            primal[if weight > 0.0 { k } else { n + k }] = weight.abs();
        }
        if self.has_bias {
            primal[2 * n] = generated.bias;
        }
        let margins = self.rows_product(&primal);
        primal[first_slack..].iter_mut().zip(margins).for_each(|(slack, margin)| *slack = (1.0 - margin).max(0.0));

        let mut duals = generated.duals.clone();
        if mending == Mending::ToFeasible {
            duals.iter_mut().zip(&self.penalties).for_each(|(dual, &penalty)| *dual = dual.max(0.0).min(penalty));
        }
        let mut prices = self.prices(&duals);
        let largest = prices.iter().fold(0.0_f64, |largest, price| largest.max(price.abs()));
        if mending == Mending::ToFeasible && largest > self.lambda {
            let factor = self.lambda / largest;
            duals.iter_mut().chain(&mut prices).for_each(|value| *value *= factor);
        }
        let mut dual: Vec<f64> = duals.iter().map(|dual| -dual).collect();
        dual.extend(prices.iter().map(|price| (price - self.lambda).min(0.0)));
        dual.extend(prices.iter().map(|price| (-price - self.lambda).min(0.0)));
        dual.extend(duals.iter().zip(&self.penalties).map(|(dual, penalty)| (dual - penalty).min(0.0)));
        let certificate = Certificate::of(self, &primal, &dual, &vec![0.0; primal.len()]);
        Solution { primal, dual, certificate, n_steps: generated.n_steps }
    }

    /// The weights $w$ and the bias $b$ (0 if there is none) of a solution of this problem. The bias need not be unique: it is that of the vertex found.
    ///
    /// # Panics
    /// If the solution is of a problem of another size.
    #[must_use]
    pub fn separator(&self, solution: &Solution) -> (Vec<f64>, f64) {
        let n = self.n_features();
        let weights = solution.primal[..n].iter().zip(&solution.primal[n..2 * n]).map(|(plus, minus)| plus - minus);
        (weights.collect(), if self.has_bias { solution.primal[2 * n] } else { 0.0 })
    }

    /// What a solution of this problem rests on: features with a weight, and examples whose multiplier is strictly within its bounds.
    ///
    /// # Panics
    /// If the solution is of a problem of another size.
    #[must_use]
    pub fn start_at(&self, solution: &Solution) -> OneNormStart {
        let n = self.n_features();
        OneNormStart {
            features: (0..n).filter(|&k| solution.primal[k] != solution.primal[n + k]).collect(),
            examples: (0..self.signs.len())
                .filter(|&i| 0.0 < -solution.dual[i] && -solution.dual[i] < self.penalties[i])
                .collect(),
        }
    }

    fn n_features(&self) -> usize {
        self.features.nrows()
    }

    /// $\sum_i a_iy_iz_i$, the prices of all features. Each is summed in the order of examples, whatever the number of threads.
    fn prices(&self, duals: &[f64]) -> Vec<f64> {
        let n = self.n_features();
        let examples: Vec<(f64, &[f64])> = self
            .features
            .as_slice()
            .chunks_exact(n)
            .zip(duals.iter().zip(&self.signs))
            .filter(|&(_, (&dual, _))| dual != 0.0)
            .map(|(example, (dual, sign))| (dual * sign, example))
            .collect();
        let mut prices = vec![0.0; n];
        prices.par_chunks_mut(BLOCK).enumerate().for_each(|(block, prices)| {
            for &(factor, example) in &examples {
                let values = &example[block * BLOCK..][..prices.len()];
                prices.iter_mut().zip(values).for_each(|(price, value)| *price += factor * value);
            }
        });
        prices
    }
}

impl Problem for OneNormSvm<'_> {
    fn n_variables(&self) -> usize {
        2 * self.n_features() + usize::from(self.has_bias) + self.signs.len()
    }

    fn n_rows(&self) -> usize {
        2 * (self.n_features() + self.signs.len())
    }

    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
        Ok(vec![0.0; x.len()])
    }

    fn linear_term(&self) -> Cow<'_, [f64]> {
        let mut linear = vec![self.lambda; 2 * self.n_features()];
        if self.has_bias {
            linear.push(0.0);
        }
        linear.extend(&self.penalties);
        Cow::Owned(linear)
    }

    fn rows_product(&self, x: &[f64]) -> Vec<f64> {
        let (n, m) = self.features.shape();
        let (plus, minus) = (&x[..n], &x[n..2 * n]);
        let bias = if self.has_bias { x[2 * n] } else { 0.0 };
        let slacks = &x[x.len() - m..];
        let support: Vec<(usize, f64)> =
            (0..n).map(|k| (k, plus[k] - minus[k])).filter(|&(_, weight)| weight != 0.0).collect();
        let mut rows: Vec<f64> = (0..m)
            .map(|i| {
                let score: f64 = support.iter().map(|&(k, weight)| weight * self.features[(k, i)]).sum();
                self.signs[i] * (score + bias) + slacks[i]
            })
            .collect();
        rows.extend(&x[..2 * n]);
        rows.extend(slacks);
        rows
    }

    fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
        let (n, m) = self.features.shape();
        let (margins, bounds) = y.split_at(m);
        let prices = self.prices(margins);
        let mut adjoint: Vec<f64> = prices.iter().zip(bounds).map(|(price, bound)| price + bound).collect();
        adjoint.extend(prices.iter().zip(&bounds[n..]).map(|(price, bound)| bound - price));
        if self.has_bias {
            adjoint.push(dot(margins, &self.signs));
        }
        adjoint.extend(margins.iter().zip(&bounds[2 * n..]).map(|(margin, bound)| margin + bound));
        adjoint
    }

    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        let m = self.signs.len();
        let mut lower = vec![1.0; m];
        lower.resize(self.n_rows(), 0.0);
        (Cow::Owned(lower), Cow::Owned(vec![f64::INFINITY; self.n_rows()]))
    }
}

/// Checks that all positions are within a range.
fn require_below(
    what: &'static str,
    positions: &[usize],
    end: usize,
    expected: &'static str,
) -> Result<(), ProblemError> {
    match positions.iter().position(|&position| position >= end) {
        None => Ok(()),
        Some(idx) => Err(ProblemError::Value { what, idx, value: positions[idx] as f64, expected }),
    }
}
