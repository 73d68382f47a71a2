//! MI-SVM on Musk1: tuned inside the training folds, cross-validated, and then asked which conformation makes a molecule a musk.
//!
//! `cargo run --release -p mil-svm --example musk`
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use mil_core::{BagModel, CrossValidation, Learner, OutOfFold, Probabilistic, Scaled, Scaling, witness_of};
use mil_svm::{GridSearch, MiSvmBag};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bags = mil_data::catalogue::musk1();
    let learner = Scaled { scaling: Scaling::MinMax, learner: GridSearch::of(MiSvmBag::default()) };

    let report = CrossValidation { n_folds: 10, n_repeats: 1, seed: 1 }.run(&learner, &bags, &())?;
    println!("ten-fold accuracy {:.1} %", 100.0 * report.accuracy().mean);

    let model = Probabilistic { learner, source: OutOfFold { n_folds: 5, seed: 0 } }.fit(&bags)?;
    println!("molecule      score  probability  witness");
    for bag in bags.bags().step_by(9) {
        let witness = witness_of(&model, bag)?.expect("MI-SVM scores instances");
        let probability = model.probability(bag)?;
        println!(
            "{:<12} {:>6.2} {:>12.2} {:>8} of {}",
            bag.name(),
            model.score(bag)?,
            probability,
            witness + 1,
            bag.n_instances()
        );
    }
    Ok(())
}
