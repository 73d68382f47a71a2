//! Bags of instances: the one representation of data that every learner receives.
//!
//! A [`BagSet`] keeps all instances in one matrix of features × instances. The matrix is column-major, hence one instance is one
//! contiguous column and one bag one contiguous block of columns; a [`Bag`] is a view of such a block. A set is built by
//! [`BagSet::from_parts`], mostly through [`BagSetBuilder`], is checked once there, and does not change afterwards: whoever receives a
//! `BagSet` trusts it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use nalgebra::{DMatrix, DMatrixView};

use crate::error::{BagError, FitError, ScoreError};
use crate::label::{BagLabel, ClassId, ClassNames, Label};

/// A set of bags with labels of type `Y`: [`Label`], [`ClassId`] or `()`.
///
/// Holds at least one bag, each with a unique name and at least one instance, all of one dimension and all finite.
#[derive(Debug, Clone, PartialEq)]
pub struct BagSet<Y> {
    instances: DMatrix<f64>,
    /// Bag `i` owns the columns `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    names: Vec<String>,
    labels: Vec<Y>,
    instance_labels: Option<Vec<Y>>,
    /// `None` stands for the default names `f1`, `f2`, and so on.
    feature_names: Option<Arc<[String]>>,
    class_names: ClassNames,
}

/// Everything a bag set is made of, for callers who have the whole matrix already, as a reader of files does.
#[derive(Debug, Clone)]
pub struct BagSetParts<Y> {
    /// Dimension of the instances.
    pub n_features: usize,
    /// Instance after instance, bag after bag.
    pub values: Vec<f64>,
    /// Bag `i` owns the instances `offsets[i]..offsets[i + 1]`; the first offset is 0, the last the number of instances.
    pub offsets: Vec<usize>,
    /// One name per bag, each unique.
    pub names: Vec<String>,
    /// One label per bag.
    pub labels: Vec<Y>,
    /// One label per instance, or none at all.
    pub instance_labels: Option<Vec<Y>>,
    /// One name per feature, each unique; the default names `f1`, `f2`, … count as none.
    pub feature_names: Option<Vec<String>>,
    /// The classes that the labels are of.
    pub class_names: ClassNames,
}

