//! Every way a problem can be ill stated.

use mil_core::RowError;

/// Why a problem was refused or could not be evaluated. Each is the caller's to mend.
#[derive(Debug, thiserror::Error)]
pub enum ProblemError {
    /// Two parts do not fit together.
    #[error("{what}: {found} in number, expected {expected}")]
    Length {
        /// The part.
        what: &'static str,
        /// Its length by the other parts.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A number is out of its range.
    #[error("{what} {idx} is {}; expected {expected}", number(*value))]
    Value {
        /// The part.
        what: &'static str,
        /// The position in it.
        idx: usize,
        /// The number found.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// An entry of a matrix is out of its range.
    #[error("{what} has {} at row {row}, column {column}; expected {expected}", number(*value))]
    Entry {
        /// The matrix.
        what: &'static str,
        /// The entry's row.
        row: usize,
        /// The entry's column.
        column: usize,
        /// The number found.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// A setting is out of its range.
    #[error("{name} is {}; expected {expected}", number(*value))]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// The value found.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// There is nothing to solve.
    #[error("the problem has no {0}")]
    Empty(&'static str),
    /// The quadratic form has a direction of negative curvature, so that a local optimum proves nothing.
    #[error("the quadratic form is not positive semidefinite")]
    NotConvex,
    /// There is no memory for the least that a solver needs.
    #[error("no memory for {n_values} numbers")]
    NoMemory {
        /// How many numbers were asked for.
        n_values: usize,
    },
    /// A kernel row could not be computed.
    #[error("a kernel row could not be computed: {0}")]
    Rows(#[source] RowError),
}

/// A number as one would write it: 300 digits are of no use.
fn number(value: f64) -> String {
    let is_plain = value == 0.0 || !value.is_finite() || (1e-5..1e15).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// Checks that all numbers of a part are finite.
pub(crate) fn require_finite(what: &'static str, values: &[f64]) -> Result<(), ProblemError> {
    require(what, values, f64::is_finite, "a finite number")
}

/// Checks every number of a part.
pub(crate) fn require(
    what: &'static str,
    values: &[f64],
    holds: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<(), ProblemError> {
    match values.iter().position(|&value| !holds(value)) {
        None => Ok(()),
        Some(idx) => Err(ProblemError::Value { what, idx, value: values[idx], expected }),
    }
}

/// Checks a setting.
pub(crate) fn require_setting(
    name: &'static str,
    value: f64,
    holds: bool,
    expected: &'static str,
) -> Result<(), ProblemError> {
    if holds { Ok(()) } else { Err(ProblemError::Setting { name, value, expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_one_would_write_them() {
        let written = [0.0, -1.0, 0.5, 1e300, -1e-300, f64::NAN].map(number);
        assert_eq!(written, ["0", "-1", "0.5", "1e300", "-1e-300", "NaN"]);
    }
}
