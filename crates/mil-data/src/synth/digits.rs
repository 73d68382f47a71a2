//! Grey images like those of handwritten digits.
//!
//! A stand-in for the USPS images (see [`LabelledInstances::read_esl`]) where those files are not at hand. The images have the same
//! shape and convention: 16 × 16 pixels row by row, −1 for the background, 1 for ink. They are not a model of USPS, and what is
//! measured on them says nothing about the figures of a paper.
//!
//! Each digit has two or three *hands*, ways of writing it: a seven with a bar or without, a four open or closed. A hand is a list of
//! strokes, and a stroke goes through control points of the unit square, $x$ to the right and $y$ down, either straight from point to
//! point or as a smooth curve. An image is drawn as follows, each $z$ a standard normal number of its own:
//!
//! 1. A hand is chosen, each with the same probability.
//! 2. Each control point is moved by $\sigma_j\,(z, z)$.
//! 3. With $c = (\tfrac12, \tfrac12)$ the centre, a point $p$ of a stroke goes to $c + t + R\,S\,D\,(p - c)$: $D$ multiplies width and
//!    height by $e^{\sigma_d z}$ each, $S$ slants, $(x, y) \mapsto (x - \sigma_s z\,y,\ y)$, $R$ turns by $\sigma_r z$ radians, and
//!    $t = \sigma_t\,(z, z)$ shifts.
//! 4. The pen is $w = w_0\,e^{\sigma_w z}$ wide. With $d$ the distance of the centre of a pixel from the nearest stroke and $n$ the
//!    pixels on a side, the pixel is inked to the share
//!
//!    $$ a = \min\bigl(1, \max\bigl(0,\ \tfrac12 + n\,(\tfrac{w}{2} - d)\bigr)\bigr), $$
//!
//!    which along a straight edge parallel to the pixels is the share of the pixel within that edge.
//! 5. The value is $2a - 1 + \sigma_n z$, cut off at ±1.
//!
//! In [`DigitsParams`], $\sigma_j$ is `jitter`, $\sigma_d$ `scale`, $\sigma_s$ `slant`, $\sigma_r$ `rotation`, $\sigma_t$ `shift`, $w_0$
//! `pen_width`, $\sigma_w$ `pen_spread` and $\sigma_n$ `noise`. They only scale what is drawn: two sets that differ in `noise` alone show
//! the same digits.
//!
//! With the defaults, the nearest of 100 images per class is of the class of a new image in about 95 cases of 100; of 700 per class, in
//! 98 or 99. Cost: an image takes its pixels times the pieces of its strokes, some 50.

use mil_core::{Checked, ClassId, ClassNames, ParamRange, Params, Rng, stream};
use nalgebra::DMatrix;
use rand::RngExt;

use self::Stroke::{Curved, Straight};
use super::{SynthError, normal};
use crate::LabelledInstances;

mil_core::params! {
    /// Grey images like those of handwritten digits, in ten classes named `0` to `9`.
    ///
    /// An instance is an image, `size` × `size` pixels row by row from the top left, −1 for the background and 1 for ink. The classes
    /// take turns: image `idx` shows the digit `idx % 10`. What it looks like depends on the seed and on `idx` alone, so that a larger
    /// set begins with the smaller one.
    ///
    /// Lengths are in sides of the image; the digits are some 0.8 tall.
    ///
    /// ```
    /// use mil_data::synth::{DigitsParams, FromInstancesParams};
    ///
    /// let digits = DigitsParams { n_per_class: 60, seed: 1, ..Default::default() }.generate()?;
    /// assert_eq!((digits.n_instances(), digits.n_features()), (600, 16 * 16));
    /// assert_eq!(digits.class_names().name(digits.classes()[43]), Some("3"));
    /// assert!(digits.instance(43).iter().all(|value| (-1.0..=1.0).contains(value)));
    ///
    /// // Bags in which a three is positive, two in each positive bag.
    /// let bags = FromInstancesParams::default().generate(&digits, "3")?;
    /// assert_eq!((bags.n_bags(), bags.n_instances()), (50, 200));
    /// # Ok::<(), mil_data::synth::SynthError>(())
    /// ```
    pub struct DigitsParams {
        n_per_class: usize = 100, ParamRange::Within(1.0, 1e6), "Images of each digit.";
        size: usize = 16, ParamRange::Within(4.0, 256.0), "Pixels on a side of an image.";
        slant: f64 = 0.2, ParamRange::Within(0.0, 1.0), "Standard deviation of the slant, the tangent of the angle of upright strokes.";
        rotation: f64 = 0.1, ParamRange::Within(0.0, 1.0), "Standard deviation of the rotation, in radians.";
        scale: f64 = 0.1, ParamRange::Within(0.0, 1.0), "Standard deviation of the logarithms of the factors of width and height.";
        shift: f64 = 0.03, ParamRange::Within(0.0, 1.0), "Standard deviation of the shift along each axis.";
        jitter: f64 = 0.03, ParamRange::Within(0.0, 1.0), "Standard deviation of the shift of each control point along each axis.";
        pen_width: f64 = 0.12, ParamRange::UpTo(0.0, 1.0), "Median width of the pen.";
        pen_spread: f64 = 0.2, ParamRange::Within(0.0, 1.0), "Standard deviation of the logarithm of the width of the pen.";
        noise: f64 = 0.1, ParamRange::Within(0.0, 1.0), "Standard deviation of the noise of each pixel, before it is cut off at -1 and 1.";
        seed: u64 = 0, ParamRange::Any, "Fixes what is drawn.";
    }
}

