//! Fig. 3: noise and missing pixels.

use mil_core::FitError;
use rayon::prelude::*;

use super::digits::{Damage, Digits, Method};
use crate::figure::{AxisSpec, Context, Drawing, Figure, Panel, Point, Series, Style};
use crate::papers::Paper;

pub(super) fn figure() -> Figure {
    Figure {
        id: "midl-fig3",
        title: "MIDL on damaged digits",
        paper: Paper::Midl,
        place: "Fig. 3",
        protocol: "As Table 1, three repetitions (in a quick run one, of the digits 0, 1 and 2), with Gaussian noise on each pixel, clipped to the range of pixels, or with a share of the pixels set to 0. The paper does not say whether training images are damaged too, so both are shown.",
        data: &[],
        optional: &["usps"],
        code: &["mil-data", "mil-dict", "mil-svm"],
        source: file!(),
        draw,
    }
}

/// A kind of damage at several strengths.
struct Kind {
    /// What its strength is, for axes.
    label: &'static str,
    damage: fn(f64) -> Damage,
    strengths: &'static [f64],
}

const KINDS: [Kind; 2] = [
    Kind {
        label: "standard deviation of the noise, in ranges of a pixel",
        damage: Damage::Noise,
        strengths: &[0.0, 0.1, 0.2, 0.3, 0.5],
    },
    Kind { label: "share of missing pixels", damage: Damage::Missing, strengths: &[0.0, 0.1, 0.3, 0.5, 0.7] },
];

fn draw(context: &Context<'_>) -> Result<Drawing, FitError> {
    let digits = Digits::of(context);
    let (n_digits, n_repeats) = if context.quick { (3, 1) } else { (10, 3) };
    context.start(KINDS.iter().map(|kind| 2 * kind.strengths.len() * n_repeats).sum());
    let mut drawing = Drawing::default();
    for kind in &KINDS {
        for training_too in [false, true] {
            let mut series: Vec<Vec<Point>> = vec![Vec::new(); Method::ALL.len()];
            for &strength in kind.strengths {
                let mut repeats = Vec::new();
                for repeat in 0..n_repeats as u64 {
                    let seed = context.seed.wrapping_add(repeat);
                    let damaged = digits.damaged((kind.damage)(strength), training_too, seed);
                    repeats.push(bags_right(&damaged, n_digits, seed)?);
                    context.step(&format!("{} {strength}", kind.label));
                }
                for (method_idx, points) in series.iter_mut().enumerate() {
                    let mean = repeats.iter().map(|shares| shares[method_idx]).sum::<f64>() / n_repeats as f64;
                    points.push(Point { x: strength, y: 100.0 * mean, half_width: None });
                }
            }
            drawing.findings.push(finding(kind.label, training_too, kind.strengths, &series));
            drawing.panels.push(panel(digits.name, kind.label, training_too, series));
        }
    }
    Ok(drawing)
}

/// The share of test bags that each method gets right, over the first so many digits.
fn bags_right(digits: &Digits, n_digits: usize, seed: u64) -> Result<[f64; 4], FitError> {
    let of_digit = |digit: usize| {
        let bags = digits.bags(digit, seed)?;
        let [a, b, c, d] = Method::ALL.map(|method| method.measure(&bags, seed).map(|shares| shares.bags));
        Ok([a?, b?, c?, d?])
    };
    let shares: Vec<Result<[f64; 4], FitError>> = (0..n_digits).into_par_iter().map(of_digit).collect();
    let shares: Vec<[f64; 4]> = shares.into_iter().collect::<Result<_, _>>()?;
    Ok([0, 1, 2, 3].map(|method_idx| shares.iter().map(|of_digit| of_digit[method_idx]).sum::<f64>() / n_digits as f64))
}

fn of_images(training_too: bool) -> &'static str {
    if training_too { "training and test images damaged" } else { "test images alone damaged" }
}

fn panel(name: &str, label: &str, training_too: bool, series: Vec<Vec<Point>>) -> Panel {
    let named = Method::ALL.iter().zip(series);
    let series = named.map(|(method, points)| Series { name: method.name().to_owned(), style: Style::Line, points });
    Panel {
        title: format!("{name}, {}", of_images(training_too)),
        x: AxisSpec::linear(label),
        y: AxisSpec::linear("test bags right, %"),
        series: series.collect(),
        levels: Vec::new(),
    }
}

fn finding(label: &str, training_too: bool, levels: &[f64], series: &[Vec<Point>]) -> String {
    let worst = levels.len() - 1;
    let values: Vec<String> = Method::ALL
        .iter()
        .zip(series)
        .map(|(method, points)| format!("{} from {:.1} to {:.1}", method.name(), points[0].y, points[worst].y))
        .collect();
    format!(
        "{label} up to {}, {}: bags right go for {} %.",
        levels[worst],
        of_images(training_too),
        values.join(", for ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_shows_every_method() {
        let series =
            vec![vec![Point { x: 0.0, y: 90.0, half_width: None }, Point { x: 0.5, y: 70.0, half_width: None }]; 4];
        let said = finding("share", true, &[0.0, 0.5], &series);
        assert!(said.contains("mi-SVM, Gaussian from 90.0 to 70.0"), "{said}");
        let panels = vec![panel("digits", "share", true, series)];
        assert_eq!(panels[0].series.len(), 4);
        assert_eq!(Drawing { panels, ..Drawing::default() }.check(), Ok(()));
    }
}
