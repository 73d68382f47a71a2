//! The annealed distribution over the labels of instances.
//!
//! Given a forest, the labels of the instances in a bag are not known but have a distribution. At temperature $T$ it minimises
//!
//! $$ \mathcal L_{\mathrm{DA}}(F,p) = \sum_{i,j}\sum_k p_{ij}(k)\,\ell(F_k(x_i^j)) - T\sum_i H(p_i), \qquad H(p_i)=-\sum_j\sum_kp_{ij}(k)\ln p_{ij}(k) $$
//!
//! (eqs. 4, 5 and 8), hence instance by instance
//!
//! $$ p^*(k) = \frac{e^{-\ell(F_k)/T}}{\sum_je^{-\ell(F_j)/T}}, \qquad F_k = p(k\mid x)-\tfrac1K. $$
//!
//! Deviation: eqs. 4 and 8 print $+T H$, with which the minimum would be at a vertex at any temperature; eq. 3 has the sign above. As $T\to0$ the distribution is that of the most plausible label, as $T\to\infty$ it is uniform.

use mil_core::argmax;

/// The loss $\ell$ of a label $k$, a falling function of the forest's confidence $F_k$ or of the margin $m_k=p(k\mid x)-\max_{j\ne k}p(j\mid x)$ (eq. 2).
///
/// Choice: the paper speaks of a margin-maximising loss without naming it. In two classes the first three and their margin forms differ by the scale of the temperature, little else; the log-likelihood is sharper by far where the forest is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// $(1-F_k)_+$, which is linear here, since no $F_k$ exceeds 1.
    Hinge,
    /// $\ln(1+e^{-F_k})$.
    Logistic,
    /// $e^{-F_k}$.
    Exponential,
    /// $(1-m_k)_+$.
    MarginHinge,
    /// $\ln(1+e^{-m_k})$.
    MarginLogistic,
    /// $e^{-m_k}$.
    MarginExponential,
    /// $-\ln\max(p(k\mid x),10^{-12})$.
    LogLikelihood,
}

mil_core::choice!(Loss {
    Hinge = "hinge",
    Logistic = "logistic",
    Exponential = "exponential",
    MarginHinge = "margin-hinge",
    MarginLogistic = "margin-logistic",
    MarginExponential = "margin-exponential",
    LogLikelihood = "log-likelihood",
});

/// Probabilities below it count as it, so that their logarithm is finite.
const LEAST_PROBABILITY: f64 = 1e-12;

impl Loss {
    /// $\ell$ of each label of an instance, written over its posteriors.
    pub(crate) fn of(self, posterior: &mut [f64]) {
        let prior = 1.0 / posterior.len() as f64;
        match self {
            Loss::Hinge => posterior.iter_mut().for_each(|p| *p = (1.0 - (*p - prior)).max(0.0)),
            Loss::Logistic => posterior.iter_mut().for_each(|p| *p = (-(*p - prior)).exp().ln_1p()),
            Loss::Exponential => posterior.iter_mut().for_each(|p| *p = (-(*p - prior)).exp()),
            Loss::LogLikelihood => posterior.iter_mut().for_each(|p| *p = -p.max(LEAST_PROBABILITY).ln()),
            Loss::MarginHinge => over_margins(posterior, |margin| (1.0 - margin).max(0.0)),
            Loss::MarginLogistic => over_margins(posterior, |margin| (-margin).exp().ln_1p()),
            Loss::MarginExponential => over_margins(posterior, |margin| (-margin).exp()),
        }
    }

    /// $p^*$ of an instance at a temperature above 0, written over its posteriors; returns the part of $\mathcal L_{\mathrm{DA}}$ that is loss, and the entropy.
    pub(crate) fn anneal(self, posterior: &mut [f64], temperature: f64) -> (f64, f64) {
        self.of(posterior);
        let losses = posterior.to_vec();
        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let mut total = 0.0;
        for value in posterior.iter_mut() {
            *value = ((least - *value) / temperature).exp();
            total += *value;
        }
        posterior.iter_mut().for_each(|value| *value /= total);
        let loss = posterior.iter().zip(&losses).map(|(p, loss)| p * loss).sum();
        (loss, entropy(posterior))
    }
}

fn over_margins(posterior: &mut [f64], loss: impl Fn(f64) -> f64) {
    let first = argmax(posterior);
    let best = posterior[first];
    let second =
        posterior.iter().enumerate().filter(|(k, _)| *k != first).map(|(_, p)| *p).fold(f64::NEG_INFINITY, f64::max);
    for (k, p) in posterior.iter_mut().enumerate() {
        *p = loss(*p - if k == first { second } else { best });
    }
}

