//! A forest on a stream: predict, then learn, bag after bag.

use std::marker::PhantomData;

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagLabel, BagModel, BagRule, BagSet, OnlineLearner, ParamError, ScoreError, argmax, stream};
use nalgebra::DMatrix;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ranges::Ranges;
use super::settings::{Labelling, Settings};
use super::tree::{Growing, OnlineTree};
use crate::annealing::Loss;
use crate::mi_forest::pick;
use crate::params::Weighting;
use crate::task::ForestLabel;

/// A forest in the middle of a stream, for two classes or many. [`OnlineForest`](crate::OnlineForest) and [`OnlineMiForest`](crate::OnlineMiForest) begin one.
///
/// Everything that the future depends on is here and is kept in a file to the bit: what is drawn for a bag depends on the seed and on how many came before it, so that a stream that is stopped, saved, loaded and resumed goes on as if
/// nothing had happened.
///
/// In two classes the score of a bag is the pooled posterior of the positive class less 1/2, and that of an instance its own posterior less 1/2. In many classes both are posteriors; those of a bag are pooled class by class and then
/// made to sum to 1. Choice: a class that has had no bag yet has posterior 0, and a tree that has seen nothing answers the uniform distribution over those that have; where there is none, over all.
///
/// Learning a bag of $n$ instances of $d$ features costs $O(nd)$ for the ranges and, for each tree and instance, the way down and $R$ tests: it does not grow with what came before. Memory grows with the leaves: about
/// $R(16+8K)$ bytes for each that may still be split, in $K$ classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnlineForestStream<Y> {
    settings: Settings,
    n_features: usize,
    trees: Vec<OnlineTree>,
    ranges: Ranges,
    /// Bags of each class.
    n_bags_of: Vec<u64>,
    /// Instances of each class that trees have been shown, as far as labels are known.
    shown: Vec<f64>,
    n_instances: u64,
    /// How often trees have been shown a bag: once for each, or once for each temperature.
    n_showings: u64,
    #[serde(skip)]
    label: PhantomData<Y>,
}

/// What trees are told about the instances of a bag.
enum Told {
    /// All are of this class.
    Class(usize),
    /// Each tree draws from these distributions, classes × instances.
    Distributions(DMatrix<f64>),
}

/// Rates are raised by no more than this to even out classes or bags.
///
/// Choice: the first instances of a class that comes late would otherwise drown the others.
const MAX_RAISE: f64 = 10.0;
/// Instances times trees from which threads are worth waking.
const WORTH_THREADS: usize = 1 << 10;
/// Instances whose posteriors are summed together.
const BLOCK: usize = 64;
/// Bits of the index of a random stream that tell the tree: there are at most a million.
const TREE_BITS: u32 = 20;
/// No stream has lasted so long.
const MAX_COUNT: u64 = 1 << 43;

impl<Y: ForestLabel> OnlineForestStream<Y> {
    pub(crate) fn new(settings: Settings, n_features: usize, n_classes: usize) -> Result<Self, ParamError> {
        settings.check(n_features, n_classes)?;
        Ok(OnlineForestStream {
            trees: vec![OnlineTree::seedling(n_classes); settings.n_trees],
            settings,
            n_features,
            ranges: Ranges::new(n_features),
            n_bags_of: vec![0; n_classes],
            shown: vec![0.0; n_classes],
            n_instances: 0,
            n_showings: 0,
            label: PhantomData,
        })
    }

    /// The bags of each class that have come.
    #[must_use]
    pub fn n_bags_of(&self) -> &[u64] {
        &self.n_bags_of
    }

    /// Bags that have come.
    #[must_use]
    pub fn n_bags(&self) -> u64 {
        self.n_bags_of.iter().sum()
    }

    /// Instances that have come.
    #[must_use]
    pub fn n_instances(&self) -> u64 {
        self.n_instances
    }

