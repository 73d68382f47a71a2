//! MIDL with all of its fifty kernels on one digit against the same algorithm in NumPy, and how a fit grows with the number of bags.
//!
//! Digits are synthetic, 16 x 16 pixels with values from 0 to 1. Each side draws the samples its dictionaries begin with from a generator of its own, so that their costs $\mathcal J$ differ by what a start makes of it.

use mil_core::{BagModel, BagSet, Label, metrics};
use mil_data::LabelledInstances;
use mil_data::synth::{DigitsParams, FromInstancesParams};
use mil_dict::{BaseKernels, Midl, MidlModel, MidlTrace};

use crate::contest::{Agreement, Challenge, Outcome, Peer, alternate, once, peak_memory, pool};

const DIGIT: &str = "3";
const FIRST_WIDTH: f64 = 0.01;
/// Two fits of other starts may differ by this part of their costs.
const NOISE: f64 = 0.05;

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let pool_of_digits = digits(400)?;
    let params = FromInstancesParams { seed: 1, ..FromInstancesParams::default() };
    let bags = params.train_test(&pool_of_digits, DIGIT).map_err(|error| error.to_string())?;
    let midl = Midl { kernels: BaseKernels::Paper { first_width: FIRST_WIDTH }, ..Midl::default() };
    let ours = || midl.fit_traced(&bags.train).expect("both classes have bags");

    let one = pool(1)?;
    let (_, fitted) = one.install(|| once(String::new(), ours));
    let name = format!(
        "MIDL, one digit of ten, {} + {} bags of {}, {} features, {} kernels, {} + {} atoms, {} iterations, one thread: J = {:.2}, {:.1} % of test bags, peak memory {}",
        params.n_positive,
        params.n_negative,
        params.bag_size,
        bags.train.n_features(),
        fitted.1.kernels.len(),
        midl.n_negative_atoms,
        midl.n_positive_atoms,
        fitted.1.iterations.len(),
        cost(&midl, &fitted),
        100.0 * accuracy(&fitted.0, &bags.test)?,
        memory(),
    );
    let mut args = Vec::new();
    for (what, bags) in [("train", &bags.train), ("test", &bags.test)] {
        let signs: Vec<f64> = bags.labels().iter().map(|label| label.sign()).collect();
        args.push(peer.give(&format!("dict-{what}.f64"), bags.instances().as_slice())?.display().to_string());
        args.push(peer.give(&format!("dict-{what}-signs.f64"), &signs)?.display().to_string());
    }
    let sizes = [bags.train.n_features(), params.bag_size, midl.n_negative_atoms, midl.n_positive_atoms];
    args.extend(sizes.iter().chain(&[midl.sparsity, midl.test_sparsity]).map(usize::to_string));
    args.extend([midl.orthogonality, midl.positives, midl.unit_length].map(|number| number.to_string()));
    args.extend([midl.n_iterations, midl.n_initial_rounds].map(|number| number.to_string()));
    args.extend([FIRST_WIDTH.to_string(), midl.seed.to_string()]);
    let script = include_str!("../peers/dict.py");
    let challenge = Challenge { script, args: &args, agreement: Agreement::NoWorse(NOISE) };
    one.install(|| alternate(name, ours, |fitted| cost(&midl, fitted), peer, &challenge)).map(|outcome| vec![outcome])
}

/// Digits with values from 0 to 1 instead of from -1 to 1.
fn digits(n_per_class: usize) -> Result<LabelledInstances, String> {
    let digits = DigitsParams { n_per_class, ..DigitsParams::default() };
    let digits = digits.generate().map_err(|error| error.to_string())?;
    let pixels = digits.instances().map(|value| 0.5 * (value + 1.0));
    LabelledInstances::new(pixels, digits.classes().to_vec(), digits.class_names().clone())
        .map_err(|error| error.to_string())
}

/// $\mathcal J$ after the last iteration.
fn cost(midl: &Midl, (_, trace): &(MidlModel, MidlTrace)) -> f64 {
    let last = trace.iterations.last().expect("there are iterations");
    last.after_selection.total(midl.positives, midl.orthogonality)
}

fn accuracy(model: &MidlModel, bags: &BagSet<Label>) -> Result<f64, String> {
    let predicted: Result<Vec<Label>, _> = bags.bags().map(|bag| model.predict(bag)).collect();
    Ok(metrics::accuracy(&predicted.map_err(|error| error.to_string())?, bags.labels()))
}

fn memory() -> String {
    peak_memory().map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.0} MiB", bytes / f64::from(1 << 20)))
}

/// Bags of each class at which a fit is timed.
const GROWTH: [usize; 4] = [25, 50, 100, 200];

/// A fit for different numbers of bags, the dictionaries as large as ever.
pub(crate) fn run_scale(_: &Peer) -> Result<Vec<Outcome>, String> {
    let pool_of_digits = digits(400)?;
    let one = pool(1)?;
    let mut outcomes: Vec<Outcome> = Vec::new();
    for n in GROWTH {
        let params = FromInstancesParams { n_positive: n, n_negative: n, seed: 1, ..FromInstancesParams::default() };
        let bags = params.generate(&pool_of_digits, DIGIT).map_err(|error| error.to_string())?;
        let midl = Midl { kernels: BaseKernels::Paper { first_width: FIRST_WIDTH }, ..Midl::default() };
        let (mut outcome, fitted) = one.install(|| once(String::new(), || midl.fit_traced(&bags)));
        fitted.map_err(|error| error.to_string())?;
        let growth = outcomes
            .last()
            .map_or_else(String::new, |last| format!(", exponent {:.2}", (outcome.ours[0] / last.ours[0]).log2()));
        outcome.name = format!(
            "MIDL, one digit of ten, {n} + {n} bags of {}, {} + {} atoms, {} iterations, one thread: peak memory {}{growth}",
            params.bag_size,
            midl.n_negative_atoms,
            midl.n_positive_atoms,
            midl.n_iterations,
            memory()
        );
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
