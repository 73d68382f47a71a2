//! Probabilities of bags from scores.
//!
//! Platt, *Probabilistic Outputs for Support Vector Machines and Comparisons to Regularized Likelihood Methods*, Advances in Large Margin
//! Classifiers, 1999. A sigmoid turns the score $s$ of a bag into the probability that the bag is positive,
//!
//! $$ P(s) = \frac{1}{1 + e^{-(a (s - c) + b)}}, \qquad a \ge 0, $$
//!
//! Platt's $A = -a$ and $B = ac - b$. [`Probabilistic`] fits it to scores of training bags that their model has not been fitted on
//! ([`ScoreSource`]), for scores of bags that the model has seen are too good, and so would be the probabilities. With $N_+$ positive and $N_-$
//! negative bags, $a$ and $b$ maximise the likelihood of targets that keep a doubt of $1/(N + 2)$,
//!
//! $$ \sum_i t_i \ln P(s_i) + (1 - t_i) \ln (1 - P(s_i)), \qquad t_+ = \frac{N_+ + 1}{N_+ + 2}, \quad t_- = \frac{1}{N_- + 2}, $$
//!
//! so that a finite sigmoid exists even where the scores separate the classes. Cost: what the source costs, and a few passes over the scores.
//!
//! Choice: $a \ge 0$ is part of the problem, so that probabilities never contradict the ranking. Where the scores of the positive bags are on
//! average no higher than those of the negative ones, $a = 0$ and every bag has the same probability, the prior.
//!
//! Choice: scores stay those of the inner model, and their sign decides; it need not agree with $P(s) \ge \tfrac12$. Who wants another
//! threshold learns it with [`Calibrated`](crate::Calibrated).
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, NearestCentroid, OutOfFold, Probabilistic};
//! let mut builder = BagSet::builder();
//! for i in 0..8 {
//!     let x = f64::from(i);
//!     builder.bag(format!("p{i}"), Label::Positive, [[x + 5.0], [x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[x], [x + 1.0]])?;
//! }
//! let bags = builder.build()?;
//! let learner = Probabilistic { learner: NearestCentroid::default(), source: OutOfFold { n_folds: 4, seed: 0 } };
//! let model = learner.fit(&bags)?;
//! let (sure, unsure) = (model.probability(bags.bag(14))?, model.probability(bags.bag(0))?);
//! assert!(0.0 < unsure && unsure < 0.5 && 0.5 < sure && sure < 1.0); // the first bag looks like a negative one
//! assert_eq!(model.score(bags.bag(0))?, model.inner().score(bags.bag(0))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::bag::{Bag, BagSet};
use crate::calibrate::{OutOfFold, ScoreSource};
use crate::error::{FitError, ScoreError};
use crate::label::Label;
use crate::learner::{BagModel, Learner};
use crate::model_file::SavedModel;

/// Share of the sum of residuals, taken without their signs, that may be left of it with them when the fit ends. Rounding alone leaves less.
const TOLERANCE: f64 = 1e-13;
/// Newton steps before we stop where we are; quadratic convergence takes a dozen.
const MAX_STEPS: usize = 100;
/// Part of the decrease which the gradient promises that a step must keep.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// Relative rise of the loss that may be rounding.
const ROUNDING: f64 = 1e-12;
/// Halvings of a step before we hold that none lowers the loss.
const MAX_HALVINGS: usize = 60;

/// A learner whose model tells probabilities, fitted inside the training bags.
#[derive(Debug, Clone, PartialEq)]
pub struct Probabilistic<L, S = OutOfFold> {
    /// Who learns.
    pub learner: L,
    /// Where unbiased scores of the training bags come from.
    pub source: S,
}

