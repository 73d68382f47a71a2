//! What one solve leaves to the next over the same kernel.
//!
//! A solution knows $f = K\beta + b$ at every point, $\beta_i = y_i\alpha_i$: stationarity ties it to the multipliers, so that no kernel value is needed to read it off. The product $K\beta$ does not know
//! of signs, penalties or linear terms, hence it stays true when labels flip or points leave and join; only what then moves costs rows.

use mil_core::KernelRows;

use crate::certificate::require_length;
use crate::error::require_finite;
use crate::{GroupDual, ProblemError, Solution, SvmDual};

/// Variables to begin from, and their product with the kernel.
///
/// ```
/// use mil_qp::{SmoSettings, SvmDual};
/// use nalgebra::DMatrix;
///
/// let points = [2.0, 1.0, -1.0];
/// let gram = DMatrix::from_fn(3, 3, |i, j| points[i] * points[j]);
/// let settings = SmoSettings { tolerance: 1e-9, ..SmoSettings::default() };
/// let first = SvmDual::classification(&gram, vec![1.0, 1.0, -1.0], vec![10.0; 3])?;
/// let solution = first.solve(&settings)?.solved().expect("small and easy");
/// // The point in the middle changes sides; the others stay where they were.
/// let second = SvmDual::classification(&gram, vec![1.0, -1.0, -1.0], vec![10.0; 3])?;
/// let again = second.solve_warm(&first.warm_start(&solution), &settings)?.solved().expect("small and easy");
/// let values = second.decision_values(&again);
/// assert!((values[0] - 1.0).abs() < 1e-8 && (values[1] + 1.0).abs() < 1e-8 && (values[2] + 5.0).abs() < 1e-8);
/// # Ok::<(), mil_qp::ProblemError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WarmStart {
    /// $\beta$.
    pub(crate) signed: Vec<f64>,
    /// $K\beta$, where it is known.
    pub(crate) product: Option<Vec<f64>>,
}

impl WarmStart {
    /// A start from signed variables $\beta_i = y_i\alpha_i$ alone; the rows of those that are not 0 have to be computed.
    #[must_use]
    pub fn from_signed(signed: Vec<f64>) -> WarmStart {
        WarmStart { signed, product: None }
    }

    /// The signed variables.
    #[must_use]
    pub fn signed(&self) -> &[f64] {
        &self.signed
    }

    fn new(primal: &[f64], signs: &[f64], values: &[f64], bias: f64) -> WarmStart {
        let signed = primal.iter().zip(signs).map(|(primal, sign)| primal * sign).collect();
        WarmStart { signed, product: Some(values.iter().map(|value| value - bias).collect()) }
    }

    /// Refuses a start for another number of variables, or one that is not finite.
    pub(crate) fn check(&self, n_variables: usize) -> Result<(), ProblemError> {
        require_length("the start", n_variables, self.signed.len())?;
        require_finite("start", &self.signed)?;
        require_finite("product of the start", self.product.as_deref().unwrap_or_default())
    }
}

impl<K: KernelRows> SvmDual<'_, K> {
    /// $f(x_i) = \sum_j\alpha_jy_jk(x_i,x_j) + b$ at every point, those whose upper bound is 0 included, from the multipliers alone: stationarity says $y_if(x_i) + p_i + \mu_i = 0$, $\mu_i$ that of the bounds.
    #[must_use]
    pub fn decision_values(&self, solution: &Solution) -> Vec<f64> {
        let parts = self.signs.iter().zip(&self.linear).zip(&solution.dual);
        parts.map(|((sign, linear), multiplier)| -sign * (linear + multiplier)).collect()
    }

    /// The solution as a start for another problem over the same kernel.
    #[must_use]
    pub fn warm_start(&self, solution: &Solution) -> WarmStart {
        let values = self.decision_values(solution);
        WarmStart::new(&solution.primal, &self.signs, &values, self.bias(solution))
    }
}

impl<K: KernelRows> GroupDual<'_, K> {
    /// $f(x_i) = \sum_j\alpha_jy_jk(x_i,x_j) + b$ at every point, those in groups of cap 0 included, from the multipliers alone: stationarity says $y_if(x_i) + p_i + \mu_g + \nu_i = 0$,
    /// $\mu_g$ that of the group, $\nu_i\le0$ that of the bound.
    #[must_use]
    pub fn decision_values(&self, solution: &Solution) -> Vec<f64> {
        let shared = &solution.dual[self.signs.len()..];
        let parts = self.signs.iter().zip(&self.linear).zip(&self.group_of).zip(&solution.dual);
        parts.map(|(((sign, linear), &group), own)| -sign * (linear + shared[group] + own)).collect()
    }

    /// The solution as a start for another problem over the same kernel.
    #[must_use]
    pub fn warm_start(&self, solution: &Solution) -> WarmStart {
        let values = self.decision_values(solution);
        WarmStart::new(&solution.primal, &self.signs, &values, self.bias(solution))
    }
}
