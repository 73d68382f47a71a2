//! A figure of ours beside the one that a paper prints, and the rule that judges them.

use mil_core::stats::Summary;
use serde::{Deserialize, Serialize};

/// A figure that a paper prints.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// The figure.
    pub value: f64,
    /// Digits behind the point, as printed.
    pub n_decimals: usize,
    /// What the paper tells of its spread.
    pub spread: Spread,
}

/// What a paper tells of the spread of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Spread {
    /// An interval.
    Interval {
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A figure behind a plus-minus sign.
    PlusMinus {
        /// It.
        half_width: f64,
    },
    /// The mean of so many runs.
    Runs {
        /// How many.
        n_runs: usize,
    },
    /// Nothing.
    Silent,
}

impl Printed {
    /// A figure with one decimal of which nothing else is told.
    #[must_use]
    pub const fn tenths(value: f64) -> Printed {
        Printed { value, n_decimals: 1, spread: Spread::Silent }
    }

    /// A whole number of which nothing else is told.
    #[must_use]
    pub const fn whole(value: f64) -> Printed {
        Printed { value, n_decimals: 0, spread: Spread::Silent }
    }

    /// The same with an interval.
    #[must_use]
    pub const fn within(self, low: f64, high: f64) -> Printed {
        Printed { spread: Spread::Interval { low, high }, ..self }
    }

    /// The same with a plus-minus sign.
    #[must_use]
    pub const fn plus_minus(self, half_width: f64) -> Printed {
        Printed { spread: Spread::PlusMinus { half_width }, ..self }
    }

    /// The same as the mean of so many runs.
    #[must_use]
    pub const fn of_runs(self, n_runs: usize) -> Printed {
        Printed { spread: Spread::Runs { n_runs }, ..self }
    }

    /// `88.3 [86.5, 90.2]`, `79.1 ± 1.1` or `84`.
    #[must_use]
    pub fn text(&self) -> String {
        let shown = |value: f64| format!("{value:.*}", self.n_decimals);
        let value = shown(self.value);
        match self.spread {
            Spread::Interval { low, high } => format!("{value} [{}, {}]", shown(low), shown(high)),
            Spread::PlusMinus { half_width } => format!("{value} ± {}", shown(half_width)),
            Spread::Runs { .. } | Spread::Silent => value,
        }
    }

    /// Half of one in the last digit printed.
    fn rounding(&self) -> f64 {
        0.5 * 10f64.powi(-i32::try_from(self.n_decimals).unwrap_or(0))
    }
}

/// Which way is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better, as of accuracy.
    Higher,
    /// Less is better, as of errors.
    Lower,
}

/// A cell of a paper's table that a [`Figure`](crate::figure::Figure) recomputes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The line of the table: the method.
    pub line: String,
    /// The column: what is measured and on what.
    pub column: String,
    /// Ours, run by run, in the unit of the paper.
    pub runs: Vec<f64>,
    /// The paper's.
    pub printed: Printed,
    /// Which way is up.
    pub better: Better,
    /// Why the two do not compare, where they do not.
    pub not_comparable: Option<String>,
}

/// How a figure of ours stands to the one printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The difference is within what the spreads of both allow.
    Matches,
    /// Beyond it, to the good.
    Better,
    /// Beyond it, to the bad.
    Worse,
    /// The two are not figures of the same thing, or there is nothing to tell a difference from chance.
    NotComparable,
}

impl Verdict {
    /// All, in the order of a legend.
    pub const ALL: [Verdict; 4] = [Verdict::Matches, Verdict::Better, Verdict::Worse, Verdict::NotComparable];

    /// In a word or two.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Matches => "matches",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NotComparable => "not comparable",
        }
    }
}

/// The rule of [`judge`] in words.
pub const RULE: &str = "Ours is the mean m of R runs with half its 95 % interval h = t s / sqrt(R), s being the standard deviation of the runs and t Student's quantile for R - 1 degrees of freedom. The paper's figure p has half an interval k: the one that it prints, \
     or what stands behind its plus-minus sign, taken as such; where it prints neither, k = t s / sqrt(Q), our own spread for the Q runs that it states, or for a single run where it states none. The cell matches if |m - p| is at most sqrt(h^2 + k^2) plus half of one in the last digit printed; \
     beyond that it is better or worse. A single run of ours, or a stated reason, makes it not comparable. The spread is that of other folds of the same bags (or other draws, where data are generated), and does not tell how other bags would come out.";

