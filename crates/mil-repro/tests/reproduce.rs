//! A run from methods to report, on the shipped data and with data missing.

use std::path::{Path, PathBuf};
use std::time::Instant;

use mil_core::{FitError, Label};
use mil_repro::comparison::Verdict;
use mil_repro::figure::{
    AxisSpec, Better, Comparison, Context, Drawing, Figure, Level, Panel, Picture, PictureRow, Point, Printed, Series,
    Style, Table,
};
use mil_repro::method::Method;
use mil_repro::papers::Paper;
use mil_repro::progress::Progress;
use mil_repro::results::{
    CellState, DataState, Drawn, FigureState, FigureTiming, Protocol, Results, RunRecord, SCHEMA,
};
use mil_repro::run::{Plan, Shard};
use mil_repro::selection::Selection;
use mil_repro::store::{Merged, Store};
use mil_repro::table::{Line, PaperTable};
use mil_repro::{methods, report};
use rayon::prelude::*;

const PROTOCOL: Protocol = Protocol { n_folds: 3, repeats: Some(2), seed: 4, quick: true };

/// A folder that is empty now and removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mil-repro-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let folder = Folder(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The methods that take no time, on these data sets.
fn baseline(data: &[&'static str]) -> Vec<(Method, Vec<&'static str>)> {
    let quick = methods::all().into_iter().filter(|method| method.id.starts_with("nearest-centroid"));
    quick.map(|method| (method, data.to_vec())).collect()
}

fn cells(data: &[&'static str]) -> Selection {
    Selection { tables: Vec::new(), methods: baseline(data), figures: Vec::new() }
}

fn figures(figures: Vec<Figure>) -> Selection {
    Selection { tables: Vec::new(), methods: Vec::new(), figures }
}

/// Runs into a folder.
fn run_into(folder: &Path, selection: &Selection, protocol: Protocol, data_dir: Option<&Path>) -> (Results, RunRecord) {
    let store = Store::open(folder).unwrap();
    let progress = Progress::quiet();
    Plan { selection, protocol, data_dir, store: &store, force: false, progress: &progress }.run().unwrap()
}

/// Runs afresh.
fn run(selection: &Selection, protocol: Protocol, data_dir: Option<&Path>) -> (Results, RunRecord) {
    run_into(&Folder::new().0, selection, protocol, data_dir)
}

fn nowhere() -> Option<&'static Path> {
    Some(Path::new("no-such-folder"))
}

fn on_threads<T: Send>(n_threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap().install(work)
}

#[test]
fn the_number_of_threads_changes_nothing_but_times_and_machine() {
    let [one, two] = [1, 2].map(|n| on_threads(n, || run(&cells(&["musk1", "fox"]), PROTOCOL, nowhere())));
    assert_eq!(one.0, two.0);
    assert_eq!((one.1.provenance.n_threads, two.1.provenance.n_threads), (1, 2));
}

#[test]
fn missing_data_leave_the_rest_standing_and_say_what_to_do() {
    let (results, record) = run(&cells(&["musk1", "fox"]), PROTOCOL, nowhere());
    for method in &results.methods {
        let states: Vec<&CellState> = method.cells.iter().map(|cell| &cell.state).collect();
        assert!(matches!(states[..], [CellState::Measured { .. }, CellState::NoData]), "{}", method.id);
    }
    let DataState::Absent { reason } = &results.data[1].state else { panic!("fox is not shipped") };
    assert!(reason.contains("no-such-folder") && reason.contains("Fox.csv"), "{reason}");
    assert!(report::summary(&results, &record).contains("Left out: fox"));
}

#[test]
fn the_baseline_beats_always_the_larger_class_on_musk1() {
    let (results, _) = run(&cells(&["musk1"]), PROTOCOL, None);
    for method in &results.methods {
        let state = &method.cells[0].state;
        let (accuracy, auc) = (state.accuracy().unwrap(), state.auc().unwrap());
        assert!(accuracy.mean > 0.6 && accuracy.half_width.is_some(), "{}: {accuracy:?}", method.id);
        assert!(auc.mean > 0.65, "{}", method.id);
    }
}

#[test]
fn a_method_has_the_repetitions_of_its_paper_only_in_a_full_run_that_asks_for_none() {
    let (mut method, _) = baseline(&[]).remove(0);
    method.repeats = &[("musk1", 7)];
    for (data, asked_for, quick, n_repeats) in [
        ("musk1", None, false, 7),
        ("musk2", None, false, 3),
        ("musk1", None, true, 3),
        ("musk1", Some(2), false, 2),
        ("musk1", Some(2), true, 2),
    ] {
        assert_eq!(method.n_repeats(data, asked_for, quick), n_repeats, "{data} {asked_for:?} {quick}");
    }
    method.repeats = &[("musk1", 4)];
    let selection = Selection { methods: vec![(method, vec!["musk1"])], ..cells(&[]) };
    let full = Protocol { quick: false, repeats: None, ..PROTOCOL };
    let (results, record) = run(&selection, full, None);
    assert_eq!(results.methods[0].cells[0].state.accuracy().unwrap().n_runs, 4);
    assert!(report::summary(&results, &record).contains("as many repetitions as the paper's, else 3,"));
    // Fewer repetitions are the first of more.
    let CellState::Measured { accuracies, .. } = &results.methods[0].cells[0].state else { panic!() };
    let (fewer, _) = run(&selection, PROTOCOL, None);
    let CellState::Measured { accuracies: first, .. } = &fewer.methods[0].cells[0].state else { panic!() };
    assert_eq!(first[..], accuracies[..2]);
}

#[test]
fn the_files_say_the_same() {
    let (results, record) = run(&cells(&["musk1", "fox"]), PROTOCOL, nowhere());
    let [json, run_json, markdown, html] = files(&results, &record);
    let again: Results = serde_json::from_str(&json).unwrap();
    assert_eq!((again.schema.as_str(), &again), (SCHEMA, &results));
    assert_eq!(serde_json::from_str::<RunRecord>(&run_json).unwrap(), record);
    for method in &results.methods {
        let accuracy = method.cells[0].state.accuracy().unwrap();
        let figure = format!("{:.1} ± {:.1}", 100.0 * accuracy.mean, 100.0 * accuracy.half_width.unwrap());
        for text in [&markdown, &html] {
            assert!(text.contains(&method.name) && text.contains(&figure), "{} {figure}", method.name);
        }
    }
    assert_self_contained(&html);
}

/// A table of a paper of which we have one method, on data that are there and on data that are not.
fn toy_table() -> PaperTable {
    let line = |name, method, printed: [Printed; 2]| Line { name, method, printed: printed.to_vec() };
    PaperTable {
        id: "toy-table1",
        paper: Paper::Mio,
        place: "Table 9",
        title: "Toy <accuracies>",
        protocol: "As a test.",
        columns: &["musk1", "fox"],
        lines: vec![
            line(
                "CENTROID",
                Some("nearest-centroid-max"),
                [Printed::tenths(99.0).within(98.0, 99.5), Printed::whole(60.0)],
            ),
            line("CENTROID again", Some("nearest-centroid-max"), [Printed::whole(72.0), Printed::whole(60.0)]),
            line("FOREIGN", None, [Printed::tenths(77.7), Printed::tenths(55.5)]),
        ],
    }
}

#[test]
fn a_table_puts_ours_beside_what_is_printed() {
    let selection = Selection { tables: vec![toy_table()], ..cells(&["musk1", "fox"]) };
    let (results, record) = run(&selection, Protocol { repeats: Some(5), ..PROTOCOL }, nowhere());
    let verdicts: Vec<Option<Verdict>> =
        results.tables[0].lines.iter().flat_map(|line| &line.cells).map(|cell| cell.verdict).collect();
    assert_eq!(verdicts, [Some(Verdict::Worse), None, Some(Verdict::Matches), None, None, None]);
    let [_, _, markdown, html] = files(&results, &record);
    for said in
        ["Toy &lt;accuracies&gt;", "99.0 [98.0, 99.5]", "77.7", "no data", "no explanation yet", "id=\"toy-table1\""]
    {
        assert!(html.contains(said), "{said}");
    }
    for said in [
        "### Table 9: Toy <accuracies>",
        "(99.0 [98.0, 99.5]) worse",
        "(77.7)",
        "no data (60)",
        "| MIO | Table 9 | Toy <accuracies> | 1 |  | 1 |  | 2 | 2 |",
    ] {
        assert!(markdown.contains(said), "{said}: {markdown}");
    }
    assert_eq!(html.matches("<svg").count(), 1, "a chart of the one data set that is there");
    let summary = report::summary(&results, &record);
    assert!(summary.contains("1 matches, 1 worse, 2 not run, 2 not ours"), "{summary}");
    assert!(summary.contains("worse: CENTROID, musk1:"), "{summary}");
    assert_self_contained(&html);
}

#[test]
fn what_is_stored_is_not_computed_again_unless_forced() {
    let folder = Folder::new();
    let selection = Selection { methods: baseline(&["musk1"]), ..figures(vec![TOY]) };
    let first = run_into(&folder.0, &selection, PROTOCOL, None);
    let again = run_into(&folder.0, &selection, PROTOCOL, None);
    assert_eq!(first.0, again.0);
    // Times are of the run that computed: a second run knows no others.
    assert_eq!((&first.1.fit_seconds, &first.1.figure_timing), (&again.1.fit_seconds, &again.1.figure_timing));
    let store = Store::open(&folder.0).unwrap();
    let progress = Progress::quiet();
    let forced = Plan {
        selection: &selection,
        protocol: PROTOCOL,
        data_dir: None,
        store: &store,
        force: true,
        progress: &progress,
    };
    let forced = forced.run().unwrap();
    assert_eq!(first.0, forced.0);
    assert_ne!(first.1.figure_timing, forced.1.figure_timing, "computed anew");
    // What lies damaged in the store is computed anew as well.
    for entry in std::fs::read_dir(folder.0.join("cells")).unwrap() {
        std::fs::write(entry.unwrap().path(), b"{\"schema\":").unwrap();
    }
    assert_eq!(run_into(&folder.0, &selection, PROTOCOL, None).0, first.0);
}

#[test]
fn shards_joined_are_the_whole() {
    let selection = Selection { methods: baseline(&["musk1"]), ..figures(vec![TOY]) };
    let progress = Progress::quiet();
    let whole = run(&selection, PROTOCOL, None).0;
    let joined = Folder::new();
    let store = Store::open(&joined.0).unwrap();
    let mut n_pieces = 0;
    for number in 1..=3 {
        let folder = Folder::new();
        let of_shard = Store::open(&folder.0).unwrap();
        let plan = Plan {
            selection: &selection,
            protocol: PROTOCOL,
            data_dir: None,
            store: &of_shard,
            force: false,
            progress: &progress,
        };
        let done = plan.run_shard(Shard { number, of: 3 }).unwrap();
        assert_eq!((done.n_stored, done.n_failed), (0, 0));
        assert_eq!(store.merge(&folder.0).unwrap(), Merged { n_new: done.n_computed, n_known: 0 });
        assert_eq!(
            store.merge(&folder.0).unwrap(),
            Merged { n_new: 0, n_known: done.n_computed },
            "twice does no harm"
        );
        n_pieces += done.n_computed;
    }
    assert_eq!(n_pieces, 3 * 2 + 1, "each piece in one shard");
    let plan = Plan {
        selection: &selection,
        protocol: PROTOCOL,
        data_dir: None,
        store: &store,
        force: false,
        progress: &progress,
    };
    let nothing_left = plan.run_shard(Shard::WHOLE).unwrap();
    assert_eq!((nothing_left.n_computed, nothing_left.n_stored), (0, n_pieces));
    assert_eq!(plan.run().unwrap().0, whole);
}

/// A figure like those of papers: two panels that the seed fixes, computed in parallel, and one of times.
const TOY: Figure = Figure {
    id: "toy-fig1",
    title: "Sizes of bags & their shares",
    paper: Paper::Mio,
    place: "Fig. 9",
    protocol: "Musk1; how many bags have at most so many instances.",
    data: &["musk1"],
    optional: &[],
    code: &["mil-data"],
    source: "src/figures/mio.rs",
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
        comparisons: vec![Comparison {
            line: "bags".to_owned(),
            column: "counted".to_owned(),
            runs: vec![92.0, 93.0],
            printed: Printed::whole(60.0),
            better: Better::Higher,
            not_comparable: None,
        }],
        timed: vec![timed],
        timed_tables: vec![table("Seconds", format!("{seconds:.9}"))],
        timed_findings: vec![format!("it took {seconds:.9} s")],
    })
}

