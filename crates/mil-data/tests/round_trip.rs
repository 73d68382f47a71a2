//! What is written reads back equal, or the write is refused.

use std::path::PathBuf;

use mil_core::{BagSet, ClassId, ClassNames, Label};
use mil_data::synth::{ClustersParams, FiveGaussiansParams, WitnessParams};
use mil_data::{
    BagTable, Compression, DataError, Format, ReadOptions, Uncarried, WriteOptions, WrittenLabel, read, read_path,
    write, write_path,
};
use proptest::prelude::*;

fn fixture(name: &str) -> BagSet<Label> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    read_path(path, &ReadOptions::default()).unwrap().binary(None).unwrap()
}

fn written<Y: WrittenLabel>(bags: &BagSet<Y>, format: Format, options: &WriteOptions) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    write(&mut bytes, bags, format, options).map(|()| bytes)
}

fn table(bytes: &[u8], format: Format) -> BagTable {
    read(bytes, "test", format, &ReadOptions::default()).unwrap()
}

/// Equality of floats takes 0 and -0 for one; this does not.
fn assert_same<Y: WrittenLabel>(found: &BagSet<Y>, expected: &BagSet<Y>) {
    assert_eq!(found, expected);
    let bits = |bags: &BagSet<Y>| bags.instances().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(expected));
}

#[test]
fn musk_is_what_its_donors_describe() {
    let musk1 = fixture("musk1.csv.gz");
    assert_eq!((musk1.n_bags(), musk1.n_instances(), musk1.n_features()), (92, 476, 166));
    assert_eq!(musk1.class_counts(), [45, 47]);
    let musk2 = fixture("musk2.csv.gz");
    assert_eq!((musk2.n_bags(), musk2.n_instances(), musk2.n_features()), (102, 6598, 166));
    assert_eq!(musk2.class_counts(), [63, 39]);
    assert_eq!(musk2.bags().map(|bag| bag.n_instances()).max(), Some(1044));
}

#[test]
fn musk_survives_every_format_plain_and_compressed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["musk1.csv.gz", "musk2.csv.gz"] {
        let bags = fixture(name);
        for format in Format::ALL {
            for suffix in ["", ".gz"] {
                let path = folder.path().join(format!("copy.{}{suffix}", format.extension()));
                write_path(&path, &bags, &WriteOptions::default()).unwrap();
                let is_gzip = std::fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]);
                assert_eq!(is_gzip, suffix == ".gz");
                assert_same(&read_path(&path, &ReadOptions::default()).unwrap().binary(None).unwrap(), &bags);
            }
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 12, "no temporary file stays: {left:?}");
}

#[test]
fn every_generated_set_survives_every_format() {
    let small = FiveGaussiansParams { n_positive: 20, n_negative: 20, ..Default::default() };
    let clusters = ClustersParams { n_positive: 10, n_negative: 10, ..ClustersParams::figure_3() };
    let witnesses = WitnessParams { n_positive: 10, n_negative: 10, ..Default::default() };
    for bags in [small.generate(), clusters.generate(), ClustersParams::figure_2().generate(), witnesses.generate()] {
        let bags = bags.unwrap();
        let bare = bags.clone().without_instance_labels();
        for format in Format::ALL {
            let carries = matches!(format, Format::Csv | Format::Npz | Format::Parquet);
            let kept = if carries { &bags } else { &bare };
            let bytes = written(kept, format, &WriteOptions::default()).unwrap();
            assert_same(&table(&bytes, format).binary(None).unwrap(), kept);
        }
    }
}

#[test]
fn a_refused_write_leaves_the_old_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bags.svm");
    std::fs::write(&path, "precious").unwrap();
    let mut builder = BagSet::builder();
    builder.bag("two words", (), [[1.0]]).unwrap();
    let refused = write_path(&path, &builder.build().unwrap(), &WriteOptions::default()).unwrap_err();
    assert!(matches!(
        refused,
        DataError::CannotCarry { format: Format::Svm, what: Uncarried::BagName { bag_idx: 0, .. } }
    ));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

fn classes_with_all_parts() -> BagSet<ClassId> {
    let names = ClassNames::new(["apple", "pear, green", "unused"]);
    let mut builder = BagSet::builder_of_classes(names);
    builder.open_bag("left", ClassId(1));
    builder.labelled_instance(&[1.0, -0.0], ClassId(1)).unwrap();
    builder.labelled_instance(&[5e-324, 1e308], ClassId(0)).unwrap();
    builder.open_bag("right", ClassId(0));
    builder.labelled_instance(&[0.1, f64::MIN], ClassId(0)).unwrap();
    builder.feature_names(["size", "weight \"g\", dry"]);
    builder.build().unwrap()
}

