//! What every writer receives: a bag set with words for its labels.

use mil_core::{BagLabel, BagSet, ClassId, ClassNames, Label};

use crate::error::Uncarried;
use crate::options::Format;
use crate::table::UNLABELLED;

/// Labels that can be written as words: [`Label`], [`ClassId`] and `()`.
pub trait WrittenLabel: BagLabel + sealed::Sealed {}

impl WrittenLabel for Label {}
impl WrittenLabel for ClassId {}
impl WrittenLabel for () {}

mod sealed {
    use super::{ClassId, ClassNames, Format, Label, UNLABELLED};

    pub trait Sealed {
        const KIND: super::LabelKind;

        /// The word that stands for the label in a format.
        fn word(self, names: &ClassNames, format: Format) -> &str;
    }

    impl Sealed for Label {
        const KIND: super::LabelKind = super::LabelKind::Binary;

        fn word(self, _: &ClassNames, format: Format) -> &str {
            match (self, format) {
                (Label::Positive, _) => "1",
                (Label::Negative, Format::Svm) => "-1",
                (Label::Negative, _) => "0",
            }
        }
    }

    impl Sealed for ClassId {
        const KIND: super::LabelKind = super::LabelKind::Classes;

        fn word(self, names: &ClassNames, _: Format) -> &str {
            names.name(self).expect("a bag set names every class it uses")
        }
    }

    impl Sealed for () {
        const KIND: super::LabelKind = super::LabelKind::None;

        fn word(self, _: &ClassNames, _: Format) -> &str {
            UNLABELLED
        }
    }
}

/// What the labels of a sheet are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelKind {
    /// Two classes.
    Binary,
    /// As many classes as are named.
    Classes,
    /// None; every word is [`UNLABELLED`].
    None,
}

/// A bag set as words and numbers.
pub(crate) struct Sheet<'a> {
    pub(crate) kind: LabelKind,
    pub(crate) n_features: usize,
    /// Instance after instance.
    pub(crate) values: &'a [f64],
    /// Bag `i` owns the instances `offsets[i]..offsets[i + 1]`.
    pub(crate) offsets: Vec<usize>,
    pub(crate) names: Vec<String>,
    /// One word per bag.
    pub(crate) labels: Vec<&'a str>,
    /// One word per instance.
    pub(crate) instance_labels: Option<Vec<&'a str>>,
    pub(crate) feature_names: Option<&'a [String]>,
    /// The names of all classes, in order; empty unless `kind` is `Classes`.
    pub(crate) classes: Vec<&'a str>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new<Y: WrittenLabel>(bags: &'a BagSet<Y>, format: Format) -> Self {
        let names = bags.class_names();
        let word = |label: &Y| label.word(names, format);
        let starts = (0..bags.n_bags()).map(|bag_idx| bags.columns_of(bag_idx).start);
        Sheet {
            kind: Y::KIND,
            n_features: bags.n_features(),
            values: bags.instances().as_slice(),
            offsets: starts.chain([bags.n_instances()]).collect(),
            names: bags.names().to_vec(),
            labels: bags.labels().iter().map(word).collect(),
            instance_labels: bags.instance_labels().map(|labels| labels.iter().map(word).collect()),
            feature_names: bags.feature_names(),
            classes: if Y::KIND == LabelKind::Classes { names.iter().collect() } else { Vec::new() },
        }
    }

    pub(crate) fn n_instances(&self) -> usize {
        self.values.len() / self.n_features
    }

    pub(crate) fn instance(&self, instance_idx: usize) -> &'a [f64] {
        &self.values[instance_idx * self.n_features..][..self.n_features]
    }

    /// Name of a feature, `f1` for the first where none was given.
    pub(crate) fn feature_name(&self, feature_idx: usize) -> String {
        match self.feature_names {
            Some(names) => names[feature_idx].clone(),
            None => format!("f{}", feature_idx + 1),
        }
    }

    /// Instances with their bags: pairs of bag and instance positions.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, usize)> {
        self.offsets.windows(2).enumerate().flat_map(|(bag_idx, ends)| (ends[0]..ends[1]).map(move |i| (bag_idx, i)))
    }

    /// Refuses feature names.
    pub(crate) fn refuse_feature_names(&self) -> Result<(), Uncarried> {
        if self.feature_names.is_some() { Err(Uncarried::FeatureNames) } else { Ok(()) }
    }

    /// Refuses labels of instances.
    pub(crate) fn refuse_instance_labels(&self) -> Result<(), Uncarried> {
        if self.instance_labels.is_some() { Err(Uncarried::InstanceLabels) } else { Ok(()) }
    }

    /// Refuses the first bag name that is not `fit`.
    pub(crate) fn require_bag_names(&self, fit: impl Fn(&str) -> bool) -> Result<(), Uncarried> {
        match self.names.iter().position(|name| !fit(name)) {
            None => Ok(()),
            Some(bag_idx) => Err(Uncarried::BagName { bag_idx, name: self.names[bag_idx].clone() }),
        }
    }

    /// Refuses the first feature name that is not `fit`.
    pub(crate) fn require_feature_names(&self, fit: impl Fn(&str) -> bool) -> Result<(), Uncarried> {
        match self.feature_names.into_iter().flatten().find(|name| !fit(name)) {
            None => Ok(()),
            Some(name) => Err(Uncarried::FeatureName { name: name.clone() }),
        }
    }

    /// Refuses the first class name that is not `fit`, in every format the empty one and the word for no label.
    pub(crate) fn require_class_names(&self, fit: impl Fn(&str) -> bool) -> Result<(), Uncarried> {
        match self.classes.iter().find(|name| name.is_empty() || **name == UNLABELLED || !fit(name)) {
            None => Ok(()),
            Some(name) => Err(Uncarried::ClassName { name: (*name).to_owned() }),
        }
    }

    /// Refuses classes that no label mentions.
    pub(crate) fn refuse_unused_classes(&self) -> Result<(), Uncarried> {
        let mut used: Vec<&str> = self.labels.iter().chain(self.instance_labels.iter().flatten()).copied().collect();
        used.sort_unstable();
        used.dedup();
        match self.classes.iter().find(|class| used.binary_search(class).is_err()) {
            None => Ok(()),
            Some(class) => Err(Uncarried::ClassWithoutBags { name: (*class).to_owned() }),
        }
    }

    /// Drops what a format cannot carry; whether that was possible.
    pub(crate) fn drop_part(&mut self, what: &Uncarried) -> bool {
        match what {
            Uncarried::FeatureNames | Uncarried::FeatureName { .. } => self.feature_names.take().is_some(),
            Uncarried::InstanceLabels => self.instance_labels.take().is_some(),
            Uncarried::BagName { .. } => {
                self.names = (1..=self.names.len()).map(|number| number.to_string()).collect();
                true
            }
            Uncarried::ClassWithoutBags { name } => {
                self.classes.retain(|class| class != name);
                true
            }
            Uncarried::ClassName { .. } => false,
        }
    }
}
