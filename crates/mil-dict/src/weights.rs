//! The weights of the base kernels: the quadratic program of MIDL's eq. 26.
//!
//! $$ \min_\beta\ \beta^\top(e_n+\eta e_p)+\lambda\,\beta^\top G\beta+\lambda_L(\beta^\top Q\beta-2\beta^\top q)\qquad\text{subject to}\quad0\le\beta_b\le1,\quad\sum_b\beta_b=1. $$
//!
//! $e_n$ and $e_p$ are the errors of reconstruction under each kernel (eqs. 28, 29), $G$ the inner products of what negative atoms and chosen positive instances have in common (eq. 33), and $Q$, $q$ hold the lengths of
//! the atoms to 1 (eqs. 34, 35).
//!
//! Few kernels end with a weight, so that $G$ and $Q$ are never formed. All terms are linear in the matrices $K_b$, and so is each column of $P=2\lambda G+2\lambda_LQ$: with $R=I-AX$,
//!
//! $$ (e_n+\eta e_p-2\lambda_Lq)_b=\langle K_b,\,R_nR_n^\top-2\lambda_LA_nA_n^\top\rangle_{nn}+\langle K_b,\,\eta R_pR_p^\top-2\lambda_LA_pA_p^\top\rangle_{pp}, $$
//! $$ (P\beta)_b=2\lambda_L\langle K_b,\,A_nD_nA_n^\top\rangle_{nn}+2\lambda_L\langle K_b,\,A_pD_pA_p^\top\rangle_{pp}+2\lambda\langle K_b,\,A_nA_n^\top K_\beta\rangle_{np} $$
//!
//! where $D$ is the diagonal of $A^\top K_\beta A$ and $K_\beta=\sum_b\beta_bK_b$. We solve over a few kernels (by [`SvmDual`], whose shape it has), look at the gradient of all, and let those in that would lower the objective most, until none would.
//! Cost: a number for each pair and kernel ($BN^2/2$) for each kernel that is let in, where forming the matrices takes $\tfrac12BN^2K_n$.

use std::borrow::Cow;

use mil_core::argmax;
use mil_qp::{Certificate, Outcome, Problem, ProblemError, SmoSettings, SvmDual};
use nalgebra::DMatrix;

use crate::base_grams::{BaseGrams, Block};
use crate::omp::transposed_product;

/// Both dictionaries: atoms, and $RR^\top$ with $R=I-AX$ over their samples.
pub(crate) struct Dictionaries<'a> {
    pub(crate) negative_atoms: &'a DMatrix<f64>,
    pub(crate) negative_residual: DMatrix<f64>,
    /// Over the chosen instances of positive bags.
    pub(crate) positive_atoms: &'a DMatrix<f64>,
    pub(crate) positive_residual: DMatrix<f64>,
}

/// The base kernels among the chosen instances, and between negative instances and these.
#[derive(Debug, Clone)]
pub(crate) struct ChosenBlocks {
    pub(crate) among: Block,
    pub(crate) across: Block,
}

impl ChosenBlocks {
    pub(crate) fn of(grams: &BaseGrams, chosen: &[usize]) -> ChosenBlocks {
        ChosenBlocks { among: grams.positives.among(chosen), across: grams.across.select_columns(chosen) }
    }
}

/// What the terms count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trade {
    /// $\lambda$.
    pub(crate) orthogonality: f64,
    /// $\eta$.
    pub(crate) positives: f64,
    /// $\lambda_L$.
    pub(crate) unit_length: f64,
}

/// Eq. 26, known by its products.
pub(crate) struct WeightProblem<'a> {
    grams: &'a BaseGrams,
    chosen: &'a ChosenBlocks,
    dictionaries: &'a Dictionaries<'a>,
    trade: Trade,
    linear: Vec<f64>,
}

/// Weights, and what the checker says of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KernelWeights {
    pub(crate) values: Vec<f64>,
    pub(crate) certificate: Certificate,
    /// The objective at the start and at the weights.
    pub(crate) objectives: [f64; 2],
}

