//! Ten passes of MIO over Musk2 against the same in NumPy, and against a batch solve of MILES by HiGHS; a long stream in bounded memory, and how rounds grow with candidates.

use mil_core::{Bag, BagSet, Label, Tunable};
use mil_data::catalogue::musk2;
use mil_data::synth::FiveGaussiansParams;
use mil_kernels::{Centre, similarities_of, squared_distances_within};
use mil_mio::{Budget, Miles, Mio, MioStream, Order, Width};

use crate::contest::{Agreement, Challenge, Outcome, Peer, alone, alternate, once, peak_memory, pool};

/// The squared width at which MILES does well on Musk2.
const SIGMA2: f64 = 8e5;
const LAMBDA: f64 = 0.1;

pub(crate) fn run(peer: &Peer) -> Result<Vec<Outcome>, String> {
    let bags = musk2();
    let say = |error: &dyn std::fmt::Display| error.to_string();
    let (n_instances, n_bags) = (bags.n_instances(), bags.n_bags());
    let mio = Mio { width: Width::Squared(SIGMA2), order: Order::AsGiven, ..Mio::default() };
    let miles = Miles { width: Width::Squared(SIGMA2), lambda: LAMBDA, ..Miles::default() };
    let of_mio = mio.values(&bags).map_err(|error| say(&error))?;
    let of_miles = miles.values(&bags).map_err(|error| say(&error))?;
    let mut squared = squared_distances_within(&bags, Centre::AllBags).map_err(|error| say(&error))?;
    let signs: Vec<f64> = bags.labels().iter().map(|label| label.sign()).collect();
    let sizes: Vec<f64> = bags.bags().map(|bag| bag.n_instances() as f64).collect();
    let distances_file = peer.give("musk2-distances.f64", squared.as_slice())?.display().to_string();
    let signs_file = peer.give("musk2-bag-signs.f64", &signs)?.display().to_string();
    let sizes_file = peer.give("musk2-bag-sizes.f64", &sizes)?.display().to_string();
    let one = pool(1)?;

    let numbers = [SIGMA2, mio.alpha0, mio.beta0, mio.bias].map(|number| number.to_string());
    let mut args = vec![distances_file, signs_file.clone(), sizes_file, n_instances.to_string()];
    args.extend(numbers);
    args.push(mio.n_passes.to_string());
    let challenge = Challenge { script: include_str!("../peers/mio.py"), args: &args, agreement: Agreement::Same };
    let name = format!("MIO, ten passes over the distances of Musk2, {n_bags} x {n_instances}, one thread");
    let total = |scores: &Vec<f64>| scores.iter().map(|score| score.abs()).sum::<f64>();
    let ours = || scores_of(&mio, &bags, &of_mio);
    let passes = one.install(|| alternate(name, ours, total, peer, &challenge))?;

    similarities_of(squared.as_mut_slice(), SIGMA2).map_err(|error| say(&error))?;
    let features_file = peer.give("musk2-miles.f64", squared.as_slice())?.display().to_string();
    let args = [features_file, signs_file, n_instances.to_string(), LAMBDA.to_string()];
    let challenge =
        Challenge { script: include_str!("../peers/one_norm.py"), args: &args, agreement: Agreement::AnotherProblem };
    let name = format!("MIO, ten passes, against a batch solve of MILES, Musk2 {n_bags} x {n_instances}, one thread");
    let batch = one.install(|| alternate(name, ours, total, peer, &challenge))?;
    let name = format!("MILES over the distances of Musk2, {n_bags} x {n_instances}, one thread");
    let own_batch = one.install(|| alone(name, || scores_of(&miles, &bags, &of_miles)));
    Ok(vec![passes, batch, own_batch])
}

/// Fits on all bags over shared distances and scores them.
fn scores_of<L: Tunable>(learner: &L, bags: &BagSet<Label>, values: &L::Values<'_>) -> Vec<f64> {
    let all: Vec<usize> = (0..bags.n_bags()).collect();
    learner.held_out_scores(bags, values, &all, &all).expect("Musk2 suits both")
}

