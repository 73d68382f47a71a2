//! The data of growth curves: two Gaussians at a distance of three deviations in a hundred features, in bags of ten.

use mil_core::{BagLabel, BagSet, Label};
use mil_data::synth::WitnessParams;

use crate::peer::Peer;

/// Instances of a bag.
pub(crate) const BAG_SIZE: usize = 10;
/// Features of an instance.
pub(crate) const N_FEATURES: usize = 100;
/// The share of witnesses in positive bags where bags hide what they are for.
pub(crate) const HALF: f64 = 0.5;
/// The share where every instance is what its bag is.
pub(crate) const ALL: f64 = 1.0;

/// So many instances, half of the bags positive.
pub(crate) fn bags(n_instances: usize, witness_rate: f64) -> Result<BagSet<Label>, String> {
    let n_bags = n_instances / BAG_SIZE;
    let params = WitnessParams {
        n_positive: n_bags - n_bags / 2,
        n_negative: n_bags / 2,
        n_features: N_FEATURES,
        min_bag_size: BAG_SIZE,
        max_bag_size: BAG_SIZE,
        witness_rate,
        separation: 3.0,
        seed: 1,
    };
    params.generate().map_err(|error| error.to_string())
}

/// The sign of each instance's bag.
pub(crate) fn instance_signs(bags: &BagSet<Label>) -> Vec<f64> {
    let of_bag = |bag_idx: usize| std::iter::repeat_n(bags.labels()[bag_idx].sign(), bags.columns_of(bag_idx).len());
    (0..bags.n_bags()).flat_map(of_bag).collect()
}

/// The class of each instance's bag.
pub(crate) fn instance_classes(bags: &BagSet<Label>) -> Vec<u32> {
    let of_bag =
        |bag_idx: usize| std::iter::repeat_n(bags.labels()[bag_idx].class_idx() as u32, bags.columns_of(bag_idx).len());
    (0..bags.n_bags()).flat_map(of_bag).collect()
}

/// Hands the instances of [`bags`] at the rate [`ALL`] to a peer: the paths of their values and of numbers that belong to each.
pub(crate) fn give(
    n_instances: usize,
    peer: &Peer,
    numbers: fn(&BagSet<Label>) -> Vec<f64>,
) -> Result<[String; 2], String> {
    let bags = bags(n_instances, ALL)?;
    let instances = peer.give("growth-instances.f64", bags.instances().as_slice())?;
    Ok([instances, peer.give("growth-labels.f64", &numbers(&bags))?])
}
