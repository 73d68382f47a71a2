//! Generated bags whose truth is known.
//!
//! | generator | what it is for | labels of instances |
//! |---|---|---|
//! | [`FiveGaussiansParams`] | regret of online learning (MIO, §4.1) | none: the concept is one of pairs |
//! | [`ClustersParams`] | the query step of PMI (Figs. 2 and 3) | yes |
//! | [`WitnessParams`] | how learners bear few or many witnesses | yes |
//! | [`FromInstancesParams`] | bags of real labelled instances (MIDL, §5.1) | yes |
//! | [`DigitsParams`] | a pool of instances for such bags: images like those of digits | a class each |
//!
//! Each is a plain struct of parameters with a `seed`. What the `k`-th positive bag holds depends on the seed and on `k` alone, and
//! likewise for the negative bags: asking for more bags extends a set and changes none of those it had. Positive and negative bags
//! alternate until one kind is used up, and instances stand in random order within their bag, so that neither position tells a
//! label. [`DigitsParams`] gives no bags but instances, each by the seed and its position alone.
//!
//! ```
//! use mil_data::synth::WitnessParams;
//! let few = WitnessParams { n_positive: 5, n_negative: 5, ..Default::default() }.generate()?;
//! let many = WitnessParams { n_positive: 50, n_negative: 50, ..Default::default() }.generate()?;
//! assert_eq!(many.select(&(0..10).collect::<Vec<_>>()), few);
//! # Ok::<(), mil_data::synth::SynthError>(())
//! ```

mod clusters;
mod digits;
mod five_gaussians;
mod from_instances;
mod witness;

use mil_core::{BagError, BagSet, BagSetBuilder, Label, ParamError, Rng};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;

pub use clusters::ClustersParams;
pub use digits::DigitsParams;
pub use five_gaussians::FiveGaussiansParams;
pub use from_instances::{FromInstancesParams, TrainTest};
pub use witness::WitnessParams;

/// Why bags or instances could not be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SynthError {
    /// A parameter is out of its range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The parameters ask for no bag, or for values beyond the range of `f64`.
    #[error(transparent)]
    Bags(#[from] BagError),
    /// The smallest bag would be larger than the largest.
    #[error("min_bag_size is {min}, expected at most max_bag_size, which is {max}")]
    BagSizes {
        /// Smallest size asked for.
        min: usize,
        /// Largest size asked for.
        max: usize,
    },
    /// A positive bag would hold more positive instances than instances.
    #[error("positives_per_bag is {positives_per_bag}, expected at most bag_size, which is {bag_size}")]
    PositivesPerBag {
        /// Positive instances asked for in a positive bag.
        positives_per_bag: usize,
        /// Instances in a bag.
        bag_size: usize,
    },
    /// The instances are of other classes.
    #[error("there is no class {name:?} among the instances; known: {}", known.join(", "))]
    UnknownClass {
        /// The class asked for.
        name: String,
        /// The classes there are.
        known: Vec<String>,
    },
    /// Instances are drawn without replacement, and there are not enough.
    #[error(
        "the bags need {needed} {label} instances, but there are {available}; instances are drawn without replacement: ask for \
         fewer or smaller bags"
    )]
    PoolTooSmall {
        /// Which instances run out.
        label: Label,
        /// How many all bags need together.
        needed: usize,
        /// How many there are.
        available: usize,
    },
}

/// Builds a set of bags, each from its label and its position among the bags of that label.
fn build(
    n_positive: usize,
    n_negative: usize,
    mut add_instances: impl FnMut(&mut BagSetBuilder<Label>, Label, usize) -> Result<(), BagError>,
) -> Result<BagSet<Label>, SynthError> {
    let mut builder = BagSet::builder();
    for (label, class_bag_idx) in alternating(n_positive, n_negative) {
        builder.open_bag(format!("{label}-{}", class_bag_idx + 1), label);
        add_instances(&mut builder, label, class_bag_idx)?;
    }
    Ok(builder.build()?)
}

/// Positive, negative, positive, and so on; when one kind is used up, the rest of the other.
fn alternating(n_positive: usize, n_negative: usize) -> impl Iterator<Item = (Label, usize)> {
    (0..n_positive.max(n_negative)).flat_map(move |idx| {
        let positive = (idx < n_positive).then_some((Label::Positive, idx));
        let negative = (idx < n_negative).then_some((Label::Negative, idx));
        positive.into_iter().chain(negative)
    })
}

