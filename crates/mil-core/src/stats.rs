//! What repeated measurements say: mean with its confidence interval, paired and corrected t-tests.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean and spread of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many measurements.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (with $n - 1$), 0 for a single one.
    pub deviation: f64,
    /// Half the width of the 95 % confidence interval of the mean, $t_{0.975,\,n-1}\, s / \sqrt n$; `None` for a single measurement, of which
    /// nothing is known.
    pub half_width: Option<f64>,
}

impl Summary {
    /// Summarises measurements.
    ///
    /// ```
    /// use mil_core::stats::Summary;
    /// let summary = Summary::of(&[1.0, 2.0, 3.0]);
    /// assert_eq!((summary.mean, summary.deviation), (2.0, 1.0));
    /// // t at 97.5 % with 2 degrees of freedom is 4.3027.
    /// assert!((summary.half_width.unwrap() - 4.302_652_7 / 3f64.sqrt()).abs() < 1e-6);
    /// ```
    ///
    /// # Panics
    /// If there is no measurement.
    #[must_use]
    pub fn of(values: &[f64]) -> Summary {
        assert!(!values.is_empty(), "the mean of nothing");
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Summary { n, mean, deviation: 0.0, half_width: None };
        }
        let deviation = sample_variance(values, mean).sqrt();
        let quantile = student(n - 1).inverse_cdf(0.975);
        Summary { n, mean, deviation, half_width: Some(quantile * deviation / (n as f64).sqrt()) }
    }
}

/// Outcome of a t-test that the mean difference is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// The statistic; infinite where all differences are equal and not 0.
    pub t: f64,
    /// Degrees of freedom.
    pub degrees_of_freedom: usize,
    /// Two-sided p-value.
    pub p_value: f64,
}

/// Paired t-test on differences between two methods: $t = \bar d \,/\, \sqrt{s^2 / k}$. `None` for fewer than two differences, or one that is not
/// finite.
///
/// The differences of folds of one cross-validation share training data and violate its independence: see [`corrected_t_test`].
#[must_use]
pub fn paired_t_test(differences: &[f64]) -> Option<TTest> {
    t_test(differences, 1.0 / differences.len() as f64)
}

/// The corrected resampled t-test: $t = \bar d \,/\, \sqrt{\bigl(\tfrac1k + \tfrac{n_\text{test}}{n_\text{train}}\bigr) s^2}$
/// (Nadeau & Bengio, *Inference for the Generalization Error*, Machine Learning 2003), over the $k$ folds of all repeats of a cross-validation
/// (Bouckaert & Frank, PAKDD 2004). `None` for fewer than two differences, or one that is not finite.
///
/// # Panics
/// If there is no training bag.
#[must_use]
pub fn corrected_t_test(differences: &[f64], n_train: usize, n_test: usize) -> Option<TTest> {
    assert!(n_train > 0, "no training bag");
    t_test(differences, 1.0 / differences.len() as f64 + n_test as f64 / n_train as f64)
}

fn t_test(differences: &[f64], variance_factor: f64) -> Option<TTest> {
    let k = differences.len();
    if k < 2 || differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let degrees_of_freedom = k - 1;
    let first = differences[0];
    if differences.iter().all(|difference| *difference == first) {
        // Decided here and not by a variance of 0, which rounding seldom leaves.
        let (t, p_value) = if first == 0.0 { (0.0, 1.0) } else { (first.signum() * f64::INFINITY, 0.0) };
        return Some(TTest { t, degrees_of_freedom, p_value });
    }
    // The statistic does not depend on the unit; in units of the largest difference no square leaves the range.
    let unit = differences.iter().fold(0.0f64, |unit, difference| unit.max(difference.abs()));
    let scaled: Vec<f64> = differences.iter().map(|difference| difference / unit).collect();
    let mean = scaled.iter().sum::<f64>() / k as f64;
    let t = mean / (variance_factor * sample_variance(&scaled, mean)).sqrt();
    Some(TTest { t, degrees_of_freedom, p_value: 2.0 * student(degrees_of_freedom).sf(t.abs()) })
}

fn sample_variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

fn student(degrees_of_freedom: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees_of_freedom as f64).expect("degrees of freedom are above 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_widths_use_the_published_quantiles() {
        // t at 97.5 %: 12.706 (1), 2.262157 (9), 1.984217 (99).
        for (n, quantile) in [(2, 12.706_204_7), (10, 2.262_157_2), (100, 1.984_216_95)] {
            let values: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
            let summary = Summary::of(&values);
            let expected = quantile * summary.deviation / f64::from(n).sqrt();
            assert!((summary.half_width.unwrap() - expected).abs() < 1e-6, "{n}");
        }
    }

    #[test]
    fn a_paired_test_agrees_with_a_worked_example() {
        // Mean 1.6, s^2 = 8.3, k = 5; the distribution of Student's t has a closed form for 4 degrees of freedom.
        let test = paired_t_test(&[1.0, 5.0, -2.0, 0.0, 4.0]).unwrap();
        let t = 1.6 / (8.3f64 / 5.0).sqrt();
        let u = 1.0 + t * t / 4.0;
        let upper_tail = 0.5 - 0.375 * (t / u.sqrt()) * (1.0 - t * t / (12.0 * u));
        assert!((test.t - t).abs() < 1e-12 && test.degrees_of_freedom == 4);
        assert!((test.p_value - 2.0 * upper_tail).abs() < 1e-12, "{}", test.p_value);
    }

    #[test]
    fn the_correction_widens_the_error_by_its_factor() {
        let differences = [1.0, 5.0, -2.0, 0.0, 4.0];
        let (plain, corrected) =
            (paired_t_test(&differences).unwrap(), corrected_t_test(&differences, 90, 10).unwrap());
        let factor = ((1.0 / 5.0 + 10.0 / 90.0) / (1.0 / 5.0f64)).sqrt();
        assert!((plain.t / corrected.t - factor).abs() < 1e-12);
        assert!(corrected.p_value > plain.p_value);
    }

    #[test]
    fn equal_differences_are_certain_and_no_difference_is_none() {
        assert_eq!(paired_t_test(&[0.0; 5]).unwrap().p_value, 1.0);
        for equal in [2.0, 0.1] {
            let certain = paired_t_test(&[equal; 10]).unwrap();
            assert_eq!((certain.t, certain.p_value), (f64::INFINITY, 0.0));
        }
        assert_eq!(paired_t_test(&[-0.1; 3]).unwrap().t, f64::NEG_INFINITY);
        assert_eq!(paired_t_test(&[1.0]), None);
    }

    #[test]
    fn the_unit_of_the_differences_does_not_matter() {
        let expected = paired_t_test(&[1.0, 2.0, 3.0]).unwrap().t;
        assert!((expected - 12f64.sqrt()).abs() < 1e-12);
        for unit in [1e-300, 1e-200, 1e200, 5e307] {
            let t = paired_t_test(&[unit, 2.0 * unit, 3.0 * unit]).unwrap().t;
            assert!((t - expected).abs() < 1e-12, "{unit}: {t}");
        }
        assert_eq!(paired_t_test(&[f64::NAN, 1.0]), None);
        assert_eq!(paired_t_test(&[f64::INFINITY, 1.0]), None);
    }
}
