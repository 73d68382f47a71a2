//! One loose positive cluster among tight or scattered negatives.
//!
//! Hu & Xue, *On the Complexity of One-class SVM for Multiple Instance Learning*, Figs. 2 and 3 (PMI).
//!
//! The figures show distributions and give no numbers. Choice: in the plane, a positive bag holds
//!
//! - one positive instance from $\mathcal N(0, \sigma_+^2 I)$, $\sigma_+ = 0.6$;
//! - one negative of each of $c$ clusters, $\mathcal N(\mu_k, \sigma_-^2 I)$, $\sigma_- = 0.1$, with
//!   $\mu_k = r\,(\cos\tfrac{2\pi k}{c}, \sin\tfrac{2\pi k}{c})$, $k = 0,\dots,c-1$, $r = 4$;
//! - two negatives uniform in $[-8, 8]^2$.
//!
//! With $c = 0$ the negatives are scattered (Fig. 2) and the positives the only cluster. With $c \ge 1$ a negative cluster is tighter than
//! the positive one and misleads a learner that looks for what the bags share, hence the query step (Fig. 3).
//!
//! A scattered negative may fall among the positives: at the default width, one in some sixty lies within $2\sigma_+$ of the centre.

use std::f64::consts::TAU;

use mil_core::{BagSet, Label, ParamRange, Params, Rng, stream};
use rand::RngExt;

use super::{SynthError, add_shuffled, build, normal};

mil_core::params! {
    /// Bags in the plane with one loose positive cluster among tight or scattered negatives (Hu & Xue, *On the Complexity of One-class
    /// SVM for Multiple Instance Learning*, Figs. 2 and 3).
    ///
    /// A positive bag holds one positive from $\mathcal N(0, \sigma_+^2 I)$, one negative of each tight cluster, centred evenly on a
    /// circle, and some negatives uniform in a square. A negative bag holds one more uniform negative in place of the positive, so
    /// that the size of a bag tells nothing. The default is one tight cluster, two scattered negatives and no negative bag, since PMI
    /// learns from positive bags only.
    ///
    /// ```
    /// use mil_data::synth::ClustersParams;
    /// use mil_core::Label;
    /// let bags = ClustersParams { n_clusters: 3, n_negative: 10, seed: 1, ..Default::default() }.generate()?;
    /// assert_eq!((bags.n_bags(), bags.n_instances()), (50, 50 * 6));
    /// let n_positive = bags.instance_labels().unwrap().iter().filter(|label| **label == Label::Positive).count();
    /// assert_eq!(n_positive, 40); // one in each positive bag
    /// # Ok::<(), mil_data::synth::SynthError>(())
    /// ```
    pub struct ClustersParams {
        n_positive: usize = 40, ParamRange::AtLeast(0.0), "Number of positive bags.";
        n_negative: usize = 0, ParamRange::AtLeast(0.0), "Number of negative bags.";
        n_clusters: usize = 1, ParamRange::AtLeast(0.0), "Number of tight negative clusters, each with one instance in every bag.";
        n_scattered: usize = 2, ParamRange::AtLeast(0.0), "Negatives per positive bag that are uniform in the square; a negative bag has one more.";
        positive_sd: f64 = 0.6, ParamRange::AtLeast(0.0), "Standard deviation of the positive cluster along each axis.";
        cluster_sd: f64 = 0.1, ParamRange::AtLeast(0.0), "Standard deviation of a negative cluster along each axis.";
        radius: f64 = 4.0, ParamRange::AtLeast(0.0), "Distance of the negative clusters from the positive one.";
        half_width: f64 = 8.0, ParamRange::AtLeast(0.0), "Half the side of the square of the scattered negatives.";
        seed: u64 = 0, ParamRange::Any, "Fixes what is drawn.";
    }
}

impl ClustersParams {
    /// Positives gathered, negatives scattered: Fig. 2.
    #[must_use]
    pub fn figure_2() -> Self {
        ClustersParams { n_clusters: 0, ..Default::default() }
    }

    /// Positives and negatives gathered, equal in number, the negatives in a smaller circle: Fig. 3.
    #[must_use]
    pub fn figure_3() -> Self {
        ClustersParams { n_clusters: 1, n_scattered: 0, ..Default::default() }
    }

    /// Draws the bags.
    ///
    /// # Errors
    /// If a parameter is out of range or no bag is asked for.
    pub fn generate(&self) -> Result<BagSet<Label>, SynthError> {
        let params = self.check()?;
        build(params.n_positive, params.n_negative, |builder, label, class_bag_idx| {
            let mut rng = bag_rng(params.seed, label, class_bag_idx);
            let first = match label {
                Label::Positive => (around([0.0, 0.0], params.positive_sd, &mut rng), Label::Positive),
                Label::Negative => (scattered(params.half_width, &mut rng), Label::Negative),
            };
            let mut instances = vec![first];
            for cluster_idx in 0..params.n_clusters {
                let centre = cluster_centre(cluster_idx, params.n_clusters, params.radius);
                instances.push((around(centre, params.cluster_sd, &mut rng), Label::Negative));
            }
            for _ in 0..params.n_scattered {
                instances.push((scattered(params.half_width, &mut rng), Label::Negative));
            }
            add_shuffled(builder, instances, &mut rng)
        })
    }
}

fn bag_rng(seed: u64, label: Label, class_bag_idx: usize) -> Rng {
    let purpose = match label {
        Label::Positive => "clusters, positive bag",
        Label::Negative => "clusters, negative bag",
    };
    stream(seed, purpose, class_bag_idx as u64)
}