    /// Number of classes, those without bags included.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_bags_of.len()
    }

    /// Number of trees.
    #[must_use]
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// Leaves of all trees.
    #[must_use]
    pub fn n_leaves(&self) -> usize {
        self.trees.iter().map(OnlineTree::n_leaves).sum()
    }

    /// Tests on the longest way from a root to a leaf.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.trees.iter().map(OnlineTree::depth).max().unwrap_or(0)
    }

    /// How posteriors of instances become those of a bag.
    #[must_use]
    pub fn rule(&self) -> BagRule {
        self.settings.rule
    }

    /// The same stream under another rule, which no learning depends on.
    ///
    /// # Errors
    /// If the rule is out of range.
    pub fn with_rule(mut self, rule: BagRule) -> Result<Self, ParamError> {
        rule.check()?;
        self.settings.rule = rule;
        Ok(self)
    }

    /// $p(k\mid x)$ of instances laid out one after the other: classes × instances.
    ///
    /// # Panics
    /// If the values do not fill the last instance.
    #[must_use]
    pub fn posteriors(&self, values: &[f64]) -> DMatrix<f64> {
        assert!(values.len().is_multiple_of(self.n_features), "values of whole instances");
        let n_instances = values.len() / self.n_features;
        let n_classes = self.n_classes();
        let prior = self.prior();
        let mut posteriors = DMatrix::zeros(n_classes, n_instances);
        let sum = |sums: &mut [f64], values: &[f64]| {
            for tree in &self.trees {
                tree.add_posteriors(values, self.n_features, &prior, sums);
            }
            sums.iter_mut().for_each(|sum| *sum /= self.trees.len() as f64);
        };
        let (block_sums, block_values) = (BLOCK * n_classes, BLOCK * self.n_features);
        if self.trees.len() * n_instances < WORTH_THREADS {
            let blocks = posteriors.as_mut_slice().chunks_mut(block_sums);
            blocks.zip(values.chunks(block_values)).for_each(|(sums, values)| sum(sums, values));
        } else {
            let blocks = posteriors.as_mut_slice().par_chunks_mut(block_sums);
            blocks.zip(values.par_chunks(block_values)).for_each(|(sums, values)| sum(sums, values));
        }
        posteriors
    }

    /// The posteriors of each instance of a bag, classes × instances.
    ///
    /// # Errors
    /// If the bag has another dimension than the stream.
    pub fn instance_posteriors(&self, bag: Bag<'_>) -> Result<DMatrix<f64>, ScoreError> {
        bag.require_features(self.n_features)?;
        Ok(self.posteriors(bag.values()))
    }

    /// The posterior of each class pooled over the bag. Under most rules they do not sum to 1.
    ///
    /// # Errors
    /// As for [`instance_posteriors`](Self::instance_posteriors).
    pub fn pooled_posteriors(&self, bag: Bag<'_>) -> Result<Vec<f64>, ScoreError> {
        Ok(self.pool(self.instance_posteriors(bag)?.as_slice()))
    }

    fn pool(&self, posteriors: &[f64]) -> Vec<f64> {
        let n_classes = self.n_classes();
        let pool_class = |class| {
            let of_class: Vec<f64> = posteriors.iter().skip(class).step_by(n_classes).copied().collect();
            self.settings.rule.pool_probabilities(&of_class)
        };
        (0..n_classes).map(pool_class).collect()
    }

    fn knows(&self, class: usize) -> bool {
        self.n_bags_of[class] > 0
    }

    fn n_known(&self) -> usize {
        self.n_bags_of.iter().filter(|n| **n > 0).count()
    }

    /// Uniform over the classes that have had bags.
    fn prior(&self) -> Vec<f64> {
        let n_known = self.n_known();
        let of = |class| match n_known {
            0 => 1.0 / self.n_classes() as f64,
            _ if self.knows(class) => 1.0 / n_known as f64,
            _ => 0.0,
        };
        (0..self.n_classes()).map(of).collect()
    }

    /// Learns a bag: the trees are shown its instances, with the class of the bag or, where the bag hides labels, with labels drawn at each temperature.
    fn learn(&mut self, bag: Bag<'_>, label: Y) {
        let class = label.class_idx();
        self.ranges.extend(bag.values());
        self.n_bags_of[class] += 1;
        self.n_instances += bag.n_instances() as u64;
        match self.settings.labelling {
            Labelling::Annealed { loss, cooling, n_naive }
                if label.is_hidden() && bag.n_instances() > 1 && self.n_bags_of[class] > n_naive as u64 =>
            {
                for temperature in cooling.temperatures() {
                    let distributions = self.anneal(bag, class, loss, temperature);
                    self.show(bag, &Told::Distributions(distributions));
                }
            }
            _ => self.show(bag, &Told::Class(class)),
        }
    }

    /// $p^*$ of each instance at a temperature, from the forest as it is; that of the witness is certain.
    fn anneal(&self, bag: Bag<'_>, class: usize, loss: Loss, temperature: f64) -> DMatrix<f64> {
        let mut distributions = self.posteriors(bag.values());
        let known: Vec<usize> = (0..self.n_classes()).filter(|class| self.knows(*class)).collect();
        let mut among_known = vec![0.0; known.len()];
        for mut column in distributions.column_iter_mut() {
            known.iter().zip(&mut among_known).for_each(|(class, p)| *p = column[*class]);
            loss.anneal(&mut among_known, temperature);
            known.iter().zip(&among_known).for_each(|(class, p)| column[*class] = *p);
        }
        let of_class: Vec<f64> = distributions.row(class).iter().copied().collect();
        let mut witness = distributions.column_mut(argmax(&of_class));
        witness.fill(0.0);
        witness[class] = 1.0;
        distributions
    }

    /// Shows a bag to all trees.
    fn show(&mut self, bag: Bag<'_>, told: &Told) {
        match told {
            Told::Class(class) => self.shown[*class] += bag.n_instances() as f64,
            Told::Distributions(distributions) => {
                for column in distributions.column_iter() {
                    self.shown.iter_mut().zip(&column).for_each(|(shown, p)| *shown += p);
                }
            }
        }
        self.n_showings += 1;
        let growing = self.settings.growing(self.n_features, self.n_classes()).expect("checked when the stream began");
        let showing = Showing {
            bag,
            told,
            samplers: self.rates(bag.n_instances()).into_iter().map(Poisson::new).collect(),
            growing,
            ranges: self.may_draw_tests().then_some(&self.ranges),
            seed: self.settings.seed,
            idx: self.n_showings,
        };
        if self.trees.len() * bag.n_instances() < WORTH_THREADS {
            self.trees.iter_mut().enumerate().for_each(|(tree_idx, tree)| showing.to(tree, tree_idx as u64));
        } else {
            self.trees.par_iter_mut().enumerate().for_each(|(tree_idx, tree)| showing.to(tree, tree_idx as u64));
        }
    }

    /// Choice: no leaf draws tests before some instances have come and some feature has had two values. Thresholds within the range of the first two or three instances would be poor, and roots are forever; in bags that come shuffled it
    /// makes no difference.
    fn may_draw_tests(&self) -> bool {
        self.n_instances >= self.settings.n_ranging as u64 && self.ranges.have_spread()
    }

    /// How often an instance of each class is shown to a tree, on average. With [`Weighting::Classes`], and $N_k$ instances of class $k$ among $N$ of $K$ classes so far,
    ///
    /// $$ \lambda_k = \lambda\,\frac{N}{K N_k}; $$
    ///
    /// with [`Weighting::Bags`], the mean size of the bags over that of the bag, times $\lambda$.
    fn rates(&self, n_in_bag: usize) -> Vec<f64> {
        let raise = |class: usize| match self.settings.weighting {
            Weighting::Instances => 1.0,
            Weighting::Bags => self.n_instances as f64 / self.n_bags() as f64 / n_in_bag as f64,
            Weighting::Classes => self.shown.iter().sum::<f64>() / (self.n_known() as f64 * self.shown[class]),
        };
        // A class that nothing has been shown of divides by 0, and is not met here.
        (0..self.n_classes()).map(|class| self.settings.rate * raise(class).min(MAX_RAISE)).collect()
    }
}