impl<L, S> Learner for Probabilistic<L, S>
where
    L: Learner,
    S: ScoreSource<L>,
{
    type Model = ProbabilisticModel<L::Model>;

    fn fit(&self, bags: &BagSet<Label>) -> Result<Self::Model, FitError> {
        bags.require_both_classes()?;
        let (model, scores) = self.source.fit_and_score(&self.learner, bags)?;
        if let Some(&value) = scores.iter().find(|score| !score.is_finite()) {
            return Err(FitError::Overflow { quantity: "the score of a training bag", value });
        }
        Ok(ProbabilisticModel { sigmoid: platt(&scores, bags.labels()), model })
    }
}

/// A non-decreasing map from scores to probabilities, $P(s) = 1 / (1 + e^{-(a (s - c) + b)})$.
///
/// The centre $c$, the median of the scores, is only there for precision: without it, scores that are large and close to each other would
/// cancel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sigmoid {
    slope: f64,
    centre: f64,
    offset: f64,
}

impl Sigmoid {
    /// Change of the log-odds by one unit of score, $a$. Never negative; 0 where the scores tell nothing.
    #[must_use]
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// The score $c$ at which the log-odds are the offset.
    #[must_use]
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// The log-odds $b$ at the centre.
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// Probability that a bag of this finite score is positive. Far from the training scores it rounds to 0 or 1.
    #[must_use]
    pub fn probability(&self, score: f64) -> f64 {
        logistic(2.0 * (self.slope * half_distance(score, self.centre)) + self.offset)
    }

    fn check(&self) -> Result<(), &'static str> {
        let finite = [self.slope, self.centre, self.offset].iter().all(|value| value.is_finite());
        if finite && self.slope >= 0.0 { Ok(()) } else { Err("the sigmoid is not finite or falls") }
    }
}

/// The sigmoid of greatest likelihood among those that do not fall (Platt 1999), by Newton's method with backtracking.
///
/// The optimum is unique: the problem is convex. All-equal scores, or labels, give the prior, which is the mean of the targets.
///
/// # Panics
/// If there is no score, the scores are not one per label, or one is not finite.
///
/// ```
/// use mil_core::{Label::{Negative, Positive}, platt};
/// let sigmoid = platt(&[-1.0, 1.0], &[Negative, Positive]);
/// assert!((sigmoid.probability(1.0) - 2.0 / 3.0).abs() < 1e-12); // the target of a lone positive bag
/// ```
#[must_use]
pub fn platt(scores: &[f64], labels: &[Label]) -> Sigmoid {
    assert_eq!(scores.len(), labels.len(), "one score per label");
    assert!(!scores.is_empty(), "a sigmoid of no scores");
    assert!(scores.iter().all(|score| score.is_finite()), "a sigmoid of scores that are not finite");

    // Scores move to [-1, 1], so that no magnitude over- or underflows on the way.
    let centre = median(scores);
    let half_width = scores.iter().map(|score| half_distance(*score, centre).abs()).fold(0.0, f64::max);
    let prior = prior_log_odds(labels);
    let flat = Sigmoid { slope: 0.0, centre, offset: prior };
    if half_width == 0.0 {
        return flat;
    }
    let scaled: Vec<f64> = scores.iter().map(|score| half_distance(*score, centre) / half_width).collect();
    let (scaled_slope, offset) = maximum_likelihood(&Likelihood::new(&scaled, labels), prior);
    // The problem is convex: if the best slope of all falls, the best of those that do not is 0, and the prior its best offset.
    // Choice: scores so close that their slope overflows count as equal.
    let slope = scaled_slope / half_width / 2.0;
    if slope > 0.0 && slope.is_finite() { Sigmoid { slope, centre, offset } } else { flat }
}

