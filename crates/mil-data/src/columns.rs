//! Which column of a table holds what: shared by CSV and Parquet.

use crate::error::{Fault, Part};
use crate::options::{Column, Columns};

const BAG_NAMES: [&str; 4] = ["bag", "bagid", "bagname", "bags"];
const LABEL_NAMES: [&str; 5] = ["label", "baglabel", "class", "target", "y"];
const INSTANCE_LABEL_NAMES: [&str; 2] = ["instancelabel", "instanceclass"];

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Bag,
    Label,
    InstanceLabel,
    Feature,
    Ignored,
}

/// The role of every column, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roles(Vec<Role>);

impl Roles {
    /// The roles of columns that have names.
    pub(crate) fn by_name(names: &[String], columns: &Columns) -> Result<Roles, Fault> {
        let bag = pick(&columns.bag, names, &BAG_NAMES, Part::Bag)?.ok_or_else(|| Fault::NoColumn {
            wanted: "for the bag; name it `bag` or choose one in the read options".into(),
        })?;
        let label = pick(&columns.label, names, &LABEL_NAMES, Part::Label)?;
        let instance_label = pick(&columns.instance_label, names, &INSTANCE_LABEL_NAMES, Part::InstanceLabel)?;
        Roles::new(names.len(), Some(names), bag, label, instance_label, &columns.ignore)
    }

    /// The roles of columns without names: the label first, then the bag, unless chosen otherwise.
    pub(crate) fn by_position(n_columns: usize, columns: &Columns) -> Result<Roles, Fault> {
        let at = |column: &Column, default: Option<usize>| match column {
            Column::Found => Ok(default),
            Column::Absent => Ok(None),
            Column::At(number) => position(*number, n_columns).map(Some),
            Column::Named(name) => Err(no_column(name)),
        };
        let label = at(&columns.label, Some(0))?;
        let bag = at(&columns.bag, Some(1))?.ok_or_else(|| no_column("bag"))?;
        Roles::new(n_columns, None, bag, label, at(&columns.instance_label, None)?, &columns.ignore)
    }

    fn new(
        n_columns: usize,
        names: Option<&[String]>,
        bag: usize,
        label: Option<usize>,
        instance_label: Option<usize>,
        ignore: &[Column],
    ) -> Result<Roles, Fault> {
        let mut roles = vec![Role::Feature; n_columns];
        let assigned = [(Some(bag), Role::Bag), (label, Role::Label), (instance_label, Role::InstanceLabel)];
        for (position, role) in assigned.into_iter().filter_map(|(position, role)| Some((position?, role))) {
            if position >= n_columns {
                return Err(Fault::TooFewFields { found: n_columns, least: position + 1 });
            }
            assign(&mut roles, position, role)?;
        }
        for column in ignore {
            let position = match column {
                Column::At(number) => position(*number, n_columns)?,
                Column::Named(name) => exactly(name, names.unwrap_or_default())?,
                Column::Found | Column::Absent => continue,
            };
            if roles[position] != Role::Ignored {
                assign(&mut roles, position, Role::Ignored)?;
            }
        }
        let is_nameless = |(name, role): (&String, &Role)| *role == Role::Feature && name.trim().is_empty();
        if names.is_some_and(|names| names.iter().zip(&roles).any(is_nameless)) {
            return Err(Fault::Missing { part: Part::FeatureName });
        }
        let roles = Roles(roles);
        if roles.n_features() == 0 {
            return Err(Fault::TooFewFields { found: n_columns, least: n_columns + 1 });
        }
        Ok(roles)
    }

    pub(crate) fn as_slice(&self) -> &[Role] {
        &self.0
    }