/// Judges a figure of ours by [`RULE`].
#[must_use]
pub fn judge(runs: &[f64], printed: &Printed, better: Better) -> Verdict {
    if runs.is_empty() {
        return Verdict::NotComparable;
    }
    let Summary { n, mean, half_width, .. } = Summary::of(runs);
    let Some(half_width) = half_width else { return Verdict::NotComparable };
    let of_one_run = half_width * (n as f64).sqrt();
    let of_paper = match printed.spread {
        Spread::Interval { low, high } => (high - low) / 2.0,
        Spread::PlusMinus { half_width } => half_width,
        Spread::Runs { n_runs } => of_one_run / (n_runs.max(1) as f64).sqrt(),
        Spread::Silent => of_one_run,
    };
    let difference = mean - printed.value;
    // A difference that is allowed to the last digit must not fail by the rounding of a sum.
    if difference.abs() <= half_width.hypot(of_paper) + printed.rounding() + 1e-9 * printed.value.abs() {
        return Verdict::Matches;
    }
    match (better, difference > 0.0) {
        (Better::Higher, true) | (Better::Lower, false) => Verdict::Better,
        _ => Verdict::Worse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five runs with mean 80 and standard deviation 1, so that h = 2.776 / sqrt(5) = 1.24.
    const RUNS: [f64; 5] = [80.0, 80.0, 80.0 + std::f64::consts::SQRT_2, 80.0 - std::f64::consts::SQRT_2, 80.0];

    #[test]
    fn an_interval_that_is_printed_counts_as_it_is() {
        // sqrt(1.24^2 + 1^2) = 1.59, and 0.05 for the digit.
        let printed = |value: f64| Printed::tenths(value).within(value - 1.0, value + 1.0);
        for (value, verdict) in
            [(81.6, Verdict::Matches), (81.7, Verdict::Worse), (78.4, Verdict::Matches), (78.3, Verdict::Better)]
        {
            assert_eq!(judge(&RUNS, &printed(value), Better::Higher), verdict, "{value}");
            let as_plus_minus = Printed::tenths(value).plus_minus(1.0);
            assert_eq!(judge(&RUNS, &as_plus_minus, Better::Higher), verdict, "{value}");
        }
        assert_eq!(judge(&RUNS, &printed(78.3), Better::Lower), Verdict::Worse);
        assert_eq!(judge(&RUNS, &printed(81.7), Better::Lower), Verdict::Better);
    }

    #[test]
    fn where_a_paper_is_silent_our_spread_stands_in() {
        // For a single run k = 2.776, and sqrt(1.24^2 + 2.776^2) = 3.04; for five k = h, and 1.76. Half a whole is added.
        for (printed, far, near) in [
            (Printed::whole(84.0), Verdict::Worse, Printed::whole(83.0)),
            (Printed::whole(83.0).of_runs(5), Verdict::Worse, Printed::whole(82.0).of_runs(5)),
        ] {
            assert_eq!(judge(&RUNS, &printed, Better::Higher), far);
            assert_eq!(judge(&RUNS, &near, Better::Higher), Verdict::Matches);
        }
    }

    #[test]
    fn a_single_run_cannot_be_told_from_chance() {
        for runs in [&[][..], &[50.0]] {
            assert_eq!(judge(runs, &Printed::whole(80.0), Better::Higher), Verdict::NotComparable);
        }
    }

    #[test]
    fn runs_without_spread_still_have_the_printed_digit() {
        let runs = [80.25; 3];
        assert_eq!(judge(&runs, &Printed::tenths(80.3), Better::Higher), Verdict::Matches);
        assert_eq!(judge(&runs, &Printed::tenths(80.2), Better::Higher), Verdict::Matches);
        assert_eq!(judge(&runs, &Printed::tenths(80.4), Better::Higher), Verdict::Worse);
    }

    #[test]
    fn printed_figures_are_shown_as_printed() {
        assert_eq!(Printed::tenths(85.0).text(), "85.0");
        assert_eq!(Printed::whole(84.0).of_runs(5).text(), "84");
        assert_eq!(Printed::tenths(88.3).within(86.0, 90.2).text(), "88.3 [86.0, 90.2]");
        assert_eq!(Printed::tenths(79.1).plus_minus(1.1).text(), "79.1 ± 1.1");
    }
}
