//! How a tree grows.
//!
//! From the root down, a node that is neither pure nor at the depth limit draws a number of tests and keeps the one whose children are purest; it is a leaf where no test gains anything (MIForests, §2). With $w_k$ the weight of class
//! $k$ in a node and $w = \sum_k w_k$, purity is measured by
//!
//! $$ S_{\text{entropy}} = \sum_k w_k\ln w_k - w\ln w = -w\,H, \qquad S_{\text{Gini}} = \sum_k w_k^2/w = w\,(1-G), $$
//!
//! and the gain of a test is $S(\text{left})+S(\text{right})-S(\text{node})$, at least 0.
//!
//! A node of $n$ instances spends $O(n)$ a feature: its codes ([`Columns`]) go into a histogram where they lie close, and are sorted where they do not.

use std::rc::Rc;

use mil_core::Rng;
use rand::RngExt;

use crate::columns::{Codes, Columns, Feature};
use crate::params::{Criterion, Growth, Tests};
use crate::sweep::{Entropy, Gini, Measure, Sides, Sweep};
use crate::tree::{Planes, Tree, projection};

/// A tree with what its growth tells.
pub(crate) struct Grown {
    pub(crate) tree: Tree,
    /// The gain of the tests on each feature, for the weight of all instances.
    pub(crate) gains: Vec<f64>,
}

/// An instance that takes part in the growth of a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) idx: u32,
    pub(crate) class: u32,
    pub(crate) weight: f64,
}

/// Grows a tree on these instances, which are in the order of their positions. `integral` says that all weights are integers.
pub(crate) fn grow(
    columns: &Columns<'_>,
    items: Vec<Item>,
    n_classes: usize,
    integral: bool,
    growth: &Growth,
    rng: Rng,
) -> Grown {
    match growth.criterion {
        Criterion::Gini => Grower::new(columns, items, n_classes, Gini, growth, rng).grow(),
        Criterion::Entropy => {
            let total: f64 = items.iter().map(|item| item.weight).sum();
            let measure = if integral { Entropy::of_integers(total) } else { Entropy::default() };
            Grower::new(columns, items, n_classes, measure, growth, rng).grow()
        }
    }
}

/// Share of the node's score that a gain must exceed, so that rounding is none.
const LEAST_GAIN: f64 = 1e-12;
/// How many times more codes than instances a histogram may span before sorting is cheaper.
const SPARSE: usize = 4;
/// Pairs of instances drawn in search of two that differ, before a threshold is drawn between the ends.
const MAX_DRAWS: usize = 20;
/// Nodes this small are always sorted.
const SMALL: usize = 12;

/// A test that a node might use.
#[derive(Debug, Clone, Copy)]
struct Split {
    score: f64,
    test: Test,
}

#[derive(Debug, Clone, Copy)]
enum Test {
    /// Codes up to this one of a feature go to the first child.
    Code { feature: u32, last_code: u32, threshold: f64 },
    /// So do values of the plane that has just been drawn up to this one.
    Plane { threshold: f64 },
}

/// A node that waits for its turn: its items, its depth, and the classes that its items count theirs among.
struct Task {
    node_idx: usize,
    start: usize,
    end: usize,
    depth: usize,
    classes: Rc<[u32]>,
}

struct Grower<'a, M> {
    columns: &'a Columns<'a>,
    n_classes: usize,
    measure: M,
    growth: &'a Growth,
    rng: Rng,
    tree: Tree,
    gains: Vec<f64>,
    items: Vec<Item>,
    /// The features that vary at all, in an order that each node reshuffles from the front.
    features: Vec<u32>,
    scratch: Scratch,
}

/// Room that all nodes use in turn.
#[derive(Default)]
struct Scratch {
    items: Vec<Item>,
    codes: Vec<u32>,
    values: Vec<f64>,
    histogram: Vec<f64>,
    keys: Vec<u64>,
    left: Vec<f64>,
    sides: Vec<Sides>,
    plane: (Vec<u32>, Vec<f64>),
    best_plane: (Vec<u32>, Vec<f64>),
}

