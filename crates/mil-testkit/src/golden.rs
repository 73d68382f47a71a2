//! Reading the golden cases of `fixtures/golden`.
//!
//! Each function panics on what is not as it says: a test that cannot read its file fails.

use nalgebra::DMatrix;
use serde_json::Value;

/// A whole file.
#[must_use]
pub fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON file")
}

/// A number.
#[must_use]
pub fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A list of numbers.
#[must_use]
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

/// A matrix, told as a list of rows.
#[must_use]
pub fn matrix(value: &Value) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().expect("a list of rows").iter().map(numbers).collect();
    DMatrix::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |row, column| rows[row][column])
}
