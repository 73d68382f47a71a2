//! The figures, one file a paper. A new paper adds its file and a line in the list.

mod midl;
mod miforests;
mod mio;
mod pmi;

use crate::figure::Figure;

/// All figures that we recompute.
#[must_use]
pub fn all() -> Vec<Figure> {
    let families: [fn() -> Vec<Figure>; 4] = [mio::figures, miforests::figures, pmi::figures, midl::figures];
    families.iter().flat_map(|family| family()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_name_of_its_own_and_none_that_a_row_has() {
        let rows = crate::rows::all();
        let mut ids: Vec<&str> = all().iter().map(|figure| figure.id).chain(rows.iter().map(|row| row.id)).collect();
        let n_ids = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n_ids);
    }

    #[test]
    fn every_data_set_is_in_the_catalogue() {
        for name in all().iter().flat_map(|figure| figure.data.iter().chain(figure.optional)) {
            assert!(mil_data::catalogue::find(name).is_ok(), "{name}");
        }
    }
}
