//! Runs the cells, draws the figures and tells how far it is.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mil_core::{BagSet, CrossValidation, Event, Label, Observer, Stage};
use mil_data::catalogue::{self, DataSet, Entry};

use crate::figure::{Context, Drawing, Figure};
use crate::results::{
    Cell, Data, DataState, FigureResult, FigureState, FigureTiming, Machine, Protocol, Raster, Results, RowResult,
    SCHEMA,
};
use crate::row::Row;

/// Cross-validates each row on each data set that is there, then draws each figure whose needed data are there.
///
/// # Errors
/// If a name is not in the catalogue.
pub fn run(
    rows: &[Row],
    data: &[&str],
    figures: &[Figure],
    protocol: &Protocol,
    data_dir: Option<&Path>,
    progress: &Progress,
) -> Result<Results, catalogue::CatalogueError> {
    let mut loaded = data.iter().map(|name| Loaded::of(name, data_dir)).collect::<Result<Vec<Loaded>, _>>()?;
    let columns: Vec<(Data, Option<&BagSet<Label>>)> = loaded.iter().map(Loaded::column).collect();
    let is_wanted = |row: &Row, data: &Data| !protocol.quick || row.quick.contains(&data.name.as_str());
    let n_cells = |row: &Row| columns.iter().filter(|(data, bags)| bags.is_some() && is_wanted(row, data)).count();
    let n_folds = |row: &Row| n_cells(row) * protocol.n_folds * protocol.repeats_of(row);
    progress.start(rows.iter().map(n_folds).sum());
    let mut results = Results {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: protocol.clone(),
        data: columns.iter().map(|(data, _)| data.clone()).collect(),
        rows: Vec::new(),
        figures: Vec::new(),
        timing: Vec::new(),
        figure_timing: Vec::new(),
        machine: Machine::this(),
    };
    for row in rows {
        let (cells, seconds) = columns
            .iter()
            .map(|(data, bags)| match bags {
                None => (Cell::NoData, None),
                Some(_) if !is_wanted(row, data) => (Cell::LeftOut, None),
                Some(bags) => measure(row, &data.name, bags, protocol, progress),
            })
            .unzip();
        results.rows.push(RowResult {
            id: row.id.to_owned(),
            method: row.method.to_owned(),
            settings: row.settings.to_owned(),
            n_repeats: protocol.repeats_of(row),
            cells,
        });
        results.timing.push(seconds);
    }
    for name in figures.iter().flat_map(|figure| figure.data.iter().chain(figure.optional)) {
        if !loaded.iter().any(|known| known.entry.name == *name) {
            loaded.push(Loaded::of(name, data_dir)?);
        }
    }
    for figure in figures {
        let optional = Loaded::of_names(&loaded, figure.optional);
        let (state, timing) = draw(figure, &Loaded::of_names(&loaded, figure.data), &optional, protocol, progress);
        results.figures.push(FigureResult {
            id: figure.id.to_owned(),
            title: figure.title.to_owned(),
            source: figure.source.to_owned(),
            protocol: figure.protocol.to_owned(),
            data: figure.data.iter().map(|&name| name.to_owned()).collect(),
            optional: figure.optional.iter().map(|&name| name.to_owned()).collect(),
            absent: optional.iter().filter_map(|known| known.found.as_ref().err().cloned()).collect(),
            state,
        });
        results.figure_timing.push(timing);
    }
    progress.finish();
    Ok(results)
}

/// A data set of the catalogue, or what is missing and how to get it.
struct Loaded {
    entry: &'static Entry,
    found: Result<DataSet, String>,
}

impl Loaded {
    fn of(name: &str, data_dir: Option<&Path>) -> Result<Loaded, catalogue::CatalogueError> {
        let entry = catalogue::find(name)?;
        Ok(Loaded { entry, found: entry.load(data_dir).map_err(|error| error.to_string()) })
    }

    /// Those of these names.
    fn of_names<'a>(loaded: &'a [Loaded], names: &[&str]) -> Vec<&'a Loaded> {
        loaded.iter().filter(|known| names.contains(&known.entry.name)).collect()
    }

    /// As a column of the table of rows, which are about two classes.
    fn column(&self) -> (Data, Option<&BagSet<Label>>) {
        let name = self.entry.name;
        let (state, bags) = match &self.found {
            Ok(DataSet::Binary(bags)) => {
                let state = DataState::Present {
                    n_bags: bags.n_bags(),
                    n_positive: bags.positive_bags().count(),
                    n_instances: bags.n_instances(),
                    n_features: bags.n_features(),
                };
                (state, Some(bags))
            }
            Ok(_) => (DataState::Absent { reason: format!("{name} is not a set of bags of two classes") }, None),
            Err(reason) => (DataState::Absent { reason: reason.clone() }, None),
        };
        (Data { name: name.to_owned(), title: self.entry.title.to_owned(), state }, bags)
    }
}

