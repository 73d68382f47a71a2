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
//! let digits = LabelledInstances::read_esl(text.as_bytes())?;
//! assert_eq!((digits.n_instances(), digits.n_features()), (2, 2));
//! assert_eq!(digits.class_names().iter().collect::<Vec<_>>(), ["6", "9"]);
//! assert_eq!(digits.instance(1), [-1.0, -0.948]);
//! # Ok::<(), mil_data::InstancesError>(())
//! ```

use std::io::{BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use mil_core::{ClassId, ClassNames};
use nalgebra::DMatrix;

/// Longest line that is read, in bytes. Ten thousand features take a tenth of it; an endless line must not fill the memory.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// What a file compressed with gzip begins with.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

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
    /// Input compressed with gzip is recognised by its first bytes. Lines without a word are skipped.
    ///
    /// # Errors
    /// If reading fails, a word is not a number, the first of a line not an integer, lines differ in length, or there is none.
    pub fn read_esl(reader: impl Read) -> Result<Self, InstancesError> {
        let mut lines = plain(reader)?;
        let mut n_features = None;
        let mut values: Vec<f64> = Vec::new();
        let mut digits: Vec<i64> = Vec::new();
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let n_read = lines.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes)?;
            if n_read == 0 {
                break;
            }
            if n_read as u64 > MAX_LINE_BYTES {
                return Err(InstancesError::LineTooLong { line, limit: MAX_LINE_BYTES });
            }
            let mut words = words_of(&bytes);
            let Some((column, word)) = words.next() else { continue };
            digits.push(class_digit(line, column, word)?);
            let n_before = values.len();
            for (column, word) in words {
                values.push(number(line, column, word)?);
            }
            let found = values.len() - n_before;
            let expected = *n_features.get_or_insert(found);
            if found == 0 || found != expected {
                return Err(InstancesError::FeatureCount { line, found, expected: expected.max(1) });
            }
        }
        let class_names = ClassNames::new(digits.iter().map(i64::to_string));
        let id_of = |digit: &i64| class_names.id(&digit.to_string()).expect("the names were made of these");
        let classes = digits.iter().map(id_of).collect();
        let instances = DMatrix::from_vec(n_features.unwrap_or(0), digits.len(), values);
        LabelledInstances::new(instances, classes, class_names)
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

/// Why instances are refused. Instances and features count from 0, lines and columns from 1.
#[derive(Debug, thiserror::Error)]
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
    /// A word of a text is not what should stand there.
    #[error("line {line}, column {column} has {word:?}; expected {expected}")]
    Word {
        /// Line, from 1.
        line: u64,
        /// Character within the line where the word begins, from 1.
        column: usize,
        /// The word, shortened if long.
        word: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A line has another number of features than the first, or none.
    #[error("line {line} has {found} features; expected {expected}")]
    FeatureCount {
        /// Line, from 1.
        line: u64,
        /// Features on the line.
        found: usize,
        /// Features there should be.
        expected: usize,
    },
    /// A line is too long to be meant.
    #[error("line {line} is longer than {limit} bytes")]
    LineTooLong {
        /// Line, from 1.
        line: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The reader failed, or compressed data are damaged.
    #[error("reading failed: {0}")]
    Io(#[from] std::io::Error),
}

/// The bytes themselves, or what they hold if they are compressed.
pub(crate) fn plain(mut reader: impl Read) -> std::io::Result<impl BufRead> {
    let mut head = Vec::new();
    reader.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
    let is_compressed = head == GZIP_MAGIC;
    let whole = BufReader::new(Cursor::new(head).chain(reader));
    Ok(if is_compressed { Plain::Gzip(BufReader::new(MultiGzDecoder::new(whole))) } else { Plain::AsIs(whole) })
}

enum Plain<R: BufRead> {
    AsIs(R),
    Gzip(BufReader<MultiGzDecoder<R>>),
}

impl<R: BufRead> Read for Plain<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Plain::AsIs(reader) => reader.read(buf),
            Plain::Gzip(reader) => reader.read(buf),
        }
    }
}

impl<R: BufRead> BufRead for Plain<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        match self {
            Plain::AsIs(reader) => reader.fill_buf(),
            Plain::Gzip(reader) => reader.fill_buf(),
        }
    }

    fn consume(&mut self, n_bytes: usize) {
        match self {
            Plain::AsIs(reader) => reader.consume(n_bytes),
            Plain::Gzip(reader) => reader.consume(n_bytes),
        }
    }
}

/// The words of a line and the columns where they begin, from 1.
fn words_of(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    line.split(u8::is_ascii_whitespace).filter_map(move |word| {
        let column = start + 1;
        start += word.len() + 1;
        (!word.is_empty()).then_some((column, word))
    })
}

/// A class written as an integer, with decimals (`6.0000`) or without.
fn class_digit(line: u64, column: usize, word: &[u8]) -> Result<i64, InstancesError> {
    // Beyond 2^53 neighbouring integers are no longer distinct doubles.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match parse(word) {
        Some(value) if value.fract() == 0.0 && value.abs() <= LARGEST => Ok(value as i64),
        _ => Err(InstancesError::Word { line, column, word: shown(word), expected: "the class, an integer" }),
    }
}

fn number(line: u64, column: usize, word: &[u8]) -> Result<f64, InstancesError> {
    match parse(word) {
        Some(value) if value.is_finite() => Ok(value),
        _ => Err(InstancesError::Word { line, column, word: shown(word), expected: "a finite number" }),
    }
}

fn parse(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(word).chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(text: &str) -> Result<LabelledInstances, InstancesError> {
        LabelledInstances::read_esl(text.as_bytes())
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
        assert_eq!(LabelledInstances::read_esl(&gzip(text.as_bytes())[..]).unwrap(), read(text).unwrap());
        let cut = &gzip(text.as_bytes())[..20];
        assert!(matches!(LabelledInstances::read_esl(cut), Err(InstancesError::Io(_))));
    }

    #[test]
    fn carriage_returns_and_tabs_are_blanks() {
        assert_eq!(read("1\t2 3\r\n4 5 6\r\n").unwrap(), read("1 2 3\n4 5 6\n").unwrap());
    }

    #[test]
    fn each_fault_names_its_line_and_column() {
        for (text, message) in [
            ("1 2 3\n4 5 x6\n", "line 2, column 5 has \"x6\"; expected a finite number"),
            ("1 2 NaN\n", "line 1, column 5 has \"NaN\"; expected a finite number"),
            ("1  1e999\n", "line 1, column 4 has \"1e999\"; expected a finite number"),
            ("1 2\n\n 1.5 2\n", "line 3, column 2 has \"1.5\"; expected the class, an integer"),
            ("inf 2\n", "line 1, column 1 has \"inf\"; expected the class, an integer"),
            ("1 2 3\n1 2\n", "line 2 has 1 features; expected 2"),
            ("1\n", "line 1 has 0 features; expected 1"),
            ("", "0 instances of 0 features; expected at least one of each"),
            (" \n", "0 instances of 0 features; expected at least one of each"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let endless = std::io::repeat(b' ');
        assert!(matches!(LabelledInstances::read_esl(endless), Err(InstancesError::LineTooLong { line: 1, .. })));
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
