//! PMI: learning from positive bags only.
//!
//! Hu & Xue, *On the Complexity of One-class SVM for Multiple Instance Learning*; equations and algorithm lines are the paper's.
//!
//! Positive instances are taken to be alike, negative ones to differ from them and from each other. Each of the $N$ bags is mixed to one *virtual instance* $b_i = \sum_j\lambda_{ij}\phi(B_{ij})$ in the kernel's feature
//! space, so that these are as alike as can be,
//!
//! $$ \min_\lambda\ \sum_i\lVert b_i - \bar b\rVert^2 = \lambda^\top\bigl(\operatorname{blockdiag}(K_{11},\dots,K_{NN}) - \tfrac1NK\bigr)\lambda, \qquad \lambda_{ij}\ge0,\quad \sum_j\lambda_{ij} = 1 $$
//!
//! (eqs. 7 to 9), and a one-class machine encloses them (eq. 11), which needs $k(b_i,b_j)$ alone (eq. 10). The region is $l(x)\ge0$ with
//!
//! $$ l(x) = \sum_j\alpha_j\sum_k\lambda_{jk}\,k(x,B_{jk}) - \rho, $$
//!
//! and a bag is positive if one of its instances is inside (eq. 12).
//!
//! Deviation: eq. 9 as printed collapses to $(1-\tfrac1N)K$, which would select instances that are unlike each other; a factor was lost in print ([`BlockVariance`](mil_qp::BlockVariance)).
//!
//! Deviation: steps 3 and 4 of Algorithm 1 correct machines that leave all instances of a bag outside though its virtual instance is inside. None does: $l$ is affine in feature space, so that
//! $l(b_i) = \sum_j\lambda_{ij}l(B_{ij})\le\max_jl(B_{ij})$. [`Pmi::fit_traced`] measures both sides and asserts it, up to rounding; there is no second stage.
//!
//! Cost: the problem over $\lambda$ dominates, with a kernel row for each instance that ever has a weight; the machine over $N$ bags is small.
//!
//! ```
//! use mil_core::{BagModel, BagSet, Label, Learner};
//! use mil_kernels::Kernel;
//! use mil_pmi::Pmi;
//!
//! let mut builder = BagSet::builder(); // no labels: all bags are positive
//! for (i, elsewhere) in [[9.0, 0.0], [0.0, 9.0], [-9.0, 3.0], [5.0, -7.0]].into_iter().enumerate() {
//!     let near = 0.1 * i as f64;
//!     builder.bag(format!("bag {i}"), (), [elsewhere, [1.0 + near, 1.0 - near]])?;
//! }
//! let bags = builder.build()?;
//! let learner = Pmi { kernel: Kernel::Gaussian { gamma: 0.5 }.into(), ..Pmi::default() };
//! let (model, trace) = learner.fit_traced(&bags)?;
//! assert!(trace.mixture[1] > 0.9); // what the bags share
//! assert_eq!(model.instance_scores(bags.bag(0))?.unwrap()[0] < 0.0, true); // what they do not
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mil_core::{BagSet, FitError, KernelRows, Learner, ParamRange, Params, argmax};
use mil_kernels::{Kernel, KernelChoice, Separator};
use mil_qp::{Certificate, GroupSettings, SmoSettings};

use crate::enclosure::{Enclosure, enclose};
use crate::mixing::{Mixed, mix, virtual_gram};
use crate::model::{OneClassModel, Over};
use crate::points::{OverRows, Points};
use crate::{Mixture, PmiError, Role};

mil_core::params! {
    /// The PMI learner, of bags that are all taken for positive. [`PositivesOnly`](mil_core::PositivesOnly) makes it one of two classes.
    ///
    /// The defaults select width and share without a negative label: $\gamma=4/\operatorname{median}\lVert x-z\rVert^2$ over the training instances and $\nu=0.2$, meant for features scaled to $[0,1]$.
    pub struct Pmi {
        kernel: KernelChoice = KernelChoice::GaussianOverMedian(4.0), ParamRange::Any, "Kernel between instances.";
        nu: f64 = 0.2, ParamRange::UpTo(0.0, 1.0), "Upper bound of the share of outlier bags. Below 1/N, with N bags, none is allowed, and all such values mean the same.";
        mixture: Mixture = Mixture::LeastVariance, ParamRange::Any, "How the instances of a bag are mixed to its virtual instance.";
        tolerance: f64 = 1e-9, ParamRange::Above(0.0), "Violation of the optimality conditions that the solvers accept, as a part of the largest k(x,x) or of the largest squared distance, whichever is less.";
        memory_mib: usize = 1024, ParamRange::AtLeast(1.0), "MiB for kernel values; beyond that they are computed anew when needed.";
        seed: u64 = 0, ParamRange::Any, "Fixes the pairs of instances that the median is taken over.";
    }
}