impl<'a, M: Measure> Grower<'a, M> {
    fn new(
        columns: &'a Columns<'a>,
        items: Vec<Item>,
        n_classes: usize,
        measure: M,
        growth: &'a Growth,
        rng: Rng,
    ) -> Self {
        let features: Vec<u32> =
            (0..columns.n_features() as u32).filter(|feature| columns.feature(*feature as usize).varies()).collect();
        let planes = match growth.tests {
            Tests::Hyperplane(n_terms) => Some(Planes::new(n_terms.min(features.len()).max(1))),
            Tests::Best | Tests::Random | Tests::Uniform => None,
        };
        Grower {
            columns,
            n_classes,
            measure,
            growth,
            rng,
            tree: Tree::seedling(planes),
            gains: vec![0.0; columns.n_features()],
            items,
            features,
            scratch: Scratch::default(),
        }
    }

    fn grow(mut self) -> Grown {
        let classes = (0..self.n_classes as u32).collect();
        let mut tasks = vec![Task { node_idx: 0, start: 0, end: self.items.len(), depth: 0, classes }];
        while let Some(mut task) = tasks.pop() {
            let weights = self.class_weights(&mut task);
            match self.best_split(&task, &weights) {
                None => self.close(&task, &weights),
                Some(split) => {
                    let middle = self.partition(&task, split.test);
                    let child = self.apply(&task, split, &weights);
                    let depth = task.depth + 1;
                    let classes = task.classes.clone();
                    tasks.push(Task { node_idx: child + 1, start: middle, end: task.end, depth, classes });
                    tasks.push(Task { node_idx: child, end: middle, depth, ..task });
                }
            }
        }
        let total: f64 = self.items.iter().map(|item| item.weight).sum();
        self.gains.iter_mut().for_each(|gain| *gain /= total);
        Grown { tree: self.tree, gains: self.gains }
    }

    /// The weight of each class that the node has. The others are forgotten, and the rest counted anew: of many classes a small node has few.
    fn class_weights(&mut self, task: &mut Task) -> Vec<f64> {
        let items = &mut self.items[task.start..task.end];
        let mut weights = vec![0.0; task.classes.len()];
        items.iter().for_each(|item| weights[item.class as usize] += item.weight);
        if weights.contains(&0.0) {
            let mut positions = Vec::with_capacity(weights.len());
            let mut n_kept = 0;
            for weight in &weights {
                positions.push(n_kept);
                n_kept += u32::from(*weight > 0.0);
            }
            items.iter_mut().for_each(|item| item.class = positions[item.class as usize]);
            let kept = task.classes.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
            task.classes = kept.map(|(class, _)| *class).collect();
            weights.retain(|weight| *weight > 0.0);
        }
        weights
    }

    fn close(&mut self, task: &Task, weights: &[f64]) {
        let total: f64 = weights.iter().sum();
        let mut posterior = vec![0.0; self.n_classes];
        task.classes.iter().zip(weights).for_each(|(class, weight)| posterior[*class as usize] = weight / total);
        self.tree.close(task.node_idx, posterior.into_iter());
    }

    /// $S$ of a node.
    fn score(&self, weights: &[f64]) -> f64 {
        let sum = weights.iter().map(|weight| self.measure.term(*weight)).sum();
        self.measure.close(sum, weights.iter().sum())
    }

    fn best_split(&mut self, task: &Task, weights: &[f64]) -> Option<Split> {
        let is_pure = weights.len() < 2;
        if is_pure || task.depth >= self.growth.max_depth || task.end - task.start < self.growth.min_split {
            return None;
        }
        let score = self.score(weights);
        let best = match self.growth.tests {
            Tests::Best | Tests::Random | Tests::Uniform => self.best_of_features(task, weights),
            Tests::Hyperplane(_) => self.best_of_planes(task, weights),
        };
        best.filter(|split| split.score - score > LEAST_GAIN * score.abs())
    }

