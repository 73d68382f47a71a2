//! What a fit is about: labelled bags, which of them take part, and the kernel between their instances.

use std::ops::Range;

use mil_core::{BagSet, FitError, Label};

use crate::InstanceKernel;

/// Bags to fit on, over a kernel that other fits may share.
///
/// Bags can be held out: they have no say, but their decision values come out with the others', so that a cross-validation needs no further kernel value.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    bags: &'a BagSet<Label>,
    kernel: &'a InstanceKernel<'a>,
    in_play: Vec<bool>,
}

impl<'a> Task<'a> {
    /// A task over all bags.
    ///
    /// # Errors
    /// If the bags are of one class only.
    pub fn new(bags: &'a BagSet<Label>, kernel: &'a InstanceKernel<'a>) -> Result<Task<'a>, FitError> {
        Task::over(bags, kernel, vec![true; bags.n_bags()])
    }

    /// A task over some of the bags; the others are held out.
    ///
    /// # Errors
    /// If the bags in play are of one class only.
    ///
    /// # Panics
    /// If a position is out of range.
    pub fn on(bags: &'a BagSet<Label>, kernel: &'a InstanceKernel<'a>, train: &[usize]) -> Result<Task<'a>, FitError> {
        let mut in_play = vec![false; bags.n_bags()];
        train.iter().for_each(|&bag_idx| in_play[bag_idx] = true);
        Task::over(bags, kernel, in_play)
    }

    fn over(bags: &'a BagSet<Label>, kernel: &'a InstanceKernel<'a>, in_play: Vec<bool>) -> Result<Task<'a>, FitError> {
        bags.require_both_classes_among((0..bags.n_bags()).filter(|&bag_idx| in_play[bag_idx]))?;
        Ok(Task { bags, kernel, in_play })
    }

    /// The bags, those held out among them.
    #[must_use]
    pub fn bags(&self) -> &'a BagSet<Label> {
        self.bags
    }

    /// The kernel between all instances.
    #[must_use]
    pub fn kernel(&self) -> &'a InstanceKernel<'a> {
        self.kernel
    }

    /// Number of instances, those held out among them.
    pub(crate) fn n_instances(&self) -> usize {
        self.bags.n_instances()
    }

    /// The instances of each bag in play of one label, as a range of columns, in order.
    pub(crate) fn blocks(&self, label: Label) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        let bag_idxs =
            (0..self.bags.n_bags()).filter(move |&idx| self.in_play[idx] && self.bags.labels()[idx] == label);
        bag_idxs.map(|bag_idx| self.bags.columns_of(bag_idx))
    }

    /// The instances of the positive bags in play, bag after bag.
    pub(crate) fn positive_instances(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.blocks(Label::Positive).flatten()
    }

    /// The instances of the negative bags in play, bag after bag.
    pub(crate) fn negative_instances(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.blocks(Label::Negative).flatten()
    }
}
