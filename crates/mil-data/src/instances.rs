//! Labelled instances that are in no bag yet, such as images of digits.
//!
//! [`LabelledInstances`] is to instances what [`mil_core::BagSet`] is to bags: checked once, immutable after. Bags are made of them by
//! [`FromInstancesParams`](crate::synth::FromInstancesParams).
//!
//! The text format that [`LabelledInstances::read_esl`] reads is that of the files `zip.train` and `zip.test` (USPS digits) of Hastie,
//! Tibshirani & Friedman, *The Elements of Statistical Learning*: one instance per line, numbers separated by blanks, the class first.
//!
//! ```
//! use mil_data::LabelledInstances;
//! let text = "6.0000 -1.0000 0.5000 \n9 -1 -0.948\n";
//! let digits = LabelledInstances::read_esl(text.as_bytes(), "digits.txt")?;
//! assert_eq!((digits.n_instances(), digits.n_features()), (2, 2));
//! assert_eq!(digits.class_names().iter().collect::<Vec<_>>(), ["6", "9"]);
//! assert_eq!(digits.instance(1), [-1.0, -0.948]);
//! # Ok::<(), mil_data::DataError>(())
//! ```

use std::io::Read;
use std::ops::Range;

use mil_core::{ClassId, ClassNames};
use nalgebra::DMatrix;

use crate::error::shorten;
use crate::text::{self, Line, Lines};
use crate::{DataError, Fault, Limits, Part, gzip};

/// Instances with the class of each.
///
/// Holds at least one instance and one feature; all values are finite, and every class has a name.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledInstances {
    instances: DMatrix<f64>,
    classes: Vec<ClassId>,
    class_names: ClassNames,
}

impl LabelledInstances {
    /// Checks the instances, a matrix of features × instances, and their classes.
    ///
    /// # Errors
    /// If there is no instance or no feature, the classes are not one per instance or not all named, or a value is not finite.
    pub fn new(
        instances: DMatrix<f64>,
        classes: Vec<ClassId>,
        class_names: ClassNames,
    ) -> Result<Self, InstancesError> {
        let (n_features, n_instances) = instances.shape();
        if n_instances == 0 || n_features == 0 {
            return Err(InstancesError::Empty { n_instances, n_features });
        }
        if classes.len() != n_instances {
            return Err(InstancesError::ClassCount { found: classes.len(), expected: n_instances });
        }
        if let Some(instance_idx) = classes.iter().position(|class| class.idx() >= class_names.len()) {
            let class_idx = classes[instance_idx].idx();
            return Err(InstancesError::UnknownClass { instance_idx, class_idx, n_classes: class_names.len() });
        }
        if let Some(position) = instances.iter().position(|value| !value.is_finite()) {
            let (instance_idx, feature_idx) = (position / n_features, position % n_features);
            return Err(InstancesError::NotFinite { instance_idx, feature_idx, value: instances[position] });
        }
        Ok(LabelledInstances { instances, classes, class_names })
    }

    /// Reads lines of numbers separated by blanks: an integer that names the class, then the features.
    ///
    /// Input compressed with gzip is recognised by its first bytes, and blank lines are skipped. The name of the source is for
    /// messages.
    ///
    /// # Errors
    /// If reading fails, a word is not a number, the first of a line not an integer, lines differ in length, or there is none.
    pub fn read_esl(reader: impl Read, source_name: &str) -> Result<Self, DataError> {
        let reader = gzip::open(reader).map_err(|error| text::io(source_name, error))?;
        let mut lines = Lines::new(reader, source_name, &Limits::default());
        let mut n_features = None;
        let mut values: Vec<f64> = Vec::new();
        let mut digits: Vec<i64> = Vec::new();
        while let Some(line) = lines.next_filled()? {
            let mut words = words_of(line.text);
            digits.push(class_digit(&line, words.next().expect("the line is not blank"))?);
            let n_before = values.len();
            for (feature_idx, word) in words.enumerate() {
                values.push(line.number_in(word, feature_idx + 1)?);
            }
            let found = values.len() - n_before;
            if found == 0 {
                return Err(line.fault(line.text.len(), Fault::Missing { part: Part::Feature(1) }));
            }
            let expected = *n_features.get_or_insert(found);
            if found != expected {
                return Err(line.fault(0, Fault::Ragged { found: found + 1, expected: expected + 1 }));
            }
        }
        let Some(n_features) = n_features else {
            return Err(text::input(source_name, lines.end(), Fault::Empty));
        };
        let class_names = ClassNames::new(digits.iter().map(i64::to_string));
        let id_of = |digit: &i64| class_names.id(&digit.to_string()).expect("the names were made of these");
        Ok(LabelledInstances {
            instances: DMatrix::from_vec(n_features, digits.len(), values),
            classes: digits.iter().map(id_of).collect(),
            class_names,
        })
    }

    /// Number of instances, at least 1.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.instances.ncols()
    }

    /// Dimension of the instances, at least 1.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.instances.nrows()
    }

    /// All instances, features × instances.
    #[must_use]
    pub fn instances(&self) -> &DMatrix<f64> {
        &self.instances
    }

    /// One instance.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn instance(&self, instance_idx: usize) -> &[f64] {
        &self.instances.as_slice()[instance_idx * self.n_features()..][..self.n_features()]
    }

    /// One class per instance.
    #[must_use]
    pub fn classes(&self) -> &[ClassId] {
        &self.classes
    }

    /// The names of the classes in the order of their positions.
    #[must_use]
    pub fn class_names(&self) -> &ClassNames {
        &self.class_names
    }

    /// Number of instances of each class.
    #[must_use]
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.class_names.len()];
        for class in &self.classes {
            counts[class.idx()] += 1;
        }
        counts
    }
}

