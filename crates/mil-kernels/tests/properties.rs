//! What every kernel, Gram matrix and similarity satisfies, whatever the instances.

use mil_core::{Bag, BagSet, KernelRows, ParamField};
use mil_kernels::{
    BagScale, BagSimilarity, Candidates, Centre, Gram, GramRows, Kernel, KernelError, SetKernel, cross_gram, diagonal,
    gram_into, partial_similarity, squared_distances_within,
};
use nalgebra::DMatrix;
use proptest::prelude::*;

/// Eigenvalues of a computed Gram matrix lie above minus this part of its trace.
const EPSILON: f64 = 1e-12;

fn base_kernel() -> impl Strategy<Value = Kernel> {
    prop_oneof![
        Just(Kernel::Linear),
        (1..5_u32, 0.01..2.0, 0.0..2.0).prop_map(|(degree, scale, offset)| Kernel::Polynomial {
            degree,
            scale,
            offset
        }),
        (0.01..5.0).prop_map(|gamma| Kernel::Gaussian { gamma }),
        Just(Kernel::Intersection),
    ]
}

fn kernel() -> impl Strategy<Value = Kernel> {
    base_kernel().prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|kernel| Kernel::Normalised(Box::new(kernel))),
            prop::collection::vec((0.0..3.0, inner), 1..4).prop_map(Kernel::Sum),
        ]
    })
}

/// Non-negative features with zeros, ties, constant features and duplicates among them.
fn instances(max: usize) -> impl Strategy<Value = DMatrix<f64>> {
    let feature = prop_oneof![1 => Just(0.0), 2 => (0..4).prop_map(f64::from), 3 => 0.0..3.0];
    (1..6_usize, 1..max).prop_flat_map(move |(d, n)| {
        (prop::collection::vec(feature.clone(), d * n), any::<bool>(), any::<bool>()).prop_map(
            move |(values, duplicate, constant)| {
                let mut instances = DMatrix::from_vec(d, n, values);
                if duplicate {
                    let first = instances.column(0).clone_owned();
                    instances.set_column(n - 1, &first);
                }
                if constant {
                    instances.row_mut(0).fill(1.0);
                }
                instances
            },
        )
    })
}

/// The Gram matrix as nalgebra's own, for its arithmetic.
fn gram(kernel: &Kernel, instances: &DMatrix<f64>) -> Result<DMatrix<f64>, KernelError> {
    Ok(mil_kernels::gram(kernel, instances)?.to_matrix())
}

fn definition(kernel: &Kernel, left: &DMatrix<f64>, right: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(left.ncols(), right.ncols(), |i, j| {
        kernel.value(left.column(i).as_slice(), right.column(j).as_slice())
    })
}

fn largest_difference(a: &DMatrix<f64>, b: &DMatrix<f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    (a - b).amax() / b.amax().max(1.0)
}

fn on_threads<T: Send>(n_threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap().install(work)
}

/// Features of both signs between 1e-8 and 1e8.
fn widely_spread(d: usize, n: usize) -> impl Strategy<Value = DMatrix<f64>> {
    let feature =
        (-8.0..8.0_f64, any::<bool>()).prop_map(|(e, sign)| if sign { 10_f64.powf(e) } else { -10_f64.powf(e) });
    prop::collection::vec(feature, d * n).prop_map(move |values| DMatrix::from_vec(d, n, values))
}

