//! The query loop of PMI: asking for the label of an instance wherever the bags may share something else than what makes them positive.
//!
//! Where negative instances gather more closely than positive ones, as a common background does, the region of a first fit encloses the wrong cluster. Steps 5 to 8 of Algorithm 1 ask about it:
//!
//! 1. train on the instances that are left ([`Pmi`]);
//! 2. if some bag lies wholly inside, stop: one of its instances is positive (step 6);
//! 3. else ask for the label of the instance that is furthest inside (eq. 18, step 7);
//! 4. if it is positive, stop; else remove all instances inside and begin anew (step 8).
//!
//! No bag is ever emptied, and the number of questions is bounded beforehand ([`QueryBounds`], Theorem 3).
//!
//! A [`QuerySession`] waits between question and answer, so that whoever answers may take their time, or end the program: its [`QueryTrail`], the audit of all questions, is all that is needed to go on, and is kept
//! in a [model file](mil_core::model_file). A [`Labeler`] answers by itself: any closure, [`Recorded`] answers, or a person at a terminal ([`Interactive`]).
//!
//! Choice: features are scaled, and the width of the kernel chosen, once and by all instances, so that all rounds see the same space.
//!
//! ```
//! use mil_core::{Label, Scaled, Scaling};
//! use mil_data::synth::ClustersParams;
//! use mil_kernels::Kernel;
//! use mil_pmi::{Pmi, Query, QuerySession, QueryStop};
//!
//! let bags = ClustersParams { seed: 1, ..Default::default() }.generate()?; // one tight cluster of negatives
//! let positives = bags.positives()?;
//! let learner = Scaled { scaling: Scaling::None, learner: Pmi { kernel: Kernel::Gaussian { gamma: 0.5 }.into(), nu: 0.1, ..Pmi::default() } };
//! let mut session = QuerySession::begin(learner, &positives)?;
//! let near_the_origin = |query: &Query<'_>| {
//!     Some(if query.instance.iter().all(|x| x.abs() < 2.0) { Label::Positive } else { Label::Negative })
//! };
//! assert_eq!(session.run(&mut { near_the_origin })?, Some(QueryStop::Positive));
//! assert!(session.trail().entries().len() <= session.trail().bounds().tight);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounds;
mod labeler;
mod trail;

use mil_core::model_file::SavedModel;
use mil_core::{BagSet, FitError, Label, Params, Scaled, ScaledModel, Scaler, argmax};
use mil_kernels::KernelChoice;

pub use bounds::QueryBounds;
pub use labeler::{Interactive, Labeler, LabelerError, Recorded};
pub use trail::{QueryEntry, QueryStop, QueryTrail};

use crate::PmiError;
use crate::model::OneClassModel;
use crate::pmi::{NAME, Pmi, PmiTrace};

/// A question: is this instance positive?
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query<'a> {
    /// Questions answered before.
    pub n_before: usize,
    /// Position of the bag.
    pub bag_idx: usize,
    /// Name of the bag.
    pub bag: &'a str,
    /// Position of the instance within its bag, as it was before any was removed.
    pub instance_idx: usize,
    /// The instance itself, not scaled.
    pub instance: &'a [f64],
    /// How far inside it is, $l(x)$.
    pub score: f64,
    /// Instances that are removed if it is negative, itself among them.
    pub n_inside: usize,
}

/// Why a session cannot begin, go on or resume.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Whoever answers failed.
    #[error("no answer about instance {instance_idx} of bag {bag:?}: {source}")]
    Labeler {
        /// Name of the bag.
        bag: String,
        /// Position of the instance within its bag.
        instance_idx: usize,
        /// Why.
        source: LabelerError,
    },
    /// The session has stopped, and nothing was asked.
    #[error("the session has stopped: there is no question to answer")]
    Stopped,
    /// The trail was recorded over other bags.
    #[error("the trail was recorded over other bags; resume it with those it began with")]
    OtherBags,
    /// The trail tells what cannot have happened.
    #[error("the trail is not one that could have been recorded: {0}")]
    Unsound(&'static str),
}

