//! MIO: online multiple-instance learning with no regret.
//!
//! Li, Kwok & Lu, *Online Multiple Instance Learning with No Regret*, CVPR 2010.
//!
//! Bags come one by one. With $z_t$ the similarities of bag $t$ to all instances seen so far, its own included,
//!
//! $$ w_t = \arg\min_w\ f(w) - v_t^\top w = \mathrm{soft}(v_t,\alpha)/\beta,\qquad f(w)=\alpha\lVert w\rVert_1+\tfrac\beta2\lVert w\rVert^2, $$
//!
//! predicts $w_t^\top z_t$ (Proposition 1, eq. 6); then the label $y_t$ is known, the round costs $g_t(w_t)=C_t(1-y_tw_t^\top z_t)_+$, and $v_{t+1}=v_t+\tau_ty_tz_t$ with the step $\tau_t\in[0,C_t]$ that raises
//! the dual objective most (eqs. 11 to 16): the smallest after which the bag has margin 1, if there is one. With $\alpha=\alpha_0\sqrt T$ and $\beta=\beta_0\sqrt T$ the regret is of the order of $\sqrt T$ (§3.4.1).
//!
//! Cost of a round with $N$ candidates and a bag of $n$ instances of $d$ features: $Nnd$ for the similarities and $O(N)$ for the rest. A fit over a set computes all similarities once.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_mio::Mio;
//! let mut builder = BagSet::builder();
//! for i in 0..6 {
//!     let x = 0.1 * f64::from(i);
//!     builder.bag(format!("p{i}"), Label::Positive, [[x, 0.0], [4.0, 3.0 + x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[x, 0.1], [1.0, x]])?;
//! }
//! let bags = builder.build()?;
//! let (model, trace) = Mio::default().fit_traced(&bags)?;
//! assert!(trace.passes[9].n_mistakes == 0 && trace.passes[9].loss < trace.passes[0].loss);
//! assert!(model.score(bags.bag(0))? > 0.0 && model.score(bags.bag(1))? < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Signs, and where we leave the paper
//!
//! We write $v=-\pi$ and $\tau=-\theta$, so that every quantity has the sign one expects. Step 3 of Algorithm 1 lacks the minus sign of eq. 6.
//!
//! Choice: a bias, as a constant feature of value `bias` whose weight the 1-norm spares. The paper has none, and without it MIO does poorly on Musk2 and on the paper's own synthetic bags.
//!
//! Choice: passes over a set count as new rounds ([`Revisit::Round`]), and the bags are shuffled for each ([`Order`]).
//!
//! Deviation: [`Revisit::Replace`] takes the earlier step of a bag back before it is played again, and converges to the batch machine with the elastic net.

use mil_core::{BagModel, BagSet, Checked, FitError, Label, Learner, ParamRange, Params, Tunable};
use mil_kernels::{Centre, similarities_of, squared_distances_within};
use nalgebra::DMatrix;
use rand::seq::SliceRandom;

use crate::distances::{Distances, scores};
use crate::game::{Dual, Growth, LARGEST, LEAST_BETA, Rules};
use crate::passes::{OnMatrix, OnStream, order_rng};
use crate::{Budget, EmbeddingModel, MioError, MioStream, Order, PassFigures, Revisit, Schedule, Width};

const NAME: &str = "MIO";

mil_core::params! {
    /// The MIO learner: as a [`Learner`] it presents the training bags several times, as a [`stream`](Mio::stream) it takes what comes.
    pub struct Mio {
        width: Width = Width::OverMedian(0.1), ParamRange::Any, "Squared width of the similarity, itself or as a multiple of the median squared distance.";
        alpha0: f64 = 0.02, ParamRange::Within(0.0, LARGEST), "Weight of the 1-norm, for the root of the number of rounds.";
        beta0: f64 = 0.2, ParamRange::Within(LEAST_BETA, LARGEST), "Weight of half the squared 2-norm, for the root of the number of rounds.";
        bias: f64 = 1.0, ParamRange::Within(0.0, LARGEST), "Value of a constant feature that the 1-norm spares; 0 for none.";
        positive_penalty: f64 = 1.0, ParamRange::UpTo(0.0, LARGEST), "Cost of a unit of hinge loss on a positive bag, C1.";
        negative_penalty: f64 = 1.0, ParamRange::UpTo(0.0, LARGEST), "Cost of a unit of hinge loss on a negative bag, C2.";
        n_passes: usize = 10, ParamRange::Within(1.0, 1e6), "How often a fit presents the training bags.";
        schedule: Schedule = Schedule::Fixed, ParamRange::Any, "Whether the number of rounds is taken to be known.";
        revisit: Revisit = Revisit::Round, ParamRange::Any, "What a bag that is presented again counts as.";
        budget: Budget = Budget::Unlimited, ParamRange::Any, "How many candidate instances are kept.";
        order: Order = Order::Shuffled, ParamRange::Any, "In which order the training bags are presented.";
        seed: u64 = 0, ParamRange::Any, "Fixes the orders, and the pairs that a median distance is taken over.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for similarities that several passes share; beyond it they are computed anew.";
    }
}

