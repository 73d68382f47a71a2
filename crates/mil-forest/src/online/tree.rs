//! A tree that grows while instances come.
//!
//! Every leaf that may still be split holds random tests, with the weight of each class that passed and that did not. Tests are drawn when a leaf meets its first instance, not when it is born: a leaf that nobody visits costs
//! nothing, and the ranges that thresholds are drawn from are those of the day.
//!
//! Layout: nodes as in [`Tree`](crate::Tree); the tests of a leaf lie together in a *plot*, and the weights that passed are class after class, so that an instance touches one run of them. A leaf that is split gives its plot back.

use mil_core::Rng;
use serde::{Deserialize, Serialize};

use super::ranges::Ranges;

/// One tree of an online forest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OnlineTree {
    nodes: Vec<Node>,
    /// The leaf that a node is, [`NONE`] for inner nodes.
    leaf_of_node: Vec<u32>,
    leaves: Vec<Leaf>,
    /// Leaves × classes: what came to the leaf, and what it inherited.
    weights: Vec<f64>,
    /// The leaf that each plot belongs to.
    owners: Vec<u32>,
    /// Plots × tests.
    tests: Vec<Test>,
    /// Plots × classes: what came since the tests were drawn.
    totals: Vec<f64>,
    /// Plots × classes × tests: the part of it that went left.
    left: Vec<f64>,
}

/// An instance goes to the child where the tested feature is at most the threshold, else to the one after it; a leaf is its own child.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Node {
    threshold: f64,
    feature: u32,
    child: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Leaf {
    depth: u32,
    /// Where its tests are, [`NONE`] before they are drawn.
    plot: u32,
}

/// Left where the feature is at most the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Test {
    threshold: f64,
    feature: u32,
}

/// When trees grow, and by what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growing {
    pub(crate) n_classes: usize,
    /// Tests of a leaf.
    pub(crate) n_tests: usize,
    pub(crate) max_depth: usize,
    /// Weight that the tests of a leaf must have seen.
    pub(crate) min_seen: f64,
    /// Gain that the best of them must have, above 0.
    pub(crate) min_gain: f64,
}

/// No leaf, no plot.
const NONE: u32 = u32::MAX;
/// Instances that go down together.
const LANES: usize = 8;
/// No stream has lasted so long.
const MAX_WEIGHT: f64 = 1e16;

impl OnlineTree {
    /// A tree that is one leaf and has seen nothing.
    pub(crate) fn seedling(n_classes: usize) -> OnlineTree {
        OnlineTree {
            nodes: vec![Node::leaf(0)],
            leaf_of_node: vec![0],
            leaves: vec![Leaf { depth: 0, plot: NONE }],
            weights: vec![0.0; n_classes],
            owners: Vec::new(),
            tests: Vec::new(),
            totals: Vec::new(),
            left: Vec::new(),
        }
    }

    pub(crate) fn n_leaves(&self) -> usize {
        self.leaves.len()
    }

