//! Agreement with `fixtures/golden/annealing.json`: the annealed distribution under seven losses, cooling, and pooled posteriors.

use mil_core::BagRule;
use mil_forest::{Loss, annealed, temperatures};
use mil_testkit::golden::{number, numbers, read};
use serde_json::Value;

fn golden() -> Value {
    read(include_str!("../../../fixtures/golden/annealing.json"))
}

fn loss(word: &str) -> Loss {
    match word {
        "hinge" => Loss::Hinge,
        "logistic" => Loss::Logistic,
        "exp" => Loss::Exponential,
        "margin_hinge" => Loss::MarginHinge,
        "margin_logistic" => Loss::MarginLogistic,
        "margin_exp" => Loss::MarginExponential,
        "nll" => Loss::LogLikelihood,
        _ => panic!("an unknown loss, {word}"),
    }
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let tolerance = number(&golden()["tolerance"]);
    let differs = found.iter().zip(expected).any(|(a, b)| (a - b).abs() > tolerance);
    assert!(found.len() == expected.len() && !differs, "{what}: {found:?}, expected {expected:?}");
}

#[test]
fn annealed_distributions_agree() {
    let golden = golden();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 42);
    for case in cases {
        let posteriors = golden[case["P"].as_str().unwrap()].as_array().unwrap();
        let (word, temperature) = (case["loss"].as_str().unwrap(), number(&case["T"]));
        for (posterior, expected) in posteriors.iter().zip(case["p_star"].as_array().unwrap()) {
            let found = annealed(&numbers(posterior), loss(word), temperature);
            assert_close(&found, &numbers(expected), &format!("{word} at {temperature}"));
        }
    }
}

#[test]
fn temperatures_agree() {
    for case in golden()["schedule"].as_array().unwrap() {
        let found = temperatures(number(&case["T0"]), number(&case["C"]), number(&case["T_min"]));
        assert_close(&found.collect::<Vec<_>>(), &numbers(&case["temperatures"]), "temperatures");
    }
}

#[test]
fn pooled_posteriors_agree() {
    let golden = &golden()["bag_posterior"];
    let posteriors: Vec<Vec<f64>> = golden["P"].as_array().unwrap().iter().map(numbers).collect();
    let bag_of = numbers(&golden["bag_of"]);
    for (word, rule) in [("max", BagRule::Max), ("mean", BagRule::Mean)] {
        for (bag_idx, expected) in golden[word].as_array().unwrap().iter().enumerate() {
            let members: Vec<&Vec<f64>> =
                posteriors.iter().zip(&bag_of).filter(|(_, bag)| **bag == bag_idx as f64).map(|(p, _)| p).collect();
            let pooled: Vec<f64> = (0..2)
                .map(|class| rule.pool_probabilities(&members.iter().map(|p| p[class]).collect::<Vec<_>>()))
                .collect();
            assert_close(&pooled, &numbers(expected), word);
        }
    }
}
