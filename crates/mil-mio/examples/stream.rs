//! MIO on an endless stream in bounded memory: bags are predicted, then learnt; halfway the stream is saved and resumed.
//!
//! `cargo run --release -p mil-mio --example stream`
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use mil_core::{Params, model_file};
use mil_data::synth::FiveGaussiansParams;
use mil_mio::{Budget, Mio, MioStream, Width};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bags = FiveGaussiansParams { n_positive: 4000, n_negative: 4000, seed: 1 }.generate()?;
    let mio = Mio { width: Width::Squared(5.0), budget: Budget::Candidates(200), ..Mio::default() };
    let mut stream = mio.stream(bags.n_features(), None)?;

    println!("rounds  mistakes  candidates  with a weight");
    let mut n_mistakes = 0;
    for t in 0..bags.n_bags() {
        let bag_idx = t * 1237 % bags.n_bags(); // positive bags come first in the set, mixed in the stream
        let label = bags.labels()[bag_idx];
        let round = stream.round(bags.bag(bag_idx), label)?;
        n_mistakes += usize::from(round.is_mistake(label));
        if (t + 1) % 1000 == 0 {
            println!("{:>6} {:>9} {:>11} {:>14}", t + 1, n_mistakes, stream.n_candidates(), stream.n_selected());
            n_mistakes = 0;
        }
        if t == 4000 {
            let path = std::env::temp_dir().join(format!("mio-stream-{}.mil", std::process::id()));
            model_file::save(&path, &stream, &mio.to_pairs())?;
            stream = model_file::load::<MioStream>(&path)?;
            std::fs::remove_file(&path)?;
        }
    }
    println!("the model keeps {} of {} instances that arrived", stream.model().n_concepts(), stream.n_arrived());
    Ok(())
}
