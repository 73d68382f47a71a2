//! Nearest centroid: the naive single-instance baseline.
//!
//! Every instance takes the label of its bag; an instance belongs to the class whose mean is nearest. In two classes its score is
//!
//! $$ f(x) = \lVert x - \mu_- \rVert^2 - \lVert x - \mu_+ \rVert^2, $$
//!
//! positive where the mean of the positive instances is the nearer one; the bag pools the scores of its instances by a [`BagRule`]. In many
//! classes the pooled quantity is $-\tfrac12 \lVert x - \mu_k \rVert^2$, the log-likelihood of a unit Gaussian up to a constant, and the posterior its
//! soft-max over the classes. Cost: one pass over the instances. Whatever does not beat this has learnt nothing from the bags.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner, NearestCentroid, witness_of};
//! let mut builder = BagSet::builder();
//! builder.bag("p", Label::Positive, [[4.0], [6.0]])?.bag("n", Label::Negative, [[0.0], [2.0]])?;
//! let bags = builder.build()?;
//! let model = NearestCentroid::default().fit(&bags)?;
//! assert_eq!(model.score(bags.bag(0))?, 24.0); // (6 - 1)^2 - (6 - 5)^2
//! assert_eq!(witness_of(&model, bags.bag(0))?, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::marker::PhantomData;

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::bag::{Bag, BagSet};
use crate::error::{FitError, ScoreError};
use crate::label::{BagLabel, ClassId, Label, Target};
use crate::learner::{BagModel, Learner, finite_score};
use crate::model_file::SavedModel;
use crate::params::{ParamRange, Params};
use crate::rule::BagRule;
use crate::tuning::Tunable;

crate::params! {
    /// The nearest-centroid learner, for two classes or many.
    pub struct NearestCentroid {
        rule: BagRule = BagRule::Max, ParamRange::Any, "How instance scores become the score of the bag.";
    }
}

impl Learner<Label> for NearestCentroid {
    type Model = NearestCentroidModel<Label>;

    fn fit(&self, bags: &BagSet<Label>) -> Result<Self::Model, FitError> {
        let params = self.check()?;
        bags.require_both_classes()?;
        NearestCentroidModel::from_means(bags, params.rule)
    }
}

impl Learner<ClassId> for NearestCentroid {
    type Model = NearestCentroidModel<ClassId>;

    fn fit(&self, bags: &BagSet<ClassId>) -> Result<Self::Model, FitError> {
        let params = self.check()?;
        let n_classes = bags.class_counts().iter().filter(|count| **count > 0).count();
        if n_classes < 2 {
            return Err(FitError::TooFewClasses { n_classes, n_bags: bags.n_bags() });
        }
        NearestCentroidModel::from_means(bags, params.rule)
    }
}

/// Nothing is worth sharing: a fit is one pass over the instances.
impl Tunable for NearestCentroid {
    type Values<'a> = ();

    fn shares_values(&self, _: &NearestCentroid) -> bool {
        true
    }

    fn values(&self, _: &BagSet<Label>) -> Result<(), FitError> {
        Ok(())
    }
}

/// The class means and the rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearestCentroidModel<Y> {
    /// Features × classes.
    #[serde(deserialize_with = "crate::model_file::checked_matrix")]
    centroids: DMatrix<f64>,
    /// Classes that had training bags; the others are never predicted.
    present: Vec<bool>,
    rule: BagRule,
    #[serde(skip)]
    label: PhantomData<Y>,
}

impl<Y: BagLabel> NearestCentroidModel<Y> {
    fn from_means(bags: &BagSet<Y>, rule: BagRule) -> Result<Self, FitError> {
        let mut n_instances = vec![0usize; bags.n_classes()];
        for (bag, label) in bags.bags().zip(bags.labels()) {
            n_instances[label.class_idx()] += bag.n_instances();
        }
        let mut centroids = DMatrix::<f64>::zeros(bags.n_features(), bags.n_classes());
        for (bag, label) in bags.bags().zip(bags.labels()) {
            let class = label.class_idx();
            for instance in bag.instances() {
                for (sum, value) in centroids.column_mut(class).iter_mut().zip(instance) {
                    *sum += value / n_instances[class] as f64;
                }
            }
        }
        if let Some(&value) = centroids.iter().find(|value| !value.is_finite()) {
            return Err(FitError::Overflow { quantity: "the mean of a class", value });
        }
        let present = n_instances.iter().map(|count| *count > 0).collect();
        Ok(NearestCentroidModel { centroids, present, rule, label: PhantomData })
    }

    /// The mean of the training instances of each class, features × classes.
    #[must_use]
    pub fn centroids(&self) -> &DMatrix<f64> {
        &self.centroids
    }

