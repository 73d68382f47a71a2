//! What annealing does on Musk1: epoch by epoch, then accuracy beside the plain forest's, and the features that matter.
//!
//! `cargo run --release -p mil-forest --example anneal`
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use mil_core::{BagModel, Calibrated, CrossValidation, Learner, OutOfBag};
use mil_data::catalogue;
use mil_forest::{MiForest, RandomForest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bags = catalogue::musk1();
    let (model, trace) = MiForest { end_temperature: 0.05, ..MiForest::default() }.fit_traced(&bags)?;
    println!("temperature  objective  entropy  members of the class a bag");
    let n_positive = bags.positive_bags().count() as f64;
    for epoch in &trace.epochs {
        let members = epoch.expected_members / n_positive;
        println!("{:>11.3} {:>10.1} {:>8.1} {members:>27.2}", epoch.temperature, epoch.objective, epoch.entropy);
    }
    println!("it ended as {:?}", trace.stop);

    let plan = CrossValidation { n_folds: 10, n_repeats: 5, seed: 1 };
    let percent = |share: f64| 100.0 * share;
    println!(
        "\nplain forest         {:.1} %",
        percent(plan.run(&RandomForest::default(), &bags, &())?.accuracy().mean)
    );
    println!("MIForest             {:.1} %", percent(plan.run(&MiForest::default(), &bags, &())?.accuracy().mean));
    let calibrated = Calibrated { learner: MiForest::default(), source: OutOfBag };
    println!("MIForest, calibrated {:.1} %", percent(plan.run(&calibrated, &bags, &())?.accuracy().mean));

    let gains = model.forest().gains();
    let mut features: Vec<usize> = (0..model.n_features()).collect();
    features.sort_by(|a, b| gains[*b].total_cmp(&gains[*a]));
    println!("\nthe features whose tests gain most");
    for feature in &features[..5] {
        println!("{:<5} {:.4}", bags.feature_name(*feature), gains[*feature]);
    }
    let again = MiForest { end_temperature: 0.05, ..MiForest::default() }.fit(&bags)?;
    assert_eq!(again, model, "a seed fixes the forest");
    Ok(())
}
