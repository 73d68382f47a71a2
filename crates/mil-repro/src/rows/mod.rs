//! The rows, one file a family. A new family adds its file and a line in each list.

mod forest;
mod mio;
mod nearest_centroid;
mod pmi;
mod published;
mod svm;

use crate::row::{Published, Row};

/// The data sets of the table, in the order of its columns.
pub const DATA: [&str; 5] = ["musk1", "musk2", "elephant", "fox", "tiger"];

/// All rows that we compute.
#[must_use]
pub fn all() -> Vec<Row> {
    let families: [fn() -> Vec<Row>; 5] = [nearest_centroid::rows, svm::rows, mio::rows, forest::rows, pmi::rows];
    families.iter().flat_map(|family| family()).collect()
}

/// All rows that papers print.
#[must_use]
pub fn published() -> &'static [Published] {
    &published::ROWS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let mut ids: Vec<&str> = all().iter().map(|row| row.id).collect();
        let n_rows = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n_rows);
    }

    #[test]
    fn every_data_set_is_in_the_catalogue() {
        let published = published().iter().flat_map(|row| row.accuracies).map(|(data, _)| *data);
        for name in DATA.into_iter().chain(published) {
            assert!(mil_data::catalogue::find(name).is_ok(), "{name}");
        }
    }
}
