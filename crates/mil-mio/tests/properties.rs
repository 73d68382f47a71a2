//! What theory promises of the game, of MILES and of their models.

use mil_core::model_file::{SavedModel, decode, encode};
use mil_core::{Bag, BagModel, BagSet, FitError, Label, Learner, ParamField, Params, ScoreError, Tunable};
use mil_data::synth::FiveGaussiansParams;
use mil_mio::{Budget, Miles, Mio, MioStream, Order, Revisit, Schedule, Selection, Width};
use mil_testkit::strategies::{Flavour, bag_sets_of};
use proptest::prelude::*;

/// The paper's synthetic bags, shuffled.
fn five_gaussians(n_bags: usize, seed: u64) -> BagSet<Label> {
    let n_positive = n_bags / 2;
    let bags = FiveGaussiansParams { n_positive, n_negative: n_bags - n_positive, seed }.generate().unwrap();
    // Positive bags come first; a stride that shares no factor with their number mixes them.
    let stride = (1..).map(|k| 7 * k + 1).find(|stride| gcd(*stride, n_bags) == 1).unwrap();
    bags.select(&(0..n_bags).map(|t| t * stride % n_bags).collect::<Vec<_>>())
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A stream as a file gives it back.
fn saved_and_loaded(stream: &MioStream) -> MioStream {
    decode(&encode(stream, &[]).expect("a stream encodes")).expect("and decodes")
}

fn small_sets() -> impl Strategy<Value = BagSet<Label>> {
    prop::sample::select(vec![Flavour::Plain, Flavour::Ties, Flavour::Duplicates, Flavour::SingleInstances])
        .prop_flat_map(|flavour| bag_sets_of(flavour, 3))
}

fn games() -> impl Strategy<Value = Mio> {
    (
        prop::sample::select(vec![0.5, 4.0, 50.0]),
        prop::sample::select(vec![0.0, 0.01, 0.1]),
        prop::sample::select(vec![0.02, 0.2, 2.0]),
        prop::sample::select(vec![0.0, 1.0]),
        prop::sample::select(vec![0.05, 1.0, 3.0]),
        any::<bool>(),
    )
        .prop_map(|(sigma2, alpha0, beta0, bias, positive_penalty, any_time)| Mio {
            width: Width::Squared(sigma2),
            alpha0,
            beta0,
            bias,
            positive_penalty,
            schedule: if any_time { Schedule::AnyTime } else { Schedule::Fixed },
            ..Mio::default()
        })
}

/// A stream over all bags of a set.
fn stream_over(mio: &Mio, bags: &BagSet<Label>) -> MioStream {
    let horizon = (mio.schedule == Schedule::Fixed).then_some(bags.n_bags() as u64);
    mio.stream(bags.n_features(), horizon).unwrap()
}

proptest! {
    #[test]
    fn no_round_lowers_the_dual_objective(mio in games(), bags in small_sets()) {
        let mut stream = mio.stream(bags.n_features(), Some(bags.n_bags() as u64)).unwrap();
        let mut last = 0.0;
        for (bag, &label) in bags.bags().zip(bags.labels()) {
            let round = stream.round(bag, label).unwrap();
            let now = stream.dual_objective();
            prop_assert!(now >= last - 1e-12 * (1.0 + now.abs()), "{last}, then {now}");
            // Where there is a loss, it rises by at least what the proof of the bound needs.
            let (_, beta) = stream.regularisers();
            let owed = round.loss - round.subgradient / (2.0 * beta);
            prop_assert!(now - last >= owed - 1e-9 * (1.0 + owed.abs()), "rose by {}, owed {owed}", now - last);
            last = now;
        }
    }

    #[test]
    fn the_margin_after_a_step_is_one_or_the_step_is_at_a_bound(mio in games(), bags in small_sets()) {
        let mut stream = mio.stream(bags.n_features(), Some(bags.n_bags() as u64)).unwrap();
        for (bag, &label) in bags.bags().zip(bags.labels()) {
            let predicted = stream.score(bag).unwrap();
            let round = stream.round(bag, label).unwrap();
            prop_assert_eq!(predicted.to_bits(), round.score.to_bits(), "prediction and round");
            let penalty = if label == Label::Positive { mio.positive_penalty } else { mio.negative_penalty };
            let margin = label.sign() * stream.score(bag).unwrap();
            if round.step == 0.0 {
                prop_assert!(round.loss < 1e-12 && margin > 1.0 - 1e-12);
            } else if round.step < penalty {
                prop_assert!((margin - 1.0).abs() < 1e-7, "margin {margin} after {round:?}");
            } else {
                prop_assert!(round.step == penalty && margin < 1.0 + 1e-7, "margin {margin} after {round:?}");
            }
        }
    }

    #[test]
    fn the_bound_holds_after_every_round(mio in games(), bags in small_sets(), lambda in prop::sample::select(vec![0.01, 0.3])) {
        let Width::Squared(sigma2) = mio.width else { unreachable!("no median here") };
        let miles = Miles { width: Width::Squared(sigma2), lambda, has_bias: mio.bias > 0.0, ..Miles::default() };
        let mut comparators = vec![miles.select(&bags).unwrap()];
        // Any weights will do: a single instance, and all of them.
        let any = |columns: Vec<usize>, weight: f64| {
            let weights = columns.iter().map(|column| if column % 2 == 0 { weight } else { -weight }).collect();
            Selection { columns, weights, bias: 0.0, ..comparators[0].clone() }
        };
        let more = [any(vec![0], 2.0), any((0..bags.n_instances()).collect(), 0.1)];
        comparators.extend(more);
        for comparator in &comparators {
            let account = mio.account(&bags, comparator).unwrap();
            prop_assert_eq!(account.n_rounds(), bags.n_bags());
            for n_rounds in 1..=bags.n_bags() {
                let (regret, bound) = (account.regret(n_rounds), account.bound[n_rounds - 1]);
                prop_assert!(regret <= bound + 1e-9 * (1.0 + bound.abs()), "{regret} after {n_rounds} rounds, bound {bound}");
            }
        }
    }

    #[test]
    fn under_a_budget_the_bound_holds_against_survivors(
        mio in games(),
        bags in bag_sets_of(Flavour::Plain, 6),
        budget in 2..12_usize,
        weight in -3.0..3.0_f64,
    ) {
        let mio = Mio { budget: Budget::Candidates(budget), order: Order::AsGiven, ..mio };
        let mut stream = stream_over(&mio, &bags);
        for (bag, &label) in bags.bags().zip(bags.labels()) {
            stream.round(bag, label).unwrap();
        }
        // Those with a weight in the end have survived; no two instances are equal here.
        let column_of = |concept: &[f64]| bags.instances().column_iter().position(|x| x.as_slice() == concept).unwrap();
        let columns: Vec<usize> = stream.model().concepts().map(|(concept, _)| column_of(concept)).collect();
        let Width::Squared(sigma2) = mio.width else { unreachable!("no median here") };
        let certificate = Miles { width: mio.width, ..Miles::default() }.select(&bags).unwrap().certificate;
        for factor in [0.0, 1.0] {
            // What the stream ended with, and weights that have nothing to do with it.
            let weights = stream.model().concepts().map(|(_, own)| factor * own + (1.0 - factor) * weight).collect();
            let comparator = Selection { sigma2, columns: columns.clone(), weights, bias: 0.0, certificate };
            let account = mio.account(&bags, &comparator).unwrap();
            for t in 1..=account.n_rounds() {
                let (regret, bound) = (account.regret(t), account.bound[t - 1]);
                prop_assert!(regret <= bound + 1e-9 * (1.0 + bound.abs()), "{regret} after {t} rounds, bound {bound}");
            }
        }
    }

    #[test]
    fn penalties_and_regularisers_in_proportion_give_the_same_weights(mio in games(), bags in small_sets()) {
        let scaled = Mio {
            alpha0: 4.0 * mio.alpha0,
            beta0: 4.0 * mio.beta0,
            positive_penalty: 4.0 * mio.positive_penalty,
            negative_penalty: 4.0 * mio.negative_penalty,
            ..mio.clone()
        };
        let scores = |mio: &Mio| mio.fit(&bags).unwrap().scores(&bags).unwrap();
        prop_assert_eq!(scores(&scaled), scores(&mio));
    }

    #[test]
    fn a_stream_that_stops_and_resumes_is_one_stream(
        mio in games(),
        bags in small_sets(),
        budget in prop::sample::select(vec![Budget::Unlimited, Budget::Candidates(1), Budget::Candidates(4)]),
        cut in any::<prop::sample::Index>(),
    ) {
        let mio = Mio { budget, ..mio };
        let (mut whole, mut split) = (stream_over(&mio, &bags), stream_over(&mio, &bags));
        let cut = cut.index(bags.n_bags() + 1);
        for (t, (bag, &label)) in bags.bags().zip(bags.labels()).enumerate() {
            if t == cut {
                split = saved_and_loaded(&split);
            }
            prop_assert_eq!(whole.round(bag, label).unwrap(), split.round(bag, label).unwrap());
        }
        prop_assert_eq!(encode(&whole, &[]).unwrap(), encode(&split, &[]).unwrap());
    }

    #[test]
    fn scores_over_shared_distances_are_those_of_a_fit(mio in games(), bags in small_sets()) {
        let n = bags.n_bags();
        let (train, test): (Vec<usize>, Vec<usize>) = (0..n).partition(|idx| idx % 3 != 2);
        prop_assume!(bags.select(&train).require_both_classes().is_ok());
        let agree = |found: Vec<f64>, expected: Vec<f64>| found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6 * (1.0 + b.abs()));
        for revisit in [Revisit::Round, Revisit::Replace] {
            let mio = Mio { revisit, n_passes: 3, ..mio.clone() };
            let found = mio.held_out_scores(&bags, &mio.values(&bags).unwrap(), &train, &test).unwrap();
            let expected = mio.fit(&bags.select(&train)).unwrap().scores(&bags.select(&test)).unwrap();
            prop_assert!(agree(found.clone(), expected.clone()), "{found:?}, fitted {expected:?}");
        }
        // A median is that of the training part alone; here it may be 0.
        let over_median = Mio { width: Width::OverMedian(0.7), n_passes: 2, ..mio };
        let found = over_median.held_out_scores(&bags, &over_median.values(&bags).unwrap(), &train, &test);
        match over_median.fit(&bags.select(&train)) {
            Ok(model) => prop_assert!(agree(found.unwrap(), model.scores(&bags.select(&test)).unwrap())),
            Err(error) => prop_assert_eq!(found.unwrap_err().to_string(), error.to_string()),
        }
    }

    #[test]
    fn every_selection_is_certified(mio in games(), bags in small_sets(), has_bias in any::<bool>(), lambda in prop::sample::select(vec![0.01, 0.2, 1.0])) {
        let miles = Miles { width: mio.width, has_bias, lambda, ..Miles::default() };
        let certificate = miles.select(&bags).unwrap().certificate;
        prop_assert!(certificate.holds(1e-7), "{certificate:?}");
        prop_assert_eq!(miles.fit(&bags).unwrap().defect(), Some(certificate.worst()));
        prop_assert_eq!(mio.fit(&bags).unwrap().defect(), None);
    }

    #[test]
    fn contributions_add_up_to_the_score(mio in games(), bags in small_sets()) {
        let models = [mio.fit(&bags).unwrap(), Miles { width: mio.width, ..Miles::default() }.fit(&bags).unwrap()];
        for model in &models {
            let scale: f64 = 1.0 + model.bias().abs() + model.concepts().map(|(_, weight)| weight.abs()).sum::<f64>();
            for bag in bags.bags() {
                let contributions = model.contributions(bag).unwrap();
                let total: f64 = contributions.values.iter().sum::<f64>() + model.bias();
                prop_assert!((total - model.score(bag).unwrap()).abs() <= 1e-12 * scale);
                let scores = model.instance_scores(bag).unwrap().expect("instances are scored");
                let of_those = scores.iter().zip(&contributions.has_say).filter(|(_, has_say)| **has_say);
                if contributions.has_say.contains(&true) {
                    prop_assert!((of_those.map(|(score, _)| score).sum::<f64>() - total).abs() <= 1e-12 * scale);
                }
            }
        }
    }

    #[test]
    fn a_budget_is_kept_and_the_least_worthy_go(mio in games(), bags in small_sets(), budget in 1..6_usize) {
        let mut stream = stream_over(&Mio { budget: Budget::Candidates(budget), ..mio }, &bags);
        // Worth by the definition: |v| for the root of the age; the oldest of equals first.
        let mut ages: Vec<f64> = Vec::new();
        for (bag, &label) in bags.bags().zip(bags.labels()) {
            // The same round without a budget tells what each would have had.
            let before = stream.clone();
            let round = stream.round(bag, label).unwrap();
            prop_assert!(stream.n_candidates() <= budget);
            ages.iter_mut().for_each(|age| *age += 1.0);
            ages.resize(before.n_candidates() + bag.n_instances(), 1.0);
            let mut generous = before.with_budget(Budget::Unlimited).unwrap();
            prop_assert_eq!(generous.round(bag, label).unwrap(), round);
            let mut ranked: Vec<(f64, f64, usize)> =
                generous.dual().iter().zip(&ages).enumerate().map(|(at, (v, age))| (v * v / age, -age, at)).collect();
            ranked.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let mut kept: Vec<f64> = ranked[ages.len() - stream.n_candidates()..].iter().map(|&(_, _, at)| generous.dual()[at]).collect();
            let mut found = stream.dual().to_vec();
            kept.sort_by(f64::total_cmp);
            found.sort_by(f64::total_cmp);
            prop_assert_eq!(found, kept);
            // Ages follow their candidates as the last one takes the place of one that goes.
            let mut gone: Vec<usize> = ranked[..ages.len() - stream.n_candidates()].iter().map(|&(_, _, at)| at).collect();
            gone.sort_unstable_by(|a, b| b.cmp(a));
            gone.into_iter().for_each(|at| { ages.swap_remove(at); });
        }
    }
}

