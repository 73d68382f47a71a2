//! The forest of instances: trees that are grown apart and vote with their posteriors.
//!
//! Breiman, *Random Forests*, Machine Learning 45, 2001. With $p_m(k\mid x)$ the share of class $k$ in the leaf of tree $m$ that $x$ falls into, the forest's posterior is the mean,
//!
//! $$ p(k\mid x)=\frac1M\sum_{m=1}^Mp_m(k\mid x). $$
//!
//! The engine knows instances with labels and weights, and has never heard of what is hidden in a bag. Cost of growing on $n$ instances: one sort per feature for all trees ([`Columns`]), then $O(n)$ a level, tree and test.
//!
//! ```
//! use mil_forest::{Columns, Forest, RandomForest, Resolution, Sample, Sampling};
//! use nalgebra::DMatrix;
//! let instances = DMatrix::from_fn(2, 100, |feature, idx| if feature == 0 { idx as f64 } else { (idx % 7) as f64 });
//! let labels: Vec<u32> = (0..100).map(|idx| u32::from(idx >= 50)).collect();
//! let columns = Columns::new(&instances, Resolution::Exact)?;
//! let growth = RandomForest { sampling: Sampling::Instances, ..RandomForest::default() }.growth(2);
//! let (forest, samples) = Forest::grow(&columns, &Sample { labels: &labels, weights: None, n_classes: 2, offsets: &[] }, &growth)?;
//! assert!(forest.posterior(&[90.0, 3.0])[1] > 0.9);
//! assert!(forest.gains()[0] > forest.gains()[1]);
//! let unseen = forest.out_of_sample_posteriors(&instances, &samples); // each instance by the trees that did not draw it
//! assert!(unseen[10].as_ref().is_some_and(|posterior| posterior[0] > 0.8));
//! # Ok::<(), mil_core::FitError>(())
//! ```

use mil_core::stream;
use nalgebra::DMatrix;
use pulp::Arch;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::columns::Columns;
use crate::descent::{self, BLOCK, Descent, Room};
use crate::error::ForestError;
use crate::grow::{Grown, Item, grow};
use crate::params::{Growth, Sampling};
use crate::tree::Tree;

/// What trees are grown on: a class and a weight for each instance.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The class of each instance, below `n_classes`.
    pub labels: &'a [u32],
    /// The weight of each instance, from 1e-100 to 1e100 and none more than 1e8 times another; all 1 where there are none.
    pub weights: Option<&'a [f64]>,
    /// Number of classes.
    pub n_classes: usize,
    /// Bag `i` owns the instances `offsets[i]..offsets[i + 1]`; only [`Sampling::Bags`] looks at it.
    pub offsets: &'a [usize],
}

/// Trees with what they share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forest {
    n_features: usize,
    n_classes: usize,
    trees: Vec<Tree>,
    /// The mean gain of the tests on each feature.
    gains: Vec<f64>,
}

/// Which instances a tree was grown on, one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn(Vec<u64>);

impl Drawn {
    fn of(counts: &[u32]) -> Drawn {
        let word = |counts: &[u32]| {
            counts.iter().enumerate().fold(0u64, |word, (bit, count)| word | u64::from(*count > 0) << bit)
        };
        Drawn(counts.chunks(64).map(word).collect())
    }

    /// Whether the tree has drawn an instance.
    ///
    /// # Panics
    /// If the position is out of range.
    #[must_use]
    pub fn contains(&self, instance_idx: usize) -> bool {
        self.0[instance_idx / 64] >> (instance_idx % 64) & 1 == 1
    }
}

impl Forest {
    /// Grows a forest, and tells which instances each tree has drawn.
    ///
    /// # Errors
    /// If labels or weights are not one per instance, a parameter of growth is out of range, a label is none of the classes, weights are too large, too small or too far apart, or bags are to be drawn and the offsets do not divide the instances.
    pub fn grow(
        columns: &Columns<'_>,
        sample: &Sample<'_>,
        growth: &Growth,
    ) -> Result<(Forest, Vec<Drawn>), ForestError> {
        growth.check()?;
        check(columns, sample, growth.sampling)?;
        Ok(Forest::grow_with(columns, sample, growth, 0, |_| None))
    }

