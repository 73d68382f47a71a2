//! Labels of bags: two classes, many, or none.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Label of a bag or an instance in a two-class problem. `Negative` sorts before `Positive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Label {
    /// No instance of the bag belongs to the concept.
    Negative,
    /// At least one instance of the bag belongs to the concept.
    Positive,
}

impl Label {
    /// $Y \in \{-1, +1\}$, for use inside arithmetic only.
    #[must_use]
    pub fn sign(self) -> f64 {
        match self {
            Label::Negative => -1.0,
            Label::Positive => 1.0,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Label::Negative => "negative",
            Label::Positive => "positive",
        })
    }
}

/// Class of a bag in a problem of many classes: a position in the [`ClassNames`] of its bag set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClassId(pub u32);

impl ClassId {
    /// The id as an index.
    #[must_use]
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// The names of the classes, each once, in *natural order*: if every name is an integer by value, else by characters.
///
/// The order is an invariant, so that a set read back from a file that states no order gets the same ids.
///
/// ```
/// use mil_core::{ClassId, ClassNames};
/// let names = ClassNames::new(["10", "9", "9"]);
/// assert_eq!(names.iter().collect::<Vec<_>>(), ["9", "10"]);
/// assert_eq!(names.id("10"), Some(ClassId(1)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct ClassNames(Arc<[String]>);

impl ClassNames {
    /// Sorts the names and drops repetitions.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.iter().all(|name| name.parse::<i64>().is_ok()) {
            // Names that denote the same integer ("1", "01") stay apart; the characters break the tie.
            names.sort_by_cached_key(|name| (name.parse::<i64>().expect("checked above"), name.clone()));
        } else {
            names.sort();
        }
        names.dedup();
        ClassNames(names.into())
    }

    /// Number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no class at all, as in an unlabelled set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Name of a class, if the id is in range.
    #[must_use]
    pub fn name(&self, id: ClassId) -> Option<&str> {
        self.0.get(id.idx()).map(String::as_str)
    }

    /// Id of a name.
    #[must_use]
    pub fn id(&self, name: &str) -> Option<ClassId> {
        self.0.iter().position(|known| known == name).map(|idx| ClassId(idx as u32))
    }
}

impl From<Vec<String>> for ClassNames {
    fn from(names: Vec<String>) -> Self {
        ClassNames::new(names)
    }
}

impl From<ClassNames> for Vec<String> {
    fn from(names: ClassNames) -> Self {
        names.0.to_vec()
    }
}

/// What a bag set may carry as labels: [`Label`], [`ClassId`], or `()` for unlabelled bags.
pub trait BagLabel: Copy + Eq + Ord + fmt::Debug + Send + Sync + 'static {
    /// Position of the class, for stratified splits and confusion matrices.
    fn class_idx(self) -> usize;

    /// Names of the classes where the type itself determines them; `None` where the data do.
    fn fixed_class_names() -> Option<ClassNames>;
}

/// A label that a model can predict.
pub trait Target: BagLabel {
    /// What a model says of a bag before deciding: one real number in two classes, the class posteriors in many.
    type Score: Clone + PartialEq + fmt::Debug + Send + Sync;

    /// The decision that a score stands for.
    fn decide(score: &Self::Score) -> Self;
}

impl BagLabel for Label {
    fn class_idx(self) -> usize {
        match self {
            Label::Negative => 0,
            Label::Positive => 1,
        }
    }

    fn fixed_class_names() -> Option<ClassNames> {
        Some(ClassNames::new(["negative", "positive"]))
    }
}

impl Target for Label {
    type Score = f64;

    /// Positive iff the score is at least 0.
    fn decide(score: &f64) -> Label {
        if *score >= 0.0 { Label::Positive } else { Label::Negative }
    }
}

impl BagLabel for ClassId {
    fn class_idx(self) -> usize {
        self.idx()
    }

    fn fixed_class_names() -> Option<ClassNames> {
        None
    }
}

impl Target for ClassId {
    type Score = Vec<f64>;

    /// The class of the largest posterior, the lowest id on ties.
    fn decide(score: &Vec<f64>) -> ClassId {
        ClassId(crate::learner::argmax(score) as u32)
    }
}

impl BagLabel for () {
    fn class_idx(self) -> usize {
        0
    }

    fn fixed_class_names() -> Option<ClassNames> {
        Some(ClassNames::new::<String>([]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_of_zero_is_positive() {
        assert_eq!(Label::decide(&0.0), Label::Positive);
        assert_eq!(Label::decide(&-f64::MIN_POSITIVE), Label::Negative);
    }

    #[test]
    fn tied_posteriors_go_to_the_lowest_class() {
        assert_eq!(ClassId::decide(&vec![0.2, 0.4, 0.4]), ClassId(1));
    }

    #[test]
    fn integers_sort_by_value_and_words_by_characters() {
        let integers = ClassNames::new(["2", "-1", "10"]);
        assert_eq!(integers.iter().collect::<Vec<_>>(), ["-1", "2", "10"]);
        let words = ClassNames::new(["2", "b", "10"]);
        assert_eq!(words.iter().collect::<Vec<_>>(), ["10", "2", "b"]);
    }

    #[test]
    fn class_positions_of_the_two_labels_follow_their_names() {
        let names = Label::fixed_class_names().unwrap();
        for label in [Label::Negative, Label::Positive] {
            assert_eq!(names.name(ClassId(label.class_idx() as u32)), Some(label.to_string().as_str()));
        }
    }
}