const BUDGET: usize = 500;
/// Bags of the long stream, and how many of them are in memory at a time.
const N_BAGS: usize = 1_000_000;
const BATCH: usize = 10_000;

/// A stream of a million bags in bounded memory, then the time of a round for different numbers of candidates.
pub(crate) fn run_stream(_: &Peer) -> Result<Vec<Outcome>, String> {
    let one = pool(1)?;
    let (mut outcome, played) = once(String::new(), || one.install(|| play_long(N_BAGS, BUDGET)));
    let (stream, last_mistakes, seconds) = played?;
    let memory =
        peak_memory().map_or_else(|| "unknown".to_owned(), |bytes| format!("{:.0} MiB", bytes / f64::from(1 << 20)));
    outcome.ours = vec![seconds];
    outcome.name = format!(
        "MIO stream of {N_BAGS} bags of five Gaussians, budget {BUDGET}, any-time, one thread: {:.0} bags a second, {} of the last {BATCH} wrong, {} instances arrived, peak memory {memory}",
        N_BAGS as f64 / seconds,
        last_mistakes,
        stream.n_arrived(),
    );
    let mut per_round = Vec::new();
    for budget in GROWTH {
        // What it takes to fill the budget is taken off.
        let (_, _, filling) = one.install(|| play_long(budget, budget))?;
        let (_, _, all) = one.install(|| play_long(budget + 2 * BATCH, budget))?;
        per_round.push((all - filling) / (2 * BATCH) as f64);
    }
    let (first, last) = (1, GROWTH.len() - 1);
    let exponent = (per_round[last] / per_round[first]).ln() / (GROWTH[last] as f64 / GROWTH[first] as f64).ln();
    let rounds: Vec<String> =
        GROWTH.iter().zip(&per_round).map(|(n, seconds)| format!("{n}: {:.1} µs", 1e6 * seconds)).collect();
    let name = format!(
        "MIO, one round by candidates, mean of {}, one thread: {}; exponent from {} on {exponent:.2}",
        2 * BATCH,
        rounds.join(", "),
        GROWTH[first]
    );
    Ok(vec![outcome, Outcome { name, ours: vec![per_round[last]], peer: None }])
}

/// Numbers of candidates at which a round is timed.
const GROWTH: [usize; 4] = [250, 1000, 4000, 16_000];

/// Plays so many bags, made batch by batch; how many of the last batch were wrong, and the seconds that rounds took.
fn play_long(n_bags: usize, budget: usize) -> Result<(MioStream, usize, f64), String> {
    let mio = Mio { width: Width::Squared(5.0), budget: Budget::Candidates(budget), ..Mio::default() };
    let mut stream = mio.stream(2, None).map_err(|error| error.to_string())?;
    let (mut n_mistakes, mut seconds, mut n_played) = (0, 0.0, 0);
    while n_played < n_bags {
        let n = BATCH.min(n_bags - n_played);
        let params = FiveGaussiansParams { n_positive: n / 2, n_negative: n - n / 2, seed: n_played as u64 };
        let bags = params.generate().map_err(|error| error.to_string())?;
        n_mistakes = 0;
        let start = std::time::Instant::now();
        for t in 0..n {
            // Positive bags come first in the batch, alternate in the stream.
            let bag_idx = if t % 2 == 0 { n / 2 + t / 2 } else { t / 2 };
            let (bag, label): (Bag<'_>, Label) = (bags.bag(bag_idx), bags.labels()[bag_idx]);
            let round = stream.round(bag, label).map_err(|error| error.to_string())?;
            n_mistakes += usize::from(round.is_mistake(label));
        }
        seconds += start.elapsed().as_secs_f64();
        n_played += n;
    }
    Ok((stream, n_mistakes, seconds))
}
