//! Bags put together from labelled instances, such as images of digits.
//!
//! Shrivastava, Pillai & Patel, *Multiple Kernel-based Dictionary Learning for Weakly Supervised Classification*, Pattern Recognition 2015,
//! §5.1 (MIDL): one class is positive, all others are negative; a positive bag holds 2 positive instances and 2 negative ones, a
//! negative bag 4 negative ones; 25 + 25 bags to train on, 75 + 75 to test on.
//!
//! Instances are drawn without replacement: none is in two bags, hence none in a training and in a test bag. For that, the positive
//! and the negative instances of the pool are shuffled once. The $k$-th positive bag takes the $k$-th group of positives and, from the
//! front, the $k$-th group of negatives; the $k$-th negative bag takes the $k$-th group of negatives from the back. With $m_\pm$ bags of
//! $n$ instances, $p$ of them positive in a positive bag, the pool must hold
//!
//! $$ m_+\,p \ \text{positives} \quad\text{and}\quad m_+(n-p) + m_-\,n \ \text{negatives.} $$
//!
//! If it does not, no bag is made, and the error names both numbers. It happens with the published figures: 75 test bags need 150
//! positives, and the test images of USPS hold 147 sevens. The paper does not say where its test images come from;
//! [`FromInstancesParams::train_test`] takes both kinds of bags from one pool, which for USPS is large enough.

use mil_core::{BagSet, Label, ParamRange, Params, stream};
use rand::seq::SliceRandom;

use super::{SynthError, add_shuffled, build};
use crate::LabelledInstances;

mil_core::params! {
    /// Bags of labelled instances, one class against the rest, drawn without replacement (Shrivastava, Pillai & Patel, *Multiple
    /// Kernel-based Dictionary Learning for Weakly Supervised Classification*, Pattern Recognition 2015, §5.1).
    ///
    /// The defaults are the paper's. No instance is in two bags; a pool that cannot give that many is refused.
    ///
    /// ```
    /// use mil_core::{ClassId, ClassNames};
    /// use mil_data::LabelledInstances;
    /// use mil_data::synth::FromInstancesParams;
    /// use nalgebra::DMatrix;
    ///
    /// // Forty instances of one feature, of the classes 0, 1, 2, 3 in turn.
    /// let values = DMatrix::from_fn(1, 40, |_, idx| idx as f64);
    /// let classes = (0..40).map(|idx| ClassId(idx % 4)).collect();
    /// let pool = LabelledInstances::new(values, classes, ClassNames::new(["0", "1", "2", "3"]))?;
    ///
    /// let params = FromInstancesParams { n_positive: 5, n_negative: 3, ..Default::default() };
    /// let bags = params.generate(&pool, "3")?;
    /// assert_eq!((bags.n_bags(), bags.n_instances()), (8, 32));
    ///
    /// let greedy = FromInstancesParams { n_positive: 6, ..params };
    /// assert_eq!(
    ///     greedy.generate(&pool, "3").unwrap_err().to_string(),
    ///     "the bags need 12 positive instances, but there are 10; instances are drawn without replacement: ask for fewer or smaller bags"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct FromInstancesParams {
        n_positive: usize = 25, ParamRange::AtLeast(0.0), "Number of positive bags to train on.";
        n_negative: usize = 25, ParamRange::AtLeast(0.0), "Number of negative bags to train on.";
        n_test_positive: usize = 75, ParamRange::AtLeast(0.0), "Number of positive bags to test on.";
        n_test_negative: usize = 75, ParamRange::AtLeast(0.0), "Number of negative bags to test on.";
        bag_size: usize = 4, ParamRange::AtLeast(1.0), "Instances in every bag.";
        positives_per_bag: usize = 2, ParamRange::AtLeast(1.0), "Positive instances in a positive bag; at most the size of the bag.";
        seed: u64 = 0, ParamRange::Any, "Fixes which instances meet in which bag.";
    }
}

/// Bags to train on and bags to test on, without an instance in common.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainTest {
    /// Bags to fit on.
    pub train: BagSet<Label>,
    /// Bags held out.
    pub test: BagSet<Label>,
}

