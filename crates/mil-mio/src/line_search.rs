//! The exact line search of a round.
//!
//! With $v=-\pi_t$, $\tau=-\theta$ and the similarities $z\ge0$ of the bag, eqs. 15 and 16 of MIO read
//!
//! $$ \tau_t = \arg\min_{0\le\tau\le C} h(\tau),\qquad h(\tau) = \tfrac12\sum_i\bigl(|v_i + \tau y z_i| - \alpha\bigr)_+^2 - \beta\tau. $$
//!
//! The slope $h'$ is piecewise linear and never falls (Lemma 1); its kinks are at $(\pm\alpha - yv_i)/z_i$. Newton's method lands exactly on the root once it is on the right piece, which on
//! real streams takes two to five looks at all terms. Where it has not come to rest after [`NEWTON_STEPS`], the kinks that are left between the bounds found so far are halved by their median, so that the search takes
//! $O(N)$ expected time whatever the data, where sorting all kinks as the paper does takes $O(N\log N)$.
//!
//! Deviation: the paper interpolates between two kinks by $(b_iQ'(b_i)+b_jQ'(b_j))/(Q'(b_i)+Q'(b_j))$, which is not the root; it is $(aQ'(b)-bQ'(a))/(Q'(b)-Q'(a))$.

use pulp::{Arch, Simd, WithSimd};

/// Newton steps before kinks are sorted out by selection.
const NEWTON_STEPS: usize = 12;
/// The slope of $h$ at a root may differ from 0 by this part of $\beta$, and by [`ROUNDING`] of the slope where the search began. This guards against different terms that are active in
/// turn and add up to the same curvature; on the right piece the slope is 0 but for rounding.
const AT_ROOT: f64 = 1e-9;
/// What sums of terms lose, against the largest of them.
const ROUNDING: f64 = 1e-14;
/// Partial sums of a pass, in a fixed order: the result is the same on every machine.
const LANES: usize = 16;

/// A line $v + \tau y z$ along which $h$ is minimised, with the bias as one more term that has no $\alpha$.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// $v$, one for each candidate.
    pub(crate) dual: &'a [f64],
    /// $z$, at least 0.
    pub(crate) similarities: &'a [f64],
    /// $v$ of the bias, and its constant feature.
    pub(crate) bias: (f64, f64),
    /// $y$.
    pub(crate) sign: f64,
    /// $\alpha$, at least 0.
    pub(crate) alpha: f64,
    /// $\beta$, above 0.
    pub(crate) beta: f64,
}

/// What a pass over all terms finds at a step $\tau$.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    step: f64,
    /// $\beta y\,w(\tau)^\top z$.
    pub(crate) margin: f64,
    /// $h'(\tau) = \beta(y\,w(\tau)^\top z - 1)$.
    slope: f64,
    /// $h''$ to the right of $\tau$.
    curvature: f64,
}

