//! The support vector machine inside every method: solved, and solved again with other labels and costs from where it ended.

use mil_core::Label;
use mil_kernels::{Kernel, Separator};
use mil_qp::{
    Bias, Certificate, GroupDual, GroupSettings, LinearSettings, LinearSvm, Loss, Outcome, SmoSettings, Solution,
    SvmDual, WarmStart,
};

use crate::SvmError;
use crate::points::{Collapsed, Points};

/// A machine over fixed points, which remembers its last solution.
pub(crate) struct Machine<'a> {
    points: Points<'a>,
    tolerance: f64,
    max_steps: usize,
    last: Option<Last>,
}

/// What the last solve left.
enum Last {
    Kernel(WarmStart),
    Linear(Vec<f64>),
}

/// What each point is held to: $\min \tfrac12\lVert w\rVert^2 + \sum_iC_i(m_i - y_if(x_i))_+$.
pub(crate) struct Demands {
    /// $y_i = \pm1$.
    pub(crate) signs: Vec<f64>,
    /// $C_i\ge0$; 0 takes a point out.
    pub(crate) penalties: Vec<f64>,
    /// $m_i$, 1 in an ordinary machine.
    pub(crate) margins: Vec<f64>,
}

impl Demands {
    /// None yet: all points are out, on the negative side, with margin 1.
    pub(crate) fn none(n_points: usize) -> Demands {
        Demands { signs: vec![-1.0; n_points], penalties: vec![0.0; n_points], margins: vec![1.0; n_points] }
    }

    /// Holds points to margin 1 on a side.
    pub(crate) fn hold(&mut self, idxs: impl IntoIterator<Item = usize>, sign: f64, penalty: f64) {
        for idx in idxs {
            (self.signs[idx], self.penalties[idx]) = (sign, penalty);
        }
    }

    /// Holds points to margin 1 on the side of their labels, at a cost for each side.
    pub(crate) fn hold_labelled(
        &mut self,
        idxs: impl IntoIterator<Item = usize>,
        labels: &[Label],
        penalty_of: impl Fn(Label) -> f64,
    ) {
        for (idx, &label) in idxs.into_iter().zip(labels) {
            let sign = match label {
                Label::Positive => 1.0,
                Label::Negative => -1.0,
            };
            self.hold([idx], sign, penalty_of(label));
        }
    }
}

/// A solved machine.
#[derive(Debug, Clone)]
pub(crate) struct Separation {
    pub(crate) separator: Separator,
    /// $f$ at every instance of the set.
    pub(crate) values: Vec<f64>,
    /// $\tfrac12\lVert w\rVert^2$ and the cost of all slacks.
    pub(crate) objective: f64,
    /// What the certificate says: the worst relative defect of feasibility, stationarity and gap.
    pub(crate) defect: f64,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(points: Points<'a>, tolerance: f64) -> Machine<'a> {
        Machine { points, tolerance, max_steps: SmoSettings::default().max_steps, last: None }
    }

    /// The same with at most so many steps of the solver for each point.
    pub(crate) fn within(self, steps_per_point: usize) -> Machine<'a> {
        Machine { max_steps: steps_per_point.saturating_mul(self.n_points()), ..self }
    }

    /// The signed duals of the last solve, a number for each point.
    pub(crate) fn signed_duals(&self) -> Option<&[f64]> {
        match &self.last {
            Some(Last::Kernel(start)) => Some(start.signed()),
            _ => None,
        }
    }

    /// Lets the next solve begin from signed duals, one for each point.
    pub(crate) fn begin_from(&mut self, signed: Vec<f64>) {
        self.last = Some(Last::Kernel(WarmStart::from_signed(signed)));
    }

    /// Scales the duals that the next solve begins from, so that those at their bounds stay there when costs change.
    pub(crate) fn scale_duals(&mut self, factors: impl IntoIterator<Item = (usize, f64)>) {
        if let Some(Last::Kernel(start)) = &self.last {
            let mut signed = start.signed().to_vec();
            factors.into_iter().for_each(|(idx, factor)| signed[idx] *= factor);
            self.begin_from(signed);
        }
    }

    /// Points of the machine: the instances, then the others.
    pub(crate) fn n_points(&self) -> usize {
        mil_core::KernelRows::order(&self.points)
    }

