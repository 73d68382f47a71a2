//! What all forests over bags are in the end: a forest of instances and a rule that pools its posteriors.

use std::marker::PhantomData;

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagLabel, BagModel, BagRule, BagSet, FitError, Label, OutOfBagScores, ScoreError};
use serde::{Deserialize, Serialize};

use crate::error::ForestError;
use crate::forest::{Drawn, Forest};
use crate::params::Sampling;
use crate::task::{ForestLabel, Task};
use crate::tree::is_probability;

/// More classes than any set of bags names; a file that claims more would ask for memory without end.
const MAX_CLASSES: u32 = 1 << 20;

/// A forest that scores bags.
///
/// In two classes the score of a bag is the pooled posterior of the positive class less 1/2, and that of an instance its own posterior less 1/2. In many classes both are posteriors; those of a bag are pooled class by class and then
/// made to sum to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForestModel<Y> {
    forest: Forest,
    /// The class that each one of the forest's is, ascending.
    classes: Vec<u32>,
    n_classes: u32,
    rule: BagRule,
    /// The pooled posteriors of each training bag by the trees that have not drawn it, where trees draw bags.
    out_of_bag: Vec<Option<Vec<f64>>>,
    #[serde(skip)]
    label: PhantomData<Y>,
}

impl<Y: ForestLabel> ForestModel<Y> {
    pub(crate) fn new(task: &Task<'_, Y>, forest: Forest, drawn: &[Drawn], rule: BagRule, sampling: Sampling) -> Self {
        let n_classes = task.bags.n_classes() as u32;
        let classes = task.classes.clone();
        let mut model = ForestModel { forest, classes, n_classes, rule, out_of_bag: Vec::new(), label: PhantomData };
        if sampling == Sampling::Bags {
            let posteriors = model.forest.out_of_sample_posteriors(task.bags.instances(), drawn);
            // All instances of a bag are drawn together.
            let bag = |bag_idx| {
                let known: Option<Vec<&[f64]>> =
                    posteriors[task.bags.columns_of(bag_idx)].iter().map(Option::as_deref).collect();
                known.map(|posteriors| model.pool(posteriors.into_iter()))
            };
            model.out_of_bag = (0..task.bags.n_bags()).map(bag).collect();
        }
        model
    }

    /// The forest of instances. Its classes are those that had training bags, in their order.
    #[must_use]
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// How posteriors of instances become those of a bag.
    #[must_use]
    pub fn rule(&self) -> BagRule {
        self.rule
    }

    /// The same forest under another rule; scores out of bag are dropped.
    #[must_use]
    pub fn with_rule(self, rule: BagRule) -> Self {
        ForestModel { rule, out_of_bag: Vec::new(), ..self }
    }

    /// The posteriors of each instance of a bag, one for each class.
    ///
    /// # Errors
    /// If the bag has another dimension than the training bags.
    pub fn instance_posteriors(&self, bag: Bag<'_>) -> Result<Vec<Vec<f64>>, ScoreError> {
        bag.require_features(self.forest.n_features())?;
        let posteriors = self.forest.posteriors(bag.values());
        Ok(posteriors.column_iter().map(|posterior| self.expand(posterior.as_slice())).collect())
    }

    /// The posterior of each class pooled over the bag. Under most rules they do not sum to 1.
    ///
    /// # Errors
    /// As for [`instance_posteriors`](Self::instance_posteriors).
    pub fn pooled_posteriors(&self, bag: Bag<'_>) -> Result<Vec<f64>, ScoreError> {
        bag.require_features(self.forest.n_features())?;
        let posteriors = self.forest.posteriors(bag.values());
        Ok(self.pool(posteriors.as_slice().chunks_exact(self.forest.n_classes())))
    }

    /// Pools the forest's posteriors class by class.
    fn pool<'a>(&self, posteriors: impl Iterator<Item = &'a [f64]> + Clone) -> Vec<f64> {
        let pooled: Vec<f64> = (0..self.forest.n_classes())
            .map(|class| {
                let of_class: Vec<f64> = posteriors.clone().map(|posterior| posterior[class]).collect();
                self.rule.pool_probabilities(&of_class)
            })
            .collect();
        self.expand(&pooled)
    }

    /// From the classes that the forest knows to all, 0 for the others.
    fn expand(&self, known: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.n_classes as usize];
        self.classes.iter().zip(known).for_each(|(class, value)| all[*class as usize] = *value);
        all
    }
}

impl<Y: ForestLabel> BagModel<Y> for ForestModel<Y> {
    fn n_features(&self) -> usize {
        self.forest.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<Y::Score, ScoreError> {
        self.pooled_posteriors(bag).map(Y::score)
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<Y::Score>>, ScoreError> {
        Ok(Some(self.instance_posteriors(bag)?.into_iter().map(Y::score).collect()))
    }

    fn scores<Z: BagLabel>(&self, bags: &BagSet<Z>) -> Result<Vec<Y::Score>, ScoreError> {
        bags.bag(0).require_features(self.forest.n_features())?;
        let posteriors = self.forest.posteriors(bags.instances().as_slice());
        let n_classes = self.forest.n_classes();
        let bag = |bag_idx| {
            let columns = bags.columns_of(bag_idx);
            let values = &posteriors.as_slice()[columns.start * n_classes..columns.end * n_classes];
            Y::score(self.pool(values.chunks_exact(n_classes)))
        };
        Ok((0..bags.n_bags()).map(bag).collect())
    }
}

impl OutOfBagScores for ForestModel<Label> {
    fn out_of_bag_scores(&self) -> Result<Vec<f64>, FitError> {
        if self.out_of_bag.is_empty() {
            return Err(ForestError::NoBagsLeftOut.into());
        }
        let n_trees = self.forest.trees().len();
        let score = |(bag_idx, pooled): (usize, &Option<Vec<f64>>)| match pooled {
            Some(pooled) => Ok(<Label as ForestLabel>::score(pooled.clone())),
            None => Err(ForestError::AlwaysDrawn { bag_idx, n_trees }.into()),
        };
        self.out_of_bag.iter().enumerate().map(score).collect()
    }
}

impl<Y: ForestLabel> SavedModel for ForestModel<Y> {
    fn kind() -> String {
        match Y::fixed_class_names() {
            Some(_) => "forest".to_owned(),
            None => "forest of classes".to_owned(),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        self.forest.check()?;
        if self.rule.check().is_err() {
            return Err("the rule is out of range");
        }
        let ascending = self.classes.windows(2).all(|pair| pair[0] < pair[1]);
        let within = self.n_classes <= MAX_CLASSES && self.classes.last().is_some_and(|class| *class < self.n_classes);
        let fits = Y::fixed_class_names().is_none_or(|names| names.len() == self.n_classes as usize);
        if !(ascending && within && fits && self.classes.len() == self.forest.n_classes()) {
            return Err("the classes are not those of the forest");
        }
        let pooled_is_sound =
            |pooled: &Vec<f64>| pooled.len() == self.n_classes as usize && pooled.iter().all(|p| is_probability(*p));
        if !self.out_of_bag.iter().flatten().all(pooled_is_sound) {
            return Err("a score out of bag is not a probability");
        }
        Ok(())
    }
}