/// Bags enough for their similarities not to fit into a MiB.
fn many_bags() -> BagSet<Label> {
    five_gaussians(300, 1)
}

#[test]
fn similarities_kept_or_computed_anew_make_no_difference() {
    let bags = many_bags();
    for revisit in [Revisit::Round, Revisit::Replace] {
        let kept = Mio { width: Width::Squared(5.0), n_passes: 3, revisit, ..Mio::default() };
        let anew = Mio { memory_mib: 1, ..kept.clone() };
        let ((a, trace_a), (b, trace_b)) = (kept.fit_traced(&bags).unwrap(), anew.fit_traced(&bags).unwrap());
        assert_eq!(encode(&a, &[]).unwrap(), encode(&b, &[]).unwrap());
        assert_eq!(trace_a, trace_b);
    }
}

#[test]
fn a_budget_that_is_never_reached_makes_no_difference() {
    let bags = five_gaussians(60, 2);
    let unlimited = Mio { width: Width::Squared(5.0), n_passes: 2, ..Mio::default() };
    let ample = Mio { budget: Budget::Candidates(bags.n_instances()), ..unlimited.clone() };
    let tight = Mio { budget: Budget::Candidates(20), ..unlimited.clone() };
    let bytes = |mio: &Mio| encode(&mio.fit(&bags).unwrap(), &[]).unwrap();
    assert_eq!(bytes(&ample), bytes(&unlimited));
    assert!(tight.fit(&bags).unwrap().n_concepts() <= 20);
}