    /// Grows the forest of a generation, from other draws than those of the generations before. `relabel` may give a tree labels of its own.
    pub(crate) fn grow_with(
        columns: &Columns<'_>,
        sample: &Sample<'_>,
        growth: &Growth,
        generation: u64,
        relabel: impl Fn(u64) -> Option<Vec<u32>> + Sync,
    ) -> (Forest, Vec<Drawn>) {
        let grown: Vec<(Grown, Drawn)> = (0..growth.n_trees as u64)
            .into_par_iter()
            .map(|tree_idx| {
                let tree_idx = generation << 32 | tree_idx;
                let mut rng = stream(growth.seed, "tree", tree_idx);
                let counts = draw(sample, growth.sampling, columns.n_instances(), &mut rng);
                let own = relabel(tree_idx);
                let labels = own.as_deref().unwrap_or(sample.labels);
                let items = items(&counts, labels, sample.weights);
                let grown = grow(columns, items, sample.n_classes, sample.weights.is_none(), growth, rng);
                (grown, Drawn::of(&counts))
            })
            .collect();
        let mut gains = vec![0.0; columns.n_features()];
        for (grown, _) in &grown {
            gains.iter_mut().zip(&grown.gains).for_each(|(sum, gain)| *sum += gain / growth.n_trees as f64);
        }
        let (trees, drawn) = grown.into_iter().map(|(grown, drawn)| (grown.tree, drawn)).unzip();
        (Forest { n_features: columns.n_features(), n_classes: sample.n_classes, trees, gains }, drawn)
    }

    /// Dimension of the instances.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// The trees.
    #[must_use]
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Importance of each feature by impurity: what its tests take off the impurity of all instances, a mean over the trees. Features of many values are favoured; see [`permutation_importance`](mil_core::permutation_importance).
    #[must_use]
    pub fn gains(&self) -> &[f64] {
        &self.gains
    }

    /// $p(k\mid x)$ of one instance.
    ///
    /// # Panics
    /// If the instance has another number of features.
    #[must_use]
    pub fn posterior(&self, instance: &[f64]) -> Vec<f64> {
        assert_eq!(instance.len(), self.n_features, "features of the instance");
        let mut sums = vec![0.0; self.n_classes];
        for tree in &self.trees {
            let posterior = tree.posterior(tree.leaf_of(instance), self.n_classes);
            sums.iter_mut().zip(posterior).for_each(|(sum, p)| *sum += p);
        }
        sums.iter_mut().for_each(|sum| *sum /= self.trees.len() as f64);
        sums
    }

    /// $p(k\mid x)$ of instances laid out one after the other: classes × instances, the same to the bit as one by one.
    ///
    /// # Panics
    /// If the values do not fill the last instance.
    #[must_use]
    pub fn posteriors(&self, values: &[f64]) -> DMatrix<f64> {
        assert!(values.len().is_multiple_of(self.n_features), "values of whole instances");
        let n_instances = values.len() / self.n_features;
        let mut posteriors = DMatrix::zeros(self.n_classes, n_instances);
        if n_instances <= BLOCK {
            self.add_posteriors(values, posteriors.as_mut_slice(), &mut Room::default());
            return posteriors;
        }
        let blocks = posteriors.as_mut_slice().par_chunks_mut(BLOCK * self.n_classes);
        blocks
            .zip(values.par_chunks(BLOCK * self.n_features))
            .for_each_init(Room::default, |room, (sums, values)| self.add_posteriors(values, sums, room));
        posteriors
    }

    /// Makes posteriors of zeros, for a block of instances at most.
    fn add_posteriors(&self, values: &[f64], sums: &mut [f64], room: &mut Room) {
        let Forest { n_features, n_classes, ref trees, .. } = *self;
        if descent::pays(trees, values.len() / n_features, n_features) {
            Arch::new().dispatch(Descent { trees, n_features, n_classes, values, sums, room });
        } else {
            trees.iter().for_each(|tree| tree.add_posteriors(values, n_features, n_classes, sums));
        }
        sums.iter_mut().for_each(|sum| *sum /= trees.len() as f64);
    }

