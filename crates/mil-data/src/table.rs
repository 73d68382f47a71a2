//! The table that every reader produces, and the typed bag sets that come from it.
//!
//! A file holds words where a bag set holds labels. A [`BagTable`] keeps the words and where they stand, so that one reader per
//! format serves two classes, many classes and none, and so that a word that fits none of them is reported with its place.

use std::collections::HashMap;

use mil_core::{BagLabel, BagSet, BagSetParts, ClassId, ClassNames, Label};

use crate::error::{DataError, Fault, Part, Place, shorten};
use crate::options::{Format, Limits};
use crate::text::input;

/// The word for a label that is not known.
pub const UNLABELLED: &str = "?";

/// The words that stand for [`Label::Positive`] unless one is named; case does not matter.
pub const POSITIVE_WORDS: [&str; 7] = ["1", "+1", "1.0", "positive", "pos", "true", "yes"];

/// The words that stand for [`Label::Negative`] unless a positive one is named; case does not matter.
pub const NEGATIVE_WORDS: [&str; 8] = ["0", "0.0", "-1", "-1.0", "negative", "neg", "false", "no"];

/// Bags as a file states them, with words for labels.
///
/// ```
/// use mil_data::{Format, ReadOptions, read};
/// let text = "label,bag,size\nripe,left,1.5\nripe,left,2\nraw,right,3\n";
/// let table = read(text.as_bytes(), "fruit.csv", Format::Csv, &ReadOptions::default())?;
/// assert_eq!(table.labels().collect::<Vec<_>>(), ["ripe", "raw"]);
/// assert_eq!(table.clone().binary(Some("ripe"))?.positive_bags().count(), 1);
/// assert_eq!(table.clone().classes()?.n_classes(), 2);
/// assert!(table.binary(None).unwrap_err().to_string().starts_with("fruit.csv, line 2, column 1: the label is \"ripe\""));
/// # Ok::<(), mil_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BagTable {
    source_name: String,
    format: Format,
    n_features: usize,
    /// Instance after instance.
    values: Vec<f64>,
    /// Bag `i` owns the instances `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    names: Vec<String>,
    labels: Words,
    instance_labels: Option<Words>,
    feature_names: Option<Vec<String>>,
    /// Classes the source declares, used or not.
    declared_classes: Vec<String>,
    style: PlaceStyle,
}

impl BagTable {
    /// Name of the source, mostly the path of a file.
    #[must_use]
    pub fn source_name(&self) -> &str {
        &self.source_name
    }

    /// Format of the source.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of bags, at least 1.
    #[must_use]
    pub fn n_bags(&self) -> usize {
        self.names.len()
    }

    /// Number of instances over all bags.
    #[must_use]
    pub fn n_instances(&self) -> usize {
        self.values.len() / self.n_features
    }

