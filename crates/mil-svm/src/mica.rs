//! MICA: multiple-instance classification by successive linear programs.
//!
//! Mangasarian & Wild, *Multiple Instance Classification via Successive Linear Programming*, Journal of Optimization Theory and Applications 2008. A positive bag is held by some convex combination of its instances, with weights
//! $v_B$ that are unknown; a negative bag by all of them; and the separator is short in the 1-norm:
//!
//! $$ \min_{v}\min_{w,b,\xi\ge0}\ \lVert w\rVert_1 + C\Bigl(\sum_{B^+}\xi_B + \sum_{x\in B^-}\xi_x\Bigr),\qquad \sum_{x\in B}v_x\,(\langle w,x\rangle + b)\ge1-\xi_B,\quad -\langle w,x\rangle - b\ge1-\xi_x, $$
//!
//! $v_B\ge0$, $\sum_{x\in B}v_x=1$. With a kernel other than the linear one $f(x)=\sum_ju_jk(x,x_j)+b$ over all training instances $x_j$, and $\lVert u\rVert_1$ in place of $\lVert w\rVert_1$.
//!
//! Two linear programs alternate. For given $v$ it is a 1-norm machine ([`OneNormSvm`]), whose vertex is sparse: few features or few instances matter. For given $f$ the best $v_B$ puts all weight on the
//! highest $f$ of the bag; we need not solve a program to know. So the objective never rises, and from the second round on MICA selects witnesses like [MI-SVM](crate::MiSvmBag) with a slack for each instance, in another norm. The
//! start is $v_x=1/|B|$. The bias is that of the linear program's vertex, proved optimal with the weights.
//!
//! Cost: a linear program over the witnesses and all instances of negative bags in each round, from the vertex of the last one. With a kernel all its values between training instances are held at once.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_svm::Mica;
//! let mut builder = BagSet::builder();
//! // The first feature tells the witness apart, the second does not.
//! builder.bag("p", Label::Positive, [[-1.0, 0.3], [2.0, 0.1]])?.bag("n", Label::Negative, [[-1.0, 0.2], [0.0, 0.4]])?;
//! let bags = builder.build()?;
//! let (model, trace) = Mica { penalty: 10.0, ..Default::default() }.fit_traced(&bags)?;
//! assert_eq!(trace.choice, [Some(1)]);
//! let weights = model.separator().weights().expect("linear");
//! assert!((weights[0] - 1.0).abs() < 1e-9 && weights[1] == 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, ParamRange, Params, argmax};
use mil_kernels::{Kernel, Separator};
use mil_qp::{OneNormSettings, OneNormStart, OneNormSvm};
use nalgebra::DMatrix;

use crate::alternation::{Trace, alternate};
use crate::learner::{Separates, fit_with, over_instances};
use crate::machine::{Separation, best, defect};
use crate::{InstanceSvm, SvmError, Task, Witnesses};

mil_core::params! {
    /// The MICA learner.
    pub struct Mica {
        kernel: Kernel = Kernel::Linear, ParamRange::Any, "Kernel between instances.";
        penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost `C` of one unit of slack, against the 1-norm of the weights.";
        max_rounds: usize = 100, ParamRange::AtLeast(1.0), "Linear programs before we stop.";
        tolerance: f64 = 1e-6, ParamRange::Above(0.0), "Relative defect that the solver of linear programs accepts.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; with a kernel other than the linear one they have to suffice.";
    }
}

over_instances!(Mica, "MICA");

impl Mica {
    /// Fits, and tells how it went; the choice is the witness of each positive bag.
    ///
    /// # Errors
    /// As for [`fit`](mil_core::Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(InstanceSvm, Trace<Witnesses>), FitError> {
        let params = self.check()?;
        let (separation, trace) = fit_with(&*params, bags, |task| params.select(task))?;
        Ok((InstanceSvm::of(separation), trace))
    }

    fn select(&self, task: &Task<'_>) -> Result<(Separation, Trace<Witnesses>), SvmError> {
        let mut program = Program::new(self, task)?;
        let start = task.blocks(Label::Positive).map(|_| None).collect();
        alternate(
            start,
            self.max_rounds,
            |witnesses: &Witnesses| program.solve(witnesses),
            |_, separation| task.blocks(Label::Positive).map(|block| Some(argmax(&separation.values[block]))).collect(),
        )
    }
}

