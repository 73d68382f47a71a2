//! How good predictions are: accuracy, balanced accuracy, confusion matrix, area under the ROC curve.

use crate::label::{BagLabel, Label};

/// Share of predictions that are right.
///
/// # Panics
/// If there is no prediction, or not one per label.
#[must_use]
pub fn accuracy<Y: PartialEq>(predicted: &[Y], actual: &[Y]) -> f64 {
    assert_eq!(predicted.len(), actual.len(), "one prediction per label");
    assert!(!actual.is_empty(), "the accuracy of nothing");
    let n_right = predicted.iter().zip(actual).filter(|(p, a)| p == a).count();
    n_right as f64 / actual.len() as f64
}

/// Counts of actual against predicted classes.
///
/// ```
/// use mil_core::{Label::{Negative, Positive}, metrics::Confusion};
/// let confusion = Confusion::of(&[Positive, Positive, Negative], &[Positive, Negative, Negative], 2);
/// assert_eq!(confusion.count(0, 1), 1); // one negative bag was called positive
/// assert_eq!(confusion.recall(1), Some(1.0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    n_classes: usize,
    /// Row by row: row = actual class, column = predicted class.
    counts: Vec<usize>,
}

impl Confusion {
    /// Counts the pairs.
    ///
    /// # Panics
    /// If there is not one prediction per label, or a class is out of range.
    #[must_use]
    pub fn of<Y: BagLabel>(predicted: &[Y], actual: &[Y], n_classes: usize) -> Confusion {
        assert_eq!(predicted.len(), actual.len(), "one prediction per label");
        let mut counts = vec![0; n_classes * n_classes];
        for (p, a) in predicted.iter().zip(actual) {
            assert!(p.class_idx() < n_classes && a.class_idx() < n_classes, "a class out of range");
            counts[a.class_idx() * n_classes + p.class_idx()] += 1;
        }
        Confusion { n_classes, counts }
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// How many of one class were predicted as another.
    ///
    /// # Panics
    /// If a class is out of range.
    #[must_use]
    pub fn count(&self, actual: usize, predicted: usize) -> usize {
        assert!(predicted < self.n_classes, "class {predicted} of {}", self.n_classes);
        self.counts[actual * self.n_classes + predicted]
    }

    /// Share of a class that was recognised; `None` where the class does not occur.
    ///
    /// # Panics
    /// If the class is out of range.
    #[must_use]
    pub fn recall(&self, class: usize) -> Option<f64> {
        let total: usize = (0..self.n_classes).map(|predicted| self.count(class, predicted)).sum();
        (total > 0).then(|| self.count(class, class) as f64 / total as f64)
    }

    /// Mean recall over the classes that occur; `None` where none does.
    #[must_use]
    pub fn balanced_accuracy(&self) -> Option<f64> {
        let recalls: Vec<f64> = (0..self.n_classes).filter_map(|class| self.recall(class)).collect();
        (!recalls.is_empty()).then(|| recalls.iter().sum::<f64>() / recalls.len() as f64)
    }
}

/// Area under the ROC curve: the chance that a positive bag scores above a negative one, a tie counting one half; `None` unless both
/// classes occur and no score is NaN.
///
/// Computed from mid-ranks in $O(n \log n)$: $\bigl(\sum_{+} r_i - \tfrac{n_+(n_+ + 1)}{2}\bigr) / (n_+ n_-)$ (Mann & Whitney, 1947).
///
/// # Panics
/// If there is not one score per label.
#[must_use]
pub fn roc_auc(scores: &[f64], labels: &[Label]) -> Option<f64> {
    assert_eq!(scores.len(), labels.len(), "one score per label");
    let n_positive = labels.iter().filter(|label| **label == Label::Positive).count();
    let n_negative = labels.len() - n_positive;
    if n_positive == 0 || n_negative == 0 || scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let mut rank_sum = 0.0;
    let mut start = 0;
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        // Ranks count from 1; tied scores share the mean of theirs.
        let mid_rank = start as f64 + (tied.len() as f64 + 1.0) / 2.0;
        rank_sum += mid_rank * tied.iter().filter(|&&i| labels[i] == Label::Positive).count() as f64;
        start += tied.len();
    }
    let (p, n) = (n_positive as f64, n_negative as f64);
    Some((rank_sum - p * (p + 1.0) / 2.0) / (p * n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Label::{Negative, Positive};
    use proptest::prelude::*;

    #[test]
    fn a_perfect_ranking_has_area_one_and_ties_one_half() {
        assert_eq!(roc_auc(&[1.0, 2.0], &[Negative, Positive]), Some(1.0));
        assert_eq!(roc_auc(&[2.0, 1.0], &[Negative, Positive]), Some(0.0));
        assert_eq!(roc_auc(&[1.0, 1.0], &[Negative, Positive]), Some(0.5));
        assert_eq!(roc_auc(&[-0.0, 0.0], &[Negative, Positive]), Some(0.5));
        assert_eq!(roc_auc(&[1.0, 2.0], &[Positive, Positive]), None);
        assert_eq!(roc_auc(&[f64::NAN, 2.0], &[Positive, Negative]), None);
    }

    #[test]
    fn balanced_accuracy_weighs_classes_alike() {
        let actual = [Negative, Negative, Negative, Positive];
        let confusion = Confusion::of(&[Negative; 4], &actual, 2);
        assert_eq!(accuracy(&[Negative; 4], &actual), 0.75);
        assert_eq!(confusion.balanced_accuracy(), Some(0.5));
        assert_eq!(Confusion::of::<Label>(&[], &[], 2).balanced_accuracy(), None);
    }

    proptest! {
        #[test]
        fn the_area_is_the_share_of_ordered_pairs(pairs in prop::collection::vec((-3i8..3, any::<bool>()), 1..40)) {
            let scores: Vec<f64> = pairs.iter().map(|(score, _)| f64::from(*score)).collect();
            let labels: Vec<Label> = pairs.iter().map(|(_, positive)| if *positive { Positive } else { Negative }).collect();
            let (mut won, mut all) = (0.0, 0.0);
            for (s, _) in scores.iter().zip(&labels).filter(|(_, y)| **y == Positive) {
                for (t, _) in scores.iter().zip(&labels).filter(|(_, y)| **y == Negative) {
                    all += 1.0;
                    won += if s > t { 1.0 } else if s == t { 0.5 } else { 0.0 };
                }
            }
            match roc_auc(&scores, &labels) {
                Some(area) => prop_assert!((area - won / all).abs() < 1e-12),
                None => prop_assert_eq!(all, 0.0),
            }
        }
    }
}
