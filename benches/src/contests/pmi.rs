//! The variance QP of PMI on Musk2, over the positive bags and over all bags taken as positive, against OSQP.
//!
//! Both sides have the Gram matrix off the clock, and the peer its $M=\operatorname{blockdiag}(K_{BB})-K/N$, too; ours makes the rows it asks for on it. Features are scaled to $[0, 1]$.

use mil_core::{BagSet, Scaler, Scaling};
use mil_data::catalogue::musk2;
use mil_kernels::{Gram, KernelChoice, gram};
use mil_qp::{BlockVariance, GroupSettings, SimplexBlocks, Solution};

use super::say;
use crate::contest::{Bench, Contest, Entry, Pace, Work};
use crate::curve::{Curve, Stopwatch, pool};
use crate::data::{self, BAG_SIZE};
use crate::duel::{Calls, Challenge, Duel, alternate};
use crate::peer::Agreement;

pub(super) const DUELS: Contest = Contest {
    name: "pmi",
    about: "the weights of PMI on the positive bags of Musk2 against OSQP; with --long on all bags, which takes OSQP minutes",
    notes: &[
        "Both sides have the Gram matrix off the clock, and the peer its quadratic form, too. OSQP goes to 1e-6 with polishing, ours to a relative gap of 1e-9.",
        "OSQP is stopped after 900 seconds on all bags.",
    ],
    work: Work::Duels(duels),
};

pub(super) const GROWTH: Contest = Contest {
    name: "pmi_growth",
    about: "how the weights of PMI grow with instances",
    notes: &["The Gram matrix is made off the clock and counted as memory."],
    work: Work::Curves(&[Curve {
        name: "pmi",
        title: "variance QP of PMI, bags of 10, 100 features, gamma = 4 / median, one thread",
        unit: "instances",
        sizes: &[500, 1000, 2000, 4000, 8000],
        long_sizes: &[16_000],
        measure,
        peer: None,
    }]),
};

const OVER_MEDIAN: f64 = 4.0;
const TOLERANCE: f64 = 1e-9;
/// OSQP goes to 1e-6 of its residuals, which leaves this part of the objective.
const AGREEMENT: f64 = 1e-4;
/// Seconds for OSQP, over all bags, before it is stopped.
const PATIENCE: u32 = 900;

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let bags = musk2();
    let scaler = Scaler::fit(Scaling::MinMax, &bags).map_err(say)?;
    let bags = scaler.scaled(bags).map_err(say)?;
    let positives = bags.positives().map_err(say)?;
    entry.duels.push(duel("positive bags", &positives, 0, Calls::Many, bench)?);
    if bench.pace == Pace::Long {
        entry.duels.push(duel("bags", &bags.without_labels(), PATIENCE, Calls::One, bench)?);
    } else {
        entry.left_out.push("all bags of Musk2, which take OSQP minutes; `--long` has them".to_owned());
    }
    Ok(())
}

/// The peer is stopped after so many seconds, 0 for never.
fn duel(what: &str, bags: &BagSet<()>, patience: u32, calls: Calls, bench: &Bench) -> Result<Duel, String> {
    let (n_bags, n) = (bags.n_bags(), bags.n_instances());
    let (gram, sizes) = gram_and_sizes(bags)?;
    let ours = || solution(&gram, &sizes);
    let name =
        format!("variance QP of PMI, {n_bags} {what} of Musk2, n = {n}, gamma = {OVER_MEDIAN} / median, one thread");
    let sizes_for_peer: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
    let args = [
        bench.peer.give(&format!("pmi-{n}-gram.f64"), gram.to_matrix().as_slice())?,
        bench.peer.give(&format!("pmi-{n}-sizes.f64"), &sizes_for_peer)?,
        patience.to_string(),
    ];
    let script = include_str!("../../peers/pmi.py");
    let agreement = Agreement::NoWorse(AGREEMENT);
    let challenge = Challenge { script, args: &args, agreement, total: None, calls };
    let objective = |solution: &Solution| solution.certificate.primal_objective;
    let one = pool(1)?;
    let remark = remark_of(&one.install(ours));
    Ok(one.install(|| alternate(name, ours, objective, bench, &challenge))?.with_remark(remark))
}

fn measure(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let (gram, sizes) = gram_and_sizes(&data::bags(n, data::HALF)?.without_labels())?;
    assert!(sizes.iter().all(|&size| size == BAG_SIZE), "as the title says");
    let solution = watch.repeat(|| solution(&gram, &sizes));
    Ok((solution.certificate.primal_objective, Some(remark_of(&solution))))
}

fn gram_and_sizes(bags: &BagSet<()>) -> Result<(Gram, Vec<usize>), String> {
    let kernel = KernelChoice::GaussianOverMedian(OVER_MEDIAN).resolve(bags.instances(), 0).map_err(say)?;
    let gram = gram(&kernel, bags.instances()).map_err(say)?;
    Ok((gram, bags.bags().map(|bag| bag.n_instances()).collect()))
}

fn solution(gram: &Gram, sizes: &[usize]) -> Solution {
    let settings = GroupSettings { tolerance: TOLERANCE, ..GroupSettings::default() };
    let variance = BlockVariance::new(gram, sizes).expect("proper blocks");
    let problem = SimplexBlocks::new(&variance, sizes.to_vec()).expect("proper blocks");
    problem.solve(&settings).expect("finite rows").solved().expect("within the budget")
}

fn remark_of(solution: &Solution) -> String {
    let n_positive = solution.primal.iter().filter(|&&weight| weight > 0.0).count();
    format!("{n_positive} positive weights, relative gap {:.0e}", solution.certificate.worst())
}