/// What a fit came to, beyond the model.
#[derive(Debug, Clone, PartialEq)]
pub struct PmiTrace {
    /// The kernel, with its width worked out.
    pub kernel: Kernel,
    /// $\lambda$, a weight for each instance of the set; those of a bag add up to 1.
    pub mixture: Vec<f64>,
    /// $\sum_i\lVert b_i-\bar b\rVert^2$ of the virtual instances.
    pub variance: f64,
    /// $\alpha$, one for each bag.
    pub duals: Vec<f64>,
    /// $\rho$.
    pub rho: f64,
    /// Support and outlier bags (Definitions 1 and 2).
    pub roles: Vec<Role>,
    /// $l(b_i)$, one for each bag.
    pub virtual_scores: Vec<f64>,
    /// $l$ at each instance of the set.
    pub instance_scores: Vec<f64>,
    /// What the checker says of $\lambda$, for kernel values divided by the largest $k(x,x)$; `None` where nothing was solved.
    pub mixture_certificate: Option<Certificate>,
    /// What the checker says of $\alpha$, for kernel values between virtual instances divided by the largest.
    pub dual_certificate: Certificate,
    /// The score from which on an instance counts as inside: 0, less what the solver and rounding took from it. It is so low that every bag has an instance inside that is no outlier bag, as Theorem 1 has it; where the
    /// machine tells nothing, because the bags surround the origin of feature space, all may be inside.
    pub inside_from: f64,
    /// By how much $l(b_i)$ exceeds $\max_jl(B_{ij})$ at the most: 0 but for rounding, which is why the paper's second stage never runs.
    pub second_stage_excess: f64,
}

/// What sums of kernel values may lose to rounding, as a part of the largest $k(x,x)$, before the theory is in doubt.
const ROUNDING: f64 = 1e-9;
/// How far below the boundary a score may be to count as on it, as a part of the largest sum of kernel values.
const ON_BOUNDARY: f64 = 1e-8;

impl Learner<()> for Pmi {
    type Model = OneClassModel;

    fn fit(&self, bags: &BagSet<()>) -> Result<OneClassModel, FitError> {
        let params = self.check()?;
        params.train(bags).map(|trained| trained.model).map_err(|error| error.of(NAME))
    }
}

pub(crate) const NAME: &str = "PMI";

impl Pmi {
    /// Fits, and tells how: weights, multipliers, the roles of bags, and what the checker says.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit).
    ///
    /// # Panics
    /// Never, as far as we know: it asserts that no bag is outside whose virtual instance is inside.
    pub fn fit_traced(&self, bags: &BagSet<()>) -> Result<(OneClassModel, PmiTrace), FitError> {
        let params = self.check()?;
        params.train(bags).and_then(|trained| trained.traced(bags)).map_err(|error| error.of(NAME))
    }

    /// Steps 1 and 2 of Algorithm 1. The parameters are checked.
    fn train(&self, bags: &BagSet<()>) -> Result<Trained, PmiError> {
        let kernel = self.kernel.resolve(bags.instances(), self.seed)?;
        let points = Points::new(&kernel, bags.instances())?;
        let sizes: Vec<usize> = bags.bags().map(|bag| bag.n_instances()).collect();
        let steps = Steps { params: self, sizes: &sizes };
        let Solved { mixed, variance, mut enclosure } =
            points.visit(self.memory_mib.saturating_mul(1 << 20), steps)??;
        enclosure.scale_by(points.scale);
        // The weight of B_jk in l is alpha_j lambda_jk (eq. 12).
        let duals = enclosure.duals.iter().zip(&sizes).flat_map(|(&dual, &size)| std::iter::repeat_n(dual, size));
        let weights: Vec<f64> = duals.zip(&mixed.weights).map(|(dual, weight)| dual * weight).collect();
        if weights.iter().chain([&enclosure.rho]).any(|value| !value.is_finite()) {
            return Err(PmiError::Overflow);
        }
        let separator = Separator::new(&kernel, &[(bags.instances(), &weights)], -enclosure.rho);
        let defect = mixed.certificate.iter().map(Certificate::worst).fold(enclosure.certificate.worst(), f64::max);
        Ok(Trained {
            model: OneClassModel::new(separator, Over::Instances, defect),
            variance: variance * points.scale,
            largest: points.scale,
            kernel,
            mixed,
            enclosure,
        })
    }
}

