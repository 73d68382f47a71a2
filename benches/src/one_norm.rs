//! The linear program of MILES on Musk2, over the similarities of all bags to all instances, against HiGHS.

use mil_core::Label;
use mil_data::catalogue::musk2;
use mil_kernels::BagSimilarity;
use mil_qp::{OneNormSettings, OneNormSvm, Solution};

use crate::contest::{Agreement, Challenge, Outcome, Peer, alternate, pool};

/// The squared width at which MILES does well on Musk2.
const SIGMA2: f64 = 8e5;
const LAMBDA: f64 = 0.1;

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let bags = musk2();
    let similarity = BagSimilarity::new(bags.instances(), SIGMA2).map_err(|error| error.to_string())?;
    let features = similarity.to_bags(&bags).map_err(|error| error.to_string())?;
    let signs: Vec<f64> =
        bags.labels().iter().map(|label| if *label == Label::Positive { 1.0 } else { -1.0 }).collect();
    let (n_features, n) = features.shape();
    let ours = || {
        let problem = OneNormSvm::new(&features, signs.clone(), vec![1.0; n], LAMBDA).expect("a proper problem");
        problem.solve(&OneNormSettings::default()).expect("finite features").solved().expect("within the budget")
    };
    let args = [
        peer.give("musk2-miles.f64", features.as_slice())?.display().to_string(),
        peer.give("musk2-bag-signs.f64", &signs)?.display().to_string(),
        n_features.to_string(),
        LAMBDA.to_string(),
    ];
    let agreement = Agreement::NoWorse(1e-9);
    let challenge = Challenge { script: include_str!("../peers/one_norm.py"), args: &args, agreement };
    let name = format!("1-norm SVM of MILES, Musk2 {n} x {n_features}, lambda = {LAMBDA}, one thread");
    let objective = |solution: &Solution| solution.certificate.primal_objective;
    Ok(vec![pool(1)?.install(|| alternate(name, ours, objective, peer, &challenge))?])
}
