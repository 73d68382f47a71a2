//! The figures, and tables of other kinds, one file or folder a paper. A new paper adds its own and a line in the list.
//!
//! Stored results are told apart by the content of these files: what does not change a figure, such as a remark about one, has its place elsewhere.

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
    fn every_figure_states_code_that_is_known() {
        assert!(all().iter().all(|figure| !figure.code_version().is_empty()));
    }

    #[test]
    fn every_data_set_is_in_the_catalogue() {
        for name in all().iter().flat_map(|figure| figure.data.iter().chain(figure.optional)) {
            assert!(mil_data::catalogue::find(name).is_ok(), "{name}");
        }
    }
}
