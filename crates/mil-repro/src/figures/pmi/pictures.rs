//! Figs. 2 and 3: instances in the plane and the region that PMI draws around those it takes for positive.

use mil_core::{Bag, BagModel, BagSet, FitError, Label, Scaled, Scaling};
use mil_data::synth::ClustersParams;
use mil_kernels::Kernel;
use mil_pmi::{Pmi, QueryError, QuerySession, Recorded};

use super::contour::zero_curves;
use crate::figure::{AxisSpec, Context, Drawing, Figure, Panel, Point, Series, Style};
use crate::papers::Paper;

pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            id: "pmi-fig2",
            title: "PMI where negatives are scattered: one fit finds what the bags share",
            paper: Paper::Pmi,
            place: "Fig. 2",
            protocol: "Forty positive bags in the plane, one positive of N(0, 0.36 I) and two negatives uniform in a square of side 16 in each. Fixed: gamma = 0.5, nu = 0.1. The curve is where l(x) = 0.",
            data: &[],
            optional: &[],
            code: &["mil-data", "mil-pmi"],
            source: file!(),
            draw: |context| draw_scattered(context, &ClustersParams::figure_2()),
        },
        Figure {
            id: "pmi-fig3",
            title: "PMI where negatives are gathered more closely than positives: the query step",
            paper: Paper::Pmi,
            place: "Fig. 3",
            protocol: "Forty positive bags in the plane, one positive of N(0, 0.36 I) and one negative of N((4, 0), 0.01 I) in each. Fixed: gamma = 0.5, nu = 0.1. The curve is where l(x) = 0; rings are the instances asked for.",
            data: &[],
            optional: &[],
            code: &["mil-data", "mil-pmi"],
            source: file!(),
            draw: |context| draw_gathered(context, &ClustersParams::figure_3()),
        },
    ]
}

/// Half the side of what is shown.
const HALF_WIDTH: f64 = 8.0;

pub(super) fn learner() -> Scaled<Pmi> {
    let learner = Pmi { kernel: Kernel::Gaussian { gamma: 0.5 }.into(), nu: 0.1, ..Pmi::default() };
    Scaled { scaling: Scaling::None, learner }
}

fn generate(params: &ClustersParams, seed: u64) -> BagSet<Label> {
    ClustersParams { seed, ..params.clone() }.generate().expect("bags are asked for")
}

fn draw_scattered(context: &Context<'_>, params: &ClustersParams) -> Result<Drawing, FitError> {
    context.start(1);
    let bags = generate(params, context.seed);
    let positives = bags.positives()?;
    let session = QuerySession::begin(learner(), &positives).map_err(fit_error)?;
    let panel = picture("one fit, no question", &bags, &session, None)?;
    context.step("fitted");
    let findings = vec![format!("One fit: {}.", shares(&bags, session.model())?)];
    Ok(Drawing { panels: vec![panel], findings, ..Drawing::default() })
}

