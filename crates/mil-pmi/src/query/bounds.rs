//! How many questions there can be: Theorem 3.

use serde::{Deserialize, Serialize};

/// The most questions that the loop can ask, known before the first.
///
/// Over $N$ bags of $N_i$ instances, $n$ in all:
///
/// - for $\nu<1/N$ no virtual instance is outside, so that each removal takes an instance from every bag, and none is emptied: $\min_iN_i-1$;
/// - else at least $(1-\nu)N$ bags have an instance inside. The paper prints $\lceil n/((1-\nu)N)\rceil-1$. A question is asked only if the removal that it may cause leaves an instance in every bag, hence already
///   $q\,(1-\nu)N\le n-N$.
///
/// ```
/// use mil_pmi::QueryBounds;
/// let bounds = QueryBounds::of(&[4; 8], 0.3);
/// assert_eq!((bounds.printed, bounds.tight), (Some(5), 4));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryBounds {
    /// As the paper prints it; `None` at $\nu=1$, where it is infinite.
    pub printed: Option<usize>,
    /// What the proof gives when nothing is given away: never more than is printed. Every removal takes at least one instance, so that it is finite even at $\nu=1$.
    pub tight: usize,
}

/// What rounding may add to a quotient: no reason for another question, nor for one less.
const ROUNDING: f64 = 1e-9;

impl QueryBounds {
    /// For bags of these sizes, each at least 1, and a share $\nu$ of outliers.
    #[must_use]
    pub fn of(sizes: &[usize], nu: f64) -> QueryBounds {
        let n_bags = sizes.len();
        let n_instances = sizes.iter().fold(0_usize, |sum, &size| sum.saturating_add(size));
        if nu * (n_bags as f64) < 1.0 - ROUNDING {
            let least = sizes.iter().min().map_or(0, |least| least.saturating_sub(1));
            return QueryBounds { printed: Some(least), tight: least };
        }
        let n_spare = n_instances.saturating_sub(n_bags);
        let n_inside = (1.0 - nu) * n_bags as f64;
        if n_inside < ROUNDING {
            return QueryBounds { printed: None, tight: n_spare };
        }
        let printed = (n_instances as f64 / n_inside - ROUNDING).ceil() as usize;
        let tight = (n_spare as f64 / n_inside + ROUNDING).floor() as usize;
        QueryBounds { printed: Some(printed.saturating_sub(1)), tight: tight.min(n_spare) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_outliers_the_smallest_bag_counts() {
        assert_eq!(QueryBounds::of(&[5, 3, 9], 0.3), QueryBounds { printed: Some(2), tight: 2 });
        assert_eq!(QueryBounds::of(&[1, 3, 9], 0.01).tight, 0);
        assert_eq!(QueryBounds::of(&[usize::MAX, 2], 0.3).tight, 1);
    }

    #[test]
    fn quotients_that_are_whole_are_not_rounded_away() {
        // 40 instances in 10 bags, of which 9 have one inside: 30 spare ones make 3 questions, and 10/3 the printed 4.
        assert_eq!(QueryBounds::of(&[4; 10], 0.1), QueryBounds { printed: Some(4), tight: 3 });
        // (1 - 0.4) 5 = 3 rounds; 15 spare instances make 5 questions.
        assert_eq!(QueryBounds::of(&[4; 5], 0.4), QueryBounds { printed: Some(6), tight: 5 });
    }

    #[test]
    fn where_all_may_be_outliers_each_question_takes_an_instance() {
        assert_eq!(QueryBounds::of(&[4, 2, 3], 1.0), QueryBounds { printed: None, tight: 6 });
    }

    #[test]
    fn the_tight_bound_is_never_above_the_printed_one() {
        for n_bags in 1..30 {
            for size in 1..8 {
                for step in 1..20 {
                    let bounds = QueryBounds::of(&vec![size; n_bags], f64::from(step) / 20.0);
                    assert!(bounds.printed.is_none_or(|printed| bounds.tight <= printed), "{n_bags} {size} {step}");
                }
            }
        }
    }
}
