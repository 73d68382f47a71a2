//! Signed variables with their bounds and gradients.

use super::block::Entry;

/// Variables of $\min_\beta\ \tfrac12\beta^\top K\beta + c^\top\beta$, $\ell_i\le\beta_i\le h_i$, $\mathbf 1^\top\beta = \Delta$, with the gradient $K\beta + c$ and the diagonal of $K$.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    pub(super) beta: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
}

impl Variables {
    pub(super) fn len(&self) -> usize {
        self.beta.len()
    }

    pub(super) fn can_rise(&self, at: usize) -> bool {
        self.beta[at] < self.upper[at]
    }

    pub(super) fn can_fall(&self, at: usize) -> bool {
        self.lower[at] < self.beta[at]
    }

    /// The least gradient of a variable that can rise, and the largest of one that can fall; infinite where there is none.
    pub(super) fn extremes(&self) -> (f64, f64) {
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for at in 0..self.len() {
            let gradient = self.gradient[at];
            if self.can_rise(at) && gradient < least {
                least = gradient;
            }
            if self.can_fall(at) && gradient > largest {
                largest = gradient;
            }
        }
        (least, largest)
    }

    /// Whether a variable could move in some pair, given the extremes of all gradients. One that cannot is settled at its bound.
    pub(super) fn takes_part(&self, at: usize, least: f64, largest: f64) -> bool {
        (self.can_rise(at) && self.gradient[at] <= largest) || (self.can_fall(at) && self.gradient[at] >= least)
    }

    /// How much the worst pair violates optimality; 0 where none does.
    pub(super) fn violation(&self) -> f64 {
        let (least, largest) = self.extremes();
        (largest - least).max(0.0)
    }

    /// What rounding may make of a gradient: a few units in the last place of $\max_i\sum_j|K_{ij}\beta_j| \le
    /// \max_i\sqrt{K_{ii}}\sum_j\sqrt{K_{jj}}\,|\beta_j|$.
    pub(super) fn rounding(&self) -> f64 {
        let (mut largest, mut sum) = (0.0_f64, 0.0);
        for (beta, diagonal) in self.beta.iter().zip(&self.diagonal) {
            let root = diagonal.max(0.0).sqrt();
            largest = largest.max(root);
            sum += root * beta.abs();
        }
        8.0 * f64::EPSILON * largest * sum
    }

    /// Positions and values of the variables that are not 0.
    pub(super) fn support(&self) -> Vec<(usize, f64)> {
        self.beta.iter().copied().enumerate().filter(|&(_, beta)| beta != 0.0).collect()
    }

    /// One variable, for a block.
    pub(super) fn entry(&self, at: usize) -> Entry {
        Entry {
            beta: self.beta[at],
            lower: self.lower[at],
            upper: self.upper[at],
            gradient: self.gradient[at],
            diagonal: self.diagonal[at],
        }
    }

    /// The variables at some positions.
    pub(super) fn select(&self, at: &[usize]) -> Variables {
        let pick = |values: &[f64]| at.iter().map(|&at| values[at]).collect();
        Variables {
            beta: pick(&self.beta),
            lower: pick(&self.lower),
            upper: pick(&self.upper),
            gradient: pick(&self.gradient),
            diagonal: pick(&self.diagonal),
        }
    }
}