    /// The posterior of each instance by the trees that have not drawn it; `None` where all have.
    ///
    /// # Panics
    /// If the instances are not those that the forest was grown on.
    #[must_use]
    pub fn out_of_sample_posteriors(&self, instances: &DMatrix<f64>, drawn: &[Drawn]) -> Vec<Option<Vec<f64>>> {
        let n_covered = drawn.first().map_or(0, |drawn| 64 * drawn.0.len());
        assert_eq!((instances.nrows(), drawn.len()), (self.n_features, self.trees.len()), "features and trees");
        assert!(
            (n_covered.saturating_sub(63)..=n_covered).contains(&instances.ncols()),
            "instances that were grown on"
        );
        let values = instances.as_slice();
        (0..instances.ncols())
            .into_par_iter()
            .map(|idx| {
                let instance = &values[idx * self.n_features..][..self.n_features];
                let mut sums = vec![0.0; self.n_classes];
                let mut n_trees = 0;
                for (tree, _) in self.trees.iter().zip(drawn).filter(|(_, drawn)| !drawn.contains(idx)) {
                    let posterior = tree.posterior(tree.leaf_of(instance), self.n_classes);
                    sums.iter_mut().zip(posterior).for_each(|(sum, p)| *sum += p);
                    n_trees += 1;
                }
                sums.iter_mut().for_each(|sum| *sum /= f64::from(n_trees));
                (n_trees > 0).then_some(sums)
            })
            .collect()
    }

    /// Whether a forest that was read from a file can be used without harm.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.n_features == 0 || self.n_classes == 0 || self.trees.is_empty() {
            return Err("the forest has no feature, no class or no tree");
        }
        if self.gains.len() != self.n_features || !self.gains.iter().all(|gain| gain.is_finite()) {
            return Err("the gains are not one finite number per feature");
        }
        if !self.trees.iter().all(|tree| tree.is_sound(self.n_features, self.n_classes)) {
            return Err("a tree is not whole");
        }
        Ok(())
    }
}

fn check(columns: &Columns<'_>, sample: &Sample<'_>, sampling: Sampling) -> Result<(), ForestError> {
    let n_instances = columns.n_instances();
    let divides = |offsets: &[usize]| {
        offsets.first() == Some(&0)
            && offsets.last() == Some(&n_instances)
            && offsets.windows(2).all(|pair| pair[0] < pair[1])
    };
    if sampling == Sampling::Bags && !divides(sample.offsets) {
        return Err(ForestError::Offsets { n_instances });
    }
    if sample.labels.len() != n_instances {
        return Err(ForestError::Count { what: "labels", found: sample.labels.len(), expected: n_instances });
    }
    if let Some(instance_idx) = sample.labels.iter().position(|label| *label as usize >= sample.n_classes) {
        let (class, n_classes) = (sample.labels[instance_idx], sample.n_classes);
        return Err(ForestError::Class { instance_idx, class, n_classes });
    }
    let Some(weights) = sample.weights else { return Ok(()) };
    if weights.len() != n_instances {
        return Err(ForestError::Count { what: "weights", found: weights.len(), expected: n_instances });
    }
    if let Some(instance_idx) = weights.iter().position(|weight| !(1e-100..=1e100).contains(weight)) {
        return Err(ForestError::Weight { instance_idx, weight: weights[instance_idx] });
    }
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let most = weights.iter().copied().fold(0.0, f64::max);
    // A sweep takes what it has passed off the whole; what is left must not be rounding.
    if most > 1e8 * least { Err(ForestError::WeightSpread { least, most }) } else { Ok(()) }
}

/// How often each instance is drawn.
fn draw(sample: &Sample<'_>, sampling: Sampling, n_instances: usize, rng: &mut mil_core::Rng) -> Vec<u32> {
    let mut counts = vec![0; n_instances];
    match sampling {
        Sampling::All => counts.fill(1),
        Sampling::Instances => {
            for _ in 0..n_instances {
                counts[rng.random_range(0..n_instances)] += 1;
            }
        }
        Sampling::Bags => {
            let n_bags = sample.offsets.len() - 1;
            for _ in 0..n_bags {
                let bag_idx = rng.random_range(0..n_bags);
                counts[sample.offsets[bag_idx]..sample.offsets[bag_idx + 1]].iter_mut().for_each(|count| *count += 1);
            }
        }
    }
    counts
}

fn items(counts: &[u32], labels: &[u32], weights: Option<&[f64]>) -> Vec<Item> {
    let drawn = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    drawn
        .map(|(idx, count)| {
            let weight = f64::from(*count) * weights.map_or(1.0, |weights| weights[idx]);
            Item { idx: idx as u32, class: labels[idx], weight }
        })
        .collect()
}
