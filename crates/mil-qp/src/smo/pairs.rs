//! Sequential minimal optimisation on a matrix in memory: one pair of variables at a time.
//!
//! Signed variables $\beta_i = y_i\alpha_i$ turn the dual of [`SvmDual`](crate::SvmDual) into
//!
//! $$ \min_\beta\ \tfrac12\beta^\top K\beta + c^\top\beta \quad\text{subject to}\quad \ell_i\le\beta_i\le h_i,\quad \mathbf 1^\top\beta = \Delta, $$
//!
//! where moving $\beta_i$ up and $\beta_j$ down by the same amount keeps the sum. With the gradient $g = K\beta + c$, such a pair makes progress
//! iff $g_j > g_i$; where no pair does, $\beta$ is optimal (Keerthi et al. 2001).

/// Least curvature of a step, against division by 0 where two points coincide (Fan, Chen & Lin 2005).
const LEAST_CURVATURE: f64 = 1e-12;

/// Variables with their bounds, gradient and the diagonal of $K$.
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

    /// The variable to rise: the least gradient, the first on ties.
    pub(super) fn riser(&self) -> Option<usize> {
        let mut best = None;
        let mut least = f64::INFINITY;
        for at in 0..self.len() {
            if self.can_rise(at) && self.gradient[at] < least {
                (best, least) = (Some(at), self.gradient[at]);
            }
        }
        best
    }

    /// The variable to fall beside a riser whose row of $K$ is given: by the second-order rule (Fan, Chen & Lin 2005) the one that lowers the objective most,
    /// bounds aside,
    ///
    /// $$ \arg\max_j\ \frac{(g_j - g_i)^2}{K_{ii} + K_{jj} - 2K_{ij}}. $$
    ///
    /// `None` where no pair with the riser violates optimality by more than `tolerance`.
    pub(super) fn faller(&self, riser: usize, row: &[f64], tolerance: f64) -> Option<usize> {
        let (own_gradient, own_diagonal) = (self.gradient[riser], self.diagonal[riser]);
        let mut best = None;
        let (mut most, mut violates) = (0.0, false);
        for (at, &value) in row.iter().enumerate() {
            let slope = self.gradient[at] - own_gradient;
            if slope > 0.0 && self.can_fall(at) {
                let gain = slope * slope / (own_diagonal + self.diagonal[at] - 2.0 * value).max(LEAST_CURVATURE);
                if gain > most {
                    (best, most) = (Some(at), gain);
                }
                violates |= slope > tolerance;
            }
        }
        best.filter(|_| violates)
    }

    /// Moves a pair to the minimum along its line within the bounds; returns how far. The gradient is the caller's to update.
    pub(super) fn move_pair(&mut self, riser: usize, faller: usize, between: f64) -> f64 {
        let curvature = (self.diagonal[riser] + self.diagonal[faller] - 2.0 * between).max(LEAST_CURVATURE);
        let wish = (self.gradient[faller] - self.gradient[riser]) / curvature;
        let (room_above, room_below) = (self.upper[riser] - self.beta[riser], self.beta[faller] - self.lower[faller]);
        let step = wish.min(room_above).min(room_below);
        // A bound that is reached, or missed by rounding alone, is met exactly.
        self.beta[riser] = snapped(self.beta[riser] + step, self.upper[riser], step);
        self.beta[faller] = snapped(self.beta[faller] - step, self.lower[faller], step);
        step
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

fn snapped(value: f64, bound: f64, step: f64) -> f64 {
    if (value - bound).abs() <= 4.0 * f64::EPSILON * (step.abs() + bound.abs()) { bound } else { value }
}

/// Moves pairs until none violates optimality by more than `tolerance` or the budget is spent; returns the steps taken.
/// `gram` is the matrix row after row.
pub(super) fn minimise(variables: &mut Variables, gram: &[f64], tolerance: f64, max_steps: usize) -> usize {
    let n = variables.len();
    for n_steps in 0..max_steps {
        let Some(riser) = variables.riser() else { return n_steps };
        let riser_row = &gram[riser * n..][..n];
        let Some(faller) = variables.faller(riser, riser_row, tolerance) else { return n_steps };
        let step = variables.move_pair(riser, faller, riser_row[faller]);
        let faller_row = &gram[faller * n..][..n];
        for ((gradient, up), down) in variables.gradient.iter_mut().zip(riser_row).zip(faller_row) {
            *gradient += step * (up - down);
        }
    }
    max_steps
}
