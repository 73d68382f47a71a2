//! Ten passes of MIO over Musk2 against the same in NumPy, and against a batch solve of MILES by HiGHS; a long stream in bounded memory, and how rounds grow with candidates.

use mil_core::{Bag, BagSet, Label, Learner, Tunable};
use mil_data::catalogue::musk2;
use mil_data::synth::FiveGaussiansParams;
use mil_kernels::{Centre, similarities_of, squared_distances_within};
use mil_mio::{Budget, Miles, Mio, MioStream, Order, Width};

use super::say;
use crate::contest::{Bench, Contest, Entry, Work};
use crate::curve::{Curve, Stopwatch, pool};
use crate::data::{self, BAG_SIZE};
use crate::duel::{Calls, Challenge, alone, alternate};
use crate::peer::Agreement;

pub(super) const DUELS: Contest = Contest {
    name: "mio",
    about: "ten passes of MIO over Musk2 against NumPy and against a batch solve of MILES by HiGHS; our MILES alone",
    notes: &[
        "All are given the distances; the same passes in NumPy give the same scores to nine digits. MILES is another problem over the same distances, so that its ratio compares times alone.",
        "The paper's Fig. 3d shows its own ratio as a picture, without numbers.",
    ],
    work: Work::Duels(duels),
};

pub(super) const GROWTH: Contest = Contest {
    name: "mio_growth",
    about: "how MIO on a stream grows with its bags, to a million, and with its budget of candidates",
    notes: &["Making the bags, a batch at a time, is off the clock."],
    work: Work::Curves(&[
        Curve {
            name: "mio_stream",
            title: "MIO stream of five Gaussians in the plane, budget of 500 candidates, any-time, one thread",
            unit: "bags",
            sizes: &[62_500, 125_000, 250_000, 500_000, 1_000_000],
            long_sizes: &[2_000_000],
            measure: measure_stream,
            peer: None,
        },
        Curve {
            name: "mio_budget",
            title: "20000 rounds of MIO on a stream whose budget is full, one thread",
            unit: "candidates",
            sizes: &[1000, 2000, 4000, 8000, 16_000],
            long_sizes: &[32_000],
            measure: measure_budget,
            peer: None,
        },
    ]),
};

pub(super) const MILES_GROWTH: Contest = Contest {
    name: "miles_growth",
    about: "how MILES grows with bags",
    notes: &["Similarities of all bags to all instances are on the clock."],
    work: Work::Curves(&[Curve {
        name: "miles",
        title: "MILES, bags of 10, 100 features, one thread",
        unit: "bags",
        sizes: &[25, 50, 100, 200, 400],
        long_sizes: &[800],
        measure: measure_miles,
        peer: None,
    }]),
};

/// The squared width at which MILES does well on Musk2.
const SIGMA2: f64 = 8e5;
const LAMBDA: f64 = 0.1;

fn duels(bench: &Bench, entry: &mut Entry) -> Result<(), String> {
    let bags = musk2();
    let peer = &bench.peer;
    let (n_instances, n_bags) = (bags.n_instances(), bags.n_bags());
    let mio = Mio { width: Width::Squared(SIGMA2), order: Order::AsGiven, ..Mio::default() };
    let miles = Miles { width: Width::Squared(SIGMA2), lambda: LAMBDA, ..Miles::default() };
    let of_mio = mio.values(&bags).map_err(say)?;
    let of_miles = miles.values(&bags).map_err(say)?;
    let mut squared = squared_distances_within(&bags, Centre::AllBags).map_err(say)?;
    let signs: Vec<f64> = bags.labels().iter().map(|label| label.sign()).collect();
    let sizes: Vec<f64> = bags.bags().map(|bag| bag.n_instances() as f64).collect();
    let distances_file = peer.give("musk2-distances.f64", squared.as_slice())?;
    let signs_file = peer.give("musk2-bag-signs.f64", &signs)?;
    let sizes_file = peer.give("musk2-bag-sizes.f64", &sizes)?;
    let one = pool(1)?;

    let numbers = [SIGMA2, mio.alpha0, mio.beta0, mio.bias].map(|number| number.to_string());
    let mut args = vec![distances_file, signs_file.clone(), sizes_file, n_instances.to_string()];
    args.extend(numbers);
    args.push(mio.n_passes.to_string());
    let challenge = Challenge {
        script: include_str!("../../peers/mio.py"),
        args: &args,
        agreement: Agreement::Same,
        total: None,
        calls: Calls::Many,
    };
    let name = format!("MIO, ten passes over the distances of Musk2, {n_bags} x {n_instances}, one thread");
    let total = |scores: &Vec<f64>| scores.iter().map(|score| score.abs()).sum::<f64>();
    let ours = || scores_of(&mio, &bags, &of_mio);
    entry.duels.push(one.install(|| alternate(name, ours, total, bench, &challenge))?);

    similarities_of(squared.as_mut_slice(), SIGMA2).map_err(say)?;
    let features_file = peer.give("musk2-miles.f64", squared.as_slice())?;
    let args = [features_file, signs_file, n_instances.to_string(), LAMBDA.to_string()];
    let challenge = Challenge {
        script: include_str!("../../peers/one_norm.py"),
        args: &args,
        agreement: Agreement::AnotherProblem,
        ..challenge
    };
    let name = format!("MIO, ten passes, against a batch solve of MILES, Musk2 {n_bags} x {n_instances}, one thread");
    entry.duels.push(one.install(|| alternate(name, ours, total, bench, &challenge))?);
    let name = format!("MILES over the distances of Musk2, {n_bags} x {n_instances}, one thread");
    entry.duels.push(one.install(|| alone(name, || scores_of(&miles, &bags, &of_miles), bench)));
    Ok(())
}