/// The two problems of a fit, over kernel values that may be in memory or not.
struct Steps<'a> {
    params: &'a Pmi,
    sizes: &'a [usize],
}

/// What they came to.
struct Solved {
    mixed: Mixed,
    /// Of the virtual instances, from their kernel values: $\sum_i\lVert b_i-\bar b\rVert^2 = \operatorname{tr}K_b - \tfrac1N\mathbf 1^\top K_b\mathbf 1$.
    variance: f64,
    enclosure: Enclosure,
}

impl OverRows for Steps<'_> {
    type Output = Result<Solved, PmiError>;

    fn over<K: KernelRows>(self, rows: &K, cache_bytes: usize) -> Self::Output {
        let Pmi { nu, mixture, tolerance, .. } = *self.params;
        let mixed = mix(rows, self.sizes, mixture, &GroupSettings { tolerance, cache_bytes, ..Default::default() })?;
        let mut gram = virtual_gram(rows, self.sizes, &mixed.weights)?;
        let variance = (gram.trace() - gram.sum() / self.sizes.len() as f64).max(0.0);
        // Mixtures are shorter than what they are made of, at times by far.
        let largest = gram.diagonal().max();
        let scale = if largest > 0.0 { largest } else { 1.0 };
        gram /= scale;
        let mut enclosure = enclose(&gram, nu, &SmoSettings { tolerance, ..Default::default() })?;
        enclosure.scale_by(scale);
        Ok(Solved { mixed, variance, enclosure })
    }
}

/// A model and what it is made of.
struct Trained {
    model: OneClassModel,
    kernel: Kernel,
    mixed: Mixed,
    variance: f64,
    enclosure: Enclosure,
    /// The largest $k(x,x)$.
    largest: f64,
}

impl Trained {
    fn traced(self, bags: &BagSet<()>) -> Result<(OneClassModel, PmiTrace), PmiError> {
        let Trained { model, kernel, mixed, variance, enclosure, largest } = self;
        let Enclosure { duals, sums, rho, roles, certificate } = enclosure;
        let instance_sums = model.separator().sums(bags.instances())?;
        let largest_sum = instance_sums.iter().fold(0.0, |most: f64, sum| most.max(sum.abs()));
        let instance_scores: Vec<f64> = instance_sums.into_iter().map(|sum| sum - rho).collect();
        let virtual_scores: Vec<f64> = sums.into_iter().map(|sum| sum - rho).collect();
        let highest_of = |bag_idx| {
            let scores = &instance_scores[bags.columns_of(bag_idx)];
            scores[argmax(scores)]
        };
        let highest: Vec<f64> = (0..bags.n_bags()).map(highest_of).collect();
        // Where all bags are outliers, the furthest inside is on the boundary.
        let enclosed = highest.iter().zip(&roles).filter(|(_, role)| **role != Role::Outlier).map(|(score, _)| *score);
        let boundary = enclosed.fold(highest[argmax(&highest)].min(0.0), f64::min);
        let inside_from = boundary - ON_BOUNDARY * largest_sum;
        let excess = virtual_scores.iter().zip(&highest).map(|(of_virtual, of_bag)| of_virtual - of_bag);
        let second_stage_excess = excess.fold(0.0, f64::max);
        assert!(
            second_stage_excess <= ROUNDING * largest,
            "a virtual instance is {second_stage_excess} further inside than any instance of its bag"
        );
        let trace = PmiTrace {
            kernel,
            variance,
            inside_from,
            mixture: mixed.weights,
            duals,
            rho,
            roles,
            virtual_scores,
            instance_scores,
            mixture_certificate: mixed.certificate,
            dual_certificate: certificate,
            second_stage_excess,
        };
        Ok((model, trace))
    }
}
