//! Damaged files of every format give a table or an error: no panic, no hang, and no more than 1 GiB of memory.

use std::alloc::System;
use std::sync::OnceLock;

use cap::Cap;
use mil_core::{BagSet, ClassId, ClassNames};
use mil_data::{Compression, Format, ReadOptions, WriteOptions, read, write};
use proptest::prelude::*;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, 1 << 30);

fn original(format: Format, compression: Compression) -> Vec<u8> {
    let mut builder = BagSet::builder_of_classes(ClassNames::new(["apple", "pear", "plum"]));
    for bag_idx in 0..6_u32 {
        builder.open_bag(format!("bag-{bag_idx}"), ClassId(bag_idx % 3));
        for instance_idx in 0..=bag_idx % 4 {
            let values = [f64::from(bag_idx), 0.25 * f64::from(instance_idx), -1e-7, 42.0];
            builder.labelled_instance(&values, ClassId(instance_idx % 3)).unwrap();
        }
    }
    builder.feature_names(["width", "height", "depth", "weight"]);
    let bags = builder.build().unwrap();
    let mut bytes = Vec::new();
    write(&mut bytes, &bags, format, &WriteOptions { lossy: true, compression, ..Default::default() }).unwrap();
    bytes
}

fn originals() -> &'static Vec<(Format, Vec<u8>)> {
    static ORIGINALS: OnceLock<Vec<(Format, Vec<u8>)>> = OnceLock::new();
    ORIGINALS.get_or_init(|| {
        let formats = Format::ALL.into_iter().filter(|format| cfg!(feature = "parquet") || *format != Format::Parquet);
        formats
            .flat_map(|format| [Compression::Plain, Compression::Gzip].map(|c| (format, original(format, c))))
            .collect()
    })
}

/// One way of damaging a file; positions are fractions of its length.
#[derive(Debug, Clone)]
enum Damage {
    Flip(f64, u8),
    Set(f64, u8),
    Delete(f64, usize),
    Insert(f64, Vec<u8>),
    Repeat(f64, usize, usize),
    Truncate(f64),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let position = |fraction: f64| (fraction * bytes.len() as f64) as usize;
        match self {
            Damage::Flip(at, mask) => {
                let at = position(*at);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= mask);
            }
            Damage::Set(at, value) => {
                let at = position(*at);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte = *value);
            }
            Damage::Delete(at, length) => {
                let start = position(*at);
                bytes.drain(start..(start + length).min(bytes.len()));
            }
            Damage::Insert(at, new) => {
                let at = position(*at);
                bytes.splice(at..at, new.iter().copied());
            }
            Damage::Repeat(at, length, times) => {
                let start = position(*at);
                let piece = bytes[start..(start + length).min(bytes.len())].repeat(*times);
                bytes.splice(start..start, piece);
            }
            Damage::Truncate(at) => bytes.truncate(position(*at)),
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0.0..1.0_f64;
    let telling = prop::sample::select(b",\"'\\\n\r:.?#%@{}0919eE-+ \t\xff\x00\x80\x7f".to_vec());
    prop_oneof![
        3 => (at.clone(), 1_u8..).prop_map(|(at, mask)| Damage::Flip(at, mask)),
        3 => (at.clone(), telling.clone()).prop_map(|(at, value)| Damage::Set(at, value)),
        2 => (at.clone(), 1_usize..40).prop_map(|(at, length)| Damage::Delete(at, length)),
        2 => (at.clone(), prop::collection::vec(any::<u8>(), 1..8)).prop_map(|(at, new)| Damage::Insert(at, new)),
        2 => (at.clone(), prop::collection::vec(telling, 1..8)).prop_map(|(at, new)| Damage::Insert(at, new)),
        1 => (at.clone(), 1_usize..200, 1_usize..5).prop_map(|(at, length, times)| Damage::Repeat(at, length, times)),
        1 => at.prop_map(Damage::Truncate),
    ]
}

fn read_all(bytes: &[u8], format: Format) {
    if let Ok(table) = read(bytes, "damaged", format, &ReadOptions::default()) {
        // Typed sets may refuse the words; they may not panic either.
        let _ = (table.binary(None), table.binary(Some("pear")), table.classes(), table.unlabelled());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_survived(damages in prop::collection::vec(damage(), 1..4)) {
        for (format, bytes) in originals() {
            let mut bytes = bytes.clone();
            damages.iter().for_each(|damage| damage.apply(&mut bytes));
            read_all(&bytes, *format);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        Format::ALL.into_iter().for_each(|format| read_all(&bytes, format));
    }
}

#[test]
fn every_single_byte_may_be_wrong() {
    for (format, bytes) in originals().iter().step_by(2) {
        for at in 0..bytes.len() {
            for value in [0x00, 0x7f, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80, bytes[at].wrapping_add(1)] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                read_all(&damaged, *format);
            }
        }
        for end in 0..bytes.len() {
            read_all(&bytes[..end], *format);
        }
    }
}

#[test]
fn a_bomb_of_gzip_ends_at_the_limit() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..1024 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let options =
        ReadOptions { limits: mil_data::Limits { max_values: 1 << 20, ..Default::default() }, ..Default::default() };
    for format in Format::ALL {
        let error = read(&bomb[..], "bomb", format, &options).unwrap_err().to_string();
        assert!(error.contains("raise `limits.max_"), "{format}: {error}");
    }
}
