//! MIForest: a random forest that anneals the labels of instances.
//!
//! Leistner, Saffari & Bischof, *MIForests: Multiple-Instance Learning with Randomized Trees*, ECCV 2010. The labels of the instances and the forest together minimise
//!
//! $$ \sum_{i,j}\ell(F_{y_i^j}(x_i^j)) \quad\text{such that each bag has an instance of its label} $$
//!
//! (eq. 1). Algorithm 1 begins with the labels of the bags. Then, while it cools, it alternates between the distribution $p^*$ over labels for a given forest ([`annealed`](crate::annealed)) and a forest for given labels, where
//! every tree draws its own from $p^*$ and, so that no bag is without a witness, takes the instance of the largest $p^*$ of the bag's label as one. In two classes only positive bags hide labels; in many, each bag hides which of its
//! instances its class is about, and the others may be of any.
//!
//! Cost: a forest for each epoch, on ranks that are computed once.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, witness_of};
//! use mil_forest::MiForest;
//! let mut builder = BagSet::builder();
//! for i in 0..20 {
//!     let x = f64::from(i) / 20.0;
//!     builder.bag(format!("p{i}"), Label::Positive, [[x, 1.0 - x], [x, 0.2], [3.0 + x, x]])?; // one instance in three tells
//!     builder.bag(format!("n{i}"), Label::Negative, [[x, x], [1.0 - x, 0.5], [x, 0.9]])?;
//! }
//! let bags = builder.build()?;
//! let (model, trace) = MiForest::default().fit_traced(&bags)?;
//! assert_eq!(witness_of(&model, bags.bag(0))?, Some(2));
//! assert!(trace.epochs[0].temperature < 1.0 && trace.epochs[0].entropy > 0.0);
//! assert!(model.score(bags.bag(0))? > 0.0 && model.score(bags.bag(1))? < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where we leave the paper
//!
//! Deviation: the entropy's sign in eqs. 4 and 8, see [`annealed`](crate::annealed). Line 12's $f_m$ is the tree $f_t$ of the inner loop.
//!
//! Choice: the loss is the hinge on $F$. Each tree is grown on a fresh bootstrap sample in every epoch.
//!
//! Choice: the end of cooling, which the paper does not state. It matters more than all else: the forest is asked about instances that it was grown on, so each epoch confirms the one before, and long cooling hardens its errors.

use mil_core::{BagSet, FitError, Label, Learner, ParamRange, Params, Tunable, argmax, stream};
use nalgebra::DMatrix;
use rand::RngExt;
use rayon::prelude::*;

use crate::annealing::{Loss, temperatures};
use crate::columns::Columns;
use crate::forest::Forest;
use crate::model::ForestModel;
use crate::params::forest_params;
use crate::task::{ForestLabel, Task};

forest_params! {
    /// The MIForest learner, for two classes or many. The defaults are the paper's 50 trees of depth 20 and its schedule $e^{-t/2}$.
    pub struct MiForest {
        loss: Loss = Loss::Hinge, ParamRange::Any, "The loss of a label, given the forest's confidence in it.";
        start_temperature: f64 = 1.0, ParamRange::UpTo(0.0, 1e100), "The temperature T0 that the first epoch is cooled from.";
        cooling: f64 = 0.5, ParamRange::Within(1e-6, 1e6), "C of the temperatures T0 exp(-t C) of epochs t = 1, 2, and so on.";
        end_temperature: f64 = 0.5, ParamRange::Above(0.0), "No epoch is colder.";
        max_epochs: usize = 1000, ParamRange::Within(0.0, 1e6), "Epochs, at most.";
        settled: f64 = 0.0, ParamRange::Within(0.0, 1.0), "Probability that changes between two epochs, a mean over the instances, below which it ends; 0 for never.";
    }
}

/// How a fit went, epoch by epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct MiForestTrace {
    /// One for each epoch.
    pub epochs: Vec<Epoch>,
    /// Why it ended.
    pub stop: Stop,
}