impl<Y: BagLabel> BagSet<Y> {
    /// Checks the parts and takes them over; the values are not copied.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn from_parts(parts: BagSetParts<Y>) -> Result<BagSet<Y>, BagError> {
        let BagSetParts { n_features, values, offsets, names, labels, class_names, .. } = parts;
        check_bags(&names, &offsets)?;
        require_count("bag labels", labels.len(), names.len())?;
        check_classes(labels.iter().enumerate(), &class_names)?;
        let n_instances = *offsets.last().expect("checked with the bags");
        if n_features == 0 {
            return Err(BagError::NoFeatures { bag_idx: 0, name: names[0].clone(), instance_idx: 0 });
        }
        require_count("values", values.len(), n_features.saturating_mul(n_instances))?;
        let feature_names = parts.feature_names.filter(|names| !are_default_names(names, n_features));
        if let Some(names) = &feature_names {
            check_feature_names(names, n_features)?;
        }
        if let Some(labels) = &parts.instance_labels {
            require_count("instance labels", labels.len(), n_instances)?;
            let by_bag = offsets.windows(2).enumerate();
            let labels_of = |ends: &[usize]| labels[ends[0]..ends[1]].iter();
            check_classes(by_bag.flat_map(|(bag_idx, ends)| labels_of(ends).map(move |y| (bag_idx, y))), &class_names)?;
        }
        let set = BagSet {
            instances: DMatrix::from_vec(n_features, n_instances, values),
            offsets,
            names,
            labels,
            instance_labels: parts.instance_labels,
            feature_names: feature_names.map(Into::into),
            class_names,
        };
        set.check_finite()?;
        Ok(set)
    }

    /// An empty builder for labels whose classes the type itself names: [`Label`] and `()`.
    #[must_use]
    pub fn builder() -> BagSetBuilder<Y> {
        BagSetBuilder::new()
    }

    /// Number of bags, at least 1.
    #[must_use]
    pub fn n_bags(&self) -> usize {
        self.labels.len()
    }

    /// Number of instances over all bags.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.instances.ncols()
    }

    /// Dimension of the instances, at least 1.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.instances.nrows()
    }

    /// Number of classes, including those without a bag.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.class_names.len()
    }

    /// All instances, features × instances, bag after bag.
    #[must_use]
    pub fn instances(&self) -> &DMatrix<f64> {
        &self.instances
    }

    /// The columns of [`instances`](Self::instances) that belong to a bag.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn columns_of(&self, bag_idx: usize) -> Range<usize> {
        self.offsets[bag_idx]..self.offsets[bag_idx + 1]
    }

    /// One bag.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn bag(&self, bag_idx: usize) -> Bag<'_> {
        let n_features = self.n_features();
        let columns = self.columns_of(bag_idx);
        Bag {
            name: &self.names[bag_idx],
            n_features,
            values: &self.instances.as_slice()[columns.start * n_features..columns.end * n_features],
        }
    }

    /// The bags in order.
    pub fn bags(&self) -> impl ExactSizeIterator<Item = Bag<'_>> + Clone {
        (0..self.n_bags()).map(|bag_idx| self.bag(bag_idx))
    }

    /// One label per bag.
    #[must_use]
    pub fn labels(&self) -> &[Y] {
        &self.labels
    }

    /// One name per bag, each unique.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// One label per instance, where the data have them. Learners do not see them; they serve to measure instance accuracy.
    #[must_use]
    pub fn instance_labels(&self) -> Option<&[Y]> {
        self.instance_labels.as_deref()
    }

    /// The names of the classes in the order of their positions.
    #[must_use]
    pub fn class_names(&self) -> &ClassNames {
        &self.class_names
    }

    /// The names of the features, where they are other than `f1`, `f2`, and so on.
    #[must_use]
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Name of one feature, `f1` for the first where none was given.
    #[must_use]
    pub fn feature_name(&self, feature_idx: usize) -> String {
        match &self.feature_names {
            Some(names) => names[feature_idx].clone(),
            None => default_feature_name(feature_idx),
        }
    }

    /// Number of bags of each class.
    #[must_use]
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes().max(1)];
        for label in &self.labels {
            counts[label.class_idx()] += 1;
        }
        counts
    }

    /// A set of just these bags, in the order given, with a copy of their columns.
    ///
    /// # Panics
    /// If no position is given, one is out of range or one comes twice.
    #[must_use]
    pub fn select(&self, bag_idxs: &[usize]) -> BagSet<Y> {
        assert!(!bag_idxs.is_empty(), "a bag set has at least one bag");
        let mut taken = vec![false; self.n_bags()];
        let mut values = Vec::with_capacity(bag_idxs.iter().map(|&i| self.bag(i).values.len()).sum());
        let mut offsets = vec![0];
        for &bag_idx in bag_idxs {
            assert!(!std::mem::replace(&mut taken[bag_idx], true), "bag {bag_idx} selected twice");
            values.extend_from_slice(self.bag(bag_idx).values);
            offsets.push(values.len() / self.n_features());
        }
        BagSet {
            instances: DMatrix::from_vec(self.n_features(), values.len() / self.n_features(), values),
            offsets,
            names: bag_idxs.iter().map(|&i| self.names[i].clone()).collect(),
            labels: bag_idxs.iter().map(|&i| self.labels[i]).collect(),
            instance_labels: self
                .instance_labels
                .as_ref()
                .map(|labels| bag_idxs.iter().flat_map(|&i| labels[self.columns_of(i)].iter().copied()).collect()),
            feature_names: self.feature_names.clone(),
            class_names: self.class_names.clone(),
        }
    }

    /// The same bags with every instance mapped in place, as a scaler does.
    ///
    /// # Errors
    /// If a mapped value is not finite.
    pub fn map_instances(mut self, mut map: impl FnMut(&mut [f64])) -> Result<BagSet<Y>, BagError> {
        let n_features = self.n_features();
        self.instances.as_mut_slice().chunks_exact_mut(n_features).for_each(&mut map);
        self.check_finite()?;
        Ok(self)
    }

    fn check_finite(&self) -> Result<(), BagError> {
        self.bags().enumerate().try_for_each(|(bag_idx, bag)| bag.check_finite(bag_idx))
    }

    /// The same bags without labels of instances.
    #[must_use]
    pub fn without_instance_labels(mut self) -> BagSet<Y> {
        self.instance_labels = None;
        self
    }

    /// The same bags without any label.
    #[must_use]
    pub fn without_labels(self) -> BagSet<()> {
        BagSet {
            labels: vec![(); self.n_bags()],
            class_names: <()>::fixed_class_names().expect("the unit label names its own classes"),
            instances: self.instances,
            offsets: self.offsets,
            names: self.names,
            instance_labels: None,
            feature_names: self.feature_names,
        }
    }
}

