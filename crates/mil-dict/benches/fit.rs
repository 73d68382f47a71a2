//! A fit of MIDL on one digit, and its parts: codes and a dictionary of 400 images.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mil_core::Learner;
use mil_data::synth::{DigitsParams, FromInstancesParams};
use mil_dict::{KernelKsvd, Midl, encode};
use mil_kernels::{Kernel, gram};

fn fits(criterion: &mut Criterion) {
    let pool = DigitsParams { n_per_class: 100, ..DigitsParams::default() }.generate().expect("defaults are in range");
    let bags = FromInstancesParams::default().generate(&pool, "3").expect("100 images of each digit suffice");
    let bags =
        bags.map_instances(|image| image.iter_mut().for_each(|pixel| *pixel = 0.5 + 0.5 * *pixel)).expect("finite");
    let mut group = criterion.benchmark_group("midl");
    group.sample_size(10);
    group.bench_function("fit-25-25-bags-256-features-seed-0", |b| {
        b.iter(|| Midl::default().fit(black_box(&bags)).expect("digits are tame"));
    });

    let images = pool.instances().columns(0, 400).into_owned();
    let gram = gram(&Kernel::Gaussian { gamma: 0.01 }, &images).expect("digits are tame").to_matrix();
    let ksvd = KernelKsvd { n_atoms: 50, sparsity: 4, n_rounds: 1, seed: 0 };
    let learnt = ksvd.fit(&gram).expect("digits are tame");
    assert!(learnt.squared_errors[0] < gram.trace());
    group.bench_function("ksvd-round-400-images-50-atoms", |b| {
        b.iter(|| ksvd.fit(black_box(&gram)).expect("as before"))
    });

    let products = learnt.atoms.transpose() * &gram;
    let (atom_gram, norms) = (&products * &learnt.atoms, gram.diagonal());
    group.bench_function("omp-400-images-50-atoms-8-of-them", |b| {
        b.iter(|| encode(black_box(&atom_gram), &products, norms.as_slice(), 8).expect("finite"));
    });
    group.finish();
}

criterion_group!(benches, fits);
criterion_main!(benches);
