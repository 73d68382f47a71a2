//! A bag set as the engine takes it: a class and a weight for each instance.

use mil_core::{BagLabel, BagSet, ClassId, FitError, Label, Target};

use crate::forest::Sample;
use crate::params::Weighting;

/// A label that forests learn: [`Label`] or [`ClassId`].
pub trait ForestLabel: Target + sealed::Sealed {
    /// Refuses bags of fewer classes than learning needs.
    #[doc(hidden)]
    fn require_classes(bags: &BagSet<Self>) -> Result<(), FitError>;

    /// Whether bags of this label hide which of their instances it is about.
    #[doc(hidden)]
    fn is_hidden(self) -> bool;

    /// The score of pooled posteriors, one for each class.
    #[doc(hidden)]
    fn score(pooled: Vec<f64>) -> Self::Score;
}

mod sealed {
    /// Nobody else implements a forest's labels.
    pub trait Sealed {}
    impl Sealed for mil_core::Label {}
    impl Sealed for mil_core::ClassId {}
}

/// In two classes the posterior of the positive class decides at 1/2.
const EVEN: f64 = 0.5;

impl ForestLabel for Label {
    fn require_classes(bags: &BagSet<Label>) -> Result<(), FitError> {
        bags.require_both_classes()
    }

    fn is_hidden(self) -> bool {
        self == Label::Positive
    }

    fn score(pooled: Vec<f64>) -> f64 {
        pooled[Label::Positive.class_idx()] - EVEN
    }
}

impl ForestLabel for ClassId {
    fn require_classes(bags: &BagSet<ClassId>) -> Result<(), FitError> {
        let n_classes = bags.class_counts().iter().filter(|count| **count > 0).count();
        if n_classes < 2 {
            return Err(FitError::TooFewClasses { n_classes, n_bags: bags.n_bags() });
        }
        Ok(())
    }

    fn is_hidden(self) -> bool {
        true
    }

    fn score(mut pooled: Vec<f64>) -> Vec<f64> {
        let total: f64 = pooled.iter().sum();
        pooled.iter_mut().for_each(|p| *p /= total);
        pooled
    }
}

/// Bags with the classes that have none left out: trees and annealing know the others only, and count them from 0.
pub(crate) struct Task<'a, Y> {
    pub(crate) bags: &'a BagSet<Y>,
    /// The class that each known one is.
    pub(crate) classes: Vec<u32>,
    /// The known class of each bag.
    pub(crate) bag_classes: Vec<u32>,
    /// That of each instance, if it were its bag's.
    pub(crate) labels: Vec<u32>,
    weights: Option<Vec<f64>>,
    offsets: Vec<usize>,
}

impl<'a, Y: BagLabel> Task<'a, Y> {
    pub(crate) fn new(bags: &'a BagSet<Y>, weighting: Weighting) -> Task<'a, Y> {
        let counts = bags.class_counts();
        let classes: Vec<u32> = (0..counts.len() as u32).filter(|class| counts[*class as usize] > 0).collect();
        let known = |label: &Y| classes.binary_search(&(label.class_idx() as u32)).expect("it has a bag") as u32;
        let bag_classes: Vec<u32> = bags.labels().iter().map(known).collect();
        let mut labels = Vec::with_capacity(bags.n_instances());
        let mut offsets = vec![0];
        for (bag, class) in bags.bags().zip(&bag_classes) {
            labels.resize(labels.len() + bag.n_instances(), *class);
            offsets.push(labels.len());
        }
        let weights = weights(bags, weighting, &labels, classes.len());
        Task { bags, classes, bag_classes, labels, weights, offsets }
    }

    pub(crate) fn sample(&self) -> Sample<'_> {
        Sample {
            labels: &self.labels,
            weights: self.weights.as_deref(),
            n_classes: self.classes.len(),
            offsets: &self.offsets,
        }
    }
}

/// Weights with a mean of 1.
fn weights<Y: BagLabel>(bags: &BagSet<Y>, weighting: Weighting, labels: &[u32], n_classes: usize) -> Option<Vec<f64>> {
    let n_instances = labels.len() as f64;
    match weighting {
        Weighting::Instances => None,
        Weighting::Bags => {
            let share = n_instances / bags.n_bags() as f64;
            Some(bags.bags().flat_map(|bag| vec![share / bag.n_instances() as f64; bag.n_instances()]).collect())
        }
        Weighting::Classes => {
            let mut counts = vec![0.0; n_classes];
            labels.iter().for_each(|label| counts[*label as usize] += 1.0);
            let share = n_instances / n_classes as f64;
            Some(labels.iter().map(|label| share / counts[*label as usize]).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mil_core::ClassNames;

    #[test]
    fn classes_without_bags_are_left_out_and_weights_even_out() {
        let mut builder = BagSet::builder_of_classes(ClassNames::new(["a", "b", "c"]));
        builder.bag("0", ClassId(2), [[0.0], [1.0], [2.0]]).unwrap().bag("1", ClassId(0), [[3.0]]).unwrap();
        let bags = builder.build().unwrap();
        let task = Task::new(&bags, Weighting::Instances);
        assert_eq!((task.classes.as_slice(), task.labels.as_slice()), (&[0, 2][..], &[1, 1, 1, 0][..]));
        assert_eq!((task.sample().offsets, task.sample().weights), (&[0, 3, 4][..], None));
        for weighting in [Weighting::Bags, Weighting::Classes] {
            let task = Task::new(&bags, weighting);
            let weights = task.sample().weights.unwrap();
            assert!((weights[..3].iter().sum::<f64>() - 2.0).abs() < 1e-15 && weights[3] == 2.0, "{weights:?}");
        }
    }
}
