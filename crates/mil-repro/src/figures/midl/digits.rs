//! Digits in bags, and the methods that are measured on them.

use mil_core::{BagModel, BagSet, FitError, Label, Learner, stream};
use mil_data::LabelledInstances;
use mil_data::synth::{DigitsParams, FromInstancesParams, SynthError, TrainTest};
use mil_dict::{Midl, MidlTrace, Selection};
use mil_kernels::{Kernel, KernelChoice};
use mil_svm::{GridSearch, MiSvmBag, MiSvmPattern};
use nalgebra::DMatrix;
use rand::seq::index::sample;
use rand_distr::{Distribution, Normal};

use crate::figure::Context;

/// Images to train on and to test on, pixels from 0 to 1.
pub(super) struct Digits {
    pub(super) train: LabelledInstances,
    pub(super) test: LabelledInstances,
    /// What they are, for titles.
    pub(super) name: &'static str,
    /// Whether they are the paper's.
    pub(super) are_usps: bool,
}

/// Images of each digit where they are generated.
const N_GENERATED: [usize; 2] = [500, 200];

impl Digits {
    /// USPS where it is there, else generated ones.
    pub(super) fn of(context: &Context<'_>) -> Digits {
        match context.instances("usps") {
            Some(usps) => Digits {
                train: to_unit_range(usps.train),
                test: to_unit_range(usps.test),
                name: "USPS",
                are_usps: true,
            },
            None => {
                let [train, test] = [0, 1].map(|half| {
                    let seed = context.seed.wrapping_mul(2).wrapping_add(half);
                    let params =
                        DigitsParams { n_per_class: N_GENERATED[half as usize], seed, ..DigitsParams::default() };
                    to_unit_range(&params.generate().expect("parameters in range"))
                });
                Digits { train, test, name: "generated digits", are_usps: false }
            }
        }
    }

    /// Training and test bags for a digit.
    pub(super) fn bags(&self, digit: usize, seed: u64) -> Result<TrainTest, FitError> {
        let bags = self.sizes(digit, seed).train_test_of(&self.train, &self.test, &digit.to_string());
        bags.map_err(fit_error).and_then(scaled)
    }

    /// The same with test bags of further training images.
    pub(super) fn bags_of_training_images(&self, digit: usize, seed: u64) -> Result<TrainTest, FitError> {
        let bags = self.sizes(digit, seed).train_test(&self.train, &digit.to_string());
        bags.map_err(fit_error).and_then(scaled)
    }

    fn sizes(&self, digit: usize, seed: u64) -> FromInstancesParams {
        let sizes =
            FromInstancesParams { seed: seed.wrapping_mul(10).wrapping_add(digit as u64), ..Default::default() };
        let n_images = self.test.classes().iter().filter(|class| class.idx() == digit).count();
        FromInstancesParams { n_test_positive: sizes.n_test_positive.min(n_images / sizes.positives_per_bag), ..sizes }
    }

    /// With the test images damaged, and the training images too where asked for.
    pub(super) fn damaged(&self, damage: Damage, training_too: bool, seed: u64) -> Digits {
        let train = if training_too { damage.of(&self.train, seed, "training") } else { self.train.clone() };
        Digits { train, test: damage.of(&self.test, seed, "test"), name: self.name, are_usps: self.are_usps }
    }
}

fn to_unit_range(images: &LabelledInstances) -> LabelledInstances {
    with_pixels(images, images.instances().map(|value| ((value + 1.0) / 2.0).clamp(0.0, 1.0)))
}

fn with_pixels(images: &LabelledInstances, pixels: DMatrix<f64>) -> LabelledInstances {
    LabelledInstances::new(pixels, images.classes().to_vec(), images.class_names().clone())
        .expect("finite pixels of the same images")
}

fn scaled(bags: TrainTest) -> Result<TrainTest, FitError> {
    let unit = |bags: BagSet<Label>| {
        bags.map_instances(|image| {
            let length = image.iter().map(|value| value * value).sum::<f64>().sqrt();
            if length > 0.0 {
                image.iter_mut().for_each(|value| *value /= length);
            }
        })
        .map_err(|error| FitError::Learner { learner: "digits", source: Box::new(error) })
    };
    Ok(TrainTest { train: unit(bags.train)?, test: unit(bags.test)? })
}

fn fit_error(error: SynthError) -> FitError {
    FitError::Learner { learner: "bags of digits", source: Box::new(error) }
}

/// What is done to an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Damage {
    /// Gaussian noise of this standard deviation on each pixel, clipped to the range of pixels.
    Noise(f64),
    /// This share of the pixels, drawn at random, set to 0.
    Missing(f64),
}

impl Damage {
    fn of(self, images: &LabelledInstances, seed: u64, purpose: &str) -> LabelledInstances {
        let mut pixels = images.instances().clone();
        for (idx, mut image) in pixels.column_iter_mut().enumerate() {
            let mut rng = stream(seed, &format!("damaged {purpose} images"), idx as u64);
            match self {
                Damage::Noise(deviation) => {
                    let noise = Normal::new(0.0, deviation).expect("a deviation of at least 0");
                    image.iter_mut().for_each(|pixel| *pixel = (*pixel + noise.sample(&mut rng)).clamp(0.0, 1.0));
                }
                Damage::Missing(share) => {
                    let n_missing = (share * image.len() as f64).round() as usize;
                    sample(&mut rng, image.len(), n_missing).iter().for_each(|pixel| image[pixel] = 0.0);
                }
            }
        }
        with_pixels(images, pixels)
    }
}

