//! MIDL on your own features, as for the paper's action and gender recognition (Tables 2 and 3), whose data cannot be handed on: a file of training bags, one of test bags, and settings.
//!
//! `cargo run --release -p mil-dict --example features -- train.csv test.csv orthogonality=0.01 sparsity=5`
//!
//! Any format that `mil-data` reads will do; where the test file has labels of instances, their accuracy is told too.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use mil_core::{BagModel, Label, Params};
use mil_data::{ReadOptions, read_path};
use mil_dict::Midl;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, settings @ ..] = arguments.as_slice() else {
        return Err(
            "two files of bags are expected, to train on and to test on, then settings such as sparsity=5".into()
        );
    };
    let mut midl = Midl::default();
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or_else(|| format!("{setting:?} is not name=value"))?;
        midl.set(name, value)?;
    }
    let train = read_path(train, &ReadOptions::default())?.binary(None)?;
    let test = read_path(test, &ReadOptions::default())?.binary(None)?;
    let (model, trace) = midl.fit_traced(&train)?;
    let (mut n_bags, mut n_instances) = (0, 0);
    for (bag_idx, bag) in test.bags().enumerate() {
        n_bags += usize::from(model.predict(bag)? == test.labels()[bag_idx]);
        let scores = model.instance_scores(bag)?.expect("MIDL scores instances");
        if let Some(truth) = test.instance_labels() {
            let found = scores.iter().map(|score| if *score >= 0.0 { Label::Positive } else { Label::Negative });
            n_instances += found.zip(&truth[test.columns_of(bag_idx)]).filter(|(found, truth)| found == *truth).count();
        }
    }
    let percent = |n_right: usize, n: usize| 100.0 * n_right as f64 / n as f64;
    println!("bags right: {:.1} % of {}", percent(n_bags, test.n_bags()), test.n_bags());
    if test.instance_labels().is_some() {
        println!("instances right: {:.1} % of {}", percent(n_instances, test.n_instances()), test.n_instances());
    }
    for (weight, kernel) in trace.kernel_weights.iter().zip(&trace.kernels).filter(|(weight, _)| **weight > 0.0) {
        println!("weight {weight:.3} on {}", mil_core::ParamField::show(kernel));
    }
    Ok(())
}
