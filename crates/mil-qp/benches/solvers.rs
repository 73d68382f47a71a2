//! Each path at three sizes, on two overlapping clouds of points.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mil_core::stream;
use mil_kernels::{GramRows, Kernel, gram};
use mil_qp::{
    Bias, BlockVariance, GeneralSettings, GroupDual, GroupSettings, LinearSettings, LinearSvm, Loss, OneNormSettings,
    OneNormSvm, Outcome, QuadraticProgram, SimplexBlocks, SmoSettings, SparseMatrix, SvmDual,
};
use nalgebra::DMatrix;
use rand::RngExt;

const SEED: u64 = 1;
const N_FEATURES: usize = 50;
const GAUSSIAN: Kernel = Kernel::Gaussian { gamma: 1.0 / N_FEATURES as f64 };
/// Points in a group or block.
const GROUP: usize = 10;

/// Points one by one of either class, half a standard deviation from each other in every feature.
fn clouds(n: usize) -> (DMatrix<f64>, Vec<f64>) {
    let mut rng = stream(SEED, "bench points", 0);
    let signs: Vec<f64> = (0..n).map(|i| if (i / GROUP).is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
    let normal = |rng: &mut mil_core::Rng| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let points = DMatrix::from_fn(N_FEATURES, n, |_, i| 0.25 * signs[i] + normal(&mut rng));
    (points, signs)
}

/// Ends a benchmark that measures something else than a solution.
fn solved(outcome: Outcome) {
    assert!(matches!(outcome, Outcome::Solved(_)));
}

fn kernel_machines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("smo/x{N_FEATURES}/seed{SEED}"));
    group.sample_size(10);
    for n in [500, 2000, 8000] {
        let (points, signs) = clouds(n);
        let rows = GramRows::new(&GAUSSIAN, &points).expect("finite points");
        let machine = SvmDual::classification(&rows, signs, vec![1.0; n]).expect("a proper problem");
        let one_class = SvmDual::one_class(&rows, 0.1).expect("a proper problem");
        group.bench_function(BenchmarkId::new("classification", n), |b| {
            b.iter(|| solved(machine.solve(&SmoSettings::default()).expect("finite rows")));
        });
        group.bench_function(BenchmarkId::new("one_class", n), |b| {
            b.iter(|| solved(one_class.solve(&SmoSettings::default()).expect("finite rows")));
        });
    }
}

fn linear_machines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("linear/x{N_FEATURES}/seed{SEED}"));
    group.sample_size(10);
    for n in [1000, 10_000, 100_000] {
        let (points, signs) = clouds(n);
        for (name, loss) in [("hinge", Loss::Hinge), ("squared_hinge", Loss::SquaredHinge)] {
            let machine =
                LinearSvm::new(&points, signs.clone(), vec![1.0; n], Bias::Free, loss).expect("a proper problem");
            group.bench_function(BenchmarkId::new(name, n), |b| {
                b.iter(|| solved(machine.solve(&LinearSettings::default()).expect("finite points")));
            });
        }
    }
}

fn groups_and_blocks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("groups/x{N_FEATURES}/seed{SEED}"));
    group.sample_size(10);
    for n in [200, 800, 3200] {
        let (points, signs) = clouds(n);
        let rows = GramRows::new(&GAUSSIAN, &points).expect("finite points");
        let group_of = (0..n).map(|i| i / GROUP).collect();
        let machine = GroupDual::classification(&rows, signs, group_of, vec![1.0; n / GROUP]).expect("proper groups");
        group.bench_function(BenchmarkId::new("shared_slack", n), |b| {
            b.iter(|| solved(machine.solve(&GroupSettings::default()).expect("finite rows")));
        });
        let sizes = vec![GROUP; n / GROUP];
        let variance = BlockVariance::new(&rows, &sizes).expect("proper blocks");
        let blocks = SimplexBlocks::new(&variance, sizes).expect("proper blocks");
        group.bench_function(BenchmarkId::new("simplex_blocks", n), |b| {
            b.iter(|| solved(blocks.solve(&GroupSettings::default()).expect("finite rows")));
        });
    }
}

fn one_norm(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("one_norm/seed{SEED}"));
    group.sample_size(10);
    for (n_examples, n_features) in [(50, 500), (100, 6000), (400, 20_000)] {
        let mut rng = stream(SEED, "bench similarities", 0);
        let features = DMatrix::from_fn(n_features, n_examples, |_, _| rng.random::<f64>());
        let signs = (0..n_examples).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let machine = OneNormSvm::new(&features, signs, vec![1.0; n_examples], 0.5).expect("a proper problem");
        group.bench_function(BenchmarkId::new("random", format!("{n_examples}x{n_features}")), |b| {
            b.iter(|| solved(machine.solve(&OneNormSettings::default()).expect("finite features")));
        });
    }
}

fn general(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("general/x{N_FEATURES}/seed{SEED}"));
    group.sample_size(10);
    for n in [50, 150, 450] {
        let (points, signs) = clouds(n);
        let gram = gram(&GAUSSIAN, &points).expect("finite points");
        let signed_gram = DMatrix::from_fn(n, n, |i, j| signs[i] * signs[j] * gram[(i, j)]);
        let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 1.0)).collect();
        entries.extend(signs.iter().enumerate().map(|(i, &sign)| (n, i, sign)));
        let rows = SparseMatrix::from_entries(n + 1, n, &entries).expect("finite entries");
        let upper = [vec![1.0; n], vec![0.0]].concat();
        let program = QuadraticProgram::new(signed_gram, vec![-1.0; n], rows, vec![0.0; n + 1], upper)
            .expect("symmetric and finite");
        group.bench_function(BenchmarkId::new("svm_dual", n), |b| {
            b.iter(|| solved(program.solve(&GeneralSettings::default()).expect("convex")));
        });
    }
}

criterion_group!(benches, kernel_machines, linear_machines, groups_and_blocks, one_norm, general);
criterion_main!(benches);
