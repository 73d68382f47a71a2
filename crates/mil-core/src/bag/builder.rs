//! Bag sets built bag by bag.

use super::set::{BagSet, BagSetParts};
use crate::error::BagError;
use crate::label::{BagLabel, ClassNames};

/// Collects bags, checking each value as it comes.
///
/// ```
/// use mil_core::{BagSet, Label};
/// let mut builder = BagSet::builder();
/// builder.bag("left", Label::Positive, [[1.0, 2.0]])?;
/// builder.open_bag("right", Label::Negative);
/// builder.instance(&[3.0, 4.0])?;
/// builder.instance(&[5.0, 6.0])?;
/// let bags = builder.build()?;
/// assert_eq!((bags.n_bags(), bags.n_instances(), bags.n_features()), (2, 3, 2));
/// # Ok::<(), mil_core::BagError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BagSetBuilder<Y> {
    n_features: Option<usize>,
    values: Vec<f64>,
    offsets: Vec<usize>,
    names: Vec<String>,
    labels: Vec<Y>,
    instance_labels: Vec<Y>,
    feature_names: Option<Vec<String>>,
    class_names: ClassNames,
}

impl<Y: BagLabel> Default for BagSetBuilder<Y> {
    fn default() -> Self {
        BagSetBuilder::new(Y::fixed_class_names().unwrap_or_else(|| ClassNames::new::<String>([])))
    }
}

impl<Y: BagLabel> BagSetBuilder<Y> {
    pub(super) fn new(class_names: ClassNames) -> Self {
        BagSetBuilder {
            n_features: None,
            values: Vec::new(),
            offsets: Vec::new(),
            names: Vec::new(),
            labels: Vec::new(),
            instance_labels: Vec::new(),
            feature_names: None,
            class_names,
        }
    }

    /// Adds a whole bag.
    ///
    /// # Errors
    /// As for [`instance`](Self::instance).
    pub fn bag<I: AsRef<[f64]>>(
        &mut self,
        name: impl Into<String>,
        label: Y,
        instances: impl IntoIterator<Item = I>,
    ) -> Result<&mut Self, BagError> {
        self.open_bag(name, label);
        for instance in instances {
            self.instance(instance.as_ref())?;
        }
        Ok(self)
    }

    /// Opens a bag, to which the instances that follow belong.
    pub fn open_bag(&mut self, name: impl Into<String>, label: Y) -> &mut Self {
        self.offsets.push(self.n_instances());
        self.names.push(name.into());
        self.labels.push(label);
        self
    }

    /// Adds an instance to the open bag.
    ///
    /// # Errors
    /// If no bag is open, the dimension differs from that of the first instance, or a value is not finite.
    pub fn instance(&mut self, values: &[f64]) -> Result<&mut Self, BagError> {
        let bag_idx = self.names.len().checked_sub(1).ok_or(BagError::InstanceBeforeBag)?;
        let instance_idx = self.n_instances() - self.offsets[bag_idx];
        let name = || self.names[bag_idx].clone();
        if values.is_empty() {
            return Err(BagError::NoFeatures { bag_idx, name: name(), instance_idx });
        }
        let expected = self.n_features.unwrap_or(values.len());
        if values.len() != expected {
            let found = values.len();
            return Err(BagError::Dimension { bag_idx, name: name(), instance_idx, found, expected });
        }
        if let Some(feature_idx) = values.iter().position(|value| !value.is_finite()) {
            let value = values[feature_idx];
            return Err(BagError::NotFinite { bag_idx, name: name(), instance_idx, feature_idx, value });
        }
        self.n_features = Some(expected);
        self.values.extend_from_slice(values);
        Ok(self)
    }

    /// Adds an instance whose own label is known. Give a label to every instance of the set or to none.
    ///
    /// # Errors
    /// As for [`instance`](Self::instance).
    pub fn labelled_instance(&mut self, values: &[f64], label: Y) -> Result<&mut Self, BagError> {
        self.instance(values)?;
        self.instance_labels.push(label);
        Ok(self)
    }

    /// Names the features, in order. The default names `f1`, `f2`, … count as none.
    pub fn feature_names<S: Into<String>>(&mut self, names: impl IntoIterator<Item = S>) -> &mut Self {
        self.feature_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Checks the whole and hands it over.
    ///
    /// # Errors
    /// If there is no bag, one is empty, two share a name, or labels and names do not fit the instances.
    pub fn build(self) -> Result<BagSet<Y>, BagError> {
        let n_instances = self.n_instances();
        let mut offsets = self.offsets;
        offsets.push(n_instances);
        BagSet::from_parts(BagSetParts {
            n_features: self.n_features.unwrap_or(0),
            values: self.values,
            offsets,
            names: self.names,
            labels: self.labels,
            instance_labels: (!self.instance_labels.is_empty()).then_some(self.instance_labels),
            feature_names: self.feature_names,
            class_names: self.class_names,
        })
    }

    fn n_instances(&self) -> usize {
        self.n_features.map_or(0, |n_features| self.values.len() / n_features)
    }
}
