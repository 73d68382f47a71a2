//! Random bag sets for property tests.

use mil_core::{BagSet, ClassId, ClassNames, Label};
use proptest::prelude::*;

/// A corner of the space of bag sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Real values within ±10, bags of 1 to 5 instances.
    Plain,
    /// Values from −2 to 2 in whole steps: many ties.
    Ties,
    /// All instances drawn from a pool of two: many duplicates, within bags and between the classes.
    Duplicates,
    /// Bags of one instance each: the problem is an ordinary two-class one.
    SingleInstances,
    /// The first feature is the same everywhere.
    ConstantFeature,
    /// Values of magnitude up to 1e150, whose squares leave the comfortable range of `f64`.
    LargeMagnitudes,
}

/// All corners.
pub const FLAVOURS: [Flavour; 6] = [
    Flavour::Plain,
    Flavour::Ties,
    Flavour::Duplicates,
    Flavour::SingleInstances,
    Flavour::ConstantFeature,
    Flavour::LargeMagnitudes,
];

/// Bag sets of any flavour: 1 to 4 features, at least `min_per_class` bags of each class and up to 6 more.
pub fn bag_sets(min_per_class: usize) -> impl Strategy<Value = BagSet<Label>> {
    prop::sample::select(FLAVOURS.to_vec()).prop_flat_map(move |flavour| bag_sets_of(flavour, min_per_class))
}

/// The same with classes instead of labels: `n_classes` of them, the last of which has no bag, as happens inside a training fold.
///
/// # Panics
/// If there are fewer than 3 classes.
pub fn class_sets(n_classes: u32) -> impl Strategy<Value = BagSet<ClassId>> {
    assert!(n_classes >= 3, "two classes with bags and one without");
    let names = ClassNames::new((0..n_classes).map(|class| class.to_string()));
    bag_sets(2).prop_map(move |bags| {
        let mut builder = BagSet::builder_of_classes(names.clone());
        for (bag_idx, bag) in bags.bags().enumerate() {
            let class = ClassId(bag_idx as u32 % (n_classes - 1));
            builder.bag(bag.name(), class, bag.instances()).expect("instances of a bag set");
        }
        builder.build().expect("bags of a bag set")
    })
}

/// Bag sets of one flavour.
pub fn bag_sets_of(flavour: Flavour, min_per_class: usize) -> impl Strategy<Value = BagSet<Label>> {
    (1usize..=4).prop_flat_map(move |n_features| {
        let max_size = if flavour == Flavour::SingleInstances { 1 } else { 5 };
        let bag = prop::collection::vec(instances(flavour, n_features), 1..=max_size);
        let pool = prop::collection::vec(instances(Flavour::Plain, n_features), 2);
        (prop::collection::vec((any::<bool>(), bag), 2 * min_per_class..=2 * min_per_class + 6), pool).prop_map(
            move |(bags, pool)| {
                let mut builder = BagSet::builder();
                for (bag_idx, (positive, instances)) in bags.into_iter().enumerate() {
                    // The first bags see to it that both classes are there.
                    let positive = if bag_idx < 2 * min_per_class { bag_idx % 2 == 0 } else { positive };
                    let label = if positive { Label::Positive } else { Label::Negative };
                    builder.open_bag(bag_idx.to_string(), label);
                    for instance in instances {
                        let instance = match flavour {
                            Flavour::Duplicates => pool[usize::from(instance[0] > 0.0)].clone(),
                            _ => instance,
                        };
                        builder.instance(&instance).expect("finite and of one dimension");
                    }
                }
                builder.build().expect("bags of at least one instance with distinct names")
            },
        )
    })
}

fn instances(flavour: Flavour, n_features: usize) -> impl Strategy<Value = Vec<f64>> {
    let value = match flavour {
        Flavour::Ties => (-2i8..=2).prop_map(f64::from).boxed(),
        Flavour::LargeMagnitudes => (-1.0f64..1.0, 0i32..=150).prop_map(|(x, e)| x * 10f64.powi(e)).boxed(),
        _ => (-10.0f64..10.0).boxed(),
    };
    prop::collection::vec(value, n_features).prop_map(move |mut instance| {
        if flavour == Flavour::ConstantFeature {
            instance[0] = 0.1;
        }
        instance
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    /// 200 sets of a flavour, the same each time.
    fn samples(flavour: Flavour) -> Vec<BagSet<Label>> {
        let mut runner = TestRunner::deterministic();
        (0..200).map(|_| bag_sets_of(flavour, 1).new_tree(&mut runner).unwrap().current()).collect()
    }

    fn values(bags: &BagSet<Label>) -> Vec<&[f64]> {
        bags.bags().flat_map(|bag| bag.instances()).collect()
    }

    #[test]
    fn every_set_has_both_classes() {
        for flavour in FLAVOURS {
            assert!(samples(flavour).iter().all(|bags| bags.require_both_classes().is_ok()), "{flavour:?}");
        }
    }

    #[test]
    fn the_last_class_has_no_bag_and_the_others_have() {
        let mut runner = TestRunner::deterministic();
        for _ in 0..50 {
            let counts = class_sets(3).new_tree(&mut runner).unwrap().current().class_counts();
            assert!(counts[0] > 0 && counts[1] > 0 && counts[2] == 0, "{counts:?}");
        }
    }

    #[test]
    fn each_flavour_reaches_what_it_claims() {
        let large_bags =
            samples(Flavour::Plain).iter().filter(|set| set.bags().any(|bag| bag.n_instances() == 5)).count();
        assert!(large_bags > 50);
        let repeats = |set: &BagSet<Label>| {
            let mut all = values(set);
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            all.windows(2).any(|pair| pair[0] == pair[1])
        };
        assert!(samples(Flavour::Ties).iter().filter(|set| repeats(set)).count() > 50);
        assert!(samples(Flavour::Duplicates).iter().filter(|set| repeats(set)).count() > 150);
        assert!(samples(Flavour::SingleInstances).iter().all(|set| set.n_bags() == set.n_instances()));
        assert!(samples(Flavour::ConstantFeature).iter().all(|set| values(set).iter().all(|x| x[0] == 0.1)));
        let huge = |set: &&BagSet<Label>| set.instances().amax() > 1e100;
        assert!(samples(Flavour::LargeMagnitudes).iter().filter(huge).count() > 100);
    }
}
