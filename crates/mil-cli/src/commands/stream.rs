//! `mil stream`: predict each bag of standard input, then learn from it.

use std::io::{BufReader, Write};
use std::path::Path;

use mil_core::model_file::{self, SavedModel};
use mil_core::{BagSet, BagSetBuilder, Label, OnlineLearner, ParamField, Params};
use mil_data::{BagTable, CsvStream};
use mil_forest::{OnlineForest, OnlineForestStream, OnlineMiForest};
use mil_mio::{Mio, MioStream, Width};

use super::SEED;
use crate::args::{Common, StreamArgs, StreamLearner};
use crate::data::{stream_label, stream_options};
use crate::error::CliError;
use crate::learners::{Entry, find};
use crate::models::{About, AnyModel};
use crate::report::{Format, SCHEMA};

pub(super) fn run(args: &StreamArgs, common: &Common) -> Result<(), CliError> {
    let start = match (&args.resume, args.learner) {
        (Some(path), _) => resumed(path)?,
        (None, Some(learner)) => begun(learner, args, common)?,
        (None, None) => {
            return Err(CliError::Usage("name a learner with --learner, or a model with --resume".to_owned()));
        }
    };
    let options = stream_options(&args.reading)?;
    let mut bags = CsvStream::new(BufReader::new(std::io::stdin()), "standard input", options)
        .map(|table| Arrived::of(table?, args.reading.positive.as_deref()));
    let mut told = Told::new(common.format)?;
    let (about, saved) = match start {
        Start::Mio(state, about) => {
            let saved = played(state, &mut named(&about, &mut bags), &mut told);
            (about, saved)
        }
        Start::Forest(state, about) => {
            let saved = played(state, &mut named(&about, &mut bags), &mut told);
            (about, saved)
        }
        Start::Later(later) => {
            let n_held = if later.needs_median() { args.warm_up as usize } else { 1 };
            let mut held = Vec::new();
            let mut failed = None;
            for arrived in bags.by_ref().take(n_held) {
                match arrived {
                    Ok(arrived) => held.push(arrived),
                    Err(error) => failed = Some(error),
                }
            }
            let Some(first) = held.first() else {
                return Err(failed.unwrap_or_else(|| CliError::Usage("standard input has no bag".to_owned())));
            };
            let about = later.about(first)?;
            let state = later.begin(&held)?;
            let failed = failed.map(Err);
            let mut all = held.into_iter().map(Ok).chain(failed).chain(bags);
            match state {
                State::Mio(state) => (about, played(state, &mut all, &mut told)),
                State::Forest(state) => (about, played(state, &mut all, &mut told)),
            }
        }
    };
    // What was learnt before something went wrong is kept.
    let (encoded, outcome) = saved;
    if let Some(output) = &args.output {
        encoded.save(output, &about)?;
    }
    outcome?;
    told.close(args.output.as_deref())
}

/// A bag with its label, where it is known.
struct Arrived {
    bags: BagSet<()>,
    label: Option<Label>,
}

impl Arrived {
    fn of(table: BagTable, positive: Option<&str>) -> Result<Arrived, CliError> {
        let label = stream_label(&table, positive)?;
        Ok(Arrived { bags: table.unlabelled()?, label })
    }
}

/// How a stream starts.
enum Start {
    Mio(Box<MioStream>, About),
    Forest(Box<OnlineForestStream<Label>>, About),
    /// Once the first bags have come.
    Later(Later),
}

/// A learner that waits for the first bags.
struct Later {
    entry: &'static Entry,
    words: Vec<(String, String)>,
    learner: StreamLearner,
}

enum State {
    Mio(Box<MioStream>),
    Forest(Box<OnlineForestStream<Label>>),
}