/// Why instances are refused. Positions count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InstancesError {
    /// There is nothing.
    #[error("{n_instances} instances of {n_features} features; expected at least one of each")]
    Empty {
        /// Instances there are.
        n_instances: usize,
        /// Features they have.
        n_features: usize,
    },
    /// The classes are not one per instance.
    #[error("{found} classes for {expected} instances; expected one each")]
    ClassCount {
        /// Classes given.
        found: usize,
        /// Instances there are.
        expected: usize,
    },
    /// A class id has no name.
    #[error("instance {instance_idx} is of class {class_idx}, but only {n_classes} classes are named")]
    UnknownClass {
        /// Position of the instance.
        instance_idx: usize,
        /// The class it claims.
        class_idx: usize,
        /// Number of named classes.
        n_classes: usize,
    },
    /// A value is NaN or infinite.
    #[error("instance {instance_idx}, feature {feature_idx} is {value}; expected a finite number")]
    NotFinite {
        /// Position of the instance.
        instance_idx: usize,
        /// Position of the feature.
        feature_idx: usize,
        /// The offending value.
        value: f64,
    },
}

/// Where the words of a line stand.
fn words_of(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    line.as_bytes().split(u8::is_ascii_whitespace).filter_map(move |word| {
        let range = start..start + word.len();
        start = range.end + 1;
        (!range.is_empty()).then_some(range)
    })
}

/// A class written as an integer, with decimals (`6.0000`) or without.
fn class_digit(line: &Line<'_>, word: Range<usize>) -> Result<i64, DataError> {
    // Beyond 2^53 neighbouring integers are no longer distinct doubles.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let (start, word) = (word.start, &line.text[word]);
    match text::parse_number(word.as_bytes()) {
        Some(value) if value.fract() == 0.0 && value.abs() <= LARGEST => Ok(value as i64),
        _ => Err(line.fault(start, Fault::Expected { expected: "the class, an integer", found: shorten(word) })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(text: impl AsRef<[u8]>) -> Result<LabelledInstances, DataError> {
        LabelledInstances::read_esl(text.as_ref(), "zip")
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn classes_are_integers_in_order_of_value() {
        let set = read("10 1 2\n9.0000 3 4 \n\n10 5 6").unwrap();
        assert_eq!(set.class_names().iter().collect::<Vec<_>>(), ["9", "10"]);
        assert_eq!(set.classes(), [ClassId(1), ClassId(0), ClassId(1)]);
        assert_eq!(set.class_counts(), [1, 2]);
        assert_eq!(set.instances(), &DMatrix::from_column_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }

    #[test]
    fn compressed_input_reads_as_the_plain_one() {
        let text = "1 0.5 -0.25\n2 1 0\n";
        let compressed = gzip(text.as_bytes());
        assert_eq!(read(&compressed).unwrap(), read(text).unwrap());
        assert_eq!(
            read(&compressed[..20]).unwrap_err().to_string(),
            "zip: the gzip data end too early; the file is incomplete"
        );
    }

    #[test]
    fn carriage_returns_and_tabs_are_blanks() {
        assert_eq!(read("1\t2 3\r\n4 5 6\r\n").unwrap(), read("1 2 3\n4 5 6\n").unwrap());
    }

    #[test]
    fn each_fault_names_its_line_and_column() {
        for (text, message) in [
            ("1 2 3\n4 5 x6\n", "zip, line 2, column 5: feature 2 is \"x6\"; expected a number"),
            ("1 2 NaN\n", "zip, line 1, column 5: feature 2 is NaN; expected a finite number"),
            ("1  1e999\n", "zip, line 1, column 4: feature 1 is 1e999; expected a finite number"),
            ("1 2\n\n 1.5 2\n", "zip, line 3, column 2: expected the class, an integer, found 1.5"),
            ("inf 2\n", "zip, line 1, column 1: expected the class, an integer, found inf"),
            ("1 2 3\n1 2\n", "zip, line 2, column 1: the row has 2 fields; expected 3"),
            ("", "zip, line 1, column 1: no instance found; expected at least one"),
            (" \n", "zip, line 1, column 1: no instance found; expected at least one"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), message, "{text:?}");
        }
        let message = read("1\n").unwrap_err().to_string();
        assert!(message.starts_with("zip, line 1, column 2: feature 1 is missing"), "{message}");
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let names = || ClassNames::new(["a", "b"]);
        let matrix = || DMatrix::from_column_slice(1, 2, &[1.0, 2.0]);
        for (result, message) in [
            (
                LabelledInstances::new(matrix(), vec![ClassId(0)], names()),
                "1 classes for 2 instances; expected one each",
            ),
            (
                LabelledInstances::new(matrix(), vec![ClassId(0), ClassId(2)], names()),
                "instance 1 is of class 2, but only 2 classes are named",
            ),
            (
                LabelledInstances::new(matrix() * f64::INFINITY, vec![ClassId(0); 2], names()),
                "instance 0, feature 0 is inf; expected a finite number",
            ),
            (
                LabelledInstances::new(DMatrix::zeros(0, 2), vec![ClassId(0); 2], names()),
                "2 instances of 0 features; expected at least one of each",
            ),
        ] {
            assert_eq!(result.unwrap_err().to_string(), message);
        }
    }
}
