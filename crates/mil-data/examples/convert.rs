//! Converts a file of two-class bags: `cargo run -p mil-data --example convert -- musk1.csv.gz musk1.npz`.
#![allow(clippy::print_stdout, reason = "an example prints")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = &paths[..] else { return Err("usage: convert FROM TO".into()) };
    let bags = mil_data::read_path(from, &Default::default())?.binary(None)?;
    mil_data::write_path(to, &bags, &Default::default())?;
    println!("{} bags, {} instances, {} features", bags.n_bags(), bags.n_instances(), bags.n_features());
    Ok(())
}