proptest! {
    #[test]
    fn no_instance_drowns_another(
        instances in (1..4_usize, 2..30_usize).prop_flat_map(|(d, n)| widely_spread(d, n)),
        gamma in 1e-6..1e6_f64,
    ) {
        let cosine = |kernel| Kernel::Normalised(Box::new(kernel));
        let cubic = Kernel::Polynomial { degree: 3, scale: 1.0, offset: 0.0 };
        for product in [Kernel::Linear, cosine(Kernel::Linear), cubic.clone(), cosine(cubic)] {
            let kernel = Kernel::Sum(vec![(1.0, product), (1.0, Kernel::Gaussian { gamma })]);
            let gram = gram(&kernel, &instances).unwrap();
            let expected = definition(&kernel, &instances, &instances);
            for ((i, j), found) in (0..gram.nrows()).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|at| (at, gram[at])) {
                // What rounding may do to k(x,z) grows with the lengths of x and z, and of no other instance.
                let reach = (expected[(i, i)] * expected[(j, j)]).sqrt();
                prop_assert!((found - expected[(i, j)]).abs() <= 1e-9 * reach, "{:?}: {} for {}", (i, j), found, expected[(i, j)]);
            }
            for (value, i) in diagonal(&kernel, &instances).unwrap().into_iter().zip(0..) {
                prop_assert!((value - gram[(i, i)]).abs() <= 1e-9 * value);
            }
        }
    }

    #[test]
    fn a_gram_matrix_is_the_definition_symmetric_and_semi_definite(kernel in kernel(), instances in instances(40)) {
        let gram = gram(&kernel, &instances).unwrap();
        prop_assert!(largest_difference(&gram, &definition(&kernel, &instances, &instances)) < 1e-12);
        prop_assert_eq!(&gram, &gram.transpose());
        let least = gram.clone().symmetric_eigenvalues().min();
        prop_assert!(least >= -EPSILON * gram.trace(), "least eigenvalue {} of trace {}", least, gram.trace());
        let diagonal = diagonal(&kernel, &instances).unwrap();
        for (i, value) in diagonal.into_iter().enumerate() {
            prop_assert!((value - gram[(i, i)]).abs() <= 1e-12 * value.max(1.0));
        }
    }

    #[test]
    fn a_gaussian_lies_between_0_and_1_and_is_1_between_duplicates(gamma in 0.01..1e6, instances in instances(40)) {
        let gram = gram(&Kernel::Gaussian { gamma }, &instances).unwrap();
        prop_assert!(gram.iter().all(|value| (0.0..=1.0).contains(value)));
        for i in 0..gram.ncols() {
            for j in (0..gram.ncols()).filter(|&j| instances.column(i) == instances.column(j)) {
                prop_assert_eq!(gram[(i, j)], 1.0);
            }
        }
    }

    #[test]
    fn a_normalised_kernel_is_a_cosine(kernel in kernel(), instances in instances(30)) {
        let raw = diagonal(&kernel, &instances).unwrap();
        let gram = gram(&Kernel::Normalised(Box::new(kernel)), &instances).unwrap();
        prop_assert!(gram.amax() <= 1.0 + EPSILON);
        for (i, raw) in raw.into_iter().enumerate() {
            let expected = if raw == 0.0 { 0.0 } else { 1.0 };
            prop_assert!((gram[(i, i)] - expected).abs() <= EPSILON);
        }
    }

    #[test]
    fn a_cross_gram_is_the_definition(kernel in kernel(), both in instances(40), at in 0.0..1.0) {
        let at = (at * both.ncols() as f64) as usize;
        let (left, right) = (both.columns(0, at).into_owned(), both.columns(at, both.ncols() - at).into_owned());
        let cross = cross_gram(&kernel, &left, &right).unwrap();
        prop_assert!(cross.is_empty() || largest_difference(&cross, &definition(&kernel, &left, &right)) < 1e-12);
    }

    #[test]
    fn rows_are_those_of_the_gram_matrix_whatever_the_columns(
        kernel in kernel(),
        instances in instances(30),
        rows in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        columns in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
    ) {
        let n = instances.ncols();
        let [rows, columns] = [rows, columns].map(|idxs| idxs.iter().map(|idx| idx.index(n)).collect::<Vec<_>>());
        let whole = gram(&kernel, &instances).unwrap();
        let expected: Vec<Vec<f64>> =
            rows.iter().map(|&row| columns.iter().map(|&column| whole[(row, column)]).collect()).collect();
        prop_assert!(rows_of(&GramRows::new(&kernel, &instances).unwrap(), &rows, &columns) == expected);
        prop_assert!(rows_of(&whole, &rows, &columns) == expected);
    }

    #[test]
    fn set_kernels_are_their_definition_and_semi_definite(kernel in kernel(), instances in instances(40), cut in 1..7_usize) {
        let bags = bags_of(&instances, cut);
        let sum = |kernel: &Kernel, i: usize, j: usize| -> f64 {
            bags.bag(i).instances().flat_map(|x| bags.bag(j).instances().map(move |z| kernel.value(x, z))).sum()
        };
        let n = bags.n_bags();
        let size = |i: usize| bags.bag(i).n_instances() as f64;
        let mean = DMatrix::from_fn(n, n, |i, j| sum(&kernel, i, j) / (size(i) * size(j)));
        let cosine = DMatrix::from_fn(n, n, |i, j| {
            let lengths = (sum(&kernel, i, i) * sum(&kernel, j, j)).sqrt();
            if lengths == 0.0 { 0.0 } else { sum(&kernel, i, j) / lengths }
        });
        for (scale, expected) in [(BagScale::Mean, mean), (BagScale::FeatureSpace, cosine)] {
            let set_kernel = SetKernel::Instances { kernel: kernel.clone(), scale };
            let gram = set_kernel.gram(&bags).unwrap();
            prop_assert!(largest_difference(&gram, &expected) < 1e-10);
            prop_assert!(largest_difference(&set_kernel.cross_gram(&bags, &bags).unwrap(), &expected) < 1e-10);
            let lengths: Vec<f64> = bags.bags().map(|bag| scale.length(&kernel, bag).unwrap()).collect();
            let from_lengths = DMatrix::from_fn(n, n, |i, j| {
                let lengths = lengths[i] * lengths[j];
                if lengths == 0.0 { 0.0 } else { sum(&kernel, i, j) / lengths }
            });
            prop_assert!(largest_difference(&from_lengths, &expected) < 1e-10);
            prop_assert_eq!(&gram, &gram.transpose());
            prop_assert!(gram.clone().symmetric_eigenvalues().min() >= -EPSILON * gram.trace());
        }
    }

    #[test]
    fn bags_whose_instances_cancel_leave_no_rounding_that_a_kernel_could_not(
        values in prop::collection::vec(-10.0..10.0_f64, 24),
        scale in prop::sample::select(vec![BagScale::Mean, BagScale::FeatureSpace]),
    ) {
        let mut builder = BagSet::<()>::builder();
        for (bag_idx, bag) in values.chunks(6).enumerate() {
            // The last instance is what the other three are missing for a sum of 0.
            let rest = [-(bag[0] + bag[2] + bag[4]), -(bag[1] + bag[3] + bag[5])];
            builder.bag(bag_idx.to_string(), (), bag.chunks(2).chain([&rest[..]])).unwrap();
        }
        let bags = builder.build().unwrap();
        let gram = SetKernel::Instances { kernel: Kernel::Linear, scale }.gram(&bags).unwrap();
        for i in 0..bags.n_bags() {
            prop_assert!(gram[(i, i)] >= 0.0);
            prop_assert!(gram[(i, i)] == 0.0 || scale == BagScale::Mean, "no direction, hence no length");
            for j in 0..i {
                let bound = gram[(i, i)].sqrt() * gram[(j, j)].sqrt();
                prop_assert!(gram[(i, j)].abs() <= bound, "{} is beyond {bound}", gram[(i, j)]);
            }
        }
    }

    #[test]
    fn the_embedding_is_its_definition(instances in instances(60), cut in 1..7_usize, sigma2 in 0.1..10.0) {
        let bags = bags_of(&instances, cut);
        let embedding = BagSimilarity::new(&instances, sigma2).unwrap().to_bags(&bags).unwrap();
        let kernel = Kernel::Gaussian { gamma: 1.0 / sigma2 };
        for (bag_idx, bag) in bags.bags().enumerate() {
            for (k, candidate) in instances.column_iter().enumerate() {
                let expected = bag.instances().map(|x| kernel.value(x, candidate.as_slice())).fold(0.0, f64::max);
                prop_assert!((embedding[(k, bag_idx)] - expected).abs() < 1e-12);
                if bag.instances().any(|x| x == candidate.as_slice()) {
                    prop_assert_eq!(embedding[(k, bag_idx)], 1.0);
                }
            }
        }
    }

    #[test]
    fn distances_within_bags_are_those_to_any_candidates(instances in instances(60), cut in 1..7_usize) {
        require_distances_within(&bags_of(&instances, cut));
    }

    #[test]
    fn candidates_that_come_and_go_are_those_that_are_left(
        instances in instances(40),
        cut in 1..6_usize,
        gone in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let bags = bags_of(&instances, cut);
        let mut candidates = Candidates::new(instances.nrows(), 3.0).unwrap();
        let mut expected: Vec<Vec<f64>> = Vec::new();
        let mut gone = gone.iter();
        for bag in bags.bags() {
            candidates.extend(&bag).unwrap();
            expected.extend(bag.instances().map(<[f64]>::to_vec));
            for idx in gone.by_ref().take(bag.n_instances()) {
                let idx = idx.index(expected.len());
                candidates.swap_remove(idx);
                expected.swap_remove(idx);
                if expected.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(candidates.similarity().n_candidates(), expected.len());
        }
        for (idx, candidate) in expected.iter().enumerate() {
            prop_assert_eq!(candidates.get(idx), &candidate[..]);
        }
        let flat: Vec<f64> = expected.concat();
        let anew = DMatrix::from_vec(instances.nrows(), expected.len(), flat);
        let found = candidates.similarity().to_bags(&bags).unwrap();
        let wanted = BagSimilarity::new(&anew, 3.0).unwrap().to_bags(&bags).unwrap();
        // The centres differ, hence the rounding.
        prop_assert!((&found - &wanted).iter().all(|difference| difference.abs() < 1e-12));
        let restored: Candidates = serde_json::from_value(serde_json::to_value(&candidates).unwrap()).unwrap();
        prop_assert_eq!(restored.similarity().to_bags(&bags).unwrap(), found.clone());
        for (bag, column) in bags.bags().zip(found.column_iter()) {
            prop_assert_eq!(candidates.similarity().to_bag(&bag).unwrap(), column.as_slice());
        }
    }

    #[test]
    fn selecting_nearest_features_is_sorting_them(pair in instances(2).prop_map(|x| x.as_slice().to_vec()), k in 0..8_usize) {
        let other = vec![1.0; pair.len()];
        let mut differences: Vec<f64> = pair.iter().map(|x| (x - 1.0).abs()).collect();
        differences.sort_by(f64::total_cmp);
        let expected = (-differences.iter().take(k).map(|x| x * x).sum::<f64>() / 2.0).exp();
        let found = partial_similarity(&pair, &other, k, 2.0, &mut vec![7.0; 3]).unwrap();
        prop_assert!((found - expected).abs() < 1e-14);
    }

    #[test]
    fn a_kernel_shows_as_a_word_that_reads_back(kernel in kernel()) {
        prop_assert_eq!(Kernel::parse(&kernel.show()), Some(kernel));
    }

    #[test]
    fn a_scale_shows_as_a_word_that_reads_back(scale in prop::sample::select(vec![BagScale::Mean, BagScale::FeatureSpace])) {
        prop_assert_eq!(BagScale::parse(&scale.show()), Some(scale));
        prop_assert_eq!(BagScale::parse(&scale.show().to_uppercase()), None);
    }

    #[test]
    fn no_word_makes_the_reader_panic(word in "[a-z(),*0-9. ]{0,40}") {
        let _ = Kernel::parse(&word);
    }

    #[test]
    fn no_finite_instances_make_a_panic_or_a_nan(
        kernel in kernel(),
        exponents in prop::collection::vec((any::<bool>(), -308..308_i32), 12),
    ) {
        let values = exponents.iter().map(|&(negative, e)| if negative { -1.0 } else { 1.0 } * 10_f64.powi(e));
        let instances = DMatrix::from_iterator(3, 4, values);
        if let Ok(gram) = gram(&kernel, &instances) {
            prop_assert!(gram.iter().all(|value| value.is_finite()));
        }
        let bags = bags_of(&instances, 2);
        for scale in [BagScale::Mean, BagScale::FeatureSpace] {
            if let Ok(gram) = (SetKernel::Instances { kernel: kernel.clone(), scale }).gram(&bags) {
                prop_assert!(gram.iter().all(|value| value.is_finite()));
            }
        }
        let within = squared_distances_within(&bags, Centre::AllBags);
        prop_assert_eq!(within.err(), BagSimilarity::new(&instances, 1.0).err());
        if let Ok(similarity) = BagSimilarity::new(&instances, 1.0) {
            prop_assert!(similarity.to_bags(&bags).unwrap().iter().all(|value| (0.0..=1.0).contains(value)));
        }
    }
}

