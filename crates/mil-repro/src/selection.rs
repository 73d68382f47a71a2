//! What of all experiments is asked for.

use crate::figure::Figure;
use crate::method::Method;
use crate::table::PaperTable;
use crate::{figures, methods, tables};

/// What is to be computed: tables and the cells that they are made of, further cells, and figures.
pub struct Selection {
    /// The tables of papers.
    pub tables: Vec<PaperTable>,
    /// The methods, each with the data sets that it is measured on.
    pub methods: Vec<(Method, Vec<&'static str>)>,
    /// The figures.
    pub figures: Vec<Figure>,
}

impl Selection {
    /// Everything.
    #[must_use]
    pub fn all() -> Selection {
        let methods = methods::all().into_iter().map(|method| (method, methods::DATA.to_vec())).collect();
        Selection { tables: tables::all(), methods, figures: figures::all() }
    }

    /// The tables, figures and methods of these names, or everything where there are none. A table brings the cells it is made of, a method its cells on all data sets.
    ///
    /// # Errors
    /// If a name is not known; the text has those that are.
    pub fn of(names: &[String]) -> Result<Selection, String> {
        let mut all = Selection::all();
        if names.is_empty() {
            return Ok(all);
        }
        let known: Vec<&str> = all.ids().collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            let near = mil_core::nearest_name(unknown, &known);
            let hint = near.map_or(String::new(), |near| format!("did you mean {near}? "));
            return Err(format!("there is no table, figure or method {unknown:?}; {hint}known: {}", known.join(", ")));
        }
        let is_wanted = |id: &str| names.iter().any(|name| name == id);
        all.tables.retain(|table| is_wanted(table.id));
        all.figures.retain(|figure| is_wanted(figure.id));
        for (method, data) in &mut all.methods {
            if !is_wanted(method.id) {
                let columns = |name: &&str| all.tables.iter().any(|table| needs(table, method.id, name));
                data.retain(columns);
            }
        }
        all.methods.retain(|(_, data)| !data.is_empty());
        Ok(all)
    }

    /// The names of all that is in it: tables, figures, methods.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        let tables = self.tables.iter().map(|table| table.id);
        let figures = self.figures.iter().map(|figure| figure.id);
        let methods = self.methods.iter().map(|(method, _)| method.id);
        tables.chain(figures).chain(methods)
    }

    /// The data sets that any of it asks for, each once: those of the cells first.
    #[must_use]
    pub fn data(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        let of_cells =
            methods::DATA.into_iter().filter(|name| self.methods.iter().any(|(_, data)| data.contains(name)));
        let of_figures = self.figures.iter().flat_map(|figure| figure.data.iter().chain(figure.optional)).copied();
        for name in of_cells.chain(of_figures) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// Whether a table has a cell of this method on this data set.
fn needs(table: &PaperTable, method: &str, data: &str) -> bool {
    table.columns.contains(&data) && table.lines.iter().any(|line| line.method == Some(method))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Result<Selection, String> {
        Selection::of(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_table_brings_the_cells_it_is_made_of_and_no_others() {
        let selection = of(&["mio-table1"]).unwrap();
        let cells: Vec<(&str, &[&str])> =
            selection.methods.iter().map(|(method, data)| (method.id, &data[..])).collect();
        let musk = &["musk1", "musk2"][..];
        assert_eq!(cells, [("mi-svm", musk), ("mi-svm-bag", musk), ("mio", musk), ("miles", musk)]);
        assert_eq!(selection.ids().next(), Some("mio-table1"));
        assert!(selection.figures.is_empty() && selection.data() == musk);
    }

    #[test]
    fn a_method_brings_all_data_sets_and_a_figure_none_of_the_cells() {
        let selection = of(&["pmi", "midl-fig4"]).unwrap();
        assert_eq!((selection.methods.len(), selection.methods[0].1.len()), (1, 5));
        assert_eq!(selection.figures.len(), 1);
        assert_eq!(selection.data(), ["musk1", "musk2", "elephant", "fox", "tiger", "usps"]);
        assert_eq!(of(&[]).unwrap().ids().count(), Selection::all().ids().count());
    }

    #[test]
    fn every_name_is_of_one_thing() {
        let mut ids: Vec<&str> = Selection::all().ids().collect();
        let n_ids = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n_ids);
    }

    #[test]
    fn a_mistyped_name_gets_a_hint() {
        for (name, near) in [("mio-fig22", "mio-fig2"), ("mi-svn", "mi-svm"), ("pmi-table33", "pmi-table3")] {
            let said = of(&[name]).err().unwrap();
            assert!(said.contains(&format!("did you mean {near}?")), "{said}");
        }
    }
}
