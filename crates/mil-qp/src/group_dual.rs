//! The dual of a support vector machine whose slacks are shared by groups of points.
//!
//! MI-SVM (Andrews, Tsochantaridis & Hofmann, *Support Vector Machines for Multiple-Instance Learning*, NIPS 2002, problem (6)) gives a bag one slack: a positive bag
//! is held by its witness, a negative bag by all its instances, and whatever they violate is paid for once, at the worst of them. With the points in groups $g$, each of one sign,
//!
//! $$ \min_{w,b,\xi\ge0}\ \tfrac12\lVert w\rVert^2 + \sum_g C_g\xi_g \quad\text{subject to}\quad y_i(\langle w,\phi(x_i)\rangle + b)\ge 1-\xi_g,\ i\in g, $$
//!
//! has a dual that differs from the ordinary one by a cap for each group in place of one for each point:
//!
//! $$ \min_\alpha\ \tfrac12\alpha^\top Q\alpha + p^\top\alpha \quad\text{subject to}\quad \alpha\ge0,\quad \sum_{i\in g}\alpha_i\le C_g,\quad y^\top\alpha=\Delta,\qquad Q_{ij}=y_iy_jK_{ij}, $$
//!
//! with $p=-1$ and $\Delta=0$. Groups of one make it [`SvmDual`](crate::SvmDual).
//!
//! [`GroupDual::solve`] works in rounds over a few hundred points whose kernel rows are fetched together (see [`GroupSettings`]). Memory: a few numbers for each
//! point, and the rows that the settings allow. Cost: about as many rows as there are support vectors and points that looked like some, and $n$ for each row in each round.
//!
//! ```
//! use mil_qp::{GroupDual, GroupSettings};
//! use nalgebra::DMatrix;
//!
//! // A positive point at 1; a negative bag at -1 and -3: its nearer point alone counts.
//! let points = [1.0, -1.0, -3.0];
//! let gram = DMatrix::from_fn(3, 3, |i, j| points[i] * points[j]);
//! let dual = GroupDual::classification(&gram, vec![1.0, -1.0, -1.0], vec![0, 1, 1], vec![10.0, 10.0])?;
//! let solution = dual.solve(&GroupSettings::default())?.solved().expect("solvable");
//! assert!((solution.primal[0] - 0.5).abs() < 1e-12 && solution.primal[2] == 0.0);
//! assert!(dual.bias(&solution).abs() < 1e-12);
//! # Ok::<(), mil_qp::ProblemError>(())
//! ```

use std::borrow::Cow;

use mil_core::KernelRows;

use crate::certificate::{dot, require_length};
use crate::error::{require, require_finite};
use crate::svm_dual::kernel_product;
use crate::transfer::{Extremes, Weights, descend};
use crate::warm::WarmStart;
use crate::{Certificate, GroupSettings, InfeasibilityProof, Outcome, Problem, ProblemError, Solution};

/// The dual of a support vector machine with a cap for each group of points, over a kernel known by its rows.
///
/// As a [`Problem`] its rows are the bounds $\alpha_i\ge0$, in order, the sums of the groups, in order, and the equality.
#[derive(Debug, Clone)]
pub struct GroupDual<'a, K> {
    kernel: &'a K,
    pub(crate) signs: Vec<f64>,
    pub(crate) linear: Vec<f64>,
    pub(crate) group_of: Vec<usize>,
    caps: Vec<f64>,
    total: f64,
}

/// What is missing from the equality at a point that fills all groups of one sign, against the largest number in it, and is rounding still.
const FEASIBILITY_ROUNDING: f64 = 1e-12;

/// A distance from a bound, against the cap, that is rounding.
const BOUND_ROUNDING: f64 = 1e-12;

