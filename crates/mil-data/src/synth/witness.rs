//! Two Gaussians whose share in positive bags is set by hand.
//!
//! The witness rate, the share of positive instances in positive bags, decides which learners do well: at 1 the bags say all, near 0
//! they hide their witnesses among look-alikes of negative bags (Carbonneau, Cheplygina, Granger & Gagnon, *Multiple Instance Learning:
//! A Survey of Problem Characteristics and Applications*, Pattern Recognition 2018).
//!
//! In $d$ features, with $\mathbf 1$ the vector of ones and $\delta$ the separation,
//!
//! $$ x \mid y = -1 \sim \mathcal N(0, I), \qquad x \mid y = +1 \sim \mathcal N\big(\tfrac{\delta}{\sqrt d}\mathbf 1,\ I\big), $$
//!
//! so that the means are $\delta$ apart whatever $d$, and the best instance classifier errs at the rate $\Phi(-\delta/2)$ on either class.
//! Bag sizes $n$ are uniform in their range. A positive bag has
//!
//! $$ \max\big(1, \lfloor \rho n + u \rfloor\big) $$
//!
//! witnesses, $\rho$ the witness rate and $u$ uniform in $[0, 1)$: $\rho n$ of them on average, wherever $\rho n \ge 1$.

use mil_core::{BagSet, Label, ParamRange, Params, Rng, stream};
use rand::RngExt;

use super::{SynthError, add_shuffled, build, normal};

mil_core::params! {
    /// Bags of two Gaussians at a chosen distance, with a chosen share of witnesses in the positive bags.
    ///
    /// Negative instances are $\mathcal N(0, I)$; witnesses are shifted by the separation $\delta$ along the diagonal, whatever the number
    /// of features, hence the best instance classifier errs at the rate $\Phi(-\delta/2)$. In a positive bag of $n$ instances
    /// $\max(1, \lfloor \rho n + u \rfloor)$ are witnesses, $\rho$ the witness rate and $u$ uniform in $[0, 1)$.
    ///
    /// ```
    /// use mil_data::synth::WitnessParams;
    /// let params = WitnessParams { n_features: 3, witness_rate: 1.0, separation: 4.0, seed: 1, ..Default::default() };
    /// let bags = params.generate()?;
    /// assert_eq!((bags.n_bags(), bags.n_features()), (100, 3));
    /// // At a rate of 1 every instance is labelled as its bag.
    /// let instance_labels = bags.instance_labels().unwrap();
    /// assert!((0..100).all(|i| instance_labels[bags.columns_of(i)].iter().all(|label| *label == bags.labels()[i])));
    /// # Ok::<(), mil_data::synth::SynthError>(())
    /// ```
    pub struct WitnessParams {
        n_positive: usize = 50, ParamRange::AtLeast(0.0), "Number of positive bags.";
        n_negative: usize = 50, ParamRange::AtLeast(0.0), "Number of negative bags.";
        n_features: usize = 10, ParamRange::Within(1.0, 1e6), "Dimension of the instances.";
        min_bag_size: usize = 5, ParamRange::Within(1.0, 1e6), "Instances in the smallest bags.";
        max_bag_size: usize = 15, ParamRange::Within(1.0, 1e6), "Instances in the largest bags; not below the smallest.";
        witness_rate: f64 = 0.2, ParamRange::UpTo(0.0, 1.0), "Share of witnesses in a positive bag, which has at least one in any case.";
        separation: f64 = 3.0, ParamRange::AtLeast(0.0), "Distance between the two means, in standard deviations.";
        seed: u64 = 0, ParamRange::Any, "Fixes what is drawn.";
    }
}

impl WitnessParams {
    /// Draws the bags.
    ///
    /// # Errors
    /// If a parameter is out of range, the smallest bag is larger than the largest, or no bag is asked for.
    pub fn generate(&self) -> Result<BagSet<Label>, SynthError> {
        let params = self.check()?;
        if params.min_bag_size > params.max_bag_size {
            return Err(SynthError::BagSizes { min: params.min_bag_size, max: params.max_bag_size });
        }
        let shift = params.separation / (params.n_features as f64).sqrt();
        build(params.n_positive, params.n_negative, |builder, label, class_bag_idx| {
            let mut rng = bag_rng(params.seed, label, class_bag_idx);
            let n_instances = rng.random_range(params.min_bag_size..=params.max_bag_size);
            let n_witnesses = match label {
                Label::Positive => n_witnesses(params.witness_rate, n_instances, rng.random()),
                Label::Negative => 0,
            };
            let instances = (0..n_instances)
                .map(|instance_idx| {
                    let (label, mean) =
                        if instance_idx < n_witnesses { (Label::Positive, shift) } else { (Label::Negative, 0.0) };
                    let values: Vec<f64> = (0..params.n_features).map(|_| normal(mean, 1.0, &mut rng)).collect();
                    (values, label)
                })
                .collect();
            add_shuffled(builder, instances, &mut rng)
        })
    }
}

fn bag_rng(seed: u64, label: Label, class_bag_idx: usize) -> Rng {
    let purpose = match label {
        Label::Positive => "witness rate, positive bag",
        Label::Negative => "witness rate, negative bag",
    };
    stream(seed, purpose, class_bag_idx as u64)
}

