//! The training instances as the growth of trees reads them: feature by feature, each value replaced by its rank.
//!
//! A tree compares values of one feature with each other and with nothing else, so a rank is as good as the value and takes one to four bytes. Ranks of equal values are equal: a histogram over ranks is exact,
//! and where a feature has more distinct values than a histogram should have bars, several neighbouring values share a *code* ([`Resolution::Bins`]). Thresholds are real numbers all the same, midway between the
//! values on either side.
//!
//! Cost: one sort per feature, shared by all trees and all rounds of annealing.

use mil_core::{ParamError, ParamField, ParamRange};
use nalgebra::DMatrix;
use rayon::prelude::*;

use crate::error::ForestError;

/// How finely the values of a feature are told apart during growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Every distinct value has a code of its own.
    Exact,
    /// At most so many codes of about equally many instances; 2 to 256. One byte a value, for large data.
    Bins(usize),
}

/// The fewest and the most bins.
const BINS: ParamRange = ParamRange::Within(2.0, 256.0);
/// Values that the edges of bins are taken from, at most.
const SAMPLE: usize = 1 << 17;
/// Features that are read together: as many as share a cache line.
const ABREAST: usize = 8;

impl ParamField for Resolution {
    const KIND: &'static str = "exact, or an integer";

    fn parse(word: &str) -> Option<Resolution> {
        if word == "exact" { Some(Resolution::Exact) } else { word.parse().ok().map(Resolution::Bins) }
    }

    fn show(&self) -> String {
        match self {
            Resolution::Exact => "exact".to_owned(),
            Resolution::Bins(n) => n.to_string(),
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        match *self {
            Resolution::Exact => Ok(()),
            Resolution::Bins(n) => BINS.require("resolution", n as f64),
        }
    }
}

/// Instances laid out for growing trees. Build it once, grow as often as wanted.
#[derive(Debug, Clone)]
pub struct Columns<'a> {
    instances: &'a DMatrix<f64>,
    features: Vec<Feature>,
}

/// One feature of all instances.
#[derive(Debug, Clone)]
pub(crate) struct Feature {
    pub(crate) codes: Codes,
    /// The smallest value of each code.
    low: Vec<f64>,
    /// The largest value of each code; empty where it is the smallest.
    high: Vec<f64>,
    /// Root of the mean squared deviation, for tests over several features.
    pub(crate) deviation: f64,
}

/// The code of each instance, in the narrowest type that holds them all.
#[derive(Debug, Clone)]
pub(crate) enum Codes {
    Byte(Vec<u8>),
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl<'a> Columns<'a> {
    /// Ranks the values of a matrix of features × instances.
    ///
    /// # Errors
    /// If the number of bins is out of range, there is no instance or no feature, there are $2^{32}$ instances or more, or a value is not finite.
    pub fn new(instances: &'a DMatrix<f64>, resolution: Resolution) -> Result<Columns<'a>, ForestError> {
        resolution.check()?;
        let (n_features, n_instances) = instances.shape();
        if n_features == 0 || n_instances == 0 || u32::try_from(n_instances).is_err() {
            return Err(ForestError::Size { n_instances, n_features });
        }
        if let Some(at) = instances.as_slice().iter().position(|value| !value.is_finite()) {
            let (instance_idx, feature_idx) = (at / n_features, at % n_features);
            return Err(ForestError::NotFinite { instance_idx, feature_idx, value: instances.as_slice()[at] });
        }
        let blocks: Vec<Vec<Feature>> = (0..n_features.div_ceil(ABREAST))
            .into_par_iter()
            .map(|block| {
                let rows = block * ABREAST..((block + 1) * ABREAST).min(n_features);
                let mut values = vec![Vec::with_capacity(instances.ncols()); rows.len()];
                for instance in instances.as_slice().chunks_exact(n_features) {
                    for (column, value) in values.iter_mut().zip(&instance[rows.clone()]) {
                        column.push(*value);
                    }
                }
                values.iter().map(|values| Feature::new(values, resolution)).collect()
            })
            .collect();
        Ok(Columns { instances, features: blocks.into_iter().flatten().collect() })
    }

    /// Number of instances.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.instances.ncols()
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.features.len()
    }

    /// The instances themselves, features × instances.
    #[must_use]
    pub fn instances(&self) -> &'a DMatrix<f64> {
        self.instances
    }

