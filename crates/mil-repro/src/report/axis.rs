//! The axes of a plot: from numbers to places, and where the ticks are.

use crate::figure::Scale;

/// Share of the length that is left free at either end.
const PADDING: f64 = 0.04;

/// Maps numbers to shares of a length.
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// A tick and what is written beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) text: String,
}

impl Axis {
    /// Around all of the values, which are finite and on a logarithmic axis above 0; a little wider, so that no mark lies on the frame.
    pub(super) fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Axis {
        let (least, most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        match scale {
            Scale::Linear => {
                // Where all values agree to nine digits a narrower axis would have ticks that all read alike.
                let is_flat = most - least <= 1e-9 * least.abs().max(most.abs());
                let padding = match (is_flat, least) {
                    (true, 0.0) => 1.0,
                    (true, _) => least.abs() / 2.0,
                    (false, _) => PADDING * (most - least),
                };
                Axis { scale, low: least - padding, high: most + padding }
            }
            Scale::Log => {
                let length = most.ln() - least.ln();
                let factor = if length <= 1e-9 { 3.0 } else { (PADDING * length).exp() };
                Axis { scale, low: least / factor, high: most * factor }
            }
        }
    }

    /// How much lies between its ends, for a linear axis.
    pub(super) fn length(&self) -> f64 {
        self.high - self.low
    }

    /// A linear axis of at least this length, with the same middle.
    pub(super) fn widened(self, length: f64) -> Axis {
        let padding = ((length - self.length()) / 2.0).max(0.0);
        Axis { low: self.low - padding, high: self.high + padding, ..self }
    }

    /// 0 at the low end, 1 at the high one; what lies beyond is put there.
    pub(super) fn share(&self, value: f64) -> f64 {
        let Axis { low, high, .. } = *self;
        let value = value.clamp(low, high);
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value.ln() - low.ln()) / (high.ln() - low.ln()),
        }
    }

    /// At most so many ticks: steps of 1, 2 or 5 times a power of ten; on a logarithmic axis 1, 2 and 5 themselves, or decades.
    pub(super) fn ticks(&self, max_ticks: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.even_ticks(max_ticks),
            Scale::Log => self.log_ticks(max_ticks),
        }
    }

    fn even_ticks(&self, max_ticks: usize) -> Vec<Tick> {
        let mut exponent = ((self.high - self.low) / max_ticks as f64).log10().floor() as i32;
        loop {
            for mantissa in [1, 2, 5] {
                let step = decimal(mantissa, exponent);
                let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
                if last - first < max_ticks as i64 {
                    let values: Vec<f64> = (first..=last).map(|idx| decimal(idx * mantissa, exponent)).collect();
                    let is_plain = step >= 1e-4 && values.iter().all(|value| value.abs() < 1e6);
                    return written(&values, is_plain);
                }
            }
            exponent += 1;
        }
    }

    fn log_ticks(&self, max_ticks: usize) -> Vec<Tick> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let within = |value: &f64| (self.low..=self.high).contains(value);
        let fine = decades.clone().flat_map(|exponent| [1, 2, 5].map(|mantissa| decimal(mantissa, exponent)));
        let mut values: Vec<f64> = fine.filter(within).collect();
        if values.len() < 2 {
            return self.even_ticks(max_ticks.min(4));
        }
        let mut stride = 1;
        while values.len() > max_ticks {
            let sparse = decades.clone().filter(|exponent| exponent.rem_euclid(stride) == 0);
            values = sparse.map(|exponent| decimal(1, exponent)).filter(within).collect();
            stride += 1;
        }
        let is_plain = values.iter().all(|value| (1e-3..1e5).contains(value));
        written(&values, is_plain)
    }
}

/// The number next to `mantissa` times ten to the `exponent`, as a decimal constant would be.
fn decimal(mantissa: i64, exponent: i32) -> f64 {
    format!("{mantissa}e{exponent}").parse().expect("a decimal number")
}

fn written(values: &[f64], is_plain: bool) -> Vec<Tick> {
    values
        .iter()
        .map(|&value| {
            let text = if is_plain || value == 0.0 { value.to_string() } else { with_power(value) };
            Tick { value, text: text.replace('-', "−") }
        })
        .collect()
}

/// `2·10⁻⁵`, and `10⁻⁵` for a power itself.
fn with_power(value: f64) -> String {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').expect("written with an exponent");
    let raised: String = exponent.chars().map(superscript).collect();
    match mantissa {
        "1" => format!("10{raised}"),
        "-1" => format!("-10{raised}"),
        _ => format!("{mantissa}·10{raised}"),
    }
}

fn superscript(digit: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).map_or('⁻', |value| RAISED[value as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, values: [f64; 2], max_ticks: usize) -> Vec<String> {
        Axis::around(scale, values.into_iter()).ticks(max_ticks).into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn a_linear_axis_steps_by_1_2_or_5() {
        assert_eq!(texts(Scale::Linear, [0.0, 1.0], 7), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(texts(Scale::Linear, [-30.0, 55.0], 6), ["−20", "0", "20", "40"]);
        assert_eq!(texts(Scale::Linear, [0.0, 2.5e6], 4), ["0", "10⁶", "2·10⁶"]);
        assert_eq!(texts(Scale::Linear, [0.7, 0.9], 3), ["0.7", "0.8", "0.9"]);
    }

    #[test]
    fn a_logarithmic_axis_has_1_2_5_where_they_fit_else_decades_else_every_other() {
        assert_eq!(texts(Scale::Log, [1.0, 100.0], 8), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(texts(Scale::Log, [1.0, 1000.0], 6), ["1", "10", "100", "1000"]);
        assert_eq!(texts(Scale::Log, [1e-6, 1.0], 7), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        assert_eq!(texts(Scale::Log, [1e-6, 1.0], 4), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(texts(Scale::Log, [1.1, 1.4], 8), ["1.1", "1.2", "1.3", "1.4"]);
    }

    #[test]
    fn an_axis_holds_what_it_is_made_around_in_order() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [[2.0, 2.0], [1e-12, 1e12], [0.3, 0.300_000_01], [7.0, 8.0], [1e-200, 1e200]] {
                let axis = Axis::around(scale, values.into_iter());
                let shares = values.map(|value| axis.share(value));
                assert!(0.0 <= shares[0] && shares[0] <= shares[1] && shares[1] <= 1.0, "{scale:?} {values:?}");
                for max_ticks in 2..9 {
                    let ticks = axis.ticks(max_ticks);
                    assert!((1..=max_ticks).contains(&ticks.len()), "{scale:?} {values:?} {ticks:?}");
                    assert!(ticks.is_sorted_by(|a, b| a.value < b.value && a.text != b.text), "{ticks:?}");
                }
            }
        }
        let all_zero = Axis::around(Scale::Linear, [0.0].into_iter());
        assert_eq!((all_zero.share(0.0), all_zero.ticks(6).len()), (0.5, 5));
    }

    #[test]
    fn an_axis_is_widened_around_its_middle_and_never_narrowed() {
        let axis = || Axis::around(Scale::Linear, [1.0, 3.0].into_iter());
        let wide = axis().widened(8.0);
        assert_eq!((wide.length(), wide.share(2.0)), (8.0, 0.5));
        assert_eq!(axis().widened(1.0).length(), axis().length());
    }
}
