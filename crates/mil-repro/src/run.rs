//! Computes what is not yet stored, piece by piece, and puts the results together.
//!
//! A piece is one repetition of one method on one data set, or one figure. Pieces are in a fixed order, the stored ones among them, so that shards divide them alike wherever they run.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mil_core::{BagSet, CrossValidation, Event, Label, Observer, Stage};
use mil_data::catalogue::{self, Contents, DataSet, Entry};

use crate::comparison::{Better, Comparison, Verdict, judge};
use crate::figure::{Context, Drawing, Figure};
use crate::method::Method;
use crate::notes;
use crate::progress::Progress;
use crate::provenance::Provenance;
use crate::results::{
    Cell, CellState, Data, DataState, Drawn, FigureResult, FigureState, FigureTiming, Judged, LineResult, MethodResult,
    Protocol, RUN_SCHEMA, Raster, Results, RunRecord, SCHEMA, TableCell, TableResult,
};
use crate::selection::Selection;
use crate::store::{Content, Found, Key, Repetition, Store, Task};
use crate::table::PaperTable;

/// One part of several that together do the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// The whole.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    fn holds(self, piece_idx: usize) -> bool {
        piece_idx % self.of == self.number - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// As in `2/8`.
    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if 1 <= number && number <= of => Ok(Shard { number, of }),
            _ => Err(format!("{text:?} is not a shard; the second of eight is 2/8")),
        }
    }
}

/// How a run is made.
pub struct Plan<'a> {
    /// What is asked for.
    pub selection: &'a Selection,
    /// How it is measured.
    pub protocol: Protocol,
    /// Where data sets are that cannot be shipped.
    pub data_dir: Option<&'a Path>,
    /// Where results are kept.
    pub store: &'a Store,
    /// Whether what is stored counts as absent.
    pub force: bool,
    /// Who is told how far it is.
    pub progress: &'a Progress,
}

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A name is not in the catalogue.
    #[error(transparent)]
    Catalogue(#[from] catalogue::CatalogueError),
    /// A result could not be kept.
    #[error("a result cannot be kept: {0}")]
    Store(#[from] io::Error),
}

/// How many pieces a shard had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardDone {
    /// Computed now.
    pub n_computed: usize,
    /// Stored before.
    pub n_stored: usize,
    /// Failed.
    pub n_failed: usize,
}

