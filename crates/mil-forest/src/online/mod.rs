//! Forests on a stream: bags come one by one, are learnt and forgotten.
//!
//! Leistner, Saffari & Bischof, *MIForests: Multiple-Instance Learning with Randomized Trees*, ECCV 2010, §3.2, on the trees of Saffari, Leistner, Santner, Godec & Bischof, *On-line Random Forests*, ICCV Workshops 2009.
//!
//! A tree is shown each instance as often as a Poisson number of mean $\lambda$ says: bagging, where the number of instances is not known beforehand (Oza 2005). Every leaf holds $R$ random tests, a feature and a threshold drawn uniformly
//! in the range that the stream has shown so far, with the weights of the classes on either side. As soon as they have seen enough and the best of them takes enough,
//!
//! $$ \Delta G = G(n)-\tfrac{|l|}{|n|}G(l)-\tfrac{|r|}{|n|}G(r)\ \ge\ \beta,\qquad G=\sum_kp_k(1-p_k), $$
//!
//! off the Gini index of the leaf, it is split, and the children inherit the weights of their side.
//!
//! - [`OnlineForest`] takes the label of the bag for that of every instance: the online random forest (ORF) of the paper's Table 3.
//! - [`OnlineMiForest`] asks the forest as it is for the posteriors of the bag's instances, anneals them ([`annealed`](crate::annealed)), and lets every tree draw its labels from $p^*$; the instance of the largest $p^*$ of the bag's class is its
//!   witness and keeps that class.
//!
//! As a [`Learner`] both present the training bags several times, in an order shuffled anew for each pass; as a stream they take what comes ([`OnlineForestStream`], which also states the cost).
//!
//! ```
//! use mil_core::{Bag, BagModel, Label, OnlineLearner};
//! use mil_forest::OnlineMiForest;
//! let mut stream = OnlineMiForest::default().stream(2)?;
//! let mut n_mistakes = 0;
//! for i in 0..400 {
//!     let x = f64::from(i % 20) / 20.0;
//!     let (label, values) = match i % 2 {
//!         0 => (Label::Positive, [x, 1.0 - x, 3.0 + x, x]), // the second instance tells
//!         _ => (Label::Negative, [x, x, 1.0 - x, 0.5]),
//!     };
//!     let bag = Bag::new("next", 2, &values)?;
//!     n_mistakes += usize::from(i >= 200 && stream.predict(bag)? != label);
//!     stream.update(bag, label)?;
//! }
//! assert_eq!(n_mistakes, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where we leave the paper
//!
//! Deviation: one temperature, not the schedule of the batch ([`Cooling`]).
//!
//! Choice: the first bags of each class copy their labels (`n_naive`). A forest that knows nothing has nothing to say about witnesses, and what it says is learnt. What it is worth is within the noise: a point on Elephant, Tiger and Musk1, less than nothing on Fox.
//!
//! Choice: the classes are evened out through the Poisson rate, by what has been shown so far (`weighting`). Of a bag that hides labels few instances may be of its class, and the decision at 1/2 needs a forest that does not lean to
//! the other side: without it the accuracy falls from 82 to 63 on Elephant and from 83 to 70 on Musk1, more than the areas under the curve tell (91 and 92, 90 and 87).
//!
//! As in the batch, annealing mends the threshold of the maximum rule and hardly the ranking: a plain forest with the mean rule does as well or better on all five benchmarks.

mod params;
mod ranges;
mod settings;
mod stream;
mod tree;

use mil_core::{
    BagSet, ClassId, FitError, Label, Learner, OnlineLearner, ParamRange, Params, Tunable, stream as random_stream,
};
use rand::seq::SliceRandom;

use crate::annealing::Loss;
use crate::task::ForestLabel;
use params::online_params;
use settings::Settings;

pub use params::Cooling;
pub use stream::OnlineForestStream;

online_params! {
    /// The online random forest: every instance takes the label of its bag. For two classes or many.
    pub struct OnlineForest {
    }
}

online_params! {
    /// The online MIForest, for two classes or many.
    pub struct OnlineMiForest {
        loss: Loss = Loss::Hinge, ParamRange::Any, "The loss of a label, given the forest's confidence in it.";
        cooling: Cooling = Cooling::At(1.0), ParamRange::Any, "The temperatures at which a bag that hides labels is shown.";
        n_naive: usize = 20, ParamRange::Within(0.0, 1e9), "Bags of each class that copy their label first.";
    }
}

/// Both learners begin streams and fit alike.
macro_rules! online_learner {
    ($name:ident) => {
        impl $name {
            /// Begins a stream of bags of two classes.
            ///
            /// # Errors
            /// If a parameter is out of range or there is no feature.
            pub fn stream(&self, n_features: usize) -> Result<OnlineForestStream<Label>, FitError> {
                const N_CLASSES: usize = 2;
                self.stream_of(n_features, N_CLASSES)
            }

            /// Begins a stream of bags of many classes.
            ///
            /// # Errors
            /// If a parameter is out of range or there is no feature or no class.
            pub fn stream_of_classes(
                &self,
                n_features: usize,
                n_classes: usize,
            ) -> Result<OnlineForestStream<ClassId>, FitError> {
                self.stream_of(n_features, n_classes)
            }

            fn stream_of<Y: ForestLabel>(
                &self,
                n_features: usize,
                n_classes: usize,
            ) -> Result<OnlineForestStream<Y>, FitError> {
                let params = self.check()?;
                Ok(OnlineForestStream::new(Settings::from(&*params), n_features, n_classes)?)
            }
        }

        impl<Y: ForestLabel> Learner<Y> for $name {
            type Model = OnlineForestStream<Y>;

            fn fit(&self, bags: &BagSet<Y>) -> Result<OnlineForestStream<Y>, FitError> {
                let mut stream = self.stream_of(bags.n_features(), bags.n_classes())?;
                Y::require_classes(bags)?;
                present(bags, self.n_passes, self.seed, &mut stream)?;
                Ok(stream)
            }
        }

        /// Nothing that folds share is worth keeping: the bags of each come in an order of their own.
        impl Tunable for $name {
            type Values<'a> = ();

            fn shares_values(&self, _: &$name) -> bool {
                true
            }

            fn values(&self, _: &BagSet<Label>) -> Result<(), FitError> {
                Ok(())
            }
        }
    };
}

online_learner!(OnlineForest);
online_learner!(OnlineMiForest);

/// Presents all bags so many times, in an order shuffled anew for each.
fn present<Y: ForestLabel>(
    bags: &BagSet<Y>,
    n_passes: usize,
    seed: u64,
    stream: &mut OnlineForestStream<Y>,
) -> Result<(), FitError> {
    for pass in 0..n_passes {
        let mut order: Vec<usize> = (0..bags.n_bags()).collect();
        order.shuffle(&mut random_stream(seed, "presentation of bags", pass as u64));
        for bag_idx in order {
            stream.update(bags.bag(bag_idx), bags.labels()[bag_idx])?;
        }
    }
    Ok(())
}
