//! Sequential minimal optimisation on a block of variables whose matrix is in memory: one pair at a time.
//!
//! With the gradient $g = K\beta + c$, moving $\beta_i$ up and $\beta_j$ down by the same amount makes progress iff $g_j > g_i$; where no pair
//! does, the block is optimal (Keerthi et al. 2001).

use pulp::Arch;

/// Least curvature in the choice of a pair, against division by 0 where two points coincide (Fan, Chen & Lin 2005).
const LEAST_CURVATURE: f64 = 1e-12;

/// A curvature up to this part of its terms is rounding: the objective falls along a line, up to the first bound.
const FLAT: f64 = 1e-14;
/// One that is so far below 0 is no rounding: the matrix has a negative eigenvalue.
const INDEFINITE: f64 = -1e-8;

/// Numbers that are worked on side by side; every array of a block is filled up to a multiple of it.
const LANES: usize = 8;

/// Pairs moved for each variable of a block before all free variables move at once.
const PATIENCE: usize = 24;

/// Variables, their bounds and gradients, and the matrix among them.
#[derive(Debug, Default)]
pub(super) struct Block {
    n: usize,
    /// Values in a row of `gram`, those not in use included.
    stride: usize,
    gram: Vec<f64>,
    diagonal: Vec<f64>,
    beta: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    gradient: Vec<f64>,
    /// 0 for a variable that can rise, else infinite: the riser has the least sum of this and its gradient.
    rise_bar: Vec<f64>,
    /// 0 for a variable that can fall, else minus infinity.
    fall_bar: Vec<f64>,
    gains: Vec<f64>,
    /// Whether a pair of negative curvature was met.
    is_indefinite: bool,
}