/// A bag on its way to the trees.
struct Showing<'a> {
    bag: Bag<'a>,
    told: &'a Told,
    /// How often an instance of each class is shown.
    samplers: Vec<Poisson>,
    growing: Growing,
    ranges: Option<&'a Ranges>,
    seed: u64,
    idx: u64,
}

impl Showing<'_> {
    fn to(&self, tree: &mut OnlineTree, tree_idx: u64) {
        let idx = self.idx << TREE_BITS | tree_idx;
        let mut rng = stream(self.seed, "online tree", idx);
        let mut label_rng = stream(self.seed, "online labels", idx);
        for (instance_idx, instance) in self.bag.instances().enumerate() {
            let class = match self.told {
                Told::Class(class) => *class,
                Told::Distributions(distributions) => {
                    pick(distributions.column(instance_idx).as_slice(), label_rng.random()) as usize
                }
            };
            let times = self.samplers[class].at(rng.random());
            if times > 0.0 {
                tree.learn(instance, class, times, &self.growing, self.ranges, &mut rng);
            }
        }
    }
}

/// The Poisson distribution, as the number of times that online bagging shows an instance to a tree.
struct Poisson {
    rate: f64,
    /// $e^{-\lambda}$, the probability of 0.
    none: f64,
}

impl Poisson {
    fn new(rate: f64) -> Poisson {
        Poisson { rate, none: (-rate).exp() }
    }