/// Fits on all bags over shared distances and scores them.
fn scores_of<L: Tunable>(learner: &L, bags: &BagSet<Label>, values: &L::Values<'_>) -> Vec<f64> {
    let all: Vec<usize> = (0..bags.n_bags()).collect();
    learner.held_out_scores(bags, values, &all, &all).expect("Musk2 suits both")
}

const BUDGET: usize = 500;
/// How many bags of a stream are in memory at a time.
const BATCH: usize = 10_000;

/// The whole stream.
fn measure_stream(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let mut game = Game::new(BUDGET)?;
    watch.data_are_ready();
    let mut seconds = 0.0;
    while game.n_played < n {
        seconds += game.play(BATCH.min(n - game.n_played))?;
    }
    watch.record(seconds);
    let remark =
        format!("{} of the last {BATCH} wrong, {} instances arrived", game.n_mistakes, game.stream.n_arrived());
    Ok((f64::NAN, Some(remark)))
}

/// What it takes to fill the budget is off the clock.
fn measure_budget(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let mut game = Game::new(n)?;
    while game.stream.n_candidates() < n {
        game.play(100)?;
    }
    watch.data_are_ready();
    let seconds = game.play(BATCH)? + game.play(BATCH)?;
    watch.record(seconds);
    Ok((f64::NAN, Some(format!("{:.1} µs a round", 1e6 * seconds / (2 * BATCH) as f64))))
}

/// A stream and the bags that it is given, made batch by batch.
struct Game {
    stream: MioStream,
    n_played: usize,
    /// Mistakes in the last batch.
    n_mistakes: usize,
}

impl Game {
    fn new(budget: usize) -> Result<Game, String> {
        let mio = Mio { width: Width::Squared(5.0), budget: Budget::Candidates(budget), ..Mio::default() };
        Ok(Game { stream: mio.stream(2, None).map_err(say)?, n_played: 0, n_mistakes: 0 })
    }

    /// Plays so many bags more; the seconds that rounds took.
    fn play(&mut self, n: usize) -> Result<f64, String> {
        let params = FiveGaussiansParams { n_positive: n / 2, n_negative: n - n / 2, seed: self.n_played as u64 };
        let bags = params.generate().map_err(say)?;
        self.n_mistakes = 0;
        let start = std::time::Instant::now();
        for t in 0..n {
            // Positive bags come first in the batch, alternate in the stream.
            let bag_idx = if t % 2 == 0 { n / 2 + t / 2 } else { t / 2 };
            let (bag, label): (Bag<'_>, Label) = (bags.bag(bag_idx), bags.labels()[bag_idx]);
            let round = self.stream.round(bag, label).map_err(say)?;
            self.n_mistakes += usize::from(round.is_mistake(label));
        }
        self.n_played += n;
        Ok(start.elapsed().as_secs_f64())
    }
}

fn measure_miles(n: usize, watch: &mut Stopwatch) -> Result<(f64, Option<String>), String> {
    let bags = data::bags(n * BAG_SIZE, data::HALF)?;
    watch.repeat(|| Miles::default().fit(&bags)).map_err(say)?;
    Ok((f64::NAN, None))
}