/// Violation of the optimality conditions that is accepted, as a part of the largest number of the problem: next to rounding, since raw kernels of very different sizes make that number a bad measure of the others.
const TOLERANCE: f64 = 1e-13;
/// Weights below this are what rounding and tolerance left of 0.
const NOTHING: f64 = 1e-8;
/// Steps before the best weights so far are taken: what is then left to gain is next to nothing, and the certificate tells.
const MAX_STEPS: usize = 10_000;
/// Kernels that are let in at a time: neighbouring Gaussians call for each other.
const N_LET_IN: usize = 3;

impl<'a> WeightProblem<'a> {
    pub(crate) fn new(
        grams: &'a BaseGrams,
        chosen: &'a ChosenBlocks,
        dictionaries: &'a Dictionaries<'a>,
        trade: Trade,
    ) -> WeightProblem<'a> {
        let mut linear = vec![0.0; grams.n_kernels()];
        let Dictionaries { negative_atoms, negative_residual, positive_atoms, positive_residual } = dictionaries;
        let of_atoms = |atoms: &DMatrix<f64>| atoms * atoms.transpose() * (2.0 * trade.unit_length);
        grams.add_forms(&grams.negatives, &(negative_residual - of_atoms(negative_atoms)), &mut linear);
        let of_positives = positive_residual * trade.positives - of_atoms(positive_atoms);
        grams.add_forms(&chosen.among, &of_positives, &mut linear);
        WeightProblem { grams, chosen, dictionaries, trade, linear }
    }

    /// Solves eq. 26, starting from given weights.
    pub(crate) fn solve(&self, start: &[f64]) -> Result<KernelWeights, ProblemError> {
        let mut active: Vec<usize> = (0..start.len()).filter(|&kernel| start[kernel] > 0.0).collect();
        let mut columns = Vec::new();
        let start_product = if active.len() <= MAX_WARM {
            columns.extend(active.iter().map(|&kernel| self.column(kernel)));
            combined(&active, &columns, start)
        } else {
            active.clear();
            self.product(start)
        };
        let mut gradient = sum_of(&start_product, &self.linear);
        if active.is_empty() {
            let lowest: Vec<f64> = gradient.iter().map(|value| -value).collect();
            active.push(argmax(&lowest));
            columns.push(self.column(active[0]));
        }
        let mut weights = start.to_vec();
        loop {
            weights = self.solve_among(&active, &columns, &weights)?;
            gradient = sum_of(&combined(&active, &columns, &weights), &self.linear);
            // Over the active kernels the gradients agree where there is weight; a kernel below them would lower the objective.
            let level: f64 = weights.iter().zip(&gradient).map(|(weight, value)| weight * value).sum();
            let scale = gradient.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            let mut waiting: Vec<usize> =
                (0..weights.len()).filter(|kernel| gradient[*kernel] < level - TOLERANCE * scale).collect();
            waiting.retain(|kernel| !active.contains(kernel));
            if waiting.is_empty() {
                break;
            }
            waiting.sort_by(|&i, &j| gradient[i].total_cmp(&gradient[j]).then(i.cmp(&j)));
            for &kernel in waiting.iter().take(N_LET_IN) {
                active.push(kernel);
                columns.push(self.column(kernel));
            }
        }
        let values = on_simplex(weights);
        let certificate = self.judged(&values, &gradient)?;
        let at_start = start.iter().zip(start_product.iter().zip(&self.linear));
        let start_objective = at_start.map(|(weight, (product, linear))| weight * (0.5 * product + linear)).sum();
        Ok(KernelWeights { objectives: [start_objective, certificate.primal_objective], values, certificate })
    }

    /// The best weights of some kernels, given their columns of $P$.
    fn solve_among(&self, active: &[usize], columns: &[Vec<f64>], start: &[f64]) -> Result<Vec<f64>, ProblemError> {
        let n = active.len();
        let entry = |i: usize, j: usize| 0.5 * (columns[j][active[i]] + columns[i][active[j]]);
        let mut quadratic = DMatrix::from_fn(n, n, entry);
        let mut linear: Vec<f64> = active.iter().map(|&kernel| self.linear[kernel]).collect();
        let largest = linear.iter().fold(quadratic.amax(), |most, value| most.max(value.abs()));
        if largest > 0.0 {
            quadratic /= largest;
            linear.iter_mut().for_each(|value| *value /= largest);
        }
        let problem = SvmDual::new(&quadratic, vec![1.0; n], linear, vec![1.0; n], 1.0)?;
        let start: Vec<f64> = active.iter().map(|&kernel| start[kernel]).collect();
        let settings = SmoSettings { tolerance: 0.1 * TOLERANCE, max_steps: MAX_STEPS, ..SmoSettings::default() };
        let solution = match problem.solve_from(&start, &settings)? {
            Outcome::Solved(solution) | Outcome::OutOfBudget(solution) => solution,
            Outcome::Infeasible(_) | Outcome::Unbounded(_) => unreachable!("a simplex is neither empty nor unbounded"),
        };
        let mut weights = vec![0.0; self.linear.len()];
        active.iter().zip(solution.primal).for_each(|(&kernel, weight)| weights[kernel] = weight);
        Ok(weights)
    }

    /// What the checker says of weights over all kernels, with the multipliers that their gradient calls for.
    fn judged(&self, weights: &[f64], gradient: &[f64]) -> Result<Certificate, ProblemError> {
        let lowest = gradient.iter().copied().fold(f64::INFINITY, f64::min);
        let dual: Vec<f64> = gradient.iter().map(|value| lowest - value).chain([-lowest]).collect();
        Certificate::judge(self, weights, &dual)
    }

    /// A column of $P$.
    fn column(&self, kernel: usize) -> Vec<f64> {
        let mut alone = vec![0.0; self.linear.len()];
        alone[kernel] = 1.0;
        self.product(&alone)
    }

    /// $P\beta$.
    fn product(&self, weights: &[f64]) -> Vec<f64> {
        let WeightProblem { grams, chosen, trade, .. } = self;
        let Dictionaries { negative_atoms, positive_atoms, .. } = self.dictionaries;
        let mut product = vec![0.0; weights.len()];
        for (block, atoms) in [(&grams.negatives, negative_atoms), (&chosen.among, positive_atoms)] {
            let images = grams.mixed(block, weights) * *atoms;
            let mut scaled = (*atoms).clone();
            for (atom, mut scaled) in scaled.column_iter_mut().enumerate() {
                scaled *= 2.0 * trade.unit_length * images.column(atom).dot(&atoms.column(atom));
            }
            grams.add_forms(block, &(scaled * atoms.transpose()), &mut product);
        }
        if trade.orthogonality > 0.0 {
            let overlap = transposed_product(negative_atoms, &grams.mixed(&chosen.across, weights));
            grams.add_forms(&chosen.across, &(*negative_atoms * overlap * (2.0 * trade.orthogonality)), &mut product);
        }
        product
    }
}