fn begun(learner: StreamLearner, args: &StreamArgs, common: &Common) -> Result<Start, CliError> {
    let name = match learner {
        StreamLearner::Mio => "mio",
        StreamLearner::OnlineForest => "online-forest",
        StreamLearner::OnlineMiforest => "online-miforest",
    };
    let (entry, mut words) = (find(name)?, args.settings.clone());
    if let (Some(seed), false) = (common.seed, words.iter().any(|(key, _)| key == SEED)) {
        words.push((SEED.to_owned(), seed.to_string()));
    }
    entry.pairs(&words)?;
    Ok(Start::Later(Later { entry, words, learner }))
}

impl Later {
    fn configured<L: Params>(&self) -> Result<L, CliError> {
        let mut learner = L::default();
        let set = |(name, word): &(String, String)| learner.set(name, word);
        self.words
            .iter()
            .try_for_each(set)
            .map_err(|source| CliError::Param { learner: self.entry.name.to_owned(), source })?;
        Ok(learner)
    }

    fn needs_median(&self) -> bool {
        let width = self.configured::<Mio>().map(|mio| mio.width);
        self.learner == StreamLearner::Mio && matches!(width, Ok(Width::OverMedian(_)))
    }

    fn about(&self, first: &Arrived) -> Result<About, CliError> {
        Ok(About {
            learner: self.entry.name.to_owned(),
            scaling: mil_core::Scaling::None.show(),
            features: first.bags.feature_names().map(<[String]>::to_vec),
            classes: None,
            params: self.entry.pairs(&self.words)?,
        })
    }

    fn begin(&self, held: &[Arrived]) -> Result<State, CliError> {
        let n_features = held[0].bags.n_features();
        let failed = |error| self.entry.failed(error);
        Ok(match self.learner {
            StreamLearner::OnlineForest => {
                State::Forest(Box::new(self.configured::<OnlineForest>()?.stream(n_features).map_err(failed)?))
            }
            StreamLearner::OnlineMiforest => {
                State::Forest(Box::new(self.configured::<OnlineMiForest>()?.stream(n_features).map_err(failed)?))
            }
            StreamLearner::Mio => {
                let mut mio = self.configured::<Mio>()?;
                if let Width::OverMedian(ratio) = mio.width {
                    let median = median_of(held, mio.seed)?;
                    mio.width = Width::Squared(ratio * median);
                }
                State::Mio(Box::new(mio.stream(n_features, None).map_err(failed)?))
            }
        })
    }
}

/// The median squared distance of the instances that are held back.
fn median_of(held: &[Arrived], seed: u64) -> Result<f64, CliError> {
    let mut builder: BagSetBuilder<()> = BagSet::builder();
    for (idx, arrived) in held.iter().enumerate() {
        let added = builder.bag(idx.to_string(), (), arrived.bags.bag(0).instances());
        added.map_err(|error| CliError::Usage(error.to_string()))?;
    }
    let bags = builder.build().map_err(|error| CliError::Usage(error.to_string()))?;
    let median = mil_kernels::median_squared_distance(bags.instances(), seed);
    if median > 0.0 && median.is_finite() {
        return Ok(median);
    }
    Err(CliError::Usage("the first bags do not tell a width, their instances being all alike; state it with --set width=NUMBER, or hold back more with --warm-up".to_owned()))
}

/// The model that an earlier stream left behind.
fn resumed(path: &Path) -> Result<Start, CliError> {
    let bytes = std::fs::read(path).map_err(|error| CliError::io(path, error))?;
    let failed = |error| CliError::model(path, error);
    let header = model_file::header(&bytes).map_err(failed)?;
    let (kind, about) = (header.kind.clone(), About::of(header));
    if kind == MioStream::kind() {
        return Ok(Start::Mio(Box::new(model_file::decode(&bytes).map_err(failed)?), about));
    }
    if kind == OnlineForestStream::<Label>::kind() {
        return Ok(Start::Forest(Box::new(model_file::decode(&bytes).map_err(failed)?), about));
    }
    Err(CliError::ModelKind { path: path.to_owned(), kind })
}