    /// Dimension of the instances, at least 1.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// All values, instance after instance.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Bag `i` owns the instances `offsets[i]..offsets[i + 1]`.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// One name per bag, each unique.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// One word per bag; [`UNLABELLED`] where the label is not known.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> {
        self.labels.iter()
    }

    /// Where the label of a bag stands.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn label_place(&self, bag_idx: usize) -> Place {
        self.style.place(Part::Label, self.labels.spots[bag_idx])
    }

    /// One word per instance, where the source has such a column.
    #[must_use]
    pub fn instance_labels(&self) -> Option<impl ExactSizeIterator<Item = &str>> {
        self.instance_labels.as_ref().map(Words::iter)
    }

    /// The names of the features, where the source names them.
    #[must_use]
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The distinct label words with the number of bags of each, in the order of their first coming.
    #[must_use]
    pub fn label_counts(&self) -> Vec<(&str, usize)> {
        let mut counts: Vec<_> = self.labels.distinct.iter().map(|word| (word.as_str(), 0)).collect();
        self.labels.ids.iter().for_each(|&id| counts[id as usize].1 += 1);
        counts
    }

    /// The bags with labels of two classes. Like its siblings it takes over the values without a copy; clone the table to keep it.
    ///
    /// With `positive` given, that word (exactly) is positive and every other word negative; else [`POSITIVE_WORDS`] and
    /// [`NEGATIVE_WORDS`] decide, whatever their case, but a source with both `0` and `-1` is refused, since its labels may be three.
    ///
    /// # Errors
    /// A word that is neither, a chosen word that no bag has, a bag without a label, or labels for only some of the instances.
    pub fn binary(self, positive: Option<&str>) -> Result<BagSet<Label>, DataError> {
        match positive {
            None => self.check_one_negative()?,
            Some(chosen) => self.check_some_positive(chosen)?,
        }
        let label_of = |word: &str, part| match positive {
            Some(chosen) => Ok(if word == chosen { Label::Positive } else { Label::Negative }),
            None => default_label(word).ok_or_else(|| Fault::UnknownLabel { part, word: shorten(word) }),
        };
        let class_names = Label::fixed_class_names().expect("two classes name themselves");
        self.into_labelled(class_names, label_of)
    }

    /// The bags with labels of as many classes as there are words; the classes that the source declares count even without a bag.
    ///
    /// # Errors
    /// A bag without a label, or labels for only some of the instances.
    pub fn classes(self) -> Result<BagSet<ClassId>, DataError> {
        let instance_words = self.instance_labels.iter().flat_map(|words| &words.distinct);
        let words = self.labels.distinct.iter().chain(instance_words).filter(|word| *word != UNLABELLED);
        let names = ClassNames::new(words.chain(&self.declared_classes));
        let ids: HashMap<String, ClassId> =
            names.iter().enumerate().map(|(idx, name)| (name.to_owned(), ClassId(idx as u32))).collect();
        self.into_labelled(names, |word, _| Ok(ids[word]))
    }

    /// The bags without labels, whatever the source says of them.
    ///
    /// # Errors
    /// If the names of the features are not one for each, or not unique.
    pub fn unlabelled(self) -> Result<BagSet<()>, DataError> {
        let labels = vec![(); self.n_bags()];
        // Only labels that are all unknown fit the unit label; known ones are left behind.
        let instance_labels = self.instance_labels.as_ref().filter(|words| words.is_all_unlabelled());
        let instance_labels = instance_labels.map(|_| vec![(); self.n_instances()]);
        self.into_set(labels, instance_labels, ClassNames::new::<String>([]))
    }

    fn into_labelled<Y: BagLabel>(
        self,
        class_names: ClassNames,
        label_of: impl Fn(&str, Part) -> Result<Y, Fault>,
    ) -> Result<BagSet<Y>, DataError> {
        let unlabelled = |bag_idx: usize| Fault::Unlabelled { bag: self.names[bag_idx].clone() };
        let labels = self.typed(&self.labels, Part::Label, unlabelled, &label_of)?;
        let instance_labels = self.instance_labels.as_ref().filter(|words| !words.is_all_unlabelled());
        let instance_labels = instance_labels
            .map(|words| self.typed(words, Part::InstanceLabel, |_| Fault::PartlyUnlabelled, &label_of))
            .transpose()?;
        self.into_set(labels, instance_labels, class_names)
    }

    /// The labels that words stand for. Each distinct word is looked up once.
    fn typed<Y: BagLabel>(
        &self,
        words: &Words,
        part: Part,
        unlabelled: impl Fn(usize) -> Fault,
        label_of: impl Fn(&str, Part) -> Result<Y, Fault>,
    ) -> Result<Vec<Y>, DataError> {
        let known: Vec<Option<Result<Y, Fault>>> =
            words.distinct.iter().map(|word| (word != UNLABELLED).then(|| label_of(word, part))).collect();
        let label_at = |(idx, &id): (usize, &u32)| match &known[id as usize] {
            Some(Ok(label)) => Ok(*label),
            Some(Err(fault)) => Err(self.fault(self.style.place(part, words.spots[idx]), fault.clone())),
            None => Err(self.fault(self.style.place(part, words.spots[idx]), unlabelled(idx))),
        };
        words.ids.iter().enumerate().map(label_at).collect()
    }

    fn into_set<Y: BagLabel>(
        self,
        labels: Vec<Y>,
        instance_labels: Option<Vec<Y>>,
        class_names: ClassNames,
    ) -> Result<BagSet<Y>, DataError> {
        let BagTable { source_name, n_features, values, offsets, names, feature_names, .. } = self;
        let parts =
            BagSetParts { n_features, values, offsets, names, labels, instance_labels, feature_names, class_names };
        BagSet::from_parts(parts).map_err(|error| DataError::Bags { source_name, error })
    }

    /// A slip of the pen in the chosen word would make every bag negative.
    fn check_some_positive(&self, chosen: &str) -> Result<(), DataError> {
        const SHOWN: usize = 10;
        if self.labels.distinct.iter().any(|word| word == chosen) {
            return Ok(());
        }
        let found = self.labels.distinct.iter().take(SHOWN).map(|word| shorten(word)).collect();
        Err(self.fault(Place::Whole, Fault::NoPositive { chosen: chosen.to_owned(), found }))
    }

    fn check_one_negative(&self) -> Result<(), DataError> {
        let is_zero = |word: &str| matches!(word, "0" | "0.0");
        let is_minus_one = |word: &str| matches!(word, "-1" | "-1.0");
        let words = &self.labels.distinct;
        let Some(zero) = words.iter().position(|word| is_zero(word)) else { return Ok(()) };
        let Some(minus_one) = words.iter().position(|word| is_minus_one(word)) else { return Ok(()) };
        let (first, second) = (zero.min(minus_one), zero.max(minus_one));
        let bag_idx = self.labels.ids.iter().position(|&id| id as usize == second).expect("a word came with a bag");
        let fault = Fault::AmbiguousLabels { first: words[first].clone(), second: words[second].clone() };
        Err(self.fault(self.label_place(bag_idx), fault))
    }

    fn fault(&self, place: Place, fault: Fault) -> DataError {
        input(&self.source_name, place, fault)
    }
}