/// More kernels than a solution has: the uniform weights that the algorithm begins with.
const MAX_WARM: usize = 12;

/// $P\beta$ for weights of kernels whose columns are known.
fn combined(active: &[usize], columns: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; weights.len()];
    for (&kernel, column) in active.iter().zip(columns) {
        product.iter_mut().zip(column).for_each(|(sum, value)| *sum += weights[kernel] * value);
    }
    product
}

fn sum_of(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(left, right)| left + right).collect()
}

/// The weights without what is next to nothing, adding up to 1.
fn on_simplex(mut weights: Vec<f64>) -> Vec<f64> {
    weights.iter_mut().filter(|weight| **weight < NOTHING).for_each(|weight| *weight = 0.0);
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}

/// Its rows are the bounds of the weights, then their sum.
impl Problem for WeightProblem<'_> {
    fn n_variables(&self) -> usize {
        self.linear.len()
    }

    fn n_rows(&self) -> usize {
        self.linear.len() + 1
    }

    fn quadratic_product(&self, x: &[f64]) -> Result<Vec<f64>, ProblemError> {
        Ok(self.product(x))
    }

    fn linear_term(&self) -> Cow<'_, [f64]> {
        Cow::Borrowed(&self.linear)
    }

    fn rows_product(&self, x: &[f64]) -> Vec<f64> {
        x.iter().copied().chain([x.iter().sum()]).collect()
    }

    fn adjoint_product(&self, y: &[f64]) -> Vec<f64> {
        let (bounds, sum) = y.split_at(y.len() - 1);
        bounds.iter().map(|multiplier| multiplier + sum[0]).collect()
    }

    fn row_bounds(&self) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        let n = self.linear.len();
        let bounds = |bound: f64| std::iter::repeat_n(bound, n).chain([1.0]).collect::<Vec<f64>>();
        (Cow::Owned(bounds(0.0)), Cow::Owned(bounds(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use mil_kernels::Kernel;
    use mil_qp::{GeneralSettings, QuadraticProgram, SparseMatrix};
    use mil_testkit::golden::{matrix, number, numbers, read};

    use super::*;
    use crate::{BaseKernels, KernelScale};

    fn residual_form(atoms: &DMatrix<f64>, codes: &DMatrix<f64>) -> DMatrix<f64> {
        let residual = DMatrix::identity(atoms.nrows(), atoms.nrows()) - atoms * codes;
        &residual * residual.transpose()
    }

    /// $P$, column by column.
    fn quadratic_of(problem: &WeightProblem<'_>) -> DMatrix<f64> {
        let n = problem.linear.len();
        DMatrix::from_columns(&(0..n).map(|kernel| problem.column(kernel).into()).collect::<Vec<_>>())
    }

    #[test]
    fn terms_and_weights_agree_with_the_golden_ones() {
        let kernels = read(include_str!("../../../fixtures/golden/kernels.json"));
        let golden = read(include_str!("../../../fixtures/golden/beta_qp.json"));
        let (negatives, positives) = (matrix(&kernels["Yn"]).transpose(), matrix(&kernels["Yp"]).transpose());
        let instances =
            DMatrix::from_fn(
                4,
                13,
                |row, column| {
                    if column < 7 { negatives[(row, column)] } else { positives[(row, column - 7)] }
                },
            );
        let base = [
            Kernel::Linear,
            Kernel::Intersection,
            Kernel::Polynomial { degree: 2, scale: 1.0, offset: 0.5 },
            Kernel::Gaussian { gamma: 1.25 },
        ];
        let grams = BaseGrams::new(&base.map(|kernel| KernelScale::Cosine.of(kernel)), &instances, 7, 1).unwrap();
        let chosen: Vec<usize> = numbers(&golden["sel"]).into_iter().map(|idx| idx as usize).collect();
        let blocks = ChosenBlocks::of(&grams, &chosen);
        let (atoms, codes) = (matrix(&golden["A_n"]), matrix(&golden["X_n"]));
        let chosen_atoms = matrix(&golden["A_p"]).select_rows(&chosen);
        let chosen_codes = matrix(&golden["X_p"]).select_columns(&chosen);
        let dictionaries = Dictionaries {
            negative_atoms: &atoms,
            negative_residual: residual_form(&atoms, &codes),
            positive_atoms: &chosen_atoms,
            positive_residual: residual_form(&chosen_atoms, &chosen_codes),
        };
        for case in golden["solutions"].as_array().unwrap() {
            let trade = Trade {
                orthogonality: number(&case["lam"]),
                positives: number(&case["eta"]),
                unit_length: number(&case["lam_L"]),
            };
            let problem = WeightProblem::new(&grams, &blocks, &dictionaries, trade);
            let expected =
                (matrix(&golden["G"]) * trade.orthogonality + matrix(&golden["Q"]) * trade.unit_length) * 2.0;
            assert!((quadratic_of(&problem) - expected).amax() < 1e-9);
            let [e_n, e_p, q] = ["e_n", "e_p", "q"].map(|name| numbers(&golden[name]));
            for (b, found) in problem.linear.iter().enumerate() {
                let expected = e_n[b] + trade.positives * e_p[b] - 2.0 * trade.unit_length * q[b];
                assert!((found - expected).abs() < 1e-9);
            }
            for start in [[0.25; 4], [0.0, 0.0, 1.0, 0.0]] {
                let found = problem.solve(&start).unwrap();
                for (found, expected) in found.values.iter().zip(numbers(&case["beta"])) {
                    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
                }
                let objective = number(&case["objective"]);
                assert!((found.objectives[1] - objective).abs() < 1e-8 * (1.0 + objective.abs()));
                assert!(found.objectives[1] <= found.objectives[0] + 1e-9 && found.certificate.holds(1e-7));
            }
        }
    }

    #[test]
    fn weights_are_as_good_as_those_of_another_solver() {
        let kernels: Vec<Kernel> = BaseKernels::Paper { first_width: 0.1 }
            .kernels(false)
            .into_iter()
            .map(|kernel| KernelScale::Cosine.of(kernel))
            .collect();
        let instances =
            DMatrix::from_fn(6, 30, |row, column| ((5 * column + 3 * row * column + row) % 11) as f64 / 10.0);
        let grams = BaseGrams::new(&kernels, &instances, 20, 4).unwrap();
        let blocks = ChosenBlocks::of(&grams, &[0, 3, 4, 8]);
        let atoms = |n: usize, k: usize| {
            DMatrix::from_fn(n, k, |i, j| f64::from((i + 3 * j) % 7 == 0) + 0.1 * ((i * j) % 3) as f64)
        };
        let (negative, positive) = (atoms(20, 8), atoms(4, 3));
        let codes = |n: usize, k: usize| DMatrix::from_fn(k, n, |i, j| 0.3 * f64::from((i + j) % 4 == 0));
        let dictionaries = Dictionaries {
            negative_atoms: &negative,
            negative_residual: residual_form(&negative, &codes(20, 8)),
            positive_atoms: &positive,
            positive_residual: residual_form(&positive, &codes(4, 3)),
        };
        for (orthogonality, positives, unit_length) in
            [(0.0, 0.0, 100.0), (1.0, 1.0, 100.0), (0.5, 0.2, 0.0), (0.0, 1.0, 0.0)]
        {
            let problem =
                WeightProblem::new(&grams, &blocks, &dictionaries, Trade { orthogonality, positives, unit_length });
            let n = kernels.len();
            let found = problem.solve(&vec![1.0 / n as f64; n]).unwrap();
            assert!((found.values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let rows = DMatrix::from_fn(n + 1, n, |row, column| f64::from(row == column || row == n));
            let (lower, upper) = problem.row_bounds();
            let rows = SparseMatrix::from_dense(&rows).unwrap();
            let quadratic = quadratic_of(&problem);
            let quadratic = (&quadratic + quadratic.transpose()) * 0.5;
            let linear = problem.linear.clone();
            let program =
                QuadraticProgram::new(quadratic, linear, rows, lower.into_owned(), upper.into_owned()).unwrap();
            let objective = match program.solve(&GeneralSettings::default()).unwrap() {
                Outcome::Solved(solution) | Outcome::OutOfBudget(solution) => solution.certificate.primal_objective,
                other => panic!("{other:?}"),
            };
            let difference = found.objectives[1] - objective;
            assert!(difference < 1e-6 * (1.0 + objective.abs()), "{difference} above {objective}");
        }
    }
}
