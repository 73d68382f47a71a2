//! Agreement with kernel matrices and similarities computed by an independent program in NumPy.
//!
//! `kernels.json`: `gauss` with $c$ is $\exp(-\lVert x-z\rVert^2/c)$ (checked against the raw values), `poly` with $(p, c)$ is $(\langle x,z\rangle + c)^p$.

use mil_core::BagSet;
use mil_kernels::{BagSimilarity, Kernel, cross_gram, partial_similarity};
use mil_testkit::golden::{numbers, read};
use nalgebra::DMatrix;
use serde_json::Value;

const KERNELS: &str = include_str!("../../../fixtures/golden/kernels.json");
const MILES: &str = include_str!("../../../fixtures/golden/miles.json");
/// The reference sums in another order.
const TOLERANCE: f64 = 1e-13;

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// One row of the file becomes one column.
fn columns(value: &Value) -> DMatrix<f64> {
    let rows = rows(value);
    DMatrix::from_iterator(rows[0].len(), rows.len(), rows.into_iter().flatten())
}

fn kernel_of(spec: &Value) -> Kernel {
    match spec[0].as_str().unwrap() {
        "linear" => Kernel::Linear,
        "hist" => Kernel::Intersection,
        "poly" => Kernel::Polynomial {
            degree: spec[1].as_u64().unwrap().try_into().unwrap(),
            scale: 1.0,
            offset: spec[2].as_f64().unwrap(),
        },
        "gauss" => Kernel::Gaussian { gamma: 1.0 / spec[1].as_f64().unwrap() },
        other => panic!("unknown kernel {other}"),
    }
}

fn assert_close(found: &DMatrix<f64>, expected: &DMatrix<f64>, what: &Value) {
    assert_eq!(found.shape(), expected.shape(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= TOLERANCE * expected.abs().max(1.0), "{what}: {found} against {expected}");
    }
}

#[test]
fn base_kernels_raw_and_normalised_agree() {
    let golden = read(KERNELS);
    let (left, right) = (columns(&golden["Yn"]), columns(&golden["Yp"]));
    let specs = golden["specs"].as_array().unwrap();
    assert_eq!(specs.len(), 4);
    for (i, spec) in specs.iter().enumerate() {
        let kernel = kernel_of(spec);
        let raw = columns(&golden["raw_np"][i]).transpose();
        assert_close(&cross_gram(&kernel, &left, &right).unwrap(), &raw, spec);
        let normalised = columns(&golden["normalised_np"][i]).transpose();
        assert_close(&cross_gram(&Kernel::Normalised(Box::new(kernel)), &left, &right).unwrap(), &normalised, spec);
    }
}

#[test]
fn the_embedding_of_miles_agrees() {
    let golden = read(MILES);
    let mut builder = BagSet::<()>::builder();
    for (i, bag) in golden["bags"].as_array().unwrap().iter().enumerate() {
        builder.bag(format!("bag {i}"), (), rows(bag)).unwrap();
    }
    let bags = builder.build().unwrap();
    let similarity = BagSimilarity::new(bags.instances(), golden["sigma2"].as_f64().unwrap()).unwrap();
    let embedding = similarity.to_bags(&bags).unwrap();
    assert_close(&embedding, &columns(&golden["Z"]), &golden["about"]);
    for (bag, column) in bags.bags().zip(embedding.column_iter()) {
        assert_eq!(similarity.to_bag(&bag).unwrap(), column.as_slice(), "one bag or all");
    }
}

#[test]
fn the_similarity_over_nearest_features_agrees() {
    let golden = read(MILES);
    let case = &golden["partial_similarity"];
    let found = partial_similarity(
        &numbers(&case["a"]),
        &numbers(&case["b"]),
        case["k"].as_u64().unwrap().try_into().unwrap(),
        case["sigma2"].as_f64().unwrap(),
        &mut Vec::new(),
    );
    assert!((found.unwrap() - case["value"].as_f64().unwrap()).abs() < TOLERANCE);
}