fn drawn(all: Vec<Figure>, n_threads: usize, protocol: Protocol) -> (Results, RunRecord) {
    on_threads(n_threads, || run(&figures(all), protocol, nowhere()))
}

/// What is written: `results.json`, `run.json`, `report.md` and `report.html`.
fn files(results: &Results, record: &RunRecord) -> [String; 4] {
    let folder = Folder::new();
    report::prepare(&folder.0).unwrap();
    report::write(&folder.0, results, record).unwrap();
    report::FILES.map(|file| std::fs::read_to_string(folder.0.join(file)).unwrap())
}

/// Nothing is loaded from elsewhere, and nothing runs; images are inside the page.
fn assert_self_contained(html: &str) {
    for outside in ["http:", "https:", "<script", "<link", "url(", "@import", "srcset="] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert_eq!(html.matches("href=").count(), html.matches("href=\"#").count(), "links stay on the page");
    for start in ["<img", "src="] {
        assert_eq!(html.matches(start).count(), html.matches("src=\"data:image/png;base64,").count(), "{start}");
    }
}

#[test]
fn a_figure_goes_all_the_way_to_its_report() {
    let (results, record) = drawn(vec![TOY], 2, PROTOCOL);
    let FigureState::Drawn { drawn: Drawn { panels, tables, findings, .. }, judged } = &results.figures[0].state else {
        panic!("{:?}", results.figures[0])
    };
    assert_eq!((panels.len(), findings[0].as_str()), (2, "92 bags were counted"));
    assert_eq!(judged[0].verdict, Verdict::Better, "92 where 60 is printed");
    assert_eq!(tables[0].rows, [["<whole>", "476", ""]]);
    assert_eq!(panels[0].series[0].points.len(), 15, "a quick run");

    let [json, _, markdown, html] = files(&results, &record);
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
    let timed = &record.figure_timing[0].findings[0];
    for (text, title) in [(&markdown, "Sizes of bags & their shares"), (&html, "Sizes of bags &amp; their shares")] {
        for said in [title, "Fig. 9", TOY.protocol, "92 bags were counted", timed, "as printed", "negative bags"] {
            assert!(text.contains(said), "{said}");
        }
    }
    let seconds = &record.figure_timing[0].tables[0].rows[0][1];
    for said in ["**Counts**", "| what | ours | a\\|b |", "| <whole> | 476 |  |", "**Seconds**", seconds] {
        assert!(markdown.contains(said), "{said}");
    }
    for said in ["<caption>Counts</caption>", "<th>&lt;whole&gt;</th><td class=\"number\">476</td>", seconds] {
        assert!(html.contains(said), "{said}");
    }

    let summary = report::summary(&results, &record);
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
    let (results, record) = drawn(vec![IMAGES], 2, PROTOCOL);
    let FigureState::Drawn { drawn: Drawn { pictures, .. }, .. } = &results.figures[0].state else {
        panic!("{:?}", results.figures[0])
    };
    assert_eq!(pictures[0].rows[1].images[1], (235..=254).collect::<Vec<u8>>());

    let [json, _, markdown, html] = files(&results, &record);
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
    let (results, _) = drawn(vec![Figure { draw: too_dark, ..IMAGES }], 2, PROTOCOL);
    let FigureState::Failed { reason } = &results.figures[0].state else { panic!("{:?}", results.figures[0]) };
    assert!(reason.ends_with("row 1, image 0, pixel 7: value is 1.5, expected a number from 0 to 1"), "{reason}");
}