    /// The number whose part of the unit interval a number lies in.
    fn at(&self, at: f64) -> f64 {
        let (mut number, mut p, mut upto) = (0.0, self.none, self.none);
        // Past the mode, parts that no longer add up end it.
        while at >= upto && (number < self.rate || upto + p > upto) {
            number += 1.0;
            p *= self.rate / number;
            upto += p;
        }
        number
    }
}

impl<Y: ForestLabel> BagModel<Y> for OnlineForestStream<Y> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn score(&self, bag: Bag<'_>) -> Result<Y::Score, ScoreError> {
        self.pooled_posteriors(bag).map(Y::score)
    }

    fn instance_scores(&self, bag: Bag<'_>) -> Result<Option<Vec<Y::Score>>, ScoreError> {
        let posteriors = self.instance_posteriors(bag)?;
        Ok(Some(posteriors.as_slice().chunks_exact(self.n_classes()).map(|p| Y::score(p.to_vec())).collect()))
    }

    fn scores<Z: BagLabel>(&self, bags: &BagSet<Z>) -> Result<Vec<Y::Score>, ScoreError> {
        bags.bag(0).require_features(self.n_features)?;
        let posteriors = self.posteriors(bags.instances().as_slice());
        let n_classes = self.n_classes();
        let score = |bag_idx| {
            let columns = bags.columns_of(bag_idx);
            Y::score(self.pool(&posteriors.as_slice()[columns.start * n_classes..columns.end * n_classes]))
        };
        Ok((0..bags.n_bags()).map(score).collect())
    }
}

impl<Y: ForestLabel> OnlineLearner<Y> for OnlineForestStream<Y> {
    /// Learns from one bag, which is not needed afterwards.
    ///
    /// # Errors
    /// If the bag has another dimension than the stream, or its class is none of those that the stream began with. Nothing has changed then.
    fn update(&mut self, bag: Bag<'_>, label: Y) -> Result<(), ScoreError> {
        bag.require_features(self.n_features)?;
        let (class_idx, n_classes) = (label.class_idx(), self.n_classes());
        if class_idx >= n_classes {
            return Err(ScoreError::UnknownClass { name: bag.name().to_owned(), class_idx, n_classes });
        }
        self.learn(bag, label);
        Ok(())
    }
}

