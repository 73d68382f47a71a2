//! Feature scaling, fitted on the training bags and carried inside the model.

use serde::{Deserialize, Serialize};

use crate::bag::{Bag, BagSet};
use crate::error::{FitError, ScoreError};
use crate::label::{BagLabel, Target};
use crate::learner::{BagModel, Learner};
use crate::model_file::SavedModel;

/// How features are scaled before a learner sees them. A feature that is constant on the training instances is only shifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Scaling {
    /// Features as they are.
    #[default]
    None,
    /// Each feature to $[0, 1]$ over the training instances.
    MinMax,
    /// Each feature to mean 0 and standard deviation 1 (with $n - 1$) over the training instances.
    Standard,
}

crate::choice!(Scaling { None = "none", MinMax = "min-max", Standard = "standard" });

/// A fitted scaling: $x_i \mapsto (x_i - o_i) / d_i$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    offset: Vec<f64>,
    divisor: Vec<f64>,
}

impl Scaler {
    /// Fits the scaling to all instances of the bags.
    ///
    /// # Errors
    /// If a range or a standard deviation exceeds the range of `f64`.
    pub fn fit<Y: BagLabel>(scaling: Scaling, bags: &BagSet<Y>) -> Result<Scaler, FitError> {
        let ranges = Ranges::of(bags);
        let (offset, divisor) = match scaling {
            Scaling::None => (vec![0.0; bags.n_features()], vec![1.0; bags.n_features()]),
            Scaling::MinMax => {
                let spread = ranges.low.iter().zip(&ranges.high).map(|(low, high)| high - low).collect();
                (ranges.low.clone(), spread)
            }
            Scaling::Standard => mean_and_deviation(bags, &ranges),
        };
        for &value in offset.iter().chain(&divisor) {
            if !value.is_finite() {
                return Err(FitError::Overflow { quantity: "the spread of a feature", value });
            }
        }
        // A constant feature has spread 0 up to rounding; only its exact equality tells.
        let divisor = divisor
            .into_iter()
            .enumerate()
            .map(|(feature_idx, spread)| if ranges.is_constant(feature_idx) || spread == 0.0 { 1.0 } else { spread })
            .collect();
        Ok(Scaler { offset, divisor })
    }

    /// Whether a scaler that was read is one that could have been fitted.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.offset.len() == self.divisor.len()
            && self.offset.iter().all(|offset| offset.is_finite())
            && self.divisor.iter().all(|divisor| divisor.is_finite() && *divisor > 0.0)
    }

    /// Number of features the scaler was fitted on.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.offset.len()
    }

    /// Scales one instance in place.
    ///
    /// # Panics
    /// If the instance has another number of features.
    pub fn apply(&self, instance: &mut [f64]) {
        assert_eq!(instance.len(), self.n_features());
        for ((value, offset), divisor) in instance.iter_mut().zip(&self.offset).zip(&self.divisor) {
            *value = (*value - offset) / divisor;
        }
    }

    /// The same bags, scaled.
    ///
    /// # Errors
    /// If a scaled value is beyond the range of `f64`.
    ///
    /// # Panics
    /// If the bags have another number of features.
    pub fn scaled<Y: BagLabel>(&self, bags: BagSet<Y>) -> Result<BagSet<Y>, FitError> {
        let overflow = |_| FitError::Overflow { quantity: "a scaled feature", value: f64::INFINITY };
        bags.map_instances(|instance| self.apply(instance)).map_err(overflow)
    }
}

/// Smallest and largest value of each feature.
struct Ranges {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Ranges {
    fn of<Y: BagLabel>(bags: &BagSet<Y>) -> Ranges {
        let first = bags.bag(0).instance(0);
        let mut ranges = Ranges { low: first.to_vec(), high: first.to_vec() };
        for instance in bags.bags().flat_map(|bag| bag.instances()) {
            for ((low, high), &value) in ranges.low.iter_mut().zip(&mut ranges.high).zip(instance) {
                *low = low.min(value);
                *high = high.max(value);
            }
        }
        ranges
    }

    /// A power of two near the feature's largest magnitude, so that dividing by it rounds nothing.
    fn unit(&self, feature_idx: usize) -> f64 {
        let largest = self.low[feature_idx].abs().max(self.high[feature_idx].abs());
        if largest == 0.0 { 1.0 } else { largest.log2().floor().clamp(-1000.0, 1000.0).exp2() }
    }

    fn is_constant(&self, feature_idx: usize) -> bool {
        self.low[feature_idx] == self.high[feature_idx]
    }
}

/// Mean and $n - 1$ standard deviation of each feature, in two passes, squared in units of the feature's range so that no square leaves `f64`.
fn mean_and_deviation<Y: BagLabel>(bags: &BagSet<Y>, ranges: &Ranges) -> (Vec<f64>, Vec<f64>) {
    let n_instances = bags.n_instances() as f64;
    let instances = || bags.bags().flat_map(|bag| bag.instances());
    let units: Vec<f64> = (0..bags.n_features()).map(|feature_idx| ranges.unit(feature_idx)).collect();
    let mut mean = vec![0.0; bags.n_features()];
    for instance in instances() {
        for (sum, value) in mean.iter_mut().zip(instance) {
            *sum += value / n_instances;
        }
    }
    let mut square = vec![0.0; bags.n_features()];
    for instance in instances() {
        for (((sum, mean), unit), value) in square.iter_mut().zip(&mean).zip(&units).zip(instance) {
            *sum += (value / unit - mean / unit).powi(2);
        }
    }
    let per_instance = (n_instances - 1.0).max(1.0);
    let deviation = square.iter().zip(&units).map(|(sum, unit)| (sum / per_instance).sqrt() * unit).collect();
    (mean, deviation)
}

/// A learner whose features are scaled first. The fitted scaler is part of the model: raw bags go in.
///
/// ```
/// use mil_core::{NearestCentroid, Scaled, Scaling};
/// let learner = Scaled { scaling: Scaling::MinMax, learner: NearestCentroid::default() };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled<L> {
    /// How to scale.
    pub scaling: Scaling,
    /// Who learns from the scaled bags.
    pub learner: L,
}

