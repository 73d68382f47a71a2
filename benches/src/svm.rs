//! Support vector machines on the instances of Musk2, each carrying its bag's label, against scikit-learn.
//!
//! Features are standardised, the kernel is Gaussian with $\gamma = 1/d$: scikit-learn's own default there.

use mil_core::{BagSet, Label, Scaler, Scaling};
use mil_data::catalogue::musk2;
use mil_kernels::{GramRows, Kernel};
use mil_qp::{SmoSettings, Solution, SvmDual};
use nalgebra::DMatrix;

use crate::contest::{Agreement, Challenge, Outcome, Peer, alternate, pool};

const TOLERANCE: f64 = 1e-3;
/// Both sides stop at the tolerance; what is left of the objective may differ by this part.
const EQUAL: Agreement = Agreement::NoWorse(1e-3);

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
        outcomes.push(task.contest(name, ours, peer, "classification", &[task.gamma, penalty, TOLERANCE])?);
    }
    for nu in [0.1, 0.5] {
        let ours = || {
            let rows = rows();
            let problem = SvmDual::one_class(&rows, nu).expect("a proper problem");
            problem.solve(&settings).expect("finite kernel values").solved().expect("within the budget")
        };
        let name = format!("Gaussian one-class SVM, {}, nu = {nu}", task.size);
        outcomes.push(task.contest(name, ours, peer, "one_class", &[task.gamma, nu, TOLERANCE])?);
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
        peer: &Peer,
        problem: &str,
        parameters: &[f64],
    ) -> Result<Outcome, String> {
        let mut args = self.files.to_vec();
        args.extend([self.instances.nrows().to_string(), problem.to_owned()]);
        args.extend(parameters.iter().map(f64::to_string));
        let challenge = Challenge { script: include_str!("../peers/svm.py"), args: &args, agreement: EQUAL };
        let objective = |solution: &Solution| solution.certificate.primal_objective;
        pool(1)?.install(|| alternate(format!("{name}, one thread"), ours, objective, peer, &challenge))
    }
}

fn instance_signs(bags: &BagSet<Label>) -> Vec<f64> {
    let sign = |bag_idx: usize| if bags.labels()[bag_idx] == Label::Positive { 1.0 } else { -1.0 };
    (0..bags.n_bags()).flat_map(|bag_idx| vec![sign(bag_idx); bags.columns_of(bag_idx).len()]).collect()
}
