//! The bag rule: how the scores of instances become the score of their bag.

use serde::{Deserialize, Serialize};

use crate::learner::argmax;
use crate::params::{ParamError, ParamField, ParamRange};

/// A way to pool the scores of a bag's instances. The order of the instances does not matter beyond rounding.
///
/// ```
/// use mil_core::BagRule;
/// let scores = [-1.0, 3.0, 1.0];
/// assert_eq!(BagRule::Max.pool(&scores), 3.0);
/// assert_eq!(BagRule::Mean.pool(&scores), 1.0);
/// assert_eq!(BagRule::TopMean { k: 2 }.pool(&scores), 2.0);
/// assert!((BagRule::NoisyOr.pool_probabilities(&[0.5, 0.5]) - 0.75).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum BagRule {
    /// The largest score: the standard assumption of multiple-instance learning.
    #[default]
    Max,
    /// The mean of all scores.
    Mean,
    /// The mean of the `k` largest scores, of all where the bag has fewer.
    TopMean {
        /// How many scores count. At least 1.
        k: usize,
    },
    /// The probability that at least one instance is positive if instances are independent, $1 - \prod_j (1 - p_j)$
    /// (Maron & Lozano-Pérez, NIPS 1998).
    NoisyOr,
    /// $\frac1r \ln\bigl(\frac1n \sum_j e^{r s_j}\bigr)$, which tends to the mean for $r \to 0$ and to the maximum for $r \to \infty$.
    SoftMax {
        /// The sharpness $r$. Finite, above 0.
        sharpness: f64,
    },
}

impl BagRule {
    /// Pools real-valued scores. [`NoisyOr`](Self::NoisyOr) takes them as log-odds and answers in log-odds.
    ///
    /// # Panics
    /// If there is no score.
    #[must_use]
    pub fn pool(&self, scores: &[f64]) -> f64 {
        match *self {
            BagRule::NoisyOr => noisy_or_log_odds(scores),
            _ => self.pool_values(scores),
        }
    }

    /// Pools probabilities into a probability.
    ///
    /// # Panics
    /// If there is no probability.
    #[must_use]
    pub fn pool_probabilities(&self, probabilities: &[f64]) -> f64 {
        match *self {
            BagRule::NoisyOr => {
                assert!(!probabilities.is_empty(), "a bag has an instance");
                // Rounding may have raised a probability above 1, of which there is no logarithm.
                -probabilities.iter().map(|p| (-p.min(1.0)).ln_1p()).sum::<f64>().exp_m1()
            }
            _ => self.pool_values(probabilities),
        }
    }

    fn pool_values(&self, values: &[f64]) -> f64 {
        let max = values[argmax(values)];
        match *self {
            BagRule::Max => max,
            BagRule::Mean => mean(values),
            BagRule::TopMean { k } => {
                let mut sorted = values.to_vec();
                sorted.sort_by(|a, b| b.total_cmp(a));
                mean(&sorted[..k.clamp(1, sorted.len())])
            }
            BagRule::SoftMax { sharpness } => max + mean_exp_m1(values, max, sharpness).ln_1p() / sharpness,
            BagRule::NoisyOr => unreachable!("both callers answer it themselves"),
        }
    }
}

impl BagRule {
    /// Checks the rule's own parameter.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn check(&self) -> Result<(), ParamError> {
        match *self {
            BagRule::TopMean { k } => ParamRange::AtLeast(1.0).require("k of top-mean", k as f64),
            BagRule::SoftMax { sharpness } => ParamRange::Above(0.0).require("sharpness of soft-max", sharpness),
            BagRule::Max | BagRule::Mean | BagRule::NoisyOr => Ok(()),
        }
    }
}

impl ParamField for BagRule {
    const KIND: &'static str = "one of max, mean, top-mean(k), noisy-or, soft-max(sharpness)";