impl Line<'_> {
    /// The minimiser of $h$ over $[0, C]$; the least where there are several.
    pub(crate) fn search(&self, start: Look, cap: f64) -> f64 {
        self.search_within(start, cap, NEWTON_STEPS)
    }

    fn search_within(&self, start: Look, cap: f64, n_newton_steps: usize) -> f64 {
        if start.slope >= 0.0 {
            return 0.0;
        }
        let at_root = AT_ROOT * self.beta - ROUNDING * start.slope;
        let mut bounds = Bounds { low: start, high: None, cap };
        let mut last = start;
        for _ in 0..n_newton_steps {
            let look = self.look(bounds.next_step(last));
            if look.step == cap && look.slope <= 0.0 {
                return cap;
            }
            // The same curvature is the same piece, of which this is the root; but for digits that a step from afar has lost, which one more step restores.
            if look.curvature == last.curvature && look.slope.abs() <= at_root {
                return (look.step - look.slope / look.curvature).max(0.0).min(cap);
            }
            bounds.tighten(look);
            last = look;
        }
        let high = bounds.high.unwrap_or_else(|| self.look(cap));
        if high.slope <= 0.0 { cap } else { self.select(bounds.low, high) }
    }

    /// Looks at all terms at a step.
    pub(crate) fn look(&self, step: f64) -> Look {
        let (sum, curvature) = Arch::new().dispatch(Pass { line: self, step });
        let (bias, feature) = self.bias;
        let margin = sum + feature * (self.sign * bias + step * feature);
        Look { step, margin, slope: margin - self.beta, curvature: curvature + feature * feature }
    }

    /// The root between two looks, of which the first is below 0 and the second above: kinks between them are halved by their median until none is left.
    fn select(&self, low: Look, high: Look) -> f64 {
        let (mut low, mut high) = (low.step, high.step);
        // What does not bend between the bounds: a slope of intercept + step * curvature.
        let (bias, feature) = self.bias;
        let (mut intercept, mut curvature) = (feature * self.sign * bias - self.beta, feature * feature);
        let mut bending: Vec<Term> = self.terms().collect();
        loop {
            let mut kinks = Vec::new();
            bending.retain(|term| {
                let within = term.kinks(self.alpha).into_iter().filter(|kink| low < *kink && *kink < high);
                let n_before = kinks.len();
                kinks.extend(within);
                if kinks.len() > n_before {
                    return true;
                }
                let (offset, square) = term.piece(self.alpha, 0.5 * (low + high));
                intercept += offset;
                curvature += square;
                false
            });
            if kinks.is_empty() {
                let root = -intercept / curvature;
                return if root.is_finite() { root.max(low).min(high) } else { low };
            }
            let middle = kinks.len() / 2;
            let kink = *kinks.select_nth_unstable_by(middle, f64::total_cmp).1;
            let slope = bending.iter().fold(intercept + kink * curvature, |slope, term| {
                let (offset, square) = term.piece(self.alpha, kink);
                slope + offset + kink * square
            });
            if slope < 0.0 {
                low = kink;
            } else {
                high = kink;
            }
        }
    }

    fn terms(&self) -> impl Iterator<Item = Term> + '_ {
        let pairs = self.dual.iter().zip(self.similarities).filter(|(_, similarity)| **similarity > 0.0);
        pairs.map(|(dual, &similarity)| Term { start: self.sign * dual, similarity })
    }
}

/// Between which steps the root lies, as far as is known.
struct Bounds {
    low: Look,
    /// None until a step with a slope above 0 was seen.
    high: Option<Look>,
    cap: f64,
}

impl Bounds {
    /// Newton's step from the last look, or what the secant says where that leaves the bounds.
    fn next_step(&self, last: Look) -> f64 {
        let newton = last.step - last.slope / last.curvature;
        match self.high {
            None if newton < self.cap => newton,
            None => self.cap,
            Some(high) if self.low.step < newton && newton < high.step => newton,
            Some(high) => {
                let low = self.low;
                (low.step * high.slope - high.step * low.slope) / (high.slope - low.slope)
            }
        }
    }

    fn tighten(&mut self, look: Look) {
        if look.slope < 0.0 {
            self.low = look;
        } else {
            self.high = Some(look);
        }
    }
}

/// One term of $h$: $c = yv_i$ and $z_i > 0$.
#[derive(Debug, Clone, Copy)]
struct Term {
    start: f64,
    similarity: f64,
}

impl Term {
    /// Where the term begins and ceases to be flat.
    fn kinks(&self, alpha: f64) -> [f64; 2] {
        [(-alpha - self.start) / self.similarity, (alpha - self.start) / self.similarity]
    }

    /// Offset and factor of its slope $z\,\mathrm{soft}(c + \tau z, \alpha)$ around a step.
    fn piece(&self, alpha: f64, step: f64) -> (f64, f64) {
        let Term { start, similarity } = *self;
        let [falling, rising] = self.kinks(alpha);
        if step < falling {
            (similarity * (start + alpha), similarity * similarity)
        } else if step < rising {
            (0.0, 0.0)
        } else {
            (similarity * (start - alpha), similarity * similarity)
        }
    }
}

/// $\operatorname{soft}(v,\alpha) = \operatorname{sgn}(v)(|v|-\alpha)_+$ (Proposition 1).
#[inline(always)]
pub(crate) fn soft(value: f64, alpha: f64) -> f64 {
    let low = if value < -alpha { -alpha } else { value };
    value - if low > alpha { alpha } else { low }
}

struct Pass<'a> {
    line: &'a Line<'a>,
    step: f64,
}