/// The upper one of two middle scores.
fn median(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Half of what a score lies above the centre; the whole of it may overflow.
fn half_distance(score: f64, centre: f64) -> f64 {
    score / 2.0 - centre / 2.0
}

/// The share $1/(N + 2)$ of its target that a bag of this label leaves to the other label.
fn doubt(labels: &[Label], label: Label) -> f64 {
    1.0 / (count(labels, label) + 2.0)
}

fn count(labels: &[Label], label: Label) -> f64 {
    labels.iter().filter(|other| **other == label).count() as f64
}

/// $\ln(\bar t / (1 - \bar t))$ for the mean target $\bar t$: the best offset at slope 0.
fn prior_log_odds(labels: &[Label]) -> f64 {
    let (n_positive, n_negative) = (count(labels, Label::Positive), count(labels, Label::Negative));
    let to_negative = n_positive * doubt(labels, Label::Positive);
    let to_positive = n_negative * doubt(labels, Label::Negative);
    ((n_positive - to_negative + to_positive) / (n_negative - to_positive + to_negative)).ln()
}

/// Minimises the loss over slope and offset, from slope 0 and the prior.
fn maximum_likelihood(likelihood: &Likelihood, prior: f64) -> (f64, f64) {
    let mut line = Line { slope: 0.0, offset: prior };
    for _ in 0..MAX_STEPS {
        let Some(step) = likelihood.newton_step(line) else { break };
        let Some(next) = backtrack(likelihood, line, &step) else { break };
        line = next;
    }
    (line.slope, line.offset)
}

/// The longest of the step, its half, its quarter, ... that lowers the loss enough; `None` if none does.
fn backtrack(likelihood: &Likelihood, line: Line, step: &NewtonStep) -> Option<Line> {
    let loss = likelihood.loss(line);
    let mut share = 1.0;
    for _ in 0..MAX_HALVINGS {
        let next = Line { slope: line.slope + share * step.slope, offset: line.offset + share * step.offset };
        if likelihood.loss(next) <= loss * (1.0 + ROUNDING) - SUFFICIENT_DECREASE * share * step.decrease {
            return Some(next);
        }
        share /= 2.0;
    }
    None
}

/// Log-odds $u = a z + b$ as a line over the scaled scores $z$.
#[derive(Clone, Copy)]
struct Line {
    slope: f64,
    offset: f64,
}

impl Line {
    fn log_odds(self, scaled: f64) -> f64 {
        self.slope * scaled + self.offset
    }
}

/// A direction towards smaller loss.
struct NewtonStep {
    slope: f64,
    offset: f64,
    /// How fast the loss falls at first, along the whole step.
    decrease: f64,
}

/// A scaled score, the sign of its label, and the doubt in it.
struct Scored {
    scaled: f64,
    sign: f64,
    doubt: f64,
}

/// What the sigmoid is fitted to, and how well it fits.
struct Likelihood(Vec<Scored>);

impl Likelihood {
    fn new(scaled: &[f64], labels: &[Label]) -> Self {
        let (positive, negative) = (doubt(labels, Label::Positive), doubt(labels, Label::Negative));
        let scored = |(scaled, label): (&f64, &Label)| Scored {
            scaled: *scaled,
            sign: label.sign(),
            doubt: match label {
                Label::Positive => positive,
                Label::Negative => negative,
            },
        };
        Likelihood(scaled.iter().zip(labels).map(scored).collect())
    }

    /// The negative log-likelihood, with $y$ the sign, $\delta$ the doubt and $u$ the log-odds
    ///
    /// $$ \sum_i (1 - \delta_i) \ln(1 + e^{-y_i u_i}) + \delta_i \ln(1 + e^{y_i u_i}). $$
    ///
    /// No exponential overflows, no term is below 0 and nothing cancels: the form that Lin, Lin & Weng, *A Note on Platt's Probabilistic Outputs
    /// for Support Vector Machines*, Machine Learning 2007, ask for.
    fn loss(&self, line: Line) -> f64 {
        let term = |scored: &Scored| {
            let margin = scored.sign * line.log_odds(scored.scaled);
            (1.0 - scored.doubt) * softplus(-margin) + scored.doubt * softplus(margin)
        };
        self.0.iter().map(term).sum()
    }

    /// The Newton step; `None` where the gradient is 0 up to rounding.
    ///
    /// With residuals $r_i = P_i - t_i$, weights $w_i = P_i (1 - P_i)$ and $\bar z$ the weighted mean of the scaled scores, the step is
    ///
    /// $$ \Delta a = -\frac{\sum_i r_i (z_i - \bar z)}{\sum_i w_i (z_i - \bar z)^2}, \qquad \Delta b = -\frac{\sum_i r_i}{\sum_i w_i} - \bar z\, \Delta a: $$
    ///
    /// around $\bar z$ the Hessian is diagonal, and no determinant cancels.
    fn newton_step(&self, line: Line) -> Option<NewtonStep> {
        let (mut total_weight, mut weighted_sum) = (0.0, 0.0);
        for scored in &self.0 {
            let weight = weight(line.log_odds(scored.scaled));
            total_weight += weight;
            weighted_sum += weight * scored.scaled;
        }
        let mean = weighted_sum / total_weight;

        let (mut residuals, mut moment, mut curvature, mut magnitude) = (0.0, 0.0, 0.0, 0.0);
        for scored in &self.0 {
            let log_odds = line.log_odds(scored.scaled);
            let distance = scored.scaled - mean;
            // P - t, as the difference of two small numbers where both are close to 1.
            let missed = logistic(-scored.sign * log_odds);
            let residual = scored.sign * (scored.doubt - missed);
            residuals += residual;
            moment += residual * distance;
            curvature += weight(log_odds) * distance * distance;
            magnitude += scored.doubt + missed;
        }
        if residuals.abs().max(moment.abs()) <= TOLERANCE * magnitude {
            return None;
        }
        let slope = -moment / curvature;
        let offset = -residuals / total_weight - mean * slope;
        let decrease = moment * moment / curvature + residuals * residuals / total_weight;
        Some(NewtonStep { slope, offset, decrease })
    }
}

/// $P (1 - P)$.
fn weight(log_odds: f64) -> f64 {
    logistic(log_odds) * logistic(-log_odds)
}

/// $1 / (1 + e^{-u})$. An exponential that overflows gives 0, as it should.
fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// $\ln(1 + e^u)$.
fn softplus(value: f64) -> f64 {
    value.max(0.0) + (-value.abs()).exp().ln_1p()
}

/// A model with the sigmoid that turns its scores into probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbabilisticModel<M> {
    sigmoid: Sigmoid,
    model: M,
}