impl FromInstancesParams {
    /// The training bags only, from the instances of the pool.
    ///
    /// # Errors
    /// If a parameter is out of range, the pool lacks the class or has too few instances, or no bag is asked for.
    pub fn generate(&self, pool: &LabelledInstances, positive_class: &str) -> Result<BagSet<Label>, SynthError> {
        let dealt = Dealt::new(self, pool, positive_class)?;
        dealt.require(self.n_positive, self.n_negative)?;
        dealt.bags(0, self.n_positive, 0, self.n_negative)
    }

    /// Training and test bags from one pool. The training bags are those of [`generate`](Self::generate).
    ///
    /// # Errors
    /// As for [`generate`](Self::generate); the pool must be large enough for both.
    pub fn train_test(&self, pool: &LabelledInstances, positive_class: &str) -> Result<TrainTest, SynthError> {
        let dealt = Dealt::new(self, pool, positive_class)?;
        dealt.require(
            self.n_positive.saturating_add(self.n_test_positive),
            self.n_negative.saturating_add(self.n_test_negative),
        )?;
        Ok(TrainTest {
            train: dealt.bags(0, self.n_positive, 0, self.n_negative)?,
            test: dealt.bags(self.n_positive, self.n_test_positive, self.n_negative, self.n_test_negative)?,
        })
    }

    /// Training bags from one pool and test bags from another, as where the data come with test instances of their own.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate), with either pool.
    pub fn train_test_of(
        &self,
        train_pool: &LabelledInstances,
        test_pool: &LabelledInstances,
        positive_class: &str,
    ) -> Result<TrainTest, SynthError> {
        let test =
            FromInstancesParams { n_positive: self.n_test_positive, n_negative: self.n_test_negative, ..self.clone() };
        Ok(TrainTest {
            train: self.generate(train_pool, positive_class)?,
            test: test.generate(test_pool, positive_class)?,
        })
    }
}

/// A pool whose instances have been shuffled and divided by label.
struct Dealt<'a> {
    params: &'a FromInstancesParams,
    pool: &'a LabelledInstances,
    positives: Vec<usize>,
    negatives: Vec<usize>,
}

impl<'a> Dealt<'a> {
    fn new(
        params: &'a FromInstancesParams,
        pool: &'a LabelledInstances,
        positive_class: &str,
    ) -> Result<Self, SynthError> {
        params.check()?;
        let FromInstancesParams { positives_per_bag, bag_size, seed, .. } = *params;
        if positives_per_bag > bag_size {
            return Err(SynthError::PositivesPerBag { positives_per_bag, bag_size });
        }
        let Some(positive) = pool.class_names().id(positive_class) else {
            let known = pool.class_names().iter().map(str::to_owned).collect();
            return Err(SynthError::UnknownClass { name: positive_class.to_owned(), known });
        };
        let (mut positives, mut negatives): (Vec<usize>, Vec<usize>) =
            (0..pool.n_instances()).partition(|&idx| pool.classes()[idx] == positive);
        positives.shuffle(&mut stream(seed, "bags of instances, positives", 0));
        negatives.shuffle(&mut stream(seed, "bags of instances, negatives", 0));
        Ok(Dealt { params, pool, positives, negatives })
    }

    /// Refuses a pool too small for that many bags: $m_+ p$ positives and $m_+(n-p) + m_- n$ negatives.
    fn require(&self, n_positive: usize, n_negative: usize) -> Result<(), SynthError> {
        let FromInstancesParams { positives_per_bag, bag_size, .. } = *self.params;
        let needed_positives = n_positive.saturating_mul(positives_per_bag);
        let needed_negatives =
            n_positive.saturating_mul(bag_size - positives_per_bag).saturating_add(n_negative.saturating_mul(bag_size));
        for (label, needed, available) in [
            (Label::Positive, needed_positives, self.positives.len()),
            (Label::Negative, needed_negatives, self.negatives.len()),
        ] {
            if needed > available {
                return Err(SynthError::PoolTooSmall { label, needed, available });
            }
        }
        Ok(())
    }

