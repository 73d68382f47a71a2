//! The linear program of MILES on Musk2, over the similarities of all bags to all instances, against HiGHS.

use mil_data::catalogue::musk2;
use mil_kernels::BagSimilarity;
use mil_qp::{OneNormSettings, OneNormSvm, Solution};

use super::say;
use crate::contest::{Bench, Contest, Entry, Work};
use crate::curve::pool;
use crate::duel::{Calls, Challenge, alternate};
use crate::peer::Agreement;

pub(super) const DUELS: Contest = Contest {
    name: "one_norm",
    about: "the linear program of MILES on Musk2 against HiGHS",
    notes: &["Similarities are made off the clock; our objective must be the peer's to 1e-9 of it, or better."],
    work: Work::Duels(duels),
};

/// The squared width at which MILES does well on Musk2.
const SIGMA2: f64 = 8e5;
const LAMBDA: f64 = 0.1;

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let bags = musk2();
    let similarity = BagSimilarity::new(bags.instances(), SIGMA2).map_err(say)?;
    let features = similarity.to_bags(&bags).map_err(say)?;
    let signs: Vec<f64> = bags.labels().iter().map(|label| label.sign()).collect();
    let (n_features, n) = features.shape();
    let ours = || {
        let problem = OneNormSvm::new(&features, signs.clone(), vec![1.0; n], LAMBDA).expect("a proper problem");
        problem.solve(&OneNormSettings::default()).expect("finite features").solved().expect("within the budget")
    };
    let args = [
        bench.peer.give("musk2-miles.f64", features.as_slice())?,
        bench.peer.give("musk2-bag-signs.f64", &signs)?,
        n_features.to_string(),
        LAMBDA.to_string(),
    ];
    let challenge = Challenge {
        script: include_str!("../../peers/one_norm.py"),
        args: &args,
        agreement: Agreement::NoWorse(1e-9),
        total: None,
        calls: Calls::Many,
    };
    let name = format!("1-norm SVM of MILES, Musk2 {n} x {n_features}, lambda = {LAMBDA}, one thread");
    let objective = |solution: &Solution| solution.certificate.primal_objective;
    entry.duels.push(pool(1)?.install(|| alternate(name, ours, objective, bench, &challenge))?);
    Ok(())
}
