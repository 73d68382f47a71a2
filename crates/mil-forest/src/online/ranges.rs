//! The range of each feature, as far as a stream has seen it.

use mil_core::Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The least and the largest value of each feature so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ranges {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The features that have had two values, ascending; a test on any other would send all instances the same way.
    varied: Vec<u32>,
}

impl Ranges {
    pub(crate) fn new(n_features: usize) -> Ranges {
        Ranges { low: vec![f64::INFINITY; n_features], high: vec![f64::NEG_INFINITY; n_features], varied: Vec::new() }
    }

    /// Takes in instances that lie one after the other.
    pub(crate) fn extend(&mut self, values: &[f64]) {
        for instance in values.chunks_exact(self.low.len()) {
            for ((low, high), value) in self.low.iter_mut().zip(&mut self.high).zip(instance) {
                *low = if *value < *low { *value } else { *low };
                *high = if *value > *high { *value } else { *high };
            }
        }
        if self.varied.len() < self.low.len() {
            self.varied = self.with_spread();
        }
    }

    fn with_spread(&self) -> Vec<u32> {
        let features = self.low.iter().zip(&self.high).zip(0u32..);
        features.filter(|((low, high), _)| low < high).map(|(_, feature)| feature).collect()
    }

    pub(crate) fn have_spread(&self) -> bool {
        !self.varied.is_empty()
    }

    /// A feature that varies, and a threshold somewhere in its range.
    pub(crate) fn draw(&self, rng: &mut Rng) -> (u32, f64) {
        let feature = self.varied[rng.random_range(0..self.varied.len())];
        let (low, high) = (self.low[feature as usize], self.high[feature as usize]);
        let at: f64 = rng.random();
        // Not by the width, which may exceed every `f64`.
        (feature, (low * (1.0 - at) + high * at).clamp(low, high))
    }

    /// Whether ranges that were read from a file are those of a stream that has, or has not, seen instances.
    pub(crate) fn are_sound(&self, n_features: usize, has_seen: bool) -> bool {
        let range_holds = |(low, high): (&f64, &f64)| match has_seen {
            true => low.is_finite() && high.is_finite() && low <= high,
            false => *low == f64::INFINITY && *high == f64::NEG_INFINITY,
        };
        self.low.len() == n_features
            && self.high.len() == n_features
            && self.low.iter().zip(&self.high).all(range_holds)
            && self.varied == self.with_spread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mil_core::stream;

    #[test]
    fn only_features_with_spread_are_drawn_and_thresholds_stay_within() {
        let mut ranges = Ranges::new(3);
        ranges.extend(&[1.0, 5.0, -1e308]);
        assert!(!ranges.have_spread());
        ranges.extend(&[2.0, 5.0, 1e308]);
        let mut rng = stream(0, "test", 0);
        for _ in 0..1000 {
            match ranges.draw(&mut rng) {
                (0, threshold) => assert!((1.0..=2.0).contains(&threshold)),
                (2, threshold) => assert!(threshold.is_finite()),
                (feature, _) => panic!("feature {feature} has one value"),
            }
        }
    }

    #[test]
    fn ranges_that_no_stream_has_are_refused() {
        let mut whole = Ranges::new(2);
        assert!(whole.are_sound(2, false) && !whole.are_sound(2, true) && !whole.are_sound(3, false));
        whole.extend(&[1.0, 5.0, 2.0, 5.0]);
        assert!(whole.are_sound(2, true) && !whole.are_sound(2, false));
        for mutate in [
            |ranges: &mut Ranges| ranges.low[0] = f64::NAN,
            |ranges: &mut Ranges| ranges.high[1] = f64::INFINITY,
            |ranges: &mut Ranges| ranges.low[0] = 3.0,
            |ranges: &mut Ranges| ranges.varied.push(7),
            |ranges: &mut Ranges| ranges.varied.clear(),
            |ranges: &mut Ranges| ranges.high.push(1.0),
        ] {
            let mut ranges = whole.clone();
            mutate(&mut ranges);
            assert!(!ranges.are_sound(2, true), "{ranges:?}");
        }
    }
}
