//! The conformance suite complains of each fault it claims to find.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use mil_core::model_file::SavedModel;
use mil_core::{Bag, BagModel, BagSet, FitError, Label, Learner, NearestCentroid, NearestCentroidModel, ScoreError};
use mil_testkit::conformance::check;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    DiffersEachTime,
    DiffersByThreads,
    ScoresNan,
    DecidesAgainstTheSign,
    HearsTheFirstInstanceOnly,
    TakesAnyDimension,
    ForgetsWhatItSaved,
    AcceptsOneClass,
    RefusesSoundBags,
}

/// The baseline with one fault.
struct Faulty(Fault);

#[derive(Serialize, Deserialize)]
struct FaultyModel {
    inner: NearestCentroidModel<Label>,
    fault: Fault,
    salt: u64,
    #[serde(skip)]
    shift: f64,
}

impl Learner for Faulty {
    type Model = FaultyModel;

    fn fit(&self, bags: &BagSet<Label>) -> Result<FaultyModel, FitError> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let mut shown = bags.clone();
        if self.0 == Fault::AcceptsOneClass && bags.require_both_classes().is_err() {
            let mut builder = BagSet::builder();
            builder.bag("p", Label::Positive, [[1.0, 1.0]]).unwrap().bag("n", Label::Negative, [[0.0, 0.0]]).unwrap();
            shown = builder.build().unwrap();
        }
        if self.0 == Fault::RefusesSoundBags {
            return Err(FitError::Overflow { quantity: "patience", value: f64::INFINITY });
        }
        let salt = match self.0 {
            Fault::DiffersEachTime => CALLS.fetch_add(1, Ordering::Relaxed),
            Fault::DiffersByThreads => rayon::current_num_threads() as u64,
            _ => 0,
        };
        let shift = if self.0 == Fault::ForgetsWhatItSaved { 1.0 } else { 0.0 };
        Ok(FaultyModel { inner: NearestCentroid::default().fit(&shown)?, fault: self.0, salt, shift })
    }
}

impl BagModel for FaultyModel {
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }

    fn score(&self, bag: Bag<'_>) -> Result<f64, ScoreError> {
        match self.fault {
            Fault::ScoresNan => Ok(f64::NAN),
            Fault::TakesAnyDimension if bag.n_features() != self.n_features() => Ok(0.0),
            Fault::HearsTheFirstInstanceOnly => {
                self.inner.score(Bag::new(bag.name(), bag.n_features(), bag.instance(0)).unwrap())
            }
            _ => self.inner.score(bag).map(|score| score + self.shift),
        }
    }

    fn predict(&self, bag: Bag<'_>) -> Result<Label, ScoreError> {
        let score = self.score(bag)?;
        let positive = (score >= 0.0) != (self.fault == Fault::DecidesAgainstTheSign);
        Ok(if positive { Label::Positive } else { Label::Negative })
    }
}

impl SavedModel for FaultyModel {
    fn kind() -> String {
        "faulty".to_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }
}

/// What the suite says of a fault; `None` if nothing.
fn complaint(fault: Fault) -> Option<String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| check(&Faulty(fault))));
    outcome.err().map(|panic| match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().expect("a message")).to_owned(),
    })
}

#[test]
fn a_sound_learner_passes() {
    assert_eq!(complaint(Fault::None), None);
}

#[test]
fn each_fault_is_found_and_named() {
    for (fault, words) in [
        (Fault::DiffersEachTime, "fitting twice gives the same model"),
        (Fault::DiffersByThreads, "one thread or several"),
        (Fault::ScoresNan, "all scores are finite"),
        (Fault::DecidesAgainstTheSign, "agree with the labels"),
        (Fault::HearsTheFirstInstanceOnly, "order of the instances"),
        (Fault::TakesAnyDimension, "another dimension is refused"),
        (Fault::ForgetsWhatItSaved, "model file gives the model back"),
        (Fault::AcceptsOneClass, "and no other were accepted"),
        (Fault::RefusesSoundBags, "refused a sound bag set"),
    ] {
        let said = complaint(fault).unwrap_or_default();
        assert!(said.contains(words), "{fault:?}: {said:?}");
    }
}
