//! How time and memory grow with size: points, and the exponents fitted to them.

use serde::Serialize;

use crate::duel::median;

/// Times below this, in seconds, are left out of a fit: what is the same at every size weighs too much in them.
pub(crate) const LEAST_SECONDS: f64 = 1e-3;
/// Memory below this, in bytes, is left out of a fit: pages and the allocator's reserves blur it.
pub(crate) const LEAST_BYTES: f64 = 1_048_576.0;
/// A fit takes so many of the largest sizes.
pub(crate) const MOST_FITTED: usize = 4;
/// With fewer there is no fit.
pub(crate) const LEAST_FITTED: usize = 3;

/// A curve of ours, and where there is one a peer's at the same sizes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Growth {
    /// Short name.
    pub(crate) name: String,
    /// What was computed.
    pub(crate) title: String,
    /// What a size counts.
    pub(crate) unit: String,
    /// Ours.
    pub(crate) ours: Side,
    /// The peer's.
    pub(crate) peer: Option<Side>,
}

/// One side of a growth.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Side {
    /// Name, and version of a peer.
    pub(crate) who: String,
    /// What was measured, by rising size.
    pub(crate) points: Vec<SizePoint>,
    /// How time grows.
    pub(crate) time: Option<Fit>,
    /// How memory grows.
    pub(crate) memory: Option<Fit>,
}

/// What was measured at one size, in a process of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SizePoint {
    /// The size.
    pub(crate) n: usize,
    /// Median of the seconds of its calls.
    pub(crate) seconds: f64,
    /// Seconds of each call.
    pub(crate) calls: Vec<f64>,
    /// The most memory the process had over the baseline, in bytes; `None` where the system does not tell.
    pub(crate) bytes: Option<f64>,
    /// What it had before there were data.
    pub(crate) baseline_bytes: Option<f64>,
    /// What else was found.
    pub(crate) remark: Option<String>,
}

/// A power law $c\,n^p$ fitted by least squares to the logarithms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Fit {
    /// The exponent $p$.
    pub(crate) exponent: f64,
    /// How many points it is fitted to.
    pub(crate) n_points: usize,
    /// The factor by which the worst of these lies off the line, at least 1.
    pub(crate) worst_factor: f64,
}

impl SizePoint {
    /// From the calls' seconds and the peak and baseline of memory.
    pub(crate) fn of(n: usize, calls: Vec<f64>, peak: Option<f64>, baseline: Option<f64>) -> SizePoint {
        let bytes = peak.zip(baseline).map(|(peak, baseline)| (peak - baseline).max(0.0));
        SizePoint { n, seconds: median(&calls), calls, bytes, baseline_bytes: baseline, remark: None }
    }
}

impl Side {
    /// With the fits to its points.
    pub(crate) fn of(who: String, points: Vec<SizePoint>) -> Side {
        let seconds: Vec<(f64, f64)> = points.iter().map(|point| (point.n as f64, point.seconds)).collect();
        let bytes: Vec<(f64, f64)> = points.iter().filter_map(|point| Some((point.n as f64, point.bytes?))).collect();
        Side { who, time: Fit::to(&seconds, LEAST_SECONDS), memory: Fit::to(&bytes, LEAST_BYTES), points }
    }
}

