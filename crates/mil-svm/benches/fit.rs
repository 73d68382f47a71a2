//! Every learner on Musk1, features scaled to [0, 1], with a Gaussian kernel where it takes one between instances.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mil_core::{BagModel, BagSet, Label, Scaler, Scaling};
use mil_kernels::Kernel;
use mil_svm::{
    AlSvm, AwSvm, MiSvmBag, MiSvmPattern, Mica, MissSvm, Nsk, OverKernel, Sbmil, SilSvm, Slack, Smil, Stk, Stmil,
};

const GAMMA: f64 = 0.3;

fn musk1() -> BagSet<Label> {
    let bags = mil_data::catalogue::musk1();
    let scaler = Scaler::fit(Scaling::MinMax, &bags).expect("Musk1 is finite");
    scaler.scaled(bags).expect("scaled values are finite")
}

fn bench<L: OverKernel>(criterion: &mut Criterion, name: &str, learner: &L, penalty: f64) {
    let bags = musk1();
    let learner = learner.tuned(penalty, &Kernel::Gaussian { gamma: GAMMA });
    let model = learner.fit(&bags).expect("Musk1 has both classes");
    let n_right =
        (0..bags.n_bags()).filter(|&idx| model.predict(bags.bag(idx)).ok() == Some(bags.labels()[idx])).count();
    assert!(n_right > bags.n_bags() / 2, "{name} labels {n_right} of its own {} bags right", bags.n_bags());
    let mut group = criterion.benchmark_group("fit");
    group.sample_size(10);
    group.bench_function(format!("{name}/musk1-476x166/gamma{GAMMA}/C{penalty}"), |b| {
        b.iter_with_large_drop(|| learner.fit(black_box(&bags)).expect("as before"));
    });
    group.finish();
}

fn fits(criterion: &mut Criterion) {
    bench(criterion, "sil-svm", &SilSvm::default(), 10.0);
    bench(criterion, "mi-svm", &MiSvmPattern::default(), 10.0);
    bench(criterion, "mi-svm-bag", &MiSvmBag::default(), 1.0);
    bench(
        criterion,
        "mi-svm-bag-slack-per-instance",
        &MiSvmBag { slack: Slack::PerInstance, ..Default::default() },
        1.0,
    );
    bench(criterion, "al-svm", &AlSvm::default(), 10.0);
    bench(criterion, "aw-svm", &AwSvm::default(), 1.0);
    bench(criterion, "mica", &Mica::default(), 10.0);
    bench(criterion, "smil", &Smil::default(), 10_000.0);
    bench(criterion, "stmil", &Stmil::default(), 10_000.0);
    bench(criterion, "sbmil", &Sbmil::default(), 10_000.0);
    bench(criterion, "miss-svm", &MissSvm::default(), 10_000.0);
    bench(criterion, "nsk", &Nsk::default(), 10.0);
    bench(criterion, "stk", &Stk::default(), 10.0);
}

criterion_group!(benches, fits);
criterion_main!(benches);