    /// Draws features without replacement until enough have been looked at, and at least one of them that is not constant here.
    fn best_of_features(&mut self, task: &Task, weights: &[f64]) -> Option<Split> {
        let mut best: Option<Split> = None;
        let mut varied = false;
        for drawn in 0..self.features.len() {
            if drawn >= self.growth.n_tests && varied {
                break;
            }
            let other = self.rng.random_range(drawn..self.features.len());
            self.features.swap(drawn, other);
            let feature_idx = self.features[drawn];
            let items = &self.items[task.start..task.end];
            let feature = self.columns.feature(feature_idx as usize);
            let found = if self.growth.tests == Tests::Best && suits_histogram(feature.n_codes(), items, weights) {
                best_of_all_codes(&self.measure, items, feature, weights, &mut self.scratch)
            } else {
                let (first, last) = gather(&feature.codes, items, &mut self.scratch.codes);
                match self.growth.tests {
                    _ if first == last => None,
                    Tests::Random | Tests::Uniform => Some(self.random_code(task, feature, (first, last), weights)),
                    _ => Some(best_code(&self.measure, items, feature, (first, last), weights, &mut self.scratch)),
                }
            };
            let Some((score, last_code, threshold)) = found else { continue };
            varied = true;
            if best.is_none_or(|best| score > best.score) {
                best = Some(Split { score, test: Test::Code { feature: feature_idx, last_code, threshold } });
            }
        }
        best
    }

    /// A random threshold of a feature, of the items whose codes have just been gathered: its score, the last code below it, and itself.
    fn random_code(
        &mut self,
        task: &Task,
        feature: &Feature,
        (first, last): (u32, u32),
        weights: &[f64],
    ) -> (f64, u32, f64) {
        let (below, above) = self.two_codes(first, last);
        let at: f64 = self.rng.random();
        let between = feature.low(below) * (1.0 - at) + feature.high(above) * at;
        let (last_code, threshold) = feature.cut(between, first, last);
        let items = &self.items[task.start..task.end];
        let goes_left = self.scratch.codes.iter().map(|code| *code <= last_code);
        let score = score_of(&self.measure, items, goes_left, weights, &mut self.scratch.left);
        (score, last_code, threshold)
    }

    /// The codes that a random threshold lies between: those of two instances of the node that differ, or the ends.
    fn two_codes(&mut self, first: u32, last: u32) -> (u32, u32) {
        let codes = &self.scratch.codes;
        if self.growth.tests == Tests::Random {
            for _ in 0..MAX_DRAWS {
                let [a, b] = [(); 2].map(|()| codes[self.rng.random_range(0..codes.len())]);
                if a != b {
                    return (a.min(b), a.max(b));
                }
            }
        }
        (first, last)
    }

    /// Draws planes over a few features each, weights in $[-1,1]$ of standardised values, with one threshold each in the range of the node's values.
    fn best_of_planes(&mut self, task: &Task, weights: &[f64]) -> Option<Split> {
        let n_terms = self.tree.planes_mut().map_or(0, |planes| planes.n_terms as usize);
        let mut best: Option<Split> = None;
        if self.features.is_empty() {
            return None;
        }
        for _ in 0..self.growth.n_tests {
            let plane = &mut self.scratch.plane;
            plane.0.clear();
            plane.1.clear();
            for term in 0..n_terms {
                let other = self.rng.random_range(term..self.features.len());
                self.features.swap(term, other);
                let feature = self.features[term];
                let deviation = self.columns.feature(feature as usize).deviation;
                let weight = self.rng.random_range(-1.0..=1.0) / deviation;
                plane.0.push(feature);
                plane.1.push(if weight.is_finite() { weight } else { 0.0 });
            }
            let items = &self.items[task.start..task.end];
            let values = &mut self.scratch.values;
            values.clear();
            let instance = |item: &Item| {
                let n_features = self.columns.n_features();
                &self.columns.instances().as_slice()[item.idx as usize * n_features..][..n_features]
            };
            values.extend(items.iter().map(|item| projection(&plane.0, &plane.1, instance(item))));
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let at: f64 = self.rng.random();
            // The threshold lies below the largest value and not below the smallest, so that neither child is empty.
            let threshold = (low * (1.0 - at) + high * at).max(low);
            if !(low.is_finite() && high.is_finite() && low < high) {
                continue;
            }
            let threshold = if threshold < high { threshold } else { low };
            let goes_left = values.iter().map(|value| *value <= threshold);
            let score = score_of(&self.measure, items, goes_left, weights, &mut self.scratch.left);
            if best.is_none_or(|best| score > best.score) {
                best = Some(Split { score, test: Test::Plane { threshold } });
                std::mem::swap(&mut self.scratch.plane, &mut self.scratch.best_plane);
            }
        }
        best
    }

