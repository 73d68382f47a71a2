//! Fits of PMI on the positive bags of Musk1 and Musk2, with a wide and a narrow kernel.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mil_core::{BagSet, Learner, Scaler, Scaling};
use mil_kernels::KernelChoice;
use mil_pmi::Pmi;

/// The positive bags of a set, features scaled to the unit interval.
fn positives(bags: &BagSet<mil_core::Label>) -> BagSet<()> {
    let bags = bags.positives().expect("there are positive bags");
    let scaler = Scaler::fit(Scaling::MinMax, &bags).expect("Musk is tame");
    scaler.scaled(bags).expect("Musk is tame")
}

fn fits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pmi");
    group.sample_size(10);
    let sets = [("musk1-207x166", mil_data::catalogue::musk1()), ("musk2-1017x166", mil_data::catalogue::musk2())];
    for (name, bags) in &sets {
        let bags = positives(bags);
        for ratio in [0.5, 4.0] {
            let pmi = Pmi { kernel: KernelChoice::GaussianOverMedian(ratio), ..Pmi::default() };
            assert!(pmi.fit(&bags).expect("Musk is tame").defect() <= pmi.tolerance);
            let id = BenchmarkId::new(*name, format!("gamma-{ratio}-over-median"));
            group.bench_function(id, |b| b.iter(|| pmi.fit(black_box(&bags)).expect("as before")));
        }
    }
    group.finish();
}

criterion_group!(benches, fits);
criterion_main!(benches);