impl<M> ProbabilisticModel<M> {
    /// From scores of the inner model to probabilities.
    #[must_use]
    pub fn sigmoid(&self) -> Sigmoid {
        self.sigmoid
    }

    /// The model that scores.
    #[must_use]
    pub fn inner(&self) -> &M {
        &self.model
    }
}

impl<M: BagModel> ProbabilisticModel<M> {
    /// Probability that the bag is positive. Never falls as the score grows.
    ///
    /// # Errors
    /// As for [`BagModel::score`].
    pub fn probability(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        self.model.score(bag).map(|score| self.sigmoid.probability(score))
    }
}

impl<M: BagModel> BagModel for ProbabilisticModel<M> {
    fn n_features(&self) -> usize {
        self.model.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        self.model.score(bag)
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        self.model.instance_scores(bag)
    }
}

impl<M: SavedModel> SavedModel for ProbabilisticModel<M> {
    fn kind() -> String {
        format!("probabilistic {}", M::kind())
    }

    fn check(&self) -> Result<(), &'static str> {
        self.sigmoid.check()?;
        self.model.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Label::{Negative, Positive};
    use proptest::prelude::*;

    /// What may be left of the mean gradient; rounding leaves a tenth of it.
    const VANISHED: f64 = 1e-12;

    /// Derivatives of the mean loss by offset and by slope, in units of the largest distance from the centre, from Platt's formula as it is printed.
    fn gradient(sigmoid: Sigmoid, scores: &[f64], labels: &[Label]) -> (f64, f64) {
        let n_positive = labels.iter().filter(|label| **label == Positive).count() as f64;
        let n_negative = labels.len() as f64 - n_positive;
        let most = scores.iter().map(|score| (score / 2.0 - sigmoid.centre() / 2.0).abs()).fold(0.0, f64::max);
        let (mut by_offset, mut by_slope) = (0.0, 0.0);
        for (score, label) in scores.iter().zip(labels) {
            let target = match label {
                Positive => (n_positive + 1.0) / (n_positive + 2.0),
                Negative => 1.0 / (n_negative + 2.0),
            };
            let residual = (sigmoid.probability(*score) - target) / labels.len() as f64;
            by_offset += residual;
            by_slope += residual * if most > 0.0 { (score / 2.0 - sigmoid.centre() / 2.0) / most } else { 0.0 };
        }
        (by_offset, by_slope)
    }