/// The bags, as long as their features bear the names that the model knows.
fn named<'a>(
    about: &'a About,
    bags: &'a mut dyn Iterator<Item = Result<Arrived, CliError>>,
) -> impl Iterator<Item = Result<Arrived, CliError>> + 'a {
    bags.map(|arrived| {
        let arrived = arrived?;
        about.require_features(&arrived.bags)?;
        Ok(arrived)
    })
}

/// What a stream has become.
trait Kept {
    fn save(&self, path: &Path, about: &About) -> Result<(), CliError>;
}

impl<M: AnyModel<Label>> Kept for M {
    fn save(&self, path: &Path, about: &About) -> Result<(), CliError> {
        crate::models::save(path, self, about)
    }
}

/// Predicts and learns bag after bag, until the end or the first that cannot be used.
fn played<M: OnlineLearner + SavedModel + 'static>(
    mut state: Box<M>,
    bags: &mut dyn Iterator<Item = Result<Arrived, CliError>>,
    told: &mut Told,
) -> (Box<dyn Kept>, Result<(), CliError>) {
    let play = || {
        for arrived in bags {
            let Arrived { bags, label } = arrived?;
            let bag = bags.bag(0);
            let score = state.score(bag)?;
            told.bag(bag.name(), score, label)?;
            if let Some(label) = label {
                state.update(bag, label)?;
            }
        }
        Ok(())
    };
    let outcome = play();
    (state, outcome)
}

/// A line for each bag, at once.
struct Told {
    format: Format,
    n_bags: u64,
    n_labelled: u64,
    n_right: u64,
}

impl Told {
    fn new(format: Format) -> Result<Told, CliError> {
        let out = &mut std::io::stdout().lock();
        match format {
            Format::Csv => writeln!(out, "bag,score,predicted,actual")?,
            Format::Table => {
                writeln!(out, "{:<24} {:>10}  {:<9} {:<9} right so far", "bag", "score", "predicted", "actual")?
            }
            Format::Json => {}
        }
        out.flush()?;
        Ok(Told { format, n_bags: 0, n_labelled: 0, n_right: 0 })
    }

    fn bag(&mut self, name: &str, score: f64, actual: Option<Label>) -> Result<(), CliError> {
        let predicted = <Label as mil_core::Target>::decide(&score);
        self.n_bags += 1;
        self.n_labelled += u64::from(actual.is_some());
        self.n_right += u64::from(actual == Some(predicted));
        let truth = actual.map(|label| label.to_string());
        let out = &mut std::io::stdout().lock();
        match self.format {
            Format::Json => {
                let line = serde_json::json!({ "schema": SCHEMA, "command": "stream", "bag": name, "score": score, "predicted": predicted.to_string(), "actual": truth });
                writeln!(out, "{line}")?;
            }
            Format::Csv => {
                writeln!(out, "{},{score},{predicted},{}", crate::report::quoted(name), truth.unwrap_or_default())?
            }
            Format::Table => {
                let share = if self.n_labelled == 0 {
                    String::new()
                } else {
                    format!("{:.1} %", 100.0 * self.n_right as f64 / self.n_labelled as f64)
                };
                writeln!(
                    out,
                    "{name:<24} {score:>10.4}  {:<9} {:<9} {share}",
                    predicted.to_string(),
                    truth.unwrap_or_default()
                )?;
            }
        }
        out.flush()?;
        Ok(())
    }

    fn close(&self, output: Option<&Path>) -> Result<(), CliError> {
        if self.format == Format::Table {
            let out = &mut std::io::stdout().lock();
            writeln!(
                out,
                "\n{} bags, {} with a label, {} predicted right",
                self.n_bags, self.n_labelled, self.n_right
            )?;
            if let Some(path) = output {
                writeln!(out, "Written: {}", path.display())?;
            }
        }
        Ok(())
    }
}
