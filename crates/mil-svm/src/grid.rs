//! A grid of penalties and kernels, searched by cross-validation inside the training bags.
//!
//! For each kernel the values between all training bags are computed once; every fold and every penalty reads them ([`Tunable`]). A bag that a fold holds out is simply out of play there, so
//! that its score costs no further kernel value. Cost: the values of each kernel, and a fit for each cell and fold.
//!
//! The search sees what the learner sees. Scaling therefore goes outside, `Scaled { scaling, learner: GridSearch { .. } }`: the features of a bag that an inner fold holds out have a say in the scale, its
//! label has none, and the bags that an outer fold holds out have neither.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::{GridKernel, GridSearch, MiSvmBag};
//! let mut builder = BagSet::builder();
//! for i in 0..6 {
//!     let x = f64::from(i);
//!     builder.bag(format!("p{i}"), Label::Positive, [[0.1 * x, 0.0], [4.0, 3.0 + 0.1 * x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[0.1 * x, 0.1], [1.0, 0.1 * x]])?;
//! }
//! let bags = builder.build()?;
//! let search = GridSearch {
//!     kernels: vec![GridKernel::Fixed(mil_kernels::Kernel::Linear), GridKernel::GaussianOverMedian(1.0)],
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

use mil_core::metrics::roc_auc;
use mil_core::{BagSet, FitError, Label, Learner, ScoreSource, StratifiedKFold, Target};
use mil_kernels::{Kernel, median_squared_distance};
use rayon::prelude::*;

use crate::{SvmError, Tunable};

/// A learner that chooses penalty and kernel of another inside the training bags.
#[derive(Debug, Clone, PartialEq)]
pub struct GridSearch<L> {
    /// Who is tuned; its own penalty and kernel do not matter.
    pub learner: L,
    /// The kernels to try, at least one.
    pub kernels: Vec<GridKernel>,
    /// The penalties to try with each of them, at least one.
    pub penalties: Vec<f64>,
    /// Folds of the cross-validation, from 2 to the number of bags.
    pub n_folds: usize,
    /// Fixes the folds.
    pub seed: u64,
}

/// A kernel to try.
#[derive(Debug, Clone, PartialEq)]
pub enum GridKernel {
    /// This one.
    Fixed(Kernel),
    /// A Gaussian kernel of $\gamma = r/\operatorname{median}\lVert x-z\rVert^2$ over pairs of training instances; this is $r$, above 0.
    GaussianOverMedian(f64),
}

impl<L> GridSearch<L> {
    /// The usual grid: Gaussian kernels of $r\in\{0.3,1,3,8,25\}$, penalties 1, 10 and 100, five folds.
    pub fn of(learner: L) -> GridSearch<L> {
        GridSearch {
            learner,
            kernels: [0.3, 1.0, 3.0, 8.0, 25.0].map(GridKernel::GaussianOverMedian).to_vec(),
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

impl<L: Tunable> GridSearch<L> {
    /// Cross-validates every cell.
    ///
    /// # Errors
    /// If the grid is empty, the bags cannot be split, or a fit fails.
    pub fn search(&self, bags: &BagSet<Label>) -> Result<GridReport, FitError> {
        bags.require_both_classes()?;
        for (what, is_empty) in [("kernels", self.kernels.is_empty()), ("penalties", self.penalties.is_empty())] {
            if is_empty {
                return Err(SvmError::EmptyGrid(what).of(NAME));
            }
        }
        let folds = StratifiedKFold { n_folds: self.n_folds, n_repeats: 1, seed: self.seed }.split(bags.labels())?;
        let (mut cells, mut best, mut best_scores) = (Vec::new(), 0, Vec::new());
        for kernel in self.concrete_kernels(bags)? {
            let values = self.learner.tuned(self.penalties[0], &kernel).values(bags)?;
            let jobs: Vec<(f64, usize)> =
                self.penalties.iter().flat_map(|&penalty| (0..folds.len()).map(move |fold| (penalty, fold))).collect();
            let run = |&(penalty, fold): &(f64, usize)| {
                let learner = self.learner.tuned(penalty, &kernel);
                let fold = &folds[fold];
                learner.held_out_scores(bags, &values, &fold.train, &fold.test)
            };
            let outcomes: Vec<Result<Vec<f64>, FitError>> = jobs.par_iter().map(run).collect();
            let mut outcomes = outcomes.into_iter();
            for &penalty in &self.penalties {
                let mut scores = vec![0.0; bags.n_bags()];
                for fold in &folds {
                    let held_out = outcomes.next().expect("a result for each job")?;
                    fold.test.iter().zip(held_out).for_each(|(&bag_idx, score)| scores[bag_idx] = score);
                }
                cells.push(cell(kernel.clone(), penalty, &scores, bags.labels()));
                let rank = |at: usize| (cells[at].accuracy, cells[at].auc);
                let last = cells.len() - 1;
                if last == 0 || rank(last) > rank(best) {
                    (best, best_scores) = (last, scores);
                }
            }
        }
        Ok(GridReport { cells, best, scores: best_scores })
    }

    fn concrete_kernels(&self, bags: &BagSet<Label>) -> Result<Vec<Kernel>, FitError> {
        let mut median = None;
        let concrete = |kernel: &GridKernel| match kernel {
            GridKernel::Fixed(kernel) => Ok(kernel.clone()),
            &GridKernel::GaussianOverMedian(ratio) => {
                if !(ratio.is_finite() && 0.0 < ratio) {
                    return Err(SvmError::Ratio(ratio).of(NAME));
                }
                let median = *median.get_or_insert_with(|| median_squared_distance(bags.instances(), self.seed));
                if !(median.is_finite() && 0.0 < median) {
                    return Err(SvmError::NoMedian(median).of(NAME));
                }
                Ok(Kernel::Gaussian { gamma: ratio / median })
            }
        };
        self.kernels.iter().map(concrete).collect()
    }
}

impl<L: Tunable> Learner for GridSearch<L> {
    type Model = L::Model;

    fn fit(&self, bags: &BagSet<Label>) -> Result<L::Model, FitError> {
        HeldOut.fit_and_score(self, bags).map(|(model, _)| model)
    }
}

/// Scores for [`Calibrated`](mil_core::Calibrated) and [`Probabilistic`](mil_core::Probabilistic) from the search itself: those of the best cell, each bag held out. Costs nothing further.
///
/// The cell was chosen by the same scores, so that they flatter a little; [`OutOfFold`](mil_core::OutOfFold) searches anew in every fold and does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldOut;

impl<L: Tunable> ScoreSource<GridSearch<L>> for HeldOut {
    fn fit_and_score(&self, search: &GridSearch<L>, bags: &BagSet<Label>) -> Result<(L::Model, Vec<f64>), FitError> {
        let report = search.search(bags)?;
        let GridCell { kernel, penalty, .. } = report.best_cell();
        let model = search.learner.tuned(*penalty, kernel).fit(bags)?;
        Ok((model, report.scores))
    }
}

const NAME: &str = "grid search";

fn cell(kernel: Kernel, penalty: f64, scores: &[f64], labels: &[Label]) -> GridCell {
    let n_right = scores.iter().zip(labels).filter(|(score, label)| Label::decide(score) == **label).count();
    let auc = roc_auc(scores, labels).unwrap_or(0.5);
    GridCell { kernel, penalty, accuracy: n_right as f64 / labels.len() as f64, auc }
}