    pub(crate) fn depth(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.depth as usize).max().unwrap_or(0)
    }

    /// Shows the tree an instance of a class, `weight` times. Without `ranges` no leaf draws tests.
    pub(crate) fn learn(
        &mut self,
        instance: &[f64],
        class: usize,
        weight: f64,
        growing: &Growing,
        ranges: Option<&Ranges>,
        rng: &mut Rng,
    ) {
        let node_idx = self.node_of(instance);
        let leaf_idx = self.leaf_of_node[node_idx] as usize;
        self.weights[leaf_idx * growing.n_classes + class] += weight;
        let leaf = self.leaves[leaf_idx];
        if leaf.depth as usize >= growing.max_depth {
            return;
        }
        if leaf.plot == NONE {
            let Some(ranges) = ranges else { return };
            self.draw_tests(leaf_idx, growing, ranges, rng);
        }
        let plot = self.leaves[leaf_idx].plot as usize;
        self.count(plot, instance, class, weight, growing);
        if let Some(test_idx) = self.ripe(plot, growing) {
            self.split(node_idx, plot, test_idx, growing);
        }
    }

    /// Choice: tests are drawn one by one, so that a feature may have several thresholds and few features many tests.
    fn draw_tests(&mut self, leaf_idx: usize, growing: &Growing, ranges: &Ranges, rng: &mut Rng) {
        self.leaves[leaf_idx].plot = self.owners.len() as u32;
        self.owners.push(leaf_idx as u32);
        for _ in 0..growing.n_tests {
            let (feature, threshold) = ranges.draw(rng);
            self.tests.push(Test { threshold, feature });
        }
        self.totals.resize(self.totals.len() + growing.n_classes, 0.0);
        self.left.resize(self.left.len() + growing.n_classes * growing.n_tests, 0.0);
    }

    fn count(&mut self, plot: usize, instance: &[f64], class: usize, weight: f64, growing: &Growing) {
        let Growing { n_classes, n_tests, .. } = *growing;
        self.totals[plot * n_classes + class] += weight;
        let tests = &self.tests[plot * n_tests..][..n_tests];
        let left = &mut self.left[(plot * n_classes + class) * n_tests..][..n_tests];
        for (test, left) in tests.iter().zip(left) {
            *left += if instance[test.feature as usize] <= test.threshold { weight } else { 0.0 };
        }
    }

    /// The best test, the first on ties, if the leaf has seen enough and the test gains enough.
    ///
    /// Choice: what counts is what came since the tests were drawn, not what was inherited: only that tells about them.
    fn ripe(&self, plot: usize, growing: &Growing) -> Option<usize> {
        let Growing { n_classes, n_tests, .. } = *growing;
        let totals = &self.totals[plot * n_classes..][..n_classes];
        if totals.iter().sum::<f64>() < growing.min_seen {
            return None;
        }
        let left = &self.left[plot * n_classes * n_tests..][..n_classes * n_tests];
        let (mut best, mut best_gain) = (None, 0.0);
        for test_idx in 0..n_tests {
            let gain = gini_gain(totals.iter().zip(left.iter().skip(test_idx).step_by(n_tests)));
            if gain >= growing.min_gain && gain > best_gain {
                (best, best_gain) = (Some(test_idx), gain);
            }
        }
        best
    }

    /// Makes an inner node of a leaf. The left child takes its place among the leaves, and both inherit the weights of their side of the test.
    fn split(&mut self, node_idx: usize, plot: usize, test_idx: usize, growing: &Growing) {
        let Growing { n_classes, n_tests, .. } = *growing;
        let Test { threshold, feature } = self.tests[plot * n_tests + test_idx];
        let (left_leaf, right_leaf) = (self.leaf_of_node[node_idx], self.leaves.len() as u32);
        for class in 0..n_classes {
            let left = self.left[(plot * n_classes + class) * n_tests + test_idx];
            self.weights[left_leaf as usize * n_classes + class] = left;
            self.weights.push(self.totals[plot * n_classes + class] - left);
        }
        self.release(plot, growing);
        let child = Leaf { depth: self.leaves[left_leaf as usize].depth + 1, plot: NONE };
        self.leaves[left_leaf as usize] = child;
        self.leaves.push(child);
        let first = self.nodes.len() as u32;
        self.nodes[node_idx] = Node { threshold, feature, child: first };
        self.nodes.extend([Node::leaf(first), Node::leaf(first + 1)]);
        self.leaf_of_node[node_idx] = NONE;
        self.leaf_of_node.extend([left_leaf, right_leaf]);
    }

    /// Gives a plot back: the last one moves into its place.
    fn release(&mut self, plot: usize, growing: &Growing) {
        fn swap_remove<T: Copy>(values: &mut Vec<T>, at: usize, size: usize) {
            let last = values.len() - size;
            values.copy_within(last.., at * size);
            values.truncate(last);
        }
        swap_remove(&mut self.tests, plot, growing.n_tests);
        swap_remove(&mut self.totals, plot, growing.n_classes);
        swap_remove(&mut self.left, plot, growing.n_classes * growing.n_tests);
        self.owners.swap_remove(plot);
        if let Some(owner) = self.owners.get(plot) {
            self.leaves[*owner as usize].plot = plot as u32;
        }
    }

    fn node_of(&self, instance: &[f64]) -> usize {
        let mut node_idx = 0;
        loop {
            let next = self.nodes[node_idx as usize].next(instance);
            if next == node_idx {
                return node_idx as usize;
            }
            node_idx = next;
        }
    }

    /// Adds the posteriors of instances that lie one after the other to the columns of `sums`, classes × instances. A leaf that has seen nothing answers `prior`.
    pub(crate) fn add_posteriors(&self, values: &[f64], n_features: usize, prior: &[f64], sums: &mut [f64]) {
        let n_classes = prior.len();
        let mut groups = values.chunks_exact(LANES * n_features);
        let mut sums_of = sums.chunks_exact_mut(n_classes);
        let mut add = |node_idx: usize| {
            let sums = sums_of.next().expect("a column of sums per instance");
            let weights = &self.weights[self.leaf_of_node[node_idx] as usize * n_classes..][..n_classes];
            let total: f64 = weights.iter().sum();
            if total > 0.0 {
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight / total);
            } else {
                sums.iter_mut().zip(prior).for_each(|(sum, p)| *sum += p);
            }
        };
        for group in groups.by_ref() {
            self.nodes_abreast(group, n_features).into_iter().for_each(|node_idx| add(node_idx as usize));
        }
        for instance in groups.remainder().chunks_exact(n_features) {
            add(self.node_of(instance));
        }
    }

    /// The leaf nodes of [`LANES`] instances that lie one after the other.
    fn nodes_abreast(&self, group: &[f64], n_features: usize) -> [u32; LANES] {
        let mut at = [0u32; LANES];
        loop {
            let mut moved = 0;
            for (lane, node_idx) in at.iter_mut().enumerate() {
                let next = self.nodes[*node_idx as usize].next(&group[lane * n_features..][..n_features]);
                moved |= next ^ *node_idx;
                *node_idx = next;
            }
            if moved == 0 {
                return at;
            }
        }
    }

    /// Whether a tree that was read from a file can be used and grown without harm. Classes that are not `known` have no weight.
    pub(crate) fn check(&self, growing: &Growing, n_features: usize, known: &[bool]) -> Result<(), &'static str> {
        self.check_nodes(n_features, growing.max_depth)?;
        self.check_leaves(known)?;
        self.check_plots(growing, n_features, known)
    }

    /// Each node but the root is the child of one that comes before it.
    fn check_nodes(&self, n_features: usize, max_depth: usize) -> Result<(), &'static str> {
        let n_nodes = self.nodes.len();
        if n_nodes == 0 || self.leaf_of_node.len() != n_nodes {
            return Err("the nodes of a tree are not whole");
        }
        let mut depths = vec![None; n_nodes];
        depths[0] = Some(0usize);
        let mut has_node = vec![false; self.leaves.len()];
        for (node_idx, (node, leaf_idx)) in self.nodes.iter().zip(&self.leaf_of_node).enumerate() {
            let Some(depth) = depths[node_idx] else { return Err("a node is the child of none before it") };
            let child = node.child as usize;
            if child == node_idx {
                let Some(leaf) = self.leaves.get(*leaf_idx as usize) else { return Err("a leaf is missing") };
                let taken = std::mem::replace(&mut has_node[*leaf_idx as usize], true);
                if taken || *node != Node::leaf(node.child) || leaf.depth as usize != depth || depth > max_depth {
                    return Err("a leaf is not at its place");
                }
                continue;
            }
            let sound = node_idx < child
                && child + 1 < n_nodes
                && depths[child].is_none()
                && depths[child + 1].is_none()
                && *leaf_idx == NONE
                && node.threshold.is_finite()
                && (node.feature as usize) < n_features;
            if !sound {
                return Err("an inner node is not sound");
            }
            depths[child] = Some(depth + 1);
            depths[child + 1] = Some(depth + 1);
        }
        if has_node.contains(&false) { Err("a leaf hangs on no node") } else { Ok(()) }
    }

    fn check_leaves(&self, known: &[bool]) -> Result<(), &'static str> {
        let fits = self.weights.len() == self.leaves.len() * known.len();
        if fits && are_weights(&self.weights, known) { Ok(()) } else { Err("the weights of leaves are not sound") }
    }

    /// Plots and the leaves that may still be split name each other.
    fn check_plots(&self, growing: &Growing, n_features: usize, known: &[bool]) -> Result<(), &'static str> {
        let Growing { n_classes, n_tests, max_depth, .. } = *growing;
        let n_plots = self.owners.len();
        let of = |size: usize| n_plots.checked_mul(size);
        let fits = Some(self.tests.len()) == of(n_tests)
            && Some(self.totals.len()) == of(n_classes)
            && Some(self.left.len()) == of(n_classes * n_tests);
        let owned = self.owners.iter().enumerate().all(|(plot, owner)| {
            let leaf = self.leaves.get(*owner as usize);
            leaf.is_some_and(|leaf| leaf.plot as usize == plot && (leaf.depth as usize) < max_depth)
        });
        let n_claimed = self.leaves.iter().filter(|leaf| leaf.plot != NONE).count();
        if !fits || !owned || n_claimed != n_plots {
            return Err("the tests of leaves are not whole");
        }
        let test_holds = |test: &Test| test.threshold.is_finite() && (test.feature as usize) < n_features;
        let left_holds = |(left, total): (&[f64], &f64)| left.iter().all(|left| (0.0..=*total).contains(left));
        let sound = self.tests.iter().all(test_holds)
            && are_weights(&self.totals, known)
            && self.left.chunks_exact(n_tests).zip(&self.totals).all(left_holds);
        if sound { Ok(()) } else { Err("a test of a leaf is not sound") }
    }
}

