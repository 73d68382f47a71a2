//! The game that MIO plays: predict, receive the label, take the step that raises the dual most.
//!
//! In one sign convention ($v=-\pi$, $\tau=-\theta$; see [`Mio`](crate::Mio) for the errata of the paper's):
//!
//! $$ w_t = \mathrm{soft}(v_t,\alpha_t)/\beta_t,\qquad g_t(w) = C_t\,(1 - y_tw^\top z_t)_+,\qquad v_{t+1} = v_t + \tau_ty_tz_t. $$
//!
//! This file knows similarities and labels; where similarities come from is the caller's business.

use mil_core::{Label, Target};
use serde::{Deserialize, Serialize};

use crate::line_search::{Line, soft};

/// The elastic net of one round, $f(w)=\alpha\lVert w\rVert_1+\tfrac\beta2\lVert w\rVert^2$ (eq. 8).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ElasticNet {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
}

/// How the elastic net grows: $\alpha=\alpha_0\sqrt T$, $\beta=\beta_0\sqrt T$ (§3.4.1), with $t$ in place of $T$ where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Growth {
    pub(crate) alpha0: f64,
    pub(crate) beta0: f64,
    /// $T$, where it is known.
    pub(crate) horizon: Option<u64>,
}

impl Growth {
    /// The elastic net of round `t`, counted from 1.
    pub(crate) fn at(&self, round: u64) -> ElasticNet {
        let root = (self.horizon.unwrap_or(round).max(1) as f64).sqrt();
        ElasticNet { alpha: self.alpha0 * root, beta: self.beta0 * root }
    }
}

/// What stays the same from round to round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rules {
    pub(crate) growth: Growth,
    /// $C_1$ and $C_2$.
    pub(crate) positive_penalty: f64,
    pub(crate) negative_penalty: f64,
    /// The constant feature of the bias; 0 where there is none.
    pub(crate) bias: f64,
}

/// Penalties, elastic nets and biases that may be asked for.
pub(crate) const LARGEST: f64 = 1e12;
/// The least $\beta_0$, below which weights leave `f64` by and by.
pub(crate) const LEAST_BETA: f64 = 1e-12;

impl Rules {
    /// Whether all numbers are within the ranges that parameters have.
    pub(crate) fn are_sound(&self) -> bool {
        let at_least_zero = [self.growth.alpha0, self.bias];
        let above_zero = [self.positive_penalty, self.negative_penalty];
        at_least_zero.iter().all(|value| (0.0..=LARGEST).contains(value))
            && above_zero.iter().all(|value| 0.0 < *value && *value <= LARGEST)
            && (LEAST_BETA..=LARGEST).contains(&self.growth.beta0)
    }

    pub(crate) fn penalty(&self, label: Label) -> f64 {
        match label {
            Label::Positive => self.positive_penalty,
            Label::Negative => self.negative_penalty,
        }
    }
}

/// What happened in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// $w_t^\top z_t$, before the label was known. The bag is taken for positive iff this is at least 0.
    pub score: f64,
    /// $g_t(w_t)$.
    pub loss: f64,
    /// $\tau_t$, between 0 and the penalty of the label.
    pub step: f64,
    /// $\lVert\tilde\lambda_t\rVert^2$ of the subgradient $\tilde\lambda_t=-C_ty_tz_t$ of $g_t$ at $w_t$; 0 where the loss is 0.
    pub subgradient: f64,
}

impl Round {
    /// Whether the prediction was another label than this.
    #[must_use]
    pub fn is_mistake(&self, label: Label) -> bool {
        Label::decide(&self.score) != label
    }
}

/// The sum of all steps so far, $v_t=\sum_{s<t}\tau_sy_sz_s$, and how many there were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dual {
    /// $v$, one for each candidate.
    pub(crate) values: Vec<f64>,
    /// $v$ of the bias.
    pub(crate) bias: f64,
    /// $\sum_s\tau_s$.
    pub(crate) total_step: f64,
    /// Rounds played.
    pub(crate) n_rounds: u64,
}

impl Dual {
    pub(crate) fn new() -> Dual {
        Dual { values: Vec::new(), bias: 0.0, total_step: 0.0, n_rounds: 0 }
    }

    /// The elastic net of the round to come.
    pub(crate) fn net(&self, rules: &Rules) -> ElasticNet {
        rules.growth.at(self.n_rounds + 1)
    }

    /// The elastic net of the last round.
    pub(crate) fn last_net(&self, rules: &Rules) -> ElasticNet {
        rules.growth.at(self.n_rounds)
    }

    /// $w^\top z$ in the round to come. Candidates beyond the similarities given are 0 similar.
    pub(crate) fn score(&self, rules: &Rules, similarities: &[f64]) -> f64 {
        let net = self.net(rules);
        0.0 + self.line(rules, net, similarities, 1.0).look(0.0).margin / net.beta
    }

    fn line<'a>(&'a self, rules: &Rules, net: ElasticNet, similarities: &'a [f64], sign: f64) -> Line<'a> {
        Line {
            dual: &self.values[..similarities.len()],
            similarities,
            bias: (self.bias, rules.bias),
            sign,
            alpha: net.alpha,
            beta: net.beta,
        }
    }

    /// Plays a round: steps 3 to 7 of Algorithm 1, but for the zeros that the caller appends. Candidates beyond the similarities given are 0 similar.
    pub(crate) fn play(&mut self, rules: &Rules, similarities: &[f64], label: Label) -> Round {
        self.round(rules, similarities, label, None)
    }

