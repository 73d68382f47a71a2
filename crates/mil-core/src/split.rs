//! Seeded, stratified, repeated k-fold splits.

use rand::seq::SliceRandom;

use crate::label::BagLabel;
use crate::random::stream;

/// Repeats beyond this are a slip of the pen, and would exhaust the memory.
const MAX_REPEATS: usize = 100_000;

/// How to split bags into folds: each class is shuffled and dealt over the folds, so that every fold has its share.
///
/// ```
/// use mil_core::{Label, StratifiedKFold};
/// let labels = [Label::Positive, Label::Positive, Label::Negative, Label::Negative];
/// let splits = StratifiedKFold { n_folds: 2, n_repeats: 3, seed: 0 }.split(&labels)?;
/// assert_eq!(splits.len(), 6);
/// assert!(splits.iter().all(|split| split.test.len() == 2));
/// # Ok::<(), mil_core::SplitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StratifiedKFold {
    /// Number of folds, from 2 to the number of bags.
    pub n_folds: usize,
    /// How often the whole is done with another shuffle, from 1 to 100,000.
    pub n_repeats: usize,
    /// Fixes the shuffles.
    pub seed: u64,
}

/// One division of the bags: positions ascend in both parts, and every bag is in exactly one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Which repetition, from 0.
    pub repeat_idx: usize,
    /// Which fold of it, from 0.
    pub fold_idx: usize,
    /// Bags to fit on.
    pub train: Vec<usize>,
    /// Bags held out.
    pub test: Vec<usize>,
}

/// Why bags cannot be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// More folds than bags, or fewer than two.
    #[error("{n_folds} folds for {n_bags} bags; expected from 2 to the number of bags")]
    Folds {
        /// Folds asked for.
        n_folds: usize,
        /// Bags there are.
        n_bags: usize,
    },
    /// No repetition, or more than anyone can mean.
    #[error("{n_repeats} repeats; expected from 1 to {MAX_REPEATS}")]
    Repeats {
        /// Repetitions asked for.
        n_repeats: usize,
    },
    /// A repetition beyond the last.
    #[error("there is no repetition {repeat_idx}, they count from 0 to below {n_repeats}")]
    Repeat {
        /// The one asked for, from 0.
        repeat_idx: usize,
        /// Repetitions there are.
        n_repeats: usize,
    },
}

impl StratifiedKFold {
    /// All splits, repeat after repeat and fold after fold.
    ///
    /// A class with fewer bags than folds is missing from some test folds; a class of a single bag is missing from the training
    /// part once.
    ///
    /// # Errors
    /// If the number of folds does not suit the number of bags.
    pub fn split<Y: BagLabel>(&self, labels: &[Y]) -> Result<Vec<Split>, SplitError> {
        if !(2..=labels.len()).contains(&self.n_folds) {
            return Err(SplitError::Folds { n_folds: self.n_folds, n_bags: labels.len() });
        }
        if !(1..=MAX_REPEATS).contains(&self.n_repeats) {
            return Err(SplitError::Repeats { n_repeats: self.n_repeats });
        }
        Ok((0..self.n_repeats).flat_map(|repeat_idx| self.folds(labels, repeat_idx)).collect())
    }

    /// The splits of one repetition, the same as among [all of them](Self::split).
    ///
    /// # Errors
    /// As for all of them, and if there is no such repetition.
    pub fn split_repeat<Y: BagLabel>(&self, labels: &[Y], repeat_idx: usize) -> Result<Vec<Split>, SplitError> {
        if !(2..=labels.len()).contains(&self.n_folds) {
            return Err(SplitError::Folds { n_folds: self.n_folds, n_bags: labels.len() });
        }
        if repeat_idx >= self.n_repeats {
            return Err(SplitError::Repeat { repeat_idx, n_repeats: self.n_repeats });
        }
        Ok(self.folds(labels, repeat_idx))
    }

    fn folds<Y: BagLabel>(&self, labels: &[Y], repeat_idx: usize) -> Vec<Split> {
        let fold_of = self.deal(labels, repeat_idx);
        let split = |fold_idx| {
            let (test, train) = (0..labels.len()).partition(|&bag_idx| fold_of[bag_idx] == fold_idx);
            Split { repeat_idx, fold_idx, train, test }
        };
        (0..self.n_folds).map(split).collect()
    }

    /// The fold of every bag. The deal goes on where the previous class ended, so that folds differ by one bag at the most.
    fn deal<Y: BagLabel>(&self, labels: &[Y], repeat_idx: usize) -> Vec<usize> {
        let mut rng = stream(self.seed, "stratified folds", repeat_idx as u64);
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.shuffle(&mut rng);
        order.sort_by_key(|&bag_idx| labels[bag_idx].class_idx());
        let mut fold_of = vec![0; labels.len()];
        for (position, bag_idx) in order.into_iter().enumerate() {
            fold_of[bag_idx] = position % self.n_folds;
        }
        fold_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{ClassId, Label};
    use proptest::prelude::*;

    #[test]
    fn folds_out_of_range_are_refused() {
        let labels = [Label::Positive; 3];
        for n_folds in [0, 1, 4] {
            let error = StratifiedKFold { n_folds, n_repeats: 1, seed: 0 }.split(&labels).unwrap_err();
            assert_eq!(error, SplitError::Folds { n_folds, n_bags: 3 });
        }
        for n_repeats in [0, usize::MAX] {
            let error = StratifiedKFold { n_folds: 2, n_repeats, seed: 0 }.split(&labels).unwrap_err();
            assert_eq!(error, SplitError::Repeats { n_repeats });
        }
    }

    #[test]
    fn repeats_differ_and_seeds_differ() {
        let labels: Vec<Label> = (0..40).map(|i| if i < 15 { Label::Positive } else { Label::Negative }).collect();
        let split = |seed| StratifiedKFold { n_folds: 4, n_repeats: 2, seed }.split(&labels).unwrap();
        assert_ne!(split(1)[0].test, split(1)[4].test);
        assert_ne!(split(1)[0].test, split(2)[0].test);
        assert_eq!(split(1), split(1));
    }

    proptest! {
        #[test]
        fn every_bag_is_tested_once_a_repeat_and_classes_are_spread(
            classes in prop::collection::vec(0u32..4, 2..60),
            n_folds in 2usize..12,
            seed: u64,
        ) {
            prop_assume!(n_folds <= classes.len());
            let labels: Vec<ClassId> = classes.iter().copied().map(ClassId).collect();
            let splits = StratifiedKFold { n_folds, n_repeats: 2, seed }.split(&labels).unwrap();
            for repeat in splits.chunks(n_folds) {
                let mut tested: Vec<usize> = repeat.iter().flat_map(|split| split.test.clone()).collect();
                tested.sort_unstable();
                prop_assert_eq!(tested, (0..labels.len()).collect::<Vec<_>>());
                for class in 0..4 {
                    let counts: Vec<usize> = repeat
                        .iter()
                        .map(|split| split.test.iter().filter(|&&i| labels[i] == ClassId(class)).count())
                        .collect();
                    prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
                }
                let sizes = repeat.iter().map(|split| split.test.len());
                prop_assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
            }
            for split in &splits {
                let mut all = [split.train.clone(), split.test.clone()].concat();
                all.sort_unstable();
                prop_assert_eq!(all.len(), labels.len());
                all.dedup();
                prop_assert_eq!(all.len(), labels.len());
            }
        }
    }
}
