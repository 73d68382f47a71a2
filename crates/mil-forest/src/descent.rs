//! Many instances on their way down a tree.
//!
//! A block of instances lies feature by feature, and a set of its instances is a few words of 64 bits. A node compares the values of a word with its threshold in a handful of vector instructions and hands each child
//! the bits that are its own, until a set has come to a leaf or is so small that its instances go on one by one; words that have become empty are skipped. Instances that lie side by side are often alike: on Musk2 64 of them come by 41 tests of a tree,
//! where each alone would take 10.

use pulp::{Simd, WithSimd};

use crate::tree::Tree;

/// Instances of a word, and words of a block.
const WORD: usize = 64;
const N_WORDS: usize = 4;
/// Instances of a block.
pub(crate) const BLOCK: usize = WORD * N_WORDS;
/// Values of a cache line.
const LINE: usize = 8;
/// Fewer instances than this go down faster by themselves.
const FEWEST: usize = WORD / 2;
/// So many instances of a set go on one by one.
const FEW: u32 = 2;
/// Features for each tree, at most, for which it pays to lay them out anew.
const FEATURES_PER_TREE: usize = 8;

type Words = [u64; N_WORDS];

/// Whether a block of instances goes down these trees faster than its instances one by one.
pub(crate) fn pays(trees: &[Tree], n_instances: usize, n_features: usize) -> bool {
    n_instances >= FEWEST && n_features <= FEATURES_PER_TREE * trees.len() && !trees.iter().any(Tree::has_planes)
}

/// Room that blocks use in turn.
#[derive(Default)]
pub(crate) struct Room {
    columns: Vec<[[f64; WORD]; N_WORDS]>,
    /// Nodes with the instances that have come there.
    waiting: Vec<(u32, Words)>,
}

/// Adds the posteriors of a block of instances, which lie one after the other, to the columns of `sums`, classes × instances, tree after tree.
pub(crate) struct Descent<'a> {
    pub(crate) trees: &'a [Tree],
    pub(crate) n_features: usize,
    pub(crate) n_classes: usize,
    pub(crate) values: &'a [f64],
    pub(crate) sums: &'a mut [f64],
    pub(crate) room: &'a mut Room,
}

impl WithSimd for Descent<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n_instances = self.values.len() / self.n_features;
        self.room.lay_out(self.values, self.n_features);
        for tree in self.trees {
            let leaves = self.room.leaves(simd, tree, n_instances);
            tree.add_leaves(leaves.as_flattened(), self.n_classes, self.sums);
        }
    }
}