    /// Plays a bag again whose earlier step is taken back first: the step it took, over so many candidates.
    pub(crate) fn replay(&mut self, rules: &Rules, similarities: &[f64], label: Label, earlier: (f64, usize)) -> Round {
        self.round(rules, similarities, label, Some(earlier))
    }

    fn round(&mut self, rules: &Rules, similarities: &[f64], label: Label, earlier: Option<(f64, usize)>) -> Round {
        let (net, penalty, sign) = (self.net(rules), rules.penalty(label), label.sign());
        let mut here = self.line(rules, net, similarities, sign).look(0.0);
        // A sum takes the sign off a zero.
        let score = 0.0 + sign * here.margin / net.beta;
        if let Some((step, n_known)) = earlier {
            self.add(rules, &similarities[..n_known], -step, label);
            here = self.line(rules, net, similarities, sign).look(0.0);
        }
        let step = self.line(rules, net, similarities, sign).search(here, penalty);
        self.add(rules, similarities, step, label);
        self.n_rounds += 1;
        let loss = penalty * (1.0 - sign * score).max(0.0);
        let subgradient = match loss {
            0.0 => 0.0,
            _ => penalty * penalty * (squared_norm(similarities) + rules.bias * rules.bias),
        };
        Round { score, loss, step, subgradient }
    }

    /// $v \leftarrow v + \tau yz$.
    fn add(&mut self, rules: &Rules, similarities: &[f64], step: f64, label: Label) {
        if step == 0.0 {
            return;
        }
        let signed = step * label.sign();
        self.values.iter_mut().zip(similarities).for_each(|(value, similarity)| *value += signed * similarity);
        self.bias += signed * rules.bias;
        self.total_step += step;
    }

    /// The weights of the candidates and the offset of every score, under an elastic net.
    pub(crate) fn weights(&self, rules: &Rules, net: ElasticNet) -> (Vec<f64>, f64) {
        let weights = self.values.iter().map(|&value| soft(value, net.alpha) / net.beta).collect();
        (weights, rules.bias * self.bias / net.beta)
    }

    /// Candidates whose weight is not 0 in the round to come.
    pub(crate) fn n_selected(&self, rules: &Rules) -> usize {
        let alpha = self.net(rules).alpha;
        self.values.iter().filter(|value| value.abs() > alpha).count()
    }

    /// The dual objective $\sum_s\tau_s - f^*(v)$ (eq. 4 with Propositions 1 and 2), under an elastic net.
    pub(crate) fn objective(&self, net: ElasticNet) -> f64 {
        let squares: f64 = self.values.iter().map(|&value| soft(value, net.alpha).powi(2)).sum();
        self.total_step - (squares + self.bias * self.bias) / (2.0 * net.beta)
    }
}

/// Sixteen sums at once, which the order of a plain sum forbids; zeros at the end change nothing.
fn squared_norm(values: &[f64]) -> f64 {
    let (many, rest) = values.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for chunk in many {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value * value);
    }
    sums.iter_mut().zip(rest).for_each(|(sum, value)| *sum += value * value);
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        growth: Growth { alpha0: 0.05, beta0: 0.3, horizon: None },
        positive_penalty: 1.0,
        negative_penalty: 0.5,
        bias: 1.0,
    };

    /// Similarities of twelve bags, of which bag `t` knows the candidates up to `3 (t + 1)`.
    fn rounds() -> impl Iterator<Item = (Vec<f64>, Label)> {
        (0..12_usize).map(|t| {
            let similarities = (0..3 * (t + 1)).map(|k| (1.0 + ((7 * t + 5 * k) % 11) as f64) / 11.0).collect();
            (similarities, if t % 3 == 0 { Label::Positive } else { Label::Negative })
        })
    }

    #[test]
    fn candidates_to_come_have_no_weight_and_their_zeros_change_nothing() {
        // Proposition 3: the game over vectors of a fictitious length is the game over those that grow.
        let (mut growing, mut fictitious) = (Dual::new(), Dual::new());
        fictitious.values = vec![0.0; 36];
        for (mut similarities, label) in rounds() {
            let n_known = similarities.len();
            growing.values.resize(n_known, 0.0);
            let round = growing.play(&RULES, &similarities, label);
            similarities.resize(36, 0.0);
            assert_eq!(fictitious.play(&RULES, &similarities, label), round);
            assert_eq!(fictitious.values[..n_known], growing.values);
            assert!(fictitious.values[n_known..].iter().all(|value| *value == 0.0));
        }
    }

    #[test]
    fn a_step_taken_back_and_taken_again_is_the_same_step() {
        let mut dual = Dual::new();
        dual.values = vec![0.0; 36];
        let fixed = Rules { growth: Growth { horizon: Some(12), ..RULES.growth }, ..RULES };
        let mut last = (Vec::new(), Label::Positive, 0.0);
        for (similarities, label) in rounds() {
            let step = dual.play(&fixed, &similarities, label).step;
            last = (similarities, label, step);
        }
        let (similarities, label, step) = last;
        let objective = dual.objective(dual.last_net(&fixed));
        let again = dual.replay(&fixed, &similarities, label, (step, similarities.len()));
        assert!((again.step - step).abs() < 1e-12);
        assert!((dual.objective(dual.last_net(&fixed)) - objective).abs() < 1e-12);
    }

    #[test]
    fn the_elastic_net_grows_with_the_root_of_the_rounds() {
        assert_eq!(RULES.growth.at(9), ElasticNet { alpha: 0.05 * 3.0, beta: 0.3 * 3.0 });
        let fixed = Growth { horizon: Some(100), ..RULES.growth };
        assert_eq!(fixed.at(9), fixed.at(50));
        assert_eq!(fixed.at(1).beta, 0.3 * 10.0);
    }
}