    /// Solves with a slack for each point.
    ///
    /// Choice: a linear machine over more instances than can be kept as rows is solved through its weights; so both ways cost little memory.
    pub(crate) fn solve(&mut self, demands: Demands) -> Result<Separation, SvmError> {
        let is_linear = *self.points.base().kernel() == Kernel::Linear;
        if is_linear && !self.points.base().keeps_rows() && self.n_points() == self.points.n_instances() {
            return self.solve_through_weights(demands);
        }
        let Demands { signs, penalties, margins } = demands;
        let linear = margins.into_iter().map(|margin| -margin).collect();
        let problem = SvmDual::new(&self.points, signs.clone(), linear, penalties, 0.0)?;
        let cache_bytes = self.points.base().memory_bytes();
        let settings =
            SmoSettings { tolerance: self.tolerance, cache_bytes, max_steps: self.max_steps, ..SmoSettings::default() };
        let outcome = match &self.last {
            Some(Last::Kernel(start)) => problem.solve_warm(start, &settings)?,
            _ => problem.solve(&settings)?,
        };
        let solution = best(outcome);
        let (values, bias) = (problem.decision_values(&solution), problem.bias(&solution));
        let start = problem.warm_start(&solution);
        self.last = Some(Last::Kernel(start));
        Ok(self.separation(&signs, &solution, values, bias))
    }

    /// Solves with one slack for each group of points, all of one sign, at margin 1.
    pub(crate) fn solve_in_groups(
        &mut self,
        signs: Vec<f64>,
        group_of: Vec<usize>,
        caps: Vec<f64>,
    ) -> Result<Separation, SvmError> {
        let problem = GroupDual::classification(&self.points, signs.clone(), group_of, caps)?;
        let cache_bytes = self.points.base().memory_bytes();
        let settings = GroupSettings { tolerance: self.tolerance, cache_bytes, ..GroupSettings::default() };
        let outcome = match &self.last {
            Some(Last::Kernel(start)) => problem.solve_warm(start, &settings)?,
            _ => problem.solve(&settings)?,
        };
        let solution = best(outcome);
        let (values, bias) = (problem.decision_values(&solution), problem.bias(&solution));
        let start = problem.warm_start(&solution);
        self.last = Some(Last::Kernel(start));
        Ok(self.separation(&signs, &solution, values, bias))
    }

    fn separation(&self, signs: &[f64], solution: &Solution, mut values: Vec<f64>, bias: f64) -> Separation {
        let signed: Vec<f64> = solution.primal.iter().zip(signs).map(|(dual, sign)| dual * sign).collect();
        let Collapsed { of_instances, of_vectors } = self.points.collapse(&signed);
        let base = self.points.base();
        let mut parts = vec![(base.instances(), of_instances.as_slice())];
        if let Some((vectors, weights)) = &of_vectors {
            parts.push((vectors, weights));
        }
        values.truncate(self.points.n_instances());
        let separator = Separator::new(base.kernel(), &parts, bias);
        Separation { separator, values, objective: objective(&solution.certificate), defect: defect(solution) }
    }

    fn solve_through_weights(&mut self, demands: Demands) -> Result<Separation, SvmError> {
        let Demands { signs, penalties, margins } = demands;
        assert!(margins.iter().all(|&margin| margin == 1.0), "a machine over instances alone holds them to margin 1");
        let instances = self.points.base().instances();
        let machine = LinearSvm::new(instances, signs, penalties, Bias::Free, Loss::Hinge)?;
        let settings = LinearSettings { tolerance: self.tolerance, ..LinearSettings::default() };
        let outcome = match &self.last {
            Some(Last::Linear(start)) => machine.solve_from(start, &settings)?,
            _ => machine.solve(&settings)?,
        };
        let solution = best(outcome);
        let (weights, bias) = machine.separator(&solution)?;
        let values = instances.column_iter().map(|x| x.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() + bias);
        let values = values.collect();
        let (objective, defect) = (objective(&solution.certificate), defect(&solution));
        self.last = Some(Last::Linear(solution.primal));
        Ok(Separation { separator: Separator::linear(weights, bias), values, objective, defect })
    }
}

/// Choice: a solution that rounding or the budget keeps from the tolerance is used all the same; its defect is told.
pub(crate) fn best(outcome: Outcome) -> Solution {
    outcome.best().expect("all duals at 0 are feasible, and the objective is bounded below")
}

/// What the solver minimises is the negative of the machine's dual, and the solver's dual hence the negative of the machine's objective.
fn objective(certificate: &Certificate) -> f64 {
    -certificate.dual_objective
}

pub(crate) fn defect(solution: &Solution) -> f64 {
    solution.certificate.worst()
}