impl Separates for Mica {
    fn separate(&self, task: &Task<'_>) -> Result<Separation, SvmError> {
        self.select(task).map(|(separation, _)| separation)
    }
}

/// The linear program for given witnesses, which remembers its last vertex.
struct Program<'p, 'a> {
    params: &'p Mica,
    task: &'p Task<'a>,
    /// The instances in play, as columns of the set.
    in_play: Vec<usize>,
    /// What each of them looks like to the program: its features, or its kernel values with all of them.
    features: DMatrix<f64>,
    /// The examples: what stands for each positive bag, then the instances of negative bags.
    examples: DMatrix<f64>,
    vertex: OneNormStart,
}

impl<'p, 'a> Program<'p, 'a> {
    fn new(params: &'p Mica, task: &'p Task<'a>) -> Result<Program<'p, 'a>, SvmError> {
        let in_play: Vec<usize> = task.positive_instances().chain(task.negative_instances()).collect();
        let features = match params.kernel {
            Kernel::Linear => task.bags().instances().select_columns(&in_play),
            _ => kernel_values(task, &in_play, params.memory_mib)?,
        };
        let n_positive = task.positive_instances().count();
        let n_positive_bags = task.blocks(Label::Positive).count();
        let of_negatives = features.columns(n_positive, features.ncols() - n_positive);
        let mut examples = DMatrix::zeros(features.nrows(), n_positive_bags + of_negatives.ncols());
        examples.columns_mut(n_positive_bags, of_negatives.ncols()).copy_from(&of_negatives);
        Ok(Program { params, task, in_play, features, examples, vertex: OneNormStart::default() })
    }

    fn solve(&mut self, witnesses: &Witnesses) -> Result<Separation, SvmError> {
        let mut first = 0;
        for ((block, witness), mut example) in
            self.task.blocks(Label::Positive).zip(witnesses).zip(self.examples.column_iter_mut())
        {
            match witness {
                Some(at) => example.copy_from(&self.features.column(first + at)),
                None => example.copy_from(&self.features.columns(first, block.len()).column_mean()),
            }
            first += block.len();
        }
        let mut signs = vec![-1.0; self.examples.ncols()];
        signs[..witnesses.len()].fill(1.0);
        let penalties = vec![self.params.penalty; signs.len()];
        let problem = OneNormSvm::new(&self.examples, signs, penalties, 1.0)?;
        let settings = OneNormSettings { tolerance: self.params.tolerance, ..OneNormSettings::default() };
        let solution = best(problem.solve_from(&self.vertex, &settings)?);
        self.vertex = problem.start_at(&solution);
        let (weights, bias) = problem.separator(&solution);
        let separator = self.separator(weights, bias);
        let sums = separator.sums(self.task.bags().instances().as_view())?;
        Ok(Separation {
            values: sums.into_iter().map(|sum| sum + bias).collect(),
            separator,
            objective: solution.certificate.primal_objective,
            defect: defect(&solution),
        })
    }

    fn separator(&self, weights: Vec<f64>, bias: f64) -> Separator {
        if self.params.kernel == Kernel::Linear {
            return Separator::linear(weights, bias);
        }
        let mut of_instances = vec![0.0; self.task.n_instances()];
        self.in_play.iter().zip(weights).for_each(|(&idx, weight)| of_instances[idx] = weight);
        Separator::new(&self.params.kernel, &[(self.task.bags().instances(), &of_instances)], bias)
    }
}

/// All kernel values between the instances in play.
fn kernel_values(task: &Task<'_>, in_play: &[usize], memory_mib: usize) -> Result<DMatrix<f64>, SvmError> {
    let n = in_play.len();
    // The values of all instances, and once more those of the examples.
    let needed_mib = 2.0 * (n as f64) * (n as f64) * (size_of::<f64>() as f64) / f64::from(1 << 20);
    if needed_mib > memory_mib as f64 {
        return Err(SvmError::Memory { needed_mib: needed_mib.ceil() as usize, memory_mib });
    }
    let mut values = DMatrix::zeros(n, n);
    task.kernel().visit_rows(in_play, |place, row| {
        values.column_mut(place).iter_mut().zip(in_play).for_each(|(value, &idx)| *value = row[idx]);
    })?;
    Ok(values)
}