fn measure(
    row: &Row,
    data: &str,
    bags: &BagSet<Label>,
    protocol: &Protocol,
    progress: &Progress,
) -> (Cell, Option<f64>) {
    let plan = CrossValidation { n_folds: protocol.n_folds, n_repeats: protocol.repeats_of(row), seed: protocol.seed };
    let watch = Stopwatch { progress, since: Mutex::default(), total: Mutex::default() };
    progress.enter(row.id, data);
    match (row.learner)(data).cross_validate(&plan, bags, &watch) {
        Ok(report) => {
            let seconds = watch.total.into_inner().expect("no fold panicked").as_secs_f64();
            let cell = Cell::Measured { accuracy: report.accuracy().into(), auc: report.roc_auc().map(Into::into) };
            progress.leave(row.id, data, &format!("accuracy {:.1} %", 100.0 * report.accuracy().mean));
            (cell, Some(seconds))
        }
        Err(error) => {
            progress.leave(row.id, data, &error.to_string());
            (Cell::Failed { reason: error.to_string() }, None)
        }
    }
}

fn draw(
    figure: &Figure,
    needed: &[&Loaded],
    optional: &[&Loaded],
    protocol: &Protocol,
    progress: &Progress,
) -> (FigureState, FigureTiming) {
    let mut data = Vec::new();
    let mut missing = Vec::new();
    for Loaded { entry, found } in needed {
        match found {
            Ok(found) => data.push((entry.name, found)),
            Err(reason) => missing.push(reason.as_str()),
        }
    }
    if !missing.is_empty() {
        return (FigureState::NoData { reason: missing.join("; ") }, FigureTiming::default());
    }
    let optional = optional.iter().map(|known| (known.entry.name, known.found.as_ref().ok())).collect();
    let context = Context::new(figure.id, protocol.quick, protocol.seed, data, optional, progress);
    context.start(1);
    let start = Instant::now();
    match drawn(figure, &context) {
        Ok(Drawing { panels, pictures, tables, findings, timed, timed_tables, timed_findings }) => {
            let seconds = start.elapsed().as_secs_f64();
            context.note(&format!("drawn in {seconds:.1} s"));
            let timing =
                FigureTiming { seconds: Some(seconds), panels: timed, tables: timed_tables, findings: timed_findings };
            let pictures = pictures.iter().map(Raster::from).collect();
            (FigureState::Drawn { panels, pictures, tables, findings }, timing)
        }
        Err(reason) => {
            context.note(&reason);
            (FigureState::Failed { reason }, FigureTiming::default())
        }
    }
}

/// What the figure draws, if it can be drawn, else why not.
fn drawn(figure: &Figure, context: &Context<'_>) -> Result<Drawing, String> {
    let drawing = (figure.draw)(context).map_err(|error| error.to_string())?;
    drawing.check().map_err(|error| error.to_string())?;
    Ok(drawing)
}

/// Adds up the time between the first two stages of every fold.
struct Stopwatch<'a> {
    progress: &'a Progress,
    since: Mutex<HashMap<(usize, usize), Instant>>,
    total: Mutex<Duration>,
}

impl Observer for Stopwatch<'_> {
    fn on_event(&self, event: Event) {
        let fold = (event.repeat_idx, event.fold_idx);
        match event.stage {
            Stage::Fitting => {
                self.since.lock().expect("no fold panicked").insert(fold, Instant::now());
            }
            Stage::Scoring => {
                let start = self.since.lock().expect("no fold panicked").remove(&fold).expect("fitting came first");
                *self.total.lock().expect("no fold panicked") += start.elapsed();
            }
            Stage::Done => self.progress.advance(),
        }
    }
}

/// A bar on a terminal, a line per cell or step elsewhere, nothing when quiet.
pub struct Progress {
    bar: ProgressBar,
    lines: bool,
}

impl Progress {
    /// Reports to standard error.
    ///
    /// # Panics
    /// Never: the template is a constant.
    #[must_use]
    pub fn to_stderr() -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {prefix}, {eta} left  {msg}");
        bar.set_style(style.expect("a constant template"));
        Progress { bar, lines: !std::io::stderr().is_terminal() }
    }

    /// Reports nothing.
    #[must_use]
    pub fn quiet() -> Progress {
        Progress { bar: ProgressBar::hidden(), lines: false }
    }

    fn start(&self, n_folds: usize) {
        self.bar.set_prefix("folds");
        self.bar.set_length(n_folds as u64);
    }

    fn enter(&self, row: &str, data: &str) {
        self.bar.set_message(format!("{row} on {data}"));
    }

    fn advance(&self) {
        self.bar.inc(1);
    }

    fn leave(&self, row: &str, data: &str, outcome: &str) {
        self.line(&format!("{row} on {data}: {outcome}"));
    }

    /// A figure begins that has so many steps.
    pub(crate) fn start_steps(&self, n_steps: usize) {
        self.bar.reset();
        self.bar.set_prefix("steps");
        self.bar.set_length(n_steps as u64);
    }

    /// A step of a figure is done.
    pub(crate) fn step(&self, text: &str) {
        self.advance();
        self.say(text);
    }

    /// Says how far it is.
    pub(crate) fn say(&self, text: &str) {
        self.bar.set_message(text.to_owned());
        self.line(text);
    }

    #[expect(clippy::print_stderr)]
    fn line(&self, text: &str) {
        if self.lines {
            eprintln!("{text}");
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
