//! The dual of a support vector machine, in the one form that covers classification and one-class problems:
//!
//! $$ \min_\alpha\ \tfrac12\alpha^\top Q\alpha + p^\top\alpha \quad\text{subject to}\quad 0\le\alpha_i\le C_i,\quad y^\top\alpha = \Delta,\qquad Q_{ij} = y_iy_jK_{ij}. $$

use std::borrow::Cow;

use mil_core::KernelRows;

use crate::certificate::require_length;
use crate::error::{require, require_finite};
use crate::{Problem, ProblemError, Solution};

/// The dual of a support vector machine over a kernel known by its rows.
///
/// As a [`Problem`] its rows are the bounds of the variables, in order, then the equality.
#[derive(Debug, Clone)]
pub struct SvmDual<'a, K> {
    pub(crate) kernel: &'a K,
    pub(crate) signs: Vec<f64>,
    pub(crate) linear: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    pub(crate) total: f64,
}

impl<'a, K: KernelRows> SvmDual<'a, K> {
    /// The general form: signs $y_i = \pm1$, linear term $p$, upper bounds $C_i$ (finite, at least 0), and $\Delta$.
    ///
    /// # Errors
    /// If lengths differ or a number is out of range.
    pub fn new(
        kernel: &'a K,
        signs: Vec<f64>,
        linear: Vec<f64>,
        upper: Vec<f64>,
        total: f64,
    ) -> Result<SvmDual<'a, K>, ProblemError> {
        let n = kernel.order();
        if n == 0 {
            return Err(ProblemError::Empty("variables"));
        }
        require_length("the signs", n, signs.len())?;
        require_length("the linear term", n, linear.len())?;
        require_length("the upper bounds", n, upper.len())?;
        require("sign", &signs, |sign| sign.abs() == 1.0, "1 or -1")?;
        require_finite("linear term", &linear)?;
        require("upper bound", &upper, |bound| bound.is_finite() && 0.0 <= bound, "a finite number, at least 0")?;
        require_finite("total", &[total])?;
        Ok(SvmDual { kernel, signs, linear, upper, total })
    }

    /// The C-SVM $\min \tfrac12\lVert w\rVert^2 + \sum_i C_i\,(1 - y_i(\langle w,\phi(x_i)\rangle + b))_+$ with a penalty for each point, hence for each class:
    /// $p = -1$, $\Delta = 0$.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn classification(kernel: &'a K, signs: Vec<f64>, penalties: Vec<f64>) -> Result<SvmDual<'a, K>, ProblemError> {
        let n = kernel.order();
        SvmDual::new(kernel, signs, vec![-1.0; n], penalties, 0.0)
    }

    /// The one-class $\nu$-SVM of Schölkopf et al. (2001): $\min\tfrac12\alpha^\top K\alpha$, $0\le\alpha_i\le 1/(\nu n)$, $\sum_i\alpha_i = 1$.
    ///
    /// # Errors
    /// If there is no point, or $\nu$ is not above 0 and at most 1.
    pub fn one_class(kernel: &'a K, nu: f64) -> Result<SvmDual<'a, K>, ProblemError> {
        let n = kernel.order();
        let cap = 1.0 / (nu * n as f64);
        crate::error::require_setting(
            "nu",
            nu,
            0.0 < nu && nu <= 1.0 && (n == 0 || cap.is_finite()),
            "a number above 0 and at most 1, with 1/(nu n) finite",
        )?;
        SvmDual::new(kernel, vec![1.0; n], vec![0.0; n], vec![cap; n], 1.0)
    }

    /// The offset $b$ of $f(x) = \sum_i\alpha_iy_ik(x,x_i) + b$: the multiplier of the equality. For a one-class problem it is $-\rho$.
    #[must_use]
    pub fn bias(&self, solution: &Solution) -> f64 {
        *solution.dual.last().expect("the equality has a multiplier")
    }
}

impl<K: KernelRows> Problem for SvmDual<'_, K> {
    fn n_variables(&self) -> usize {
        self.signs.len()
    }

    fn n_rows(&self) -> usize {
        self.signs.len() + 1
    }

    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
        let signed: Vec<f64> = x.iter().zip(&self.signs).map(|(x, sign)| x * sign).collect();
        let mut product = kernel_product(self.kernel, &signed)?;
        product.iter_mut().zip(&self.signs).for_each(|(value, sign)| *value *= sign);
        Ok(product)
    }

    fn linear_term(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(&self.linear)
    }

    fn rows_product(&self, x: &[f64]) -> Vec<f64> {
        let mut rows = x.to_vec();
        rows.push(crate::certificate::dot(&self.signs, x));
        rows
    }

    fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
        let (boxes, equality) = (&y[..y.len() - 1], y[y.len() - 1]);
        boxes.iter().zip(&self.signs).map(|(multiplier, sign)| multiplier + sign * equality).collect()
    }

    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        let mut lower = vec![0.0; self.upper.len()];
        lower.push(self.total);
        let mut upper = self.upper.clone();
        upper.push(self.total);
        (Cow::Owned(lower), Cow::Owned(upper))
    }
}

/// Rows of a product computed together.
const BATCH: usize = 64;

/// $Kx$.
pub(crate) fn kernel_product(kernel: &impl KernelRows, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
    let mut product = vec![0.0; x.len()];
    add_kernel_product(kernel, x, &(0..x.len()).collect::<Vec<_>>(), &mut product)?;
    Ok(product)
}

/// Adds $(Kx)_i$ at the given positions, from the rows at the non-zero entries of $x$, a few at a time.
pub(crate) fn add_kernel_product(
    kernel: &impl KernelRows,
    x: &[f64],
    idxs: &[usize],
    sums: &mut [f64],
) -> Result<(), ProblemError> {
    if idxs.is_empty() {
        return Ok(());
    }
    let columns = kernel.prepare(idxs);
    let support: Vec<usize> = (0..x.len()).filter(|&idx| x[idx] != 0.0).collect();
    let mut values = vec![0.0; BATCH.min(support.len()) * idxs.len()];
    for batch in support.chunks(BATCH) {
        let mut places: Vec<&mut [f64]> = values.chunks_mut(idxs.len()).take(batch.len()).collect();
        kernel.fill_rows(batch, &columns, &mut places).map_err(ProblemError::Rows)?;
        for (&idx, row) in batch.iter().zip(&places) {
            sums.iter_mut().zip(row.iter()).for_each(|(sum, value)| *sum += x[idx] * value);
        }
    }
    Ok(())
}
