//! mi-SVM, MI-SVM and the maximum-margin family of multiple-instance learning.

mod alternation;
mod error;
mod grid;
mod learner;
mod machine;
mod mi_svm_bag;
mod mi_svm_pattern;
mod model;
mod nsk;
mod over_bags;
mod points;
mod separator;
mod sil;
mod stk;
mod task;

pub use alternation::{Stop, Trace};
pub use error::SvmError;
pub use grid::{GridCell, GridKernel, GridReport, GridSearch};
pub use learner::Tunable;
pub use mi_svm_bag::{MiSvmBag, Slack, WitnessStart, Witnesses};
pub use mi_svm_pattern::MiSvmPattern;
pub use model::InstanceSvm;
pub use nsk::{Nsk, SetSvm};
pub use points::InstanceKernel;
pub use separator::Separator;
pub use sil::SilSvm;
pub use stk::{StatisticSvm, Stk};
pub use task::Task;