impl WithSimd for Pass<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (f64, f64) {
        let Line { dual, similarities, sign, alpha, .. } = *self.line;
        let mut slopes = [0.0; LANES];
        let mut curvatures = [0.0; LANES];
        let (duals, dual_rest) = dual.as_chunks::<LANES>();
        let (many, rest) = similarities.as_chunks::<LANES>();
        for (v, z) in duals.iter().zip(many) {
            for lane in 0..LANES {
                let (slope, curvature) = term(sign * v[lane], z[lane], self.step, alpha);
                slopes[lane] += slope;
                curvatures[lane] += curvature;
            }
        }
        for (lane, (v, z)) in dual_rest.iter().zip(rest).enumerate() {
            let (slope, curvature) = term(sign * v, *z, self.step, alpha);
            slopes[lane] += slope;
            curvatures[lane] += curvature;
        }
        (slopes.iter().sum(), curvatures.iter().sum())
    }
}

#[inline(always)]
fn term(start: f64, similarity: f64, step: f64, alpha: f64) -> (f64, f64) {
    let at = start + step * similarity;
    // To the right of a kink, as steps grow.
    let is_active = (at >= alpha) | (at < -alpha);
    (similarity * soft(at, alpha), if is_active { similarity * similarity } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use mil_testkit::golden::{numbers, read};
    use proptest::prelude::*;

    use super::*;

    /// A line that owns its numbers.
    #[derive(Debug, Clone)]
    struct Owned {
        dual: Vec<f64>,
        similarities: Vec<f64>,
        bias: (f64, f64),
        sign: f64,
        alpha: f64,
        beta: f64,
        cap: f64,
    }

    impl Owned {
        fn line(&self) -> Line<'_> {
            let Owned { dual, similarities, bias, sign, alpha, beta, .. } = self;
            Line { dual, similarities, bias: *bias, sign: *sign, alpha: *alpha, beta: *beta }
        }

        fn searched(&self, n_newton_steps: usize) -> f64 {
            self.line().search_within(self.line().look(0.0), self.cap, n_newton_steps)
        }

        /// The objective of eq. 16 from its definition.
        fn objective(&self, step: f64) -> f64 {
            let terms = self.dual.iter().zip(&self.similarities);
            let sum: f64 = terms
                .map(|(v, z)| (v + step * self.sign * z).abs() - self.alpha)
                .map(|excess| if excess > 0.0 { excess * excess } else { 0.0 })
                .sum();
            let bias = self.bias.0 + step * self.sign * self.bias.1;
            0.5 * (sum + bias * bias) - self.beta * step
        }

        /// The best of all kinks, all roots of pieces between neighbours, and both ends.
        fn brute_force(&self) -> f64 {
            let line = self.line();
            let mut steps: Vec<f64> = line.terms().flat_map(|term| term.kinks(self.alpha)).collect();
            steps.extend([0.0, self.cap]);
            steps.retain(|step| (0.0..=self.cap).contains(step));
            steps.sort_by(f64::total_cmp);
            let slope = |step: f64| {
                let terms = self.dual.iter().zip(&self.similarities);
                let at = |(v, z): (&f64, &f64)| (self.sign * v + step * z, *z);
                let sum: f64 = terms.map(at).map(|(u, z)| z * u.signum() * (u.abs() - self.alpha).max(0.0)).sum();
                sum + self.bias.1 * (self.sign * self.bias.0 + step * self.bias.1) - self.beta
            };
            let roots = steps.windows(2).filter_map(|pair| {
                let [a, b] = [pair[0], pair[1]];
                let root = (a * slope(b) - b * slope(a)) / (slope(b) - slope(a));
                (a <= root && root <= b).then_some(root)
            });
            let candidates = steps.iter().copied().chain(roots);
            candidates.fold(0.0, |best, step| if self.objective(step) < self.objective(best) { step } else { best })
        }
    }

    #[test]
    fn agrees_with_the_golden_cases() {
        let golden = read(include_str!("../../../fixtures/golden/line_search.json"));
        let tolerance = golden["tolerance"].as_f64().unwrap();
        for case in golden["cases"].as_array().unwrap() {
            let number = |name: &str| case[name].as_f64().unwrap();
            let (mut dual, mut similarities) = (numbers(&case["v"]), numbers(&case["z"]));
            // A list of alphas is one for each candidate and 0 for the bias.
            let (alpha, bias) = match case["alpha"].as_f64() {
                Some(alpha) => (alpha, (0.0, 0.0)),
                None => (numbers(&case["alpha"])[0], (dual.pop().unwrap(), similarities.pop().unwrap())),
            };
            let (sign, beta, cap) = (number("y"), number("beta"), number("C"));
            let owned = Owned { dual, similarities, bias, sign, alpha, beta, cap };
            for n_newton_steps in [0, NEWTON_STEPS] {
                let step = owned.searched(n_newton_steps);
                assert!((step - number("tau")).abs() <= tolerance, "{}: {step}", case["note"]);
                assert!((owned.objective(step) - number("h")).abs() <= tolerance * (1.0 + number("h").abs()));
                let margin = owned.line().look(step).margin / beta;
                assert!((margin - number("margin_after")).abs() <= tolerance, "{}: {margin}", case["note"]);
            }
        }
    }

    /// Lines with ties, zeros, steep and flat terms, with and without bias.
    fn lines() -> impl Strategy<Value = Owned> {
        let value = prop_oneof![2 => (-3i8..=3).prop_map(|v| f64::from(v) / 2.0), 1 => Just(0.0), 3 => -3.0..3.0_f64];
        let similarity =
            prop_oneof![1 => Just(0.0), 1 => Just(1.0), 1 => Just(0.5), 3 => 0.0..1.0_f64, 1 => 1e-9..1e-6_f64];
        let terms = prop::collection::vec((value.clone(), similarity), 0..60);
        let bias = prop_oneof![Just((0.0, 0.0)), (value, Just(1.0))];
        let alpha = prop_oneof![Just(0.0), 0.0..2.0_f64];
        (terms, bias, any::<bool>(), alpha, 0.01..5.0_f64, prop_oneof![0.01..3.0_f64, Just(1e6)]).prop_map(
            |(terms, bias, is_positive, alpha, beta, cap)| {
                let (dual, similarities) = terms.into_iter().unzip();
                Owned { dual, similarities, bias, sign: if is_positive { 1.0 } else { -1.0 }, alpha, beta, cap }
            },
        )
    }

    proptest! {
        #[test]
        fn newton_and_selection_agree_with_brute_force(owned in lines()) {
            let expected = owned.objective(owned.brute_force());
            for n_newton_steps in [0, 1, 2, NEWTON_STEPS] {
                let step = owned.searched(n_newton_steps);
                prop_assert!((0.0..=owned.cap).contains(&step));
                let found = owned.objective(step);
                prop_assert!(found - expected <= 1e-9 * (1.0 + expected.abs()), "{n_newton_steps} steps: {found} at {step}, best {expected}");
            }
        }

        #[test]
        fn a_step_brings_the_margin_to_one_or_is_at_a_bound(owned in lines()) {
            let step = owned.searched(NEWTON_STEPS);
            let margin = owned.line().look(step).margin / owned.beta;
            if step == 0.0 {
                prop_assert!(margin >= 1.0);
            } else if step < owned.cap {
                let scale = owned.dual.iter().fold(1.0_f64, |scale, v| scale.max(v.abs())) * 60.0 / owned.beta;
                prop_assert!((margin - 1.0).abs() <= 1e-12 * scale.max(step * step), "{margin} at {step}");
            } else {
                prop_assert!(margin <= 1.0 + 1e-9);
            }
        }
    }

    #[test]
    fn terms_that_take_turns_with_the_same_curvature_do_not_pass_for_one_piece() {
        let dual = vec![-999_999_993.5, -999_999_986.0, -999_999_988.0];
        let owned =
            Owned { dual, similarities: vec![1.0; 3], bias: (0.0, 0.0), sign: 1.0, alpha: 2.0, beta: 3.5, cap: 1e12 };
        for n_newton_steps in [0, NEWTON_STEPS] {
            assert!((owned.searched(n_newton_steps) - 999_999_991.0).abs() < 1e-5);
        }
    }

    #[test]
    fn soft_thresholding_shrinks_towards_zero() {
        for (value, alpha, expected) in
            [(3.0, 1.0, 2.0), (-3.0, 1.0, -2.0), (0.5, 1.0, 0.0), (-1.0, 1.0, 0.0), (2.0, 0.0, 2.0)]
        {
            assert_eq!(soft(value, alpha), expected);
        }
    }
}
