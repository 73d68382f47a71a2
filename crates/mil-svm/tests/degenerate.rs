//! Inputs from which nothing can be learnt, or next to nothing: an error that says so, or a sensible model; no panic, no endless loop, no NaN.

use mil_core::{BagModel, BagSet, FitError, Label, Learner};
use mil_kernels::Kernel;
use mil_svm::{
    AlSvm, AwSvm, GridSearch, MiSvmBag, MiSvmPattern, Mica, MissSvm, Nsk, Sbmil, SilSvm, Smil, Stk, Stmil, Tunable,
};

const KERNELS: [Kernel; 3] =
    [Kernel::Linear, Kernel::Polynomial { degree: 3, scale: 1.0, offset: 1.0 }, Kernel::Gaussian { gamma: 0.5 }];

/// Calls a function with each learner of the crate.
trait Visitor {
    fn visit<L: Tunable<Model: BagModel>>(&mut self, name: &str, learner: L);
}

fn with_each_learner(visitor: &mut impl Visitor) {
    visitor.visit("SIL-SVM", SilSvm::default());
    visitor.visit("mi-SVM", MiSvmPattern { n_restarts: 1, ..Default::default() });
    visitor.visit("MI-SVM", MiSvmBag { n_restarts: 1, ..Default::default() });
    visitor.visit("sMIL", Smil::default());
    visitor.visit("stMIL", Stmil::default());
    visitor.visit("sbMIL", Sbmil::default());
    visitor.visit("MissSVM", MissSvm::default());
    visitor.visit("MICA", Mica::default());
    visitor.visit("AL-SVM", AlSvm::default());
    visitor.visit("AW-SVM", AwSvm::default());
    visitor.visit("NSK", Nsk::default());
    visitor.visit("STK", Stk::default());
}

fn set(bags: &[(Label, &[&[f64]])]) -> BagSet<Label> {
    let mut builder = BagSet::builder();
    for (bag_idx, (label, instances)) in bags.iter().enumerate() {
        builder.bag(bag_idx.to_string(), *label, instances.iter().copied()).unwrap();
    }
    builder.build().unwrap()
}

use Label::{Negative, Positive};

/// Every learner, kernel and a penalty at either end on one set of bags: what is fitted gives finite scores, and the same for equal bags.
struct IsSensible<'a>(&'a BagSet<Label>);

impl Visitor for IsSensible<'_> {
    fn visit<L: Tunable<Model: BagModel>>(&mut self, name: &str, learner: L) {
        for kernel in &KERNELS {
            for penalty in [1e-6, 1.0, 1e6] {
                let what = format!("{name} {kernel:?} C {penalty}");
                let model =
                    learner.tuned(penalty, kernel).fit(self.0).unwrap_or_else(|error| panic!("{what}: {error}"));
                for bag in self.0.bags() {
                    let score = model.score(bag).unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(score.is_finite(), "{what}: {score}");
                }
            }
        }
    }
}

#[test]
fn one_bag_for_each_class_is_enough() {
    with_each_learner(&mut IsSensible(&set(&[(Positive, &[&[1.0, 0.0]]), (Negative, &[&[0.0, 1.0]])])));
}

#[test]
fn all_instances_may_be_equal() {
    let x: &[f64] = &[0.5, -2.0];
    with_each_learner(&mut IsSensible(&set(&[
        (Positive, &[x, x, x]),
        (Negative, &[x]),
        (Positive, &[x]),
        (Negative, &[x, x]),
    ])));
}

#[test]
fn all_instances_may_be_zero() {
    let x: &[f64] = &[0.0];
    with_each_learner(&mut IsSensible(&set(&[(Positive, &[x, x]), (Negative, &[x, x, x])])));
}

#[test]
fn features_may_be_constant() {
    let bags: [(Label, &[&[f64]]); 4] = [
        (Positive, &[&[7.0, 1.0, 0.0], &[7.0, 2.0, 0.0]]),
        (Negative, &[&[7.0, -1.0, 0.0]]),
        (Positive, &[&[7.0, 3.0, 0.0]]),
        (Negative, &[&[7.0, -2.0, 0.0], &[7.0, 0.5, 0.0]]),
    ];
    with_each_learner(&mut IsSensible(&set(&bags)));
}

#[test]
fn a_positive_bag_may_equal_a_negative_one() {
    let bag: &[&[f64]] = &[&[1.0, 2.0], &[-1.0, 0.5]];
    with_each_learner(&mut IsSensible(&set(&[(Positive, bag), (Negative, bag)])));
}

#[test]
fn a_class_may_have_many_more_bags_than_the_other() {
    let instances: Vec<[f64; 1]> = (0..60).map(|idx| [f64::from(idx)]).collect();
    let mut builder = BagSet::builder();
    for (bag_idx, pair) in instances.chunks(2).enumerate() {
        builder.bag(bag_idx.to_string(), if bag_idx == 17 { Positive } else { Negative }, pair).unwrap();
    }
    with_each_learner(&mut IsSensible(&builder.build().unwrap()));
}

/// A single class is refused, by the learner and by a grid search over it.
struct RefusesOneClass(Label);

impl Visitor for RefusesOneClass {
    fn visit<L: Tunable<Model: BagModel>>(&mut self, name: &str, learner: L) {
        let bags = set(&[(self.0, &[&[1.0], &[2.0]]), (self.0, &[&[3.0]]), (self.0, &[&[4.0]])]);
        for error in [learner.fit(&bags).err(), GridSearch::of(learner).fit(&bags).err()] {
            let error = error.unwrap_or_else(|| panic!("{name} learnt from one class"));
            assert!(matches!(error, FitError::SingleClass { label, n_bags: 3 } if label == self.0), "{name}: {error}");
        }
    }
}

#[test]
fn bags_of_one_class_are_refused() {
    with_each_learner(&mut RefusesOneClass(Positive));
    with_each_learner(&mut RefusesOneClass(Negative));
}

/// Parameters out of range are refused by name.
struct RefusesBadNumbers;

impl Visitor for RefusesBadNumbers {
    fn visit<L: Tunable<Model: BagModel>>(&mut self, name: &str, learner: L) {
        let bags = set(&[(Positive, &[&[1.0]]), (Negative, &[&[0.0]])]);
        for penalty in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = learner.tuned(penalty, &Kernel::Linear).fit(&bags).err();
            let error = error.unwrap_or_else(|| panic!("{name} took a penalty of {penalty}")).to_string();
            assert!(error.starts_with("penalty is"), "{name}: {error}");
        }
        let error = learner.tuned(1.0, &Kernel::Gaussian { gamma: -1.0 }).fit(&bags).err();
        assert!(error.is_some_and(|error| error.to_string().contains("gamma")), "{name} took a gamma of -1");
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    with_each_learner(&mut RefusesBadNumbers);
}
