//! The Gaussian Gram matrix, exponential included, against NumPy.

use mil_data::catalogue::musk2;
use mil_kernels::{Gram, Kernel, gram};

use super::say;
use crate::contest::{Bench, Contest, Entry, Work};
use crate::curve::{Curve, PeerCurve, Stopwatch, pool};
use crate::data::{self, N_FEATURES};
use crate::duel::{Calls, Challenge, alone, alternate};
use crate::peer::{Agreement, Peer};

pub(super) const DUELS: Contest = Contest {
    name: "gram",
    about: "the Gaussian Gram matrix of Musk2 against NumPy",
    notes: &["Fresh memory on both sides, the peer's steps in place and its product by OpenBLAS on one thread."],
    work: Work::Duels(duels),
};

pub(super) const GROWTH: Contest = Contest {
    name: "gram_growth",
    about: "how the Gaussian Gram matrix grows with instances, ours and NumPy's",
    notes: &[],
    work: Work::Curves(&[Curve {
        name: "gram",
        title: "Gaussian Gram matrix, 100 features, one thread",
        unit: "instances",
        sizes: &[500, 1000, 2000, 4000, 8000],
        long_sizes: &[16_000],
        measure,
        peer: Some(PeerCurve {
            script: include_str!("../../peers/gram.py"),
            args,
            agreement: Agreement::Same,
            most: 16_000,
        }),
    }]),
};

/// A width at which the entries of Musk2 spread over (0, 1).
const GAMMA: f64 = 1e-6;
/// The same for the data of growth.
const GROWTH_GAMMA: f64 = 1.0 / N_FEATURES as f64;

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let bags = musk2();
    let instances = bags.instances();
    let kernel = Kernel::Gaussian { gamma: GAMMA };
    let ours = || gram(&kernel, instances).expect("Musk2 is finite");
    let total = |gram: &Gram| gram.view().sum();
    let name = |threads| {
        format!("Gaussian Gram of Musk2, {0} x {0}, {1} features, {threads}", bags.n_instances(), bags.n_features())
    };
    let file = bench.peer.give("musk2.f64", instances.as_slice())?;
    let args = [file, bags.n_features().to_string(), GAMMA.to_string()];
    let script = include_str!("../../peers/gram.py");
    let challenge = Challenge { script, args: &args, agreement: Agreement::Same, total: None, calls: Calls::Many };
    entry.duels.push(pool(1)?.install(|| alternate(name("one thread"), ours, total, bench, &challenge))?);
    entry.duels.push(pool(2)?.install(|| alone(name("two threads"), ours, bench)));
    Ok(())
}

fn measure(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let bags = data::bags(n, data::ALL)?;
    let kernel = Kernel::Gaussian { gamma: GROWTH_GAMMA };
    let computed = watch.repeat(|| gram(&kernel, bags.instances()));
    Ok((computed.map_err(say)?.view().sum(), None))
}

fn args(n: usize, peer: &Peer) -> Result<Vec<String>, String> {
    let [instances, _] = data::give(n, peer, data::instance_signs)?;
    Ok(vec![instances, N_FEATURES.to_string(), GROWTH_GAMMA.to_string()])
}