    /// The conditions of the optimum under a slope of at least 0; the problem is convex, so they suffice.
    fn is_optimal(sigmoid: Sigmoid, scores: &[f64], labels: &[Label]) -> Result<(), TestCaseError> {
        prop_assert_eq!(sigmoid.check(), Ok(()));
        let (by_offset, by_slope) = gradient(sigmoid, scores, labels);
        prop_assert!(by_offset.abs() < VANISHED, "{sigmoid:?}: {by_offset:e} by offset");
        let by_slope = if sigmoid.slope() > 0.0 { by_slope.abs() } else { -by_slope };
        prop_assert!(by_slope < VANISHED, "{sigmoid:?}: {by_slope:e} by slope");
        Ok(())
    }

    fn prior(n_positive: f64, n_negative: f64) -> f64 {
        let targets = n_positive * (n_positive + 1.0) / (n_positive + 2.0) + n_negative / (n_negative + 2.0);
        targets / (n_positive + n_negative)
    }

    fn label(positive: bool) -> Label {
        if positive { Positive } else { Negative }
    }

    /// Ties galore, continuous scores, scores that separate the classes, and magnitudes that differ within one sample.
    fn samples() -> impl Strategy<Value = Vec<(f64, Label)>> {
        let tied = (-3i8..=3, any::<bool>()).prop_map(|(score, positive)| (f64::from(score), label(positive)));
        let continuous = (-1.0..1.0, any::<bool>()).prop_map(|(score, positive)| (score, label(positive)));
        let separable = (-1.0..1.0).prop_map(|score: f64| (score, label(score > 0.3)));
        let wild = (-8.0..8.0, any::<bool>(), any::<bool>()).prop_map(|(exponent, negate, positive)| {
            (10f64.powf(exponent) * if negate { -1.0 } else { 1.0 }, label(positive))
        });
        prop_oneof![
            prop::collection::vec(tied, 1..40),
            prop::collection::vec(continuous, 1..40),
            prop::collection::vec(separable, 1..200),
            prop::collection::vec(wild, 1..40),
        ]
    }

