//! Agreement with `fixtures/golden/pmi_toy.json`, `one_class_svm.json` and `pmi_query.json`.

use mil_core::{Bag, BagModel, BagSet, Label, Scaled, Scaling};
use mil_kernels::Kernel;
use mil_pmi::{OneClassSvm, Pmi, Query, QueryBounds, QuerySession, QueryStop, Role};
use mil_testkit::golden::{number, numbers, read};
use serde_json::Value;

/// The instances of a file in their bags.
fn bags_of(golden: &Value) -> BagSet<()> {
    let mut builder = BagSet::builder();
    let mut open = None;
    for (instance, bag) in golden["X"].as_array().unwrap().iter().zip(numbers(&golden["bag"])) {
        if open.replace(bag) != Some(bag) {
            builder.open_bag(bag.to_string(), ());
        }
        builder.instance(&numbers(instance)).expect("a proper instance");
    }
    builder.build().expect("a proper set")
}

fn pmi(case: &Value, nu: f64) -> Pmi {
    Pmi { kernel: Kernel::Gaussian { gamma: number(&case["gamma"]) }.into(), nu, tolerance: 1e-13, ..Pmi::default() }
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    let close = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= tolerance);
    assert!(close, "{found:?} is not {expected:?}");
}

#[test]
fn weights_multipliers_threshold_and_scores_are_those_of_the_reference() {
    let golden = read(include_str!("../../../fixtures/golden/pmi_toy.json"));
    let bags = bags_of(&golden);
    let (mut n_machines, mut n_without_support) = (0, 0);
    for case in golden["cases"].as_array().unwrap() {
        for machine in case["one_class"].as_array().unwrap() {
            let (model, trace) = pmi(case, number(&machine["nu"])).fit_traced(&bags).unwrap();
            assert_near(&trace.mixture, &numbers(&case["lam"]), 1e-9);
            assert!((trace.variance - number(&case["variance"])).abs() < 1e-9);
            assert_near(&trace.duals, &numbers(&machine["alpha"]), 1e-7);
            assert!((trace.rho - number(&machine["rho"])).abs() < 1e-9, "{}", trace.rho);
            assert_near(&trace.instance_scores, &numbers(&machine["l"]), 1e-8);
            let test: Vec<f64> = golden["X_test"].as_array().unwrap().iter().flat_map(numbers).collect();
            let scores = model.instance_scores(Bag::new("test", 2, &test).unwrap()).unwrap().unwrap();
            assert_near(&scores, &numbers(&machine["l_test"]), 1e-8);
            n_machines += 1;
            n_without_support += usize::from(!trace.roles.contains(&Role::Support));
        }
    }
    assert!(n_machines >= 6 && n_without_support >= 1, "{n_machines} machines, {n_without_support} without support");
}

#[test]
fn the_plain_machine_is_that_of_the_reference() {
    let golden = read(include_str!("../../../fixtures/golden/one_class_svm.json"));
    let mut builder = BagSet::builder();
    for (idx, instance) in golden["X"].as_array().unwrap().iter().enumerate() {
        builder.bag(idx.to_string(), (), [numbers(instance)]).unwrap();
    }
    let bags = builder.build().unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let kernel = Kernel::Gaussian { gamma: number(&golden["gamma"]) }.into();
        let nu = number(&case["nu"]);
        let plain = OneClassSvm { kernel, nu, tolerance: 1e-13, ..OneClassSvm::default() };
        let model = mil_core::Learner::fit(&plain, &bags).unwrap();
        assert!((model.rho() - number(&case["rho"])).abs() < 1e-8, "{} at {nu}", model.rho());
        let (_, weights) = model.separator().support().unwrap();
        let alpha: Vec<f64> = numbers(&case["alpha"]).into_iter().filter(|alpha| *alpha > 1e-9).collect();
        let weights: Vec<f64> = weights.iter().copied().filter(|weight| *weight > 1e-9).collect();
        assert_near(&weights, &alpha, 1e-8);
    }
}

#[test]
fn the_query_loop_asks_and_removes_what_the_reference_does() {
    let golden = read(include_str!("../../../fixtures/golden/pmi_query.json"));
    let bags = bags_of(&golden);
    let labels = numbers(&golden["instance_labels"]);
    let mut n_cases = 0;
    for case in golden["cases"].as_array().unwrap() {
        let nu = number(&case["nu"]);
        let learner = Scaled { scaling: Scaling::None, learner: pmi(case, nu) };
        let mut session = QuerySession::begin(learner, &bags).unwrap();
        let column = |query: &Query<'_>| bags.columns_of(query.bag_idx).start + query.instance_idx;
        let mut oracle =
            |query: &Query<'_>| Some(if labels[column(query)] > 0.0 { Label::Positive } else { Label::Negative });
        let stop = session.run(&mut oracle).unwrap().expect("the oracle always answers");
        let expected = case["stop"].as_str().unwrap();
        assert_eq!(if stop == QueryStop::Positive { "positive" } else { "full_bag" }, expected);
        let entries = session.trail().entries();
        let asked: Vec<Vec<f64>> = case["queries"].as_array().unwrap().iter().map(numbers).collect();
        let found = entries
            .iter()
            .map(|entry| vec![(bags.columns_of(entry.bag_idx).start + entry.instance_idx) as f64, entry.answer.sign()]);
        assert_eq!(found.collect::<Vec<_>>(), asked);
        let left = (0..bags.n_instances()).filter(|&column| session.is_left()[column]).map(|column| column as f64);
        assert_eq!(left.collect::<Vec<_>>(), numbers(&case["alive"]));
        assert!((session.model().inner().rho() - number(&case["rho"])).abs() < 1e-8);
        let bounds = session.trail().bounds();
        let printed = (case["bound_paper"].as_u64().unwrap() as usize, case["bound_tight"].as_u64().unwrap() as usize);
        assert_eq!(bounds, QueryBounds { printed: Some(printed.0), tight: printed.1 });
        assert!(entries.len() <= bounds.tight);
        n_cases += 1;
    }
    assert!(n_cases >= 3);
}
