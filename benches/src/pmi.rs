//! The variance QP of PMI on Musk2, over the positive bags and over all bags taken as positive, against OSQP.
//!
//! Both sides have the Gram matrix off the clock, and the peer its $M=\operatorname{blockdiag}(K_{BB})-K/N$, too; ours makes the rows it asks for on it. Features are scaled to $[0, 1]$.

use mil_core::{BagSet, Scaler, Scaling};
use mil_data::catalogue::musk2;
use mil_kernels::{KernelChoice, gram};
use mil_qp::{BlockVariance, GroupSettings, SimplexBlocks, Solution};

use crate::contest::{Agreement, Challenge, Outcome, Peer, alternate, alternate_briefly, once, peak_memory, pool};

const OVER_MEDIAN: f64 = 4.0;
const TOLERANCE: f64 = 1e-9;
/// OSQP goes to 1e-6 of its residuals, which leaves this part of the objective.
const AGREEMENT: f64 = 1e-4;
/// Seconds for OSQP, over all bags, before it is stopped.
const PATIENCE: u32 = 900;

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let bags = musk2();
    let scaler = Scaler::fit(Scaling::MinMax, &bags).map_err(|error| error.to_string())?;
    let bags = scaler.scaled(bags).map_err(|error| error.to_string())?;
    let positives = bags.positives().map_err(|error| error.to_string())?;
    Ok(vec![
        contest("positive bags", &positives, None, peer)?,
        contest("bags", &bags.without_labels(), Some(PATIENCE), peer)?,
    ])
}

/// Where the peer needs patience, both sides are called once.
fn contest(what: &str, bags: &BagSet<()>, patience: Option<u32>, peer: &Peer) -> Result<Outcome, String> {
    let (n_bags, n) = (bags.n_bags(), bags.n_instances());
    let kernel = KernelChoice::GaussianOverMedian(OVER_MEDIAN);
    let kernel = kernel.resolve(bags.instances(), 0).map_err(|error| error.to_string())?;
    let gram = gram(&kernel, bags.instances()).map_err(|error| error.to_string())?;
    let sizes: Vec<usize> = bags.bags().map(|bag| bag.n_instances()).collect();
    let settings = GroupSettings { tolerance: TOLERANCE, ..GroupSettings::default() };
    let ours = || {
        let variance = BlockVariance::new(&gram, &sizes).expect("proper blocks");
        let problem = SimplexBlocks::new(&variance, sizes.clone()).expect("proper blocks");
        problem.solve(&settings).expect("finite rows").solved().expect("within the budget")
    };

    // Before the peer's files are made, which takes more memory than solving.
    let one = pool(1)?;
    let (_, solution) = one.install(|| once(String::new(), ours));
    let name = format!(
        "variance QP of PMI, {n_bags} {what} of Musk2, n = {n}, gamma = {OVER_MEDIAN} / median, one thread: {} positive weights, relative gap {:.0e}, peak memory {}",
        solution.primal.iter().filter(|&&weight| weight > 0.0).count(),
        solution.certificate.worst(),
        peak_memory().map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.2} GiB", bytes / f64::from(1 << 30))),
    );
    let sizes_for_peer: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
    let args = [
        peer.give(&format!("pmi-{n}-gram.f64"), gram.to_matrix().as_slice())?.display().to_string(),
        peer.give(&format!("pmi-{n}-sizes.f64"), &sizes_for_peer)?.display().to_string(),
        patience.unwrap_or(0).to_string(),
    ];
    let script = include_str!("../peers/pmi.py");
    let challenge = Challenge { script, args: &args, agreement: Agreement::NoWorse(AGREEMENT) };
    let objective = |solution: &Solution| solution.certificate.primal_objective;
    one.install(|| match patience {
        None => alternate(name, ours, objective, peer, &challenge),
        Some(_) => alternate_briefly(1, name, ours, objective, peer, &challenge),
    })
}
