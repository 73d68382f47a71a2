//! The model file: what is written comes back, what is damaged is refused with its reason.

use std::fs;
use std::path::PathBuf;

use mil_core::model_file::{ModelFileError, SavedModel, decode, encode, header, load, save};
use mil_core::{BagSet, Label, Learner, NearestCentroid, NearestCentroidModel, Params, Scaled, ScaledModel, Scaling};
use proptest::prelude::*;

type Model = ScaledModel<NearestCentroidModel<Label>>;

fn fitted() -> Model {
    let mut builder = BagSet::builder();
    builder.bag("p", Label::Positive, [[1.0, 5.0], [2.0, 5.5]]).unwrap();
    builder.bag("n", Label::Negative, [[-1.0, 4.0]]).unwrap();
    let learner = Scaled { scaling: Scaling::Standard, learner: NearestCentroid::default() };
    learner.fit(&builder.build().unwrap()).unwrap()
}

fn bytes() -> Vec<u8> {
    encode(&fitted(), &NearestCentroid::default().to_pairs()).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mil-model-file-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_model_comes_back_equal_with_its_scaler() {
    assert_eq!(decode::<Model>(&bytes()).unwrap(), fitted());
}

#[test]
fn the_header_tells_kind_and_parameters_without_the_model() {
    let header = header(&bytes()).unwrap();
    assert_eq!(header.kind, "scaled nearest-centroid");
    assert_eq!(header.params, [("rule".to_owned(), "max".to_owned())]);
}

#[test]
fn the_layout_is_the_documented_one() {
    let bytes = bytes();
    assert_eq!(&bytes[..8], b"MILMODEL");
    assert_eq!(bytes[8..12], 1u32.to_le_bytes());
    let header_len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let payload_len = u64::from_le_bytes(bytes[16 + header_len..24 + header_len].try_into().unwrap()) as usize;
    assert_eq!(bytes.len(), 24 + header_len + payload_len + 4);
}

#[test]
fn another_kind_of_model_is_refused() {
    let error = decode::<NearestCentroidModel<Label>>(&bytes()).unwrap_err();
    assert_eq!(error.to_string(), "the file holds a \"scaled nearest-centroid\" model, expected \"nearest-centroid\"");
}

#[test]
fn another_version_is_refused_by_its_number() {
    for version in [0, 2] {
        let mut bytes = bytes();
        bytes[8] = version;
        let error = decode::<Model>(&bytes).unwrap_err();
        assert!(matches!(error, ModelFileError::Version { found, known: 1 } if found == u32::from(version)), "{error}");
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = bytes();
    for length in 0..bytes.len() {
        match decode::<Model>(&bytes[..length]) {
            Err(ModelFileError::NotAModel) => assert!(length < 8),
            Err(ModelFileError::Truncated { found, expected }) => assert!(found == length as u64 && expected > found),
            other => panic!("{length} bytes: {other:?}"),
        }
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let original = bytes();
    for bit in 0..original.len() * 8 {
        let mut bytes = original.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(decode::<Model>(&bytes).is_err(), "bit {bit}");
        assert!(header(&bytes).is_err(), "bit {bit}");
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    let mut bytes = bytes();
    bytes.push(0);
    assert!(matches!(decode::<Model>(&bytes), Err(ModelFileError::Trailing { extra: 1 })));
}

#[test]
fn a_model_that_would_do_harm_is_refused_even_with_a_right_checksum() {
    // A tiny payload that claims a vector of 2^60 numbers, and one of NaN centroids, each under a valid checksum.
    let original = bytes();
    let header_len = u32::from_le_bytes(original[12..16].try_into().unwrap()) as usize;
    let with_payload = |payload: &[u8]| {
        let mut bytes = original[..16 + header_len].to_vec();
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(payload);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    };
    let hostile = with_payload(&[0xFD, 0, 0, 0, 0, 0, 0, 0, 0x10]);
    assert!(matches!(decode::<Model>(&hostile), Err(ModelFileError::Encoding(_))));

    let payload = &original[24 + header_len..original.len() - 4];
    let mut poisoned = payload.to_vec();
    // The first offset of the scaler, after the length of the vector.
    poisoned[1..9].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(matches!(decode::<Model>(&with_payload(&poisoned)), Err(ModelFileError::Unsound(_))));
}

#[test]
fn a_file_is_replaced_whole() {
    let folder = scratch("replace");
    let path = folder.join("model.mil");
    fs::write(&path, b"something older").unwrap();
    save(&path, &fitted(), &[]).unwrap();
    assert_eq!(load::<Model>(&path).unwrap(), fitted());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_model_that_cannot_be_written_leaves_the_old_file() {
    /// Fails halfway through its own serialisation.
    #[derive(serde::Deserialize)]
    struct Unwritable;
    impl serde::Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("interrupted"))
        }
    }
    impl SavedModel for Unwritable {
        fn kind() -> String {
            "unwritable".to_owned()
        }
        fn check(&self) -> Result<(), &'static str> {
            Ok(())
        }
    }
    let folder = scratch("unwritable");
    let path = folder.join("model.mil");
    save(&path, &fitted(), &[]).unwrap();
    assert!(save(&path, &Unwritable, &[]).is_err());
    assert_eq!(load::<Model>(&path).unwrap(), fitted());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_absent_file_is_named() {
    let error = load::<Model>(std::path::Path::new("no-such-folder/model.mil")).unwrap_err();
    assert!(error.to_string().contains("model.mil"), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused_without_panic(tail in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = b"MILMODEL\x01\0\0\0".to_vec();
        bytes.extend(tail);
        prop_assert!(decode::<Model>(&bytes).is_err());
    }
}