/// What one epoch came to. Sums are over the instances of bags that hide labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// The temperature $T$.
    pub temperature: f64,
    /// The objective $\mathcal L_{\mathrm{DA}}$ of $p^*$ and the forest that it was computed from: the least that any distribution has.
    pub objective: f64,
    /// That of the same $p^*$ and the forest grown on labels drawn from it.
    pub objective_after: f64,
    /// The entropy $\sum_iH(p_i)$ in nats.
    pub entropy: f64,
    /// The sum of the probabilities that instances are of their bag's class.
    pub expected_members: f64,
    /// Probability that moved from one label to another since the epoch before, a mean over the instances; since the labels of the bags in the first.
    pub change: f64,
    /// Instances that hide their label.
    pub n_hidden: usize,
}

/// Why an annealing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The next epoch would be colder than the end.
    Cooled,
    /// There have been as many epochs as allowed.
    EpochLimit,
    /// The distribution no longer changes.
    Settled,
    /// No bag hides anything: every instance of those that could is alone in its bag.
    NothingHidden,
}

impl MiForest {
    /// Fits, and tells how it went.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit).
    pub fn fit_traced<Y: ForestLabel>(&self, bags: &BagSet<Y>) -> Result<(ForestModel<Y>, MiForestTrace), FitError> {
        let params = self.check()?;
        Y::require_classes(bags)?;
        let task = Task::new(bags, params.weighting);
        let columns = Columns::new(bags.instances(), params.resolution)?;
        let growth = params.growth(bags.n_features());
        let hidden = Hidden::of(&task);
        let (mut forest, mut drawn) = Forest::grow(&columns, &task.sample(), &growth)?;
        let mut trace = MiForestTrace { epochs: Vec::new(), stop: Stop::Cooled };
        if hidden.bag_idxs.is_empty() {
            trace.stop = Stop::NothingHidden;
            return Ok((ForestModel::new(&task, forest, &drawn, params.rule, params.sampling), trace));
        }
        let mut labels = hidden.certain();
        for temperature in temperatures(params.start_temperature, params.cooling, params.end_temperature) {
            if trace.epochs.len() == params.max_epochs {
                trace.stop = Stop::EpochLimit;
                break;
            }
            let next = hidden.anneal(&forest, params.loss, temperature);
            let change = hidden.change(&labels, &next);
            labels = next;
            if change < params.settled {
                trace.stop = Stop::Settled;
                break;
            }
            let witnesses = hidden.witnesses(&labels);
            let generation = trace.epochs.len() as u64 + 1;
            let relabel = |tree_idx| Some(hidden.draw(&labels, &witnesses, params.seed, tree_idx));
            (forest, drawn) = Forest::grow_with(&columns, &task.sample(), &growth, generation, relabel);
            trace.epochs.push(Epoch {
                temperature,
                objective: labels.loss - temperature * labels.entropy,
                objective_after: hidden.loss(&labels, &forest, params.loss) - temperature * labels.entropy,
                entropy: labels.entropy,
                expected_members: hidden.expected_members(&labels),
                change,
                n_hidden: hidden.n_instances(),
            });
        }
        Ok((ForestModel::new(&task, forest, &drawn, params.rule, params.sampling), trace))
    }
}

/// The bags of a task that hide labels, and where their instances are.
struct Hidden<'a, Y> {
    task: &'a Task<'a, Y>,
    bag_idxs: Vec<usize>,
}

/// A distribution over labels for each instance of a task.
struct Labels {
    /// Classes × instances. Those of instances that hide nothing are not read.
    distributions: DMatrix<f64>,
    /// $\sum_{i,j,k}p_{ij}(k)\,\ell(F_k(x_i^j))$.
    loss: f64,
    entropy: f64,
}