impl BagSet<Label> {
    /// The positive bags in order.
    pub fn positive_bags(&self) -> impl Iterator<Item = Bag<'_>> + Clone {
        self.bags_of(Label::Positive)
    }

    /// The negative bags in order.
    pub fn negative_bags(&self) -> impl Iterator<Item = Bag<'_>> + Clone {
        self.bags_of(Label::Negative)
    }

    /// Refuses a set that lacks one of the two classes.
    ///
    /// # Errors
    /// [`FitError::SingleClass`].
    pub fn require_both_classes(&self) -> Result<(), FitError> {
        let first = self.labels[0];
        if self.labels.iter().all(|&label| label == first) {
            return Err(FitError::SingleClass { label: first, n_bags: self.n_bags() });
        }
        Ok(())
    }

    fn bags_of(&self, wanted: Label) -> impl Iterator<Item = Bag<'_>> + Clone {
        self.bags().zip(&self.labels).filter(move |(_, label)| **label == wanted).map(|(bag, _)| bag)
    }
}

impl BagSet<ClassId> {
    /// An empty builder for bags of the named classes.
    #[must_use]
    pub fn builder_of_classes(class_names: ClassNames) -> BagSetBuilder<ClassId> {
        BagSetBuilder { class_names: Some(class_names), ..BagSetBuilder::new() }
    }

    /// One class against all others, which become the negatives.
    ///
    /// # Panics
    /// If the class is out of range.
    #[must_use]
    pub fn one_against_rest(&self, class: ClassId) -> BagSet<Label> {
        assert!(class.idx() < self.n_classes(), "class {} of {}", class.0, self.n_classes());
        let split = |id: &ClassId| if *id == class { Label::Positive } else { Label::Negative };
        BagSet {
            instances: self.instances.clone(),
            offsets: self.offsets.clone(),
            names: self.names.clone(),
            labels: self.labels.iter().map(split).collect(),
            instance_labels: self.instance_labels.as_ref().map(|labels| labels.iter().map(split).collect()),
            feature_names: self.feature_names.clone(),
            class_names: Label::fixed_class_names().expect("two classes name themselves"),
        }
    }
}

/// A view of one bag: its name and its instances, never its label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bag<'a> {
    name: &'a str,
    n_features: usize,
    /// Instance after instance.
    values: &'a [f64],
}

