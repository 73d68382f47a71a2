//! The Gaussian Gram matrix of Musk2, exponential included, against NumPy.

use mil_data::catalogue::musk2;
use mil_kernels::{Gram, Kernel, gram};

use crate::contest::{Agreement, Challenge, Outcome, Peer, alone, alternate, pool};

/// A width at which the entries spread over (0, 1).
const GAMMA: f64 = 1e-6;

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let bags = musk2();
    let instances = bags.instances();
    let kernel = Kernel::Gaussian { gamma: GAMMA };
    let ours = || gram(&kernel, instances).expect("Musk2 is finite");
    let total = |gram: &Gram| gram.view().sum();
    let name = |threads| {
        format!("Gaussian Gram of Musk2, {0} x {0}, {1} features, {threads}", bags.n_instances(), bags.n_features())
    };
    let file = peer.give("musk2.f64", instances.as_slice())?;
    let args = [file.display().to_string(), bags.n_features().to_string(), GAMMA.to_string()];
    let challenge = Challenge { script: include_str!("../peers/gram.py"), args: &args, agreement: Agreement::Same };
    let single = pool(1)?.install(|| alternate(name("one thread"), ours, total, peer, &challenge))?;
    let double = pool(2)?.install(|| alone(name("two threads"), ours));
    Ok(vec![single, double])
}
