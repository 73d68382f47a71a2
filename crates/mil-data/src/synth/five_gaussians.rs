//! Five Gaussians in the plane, and a concept that takes two of them.
//!
//! Li, Kwok & Lu, *Online Multiple Instance Learning with No Regret*, CVPR 2010, §4.1 (MIO).
//!
//! Each instance comes from one of $\mathcal N(\mu_j, I)$, $j = 1,\dots,5$, with
//!
//! $$ \mu_1 = (5,5),\quad \mu_2 = (5,-5),\quad \mu_3 = (0,0),\quad \mu_4 = (-5,5),\quad \mu_5 = (-5,-5), $$
//!
//! and with $J(B)$ the components that occur in a bag $B$,
//!
//! $$ Y(B) = +1 \iff |J(B) \cap \{1,2,3\}| \ge 2 . $$
//!
//! No instance is positive by itself, since each component of a positive bag occurs in negative bags too. So the set carries no labels
//! of instances: the standard assumption does not hold, and an instance accuracy would measure nothing.
//! Cost: one rejected draw or two per bag, since of the bags drawn a share of 0.61 is positive: by inclusion and exclusion one of $n$
//! instances is negative with probability $3\,(3/5)^n - 2\,(2/5)^n$.

use mil_core::{BagSet, Label, ParamRange, Params, Rng, stream};
use rand::RngExt;

use super::{SynthError, build, normal};

/// Means of the five components; the first three form the concept.
const CENTRES: [[f64; 2]; 5] = [[5.0, 5.0], [5.0, -5.0], [0.0, 0.0], [-5.0, 5.0], [-5.0, -5.0]];
/// How many of [`CENTRES`], from the first, the concept looks at.
const N_CONCEPT: usize = 3;
/// How many of those must occur in a positive bag.
const N_REQUIRED: usize = 2;
/// "Each bag has at most 8 instances."
const MAX_INSTANCES: usize = 8;

mil_core::params! {
    /// Bags of five unit Gaussians at $(5,5)$, $(5,-5)$, $(0,0)$, $(-5,5)$ and $(-5,-5)$, positive iff instances of at least two of
    /// the first three occur (Li, Kwok & Lu, *Online Multiple Instance Learning with No Regret*, CVPR 2010, §4.1).
    ///
    /// The defaults are the paper's. A bag has at most 8 instances.
    ///
    /// ```
    /// use mil_data::synth::FiveGaussiansParams;
    /// let params = FiveGaussiansParams { n_positive: 20, n_negative: 30, seed: 1 };
    /// let bags = params.generate()?;
    /// assert_eq!((bags.n_bags(), bags.n_features()), (50, 2));
    /// assert!(bags.bags().all(|bag| bag.n_instances() <= 8));
    /// assert!(bags.instance_labels().is_none()); // the concept is one of pairs
    /// # Ok::<(), mil_data::synth::SynthError>(())
    /// ```
    pub struct FiveGaussiansParams {
        n_positive: usize = 4000, ParamRange::AtLeast(0.0), "Number of positive bags.";
        n_negative: usize = 4000, ParamRange::AtLeast(0.0), "Number of negative bags.";
        seed: u64 = 0, ParamRange::Any, "Fixes what is drawn.";
    }
}

impl FiveGaussiansParams {
    /// Draws the bags.
    ///
    /// # Errors
    /// If no bag is asked for.
    pub fn generate(&self) -> Result<BagSet<Label>, SynthError> {
        let params = self.check()?;
        build(params.n_positive, params.n_negative, |builder, label, class_bag_idx| {
            let mut rng = bag_rng(params.seed, label, class_bag_idx);
            for component in components_of(label, &mut rng) {
                let instance = CENTRES[component].map(|mean| normal(mean, 1.0, &mut rng));
                builder.instance(&instance)?;
            }
            Ok(())
        })
    }
}

fn bag_rng(seed: u64, label: Label, class_bag_idx: usize) -> Rng {
    let purpose = match label {
        Label::Positive => "five Gaussians, positive bag",
        Label::Negative => "five Gaussians, negative bag",
    };
    stream(seed, purpose, class_bag_idx as u64)
}

/// The component of each instance of a bag of the wanted label, by rejection.
///
/// Choice: the paper gives neither the distribution of the size nor that of the components; both are uniform here.
fn components_of(wanted: Label, rng: &mut Rng) -> Vec<usize> {
    loop {
        let components = draw_components(rng);
        if label_of(&components) == wanted {
            return components;
        }
    }
}

fn draw_components(rng: &mut Rng) -> Vec<usize> {
    let n_instances = rng.random_range(1..=MAX_INSTANCES);
    (0..n_instances).map(|_| rng.random_range(0..CENTRES.len())).collect()
}

fn label_of(components: &[usize]) -> Label {
    let n_occurring = (0..N_CONCEPT).filter(|component| components.contains(component)).count();
    if n_occurring >= N_REQUIRED { Label::Positive } else { Label::Negative }
}