/// The image figure with this data folder, and what it and all that people read say of the data.
fn told_of_usps(data_dir: &Path) -> String {
    let (results, record) = run(&figures(vec![IMAGES]), PROTOCOL, Some(data_dir));
    assert!(matches!(results.figures[0].state, FigureState::Drawn { .. }), "{:?}", results.figures[0]);
    assert_eq!((results.n_failed(), &results.figures[0].optional[..]), (0, &["usps".to_owned()][..]));
    let [reason] = &results.figures[0].absent[..] else { panic!("{:?}", results.figures[0]) };
    let [json, _, markdown, html] = files(&results, &record);
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
    for text in [&markdown, &html, &report::summary(&results, &record)] {
        assert!(text.contains(&format!("On generated data, in place of {reason}")), "{text}");
    }
    reason.clone()
}

#[test]
fn a_figure_without_optional_data_is_drawn_and_says_so() {
    let reason = told_of_usps(Path::new("no-such-folder"));
    assert!(reason.starts_with("usps: there is no data folder no-such-folder. Take `zip.train.gz`"), "{reason}");
}

#[test]
fn damaged_optional_data_are_told_and_not_used() {
    let folder = Folder::new();
    let folder = &folder.0;
    std::fs::create_dir_all(folder.join("usps")).unwrap();
    for file in ["zip.train.gz", "zip.test.gz"] {
        std::fs::write(folder.join("usps").join(file), b"6 0.5\n").unwrap();
    }
    let reason = told_of_usps(folder);
    assert!(reason.contains("zip.train.gz: holds 6 bytes (uncompressed), expected 14512253"), "{reason}");
}

