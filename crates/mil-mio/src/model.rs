//! The model of MIO and of MILES: a few instances, each a concept, and how much being similar to it speaks for a bag.

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, ScoreError, finite_score};
use mil_kernels::{Candidates, KernelError};
use serde::{Deserialize, Serialize};

/// A linear machine over similarities to selected instances,
///
/// $$ f(B) = \sum_kw_k\max_{x\in B}s(x_k,x) + b. $$
///
/// A weight above 0 is a concept that speaks for a bag, one below 0 speaks against it. Candidates without a weight are not kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EmbeddingModel {
    concepts: Candidates,
    weights: Vec<f64>,
    bias: f64,
    defect: Option<f64>,
}

/// What each instance of a bag contributes to its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Contributions {
    /// $g(x)$, one for each instance; they add up to the score of the bag less the bias.
    pub values: Vec<f64>,
    /// Whether an instance is among the nearest of its bag to some concept, and not so far that its similarity is 0; others have no say.
    pub has_say: Vec<bool>,
}

impl EmbeddingModel {
    /// Keeps the candidates that have a weight.
    pub(crate) fn new<'a>(
        sigma2: f64,
        n_features: usize,
        weighted: impl Iterator<Item = (&'a [f64], f64)>,
        bias: f64,
    ) -> Result<EmbeddingModel, KernelError> {
        let mut concepts = Candidates::new(n_features, sigma2)?;
        let (values, weights): (Vec<&[f64]>, Vec<f64>) = weighted.filter(|(_, weight)| *weight != 0.0).unzip();
        let values = values.concat();
        if !values.is_empty() {
            let all = Bag::new("concepts", n_features, &values).expect("candidates are instances of bags");
            concepts.extend(&all)?;
        }
        Ok(EmbeddingModel { concepts, weights, bias, defect: None })
    }

    /// The same with what its certificate says.
    pub(crate) fn certified(self, defect: f64) -> EmbeddingModel {
        EmbeddingModel { defect: Some(defect), ..self }
    }

    /// How far the weights may be from the optimum of MILES: the worst relative defect that their certificate shows. Above the tolerance of the parameters only where rounding or the solver's budget did not allow for
    /// more. `None` for MIO, which solves no problem.
    #[must_use]
    pub fn defect(&self) -> Option<f64> {
        self.defect
    }

    /// Number of instances selected.
    #[must_use]
    pub fn n_concepts(&self) -> usize {
        self.weights.len()
    }

    /// The selected instances $x_k$ with their weights $w_k$.
    pub fn concepts(&self) -> impl ExactSizeIterator<Item = (&[f64], f64)> + '_ {
        self.weights.iter().enumerate().map(|(idx, &weight)| (self.concepts.get(idx), weight))
    }

    /// The bias $b$.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The squared width $\sigma^2$.
    #[must_use]
    pub fn sigma2(&self) -> f64 {
        self.concepts.similarity().sigma2()
    }

    /// The share of each instance in the score, as in MILES: what a concept adds goes to the instance of the bag that is nearest to it, in equal parts to those that are equally
    /// near,
    ///
    /// $$ g(x_j) = \sum_{k\,:\,j\in J_k}\frac{w_k\,s(x_k,x_j)}{|J_k|},\qquad J_k = \arg\max_js(x_k,x_j) $$
    ///
    /// (Chen, Bi & Wang 2006, on instance classification). Those of equal similarity are those of equal `f64`.
    ///
    /// # Errors
    /// If the bag has another dimension than the training bags, or its numbers are too large.
    pub fn contributions(&self, bag: Bag<'_>) -> Result<Contributions, ScoreError> {
        bag.require_features(self.n_features())?;
        let mut values = vec![0.0; bag.n_instances()];
        let mut has_say = vec![false; bag.n_instances()];
        // Each instance as a bag of its own, so that the largest similarity is the one that scores.
        let similarity_of = |instance| {
            let lone = Bag::new(bag.name(), self.n_features(), instance).expect("an instance of a bag is a bag");
            self.concepts.similarity().to_bag(&lone).map_err(|error| refused(bag, &error))
        };
        let similarities: Vec<Vec<f64>> = bag.instances().map(similarity_of).collect::<Result<_, _>>()?;
        for (concept, weight) in self.weights.iter().enumerate() {
            let largest = similarities.iter().fold(0.0_f64, |largest, of_instance| largest.max(of_instance[concept]));
            let nearest: Vec<usize> =
                (0..similarities.len()).filter(|&idx| similarities[idx][concept] == largest && largest > 0.0).collect();
            for &instance_idx in &nearest {
                values[instance_idx] += weight * largest / nearest.len() as f64;
                has_say[instance_idx] = true;
            }
        }
        Ok(Contributions { values, has_say })
    }
}

impl BagModel for EmbeddingModel {
    fn n_features(&self) -> usize {
        self.concepts.similarity().n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        bag.require_features(self.n_features())?;
        let similarities = self.concepts.similarity().to_bag(&bag).map_err(|error| refused(bag, &error))?;
        let sum: f64 = self.weights.iter().zip(&similarities).map(|(weight, similarity)| weight * similarity).sum();
        finite_score(bag, sum + self.bias)
    }

    /// $g(x) + b/|U|$, with $U$ the instances that have a say: MILES takes an instance for positive where $g(x) > -b/|U|$. The scores of $U$ add up to that of the bag.
    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        let Contributions { values, has_say } = self.contributions(bag)?;
        let n_say = match has_say.iter().filter(|has_say| **has_say).count() {
            0 => bag.n_instances(),
            n => n,
        };
        values
            .iter()
            .map(|value| finite_score(bag, value + self.bias / n_say as f64))
            .collect::<Result<_, _>>()
            .map(Some)
    }
}

/// The only numbers that a bag of the right dimension is refused for are those whose squares leave `f64`.
pub(crate) fn refused(bag: Bag<'_>, error: &KernelError) -> ScoreError {
    let value = if let KernelError::Overflow { value, .. } = error { *value } else { f64::INFINITY };
    ScoreError::Overflow { name: bag.name().to_owned(), value }
}

impl SavedModel for EmbeddingModel {
    fn kind() -> String {
        "miles-embedding".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        let sound = self.weights.len() == self.concepts.similarity().n_candidates()
            && self.weights.iter().chain([&self.bias]).chain(&self.defect).all(|value| value.is_finite());
        if sound { Ok(()) } else { Err("the weights are not one finite number for each concept") }
    }
}