/// How a fit went, pass by pass.
#[derive(Debug, Clone, PartialEq)]
pub struct MioTrace {
    /// One for each pass.
    pub passes: Vec<PassFigures>,
    /// The dual objective after the last pass.
    pub dual_objective: f64,
}

impl Mio {
    /// Begins a stream of bags of so many features. `horizon` is the number of rounds to be played, where it is known: it fixes the elastic net; without it the net grows from round to round. What only a fit
    /// over a set of bags needs (passes, schedule, order, memory) does not matter here.
    ///
    /// # Errors
    /// If a parameter is out of range, the width is a multiple of a median that a stream cannot know, or the horizon or the number of features is 0.
    pub fn stream(&self, n_features: usize, horizon: Option<u64>) -> Result<MioStream, FitError> {
        let params = self.check()?;
        horizon.map_or(Ok(()), |horizon| ParamRange::AtLeast(1.0).require("horizon", horizon as f64))?;
        let sigma2 = params.width.of_stream().map_err(|error| error.of(NAME))?;
        params.stream_of(n_features, sigma2, horizon).map_err(|error| error.of(NAME))
    }

    /// Checks the parameters, those together that none forbids alone.
    fn check_for_fit(&self) -> Result<Checked<&Mio>, FitError> {
        let params = self.check()?;
        match (params.revisit, params.budget) {
            (Revisit::Replace, Budget::Candidates(budget)) => Err(MioError::ReplaceWithin(budget).of(NAME)),
            _ => Ok(params),
        }
    }

    fn stream_of(&self, n_features: usize, sigma2: f64, horizon: Option<u64>) -> Result<MioStream, MioError> {
        Ok(MioStream::new(self.rules(horizon), self.budget, n_features, sigma2)?)
    }

    /// Fits, and tells how it went.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit).
    pub fn fit_traced(&self, bags: &BagSet<Label>) -> Result<(EmbeddingModel, MioTrace), FitError> {
        let params = self.check_for_fit()?;
        bags.require_both_classes()?;
        let sigma2 = params.width.resolve(bags, params.seed).map_err(|error| error.of(NAME))?;
        let bags = &bags.select(&params.presentation(&(0..bags.n_bags()).collect::<Vec<_>>()));
        if params.keeps_similarities(bags) {
            params.fit_on_matrix(bags, sigma2).map_err(|error| error.of(NAME))
        } else {
            params.fit_on_stream(bags, sigma2)
        }
    }

    /// Whether to compute all similarities before the first round.
    fn keeps_similarities(&self, bags: &BagSet<Label>) -> bool {
        self.budget == Budget::Unlimited && needed_mib(bags.n_instances(), bags.n_bags()) <= self.memory_mib
    }

    /// Plays over similarities that are all computed beforehand. The bags are in the order of presentation.
    fn fit_on_matrix(&self, bags: &BagSet<Label>, sigma2: f64) -> Result<(EmbeddingModel, MioTrace), MioError> {
        // As a stream would have them, so that the numbers are the same to the bit.
        let mut similarities = squared_distances_within(bags, Centre::FirstBag)?;
        similarities_of(similarities.as_mut_slice(), sigma2)?;
        let (dual, rules, trace) = self.play_on(&similarities, &sizes(bags), bags.labels());
        let (weights, bias) = dual.weights(&rules, dual.last_net(&rules));
        let columns = bags.instances().as_slice().chunks_exact(bags.n_features());
        Ok((EmbeddingModel::new(sigma2, bags.n_features(), columns.zip(weights), bias)?, trace))
    }

    /// Plays over the similarities of bags, in the order of presentation, to all their instances, candidates × bags.
    fn play_on(&self, similarities: &DMatrix<f64>, sizes: &[usize], labels: &[Label]) -> (Dual, Rules, MioTrace) {
        let rules = self.rules(self.horizon(labels.len()));
        let mut table = OnMatrix { similarities, sizes, dual: Dual::new(), rules: &rules };
        let Ok(passes) = self.play(&mut table, labels);
        let dual = table.dual;
        let trace = MioTrace { passes, dual_objective: dual.objective(dual.last_net(&rules)) };
        (dual, rules, trace)
    }