#[test]
fn passes_that_replace_their_steps_close_the_duality_gap() {
    // min f(w) + sum of hinge losses, from the model's own scores, against the dual objective of the fit.
    let bags = five_gaussians(40, 3);
    let gap = |n_passes: usize| {
        // The elastic net grows with the root of the rounds; here it is to be the same for any number of passes.
        let root = ((n_passes * bags.n_bags()) as f64).sqrt();
        let (alpha, beta) = (0.3, 1.5);
        let mio = Mio {
            width: Width::Squared(5.0),
            alpha0: alpha / root,
            beta0: beta / root,
            n_passes,
            revisit: Revisit::Replace,
            ..Mio::default()
        };
        let (model, trace) = mio.fit_traced(&bags).unwrap();
        let norm: f64 = model.concepts().map(|(_, weight)| weight.abs()).sum();
        let squares: f64 =
            model.concepts().map(|(_, weight)| weight * weight).sum::<f64>() + model.bias() * model.bias();
        let losses: f64 = bags
            .bags()
            .zip(bags.labels())
            .map(|(bag, label)| (1.0 - label.sign() * model.score(bag).unwrap()).max(0.0))
            .sum();
        (alpha * norm + 0.5 * beta * squares + losses - trace.dual_objective) / trace.dual_objective
    };
    let (early, late) = (gap(5), gap(2000));
    assert!(early > 1e-3 && (-1e-9..1e-5).contains(&late), "relative gap {early} after 5 passes, {late} after 2000");
}