/// Adds instances that know their label, in random order.
fn add_shuffled<I: AsRef<[f64]>>(
    builder: &mut BagSetBuilder<Label>,
    mut instances: Vec<(I, Label)>,
    rng: &mut Rng,
) -> Result<(), BagError> {
    instances.shuffle(rng);
    for (values, label) in &instances {
        builder.labelled_instance(values.as_ref(), *label)?;
    }
    Ok(())
}

/// A draw from $\mathcal N(\mu, \sigma^2)$.
fn normal(mean: f64, sd: f64, rng: &mut Rng) -> f64 {
    mean + sd * rng.sample::<f64, _>(StandardNormal)
}

/// The promises that every generator makes, each checked for the one given.
#[cfg(test)]
mod promises {
    use super::*;

    /// Holds `generate(seed, n_positive, n_negative)` to what the module's documentation says.
    pub(super) fn check(generate: impl Fn(u64, usize, usize) -> BagSet<Label> + Sync) {
        for seed in [0, 3, u64::MAX - 1] {
            let set = generate(seed, 12, 9);
            counts_are_as_asked(&set, 12, 9);
            counts_are_as_asked(&generate(seed, 4, 0), 4, 0);
            counts_are_as_asked(&generate(seed, 0, 4), 0, 4);
            assert_eq!(generate(seed, 12, 9), set, "same seed, same set");
            assert_ne!(generate(seed + 1, 12, 9).instances(), set.instances(), "another seed, another set");
            for (n_positive, n_negative) in [(15, 20), (12, 40), (40, 9)] {
                bags_do_not_depend_on_how_many_there_are(&set, &generate(seed, n_positive, n_negative));
            }
            no_two_bags_are_equal(&set);
            kinds_alternate(&set);
            threads_do_not_matter(|| generate(seed, 12, 9), &set);
        }
    }

    fn counts_are_as_asked(set: &BagSet<Label>, n_positive: usize, n_negative: usize) {
        assert_eq!(set.class_counts(), [n_negative, n_positive]);
    }

    fn bags_do_not_depend_on_how_many_there_are(few: &BagSet<Label>, many: &BagSet<Label>) {
        for bag in few.bags() {
            let same =
                many.bags().find(|other| other.name() == bag.name()).expect("a larger set has the bags of a smaller");
            assert_eq!(bag, same);
        }
    }

    fn no_two_bags_are_equal(set: &BagSet<Label>) {
        for (bag_idx, bag) in set.bags().enumerate() {
            assert!(
                set.bags().take(bag_idx).all(|other| other.matrix() != bag.matrix()),
                "bag {bag_idx} is a repetition"
            );
        }
    }

    fn kinds_alternate(set: &BagSet<Label>) {
        let head = [Label::Positive, Label::Negative, Label::Positive, Label::Negative];
        assert_eq!(set.labels()[..4], head);
    }

    fn threads_do_not_matter(generate: impl Fn() -> BagSet<Label> + Sync, expected: &BagSet<Label>) {
        let sets: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(&generate)).collect();
            workers.into_iter().map(|worker| worker.join().expect("no generator panics")).collect()
        });
        assert!(sets.iter().all(|set| set == expected));
    }

    /// The standard assumption: a bag is positive iff one of its instances is.
    pub(super) fn standard_assumption_holds(set: &BagSet<Label>) {
        let instance_labels = set.instance_labels().expect("the generator knows them");
        for (bag_idx, &label) in set.labels().iter().enumerate() {
            assert_eq!(instance_labels[set.columns_of(bag_idx)].iter().max(), Some(&label), "bag {bag_idx}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_alternate_until_one_is_used_up() {
        let kinds: Vec<_> = alternating(1, 3).map(|(label, idx)| (label.sign(), idx)).collect();
        assert_eq!(kinds, [(1.0, 0), (-1.0, 0), (-1.0, 1), (-1.0, 2)]);
        assert_eq!(alternating(0, 0).count(), 0);
    }

    #[test]
    fn a_generator_asked_for_nothing_says_so() {
        let params = WitnessParams { n_positive: 0, n_negative: 0, ..Default::default() };
        assert_eq!(params.generate().unwrap_err(), SynthError::Bags(BagError::NoBags));
    }
}