    /// Puts the items of the first child before those of the second, each in their order, and gives the first of the second.
    fn partition(&mut self, task: &Task, test: Test) -> usize {
        let (columns, scratch) = (self.columns, &mut self.scratch);
        let items = &mut self.items[task.start..task.end];
        let n_left = match test {
            Test::Code { feature, last_code, .. } => match &columns.feature(feature as usize).codes {
                Codes::Byte(codes) => {
                    stable_partition(items, &mut scratch.items, |idx| u32::from(codes[idx]) <= last_code)
                }
                Codes::Short(codes) => {
                    stable_partition(items, &mut scratch.items, |idx| u32::from(codes[idx]) <= last_code)
                }
                Codes::Long(codes) => stable_partition(items, &mut scratch.items, |idx| codes[idx] <= last_code),
            },
            Test::Plane { threshold } => {
                let (features, weights) = &scratch.best_plane;
                let (values, n_features) = (columns.instances().as_slice(), columns.n_features());
                let value = |idx: usize| projection(features, weights, &values[idx * n_features..][..n_features]);
                stable_partition(items, &mut scratch.items, |idx| value(idx) <= threshold)
            }
        };
        task.start + n_left
    }

    /// Enters a test in the tree and credits its features with the gain.
    fn apply(&mut self, task: &Task, split: Split, weights: &[f64]) -> usize {
        let gain = split.score - self.score(weights);
        match split.test {
            Test::Code { feature, threshold, .. } => {
                self.gains[feature as usize] += gain;
                self.tree.split(task.node_idx, feature, threshold)
            }
            Test::Plane { threshold } => {
                let (features, weights) = &self.scratch.best_plane;
                for feature in features {
                    self.gains[*feature as usize] += gain / features.len() as f64;
                }
                let planes = self.tree.planes_mut().expect("a plane is drawn for trees that have planes");
                let plane = planes.push(features, weights);
                self.tree.split(task.node_idx, plane, threshold)
            }
        }
    }
}

/// The codes of the items, with the smallest and the largest.
fn gather(codes: &Codes, items: &[Item], out: &mut Vec<u32>) -> (u32, u32) {
    match codes {
        Codes::Byte(codes) => gather_from(codes, items, out),
        Codes::Short(codes) => gather_from(codes, items, out),
        Codes::Long(codes) => gather_from(codes, items, out),
    }
}

fn gather_from<C: Copy + Into<u32>>(codes: &[C], items: &[Item], out: &mut Vec<u32>) -> (u32, u32) {
    out.clear();
    let (mut first, mut last) = (u32::MAX, 0);
    out.extend(items.iter().map(|item| {
        let code = codes[item.idx as usize].into();
        first = first.min(code);
        last = last.max(code);
        code
    }));
    (first, last)
}

