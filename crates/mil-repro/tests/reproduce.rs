//! A run from rows to report, on the shipped data and with data missing.

use std::path::PathBuf;

use mil_repro::results::{Cell, DataState, Protocol, Results, SCHEMA};
use mil_repro::row::Row;
use mil_repro::run::{Progress, run};
use mil_repro::{report, rows};

const PROTOCOL: Protocol = Protocol { n_folds: 3, n_repeats: 2, repeats_given: false, seed: 4, quick: true };

/// The rows that take no time.
fn baseline() -> Vec<Row> {
    rows::all().into_iter().filter(|row| row.id.starts_with("nearest-centroid")).collect()
}

fn results_on(n_threads: usize) -> Results {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    let nowhere = PathBuf::from("no-such-folder");
    pool.install(|| run(&baseline(), &["musk1", "fox"], &[], &PROTOCOL, Some(&nowhere), &Progress::quiet())).unwrap()
}

#[test]
fn the_number_of_threads_changes_nothing_but_times_and_machine() {
    let (one, two) = (results_on(1), results_on(2));
    assert_eq!(one.rows, two.rows);
    assert_eq!(one.data, two.data);
    assert_eq!((one.machine.n_threads, two.machine.n_threads), (1, 2));
}

#[test]
fn missing_data_leave_the_rest_standing_and_say_what_to_do() {
    let results = results_on(2);
    for row in &results.rows {
        assert!(matches!(row.cells[..], [Cell::Measured { .. }, Cell::NoData]), "{}", row.id);
    }
    let DataState::Absent { reason } = &results.data[1].state else { panic!("fox is not shipped") };
    assert!(reason.contains("no-such-folder") && reason.contains("Fox.csv"), "{reason}");
    assert!(report::summary(&results).contains("Left out: fox"));
}

#[test]
fn the_baseline_beats_always_the_larger_class_on_musk1() {
    let results = results_on(2);
    for row in &results.rows {
        let Cell::Measured { accuracy, auc } = row.cells[0] else { panic!("musk1 is shipped") };
        assert!(accuracy.mean > 0.6 && accuracy.half_width.is_some(), "{}: {accuracy:?}", row.id);
        assert!(auc.unwrap().mean > 0.65, "{}", row.id);
    }
}

#[test]
fn a_row_has_its_own_repetitions_only_in_a_full_run_that_asks_for_none() {
    let full = Protocol { quick: false, ..PROTOCOL };
    for (protocol, n_repeats) in [(full.clone(), 3), (Protocol { repeats_given: true, ..full }, 2), (PROTOCOL, 2)] {
        let mut rows = baseline();
        rows.truncate(2);
        rows[0].repeats = Some(3);
        let results = run(&rows, &["musk1"], &[], &protocol, None, &Progress::quiet()).unwrap();
        assert_eq!((results.rows[0].n_repeats, results.rows[1].n_repeats), (n_repeats, 2), "{protocol:?}");
        let plain =
            run(&baseline()[..1], &["musk1"], &[], &Protocol { n_repeats, ..PROTOCOL }, None, &Progress::quiet())
                .unwrap();
        assert_eq!(results.rows[0].cells, plain.rows[0].cells, "{protocol:?}");
        let summary = report::summary(&results);
        assert_eq!(summary.contains("unless the row says otherwise"), n_repeats == 3, "{summary}");
        assert_eq!(summary.contains("max rule (3 repetitions)"), n_repeats == 3, "{summary}");
    }
}

#[test]
fn the_three_files_say_the_same() {
    let results = results_on(2);
    let folder = std::env::temp_dir().join(format!("mil-repro-{}", std::process::id()));
    report::prepare(&folder).unwrap();
    report::write(&folder, &results).unwrap();
    let read = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    let (json, markdown, html) = (read("results.json"), read("report.md"), read("report.html"));
    std::fs::remove_dir_all(&folder).unwrap();

    let again: Results = serde_json::from_str(&json).unwrap();
    assert_eq!((again.schema.as_str(), &again), (SCHEMA, &results));
    for row in &results.rows {
        let Cell::Measured { accuracy, .. } = row.cells[0] else { panic!("musk1 is shipped") };
        let figure = format!("{:.1} ± {:.1}", 100.0 * accuracy.mean, 100.0 * accuracy.half_width.unwrap());
        for text in [&markdown, &html] {
            assert!(text.contains(&row.method) && text.contains(&figure), "{} {figure}", row.method);
        }
    }
    // Self-contained: one chart, nothing loaded from elsewhere.
    assert_eq!(html.matches("<svg").count(), 1);
    for outside in ["http:", "https:", "<script", "<link", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_the_work_begins() {
    let file = std::env::temp_dir().join(format!("mil-repro-file-{}", std::process::id()));
    std::fs::write(&file, b"in the way").unwrap();
    let error = report::prepare(&file).unwrap_err();
    std::fs::remove_file(&file).unwrap();
    assert!(error.to_string().contains("mil-repro-file"), "{error}");
}