impl Plan<'_> {
    /// Computes what is missing and gives the whole.
    ///
    /// # Errors
    /// If a name is not in the catalogue, or a result cannot be kept. What was computed before that is kept.
    pub fn run(&self) -> Result<(Results, RunRecord), RunError> {
        let loaded = self.load()?;
        let (outcomes, done) = self.compute(&loaded, Shard::WHOLE)?;
        Ok(self.assemble(&loaded, outcomes, done))
    }

    /// Computes what is missing of one shard.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_shard(&self, shard: Shard) -> Result<ShardDone, RunError> {
        let loaded = self.load()?;
        Ok(self.compute(&loaded, shard)?.1)
    }

    fn load(&self) -> Result<Vec<Loaded>, RunError> {
        let names = self.selection.data();
        Ok(names.into_iter().map(|name| Loaded::of(name, self.data_dir)).collect::<Result<_, _>>()?)
    }

    /// The pieces of the whole, in their order: those whose data are there.
    fn pieces<'a>(&'a self, loaded: &'a [Loaded]) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        for (method, data) in &self.selection.methods {
            for known in data.iter().filter_map(|name| find(loaded, name)) {
                let Some(bags) = known.bags().filter(|_| self.is_wanted(method, known.entry.name)) else { continue };
                let name = known.entry.name;
                let n_repeats = method.n_repeats(name, self.protocol.repeats, self.protocol.quick);
                pieces.extend((0..n_repeats).map(|repeat_idx| Piece {
                    key: self.key_of_cell(method, known, repeat_idx),
                    work: Work::Repetition { method, data: name, bags, repeat_idx, n_repeats },
                }));
            }
        }
        for figure in &self.selection.figures {
            let needed = of_names(loaded, figure.data);
            if needed.iter().all(|known| known.found.is_ok()) {
                let optional = of_names(loaded, figure.optional);
                let key = self.key_of_figure(figure, &needed, &optional);
                pieces.push(Piece { key, work: Work::Figure { figure, needed, optional } });
            }
        }
        pieces
    }

    /// Whether the run measures a method on a data set.
    fn is_wanted(&self, method: &Method, data: &str) -> bool {
        !self.protocol.quick || method.quick.contains(&data)
    }

    fn key_of_cell(&self, method: &Method, data: &Loaded, repeat_idx: usize) -> Key {
        let Protocol { n_folds, seed, .. } = self.protocol;
        Key {
            name: method.id.to_owned(),
            data: vec![data.identity()],
            task: Task::Repetition { n_folds, repeat_idx, seed },
            code: method.code_version(),
        }
    }

    fn key_of_figure(&self, figure: &Figure, needed: &[&Loaded], optional: &[&Loaded]) -> Key {
        let Protocol { quick, seed, .. } = self.protocol;
        Key {
            name: figure.id.to_owned(),
            data: needed.iter().chain(optional).map(|known| known.identity()).collect(),
            task: Task::Figure { quick, seed },
            code: figure.code_version(),
        }
    }

    /// What is stored of a piece.
    fn stored(&self, key: &Key) -> Option<Content> {
        match self.store.find(key) {
            Found::Content(content) => Some(content),
            Found::Nothing => None,
            Found::Damaged { path, reason } => {
                self.progress.warn(&format!("{} is damaged ({reason}); it is computed anew", path.display()));
                None
            }
        }
    }

    /// Computes the pieces of a shard that are missing, and keeps each as soon as it is there.
    fn compute(&self, loaded: &[Loaded], shard: Shard) -> Result<(Outcomes, ShardDone), RunError> {
        let mut outcomes = Outcomes::default();
        let mut ahead = Vec::new();
        let mut done = ShardDone { n_computed: 0, n_stored: 0, n_failed: 0 };
        for (piece_idx, piece) in self.pieces(loaded).into_iter().enumerate().filter(|(idx, _)| shard.holds(*idx)) {
            match (!self.force).then(|| self.stored(&piece.key)).flatten() {
                Some(content) => {
                    done.n_stored += 1;
                    outcomes.insert(piece.id(), Ok(content));
                }
                None => ahead.push((piece_idx, piece)),
            }
        }
        if done.n_stored > 0 {
            self.progress.say(&format!("{} pieces are there already, {} to compute", done.n_stored, ahead.len()));
        }
        self.progress.start(ahead.len());
        let n_ahead = ahead.len();
        for (nth, (_, piece)) in ahead.into_iter().enumerate() {
            let outcome = piece.compute(self);
            match &outcome {
                Ok(content) => self.store.keep(&piece.key, content.clone())?,
                Err(reason) => {
                    done.n_failed += 1;
                    self.progress.warn(&format!("{}: {reason}", piece.title()));
                }
            }
            done.n_computed += 1;
            let what = match &outcome {
                Ok(Content::Repetition(repetition)) => format!("accuracy {:.1} %", 100.0 * repetition.accuracy),
                Ok(Content::Figure { timing, .. }) => format!("drawn in {:.1} s", timing.seconds.unwrap_or(0.0)),
                Err(reason) => reason.clone(),
            };
            self.progress.advance();
            self.progress.say(&format!("[{} of {n_ahead}] {}: {what}", nth + 1, piece.title()));
            outcomes.insert(piece.id(), outcome);
        }
        self.progress.finish();
        Ok((outcomes, done))
    }

    fn assemble(&self, loaded: &[Loaded], mut outcomes: Outcomes, done: ShardDone) -> (Results, RunRecord) {
        let mut methods = Vec::new();
        let mut fit_seconds = Vec::new();
        for (method, data) in &self.selection.methods {
            let (cells, seconds) = data.iter().map(|name| self.cell(method, name, loaded, &mut outcomes)).unzip();
            methods.push(MethodResult {
                id: method.id.to_owned(),
                name: method.name.to_owned(),
                settings: method.settings.to_owned(),
                code: method.code_version(),
                cells,
            });
            fit_seconds.push(seconds);
        }
        let (figures, figure_timing) =
            self.selection.figures.iter().map(|figure| figure_result(figure, loaded, &mut outcomes)).unzip();
        let mut results = Results {
            schema: SCHEMA.to_owned(),
            protocol: self.protocol,
            data: loaded.iter().map(Loaded::describe).collect(),
            methods,
            tables: Vec::new(),
            figures,
        };
        results.tables = self.selection.tables.iter().map(|table| table_result(table, &results)).collect();
        let record = RunRecord {
            schema: RUN_SCHEMA.to_owned(),
            provenance: Provenance::here_and_now(),
            n_pieces: done.n_computed + done.n_stored,
            n_stored_before: done.n_stored,
            fit_seconds,
            figure_timing,
        };
        (results, record)
    }

    /// A cell out of its repetitions, and the seconds of all fits.
    fn cell(&self, method: &Method, data: &str, loaded: &[Loaded], outcomes: &mut Outcomes) -> (Cell, Option<f64>) {
        let cell = |state| Cell { data: data.to_owned(), state };
        if find(loaded, data).is_none_or(|known| known.bags().is_none()) {
            return (cell(CellState::NoData), None);
        }
        if !self.is_wanted(method, data) {
            return (cell(CellState::LeftOut), None);
        }
        let n_repeats = method.n_repeats(data, self.protocol.repeats, self.protocol.quick);
        let mut repetitions = Vec::new();
        for repeat_idx in 0..n_repeats {
            match outcomes.remove(&Id::Repetition(method.id, data.to_owned(), repeat_idx)) {
                Some(Ok(Content::Repetition(repetition))) => repetitions.push(repetition),
                Some(Err(reason)) => return (cell(CellState::Failed { reason }), None),
                _ => unreachable!("every piece of the whole has been computed"),
            }
        }
        let accuracies = repetitions.iter().map(|repetition| repetition.accuracy).collect();
        let aucs: Option<Vec<f64>> = repetitions.iter().map(|repetition| repetition.auc).collect();
        let seconds = repetitions.iter().map(|repetition| repetition.fit_seconds).sum();
        (cell(CellState::Measured { accuracies, aucs: aucs.unwrap_or_default() }), Some(seconds))
    }
}