/// $-\sum_kp(k)\ln p(k)$.
pub(crate) fn entropy(distribution: &[f64]) -> f64 {
    -distribution.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>()
}

/// The distribution $p^*$ over the labels of one instance, given the forest's posterior.
///
/// ```
/// use mil_forest::{Loss, annealed};
/// let posterior = [0.3, 0.7];
/// let warm = annealed(&posterior, Loss::Hinge, 1.0);
/// assert!((warm[1] - 1.0 / (1.0 + (-0.4f64).exp())).abs() < 1e-15); // (2 q - 1) / T
/// assert_eq!(annealed(&posterior, Loss::Hinge, 1e-9), [0.0, 1.0]);
/// ```
///
/// # Panics
/// If the temperature is not above 0 or there is no class.
#[must_use]
pub fn annealed(posterior: &[f64], loss: Loss, temperature: f64) -> Vec<f64> {
    assert!(temperature > 0.0, "temperature {temperature}");
    assert!(!posterior.is_empty(), "the distribution over no class");
    let mut distribution = posterior.to_vec();
    loss.anneal(&mut distribution, temperature);
    distribution
}

/// The temperatures of the epochs, for a cooling above 0: $T_t=T_0e^{-tC}$ for $t=1,2,\dots$ while $T_t\ge T_{\min}$ (Algorithm 1, lines 4 and 5; §4.1 has $T_0=1$, $C=\tfrac12$).
///
/// ```
/// use mil_forest::temperatures;
/// let epochs: Vec<f64> = temperatures(1.0, 0.5, 0.3).collect();
/// assert_eq!(epochs, [(-0.5f64).exp(), (-1.0f64).exp()]);
/// ```
pub fn temperatures(start: f64, cooling: f64, end: f64) -> impl Iterator<Item = f64> {
    (1u32..).map(move |t| start * (-f64::from(t) * cooling).exp()).take_while(move |temperature| *temperature >= end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mil_core::ParamField;
    use proptest::prelude::*;

    const LOSSES: [Loss; 7] = [
        Loss::Hinge,
        Loss::Logistic,
        Loss::Exponential,
        Loss::MarginHinge,
        Loss::MarginLogistic,
        Loss::MarginExponential,
        Loss::LogLikelihood,
    ];

    fn posteriors() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(0.0f64..1.0, 2..6).prop_map(|weights| {
            let total: f64 = weights.iter().sum::<f64>() + 1e-9;
            weights.iter().map(|weight| weight / total).collect()
        })
    }

    #[test]
    fn every_loss_is_read_back_from_its_word() {
        for loss in LOSSES {
            assert_eq!(Loss::parse(&loss.show()), Some(loss));
        }
    }

    #[test]
    fn cold_labels_are_hard_and_hot_ones_uniform() {
        for loss in LOSSES {
            for temperature in [1e-6, 1e-300, f64::MIN_POSITIVE] {
                assert_eq!(annealed(&[0.2, 0.5, 0.3], loss, temperature), [0.0, 1.0, 0.0], "{loss:?}");
                assert_eq!(annealed(&[0.4, 0.4, 0.2], loss, temperature), [0.5, 0.5, 0.0], "{loss:?}");
            }
            for p in annealed(&[0.2, 0.5, 0.3], loss, 1e12) {
                assert!((p - 1.0 / 3.0).abs() < 1e-9, "{loss:?}");
            }
        }
    }

    proptest! {
        /// Against the definition: no distribution nearby has a lower free energy, and its value is $-T\ln\sum_ke^{-\ell_k/T}$.
        #[test]
        fn the_distribution_minimises_the_free_energy(
            posterior in posteriors(), temperature in 0.05f64..5.0, towards in posteriors(), step in 0.0f64..1.0, at in 0usize..7,
        ) {
            let loss = LOSSES[at];
            let mut losses = posterior.clone();
            loss.of(&mut losses);
            let energy = |p: &[f64]| {
                p.iter().zip(&losses).map(|(p, l)| p * l).sum::<f64>() - temperature * entropy(p)
            };
            let best = annealed(&posterior, loss, temperature);
            let closed = -temperature * losses.iter().map(|l| (-l / temperature).exp()).sum::<f64>().ln();
            prop_assert!((energy(&best) - closed).abs() < 1e-9);
            if towards.len() == best.len() {
                let other: Vec<f64> = best.iter().zip(&towards).map(|(a, b)| a * (1.0 - step) + b * step).collect();
                prop_assert!(energy(&other) >= energy(&best) - 1e-9);
            }
            let mut again = posterior.clone();
            let (loss, entropy) = loss.anneal(&mut again, temperature);
            prop_assert!((loss - temperature * entropy - closed).abs() < 1e-9);
        }
    }
}
