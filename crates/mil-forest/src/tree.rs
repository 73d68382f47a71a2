//! A grown tree, laid out flat for prediction.
//!
//! Nodes are sixteen bytes, the two children of a node lie side by side, and a leaf is its own child: a step down is `child + (x > threshold)` without a branch, and several instances can go down together
//! until none moves any more.

use serde::{Deserialize, Serialize};

/// One tree: tests at the inner nodes, posteriors of the classes at the leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// The posteriors of leaf `l` are `posteriors[l * n_classes..][..n_classes]`.
    posteriors: Vec<f64>,
    /// The leaf that a node is, [`INNER`] for the others.
    pub(crate) leaves: Vec<u32>,
    planes: Option<Planes>,
}

/// An instance goes to the child where the tested value is at most the threshold, else to the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) threshold: f64,
    /// The feature, or the plane where the tree has planes.
    pub(crate) test: u32,
    pub(crate) child: u32,
}

/// Tests over several features: plane `p` has the terms `p * n_terms..(p + 1) * n_terms`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Planes {
    pub(crate) n_terms: u32,
    pub(crate) features: Vec<u32>,
    pub(crate) weights: Vec<f64>,
}

impl Planes {
    pub(crate) fn new(n_terms: usize) -> Planes {
        Planes { n_terms: n_terms as u32, features: Vec::new(), weights: Vec::new() }
    }

    pub(crate) fn push(&mut self, features: &[u32], weights: &[f64]) -> u32 {
        self.features.extend_from_slice(features);
        self.weights.extend_from_slice(weights);
        (self.features.len() / self.n_terms as usize - 1) as u32
    }

    fn value(&self, plane: u32, instance: &[f64]) -> f64 {
        let n_terms = self.n_terms as usize;
        let terms = plane as usize * n_terms..(plane as usize + 1) * n_terms;
        projection(&self.features[terms.clone()], &self.weights[terms], instance)
    }
}

/// $\sum_j a_j x_{f_j}$.
pub(crate) fn projection(features: &[u32], weights: &[f64], instance: &[f64]) -> f64 {
    features.iter().zip(weights).map(|(feature, weight)| weight * instance[*feature as usize]).sum()
}

/// Not a leaf.
const INNER: u32 = u32::MAX;
/// Instances that go down together.
const LANES: usize = 8;

impl Tree {
    /// A tree that is one leaf, to be grown by [`split`](Self::split) and [`close`](Self::close).
    pub(crate) fn seedling(planes: Option<Planes>) -> Tree {
        let mut tree = Tree { nodes: Vec::new(), posteriors: Vec::new(), leaves: Vec::new(), planes };
        tree.push_leaf();
        tree
    }

    fn push_leaf(&mut self) {
        let child = self.nodes.len() as u32;
        self.nodes.push(Node { threshold: f64::INFINITY, test: 0, child });
        self.leaves.push(INNER);
    }

    /// Makes an inner node of a node, and gives the position of its first child.
    pub(crate) fn split(&mut self, node_idx: usize, test: u32, threshold: f64) -> usize {
        let child = self.nodes.len();
        self.nodes[node_idx] = Node { threshold, test, child: child as u32 };
        self.push_leaf();
        self.push_leaf();
        child
    }

    /// Settles that a node is a leaf, with these posteriors.
    pub(crate) fn close(&mut self, node_idx: usize, posterior: impl ExactSizeIterator<Item = f64>) {
        self.leaves[node_idx] = (self.posteriors.len() / posterior.len()) as u32;
        self.posteriors.extend(posterior);
    }

    pub(crate) fn has_planes(&self) -> bool {
        self.planes.is_some()
    }

    pub(crate) fn planes_mut(&mut self) -> Option<&mut Planes> {
        self.planes.as_mut()
    }

    /// Number of nodes, leaves included.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Number of leaves.
    #[must_use]
    pub fn n_leaves(&self) -> usize {
        self.leaves.iter().filter(|leaf| **leaf != INNER).count()
    }