    fn parse(word: &str) -> Option<BagRule> {
        let argument = |prefix: &str| word.strip_prefix(prefix)?.strip_prefix('(')?.strip_suffix(')');
        match word {
            "max" => Some(BagRule::Max),
            "mean" => Some(BagRule::Mean),
            "noisy-or" => Some(BagRule::NoisyOr),
            _ => {
                if let Some(k) = argument("top-mean") {
                    return Some(BagRule::TopMean { k: k.parse().ok()? });
                }
                Some(BagRule::SoftMax { sharpness: argument("soft-max")?.parse().ok()? })
            }
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        BagRule::check(self)
    }

    fn show(&self) -> String {
        match self {
            BagRule::Max => "max".to_owned(),
            BagRule::Mean => "mean".to_owned(),
            BagRule::TopMean { k } => format!("top-mean({k})"),
            BagRule::NoisyOr => "noisy-or".to_owned(),
            BagRule::SoftMax { sharpness } => format!("soft-max({sharpness:?})"),
        }
    }
}

/// Noisy-or where both sides are log-odds $s = \ln\frac{p}{1-p}$: with $L = \sum_j \ln(1 + e^{s_j})$, the result is $\ln(e^L - 1)$.
fn noisy_or_log_odds(log_odds: &[f64]) -> f64 {
    /// Below this, $e^s$ leaves the normal range of `f64` and the first-order form is exact to rounding.
    const FAR_BELOW: f64 = -700.0;
    let max = log_odds[argmax(log_odds)];
    if max < FAR_BELOW {
        return max + log_odds.iter().map(|s| (s - max).exp()).sum::<f64>().ln();
    }
    let total: f64 = log_odds.iter().map(|&s| s.max(0.0) + (-s.abs()).exp().ln_1p()).sum();
    total + (-(-total).exp_m1()).ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean of $e^{r (s_j - \max)} - 1$, which keeps its digits for small $r$.
fn mean_exp_m1(values: &[f64], max: f64, sharpness: f64) -> f64 {
    values.iter().map(|value| (sharpness * (value - max)).exp_m1()).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lone_instance_speaks_for_its_bag() {
        let rules = [
            BagRule::Max,
            BagRule::Mean,
            BagRule::TopMean { k: 3 },
            BagRule::NoisyOr,
            BagRule::SoftMax { sharpness: 2.0 },
        ];
        for rule in rules {
            for score in [-800.0, -30.0, -0.5, 0.0, 2.0, 800.0] {
                let pooled = rule.pool(&[score]);
                assert!((pooled - score).abs() <= 1e-12 * score.abs().max(1.0), "{rule:?}: {score} became {pooled}");
            }
        }
    }

    #[test]
    fn noisy_or_agrees_in_both_scales() {
        let log_odds = [-1.0, 0.3, 2.0];
        let probabilities = log_odds.map(|s: f64| 1.0 / (1.0 + (-s).exp()));
        let p = BagRule::NoisyOr.pool_probabilities(&probabilities);
        assert!((BagRule::NoisyOr.pool(&log_odds) - (p / (1.0 - p)).ln()).abs() < 1e-12);
        // Two hopeless instances: odds add.
        let far = BagRule::NoisyOr.pool(&[-750.0, -750.0]);
        assert!((far - (-750.0 + 2f64.ln())).abs() < 1e-9);
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        for sharpness in [1e-17, 1e-15, 1e-9] {
            let pooled = BagRule::SoftMax { sharpness }.pool(&[0.0, 1.0, 5.0]);
            assert!((pooled - 2.0).abs() < 1e-7, "{sharpness}: {pooled}");
        }
        assert_eq!(BagRule::NoisyOr.pool_probabilities(&[3e-17, 3e-17]), 6e-17);
        assert_eq!(BagRule::NoisyOr.pool_probabilities(&[1.0, 0.2]), 1.0);
        assert_eq!(BagRule::NoisyOr.pool_probabilities(&[1.0 + f64::EPSILON, 0.2]), 1.0);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for rule in
            [BagRule::TopMean { k: 0 }, BagRule::SoftMax { sharpness: f64::NAN }, BagRule::SoftMax { sharpness: -3.0 }]
        {
            assert!(rule.check().is_err(), "{rule:?}");
        }
        assert_eq!(
            BagRule::TopMean { k: 0 }.check().unwrap_err().to_string(),
            "k of top-mean is 0, expected a finite number, at least 1"
        );
    }

    #[test]
    fn every_rule_is_read_back_from_its_word() {
        for rule in [
            BagRule::Max,
            BagRule::Mean,
            BagRule::TopMean { k: 3 },
            BagRule::NoisyOr,
            BagRule::SoftMax { sharpness: 0.1 },
        ] {
            assert_eq!(BagRule::parse(&rule.show()), Some(rule));
        }
        for word in ["", "median", "top-mean", "top-mean(-1)", "soft-max()", "max(2)"] {
            assert_eq!(BagRule::parse(word), None, "{word}");
        }
    }

    proptest! {
        #[test]
        fn soft_max_and_top_mean_lie_between_mean_and_max(
            scores in prop::collection::vec(-50.0f64..50.0, 1..20),
            sharpness in 1e-3f64..1e3,
            k in 1usize..30,
        ) {
            let (low, high) = (BagRule::Mean.pool(&scores), BagRule::Max.pool(&scores));
            for rule in [BagRule::SoftMax { sharpness }, BagRule::TopMean { k }] {
                let pooled = rule.pool(&scores);
                prop_assert!(low - 1e-9 <= pooled && pooled <= high + 1e-9, "{:?}: {} not in [{}, {}]", rule, pooled, low, high);
            }
            prop_assert!(BagRule::NoisyOr.pool(&scores) >= high - 1e-9);
        }
    }
}