/// $S(\text{left})+S(\text{right})$ of a test whose outcome is known for each item.
fn score_of<M: Measure>(
    measure: &M,
    items: &[Item],
    goes_left: impl Iterator<Item = bool>,
    weights: &[f64],
    left: &mut Vec<f64>,
) -> f64 {
    left.clear();
    left.resize(weights.len(), 0.0);
    for (item, goes_left) in items.iter().zip(goes_left) {
        left[item.class as usize] += if goes_left { item.weight } else { 0.0 };
    }
    let sides = left.iter().zip(weights).map(|(left, all)| (*left, all - left));
    let (mut sums, mut totals) = ([0.0; 2], [0.0; 2]);
    for (left, right) in sides {
        sums[0] += measure.term(left);
        sums[1] += measure.term(right);
        totals[0] += left;
        totals[1] += right;
    }
    measure.close(sums[0], totals[0]) + measure.close(sums[1], totals[1])
}

/// Whether a histogram over so many codes costs no more than sorting.
fn suits_histogram(n_codes: usize, items: &[Item], weights: &[f64]) -> bool {
    items.len() > SMALL && n_codes * weights.len() <= SPARSE * items.len()
}

/// The best threshold of a feature, the lowest on ties: its score, the last code below it, and itself. `None` where all items have the same code.
///
/// For a node so large that a histogram over all codes suits it: nothing but the items is looked at, and once.
fn best_of_all_codes<M: Measure>(
    measure: &M,
    items: &[Item],
    feature: &Feature,
    weights: &[f64],
    scratch: &mut Scratch,
) -> Option<(f64, u32, f64)> {
    let histogram = cleared(&mut scratch.histogram, feature.n_codes() * weights.len());
    match &feature.codes {
        Codes::Byte(codes) => fill(histogram, items, weights.len(), |idx| codes[idx].into()),
        Codes::Short(codes) => fill(histogram, items, weights.len(), |idx| codes[idx].into()),
        Codes::Long(codes) => fill(histogram, items, weights.len(), |idx| codes[idx]),
    }
    let mut sweep = Sweep::new(measure, weights, &mut scratch.sides);
    sweep.bars(0, histogram);
    sweep.finish(feature)
}

fn cleared(histogram: &mut Vec<f64>, len: usize) -> &mut [f64] {
    histogram.clear();
    histogram.resize(len, 0.0);
    histogram
}

/// Adds the weights of items to the bars of their codes, a place for each class.
fn fill(histogram: &mut [f64], items: &[Item], n_classes: usize, code: impl Fn(usize) -> u32) {
    for item in items {
        histogram[code(item.idx as usize) as usize * n_classes + item.class as usize] += item.weight;
    }
}

/// As [`best_of_all_codes`], of items whose codes have been gathered and lie in a range.
fn best_code<M: Measure>(
    measure: &M,
    items: &[Item],
    feature: &Feature,
    (first, last): (u32, u32),
    weights: &[f64],
    scratch: &mut Scratch,
) -> (f64, u32, f64) {
    let n_codes = (last - first) as usize + 1;
    let n_classes = weights.len();
    let mut sweep = Sweep::new(measure, weights, &mut scratch.sides);
    if suits_histogram(n_codes, items, weights) {
        let histogram = cleared(&mut scratch.histogram, n_codes * n_classes);
        for (code, item) in scratch.codes.iter().zip(items) {
            histogram[(code - first) as usize * n_classes + item.class as usize] += item.weight;
        }
        sweep.bars(first, histogram);
    } else {
        let keys = &mut scratch.keys;
        keys.clear();
        keys.extend(scratch.codes.iter().enumerate().map(|(position, code)| u64::from(*code) << 32 | position as u64));
        keys.sort_unstable();
        let item = |key: &u64| &items[(key & 0xFFFF_FFFF) as usize];
        for keys in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            let class = item(&keys[0]).class;
            let is_pure = M::IS_DEAR && keys[1..].iter().all(|key| item(key).class == class);
            sweep.arrive((keys[0] >> 32) as u32, is_pure.then_some(class));
            keys.iter().map(item).for_each(|item| sweep.move_left(item.class as usize, item.weight));
        }
    }
    sweep.finish(feature).expect("two codes that differ")
}