#[test]
fn each_format_refuses_just_what_it_cannot_carry() {
    let bags = classes_with_all_parts();
    let refusal = |format| match written(&bags, format, &WriteOptions::default()) {
        Ok(_) => None,
        Err(DataError::CannotCarry { what, .. }) => Some(what),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(refusal(Format::C45), Some(Uncarried::FeatureNames));
    assert_eq!(refusal(Format::Svm), Some(Uncarried::FeatureNames));
    assert_eq!(refusal(Format::Csv), Some(Uncarried::ClassWithoutBags { name: "unused".into() }));
    assert_eq!(refusal(Format::Arff), Some(Uncarried::InstanceLabels));
    for format in [Format::Npz, Format::Parquet] {
        let bytes = written(&bags, format, &WriteOptions::default()).unwrap();
        assert_same(&table(&bytes, format).classes().unwrap(), &bags);
    }
    let bytes = written(&bags.clone().without_instance_labels(), Format::Arff, &WriteOptions::default()).unwrap();
    assert_same(&table(&bytes, Format::Arff).classes().unwrap(), &bags.without_instance_labels());
}

#[test]
fn a_lossy_write_drops_and_keeps_the_rest() {
    let bags = classes_with_all_parts();
    let lossy = WriteOptions { lossy: true, ..Default::default() };
    let from_csv = table(&written(&bags, Format::Csv, &lossy).unwrap(), Format::Csv).classes().unwrap();
    assert_eq!(from_csv.class_names().iter().collect::<Vec<_>>(), ["apple", "pear, green"]);
    assert_eq!(from_csv.feature_names(), bags.feature_names());
    // A class name is never dropped.
    let error = written(&bags, Format::Svm, &lossy).unwrap_err();
    assert!(error.to_string().contains("the class name \"pear, green\""), "{error}");

    let mut builder = BagSet::builder();
    builder.bag("a:b", Label::Positive, [[1.0, 2.0]]).unwrap();
    builder.feature_names(["x", "y"]);
    let bags = builder.build().unwrap();
    let from_svm = table(&written(&bags, Format::Svm, &lossy).unwrap(), Format::Svm).binary(None).unwrap();
    assert_eq!((from_svm.names(), from_svm.feature_names()), (&["1".to_owned()][..], None));
    assert_eq!(from_svm.instances(), bags.instances());
}

#[test]
fn features_named_like_other_columns_are_refused() {
    for name in ["label", "Bag", "instance_label", "Instance-Class"] {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[1.0]]).unwrap().feature_names([name]);
        let bags = builder.build().unwrap();
        for format in [Format::Csv, Format::Parquet] {
            let error = written(&bags, format, &WriteOptions::default()).unwrap_err();
            assert!(error.to_string().contains("cannot carry the feature name"), "{format} {name}: {error}");
        }
        for format in [Format::Arff, Format::Npz] {
            let bytes = written(&bags, format, &WriteOptions::default()).unwrap();
            assert_same(&table(&bytes, format).binary(None).unwrap(), &bags);
        }
    }
}

#[test]
fn units_as_instance_labels_survive_where_instance_labels_do() {
    let mut builder = BagSet::builder();
    builder.open_bag("a", ()).labelled_instance(&[1.0], ()).unwrap();
    let bags = builder.build().unwrap();
    for format in [Format::Csv, Format::Npz, Format::Parquet] {
        let bytes = written(&bags, format, &WriteOptions::default()).unwrap();
        assert_same(&table(&bytes, format).unlabelled().unwrap(), &bags);
    }
}

#[test]
fn the_same_set_gives_the_same_bytes() {
    let bags = fixture("musk1.csv.gz");
    for format in Format::ALL {
        let once =
            written(&bags, format, &WriteOptions { compression: Compression::Gzip, ..Default::default() }).unwrap();
        let again =
            written(&bags, format, &WriteOptions { compression: Compression::Gzip, ..Default::default() }).unwrap();
        assert_eq!(once, again, "{format}");
    }
}

/// A bag set in parts, so that one strategy serves all three label types.
#[derive(Debug, Clone)]
struct Parts {
    bags: Vec<(String, u32, Vec<Vec<f64>>)>,
    instance_labels: Option<Vec<u32>>,
    feature_names: Option<Vec<String>>,
    class_names: Vec<String>,
}

