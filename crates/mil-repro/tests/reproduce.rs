//! A run from rows to report, on the shipped data and with data missing.

use std::path::{Path, PathBuf};
use std::time::Instant;

use mil_core::{FitError, Label};
use mil_repro::figure::{
    AxisSpec, Context, Drawing, Figure, Level, Panel, Picture, PictureRow, Point, Series, Style, Table,
};
use mil_repro::results::{Cell, DataState, FigureState, FigureTiming, Protocol, Results, SCHEMA};
use mil_repro::row::Row;
use mil_repro::run::{Progress, run};
use mil_repro::{report, rows};
use rayon::prelude::*;

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
    let [json, markdown, html] = files("rows", &results);
    let again: Results = serde_json::from_str(&json).unwrap();
    assert_eq!((again.schema.as_str(), &again), (SCHEMA, &results));
    for row in &results.rows {
        let Cell::Measured { accuracy, .. } = row.cells[0] else { panic!("musk1 is shipped") };
        let figure = format!("{:.1} ± {:.1}", 100.0 * accuracy.mean, 100.0 * accuracy.half_width.unwrap());
        for text in [&markdown, &html] {
            assert!(text.contains(&row.method) && text.contains(&figure), "{} {figure}", row.method);
        }
    }
    assert_eq!(html.matches("<svg").count(), 1, "the chart of the one data set that is there");
    assert_self_contained(&html);
}

/// A figure like those of papers: two panels that the seed fixes, computed in parallel, and one of times.
const TOY: Figure = Figure {
    id: "toy-fig1",
    title: "Sizes of bags & their shares",
    source: "Toy, Fig. 1",
    protocol: "Musk1; how many bags have at most so many instances.",
    data: &["musk1"],
    optional: &[],
    draw: draw_toy,
};

fn draw_toy(context: &Context<'_>) -> Result<Drawing, FitError> {
    let start = Instant::now();
    let bags = context.bags("musk1");
    let n_places = if context.quick { 15 } else { 30 };
    context.start(2);
    let curve = |label: Label| -> Vec<Point> {
        let points = (1..=n_places).into_par_iter().map(|most: usize| {
            let of_label = bags.bags().zip(bags.labels()).filter(|(_, of)| **of == label);
            let sizes: Vec<usize> = of_label.map(|(bag, _)| bag.n_instances()).collect();
            let share = sizes.iter().filter(|&&size| size <= most).count() as f64 / sizes.len() as f64;
            Point { x: most as f64, y: share + context.seed as f64, half_width: Some(0.01 * most as f64) }
        });
        let points = points.collect();
        context.step(&label.to_string());
        points
    };
    let panel = |title: &str, x: AxisSpec, y: AxisSpec, style: Style| Panel {
        title: title.to_owned(),
        x,
        y,
        series: vec![
            Series { name: "positive <bags>".to_owned(), style: Style::Line, points: curve(Label::Positive) },
            Series { name: "negative bags".to_owned(), style, points: curve(Label::Negative) },
        ],
        levels: vec![Level { name: "as printed".to_owned(), y: 4.5 }],
    };
    let linear = panel("Shares", AxisSpec::linear("instances"), AxisSpec::linear("share"), Style::Line);
    let log = panel("Shares again", AxisSpec::log("instances"), AxisSpec::log("share"), Style::Dashed);
    let seconds = start.elapsed().as_secs_f64();
    let timed = Panel {
        title: "Time".to_owned(),
        series: vec![Series { name: "ours".to_owned(), style: Style::Line, points: vec![Point::at(1.0, seconds)] }],
        levels: Vec::new(),
        ..linear.clone()
    };
    let table = |title: &str, ours: String| Table {
        title: title.to_owned(),
        heads: ["what", "ours", "a|b"].map(str::to_owned).to_vec(),
        rows: vec![vec!["<whole>".to_owned(), ours, String::new()]],
    };
    Ok(Drawing {
        panels: vec![linear, log],
        pictures: Vec::new(),
        tables: vec![table("Counts", bags.n_instances().to_string())],
        findings: vec![format!("{} bags were counted", bags.n_bags())],
        timed: vec![timed],
        timed_tables: vec![table("Seconds", format!("{seconds:.9}"))],
        timed_findings: vec![format!("it took {seconds:.9} s")],
    })
}

