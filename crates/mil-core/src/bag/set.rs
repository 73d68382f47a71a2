//! The set of bags, and the checks that it passes once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use nalgebra::DMatrix;

use super::{Bag, BagSetBuilder};
use crate::error::{BagError, FitError};
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
        BagSetBuilder::default()
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

    /// The values of one feature, instance after instance.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn feature_values(&self, feature_idx: usize) -> Vec<f64> {
        self.instances.row(feature_idx).iter().copied().collect()
    }

    /// Other values of one feature, of the same set and so as sound as before.
    pub(crate) fn set_feature_values(&mut self, feature_idx: usize, values: &[f64]) {
        self.instances.row_mut(feature_idx).iter_mut().zip(values).for_each(|(old, new)| *old = *new);
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
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn feature_name(&self, feature_idx: usize) -> String {
        assert!(feature_idx < self.n_features(), "feature {feature_idx} of {}", self.n_features());
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

    /// The same bags with just these instances, one answer for each instance of the set in order.
    ///
    /// # Errors
    /// If a bag would be left empty.
    ///
    /// # Panics
    /// If there is not an answer for each instance.
    pub fn select_instances(&self, is_kept: &[bool]) -> Result<BagSet<Y>, BagError> {
        assert_eq!(is_kept.len(), self.n_instances(), "an answer for each instance");
        let kept = |columns: Range<usize>| columns.filter(|&column| is_kept[column]);
        let mut offsets = vec![0];
        for bag_idx in 0..self.n_bags() {
            offsets.push(offsets[bag_idx] + kept(self.columns_of(bag_idx)).count());
        }
        check_bags(&self.names, &offsets)?;
        let columns: Vec<usize> = kept(0..self.n_instances()).collect();
        Ok(BagSet {
            instances: self.instances.select_columns(&columns),
            offsets,
            instance_labels: self.instance_labels.as_ref().map(|labels| columns.iter().map(|&c| labels[c]).collect()),
            names: self.names.clone(),
            labels: self.labels.clone(),
            feature_names: self.feature_names.clone(),
            class_names: self.class_names.clone(),
        })
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

    /// The positive bags alone, for learners that are to know of no others.
    ///
    /// # Errors
    /// [`FitError::SingleClass`] if there is none.
    pub fn positives(&self) -> Result<BagSet<()>, FitError> {
        let positive: Vec<usize> =
            (0..self.n_bags()).filter(|&bag_idx| self.labels[bag_idx] == Label::Positive).collect();
        if positive.is_empty() {
            return Err(FitError::SingleClass { label: Label::Negative, n_bags: self.n_bags() });
        }
        Ok(self.select(&positive).without_labels())
    }

    /// Refuses a set that lacks one of the two classes.
    ///
    /// # Errors
    /// [`FitError::SingleClass`].
    pub fn require_both_classes(&self) -> Result<(), FitError> {
        self.require_both_classes_among(0..self.n_bags())
    }

    /// Refuses some of the bags if they lack one of the two classes.
    ///
    /// # Errors
    /// [`FitError::SingleClass`]; of no bags at all it says that they are positive.
    ///
    /// # Panics
    /// If a position is out of range.
    pub fn require_both_classes_among(&self, bag_idxs: impl IntoIterator<Item = usize>) -> Result<(), FitError> {
        let mut counts = [0, 0];
        bag_idxs.into_iter().for_each(|bag_idx| counts[self.labels[bag_idx].class_idx()] += 1);
        let n_bags = counts.iter().sum();
        match [counts[Label::Negative.class_idx()], counts[Label::Positive.class_idx()]] {
            [0, _] => Err(FitError::SingleClass { label: Label::Positive, n_bags }),
            [_, 0] => Err(FitError::SingleClass { label: Label::Negative, n_bags }),
            _ => Ok(()),
        }
    }

    fn bags_of(&self, wanted: Label) -> impl Iterator<Item = Bag<'_>> + Clone {
        self.bags().zip(&self.labels).filter(move |(_, label)| **label == wanted).map(|(bag, _)| bag)
    }
}

impl BagSet<ClassId> {
    /// An empty builder for bags of the named classes.
    #[must_use]
    pub fn builder_of_classes(class_names: ClassNames) -> BagSetBuilder<ClassId> {
        BagSetBuilder::new(class_names)
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
