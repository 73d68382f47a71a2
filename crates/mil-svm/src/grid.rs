//! A grid of penalties and kernels, searched by cross-validation inside the training bags.
//!
//! For each kernel the values between all training bags are computed once; every fold and every penalty reads them ([`Tuned`]). A bag that a fold holds out is simply out of play there, so
//! that its score costs no further kernel value. Cost: the values of each kernel, and a fit for each cell and fold.
//!
//! Scaling goes outside, `Scaled { scaling, learner: GridSearch { .. } }`, as for every [`Tuned`] learner.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_kernels::{Kernel, KernelChoice};
//! use mil_svm::{GridSearch, MiSvmBag};
//! let mut builder = BagSet::builder();
//! for i in 0..6 {
//!     let x = f64::from(i);
//!     builder.bag(format!("p{i}"), Label::Positive, [[0.1 * x, 0.0], [4.0, 3.0 + 0.1 * x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[0.1 * x, 0.1], [1.0, 0.1 * x]])?;
//! }
//! let bags = builder.build()?;
//! let search = GridSearch {
//!     kernels: vec![KernelChoice::Fixed(Kernel::Linear), KernelChoice::GaussianOverMedian(1.0)],
//!     penalties: vec![0.1, 10.0],
//!     n_folds: 3,
//!     ..GridSearch::of(MiSvmBag::default())
//! };
//! let report = search.search(&bags)?;
//! assert_eq!(report.cells.len(), 4);
//! assert_eq!(report.best_cell().accuracy, 1.0);
//! assert!(search.fit(&bags)?.score(bags.bag(0))? > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, HeldOut, Label, Learner, ScoreSource, SettingFigures, Tuned, TuningReport};
use mil_kernels::{Kernel, KernelChoice, median_squared_distance};

use crate::{OverKernel, SvmError};

/// A learner that chooses penalty and kernel of another inside the training bags.
#[derive(Debug, Clone, PartialEq)]
pub struct GridSearch<L> {
    /// Who is tuned; its own penalty and kernel do not matter.
    pub learner: L,
    /// The kernels to try, at least one.
    pub kernels: Vec<KernelChoice>,
    /// The penalties to try with each of them, at least one.
    pub penalties: Vec<f64>,
    /// Folds of the cross-validation, from 2 to the number of bags.
    pub n_folds: usize,
    /// Fixes the folds.
    pub seed: u64,
}

impl<L> GridSearch<L> {
    /// The usual grid: Gaussian kernels of $r\in\{0.3,1,3,8,25\}$, penalties 1, 10 and 100, five folds.
    pub fn of(learner: L) -> GridSearch<L> {
        GridSearch {
            learner,
            kernels: [0.3, 1.0, 3.0, 8.0, 25.0].map(KernelChoice::GaussianOverMedian).to_vec(),
            penalties: vec![1.0, 10.0, 100.0],
            n_folds: 5,
            seed: 0,
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct GridReport {
    /// All cells: kernel after kernel, and for each the penalties, in the order of the grid.
    pub cells: Vec<GridCell>,
    /// Position of the best: the highest accuracy, among these the highest area under the curve, among these the first.
    pub best: usize,
    /// The scores of the training bags under the best cell, each while it was held out.
    pub scores: Vec<f64>,
}

/// One cell of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct GridCell {
    /// The kernel, with its width worked out.
    pub kernel: Kernel,
    /// The penalty.
    pub penalty: f64,
    /// Share of the training bags that were labelled right while held out.
    pub accuracy: f64,
    /// Area under the curve of their scores.
    pub auc: f64,
}

impl GridReport {
    /// The best cell.
    #[must_use]
    pub fn best_cell(&self) -> &GridCell {
        &self.cells[self.best]
    }
}

impl<L: OverKernel> GridSearch<L> {
    /// Cross-validates every cell.
    ///
    /// # Errors
    /// If the grid is empty, the bags cannot be split, or a fit fails.
    pub fn search(&self, bags: &BagSet<Label>) -> Result<GridReport, FitError> {
        let pairs = self.pairs(bags)?;
        let TuningReport { figures, best, scores } = self.tuned(&pairs).search(bags)?;
        let cell = |((kernel, penalty), SettingFigures { accuracy, auc })| GridCell { kernel, penalty, accuracy, auc };
        Ok(GridReport { cells: pairs.into_iter().zip(figures).map(cell).collect(), best, scores })
    }

    /// What is tried: kernel after kernel, and for each the penalties.
    fn pairs(&self, bags: &BagSet<Label>) -> Result<Vec<(Kernel, f64)>, FitError> {
        bags.require_both_classes()?;
        for (what, is_empty) in [("kernels", self.kernels.is_empty()), ("penalties", self.penalties.is_empty())] {
            if is_empty {
                return Err(SvmError::EmptyGrid(what).of(NAME));
            }
        }
        let kernels = self.concrete_kernels(bags)?;
        let with_penalties = |kernel| self.penalties.iter().map(move |&penalty| (Kernel::clone(kernel), penalty));
        Ok(kernels.iter().flat_map(with_penalties).collect())
    }

    fn concrete_kernels(&self, bags: &BagSet<Label>) -> Result<Vec<Kernel>, FitError> {
        let mut median = None;
        let mut median = || *median.get_or_insert_with(|| median_squared_distance(bags.instances(), self.seed));
        let resolved = |kernel: &KernelChoice| kernel.over(&mut median).map_err(|error| SvmError::from(error).of(NAME));
        self.kernels.iter().map(resolved).collect()
    }

    fn tuned(&self, pairs: &[(Kernel, f64)]) -> Tuned<L> {
        let settings = pairs.iter().map(|(kernel, penalty)| self.learner.tuned(*penalty, kernel)).collect();
        Tuned { settings, n_folds: self.n_folds, n_repeats: 1, seed: self.seed }
    }
}

impl<L: OverKernel> Learner for GridSearch<L> {
    type Model = L::Model;

    fn fit(&self, bags: &BagSet<Label>) -> Result<L::Model, FitError> {
        HeldOut.fit_and_score(self, bags).map(|(model, _)| model)
    }
}

impl<L: OverKernel> ScoreSource<GridSearch<L>> for HeldOut {
    fn fit_and_score(&self, search: &GridSearch<L>, bags: &BagSet<Label>) -> Result<(L::Model, Vec<f64>), FitError> {
        self.fit_and_score(&search.tuned(&search.pairs(bags)?), bags)
    }
}

const NAME: &str = "grid search";