impl<'a, K: KernelRows> GroupDual<'a, K> {
    /// The general form: signs $y_i=\pm1$, linear term $p$, the group of each point, a cap $C_g$ (finite, at least 0) for each group, and $\Delta$.
    ///
    /// A group may be empty. Its points need not be neighbours, but must share their sign.
    ///
    /// # Errors
    /// If lengths differ, a number is out of range, or a group has points of both signs.
    pub fn new(
        kernel: &'a K,
        signs: Vec<f64>,
        linear: Vec<f64>,
        group_of: Vec<usize>,
        caps: Vec<f64>,
        total: f64,
    ) -> Result<GroupDual<'a, K>, ProblemError> {
        let n = kernel.order();
        if n == 0 {
            return Err(ProblemError::Empty("variables"));
        }
        require_length("the signs", n, signs.len())?;
        require_length("the linear term", n, linear.len())?;
        require_length("the groups of the points", n, group_of.len())?;
        require("sign", &signs, |sign| sign.abs() == 1.0, "1 or -1")?;
        require_finite("linear term", &linear)?;
        require("cap", &caps, |cap| cap.is_finite() && 0.0 <= cap, "a finite number, at least 0")?;
        require_finite("total", &[total])?;
        let mut sign_of = vec![0.0; caps.len()];
        for (idx, (&group, &sign)) in group_of.iter().zip(&signs).enumerate() {
            if group >= caps.len() {
                let expected = "a group that has a cap";
                return Err(ProblemError::Value { what: "group of point", idx, value: group as f64, expected });
            }
            if sign_of[group] == -sign {
                let expected = "the sign of the others in its group";
                return Err(ProblemError::Value { what: "sign", idx, value: sign, expected });
            }
            sign_of[group] = sign;
        }
        Ok(GroupDual { kernel, signs, linear, group_of, caps, total })
    }

    /// The classifier above, with a penalty $C_g$ for each group: $p=-1$, $\Delta=0$.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn classification(
        kernel: &'a K,
        signs: Vec<f64>,
        group_of: Vec<usize>,
        penalties: Vec<f64>,
    ) -> Result<GroupDual<'a, K>, ProblemError> {
        let n = kernel.order();
        GroupDual::new(kernel, signs, vec![-1.0; n], group_of, penalties, 0.0)
    }

    /// The offset $b$ of $f(x)=\sum_i\alpha_iy_ik(x,x_i)+b$: the multiplier of the equality. Where the optimality conditions leave it an interval it is the
    /// middle, or the one end if there is one only.
    #[must_use]
    pub fn bias(&self, solution: &Solution) -> f64 {
        *solution.dual.last().expect("the equality has a multiplier")
    }

    /// Solves from $\alpha=0$, or what is next to it and feasible.
    ///
    /// # Errors
    /// If a setting is out of range, a kernel row cannot be computed or is not finite, or the kernel shows negative curvature.
    pub fn solve(&self, settings: &GroupSettings) -> Result<Outcome, ProblemError> {
        self.solve_from(&vec![0.0; self.signs.len()], settings)
    }

    /// Solves from a given point, which need not be feasible: weights below 0 become 0, groups above their cap are scaled to it, and the equality
    /// is met by scaling down the weights of one sign and, if that is not enough, by filling groups of the other in order.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve); and if the start has a wrong length or a number that is not finite.
    pub fn solve_from(&self, start: &[f64], settings: &GroupSettings) -> Result<Outcome, ProblemError> {
        require_length("the start", self.signs.len(), start.len())?;
        let signed = start.iter().zip(&self.signs).map(|(start, sign)| start * sign).collect();
        self.solve_warm(&WarmStart::from_signed(signed), settings)
    }

    /// Solves from the solution of another problem over the same kernel, whatever its signs, groups, caps and linear term: only weights that have to move cost a kernel row.
    ///
    /// # Errors
    /// As for [`solve_from`](Self::solve_from).
    pub fn solve_warm(&self, start: &WarmStart, settings: &GroupSettings) -> Result<Outcome, ProblemError> {
        start.check(self.signs.len())?;
        if let Some(proof) = self.infeasibility() {
            return Ok(Outcome::Infeasible(proof));
        }
        let offsets: Vec<f64> = self.signs.iter().zip(&self.linear).map(|(sign, linear)| sign * linear).collect();
        let values: Vec<f64> = start.signed.iter().zip(&self.signs).map(|(signed, sign)| signed * sign).collect();
        descend(self.kernel, &offsets, self.repaired(&values), Some(start), settings, |weights| self.judge(weights))
    }

    /// Why the equality is out of reach, if it is: even with all groups of one sign at their caps and the others at 0, $y^\top\alpha$ falls short of $\Delta$. Farkas
    /// multipliers: 1 for these caps, one against the equality, and for the points of the other sign one against their bounds.
    fn infeasibility(&self) -> Option<InfeasibilityProof> {
        let side = if self.total >= 0.0 { 1.0 } else { -1.0 };
        let mut dual = vec![0.0; self.n_rows()];
        for (idx, (&sign, &group)) in self.signs.iter().zip(&self.group_of).enumerate() {
            if sign == side {
                dual[self.signs.len() + group] = 1.0;
            } else {
                dual[idx] = -1.0;
            }
        }
        *dual.last_mut().expect("the equality has a multiplier") = -side;
        let reach = dot(&self.caps, &dual[self.signs.len()..]);
        let missing = self.total.abs() - reach;
        (missing > FEASIBILITY_ROUNDING * self.total.abs().max(1.0)).then(|| InfeasibilityProof::new(dual))
    }

    /// The feasible point made of a start.
    fn repaired(&self, start: &[f64]) -> Weights {
        let mut values: Vec<f64> = start.iter().map(|value| value.max(0.0)).collect();
        let sums = self.group_sums(&values);
        for (value, &group) in values.iter_mut().zip(&self.group_of) {
            if sums[group] > self.caps[group] {
                *value *= self.caps[group] / sums[group];
            }
        }
        let missing = self.total - dot(&self.signs, &values);
        let side = if missing > 0.0 { 1.0 } else { -1.0 };
        let of_other_side: f64 =
            values.iter().zip(&self.signs).filter(|&(_, &sign)| sign != side).map(|(value, _)| value).sum();
        let kept = if of_other_side > missing.abs() { 1.0 - missing.abs() / of_other_side } else { 0.0 };
        if missing != 0.0 {
            values.iter_mut().zip(&self.signs).filter(|&(_, &sign)| sign != side).for_each(|(value, _)| *value *= kept);
        }
        let sums = self.group_sums(&values);
        let mut room: Vec<f64> = self.caps.iter().zip(&sums).map(|(cap, sum)| (cap - sum).max(0.0)).collect();
        let mut missing = (missing.abs() - of_other_side).max(0.0);
        for ((value, &sign), &group) in values.iter_mut().zip(&self.signs).zip(&self.group_of) {
            if sign == side {
                let amount = room[group].min(missing);
                *value += amount;
                room[group] -= amount;
                missing -= amount;
            }
        }
        let (signs, group_of) = (self.signs.clone(), self.group_of.clone());
        Weights { signs, group_of, values, room, gradient: Vec::new() }
    }

    fn group_sums(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.caps.len()];
        values.iter().zip(&self.group_of).for_each(|(value, &group)| sums[group] += value);
        sums
    }

    /// The weights with those that are at a bound but for rounding set there: else one of them, taken for free, would decide $b$ alone.
    fn at_bounds(&self, weights: &Weights) -> Weights {
        let mut weights = weights.clone();
        for (value, &group) in weights.values.iter_mut().zip(&self.group_of) {
            *value = if *value <= BOUND_ROUNDING * self.caps[group] { 0.0 } else { *value };
        }
        for (room, &cap) in weights.room.iter_mut().zip(&self.caps) {
            *room = if *room <= BOUND_ROUNDING * cap { 0.0 } else { *room };
        }
        weights
    }

    /// Multipliers that meet stationarity, $G_i + y_ib + \mu_g - \nu_i = 0$ with $G = Q\alpha+p$. A transfer to $i$ is no gain where $y_iG_i\ge-b$, one from $j$ where $y_jG_j\le-b$; $-b$ is the middle of these bounds.
    /// Given $b$, the least $\mu_g\ge0$ that leaves no $\nu_i$ of the group below 0 makes the gap least.
    fn judge(&self, weights: &Weights) -> (Vec<f64>, Certificate) {
        let extremes = Extremes::of(&self.at_bounds(weights));
        let bias = match (extremes.lowest.is_finite(), extremes.highest.is_finite()) {
            (true, true) => -0.5 * (extremes.lowest + extremes.highest),
            (true, false) => -extremes.lowest,
            (false, true) => -extremes.highest,
            (false, false) => 0.0,
        };
        let reduced: Vec<f64> =
            weights.gradient.iter().zip(&self.signs).map(|(gradient, sign)| sign * (gradient + bias)).collect();
        let mut shared = vec![0.0_f64; self.caps.len()];
        for (reduced, &group) in reduced.iter().zip(&self.group_of) {
            shared[group] = shared[group].max(-reduced);
        }
        let mut dual: Vec<f64> =
            reduced.iter().zip(&self.group_of).map(|(reduced, &group)| -(reduced + shared[group])).collect();
        dual.extend(shared);
        dual.push(bias);
        let product: Vec<f64> = weights
            .gradient
            .iter()
            .zip(&self.signs)
            .zip(&self.linear)
            .map(|((gradient, sign), linear)| sign * gradient - linear)
            .collect();
        let certificate = Certificate::of(self, &weights.values, &dual, &product);
        (dual, certificate)
    }
}