/// What became of the pieces: contents, or why there are none.
type Outcomes = HashMap<Id, Result<Content, String>>;

/// Which piece.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Id {
    Repetition(&'static str, String, usize),
    Figure(&'static str),
}

/// What is computed in one go and stored in one file.
struct Piece<'a> {
    key: Key,
    work: Work<'a>,
}

enum Work<'a> {
    Repetition { method: &'a Method, data: &'static str, bags: &'a BagSet<Label>, repeat_idx: usize, n_repeats: usize },
    Figure { figure: &'a Figure, needed: Vec<&'a Loaded>, optional: Vec<&'a Loaded> },
}

impl Piece<'_> {
    fn id(&self) -> Id {
        match &self.work {
            Work::Repetition { method, data, repeat_idx, .. } => {
                Id::Repetition(method.id, (*data).to_owned(), *repeat_idx)
            }
            Work::Figure { figure, .. } => Id::Figure(figure.id),
        }
    }

    fn title(&self) -> String {
        match &self.work {
            Work::Repetition { method, data, repeat_idx, n_repeats, .. } => {
                format!("{} on {data}, repetition {} of {n_repeats}", method.id, repeat_idx + 1)
            }
            Work::Figure { figure, .. } => figure.id.to_owned(),
        }
    }

    fn compute(&self, plan: &Plan<'_>) -> Result<Content, String> {
        plan.progress.mention(&self.title());
        match &self.work {
            Work::Repetition { method, data, bags, repeat_idx, .. } => {
                let Protocol { n_folds, seed, .. } = plan.protocol;
                let folds = CrossValidation { n_folds, n_repeats: repeat_idx + 1, seed };
                repetition(method, data, bags, &folds, *repeat_idx)
            }
            Work::Figure { figure, needed, optional } => draw(figure, needed, optional, plan),
        }
    }
}