/// Bags of `1, 2, .., cut, 1, 2, ..` instances.
fn bags_of(instances: &DMatrix<f64>, cut: usize) -> BagSet<()> {
    bags_of_sizes(instances, (1..=cut).cycle())
}

/// Bags of so many instances each, until there are no more.
fn bags_of_sizes(instances: &DMatrix<f64>, sizes: impl Iterator<Item = usize>) -> BagSet<()> {
    let mut builder = BagSet::builder();
    let mut instances = instances.column_iter().map(|instance| instance.as_slice().to_vec()).peekable();
    for (bag_idx, size) in sizes.enumerate() {
        if instances.peek().is_none() {
            break;
        }
        builder.bag(bag_idx.to_string(), (), instances.by_ref().take(size)).unwrap();
    }
    builder.build().unwrap()
}

/// Distances within a set are those to its instances as candidates of any kind, to the bit.
fn require_distances_within(bags: &BagSet<()>) {
    let all = BagSimilarity::new(bags.instances(), 1.0).unwrap();
    assert_eq!(squared_distances_within(bags, Centre::AllBags).unwrap(), all.squared_distances(bags).unwrap());
    let mut one_by_one = Candidates::new(bags.n_features(), 1.0).unwrap();
    bags.bags().for_each(|bag| one_by_one.extend(&bag).unwrap());
    assert_eq!(
        squared_distances_within(bags, Centre::FirstBag).unwrap(),
        one_by_one.similarity().squared_distances(bags).unwrap()
    );
}

