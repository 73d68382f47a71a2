//! Squared distances from all instances of a set of bags to all its bags.
//!
//! A pair of instances counts twice, for the bag of one and for that of the other, and is computed once. The bags fall into groups of
//! neighbours; a block is a pair of groups, and its two halves of the matrix are its own: rows of one group by bags of the other, and the other
//! way round. Blocks are spread over threads.

use std::ops::Range;

use mil_core::{BagLabel, BagSet};
use nalgebra::DMatrix;
use pulp::Simd;
use rayon::prelude::*;

use crate::KernelError;
use crate::form::{Form, Pairs};
use crate::gram::BLOCK;
use crate::similarity::MIN_WORK;
use crate::tile::{HEIGHT, Side, Sink, Tile, WIDTH, centre_for, transpose, visit};

/// What is subtracted from all instances before their squared distances are computed. It matters for rounding alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Centre {
    /// The mean of all instances, as in [`BagSimilarity::new`](crate::BagSimilarity::new) of them.
    AllBags,
    /// The mean of the first bag, as in [`Candidates`](crate::Candidates) that the bags extended one after another.
    FirstBag,
}

/// $\min_j\lVert x_k - x_{tj}\rVert^2$ for all instances $x_k$ and bags $t$ of a set, instances × bags.
///
/// The same to the bit as [`BagSimilarity::squared_distances`](crate::BagSimilarity::squared_distances) with the instances for candidates, in half the time:
/// $\tfrac12 n^2 d$ multiplications.
///
/// ```
/// use mil_core::BagSet;
/// use mil_kernels::{Centre, squared_distances_within};
/// let mut builder = BagSet::<()>::builder();
/// builder.bag("two", (), [[0.0], [2.0]])?;
/// builder.bag("one", (), [[5.0]])?;
/// let distances = squared_distances_within(&builder.build()?, Centre::AllBags)?;
/// assert_eq!(distances.column(0).as_slice(), [0.0, 0.0, 9.0]);
/// assert_eq!(distances.column(1).as_slice(), [25.0, 9.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the norm of an instance overflows.
pub fn squared_distances_within<Y: BagLabel>(bags: &BagSet<Y>, centre: Centre) -> Result<DMatrix<f64>, KernelError> {
    let form = Form::squared_distance();
    let centre = match centre {
        Centre::AllBags => centre_for(&form, bags.instances().as_view()),
        Centre::FirstBag => centre_for(&form, bags.bag(0).matrix()),
    };
    let groups = groups_of(bags);
    let pack = |group: &Range<usize>| Group::new(bags, group.clone(), &form, &centre);
    let packed: Result<Vec<Group<'_>>, KernelError> =
        if groups.len() < 2 { groups.iter().map(pack).collect() } else { groups.par_iter().map(pack).collect() };
    let Ok(groups) = packed else {
        // A part knows neither the positions nor the largest value of the whole.
        let whole = Side::new(&form, bags.instances().as_view(), &centre);
        return Err(whole.expect_err("an instance overflows in the whole as in its part"));
    };
    let mut nearest = DMatrix::repeat(bags.n_instances(), bags.n_bags(), f64::INFINITY);
    let blocks = blocks_of(&groups, nearest.as_mut_slice());
    let run = |mut block: Block<'_>| {
        let (left, right) = (&block.left.side, &block.right.side);
        let (left_panels, right_panels) = (0..left.n_panels(), 0..right.len().div_ceil(WIDTH));
        visit(Pairs::new(&form, left, right), left_panels, right_panels, &mut block);
    };
    if blocks.len() < 2 {
        blocks.into_iter().for_each(run);
    } else {
        blocks.into_par_iter().for_each(run);
    }
    Ok(nearest)
}

/// The bags of each group. A block is worth a thread's while, and the last group may be small.
fn groups_of<Y: BagLabel>(bags: &BagSet<Y>) -> Vec<Range<usize>> {
    // Some steps of a pair have nothing to do with its features.
    let size = (MIN_WORK / (bags.n_features() + WIDTH)).isqrt().max(BLOCK);
    let mut groups = Vec::new();
    let mut first = 0;
    for bag_idx in 0..bags.n_bags() {
        let is_last = bag_idx + 1 == bags.n_bags();
        if is_last || bags.columns_of(bag_idx).end - bags.columns_of(first).start >= size {
            groups.push(first..bag_idx + 1);
            first = bag_idx + 1;
        }
    }
    groups
}

/// Some bags, and their instances made ready.
struct Group<'a> {
    side: Side<'a>,
    n_bags: usize,
    /// The bag of each instance, counted from the first of the group.
    bags: Vec<usize>,
}

