//! Where pairs crawl: a step of all free variables at once.
//!
//! Pairs zigzag when the matrix is ill-conditioned. Over the face that the free variables span, the minimum is known in closed form:
//! $K\delta + \nu\mathbf 1 = -g$, $\mathbf 1^\top\delta = 0$. We go there, or as far as the bounds let us, by Newton's method without $\nu$: one free variable balances the others.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::block::Block;

/// Faces of more variables are left to pairs: a step costs the cube.
const LARGEST_FACE: usize = 512;
/// Steps in a row; each that meets a bound leaves a smaller face for the next.
const MAX_STEPS: usize = 16;
/// Added to the scaled diagonal, where the matrix is singular.
const RIDGE: f64 = 1e-12;

impl Block {
    /// Moves the free variables towards the minimum over their face; bounds that are met end a step.
    pub(super) fn move_face(&mut self) {
        for _ in 0..MAX_STEPS {
            let free = self.free();
            if free.len() < 3 || free.len() > LARGEST_FACE {
                return;
            }
            let Some(direction) = self.face_direction(&free) else { return };
            if !self.follow(&free, &direction) {
                return;
            }
        }
    }

    /// $\delta$ over the free variables; `None` where rounding leaves no direction of descent. What one of them, the reference, gives the others take, so
    /// that the sum stays whatever the rounding.
    fn face_direction(&self, free: &[usize]) -> Option<DVector<f64>> {
        let spread = |place: usize| self.room(place, 1.0).min(self.room(place, -1.0));
        let reference = (1..free.len()).fold(0, |best, i| if spread(free[i]) > spread(free[best]) { i } else { best });
        let r = free[reference];
        let others: Vec<usize> = (0..free.len()).filter(|&i| i != reference).collect();
        let curvature = |i: usize, j: usize| {
            let (i, j) = (free[others[i]], free[others[j]]);
            self.value(i, j) - self.value(r, j) - self.value(i, r) + self.value(r, r)
        };
        let n = others.len();
        let unit: Vec<f64> = (0..n).map(|i| curvature(i, i).max(f64::MIN_POSITIVE).sqrt().recip()).collect();
        let scaled = DMatrix::from_fn(n, n, |i, j| {
            let value = unit[i] * curvature(i, j) * unit[j];
            if i == j { value + RIDGE } else { value }
        });
        let slope = |i: usize| self.gradient_at(free[others[i]]) - self.gradient_at(r);
        let rates = Cholesky::new(scaled)?.solve(&DVector::from_fn(n, |i, _| -unit[i] * slope(i)));
        let mut direction = DVector::zeros(free.len());
        for (i, &other) in others.iter().enumerate() {
            direction[other] = unit[i] * rates[i];
            direction[reference] -= direction[other];
        }
        let descent: f64 = (0..n).map(|i| slope(i) * direction[others[i]]).sum();
        (descent < 0.0 && direction.iter().all(|step| step.is_finite())).then_some(direction)
    }

    /// Goes to the least value along the direction or to the first bound; true if it was a bound.
    fn follow(&mut self, free: &[usize], direction: &DVector<f64>) -> bool {
        let mut change = vec![0.0; self.len()];
        for (&place, step) in free.iter().zip(direction) {
            for (change, value) in change.iter_mut().zip(self.row(place)) {
                *change += step * value;
            }
        }
        let along = |values: &dyn Fn(usize) -> f64| -> f64 {
            free.iter().zip(direction).map(|(&place, step)| step * values(place)).sum()
        };
        let (slope, curvature) = (along(&|place| self.gradient_at(place)), along(&|place| change[place]));
        let least = if curvature > 0.0 { -slope / curvature } else { f64::INFINITY };
        let room = free.iter().zip(direction).map(|(&place, &step)| self.room(place, step) / step.abs());
        let bound = room.fold(f64::INFINITY, |nearest, room| if room < nearest { room } else { nearest });
        let length = least.min(bound);
        if !length.is_finite() {
            return false;
        }
        for (&place, step) in free.iter().zip(direction) {
            self.shift(place, length * step);
        }
        self.add_to_gradient(length, &change);
        bound < least
    }
}