impl Node {
    fn leaf(own_idx: u32) -> Node {
        Node { threshold: f64::INFINITY, feature: 0, child: own_idx }
    }

    fn next(&self, instance: &[f64]) -> u32 {
        self.child + u32::from(instance[self.feature as usize] > self.threshold)
    }
}

fn are_weights(weights: &[f64], known: &[bool]) -> bool {
    weights
        .iter()
        .zip(known.iter().cycle())
        .all(|(weight, known)| (0.0..=MAX_WEIGHT).contains(weight) && (*known || *weight == 0.0))
}

/// What a test takes off the Gini index $G=\sum_kp_k(1-p_k)$ of a leaf: with the weights $n_k$ of the classes, $l_k$ of them left and $r_k=n_k-l_k$ right,
///
/// $$ \Delta G = G(n)-\frac{|l|}{|n|}G(l)-\frac{|r|}{|n|}G(r) = \frac1{|n|}\Bigl(\frac{\sum_kl_k^2}{|l|}+\frac{\sum_kr_k^2}{|r|}\Bigr)-\frac{\sum_kn_k^2}{|n|^2}; $$
///
/// 0 where a side is empty. Takes the pairs $(n_k,l_k)$.
fn gini_gain<'a>(classes: impl Iterator<Item = (&'a f64, &'a f64)>) -> f64 {
    let (mut all, mut left, mut right) = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0));
    let add = |(sum, squares): &mut (f64, f64), weight: f64| {
        *sum += weight;
        *squares += weight * weight;
    };
    for (total, passed) in classes {
        add(&mut all, *total);
        add(&mut left, *passed);
        add(&mut right, total - passed);
    }
    if left.0 == 0.0 || right.0 == 0.0 {
        return 0.0;
    }
    (left.1 / left.0 + right.1 / right.0) / all.0 - all.1 / (all.0 * all.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mil_core::stream;
    use rand::RngExt;

    const GROWING: Growing = Growing { n_classes: 2, n_tests: 12, max_depth: 6, min_seen: 8.0, min_gain: 0.05 };

    /// Feature 0 tells the classes apart at 1/2, feature 1 tells nothing.
    fn instance(rng: &mut Rng) -> ([f64; 2], usize) {
        let x: f64 = rng.random();
        ([x, rng.random()], usize::from(x > 0.5))
    }

    fn ranges() -> Ranges {
        let mut ranges = Ranges::new(2);
        ranges.extend([[0.0, 0.0], [1.0, 1.0]].as_flattened());
        ranges
    }

    fn grown(growing: &Growing, n_instances: usize) -> OnlineTree {
        let mut rng = stream(3, "test", 0);
        let mut tree = OnlineTree::seedling(2);
        for _ in 0..n_instances {
            let (instance, class) = instance(&mut rng);
            tree.learn(&instance, class, 1.0, growing, Some(&ranges()), &mut rng);
            assert_eq!(tree.check(growing, 2, &[true, true]), Ok(()));
        }
        tree
    }

    fn posterior(tree: &OnlineTree, instance: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; 2];
        tree.add_posteriors(instance, 2, &[0.25, 0.75], &mut sums);
        sums
    }

    #[test]
    fn gains_agree_with_the_reference() {
        let cases: [(&[f64], &[f64], f64); 4] = [
            (&[10.0, 0.0], &[0.0, 10.0], 0.5),
            (&[6.0, 4.0], &[3.0, 7.0], 0.044_999_999_999_999_984),
            (&[5.0, 5.0], &[5.0, 5.0], 0.0),
            (&[1.0, 2.0, 3.0], &[4.0, 0.0, 0.0], 0.253_333_333_333_333_3),
        ];
        for (left, right, gain) in cases {
            let totals: Vec<f64> = left.iter().zip(right).map(|(l, r)| l + r).collect();
            assert!((gini_gain(totals.iter().zip(left)) - gain).abs() < 1e-12, "{left:?} {right:?}");
            assert!((gini_gain(totals.iter().zip(right)) - gain).abs() < 1e-12, "{left:?} {right:?}");
        }
        assert_eq!(gini_gain([3.0, 4.0].iter().zip(&[0.0, 0.0])), 0.0);
    }

    #[test]
    fn a_leaf_splits_only_when_it_has_seen_enough() {
        let patient = Growing { min_seen: 30.0, ..GROWING };
        assert_eq!(grown(&patient, 29).n_leaves(), 1);
        assert_eq!(grown(&patient, 30).n_leaves(), 2);
        // Children start to count anew, however much they inherit.
        assert_eq!(grown(&patient, 59).n_leaves(), 2);
    }

    #[test]
    fn a_leaf_splits_only_when_a_test_gains_enough() {
        // No split of two classes gains more than 1/2, and a random threshold hardly as much.
        assert_eq!(grown(&Growing { min_gain: 0.499, ..GROWING }, 500).n_leaves(), 1);
        let tree = grown(&GROWING, 500);
        assert!(tree.n_leaves() > 1);
        assert!(posterior(&tree, &[0.05, 0.5])[0] > 0.9 && posterior(&tree, &[0.95, 0.5])[1] > 0.9);
    }

    #[test]
    fn the_depth_is_kept_and_full_leaves_still_learn() {
        for max_depth in [0, 1, 3] {
            let tree = grown(&Growing { max_depth, min_gain: 1e-9, min_seen: 1.0, ..GROWING }, 2000);
            assert_eq!(tree.depth(), max_depth);
            assert!(max_depth > 0 || tree.weights.iter().sum::<f64>() == 2000.0);
        }
    }

    #[test]
    fn children_inherit_the_weights_of_the_test() {
        let growing = Growing { min_seen: 30.0, ..GROWING };
        let tree = grown(&growing, 30);
        assert_eq!(tree.weights.iter().sum::<f64>(), 30.0);
        let mut rng = stream(3, "test", 0);
        let mut sides = [[0.0; 2]; 2];
        let mut seen = Vec::new();
        // The instances again, as `grown` drew them: the tests were drawn right after the first.
        let first = instance(&mut rng);
        let mut other = OnlineTree::seedling(2);
        other.learn(&first.0, first.1, 1.0, &growing, Some(&ranges()), &mut rng);
        seen.push(first);
        seen.extend((1..30).map(|_| instance(&mut rng)));
        for (instance, class) in seen {
            sides[usize::from(instance[tree.nodes[0].feature as usize] > tree.nodes[0].threshold)][class] += 1.0;
        }
        assert_eq!(tree.weights, sides.concat());
    }

    #[test]
    fn without_ranges_no_test_is_drawn() {
        let mut rng = stream(0, "test", 0);
        let mut tree = OnlineTree::seedling(2);
        assert_eq!(posterior(&tree, &[0.0, 0.0]), [0.25, 0.75]);
        for _ in 0..100 {
            let (instance, class) = instance(&mut rng);
            tree.learn(&instance, class, 2.0, &GROWING, None, &mut rng);
        }
        assert!(tree.owners.is_empty() && tree.weights.iter().sum::<f64>() == 200.0);
    }

    #[test]
    fn instances_abreast_fall_where_each_falls_alone() {
        let tree = grown(&Growing { min_gain: 1e-6, ..GROWING }, 500);
        let mut rng = stream(4, "test", 0);
        let values: Vec<f64> = (0..2 * 29).map(|_| rng.random()).collect();
        let mut sums = vec![0.0; 2 * 29];
        tree.add_posteriors(&values, 2, &[0.5, 0.5], &mut sums);
        for (instance, sums) in values.chunks_exact(2).zip(sums.chunks_exact(2)) {
            assert_eq!(sums, posterior(&tree, instance));
        }
    }

    #[test]
    fn a_tree_that_is_not_whole_is_refused() {
        let growing = Growing { min_gain: 1e-6, ..GROWING };
        let whole = grown(&growing, 500);
        assert!(whole.owners.len() > 1 && whole.leaves.iter().any(|leaf| leaf.plot == NONE));
        let inner = whole.leaf_of_node.iter().rposition(|leaf| *leaf == NONE).unwrap();
        let leaf_node = whole.leaf_of_node.iter().position(|leaf| *leaf != NONE).unwrap();
        type Mutation = Box<dyn Fn(&mut OnlineTree)>;
        let mutations: Vec<(&str, Mutation)> = vec![
            ("no node", Box::new(|tree| tree.nodes.clear())),
            ("a node too few", Box::new(|tree| tree.nodes.truncate(tree.nodes.len() - 1))),
            ("a loop", Box::new(move |tree| tree.nodes[inner].child = 0)),
            ("a child outside", Box::new(move |tree| tree.nodes[inner].child = tree.nodes.len() as u32 - 1)),
            ("two parents", Box::new(move |tree| tree.nodes[inner].child = tree.nodes[0].child)),
            ("a shifted child", Box::new(move |tree| tree.nodes[inner].child += 1)),
            ("a feature outside", Box::new(move |tree| tree.nodes[inner].feature = 2)),
            ("no number", Box::new(move |tree| tree.nodes[inner].threshold = f64::NAN)),
            ("a leaf that tests", Box::new(move |tree| tree.nodes[leaf_node].threshold = 0.0)),
            ("a leaf that reads outside", Box::new(move |tree| tree.nodes[leaf_node].feature = 9)),
            ("an inner leaf", Box::new(move |tree| tree.leaf_of_node[inner] = 0)),
            ("a leaf outside", Box::new(move |tree| tree.leaf_of_node[leaf_node] = tree.leaves.len() as u32)),
            ("no leaf", Box::new(move |tree| tree.leaf_of_node[leaf_node] = NONE)),
            (
                "a leaf twice",
                Box::new(move |tree| {
                    let last = *tree.leaf_of_node.last().unwrap();
                    tree.leaf_of_node[leaf_node] = last;
                }),
            ),
            ("a false depth", Box::new(|tree| tree.leaves[0].depth += 1)),
            (
                "a leaf too many",
                Box::new(|tree| {
                    tree.leaves.push(Leaf { depth: 1, plot: NONE });
                    tree.weights.extend([0.0, 0.0]);
                }),
            ),
            ("a weight too few", Box::new(|tree| tree.weights.truncate(tree.weights.len() - 1))),
            ("a negative weight", Box::new(|tree| tree.weights[0] = -1.0)),
            ("an infinite weight", Box::new(|tree| tree.weights[0] = f64::INFINITY)),
            ("a weight that is no number", Box::new(|tree| tree.weights[0] = f64::NAN)),
            ("an owner too few", Box::new(|tree| tree.owners.truncate(tree.owners.len() - 1))),
            ("an owner outside", Box::new(|tree| tree.owners[0] = tree.leaves.len() as u32)),
            ("owners in disorder", Box::new(|tree| tree.owners.swap(0, 1))),
            (
                "a plot with two owners",
                Box::new(|tree| {
                    let bare = tree.leaves.iter().position(|leaf| leaf.plot == NONE).unwrap();
                    tree.leaves[bare].plot = 0;
                }),
            ),
            ("a test too few", Box::new(|tree| tree.tests.truncate(tree.tests.len() - 1))),
            ("a test outside", Box::new(|tree| tree.tests[3].feature = 2)),
            ("an infinite test", Box::new(|tree| tree.tests[3].threshold = f64::INFINITY)),
            ("a total too few", Box::new(|tree| tree.totals.truncate(tree.totals.len() - 1))),
            ("a total that is no number", Box::new(|tree| tree.totals[0] = f64::NAN)),
            ("a total below its part", Box::new(|tree| tree.left[0] = tree.totals[0] + 1.0)),
            ("a negative part", Box::new(|tree| tree.left[0] = -1.0)),
            ("a part that is no number", Box::new(|tree| tree.left[0] = f64::NAN)),
            ("a part too many", Box::new(|tree| tree.left.push(0.0))),
        ];
        for (what, mutate) in mutations {
            let mut tree = whole.clone();
            mutate(&mut tree);
            assert!(tree.check(&growing, 2, &[true, true]).is_err(), "{what}");
        }
        assert_eq!(whole.check(&growing, 2, &[true, true]), Ok(()));
        assert!(whole.check(&growing, 2, &[true, false]).is_err(), "an unknown class");
        assert!(whole.check(&Growing { max_depth: 1, ..growing }, 2, &[true, true]).is_err(), "too deep");
        assert!(whole.check(&Growing { n_tests: 11, ..growing }, 2, &[true, true]).is_err(), "too many tests");
    }
}