impl<K: KernelRows> Problem for GroupDual<'_, K> {
    fn n_variables(&self) -> usize {
        self.signs.len()
    }

    fn n_rows(&self) -> usize {
        self.signs.len() + self.caps.len() + 1
    }

    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
        let signed: Vec<f64> = x.iter().zip(&self.signs).map(|(x, sign)| x * sign).collect();
        let mut product = kernel_product(self.kernel, &signed)?;
        product.iter_mut().zip(&self.signs).for_each(|(value, sign)| *value *= sign);
        Ok(product)
    }

    fn linear_term(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(&self.linear)
    }

    fn rows_product(&self, x: &[f64]) -> Vec<f64> {
        let mut rows = x.to_vec();
        rows.extend(self.group_sums(x));
        rows.push(dot(&self.signs, x));
        rows
    }

    fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
        let (bounds, others) = y.split_at(self.signs.len());
        let (groups, equality) = (&others[..self.caps.len()], others[self.caps.len()]);
        let parts = bounds.iter().zip(&self.group_of).zip(&self.signs);
        parts.map(|((multiplier, &group), sign)| multiplier + groups[group] + sign * equality).collect()
    }

    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        let n = self.signs.len();
        // A sum of weights at least 0 is at least 0; said here, it would only add a multiplier that nothing needs.
        let mut lower = vec![0.0; n];
        lower.resize(n + self.caps.len(), f64::NEG_INFINITY);
        lower.push(self.total);
        let mut upper = vec![f64::INFINITY; n];
        upper.extend(&self.caps);
        upper.push(self.total);
        (Cow::Owned(lower), Cow::Owned(upper))
    }
}
