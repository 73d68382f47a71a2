//! What the siblings share: they fit over a kernel that is given, and the rest follows.

use mil_core::{BagModel, BagSet, FitError, Label, Learner, argmax};
use mil_kernels::Kernel;

use crate::machine::Separation;
use crate::{InstanceKernel, InstanceSvm, SvmError, Task};

/// A learner that a [grid search](crate::GridSearch) can tune: it has a penalty and a kernel, and can be cross-validated over kernel values that are computed once.
pub trait Tunable: Learner<Model: BagModel> + Clone {
    /// Kernel values over a set of bags, to be shared by fits on parts of it.
    type Values<'a>: Sync;

    /// The same learner with another penalty and another kernel between instances.
    #[must_use]
    fn tuned(&self, penalty: f64, kernel: &Kernel) -> Self;

    /// The kernel values, which do not depend on the penalty.
    ///
    /// # Errors
    /// If a parameter is out of range or a value cannot be computed.
    fn values<'a>(&self, bags: &'a BagSet<Label>) -> Result<Self::Values<'a>, FitError>;

    /// Fits on some of the bags and scores others.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit).
    fn held_out_scores(
        &self,
        bags: &BagSet<Label>,
        values: &Self::Values<'_>,
        train: &[usize],
        test: &[usize],
    ) -> Result<Vec<f64>, FitError>;
}

/// The parameters that all learners over instances have. Implemented by [`over_instances!`].
pub(crate) trait OverInstances: Clone + Sync {
    /// Name of the method, for messages.
    const NAME: &'static str;

    /// The kernel between instances.
    fn kernel(&self) -> &Kernel;

    /// Bytes for kernel values.
    fn memory_bytes(&self) -> usize;

    /// The same learner with another penalty and kernel.
    fn tuned(&self, penalty: f64, kernel: &Kernel) -> Self;
}

/// A learner whose fit is a separation of instances. The parameters are checked.
pub(crate) trait Separates: OverInstances {
    /// Separates the bags in play.
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError>;
}

/// Makes a struct of parameters with `kernel`, `penalty` and `memory_mib` a [`Learner`] of [`InstanceSvm`], given that it [`Separates`].
macro_rules! over_instances {
    ($learner:ty, $name:literal) => {
        impl $crate::learner::OverInstances for $learner {
            const NAME: &'static str = $name;

            fn kernel(&self) -> &mil_kernels::Kernel {
                &self.kernel
            }

            fn memory_bytes(&self) -> usize {
                self.memory_mib.saturating_mul(1 << 20)
            }

            fn tuned(&self, penalty: f64, kernel: &mil_kernels::Kernel) -> Self {
                Self { penalty, kernel: kernel.clone(), ..self.clone() }
            }
        }

        impl mil_core::Learner for $learner {
            type Model = $crate::InstanceSvm;

            fn fit(&self, bags: &mil_core::BagSet<mil_core::Label>) -> Result<$crate::InstanceSvm, mil_core::FitError> {
                let params = mil_core::Params::check(self)?;
                let separation = $crate::learner::fit_with(&*params, bags, |task| {
                    $crate::learner::Separates::separate(&*params, task)
                })?;
                Ok($crate::InstanceSvm::of(separation))
            }
        }
    };
}
pub(crate) use over_instances;

/// Builds the task over all bags and hands it on. The parameters are checked.
pub(crate) fn fit_with<L: OverInstances, T>(
    learner: &L,
    bags: &BagSet<Label>,
    separate: impl FnOnce(&Task<'_>) -> Result<T, SvmError>,
) -> Result<T, FitError> {
    bags.require_both_classes()?;
    let kernel = InstanceKernel::new(learner.kernel(), bags, learner.memory_bytes()).map_err(|e| e.of(L::NAME))?;
    separate(&Task::new(bags, &kernel)?).map_err(|error| error.of(L::NAME))
}

impl<L: Separates + mil_core::Params + Learner<Model = InstanceSvm>> Tunable for L {
    type Values<'a> = InstanceKernel<'a>;

    fn tuned(&self, penalty: f64, kernel: &Kernel) -> Self {
        OverInstances::tuned(self, penalty, kernel)
    }

    fn values<'a>(&self, bags: &'a BagSet<Label>) -> Result<InstanceKernel<'a>, FitError> {
        let params = self.check()?;
        InstanceKernel::new(params.kernel(), bags, params.memory_bytes()).map_err(|error| error.of(L::NAME))
    }

    fn held_out_scores(
        &self,
        bags: &BagSet<Label>,
        values: &InstanceKernel<'_>,
        train: &[usize],
        test: &[usize],
    ) -> Result<Vec<f64>, FitError> {
        let task = Task::on(bags, values, train)?;
        let separation = self.check()?.separate(&task).map_err(|error| error.of(L::NAME))?;
        let score = |&bag_idx: &usize| {
            let values = &separation.values[bags.columns_of(bag_idx)];
            values[argmax(values)]
        };
        Ok(test.iter().map(score).collect())
    }
}