fn draw_gathered(context: &Context<'_>, params: &ClustersParams) -> Result<Drawing, FitError> {
    context.start(2);
    let bags = generate(params, context.seed);
    let positives = bags.positives()?;
    let mut session = QuerySession::begin(learner(), &positives).map_err(fit_error)?;
    let before = session.clone();
    context.step("fitted");
    session.run(&mut Recorded::of_labels(&bags).expect("generated bags know their instances")).map_err(fit_error)?;
    context.step("asked");
    let entries = session.trail().entries();
    let bounds = session.trail().bounds();
    let answers: Vec<String> = entries.iter().map(|entry| entry.answer.to_string()).collect();
    let findings = vec![
        format!("Before any question: {}.", shares(&bags, before.model())?),
        format!("After {}: {}.", counted(entries.len(), "question"), shares(&bags, session.model())?),
        format!(
            "Answers: {}. Theorem 3 allows {} as printed, {} when tightened.",
            if answers.is_empty() { "none needed".to_owned() } else { answers.join(", ") },
            bounds.printed.map_or("any number".to_owned(), |printed| printed.to_string()),
            bounds.tight
        ),
    ];
    let panels = vec![
        picture("a. before the first question", &bags, &before, Some(0))?,
        picture("b. after the last", &bags, &session, Some(entries.len()))?,
    ];
    Ok(Drawing { panels, findings, ..Drawing::default() })
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The error of a session whose labels are all known.
pub(super) fn fit_error(error: QueryError) -> FitError {
    match error {
        QueryError::Fit(error) => error,
        other => panic!("the labels of all instances are known: {other}"),
    }
}

/// Shares of the positive and of the negative instances that a model takes for positive.
pub(super) fn rates(bags: &BagSet<Label>, model: &impl BagModel) -> Result<[f64; 2], FitError> {
    let labels = bags.instance_labels().expect("generated bags know their instances");
    let (mut n_taken, mut n_all) = ([0.0; 2], [0.0; 2]);
    for (bag_idx, bag) in bags.bags().enumerate() {
        let scores = model.instance_scores(bag)?.expect("a model of instances");
        for (score, label) in scores.iter().zip(&labels[bags.columns_of(bag_idx)]) {
            let kind = usize::from(*label == Label::Negative);
            n_all[kind] += 1.0;
            n_taken[kind] += f64::from(u8::from(*score >= 0.0));
        }
    }
    Ok([0, 1].map(|kind| n_taken[kind] / f64::max(n_all[kind], 1.0)))
}

fn shares(bags: &BagSet<Label>, model: &impl BagModel) -> Result<String, FitError> {
    let [positive, negative] = rates(bags, model)?;
    Ok(format!(
        "{:.0} % of the positive and {:.0} % of the negative instances are inside",
        100.0 * positive,
        100.0 * negative
    ))
}

/// Instances by their labels, those asked for if questions are shown, and the boundary.
fn picture(
    title: &str,
    bags: &BagSet<Label>,
    session: &QuerySession<'_>,
    n_questions: Option<usize>,
) -> Result<Panel, FitError> {
    let labels = bags.instance_labels().expect("generated bags know their instances");
    let place = |column: usize| {
        let instance = bags.instances().column(column);
        Point::at(instance[0], instance[1])
    };
    let of = |wanted: Label| (0..labels.len()).filter(|&column| labels[column] == wanted).map(place).collect();
    let marks = |name: &str, points: Vec<Point>| Series { name: name.to_owned(), style: Style::Marks, points };
    let mut series = vec![marks("positive", of(Label::Positive)), marks("negative", of(Label::Negative))];
    let curves = zero_curves(HALF_WIDTH, |points| -> Result<Vec<f64>, FitError> {
        let values: Vec<f64> = points.iter().flatten().copied().collect();
        let grid = Bag::new("grid", 2, &values).expect("a grid of the plane");
        Ok(session.model().instance_scores(grid)?.expect("a model of instances"))
    })?;
    series.extend(curves.into_iter().map(|points| Series { name: "l(x) = 0".to_owned(), style: Style::Curve, points }));
    if let Some(n_questions) = n_questions {
        let asked = session.trail().entries().iter().take(n_questions);
        let column = |entry: &mil_pmi::QueryEntry| {
            let bag = bags.names().iter().position(|name| *name == entry.bag).expect("a bag of the set");
            bags.columns_of(bag).start + entry.instance_idx
        };
        let mut points: Vec<Point> = asked.map(|entry| place(column(entry))).collect();
        // Before the first answer, what is about to be asked.
        if points.is_empty() {
            points.extend(session.question().map(|query| Point::at(query.instance[0], query.instance[1])));
        }
        if !points.is_empty() {
            series.push(Series { name: "asked for".to_owned(), style: Style::Rings, points });
        }
    }
    let axis = AxisSpec::linear;
    Ok(Panel {
        title: title.to_owned(),
        x: axis("first feature"),
        y: axis("second feature"),
        series,
        levels: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_turn_the_region_of_figure_3_around() {
        let bags = generate(&ClustersParams::figure_3(), 1);
        let positives = bags.positives().unwrap();
        let mut session = QuerySession::begin(learner(), &positives).unwrap();
        let [positive, negative] = rates(&bags, session.model()).unwrap();
        assert!(positive < 0.1 && negative > 0.8, "{positive} {negative}");
        let panel = picture("before", &bags, &session, Some(0)).unwrap();
        assert_eq!(panel.series.last().map(|series| series.style), Some(Style::Rings));
        session.run(&mut Recorded::of_labels(&bags).unwrap()).unwrap();
        let [positive, negative] = rates(&bags, session.model()).unwrap();
        assert!(positive > 0.8 && negative < 0.1, "{positive} {negative}");
    }
}