    /// $\lVert x - \mu_k \rVert^2$.
    fn squared_distance(&self, instance: &[f64], class: usize) -> f64 {
        instance.iter().zip(self.centroids.column(class).iter()).map(|(x, m)| (x - m).powi(2)).sum()
    }

    /// Log-likelihood of one class, pooled over the bag.
    fn pooled_log_likelihood(&self, bag: Bag<'_>, class: usize) -> f64 {
        let scores: Vec<f64> = bag.instances().map(|x| -0.5 * self.squared_distance(x, class)).collect();
        self.rule.pool(&scores)
    }

    /// Soft-max over the classes that had training bags.
    fn posterior(&self, bag: Bag<'_>) -> Result<Vec<f64>, ScoreError> {
        let mut logs = vec![f64::NEG_INFINITY; self.present.len()];
        for class in (0..logs.len()).filter(|&class| self.present[class]) {
            logs[class] = finite_score(bag, self.pooled_log_likelihood(bag, class))?;
        }
        let max = logs[crate::learner::argmax(&logs)];
        let weights: Vec<f64> = logs.iter().map(|log| (log - max).exp()).collect();
        let total: f64 = weights.iter().sum();
        Ok(weights.iter().map(|weight| weight / total).collect())
    }
}

impl BagModel<Label> for NearestCentroidModel<Label> {
    fn n_features(&self) -> usize {
        self.centroids.nrows()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        let scores = self.instance_scores(bag)?.expect("this model scores instances");
        finite_score(bag, self.rule.pool(&scores))
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<f64>>, ScoreError> {
        bag.require_features(self.n_features())?;
        let (negative, positive) = (Label::Negative.class_idx(), Label::Positive.class_idx());
        let score = |x| finite_score(bag, self.squared_distance(x, negative) - self.squared_distance(x, positive));
        bag.instances().map(score).collect::<Result<_, _>>().map(Some)
    }
}

impl BagModel<ClassId> for NearestCentroidModel<ClassId> {
    fn n_features(&self) -> usize {
        self.centroids.nrows()
    }

    fn score(&self, bag: Bag<'_>) -> Result<Vec<f64>, ScoreError> {
        bag.require_features(self.n_features())?;
        self.posterior(bag)
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<Vec<f64>>>, ScoreError> {
        bag.require_features(self.n_features())?;
        let lone = |x| Bag::new(bag.name(), self.n_features(), x).expect("an instance of a bag is a bag");
        bag.instances().map(|x| self.posterior(lone(x))).collect::<Result<_, _>>().map(Some)
    }
}

impl<Y: Target> SavedModel for NearestCentroidModel<Y> {
    fn kind() -> String {
        match Y::fixed_class_names() {
            Some(_) => "nearest-centroid".to_owned(),
            None => "nearest-centroid of classes".to_owned(),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let sound = self.rule.check().is_ok()
            && self.centroids.nrows() > 0
            && self.centroids.ncols() == self.present.len()
            && self.present.iter().filter(|present| **present).count() >= 2
            && self.centroids.iter().all(|value| value.is_finite());
        if sound { Ok(()) } else { Err("the rule is out of range, or the centroids are not finite or fewer than two") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::ClassNames;

    #[test]
    fn a_class_without_bags_is_never_predicted() {
        let mut builder = BagSet::builder_of_classes(ClassNames::new(["a", "b", "c"]));
        builder.bag("0", ClassId(0), [[10.0]]).unwrap().bag("1", ClassId(2), [[20.0]]).unwrap();
        let model = NearestCentroid::default().fit(&builder.build().unwrap()).unwrap();
        // The missing class's column is at the origin, nearest to this bag.
        let bag = Bag::new("x", 1, &[0.0]).unwrap();
        assert_eq!(model.predict(bag).unwrap(), ClassId(0));
        assert_eq!(model.score(bag).unwrap()[1], 0.0);
    }

    #[test]
    fn posteriors_of_two_unit_gaussians_are_logistic_in_the_distance() {
        let mut builder = BagSet::builder_of_classes(ClassNames::new(["a", "b"]));
        builder.bag("0", ClassId(0), [[0.0]]).unwrap().bag("1", ClassId(1), [[2.0]]).unwrap();
        let model = NearestCentroid::default().fit(&builder.build().unwrap()).unwrap();
        // log-odds of class b at 1.5: (1.5^2 - 0.5^2) / 2 = 1.
        let posterior = model.score(Bag::new("x", 1, &[1.5]).unwrap()).unwrap();
        assert!((posterior[1] - 1.0 / (1.0 + (-1.0f64).exp())).abs() < 1e-15);
    }
}
