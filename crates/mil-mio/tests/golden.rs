//! Agreement with `fixtures/golden/mio_stream.json` and `miles.json`: every score, loss and step of six streams, and the optima of MILES.

use mil_core::{Bag, BagModel, BagSet, Label, Learner};
use mil_mio::{EmbeddingModel, Miles, Mio, MioStream, Order, Revisit, Round, Schedule, Width};
use mil_testkit::golden::{number, numbers, read};
use serde_json::Value;

fn label(value: &Value) -> Label {
    if number(value) > 0.0 { Label::Positive } else { Label::Negative }
}

/// The bags of a file, all or those of a list of positions.
fn bags_of(golden: &Value, wanted: Option<&Value>) -> BagSet<Label> {
    let all = golden["bags"].as_array().unwrap();
    let positions =
        wanted.map_or((0..all.len()).collect(), |list| numbers(list).iter().map(|&at| at as usize).collect::<Vec<_>>());
    let mut builder = BagSet::builder();
    for at in positions {
        let instances = all[at].as_array().unwrap().iter().map(numbers);
        builder.bag(at.to_string(), label(&golden["labels"][at]), instances).expect("a proper bag");
    }
    builder.build().expect("a proper set")
}

fn close(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * (1.0 + expected.abs())
}

fn learner_of(case: &Value) -> Mio {
    Mio {
        width: Width::Squared(number(&case["sigma2"])),
        alpha0: number(&case["alpha0"]),
        beta0: number(&case["beta0"]),
        bias: number(&case["bias"]),
        positive_penalty: number(&case["C_pos"]),
        negative_penalty: number(&case["C_neg"]),
        n_passes: number(&case["passes"]) as usize,
        schedule: if case["horizon"].is_null() { Schedule::AnyTime } else { Schedule::Fixed },
        revisit: if case["mode"] == "dca" { Revisit::Replace } else { Revisit::Round },
        order: Order::AsGiven,
        ..Mio::default()
    }
}

/// The rounds of a stream whose later passes are new rounds.
fn play(mut stream: MioStream, bags: &BagSet<Label>, n_passes: usize) -> (MioStream, Vec<Round>) {
    let mut rounds = Vec::new();
    for pass in 0..n_passes {
        for (bag, &label) in bags.bags().zip(bags.labels()) {
            let round = if pass == 0 { stream.round(bag, label) } else { stream.again(bag, label) };
            rounds.push(round.expect("finite"));
        }
    }
    (stream, rounds)
}

#[test]
fn streams_agree_round_by_round() {
    let golden = read(include_str!("../../../fixtures/golden/mio_stream.json"));
    let tolerance = number(&golden["tolerance"]);
    let test_bags = bags_of(&golden, Some(&golden["test"]));
    for case in golden["streams"].as_array().unwrap() {
        let bags = bags_of(&golden, Some(&case["order"]));
        let learner = learner_of(case);
        let assert_close = |found: &[f64], expected: &Value, what: &str| {
            let expected = numbers(expected);
            assert_eq!(found.len(), expected.len(), "{}, {what}", case["name"]);
            for (found, expected) in found.iter().zip(expected) {
                assert!(close(*found, expected, tolerance), "{}, {what}: {found}, expected {expected}", case["name"]);
            }
        };
        let (model, trace) = learner.fit_traced(&bags).unwrap();
        let decisions = model.scores(&test_bags).unwrap();
        assert_close(&decisions, &case["test_decisions"], "decisions of the fit");
        let steps: Vec<Vec<f64>> = case["steps_score_loss_tau"].as_array().unwrap().iter().map(numbers).collect();
        for (pass, steps) in trace.passes.iter().zip(steps.chunks(bags.n_bags())) {
            let loss: f64 = steps.iter().map(|step| step[1]).sum();
            assert!(
                close(pass.loss, loss, tolerance),
                "{}: loss {} of a pass, expected {loss}",
                case["name"],
                pass.loss
            );
        }
        if learner.revisit == Revisit::Replace {
            continue; // A stream has no second thoughts.
        }
        let stream = learner.stream(2, case["horizon"].as_u64()).unwrap();
        let (stream, rounds) = play(stream, &bags, learner.n_passes);
        for (t, (round, step)) in rounds.iter().zip(&steps).enumerate() {
            let found = [round.score, round.loss, round.step];
            let agrees = found.iter().zip(step).all(|(found, expected)| close(*found, *expected, tolerance));
            assert!(agrees, "{}, round {t}: {found:?}, expected {step:?}", case["name"]);
        }
        let (weights, bias) = stream.weights();
        let n = weights.len();
        assert_close(stream.dual(), &Value::from(&case["v"].as_array().unwrap()[..n]), "v");
        assert_close(&weights, &Value::from(&case["w"].as_array().unwrap()[..n]), "w");
        if learner.bias > 0.0 {
            assert!(close(bias, number(&case["w"][n]) * learner.bias, tolerance), "{}: bias {bias}", case["name"]);
        }
        assert_eq!(stream.model().scores(&test_bags).unwrap(), decisions, "a stream is a fit bag by bag");
    }
}

