//! What the paper leaves open: accuracy of PMI by width and share, on the test folds.

use mil_core::{
    BagModel, BagSet, FitError, Label, Learner, PositivesOnly, Scaled, Scaling, Split, StratifiedKFold, Target,
};
use mil_kernels::KernelChoice;
use mil_pmi::Pmi;
use rayon::prelude::*;

use crate::figure::{AxisSpec, Context, Drawing, Figure, Level, Panel, Point, Series, Style};
use crate::papers::Paper;

const PROTOCOL: &str = "Ten-fold cross-validation, two repetitions; positive bags alone in the training folds, features scaled to [0, 1] by them; gamma in units of 1 over the median squared distance. Every cell is measured on the test folds: the best of them is \
                        chosen by what it should predict, and is no estimate. Table 3 itself is measured without the test folds. In a quick run the first set alone, one repetition, and fewer widths.";

pub(super) fn figures() -> Vec<Figure> {
    let figure = |id, title, data, draw| Figure {
        id,
        title,
        paper: Paper::Pmi,
        place: "Table 3",
        protocol: PROTOCOL,
        data,
        optional: &[],
        code: &["mil-data", "mil-pmi"],
        source: file!(),
        draw,
    };
    vec![
        figure("pmi-grid", "PMI on Musk by width and share", &["musk1", "musk2"], |context| draw(context, &MUSK)),
        figure("pmi-grid-images", "PMI on images by width and share", &["elephant", "fox", "tiger"], |context| {
            draw(context, &IMAGES)
        }),
    ]
}

/// A data set, its name for people, and what Table 3 prints for PMI in percent.
type Printed = (&'static str, &'static str, f64);

const MUSK: [Printed; 2] = [("musk1", "Musk1", 79.1), ("musk2", "Musk2", 85.1)];
const IMAGES: [Printed; 3] = [("elephant", "Elephant", 78.3), ("fox", "Fox", 57.9), ("tiger", "Tiger", 52.5)];

const RATIOS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0];
const QUICK_RATIOS: [f64; 4] = [0.5, 2.0, 4.0, 8.0];
const NUS: [f64; 4] = [0.05, 0.1, 0.2, 0.3];

fn draw(context: &Context<'_>, sets: &[Printed]) -> Result<Drawing, FitError> {
    let (sets, ratios, n_repeats) =
        if context.quick { (&sets[..1], &QUICK_RATIOS[..], 1) } else { (sets, &RATIOS[..], 2) };
    context.start(sets.len() * ratios.len());
    let mut drawing = Drawing::default();
    for &(data, title, printed) in sets {
        let bags = context.bags(data);
        let folds = StratifiedKFold { n_folds: 10, n_repeats, seed: context.seed }.split(bags.labels())?;
        let line = |nu: &f64| Series { name: format!("nu = {nu}"), style: Style::Line, points: Vec::new() };
        let mut series: Vec<Series> = NUS.iter().map(line).collect();
        let (mut best, mut sum) = ((0.0, 0.0, 0.0), 0.0);
        for &ratio in ratios {
            for (series, nu) in series.iter_mut().zip(NUS) {
                let accuracy = 100.0 * share_right(ratio, nu, bags, &folds)?;
                series.points.push(Point::at(ratio, accuracy));
                sum += accuracy;
                if accuracy > best.0 {
                    best = (accuracy, ratio, nu);
                }
            }
            context.step(&format!("gamma = {ratio} over the median on {data}"));
        }
        drawing.findings.push(format!(
            "{title}: the best cell on the test folds has {:.1} % (gamma = {} over the median, nu = {}), the mean over the grid {:.1} %; printed {printed}.",
            best.0,
            best.1,
            best.2,
            sum / (ratios.len() * NUS.len()) as f64
        ));
        drawing.panels.push(Panel {
            title: title.to_owned(),
            x: AxisSpec::log("gamma times the median squared distance"),
            y: AxisSpec::linear("bags labelled right, %"),
            series,
            levels: vec![Level { name: "printed".to_owned(), y: printed }],
        });
    }
    Ok(drawing)
}

/// Share of the bags that are labelled right while held out.
fn share_right(ratio: f64, nu: f64, bags: &BagSet<Label>, folds: &[Split]) -> Result<f64, FitError> {
    let pmi = Pmi { kernel: KernelChoice::GaussianOverMedian(ratio), nu, ..Pmi::default() };
    let learner = PositivesOnly { learner: Scaled { scaling: Scaling::MinMax, learner: pmi } };
    let n_right = |fold: &Split| -> Result<usize, FitError> {
        let model = learner.fit(&bags.select(&fold.train))?;
        let mut n_right = 0;
        for &bag_idx in &fold.test {
            n_right += usize::from(Label::decide(&model.score(bags.bag(bag_idx))?) == bags.labels()[bag_idx]);
        }
        Ok(n_right)
    };
    let outcomes: Vec<Result<usize, FitError>> = folds.par_iter().map(n_right).collect();
    let n_right: usize = outcomes.into_iter().collect::<Result<Vec<usize>, _>>()?.iter().sum();
    Ok(n_right as f64 / folds.iter().map(|fold| fold.test.len()).sum::<usize>() as f64)
}
