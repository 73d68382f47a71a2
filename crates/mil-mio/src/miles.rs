//! MILES: multiple-instance learning via embedded instance selection.
//!
//! Chen, Bi & Wang, *MILES: Multiple-Instance Learning via Embedded Instance Selection*, PAMI 28(12), 2006.
//!
//! Every bag becomes the vector $z_i$ of its similarities to all training instances, and a 1-norm support vector machine selects among these:
//!
//! $$ \min_{w,b}\ \lambda\lVert w\rVert_1 + \sum_iC_{y_i}\,(1-y_i(w^\top z_i+b))_+ $$
//!
//! (eq. 2 of MIO, with the bias that MILES has). The paper's $C_1=\mu$, $C_2=1-\mu$ are `positive_penalty` and `negative_penalty`. It is a linear program with few rows and many columns; [`OneNormSvm`] solves it by column
//! generation and proves the answer optimal over all candidates. Cost: $n^2d$ for the similarities of $n$ instances, which is most of it, and memory for $n$ times the number of bags.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_mio::Miles;
//! let mut builder = BagSet::builder();
//! for i in 0..6 {
//!     let x = 0.1 * f64::from(i);
//!     builder.bag(format!("p{i}"), Label::Positive, [[x, 0.0], [4.0, 3.0 + x]])?;
//!     builder.bag(format!("n{i}"), Label::Negative, [[x, 0.1], [1.0, x]])?;
//! }
//! let bags = builder.build()?;
//! let selection = Miles::default().select(&bags)?;
//! assert!(selection.certificate.holds(1e-8) && selection.columns.len() < 6);
//! let model = Miles::default().fit(&bags)?;
//! assert_eq!(model.predict(bags.bag(0))?, Label::Positive);
//! let contributions = model.contributions(bags.bag(0))?.values;
//! assert!(contributions[1] > contributions[0]); // the second instance makes the bag positive
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, Label, Learner, ParamRange, Params, Tunable};
use mil_kernels::{Centre, similarities_of, squared_distances_within};
use mil_qp::{Certificate, OneNormSettings, OneNormSvm};
use nalgebra::DMatrix;

use crate::distances::{Distances, require_memory, scores};
use crate::{EmbeddingModel, MioError, Width};

const NAME: &str = "MILES";

mil_core::params! {
    /// The MILES learner.
    pub struct Miles {
        width: Width = Width::OverMedian(0.2), ParamRange::Any, "Squared width of the similarity, itself or as a multiple of the median squared distance.";
        lambda: f64 = 0.2, ParamRange::UpTo(0.0, 1e12), "Weight of the 1-norm, lambda.";
        has_bias: bool = true, ParamRange::Any, "Whether there is a bias.";
        positive_penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost of a unit of hinge loss on a positive bag.";
        negative_penalty: f64 = 1.0, ParamRange::UpTo(0.0, 1e12), "Cost of a unit of hinge loss on a negative bag.";
        tolerance: f64 = 1e-8, ParamRange::Above(0.0), "Relative defect that the solver of the linear program accepts.";
        seed: u64 = 0, ParamRange::Any, "Fixes the pairs that a median distance is taken over.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for the similarities of all bags to all instances, which have to suffice.";
    }
}

/// What MILES selects: instances of the training bags, with weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The squared width $\sigma^2$ of the similarity.
    pub sigma2: f64,
    /// Columns of the set of bags, in increasing order.
    pub columns: Vec<usize>,
    /// The weight of each; none is 0.
    pub weights: Vec<f64>,
    /// The bias $b$; 0 where there is none. The optimum may leave it an interval, of which this is one end.
    pub bias: f64,
    /// The proof of optimality, over all candidates.
    pub certificate: Certificate,
}

impl Miles {
    /// Selects instances, and proves how good the selection is.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit).
    pub fn select(&self, bags: &BagSet<Label>) -> Result<Selection, FitError> {
        let params = self.check()?;
        bags.require_both_classes()?;
        let select = || {
            require_memory(bags, params.memory_mib)?;
            let sigma2 = params.width.resolve(bags, params.seed)?;
            let mut similarities = squared_distances_within(bags, Centre::AllBags)?;
            similarities_of(similarities.as_mut_slice(), sigma2)?;
            params.solve(&similarities, bags.labels(), sigma2)
        };
        select().map_err(|error: MioError| error.of(NAME))
    }

    /// Solves the linear program over the similarities of the bags, candidates × bags.
    fn solve(&self, similarities: &DMatrix<f64>, labels: &[Label], sigma2: f64) -> Result<Selection, MioError> {
        let penalty = |label: &Label| match label {
            Label::Positive => self.positive_penalty,
            Label::Negative => self.negative_penalty,
        };
        let signs = labels.iter().map(|label| label.sign()).collect();
        let problem = OneNormSvm::new(similarities, signs, labels.iter().map(penalty).collect(), self.lambda)?;
        let problem = if self.has_bias { problem } else { problem.without_bias() };
        let settings = OneNormSettings { tolerance: self.tolerance, ..OneNormSettings::default() };
        let solution = problem.solve(&settings)?.best().expect("the program is feasible and bounded below by 0");
        let (weights, bias) = problem.separator(&solution);
        let (columns, weights) = weights.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0).unzip();
        Ok(Selection { sigma2, columns, weights, bias, certificate: solution.certificate })
    }
}

impl Learner for Miles {
    type Model = EmbeddingModel;

    fn fit(&self, bags: &BagSet<Label>) -> Result<EmbeddingModel, FitError> {
        let Selection { sigma2, columns, weights, bias, certificate } = self.select(bags)?;
        let chosen = columns
            .iter()
            .map(|&column| &bags.instances().as_slice()[column * bags.n_features()..][..bags.n_features()]);
        let model = EmbeddingModel::new(sigma2, bags.n_features(), chosen.zip(weights), bias)
            .map_err(|error| MioError::from(error).of(NAME))?;
        Ok(model.certified(certificate.worst()))
    }
}

impl Tunable for Miles {
    type Values<'a> = Distances;

    fn shares_values(&self, other: &Miles) -> bool {
        (self.seed, self.memory_mib) == (other.seed, other.memory_mib)
    }

    fn values(&self, bags: &BagSet<Label>) -> Result<Distances, FitError> {
        let params = self.check()?;
        let values = require_memory(bags, params.memory_mib).and_then(|()| Distances::new(bags, params.seed));
        values.map_err(|error| error.of(NAME))
    }

    fn held_out_scores(
        &self,
        bags: &BagSet<Label>,
        distances: &Distances,
        train: &[usize],
        test: &[usize],
    ) -> Result<Vec<f64>, FitError> {
        let params = self.check()?;
        bags.require_both_classes_among(train.iter().copied())?;
        let labels: Vec<Label> = train.iter().map(|&bag_idx| bags.labels()[bag_idx]).collect();
        let score = || {
            let sigma2 = distances.sigma2(params.width, bags, train)?;
            let selection = params.solve(&distances.embed(bags, train, train, sigma2)?, &labels, sigma2)?;
            let embedded = distances.embed(bags, train, test, sigma2)?;
            let mut weights = vec![0.0; embedded.nrows()];
            selection.columns.iter().zip(selection.weights).for_each(|(&column, weight)| weights[column] = weight);
            Ok(scores(&embedded, &weights, selection.bias))
        };
        score().map_err(|error: MioError| error.of(NAME))
    }
}
