//! The program as it is called: points of curves in processes of their own, the list, mistyped names.

use std::process::{Command, Output};

fn called(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mil-benches")).args(args).output().expect("it can be started")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_point_is_one_line_of_json() {
    let output = called(&["--point", "gram", "50"]);
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(!report["seconds"].as_array().unwrap().is_empty());
    // The diagonal alone sums up to 50.
    assert!(report["total"].as_f64().unwrap() > 50.0);
    if cfg!(target_os = "linux") {
        assert!(report["peak"].as_f64().unwrap() >= report["baseline"].as_f64().unwrap());
    }
}

#[test]
fn every_curve_can_be_measured() {
    for (curve, n) in [
        ("svm", "40"),
        ("linear", "40"),
        ("mi_svm_gaussian", "40"),
        ("mi_svm_linear", "40"),
        ("mio_stream", "100"),
        ("miles", "6"),
        ("forest", "40"),
        ("forest_bins", "40"),
        ("mi_forest", "40"),
        ("pmi", "40"),
        ("dict", "4"),
    ] {
        let output = called(&["--point", curve, n]);
        assert!(output.status.success(), "{curve}: {}", said(&output));
    }
}

#[test]
fn a_point_of_no_curve_is_an_error() {
    for (args, expected) in [
        (["--point", "grum", "50"], "there is no curve \"grum\""),
        (["--point", "gram", "none"], "the size is \"none\""),
        (["--point", "gram", "0"], "the size is \"0\""),
    ] {
        let output = called(&args);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}

#[test]
fn the_list_names_what_each_measures_and_mistakes_are_told_at_once() {
    let list = called(&["--list"]);
    assert!(list.status.success());
    let text = String::from_utf8(list.stdout).unwrap();
    assert!(text.lines().any(|line| line.starts_with("gram_growth ") && line.contains("NumPy")), "{text}");
    let output = called(&["gram", "--snapshot", "no-such-folder/snapshot.md"]);
    assert!(!output.status.success() && said(&output).contains("cannot be a file"), "{}", said(&output));
    let output = called(&["gram_grwth"]);
    assert!(!output.status.success() && said(&output).contains("did you mean gram_growth?"), "{}", said(&output));
}
