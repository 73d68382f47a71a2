//! Growth of forests on the instances of Musk2 with the labels of their bags, and their posteriors.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mil_core::{BagLabel, BagSet, Label};
use mil_data::catalogue::musk2;
use mil_forest::{Columns, Criterion as Purity, Forest, RandomForest, Resolution, Sample};

const SEED: u64 = 1;
const N_TREES: usize = 20;

/// The labels of the instances, their weights for bags that count alike, and where the bags begin.
fn parts(bags: &BagSet<Label>) -> (Vec<u32>, Vec<f64>, Vec<usize>) {
    let (mut labels, mut weights, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
    for (bag, label) in bags.bags().zip(bags.labels()) {
        labels.extend(std::iter::repeat_n(label.class_idx() as u32, bag.n_instances()));
        weights.extend(std::iter::repeat_n(1.0 / bag.n_instances() as f64, bag.n_instances()));
        offsets.push(labels.len());
    }
    (labels, weights, offsets)
}

fn forests(criterion: &mut Criterion) {
    let bags = musk2();
    let (n_features, n) = bags.instances().shape();
    let (labels, weights, offsets) = parts(&bags);
    let columns = Columns::new(bags.instances(), Resolution::Exact).expect("exact is no number");
    let size = format!("musk2-{n}x{n_features}/{N_TREES}trees/seed{SEED}");
    let mut group = criterion.benchmark_group("forest");
    group.sample_size(10);
    group.bench_function(format!("ranks/musk2-{n}x{n_features}"), |bencher| {
        bencher.iter_with_large_drop(|| Columns::new(black_box(bags.instances()), Resolution::Exact));
    });
    for (name, purity, weights) in [
        ("gini", Purity::Gini, None),
        ("entropy", Purity::Entropy, None),
        ("entropy-of-weights", Purity::Entropy, Some(&weights[..])),
    ] {
        let growth = RandomForest { n_trees: N_TREES, criterion: purity, seed: SEED, ..Default::default() };
        let growth = growth.growth(n_features);
        let sample = Sample { labels: &labels, weights, n_classes: 2, offsets: &offsets };
        let grow = || Forest::grow(&columns, black_box(&sample), &growth).expect("sound labels");
        let forest = grow().0;
        let posteriors = forest.posteriors(bags.instances().as_slice());
        let is_right = |idx: &usize| (posteriors[(1, *idx)] > 0.5) == (labels[*idx] == 1);
        assert!((0..n).filter(is_right).count() > 98 * n / 100, "a forest knows what it was grown on");
        assert_eq!(posteriors.column(n / 2).as_slice(), forest.posterior(bags.instances().column(n / 2).as_slice()));
        group.bench_function(format!("grow-{name}/{size}"), |bencher| bencher.iter_with_large_drop(grow));
        group.bench_function(format!("posteriors-{name}/{size}"), |bencher| {
            bencher.iter_with_large_drop(|| forest.posteriors(black_box(bags.instances().as_slice())));
        });
    }
    group.finish();
}

criterion_group!(benches, forests);
criterion_main!(benches);