/// $\mu_k = r\,(\cos\tfrac{2\pi k}{c}, \sin\tfrac{2\pi k}{c})$
fn cluster_centre(cluster_idx: usize, n_clusters: usize, radius: f64) -> [f64; 2] {
    let angle = TAU * cluster_idx as f64 / n_clusters as f64;
    [radius * angle.cos(), radius * angle.sin()]
}

fn around(centre: [f64; 2], sd: f64, rng: &mut Rng) -> [f64; 2] {
    centre.map(|mean| normal(mean, sd, rng))
}

fn scattered(half_width: f64, rng: &mut Rng) -> [f64; 2] {
    [(); 2].map(|()| half_width * (2.0 * rng.random::<f64>() - 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::promises;
    use super::*;

    fn generate(seed: u64, n_positive: usize, n_negative: usize) -> BagSet<Label> {
        ClustersParams { n_positive, n_negative, n_clusters: 2, seed, ..Default::default() }.generate().unwrap()
    }

    /// The instances of one label, in order.
    fn of_label(bags: &BagSet<Label>, wanted: Label) -> Vec<Vec<f64>> {
        let labels = bags.instance_labels().unwrap();
        let all = bags.bags().flat_map(|bag| bag.instances());
        all.zip(labels).filter(|(_, label)| **label == wanted).map(|(x, _)| x.to_vec()).collect()
    }

    #[test]
    fn the_promises_of_every_generator_hold() {
        promises::check(generate);
        promises::standard_assumption_holds(&generate(7, 100, 100));
    }

    #[test]
    fn every_bag_has_one_instance_of_each_cluster() {
        let bags = generate(1, 200, 200);
        for bag in bags.bags() {
            for cluster_idx in 0..2 {
                let centre = cluster_centre(cluster_idx, 2, 4.0);
                // Seven standard deviations; a uniform negative strays into such a disc now and then.
                let near = |x: &[f64]| (x[0] - centre[0]).hypot(x[1] - centre[1]) < 0.7;
                assert!(bag.instances().any(near), "{}, cluster {cluster_idx}", bag.name());
            }
            assert_eq!(bag.n_instances(), 5);
        }
    }

    #[test]
    fn clusters_lie_evenly_on_the_circle() {
        let centres: Vec<_> = (0..4).map(|idx| cluster_centre(idx, 4, 4.0)).collect();
        for (centre, expected) in centres.iter().zip([[4.0, 0.0], [0.0, 4.0], [-4.0, 0.0], [0.0, -4.0]]) {
            assert!((centre[0] - expected[0]).hypot(centre[1] - expected[1]) < 1e-12, "{centre:?}");
        }
    }

    #[test]
    fn without_clusters_the_negatives_fill_the_square() {
        let bags = ClustersParams { n_positive: 500, ..ClustersParams::figure_2() }.generate().unwrap();
        let negatives = of_label(&bags, Label::Negative);
        assert_eq!(negatives.len(), 1000);
        assert!(negatives.iter().flatten().all(|value| value.abs() <= 8.0));
        for quadrant in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
            // A quarter of 1000, and five standard deviations of it.
            let n_inside = negatives.iter().filter(|x| x[0] * quadrant[0] > 0.0 && x[1] * quadrant[1] > 0.0).count();
            assert!((180..=320).contains(&n_inside), "{quadrant:?}: {n_inside}");
        }
    }

    #[test]
    fn in_figure_3_the_negatives_are_as_many_and_tighter() {
        let bags = ClustersParams { n_positive: 400, ..ClustersParams::figure_3() }.generate().unwrap();
        let spread = |instances: &[Vec<f64>]| {
            let n = instances.len() as f64;
            let mean: Vec<f64> = (0..2).map(|axis| instances.iter().map(|x| x[axis]).sum::<f64>() / n).collect();
            let squares: f64 = instances.iter().map(|x| (x[0] - mean[0]).powi(2) + (x[1] - mean[1]).powi(2)).sum();
            (squares / (2.0 * n)).sqrt()
        };
        let (positives, negatives) = (of_label(&bags, Label::Positive), of_label(&bags, Label::Negative));
        assert_eq!((positives.len(), negatives.len()), (400, 400));
        // 800 draws each: the relative standard error of a standard deviation is 1/40.
        assert!((spread(&positives) - 0.6).abs() < 0.6 / 8.0, "{}", spread(&positives));
        assert!((spread(&negatives) - 0.1).abs() < 0.1 / 8.0, "{}", spread(&negatives));
    }

    #[test]
    fn the_place_of_the_positive_tells_nothing() {
        let bags = generate(0, 500, 0);
        let labels = bags.instance_labels().unwrap();
        let mut n_at = [0; 5];
        for bag_idx in 0..bags.n_bags() {
            n_at[labels[bags.columns_of(bag_idx)].iter().position(|&label| label == Label::Positive).unwrap()] += 1;
        }
        // A fifth of 500, and five standard deviations of it.
        assert!(n_at.iter().all(|n| (55..=145).contains(n)), "{n_at:?}");
    }

    #[test]
    fn values_beyond_the_range_of_f64_are_an_error() {
        let params = ClustersParams { positive_sd: f64::MAX, n_positive: 200, ..Default::default() };
        assert!(matches!(params.generate(), Err(SynthError::Bags(mil_core::BagError::NotFinite { .. }))));
        let params = ClustersParams { radius: f64::NAN, ..Default::default() };
        assert!(matches!(params.generate(), Err(SynthError::Param(_))));
    }
}
