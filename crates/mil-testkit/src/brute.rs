//! Exhaustive enumeration, for problems small enough to solve by trying everything.

use mil_core::{BagSet, Label};

/// Every choice of one element from each of several collections, given their sizes; the last position changes fastest.
///
/// ```
/// use mil_testkit::brute::choices;
/// let all: Vec<Vec<usize>> = choices(&[2, 1, 2]).collect();
/// assert_eq!(all, [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]);
/// ```
pub fn choices(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let sizes = sizes.to_vec();
    let total: usize = sizes.iter().product();
    (0..total).map(move |mut code| {
        let mut choice = vec![0; sizes.len()];
        for (digit, &size) in choice.iter_mut().zip(&sizes).rev() {
            *digit = code % size;
            code /= size;
        }
        choice
    })
}

/// Every choice of a witness, as a position within its bag, for each positive bag in order.
pub fn witnesses(bags: &BagSet<Label>) -> impl Iterator<Item = Vec<usize>> + use<> {
    let sizes: Vec<usize> = bags.positive_bags().map(|bag| bag.n_instances()).collect();
    choices(&sizes)
}

/// Every admissible labelling of the instances: those of negative bags negative, at least one positive in each positive bag.
pub fn labellings(bags: &BagSet<Label>) -> Vec<Vec<Label>> {
    let free: Vec<usize> = (0..bags.n_bags())
        .filter(|&bag_idx| bags.labels()[bag_idx] == Label::Positive)
        .flat_map(|bag_idx| bags.columns_of(bag_idx))
        .collect();
    choices(&vec![2; free.len()])
        .map(|bits| {
            let mut labels = vec![Label::Negative; bags.n_instances()];
            for (&column, bit) in free.iter().zip(bits) {
                labels[column] = if bit == 1 { Label::Positive } else { Label::Negative };
            }
            labels
        })
        .filter(|labels| {
            (0..bags.n_bags()).all(|bag_idx| {
                let any = labels[bags.columns_of(bag_idx)].contains(&Label::Positive);
                any == (bags.labels()[bag_idx] == Label::Positive)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_combinatorics() {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[1.0], [2.0], [3.0]]).unwrap();
        builder.bag("b", Label::Negative, [[4.0], [5.0]]).unwrap();
        builder.bag("c", Label::Positive, [[6.0], [7.0]]).unwrap();
        let bags = builder.build().unwrap();
        assert_eq!(witnesses(&bags).count(), 3 * 2);
        assert_eq!(labellings(&bags).len(), (8 - 1) * (4 - 1));
        assert!(labellings(&bags).iter().all(|labels| labels[3] == Label::Negative && labels[4] == Label::Negative));
    }
}