fn default_label(word: &str) -> Option<Label> {
    let is_among = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is_among(&POSITIVE_WORDS) {
        Some(Label::Positive)
    } else if is_among(&NEGATIVE_WORDS) {
        Some(Label::Negative)
    } else {
        None
    }
}

/// One word for each of many, the distinct ones kept once, and where each stands.
#[derive(Debug, Clone, PartialEq, Default)]
struct Words {
    distinct: Vec<String>,
    ids: Vec<u32>,
    spots: Vec<Spot>,
}

impl Words {
    fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.ids.iter().map(|&id| self.distinct[id as usize].as_str())
    }

    fn is_all_unlabelled(&self) -> bool {
        self.distinct.iter().all(|word| word == UNLABELLED)
    }
}

/// Line and column of a text, both from 1; of other sources the row from 0, and 0.
pub(crate) type Spot = (u64, u64);

/// What the spots of a source mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PlaceStyle {
    /// Lines and columns of a text.
    Text,
    /// Rows of the arrays of an `.npz` file.
    Npz,
    /// Rows of the columns of these names.
    #[cfg(feature = "parquet")]
    Parquet { bag: String, label: String, instance_label: String },
}

impl PlaceStyle {
    fn place(&self, part: Part, (line, column): Spot) -> Place {
        match self {
            PlaceStyle::Text => Place::Text { line, column },
            PlaceStyle::Npz => {
                let name = match part {
                    Part::Label => "labels",
                    Part::InstanceLabel => "instance_labels",
                    Part::Bag => "bag_ids",
                    _ => "instances",
                };
                Place::Member { name: name.to_owned(), row: Some(line), column: None }
            }
            #[cfg(feature = "parquet")]
            PlaceStyle::Parquet { bag, label, instance_label } => {
                let name = match part {
                    Part::Label => label,
                    Part::InstanceLabel => instance_label,
                    _ => bag,
                };
                Place::Column { name: name.clone(), row: Some(line) }
            }
        }
    }
}

/// Collects distinct words.
#[derive(Debug, Default)]
pub(crate) struct WordList {
    distinct: Vec<String>,
    ids: Vec<u32>,
    id_of: HashMap<String, u32>,
}

impl WordList {
    pub(crate) fn push(&mut self, word: &str) {
        // Runs of one word are the rule.
        if let Some(&last) = self.ids.last()
            && self.distinct[last as usize] == word
        {
            return self.ids.push(last);
        }
        let id = match self.id_of.get(word) {
            Some(&id) => id,
            None => {
                let id = self.distinct.len() as u32;
                self.id_of.insert(word.to_owned(), id);
                self.distinct.push(word.to_owned());
                id
            }
        };
        self.ids.push(id);
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn word(&self, idx: usize) -> &str {
        &self.distinct[self.ids[idx] as usize]
    }

    fn with_spots(self, spots: Vec<Spot>) -> Words {
        Words { distinct: self.distinct, ids: self.ids, spots }
    }
}

/// What one row says besides its values.
pub(crate) struct RowHead<'a> {
    pub(crate) bag: &'a str,
    /// [`UNLABELLED`] where the source has no labels.
    pub(crate) label: &'a str,
    pub(crate) instance_label: Option<&'a str>,
    /// Line or row, for messages.
    pub(crate) line: u64,
}

/// Collects rows into a table. A reader pushes the values of a row onto [`values`](Self::values), then calls
/// [`end_row`](Self::end_row), which checks what no format may violate.
pub(crate) struct Rows {
    pub(crate) values: Vec<f64>,
    source_name: String,
    max_values: usize,
    n_instances: usize,
    offsets: Vec<usize>,
    names: Vec<String>,
    first_lines: Vec<u64>,
    bag_idx_of: HashMap<String, usize>,
    labels: WordList,
    label_spots: Vec<Spot>,
    instance_labels: WordList,
    instance_label_spots: Vec<Spot>,
    style: PlaceStyle,
}