#[test]
fn optional_data_that_are_there_or_of_no_use_are_not_told() {
    let present = Figure { id: "toy-fig5", optional: &["musk2"], ..TOY };
    let left_out = Figure { data: &["tiger"], ..IMAGES };
    let (results, record) = drawn(vec![TOY, present, left_out], 2, PROTOCOL);
    assert_eq!(results.figures[1].absent, [""; 0]);
    assert!(matches!(results.figures[2].state, FigureState::NoData { .. }), "tiger is needed");
    let [_, _, markdown, html] = files(&results, &record);
    for text in [&markdown, &html, &report::summary(&results, &record)] {
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
    let (results, record) = drawn(vec![Figure { draw: numbers, ..TOY }], 2, PROTOCOL);
    let [json, ..] = files(&results, &record);
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
}

#[test]
fn the_seed_fixes_a_figure_but_for_its_times() {
    let full = Protocol { quick: false, ..PROTOCOL };
    let [one, two] = [1, 2].map(|n_threads| drawn(vec![TOY], n_threads, full));
    assert_eq!(one.0, two.0);
    assert_ne!(one.1.figure_timing, two.1.figure_timing);
    assert_eq!(files(&one.0, &one.1)[0], files(&two.0, &two.1)[0], "results.json, to the byte");
    assert_ne!(drawn(vec![TOY], 2, Protocol { seed: 5, ..full }).0.figures, two.0.figures);
}

#[test]
fn a_figure_without_its_data_says_what_to_do_and_is_no_failure() {
    let (results, record) =
        drawn(vec![Figure { id: "toy-fig5", data: &["musk1", "tiger", "corel-1000"], ..TOY }, TOY], 2, PROTOCOL);
    let FigureState::NoData { reason } = &results.figures[0].state else { panic!("{:?}", results.figures[0]) };
    assert!(
        reason.contains("no-such-folder") && reason.contains("Tiger") && reason.contains("corel2000.csv"),
        "{reason}"
    );
    assert_eq!(record.figure_timing[0], FigureTiming::default());
    assert!(matches!(results.figures[1].state, FigureState::Drawn { .. }), "the rest runs");
    assert_eq!(results.n_failed(), 0);
    assert!(report::summary(&results, &record).contains(reason));
    let [_, _, markdown, html] = files(&results, &record);
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
    let (results, record) = drawn(vec![refuses, not_a_number, TOY], 2, PROTOCOL);
    assert_eq!(results.n_failed(), 2);
    let [_, _, markdown, html] = files(&results, &record);
    for (figure, reason) in results.figures.iter().zip([
        "all 7 bags are positive; this learner needs both classes",
        "panel \"Shares again\", series \"positive <bags>\", point 2: y is NaN, expected a finite number",
    ]) {
        let FigureState::Failed { reason: said } = &figure.state else { panic!("{figure:?}") };
        assert!(said.starts_with(reason), "{said}");
        assert!(markdown.contains(said) && report::summary(&results, &record).contains(said), "{said}");
    }
    assert!(html.contains("all 7 bags are positive"));
    assert!(matches!(results.figures[2].state, FigureState::Drawn { .. }));
}

#[test]
fn figures_alone_leave_out_the_tables() {
    let (results, record) = run(&figures(vec![TOY]), PROTOCOL, None);
    let [_, _, markdown, html] = files(&results, &record);
    for text in [&markdown, &html, &report::summary(&results, &record)] {
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