#[test]
fn miles_reaches_the_golden_optima() {
    let golden = read(include_str!("../../../fixtures/golden/miles.json"));
    let (bags, tolerance) = (bags_of(&golden, None), number(&golden["tolerance"]));
    for case in golden["lp"].as_array().unwrap() {
        let learner = Miles {
            width: Width::Squared(number(&golden["sigma2"])),
            lambda: number(&case["lam"]),
            has_bias: case["bias"].as_bool().unwrap(),
            positive_penalty: number(&case["C_pos"]),
            negative_penalty: number(&case["C_neg"]),
            ..Miles::default()
        };
        let selection = learner.select(&bags).unwrap();
        let expected = number(&case["objective"]);
        let (primal, dual) = (selection.certificate.primal_objective, selection.certificate.dual_objective);
        assert!(
            close(primal, expected, tolerance) && close(dual, expected, tolerance),
            "{primal}, expected {expected}"
        );
        assert!(selection.certificate.holds(1e-9));

        // The objective once more, from the model's own scores of the bags.
        let model = learner.fit(&bags).unwrap();
        let norm: f64 = model.concepts().map(|(_, weight)| weight.abs()).sum();
        let losses = bags.bags().zip(bags.labels()).map(|(bag, label)| {
            let penalty = if *label == Label::Positive { learner.positive_penalty } else { learner.negative_penalty };
            penalty * (1.0 - label.sign() * model.score(bag).unwrap()).max(0.0)
        });
        let objective = learner.lambda * norm + losses.sum::<f64>();
        assert!(close(objective, expected, tolerance), "{objective} from scores, expected {expected}");
    }
}

#[test]
fn contributions_of_instances_are_those_of_their_concepts() {
    // Two concepts by hand, +2 at 0 and -1 at 10, with a width of 100 and a bias of 0.5.
    let model: EmbeddingModel = serde_json::from_value(serde_json::json!({
        "concepts": { "sigma2": 100.0, "centre": [5.0], "candidates": [0.0, 10.0] },
        "weights": [2.0, -1.0],
        "bias": 0.5,
        "defect": null,
    }))
    .unwrap();
    // Two instances are equally near to the first concept, one is nearest to the second, one is nearest to none.
    let bag = Bag::new("bag", 1, &[1.0, 9.0, 1.0, 5.0]).unwrap();
    let found = model.contributions(bag).unwrap();
    assert_eq!(found.has_say, [true, true, true, false]);
    let near = (-0.01_f64).exp();
    for (found, expected) in found.values.iter().zip([near, -near, near, 0.0]) {
        assert!(close(*found, expected, 1e-14));
    }
    let scores = model.instance_scores(bag).unwrap().unwrap();
    for (score, expected) in scores.iter().zip([near, -near, near, 0.0]) {
        assert!(close(*score, expected + 0.5 / 3.0, 1e-14));
    }
    assert!(close(model.score(bag).unwrap(), near + 0.5, 1e-14));
    // So far away that no similarity is left: nobody has a say, and the bias is shared by all.
    let far = Bag::new("far", 1, &[1e4, 2e4]).unwrap();
    assert_eq!(model.contributions(far).unwrap().has_say, [false, false]);
    assert_eq!(model.instance_scores(far).unwrap().unwrap(), [0.25, 0.25]);
}