#[cfg(test)]
mod tests {
    use super::super::promises;
    use super::*;

    fn generate(seed: u64, n_positive: usize, n_negative: usize) -> BagSet<Label> {
        FiveGaussiansParams { n_positive, n_negative, seed }.generate().unwrap()
    }

    fn nearest_centre(instance: &[f64]) -> usize {
        let squared = |centre: &[f64; 2]| (instance[0] - centre[0]).powi(2) + (instance[1] - centre[1]).powi(2);
        (0..CENTRES.len()).min_by(|&a, &b| squared(&CENTRES[a]).total_cmp(&squared(&CENTRES[b]))).unwrap()
    }

    #[test]
    fn the_promises_of_every_generator_hold() {
        promises::check(generate);
    }

    #[test]
    fn two_of_the_first_three_make_a_bag_positive() {
        for (components, label) in [
            (&[0, 1][..], Label::Positive),
            (&[2, 4, 4, 1], Label::Positive),
            (&[0, 1, 2], Label::Positive),
            (&[0, 0, 0], Label::Negative),
            (&[2, 3, 4], Label::Negative),
            (&[3], Label::Negative),
        ] {
            assert_eq!(label_of(components), label, "{components:?}");
        }
    }

    #[test]
    fn bags_before_rejection_are_negative_as_often_as_the_formula_says() {
        let mut rng = stream(0, "test", 0);
        let (mut n_drawn, mut n_negative) = ([0.0; MAX_INSTANCES + 1], [0.0; MAX_INSTANCES + 1]);
        for _ in 0..80_000 {
            let components = draw_components(&mut rng);
            n_drawn[components.len()] += 1.0;
            n_negative[components.len()] += f64::from(u8::from(label_of(&components) == Label::Negative));
        }
        for n in 1..=MAX_INSTANCES {
            let expected = 3.0 * 0.6_f64.powi(n as i32) - 2.0 * 0.4_f64.powi(n as i32);
            // Five standard errors of a share, at most one half over the root of the number of draws.
            assert!((n_negative[n] / n_drawn[n] - expected).abs() < 2.5 / f64::sqrt(n_drawn[n]), "size {n}");
            assert!((n_drawn[n] - 10_000.0).abs() < 500.0, "size {n}");
        }
    }

    #[test]
    fn the_label_follows_from_the_components_drawn_for_the_bag() {
        for seed in 0..20 {
            for label in [Label::Positive, Label::Negative] {
                for class_bag_idx in 0..50 {
                    let components = components_of(label, &mut bag_rng(seed, label, class_bag_idx));
                    let mut concept: Vec<_> = components.iter().filter(|&&component| component < 3).collect();
                    concept.sort();
                    concept.dedup();
                    assert_eq!(concept.len() >= 2, label == Label::Positive);
                }
            }
        }
    }

    #[test]
    fn the_label_can_be_read_off_the_instances() {
        // Centres are at least 5 sqrt 2 apart, so an instance strays to another with probability below 1e-3.
        let bags = generate(5, 1000, 1000);
        let n_right = bags
            .bags()
            .zip(bags.labels())
            .filter(|(bag, label)| label_of(&bag.instances().map(nearest_centre).collect::<Vec<_>>()) == **label)
            .count();
        assert!(n_right >= 1990, "{n_right} of 2000");
    }

    #[test]
    fn every_size_and_every_component_occurs_in_both_kinds() {
        let bags = generate(0, 500, 500);
        for wanted in [Label::Negative, Label::Positive] {
            let of_kind = || bags.bags().zip(bags.labels()).filter(|(_, label)| **label == wanted).map(|(bag, _)| bag);
            let smallest = if wanted == Label::Positive { 2 } else { 1 };
            for n_instances in smallest..=MAX_INSTANCES {
                assert!(of_kind().any(|bag| bag.n_instances() == n_instances), "{wanted}, size {n_instances}");
            }
            for component in 0..CENTRES.len() {
                let occurs = of_kind().any(|bag| bag.instances().any(|x| nearest_centre(x) == component));
                assert!(occurs, "{wanted}, component {component}");
            }
        }
    }

    #[test]
    fn instances_have_unit_variance_around_their_centre() {
        let bags = generate(2, 2000, 2000);
        let residuals: Vec<f64> = bags
            .bags()
            .flat_map(|bag| bag.instances())
            .flat_map(|x| {
                let centre = CENTRES[nearest_centre(x)];
                [x[0] - centre[0], x[1] - centre[1]]
            })
            .collect();
        let n = residuals.len() as f64;
        let mean = residuals.iter().sum::<f64>() / n;
        let variance = residuals.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n;
        // Five standard errors of either estimate at some 36,000 draws.
        assert!(mean.abs() < 5.0 / n.sqrt(), "mean {mean}");
        assert!((variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt() + 1e-2, "variance {variance}");
    }
}