/// More instances than a block and more features than one pass, from a fixed recurrence.
fn many_instances(n_features: usize, n: usize) -> DMatrix<f64> {
    let mut state = 1_u32;
    DMatrix::from_fn(n_features, n, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24)
    })
}

fn one_of_each() -> Vec<Kernel> {
    let polynomial = Kernel::Polynomial { degree: 3, scale: 0.5, offset: 1.0 };
    let gaussian = Kernel::Gaussian { gamma: 0.1 };
    let mixture = vec![
        (0.5, polynomial.clone()),
        (0.25, gaussian.clone()),
        (2.0, Kernel::Normalised(Box::new(Kernel::Intersection))),
    ];
    vec![Kernel::Linear, polynomial, gaussian, Kernel::Intersection, Kernel::Sum(mixture)]
}

#[test]
fn blocks_and_passes_leave_no_seam() {
    for (n_features, n) in [(3, 400), (300, 200), (520, 25), (1, 193), (166, 385)] {
        let instances = many_instances(n_features, n);
        for kernel in one_of_each() {
            let gram = gram(&kernel, &instances).unwrap();
            let difference = largest_difference(&gram, &definition(&kernel, &instances, &instances));
            assert!(difference < 1e-12, "{kernel:?}, {n_features} features, {n} instances: {difference}");
            let cross = cross_gram(&kernel, &instances, &instances).unwrap();
            assert_eq!(cross, gram, "a cross-Gram of a set with itself, {kernel:?}");
        }
    }
}

