//! Inputs from which nothing can be learnt, or next to nothing: an error that says so, or a sensible model; no panic, no endless loop, no NaN.

use mil_core::{BagModel, BagSet, FitError, Label, Learner};
use mil_kernels::{Kernel, KernelChoice};
use mil_svm::{
    AlSvm, AwSvm, GridSearch, MiSvmBag, MiSvmPattern, Mica, MissSvm, Nsk, OverKernel, Sbmil, SilSvm, Smil, Stk, Stmil,
};

const KERNELS: [Kernel; 3] =
    [Kernel::Linear, Kernel::Polynomial { degree: 3, scale: 1.0, offset: 1.0 }, Kernel::Gaussian { gamma: 0.5 }];

/// Calls a function with each learner of the crate.
trait Visitor {
    fn visit<L: OverKernel>(&mut self, name: &str, learner: L);
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
    fn visit<L: OverKernel>(&mut self, name: &str, learner: L) {
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
    fn visit<L: OverKernel>(&mut self, name: &str, learner: L) {
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
    fn visit<L: OverKernel>(&mut self, name: &str, learner: L) {
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

#[test]
fn temperatures_and_penalties_beyond_reason_are_refused_by_name() {
    let bags = set(&[(Positive, &[&[1.0], &[2.0]]), (Negative, &[&[0.0]])]);
    let refused = |error: Option<FitError>, name: &str| {
        let error = error.unwrap_or_else(|| panic!("{name} was taken")).to_string();
        assert!(error.starts_with(name), "{error}");
    };
    refused(AlSvm { start_temperature: 1e308, ..Default::default() }.fit(&bags).err(), "start_temperature is");
    refused(AwSvm { end_temperature: 0.0, ..Default::default() }.fit(&bags).err(), "end_temperature is");
    refused(AwSvm { cooling: 1.0, ..Default::default() }.fit(&bags).err(), "cooling is");
    refused(MiSvmPattern { positive_weight: 1e300, ..Default::default() }.fit(&bags).err(), "positive_weight is");
}

#[test]
fn annealing_ends_whatever_the_schedule() {
    let bags = set(&[(Positive, &[&[1.0], &[-2.0]]), (Negative, &[&[0.0]]), (Positive, &[&[1.5]])]);
    for (start_temperature, end_temperature) in [(1e6, 1e-6), (1e-6, 1e6)] {
        for penalty in [f64::MIN_POSITIVE, 1e-200, 1e12] {
            let labels = AlSvm { penalty, start_temperature, end_temperature, ..Default::default() };
            let witnesses = AwSvm { penalty, start_temperature, end_temperature, ..Default::default() };
            for model in [labels.fit(&bags).unwrap(), witnesses.fit(&bags).unwrap()] {
                assert!(bags.bags().all(|bag| model.score(bag).unwrap().is_finite()));
            }
        }
    }
}

#[test]
fn witnesses_that_are_none_are_refused() {
    let bags = set(&[(Positive, &[&[1.0], &[2.0]]), (Negative, &[&[0.0]]), (Positive, &[&[3.0]])]);
    let message = |start| MiSvmBag::default().fit_from(&bags, start).unwrap_err().to_string();
    for start in [vec![Some(0)], vec![Some(0), None], vec![None; 3]] {
        assert!(message(start).contains("2 positive bags"));
    }
    assert!(message(vec![Some(1), Some(1)]).contains("positive bag 1 has 1 instances"));
    assert!(MiSvmBag::default().fit_from(&bags, vec![Some(1), Some(0)]).is_ok());
}

#[test]
fn a_width_that_is_no_multiple_of_the_median_is_refused() {
    let bags =
        set(&[(Positive, &[&[1.0], &[2.0]]), (Negative, &[&[0.0]]), (Positive, &[&[3.0]]), (Negative, &[&[0.5]])]);
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let kernels = vec![KernelChoice::GaussianOverMedian(ratio)];
        let error = GridSearch { kernels, n_folds: 2, ..GridSearch::of(SilSvm::default()) }.fit(&bags).unwrap_err();
        assert!(error.to_string().contains("over the median"), "{error}");
    }
}