impl Parts {
    fn build<Y: WrittenLabel>(&self, mut builder: mil_core::BagSetBuilder<Y>, label: impl Fn(u32) -> Y) -> BagSet<Y> {
        let mut instance_idx = 0;
        for (name, class, instances) in &self.bags {
            builder.open_bag(name, label(*class));
            for instance in instances {
                match &self.instance_labels {
                    Some(labels) => builder.labelled_instance(instance, label(labels[instance_idx % labels.len()])),
                    None => builder.instance(instance),
                }
                .unwrap();
                instance_idx += 1;
            }
        }
        if let Some(names) = &self.feature_names {
            builder.feature_names(names);
        }
        builder.build().unwrap()
    }
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        (-1000_i32..1000).prop_map(f64::from),
        prop::sample::select(vec![
            0.0,
            -0.0,
            1e308,
            f64::MIN,
            f64::MAX,
            5e-324,
            f64::MIN_POSITIVE,
            0.1,
            1e15,
            1e16,
            -1e22
        ]),
    ]
}

/// Names of all sorts: plain ones for the formats that carry no others, and awkward ones.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Z0-9_.+-]{1,8}",
        1 => "[ -~]{0,8}",
        1 => "\\PC{0,6}",
        1 => prop::sample::select(vec!["?", "", "a b", "a,b", "it's", "\"", "\\", "\\n", "a\nb", "tab\t", "%x", "{", "}", "#", "ü", "\u{feff}x", "bag", "label", "f1", "1", "a\0", " x", "x.", "1:2"])
            .prop_map(str::to_owned),
    ]
}

fn parts() -> impl Strategy<Value = Parts> {
    (1_usize..5, 1_usize..6, 1_u32..4).prop_flat_map(|(n_features, n_bags, n_classes)| {
        let instances = prop::collection::vec(prop::collection::vec(value(), n_features), 1..4);
        let names = prop::collection::hash_set(name(), n_bags);
        (
            (names, prop::collection::vec((0..n_classes, instances), n_bags)),
            prop::option::of(prop::collection::vec(0..n_classes, 1..4)),
            prop::option::of(prop::collection::hash_set(name(), n_features)),
            prop::collection::hash_set(name(), n_classes as usize),
        )
            .prop_map(|((names, bags), instance_labels, feature_names, class_names)| Parts {
                bags: names.into_iter().zip(bags).map(|(name, (class, instances))| (name, class, instances)).collect(),
                instance_labels,
                feature_names: feature_names.map(|names| names.into_iter().collect()),
                class_names: class_names.into_iter().collect(),
            })
    })
}

fn check_round_trip<Y: WrittenLabel>(bags: &BagSet<Y>, read_back: impl Fn(BagTable) -> Result<BagSet<Y>, DataError>) {
    for format in Format::ALL {
        for compression in [Compression::Plain, Compression::Gzip] {
            let options = WriteOptions { compression, ..Default::default() };
            match written(bags, format, &options) {
                Ok(bytes) => assert_same(&read_back(table(&bytes, format)).unwrap(), bags),
                Err(DataError::CannotCarry { .. }) => {}
                Err(other) => panic!("{format}: {other}"),
            }
            // What a lossy write accepts is never misread, only poorer.
            if let Ok(bytes) = written(bags, format, &WriteOptions { lossy: true, ..options }) {
                let poorer = read_back(table(&bytes, format)).unwrap();
                assert_eq!(poorer.instances(), bags.instances());
                assert_eq!(poorer.n_bags(), bags.n_bags());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_classes_round_trip(parts in parts()) {
        let label = |class| if class == 0 { Label::Negative } else { Label::Positive };
        check_round_trip(&parts.build(BagSet::builder(), label), |table| table.binary(None));
    }

    #[test]
    fn many_classes_round_trip(parts in parts()) {
        let names = ClassNames::new(parts.class_names.iter());
        check_round_trip(&parts.build(BagSet::builder_of_classes(names), ClassId), BagTable::classes);
    }

    #[test]
    fn no_labels_round_trip(parts in parts()) {
        check_round_trip(&parts.build(BagSet::builder(), |_| ()), BagTable::unlabelled);
    }
}

#[test]
fn the_generator_reaches_every_format_and_every_refusal() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut accepted = std::collections::HashMap::new();
    for _ in 0..400 {
        let parts = parts().new_tree(&mut runner).unwrap().current();
        let bags = parts.build(BagSet::builder(), |_| Label::Positive);
        for format in Format::ALL {
            let outcome = written(&bags, format, &WriteOptions::default()).is_ok();
            *accepted.entry((format, outcome)).or_insert(0) += 1;
        }
    }
    for format in Format::ALL {
        for outcome in [true, false] {
            assert!(accepted.get(&(format, outcome)).is_some_and(|&n| n > 3), "{format} {outcome}: {accepted:?}");
        }
    }
}
