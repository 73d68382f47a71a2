//! Criterion groups that cross crates: from bytes to a cross-validated model.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mil_core::{CrossValidation, Learner, NearestCentroid, Scaled, Scaling};
use mil_data::catalogue::{musk1, musk2};

fn pipeline(criterion: &mut Criterion) {
    let learner = Scaled { scaling: Scaling::Standard, learner: NearestCentroid::default() };
    let mut group = criterion.benchmark_group("pipeline");
    group.sample_size(10);
    group.bench_function("load musk2, 6598 x 166, gzipped csv", |bencher| bencher.iter(|| black_box(musk2())));
    let (small, large) = (musk1(), musk2());
    group.bench_function("fit nearest centroid, musk2, 6598 x 166", |bencher| {
        bencher.iter(|| learner.fit(black_box(&large)).expect("two classes"))
    });
    let plan = CrossValidation { n_folds: 10, n_repeats: 1, seed: 1 };
    group.bench_function("cross-validate nearest centroid, musk1, 10 folds, seed 1", |bencher| {
        bencher.iter(|| plan.run(&learner, black_box(&small), &()).expect("ten folds"))
    });
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