impl Fit {
    /// To pairs of a size and a quantity, by rising size: the last [`MOST_FITTED`] of those whose quantity is at least `least`. `None` for fewer than [`LEAST_FITTED`].
    pub(crate) fn to(pairs: &[(f64, f64)], least: f64) -> Option<Fit> {
        let large: Vec<(f64, f64)> = pairs.iter().copied().filter(|(_, value)| *value >= least).collect();
        let upper = &large[large.len().saturating_sub(MOST_FITTED)..];
        if upper.len() < LEAST_FITTED {
            return None;
        }
        let logarithms: Vec<(f64, f64)> = upper.iter().map(|(n, value)| (n.ln(), value.ln())).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| logarithms.iter().map(of).sum::<f64>() / logarithms.len() as f64;
        let (mean_x, mean_y) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let products: f64 = logarithms.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let squares: f64 = logarithms.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        if squares <= 0.0 {
            return None;
        }
        let exponent = products / squares;
        let off = |&(x, y): &(f64, f64)| (y - mean_y - exponent * (x - mean_x)).abs();
        let worst_factor = logarithms.iter().map(off).fold(0.0, f64::max).exp();
        Some(Fit { exponent, n_points: upper.len(), worst_factor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(exponent: f64, factor: f64, sizes: &[f64]) -> Vec<(f64, f64)> {
        sizes.iter().map(|n| (*n, factor * n.powf(exponent))).collect()
    }

    #[test]
    fn a_power_law_is_found_exactly() {
        for exponent in [0.0, 0.5, 1.0, 2.0, 3.0] {
            let fit = Fit::to(&law(exponent, 1e-3, &[100.0, 200.0, 400.0, 800.0, 1600.0]), LEAST_SECONDS).unwrap();
            assert!((fit.exponent - exponent).abs() < 1e-12, "{fit:?}");
            assert!((fit.worst_factor - 1.0).abs() < 1e-9 && fit.n_points == MOST_FITTED, "{fit:?}");
        }
    }

    #[test]
    fn small_values_and_small_sizes_are_left_out() {
        let mut pairs = law(2.0, 1e-6, &[10.0, 20.0, 100.0, 200.0, 400.0, 800.0]);
        (pairs[0].1, pairs[1].1) = (0.9e-3, 0.0);
        assert!((Fit::to(&pairs, LEAST_SECONDS).unwrap().exponent - 2.0).abs() < 1e-12);
        // Of five large enough, the smallest does not count.
        pairs[1].1 = 7.0;
        assert!((Fit::to(&pairs, LEAST_SECONDS).unwrap().exponent - 2.0).abs() < 1e-12);
        assert_eq!(Fit::to(&pairs[..2], LEAST_SECONDS), None);
        assert_eq!(Fit::to(&law(1.0, 1.0, &[1.0, 2.0]), 0.1), None, "two points make no fit");
        assert_eq!(Fit::to(&law(1.0, 1.0, &[2.0; 4]), 0.1), None, "nor does one size");
        assert_eq!(Fit::to(&[(1.0, f64::NAN), (2.0, 1.0), (4.0, 2.0)], 0.1), None, "nor what was not measured");
    }

    #[test]
    fn a_fit_tells_how_far_the_worst_point_is_off() {
        let mut pairs = law(1.0, 1.0, &[1.0, 2.0, 4.0]);
        pairs[1].1 *= 8.0;
        let fit = Fit::to(&pairs, 0.1).unwrap();
        // The slope hangs on the outer two; the line rises by a third of the bump.
        assert!((fit.exponent - 1.0).abs() < 1e-12 && (fit.worst_factor - 4.0).abs() < 1e-9, "{fit:?}");
    }

    #[test]
    fn memory_is_what_lies_above_the_baseline() {
        let mebibytes = |count: f64| Some(count * LEAST_BYTES);
        let point = |n: usize, peak: f64| SizePoint::of(n, vec![0.3, 0.1, 0.2], mebibytes(peak), mebibytes(10.0));
        let points = vec![point(10, 10.25), point(100, 11.0), point(200, 14.0), point(400, 26.0)];
        assert_eq!(
            (points[0].seconds, points[2].bytes, points[2].baseline_bytes),
            (0.2, mebibytes(4.0), mebibytes(10.0))
        );
        let side = Side::of("ours".to_owned(), points);
        let memory = side.memory.unwrap();
        // A quarter of a mebibyte at n = 10 is below what counts.
        assert!((memory.exponent - 2.0).abs() < 1e-12 && memory.n_points == 3, "{memory:?}");
        assert_eq!(SizePoint::of(1, vec![1.0], None, mebibytes(1.0)).bytes, None);
        assert_eq!(SizePoint::of(1, vec![1.0], mebibytes(1.0), mebibytes(2.0)).bytes, Some(0.0));
    }
}