/// A method that is measured on digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Midl,
    MidlShared,
    MiSvmBag,
    MiSvmPattern,
}

impl Method {
    pub(super) const ALL: [Method; 4] = [Method::Midl, Method::MidlShared, Method::MiSvmBag, Method::MiSvmPattern];

    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Midl => "MIDL",
            Method::MidlShared => "MIDL, selection shared by bags",
            Method::MiSvmBag => "MI-SVM, Gaussian",
            Method::MiSvmPattern => "mi-SVM, Gaussian",
        }
    }

    /// What the paper calls it.
    pub(super) fn printed_name(self) -> &'static str {
        match self {
            Method::Midl | Method::MidlShared => "MIDL",
            Method::MiSvmBag => "MI-SVM",
            Method::MiSvmPattern => "mi-SVM",
        }
    }

    /// Fits on the training bags and counts on the test bags.
    pub(super) fn measure(self, bags: &TrainTest, seed: u64) -> Result<Shares, FitError> {
        match self {
            Method::Midl | Method::MidlShared => {
                let (model, trace) = midl(self, seed).fit_traced(&bags.train)?;
                Ok(Shares { selected: Some(selected_right(&bags.train, &trace)), ..shares(&model, &bags.test)? })
            }
            Method::MiSvmBag => shares(&tuned(MiSvmBag::default()).fit(&bags.train)?, &bags.test),
            Method::MiSvmPattern => shares(&tuned(MiSvmPattern::default()).fit(&bags.train)?, &bags.test),
        }
    }
}

pub(super) fn midl(method: Method, seed: u64) -> Midl {
    let selection = if method == Method::MidlShared { Selection::SharedByBags } else { Selection::NegativeDictionary };
    Midl { selection, seed, ..Midl::default() }
}

/// Settings chosen inside the training bags, by two folds as the paper's rivals were.
fn tuned<L: mil_svm::OverKernel>(learner: L) -> GridSearch<L> {
    let kernels = [0.5, 1.0, 2.0, 4.0].map(|gamma| KernelChoice::Fixed(Kernel::Gaussian { gamma })).to_vec();
    GridSearch { kernels, penalties: vec![1.0, 10.0, 100.0], n_folds: 2, ..GridSearch::of(learner) }
}

/// Shares of what was right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    pub(super) bags: f64,
    pub(super) instances: f64,
    /// Of the instances chosen from positive training bags, where a method chooses any.
    pub(super) selected: Option<f64>,
}

fn shares(model: &impl BagModel, bags: &BagSet<Label>) -> Result<Shares, FitError> {
    let truth = bags.instance_labels().expect("bags of digits know their instances");
    let (mut n_bags, mut n_instances) = (0, 0);
    for (bag_idx, bag) in bags.bags().enumerate() {
        n_bags += usize::from(model.predict(bag)? == bags.labels()[bag_idx]);
        let scores = model.instance_scores(bag)?.expect("these methods score instances");
        let found = scores.iter().map(|score| if *score >= 0.0 { Label::Positive } else { Label::Negative });
        n_instances += found.zip(&truth[bags.columns_of(bag_idx)]).filter(|(found, truth)| found == *truth).count();
    }
    Ok(Shares {
        bags: n_bags as f64 / bags.n_bags() as f64,
        instances: n_instances as f64 / bags.n_instances() as f64,
        selected: None,
    })
}

/// The share of chosen instances that are positive.
fn selected_right(bags: &BagSet<Label>, trace: &MidlTrace) -> f64 {
    let truth = bags.instance_labels().expect("bags of digits know their instances");
    let n_right = trace.chosen.iter().filter(|&&idx| truth[idx] == Label::Positive).count();
    n_right as f64 / trace.chosen.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images() -> LabelledInstances {
        to_unit_range(&DigitsParams { n_per_class: 2, ..DigitsParams::default() }.generate().unwrap())
    }

    #[test]
    fn so_many_pixels_are_missing() {
        let images = with_pixels(&images(), DMatrix::from_element(256, 20, 1.0));
        let damaged = Damage::Missing(0.3).of(&images, 1, "test");
        for image in damaged.instances().column_iter() {
            assert_eq!(image.iter().filter(|pixel| **pixel == 0.0).count(), 77);
        }
        assert_ne!(damaged.instance(0), damaged.instance(1), "each image loses pixels of its own");
    }

    #[test]
    fn noise_stays_within_the_range_of_pixels() {
        let (images, damage) = (images(), Damage::Noise(0.3));
        let damaged = damage.of(&images, 1, "test");
        assert!(damaged.instances().iter().all(|pixel| (0.0..=1.0).contains(pixel)));
        assert!((damaged.instances() - images.instances()).amax() > 0.3);
        assert_eq!(damage.of(&images, 1, "test"), damaged);
    }
}
