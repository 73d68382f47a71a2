//! Choosing the width of the kernel without a negative label.
//!
//! Tax & Müller, *A Consistency-Based Model Selection for One-Class Classification*, ICPR 2004. The narrower the kernel, the tighter the region, until it no longer holds what it was not shown. A region that allows
//! a share $\nu$ of outliers should reject about as many bags that were held out; what rejects more has been fitted too closely. So: the narrowest kernel that is still *consistent*, of which the share of bags accepted
//! while held out is
//!
//! $$ \hat a\ \ge\ 1-\nu-z\sqrt{\nu(1-\nu)/N}, $$
//!
//! with $z$ binomial deviations to spare. Only positive bags are looked at.
//!
//! Choice: $\gamma=r/\operatorname{median}\lVert x-z\rVert^2$ for $r$ from 0.5 to 12, the median over all training instances, five folds, $z=2$ as in the paper. If no width is consistent, the widest. $\nu$ is given, not chosen: it
//! is what the user states of the bags.
//!
//! Cost: at most a fit for each width and fold, and one more. Scaling goes outside, `Scaled { scaling, learner: ConsistencySearch { .. } }`.
//!
//! ```
//! use mil_core::{BagModel, Learner, Scaled, Scaling};
//! use mil_data::synth::ClustersParams;
//! use mil_pmi::{ConsistencySearch, Pmi};
//! let bags = ClustersParams::figure_2().generate()?.positives()?;
//! let search = ConsistencySearch::of(Pmi { nu: 0.1, ..Pmi::default() });
//! let report = search.search(&bags)?;
//! assert!(report.tried.last().unwrap().accepted >= report.required); // the last one tried is the first consistent one
//! let model = Scaled { scaling: Scaling::MinMax, learner: search }.fit(&bags)?;
//! # let _ = model;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagModel, BagSet, FitError, Learner, ParamRange, Params, Split, StratifiedKFold};
use mil_kernels::{Kernel, KernelChoice, median_squared_distance};
use rayon::prelude::*;

use crate::PmiError;
use crate::model::OneClassModel;
use crate::pmi::{NAME, Pmi};

/// A learner that chooses the width of PMI's kernel among the training bags, all of them taken for positive.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsistencySearch {
    /// Who is tuned; its own kernel does not matter.
    pub learner: Pmi,
    /// The values of $r$ in $\gamma=r/\operatorname{median}$ to try, at least one, each finite and above 0; the largest come first.
    pub ratios: Vec<f64>,
    /// Folds of the cross-validation, from 2 to the number of bags.
    pub n_folds: usize,
    /// Binomial deviations $z$ to spare, finite and at least 0.
    pub n_deviations: f64,
    /// Fixes the folds.
    pub seed: u64,
}

impl ConsistencySearch {
    /// The search described above.
    #[must_use]
    pub fn of(learner: Pmi) -> ConsistencySearch {
        let ratios = vec![0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0];
        ConsistencySearch { learner, ratios, n_folds: 5, n_deviations: 2.0, seed: 0 }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsistencyReport {
    /// The widths tried, the narrowest first; none after the first consistent one.
    pub tried: Vec<Width>,
    /// The share of held-out bags that must be accepted.
    pub required: f64,
    /// Position of the width chosen: the last one tried.
    pub best: usize,
}

/// A width that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// $r$.
    pub ratio: f64,
    /// $\gamma$.
    pub gamma: f64,
    /// Share of the training bags that were accepted while held out.
    pub accepted: f64,
}

impl ConsistencySearch {
    /// Cross-validates widths, from the narrowest on, until one is consistent.
    ///
    /// # Errors
    /// If a parameter is out of range, the bags cannot be split or have no median distance, or a fit fails: the first in the order of widths and folds.
    pub fn search(&self, bags: &BagSet<()>) -> Result<ConsistencyReport, FitError> {
        let nu = self.learner.check()?.nu;
        ParamRange::AtLeast(0.0).require("n_deviations", self.n_deviations)?;
        let mut ratios = self.ratios.clone();
        ratios.iter().try_for_each(|&ratio| ParamRange::Above(0.0).require("ratio", ratio))?;
        if ratios.is_empty() {
            return Err(FitError::NoSettings);
        }
        ratios.sort_by(|a, b| b.total_cmp(a));
        let folds = StratifiedKFold { n_folds: self.n_folds, n_repeats: 1, seed: self.seed }.split(bags.labels())?;
        let required = 1.0 - nu - self.n_deviations * (nu * (1.0 - nu) / bags.n_bags() as f64).sqrt();
        let median = median_squared_distance(bags.instances(), self.learner.seed);
        let mut tried: Vec<Width> = Vec::new();
        for ratio in ratios {
            let kernel = KernelChoice::GaussianOverMedian(ratio).over(|| median);
            let kernel = kernel.map_err(|error| PmiError::from(error).of(NAME))?;
            let Kernel::Gaussian { gamma } = kernel else { unreachable!("a Gaussian was chosen") };
            let accepted = share_accepted(&self.with(gamma), bags, &folds)?;
            tried.push(Width { ratio, gamma, accepted });
            if accepted >= required {
                break;
            }
        }
        Ok(ConsistencyReport { best: tried.len() - 1, tried, required })
    }

    fn with(&self, gamma: f64) -> Pmi {
        Pmi { kernel: KernelChoice::Fixed(Kernel::Gaussian { gamma }), ..self.learner.clone() }
    }
}

/// Share of the bags that are accepted by the region of the others.
fn share_accepted(learner: &Pmi, bags: &BagSet<()>, folds: &[Split]) -> Result<f64, FitError> {
    let n_accepted = |fold: &Split| -> Result<usize, FitError> {
        let model = learner.fit(&bags.select(&fold.train))?;
        let mut n_accepted = 0;
        for &bag_idx in &fold.test {
            n_accepted += usize::from(model.score(bags.bag(bag_idx))? >= 0.0);
        }
        Ok(n_accepted)
    };
    let outcomes: Vec<Result<usize, FitError>> = folds.par_iter().map(n_accepted).collect();
    let counts: Vec<usize> = outcomes.into_iter().collect::<Result<_, _>>()?;
    Ok(counts.iter().sum::<usize>() as f64 / bags.n_bags() as f64)
}

impl Learner<()> for ConsistencySearch {
    type Model = OneClassModel;

    fn fit(&self, bags: &BagSet<()>) -> Result<OneClassModel, FitError> {
        let ConsistencyReport { tried, best, .. } = self.search(bags)?;
        self.with(tried[best].gamma).fit(bags)
    }
}
