//! Figures 2 and 3 of MIO: regret and sparsity on synthetic bags, accuracy and time against the number of passes on Musk.

use std::time::Instant;

use mil_core::stats::Summary;
use mil_core::{BagSet, FitError, Label, Split, StratifiedKFold, Target, Tunable};
use mil_data::synth::FiveGaussiansParams;
use mil_mio::{Account, Budget, Miles, Mio, Schedule, Selection, Width};
use rayon::prelude::*;

use crate::figure::{
    AxisSpec, Better, Comparison, Context, Drawing, Figure, Level, Panel, Point, Printed, Series, Style,
};
use crate::papers::Paper;

pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            id: "mio-fig2",
            title: "MIO on synthetic bags: average regret, and the share of candidates that it selects",
            paper: Paper::Mio,
            place: "Fig. 2",
            protocol: "Five Gaussians in the plane, 4000 + 4000 bags (400 + 400 in a quick run), five draws (three). Fixed: sigma^2 = 5, alpha0 = 0.05, beta0 = 0.2, C = 1, bias 1. The comparator is MILES on all bags with \
                       lambda = 1, a certified optimum, which knows every candidate from the first round on. Curves are means over the draws with 95 % intervals.",
            data: &[],
            optional: &[],
            code: &["mil-data", "mil-mio"],
            source: file!(),
            draw: draw_regret,
        },
        Figure {
            id: "mio-fig3",
            title: "MIO on Musk: accuracy and time against passes over the training bags",
            paper: Paper::Mio,
            place: "Fig. 3",
            protocol: "Fifteen runs of ten-fold cross-validation (three in a quick run). Fixed: sigma^2 = 0.1 of the median squared distance, alpha0 = 0.02, beta0 = 0.2, C = 1, bias 1; MILES with sigma^2 = 0.2 of the median and \
                       lambda = 0.2. Times are those of one thread on all bags, distances between instances and bags given, the median of seven.",
            data: &["musk1", "musk2"],
            optional: &[],
            code: &["mil-data", "mil-mio"],
            source: file!(),
            draw: draw_passes,
        },
    ]
}

const SIGMA2: f64 = 5.0;