impl<Y: ForestLabel> SavedModel for OnlineForestStream<Y> {
    fn kind() -> String {
        match Y::fixed_class_names() {
            Some(_) => "online forest".to_owned(),
            None => "online forest of classes".to_owned(),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let n_classes = self.n_classes();
        if Y::fixed_class_names().is_some_and(|names| names.len() != n_classes) {
            return Err("the number of classes is not that of the labels");
        }
        let Ok(growing) = self.settings.check(self.n_features, n_classes) else {
            return Err("a setting is out of its range");
        };
        if self.trees.len() != self.settings.n_trees {
            return Err("the number of trees differs from the setting");
        }
        let n_bags = self.n_bags_of.iter().try_fold(0u64, |sum, n| sum.checked_add(*n));
        let counts = [n_bags.unwrap_or(u64::MAX), self.n_instances, self.n_showings];
        if counts.into_iter().any(|count| count > MAX_COUNT) {
            return Err("no stream has lasted so long");
        }
        if n_bags.is_none_or(|n_bags| n_bags > self.n_instances) || (self.n_instances > 0) != (n_bags > Some(0)) {
            return Err("the numbers of bags and instances do not agree");
        }
        if !self.ranges.are_sound(self.n_features, self.n_instances > 0) {
            return Err("the ranges of the features are not sound");
        }
        let known: Vec<bool> = self.n_bags_of.iter().map(|n| *n > 0).collect();
        let shown_holds =
            |(shown, known): (&f64, &bool)| (0.0..=MAX_COUNT as f64).contains(shown) && (*known || *shown == 0.0);
        if self.shown.len() != n_classes || !self.shown.iter().zip(&known).all(shown_holds) {
            return Err("the numbers of instances shown are not sound");
        }
        self.trees.iter().try_for_each(|tree| tree.check(&growing, self.n_features, &known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cooling, OnlineForest, OnlineMiForest};
    use mil_core::{ClassId, Label};

    /// A bag of 1 to 5 instances in three dimensions; the class moves the first feature of the first.
    fn values(bag_idx: u64, class: usize) -> Vec<f64> {
        let mut rng = stream(7, "bag", bag_idx);
        let mut values: Vec<f64> = (0..3 * rng.random_range(1..=5)).map(|_| rng.random()).collect();
        values[0] += class as f64;
        values
    }

    fn feed<Y: ForestLabel>(stream: &mut OnlineForestStream<Y>, bags: std::ops::Range<u64>, label: impl Fn(u64) -> Y) {
        for bag_idx in bags {
            let values = values(bag_idx, label(bag_idx).class_idx());
            stream.update(Bag::new("", 3, &values).unwrap(), label(bag_idx)).unwrap();
            assert_eq!(stream.check(), Ok(()));
        }
    }

    fn sign(bag_idx: u64) -> Label {
        if bag_idx.is_multiple_of(2) { Label::Positive } else { Label::Negative }
    }

    fn small() -> OnlineMiForest {
        OnlineMiForest { n_trees: 5, n_naive: 2, n_ranging: 5, min_seen: 4, ..OnlineMiForest::default() }
    }

    #[test]
    fn a_stream_that_began_just_now_answers_even_odds() {
        let values = [0.5, 0.5, 0.5];
        let bag = Bag::new("", 3, &values).unwrap();
        assert_eq!(OnlineForest::default().stream(3).unwrap().score(bag), Ok(0.0));
        let mut classes = OnlineForest::default().stream_of_classes(3, 4).unwrap();
        assert_eq!(classes.score(bag), Ok(vec![0.25; 4]));
        classes.update(bag, ClassId(2)).unwrap();
        assert_eq!(classes.score(bag), Ok(vec![0.0, 0.0, 1.0, 0.0]));
    }

    #[test]
    fn classes_without_bags_have_no_posterior() {
        let mut stream = small().stream_of_classes(3, 4).unwrap();
        feed(&mut stream, 0..60, |bag_idx| ClassId(if bag_idx.is_multiple_of(3) { 1 } else { 3 }));
        assert!(stream.n_leaves() > 2 * stream.n_trees());
        for bag_idx in 0..20 {
            let values = values(bag_idx, 0);
            let posteriors = stream.posteriors(&values);
            assert!(posteriors.row(0).iter().chain(posteriors.row(2).iter()).all(|p| *p == 0.0));
        }
    }

    #[test]
    fn rates_even_out_the_classes() {
        let mut stream = OnlineForest { rate: 0.5, ..OnlineForest::default() }.stream(1).unwrap();
        stream.n_bags_of = vec![1, 1];
        stream.shown = vec![30.0, 10.0];
        let rates = stream.rates(1);
        assert_eq!(rates, [0.5 * 40.0 / 60.0, 0.5 * 40.0 / 20.0]);
        stream.shown = vec![1e6, 1.0];
        assert_eq!(stream.rates(1)[1], 0.5 * MAX_RAISE);
        stream.settings.weighting = Weighting::Bags;
        stream.n_instances = 12;
        assert_eq!(stream.rates(3), [1.0; 2]);
        stream.settings.weighting = Weighting::Instances;
        assert_eq!(stream.rates(3), [0.5; 2]);
    }

    #[test]
    fn poisson_numbers_have_their_probabilities() {
        for rate in [1e-3, 0.5, 1.0, 7.0, 100.0] {
            let poisson = Poisson::new(rate);
            let n = 200_000;
            let numbers: Vec<f64> = (0..n).map(|i| poisson.at((f64::from(i) + 0.5) / f64::from(n))).collect();
            let mean = numbers.iter().sum::<f64>() / f64::from(n);
            let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean / rate - 1.0).abs() < 0.01 && (variance / rate - 1.0).abs() < 0.01, "{mean} {variance}");
            // The largest number below 1 ends too.
            assert!(poisson.at(1.0 - f64::EPSILON / 2.0) < 10.0 * rate + 30.0);
        }
    }

    #[test]
    fn the_witness_is_certain_and_unknown_classes_impossible() {
        let mut stream = small().stream_of_classes(3, 3).unwrap();
        feed(&mut stream, 0..30, |bag_idx| ClassId(2 * u32::from(bag_idx.is_multiple_of(2))));
        let values: Vec<f64> = (30..36).flat_map(|bag_idx| values(bag_idx, 0)).collect();
        let bag = Bag::new("", 3, &values).unwrap();
        let distributions = stream.anneal(bag, 2, Loss::Hinge, 0.1);
        assert!(distributions.column_iter().any(|column| column.as_slice() == [0.0, 0.0, 1.0]));
        assert!(distributions.row(1).iter().all(|p| *p == 0.0));
        assert!(distributions.column_iter().all(|column| (column.sum() - 1.0).abs() < 1e-12));
    }

    #[test]
    fn a_bag_is_shown_once_for_each_temperature_after_the_naive_start() {
        let cooling = Cooling::From { start: 1.0, cooling: 0.5, end: 0.3 };
        let mut stream = OnlineMiForest { cooling, ..small() }.stream(3).unwrap();
        let values = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        let (pair, single) = (Bag::new("", 3, &values).unwrap(), Bag::new("", 3, &values[..3]).unwrap());
        let mut showings = Vec::new();
        for (bag, label) in [
            (pair, Label::Positive),
            (pair, Label::Positive),
            (pair, Label::Positive),
            (single, Label::Positive),
            (pair, Label::Negative),
        ] {
            let before = stream.n_showings;
            stream.update(bag, label).unwrap();
            showings.push(stream.n_showings - before);
        }
        assert_eq!(showings, [1, 1, 2, 1, 1]);
    }

    #[test]
    fn a_stream_that_is_not_whole_is_refused() {
        let mut whole = small().stream(3).unwrap();
        feed(&mut whole, 0..40, sign);
        type Mutation = fn(&mut OnlineForestStream<Label>);
        let mutations: [(&str, Mutation); 21] = [
            ("no feature", |s| s.n_features = 0),
            ("a feature too many", |s| s.n_features += 1),
            ("a tree too few", |s| drop(s.trees.pop())),
            ("no tree", |s| {
                s.trees.clear();
                s.settings.n_trees = 0;
            }),
            ("another tree", |s| s.trees[0] = OnlineTree::seedling(3)),
            ("a class too many", |s| s.n_bags_of.push(0)),
            ("no class", |s| s.n_bags_of.clear()),
            ("bags without instances", |s| s.n_instances = 0),
            ("bags beyond counting", |s| s.n_bags_of = vec![u64::MAX, u64::MAX]),
            ("instances beyond counting", |s| s.n_instances = u64::MAX),
            ("showings beyond counting", |s| s.n_showings = u64::MAX),
            ("a forgotten class", |s| s.n_bags_of[0] = 0),
            ("a number too few", |s| s.shown.truncate(1)),
            ("a number that is none", |s| s.shown[0] = f64::NAN),
            ("a negative number", |s| s.shown[0] = -1.0),
            ("no ranges", |s| s.ranges = Ranges::new(3)),
            ("a rule out of range", |s| s.settings.rule = BagRule::TopMean { k: 0 }),
            ("a rate that is no number", |s| s.settings.rate = f64::NAN),
            ("no gain needed", |s| s.settings.min_gain = 0.0),
            ("another number of tests", |s| s.settings.n_tests = crate::TestCount::Number(1)),
            ("endless cooling", |s| {
                let endless = Cooling::From { start: 1.0, cooling: 1e-6, end: 1e-6 };
                s.settings.labelling = Labelling::Annealed { loss: Loss::Hinge, cooling: endless, n_naive: 0 };
            }),
        ];
        for (what, mutate) in mutations {
            let mut stream = whole.clone();
            mutate(&mut stream);
            assert!(stream.check().is_err(), "{what}");
        }
        assert_eq!(whole.check(), Ok(()));
    }
}