    /// So many bags of either label, from the given groups on.
    fn bags(
        &self,
        first_positive: usize,
        n_positive: usize,
        first_negative: usize,
        n_negative: usize,
    ) -> Result<BagSet<Label>, SynthError> {
        build(n_positive, n_negative, |builder, label, class_bag_idx| {
            let (members, purpose, group) = match label {
                Label::Positive => {
                    let group = first_positive + class_bag_idx;
                    (self.positive_bag(group), "bags of instances, order in a positive bag", group)
                }
                Label::Negative => {
                    let group = first_negative + class_bag_idx;
                    (self.negative_bag(group), "bags of instances, order in a negative bag", group)
                }
            };
            let instances = members.into_iter().map(|(idx, label)| (self.pool.instance(idx), label)).collect();
            add_shuffled(builder, instances, &mut stream(self.params.seed, purpose, group as u64))
        })
    }

    fn positive_bag(&self, group: usize) -> Vec<(usize, Label)> {
        let FromInstancesParams { positives_per_bag, bag_size, .. } = *self.params;
        let negatives_per_bag = bag_size - positives_per_bag;
        let positives = &self.positives[group * positives_per_bag..][..positives_per_bag];
        let negatives = &self.negatives[group * negatives_per_bag..][..negatives_per_bag];
        let positives = positives.iter().map(|&idx| (idx, Label::Positive));
        positives.chain(negatives.iter().map(|&idx| (idx, Label::Negative))).collect()
    }