#[test]
fn a_bag_that_is_refused_leaves_the_stream_as_it_was() {
    let bags = five_gaussians(10, 4);
    let mut stream =
        Mio { width: Width::Squared(5.0), budget: Budget::Candidates(8), ..Mio::default() }.stream(2, None).unwrap();
    bags.bags().zip(bags.labels()).for_each(|(bag, &label)| {
        stream.round(bag, label).unwrap();
    });
    let before = encode(&stream, &[]).unwrap();
    let wide = Bag::new("wide", 3, &[0.0; 3]).unwrap();
    let huge = Bag::new("huge", 2, &[1e200, 0.0]).unwrap();
    assert!(matches!(stream.round(wide, Label::Positive), Err(ScoreError::Dimension { found: 3, expected: 2, .. })));
    for outcome in [stream.round(huge, Label::Positive), stream.again(huge, Label::Positive)] {
        assert!(matches!(outcome, Err(ScoreError::Overflow { .. })), "{outcome:?}");
    }
    assert_eq!(encode(&stream, &[]).unwrap(), before);
    assert!(stream.round(bags.bag(0), Label::Positive).is_ok());
}

#[test]
fn parameters_that_make_no_sense_are_refused_with_a_remedy() {
    let bags = five_gaussians(20, 5);
    let said = |error: FitError| error.to_string();
    let replace = Mio { revisit: Revisit::Replace, budget: Budget::Candidates(5), ..Mio::default() };
    assert!(said(replace.fit(&bags).unwrap_err()).contains("lift the budget"));
    assert!(
        said(replace.held_out_scores(&bags, &Mio::default().values(&bags).unwrap(), &[0, 1], &[2]).unwrap_err())
            .contains("lift the budget")
    );
    assert!(said(Mio::default().stream(2, None).unwrap_err()).contains("state the width itself"));
    let stated = Mio { width: Width::Squared(1.0), ..Mio::default() };
    assert!(said(stated.stream(0, None).unwrap_err()).contains("number of features is 0"));
    assert!(said(stated.stream(2, Some(0)).unwrap_err()).contains("horizon is 0"));
    assert!(
        said(Mio { width: Width::Squared(f64::NAN), ..Mio::default() }.fit(&bags).unwrap_err())
            .contains("width is NaN")
    );
    assert!(
        said(Mio { budget: Budget::Candidates(0), ..stated.clone() }.fit(&bags).unwrap_err()).contains("budget is 0")
    );
    assert!(said(Mio { beta0: 0.0, ..stated.clone() }.fit(&bags).unwrap_err()).contains("beta0 is 0"));
    assert!(
        said(Miles { memory_mib: 1, ..Miles::default() }.select(&many_bags()).unwrap_err()).contains("memory_mib is 1")
    );
    assert!(
        said(Miles { memory_mib: 1, ..Miles::default() }.values(&many_bags()).unwrap_err()).contains("memory_mib is 1")
    );

    let mut twins = BagSet::builder();
    twins.bag("p", Label::Positive, [[1.0], [1.0]]).unwrap().bag("n", Label::Negative, [[1.0]]).unwrap();
    let twins = twins.build().unwrap();
    for error in [Mio::default().fit(&twins).unwrap_err(), Miles::default().fit(&twins).unwrap_err()] {
        assert!(said(error).contains("median squared distance between instances is 0"));
    }
    let biased = Miles::default().select(&bags).unwrap();
    assert!(said(Mio { bias: 0.0, ..stated }.account(&bags, &biased).unwrap_err()).contains("give the game a bias"));
}