/// A query loop between question and answer.
#[derive(Debug, Clone)]
pub struct QuerySession<'a> {
    /// As they came.
    bags: &'a BagSet<()>,
    scaled: BagSet<()>,
    /// With its kernel worked out.
    learner: Pmi,
    trail: QueryTrail,
    is_left: Vec<bool>,
    round: Round,
}

/// What the instances that are left came to.
#[derive(Debug, Clone)]
struct Round {
    model: ScaledModel<OneClassModel>,
    rho: f64,
    /// Positions, among all instances of the set, of those inside.
    inside: Vec<usize>,
    /// The one furthest inside, and its score.
    furthest: (usize, f64),
}

impl<'a> QuerySession<'a> {
    /// Trains on all instances of the bags, each of which is taken for positive. The model is that of the plain learner until the first answer.
    ///
    /// # Errors
    /// As for a [fit](mil_core::Learner::fit) of the learner.
    pub fn begin(learner: Scaled<Pmi>, bags: &'a BagSet<()>) -> Result<QuerySession<'a>, QueryError> {
        let Scaled { scaling, learner: pmi } = learner;
        pmi.check().map_err(FitError::Param)?;
        let scaler = Scaler::fit(scaling, bags)?;
        let scaled = scaler.scaled(bags.clone())?;
        let kernel =
            pmi.kernel.resolve(scaled.instances(), pmi.seed).map_err(|error| PmiError::from(error).of(NAME))?;
        let learner = Pmi { kernel: KernelChoice::Fixed(kernel), ..pmi };
        let trail = QueryTrail::new(&learner, scaler, bags);
        QuerySession::train(bags, scaled, learner, trail, vec![true; bags.n_instances()])
    }

    /// Goes on where a trail ended, to the same model to the bit. Cost: one fit.
    ///
    /// # Errors
    /// If the trail was recorded over other bags or could not have been recorded, or the fit fails.
    pub fn resume(trail: QueryTrail, bags: &'a BagSet<()>) -> Result<QuerySession<'a>, QueryError> {
        trail.require_bags(bags)?;
        trail.check().map_err(QueryError::Unsound)?;
        let (learner, is_left) = (trail.learner().map_err(QueryError::Unsound)?, trail.is_left());
        let scaled = trail.scaler().scaled(bags.clone())?;
        let (stop, answer) = (trail.stop(), trail.entries().last().map(|entry| entry.answer));
        let mut session = QuerySession::train(bags, scaled, learner, trail, is_left)?;
        // What stopped the loop may be an answer, and then is no bag.
        if (stop, answer) == (Some(QueryStop::Positive), Some(Label::Positive)) && session.trail.stop.is_none() {
            session.trail.stop = stop;
        }
        if session.trail.stop == stop {
            return Ok(session);
        }
        Err(QueryError::Unsound("it stopped where it had no reason to, or went on where it had"))
    }

    /// Steps 1, 2 and 6 over the instances that are left.
    fn train(
        bags: &'a BagSet<()>,
        scaled: BagSet<()>,
        learner: Pmi,
        mut trail: QueryTrail,
        is_left: Vec<bool>,
    ) -> Result<QuerySession<'a>, QueryError> {
        let left = scaled.select_instances(&is_left).map_err(|_| QueryError::Unsound("a bag was emptied"))?;
        let (model, PmiTrace { instance_scores: scores, inside_from, rho, .. }) = learner.fit_traced(&left)?;
        let columns: Vec<usize> = (0..is_left.len()).filter(|&column| is_left[column]).collect();
        let is_inside = |at: &usize| scores[*at] >= inside_from;
        let furthest = argmax(&scores);
        let round = Round {
            model: ScaledModel::new(trail.scaler().clone(), model),
            rho,
            inside: (0..columns.len()).filter(is_inside).map(|at| columns[at]).collect(),
            furthest: (columns[furthest], scores[furthest]),
        };
        let whole = (0..left.n_bags()).find(|&bag_idx| left.columns_of(bag_idx).all(|at| is_inside(&at)));
        trail.stop = whole.map(|bag_idx| QueryStop::WholeBag { bag_idx });
        Ok(QuerySession { bags, scaled, learner, trail, is_left, round })
    }

    /// What is asked; `None` once the session has stopped.
    #[must_use]
    pub fn question(&self) -> Option<Query<'_>> {
        if self.trail.stop.is_some() {
            return None;
        }
        let (column, score) = self.round.furthest;
        let (bag_idx, instance_idx) = place_of(self.bags, column);
        let bag = self.bags.bag(bag_idx);
        Some(Query {
            n_before: self.trail.entries.len(),
            bag_idx,
            bag: bag.name(),
            instance_idx,
            instance: bag.instance(instance_idx),
            score,
            n_inside: self.round.inside.len(),
        })
    }

