//! The catalogue against the files themselves, where the caller has them: set `MIL_DATA` to the data folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use mil_core::{BagSet, ClassId, Label};
use mil_data::catalogue::{self, DataSet, Located};
use mil_data::synth::{FromInstancesParams, SynthError};
use mil_data::{LabelledInstances, ReadOptions, read_path};

/// The data folder, or a note that the test does nothing without it.
fn data_dir() -> Option<PathBuf> {
    let folder = std::env::var_os("MIL_DATA").map(PathBuf::from);
    if folder.is_none() {
        skipped("the variable MIL_DATA names no data folder");
    }
    folder
}

#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("SKIPPED {test}: {reason}");
}

/// A data set, if its files are in the folder; if they are, they must be right.
fn load(name: &str, folder: &Path) -> Option<DataSet> {
    let entry = catalogue::find(name).expect("it is known");
    if let Located::Missing(missing) = entry.locate(Some(folder)) {
        skipped(&format!("{name}: {missing}"));
        return None;
    }
    Some(entry.load(Some(folder)).expect("what is present is right"))
}

fn load_classes(name: &str, folder: &Path) -> Option<BagSet<ClassId>> {
    load(name, folder).map(|set| match set {
        DataSet::Classes(bags) => bags,
        other => panic!("not of many classes: {other:?}"),
    })
}

fn load_usps(folder: &Path) -> Option<(LabelledInstances, LabelledInstances)> {
    load("usps", folder).map(|set| match set {
        DataSet::Instances { train, test } => (train, test),
        other => panic!("not instances: {other:?}"),
    })
}

#[test]
fn every_file_present_is_the_one_meant() {
    let Some(folder) = data_dir() else { return };
    for entry in catalogue::entries() {
        if load(entry.name, &folder).is_some() {
            for check in entry.verify(Some(&folder)).expect("it was found") {
                check.outcome.expect("a file that is present is right");
            }
        }
    }
}

#[test]
fn all_files_of_a_set_hold_the_same_bags() {
    let Some(folder) = data_dir() else { return };
    let mut n_compared = 0;
    for entry in catalogue::entries().iter().filter(|entry| entry.sections[0].files.len() > 1) {
        let Some(DataSet::Binary(loaded)) = load(entry.name, &folder) else { continue };
        for file in entry.sections[0].files {
            let path = folder.join(file.path);
            if !path.is_file() {
                skipped(&format!("there is no {}", file.path));
                continue;
            }
            let other =
                read_path(&path, &ReadOptions::default()).and_then(|table| table.binary(None)).expect(file.path);
            // Formats number or name the bags in ways of their own; all else is equal to the bit.
            assert_eq!(other.instances(), loaded.instances(), "{}", file.path);
            assert_eq!(other.labels(), loaded.labels(), "{}", file.path);
            assert!((0..loaded.n_bags()).all(|bag_idx| other.columns_of(bag_idx) == loaded.columns_of(bag_idx)));
            n_compared += 1;
        }
    }
    if n_compared == 0 {
        skipped("nothing to compare");
    }
}

#[test]
fn corel_1000_is_the_first_half_of_corel_2000() {
    let Some(folder) = data_dir() else { return };
    let Some(half) = load_classes("corel-1000", &folder) else { return };
    let whole = load_classes("corel-2000", &folder).expect("it is in the same file");
    assert_eq!(half.class_counts(), [100; 10]);
    assert_eq!(whole.class_counts(), [100; 20]);
    for bag_idx in 0..half.n_bags() {
        assert_eq!((half.bag(bag_idx), half.labels()[bag_idx]), (whole.bag(bag_idx), whole.labels()[bag_idx]));
    }
}

#[test]
fn the_digits_are_counted_as_published() {
    let Some(folder) = data_dir() else { return };
    let Some((train, test)) = load_usps(&folder) else { return };
    // zip.info.txt, published with the data.
    assert_eq!(train.class_counts(), [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]);
    assert_eq!(test.class_counts(), [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]);
    assert!(train.instances().iter().chain(test.instances().iter()).all(|value| value.abs() <= 1.0));
}

#[test]
fn digits_make_the_bags_of_midl() {
    let Some(folder) = data_dir() else { return };
    let Some((train, test)) = load_usps(&folder) else { return };
    for digit in 0..10 {
        let params = FromInstancesParams { seed: digit, ..Default::default() };
        let digit = digit.to_string();
        let bags = params.train_test(&train, &digit).expect("the training images suffice for every digit");
        assert_eq!((bags.train.class_counts(), bags.test.class_counts()), (vec![25, 25], vec![75, 75]));
        assert!(images_of(&bags.train).is_disjoint(&images_of(&bags.test)), "no two images are equal in these data");
        match params.train_test_of(&train, &test, &digit) {
            Ok(bags) => assert_eq!(bags.test.n_bags(), 150),
            Err(error) => {
                assert_eq!(digit, "7");
                let expected = SynthError::PoolTooSmall { label: Label::Positive, needed: 150, available: 147 };
                assert_eq!(error, expected);
            }
        }
    }
}

/// The bits of every instance.
fn images_of(bags: &BagSet<Label>) -> HashSet<Vec<u64>> {
    bags.bags()
        .flat_map(|bag| bag.instances())
        .map(|image| image.iter().map(|value| value.to_bits()).collect())
        .collect()
}