#[test]
fn words_of_parameters_read_back() {
    for (name, words) in [
        ("width", &["2.5", "median*0.1"][..]),
        ("schedule", &["fixed", "any-time"]),
        ("revisit", &["round", "replace"]),
        ("order", &["shuffled", "cyclic", "as-given"]),
        ("budget", &["unlimited", "500"]),
    ] {
        for word in words {
            let mut mio = Mio::default();
            mio.set(name, word).unwrap();
            assert_eq!(mio.get(name).as_deref(), Some(*word));
        }
    }
    for (name, word) in [("width", "median"), ("width", "-1"), ("budget", "0"), ("budget", "none"), ("order", "random")]
    {
        assert!(Mio::default().set(name, word).is_err(), "{name}={word}");
    }
    assert_eq!(Width::parse("median*0.1"), Some(Width::OverMedian(0.1)));
}

#[test]
fn streams_and_models_that_are_not_sound_do_not_load() {
    let bags = five_gaussians(6, 6);
    let mut stream = Mio { width: Width::Squared(5.0), ..Mio::default() }.stream(2, Some(6)).unwrap();
    bags.bags().zip(bags.labels()).for_each(|(bag, &label)| {
        stream.round(bag, label).unwrap();
    });
    let bytes = encode(&stream, &[]).unwrap();
    assert!(decode::<MioStream>(&bytes).is_ok());
    let sound = serde_json::to_value(&stream).unwrap();
    assert!(serde_json::from_value::<MioStream>(sound.clone()).unwrap().check().is_ok());
    for (path, value) in [
        ("/dual/n_rounds", serde_json::json!(u64::MAX)),
        ("/dual/n_rounds", serde_json::json!(1)), // candidates that arrived later
        ("/dual/values/0", serde_json::json!(1e300)),
        ("/dual/values", serde_json::json!([0.0])),
        ("/dual/bias", serde_json::json!(-1e31)),
        ("/arrivals/0", serde_json::json!(0)),
        ("/n_arrived", serde_json::json!(u64::MAX)),
        ("/budget", serde_json::json!(0)),
        ("/rules/growth/beta0", serde_json::json!(0.0)),
        ("/rules/growth/alpha0", serde_json::json!(-1.0)),
        ("/rules/positive_penalty", serde_json::json!(0.0)),
        ("/rules/bias", serde_json::json!(1e13)),
    ] {
        let mut damaged = sound.clone();
        *damaged.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        assert!(serde_json::from_value::<MioStream>(damaged).unwrap().check().is_err(), "{path}");
    }
    // A stream is no model, and the other way round.
    assert!(decode::<mil_mio::EmbeddingModel>(&bytes).is_err());
    assert!(decode::<MioStream>(&encode(&stream.model(), &[]).unwrap()).is_err());
}

