//! How far apart instances are, as a unit for widths of kernels.

use mil_core::stream;
use nalgebra::DMatrixView;
use rand::RngExt;

/// Pairs that the median is taken over, where there are more.
const N_PAIRS: usize = 10_000;

/// The median of $\lVert x-z\rVert^2$ over pairs of different columns: all pairs where there are at most 10,000, else as many drawn at random from the seed.
///
/// It is the unit in which widths mean the same whatever the scale of the features: $\gamma = r/\operatorname{median}$ of a [Gaussian kernel](crate::Kernel::Gaussian), or
/// $\sigma^2 = r\operatorname{median}$ of a [similarity](crate::BagSimilarity). Of an even number of distances it is the upper of the middle two. It is 0 where there is no pair or more than half of all pairs are
/// equal, and infinite where a distance in the middle leaves the range of `f64`: whoever divides by it looks first.
///
/// ```
/// use mil_kernels::median_squared_distance;
/// use nalgebra::DMatrix;
/// let instances = DMatrix::from_row_slice(1, 3, &[0.0, 1.0, 3.0]); // three instances of one feature
/// assert_eq!(median_squared_distance(&instances, 0), 4.0); // of 1, 4 and 9
/// ```
#[must_use]
pub fn median_squared_distance<'a>(instances: impl Into<DMatrixView<'a, f64>>, seed: u64) -> f64 {
    let instances = instances.into();
    let n = instances.ncols();
    if n < 2 {
        return 0.0;
    }
    let distance = |i: usize, j: usize| (instances.column(i) - instances.column(j)).norm_squared();
    let mut distances: Vec<f64> = if n * (n - 1) / 2 <= N_PAIRS {
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| distance(i, j)).collect()
    } else {
        let mut rng = stream(seed, "median distance", 0);
        let mut pair = || {
            let i = rng.random_range(0..n);
            let j = rng.random_range(0..n - 1);
            (i, if j < i { j } else { j + 1 })
        };
        (0..N_PAIRS).map(|_| pair()).map(|(i, j)| distance(i, j)).collect()
    };
    let middle = distances.len() / 2;
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    #[test]
    fn instances_without_a_pair_or_all_equal_are_no_distance_apart() {
        assert_eq!(median_squared_distance(&DMatrix::zeros(3, 0), 0), 0.0);
        assert_eq!(median_squared_distance(&DMatrix::repeat(3, 1, 7.0), 0), 0.0);
        assert_eq!(median_squared_distance(&DMatrix::repeat(3, 500, 7.0), 0), 0.0);
    }

    #[test]
    fn of_two_distances_in_the_middle_the_upper_one_counts() {
        // Four instances at 0, 1, 3, 7: squared distances 1, 4, 9, 16, 36, 49.
        let instances = DMatrix::from_row_slice(1, 4, &[0.0, 1.0, 3.0, 7.0]);
        assert_eq!(median_squared_distance(&instances, 0), 16.0);
    }

    #[test]
    fn pairs_drawn_at_random_come_near_the_median_of_all() {
        // Of n places in a row the share of pairs less than t n apart is 1 - (1 - t)^2: half of them for t = 1 - sqrt(1/2).
        let n = 2000;
        let instances = DMatrix::from_fn(1, n, |_, column| column as f64 / n as f64);
        let expected = (1.0 - 0.5_f64.sqrt()).powi(2);
        let drawn: Vec<f64> = (0..5).map(|seed| median_squared_distance(&instances, seed)).collect();
        for median in &drawn {
            assert!((median / expected - 1.0).abs() < 0.1, "{median} drawn, {expected} of all pairs");
        }
        assert!(drawn.iter().any(|median| *median != drawn[0]), "the seed has no say");
        assert_eq!(median_squared_distance(&instances, 0), drawn[0]);
    }

    #[test]
    fn distances_beyond_the_range_are_infinite() {
        let instances = DMatrix::from_row_slice(1, 2, &[-1e200, 1e200]);
        assert_eq!(median_squared_distance(&instances, 0), f64::INFINITY);
    }
}