    pub(crate) fn feature(&self, feature_idx: usize) -> &Feature {
        &self.features[feature_idx]
    }
}

impl Feature {
    fn new(values: &[f64], resolution: Resolution) -> Feature {
        let deviation = deviation(values);
        match resolution {
            Resolution::Exact => Feature::exact(values, deviation),
            Resolution::Bins(n_bins) => Feature::binned(values, n_bins, deviation),
        }
    }

    fn exact(values: &[f64], deviation: f64) -> Feature {
        let mut order: Vec<(u64, u32)> =
            values.iter().zip(0u32..).map(|(value, idx)| (order_preserving_bits(*value), idx)).collect();
        order.sort_unstable();
        let mut codes = vec![0u32; values.len()];
        let mut low: Vec<f64> = Vec::new();
        for (_, idx) in order {
            let value = values[idx as usize];
            if low.last() != Some(&value) {
                low.push(value);
            }
            codes[idx as usize] = low.len() as u32 - 1;
        }
        Feature { codes: Codes::of(&codes, low.len()), low, high: Vec::new(), deviation }
    }

    /// Edges at the quantiles of evenly spaced instances; the ends of each bin are those of the values in it.
    fn binned(values: &[f64], n_bins: usize, deviation: f64) -> Feature {
        let step = values.len().div_ceil(SAMPLE);
        let mut sample: Vec<f64> = values.iter().copied().step_by(step).collect();
        sample.sort_unstable_by(f64::total_cmp);
        // The upper end of each bin but the last.
        let mut edges: Vec<f64> = (1..n_bins).map(|bin| sample[bin * sample.len() / n_bins]).collect();
        let mut distinct = sample.clone();
        distinct.dedup();
        if distinct.len() <= n_bins {
            edges = distinct;
        }
        edges.dedup();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        edges.retain(|edge| *edge < largest);
        let mut codes = Vec::with_capacity(values.len());
        let (mut low, mut high) = (vec![f64::INFINITY; edges.len() + 1], vec![f64::NEG_INFINITY; edges.len() + 1]);
        for &value in values {
            let code = edges.partition_point(|edge| *edge < value);
            low[code] = low[code].min(value);
            high[code] = high[code].max(value);
            codes.push(code as u8);
        }
        Feature { codes: Codes::Byte(codes), low, high, deviation }
    }

    /// Whether any two instances differ here.
    pub(crate) fn varies(&self) -> bool {
        self.n_codes() > 1
    }

    /// Codes are below it.
    pub(crate) fn n_codes(&self) -> usize {
        self.low.len()
    }

    pub(crate) fn low(&self, code: u32) -> f64 {
        self.low[code as usize]
    }

    pub(crate) fn high(&self, code: u32) -> f64 {
        *self.high.get(code as usize).unwrap_or(&self.low[code as usize])
    }

    /// A threshold with the values of one code below and those of a higher code above.
    pub(crate) fn between(&self, below: u32, above: u32) -> f64 {
        midpoint(self.high(below), self.low(above))
    }

    /// The last code that lies at or below a threshold, from the first to the last but one of a range of codes, and a threshold that says the same.
    pub(crate) fn cut(&self, threshold: f64, first: u32, last: u32) -> (u32, f64) {
        let ends = if self.high.is_empty() { &self.low } else { &self.high };
        let inner = &ends[first as usize + 1..last as usize];
        let code = first + inner.partition_point(|end| *end <= threshold) as u32;
        let cuts = self.high(code) <= threshold && threshold < self.low(code + 1);
        (code, if cuts { threshold } else { self.between(code, code + 1) })
    }
}

impl Codes {
    fn of(codes: &[u32], n_codes: usize) -> Codes {
        match n_codes {
            0..=0x100 => Codes::Byte(codes.iter().map(|code| *code as u8).collect()),
            0x101..=0x1_0000 => Codes::Short(codes.iter().map(|code| *code as u16).collect()),
            _ => Codes::Long(codes.to_vec()),
        }
    }
}