#[test]
fn as_given_keeps_the_order_and_a_seed_fixes_the_others() {
    let bags = five_gaussians(40, 7);
    let fit = |order, seed| {
        encode(&Mio { width: Width::Squared(5.0), order, seed, ..Mio::default() }.fit(&bags).unwrap(), &[]).unwrap()
    };
    assert_eq!(fit(Order::AsGiven, 1), fit(Order::AsGiven, 2));
    for order in [Order::Shuffled, Order::Cyclic] {
        assert_eq!(fit(order, 1), fit(order, 1));
        assert_ne!(fit(order, 1), fit(order, 2));
    }
    assert_ne!(fit(Order::Shuffled, 1), fit(Order::Cyclic, 1));
}

#[test]
fn a_heavy_price_selects_nothing() {
    let bags = five_gaussians(40, 8);
    let model = Miles { lambda: 1e6, ..Miles::default() }.fit(&bags).unwrap();
    assert_eq!(model.n_concepts(), 0);
    let score = model.score(bags.bag(0)).unwrap();
    assert!(bags.bags().all(|bag| model.score(bag).unwrap() == score));
    let n = bags.bag(0).n_instances();
    assert_eq!(model.instance_scores(bags.bag(0)).unwrap().unwrap(), vec![score / n as f64; n]);
}