impl<'a> Bag<'a> {
    /// A bag over instances laid out one after the other, for streams of bags that never form a set.
    ///
    /// ```
    /// use mil_core::Bag;
    /// let bag = Bag::new("frame 7", 2, &[1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(bag.instance(1), [3.0, 4.0]);
    /// # Ok::<(), mil_core::BagError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no instance or no feature, the values do not fill the last instance, or one of them is not finite.
    pub fn new(name: &'a str, n_features: usize, values: &'a [f64]) -> Result<Bag<'a>, BagError> {
        let owned = || name.to_owned();
        if n_features == 0 {
            return Err(BagError::NoFeatures { bag_idx: 0, name: owned(), instance_idx: 0 });
        }
        if values.is_empty() {
            return Err(BagError::EmptyBag { bag_idx: 0, name: owned() });
        }
        let (instance_idx, found) = (values.len() / n_features, values.len() % n_features);
        if found != 0 {
            return Err(BagError::Dimension { bag_idx: 0, name: owned(), instance_idx, found, expected: n_features });
        }
        let bag = Bag { name, n_features, values };
        bag.check_finite(0)?;
        Ok(bag)
    }

    /// Name of the bag.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Number of instances, at least 1.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.values.len() / self.n_features
    }

    /// Dimension of the instances.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// One instance.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn instance(&self, instance_idx: usize) -> &'a [f64] {
        &self.values[instance_idx * self.n_features..][..self.n_features]
    }

    /// The instances in order.
    pub fn instances(&self) -> impl DoubleEndedIterator<Item = &'a [f64]> + ExactSizeIterator + Clone + use<'a> {
        self.values.chunks_exact(self.n_features)
    }

    /// The instances as a matrix, one column each.
    #[must_use]
    pub fn matrix(&self) -> DMatrixView<'a, f64> {
        DMatrixView::from_slice(self.values, self.n_features, self.n_instances())
    }

    /// Refuses a bag of another dimension than the model's.
    ///
    /// # Errors
    /// [`ScoreError::Dimension`].
    pub fn require_features(&self, expected: usize) -> Result<(), ScoreError> {
        if self.n_features == expected {
            return Ok(());
        }
        Err(ScoreError::Dimension { name: self.name.to_owned(), found: self.n_features, expected })
    }

    fn check_finite(&self, bag_idx: usize) -> Result<(), BagError> {
        match self.values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(position) => Err(BagError::NotFinite {
                bag_idx,
                name: self.name.to_owned(),
                instance_idx: position / self.n_features,
                feature_idx: position % self.n_features,
                value: self.values[position],
            }),
        }
    }
}

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
    class_names: Option<ClassNames>,
}

impl<Y: BagLabel> Default for BagSetBuilder<Y> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Y: BagLabel> BagSetBuilder<Y> {
    fn new() -> Self {
        BagSetBuilder {
            n_features: None,
            values: Vec::new(),
            offsets: Vec::new(),
            names: Vec::new(),
            labels: Vec::new(),
            instance_labels: Vec::new(),
            feature_names: None,
            class_names: Y::fixed_class_names(),
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
            class_names: self.class_names.unwrap_or_else(|| ClassNames::new::<String>([])),
        })
    }

    fn n_instances(&self) -> usize {
        self.n_features.map_or(0, |n_features| self.values.len() / n_features)
    }
}

fn check_bags(names: &[String], offsets: &[usize]) -> Result<(), BagError> {
    if names.is_empty() {
        return Err(BagError::NoBags);
    }
    require_count("bag offsets", offsets.len(), names.len() + 1)?;
    if offsets[0] != 0 || !offsets.is_sorted() {
        return Err(BagError::Offsets);
    }
    let mut first_of: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (bag_idx, name) in names.iter().enumerate() {
        if offsets[bag_idx] == offsets[bag_idx + 1] {
            return Err(BagError::EmptyBag { bag_idx, name: name.clone() });
        }
        if let Some(first_idx) = first_of.insert(name, bag_idx) {
            return Err(BagError::DuplicateName { first_idx, bag_idx, name: name.clone() });
        }
    }
    Ok(())
}

