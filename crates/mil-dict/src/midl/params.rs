//! The parameters of MIDL.

use mil_core::ParamRange;
use serde::{Deserialize, Serialize};

use crate::{BaseKernels, InputForm, KernelScale};

mil_core::params! {
    /// The MIDL learner.
    ///
    /// The defaults are those of the paper's experiment with digits (§5.1) where it states any; the sizes of the dictionaries, `test_sparsity` and `n_initial_rounds` are not stated there.
    pub struct Midl {
        n_negative_atoms: usize = 50, ParamRange::AtLeast(1.0), "Atoms of the negative dictionary; no more than there are instances in negative bags are made.";
        n_positive_atoms: usize = 10, ParamRange::AtLeast(1.0), "Atoms of the positive dictionary; no more than there are positive bags are made.";
        sparsity: usize = 4, ParamRange::AtLeast(1.0), "Most atoms of a code while learning, T_0.";
        test_sparsity: usize = 8, ParamRange::AtLeast(1.0), "Most atoms of a code when an instance is scored, T_1.";
        orthogonality: f64 = 1.0, ParamRange::Within(0.0, 1e6), "What it costs that chosen positives and negative atoms are alike, lambda.";
        positives: f64 = 1.0, ParamRange::Within(0.0, 1e6), "What the error of the chosen positives counts beside that of the negatives, eta.";
        unit_length: f64 = 100.0, ParamRange::Within(0.0, 1e6), "What it costs that atoms change their length with the kernel, lambda_L.";
        n_iterations: usize = 40, ParamRange::AtLeast(0.0), "Iterations.";
        n_ramp: usize = 10, ParamRange::AtLeast(1.0), "Iterations over which orthogonality and positives grow from 0 to their values, in equal steps.";
        tolerance: f64 = 0.0, ParamRange::Within(0.0, 1.0), "Relative change of the cost at which the iterations end early, if no selection changed either and the ramp is over; 0 goes through all.";
        n_initial_rounds: usize = 5, ParamRange::AtLeast(0.0), "Rounds of codes and atoms of the negative dictionary before the first iteration.";
        selection: Selection = Selection::NegativeDictionary, ParamRange::Any, "How the positive instance of each positive bag is chosen.";
        kernels: BaseKernels = BaseKernels::Paper { first_width: 0.01 }, ParamRange::Any, "The base kernels whose mixture is learnt.";
        scale: KernelScale = KernelScale::Cosine, ParamRange::Any, "Whether base kernels are brought to one scale.";
        input: InputForm = InputForm::UnitNorm, ParamRange::Any, "What is done to each instance before any kernel sees it.";
        memory_mib: usize = 4096, ParamRange::AtLeast(1.0), "MiB for the values of base kernels.";
        seed: u64 = 0, ParamRange::Any, "Fixes which instances the dictionaries begin with.";
    }
}

/// How the positive instance of each positive bag is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Selection {
    /// The paper's (eqs. 36 to 38): what the negative dictionary represents worst, and has least in common with.
    NegativeDictionary,
    /// Deviation: what other positive bags have and negative bags have not, where $K$ is the kernel learnt so far:
    ///
    /// $$ w(y)=\operatorname{mean}_{z\in\text{other positive bags}}K(y,z)-\operatorname{mean}_{z\in\text{negative bags}}K(y,z), $$
    ///
    /// the witness function by which kernel two-sample tests tell two distributions apart (Gretton et al. 2012). The paper's criterion looks for outliers of the negative bags, and a strange negative is one as well.
    SharedByBags,
}

mil_core::choice!(Selection { NegativeDictionary = "negative-dictionary", SharedByBags = "shared-by-bags" });
