//! Fig. 2: what the positive atoms look like.

use mil_core::{FitError, argmax};
use mil_dict::{MidlModel, PreImage, Side};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::digits::{Digits, Method, midl};
use crate::figure::{Context, Drawing, Figure, Picture, PictureRow};
use crate::papers::Paper;

pub(super) fn figure() -> Figure {
    Figure {
        id: "midl-fig2",
        title: "MIDL: what the atoms of the positive dictionaries look like",
        paper: Paper::Midl,
        place: "Fig. 2",
        protocol: "Pre-images of the ten positive atoms, a row for each digit as the positive class, from the first training bags of Table 1; each scaled to its darkest pixel. An atom shows its digit where most of the five training images nearest to its pre-image are of it.",
        data: &[],
        optional: &["usps"],
        code: &["mil-data", "mil-dict", "mil-svm"],
        source: file!(),
        draw,
    }
}

/// Neighbours that vote on what an atom shows.
const N_NEIGHBOURS: usize = 5;

fn draw(context: &Context<'_>) -> Result<Drawing, FitError> {
    let digits = Digits::of(context);
    let methods = [Method::Midl, Method::MidlShared];
    context.start(10 * methods.len());
    let side = (digits.train.n_features() as f64).sqrt() as usize;
    let mut images = digits.train.instances().clone();
    images.column_iter_mut().filter(|image| image.norm() > 0.0).for_each(|mut image| {
        image.normalize_mut();
    });
    let mut drawing = Drawing::default();
    for method in methods {
        let of_digit = |digit: usize| {
            let model = midl(method, context.seed).fit_traced(&digits.bags(digit, context.seed)?.train)?.0;
            let atoms = pre_images(&model);
            context.step(&format!("{}, digit {digit}", method.name()));
            Ok(atoms)
        };
        let rows: Vec<Result<Vec<PreImage>, FitError>> = (0..10).into_par_iter().map(of_digit).collect();
        let rows: Vec<Vec<PreImage>> = rows.into_iter().collect::<Result<_, _>>()?;
        let right = |(digit, atoms): (usize, &Vec<PreImage>)| {
            atoms.iter().filter(|atom| nearest_digit(&images, &digits, &atom.instance) == digit).count()
        };
        let n_right: usize = rows.iter().enumerate().map(right).sum();
        let n_atoms: usize = rows.iter().map(Vec::len).sum();
        let mean_error = rows.iter().flatten().map(|atom| atom.squared_error).sum::<f64>() / n_atoms as f64;
        drawing.findings.push(format!(
            "{}: {n_right} of {n_atoms} atoms show their digit, by their five nearest training images; the squared distance of an atom of length 1 to its pre-image is {mean_error:.2} on average.",
            method.name()
        ));
        let rows = rows.iter().enumerate().map(|(digit, atoms)| PictureRow {
            head: digit.to_string(),
            images: atoms.iter().map(|atom| to_ink(&atom.instance)).collect(),
        });
        let title = format!("Positive atoms, {}, {}", method.name(), digits.name);
        drawing.pictures.push(Picture { title, width: side, height: side, rows: rows.collect() });
    }
    Ok(drawing)
}

fn pre_images(model: &MidlModel) -> Vec<PreImage> {
    (0..model.n_atoms(Side::Positive)).map(|atom| model.pre_image(Side::Positive, atom)).collect()
}

/// Pixels from 0 to 1, the darkest 1. An atom may be the negative of an image, and so much of it may be below 0: that is paper.
fn to_ink(pixels: &[f64]) -> Vec<f64> {
    let darkest = pixels.iter().fold(0.0_f64, |darkest, pixel| darkest.max(*pixel));
    let divisor = if darkest > 0.0 { darkest } else { 1.0 };
    pixels.iter().map(|pixel| (pixel / divisor).clamp(0.0, 1.0)).collect()
}

/// The digit of most of the nearest training images, the lowest on ties.
fn nearest_digit(images: &DMatrix<f64>, digits: &Digits, pixels: &[f64]) -> usize {
    let products = images.tr_mul(&DVector::from_column_slice(pixels));
    let mut order: Vec<usize> = (0..products.len()).collect();
    order.sort_by(|&i, &j| products[j].total_cmp(&products[i]).then(i.cmp(&j)));
    let mut votes = vec![0.0; digits.train.class_names().len()];
    order.iter().take(N_NEIGHBOURS).for_each(|&idx| votes[digits.train.classes()[idx].idx()] += 1.0);
    argmax(&votes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_darkest_pixel_is_ink() {
        assert_eq!(to_ink(&[0.1, -0.2, 0.4]), [0.25, 0.0, 1.0]);
        assert_eq!(to_ink(&[0.0, -1.0]), [0.0, 0.0]);
    }
}
