//! Gram matrices, rows, set kernels and embeddings on standard normal instances.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mil_core::{BagSet, KernelRows, stream};
use mil_kernels::{
    BagScale, BagSimilarity, Centre, Gram, GramRows, Kernel, SetKernel, gram, gram_into, squared_distances_within,
};
use nalgebra::DMatrix;
use rand::RngExt;

const SEED: u64 = 1;
const N_FEATURES: usize = 166;

/// Sums of twelve uniform numbers, close enough to normal ones.
fn instances(n: usize) -> DMatrix<f64> {
    let mut rng = stream(SEED, "bench instances", 0);
    DMatrix::from_fn(N_FEATURES, n, |_, _| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0)
}

fn grams(criterion: &mut Criterion) {
    let gaussian = Kernel::Gaussian { gamma: 1.0 / N_FEATURES as f64 };
    let polynomial = Kernel::Polynomial { degree: 3, scale: 1.0 / N_FEATURES as f64, offset: 1.0 };
    let fifty = Kernel::Sum((1..=50).map(|i| (0.02, Kernel::Gaussian { gamma: f64::from(i) * 1e-3 })).collect());
    let mut group = criterion.benchmark_group("gram");
    group.sample_size(10);
    for n in [500, 2000, 4000] {
        let data = instances(n);
        let pair = gram(&gaussian, &data).expect("normal instances")[(1, 0)];
        let expected = gaussian.value(data.column(1).as_slice(), data.column(0).as_slice());
        assert!((pair - expected).abs() < 1e-12);
        for (name, kernel) in [("linear", &Kernel::Linear), ("gaussian", &gaussian), ("polynomial", &polynomial)] {
            group.bench_function(format!("{name}/{n}x{N_FEATURES}/seed{SEED}"), |b| {
                b.iter_with_large_drop(|| gram(kernel, black_box(&data)).expect("normal instances"));
            });
        }
        let mut memory = Gram::new();
        group.bench_function(format!("gaussian_into/{n}x{N_FEATURES}/seed{SEED}"), |b| {
            b.iter(|| gram_into(&gaussian, black_box(&data), &mut memory).expect("normal instances"));
        });
    }
    let data = instances(1000);
    group.bench_function(format!("sum_of_50_gaussians/1000x{N_FEATURES}/seed{SEED}"), |b| {
        b.iter_with_large_drop(|| gram(&fifty, black_box(&data)).expect("normal instances"));
    });
    group.finish();
}

fn rows(criterion: &mut Criterion) {
    let (kernel, data) = (Kernel::Gaussian { gamma: 1.0 / N_FEATURES as f64 }, instances(4000));
    let rows = GramRows::new(&kernel, &data).expect("normal instances");
    let columns = rows.prepare(&(0..4000).collect::<Vec<_>>());
    for n_rows in [1, 8, 64] {
        let idxs: Vec<usize> = (0..n_rows).collect();
        let mut values = vec![0.0; n_rows * 4000];
        criterion.bench_function(&format!("rows/{n_rows}_of_4000x{N_FEATURES}/seed{SEED}"), |b| {
            b.iter(|| {
                let mut places: Vec<&mut [f64]> = values.chunks_mut(4000).collect();
                rows.fill_rows(&idxs, &columns, &mut places).expect("normal instances");
            });
        });
    }
}

fn bags(criterion: &mut Criterion) {
    let data = instances(2000);
    let mut builder = BagSet::<()>::builder();
    for bag_idx in 0..100 {
        let bag = (bag_idx * 20..(bag_idx + 1) * 20).map(|i| data.column(i).as_slice().to_vec());
        builder.bag(format!("bag {bag_idx}"), (), bag).expect("finite instances");
    }
    let bags = builder.build().expect("unique names");
    let kernel = Kernel::Gaussian { gamma: 1.0 / N_FEATURES as f64 };
    let kernel = SetKernel::Instances { kernel, scale: BagScale::Mean };
    criterion.bench_function(&format!("set_gram/100_bags_of_20x{N_FEATURES}/seed{SEED}"), |b| {
        b.iter(|| kernel.gram(black_box(&bags)).expect("normal instances"));
    });
    let similarity = BagSimilarity::new(bags.instances(), 100.0).expect("normal instances");
    criterion.bench_function(&format!("embedding/2000_candidates_100_bags_of_20x{N_FEATURES}/seed{SEED}"), |b| {
        b.iter(|| similarity.to_bags(black_box(&bags)).expect("normal instances"));
    });
    let within = squared_distances_within(&bags, Centre::AllBags).expect("normal instances");
    assert_eq!(within, similarity.squared_distances(&bags).expect("normal instances"));
    criterion.bench_function(&format!("distances_within/100_bags_of_20x{N_FEATURES}/seed{SEED}"), |b| {
        b.iter(|| squared_distances_within(black_box(&bags), Centre::AllBags).expect("normal instances"));
    });
}

criterion_group!(benches, grams, rows, bags);
criterion_main!(benches);