impl DigitsParams {
    /// Draws the images.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn generate(&self) -> Result<LabelledInstances, SynthError> {
        let params = self.check()?;
        let n_images = params.n_per_class * N_DIGITS;
        let mut values = Vec::new();
        for image_idx in 0..n_images {
            let mut rng = stream(params.seed, "digit images", image_idx as u64);
            values.extend(image(params, image_idx % N_DIGITS, &mut rng));
        }
        let instances = DMatrix::from_vec(params.size * params.size, n_images, values);
        let classes = (0..n_images).map(|image_idx| ClassId((image_idx % N_DIGITS) as u32)).collect();
        let class_names = ClassNames::new((0..N_DIGITS).map(|digit| digit.to_string()));
        Ok(LabelledInstances::new(instances, classes, class_names)
            .expect("pixels are finite, and each digit has a name"))
    }
}

const N_DIGITS: usize = 10;

/// A place in the image, $x$ to the right and $y$ down; the image is the unit square.
type Point = [f64; 2];

/// What the pen does without leaving the paper.
enum Stroke {
    /// Straight from point to point.
    Straight(&'static [Point]),
    /// Smoothly through all points.
    Curved(&'static [Point]),
}

/// The hands of each digit, and the strokes of each hand.
const HANDS: [&[&[Stroke]]; N_DIGITS] = [
    // 0: wide, begun at the top; narrow, begun at the right with the end inside.
    &[
        &[Curved(&[
            [0.52, 0.10],
            [0.32, 0.18],
            [0.22, 0.50],
            [0.32, 0.82],
            [0.52, 0.90],
            [0.70, 0.80],
            [0.78, 0.50],
            [0.70, 0.20],
            [0.50, 0.10],
        ])],
        &[Curved(&[
            [0.62, 0.18],
            [0.46, 0.10],
            [0.34, 0.30],
            [0.31, 0.60],
            [0.40, 0.86],
            [0.54, 0.88],
            [0.66, 0.66],
            [0.68, 0.34],
            [0.58, 0.14],
            [0.44, 0.16],
        ])],
    ],
    // 1: a bar; with a flag; with a flag and a foot.
    &[
        &[Straight(&[[0.50, 0.08], [0.50, 0.50], [0.50, 0.92]])],
        &[Straight(&[[0.36, 0.26], [0.53, 0.09], [0.52, 0.91]])],
        &[Straight(&[[0.36, 0.24], [0.52, 0.10], [0.52, 0.89]]), Straight(&[[0.32, 0.90], [0.70, 0.90]])],
    ],
    // 2: with an angle at the bottom left; with a loop there.
    &[
        &[
            Curved(&[
                [0.25, 0.28],
                [0.35, 0.14],
                [0.54, 0.10],
                [0.70, 0.20],
                [0.69, 0.38],
                [0.55, 0.58],
                [0.39, 0.74],
                [0.23, 0.89],
            ]),
            Straight(&[[0.23, 0.89], [0.78, 0.88]]),
        ],
        &[Curved(&[
            [0.27, 0.22],
            [0.46, 0.10],
            [0.68, 0.20],
            [0.66, 0.42],
            [0.50, 0.66],
            [0.34, 0.86],
            [0.21, 0.84],
            [0.26, 0.72],
            [0.44, 0.76],
            [0.60, 0.88],
            [0.80, 0.82],
        ])],
    ],
    // 3: two bows; a flat top and a bow.
    &[
        &[
            Curved(&[[0.26, 0.20], [0.44, 0.10], [0.66, 0.17], [0.64, 0.37], [0.42, 0.47]]),
            Curved(&[[0.42, 0.47], [0.66, 0.54], [0.73, 0.72], [0.58, 0.88], [0.38, 0.89], [0.23, 0.79]]),
        ],
        &[
            Straight(&[[0.27, 0.12], [0.72, 0.12], [0.46, 0.43]]),
            Curved(&[[0.46, 0.43], [0.68, 0.50], [0.74, 0.68], [0.62, 0.86], [0.42, 0.90], [0.23, 0.83]]),
        ],
    ],
    // 4: open at the top; closed, in one stroke.
    &[
        &[Straight(&[[0.30, 0.12], [0.22, 0.54], [0.78, 0.52]]), Straight(&[[0.66, 0.12], [0.62, 0.50], [0.60, 0.90]])],
        &[Straight(&[[0.78, 0.62], [0.20, 0.62], [0.58, 0.10], [0.59, 0.91]])],
    ],
    // 5: with an angle at the top left; round throughout.
    &[
        &[
            Straight(&[[0.74, 0.12], [0.35, 0.12], [0.30, 0.45]]),
            Curved(&[[0.30, 0.45], [0.52, 0.40], [0.71, 0.52], [0.72, 0.74], [0.52, 0.90], [0.24, 0.83]]),
        ],
        &[Curved(&[
            [0.76, 0.11],
            [0.46, 0.13],
            [0.34, 0.28],
            [0.44, 0.43],
            [0.63, 0.55],
            [0.66, 0.76],
            [0.47, 0.90],
            [0.24, 0.82],
        ])],
    ],
    // 6: a round back; a straight back and a small loop.
    &[
        &[Curved(&[
            [0.66, 0.10],
            [0.42, 0.24],
            [0.27, 0.50],
            [0.28, 0.76],
            [0.47, 0.90],
            [0.69, 0.80],
            [0.70, 0.61],
            [0.51, 0.52],
            [0.31, 0.64],
        ])],
        &[Curved(&[
            [0.42, 0.08],
            [0.34, 0.36],
            [0.29, 0.66],
            [0.36, 0.87],
            [0.56, 0.90],
            [0.70, 0.76],
            [0.60, 0.63],
            [0.42, 0.66],
            [0.32, 0.78],
        ])],
    ],
    // 7: plain; with a bar; with a hook and a bent back.
    &[
        &[Straight(&[[0.22, 0.14], [0.76, 0.13], [0.58, 0.50], [0.42, 0.90]])],
        &[Straight(&[[0.22, 0.14], [0.76, 0.13], [0.58, 0.50], [0.44, 0.90]]), Straight(&[[0.36, 0.50], [0.76, 0.48]])],
        &[
            Straight(&[[0.24, 0.30], [0.25, 0.15], [0.74, 0.13]]),
            Curved(&[[0.74, 0.13], [0.64, 0.34], [0.54, 0.60], [0.52, 0.90]]),
        ],
    ],
    // 8: in one stroke that crosses itself; two rings.
    &[
        &[Curved(&[
            [0.68, 0.20],
            [0.50, 0.10],
            [0.32, 0.20],
            [0.37, 0.38],
            [0.60, 0.54],
            [0.71, 0.73],
            [0.51, 0.90],
            [0.29, 0.75],
            [0.39, 0.55],
            [0.61, 0.39],
            [0.68, 0.20],
        ])],
        &[
            Curved(&[[0.50, 0.10], [0.34, 0.18], [0.34, 0.36], [0.50, 0.45], [0.66, 0.36], [0.66, 0.18], [0.50, 0.10]]),
            Curved(&[[0.50, 0.46], [0.30, 0.56], [0.29, 0.78], [0.50, 0.90], [0.71, 0.78], [0.70, 0.56], [0.50, 0.46]]),
        ],
    ],
    // 9: a straight back; a back that ends in a hook.
    &[
        &[
            Curved(&[[0.68, 0.22], [0.50, 0.10], [0.31, 0.22], [0.31, 0.42], [0.48, 0.51], [0.67, 0.38]]),
            Straight(&[[0.70, 0.14], [0.67, 0.50], [0.62, 0.91]]),
        ],
        &[Curved(&[
            [0.70, 0.24],
            [0.52, 0.10],
            [0.32, 0.20],
            [0.30, 0.38],
            [0.46, 0.49],
            [0.66, 0.36],
            [0.71, 0.22],
            [0.70, 0.58],
            [0.58, 0.86],
            [0.30, 0.85],
        ])],
    ],
];

/// One image of a digit, row by row.
fn image(params: Checked<&DigitsParams>, digit: usize, rng: &mut Rng) -> Vec<f64> {
    let hands = HANDS[digit];
    let hand = hands[rng.random_range(0..hands.len())];
    let affine = Affine::draw(params, rng);
    let pen_width = params.pen_width * normal(0.0, params.pen_spread, rng).exp();
    let segments: Vec<[Point; 2]> =
        hand.iter().flat_map(|stroke| segments(&drawn(stroke, params.jitter, &affine, rng))).collect();
    let mut pixels = ink(&segments, pen_width, params.size);
    for pixel in &mut pixels {
        *pixel = normal(2.0 * *pixel - 1.0, params.noise, rng).clamp(-1.0, 1.0);
    }
    pixels
}

/// $p \mapsto c + t + M\,(p - c)$ about the centre $c$ of the image.
struct Affine {
    matrix: [[f64; 2]; 2],
    shift: [f64; 2],
}

impl Affine {
    /// $M = R\,S\,D$ of a random rotation, slant and scale, and a random shift.
    fn draw(params: Checked<&DigitsParams>, rng: &mut Rng) -> Self {
        let (sin, cos) = normal(0.0, params.rotation, rng).sin_cos();
        let slant = normal(0.0, params.slant, rng);
        let [wide, tall] = [(); 2].map(|()| normal(0.0, params.scale, rng).exp());
        let shift = [(); 2].map(|()| normal(0.0, params.shift, rng));
        // R S D = (cos, -sin; sin, cos) (1, -slant; 0, 1) diag(wide, tall)
        let matrix = [[cos * wide, (-cos * slant - sin) * tall], [sin * wide, (-sin * slant + cos) * tall]];
        Affine { matrix, shift }
    }

    fn apply(&self, point: Point) -> Point {
        let [x, y] = point.map(|coordinate| coordinate - 0.5);
        let [row_x, row_y] = self.matrix;
        [0.5 + self.shift[0] + row_x[0] * x + row_x[1] * y, 0.5 + self.shift[1] + row_y[0] * x + row_y[1] * y]
    }
}

/// The path of a stroke whose control points are jittered and then mapped.
///
/// Mapping the control points maps the path, since each point of it is a mean of control points with weights that sum to 1.
fn drawn(stroke: &Stroke, jitter: f64, affine: &Affine, rng: &mut Rng) -> Vec<Point> {
    let mut moved = |points: &[Point]| -> Vec<Point> {
        points.iter().map(|point| affine.apply(point.map(|coordinate| normal(coordinate, jitter, rng)))).collect()
    };
    match stroke {
        Straight(points) => moved(points),
        Curved(points) => smooth(&moved(points)),
    }
}

/// Straight pieces in place of the curve between two control points. They leave it by less than a twentieth of a pixel of 1/16.
const PIECES: usize = 6;

/// The smooth curve through the points as a path of straight pieces. The first and the last point count as their own neighbours.
fn smooth(points: &[Point]) -> Vec<Point> {
    let last = points.len() - 1;
    let mut path = vec![points[0]];
    for idx in 0..last {
        let neighbours = [idx.saturating_sub(1), idx, idx + 1, (idx + 2).min(last)].map(|idx| points[idx]);
        path.extend((1..=PIECES).map(|piece| spline(neighbours, piece as f64 / PIECES as f64)));
    }
    path
}

/// The Catmull-Rom spline from $p_1$ at $u = 0$ to $p_2$ at $u = 1$:
///
/// $$ \tfrac12\bigl(2p_1 + (p_2 - p_0)\,u + (2p_0 - 5p_1 + 4p_2 - p_3)\,u^2 + (3p_1 - p_0 - 3p_2 + p_3)\,u^3\bigr) $$
fn spline(neighbours: [Point; 4], u: f64) -> Point {
    [0, 1].map(|axis| {
        let [p0, p1, p2, p3] = neighbours.map(|point| point[axis]);
        let quadratic = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3;
        let cubic = 3.0 * p1 - p0 - 3.0 * p2 + p3;
        0.5 * (2.0 * p1 + u * (p2 - p0 + u * (quadratic + u * cubic)))
    })
}

/// A path cut at its corners.
fn segments(path: &[Point]) -> Vec<[Point; 2]> {
    path.windows(2).map(|ends| [ends[0], ends[1]]).collect()
}

/// The share of each pixel that is inked, row by row: $a$ of the module's documentation.
fn ink(segments: &[[Point; 2]], pen_width: f64, size: usize) -> Vec<f64> {
    let n = size as f64;
    let mut pixels = Vec::with_capacity(size * size);
    for row in 0..size {
        for column in 0..size {
            let centre = [(column as f64 + 0.5) / n, (row as f64 + 0.5) / n];
            let distance = segments.iter().map(|&segment| distance(centre, segment)).fold(f64::INFINITY, f64::min);
            pixels.push((0.5 + n * (pen_width / 2.0 - distance)).clamp(0.0, 1.0));
        }
    }
    pixels
}

/// Distance of a point from a segment, whose ends may coincide.
fn distance(point: Point, [start, end]: [Point; 2]) -> f64 {
    let along = [end[0] - start[0], end[1] - start[1]];
    let offset = [point[0] - start[0], point[1] - start[1]];
    let length_squared = along[0] * along[0] + along[1] * along[1];
    let share = if length_squared > 0.0 {
        ((offset[0] * along[0] + offset[1] * along[1]) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (offset[0] - share * along[0]).hypot(offset[1] - share * along[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(n_per_class: usize, seed: u64) -> LabelledInstances {
        DigitsParams { n_per_class, seed, ..Default::default() }.generate().unwrap()
    }

    /// No deformation, no noise.
    fn plain() -> DigitsParams {
        DigitsParams {
            slant: 0.0,
            rotation: 0.0,
            scale: 0.0,
            shift: 0.0,
            jitter: 0.0,
            pen_spread: 0.0,
            noise: 0.0,
            ..Default::default()
        }
    }

    fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
    }

    /// The points of a stroke.
    fn points_of(stroke: &Stroke) -> &'static [Point] {
        match stroke {
            Straight(points) | Curved(points) => points,
        }
    }

    #[test]
    fn the_digits_take_turns_and_have_their_names() {
        let set = generate(3, 0);
        assert_eq!((set.n_instances(), set.n_features()), (30, 256));
        assert_eq!(set.class_counts(), [3; 10]);
        for (image_idx, &class) in set.classes().iter().enumerate() {
            assert_eq!(set.class_names().name(class), Some((image_idx % 10).to_string().as_str()));
        }
    }

    #[test]
    fn values_lie_between_background_and_ink_and_reach_both() {
        let wild =
            DigitsParams { noise: 1.0, shift: 1.0, scale: 1.0, jitter: 1.0, pen_spread: 1.0, ..Default::default() };
        for params in [DigitsParams::default(), plain(), DigitsParams { size: 9, ..plain() }, wild] {
            let set = params.generate().unwrap();
            assert_eq!(set.n_features(), params.size * params.size);
            assert!(set.instances().iter().all(|value| (-1.0..=1.0).contains(value)), "{params:?}");
            assert_eq!((set.instances().min(), set.instances().max()), (-1.0, 1.0), "{params:?}");
        }
    }

    #[test]
    fn every_image_shows_ink_and_background() {
        let set = generate(200, 4);
        for image_idx in 0..set.n_instances() {
            let n_inked = set.instance(image_idx).iter().filter(|value| **value > 0.0).count();
            assert!((10..160).contains(&n_inked), "image {image_idx}: {n_inked} pixels of 256 are inked");
        }
    }

    #[test]
    fn the_seed_fixes_the_images() {
        let set = generate(5, 7);
        assert_eq!(generate(5, 7), set);
        let other = generate(5, 8);
        assert!((0..50).all(|image_idx| other.instance(image_idx) != set.instance(image_idx)));
    }

    #[test]
    fn a_larger_set_begins_with_the_smaller_one() {
        let (few, many) = (generate(2, 3), generate(6, 3));
        assert_eq!(many.instances().columns(0, 20), few.instances().columns(0, 20));
        assert_eq!(many.classes()[..20], *few.classes());
    }

    #[test]
    fn no_image_is_repeated() {
        let set = generate(20, 0);
        for image_idx in 0..set.n_instances() {
            assert!((0..image_idx).all(|other| set.instance(other) != set.instance(image_idx)), "image {image_idx}");
        }
    }

    #[test]
    fn noise_leaves_the_digits_as_they_are() {
        let clean = DigitsParams { noise: 0.0, n_per_class: 5, ..Default::default() };
        let noisy = DigitsParams { noise: 0.1, ..clean.clone() };
        let (clean, noisy) = (clean.generate().unwrap(), noisy.generate().unwrap());
        assert_ne!(clean, noisy);
        // Six standard deviations, for 12800 pixels.
        assert!(clean.instances().iter().zip(noisy.instances()).all(|(clean, noisy)| (clean - noisy).abs() < 0.6));
    }

    #[test]
    fn undeformed_images_are_as_many_as_there_are_hands() {
        let set = DigitsParams { n_per_class: 50, ..plain() }.generate().unwrap();
        for (digit, hands) in HANDS.iter().enumerate() {
            let mut images: Vec<&[f64]> = (digit..500).step_by(10).map(|image_idx| set.instance(image_idx)).collect();
            images.sort_by(|a, b| a.partial_cmp(b).expect("pixels are numbers"));
            images.dedup();
            assert_eq!(images.len(), hands.len(), "digit {digit}");
        }
    }

    #[test]
    fn every_digit_has_hands_of_strokes_within_the_image() {
        for (digit, hands) in HANDS.iter().enumerate() {
            assert!(hands.len() >= 2, "digit {digit}");
            assert!(hands.iter().all(|hand| !hand.is_empty()), "digit {digit}");
            for points in hands.iter().copied().flatten().map(points_of) {
                assert!(points.len() >= 2, "digit {digit}");
                assert!(points.as_flattened().iter().all(|value| (0.0..=1.0).contains(value)), "digit {digit}");
            }
        }
    }

    /// Share of the images of each digit whose nearest image in the training set shows the same.
    fn nearest_neighbour_accuracies(train: &LabelledInstances, test: &LabelledInstances) -> [f64; N_DIGITS] {
        let mut n_right = [0; N_DIGITS];
        for (image_idx, &class) in test.classes().iter().enumerate() {
            let distance_to = |idx: &usize| squared_distance(train.instance(*idx), test.instance(image_idx));
            let nearest = (0..train.n_instances()).min_by(|a, b| distance_to(a).total_cmp(&distance_to(b))).unwrap();
            n_right[class.idx()] += usize::from(train.classes()[nearest] == class);
        }
        n_right.map(|n| (N_DIGITS * n) as f64 / test.n_instances() as f64)
    }

    #[test]
    fn the_nearest_neighbour_is_mostly_but_not_always_of_the_same_digit() {
        let accuracies = nearest_neighbour_accuracies(&generate(100, 1), &generate(100, 2));
        let mean = accuracies.iter().sum::<f64>() / N_DIGITS as f64;
        assert!((0.90..=0.97).contains(&mean), "{mean}");
        assert!(accuracies.iter().all(|&accuracy| accuracy >= 0.8), "{accuracies:?}");
    }

    #[test]
    fn undeformed_digits_are_told_apart_without_fail() {
        let noisy = DigitsParams { n_per_class: 20, noise: 0.1, ..plain() };
        let [train, test] = [1, 2].map(|seed| DigitsParams { seed, ..noisy.clone() }.generate().unwrap());
        assert_eq!(nearest_neighbour_accuracies(&train, &test), [1.0; N_DIGITS]);
    }

    #[test]
    fn a_pixel_is_inked_by_the_share_that_an_upright_bar_covers() {
        // From 0.35 to 0.65, in pixels a quarter wide: nothing, 0.6 of a pixel, 0.6 of a pixel, nothing.
        let pixels = ink(&[[[0.5, -1.0], [0.5, 2.0]]], 0.3, 4);
        for row in pixels.chunks(4) {
            assert!(row.iter().zip([0.0, 0.6, 0.6, 0.0]).all(|(found, expected)| (found - expected).abs() < 1e-12));
        }
    }

    #[test]
    fn rows_run_from_the_top() {
        let pixels = ink(&[[[0.0, 0.125], [1.0, 0.125]]], 0.25, 4);
        assert_eq!(pixels[..4], [1.0; 4]);
        assert_eq!(pixels[8..], [0.0; 8]);
    }

    #[test]
    fn distances_are_from_the_nearest_point_of_a_segment() {
        let segment = [[0.0, 0.0], [2.0, 0.0]];
        for (point, expected) in [([1.0, 3.0], 3.0), ([-3.0, 4.0], 5.0), ([5.0, -4.0], 5.0), ([0.5, 0.0], 0.0)] {
            assert_eq!(distance(point, segment), expected, "{point:?}");
        }
        assert_eq!(distance([3.0, 5.0], [[0.0, 1.0], [0.0, 1.0]]), 5.0);
    }

    #[test]
    fn slant_rotation_and_scale_are_applied_in_the_stated_order() {
        let params = DigitsParams { slant: 0.5, rotation: 0.5, scale: 0.5, shift: 0.5, ..Default::default() };
        let affine = Affine::draw(params.check().unwrap(), &mut stream(0, "test", 0));
        let mut rng = stream(0, "test", 0);
        let [angle, slant, log_wide, log_tall, right, down] = [(); 6].map(|()| normal(0.0, 0.5, &mut rng));
        let (x, y) = (0.2 * log_wide.exp(), -0.3 * log_tall.exp());
        let (x, y) = (x - slant * y, y);
        let (x, y) = (angle.cos() * x - angle.sin() * y, angle.sin() * x + angle.cos() * y);
        let found = affine.apply([0.7, 0.2]);
        assert!((found[0] - (0.5 + right + x)).abs() < 1e-12 && (found[1] - (0.5 + down + y)).abs() < 1e-12);
    }

    #[test]
    fn a_curve_goes_through_its_control_points() {
        let points = [[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [3.0, 3.0]];
        let path = smooth(&points);
        assert_eq!(path.len(), 3 * PIECES + 1);
        for (idx, point) in points.into_iter().enumerate() {
            let found = path[idx * PIECES];
            assert!((found[0] - point[0]).hypot(found[1] - point[1]) < 1e-12, "point {idx}");
        }
    }

    #[test]
    fn the_pieces_of_a_curve_stay_near_it() {
        let curves = HANDS.iter().copied().flatten().copied().flatten().filter_map(|stroke| match stroke {
            Straight(_) => None,
            Curved(points) => Some(*points),
        });
        for points in curves {
            let path = segments(&smooth(points));
            for (idx, neighbours) in points.windows(4).enumerate() {
                for piece in 0..PIECES {
                    let middle = spline(neighbours.try_into().unwrap(), (piece as f64 + 0.5) / PIECES as f64);
                    let off = distance(middle, path[(idx + 1) * PIECES + piece]);
                    assert!(off < 0.05 / 16.0, "{off}");
                }
            }
        }
    }

    #[test]
    fn a_parameter_out_of_range_is_named() {
        for (name, word) in [
            ("n_per_class", "0"),
            ("n_per_class", "18446744073709551615"),
            ("size", "3"),
            ("size", "257"),
            ("slant", "-0.1"),
            ("rotation", "NaN"),
            ("scale", "inf"),
            ("shift", "1.5"),
            ("jitter", "-1"),
            ("pen_width", "0"),
            ("pen_spread", "NaN"),
            ("noise", "2"),
        ] {
            let mut params = DigitsParams::default();
            assert!(params.assign(name, word), "{name}");
            let message = params.generate().unwrap_err().to_string();
            assert!(message.starts_with(&format!("{name} is ")), "{message}");
        }
        let error = DigitsParams { size: 0, ..Default::default() }.generate().unwrap_err();
        assert_eq!(error.to_string(), "size is 0, expected a number from 4 to 256");
    }
}
