//! Agreement with `fixtures/golden/misvm_toy.json`: final labels and selectors, objectives of all rounds, decision values.

use mil_core::{Bag, BagModel, BagSet, Label};
use mil_kernels::Kernel;
use mil_svm::{InstanceSvm, MiSvmBag, MiSvmPattern, Slack, Stop, WitnessStart, Witnesses};
use mil_testkit::golden::{numbers, read};
use serde_json::Value;

/// What is compared; the file's own iterations are exact to about 1e-12, ours to the solver's tolerance.
const CLOSE: f64 = 1e-6;
/// Tolerance of our solver.
const TOLERANCE: f64 = 1e-9;

fn golden() -> Value {
    read(include_str!("../../../fixtures/golden/misvm_toy.json"))
}

fn bags_of(golden: &Value) -> BagSet<Label> {
    let mut builder = BagSet::builder();
    let (of_instance, labels) = (numbers(&golden["bag"]), numbers(&golden["Y"]));
    for (bag_idx, label) in labels.iter().enumerate() {
        builder.open_bag(bag_idx.to_string(), if *label > 0.0 { Label::Positive } else { Label::Negative });
        for (instance, _) in
            golden["X"].as_array().unwrap().iter().zip(&of_instance).filter(|(_, of)| **of == bag_idx as f64)
        {
            builder.instance(&numbers(instance)).expect("finite numbers");
        }
    }
    builder.build().expect("a proper set")
}

fn kernel_of(case: &Value) -> Kernel {
    let number = |name: &str| case["kernel"][name].as_f64().expect("a parameter of the kernel");
    match case["kernel"]["kind"].as_str().expect("a name") {
        "linear" => Kernel::Linear,
        "poly" => {
            Kernel::Polynomial { degree: number("degree") as u32, scale: number("gamma"), offset: number("coef0") }
        }
        "rbf" => Kernel::Gaussian { gamma: number("gamma") },
        other => panic!("kernel {other}"),
    }
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= CLOSE * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
    }
}

fn assert_values(model: &InstanceSvm, instances: &Value, expected: &Value, what: &str) {
    let flat: Vec<f64> = instances.as_array().unwrap().iter().flat_map(numbers).collect();
    let bag = Bag::new("all", 2, &flat).expect("a proper bag");
    let values = model.instance_scores(bag).expect("finite").expect("a model of instances");
    assert_close(&values, &numbers(expected), what);
}

#[test]
fn imputed_labels_objectives_and_values_agree() {
    let golden = golden();
    let bags = bags_of(&golden);
    for case in golden["cases"].as_array().unwrap() {
        let what = format!("mi-SVM {} C {}", case["kernel"], case["C"]);
        let expected = &case["mi_svm"];
        let learner = MiSvmPattern {
            kernel: kernel_of(case),
            penalty: case["C"].as_f64().unwrap(),
            tolerance: TOLERANCE,
            ..Default::default()
        };
        let (model, trace) = learner.fit_traced(&bags).expect("a proper problem");
        assert_eq!(trace.stop, Stop::FixedPoint, "{what}");
        let n_positive: usize = bags.positive_bags().map(|bag| bag.n_instances()).sum();
        let labels: Vec<f64> =
            trace.choice.iter().map(|label| if *label == Label::Positive { 1.0 } else { -1.0 }).collect();
        assert_eq!(labels, numbers(&expected["labels"])[..n_positive], "{what}");
        assert_close(&trace.objectives, &numbers(&expected["objective_history"]), &what);
        assert_values(&model, &golden["X"], &expected["decision_train"], &what);
        assert_values(&model, &golden["X_test"], &expected["decision_test"], &what);
    }
}

/// The witnesses behind positions among all instances.
fn witnesses_of(bags: &BagSet<Label>, selectors: &Value) -> Witnesses {
    let positive = (0..bags.n_bags()).filter(|&idx| bags.labels()[idx] == Label::Positive);
    positive.zip(numbers(selectors)).map(|(idx, at)| Some(at as usize - bags.columns_of(idx).start)).collect()
}

/// The objective of w = 0: the smaller class pays twice for each of its bags.
fn flat_objective(bags: &BagSet<Label>, penalty: f64) -> f64 {
    2.0 * penalty * bags.positive_bags().count().min(bags.negative_bags().count()) as f64
}

fn selectors_agree(name: &str, slack: Slack, start: WitnessStart) {
    let golden = golden();
    let bags = bags_of(&golden);
    let (mut n_cases, mut n_flat) = (0, 0);
    for case in golden["cases"].as_array().unwrap() {
        let expected = &case[name];
        if expected.is_null() {
            continue;
        }
        n_cases += 1;
        let what = format!("{name} {} C {}", case["kernel"], case["C"]);
        let learner = MiSvmBag {
            kernel: kernel_of(case),
            penalty: case["C"].as_f64().unwrap(),
            slack,
            start,
            tolerance: TOLERANCE,
            ..Default::default()
        };
        let history = numbers(&expected["objective_history"]);
        // Where the first machine is w = 0 all instances tie, and rounding chose the file's witnesses; that its end is an end remains.
        let is_flat = (history[0] - flat_objective(&bags, learner.penalty)).abs() < CLOSE;
        let (model, trace) = if is_flat {
            learner.fit_from(&bags, witnesses_of(&bags, &expected["selectors"]))
        } else {
            learner.fit_traced(&bags)
        }
        .expect("a proper problem");
        n_flat += usize::from(is_flat);
        assert_eq!(trace.stop, Stop::FixedPoint, "{what}");
        assert_eq!(trace.choice, witnesses_of(&bags, &expected["selectors"]), "{what}");
        let rounds = if is_flat { &history[history.len() - 1..] } else { &history };
        assert_close(&trace.objectives, rounds, &what);
        assert_values(&model, &golden["X"], &expected["decision_train"], &what);
        if !expected["decision_test"].is_null() {
            assert_values(&model, &golden["X_test"], &expected["decision_test"], &what);
        }
    }
    assert!(n_cases > n_flat, "{n_flat} of {n_cases} cases of {name} say nothing of the way");
}

#[test]
fn witnesses_with_a_slack_for_each_bag_agree() {
    selectors_agree("MI_svm_slack_per_bag", Slack::PerBag, WitnessStart::FeatureMean);
}

#[test]
fn witnesses_with_a_slack_for_each_instance_agree() {
    selectors_agree("MI_svm_slack_per_instance", Slack::PerInstance, WitnessStart::FeatureMean);
}

#[test]
fn witnesses_from_means_in_input_space_agree() {
    selectors_agree("MI_svm_input_mean_start", Slack::PerBag, WitnessStart::InputMean);
}
