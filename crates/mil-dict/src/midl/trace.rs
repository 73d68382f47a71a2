//! What a fit of MIDL tells of itself.

use mil_kernels::Kernel;
use mil_qp::Certificate;

/// The three terms of the cost $\mathcal J$ (eq. 10), each without its factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// $\mathcal R_n$, the squared error of all negative instances.
    pub negatives: f64,
    /// $\mathcal R_p$, the squared error of the chosen positive instances.
    pub positives: f64,
    /// $\mathcal F$, what chosen positives and negative atoms have in common.
    pub overlap: f64,
}

impl Cost {
    /// $\mathcal R_n+\eta\mathcal R_p+\lambda\mathcal F$.
    #[must_use]
    pub fn total(&self, positives: f64, orthogonality: f64) -> f64 {
        self.negatives + positives * self.positives + orthogonality * self.overlap
    }
}

/// One iteration of Algorithm 1, and the cost after each of its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct MidlIteration {
    /// $\lambda_t$.
    pub orthogonality: f64,
    /// $\eta_t$.
    pub positives: f64,
    /// $\beta$.
    pub kernel_weights: Vec<f64>,
    /// What the checker says of $\beta$ over all kernels.
    pub certificate: Certificate,
    /// The objective of eq. 26 at the weights before the step, and at those after it.
    pub weight_objectives: [f64; 2],
    /// The cost after the weights (step 1) and after bringing the atoms to length 1 under the new kernel.
    pub after_weights: Cost,
    /// The cost after codes and atoms (steps 2 and 3), which lower the errors but do not look at the overlap.
    pub after_dictionaries: Cost,
    /// The cost after the selection (step 4), which may raise it: selection follows a criterion of its own.
    pub after_selection: Cost,
    /// Positive bags of which another instance was chosen.
    pub n_changed: usize,
}

impl MidlIteration {
    /// $\mathcal J$ at the end of the iteration, under its own $\eta_t$ and $\lambda_t$.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.after_selection.total(self.positives, self.orthogonality)
    }
}

/// Why the iterations ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The cost changed by less than the tolerance, and the selection not at all.
    Converged,
    /// All iterations were made.
    IterationLimit,
}

/// How a fit came about.
#[derive(Debug, Clone, PartialEq)]
pub struct MidlTrace {
    /// The base kernels, in the scale in which they were mixed.
    pub kernels: Vec<Kernel>,
    /// $\beta$, a weight for each; they add up to 1.
    pub kernel_weights: Vec<f64>,
    /// The instance chosen from each positive bag, by its position in the training set.
    pub chosen: Vec<usize>,
    /// The iterations in order.
    pub iterations: Vec<MidlIteration>,
    /// Why they ended.
    pub stop: Stop,
}
