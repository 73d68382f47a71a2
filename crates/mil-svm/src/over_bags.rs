//! What the machines over whole bags share: an ordinary machine whose points are the bags.
//!
//! $$ \min_{w,b,\xi\ge0}\ \tfrac12\lVert w\rVert^2 + C_-\sum_{I:Y_I=-1}\xi_I + C_+\sum_{I:Y_I=1}\xi_I,\qquad Y_I(\langle w,\Phi(B_I)\rangle + b)\ge 1-\xi_I, $$
//!
//! where $\langle\Phi(B),\Phi(B')\rangle = K(B,B')$ is a [`SetKernel`]. Cost: the matrix of $K$ over all bags, and one machine with a variable for each of them.

use mil_core::{BagSet, FitError, Label, Learner, Params};
use mil_kernels::SetKernel;
use mil_qp::{SmoSettings, SvmDual};
use nalgebra::DMatrix;

use crate::SvmError;
use crate::machine::best;

/// The parameters that all learners over bags have. Implemented by [`over_bags!`].
pub(crate) trait OverBags: Params + Clone + Sync {
    /// Name of the method, for messages.
    const NAME: &'static str;

    /// What the machine pays, and how exact it is.
    fn costs(&self) -> Costs;
}

/// A learner whose fit is a separation of bags. The parameters are checked.
pub(crate) trait SeparatesBags: OverBags + Learner {
    /// The kernel between bags.
    fn set_kernel(&self) -> SetKernel;

    /// What is left of a separation of these bags when they are gone.
    fn model(&self, bags: &BagSet<Label>, separation: &BagSeparation) -> Result<Self::Model, SvmError>;
}

/// What a machine over bags is asked for.
pub(crate) struct Costs {
    /// $C_-$.
    pub(crate) negative: f64,
    /// $C_+$.
    pub(crate) positive: f64,
    pub(crate) tolerance: f64,
}

/// Makes a struct of parameters with `kernel`, `penalty`, `positive_weight` and `tolerance` a [`Learner`] of a model and [`OverKernel`](crate::OverKernel), given that it [`SeparatesBags`].
macro_rules! over_bags {
    ($learner:ty, $model:ty, $name:literal) => {
        impl $crate::over_bags::OverBags for $learner {
            const NAME: &'static str = $name;

            fn costs(&self) -> $crate::over_bags::Costs {
                let positive = self.penalty * self.positive_weight;
                $crate::over_bags::Costs { negative: self.penalty, positive, tolerance: self.tolerance }
            }
        }

        impl mil_core::Learner for $learner {
            type Model = $model;

            fn fit(&self, bags: &mil_core::BagSet<mil_core::Label>) -> Result<$model, mil_core::FitError> {
                $crate::over_bags::fit(self, bags)
            }
        }

        impl mil_core::Tunable for $learner {
            type Values<'a> = nalgebra::DMatrix<f64>;

            fn shares_values(&self, other: &Self) -> bool {
                let set_kernel = $crate::over_bags::SeparatesBags::set_kernel;
                set_kernel(self) == set_kernel(other)
            }

            fn values(
                &self,
                bags: &mil_core::BagSet<mil_core::Label>,
            ) -> Result<nalgebra::DMatrix<f64>, mil_core::FitError> {
                $crate::over_bags::gram(self, bags)
            }

            fn held_out_scores(
                &self,
                bags: &mil_core::BagSet<mil_core::Label>,
                values: &nalgebra::DMatrix<f64>,
                train: &[usize],
                test: &[usize],
            ) -> Result<Vec<f64>, mil_core::FitError> {
                $crate::over_bags::held_out_scores(self, bags, values, train, test)
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
pub(crate) use over_bags;

/// Fits on all bags.
pub(crate) fn fit<L: SeparatesBags>(learner: &L, bags: &BagSet<Label>) -> Result<L::Model, FitError> {
    bags.require_both_classes()?;
    let gram = gram(learner, bags)?;
    let separation = separate(learner, &gram, bags.labels(), &vec![true; bags.n_bags()])?;
    learner.model(bags, &separation).map_err(|error| error.of(L::NAME))
}

/// $K$ between all bags.
pub(crate) fn gram<L: SeparatesBags>(learner: &L, bags: &BagSet<Label>) -> Result<DMatrix<f64>, FitError> {
    let params = learner.check()?;
    params.set_kernel().gram(bags).map_err(|error| SvmError::from(error).of(L::NAME))
}

/// Fits on some of the bags and scores others.
pub(crate) fn held_out_scores<L: SeparatesBags>(
    learner: &L,
    bags: &BagSet<Label>,
    gram: &DMatrix<f64>,
    train: &[usize],
    test: &[usize],
) -> Result<Vec<f64>, FitError> {
    let mut in_play = vec![false; bags.n_bags()];
    train.iter().for_each(|&bag_idx| in_play[bag_idx] = true);
    bags.require_both_classes_among(train.iter().copied())?;
    let separation = separate(learner, gram, bags.labels(), &in_play)?;
    Ok(test.iter().map(|&bag_idx| separation.values[bag_idx]).collect())
}

/// A solved machine over bags.
#[derive(Debug, Clone)]
pub(crate) struct BagSeparation {
    /// $\beta_I = Y_I\alpha_I$ of each bag in $f(B) = \sum_I\beta_IK(B_I,B) + b$; 0 for those held out.
    pub(crate) signed_duals: Vec<f64>,
    /// $b$.
    pub(crate) bias: f64,
    /// $f$ at every bag, those held out among them.
    pub(crate) values: Vec<f64>,
    /// What the certificate says: the worst relative defect of feasibility, stationarity and gap.
    pub(crate) defect: f64,
}

/// Separates the bags in play; the others cost nothing, so that they have no say.
fn separate<L: OverBags>(
    learner: &L,
    gram: &DMatrix<f64>,
    labels: &[Label],
    in_play: &[bool],
) -> Result<BagSeparation, FitError> {
    let costs = learner.check()?.costs();
    // What is held out has a sign of no meaning, hence not that of its label.
    let demands = labels.iter().zip(in_play).map(|(label, in_play)| match label {
        _ if !in_play => (-1.0, 0.0),
        Label::Negative => (-1.0, costs.negative),
        Label::Positive => (1.0, costs.positive),
    });
    let (signs, penalties) = demands.unzip();
    solve(gram, signs, penalties, costs.tolerance).map_err(|error| error.of(L::NAME))
}

fn solve(gram: &DMatrix<f64>, signs: Vec<f64>, penalties: Vec<f64>, tolerance: f64) -> Result<BagSeparation, SvmError> {
    let problem = SvmDual::classification(gram, signs.clone(), penalties)?;
    let solution = best(problem.solve(&SmoSettings { tolerance, ..SmoSettings::default() })?);
    let (values, bias) = (problem.decision_values(&solution), problem.bias(&solution));
    let signed_duals = solution.primal.iter().zip(&signs).map(|(dual, sign)| dual * sign).collect();
    if bias.is_finite() && values.iter().all(|value| value.is_finite()) {
        Ok(BagSeparation { signed_duals, bias, values, defect: solution.certificate.worst() })
    } else {
        Err(SvmError::Overflow)
    }
}
