//! Bags of instances: the one representation of data that every learner receives.
//!
//! A [`BagSet`] keeps all instances in one matrix of features × instances. The matrix is column-major, hence one instance is one
//! contiguous column and one bag one contiguous block of columns; a [`Bag`] is a view of such a block. A set is built by
//! [`BagSet::from_parts`], mostly through [`BagSetBuilder`], is checked once there, and does not change afterwards: whoever receives a
//! `BagSet` trusts it.

mod builder;
mod set;
mod view;

pub use builder::BagSetBuilder;
pub use set::{BagSet, BagSetParts};
pub use view::Bag;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{BagError, FitError};
    use crate::label::{BagLabel, ClassId, ClassNames, Label};

    fn two_bags() -> BagSet<Label> {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[1.0, 2.0], [3.0, 4.0]]).unwrap();
        builder.bag("b", Label::Negative, [[5.0, 6.0]]).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn a_bag_is_a_contiguous_block_of_columns() {
        let bags = two_bags();
        assert_eq!(bags.instances().shape(), (2, 3));
        assert_eq!(bags.bag(0).matrix(), bags.instances().columns(0, 2));
        assert_eq!(bags.bag(1).instances().collect::<Vec<_>>(), [[5.0, 6.0]]);
    }

    #[test]
    fn selection_keeps_order_labels_and_names() {
        let swapped = two_bags().select(&[1, 0]);
        assert_eq!(swapped.names(), ["b", "a"]);
        assert_eq!(swapped.labels(), [Label::Negative, Label::Positive]);
        assert_eq!(swapped.bag(1).instance(1), [3.0, 4.0]);
        assert_eq!(swapped.select(&[1, 0]), two_bags());
    }

    #[test]
    fn selection_of_instances_keeps_the_bags_and_empties_none() {
        let less = two_bags().select_instances(&[false, true, true]).unwrap();
        assert_eq!(less.names(), ["a", "b"]);
        assert_eq!((less.columns_of(0), less.bag(0).instance(0)), (0..1, &[3.0, 4.0][..]));
        assert_eq!(less.bag(1), two_bags().bag(1));
        let error = two_bags().select_instances(&[true, true, false]).unwrap_err();
        assert_eq!(error, BagError::EmptyBag { bag_idx: 1, name: "b".into() });
    }

    #[test]
    fn each_fault_names_its_place() {
        let mut builder = BagSet::builder();
        builder.bag("a", Label::Positive, [[1.0, 2.0]]).unwrap();
        let ragged = builder.bag("b", Label::Negative, vec![vec![1.0, 2.0], vec![1.0]]).unwrap_err();
        assert_eq!(ragged.to_string(), "bag 1 (\"b\"), instance 1 has 1 features, expected 2");
        let nan = builder.bag("c", Label::Negative, [[0.0, f64::NAN]]).unwrap_err();
        assert_eq!(nan.to_string(), "bag 2 (\"c\"), instance 0, feature 1 is NaN; expected a finite number");
        let mut builder = BagSet::<Label>::builder();
        assert_eq!(builder.instance(&[1.0]).unwrap_err(), BagError::InstanceBeforeBag);
        assert_eq!(builder.clone().build().unwrap_err(), BagError::NoBags);
        builder.open_bag("hollow", Label::Negative);
        assert!(matches!(builder.build(), Err(BagError::EmptyBag { bag_idx: 0, .. })));
    }

    #[test]
    fn two_bags_of_one_name_are_refused() {
        let mut builder = BagSet::builder();
        builder.bag("a", (), [[1.0]]).unwrap().bag("a", (), [[2.0]]).unwrap();
        let error = builder.build().unwrap_err();
        assert_eq!(error, BagError::DuplicateName { first_idx: 0, bag_idx: 1, name: "a".into() });
    }

    #[test]
    fn instance_labels_are_all_or_none() {
        let mut builder = BagSet::builder();
        builder.open_bag("a", Label::Positive);
        builder.labelled_instance(&[1.0], Label::Positive).unwrap().instance(&[2.0]).unwrap();
        assert_eq!(builder.build().unwrap_err(), BagError::Count { what: "instance labels", found: 1, expected: 2 });
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let parts = || BagSetParts {
            n_features: 2,
            values: vec![1.0, 2.0, 3.0, 4.0],
            offsets: vec![0, 1, 2],
            names: vec!["a".to_owned(), "b".to_owned()],
            labels: vec![Label::Positive, Label::Negative],
            instance_labels: None,
            feature_names: None,
            class_names: Label::fixed_class_names().unwrap(),
        };
        assert_eq!(BagSet::from_parts(parts()).unwrap().bag(1).instance(0), [3.0, 4.0]);
        let broken = |change: fn(&mut BagSetParts<Label>)| {
            let mut parts = parts();
            change(&mut parts);
            BagSet::from_parts(parts).unwrap_err()
        };
        let count = |what, found, expected| BagError::Count { what, found, expected };
        assert_eq!(broken(|p| p.values.truncate(3)), count("values", 3, 4));
        assert_eq!(broken(|p| p.labels.truncate(1)), count("bag labels", 1, 2));
        assert_eq!(broken(|p| p.offsets.truncate(2)), count("bag offsets", 2, 3));
        assert_eq!(broken(|p| p.offsets = vec![0, 3, 2]), BagError::Offsets);
        assert_eq!(broken(|p| p.offsets = vec![1, 1, 2]), BagError::Offsets);
        assert!(matches!(broken(|p| p.offsets = vec![0, 2, 2]), BagError::EmptyBag { bag_idx: 1, .. }));
        assert!(matches!(
            broken(|p| p.values[3] = f64::INFINITY),
            BagError::NotFinite { bag_idx: 1, feature_idx: 1, .. }
        ));
        assert!(matches!(broken(|p| p.n_features = 0), BagError::NoFeatures { .. }));
        assert_eq!(broken(|p| p.instance_labels = Some(vec![])), count("instance labels", 0, 2));
    }

    #[test]
    fn default_feature_names_count_as_none() {
        let mut builder = BagSet::builder();
        builder.bag("a", (), [[1.0, 2.0]]).unwrap().feature_names(["f1", "f2"]);
        let plain = builder.clone().build().unwrap();
        assert_eq!((plain.feature_names(), plain.feature_name(1)), (None, "f2".to_owned()));
        builder.feature_names(["width", "width"]);
        assert_eq!(builder.build().unwrap_err(), BagError::FeatureNames { found: 1, expected: 2 });
    }

    #[test]
    fn one_class_against_the_rest_keeps_the_bags() {
        let names = ClassNames::new(["x", "y", "z"]);
        let mut builder = BagSet::builder_of_classes(names);
        builder.bag("a", ClassId(2), [[1.0]]).unwrap().bag("b", ClassId(0), [[2.0]]).unwrap();
        let set = builder.clone().build().unwrap();
        assert_eq!(set.one_against_rest(ClassId(2)).labels(), [Label::Positive, Label::Negative]);
        assert_eq!(set.class_counts(), [1, 0, 1]);
        builder.bag("c", ClassId(3), [[3.0]]).unwrap();
        assert_eq!(builder.build().unwrap_err(), BagError::UnknownClass { bag_idx: 2, class_idx: 3, n_classes: 3 });
    }

    #[test]
    fn both_classes_are_required_where_both_are_needed() {
        assert!(two_bags().require_both_classes().is_ok());
        let lone = two_bags().select(&[0]);
        assert!(matches!(
            lone.require_both_classes(),
            Err(FitError::SingleClass { label: Label::Positive, n_bags: 1 })
        ));
    }
}
