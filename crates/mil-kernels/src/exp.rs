//! The exponential of non-positive numbers, written so that the compiler turns a loop over it into vector instructions.

use pulp::Simd;

/// Below this argument $e^x$ falls under the smallest normal number, and we return 0.
const UNDERFLOW: f64 = -708.39;
/// Adding 1.5 · 2⁵² rounds a small number to an integer and leaves that integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has enough trailing zeros for its product with an exponent to be exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Near-minimax $q$ of degree 9, highest power first, in $e^r \approx 1 + r + r^2 q(r)$ for $|r| \le \ln 2 / 2$; error 1.3e-17.
const TAIL: [f64; 10] = [
    2.510038549551032e-08,
    2.7620088445409746e-07,
    2.7557268459997064e-06,
    2.4801521295954376e-05,
    0.00019841269863053618,
    0.0013888888917213717,
    0.008333333333330062,
    0.04166666666662413,
    0.16666666666666669,
    0.5000000000000001,
];

/// $e^x$ for $x \le 0$, within 2 ulps; 0 where $e^x$ would be subnormal.
///
/// With $x = n \ln 2 + r$ and $|r| \le \ln 2 / 2$, $e^x = 2^n e^r$ (Cody & Waite 1980).
#[inline(always)]
pub(crate) fn exp_non_positive<S: Simd>(x: f64) -> f64 {
    // The comparison also keeps the exponent below from leaving its field.
    let clamped = if x < UNDERFLOW { UNDERFLOW } else { x };
    let rounded = mul_add::<S>(clamped, std::f64::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = mul_add::<S>(n, -LN_2_LOW, mul_add::<S>(n, -LN_2_HIGH, clamped));
    let mut q = TAIL[0];
    for coefficient in &TAIL[1..] {
        q = mul_add::<S>(q, r, *coefficient);
    }
    let e_r = mul_add::<S>(r * r, q, r) + 1.0;
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1.0_f64.to_bits()));
    if x < UNDERFLOW { 0.0 } else { e_r * power }
}

/// `a * b + c`, fused where the instruction set of `S` does so at no cost.
#[inline(always)]
pub(crate) fn mul_add<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::{Arch, WithSimd};

    struct All<'a>(&'a mut [f64]);

    impl WithSimd for All<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            self.0.iter_mut().for_each(|x| *x = exp_non_positive::<S>(*x));
        }
    }

    /// Distance in units of the last place; both are positive and normal or zero.
    fn ulps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn agrees_with_std_within_two_ulps_on_every_instruction_set() {
        let arguments: Vec<f64> = (0..200_000)
            .map(|i| -708.39 * f64::from(i) / 200_000.0)
            .chain((0..1100).map(|i| -(0.5_f64.powi(i))))
            .collect();
        let mut fast = arguments.clone();
        Arch::new().dispatch(All(&mut fast));
        let mut scalar = arguments.clone();
        Arch::Scalar.dispatch(All(&mut scalar));
        for ((&x, &fast), &scalar) in arguments.iter().zip(&fast).zip(&scalar) {
            assert!(ulps(fast, x.exp()) <= 2, "exp({x}) = {fast}, std {}", x.exp());
            assert!(ulps(scalar, x.exp()) <= 2, "exp({x}) = {scalar} without vectors, std {}", x.exp());
        }
    }

    #[test]
    fn zero_gives_exactly_one_and_far_arguments_exactly_zero() {
        let mut values = [0.0, -0.0, -709.0, -745.2, -1e9, -f64::MAX, f64::NEG_INFINITY];
        Arch::new().dispatch(All(&mut values));
        assert_eq!(values, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