/// The players of Fig. 2.
fn players() -> [(&'static str, Mio); 3] {
    let fixed = Mio { width: Width::Squared(SIGMA2), alpha0: 0.05, beta0: 0.2, ..Mio::default() };
    let any_time = Mio { schedule: Schedule::AnyTime, ..fixed.clone() };
    let budget = Mio { budget: Budget::Candidates(200), ..any_time.clone() };
    [("T known", fixed), ("any-time", any_time), ("any-time, 200 candidates", budget)]
}

/// What one draw of bags came to.
struct Draw {
    selection: Selection,
    n_instances: usize,
    accounts: Vec<Account>,
}

fn draw_regret(context: &Context<'_>) -> Result<Drawing, FitError> {
    let (n, n_draws) = if context.quick { (400, 3) } else { (4000, 5) };
    context.start(n_draws);
    let mut draws = Vec::new();
    for draw in 0..n_draws {
        let seed = context.seed.wrapping_add(draw as u64);
        let bags = FiveGaussiansParams { n_positive: n, n_negative: n, seed }.generate().expect("bags are asked for");
        let miles = Miles { width: Width::Squared(SIGMA2), lambda: 1.0, memory_mib: 4096, ..Miles::default() };
        let selection = miles.select(&bags)?;
        let accounts = players().iter().map(|(_, mio)| mio.account(&bags, &selection)).collect::<Result<_, _>>()?;
        draws.push(Draw { selection, n_instances: bags.n_instances(), accounts });
        context.step("bags drawn, selected and played");
    }
    let n_rounds = 2 * n;
    let at = positions(n_rounds);
    let curve = |name: &str, style: Style, value: &dyn Fn(&Draw, usize) -> f64| {
        let point = |&t: &usize| {
            let Summary { mean, half_width, .. } =
                Summary::of(&draws.iter().map(|draw| value(draw, t)).collect::<Vec<_>>());
            Point { x: t as f64, y: mean, half_width }
        };
        Series { name: name.to_owned(), style, points: at.iter().map(point).collect() }
    };
    let mut regrets = Vec::new();
    let mut shares = Vec::new();
    for (player, (name, _)) in players().iter().enumerate() {
        regrets.push(curve(name, Style::Line, &|draw, t| average_regret(&draw.accounts[player], t)));
        shares.push(curve(name, Style::Line, &|draw, t| {
            let account = &draw.accounts[player];
            // Before its first step a machine selects nothing, which a logarithm cannot show.
            account.n_selected[t - 1].max(1) as f64 / account.n_candidates[t - 1] as f64
        }));
    }
    regrets.push(curve("slope of -1/2", Style::Dashed, &|draw, t| {
        average_regret(&draw.accounts[0], n_rounds) * (n_rounds as f64 / t as f64).sqrt()
    }));
    let miles_share = mean(draws.iter().map(|draw| draw.selection.columns.len() as f64 / draw.n_instances as f64));
    let panels = vec![
        Panel {
            title: "a. average regret".to_owned(),
            x: AxisSpec::log("rounds T"),
            y: AxisSpec::log("loss of MIO less that of MILES, per round"),
            series: regrets,
            levels: Vec::new(),
        },
        Panel {
            title: "b. share of candidates with a weight".to_owned(),
            x: AxisSpec::log("rounds T"),
            y: AxisSpec::log("share of the candidates known"),
            series: shares,
            levels: vec![Level { name: "MILES".to_owned(), y: miles_share }],
        },
    ];
    let slope = Comparison {
        line: "MIO, T known".to_owned(),
        column: "slope of the average regret".to_owned(),
        runs: draws.iter().map(|draw| last_decade_slope(&draw.accounts[0], n_rounds)).collect(),
        // "The average regret of MIO decreases towards 0 at a rate of 1/sqrt(T)" (MIO §4.1).
        printed: Printed::tenths(-0.5),
        better: Better::Lower,
        not_comparable: context.quick.then(|| "the paper speaks of large T, and this is a quick run".to_owned()),
    };
    let findings = regret_findings(&draws, n_rounds);
    Ok(Drawing { panels, findings, comparisons: vec![slope], ..Drawing::default() })
}

/// $(R_T)/T$ against a comparator that knows all candidates.
fn average_regret(account: &Account, n_rounds: usize) -> f64 {
    account.regret_in_hindsight(n_rounds) / n_rounds as f64
}

fn regret_findings(draws: &[Draw], n_rounds: usize) -> Vec<String> {
    let mut findings = Vec::new();
    for (player, (name, _)) in players().iter().enumerate() {
        let slopes: Vec<f64> = draws.iter().map(|draw| last_decade_slope(&draw.accounts[player], n_rounds)).collect();
        let slope = Summary::of(&slopes);
        let regret = mean(draws.iter().map(|draw| average_regret(&draw.accounts[player], n_rounds)));
        findings.push(format!(
            "{name}: average regret {regret:.3} after {n_rounds} rounds; log-log slope over the last decade {:.2} (from {:.2} to {:.2} among the draws).",
            slope.mean,
            slopes.iter().copied().fold(f64::INFINITY, f64::min),
            slopes.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ));
    }
    // With a budget the bound is proved for comparators among the survivors only.
    let unlimited = players().map(|(_, mio)| mio.budget == Budget::Unlimited);
    let (mut n_checked, mut n_broken, mut n_broken_in_hindsight) = (0, 0, 0);
    for draw in draws {
        for (account, _) in draw.accounts.iter().zip(unlimited).filter(|(_, unlimited)| *unlimited) {
            for t in 1..=account.n_rounds() {
                n_checked += 1;
                n_broken += usize::from(account.regret(t) > account.bound[t - 1]);
                n_broken_in_hindsight += usize::from(account.regret_in_hindsight(t) > account.bound[t - 1]);
            }
        }
    }
    findings.push(format!(
        "The bound f_t(w) + sum |lambda_s|^2 / (2 beta_s) is exceeded in {n_broken} of {n_checked} rounds of the streams without a budget by the regret that it is proved for, and in {n_broken_in_hindsight} by the regret in hindsight."
    ));
    let tightest = draws.iter().map(|draw| draw.selection.certificate.worst()).fold(0.0, f64::max);
    let n_columns = mean(draws.iter().map(|draw| draw.selection.columns.len() as f64));
    findings
        .push(format!("MILES selects {n_columns:.0} instances on average; its certificates hold to {tightest:.0e}."));
    findings
}

/// Slope of the least-squares line through the logarithms of average regret and rounds, over the last tenfold of rounds.
fn last_decade_slope(account: &Account, n_rounds: usize) -> f64 {
    let points: Vec<(f64, f64)> = (n_rounds / 10..=n_rounds)
        .map(|t| ((t as f64).ln(), average_regret(account, t)))
        .filter(|(_, regret)| *regret > 0.0)
        .map(|(x, regret)| (x, regret.ln()))
        .collect();
    let (x, y) = (mean(points.iter().map(|point| point.0)), mean(points.iter().map(|point| point.1)));
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    covariance / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

/// Rounds to show: eight to a tenfold, from the tenth on.
fn positions(n_rounds: usize) -> Vec<usize> {
    let n_steps = (8.0 * (n_rounds as f64 / 10.0).log10()).floor() as i32;
    let mut positions: Vec<usize> =
        (0..=n_steps).map(|step| (n_rounds as f64 / 10_f64.powf(f64::from(step) / 8.0)).round() as usize).collect();
    positions.reverse();
    positions
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

const PASSES: [usize; 9] = [1, 2, 3, 4, 5, 7, 10, 15, 20];
/// Times taken of each fit; the median counts.
const N_TIMES: usize = 7;

fn draw_passes(context: &Context<'_>) -> Result<Drawing, FitError> {
    let n_repeats = if context.quick { 3 } else { 15 };
    let miles = Miles { lambda: 0.2, width: Width::OverMedian(0.2), ..Miles::default() };
    context.start(2 * (PASSES.len() + 1));
    let mut drawing = Drawing::default();
    for (data, name) in [("musk1", "Musk1"), ("musk2", "Musk2")] {
        let bags = context.bags(data);
        let folds = StratifiedKFold { n_folds: 10, n_repeats, seed: context.seed }.split(bags.labels())?;
        let (of_mio, of_miles) = (Mio::default().values(bags)?, miles.values(bags)?);
        let (mut accuracies, mut times) = (Vec::new(), Vec::new());
        for n_passes in PASSES {
            let mio = Mio { n_passes, ..Mio::default() };
            let accuracy = accuracy(&mio, bags, &of_mio, &folds, n_repeats)?;
            accuracies.push(Point {
                x: n_passes as f64,
                y: 100.0 * accuracy.mean,
                half_width: accuracy.half_width.map(|half| 100.0 * half),
            });
            times.push(Point::at(n_passes as f64, 1e3 * seconds(&mio, bags, &of_mio)?));
            context.step(&format!("{n_passes} passes over {data}"));
        }
        let by_miles = accuracy(&miles, bags, &of_miles, &folds, n_repeats)?;
        let miles_time = 1e3 * seconds(&miles, bags, &of_miles)?;
        context.step(&format!("MILES on {data}"));
        let ten = PASSES.iter().position(|n_passes| *n_passes == 10).expect("ten is among them");
        drawing.findings.push(format!(
            "{name}: {:.1} % after ten passes, MILES {:.1} %.",
            accuracies[ten].y,
            100.0 * by_miles.mean
        ));
        drawing.timed_findings.push(format!(
            "{name}: ten passes take {:.2} ms, MILES by column generation {miles_time:.2} ms, a ratio of {:.2}.",
            times[ten].y,
            times[ten].y / miles_time
        ));
        let line = |points| Series { name: "MIO".to_owned(), style: Style::Line, points };
        drawing.panels.push(Panel {
            title: format!("{name}: accuracy"),
            x: AxisSpec::linear("passes"),
            y: AxisSpec::linear("bags labelled right, %"),
            series: vec![line(accuracies)],
            levels: vec![Level { name: "MILES".to_owned(), y: 100.0 * by_miles.mean }],
        });
        drawing.timed.push(Panel {
            title: format!("{name}: time of a fit"),
            x: AxisSpec::linear("passes"),
            y: AxisSpec::linear("milliseconds"),
            series: vec![line(times)],
            levels: vec![Level { name: "MILES".to_owned(), y: miles_time }],
        });
    }
    Ok(drawing)
}

/// Share of bags labelled right while held out, over the repetitions.
fn accuracy<L: Tunable>(
    learner: &L,
    bags: &BagSet<Label>,
    values: &L::Values<'_>,
    folds: &[Split],
    n_repeats: usize,
) -> Result<Summary, FitError> {
    let n_right = |fold: &Split| -> Result<usize, FitError> {
        let scores = learner.held_out_scores(bags, values, &fold.train, &fold.test)?;
        let right = |(score, &bag_idx): (&f64, &usize)| Label::decide(score) == bags.labels()[bag_idx];
        Ok(scores.iter().zip(&fold.test).filter(|pair| right(*pair)).count())
    };
    let outcomes: Vec<Result<usize, FitError>> = folds.par_iter().map(n_right).collect();
    let counts: Vec<usize> = outcomes.into_iter().collect::<Result<_, _>>()?;
    let per_repeat =
        counts.chunks(folds.len() / n_repeats).map(|counts| counts.iter().sum::<usize>() as f64 / bags.n_bags() as f64);
    Ok(Summary::of(&per_repeat.collect::<Vec<_>>()))
}

/// The median time of a fit on all bags, on one thread.
fn seconds<L: Tunable + Sync>(learner: &L, bags: &BagSet<Label>, values: &L::Values<'_>) -> Result<f64, FitError> {
    let all: Vec<usize> = (0..bags.n_bags()).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had");
    let mut times = Vec::new();
    for _ in 0..N_TIMES {
        let start = Instant::now();
        pool.install(|| learner.held_out_scores(bags, values, &all, &all[..1]))?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[N_TIMES / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regret_like_the_root_of_the_rounds_has_slope_minus_one_half() {
        let loss: Vec<f64> = (1..=1000).map(|t| f64::from(t).sqrt()).collect();
        let account = Account { hindsight: vec![0.0; loss.len()], loss, ..Account::default() };
        assert!((last_decade_slope(&account, 1000) + 0.5).abs() < 1e-12);
    }

    #[test]
    fn positions_rise_from_about_the_tenth_round_to_the_last() {
        for n_rounds in [800, 8000] {
            let positions = positions(n_rounds);
            assert!(positions.windows(2).all(|pair| pair[0] < pair[1]));
            assert!((10..15).contains(&positions[0]) && positions.last() == Some(&n_rounds));
        }
    }
}