/// What a source declares about the whole.
#[derive(Default)]
pub(crate) struct Declared {
    pub(crate) feature_names: Option<Vec<String>>,
    pub(crate) classes: Vec<String>,
}

impl Rows {
    pub(crate) fn new(source_name: &str, limits: &Limits, style: PlaceStyle) -> Self {
        Rows {
            values: Vec::new(),
            source_name: source_name.to_owned(),
            max_values: limits.max_values,
            n_instances: 0,
            offsets: vec![],
            names: Vec::new(),
            first_lines: Vec::new(),
            bag_idx_of: HashMap::new(),
            labels: WordList::default(),
            label_spots: Vec::new(),
            instance_labels: WordList::default(),
            instance_label_spots: Vec::new(),
            style,
        }
    }

    pub(crate) fn n_instances(&self) -> usize {
        self.n_instances
    }

    /// Whether a row of this bag would continue the bag that is open.
    pub(crate) fn continues(&self, bag: &str) -> bool {
        self.names.last().is_some_and(|open| open == bag)
    }

    /// Line of the first row of a bag seen before.
    pub(crate) fn first_line_of(&self, bag: &str) -> Option<u64> {
        self.bag_idx_of.get(bag).map(|&bag_idx| self.first_lines[bag_idx])
    }

    /// Closes a row: opens a bag or continues the one that is open. `spot_of` is asked only where it matters, since counting
    /// characters takes time.
    pub(crate) fn end_row(&mut self, head: &RowHead<'_>, spot_of: impl Fn(Part) -> Spot) -> Result<(), DataError> {
        if self.values.len() > self.max_values {
            return Err(self.fault(Part::Feature(1), spot_of, Fault::TooManyValues { limit: self.max_values }));
        }
        if self.continues(head.bag) {
            self.check_same_label(head, &spot_of)?;
        } else {
            self.open_bag(head, &spot_of)?;
        }
        self.n_instances += 1;
        if let Some(word) = head.instance_label {
            self.instance_labels.push(word);
            self.instance_label_spots.push(spot_of(Part::InstanceLabel));
        }
        Ok(())
    }

    fn check_same_label(&self, head: &RowHead<'_>, spot_of: impl Fn(Part) -> Spot) -> Result<(), DataError> {
        let bag_idx = self.names.len() - 1;
        let first = &self.labels.distinct[self.labels.ids[bag_idx] as usize];
        if first == head.label {
            return Ok(());
        }
        let fault = Fault::LabelsDisagree {
            bag: head.bag.to_owned(),
            found: head.label.to_owned(),
            first: first.clone(),
            first_line: self.first_lines[bag_idx],
        };
        Err(self.fault(Part::Label, spot_of, fault))
    }

    fn open_bag(&mut self, head: &RowHead<'_>, spot_of: impl Fn(Part) -> Spot) -> Result<(), DataError> {
        if let Some(first_line) = self.first_line_of(head.bag) {
            let fault = Fault::BagReappears { bag: head.bag.to_owned(), first_line };
            return Err(self.fault(Part::Bag, spot_of, fault));
        }
        self.bag_idx_of.insert(head.bag.to_owned(), self.names.len());
        self.names.push(head.bag.to_owned());
        self.first_lines.push(head.line);
        self.offsets.push(self.n_instances);
        self.labels.push(head.label);
        self.label_spots.push(spot_of(Part::Label));
        Ok(())
    }

    fn fault(&self, part: Part, spot_of: impl Fn(Part) -> Spot, fault: Fault) -> DataError {
        input(&self.source_name, self.style.place(part, spot_of(part)), fault)
    }

    /// Hands the table over.
    pub(crate) fn finish(mut self, format: Format, declared: Declared, end: Place) -> Result<BagTable, DataError> {
        if self.n_instances == 0 {
            return Err(input(&self.source_name, end, Fault::Empty));
        }
        self.offsets.push(self.n_instances);
        let n_features = self.values.len() / self.n_instances;
        assert_eq!(n_features * self.n_instances, self.values.len(), "readers push rows of one length");
        assert!(n_features > 0, "readers refuse rows without features");
        let has_instance_labels = !self.instance_labels.ids.is_empty();
        Ok(BagTable {
            source_name: self.source_name,
            format,
            n_features,
            values: self.values,
            offsets: self.offsets,
            names: self.names,
            labels: self.labels.with_spots(self.label_spots),
            instance_labels: has_instance_labels.then(|| self.instance_labels.with_spots(self.instance_label_spots)),
            feature_names: declared.feature_names,
            declared_classes: declared.classes,
            style: self.style,
        })
    }
}