fn rows_of(kernel: &impl KernelRows, idxs: &[usize], columns: &[usize]) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![f64::NAN; columns.len()]; idxs.len()];
    let mut places: Vec<&mut [f64]> = rows.iter_mut().map(Vec::as_mut_slice).collect();
    kernel.fill_rows(idxs, &kernel.prepare(columns), &mut places).unwrap();
    rows
}

#[test]
fn one_thread_or_two_the_result_is_the_same_to_the_bit() {
    let instances = many_instances(20, 500);
    let bags = bags_of(&instances, 9);
    for kernel in one_of_each() {
        let set_kernel = SetKernel::Instances { kernel: kernel.clone(), scale: BagScale::FeatureSpace };
        let work = || {
            let similarity = BagSimilarity::new(&instances, 2.0).unwrap();
            (
                gram(&kernel, &instances).unwrap(),
                cross_gram(&kernel, instances.columns(0, 300), &instances).unwrap(),
                rows_of(&GramRows::new(&kernel, &instances).unwrap(), &[3], &(0..500).collect::<Vec<_>>()),
                set_kernel.gram(&bags).unwrap(),
                similarity.to_bags(&bags).unwrap(),
            )
        };
        assert!(on_threads(1, work) == on_threads(2, work), "{kernel:?}");
    }
}

#[test]
fn distances_within_bags_have_no_seam_between_panels_groups_or_threads() {
    for (n_features, n) in [(1, 301), (3, 1500), (20, 700), (20, 1000), (166, 850)] {
        let mut instances = many_instances(n_features, n);
        // Pairs so near that they are refined, across groups and within one.
        for (i, j) in [(0, n - 1), (n / 3, n / 3 + 1), (5, n / 2)] {
            let near = instances.column(i).map(|x| x + 1e-6);
            instances.set_column(j, &near);
        }
        // One large bag in the midst of small ones.
        let sizes = (1..=9).cycle().enumerate().map(|(bag_idx, size)| if bag_idx == 60 { 300 } else { size });
        let bags = bags_of_sizes(&instances, sizes);
        assert!(n < 600 || bags.bags().any(|bag| bag.n_instances() == 300));
        on_threads(1, || require_distances_within(&bags));
        on_threads(2, || require_distances_within(&bags));
    }
}

#[test]
fn distances_within_bags_that_overflow_name_the_instance_wherever_it_is() {
    let mut instances = many_instances(20, 700);
    instances[(3, 650)] = 1e200;
    let error = squared_distances_within(&bags_of(&instances, 9), Centre::AllBags).unwrap_err();
    assert!(matches!(error, KernelError::Overflow { left_idx: 650, .. }), "{error}");
    assert_eq!(error, BagSimilarity::new(&instances, 1.0).unwrap_err());
}

#[test]
fn distances_survive_a_large_offset_and_remote_clusters() {
    let kernel = Kernel::Gaussian { gamma: 0.5 };
    let spread = many_instances(10, 50);
    let offset = spread.map(|x| x + 1e7);
    let mut clusters = offset.clone();
    clusters.columns_mut(0, 25).iter_mut().for_each(|x| *x -= 2e7);
    for instances in [offset, clusters] {
        let difference =
            largest_difference(&gram(&kernel, &instances).unwrap(), &definition(&kernel, &instances, &instances));
        assert!(difference < 1e-9, "{difference}");
    }
}