fn drawn(figures: &[Figure], n_threads: usize, protocol: &Protocol) -> Results {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    let nowhere = PathBuf::from("no-such-folder");
    pool.install(|| run(&baseline()[..1], &["fox"], figures, protocol, Some(&nowhere), &Progress::quiet())).unwrap()
}

/// `results.json`, `report.md` and `report.html`.
fn files(name: &str, results: &Results) -> [String; 3] {
    let folder = std::env::temp_dir().join(format!("mil-repro-{name}-{}", std::process::id()));
    report::prepare(&folder).unwrap();
    report::write(&folder, results).unwrap();
    let texts = report::FILES.map(|file| std::fs::read_to_string(folder.join(file)).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    texts
}

/// Nothing is loaded from elsewhere, and nothing runs; images are inside the page.
fn assert_self_contained(html: &str) {
    for outside in ["http:", "https:", "<script", "<link", "url(", "@import", "srcset=", "href="] {
        assert!(!html.contains(outside), "{outside}");
    }
    for start in ["<img", "src="] {
        assert_eq!(html.matches(start).count(), html.matches("src=\"data:image/png;base64,").count(), "{start}");
    }
}

#[test]
fn a_figure_goes_all_the_way_to_its_report() {
    let results = drawn(&[TOY], 2, &PROTOCOL);
    let FigureState::Drawn { panels, tables, findings, .. } = &results.figures[0].state else {
        panic!("{:?}", results.figures[0])
    };
    assert_eq!((panels.len(), findings[0].as_str()), (2, "92 bags were counted"));
    assert_eq!(tables[0].rows, [["<whole>", "476", ""]]);
    assert_eq!(panels[0].series[0].points.len(), 15, "a quick run");
    assert!(results.data.iter().all(|data| data.name != "musk1"), "the columns are those of the table");

    let [json, markdown, html] = files("figure", &results);
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
    let timed = &results.figure_timing[0].findings[0];
    for (text, title) in [(&markdown, "Sizes of bags & their shares"), (&html, "Sizes of bags &amp; their shares")] {
        for said in [title, "Toy, Fig. 1", TOY.protocol, "92 bags were counted", timed, "as printed", "negative bags"] {
            assert!(text.contains(said), "{said}");
        }
    }
    let seconds = &results.figure_timing[0].tables[0].rows[0][1];
    for said in ["**Counts**", "| what | ours | a\\|b |", "| <whole> | 476 |  |", "**Seconds**", seconds] {
        assert!(markdown.contains(said), "{said}");
    }
    for said in ["<caption>Counts</caption>", "<th>&lt;whole&gt;</th><td class=\"number\">476</td>", seconds] {
        assert!(html.contains(said), "{said}");
    }

    let summary = report::summary(&results);
    assert!(summary.contains("what     ours  a|b\n  <whole>   476\n"), "{summary}");
    assert!(summary.contains(TOY.title) && summary.contains(&findings[0]) && summary.contains(timed), "{summary}");

    assert_eq!(html.matches("role=\"img\"").count(), 3, "nothing is measured on fox, so there are the panels alone");
    assert_eq!(html.matches("class=\"key\"").count(), 3 + 3 + 1, "a key for each series and level");
    assert!(html.contains("positive &lt;bags&gt;"));
    assert!(!html.contains("NaN"));
    assert_self_contained(&html);

    let lines = markdown.lines().filter(|line| line.contains(" ± 0.")).count();
    assert_eq!(lines, 2 * 12, "fifteen places, thinned to twelve in each of two panels");
    for end in ["| 1 | ", "| 15 | "] {
        assert!(markdown.contains(end), "{end}");
    }
}

/// A figure of two rows of images, 5 x 4 pixels, that would like to have the digits of USPS.
const IMAGES: Figure = Figure { id: "toy-fig4", data: &[], optional: &["usps"], draw: draw_images, ..TOY };

fn draw_images(context: &Context<'_>) -> Result<Drawing, FitError> {
    assert_eq!(context.instances("usps"), None, "the tests have none");
    let image = |first: u32| (0..20).map(|idx| f64::from(first + idx) / 255.0).collect();
    let row = |head: &str, firsts: &[u32]| PictureRow {
        head: head.to_owned(),
        images: firsts.iter().map(|&first| image(first)).collect(),
    };
    let rows = vec![row("digit <0>", &[0, 40, 80]), row("digit 1", &[120, 235])];
    let picture = Picture { title: "Atoms & their digits".to_owned(), width: 5, height: 4, rows };
    Ok(Drawing { pictures: vec![picture], ..Drawing::default() })
}

#[test]
fn a_picture_goes_all_the_way_to_its_report() {
    let results = drawn(&[IMAGES], 2, &PROTOCOL);
    let FigureState::Drawn { pictures, .. } = &results.figures[0].state else { panic!("{:?}", results.figures[0]) };
    assert_eq!(pictures[0].rows[1].images[1], (235..=254).collect::<Vec<u8>>());

    let [json, markdown, html] = files("picture", &results);
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
    assert!(json.contains("\"eHl6e3x9fn+AgYKDhIWGh4iJios=\""), "120 to 139 in base64");
    let said = "**Atoms & their digits**\n\n(a picture of 5 images in 2 rows, 5 x 4 pixels each; see report.html)\n";
    assert!(markdown.contains(said), "{markdown}");
    assert!(
        html.contains("<figcaption>Atoms &amp; their digits</figcaption>") && html.contains("<li>digit &lt;0&gt;</li>")
    );
    assert_eq!(html.matches("src=\"data:image/png;base64,").count(), 1);
    assert_self_contained(&html);
}

#[test]
fn a_picture_that_cannot_be_drawn_is_a_failure() {
    let too_dark = |context: &Context<'_>| {
        let mut drawing = draw_images(context)?;
        drawing.pictures[0].rows[1].images[0][7] = 1.5;
        Ok(drawing)
    };
    let results = drawn(&[Figure { draw: too_dark, ..IMAGES }], 2, &PROTOCOL);
    let FigureState::Failed { reason } = &results.figures[0].state else { panic!("{:?}", results.figures[0]) };
    assert!(reason.ends_with("row 1, image 0, pixel 7: value is 1.5, expected a number from 0 to 1"), "{reason}");
}