    #[test]
    fn two_scores_meet_their_targets_exactly() {
        // Three positive bags at 1, seven negative ones at -1: log-odds of ln 4 and -ln 8.
        let scores = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0];
        let labels = scores.map(|score| label(score > 0.0));
        let sigmoid = platt(&scores, &labels);
        assert!((sigmoid.slope() - 32f64.ln() / 2.0).abs() < 1e-12, "{sigmoid:?}");
        assert!((sigmoid.offset() + 8f64.ln()).abs() < 1e-12, "{sigmoid:?}");
        assert_eq!(sigmoid.centre(), -1.0);
    }

    #[test]
    fn a_known_sigmoid_is_found_again() {
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for score in -4..=4 {
            let score = f64::from(score) / 2.0;
            let n_positive = (1000.0 / (1.0 + (0.5 - 1.5 * score).exp())).round() as usize;
            scores.extend([score; 1000]);
            labels.extend((0..1000).map(|bag_idx| label(bag_idx < n_positive)));
        }
        let sigmoid = platt(&scores, &labels);
        assert!((sigmoid.slope() - 1.5).abs() < 0.01 && (sigmoid.offset() + 0.5).abs() < 0.01, "{sigmoid:?}");
    }

    #[test]
    fn equal_scores_give_the_prior() {
        let sigmoid = platt(&[7.0; 4], &[Positive, Positive, Negative, Positive]);
        assert_eq!(sigmoid.slope(), 0.0);
        for score in [7.0, -1e9, 1e308, f64::MIN] {
            assert!((sigmoid.probability(score) - prior(3.0, 1.0)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_distance_that_overflows_tells_nothing_at_slope_zero() {
        let sigmoid = platt(&[f64::MAX; 2], &[Positive, Negative]);
        assert_eq!(sigmoid.probability(f64::MIN), 0.5);
    }

    #[test]
    fn one_class_gives_its_target() {
        let sigmoid = platt(&[1.0, 2.0, 4.0], &[Positive; 3]);
        assert_eq!(sigmoid.slope(), 0.0);
        assert!((sigmoid.probability(3.0) - 0.8).abs() < 1e-15);
    }

    #[test]
    fn a_ranking_upside_down_gives_the_prior() {
        let sigmoid = platt(&[-1.0, -2.0, 1.0, 2.0, 3.0], &[Positive, Positive, Negative, Negative, Negative]);
        assert_eq!(sigmoid.slope(), 0.0);
        assert!((sigmoid.probability(100.0) - prior(2.0, 3.0)).abs() < 1e-15);
    }

    #[test]
    fn extreme_imbalance_is_fitted() {
        let scores: Vec<f64> = (0..3000).map(|bag_idx| f64::from(bag_idx * 7919 % 3001) / 3000.0).collect();
        for lone in [0, 17, 1500] {
            for minority in [Positive, Negative] {
                let labels: Vec<Label> = (0..3000).map(|idx| label((idx == lone) == (minority == Positive))).collect();
                is_optimal(platt(&scores, &labels), &scores, &labels).unwrap();
            }
        }
    }

    #[test]
    fn an_outlier_among_many_is_fitted() {
        // The outlier alone decides the scale, and all others share one score up to 1e-8.
        let mut scores: Vec<f64> = (0..3000).map(|idx| if idx % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let labels: Vec<Label> = scores.iter().map(|score| label(*score > 0.0)).collect();
        for outlier in [1e8, -1e8, 1e4, 1e6] {
            scores[0] = outlier;
            is_optimal(platt(&scores, &labels), &scores, &labels).unwrap();
        }
    }

    #[test]
    fn full_steps_that_overshoot_are_cut_back() {
        // The first full step takes the nineteen scores beyond all doubt, where the curvature is lost.
        let scores: Vec<f64> = (0..20).map(|bag_idx| if bag_idx == 0 { -1e4 } else { f64::from(bag_idx) }).collect();
        let labels: Vec<Label> = (0..20).map(|bag_idx| label(bag_idx > 0)).collect();
        let sigmoid = platt(&scores, &labels);
        assert!(sigmoid.slope() > 0.0);
        is_optimal(sigmoid, &scores, &labels).unwrap();
    }

    #[test]
    fn the_ends_of_the_number_line_are_fitted() {
        let labels = [Negative, Positive, Negative, Positive];
        let next = 1f64.next_up();
        for scores in [
            [f64::MIN, f64::MAX, 0.0, 1.0],
            [f64::MIN, f64::MAX, f64::MAX, f64::MAX],
            [-1e300, 1e300, 1e299, 1e299],
            [-1e-300, 1e-300, 1e-301, 1e-301],
            [1.0, next, next, next.next_up()],
            [1e15, 1e15 + 1.0, 1e15 + 0.5, 1e15 + 0.25],
        ] {
            let sigmoid = platt(&scores, &labels);
            assert!(sigmoid.slope() > 0.0, "{scores:?}");
            is_optimal(sigmoid, &scores, &labels).unwrap();
        }
        // One over the smallest numbers is beyond the largest.
        for tiny in [f64::from_bits(1), 1e-310] {
            let sigmoid = platt(&[-tiny, tiny, -tiny, tiny], &labels);
            assert_eq!((sigmoid.slope(), sigmoid.probability(tiny)), (0.0, 0.5));
        }
    }

    #[test]
    fn a_sigmoid_that_falls_or_is_not_finite_is_unsound() {
        let sound = Sigmoid { slope: 1.0, centre: 0.0, offset: 0.0 };
        assert_eq!(sound.check(), Ok(()));
        for unsound in [
            Sigmoid { slope: -1.0, ..sound },
            Sigmoid { slope: f64::INFINITY, ..sound },
            Sigmoid { centre: f64::NAN, ..sound },
            Sigmoid { offset: f64::NEG_INFINITY, ..sound },
        ] {
            assert!(unsound.check().is_err(), "{unsound:?}");
        }
    }

    proptest! {
        #[test]
        fn the_gradient_of_the_likelihood_vanishes(sample in samples(), exponent in -8i32..=8) {
            let (scores, labels): (Vec<f64>, Vec<Label>) =
                sample.into_iter().map(|(score, label)| (score * 10f64.powi(exponent), label)).unzip();
            is_optimal(platt(&scores, &labels), &scores, &labels)?;
        }

        #[test]
        fn the_slope_is_above_zero_iff_the_positive_mean_is_higher(
            pairs in prop::collection::vec((-9i8..=9, any::<bool>()), 1..30),
        ) {
            let scores: Vec<f64> = pairs.iter().map(|(score, _)| f64::from(*score)).collect();
            let labels: Vec<Label> = pairs.iter().map(|(_, positive)| label(*positive)).collect();
            let sum = |wanted| pairs.iter().filter(|pair| pair.1 == wanted).map(|pair| i64::from(pair.0)).sum::<i64>();
            let count = |wanted| pairs.iter().filter(|pair| pair.1 == wanted).count() as i64;
            let difference = sum(true) * count(false) - sum(false) * count(true);
            let slope = platt(&scores, &labels).slope();
            match difference.signum() {
                1 => prop_assert!(slope > 0.0),
                // Equal means are equal only up to rounding.
                0 => prop_assert!(slope < 1e-9),
                _ => prop_assert_eq!(slope, 0.0),
            }
        }

        #[test]
        fn a_power_of_two_changes_no_probability(sample in samples(), exponent in -60i32..=60) {
            let (scores, labels): (Vec<f64>, Vec<Label>) = sample.into_iter().unzip();
            let factor = 2f64.powi(exponent);
            let multiples: Vec<f64> = scores.iter().map(|score| score * factor).collect();
            let (sigmoid, other) = (platt(&scores, &labels), platt(&multiples, &labels));
            for (score, multiple) in scores.iter().zip(&multiples) {
                prop_assert_eq!(sigmoid.probability(*score).to_bits(), other.probability(*multiple).to_bits());
            }
        }

        #[test]
        fn probabilities_never_contradict_the_ranking(sample in samples(), others in prop::collection::vec(any::<f64>(), 0..20)) {
            let (scores, labels): (Vec<f64>, Vec<Label>) = sample.into_iter().unzip();
            let sigmoid = platt(&scores, &labels);
            let mut all: Vec<f64> = scores.into_iter().chain(others).filter(|score| !score.is_nan()).collect();
            all.sort_by(f64::total_cmp);
            let probabilities: Vec<f64> = all.iter().map(|score| sigmoid.probability(*score)).collect();
            prop_assert!(probabilities.is_sorted());
            prop_assert!(probabilities.iter().all(|value| (0.0..=1.0).contains(value)));
        }
    }
}