    fn negative_bag(&self, group: usize) -> Vec<(usize, Label)> {
        let bag_size = self.params.bag_size;
        let members = self.negatives.iter().rev().skip(group * bag_size).take(bag_size);
        members.map(|&idx| (idx, Label::Negative)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::promises;
    use super::*;
    use mil_core::{ClassId, ClassNames};
    use nalgebra::DMatrix;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Instances of five classes in turn; each instance is its own index, so that bags tell what they hold.
    fn pool(n_instances: usize) -> LabelledInstances {
        let classes = (0..n_instances).map(|idx| ClassId(idx as u32 % 5)).collect();
        let names = ClassNames::new(["0", "1", "2", "3", "4"]);
        LabelledInstances::new(DMatrix::from_fn(1, n_instances, |_, idx| idx as f64), classes, names).unwrap()
    }

    fn held_by(bags: &BagSet<Label>) -> Vec<usize> {
        bags.instances().iter().map(|&value| value as usize).collect()
    }

    fn small() -> FromInstancesParams {
        FromInstancesParams {
            n_positive: 6,
            n_negative: 4,
            n_test_positive: 3,
            n_test_negative: 5,
            bag_size: 5,
            positives_per_bag: 2,
            seed: 9,
        }
    }

    #[test]
    fn the_promises_of_every_generator_hold() {
        let pool = pool(1000);
        let generate = |seed, n_positive, n_negative| {
            FromInstancesParams { n_positive, n_negative, seed, ..Default::default() }.generate(&pool, "2").unwrap()
        };
        promises::check(generate);
        promises::standard_assumption_holds(&generate(5, 20, 20));
    }

    #[test]
    fn labels_are_those_of_the_classes() {
        let bags = small().generate(&pool(200), "2").unwrap();
        for (held, &label) in held_by(&bags).into_iter().zip(bags.instance_labels().unwrap()) {
            assert_eq!(held % 5 == 2, label == Label::Positive, "instance {held}");
        }
        for (bag_idx, &label) in bags.labels().iter().enumerate() {
            let n_positive = held_by(&bags)[bags.columns_of(bag_idx)].iter().filter(|&&held| held % 5 == 2).count();
            assert_eq!(n_positive, if label == Label::Positive { 2 } else { 0 });
        }
    }

    #[test]
    fn no_instance_is_in_two_bags_of_training_and_test() {
        let both = small().train_test(&pool(200), "0").unwrap();
        assert_eq!(both.train.class_counts(), [4, 6]);
        assert_eq!(both.test.class_counts(), [5, 3]);
        let mut held = held_by(&both.train);
        held.extend(held_by(&both.test));
        assert_eq!(held.len(), 18 * 5);
        assert_eq!(held.iter().collect::<BTreeSet<_>>().len(), held.len());
        assert_eq!(both.train, small().generate(&pool(200), "0").unwrap());
    }

    #[test]
    fn a_pool_that_just_suffices_is_used_up() {
        // 9 positive bags take 18 positives and 27 negatives, 9 negative bags 45 negatives: 18 of one class, 72 of the rest.
        let both = small().train_test(&pool(90), "4").unwrap();
        let held: BTreeSet<usize> = held_by(&both.train).into_iter().chain(held_by(&both.test)).collect();
        assert_eq!(held.len(), 90);
        assert_eq!(
            small().train_test(&pool(89), "4").unwrap_err(),
            SynthError::PoolTooSmall { label: Label::Positive, needed: 18, available: 17 }
        );
        let more = FromInstancesParams { n_negative: 5, ..small() };
        assert_eq!(
            more.train_test(&pool(90), "4").unwrap_err(),
            SynthError::PoolTooSmall { label: Label::Negative, needed: 77, available: 72 }
        );
    }

    proptest! {
        #[test]
        fn bags_are_disjoint_or_the_shortage_is_named(
            n_instances in 1..120_usize,
            counts in [0..5_usize, 0..5, 0..5, 0..5],
            (bag_size, positives_per_bag) in (1..6_usize).prop_flat_map(|size| (Just(size), 1..=size)),
            seed: u64,
        ) {
            let [n_positive, n_negative, n_test_positive, n_test_negative] = counts.map(|n| n + 1);
            let params = FromInstancesParams {
                n_positive, n_negative, n_test_positive, n_test_negative, bag_size, positives_per_bag, seed,
            };
            let n_bags = n_positive + n_negative + n_test_positive + n_test_negative;
            let (m_plus, n_ones) = (n_positive + n_test_positive, n_instances.div_ceil(5));
            let needed_ones = m_plus * positives_per_bag;
            let needed_others = n_bags * bag_size - needed_ones;
            match params.train_test(&pool(n_instances), "0") {
                Ok(both) => {
                    prop_assert!(needed_ones <= n_ones && needed_others <= n_instances - n_ones);
                    let held: Vec<usize> = held_by(&both.train).into_iter().chain(held_by(&both.test)).collect();
                    prop_assert_eq!(held.len(), n_bags * bag_size);
                    prop_assert_eq!(held.iter().collect::<BTreeSet<_>>().len(), held.len());
                    promises::standard_assumption_holds(&both.train);
                    promises::standard_assumption_holds(&both.test);
                }
                Err(SynthError::PoolTooSmall { label: Label::Positive, needed, available }) => {
                    prop_assert_eq!((needed, available), (needed_ones, n_ones));
                    prop_assert!(needed > available);
                }
                Err(SynthError::PoolTooSmall { label: Label::Negative, needed, available }) => {
                    prop_assert_eq!((needed, available), (needed_others, n_instances - n_ones));
                    prop_assert!(needed > available);
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn two_pools_give_train_and_test_each_their_own() {
        let params = small();
        let both = params.train_test_of(&pool(100), &pool(60), "1").unwrap();
        assert_eq!(both.train, params.generate(&pool(100), "1").unwrap());
        assert_eq!(both.test.class_counts(), [5, 3]);
        let error = params.train_test_of(&pool(100), &pool(20), "1").unwrap_err();
        assert_eq!(error, SynthError::PoolTooSmall { label: Label::Positive, needed: 6, available: 4 });
    }

    #[test]
    fn faults_of_the_caller_are_named() {
        let error = small().generate(&pool(100), "7").unwrap_err();
        assert_eq!(error.to_string(), "there is no class \"7\" among the instances; known: 0, 1, 2, 3, 4");
        let error = FromInstancesParams { positives_per_bag: 6, ..small() }.generate(&pool(100), "1").unwrap_err();
        assert_eq!(error.to_string(), "positives_per_bag is 6, expected at most bag_size, which is 5");
        let huge = FromInstancesParams { n_positive: usize::MAX, ..small() }.train_test(&pool(100), "1").unwrap_err();
        assert!(matches!(huge, SynthError::PoolTooSmall { label: Label::Positive, needed: usize::MAX, .. }));
    }

    #[test]
    fn bags_may_be_all_positive() {
        let params = FromInstancesParams { bag_size: 2, positives_per_bag: 2, ..small() };
        promises::standard_assumption_holds(&params.generate(&pool(100), "3").unwrap());
    }
}