    /// Plays over similarities that are computed when they are needed. The bags are in the order of presentation.
    fn fit_on_stream(&self, bags: &BagSet<Label>, sigma2: f64) -> Result<(EmbeddingModel, MioTrace), FitError> {
        let horizon = self.horizon(bags.n_bags());
        let stream = self.stream_of(bags.n_features(), sigma2, horizon).map_err(|error| error.of(NAME))?;
        let mut table = OnStream { bags, stream };
        let passes = self.play(&mut table, bags.labels())?;
        let dual_objective = table.stream.dual_objective();
        Ok((table.stream.model(), MioTrace { passes, dual_objective }))
    }

    /// $C_t$ of a bag of this label.
    pub(crate) fn penalty(&self, label: Label) -> f64 {
        self.rules(None).penalty(label)
    }

    fn rules(&self, horizon: Option<u64>) -> Rules {
        Rules {
            growth: Growth { alpha0: self.alpha0, beta0: self.beta0, horizon },
            positive_penalty: self.positive_penalty,
            negative_penalty: self.negative_penalty,
            bias: self.bias,
        }
    }

    /// Choice: a pass counts as new rounds of the game, so that $T$ is the number of passes times that of bags.
    pub(crate) fn horizon(&self, n_bags: usize) -> Option<u64> {
        match self.schedule {
            Schedule::Fixed => Some((n_bags as u64).saturating_mul(self.n_passes as u64)),
            Schedule::AnyTime => None,
        }
    }

    /// The bags in the order in which the first pass presents them.
    pub(crate) fn presentation(&self, bag_idxs: &[usize]) -> Vec<usize> {
        let mut order = bag_idxs.to_vec();
        if self.order != Order::AsGiven {
            order.shuffle(&mut order_rng(self.seed, 0));
        }
        order
    }
}

/// MiB of a matrix of candidates × bags.
pub(crate) fn needed_mib(n_candidates: usize, n_bags: usize) -> usize {
    ((n_candidates as f64) * (n_bags as f64) * (size_of::<f64>() as f64) / f64::from(1 << 20)).ceil() as usize
}

fn sizes(bags: &BagSet<Label>) -> Vec<usize> {
    bags.bags().map(|bag| bag.n_instances()).collect()
}

impl Learner for Mio {
    type Model = EmbeddingModel;

    fn fit(&self, bags: &BagSet<Label>) -> Result<EmbeddingModel, FitError> {
        self.fit_traced(bags).map(|(model, _)| model)
    }
}

impl Tunable for Mio {
    /// None where similarities are computed bag by bag.
    type Values<'a> = Option<Distances>;

    fn shares_values(&self, other: &Mio) -> bool {
        let of = |mio: &Mio| (mio.seed, mio.memory_mib, mio.budget == Budget::Unlimited);
        of(self) == of(other)
    }

    fn values(&self, bags: &BagSet<Label>) -> Result<Option<Distances>, FitError> {
        let params = self.check()?;
        let values = params.keeps_similarities(bags).then(|| Distances::new(bags, params.seed));
        values.transpose().map_err(|error| error.of(NAME))
    }

    fn held_out_scores(
        &self,
        bags: &BagSet<Label>,
        distances: &Option<Distances>,
        train: &[usize],
        test: &[usize],
    ) -> Result<Vec<f64>, FitError> {
        let params = self.check_for_fit()?;
        let Some(distances) = distances else {
            let model = params.fit(&bags.select(train))?;
            return test.iter().map(|&bag_idx| Ok(model.score(bags.bag(bag_idx))?)).collect();
        };
        bags.require_both_classes_among(train.iter().copied())?;
        let order = params.presentation(train);
        let labels: Vec<Label> = order.iter().map(|&bag_idx| bags.labels()[bag_idx]).collect();
        let sizes: Vec<usize> = order.iter().map(|&bag_idx| bags.columns_of(bag_idx).len()).collect();
        let score = || {
            let sigma2 = distances.sigma2(params.width, bags, train)?;
            let (dual, rules, _) = params.play_on(&distances.embed(bags, &order, &order, sigma2)?, &sizes, &labels);
            let (weights, bias) = dual.weights(&rules, dual.last_net(&rules));
            Ok(scores(&distances.embed(bags, &order, test, sigma2)?, &weights, bias))
        };
        score().map_err(|error: MioError| error.of(NAME))
    }
}
