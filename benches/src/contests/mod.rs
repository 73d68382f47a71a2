//! All contests, in the order they are run and shown.

mod dict;
mod forest;
mod gram;
mod mi_svm;
mod mio;
mod one_norm;
mod pmi;
mod svm;

use std::path::PathBuf;

use mil_data::catalogue::{self, DataSet};

use crate::contest::{Contest, Work};
use crate::curve::Curve;

/// All contests: those with peers in turns, then growth.
pub(crate) const ALL: [Contest; 20] = [
    gram::DUELS,
    svm::DUELS,
    svm::LINEAR_DUELS,
    one_norm::DUELS,
    mi_svm::DUELS,
    mio::DUELS,
    pmi::DUELS,
    dict::DUELS,
    forest::DUELS,
    forest::COREL_DUELS,
    gram::GROWTH,
    svm::GROWTH,
    svm::LINEAR_GROWTH,
    mi_svm::GROWTH,
    mio::GROWTH,
    mio::MILES_GROWTH,
    forest::GROWTH,
    forest::MI_FOREST_GROWTH,
    pmi::GROWTH,
    dict::GROWTH,
];

/// The curves of all contests.
pub(crate) fn curves() -> impl Iterator<Item = &'static Curve> {
    ALL.iter().flat_map(|contest| match contest.work {
        Work::Curves(curves) => curves,
        Work::Duels(_) => &[],
    })
}

/// A data set of the catalogue that cannot be shipped, where it is here.
fn fetched(name: &str) -> Option<DataSet> {
    let target = std::env::var_os("MIL_TARGET").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = std::env::var_os("MIL_DATA").map_or_else(|| target.join("data"), PathBuf::from);
    catalogue::find(name).ok()?.load(Some(&folder)).ok()
}

/// What a library says of a fault.
fn say(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_each_says_what_it_measures() {
        for (idx, contest) in ALL.iter().enumerate() {
            assert!(ALL[..idx].iter().all(|other| other.name != contest.name), "{}", contest.name);
            assert!(!contest.about.is_empty() && !contest.about.contains('\n'), "{}", contest.name);
        }
        let names: Vec<&str> = curves().map(|curve| curve.name).collect();
        assert!(names.iter().enumerate().all(|(idx, name)| !names[..idx].contains(name)), "{names:?}");
    }

    #[test]
    fn sizes_are_geometric_and_enough_for_a_fit() {
        for curve in curves() {
            let sizes = [curve.sizes, curve.long_sizes].concat();
            assert!((4..=6).contains(&curve.sizes.len()), "{}", curve.name);
            assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]), "{}", curve.name);
            let step = curve.sizes[1] / curve.sizes[0];
            assert!(curve.sizes.windows(2).all(|pair| pair[1] == step * pair[0]), "{}", curve.name);
        }
    }
}