fn check_classes<'a, Y: BagLabel>(
    mut labels_by_bag: impl Iterator<Item = (usize, &'a Y)>,
    class_names: &ClassNames,
) -> Result<(), BagError> {
    // The unit label has no class and so no name.
    if class_names.is_empty() && Y::fixed_class_names().is_some() {
        return Ok(());
    }
    match labels_by_bag.find(|(_, label)| label.class_idx() >= class_names.len()) {
        None => Ok(()),
        Some((bag_idx, label)) => {
            Err(BagError::UnknownClass { bag_idx, class_idx: label.class_idx(), n_classes: class_names.len() })
        }
    }
}

fn require_count(what: &'static str, found: usize, expected: usize) -> Result<(), BagError> {
    if found == expected { Ok(()) } else { Err(BagError::Count { what, found, expected }) }
}

fn check_feature_names(names: &[String], n_features: usize) -> Result<(), BagError> {
    let mut distinct: Vec<&String> = names.iter().collect();
    distinct.sort();
    distinct.dedup();
    if names.len() != n_features || distinct.len() != n_features {
        return Err(BagError::FeatureNames { found: distinct.len(), expected: n_features });
    }
    Ok(())
}

fn default_feature_name(feature_idx: usize) -> String {
    format!("f{}", feature_idx + 1)
}

