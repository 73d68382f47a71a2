//! What a stream was begun with, as it is kept in a file.

use mil_core::{BagRule, ParamError, ParamRange, Params};
use serde::{Deserialize, Serialize};

use super::params::n_tests;
use super::tree::Growing;
use super::{Cooling, OnlineForest, OnlineMiForest};
use crate::annealing::Loss;
use crate::params::{TestCount, Weighting};

/// The parameters of a stream; a fit's number of passes is none of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) n_trees: usize,
    pub(crate) max_depth: usize,
    #[serde(with = "word")]
    pub(crate) n_tests: TestCount,
    pub(crate) min_seen: usize,
    pub(crate) min_gain: f64,
    pub(crate) n_ranging: usize,
    pub(crate) rate: f64,
    #[serde(with = "word")]
    pub(crate) weighting: Weighting,
    pub(crate) rule: BagRule,
    pub(crate) seed: u64,
    pub(crate) labelling: Labelling,
}

/// Which labels trees are shown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Labelling {
    /// That of the bag.
    Copied,
    /// Drawn from an annealed distribution, where the bag hides labels.
    Annealed {
        #[serde(with = "word")]
        loss: Loss,
        #[serde(with = "word")]
        cooling: Cooling,
        /// Bags of each class whose label is copied first.
        n_naive: usize,
    },
}

impl Settings {
    /// Refuses what no stream of so many features and classes could be begun with.
    ///
    /// # Errors
    /// If there is no feature or no class, or a setting is out of range.
    pub(crate) fn check(&self, n_features: usize, n_classes: usize) -> Result<Growing, ParamError> {
        const COUNT: ParamRange = ParamRange::Within(1.0, u32::MAX as f64);
        COUNT.require("n_features", n_features as f64)?;
        COUNT.require("n_classes", n_classes as f64)?;
        self.as_params().check()?;
        self.growing(n_features, n_classes)
    }

    /// How trees grow on instances of so many features and classes.
    ///
    /// # Errors
    /// If leaves would have too many tests.
    pub(crate) fn growing(&self, n_features: usize, n_classes: usize) -> Result<Growing, ParamError> {
        Ok(Growing {
            n_classes,
            n_tests: n_tests(self.n_tests, n_features, n_classes)?,
            max_depth: self.max_depth,
            min_seen: self.min_seen as f64,
            min_gain: self.min_gain,
        })
    }

    /// The parameters again, which know their ranges.
    fn as_params(&self) -> OnlineMiForest {
        let OnlineMiForest { loss, cooling, n_naive, n_passes, .. } = OnlineMiForest::default();
        let (loss, cooling, n_naive) = match self.labelling {
            Labelling::Copied => (loss, cooling, n_naive),
            Labelling::Annealed { loss, cooling, n_naive } => (loss, cooling, n_naive),
        };
        OnlineMiForest {
            n_trees: self.n_trees,
            max_depth: self.max_depth,
            n_tests: self.n_tests,
            min_seen: self.min_seen,
            min_gain: self.min_gain,
            n_ranging: self.n_ranging,
            rate: self.rate,
            weighting: self.weighting,
            rule: self.rule,
            n_passes,
            seed: self.seed,
            loss,
            cooling,
            n_naive,
        }
    }
}

/// Reads the settings off the parameters of a learner.
macro_rules! settings_from {
    ($params:ty, $labelling:expr) => {
        impl From<&$params> for Settings {
            fn from(params: &$params) -> Settings {
                Settings {
                    n_trees: params.n_trees,
                    max_depth: params.max_depth,
                    n_tests: params.n_tests,
                    min_seen: params.min_seen,
                    min_gain: params.min_gain,
                    n_ranging: params.n_ranging,
                    rate: params.rate,
                    weighting: params.weighting,
                    rule: params.rule,
                    seed: params.seed,
                    labelling: $labelling(params),
                }
            }
        }
    };
}

settings_from!(OnlineForest, |_: &OnlineForest| Labelling::Copied);
settings_from!(OnlineMiForest, |params: &OnlineMiForest| Labelling::Annealed {
    loss: params.loss,
    cooling: params.cooling,
    n_naive: params.n_naive,
});

/// Choices are kept as the words that users write.
mod word {
    use mil_core::ParamField;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<P: ParamField, S: Serializer>(choice: &P, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&choice.show())
    }

    pub(super) fn deserialize<'de, P: ParamField, D: Deserializer<'de>>(deserializer: D) -> Result<P, D::Error> {
        let word = String::deserialize(deserializer)?;
        P::parse(&word).ok_or_else(|| D::Error::custom(format!("{word:?} is not {}", P::KIND)))
    }
}