#[test]
fn rows_refine_near_pairs_wherever_the_whole_matrix_does() {
    // The exponents of the far pair are beyond what may stay unrefined; those of a far and a near instance are not.
    let instances = DMatrix::from_row_slice(1, 6, &[83.7, -83.7, 30.0, 30.001, -30.0, -30.001]);
    let kernel = Kernel::Gaussian { gamma: 1.0 };
    let gram = mil_kernels::gram(&kernel, &instances).unwrap();
    let rows = GramRows::new(&kernel, &instances).unwrap();
    for idx in 0..6 {
        assert_eq!(rows_of(&rows, &[idx], &[2, 3, 4, 5])[0][..], gram.row(idx)[2..]);
    }
}

#[test]
fn a_sum_that_mixes_distances_and_products_is_the_definition_under_an_offset() {
    let kernel = Kernel::Sum(vec![(1.0, Kernel::Linear), (1e6, Kernel::Gaussian { gamma: 0.5 })]);
    let instances = many_instances(10, 50).map(|x| x + 1000.0);
    assert!(
        largest_difference(&gram(&kernel, &instances).unwrap(), &definition(&kernel, &instances, &instances)) < 1e-13
    );
}

#[test]
fn a_bag_that_does_not_suit_leaves_the_candidates_as_they_were() {
    let mut candidates = Candidates::new(2, 1.0).unwrap();
    let sound = Bag::new("sound", 2, &[1.0, 2.0, 3.0, 4.0]).unwrap();
    for bag in [Bag::new("narrow", 1, &[1.0]).unwrap(), Bag::new("huge", 2, &[1e200, -1e200, 0.0, 0.0]).unwrap()] {
        assert!(candidates.extend(&bag).is_err() && candidates.similarity().n_candidates() == 0);
        candidates.extend(&sound).unwrap();
        assert!(candidates.extend(&bag).is_err() && candidates.similarity().n_candidates() == 2);
        assert_eq!(candidates.similarity().to_bag(&sound).unwrap(), [1.0, 1.0]);
        (0..2).for_each(|_| candidates.swap_remove(0));
    }
    assert!(Candidates::new(0, 1.0).is_err() && Candidates::new(1, 0.0).is_err());
    for damaged in [
        r#"{"sigma2":-1.0,"centre":[0.0],"candidates":[1.0]}"#,
        r#"{"sigma2":1.0,"centre":[],"candidates":[]}"#,
        r#"{"sigma2":1.0,"centre":[0.0,0.0],"candidates":[1.0]}"#,
        r#"{"sigma2":1.0,"centre":[0.0],"candidates":[1e200]}"#,
    ] {
        assert!(serde_json::from_str::<Candidates>(damaged).is_err(), "{damaged}");
    }
}

#[test]
fn memory_of_any_size_can_be_used_again() {
    let kernel = Kernel::Gaussian { gamma: 1.0 };
    // 720 is the last that lives on the heap, 721 the first in pages of its own.
    let mut matrix = Gram::new();
    for n in [5, 9, 720, 721, 9, 721, 721, 730, 0] {
        let instances = many_instances(3, n);
        gram_into(&kernel, &instances, &mut matrix).unwrap();
        assert_eq!(matrix, mil_kernels::gram(&kernel, &instances).unwrap(), "{n} instances");
        assert_eq!(matrix.view(), cross_gram(&kernel, &instances, &instances).unwrap(), "{n} instances");
    }
}

#[test]
fn row_view_index_and_copy_are_one_matrix() {
    for n in [7, 8, 730] {
        let gram = mil_kernels::gram(&Kernel::Linear, &many_instances(3, n)).unwrap();
        let (view, copy) = (gram.view(), gram.to_matrix());
        assert_eq!((gram.n_instances(), view.shape()), (n, (n, n)));
        assert_eq!(view, copy);
        for i in 0..n {
            assert_eq!(gram.row(i), copy.column(i).as_slice());
            assert!((0..n).all(|j| gram[(i, j)] == copy[(i, j)]));
        }
    }
}

#[test]
fn a_matrix_beyond_all_memory_is_refused() {
    // Instances without features take no memory themselves; their matrix wants 128 TiB, then more than there are addresses for.
    for n_instances in [1 << 22, 1 << 40] {
        let instances = DMatrix::<f64>::zeros(0, n_instances);
        let refused = mil_kernels::gram(&Kernel::Linear, &instances);
        assert_eq!(refused.unwrap_err(), KernelError::TooLarge { n_instances });
    }
}

