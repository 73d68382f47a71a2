//! Which features a model uses, by what it loses without them.
//!
//! Breiman, *Random Forests*, Machine Learning 45, 2001, §10. The values of one feature are dealt anew among all instances, which leaves its distribution as it is and takes away what it tells; the importance of the feature is the accuracy that is
//! lost. Bags that the model has not been fitted on show what generalises; training bags show what was learnt. A feature that others can stand in for loses little. Cost: a scoring of all bags for each feature and repetition.
//!
//! ```
//! use mil_core::{BagSet, Label, Learner, NearestCentroid, permutation_importance};
//! let mut builder = BagSet::builder();
//! for i in 0..20 {
//!     let noise = f64::from(i * 7 % 20);
//!     builder.bag(format!("p{i}"), Label::Positive, [[50.0, noise]])?.bag(format!("n{i}"), Label::Negative, [[0.0, noise]])?;
//! }
//! let bags = builder.build()?;
//! let model = NearestCentroid::default().fit(&bags)?;
//! let importance = permutation_importance(&model, &bags, 10, 0)?;
//! assert!(importance[0].mean > 0.2 && importance[1].mean == 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::bag::BagSet;
use crate::error::ScoreError;
use crate::label::Target;
use crate::learner::BagModel;
use crate::metrics::accuracy;
use crate::random::stream;
use crate::stats::Summary;

/// The accuracy over bags that is lost when a feature is dealt anew, one summary over the repetitions for each feature. Below 0 where the model does better without it.
///
/// # Errors
/// If a bag cannot be scored.
///
/// # Panics
/// If there is no repetition.
pub fn permutation_importance<Y: Target, M: BagModel<Y>>(
    model: &M,
    bags: &BagSet<Y>,
    n_repeats: usize,
    seed: u64,
) -> Result<Vec<Summary>, ScoreError> {
    assert!(n_repeats > 0, "a mean over no repetition");
    let whole = accuracy_of(model, bags)?;
    (0..bags.n_features())
        .into_par_iter()
        .map_init(
            || bags.clone(),
            |dealt, feature_idx| {
                let mut rng = stream(seed, "permutation", feature_idx as u64);
                let mut losses = Vec::with_capacity(n_repeats);
                for _ in 0..n_repeats {
                    let mut values = bags.feature_values(feature_idx);
                    values.shuffle(&mut rng);
                    dealt.set_feature_values(feature_idx, &values);
                    losses.push(accuracy_of(model, dealt).map(|accuracy| whole - accuracy));
                }
                dealt.set_feature_values(feature_idx, &bags.feature_values(feature_idx));
                losses.into_iter().collect::<Result<Vec<f64>, _>>().map(|losses| Summary::of(&losses))
            },
        )
        .collect()
}

fn accuracy_of<Y: Target, M: BagModel<Y>>(model: &M, bags: &BagSet<Y>) -> Result<f64, ScoreError> {
    let predicted: Vec<Y> = model.scores(bags)?.iter().map(Y::decide).collect();
    Ok(accuracy(&predicted, bags.labels()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bag::Bag;
    use crate::label::Label;

    /// Positive where the first feature is, whatever the second.
    struct First;

    impl BagModel for First {
        fn n_features(&self) -> usize {
            2
        }

        fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
            bag.require_features(2)?;
            Ok(bag.instance(0)[0])
        }
    }

    #[test]
    fn a_coin_is_lost_with_the_only_feature_and_nothing_with_another() {
        let mut builder = BagSet::builder();
        for i in 0..500 {
            let (label, x) = if i % 2 == 0 { (Label::Positive, 1.0) } else { (Label::Negative, -1.0) };
            builder.bag(i.to_string(), label, [[x, f64::from(i)]]).unwrap();
        }
        let bags = builder.build().unwrap();
        let importance = permutation_importance(&First, &bags, 20, 1).unwrap();
        // Half of the bags get a value of the other class.
        assert!((importance[0].mean - 0.5).abs() < 0.02, "{}", importance[0].mean);
        assert_eq!((importance[1].mean, importance[1].n), (0.0, 20));
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(alone.install(|| permutation_importance(&First, &bags, 20, 1).unwrap()), importance);
    }

    #[test]
    fn bags_of_another_dimension_are_refused() {
        let mut builder = BagSet::builder();
        builder.bag("p", Label::Positive, [[1.0]]).unwrap();
        assert!(permutation_importance(&First, &builder.build().unwrap(), 1, 0).is_err());
    }
}
