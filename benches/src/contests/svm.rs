//! Support vector machines on the instances of Musk2, each carrying its bag's label, against scikit-learn.
//!
//! Features are standardised, the kernel is Gaussian with $\gamma = 1/d$: scikit-learn's own default there. Linear machines have a regularised bias, as
//! LIBLINEAR has.

use mil_core::{Scaler, Scaling};
use mil_data::catalogue::musk2;
use mil_kernels::{GramRows, Kernel};
use mil_qp::{Bias, LinearSettings, LinearSvm, Loss, SmoSettings, Solution, SvmDual};
use nalgebra::DMatrix;

use super::say;
use crate::contest::{Bench, Contest, Entry, Work};
use crate::curve::{Curve, PeerCurve, Stopwatch, pool};
use crate::data::{self, N_FEATURES};
use crate::duel::{Calls, Challenge, Duel, alternate};
use crate::peer::{Agreement, Peer};

pub(super) const DUELS: Contest = Contest {
    name: "svm",
    about: "Gaussian SVMs of two classes and of one on Musk2 against scikit-learn",
    notes: &[
        "Instances carry their bag's label; features are standardised, gamma is 1 over their number, scikit-learn's own default there.",
    ],
    work: Work::Duels(duels),
};

pub(super) const LINEAR_DUELS: Contest = Contest {
    name: "linear",
    about: "linear SVMs on Musk2 against LIBLINEAR in scikit-learn",
    notes: &[
        "The bias is regularised, as LIBLINEAR has it. It is stopped after 100,000 steps, which the plain hinge may need.",
    ],
    work: Work::Duels(linear_duels),
};

pub(super) const GROWTH: Contest = Contest {
    name: "svm_growth",
    about: "how a Gaussian SVM by SMO grows with instances, ours and scikit-learn's; with --long up to 128,000 of ours",
    notes: &[
        "Each side keeps kernel rows in a cache of its own default size, so that memory stops growing where that is full.",
    ],
    work: Work::Curves(&[Curve {
        name: "svm",
        title: "Gaussian SVM by SMO, 100 features, C = 1, one thread",
        unit: "instances",
        sizes: &[1000, 2000, 4000, 8000, 16_000],
        long_sizes: &[32_000, 64_000, 128_000],
        measure: measure_gaussian,
        peer: Some(PeerCurve {
            script: include_str!("../../peers/svm.py"),
            args: args_of_gaussian,
            agreement: NEARLY,
            most: 32_000,
        }),
    }]),
};

pub(super) const LINEAR_GROWTH: Contest = Contest {
    name: "linear_growth",
    about: "how a linear SVM grows with instances, ours and LIBLINEAR's in scikit-learn",
    notes: &[],
    work: Work::Curves(&[Curve {
        name: "linear",
        title: "linear SVM, squared hinge, 100 features, C = 1, one thread",
        unit: "instances",
        sizes: &[4000, 8000, 16_000, 32_000, 64_000],
        long_sizes: &[128_000, 256_000],
        measure: measure_linear,
        peer: Some(PeerCurve {
            script: include_str!("../../peers/svm.py"),
            args: args_of_linear,
            agreement: NEARLY,
            most: 256_000,
        }),
    }]),
};

/// Both sides stop at a tolerance; what is left of the objective may differ by a part of it.
const NEARLY: Agreement = Agreement::NoWorse(1e-3);
const TOLERANCE: f64 = 1e-3;
/// Steps that LIBLINEAR may take before it gives up.
const PEER_LIMIT: f64 = 100_000.0;
/// The least tolerance of LIBLINEAR that reaches our objective, or the limit of its steps.
const PEER_TOLERANCE: f64 = 1e-4;

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let task = Task::new(&bench.peer)?;
    let settings = SmoSettings { tolerance: TOLERANCE, ..SmoSettings::default() };
    let kernel = Kernel::Gaussian { gamma: task.gamma };
    let rows = || GramRows::new(&kernel, &task.instances).expect("Musk2 is finite");
    for penalty in [1.0, 10.0] {
        let ours = || {
            let rows = rows();
            let penalties = vec![penalty; task.signs.len()];
            let problem = SvmDual::classification(&rows, task.signs.clone(), penalties).expect("a proper problem");
            problem.solve(&settings).expect("finite kernel values").solved().expect("within the budget")
        };
        let name = format!("Gaussian SVM, {}, C = {penalty}", task.size);
        let parameters = [task.gamma, penalty, TOLERANCE];
        entry.duels.push(task.duel(name, ours, objective, bench, Calls::Many, "classification", &parameters)?);
    }
    for nu in [0.1, 0.5] {
        let ours = || {
            let rows = rows();
            let problem = SvmDual::one_class(&rows, nu).expect("a proper problem");
            problem.solve(&settings).expect("finite kernel values").solved().expect("within the budget")
        };
        let name = format!("Gaussian one-class SVM, {}, nu = {nu}", task.size);
        entry.duels.push(task.duel(
            name,
            ours,
            objective,
            bench,
            Calls::Many,
            "one_class",
            &[task.gamma, nu, TOLERANCE],
        )?);
    }
    Ok(())
}

