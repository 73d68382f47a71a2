//! One method with its parameters, fixed or chosen inside the training folds, and how often its cross-validation is repeated.

use mil_core::{BagModel, BagSet, CrossValidation, CvReport, FitError, Label, Learner, Observer};

use crate::code;

/// Repetitions of a cross-validation where neither the method nor the user states another number.
///
/// `Choice:` three: the papers that quote such methods do not say how often they ran, and a full run is to end within hours on a small machine.
pub const N_REPEATS: usize = 3;

/// A method, its parameters, and how to cross-validate it.
pub struct Method {
    /// Short name, as given on the command line.
    pub id: &'static str,
    /// Name of the method for people.
    pub name: &'static str,
    /// The parameters, all of them fixed and stated, or how they are chosen inside the training folds.
    pub settings: &'static str,
    /// The data sets that a quick run measures it on; a full run takes all.
    pub quick: &'static [&'static str],
    /// The repetitions that its paper used, by data set; [`N_REPEATS`] elsewhere.
    pub repeats: &'static [(&'static str, usize)],
    /// The crates of the workspace that compute it.
    pub code: &'static [&'static str],
    /// The file that states it: `file!()`.
    pub source: &'static str,
    /// The learner for a data set, by name.
    pub learner: LearnerFor,
}

impl Method {
    /// Repetitions on a data set: those asked for, else those of its paper in a full run, else [`N_REPEATS`].
    #[must_use]
    pub fn n_repeats(&self, data: &str, asked_for: Option<usize>, quick: bool) -> usize {
        let of_paper = self.repeats.iter().find(|(name, _)| *name == data).filter(|_| !quick);
        asked_for.unwrap_or(of_paper.map_or(N_REPEATS, |(_, n_repeats)| *n_repeats))
    }

    /// Tells this code from another.
    #[must_use]
    pub fn code_version(&self) -> String {
        code::version(self.code, self.source)
    }
}

/// Makes a learner for a data set, by name.
pub type LearnerFor = Box<dyn Fn(&str) -> Box<dyn AnyLearner> + Send + Sync>;

/// The same learner for all data sets.
pub fn for_all<L: AnyLearner + Clone + 'static>(learner: L) -> LearnerFor {
    Box::new(move |_| Box::new(learner.clone()))
}

/// A learner of two classes whose model type does not matter.
pub trait AnyLearner: Send + Sync {
    /// Cross-validates the learner, one repetition of the plan, counted from 0.
    ///
    /// # Errors
    /// As [`CrossValidation::run_repeat`].
    fn cross_validate(
        &self,
        plan: &CrossValidation,
        repeat_idx: usize,
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
        repeat_idx: usize,
        bags: &BagSet<Label>,
        observer: &dyn Observer,
    ) -> Result<CvReport<Label>, FitError> {
        plan.run_repeat(repeat_idx, self, bags, observer)
    }
}