fn repetition(
    method: &Method,
    data: &str,
    bags: &BagSet<Label>,
    plan: &CrossValidation,
    repeat_idx: usize,
) -> Result<Content, String> {
    let watch = Stopwatch { since: Mutex::default(), total: Mutex::default() };
    let learner = (method.learner)(data);
    let report = learner.cross_validate(plan, repeat_idx, bags, &watch).map_err(|error| error.to_string())?;
    let fit_seconds = watch.total.into_inner().expect("no fold panicked").as_secs_f64();
    let auc = report.roc_auc().map(|auc| auc.mean);
    Ok(Content::Repetition(Repetition { accuracy: report.accuracy().mean, auc, fit_seconds }))
}

fn draw(figure: &Figure, needed: &[&Loaded], optional: &[&Loaded], plan: &Plan<'_>) -> Result<Content, String> {
    let data = needed.iter().filter_map(|known| Some((known.entry.name, known.found.as_ref().ok()?))).collect();
    let optional = optional.iter().map(|known| (known.entry.name, known.found.as_ref().ok())).collect();
    let Protocol { quick, seed, .. } = plan.protocol;
    let context = Context::new(figure.id, quick, seed, data, optional, plan.progress);
    context.start(1);
    let start = Instant::now();
    let drawing = (figure.draw)(&context).map_err(|error| error.to_string())?;
    drawing.check().map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let Drawing { panels, pictures, tables, findings, comparisons, timed, timed_tables, timed_findings } = drawing;
    let pictures = pictures.iter().map(Raster::from).collect();
    Ok(Content::Figure {
        drawn: Drawn { panels, pictures, tables, findings, comparisons },
        timing: FigureTiming { seconds: Some(seconds), panels: timed, tables: timed_tables, findings: timed_findings },
    })
}

fn figure_result(figure: &Figure, loaded: &[Loaded], outcomes: &mut Outcomes) -> (FigureResult, FigureTiming) {
    let missing: Vec<&str> = of_names(loaded, figure.data)
        .iter()
        .filter_map(|known| known.found.as_ref().err().map(String::as_str))
        .collect();
    let (state, timing) = match outcomes.remove(&Id::Figure(figure.id)) {
        Some(Ok(Content::Figure { drawn, timing })) => {
            let judged = drawn.comparisons.iter().map(|comparison| judged(figure, comparison)).collect();
            (FigureState::Drawn { judged, drawn }, timing)
        }
        Some(Err(reason)) => (FigureState::Failed { reason }, FigureTiming::default()),
        _ => (FigureState::NoData { reason: missing.join("; ") }, FigureTiming::default()),
    };
    let optional = of_names(loaded, figure.optional);
    let result = FigureResult {
        id: figure.id.to_owned(),
        title: figure.title.to_owned(),
        paper: figure.paper,
        place: figure.place.to_owned(),
        protocol: figure.protocol.to_owned(),
        code: figure.code_version(),
        data: figure.data.iter().map(|&name| name.to_owned()).collect(),
        optional: figure.optional.iter().map(|&name| name.to_owned()).collect(),
        absent: optional.iter().filter_map(|known| known.found.as_ref().err().cloned()).collect(),
        state,
    };
    (result, timing)
}

fn judged(figure: &Figure, comparison: &Comparison) -> Judged {
    if let Some(reason) = &comparison.not_comparable {
        return Judged { verdict: Verdict::NotComparable, note: Some(reason.clone()) };
    }
    let verdict = judge(&comparison.runs, &comparison.printed, comparison.better);
    let note = notes::of(figure.id, &comparison.line, &comparison.column).filter(|_| verdict == Verdict::Worse);
    Judged { verdict, note: note.map(str::to_owned) }
}

fn table_result(table: &PaperTable, results: &Results) -> TableResult {
    let lines = table.lines.iter().map(|line| {
        let cells = table.columns.iter().zip(&line.printed).map(|(data, printed)| {
            let ours = line.method.and_then(|method| results.cell(method, data)).map(|cell| &cell.state);
            let verdict = match ours {
                Some(CellState::Measured { accuracies, .. }) => {
                    let percents: Vec<f64> = accuracies.iter().map(|accuracy| 100.0 * accuracy).collect();
                    Some(judge(&percents, printed, Better::Higher))
                }
                _ => None,
            };
            let is_worse = verdict == Some(Verdict::Worse);
            let note = notes::of(table.id, line.name, data).filter(|_| is_worse).map(str::to_owned);
            TableCell { printed: Some(*printed), verdict, note }
        });
        LineResult { name: line.name.to_owned(), method: line.method.map(str::to_owned), cells: cells.collect() }
    });
    TableResult {
        id: table.id.to_owned(),
        paper: table.paper,
        place: table.place.to_owned(),
        title: table.title.to_owned(),
        protocol: table.protocol.to_owned(),
        columns: table.columns.iter().map(|&name| name.to_owned()).collect(),
        lines: lines.collect(),
    }
}