/// A variable as it is on entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) beta: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) gradient: f64,
    pub(super) diagonal: f64,
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn beta(&self) -> &[f64] {
        &self.beta[..self.n]
    }

    /// Whether the matrix has shown negative curvature.
    pub(super) fn is_indefinite(&self) -> bool {
        self.is_indefinite
    }

    /// A row of the matrix.
    pub(super) fn row(&self, place: usize) -> &[f64] {
        &self.gram[place * self.stride..][..self.n]
    }

    /// An entry of the matrix.
    pub(super) fn value(&self, row: usize, column: usize) -> f64 {
        self.gram[row * self.stride + column]
    }

    pub(super) fn gradient_at(&self, place: usize) -> f64 {
        self.gradient[place]
    }

    /// Places of the variables strictly between their bounds.
    pub(super) fn free(&self) -> Vec<usize> {
        (0..self.n).filter(|&place| self.rise_bar[place] == 0.0 && self.fall_bar[place] == 0.0).collect()
    }

    /// How far a variable can go in the direction of a step.
    pub(super) fn room(&self, place: usize, step: f64) -> f64 {
        if step > 0.0 { self.upper[place] - self.beta[place] } else { self.beta[place] - self.lower[place] }
    }

    /// Moves a variable by a step within its bounds; the gradients are still to follow.
    pub(super) fn shift(&mut self, place: usize, step: f64) {
        let bound = if step > 0.0 { self.upper[place] } else { self.lower[place] };
        let moved = snapped(self.beta[place] + step, bound, step.abs());
        self.beta[place] = moved.clamp(self.lower[place], self.upper[place]);
        self.bar(place);
    }

    pub(super) fn add_to_gradient(&mut self, factor: f64, change: &[f64]) {
        self.gradient.iter_mut().zip(change).for_each(|(gradient, change)| *gradient += factor * change);
    }

    /// Takes in further variables; `values(i, j)` is the matrix between the `i`th of them and the `j`th of all variables, themselves included.
    pub(super) fn extend(&mut self, n_new: usize, values: impl Fn(usize, usize) -> f64) {
        let n_old = self.n;
        self.resize(n_old + n_new);
        for new in 0..n_new {
            for other in 0..=n_old + new {
                let value = values(new, other);
                self.gram[(n_old + new) * self.stride + other] = value;
                self.gram[other * self.stride + n_old + new] = value;
            }
        }
    }

    /// Forgets all variables but those at the given places, ascending.
    pub(super) fn retain(&mut self, kept: &[usize]) {
        for (to_row, &from_row) in kept.iter().enumerate() {
            for (to, &from) in kept.iter().enumerate() {
                self.gram[to_row * self.stride + to] = self.gram[from_row * self.stride + from];
            }
        }
        self.resize(kept.len());
    }

    /// Sets the state of a variable.
    pub(super) fn set(&mut self, place: usize, entry: Entry) {
        self.beta[place] = entry.beta;
        self.lower[place] = entry.lower;
        self.upper[place] = entry.upper;
        self.gradient[place] = entry.gradient;
        self.diagonal[place] = entry.diagonal;
        self.bar(place);
    }

    fn bar(&mut self, place: usize) {
        self.rise_bar[place] = if self.beta[place] < self.upper[place] { 0.0 } else { f64::INFINITY };
        self.fall_bar[place] = if self.beta[place] > self.lower[place] { 0.0 } else { f64::NEG_INFINITY };
    }

    fn resize(&mut self, n: usize) {
        let n_filled = n.next_multiple_of(LANES);
        if n_filled > self.stride {
            let stride = n_filled.max((3 * self.stride / 2).next_multiple_of(LANES));
            let mut gram = vec![0.0; stride * stride];
            for row in 0..self.n {
                let from = &self.gram[row * self.stride..][..self.n];
                gram[row * stride..][..self.n].copy_from_slice(from);
            }
            (self.gram, self.stride) = (gram, stride);
        }
        for values in [&mut self.diagonal, &mut self.beta, &mut self.lower, &mut self.upper, &mut self.gradient] {
            values.resize(n, 0.0);
            values.resize(n_filled, 0.0);
        }
        self.gains.resize(n_filled, 0.0);
        for (bars, barred) in [(&mut self.rise_bar, f64::INFINITY), (&mut self.fall_bar, f64::NEG_INFINITY)] {
            bars.truncate(n);
            bars.resize(n_filled, barred);
        }
        self.n = n;
    }

    /// Moves pairs until none violates optimality by more than `tolerance` or the budget is spent, all free variables at once where pairs take long;
    /// returns the steps taken.
    pub(super) fn minimise(&mut self, tolerance: f64, max_steps: usize) -> usize {
        let mut n_steps = 0;
        while n_steps < max_steps {
            let patience = (PATIENCE * self.n).min(max_steps - n_steps);
            let n_taken = self.move_pairs(tolerance, patience);
            n_steps += n_taken;
            if n_taken < patience {
                break;
            }
            self.move_face();
        }
        n_steps
    }

    fn move_pairs(&mut self, tolerance: f64, max_steps: usize) -> usize {
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut least = self.least_gradient(0.0, 0, 0);
                for n_steps in 0..max_steps {
                    let Some((riser, faller)) = self.choose_pair(least, tolerance) else { return n_steps };
                    let step = self.move_pair(riser, faller);
                    least = self.least_gradient(step, riser, faller);
                }
                max_steps
            },
        )
    }

    /// The variable to rise has the least gradient; the variable to fall beside it is, by the second-order rule (Fan, Chen & Lin 2005), the one that lowers
    /// the objective most, bounds aside:
    ///
    /// $$ \arg\max_j\ \frac{(g_j - g_i)^2}{K_{ii} + K_{jj} - 2K_{ij}}. $$
    ///
    /// The first on ties. `None` where no pair violates optimality by more than the tolerance.
    #[inline(always)]
    fn choose_pair(&mut self, own_gradient: f64, tolerance: f64) -> Option<(usize, usize)> {
        if own_gradient == f64::INFINITY {
            return None;
        }
        let is_riser = |(gradient, bar): (&f64, &f64)| gradient + bar == own_gradient;
        let riser = self.gradient.iter().zip(&self.rise_bar).position(is_riser)?;

        let own_diagonal = self.diagonal[riser];
        let (gradient, _) = self.gradient.as_chunks::<LANES>();
        let (row, _) = self.gram[riser * self.stride..][..self.gradient.len()].as_chunks::<LANES>();
        let (diagonal, _) = self.diagonal.as_chunks::<LANES>();
        let (fall_bar, _) = self.fall_bar.as_chunks::<LANES>();
        let (gains, _) = self.gains.as_chunks_mut::<LANES>();
        let (mut steepest, mut most) = ([0.0; LANES], [0.0; LANES]);
        for ((((gradient, bar), row), diagonal), gains) in
            gradient.iter().zip(fall_bar).zip(row).zip(diagonal).zip(gains)
        {
            for lane in 0..LANES {
                let slope = gradient[lane] + bar[lane] - own_gradient;
                let slope = if slope > 0.0 { slope } else { 0.0 };
                let curvature = own_diagonal + diagonal[lane] - 2.0 * row[lane];
                let curvature = if curvature > LEAST_CURVATURE { curvature } else { LEAST_CURVATURE };
                let gain = slope * slope / curvature;
                gains[lane] = gain;
                steepest[lane] = if slope > steepest[lane] { slope } else { steepest[lane] };
                most[lane] = if gain > most[lane] { gain } else { most[lane] };
            }
        }
        let steepest = steepest.iter().fold(0.0, |a, &b| if b > a { b } else { a });
        if steepest <= tolerance {
            return None;
        }
        let most = most.iter().fold(0.0, |a, &b| if b > a { b } else { a });
        let faller = self.gains.iter().position(|&gain| gain == most)?;
        Some((riser, faller))
    }

    /// Moves a pair to the minimum along its line within the bounds; returns how far. The gradients are still to follow.
    #[inline(always)]
    fn move_pair(&mut self, riser: usize, faller: usize) -> f64 {
        let between = self.gram[riser * self.stride + faller];
        let terms = self.diagonal[riser] + self.diagonal[faller];
        let curvature = terms - 2.0 * between;
        self.is_indefinite |= curvature < INDEFINITE * terms;
        let slope = self.gradient[faller] - self.gradient[riser];
        let wish = if curvature > FLAT * terms { slope / curvature } else { f64::INFINITY };
        let (above, below) = (self.upper[riser] - self.beta[riser], self.beta[faller] - self.lower[faller]);
        let step = wish.min(above).min(below);
        self.shift(riser, step);
        self.shift(faller, -step);
        step
    }

    /// Brings the gradients up to date after a step of a pair, and finds the least of a variable that can rise; infinite where none can.
    #[inline(always)]
    fn least_gradient(&mut self, step: f64, riser: usize, faller: usize) -> f64 {
        let n_filled = self.gradient.len();
        let (up, _) = self.gram[riser * self.stride..][..n_filled].as_chunks::<LANES>();
        let (down, _) = self.gram[faller * self.stride..][..n_filled].as_chunks::<LANES>();
        let (rise_bar, _) = self.rise_bar.as_chunks::<LANES>();
        let (gradient, _) = self.gradient.as_chunks_mut::<LANES>();
        let mut least = [f64::INFINITY; LANES];
        for (((gradient, bar), up), down) in gradient.iter_mut().zip(rise_bar).zip(up).zip(down) {
            for lane in 0..LANES {
                gradient[lane] += step * (up[lane] - down[lane]);
                let value = gradient[lane] + bar[lane];
                least[lane] = if value < least[lane] { value } else { least[lane] };
            }
        }
        least.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
    }
}

/// A bound that is reached, or missed by rounding alone, is met exactly.
fn snapped(value: f64, bound: f64, step: f64) -> f64 {
    if (value - bound).abs() <= 4.0 * f64::EPSILON * (step + bound.abs()) { bound } else { value }
}
