//! The committed report of a full run, `docs/results.md`, and what lies beside it for `--check`.

use std::path::{Path, PathBuf};

use mil_repro::check::Snapshot;
use mil_repro::progress::Progress;
use mil_repro::results::Protocol;
use mil_repro::run::Plan;
use mil_repro::selection::Selection;
use mil_repro::store::Store;

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

#[test]
fn it_has_every_experiment_and_explains_each_cell_that_is_worse() {
    let report = std::fs::read_to_string(docs("results.md")).unwrap();
    let all = Selection::all();
    let tables = all.tables.iter().map(|table| table.title);
    let figures = all.figures.iter().map(|figure| figure.title);
    let methods = all.methods.iter().map(|(method, _)| method.name);
    for title in tables.chain(figures).chain(methods) {
        assert!(report.contains(title), "{title} is not in docs/results.md: write a new snapshot");
    }
    assert!(!report.contains("; a quick run."), "it is of a full run");
    assert!(report.contains("| worse |"), "the rule finds something");
    assert!(!report.contains("no explanation yet"), "a remark is missing in notes.rs");
}

#[test]
fn what_takes_no_time_has_not_drifted_from_it() {
    let snapshot = Snapshot::read(&docs("results.json")).unwrap();
    let mut selection = Selection::all();
    selection.tables.clear();
    selection.methods.retain(|(method, _)| method.id.starts_with("nearest-centroid"));
    selection.figures.retain(|figure| figure.id == "pmi-table1");
    let folder = std::env::temp_dir().join(format!("mil-repro-drift-{}", std::process::id()));
    let store = Store::open(&folder).unwrap();
    let plan = Plan {
        selection: &selection,
        protocol: Protocol { n_folds: 10, repeats: Some(2), seed: 1, quick: true },
        data_dir: None,
        store: &store,
        force: false,
        progress: &Progress::quiet(),
    };
    let (results, _) = plan.run().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let drift = snapshot.compare(&results).unwrap();
    assert_eq!((drift.drifted.len(), drift.unknown.len()), (0, 0), "{}", drift.report(&snapshot));
    assert_eq!(drift.n_same + drift.moved.len(), 3 * 2 + 1);
}
