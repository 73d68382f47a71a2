//! `mil learners`: who there is, and what can be set.

use mil_core::{ParamField, ParamRange, ParamSpec};

use crate::args::{Common, LearnersArgs};
use crate::error::CliError;
use crate::learners::{Entry, all, find};
use crate::report::{Cell, Report, Table};

pub(super) fn run(args: &LearnersArgs, common: &Common) -> Result<(), CliError> {
    match &args.name {
        Some(name) => told(find(name)?).print("learners", common.format),
        None => listed().print("learners", common.format),
    }
}

fn listed() -> Report {
    let columns =
        [("name", "name"), ("title", "method"), ("classes", "classes"), ("about", "what it does"), ("paper", "paper")];
    let mut table = Table::new("learners", "", &columns);
    for entry in all() {
        let classes = if entry.learns_many() { "two or many" } else { "two" };
        table.row([entry.name, entry.title, classes, entry.about, entry.paper].map(Cell::text));
    }
    Report::of(table).note("\n`mil learners NAME` lists the parameters of one.")
}

fn told(entry: &Entry) -> Report {
    let mut table = table_of(&(entry.specs)());
    table.title =
        format!("{}: {}\n{}\nFeatures are scaled: {}\n", entry.title, entry.about, entry.paper, entry.scaling.show());
    let mut grid = Table::new("grid", "What `mil tune` tries", &[("name", "parameter"), ("values", "values")]);
    for (name, values) in entry.grid {
        grid.row([Cell::text(*name), Cell::text(values.join(","))]);
    }
    let mut report = Report::of(table)
        .fact("name", entry.name)
        .fact("title", entry.title)
        .fact("about", entry.about)
        .fact("paper", entry.paper)
        .fact("scale", entry.scaling.show())
        .fact("learns_many_classes", entry.learns_many());
    report.tables.push(grid);
    report
}

/// Parameters with defaults, ranges and meaning.
pub(super) fn table_of(specs: &[ParamSpec]) -> Table {
    let columns =
        [("name", "parameter"), ("default", "default"), ("kind", "type"), ("range", "range"), ("doc", "meaning")];
    let mut table = Table::new("parameters", "", &columns);
    for spec in specs {
        let range = if spec.range == ParamRange::Any { String::new() } else { spec.range.to_string() };
        table.row([
            Cell::text(spec.name),
            Cell::text(spec.default.clone()),
            Cell::text(spec.kind),
            Cell::text(range),
            Cell::text(spec.doc),
        ]);
    }
    table
}
