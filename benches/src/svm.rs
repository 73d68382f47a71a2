//! Support vector machines on the instances of Musk2, each carrying its bag's label, against scikit-learn.
//!
//! Features are standardised, the kernel is Gaussian with $\gamma = 1/d$: scikit-learn's own default there. Linear machines have a regularised bias, as
//! LIBLINEAR has.

use mil_core::{BagSet, Label, Scaler, Scaling};
use mil_data::catalogue::musk2;
use mil_kernels::{GramRows, Kernel};
use mil_qp::{Bias, LinearSettings, LinearSvm, Loss, SmoSettings, Solution, SvmDual};
use nalgebra::DMatrix;

use crate::contest::{Agreement, Challenge, Outcome, Peer, alternate, pool};

const TOLERANCE: f64 = 1e-3;
/// Steps that LIBLINEAR may take before it gives up.
const PEER_LIMIT: f64 = 100_000.0;

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let task = Task::new(peer)?;
    let settings = SmoSettings { tolerance: TOLERANCE, ..SmoSettings::default() };
    let kernel = Kernel::Gaussian { gamma: task.gamma };
    let rows = || GramRows::new(&kernel, &task.instances).expect("Musk2 is finite");
    let mut outcomes = Vec::new();
    for penalty in [1.0, 10.0] {
        let ours = || {
            let rows = rows();
            let penalties = vec![penalty; task.signs.len()];
            let problem = SvmDual::classification(&rows, task.signs.clone(), penalties).expect("a proper problem");
            problem.solve(&settings).expect("finite kernel values").solved().expect("within the budget")
        };
        let name = format!("Gaussian SVM, {}, C = {penalty}", task.size);
        let parameters = [task.gamma, penalty, TOLERANCE];
        outcomes.push(task.contest(name, ours, objective, peer, "classification", &parameters)?);
    }
    for nu in [0.1, 0.5] {
        let ours = || {
            let rows = rows();
            let problem = SvmDual::one_class(&rows, nu).expect("a proper problem");
            problem.solve(&settings).expect("finite kernel values").solved().expect("within the budget")
        };
        let name = format!("Gaussian one-class SVM, {}, nu = {nu}", task.size);
        outcomes.push(task.contest(name, ours, objective, peer, "one_class", &[task.gamma, nu, TOLERANCE])?);
    }
    Ok(outcomes)
}

/// The objective of a dual, to be minimised.
fn objective(solution: &Solution) -> f64 {
    solution.certificate.primal_objective
}

pub(crate) fn run_linear(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let task = Task::new(peer)?;
    let mut outcomes = Vec::new();
    // The peer's own tolerance for each: the least that reaches our objective, or the limit of its steps.
    for (problem, loss, tolerance) in [("squared_hinge", Loss::SquaredHinge, 1e-4), ("hinge", Loss::Hinge, 1e-4)] {
        let ours = || {
            let bias = Bias::Regularised { scale: 1.0 };
            let machine = LinearSvm::new(&task.instances, task.signs.clone(), vec![1.0; task.signs.len()], bias, loss)
                .expect("a proper problem");
            machine.solve(&LinearSettings::default()).expect("finite points").solved().expect("within the budget")
        };
        let name = format!("linear SVM, {problem}, {}, C = 1", task.size);
        let primal = |solution: &Solution| -solution.certificate.dual_objective;
        outcomes.push(task.contest(name, ours, primal, peer, problem, &[1.0, tolerance, PEER_LIMIT])?);
    }
    Ok(outcomes)
}

/// The instances of Musk2 and their labels, for both sides.
struct Task {
    instances: DMatrix<f64>,
    signs: Vec<f64>,
    gamma: f64,
    size: String,
    files: [String; 2],
}

impl Task {
    fn new(peer: &Peer) -> Result<Task, String> {
        let bags = musk2();
        let scaler = Scaler::fit(Scaling::Standard, &bags).map_err(|error| error.to_string())?;
        let mut instances = bags.instances().clone();
        instances.as_mut_slice().chunks_mut(bags.n_features()).for_each(|instance| scaler.apply(instance));
        let signs = instance_signs(&bags);
        let files = [
            peer.give("musk2-standard.f64", instances.as_slice())?.display().to_string(),
            peer.give("musk2-signs.f64", &signs)?.display().to_string(),
        ];
        let (n_features, n) = instances.shape();
        Ok(Task { instances, signs, gamma: 1.0 / n_features as f64, size: format!("Musk2 {n} x {n_features}"), files })
    }

    fn contest(
        &self,
        name: String,
        ours: impl Fn() -> Solution + Send,
        total: impl Fn(&Solution) -> f64 + Send,
        peer: &Peer,
        problem: &str,
        parameters: &[f64],
    ) -> Result<Outcome, String> {
        let mut args = self.files.to_vec();
        args.extend([self.instances.nrows().to_string(), problem.to_owned()]);
        args.extend(parameters.iter().map(f64::to_string));
        // Both sides stop at a tolerance; what is left of the objective may differ by a part of it.
        let agreement = Agreement::NoWorse(1e-3);
        let challenge = Challenge { script: include_str!("../peers/svm.py"), args: &args, agreement };
        pool(1)?.install(|| alternate(format!("{name}, one thread"), ours, total, peer, &challenge))
    }
}

fn instance_signs(bags: &BagSet<Label>) -> Vec<f64> {
    let sign = |bag_idx: usize| if bags.labels()[bag_idx] == Label::Positive { 1.0 } else { -1.0 };
    (0..bags.n_bags()).flat_map(|bag_idx| vec![sign(bag_idx); bags.columns_of(bag_idx).len()]).collect()
}
