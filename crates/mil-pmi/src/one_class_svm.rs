//! The plain one-class machine over bags, the baseline of PMI: over all instances, or over the means of the bags.
//!
//! Schölkopf et al., *Estimating the Support of a High-Dimensional Distribution*, Neural Computation 2001 (PMI, eqs. 1 to 4). Over instances it has no notion of a bag while it learns, and encloses negative instances
//! as readily as positive ones; over means it has no notion of instances at all. Cost: one machine over as many points.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Learner};
//! use mil_kernels::Kernel;
//! use mil_pmi::{OneClassSvm, Over};
//! let mut builder = BagSet::builder();
//! for i in 0..20 {
//!     let x = f64::from(i) / 20.0;
//!     builder.bag(format!("{i}"), (), [[x, 1.0], [1.0, x]])?;
//! }
//! let bags = builder.build()?;
//! let model = OneClassSvm { over: Over::Means, kernel: Kernel::Gaussian { gamma: 1.0 }.into(), ..OneClassSvm::default() }.fit(&bags)?;
//! assert!(model.score(bags.bag(10))? > 0.0); // in the middle
//! assert_eq!(model.instance_scores(bags.bag(10))?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, KernelRows, Learner, ParamRange, Params};
use mil_kernels::{KernelChoice, Separator};
use mil_qp::SmoSettings;
use nalgebra::DMatrix;

use crate::PmiError;
use crate::enclosure::{Enclosure, enclose};
use crate::model::{OneClassModel, Over, mean_of};
use crate::points::{OverRows, Points};

mil_core::params! {
    /// The one-class learner, of bags that are all taken for positive. [`PositivesOnly`](mil_core::PositivesOnly) makes it one of two classes.
    pub struct OneClassSvm {
        over: Over = Over::Instances, ParamRange::Any, "What is enclosed.";
        kernel: KernelChoice = KernelChoice::GaussianOverMedian(4.0), ParamRange::Any, "Kernel between instances, or between means.";
        nu: f64 = 0.2, ParamRange::UpTo(0.0, 1.0), "Upper bound of the share of instances, or of means, outside.";
        tolerance: f64 = 1e-9, ParamRange::Above(0.0), "Violation of the optimality conditions that the solver accepts, as a part of the largest k(x,x) or of the largest squared distance, whichever is less.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
        seed: u64 = 0, ParamRange::Any, "Fixes the pairs that the median is taken over.";
    }
}

impl Learner<()> for OneClassSvm {
    type Model = OneClassModel;

    fn fit(&self, bags: &BagSet<()>) -> Result<OneClassModel, FitError> {
        let params = self.check()?;
        let fitted = match params.over {
            Over::Instances => params.fit_points(bags.instances()),
            Over::Means => params.fit_points(&DMatrix::from_columns(&bags.bags().map(mean_of).collect::<Vec<_>>())),
        };
        fitted.map_err(|error| error.of("one-class SVM"))
    }
}

impl OneClassSvm {
    /// The machine over the columns of a matrix. The parameters are checked.
    fn fit_points(&self, columns: &DMatrix<f64>) -> Result<OneClassModel, PmiError> {
        let kernel = self.kernel.resolve(columns, self.seed)?;
        let points = Points::new(&kernel, columns)?;
        let mut enclosure = points.visit(self.memory_mib.saturating_mul(1 << 20), Enclose(self))??;
        enclosure.scale_by(points.scale);
        if !enclosure.rho.is_finite() {
            return Err(PmiError::Overflow);
        }
        let separator = Separator::new(&kernel, &[(columns, &enclosure.duals)], -enclosure.rho);
        Ok(OneClassModel::new(separator, self.over, enclosure.certificate.worst()))
    }
}

struct Enclose<'a>(&'a OneClassSvm);

impl OverRows for Enclose<'_> {
    type Output = Result<Enclosure, PmiError>;

    fn over<K: KernelRows>(self, rows: &K, cache_bytes: usize) -> Self::Output {
        let OneClassSvm { nu, tolerance, .. } = *self.0;
        enclose(rows, nu, &SmoSettings { tolerance, cache_bytes, ..SmoSettings::default() })
    }
}