    /// Tests on the longest way from the root to a leaf.
    #[must_use]
    pub fn depth(&self) -> usize {
        // A child comes after its parent.
        let mut depths = vec![0; self.nodes.len()];
        for (node_idx, node) in self.nodes.iter().enumerate() {
            let child = node.child as usize;
            if child != node_idx {
                depths[child] = depths[node_idx] + 1;
                depths[child + 1] = depths[node_idx] + 1;
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// The leaf that an instance falls into, counted from 0.
    ///
    /// # Panics
    /// If the instance has fewer features than the tree was grown on.
    #[must_use]
    pub fn leaf_of(&self, instance: &[f64]) -> usize {
        let mut node_idx = 0;
        loop {
            let next = self.step(node_idx, instance);
            if next == node_idx {
                return self.leaves[node_idx as usize] as usize;
            }
            node_idx = next;
        }
    }

    /// The posteriors of a leaf.
    pub(crate) fn posterior(&self, leaf: usize, n_classes: usize) -> &[f64] {
        &self.posteriors[leaf * n_classes..][..n_classes]
    }

    fn step(&self, node_idx: u32, instance: &[f64]) -> u32 {
        let node = &self.nodes[node_idx as usize];
        let value = match &self.planes {
            None => instance[node.test as usize],
            Some(planes) if self.leaves[node_idx as usize] == INNER => planes.value(node.test, instance),
            Some(_) => 0.0,
        };
        node.child + u32::from(value > node.threshold)
    }

    /// Adds the posteriors of instances that lie one after the other to the columns of `sums`, classes × instances.
    pub(crate) fn add_posteriors(&self, values: &[f64], n_features: usize, n_classes: usize, sums: &mut [f64]) {
        let groups = values.chunks(LANES * n_features).zip(sums.chunks_mut(LANES * n_classes));
        for (group, sums) in groups {
            if group.len() == LANES * n_features {
                self.add_leaves(&self.leaves_abreast(group, n_features), n_classes, sums);
            } else {
                for (instance, sums) in group.chunks_exact(n_features).zip(sums.chunks_exact_mut(n_classes)) {
                    self.add_leaves(&[self.leaf_of(instance) as u32], n_classes, sums);
                }
            }
        }
    }

    /// Adds the posteriors of leaves to the columns of `sums`, classes × leaves.
    #[inline(always)]
    pub(crate) fn add_leaves(&self, leaves: &[u32], n_classes: usize, sums: &mut [f64]) {
        if n_classes == 2 {
            let posteriors = self.posteriors.as_chunks::<2>().0;
            for (sums, leaf) in sums.as_chunks_mut::<2>().0.iter_mut().zip(leaves) {
                let posterior = &posteriors[*leaf as usize];
                sums[0] += posterior[0];
                sums[1] += posterior[1];
            }
        } else {
            for (sums, leaf) in sums.chunks_exact_mut(n_classes).zip(leaves) {
                sums.iter_mut().zip(self.posterior(*leaf as usize, n_classes)).for_each(|(sum, p)| *sum += p);
            }
        }
    }

    /// The leaves of [`LANES`] instances that lie one after the other.
    fn leaves_abreast(&self, group: &[f64], n_features: usize) -> [u32; LANES] {
        let mut at = [0u32; LANES];
        if self.planes.is_some() {
            for (lane, instance) in group.chunks_exact(n_features).enumerate() {
                at[lane] = self.leaf_of(instance) as u32;
            }
            return at;
        }
        loop {
            let mut moved = 0;
            for (lane, node_idx) in at.iter_mut().enumerate() {
                let node = &self.nodes[*node_idx as usize];
                let next = node.child + u32::from(group[lane * n_features + node.test as usize] > node.threshold);
                moved |= next ^ *node_idx;
                *node_idx = next;
            }
            if moved == 0 {
                return at.map(|node_idx| self.leaves[node_idx as usize]);
            }
        }
    }

    /// Whether a tree that was read from a file can be walked without harm.
    pub(crate) fn is_sound(&self, n_features: usize, n_classes: usize) -> bool {
        let n_nodes = self.nodes.len();
        let n_leaves = self.posteriors.len() / n_classes;
        let planes_hold = self.planes.as_ref().is_none_or(|planes| {
            planes.n_terms > 0
                && planes.features.len() == planes.weights.len()
                && planes.features.len().is_multiple_of(planes.n_terms as usize)
                && planes.features.iter().all(|feature| (*feature as usize) < n_features)
                && planes.weights.iter().all(|weight| weight.is_finite())
        });
        let n_tests = self
            .planes
            .as_ref()
            .map_or(n_features, |planes| planes.features.len().checked_div(planes.n_terms as usize).unwrap_or(0));
        let node_holds = |(node_idx, (node, leaf)): (usize, (&Node, &u32))| {
            let child = node.child as usize;
            let is_leaf = child == node_idx && node.threshold == f64::INFINITY && node.test == 0;
            let is_inner = node_idx < child
                && child + 1 < n_nodes
                && node.threshold.is_finite()
                && (node.test as usize) < n_tests
                && *leaf == INNER;
            is_inner || is_leaf && (*leaf as usize) < n_leaves
        };
        planes_hold
            && 0 < n_nodes
            && self.leaves.len() == n_nodes
            && self.posteriors.len() == n_leaves * n_classes
            && self.nodes.iter().zip(&self.leaves).enumerate().all(node_holds)
            && self.posteriors.chunks_exact(n_classes).all(is_distribution)
    }
}

/// Rounding that the sum of a distribution may show.
const ROUNDING: f64 = 1e-9;

fn is_distribution(posterior: &[f64]) -> bool {
    posterior.iter().all(|p| (0.0..=1.0).contains(p)) && (posterior.iter().sum::<f64>() - 1.0).abs() <= ROUNDING
}

pub(crate) fn is_probability(p: f64) -> bool {
    (0.0..=1.0 + ROUNDING).contains(&p)
}