impl Room {
    #[inline(always)]
    fn lay_out(&mut self, values: &[f64], n_features: usize) {
        self.columns.resize(n_features, [[0.0; WORD]; N_WORDS]);
        // As many instances at a time as have a cache line of a column to fill.
        for (group_idx, group) in values.chunks(LINE * n_features).enumerate() {
            for (feature, column) in self.columns.iter_mut().enumerate() {
                let line = &mut column.as_flattened_mut()[group_idx * LINE..][..LINE];
                line.iter_mut().zip(group[feature..].iter().step_by(n_features)).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// The leaves of the instances.
    #[inline(always)]
    fn leaves<S: Simd>(&mut self, simd: S, tree: &Tree, n_instances: usize) -> [[u32; WORD]; N_WORDS] {
        let mut leaves = [[0; WORD]; N_WORDS];
        self.waiting.push((0, first(n_instances)));
        while let Some((mut node_idx, mut here)) = self.waiting.pop() {
            loop {
                let node = &tree.nodes[node_idx as usize];
                if node.child == node_idx {
                    let leaf = tree.leaves[node_idx as usize];
                    let words = leaves.iter_mut().zip(here).filter(|(_, word)| *word != 0);
                    words.for_each(|(leaves, word)| enter(simd, leaf, word, leaves));
                    break;
                }
                if here.iter().map(|word| word.count_ones()).sum::<u32>() <= FEW {
                    for (word_idx, word) in here.into_iter().enumerate() {
                        for lane in bits(word) {
                            leaves[word_idx][lane] = self.leaf_below(tree, node_idx, word_idx, lane);
                        }
                    }
                    break;
                }
                let column = &self.columns[node.test as usize];
                let (mut left, mut right) = ([0; N_WORDS], [0; N_WORDS]);
                let (mut any_left, mut any_right) = (0, 0);
                for word in 0..N_WORDS {
                    if here[word] != 0 {
                        let above = above(simd, &column[word], node.threshold);
                        left[word] = here[word] & !above;
                        right[word] = here[word] & above;
                        any_left |= left[word];
                        any_right |= right[word];
                    }
                }
                // Not without branches: that the processor guesses the way is worth more than what its wrong guesses cost.
                if any_left == 0 {
                    (node_idx, here) = (node.child + 1, right);
                } else {
                    if any_right != 0 {
                        self.waiting.push((node.child + 1, right));
                    }
                    (node_idx, here) = (node.child, left);
                }
            }
        }
        leaves
    }

    /// The leaf of an instance that has come to a node.
    #[inline(always)]
    fn leaf_below(&self, tree: &Tree, mut node_idx: u32, word_idx: usize, lane: usize) -> u32 {
        loop {
            let node = &tree.nodes[node_idx as usize];
            let value = self.columns[node.test as usize][word_idx][lane];
            let next = node.child + u32::from(value > node.threshold);
            if next == node_idx {
                return tree.leaves[node_idx as usize];
            }
            node_idx = next;
        }
    }
}

/// The positions of the bits that are set.
#[inline(always)]
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (lane < WORD).then_some(lane)
    })
}

/// The set of the first instances.
#[inline(always)]
fn first(n_instances: usize) -> Words {
    std::array::from_fn(|word| match n_instances.saturating_sub(word * WORD) {
        0 => 0,
        n => u64::MAX >> (WORD - n.min(WORD)),
    })
}

/// The instances of a word whose values lie above a threshold.
#[inline(always)]
fn above<S: Simd>(simd: S, values: &[f64; WORD], threshold: f64) -> u64 {
    const BITS: [u64; WORD] = {
        let mut bits = [1; WORD];
        let mut lane = 0;
        while lane < WORD {
            bits[lane] <<= lane;
            lane += 1;
        }
        bits
    };
    let (threshold, none) = (simd.splat_f64s(threshold), simd.splat_u64s(0));
    let (values, bits) = (S::as_simd_f64s(values).0, S::as_simd_u64s(&BITS).0);
    let mut found = none;
    for (values, bits) in values.iter().zip(bits) {
        let is_above = simd.greater_than_f64s(*values, threshold);
        found = simd.or_u64s(found, simd.select_u64s(is_above, *bits, none));
    }
    let mut lanes = [0; 8];
    S::as_mut_simd_u64s(&mut lanes).0[0] = found;
    lanes.iter().fold(0, |all, bits| all | bits)
}

/// Writes a leaf down for the instances of a word that are in a set.
#[inline(always)]
fn enter<S: Simd>(simd: S, leaf: u32, set: u64, leaves: &mut [u32; WORD]) {
    const HALF: usize = WORD / 2;
    const BITS: [u32; HALF] = {
        let mut bits = [1; HALF];
        let mut lane = 0;
        while lane < HALF {
            bits[lane] <<= lane;
            lane += 1;
        }
        bits
    };
    let leaf = simd.splat_u32s(leaf);
    for (half, leaves) in leaves.as_chunks_mut::<HALF>().0.iter_mut().enumerate() {
        let set = simd.splat_u32s((set >> (half * HALF)) as u32);
        for (leaves, bits) in S::as_mut_simd_u32s(leaves).0.iter_mut().zip(S::as_simd_u32s(&BITS).0) {
            let is_in = simd.equal_u32s(simd.and_u32s(set, *bits), *bits);
            *leaves = simd.select_u32s(is_in, leaf, *leaves);
        }
    }
}

