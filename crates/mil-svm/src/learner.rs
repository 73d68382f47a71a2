//! What the siblings share: they fit over a kernel that is given, and the rest follows.

use mil_core::{BagSet, FitError, Label, Tunable, argmax};
use mil_kernels::Kernel;

use crate::machine::Separation;
use crate::{InstanceKernel, SvmError, Task};

/// A learner with a penalty and a kernel between instances, which a [grid search](crate::GridSearch) tunes.
pub trait OverKernel: Tunable {
    /// The same learner with another penalty and another kernel.
    #[must_use]
    fn tuned(&self, penalty: f64, kernel: &Kernel) -> Self;

    /// The same learner with another kernel.
    #[must_use]
    fn with_kernel(&self, kernel: &Kernel) -> Self;
}

/// The parameters that all learners over instances have. Implemented by [`over_instances!`].
pub(crate) trait OverInstances: Clone + Sync {
    /// Name of the method, for messages.
    const NAME: &'static str;

    /// The kernel between instances.
    fn kernel(&self) -> &Kernel;

    /// Bytes for kernel values.
    fn memory_bytes(&self) -> usize;
}

/// A learner whose fit is a separation of instances. The parameters are checked.
pub(crate) trait Separates: OverInstances {
    /// Separates the bags in play.
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError>;
}

/// Makes a struct of parameters with `kernel`, `penalty` and `memory_mib` a [`Learner`](mil_core::Learner) of [`InstanceSvm`](crate::InstanceSvm) and [`OverKernel`], given that it [`Separates`].
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

        impl mil_core::Tunable for $learner {
            type Values<'a> = $crate::InstanceKernel<'a>;

            fn shares_values(&self, other: &Self) -> bool {
                self.kernel == other.kernel && self.memory_mib == other.memory_mib
            }

            fn values<'a>(
                &self,
                bags: &'a mil_core::BagSet<mil_core::Label>,
            ) -> Result<$crate::InstanceKernel<'a>, mil_core::FitError> {
                $crate::learner::kernel_over(&*mil_core::Params::check(self)?, bags)
            }

            fn held_out_scores(
                &self,
                bags: &mil_core::BagSet<mil_core::Label>,
                values: &$crate::InstanceKernel<'_>,
                train: &[usize],
                test: &[usize],
            ) -> Result<Vec<f64>, mil_core::FitError> {
                $crate::learner::held_out_scores(&*mil_core::Params::check(self)?, bags, values, train, test)
            }
        }

        impl $crate::OverKernel for $learner {
            fn tuned(&self, penalty: f64, kernel: &mil_kernels::Kernel) -> Self {
                Self { penalty, kernel: kernel.clone(), ..self.clone() }
            }

            fn with_kernel(&self, kernel: &mil_kernels::Kernel) -> Self {
                Self { kernel: kernel.clone(), ..self.clone() }
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
    let kernel = kernel_over(learner, bags)?;
    separate(&Task::new(bags, &kernel)?).map_err(|error| error.of(L::NAME))
}

/// The kernel between all instances. The parameters are checked.
pub(crate) fn kernel_over<'a, L: OverInstances>(
    learner: &L,
    bags: &'a BagSet<Label>,
) -> Result<InstanceKernel<'a>, FitError> {
    InstanceKernel::new(learner.kernel(), bags, learner.memory_bytes()).map_err(|error| error.of(L::NAME))
}

/// Fits on some of the bags and scores others. The parameters are checked.
pub(crate) fn held_out_scores<L: Separates>(
    learner: &L,
    bags: &BagSet<Label>,
    kernel: &InstanceKernel<'_>,
    train: &[usize],
    test: &[usize],
) -> Result<Vec<f64>, FitError> {
    let task = Task::on(bags, kernel, train)?;
    let separation = learner.separate(&task).map_err(|error| error.of(L::NAME))?;
    let score = |&bag_idx: &usize| {
        let values = &separation.values[bags.columns_of(bag_idx)];
        values[argmax(values)]
    };
    Ok(test.iter().map(score).collect())
}