impl<'a> Group<'a> {
    fn new<Y: BagLabel>(
        bags: &'a BagSet<Y>,
        group: Range<usize>,
        form: &Form,
        centre: &[f64],
    ) -> Result<Group<'a>, KernelError> {
        let columns = bags.columns_of(group.start).start..bags.columns_of(group.end - 1).end;
        let instances = bags.instances().columns_range(columns);
        Ok(Group {
            side: Side::new(form, instances, centre)?,
            n_bags: group.len(),
            bags: group.enumerate().flat_map(|(i, bag_idx)| vec![i; bags.columns_of(bag_idx).len()]).collect(),
        })
    }
}

/// The least squared distances so far between two groups.
struct Block<'a> {
    left: &'a Group<'a>,
    right: &'a Group<'a>,
    /// From the instances on the left to each bag on the right.
    direct: Vec<&'a mut [f64]>,
    /// From the instances on the right to each bag on the left; `None` within one group, where this is the same.
    mirror: Option<Vec<&'a mut [f64]>>,
}

/// All pairs of groups, each with its pieces of the columns of `nearest`.
fn blocks_of<'a>(groups: &'a [Group<'a>], mut nearest: &'a mut [f64]) -> Vec<Block<'a>> {
    let n_instances = groups.iter().map(|group| group.side.len()).sum();
    // By the group of the bags, then by that of the instances.
    let mut pieces: Vec<Vec<Vec<&mut [f64]>>> = Vec::with_capacity(groups.len());
    for group in groups {
        let mut of_group: Vec<Vec<&mut [f64]>> = Vec::new();
        of_group.resize_with(groups.len(), || Vec::with_capacity(group.n_bags));
        let columns = nearest.split_off_mut(..group.n_bags * n_instances).expect("a column for each bag");
        for mut column in columns.chunks_mut(n_instances) {
            for (rows, of_rows) in groups.iter().zip(&mut of_group) {
                of_rows.push(column.split_off_mut(..rows.side.len()).expect("a row for each instance"));
            }
        }
        pieces.push(of_group);
    }
    let mut blocks = Vec::with_capacity(groups.len() * (groups.len() + 1) / 2);
    for (i, left) in groups.iter().enumerate() {
        for (j, right) in groups[..=i].iter().enumerate() {
            let direct = std::mem::take(&mut pieces[j][i]);
            let mirror = (i != j).then(|| std::mem::take(&mut pieces[i][j]));
            blocks.push(Block { left, right, direct, mirror });
        }
    }
    blocks
}

impl Sink for Block<'_> {
    #[inline(always)]
    fn wants(&self, left_panel: usize, right_panel: usize) -> bool {
        self.mirror.is_some() || right_panel * WIDTH < (left_panel + 1) * HEIGHT
    }

    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, left_panel: usize, right_panel: usize, tile: &Tile) {
        let (left, right) = (left_panel * HEIGHT, right_panel * WIDTH);
        let mut lines = [[0.0; WIDTH]; HEIGHT];
        transpose(simd, tile, &mut lines);
        lower(&mut self.direct, &self.right.bags[right..], tile, left);
        lower(self.mirror.as_mut().unwrap_or(&mut self.direct), &self.left.bags[left..], &lines, right);
    }
}

/// Lowers the distances of the instances from `first` on to those of `lines`, each of which belongs to an instance of the bag given for it.
/// Lines and numbers that have no place only fill up a tile.
#[inline(always)]
fn lower<const N: usize>(nearest: &mut [&mut [f64]], bags: &[usize], lines: &[[f64; N]], first: usize) {
    let n = bags.len().min(lines.len());
    let mut i = 0;
    while i < n {
        // A bag has many lines, and one place.
        let (bag, mut least) = (bags[i], lines[i]);
        i += 1;
        while i < n && bags[i] == bag {
            for (least, distance) in least.iter_mut().zip(&lines[i]) {
                *least = minimum(*distance, *least);
            }
            i += 1;
        }
        for (place, least) in nearest[bag][first..].iter_mut().zip(&least) {
            *place = minimum(*least, *place);
        }
    }
}

/// One instruction, since neither is NaN.
#[inline(always)]
fn minimum(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_one_another_and_a_large_bag_is_not_divided() {
        let mut builder = BagSet::<()>::builder();
        for (bag_idx, size) in [5, 300, 90, 90, 90, 1000, 7].into_iter().enumerate() {
            builder.bag(bag_idx.to_string(), (), vec![[0.0; 20]; size]).unwrap();
        }
        assert_eq!(groups_of(&builder.build().unwrap()), [0..2, 2..5, 5..6, 6..7]);
    }
}
