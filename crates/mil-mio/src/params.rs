//! The choices of MIO and MILES that are not numbers.

use std::fmt;

use mil_core::{BagSet, Label, ParamError, ParamField, ParamRange};
use mil_kernels::median_squared_distance;

use crate::MioError;

/// The squared width $\sigma^2$ of the similarity $\exp(-\lVert x-x'\rVert^2/\sigma^2)$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// $\sigma^2$ itself: `width=2.5e5`.
    Squared(f64),
    /// A multiple of the median squared distance between training instances: `width=median*0.5`. A stream has none.
    OverMedian(f64),
}

impl Width {
    /// $\sigma^2$ for training bags. The median is over at most ten thousand pairs, drawn with the seed where there are more.
    pub(crate) fn resolve(self, bags: &BagSet<Label>, seed: u64) -> Result<f64, MioError> {
        self.over(|| median_squared_distance(bags.instances(), seed))
    }

    /// $\sigma^2$ for a median that is computed where it is needed.
    pub(crate) fn over(self, median: impl FnOnce() -> f64) -> Result<f64, MioError> {
        match self {
            Width::Squared(sigma2) => Ok(sigma2),
            Width::OverMedian(ratio) => {
                let median = median();
                let sigma2 = ratio * median;
                if sigma2.is_finite() && 0.0 < sigma2 { Ok(sigma2) } else { Err(MioError::NoMedian { median, ratio }) }
            }
        }
    }

    /// $\sigma^2$ without any bags.
    pub(crate) fn of_stream(self) -> Result<f64, MioError> {
        match self {
            Width::Squared(sigma2) => Ok(sigma2),
            Width::OverMedian(_) => Err(MioError::WidthOfStream),
        }
    }
}

const MEDIAN: &str = "median*";

impl ParamField for Width {
    const KIND: &'static str = "a number, or median*NUMBER";

    fn parse(word: &str) -> Option<Width> {
        match word.strip_prefix(MEDIAN) {
            Some(ratio) => ratio.parse().ok().map(Width::OverMedian),
            None => word.parse().ok().map(Width::Squared),
        }
    }

    fn show(&self) -> String {
        match self {
            Width::Squared(sigma2) => sigma2.show(),
            Width::OverMedian(ratio) => format!("{MEDIAN}{}", ratio.show()),
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        let (Width::Squared(value) | Width::OverMedian(value)) = *self;
        ParamRange::Above(0.0).require("width", value)
    }
}

/// How the elastic net grows with the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// $\alpha=\alpha_0\sqrt T$ and $\beta=\beta_0\sqrt T$ in every round, $T$ the number of rounds to be played (§3.4.1).
    Fixed,
    /// $\alpha_t=\alpha_0\sqrt t$ and $\beta_t=\beta_0\sqrt t$ in round $t$.
    AnyTime,
}

/// What a bag that is presented again counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revisit {
    /// A new round of the game: its step is added to those before.
    Round,
    /// The same round once more: its earlier step is taken back first. Passes then ascend the dual of the batch problem
    /// $\min_w f(w)+\sum_ig_i(w)$ coordinate by coordinate.
    Replace,
}

/// In which order a fit presents the training bags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// At random, anew for each pass.
    ///
    /// Choice: the paper cycles through the bags and says nothing of their order. On Musk2 shuffling them anew is worth one to two points.
    Shuffled,
    /// At random, the same for all passes.
    Cyclic,
    /// As they come, in all passes. Files often hold all bags of one class before those of the other, which no stream does.
    AsGiven,
}

/// How many candidate instances are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// All.
    Unlimited,
    /// At most so many; at least 1. See [`MioStream`](crate::MioStream) for who goes.
    Candidates(usize),
}

mil_core::choice!(Schedule { Fixed = "fixed", AnyTime = "any-time" });
mil_core::choice!(Revisit { Round = "round", Replace = "replace" });
mil_core::choice!(Order { Shuffled = "shuffled", Cyclic = "cyclic", AsGiven = "as-given" });

const UNLIMITED: &str = "unlimited";

impl ParamField for Budget {
    const KIND: &'static str = "unlimited, or an integer";

    fn parse(word: &str) -> Option<Budget> {
        if word == UNLIMITED { Some(Budget::Unlimited) } else { word.parse().ok().map(Budget::Candidates) }
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn check(&self) -> Result<(), ParamError> {
        match *self {
            Budget::Unlimited => Ok(()),
            Budget::Candidates(n) => ParamRange::AtLeast(1.0).require("budget", n as f64),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::Unlimited => f.write_str(UNLIMITED),
            Budget::Candidates(n) => write!(f, "{n}"),
        }
    }
}