#[test]
fn no_instances_give_an_empty_matrix() {
    let none = DMatrix::zeros(3, 0);
    for kernel in one_of_each() {
        assert_eq!(gram(&kernel, &none).unwrap().shape(), (0, 0));
        assert_eq!(cross_gram(&kernel, &none, &many_instances(3, 2)).unwrap().shape(), (0, 2));
        assert_eq!(cross_gram(&kernel, &many_instances(3, 2), &none).unwrap().shape(), (2, 0));
    }
}

#[test]
fn min_max_compares_the_least_and_greatest_features() {
    let mut builder = BagSet::<()>::builder();
    builder.bag("a", (), [[1.0, 5.0], [3.0, 2.0]]).unwrap();
    builder.bag("b", (), [[7.0, 1.0]]).unwrap();
    let bags = builder.build().unwrap();
    // s(a) = (1, 2, 3, 5), s(b) = (7, 1, 7, 1)
    let kernel = SetKernel::MinMax { kernel: Kernel::Linear };
    assert_eq!(kernel.gram(&bags).unwrap(), DMatrix::from_row_slice(2, 2, &[39.0, 35.0, 35.0, 100.0]));
    assert_eq!(kernel.cross_gram(&bags, &bags).unwrap(), kernel.gram(&bags).unwrap());
}

#[test]
fn errors_say_where() {
    let message = |kernel: &Kernel, values: &[f64]| {
        gram(kernel, &DMatrix::from_row_slice(1, values.len(), values)).unwrap_err().to_string()
    };
    assert_eq!(
        message(&Kernel::Intersection, &[1.0, -2.0]),
        "instance 1, feature 0 is -2; the intersection kernel needs features of at least 0"
    );
    assert_eq!(
        message(&Kernel::Linear, &[1.0, 1e200]),
        "the kernel value of instances 1 and 1 is inf, not a finite number; rescale the features"
    );
    assert_eq!(
        message(&Kernel::Gaussian { gamma: 1.0 }, &[1.0, 1e300]),
        "the squared distance of instances 1 and 1 is inf, not a finite number; rescale the features"
    );
    assert_eq!(message(&Kernel::Gaussian { gamma: 0.0 }, &[1.0]), "gamma is 0, expected a finite number above 0");
    assert_eq!(
        message(&Kernel::Polynomial { degree: 2, scale: 1.0, offset: -0.5 }, &[1.0]),
        "offset is -0.5, expected a finite number, at least 0"
    );
    assert_eq!(
        message(&Kernel::Sum(vec![(f64::NAN, Kernel::Linear)]), &[1.0]),
        "weight is NaN, expected a finite number, at least 0"
    );
    let dimension = cross_gram(&Kernel::Linear, &DMatrix::zeros(2, 1), &DMatrix::zeros(3, 1)).unwrap_err();
    assert_eq!(dimension, KernelError::Dimension { left: 2, right: 3 });
    assert!(partial_similarity(&[1.0], &[1.0], 1, -1.0, &mut Vec::new()).is_err());
}

#[test]
fn words_with_spaces_read_and_broken_ones_do_not() {
    let mixture = Kernel::Sum(vec![(0.5, Kernel::Linear), (2.0, Kernel::Normalised(Box::new(Kernel::Intersection)))]);
    assert_eq!(Kernel::parse("sum(0.5 * linear, 2*normalised( intersection ))"), Some(mixture));
    assert_eq!(Kernel::parse("polynomial(2,0.01,1)"), Some(Kernel::Polynomial { degree: 2, scale: 0.01, offset: 1.0 }));
    for word in [
        "",
        "gauss(1)",
        "gaussian",
        "gaussian(1",
        "gaussian(1))",
        "polynomial(2,1)",
        "sum()",
        "sum(linear)",
        "linear()",
    ] {
        assert_eq!(Kernel::parse(word), None, "{word}");
    }
    assert_eq!(Kernel::parse(&"normalised(".repeat(100_000)), None);
}

#[test]
fn bags_whose_instances_cancel_have_no_direction() {
    let mut builder = BagSet::<()>::builder();
    for bag_idx in 0..40 {
        let x = f64::from(bag_idx) * 0.1 + 0.3;
        builder.bag(bag_idx.to_string(), (), [[x, 1.0], [0.7, -x], [-x - 0.7, x - 1.0]]).unwrap();
    }
    let bags = builder.build().unwrap();
    let kernel = SetKernel::Instances { kernel: Kernel::Linear, scale: BagScale::FeatureSpace };
    assert_eq!(kernel.gram(&bags).unwrap().amax(), 0.0);
    assert_eq!(kernel.cross_gram(&bags, &bags).unwrap().amax(), 0.0);
}