/// A data set of the catalogue, or what is missing and how to get it.
struct Loaded {
    entry: &'static Entry,
    found: Result<DataSet, String>,
}

fn find<'a>(loaded: &'a [Loaded], name: &str) -> Option<&'a Loaded> {
    loaded.iter().find(|known| known.entry.name == name)
}

/// Those of these names, in the order of the names.
fn of_names<'a>(loaded: &'a [Loaded], names: &[&str]) -> Vec<&'a Loaded> {
    names.iter().filter_map(|name| find(loaded, name)).collect()
}

impl Loaded {
    fn of(name: &str, data_dir: Option<&Path>) -> Result<Loaded, catalogue::CatalogueError> {
        let entry = catalogue::find(name)?;
        Ok(Loaded { entry, found: entry.load(data_dir).map_err(|error| error.to_string()) })
    }

    /// The bags, where it is a set of bags of two classes and is there.
    fn bags(&self) -> Option<&BagSet<Label>> {
        match &self.found {
            Ok(DataSet::Binary(bags)) => Some(bags),
            _ => None,
        }
    }

    /// The SHA-256 of the first of the equally good files of each part.
    fn checksums(&self) -> Vec<String> {
        let first = |section: &catalogue::Section| section.files.first().map(|file| file.sha256.to_owned());
        self.entry.sections.iter().filter_map(first).collect()
    }

    /// Name and digest, as a key has them.
    fn identity(&self) -> (String, String) {
        let digest = match &self.found {
            Ok(_) => crate::code::digest(self.checksums().concat().as_bytes()),
            Err(_) => "absent".to_owned(),
        };
        (self.entry.name.to_owned(), digest)
    }

    fn describe(&self) -> Data {
        let state = match &self.found {
            Ok(_) => DataState::Present {
                contents: self
                    .entry
                    .sections
                    .iter()
                    .map(|section| section.contents.to_string())
                    .collect::<Vec<_>>()
                    .join("; "),
                larger_class: self.entry.sections.iter().find_map(|section| match section.contents {
                    Contents::Binary { n_bags, n_positive, .. } => {
                        Some(n_positive.max(n_bags - n_positive) as f64 / n_bags as f64)
                    }
                    _ => None,
                }),
                sha256: self.checksums(),
            },
            Err(reason) => DataState::Absent { reason: reason.clone() },
        };
        Data { name: self.entry.name.to_owned(), title: self.entry.title.to_owned(), state }
    }
}

/// Adds up the time between the first two stages of every fold.
struct Stopwatch {
    since: Mutex<HashMap<usize, Instant>>,
    total: Mutex<Duration>,
}

impl Observer for Stopwatch {
    fn on_event(&self, event: Event) {
        match event.stage {
            Stage::Fitting => {
                self.since.lock().expect("no fold panicked").insert(event.fold_idx, Instant::now());
            }
            Stage::Scoring => {
                let start = self.since.lock().expect("no fold panicked").remove(&event.fold_idx);
                *self.total.lock().expect("no fold panicked") += start.expect("fitting came first").elapsed();
            }
            Stage::Done => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_a_fraction() {
        assert_eq!("2/8".parse(), Ok(Shard { number: 2, of: 8 }));
        for wrong in ["0/8", "9/8", "2", "2/", "/8", "a/b", "1/0", "-1/2"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains("the second of eight is 2/8"), "{wrong}");
        }
    }

    #[test]
    fn every_piece_is_in_one_shard() {
        for of in 1..5 {
            for piece_idx in 0..20 {
                let holders = (1..=of).filter(|&number| Shard { number, of }.holds(piece_idx)).count();
                assert_eq!(holders, 1);
            }
        }
    }
}
