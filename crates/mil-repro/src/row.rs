//! One method with its parameters, fixed or chosen inside the training folds: a row of the table.

use mil_core::{BagModel, BagSet, CrossValidation, CvReport, FitError, Label, Learner, Observer};

/// A row of the table: a method, its parameters, and how to cross-validate it.
pub struct Row {
    /// Short name, as given on the command line.
    pub id: &'static str,
    /// Name of the method for people.
    pub method: &'static str,
    /// The parameters, all of them fixed and stated, or how they are chosen inside the training folds.
    pub settings: &'static str,
    /// The data sets that a quick run measures it on; a full run takes all.
    pub quick: &'static [&'static str],
    /// The repetitions that the paper used, where a full run does the same; `--repeats` overrides it.
    pub repeats: Option<usize>,
    /// The learner for a data set, by name.
    pub learner: LearnerFor,
}

/// Makes a learner for a data set, by name.
pub type LearnerFor = Box<dyn Fn(&str) -> Box<dyn AnyLearner> + Send + Sync>;

/// The same learner for all data sets.
pub fn for_all<L: AnyLearner + Clone + 'static>(learner: L) -> LearnerFor {
    Box::new(move |_| Box::new(learner.clone()))
}

/// A learner of two classes whose model type does not matter.
pub trait AnyLearner: Send + Sync {
    /// Cross-validates the learner.
    ///
    /// # Errors
    /// As [`CrossValidation::run`].
    fn cross_validate(
        &self,
        plan: &CrossValidation,
        bags: &BagSet<Label>,
        observer: &dyn Observer,
    ) -> Result<CvReport<Label>, FitError>;
}

impl<L> AnyLearner for L
where
    L: Learner + Send,
    L::Model: BagModel,
{
    fn cross_validate(
        &self,
        plan: &CrossValidation,
        bags: &BagSet<Label>,
        observer: &dyn Observer,
    ) -> Result<CvReport<Label>, FitError> {
        plan.run(self, bags, observer)
    }
}

/// What a paper prints for a method, for orientation.
pub struct Published {
    /// Name of the method.
    pub method: &'static str,
    /// Paper and table.
    pub source: &'static str,
    /// Accuracy in percent by data set.
    pub accuracies: &'static [(&'static str, f64)],
    /// Its 95 % confidence interval by data set, where the paper gives one.
    pub intervals: &'static [(&'static str, f64, f64)],
}

impl Published {
    /// `88.3 [86.5, 90.2]` for a data set; nothing where the paper has nothing.
    #[must_use]
    pub fn text(&self, data: &str) -> String {
        let interval = self.intervals.iter().find(|(name, ..)| *name == data);
        let interval = interval.map_or(String::new(), |(_, low, high)| format!(" [{low}, {high}]"));
        let accuracy = self.accuracies.iter().find(|(name, _)| *name == data);
        accuracy.map_or(String::new(), |(_, accuracy)| format!("{accuracy}{interval}"))
    }
}
