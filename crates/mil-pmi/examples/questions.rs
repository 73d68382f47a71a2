//! A query loop by hand: bags that share a background, and questions until what they are sought for is found. The session is saved halfway and goes on from the file.
//!
//! `cargo run --release -p mil-pmi --example questions`, and answer `y` for instances near the origin, `n` for others.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use mil_core::{BagModel, Scaled, Scaling, model_file};
use mil_data::synth::ClustersParams;
use mil_kernels::Kernel;
use mil_pmi::{Interactive, Pmi, QuerySession};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bags = ClustersParams { n_clusters: 2, seed: 1, ..ClustersParams::default() }.generate()?.positives()?;
    let learner = Pmi { kernel: Kernel::Gaussian { gamma: 0.5 }.into(), nu: 0.1, ..Pmi::default() };
    let mut session = QuerySession::begin(Scaled { scaling: Scaling::None, learner }, &bags)?;
    println!("There will be at most {} questions.", session.trail().bounds().tight);

    let path = std::env::temp_dir().join(format!("pmi-queries-{}.mil", std::process::id()));
    model_file::save(&path, session.trail(), &[])?;
    session = QuerySession::resume(model_file::load(&path)?, &bags)?;
    std::fs::remove_file(&path)?;

    let mut person = Interactive::new(std::io::stdin().lock(), std::io::stdout(), bags.feature_names());
    match session.run(&mut person)? {
        Some(stop) => println!("Stopped: {stop:?}."),
        None => println!("To be continued: the trail has {} answers.", session.trail().entries().len()),
    }
    let n_positive = bags.bags().filter(|bag| session.model().score(*bag).is_ok_and(|score| score >= 0.0)).count();
    println!("{n_positive} of {} bags have an instance in the region.", bags.n_bags());
    Ok(())
}