#[test]
fn miles_over_shared_distances_is_miles() {
    // On real data the optimum is unique.
    let bags = mil_data::catalogue::musk1();
    let (train, test): (Vec<usize>, Vec<usize>) = (0..bags.n_bags()).partition(|idx| idx % 5 != 2);
    for has_bias in [false, true] {
        let miles = Miles { has_bias, ..Miles::default() };
        let found = miles.held_out_scores(&bags, &miles.values(&bags).unwrap(), &train, &test).unwrap();
        let expected = miles.fit(&bags.select(&train)).unwrap().scores(&bags.select(&test)).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{found}, fitted {expected}");
        }
    }
}

#[test]
fn a_search_needs_no_more_memory_than_a_fit() {
    let bags = many_bags();
    let plain = Mio { width: Width::Squared(5.0), n_passes: 2, ..Mio::default() };
    let (train, test): (Vec<usize>, Vec<usize>) = (0..bags.n_bags()).partition(|idx| idx % 3 != 0);
    let scores = |mio: &Mio| mio.held_out_scores(&bags, &mio.values(&bags).unwrap(), &train, &test).unwrap();
    let little = Mio { memory_mib: 1, ..plain.clone() };
    assert!(plain.values(&bags).unwrap().is_some() && little.values(&bags).unwrap().is_none());
    assert!(!plain.shares_values(&little));
    let (ample, tight) = (scores(&plain), scores(&little));
    assert!(ample.iter().zip(&tight).all(|(a, b)| (a - b).abs() < 1e-9));
    assert!(scores(&Mio { budget: Budget::Candidates(10), ..plain }).iter().all(|score| score.is_finite()));
}

#[test]
fn a_bag_that_comes_again_keeps_the_budget_too() {
    let bags = five_gaussians(10, 9);
    let mut stream = Mio { width: Width::Squared(5.0), ..Mio::default() }.stream(2, None).unwrap();
    for (bag, &label) in bags.bags().zip(bags.labels()) {
        stream.round(bag, label).unwrap();
    }
    assert!(stream.n_candidates() > 2 && stream.clone().with_budget(Budget::Candidates(0)).is_err());
    let mut stream = stream.with_budget(Budget::Candidates(2)).unwrap();
    stream.again(bags.bag(0), bags.labels()[0]).unwrap();
    assert_eq!(stream.n_candidates(), 2);
}

#[test]
fn instances_are_scored_by_the_round_to_come_as_their_bag_is() {
    // The net of an any-time stream grows with every round, so that the last one gives other scores.
    let bags = five_gaussians(20, 10);
    let mut stream = Mio { width: Width::Squared(5.0), ..Mio::default() }.stream(2, None).unwrap();
    for (bag, &label) in bags.bags().zip(bags.labels()) {
        stream.round(bag, label).unwrap();
    }
    let mut n_compared = 0;
    for bag in bags.bags() {
        let total: f64 = stream.instance_scores(bag).unwrap().unwrap().iter().sum();
        // Where all instances have a say, their scores add up to that of the bag.
        if stream.model().contributions(bag).unwrap().has_say.iter().all(|has_say| *has_say) {
            assert!((total - stream.score(bag).unwrap()).abs() < 1e-12);
            assert!((total - stream.model().score(bag).unwrap()).abs() > 1e-6);
            n_compared += 1;
        }
    }
    assert!(n_compared > 5, "{n_compared} bags");
}

#[test]
fn absurd_sizes_are_refused_before_memory_is_asked_for() {
    let mio = Mio { width: Width::Squared(1.0), ..Mio::default() };
    assert!(mio.stream(usize::MAX, None).unwrap_err().to_string().contains("number of features"));
    assert!(
        Mio { n_passes: usize::MAX, ..mio }.fit(&five_gaussians(6, 1)).unwrap_err().to_string().contains("n_passes")
    );
}