/// Items that satisfy the condition first, both parts in their order; the number of those.
fn stable_partition(items: &mut [Item], scratch: &mut Vec<Item>, goes_left: impl Fn(usize) -> bool) -> usize {
    scratch.clear();
    let mut n_left = 0;
    for position in 0..items.len() {
        let item = items[position];
        if goes_left(item.idx as usize) {
            items[n_left] = item;
            n_left += 1;
        } else {
            scratch.push(item);
        }
    }
    items[n_left..].copy_from_slice(scratch);
    n_left
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use proptest::prelude::*;

    use super::*;
    use crate::columns::Resolution;

    /// The largest score of all thresholds, from the definition.
    fn brute_force<M: Measure>(measure: &M, items: &[Item], codes: &[u32], weights: &[f64]) -> f64 {
        let last = *codes.iter().max().unwrap();
        let score = |last_code: u32| {
            score_of(measure, items, codes.iter().map(|code| *code <= last_code), weights, &mut Vec::new())
        };
        let below: std::collections::BTreeSet<u32> = codes.iter().copied().filter(|code| *code < last).collect();
        below.into_iter().map(score).fold(f64::NEG_INFINITY, f64::max)
    }

    fn agrees<M: Measure>(measure: &M, items: &[Item], values: &[f64], n_classes: usize) {
        let matrix = DMatrix::from_row_slice(1, values.len(), values);
        let columns = Columns::new(&matrix, Resolution::Exact).unwrap();
        let feature = columns.feature(0);
        let mut weights = vec![0.0; n_classes];
        items.iter().for_each(|item| weights[item.class as usize] += item.weight);
        let mut scratch = Scratch::default();
        let (first, last) = gather(&feature.codes, items, &mut scratch.codes);
        if first == last || weights.iter().filter(|weight| **weight > 0.0).count() < 2 {
            return;
        }
        let codes = scratch.codes.clone();
        let found = best_code(measure, items, feature, (first, last), &weights, &mut scratch);
        let (score, last_code, threshold) = found;
        if suits_histogram(feature.n_codes(), items, &weights) {
            assert_eq!(best_of_all_codes(measure, items, feature, &weights, &mut scratch), Some(found));
        }
        let best = brute_force(measure, items, &codes, &weights);
        let tolerance = 1e-9 * (1.0 + best.abs());
        assert!((score - best).abs() <= tolerance, "{score}, and not {best}");
        let goes_left = values.iter().map(|value| *value <= threshold);
        assert!((score_of(measure, items, goes_left, &weights, &mut Vec::new()) - best).abs() <= tolerance);
        assert!(codes.iter().zip(values).all(|(code, value)| (*code <= last_code) == (*value <= threshold)));
    }

    proptest! {
        #[test]
        fn no_threshold_beats_the_best_one(
            drawn in prop::collection::vec((0i32..40, 0u32..4, 1u32..30), 2..120),
            n_values in 2i32..40,
            n_classes in 2u32..5,
            follows in any::<bool>(),
        ) {
            let values: Vec<f64> = drawn.iter().map(|(value, ..)| f64::from(value % n_values)).collect();
            let item = |idx: usize, unit: f64| {
                let (_, class, weight) = drawn[idx];
                // Classes that follow the values come in long runs.
                let class = if follows { values[idx] as u32 / 8 } else { class };
                Item { idx: idx as u32, class: class % n_classes, weight: unit * f64::from(weight) }
            };
            let n_classes = n_classes as usize;
            for unit in [1.0, 1.0 / 7.0] {
                let items: Vec<Item> = (0..drawn.len()).map(|idx| item(idx, unit)).collect();
                agrees(&Gini, &items, &values, n_classes);
                agrees(&Entropy::default(), &items, &values, n_classes);
            }
            let items: Vec<Item> = (0..drawn.len()).map(|idx| item(idx, 1.0)).collect();
            agrees(&Entropy::of_integers(4999.0), &items, &values, n_classes);
        }
    }
}