fn are_default_names(names: &[String], n_features: usize) -> bool {
    names.len() == n_features
        && names.iter().enumerate().all(|(feature_idx, name)| *name == default_feature_name(feature_idx))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_bags() -> BagSet<Label> {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[1.0, 2.0], [3.0, 4.0]]).unwrap();
        builder.bag("b", Label::Negative, [[5.0, 6.0]]).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn a_bag_is_a_contiguous_block_of_columns() {
        let bags = two_bags();
        assert_eq!(bags.instances().shape(), (2, 3));
        assert_eq!(bags.bag(0).matrix(), bags.instances().columns(0, 2));
        assert_eq!(bags.bag(1).instances().collect::<Vec<_>>(), [[5.0, 6.0]]);
    }

    #[test]
    fn selection_keeps_order_labels_and_names() {
        let swapped = two_bags().select(&[1, 0]);
        assert_eq!(swapped.names(), ["b", "a"]);
        assert_eq!(swapped.labels(), [Label::Negative, Label::Positive]);
        assert_eq!(swapped.bag(1).instance(1), [3.0, 4.0]);
        assert_eq!(swapped.select(&[1, 0]), two_bags());
    }

    #[test]
    fn each_fault_names_its_place() {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[1.0, 2.0]]).unwrap();
        let ragged = builder.bag("b", Label::Negative, vec![vec![1.0, 2.0], vec![1.0]]).unwrap_err();
        assert_eq!(ragged.to_string(), "bag 1 (\"b\"), instance 1 has 1 features, expected 2");
        let nan = builder.bag("c", Label::Negative, [[0.0, f64::NAN]]).unwrap_err();
        assert_eq!(nan.to_string(), "bag 2 (\"c\"), instance 0, feature 1 is NaN; expected a finite number");
        let mut builder = BagSet::<Label>::builder();
        assert_eq!(builder.instance(&[1.0]).unwrap_err(), BagError::InstanceBeforeBag);
        assert_eq!(builder.clone().build().unwrap_err(), BagError::NoBags);
        builder.open_bag("hollow", Label::Negative);
        assert!(matches!(builder.build(), Err(BagError::EmptyBag { bag_idx: 0, .. })));
    }

    #[test]
    fn two_bags_of_one_name_are_refused() {
        let mut builder = BagSet::builder();
        builder.bag("a", (), [[1.0]]).unwrap().bag("a", (), [[2.0]]).unwrap();
        let error = builder.build().unwrap_err();
        assert_eq!(error, BagError::DuplicateName { first_idx: 0, bag_idx: 1, name: "a".into() });
    }

    #[test]
    fn instance_labels_are_all_or_none() {
        let mut builder = BagSet::builder();
        builder.open_bag("a", Label::Positive);
        builder.labelled_instance(&[1.0], Label::Positive).unwrap().instance(&[2.0]).unwrap();
        assert_eq!(builder.build().unwrap_err(), BagError::Count { what: "instance labels", found: 1, expected: 2 });
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let parts = || BagSetParts {
            n_features: 2,
            values: vec![1.0, 2.0, 3.0, 4.0],
            offsets: vec![0, 1, 2],
            names: vec!["a".to_owned(), "b".to_owned()],
            labels: vec![Label::Positive, Label::Negative],
            instance_labels: None,
            feature_names: None,
            class_names: Label::fixed_class_names().unwrap(),
        };
        assert_eq!(BagSet::from_parts(parts()).unwrap().bag(1).instance(0), [3.0, 4.0]);
        let broken = |change: fn(&mut BagSetParts<Label>)| {
            let mut parts = parts();
            change(&mut parts);
            BagSet::from_parts(parts).unwrap_err()
        };
        let count = |what, found, expected| BagError::Count { what, found, expected };
        assert_eq!(broken(|p| p.values.truncate(3)), count("values", 3, 4));
        assert_eq!(broken(|p| p.labels.truncate(1)), count("bag labels", 1, 2));
        assert_eq!(broken(|p| p.offsets.truncate(2)), count("bag offsets", 2, 3));
        assert_eq!(broken(|p| p.offsets = vec![0, 3, 2]), BagError::Offsets);
        assert_eq!(broken(|p| p.offsets = vec![1, 1, 2]), BagError::Offsets);
        assert!(matches!(broken(|p| p.offsets = vec![0, 2, 2]), BagError::EmptyBag { bag_idx: 1, .. }));
        assert!(matches!(
            broken(|p| p.values[3] = f64::INFINITY),
            BagError::NotFinite { bag_idx: 1, feature_idx: 1, .. }
        ));
        assert!(matches!(broken(|p| p.n_features = 0), BagError::NoFeatures { .. }));
        assert_eq!(broken(|p| p.instance_labels = Some(vec![])), count("instance labels", 0, 2));
    }

    #[test]
    fn default_feature_names_count_as_none() {
        let mut builder = BagSet::builder();
        builder.bag("a", (), [[1.0, 2.0]]).unwrap().feature_names(["f1", "f2"]);
        let plain = builder.clone().build().unwrap();
        assert_eq!((plain.feature_names(), plain.feature_name(1)), (None, "f2".to_owned()));
        builder.feature_names(["width", "width"]);
        assert_eq!(builder.build().unwrap_err(), BagError::FeatureNames { found: 1, expected: 2 });
    }

    #[test]
    fn one_class_against_the_rest_keeps_the_bags() {
        let names = ClassNames::new(["x", "y", "z"]);
        let mut builder = BagSet::builder_of_classes(names);
        builder.bag("a", ClassId(2), [[1.0]]).unwrap().bag("b", ClassId(0), [[2.0]]).unwrap();
        let set = builder.clone().build().unwrap();
        assert_eq!(set.one_against_rest(ClassId(2)).labels(), [Label::Positive, Label::Negative]);
        assert_eq!(set.class_counts(), [1, 0, 1]);
        builder.bag("c", ClassId(3), [[3.0]]).unwrap();
        assert_eq!(builder.build().unwrap_err(), BagError::UnknownClass { bag_idx: 2, class_idx: 3, n_classes: 3 });
    }

    #[test]
    fn both_classes_are_required_where_both_are_needed() {
        assert!(two_bags().require_both_classes().is_ok());
        let lone = two_bags().select(&[0]);
        assert!(matches!(
            lone.require_both_classes(),
            Err(FitError::SingleClass { label: Label::Positive, n_bags: 1 })
        ));
    }
}
