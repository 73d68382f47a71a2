//! The tables of papers whose cells are accuracies, one file each. A new table adds its file and a line in the list.

mod miforests_table1;
mod mio_table1;
mod pmi_table3;

use crate::table::PaperTable;

/// All tables that we recompute from cells.
#[must_use]
pub fn all() -> Vec<PaperTable> {
    vec![mio_table1::table(), miforests_table1::table(), pmi_table3::table()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_of_a_known_method_and_has_a_figure_for_each_column() {
        let methods = crate::methods::all();
        for table in all() {
            for line in &table.lines {
                assert_eq!(line.printed.len(), table.columns.len(), "{}: {}", table.id, line.name);
                assert!(line.method.is_none_or(|id| methods.iter().any(|method| method.id == id)), "{}", line.name);
            }
            assert!(table.columns.iter().all(|data| crate::methods::DATA.contains(data)), "{}", table.id);
        }
    }
}
