//! The one-class machine itself: what encloses points that are known by their kernel values.
//!
//! Schölkopf et al., *Estimating the Support of a High-Dimensional Distribution*, Neural Computation 2001. Over $N$ points,
//!
//! $$ \min_\alpha\ \tfrac12\alpha^\top K\alpha \quad\text{subject to}\quad 0\le\alpha_i\le\tfrac1{\nu N},\quad \sum_i\alpha_i = 1 $$
//!
//! (PMI, eqs. 2 and 11). A point is inside where $(K\alpha)_i\ge\rho$.

use mil_core::KernelRows;
use mil_qp::{Certificate, ProblemError, SmoSettings, SvmDual};

use crate::PmiError;
use crate::points::tolerance_between;

/// Where a point lies, told by its multiplier (PMI, below eq. 2; for bags, Definitions 1 and 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// $\alpha_i = 0$: inside, or on the boundary.
    Inside,
    /// $0<\alpha_i<1/(\nu N)$: on the boundary. Of bags, a *support bag*.
    Support,
    /// $\alpha_i = 1/(\nu N)$: outside, or on the boundary. Of bags, an *outlier bag*; there are at most $\nu N$ of them, since the multipliers add up to 1.
    Outlier,
}

/// Multipliers this near to a bound, as a part of the upper one, are taken to be at it: $1/(\nu N)$ rounds.
const AT_BOUND: f64 = 1e-7;

/// A solved machine.
pub(crate) struct Enclosure {
    /// $\alpha$.
    pub(crate) duals: Vec<f64>,
    /// $(K\alpha)_i$.
    pub(crate) sums: Vec<f64>,
    pub(crate) rho: f64,
    pub(crate) roles: Vec<Role>,
    pub(crate) certificate: Certificate,
}

impl Enclosure {
    /// The machine over kernel values so many times as large: the multipliers stay.
    pub(crate) fn scale_by(&mut self, factor: f64) {
        self.rho *= factor;
        self.sums.iter_mut().for_each(|sum| *sum *= factor);
    }
}

/// Encloses points whose kernel values are of magnitude 1, to a tolerance relative to the distances between them.
pub(crate) fn enclose<K: KernelRows>(kernel: &K, nu: f64, settings: &SmoSettings) -> Result<Enclosure, PmiError> {
    let n = kernel.order() as f64;
    // Below 1/N no multiplier can reach its cap: all such nu mean the same, and 1/(nu N) stays finite.
    let nu = nu.max(0.5 / n);
    let tolerance = tolerance_between(kernel, settings.tolerance).map_err(ProblemError::Rows)?;
    let problem = SvmDual::one_class(kernel, nu)?;
    let solution = problem
        .solve(&SmoSettings { tolerance, ..settings.clone() })?
        .best()
        .expect("nu is at most 1: equal multipliers are feasible");
    let bias = problem.bias(&solution);
    let sums: Vec<f64> = problem.decision_values(&solution).iter().map(|value| value - bias).collect();
    let cap = 1.0 / (nu * n);
    let role = |&dual: &f64| {
        if dual <= AT_BOUND * cap {
            Role::Inside
        } else if dual >= (1.0 - AT_BOUND) * cap {
            Role::Outlier
        } else {
            Role::Support
        }
    };
    let roles: Vec<Role> = solution.primal.iter().map(role).collect();
    let rho = threshold(&sums, &roles);
    Ok(Enclosure { duals: solution.primal, sums, rho, roles, certificate: solution.certificate })
}

/// $\rho = (K\alpha)_j$ for a point $j$ on the boundary (eq. 13).
///
/// Choice: the mean over all such points. Without any, which is possible wherever $\nu N$ is an integer, every $\rho$ between the highest of those outside and the lowest of those inside is optimal, and
/// we take the middle; if all points are outliers, as at $\nu = 1$, every $\rho$ from the highest on is, and we take that.
fn threshold(sums: &[f64], roles: &[Role]) -> f64 {
    let of = |wanted: Role| sums.iter().zip(roles).filter(move |(_, role)| **role == wanted).map(|(sum, _)| *sum);
    let n_support = of(Role::Support).count();
    if n_support > 0 {
        return of(Role::Support).sum::<f64>() / n_support as f64;
    }
    let highest_outside = of(Role::Outlier).fold(f64::NEG_INFINITY, f64::max);
    let lowest_inside = of(Role::Inside).fold(f64::INFINITY, f64::min);
    if lowest_inside.is_finite() { 0.5 * (highest_outside + lowest_inside) } else { highest_outside }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    fn tight() -> SmoSettings {
        SmoSettings { tolerance: 1e-12, ..SmoSettings::default() }
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    #[test]
    fn orthogonal_points_share_the_weight_and_lie_on_the_boundary() {
        let found = enclose(&DMatrix::identity(4, 4), 0.5, &tight()).unwrap();
        assert!(found.duals.iter().all(|&dual| near(dual, 0.25)) && near(found.rho, 0.25));
        assert_eq!(found.roles, [Role::Support; 4]);
    }

    #[test]
    fn without_a_point_on_the_boundary_the_threshold_is_in_the_middle() {
        // Points 1, 2 and 4 on the line with nu = 1/3: one multiplier at its cap of 1, the nearest to the origin.
        let points = [1.0, 2.0, 4.0];
        let gram = DMatrix::from_fn(3, 3, |i, j| points[i] * points[j]);
        let found = enclose(&gram, 1.0 / 3.0, &tight()).unwrap();
        assert_eq!(found.roles, [Role::Outlier, Role::Inside, Role::Inside]);
        assert!(near(found.rho, 1.5), "{}", found.rho);
    }

    #[test]
    fn where_all_are_outliers_the_highest_is_on_the_boundary() {
        let points = [1.0, 2.0, 3.0];
        let gram = DMatrix::from_fn(3, 3, |i, j| points[i] * points[j]);
        let found = enclose(&gram, 1.0, &tight()).unwrap();
        assert_eq!(found.roles, [Role::Outlier; 3]);
        assert!(near(found.rho, 6.0), "{}", found.rho); // 3 times the mean of 2
        // As many points as make 1/N round down and up.
        for n in [1, 2, 3, 7, 10, 49, 98, 103, 107, 161, 187] {
            let found = enclose(&DMatrix::identity(n, n), 1.0, &tight()).unwrap();
            assert_eq!(found.roles, vec![Role::Outlier; n]);
        }
    }

    #[test]
    fn below_one_over_n_the_share_has_no_say() {
        let points = [1.0, 2.0, 4.0];
        let gram = DMatrix::from_fn(3, 3, |i, j| points[i] * points[j] + f64::from(u8::from(i == j)));
        let found = enclose(&gram, 0.3, &tight()).unwrap();
        for nu in [0.01, 1e-12, f64::MIN_POSITIVE] {
            let other = enclose(&gram, nu, &tight()).unwrap();
            assert!(other.duals.iter().zip(&found.duals).all(|(a, b)| near(*a, *b)) && near(other.rho, found.rho));
            assert!(!other.roles.contains(&Role::Outlier));
        }
    }
}