/// $\max(1, \lfloor \rho n + u \rfloor)$, at most $n$
fn n_witnesses(witness_rate: f64, n_instances: usize, u: f64) -> usize {
    // The sum may round up to n + 1 at a rate of 1.
    ((witness_rate * n_instances as f64 + u) as usize).clamp(1, n_instances)
}

#[cfg(test)]
mod tests {
    use super::super::promises;
    use super::*;
    use proptest::prelude::*;

    fn generate(seed: u64, n_positive: usize, n_negative: usize) -> BagSet<Label> {
        WitnessParams { n_positive, n_negative, seed, ..Default::default() }.generate().unwrap()
    }

    #[test]
    fn the_promises_of_every_generator_hold() {
        promises::check(generate);
        for witness_rate in [1e-9, 0.1, 0.5, 1.0] {
            promises::standard_assumption_holds(
                &WitnessParams { witness_rate, ..Default::default() }.generate().unwrap(),
            );
        }
    }

    proptest! {
        #[test]
        fn every_admissible_setting_gives_what_it_says(
            n_features in 1..6_usize,
            (min_bag_size, max_bag_size) in (1..10_usize).prop_flat_map(|min| (Just(min), min..20)),
            witness_rate in prop_oneof![Just(f64::MIN_POSITIVE), Just(1.0), 0.01..1.0],
            seed: u64,
        ) {
            let params = WitnessParams {
                n_positive: 7, n_negative: 5, n_features, min_bag_size, max_bag_size, witness_rate, seed, ..Default::default()
            };
            let bags = params.generate().unwrap();
            promises::standard_assumption_holds(&bags);
            prop_assert_eq!((bags.class_counts(), bags.n_features()), (vec![5, 7], n_features));
            prop_assert!(bags.bags().all(|bag| (min_bag_size..=max_bag_size).contains(&bag.n_instances())));
            for (bag_idx, bag) in bags.bags().enumerate().filter(|(idx, _)| bags.labels()[*idx] == Label::Positive) {
                let labels = &bags.instance_labels().unwrap()[bags.columns_of(bag_idx)];
                let n_witnesses = labels.iter().filter(|label| **label == Label::Positive).count() as f64;
                let meant = (witness_rate * bag.n_instances() as f64).max(1.0);
                prop_assert!((n_witnesses - meant).abs() <= 1.0, "{} for {}", n_witnesses, meant);
            }
        }
    }

    #[test]
    fn the_number_of_witnesses_rounds_either_way_and_is_never_zero() {
        for (rate, n_instances, u, expected) in [
            (0.25, 10, 0.49, 2),
            (0.25, 10, 0.5, 3),
            (0.01, 10, 0.0, 1),
            (1.0, 10, 0.999_999_999_999_999_9, 10),
            (1.0, 1, 0.5, 1),
        ] {
            assert_eq!(n_witnesses(rate, n_instances, u), expected, "{rate} of {n_instances}, {u}");
        }
    }

    #[test]
    fn the_share_of_witnesses_is_the_rate() {
        let params = WitnessParams { n_positive: 1000, n_negative: 0, witness_rate: 0.3, ..Default::default() };
        let bags = params.generate().unwrap();
        let n_witnesses = bags.instance_labels().unwrap().iter().filter(|label| **label == Label::Positive).count();
        let share = n_witnesses as f64 / bags.n_instances() as f64;
        // The rounding alone varies, by at most half an instance a bag: five standard deviations of the sum over 1000 bags.
        let bound = 5.0 * 0.5 * 1000.0_f64.sqrt() / bags.n_instances() as f64;
        assert!((share - 0.3).abs() < bound, "{share} +- {bound}");
    }

    #[test]
    fn sizes_stay_within_their_range_and_reach_its_ends() {
        let sizes: Vec<usize> = generate(0, 300, 300).bags().map(|bag| bag.n_instances()).collect();
        assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&5), Some(&15)));
        let error = WitnessParams { min_bag_size: 3, max_bag_size: 2, ..Default::default() }.generate().unwrap_err();
        assert_eq!(error.to_string(), "min_bag_size is 3, expected at most max_bag_size, which is 2");
    }

    #[test]
    fn the_means_are_the_separation_apart_in_any_dimension() {
        for n_features in [1, 2, 50] {
            let params =
                WitnessParams { n_features, witness_rate: 0.5, separation: 4.0, n_positive: 400, ..Default::default() };
            let bags = params.generate().unwrap();
            // Along the diagonal both classes have variance 1, and the means lie at 0 and 4.
            let along = |x: &[f64]| x.iter().sum::<f64>() / (n_features as f64).sqrt();
            for (wanted, expected) in [(Label::Negative, 0.0), (Label::Positive, 4.0)] {
                let labels = bags.instance_labels().unwrap();
                let all = bags.bags().flat_map(|bag| bag.instances()).zip(labels);
                let values: Vec<f64> = all.filter(|(_, label)| **label == wanted).map(|(x, _)| along(x)).collect();
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                assert!((mean - expected).abs() < 5.0 / (values.len() as f64).sqrt(), "{n_features}: {mean}");
            }
        }
    }
}
