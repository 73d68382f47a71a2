//! MIDL with all of its fifty kernels on one digit against the same algorithm in NumPy, and how a fit grows with the number of bags.
//!
//! Digits are synthetic, 16 x 16 pixels with values from 0 to 1. Each side draws the samples its dictionaries begin with from a generator of its own, so that their costs $\mathcal J$ differ by what a start makes of it.

use mil_core::{BagModel, BagSet, Label, metrics};
use mil_data::LabelledInstances;
use mil_data::synth::{DigitsParams, FromInstancesParams};
use mil_dict::{BaseKernels, Midl, MidlModel, MidlTrace};

use super::say;
use crate::contest::{Bench, Contest, Entry, Work};
use crate::curve::{Curve, Stopwatch, pool};
use crate::duel::{Calls, Challenge, alternate};
use crate::peer::Agreement;

pub(super) const DUELS: Contest = Contest {
    name: "dict",
    about: "MIDL with fifty kernels on one digit against the same algorithm in NumPy",
    notes: &[
        "The peer was written for this contest, with arrays throughout. Each side draws the samples its dictionaries begin with itself, so that their costs J differ by what a start makes of it.",
    ],
    work: Work::Duels(duels),
};

pub(super) const GROWTH: Contest = Contest {
    name: "dict_growth",
    about: "how MIDL grows with bags, the dictionaries as large as ever",
    notes: &[],
    work: Work::Curves(&[Curve {
        name: "dict",
        title: "MIDL, one digit of ten, bags of 4, 256 features, 50 kernels, one thread",
        unit: "bags",
        sizes: &[50, 100, 200, 400],
        long_sizes: &[800],
        measure,
        peer: None,
    }]),
};

const DIGIT: &str = "3";
const FIRST_WIDTH: f64 = 0.01;
/// Two fits of other starts may differ by this part of their costs.
const NOISE: f64 = 0.05;

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let params = FromInstancesParams { seed: 1, ..FromInstancesParams::default() };
    let bags = params.train_test(&digits(400)?, DIGIT).map_err(say)?;
    let midl = midl();
    let ours = || midl.fit_traced(&bags.train).expect("both classes have bags");
    let name = format!(
        "MIDL, one digit of ten, {} + {} bags of {}, {} features, 50 kernels, {} + {} atoms, {} iterations, one thread",
        params.n_positive,
        params.n_negative,
        params.bag_size,
        bags.train.n_features(),
        midl.n_negative_atoms,
        midl.n_positive_atoms,
        midl.n_iterations,
    );
    let mut args = Vec::new();
    for (what, bags) in [("train", &bags.train), ("test", &bags.test)] {
        let signs: Vec<f64> = bags.labels().iter().map(|label| label.sign()).collect();
        args.push(bench.peer.give(&format!("dict-{what}.f64"), bags.instances().as_slice())?);
        args.push(bench.peer.give(&format!("dict-{what}-signs.f64"), &signs)?);
    }
    let sizes = [bags.train.n_features(), params.bag_size, midl.n_negative_atoms, midl.n_positive_atoms];
    args.extend(sizes.iter().chain(&[midl.sparsity, midl.test_sparsity]).map(usize::to_string));
    args.extend([midl.orthogonality, midl.positives, midl.unit_length].map(|number| number.to_string()));
    args.extend([midl.n_iterations, midl.n_initial_rounds].map(|number| number.to_string()));
    args.extend([FIRST_WIDTH.to_string(), midl.seed.to_string()]);
    let script = include_str!("../../peers/dict.py");
    let agreement = Agreement::NoWorse(NOISE);
    let challenge = Challenge { script, args: &args, agreement, total: Some("cost J"), calls: Calls::Many };
    let one = pool(1)?;
    let share = accuracy(&one.install(ours).0, &bags.test)?;
    let duel = one.install(|| alternate(name, ours, |fitted| cost(&midl, fitted), bench, &challenge))?;
    entry.duels.push(duel.with_remark(format!("ours: {:.1} % of test bags right", 100.0 * share)));
    Ok(())
}

/// With the paper's kernels.
fn midl() -> Midl {
    Midl { kernels: BaseKernels::Paper { first_width: FIRST_WIDTH }, ..Midl::default() }
}

/// Digits with values from 0 to 1 instead of from -1 to 1.
fn digits(n_per_class: usize) -> Result<LabelledInstances, String> {
    let digits = DigitsParams { n_per_class, ..DigitsParams::default() };
    let digits = digits.generate().map_err(say)?;
    let pixels = digits.instances().map(|value| 0.5 * (value + 1.0));
    LabelledInstances::new(pixels, digits.classes().to_vec(), digits.class_names().clone()).map_err(say)
}

/// $\mathcal J$ after the last iteration.
fn cost(midl: &Midl, (_, trace): &(MidlModel, MidlTrace)) -> f64 {
    let last = trace.iterations.last().expect("there are iterations");
    last.after_selection.total(midl.positives, midl.orthogonality)
}

fn accuracy(model: &MidlModel, bags: &BagSet<Label>) -> Result<f64, String> {
    let predicted: Result<Vec<Label>, _> = bags.bags().map(|bag| model.predict(bag)).collect();
    Ok(metrics::accuracy(&predicted.map_err(say)?, bags.labels()))
}

fn measure(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let params =
        FromInstancesParams { n_positive: n - n / 2, n_negative: n / 2, seed: 1, ..FromInstancesParams::default() };
    let bags = params.generate(&digits(n.max(400))?, DIGIT).map_err(say)?;
    let midl = midl();
    let fitted = watch.repeat(|| midl.fit_traced(&bags)).map_err(say)?;
    Ok((cost(&midl, &fitted), None))
}