impl<Y: BagLabel, L: Learner<Y>> Learner<Y> for Scaled<L> {
    type Model = ScaledModel<L::Model>;

    fn fit(&self, bags: &BagSet<Y>) -> Result<Self::Model, FitError> {
        let scaler = Scaler::fit(self.scaling, bags)?;
        let model = match self.scaling {
            Scaling::None => self.learner.fit(bags)?,
            _ => self.learner.fit(&scaler.scaled(bags.clone())?)?,
        };
        Ok(ScaledModel { scaler, model })
    }
}

/// A model behind its scaler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScaledModel<M> {
    scaler: Scaler,
    model: M,
}

impl<M> ScaledModel<M> {
    /// A model that was fitted to bags which this scaler had scaled.
    #[must_use]
    pub fn new(scaler: Scaler, model: M) -> ScaledModel<M> {
        ScaledModel { scaler, model }
    }

    /// The fitted scaler.
    #[must_use]
    pub fn scaler(&self) -> &Scaler {
        &self.scaler
    }

    /// The model that scores the scaled bags.
    #[must_use]
    pub fn inner(&self) -> &M {
        &self.model
    }

    fn with_scaled<T>(
        &self,
        bag: Bag<'_>,
        score: impl FnOnce(Bag<'_>) -> Result<T, ScoreError>,
    ) -> Result<T, ScoreError> {
        bag.require_features(self.scaler.n_features())?;
        let mut values: Vec<f64> = bag.matrix().iter().copied().collect();
        values.chunks_exact_mut(self.scaler.n_features()).for_each(|instance| self.scaler.apply(instance));
        let scaled = Bag::new(bag.name(), self.scaler.n_features(), &values)
            .map_err(|_| ScoreError::Overflow { name: bag.name().to_owned(), value: f64::INFINITY })?;
        score(scaled)
    }
}

impl<Y: Target, M: BagModel<Y>> BagModel<Y> for ScaledModel<M> {
    fn n_features(&self) -> usize {
        self.scaler.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<Y::Score, ScoreError> {
        self.with_scaled(bag, |scaled| self.model.score(scaled))
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<Y::Score>>, ScoreError> {
        self.with_scaled(bag, |scaled| self.model.instance_scores(scaled))
    }
}

impl<M: SavedModel> SavedModel for ScaledModel<M> {
    fn kind() -> String {
        format!("scaled {}", M::kind())
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.scaler.is_sound() { self.model.check() } else { Err("the scaler's offsets and divisors are not sound") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;

    fn bags(instances: &[[f64; 3]]) -> BagSet<Label> {
        let mut builder = BagSet::builder();
        builder.bag("all", Label::Positive, instances).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn min_max_maps_the_range_to_the_unit_interval() {
        let scaler =
            Scaler::fit(Scaling::MinMax, &bags(&[[1.0, -2.0, 0.1], [3.0, 6.0, 0.1], [2.0, 0.0, 0.1]])).unwrap();
        let mut instance = [2.0, 0.0, 0.3];
        scaler.apply(&mut instance);
        assert_eq!(instance, [0.5, 0.25, 0.3 - 0.1]);
    }

    #[test]
    fn standard_scaling_has_mean_zero_and_deviation_one() {
        let scaler = Scaler::fit(Scaling::Standard, &bags(&[[1.0, 10.0, 0.1], [3.0, 10.0, 0.1]])).unwrap();
        let mut instance = [3.0, 11.0, 0.1];
        scaler.apply(&mut instance);
        // Mean 2, deviation sqrt 2; constant features are only shifted.
        assert!((instance[0] - 1.0 / 2f64.sqrt()).abs() < 1e-15);
        assert_eq!(instance[1], 1.0);
        assert!(instance[2].abs() < 1e-15);
    }

    #[test]
    fn a_constant_feature_whose_mean_rounds_is_not_blown_up() {
        let scaler = Scaler::fit(Scaling::Standard, &bags(&[[0.1; 3]; 7])).unwrap();
        let mut instance = [0.2; 3];
        scaler.apply(&mut instance);
        assert!((instance[0] - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_unit_of_a_feature_does_not_matter() {
        for unit in [1.0, 1e-300, 1e-170, 1e-160, 1e160, 1e300] {
            let scaled = |x: f64| [x * unit, 0.0, 0.0];
            let scaler = Scaler::fit(Scaling::Standard, &bags(&[0.0, 1.0, 2.0, 3.0].map(scaled))).unwrap();
            let mut instance = scaled(2.0);
            scaler.apply(&mut instance);
            // Mean 1.5, variance 5/3.
            assert!((instance[0] - 0.5 / (5.0f64 / 3.0).sqrt()).abs() < 1e-12, "{unit}: {}", instance[0]);
        }
    }

    #[test]
    fn a_spread_beyond_the_numbers_is_an_error() {
        let error = Scaler::fit(Scaling::MinMax, &bags(&[[-1.7e308, 0.0, 0.0], [1.7e308, 0.0, 0.0]])).unwrap_err();
        assert!(matches!(error, FitError::Overflow { .. }));
    }
}