/// The objective of a dual, to be minimised.
fn objective(solution: &Solution) -> f64 {
    solution.certificate.primal_objective
}

fn linear_duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let task = Task::new(&bench.peer)?;
    let problems = [
        ("squared_hinge", "squared hinge", Loss::SquaredHinge, Calls::Many),
        ("hinge", "hinge", Loss::Hinge, Calls::Few),
    ];
    for (problem, words, loss, calls) in problems {
        let ours = || {
            let bias = Bias::Regularised { scale: 1.0 };
            let machine = LinearSvm::new(&task.instances, task.signs.clone(), vec![1.0; task.signs.len()], bias, loss)
                .expect("a proper problem");
            machine.solve(&LinearSettings::default()).expect("finite points").solved().expect("within the budget")
        };
        let name = format!("linear SVM, {words}, {}, C = 1", task.size);
        let primal = |solution: &Solution| -solution.certificate.dual_objective;
        entry.duels.push(task.duel(name, ours, primal, bench, calls, problem, &[1.0, PEER_TOLERANCE, PEER_LIMIT])?);
    }
    Ok(())
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
        let scaler = Scaler::fit(Scaling::Standard, &bags).map_err(say)?;
        let mut instances = bags.instances().clone();
        instances.as_mut_slice().chunks_mut(bags.n_features()).for_each(|instance| scaler.apply(instance));
        let signs = data::instance_signs(&bags);
        let files = [peer.give("musk2-standard.f64", instances.as_slice())?, peer.give("musk2-signs.f64", &signs)?];
        let (n_features, n) = instances.shape();
        Ok(Task { instances, signs, gamma: 1.0 / n_features as f64, size: format!("Musk2 {n} x {n_features}"), files })
    }

    #[expect(clippy::too_many_arguments, reason = "two sides, what they solve, and how often")]
    fn duel(
        &self,
        name: String,
        ours: impl Fn() -> Solution + Send,
        total: impl Fn(&Solution) -> f64 + Send,
        bench: &Bench,
        calls: Calls,
        problem: &str,
        parameters: &[f64],
    ) -> Result<Duel, String> {
        let mut args = self.files.to_vec();
        args.extend([self.instances.nrows().to_string(), problem.to_owned()]);
        args.extend(parameters.iter().map(f64::to_string));
        let script = include_str!("../../peers/svm.py");
        let challenge = Challenge { script, args: &args, agreement: NEARLY, total: None, calls };
        pool(1)?.install(|| alternate(format!("{name}, one thread"), ours, total, bench, &challenge))
    }
}

const GROWTH_GAMMA: f64 = 1.0 / N_FEATURES as f64;

fn measure_gaussian(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let bags = data::bags(n, data::ALL)?;
    let signs = data::instance_signs(&bags);
    let settings = SmoSettings { tolerance: TOLERANCE, ..SmoSettings::default() };
    let kernel = Kernel::Gaussian { gamma: GROWTH_GAMMA };
    let solution = watch.repeat(|| {
        let rows = GramRows::new(&kernel, bags.instances()).expect("finite points");
        let problem = SvmDual::classification(&rows, signs.clone(), vec![1.0; n]).expect("a proper problem");
        problem.solve(&settings).expect("finite rows").solved().expect("within the budget")
    });
    let n_support = solution.primal.iter().filter(|&&dual| dual > 0.0).count();
    Ok((objective(&solution), Some(format!("{n_support} support vectors"))))
}

fn args_of_gaussian(n: usize, peer: &Peer) -> Result<Vec<String>, String> {
    args_of("classification", &[GROWTH_GAMMA, 1.0, TOLERANCE], n, peer)
}

fn measure_linear(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let bags = data::bags(n, data::ALL)?;
    let signs = data::instance_signs(&bags);
    let solution = watch.repeat(|| {
        let bias = Bias::Regularised { scale: 1.0 };
        let machine = LinearSvm::new(bags.instances(), signs.clone(), vec![1.0; n], bias, Loss::SquaredHinge)
            .expect("a proper problem");
        machine.solve(&LinearSettings::default()).expect("finite points").solved().expect("within the budget")
    });
    Ok((-solution.certificate.dual_objective, None))
}

fn args_of_linear(n: usize, peer: &Peer) -> Result<Vec<String>, String> {
    args_of("squared_hinge", &[1.0, PEER_TOLERANCE, PEER_LIMIT], n, peer)
}

fn args_of(problem: &str, parameters: &[f64], n: usize, peer: &Peer) -> Result<Vec<String>, String> {
    let mut args = data::give(n, peer, data::instance_signs)?.to_vec();
    args.extend([N_FEATURES.to_string(), problem.to_owned()]);
    args.extend(parameters.iter().map(f64::to_string));
    Ok(args)
}
