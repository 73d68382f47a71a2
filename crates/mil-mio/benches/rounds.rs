//! Rounds of a stream with more and more candidates, and fits on Musk1.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mil_core::{Bag, BagModel, Label, Learner, stream};
use mil_mio::{Budget, Miles, Mio, MioStream, Width};
use rand::RngExt;

const SEED: u64 = 1;
const N_FEATURES: usize = 20;
const BAG_SIZE: usize = 5;

/// Bags of five instances of twenty features, uniform; labels by the first feature of the first instance.
fn bags(n_bags: usize) -> Vec<(Vec<f64>, Label)> {
    let mut rng = stream(SEED, "bench bags", 0);
    let mut bag = || {
        let values: Vec<f64> = (0..N_FEATURES * BAG_SIZE).map(|_| rng.random()).collect();
        let label = if values[0] > 0.5 { Label::Positive } else { Label::Negative };
        (values, label)
    };
    (0..n_bags).map(|_| bag()).collect()
}

fn play(stream: &mut MioStream, bags: &[(Vec<f64>, Label)]) {
    for (values, label) in bags {
        let bag = Bag::new("bench", N_FEATURES, values).expect("uniform numbers");
        black_box(stream.round(bag, *label).expect("uniform numbers"));
    }
}

/// One round in a stream that has settled at a budget: time for each should be proportional to the candidates.
fn rounds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("round/{N_FEATURES}-features/bags-of-{BAG_SIZE}/candidates"));
    group.sample_size(10);
    for n_candidates in [500, 2000, 8000, 32_000] {
        let mio = Mio { width: Width::Squared(2.0), budget: Budget::Candidates(n_candidates), ..Mio::default() };
        let mut stream = mio.stream(N_FEATURES, None).expect("a proper width");
        play(&mut stream, &bags(n_candidates / BAG_SIZE + 1));
        assert_eq!(stream.n_candidates(), n_candidates);
        let more = bags(50);
        group.throughput(Throughput::Elements(more.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(n_candidates), |b| b.iter(|| play(&mut stream, &more)));
    }
    group.finish();
}

fn fits(criterion: &mut Criterion) {
    let bags = mil_data::catalogue::musk1();
    let n_right = |model: &mil_mio::EmbeddingModel| {
        (0..bags.n_bags()).filter(|&idx| model.predict(bags.bag(idx)).ok() == Some(bags.labels()[idx])).count()
    };
    let mut group = criterion.benchmark_group("fit/musk1-476x166");
    let (mio, miles) = (Mio::default(), Miles::default());
    assert!(n_right(&mio.fit(&bags).expect("Musk1 has both classes")) > 80);
    assert!(n_right(&miles.fit(&bags).expect("Musk1 has both classes")) > 80);
    group.bench_function("mio-10-passes", |b| b.iter(|| mio.fit(black_box(&bags)).expect("as before")));
    group.bench_function("miles", |b| b.iter(|| miles.fit(black_box(&bags)).expect("as before")));
    group.finish();
}

criterion_group!(benches, rounds, fits);
criterion_main!(benches);
