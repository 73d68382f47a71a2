//! SIL-SVM: single-instance learning, the naive machine.
//!
//! Every instance takes the label of its bag, and an ordinary machine is fitted to all of them:
//!
//! $$ \min_{w,b,\xi\ge0}\ \tfrac12\lVert w\rVert^2 + C_-\sum_{i:Y_{I(i)}=-1}\xi_i + C_+\sum_{i:Y_{I(i)}=1}\xi_i,\qquad Y_{I(i)}(\langle w,\phi(x_i)\rangle + b)\ge 1-\xi_i. $$
//!
//! A bag is as positive as its most positive instance. Cost: one machine over all instances. It is the first round of [mi-SVM](crate::MiSvmPattern), and on Musk with a
//! narrow Gaussian kernel already the last.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::SilSvm;
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[1.0]])?.bag("n", Label::Negative, [[-1.0]])?;
//! let bags = builder.build()?;
//! let model = SilSvm { penalty: 10.0, ..Default::default() }.fit(&bags)?;
//! assert!((model.score(bags.bag(0))? - 1.0).abs() < 1e-3); // on the margin
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::ParamRange;
use mil_kernels::Kernel;

use crate::learner::{Separates, over_instances};
use crate::machine::{Demands, Machine, Separation};
use crate::points::Points;
use crate::{SvmError, Task};

mil_core::params! {
    /// The SIL-SVM learner.
    pub struct SilSvm {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack.";
        positive_weight: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Factor of the cost for instances of positive bags.";
        tolerance: f64 = 1e-3, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
    }
}

over_instances!(SilSvm, "SIL-SVM");

impl Separates for SilSvm {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        let mut machine = Machine::new(Points::instances(task.kernel()), self.tolerance);
        let mut demands = Demands::none(task.n_instances());
        demands.hold(task.negative_instances(), -1.0, self.penalty);
        demands.hold(task.positive_instances(), 1.0, self.penalty * self.positive_weight);
        machine.solve(demands)
    }
}