impl<'a, Y: ForestLabel> Hidden<'a, Y> {
    /// A bag of one instance that could hide something hides nothing.
    fn of(task: &'a Task<'a, Y>) -> Hidden<'a, Y> {
        let hides =
            |bag_idx: &usize| task.bags.labels()[*bag_idx].is_hidden() && task.bags.bag(*bag_idx).n_instances() > 1;
        Hidden { task, bag_idxs: (0..task.bags.n_bags()).filter(hides).collect() }
    }

    fn n_classes(&self) -> usize {
        self.task.classes.len()
    }

    /// The instances that hide their labels, bag after bag.
    fn instances(&self) -> impl Iterator<Item = usize> + '_ {
        self.bag_idxs.iter().flat_map(|bag_idx| self.task.bags.columns_of(*bag_idx))
    }

    fn n_instances(&self) -> usize {
        self.instances().count()
    }

    /// Line 1: the labels of the bags.
    fn certain(&self) -> Labels {
        let mut distributions = DMatrix::zeros(self.n_classes(), self.task.labels.len());
        for idx in self.instances() {
            distributions[(self.task.labels[idx] as usize, idx)] = 1.0;
        }
        Labels { distributions, loss: 0.0, entropy: 0.0 }
    }

    /// Line 7: $p^*$ of each instance.
    fn anneal(&self, forest: &Forest, loss: Loss, temperature: f64) -> Labels {
        let mut distributions = self.posteriors(forest);
        let n_classes = self.n_classes();
        let parts: Vec<(f64, f64)> = distributions
            .as_mut_slice()
            .par_chunks_mut(n_classes)
            .map(|posterior| loss.anneal(posterior, temperature))
            .collect();
        let (mut total_loss, mut entropy) = (0.0, 0.0);
        for idx in self.instances() {
            total_loss += parts[idx].0;
            entropy += parts[idx].1;
        }
        Labels { distributions, loss: total_loss, entropy }
    }

    fn posteriors(&self, forest: &Forest) -> DMatrix<f64> {
        forest.posteriors(self.task.bags.instances().as_slice())
    }

    /// $\sum_{i,j,k}p_{ij}(k)\,\ell(F_k(x_i^j))$ of another forest.
    fn loss(&self, labels: &Labels, forest: &Forest, loss: Loss) -> f64 {
        let mut losses = self.posteriors(forest);
        losses.as_mut_slice().par_chunks_mut(self.n_classes()).for_each(|posterior| loss.of(posterior));
        self.instances().map(|idx| labels.distributions.column(idx).dot(&losses.column(idx))).sum()
    }

    /// Half the sum of differences, a mean over the instances.
    fn change(&self, before: &Labels, after: &Labels) -> f64 {
        let distance = |idx| 0.5 * (before.distributions.column(idx) - after.distributions.column(idx)).lp_norm(1);
        self.instances().map(distance).sum::<f64>() / self.n_instances() as f64
    }

    fn expected_members(&self, labels: &Labels) -> f64 {
        self.instances().map(|idx| labels.distributions[(self.task.labels[idx] as usize, idx)]).sum()
    }

    /// Line 10: the instance of the largest $p^*$ of the bag's class, the first on ties.
    fn witnesses(&self, labels: &Labels) -> Vec<usize> {
        let witness = |bag_idx: &usize| {
            let columns = self.task.bags.columns_of(*bag_idx);
            let class = self.task.bag_classes[*bag_idx] as usize;
            let of_class: Vec<f64> = columns.clone().map(|idx| labels.distributions[(class, idx)]).collect();
            columns.start + argmax(&of_class)
        };
        self.bag_idxs.iter().map(witness).collect()
    }

    /// Lines 9 and 10: labels for one tree.
    fn draw(&self, labels: &Labels, witnesses: &[usize], seed: u64, tree_idx: u64) -> Vec<u32> {
        let mut rng = stream(seed, "labels", tree_idx);
        let mut drawn = self.task.labels.clone();
        for idx in self.instances() {
            drawn[idx] = pick(labels.distributions.column(idx).as_slice(), rng.random());
        }
        for witness in witnesses {
            drawn[*witness] = self.task.labels[*witness];
        }
        drawn
    }
}

/// The class in whose part of the unit interval a number lies.
pub(crate) fn pick(distribution: &[f64], at: f64) -> u32 {
    let mut left = at;
    for (class, p) in distribution.iter().enumerate() {
        if left < *p {
            return class as u32;
        }
        left -= p;
    }
    // Rounding has left a little; the last class that can be has it.
    distribution.iter().rposition(|p| *p > 0.0).expect("a distribution") as u32
}