    pub(crate) fn n_features(&self) -> usize {
        self.0.iter().filter(|role| **role == Role::Feature).count()
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn position(&self, role: Role) -> Option<usize> {
        self.0.iter().position(|found| *found == role)
    }
}

fn assign(roles: &mut [Role], position: usize, role: Role) -> Result<(), Fault> {
    if roles[position] != Role::Feature {
        let found = format!("two for column {}", position + 1);
        return Err(Fault::Expected { expected: "one role per column", found });
    }
    roles[position] = role;
    Ok(())
}

/// Whether a name is one of those by which a bag column is found.
pub(crate) fn names_a_bag(name: &str) -> bool {
    BAG_NAMES.contains(&normal(name).as_str())
}

/// Whether a name is one of those by which a label column is found.
pub(crate) fn names_a_label(name: &str) -> bool {
    LABEL_NAMES.contains(&normal(name).as_str())
}

/// Whether a reader would take a column of this name, after the `fixed` ones that we write, for a feature.
pub(crate) fn is_taken_for_feature(name: &str, fixed: &[&str]) -> bool {
    let header: Vec<String> = fixed.iter().chain([&name]).map(|&name| name.to_owned()).collect();
    let roles = Roles::by_name(&header, &Columns::default());
    roles.is_ok_and(|roles| roles.n_features() == 1 && roles.as_slice()[fixed.len()] == Role::Feature)
}

fn pick(column: &Column, names: &[String], known: &[&str], part: Part) -> Result<Option<usize>, Fault> {
    match column {
        Column::Absent => Ok(None),
        Column::At(number) => position(*number, names.len()).map(Some),
        Column::Named(name) => exactly(name, names).map(Some),
        Column::Found => find(names, known, part),
    }
}

/// The first known name that some column has wins; two columns of that name are an ambiguity.
fn find(names: &[String], known: &[&str], part: Part) -> Result<Option<usize>, Fault> {
    let normal_names: Vec<String> = names.iter().map(|name| normal(name)).collect();
    for wanted in known {
        let mut matches =
            normal_names.iter().enumerate().filter(|(_, name)| name == wanted).map(|(position, _)| position);
        if let Some(first) = matches.next() {
            return match matches.next() {
                None => Ok(Some(first)),
                Some(second) => Err(Fault::TwoColumns { part, first: first + 1, second: second + 1 }),
            };
        }
    }
    Ok(None)
}

fn normal(name: &str) -> String {
    name.trim().chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
}

fn exactly(name: &str, names: &[String]) -> Result<usize, Fault> {
    names.iter().position(|found| found == name).ok_or_else(|| no_column(name))
}

fn position(number: usize, n_columns: usize) -> Result<usize, Fault> {
    match number.checked_sub(1) {
        Some(position) if position < n_columns => Ok(position),
        _ => Err(Fault::NoColumn { wanted: format!("{number}; there are {n_columns}, counted from 1") }),
    }
}

fn no_column(name: &str) -> Fault {
    Fault::NoColumn { wanted: format!("{name:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Bag, Feature, Ignored, InstanceLabel, Label};

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_are_found_whatever_their_case_and_the_plainest_wins() {
        let roles =
            Roles::by_name(&names(&["class", "Bag-ID", "Label", "instance label", "f1"]), &Columns::default()).unwrap();
        assert_eq!(roles.as_slice(), [Feature, Bag, Label, InstanceLabel, Feature]);
    }

    #[test]
    fn columns_chosen_by_name_position_or_not_at_all() {
        let columns = Columns {
            bag: Column::Named("molecule".into()),
            label: Column::Absent,
            instance_label: Column::At(3),
            ignore: vec![Column::Named("note".into())],
        };
        let roles = Roles::by_name(&names(&["label", "molecule", "hit", "note"]), &columns).unwrap();
        assert_eq!(roles.as_slice(), [Feature, Bag, InstanceLabel, Ignored]);
        assert!(Roles::by_name(&names(&["label", "bag"]), &columns).is_err());
    }

    #[test]
    fn two_columns_of_one_name_are_an_ambiguity() {
        let fault = Roles::by_name(&names(&["bag", "label", "LABEL", "x"]), &Columns::default()).unwrap_err();
        assert_eq!(fault, Fault::TwoColumns { part: Part::Label, first: 2, second: 3 });
    }
}