/// A number $m$ with $a \le m < b$, midway where there is room.
pub(crate) fn midpoint(a: f64, b: f64) -> f64 {
    let middle = a / 2.0 + b / 2.0;
    if a <= middle && middle < b { middle } else { a }
}

/// Bits that sort as the finite numbers they stand for.
fn order_preserving_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Infinite where squares leave the range of `f64`.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn codes(feature: &Feature) -> Vec<u32> {
        match &feature.codes {
            Codes::Byte(codes) => codes.iter().map(|code| u32::from(*code)).collect(),
            Codes::Short(codes) => codes.iter().map(|code| u32::from(*code)).collect(),
            Codes::Long(codes) => codes.clone(),
        }
    }

    #[test]
    fn ranks_are_dense_and_both_zeros_are_one() {
        let matrix = DMatrix::from_row_slice(1, 5, &[3.0, -0.0, 0.0, 1e300, -7.0]);
        let columns = Columns::new(&matrix, Resolution::Exact).unwrap();
        assert_eq!(codes(columns.feature(0)), [2, 1, 1, 3, 0]);
    }

    #[test]
    fn codes_take_the_narrowest_type() {
        let of = |n: usize| {
            let matrix = DMatrix::from_fn(1, n, |_, idx| idx as f64);
            let columns = Columns::new(&matrix, Resolution::Exact).unwrap();
            assert_eq!(codes(columns.feature(0)), (0..n as u32).collect::<Vec<_>>());
            columns.features[0].codes.clone()
        };
        assert!(matches!(of(256), Codes::Byte(_)));
        assert!(matches!(of(257), Codes::Short(_)) && matches!(of(65536), Codes::Short(_)));
        assert!(matches!(of(65537), Codes::Long(_)));
    }

    #[test]
    fn no_more_bins_than_asked_for_and_as_many_as_there_are_values() {
        let matrix = DMatrix::from_fn(2, 1000, |row, idx| if row == 0 { idx as f64 } else { (idx % 3) as f64 });
        let columns = Columns::new(&matrix, Resolution::Bins(16)).unwrap();
        let n_codes = |feature: usize| codes(columns.feature(feature)).into_iter().max().unwrap() + 1;
        assert_eq!((n_codes(0), n_codes(1)), (16, 3));
        let mut counts = [0; 16];
        codes(columns.feature(0)).iter().for_each(|code| counts[*code as usize] += 1);
        assert!(counts.iter().all(|count| (61..=64).contains(count)), "{counts:?}");
        assert!(Columns::new(&matrix, Resolution::Bins(1)).is_err());
        assert!(Columns::new(&matrix, Resolution::Bins(257)).is_err());
    }

    proptest! {
        #[test]
        fn codes_rise_with_values_and_thresholds_lie_between(
            values in prop::collection::vec(prop_oneof![-1e3f64..1e3, (-5i32..5).prop_map(f64::from), -1e308f64..1e308], 2..60),
            n_bins in 2usize..10,
            at in 0.0f64..1.0,
        ) {
            for resolution in [Resolution::Exact, Resolution::Bins(n_bins)] {
                let matrix = DMatrix::from_row_slice(1, values.len(), &values);
                let columns = Columns::new(&matrix, resolution).unwrap();
                let feature = columns.feature(0);
                let codes = codes(feature);
                let last = *codes.iter().max().unwrap();
                for (value, code) in values.iter().zip(&codes) {
                    prop_assert!(feature.low(*code) <= *value && *value <= feature.high(*code));
                    for above in code + 1..=last {
                        let threshold = feature.between(*code, above);
                        prop_assert!(*value <= threshold && threshold < feature.low(above));
                    }
                }
                if last > 0 {
                    let (low, high) = (feature.low(0), feature.high(last));
                    let (code, threshold) = feature.cut(low * (1.0 - at) + high * at, 0, last);
                    for (value, other) in values.iter().zip(&codes) {
                        prop_assert_eq!(*other <= code, *value <= threshold);
                    }
                }
            }
        }
    }
}