impl<Y: ForestLabel> Learner<Y> for MiForest {
    type Model = ForestModel<Y>;

    fn fit(&self, bags: &BagSet<Y>) -> Result<ForestModel<Y>, FitError> {
        self.fit_traced(bags).map(|(model, _)| model)
    }
}

/// Nothing that folds share is worth keeping: ranks of part of the instances are others than those of all.
impl Tunable for MiForest {
    type Values<'a> = ();

    fn shares_values(&self, _: &MiForest) -> bool {
        true
    }

    fn values(&self, _: &BagSet<Label>) -> Result<(), FitError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Weighting;
    use mil_core::{ClassId, ClassNames};

    fn toy() -> BagSet<Label> {
        let mut builder = BagSet::builder();
        builder.bag("p", Label::Positive, [[0.0], [1.0], [2.0]]).unwrap();
        builder.bag("n", Label::Negative, [[3.0], [4.0]]).unwrap();
        builder.bag("alone", Label::Positive, [[5.0]]).unwrap();
        builder.build().unwrap()
    }

    fn labels(columns: [[f64; 2]; 6]) -> Labels {
        Labels { distributions: DMatrix::from_fn(2, 6, |class, idx| columns[idx][class]), loss: 0.0, entropy: 0.0 }
    }

    #[test]
    fn trees_draw_labels_from_the_distribution_and_spare_witness_and_certain_ones() {
        let bags = toy();
        let task = Task::new(&bags, Weighting::Instances);
        let hidden = Hidden::of(&task);
        assert_eq!((hidden.bag_idxs.as_slice(), hidden.n_instances()), (&[0][..], 3));
        let even = [0.5, 0.5];
        let labels = labels([[0.75, 0.25], [0.6, 0.4], [1.0, 0.0], even, even, even]);
        let witnesses = hidden.witnesses(&labels);
        assert_eq!(witnesses, [1]);
        let mut counts = [0; 6];
        for tree_idx in 0..4000 {
            let drawn = hidden.draw(&labels, &witnesses, 0, tree_idx);
            drawn.iter().zip(&mut counts).for_each(|(label, count)| *count += label);
        }
        // The witness always, the negative bag never, the lone instance always, the others by their probability.
        assert_eq!((counts[1], counts[2], counts[3], counts[4], counts[5]), (4000, 0, 0, 0, 4000));
        assert!((900..1100).contains(&counts[0]), "{}", counts[0]);
    }

    #[test]
    fn the_first_of_tied_instances_is_the_witness() {
        let bags = toy();
        let task = Task::new(&bags, Weighting::Instances);
        let even = [0.5, 0.5];
        assert_eq!(Hidden::of(&task).witnesses(&labels([even; 6])), [0]);
    }

    /// `witness` of `fixtures/golden/annealing.json`.
    #[test]
    fn witnesses_of_two_classes_that_both_hide_agree() {
        let mut builder = BagSet::builder_of_classes(ClassNames::new(["0", "1"]));
        builder.bag("0", ClassId(1), [[0.0], [1.0]]).unwrap().bag("1", ClassId(0), [[2.0], [3.0], [4.0]]).unwrap();
        let bags = builder.build().unwrap();
        let task = Task::new(&bags, Weighting::Instances);
        let of_first =
            [0.935_030_830_871_336, 0.5, 0.208_608_527_326_044_98, 0.034_445_195_666_211_18, 0.466_715_961_748_868_65];
        let distributions =
            DMatrix::from_fn(2, 5, |class, idx| if class == 0 { of_first[idx] } else { 1.0 - of_first[idx] });
        let labels = Labels { distributions, loss: 0.0, entropy: 0.0 };
        assert_eq!(Hidden::of(&task).witnesses(&labels), [1, 4]);
    }

    #[test]
    fn a_draw_at_the_very_end_of_the_interval_is_a_class_that_can_be() {
        assert_eq!(pick(&[0.5, 0.5 - 1e-17, 0.0], 1.0 - f64::EPSILON / 2.0), 1);
        assert_eq!((pick(&[0.25, 0.75], 0.2), pick(&[0.25, 0.75], 0.25)), (0, 1));
    }
}