#[test]
fn the_bag_that_overflows_is_named() {
    let bags = |values: &[f64]| {
        let mut builder = BagSet::<()>::builder();
        for (bag_idx, value) in values.iter().enumerate() {
            builder.bag(bag_idx.to_string(), (), [[*value], [*value]]).unwrap();
        }
        builder.build().unwrap()
    };
    let square = Kernel::Polynomial { degree: 2, scale: 1.0, offset: 0.0 };
    let kernel = SetKernel::Instances { kernel: square.clone(), scale: BagScale::FeatureSpace };
    for (left, right) in [(bags(&[1.0]), bags(&[1.0, 2.0, 1e100])), (bags(&[1.0, 2.0, 1e100]), bags(&[1.0]))] {
        let error = kernel.cross_gram(&left, &right).unwrap_err();
        assert!(matches!(error, KernelError::BagOverflow { left_bag: 2, right_bag: 2, .. }), "{error}");
    }
    let error = SetKernel::MinMax { kernel: square }.gram(&bags(&[1.0, 1e200])).unwrap_err();
    assert!(matches!(error, KernelError::BagOverflow { left_bag: 1, .. }), "{error}");
    let error = SetKernel::MinMax { kernel: Kernel::Intersection }.gram(&bags(&[1.0, -6.0])).unwrap_err();
    assert_eq!(error, KernelError::Negative { instance_idx: 2, feature_idx: 0, value: -6.0 });
}

#[test]
fn a_partial_similarity_is_right_up_to_the_largest_numbers_and_never_nan() {
    let mut scratch = Vec::new();
    let value = partial_similarity(&[1.5e154], &[0.0], 1, 1.5e308, &mut scratch).unwrap();
    assert!((value - (-1.5_f64).exp()).abs() < 1e-12, "{value}");
    for x in [[f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
        let outcome = partial_similarity(&x, &[f64::INFINITY, 1.0], 1, 1.0, &mut scratch);
        assert!(matches!(outcome, Err(KernelError::NotFinite { feature_idx: 0, .. })), "{outcome:?}");
    }
}

#[test]
fn a_weight_of_zero_silences_and_a_product_of_weights_beyond_the_numbers_is_refused() {
    let huge = DMatrix::from_row_slice(1, 2, &[1e200, 2e200]);
    let silenced = Kernel::parse("sum(0*linear,1*intersection)").unwrap();
    assert_eq!(gram(&silenced, &huge).unwrap()[(0, 1)], 1e200);
    assert_eq!(diagonal(&silenced, &huge).unwrap(), [1e200, 2e200]);
    assert_eq!(silenced.value(&[1e200], &[2e200]), 1e200);
    let instances = DMatrix::from_row_slice(1, 2, &[1.0, 2.0]);
    for word in ["sum(1e-200*sum(1e-200*linear))", "sum(1e200*sum(1e200*linear))"] {
        let error = gram(&Kernel::parse(word).unwrap(), &instances).unwrap_err();
        assert!(error.to_string().starts_with("product of nested weights is"), "{error}");
    }
}

#[test]
fn what_cannot_be_normalised_or_is_not_a_number_is_named() {
    let tiny = Kernel::parse("normalised(polynomial(50,1e-8,0))").unwrap();
    let instances = DMatrix::from_row_slice(1, 3, &[0.0, 1.0, 2.0]);
    assert_eq!(gram(&tiny, &instances).unwrap_err(), KernelError::Underflow { instance_idx: 1 });
    let mut broken = instances.clone();
    broken[(0, 2)] = f64::NAN;
    for kernel in [Kernel::Linear, Kernel::Gaussian { gamma: 1.0 }] {
        assert!(matches!(gram(&kernel, &broken), Err(KernelError::NotFinite { instance_idx: 2, feature_idx: 0, .. })));
        assert!(matches!(diagonal(&kernel, &broken), Err(KernelError::NotFinite { instance_idx: 2, .. })));
    }
}

#[test]
fn kernels_nest_as_deep_as_their_words_can_tell() {
    let nested = |depth: usize| (0..depth).fold(Kernel::Linear, |kernel, _| Kernel::Normalised(Box::new(kernel)));
    assert!(nested(15).check().is_ok() && Kernel::parse(&nested(15).show()) == Some(nested(15)));
    assert!(nested(16).check().is_err() && Kernel::parse(&nested(16).show()).is_none());
}

#[test]
fn a_gram_matrix_shows_its_values() {
    let instances = DMatrix::from_row_slice(1, 2, &[1.0, 2.0]);
    let gram = mil_kernels::gram(&Kernel::Linear, &instances).unwrap();
    assert_eq!(format!("{gram:?}"), "[[1.0, 2.0], [2.0, 4.0]]");
}