/// The image figure with this data folder, and what it and all that people read say of the data.
fn told_of_usps(name: &str, data_dir: &Path) -> String {
    let results = run(&[], &[], &[IMAGES], &PROTOCOL, Some(data_dir), &Progress::quiet()).unwrap();
    assert!(matches!(results.figures[0].state, FigureState::Drawn { .. }), "{:?}", results.figures[0]);
    assert_eq!((results.n_failed(), &results.figures[0].optional[..]), (0, &["usps".to_owned()][..]));
    let [reason] = &results.figures[0].absent[..] else { panic!("{:?}", results.figures[0]) };
    let [json, markdown, html] = files(name, &results);
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
    for text in [&markdown, &html, &report::summary(&results)] {
        assert!(text.contains(&format!("On generated data, in place of {reason}")), "{text}");
    }
    reason.clone()
}

#[test]
fn a_figure_without_optional_data_is_drawn_and_says_so() {
    let reason = told_of_usps("without-optional", Path::new("no-such-folder"));
    assert!(reason.starts_with("usps: there is no data folder no-such-folder. Take `zip.train.gz`"), "{reason}");
}

#[test]
fn damaged_optional_data_are_told_and_not_used() {
    let folder = std::env::temp_dir().join(format!("mil-repro-damaged-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("usps")).unwrap();
    for file in ["zip.train.gz", "zip.test.gz"] {
        std::fs::write(folder.join("usps").join(file), b"6 0.5\n").unwrap();
    }
    let reason = told_of_usps("damaged-optional", &folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(reason.contains("zip.train.gz: holds 6 bytes (uncompressed), expected 14512253"), "{reason}");
}

#[test]
fn optional_data_that_are_there_or_of_no_use_are_not_told() {
    let present = Figure { optional: &["musk2"], ..TOY };
    let left_out = Figure { data: &["tiger"], ..IMAGES };
    let results = drawn(&[TOY, present, left_out], 2, &PROTOCOL);
    assert_eq!(results.figures[1].absent, [""; 0]);
    assert!(matches!(results.figures[2].state, FigureState::NoData { .. }), "tiger is needed");
    let [_, markdown, html] = files("nothing-to-tell", &results);
    for text in [&markdown, &html, &report::summary(&results)] {
        assert!(!text.contains("On generated data"), "{text}");
    }
}

#[test]
fn every_number_reads_back_as_it_was_written() {
    let numbers = |_: &Context<'_>| {
        let points = (1..1000).map(|idx| Point::at(f64::from(idx), f64::from(idx).sin()));
        let series = Series { name: "sine".to_owned(), style: Style::Line, points: points.collect() };
        let (x, y) = (AxisSpec::log("x"), AxisSpec::linear("y"));
        let panel = Panel { title: "Sine".to_owned(), x, y, series: vec![series], levels: Vec::new() };
        Ok(Drawing { panels: vec![panel], ..Drawing::default() })
    };
    let results = drawn(&[Figure { draw: numbers, ..TOY }], 2, &PROTOCOL);
    let [json, ..] = files("numbers", &results);
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
}

#[test]
fn the_seed_fixes_a_figure_but_for_its_times() {
    let full = Protocol { quick: false, ..PROTOCOL };
    let (one, two) = (drawn(&[TOY], 1, &full), drawn(&[TOY], 2, &full));
    assert_eq!(one.figures, two.figures);
    assert_ne!(one.figure_timing, two.figure_timing);
    let without_times = |results: Results| {
        let mut value = serde_json::to_value(results).unwrap();
        for block in ["timing", "figure_timing", "machine"] {
            value.as_object_mut().unwrap().remove(block).unwrap();
        }
        value.to_string()
    };
    assert_eq!(without_times(one), without_times(two.clone()));
    assert_ne!(drawn(&[TOY], 2, &Protocol { seed: 5, ..full }).figures, two.figures);
}

#[test]
fn a_figure_without_its_data_says_what_to_do_and_is_no_failure() {
    let results = drawn(&[Figure { data: &["musk1", "tiger", "corel-1000"], ..TOY }, TOY], 2, &PROTOCOL);
    let FigureState::NoData { reason } = &results.figures[0].state else { panic!("{:?}", results.figures[0]) };
    assert!(
        reason.contains("no-such-folder") && reason.contains("Tiger") && reason.contains("corel2000.csv"),
        "{reason}"
    );
    assert_eq!(results.figure_timing[0], FigureTiming::default());
    assert!(matches!(results.figures[1].state, FigureState::Drawn { .. }), "the rest runs");
    assert_eq!(results.n_failed(), 0);
    assert!(report::summary(&results).contains(reason));
    let [_, markdown, html] = files("without-data", &results);
    assert!(markdown.contains(reason) && html.contains("Left out: "));
}

#[test]
fn figures_that_fail_are_counted_and_the_rest_runs() {
    let refuses =
        Figure { id: "toy-fig2", draw: |_| Err(FitError::SingleClass { label: Label::Positive, n_bags: 7 }), ..TOY };
    let not_a_number = Figure {
        id: "toy-fig3",
        draw: |context| {
            let mut drawing = draw_toy(context)?;
            drawing.panels[1].series[0].points[2].y = f64::NAN;
            Ok(drawing)
        },
        ..TOY
    };
    let results = drawn(&[refuses, not_a_number, TOY], 2, &PROTOCOL);
    assert_eq!(results.n_failed(), 2);
    let [_, markdown, html] = files("failing", &results);
    for (figure, reason) in results.figures.iter().zip([
        "all 7 bags are positive; this learner needs both classes",
        "panel \"Shares again\", series \"positive <bags>\", point 2: y is NaN, expected a finite number",
    ]) {
        let FigureState::Failed { reason: said } = &figure.state else { panic!("{figure:?}") };
        assert!(said.starts_with(reason), "{said}");
        assert!(markdown.contains(said) && report::summary(&results).contains(said), "{said}");
    }
    assert!(html.contains("all 7 bags are positive"));
    assert!(matches!(results.figures[2].state, FigureState::Drawn { .. }));
}

#[test]
fn figures_alone_leave_out_the_tables() {
    let results = run(&[], &[], &[TOY], &PROTOCOL, None, &Progress::quiet()).unwrap();
    let [_, markdown, html] = files("alone", &results);
    for text in [&markdown, &html, &report::summary(&results)] {
        assert!(text.contains("Figures alone (seed 4)") && !text.contains("larger class"), "{text}");
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