#[cfg(test)]
mod tests {
    use mil_core::{Rng, stream};
    use proptest::prelude::*;
    use pulp::{Arch, Scalar};
    use rand::RngExt;

    use super::*;

    /// Few enough values that many are thresholds too.
    fn value(rng: &mut Rng) -> f64 {
        f64::from(rng.random_range(-3..=3)) / 2.0
    }

    fn tree(n_splits: usize, n_features: usize, n_classes: usize, rng: &mut Rng) -> Tree {
        let mut tree = Tree::seedling(None);
        let mut open = vec![0];
        for _ in 0..n_splits {
            let node_idx = open.swap_remove(rng.random_range(0..open.len()));
            let child = tree.split(node_idx, rng.random_range(0..n_features as u32), value(rng));
            open.extend([child, child + 1]);
        }
        for node_idx in open {
            let shares: Vec<f64> = (0..n_classes).map(|_| rng.random()).collect();
            let total: f64 = shares.iter().sum();
            tree.close(node_idx, shares.iter().map(|share| share / total));
        }
        tree
    }

    /// The sums of posteriors that each way of descent comes to; one by one first.
    fn sums(trees: &[Tree], values: &[f64], n_features: usize, n_classes: usize, room: &mut Room) -> [Vec<f64>; 4] {
        let mut sums = [(); 4].map(|()| vec![0.0; values.len() / n_features * n_classes]);
        let [alone, abreast, block, scalar] = &mut sums;
        for tree in trees {
            for (instance, sums) in values.chunks_exact(n_features).zip(alone.chunks_exact_mut(n_classes)) {
                let posterior = tree.posterior(tree.leaf_of(instance), n_classes);
                sums.iter_mut().zip(posterior).for_each(|(sum, p)| *sum += p);
            }
            tree.add_posteriors(values, n_features, n_classes, abreast);
        }
        Arch::new().dispatch(Descent { trees, n_features, n_classes, values, sums: block, room });
        Descent { trees, n_features, n_classes, values, sums: scalar, room }.with_simd(Scalar::new());
        sums
    }

    proptest! {
        #[test]
        fn all_ways_down_lead_to_the_same_sums(
            seed in 0u64..1 << 32,
            n_splits in prop::collection::vec(prop_oneof![Just(0usize), 1usize..40], 1..5),
            n_features in 1usize..6,
            n_classes in 1usize..4,
            n_instances in prop_oneof![1usize..20, WORD - 2..WORD + 3, 2 * WORD - 1..2 * WORD + 2, BLOCK - 2..=BLOCK],
        ) {
            let mut rng = stream(seed, "descent", 0);
            let trees: Vec<Tree> = n_splits.iter().map(|n| tree(*n, n_features, n_classes, &mut rng)).collect();
            let mut room = Room::default();
            // What a larger block has left behind does not matter.
            for n_instances in [n_instances, n_instances.div_ceil(2)] {
                let values: Vec<f64> = (0..n_instances * n_features).map(|_| value(&mut rng)).collect();
                let [alone, others @ ..] = sums(&trees, &values, n_features, n_classes, &mut room);
                for other in others {
                    prop_assert_eq!(&alone, &other);
                }
            }
        }
    }

    #[test]
    fn many_instances_equal_their_thresholds() {
        let mut rng = stream(0, "descent", 0);
        let tree = tree(30, 3, 2, &mut rng);
        let n_ties = tree.nodes.iter().filter(|node| [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5].contains(&node.threshold));
        assert_eq!(n_ties.count(), 30);
    }

    #[test]
    fn few_instances_planes_and_features_without_trees_go_another_way() {
        let mut rng = stream(0, "descent", 0);
        let trees = [tree(3, 2, 2, &mut rng), tree(0, 2, 2, &mut rng)];
        assert!(pays(&trees, BLOCK, 16) && !pays(&trees, BLOCK, 17) && !pays(&trees, FEWEST - 1, 16));
        assert!(!pays(&[Tree::seedling(Some(crate::tree::Planes::new(2)))], BLOCK, 1));
    }
}