    /// Takes the answer to the question (step 8): a positive one ends the loop, a negative one removes all instances inside and trains anew. Tells why the loop stopped, if it did.
    ///
    /// # Errors
    /// If nothing was asked, or the fit fails; the session is then as it was.
    pub fn answer(&mut self, answer: Label) -> Result<Option<QueryStop>, QueryError> {
        let query = self.question().ok_or(QueryError::Stopped)?;
        let removed = if answer == Label::Negative { self.round.inside.clone() } else { Vec::new() };
        let entry = QueryEntry {
            bag_idx: query.bag_idx,
            bag: query.bag.to_owned(),
            instance_idx: query.instance_idx,
            score: query.score,
            rho: self.round.rho,
            answer,
            removed,
        };
        if answer == Label::Positive {
            self.trail.entries.push(entry);
            self.trail.stop = Some(QueryStop::Positive);
        } else {
            let mut is_left = self.is_left.clone();
            entry.removed.iter().for_each(|&column| is_left[column] = false);
            let mut trail = self.trail.clone();
            trail.entries.push(entry);
            *self = QuerySession::train(self.bags, self.scaled.clone(), self.learner.clone(), trail, is_left)?;
        }
        Ok(self.trail.stop)
    }

    /// Asks until the loop stops, or until the labeler has no answer: then `None`, and the session can go on later.
    ///
    /// # Errors
    /// If the labeler or a fit fails; the session is then as it was before that question.
    pub fn run(&mut self, labeler: &mut impl Labeler) -> Result<Option<QueryStop>, QueryError> {
        while let Some(query) = self.question() {
            let answer = labeler.label(&query).map_err(|source| QueryError::Labeler {
                bag: query.bag.to_owned(),
                instance_idx: query.instance_idx,
                source,
            })?;
            match answer {
                Some(answer) => self.answer(answer)?,
                None => return Ok(None),
            };
        }
        Ok(self.trail.stop)
    }

    /// All questions so far, with their answers.
    #[must_use]
    pub fn trail(&self) -> &QueryTrail {
        &self.trail
    }

    /// The model of the instances that are left. It takes bags that are not scaled.
    #[must_use]
    pub fn model(&self) -> &ScaledModel<OneClassModel> {
        &self.round.model
    }

    /// Whether an instance is left, for each of the set.
    #[must_use]
    pub fn is_left(&self) -> &[bool] {
        &self.is_left
    }
}

/// Bag, and position within it, of an instance of a set.
fn place_of(bags: &BagSet<()>, column: usize) -> (usize, usize) {
    let bag_idx = (0..bags.n_bags()).find(|&idx| column < bags.columns_of(idx).end).expect("a column of the set");
    (bag_idx, column - bags.columns_of(bag_idx).start)
}
