//! What the interior-point and Newton methods share: the points that count, in few dimensions, with the bias as a feature.

use nalgebra::DMatrix;

use super::normal::{Cholesky, NormalMatrix};
use super::{Bias, LinearSvm, Points};

/// The points with a positive penalty, $\tilde x = (x, \text{feature})$, and the quadratic form $J$ of their weights $\tilde w$:
///
/// $$ \tfrac12\tilde w^\top J\tilde w = \tfrac12\lVert w\rVert^2 + \tfrac{b^2}{2s^2}\ (\text{or } 0). $$
///
/// If there are fewer points than features, the points stand in another basis of the space they span: all that matters is their products.
pub(super) struct Lifted<'a> {
    points: Basis<'a>,
    n_features: usize,
    /// The feature that stands for the bias, if there is a bias.
    feature: Option<f64>,
    /// The diagonal of $J$.
    pub(super) form: Vec<f64>,
}

enum Basis<'a> {
    Given(Points<'a>),
    Reduced(DMatrix<f64>),
}

impl<'a> Lifted<'a> {
    pub(super) fn new(svm: &LinearSvm<'a>) -> Lifted<'a> {
        let points = svm.points;
        let points = if points.n_features() > points.n_points() {
            Basis::Reduced(reduced(points))
        } else {
            Basis::Given(points)
        };
        let n_features = match &points {
            Basis::Given(points) => points.n_features(),
            Basis::Reduced(points) => points.nrows(),
        };
        let mut form = vec![1.0; n_features];
        let feature = match svm.bias {
            Bias::None => None,
            Bias::Free => Some((1.0, 0.0)),
            Bias::Regularised { scale } => Some((scale, 1.0)),
        };
        form.extend(feature.map(|(_, form)| form));
        Lifted { points, n_features, feature: feature.map(|(feature, _)| feature), form }
    }

    fn points(&self) -> Points<'_> {
        match &self.points {
            Basis::Given(points) => *points,
            Basis::Reduced(points) => Points::from(points),
        }
    }

    /// $\langle\tilde w,\tilde x_i\rangle$ for each point.
    pub(super) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = self.points().scores(weights);
        if let Some(feature) = self.feature {
            let bias = feature * weights[self.n_features];
            scores.iter_mut().for_each(|score| *score += bias);
        }
        scores
    }

    /// $\sum_i c_i\tilde x_i$.
    pub(super) fn combination(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut sum = self.points().combination(coefficients);
        sum.extend(self.feature.map(|feature| feature * coefficients.iter().sum::<f64>()));
        sum
    }

    /// Adds $\sum_i\theta_i\tilde x_i\tilde x_i^\top$.
    pub(super) fn add_to(&self, matrix: &mut NormalMatrix, weights: &[(usize, f64)]) {
        let points = self.points();
        matrix.add(weights, |idx, target| {
            points.write(idx, &mut target[..self.n_features]);
            if let Some(feature) = self.feature {
                target[self.n_features] = feature;
            }
        });
    }

    /// Factors $J + \sum_i\theta_i\tilde x_i\tilde x_i^\top$ given $\sum_i\theta_i$.
    ///
    /// A squared pivot is at least the entry of $J$, since the rest is positive semidefinite. That of a free bias is above 0 by the weights alone; it is kept
    /// above the rounding of its diagonal entry.
    pub(super) fn factor(&self, matrix: NormalMatrix, weights_sum: f64) -> Cholesky {
        let floor = |&form: &f64| if form > 0.0 { form } else { (1e-15 * weights_sum).max(f64::MIN_POSITIVE) };
        let floors: Vec<f64> = self.form.iter().map(floor).collect();
        matrix.cholesky(&floors)
    }
}

/// Residuals below this part of a point's squared norm are rounding.
const RANK_TOLERANCE: f64 = 1e-14;

/// Points with the same products in as many dimensions as they span, at most $n$: the factor of a Cholesky decomposition of their Gram matrix with the
/// largest residual as pivot (Fine & Scheinberg, JMLR 2, 2001). Costs $n$ passes over the points and $n^3/3$.
fn reduced(points: Points<'_>) -> DMatrix<f64> {
    let n = points.n_points();
    let norms = points.squared_norms();
    let mut residuals = norms.clone();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut pivot_point = vec![0.0; points.n_features()];
    while rows.len() < n {
        let mut pivot = 0;
        for idx in 1..n {
            if residuals[idx] > residuals[pivot] {
                pivot = idx;
            }
        }
        if residuals[pivot] <= 0.0 {
            break;
        }
        points.write(pivot, &mut pivot_point);
        let mut row = points.scores(&pivot_point);
        for earlier in &rows {
            let factor = earlier[pivot];
            row.iter_mut().zip(earlier).for_each(|(value, earlier)| *value -= factor * earlier);
        }
        let scale = 1.0 / residuals[pivot].sqrt();
        for idx in 0..n {
            row[idx] = if residuals[idx] == 0.0 { 0.0 } else { row[idx] * scale };
            residuals[idx] -= row[idx] * row[idx];
            if residuals[idx] <= RANK_TOLERANCE * norms[idx] {
                residuals[idx] = 0.0;
            }
        }
        residuals[pivot] = 0.0;
        rows.push(row);
    }
    DMatrix::from_fn(rows.len(), n, |row, idx| rows[row][idx])
}
