//! `mil explain`: which instance speaks for a bag, and by which features.
//!
//! The weight of a feature is what the witness, as a bag of its own, would lose of its score if the feature had its mean over the data. Where a model knows whole bags only, all instances of the bag take the mean.

use mil_core::{Bag, BagLabel, BagSet, argmax};
use rayon::prelude::*;

use super::predict::class_names;
use crate::args::{Common, ExplainArgs};
use crate::data::{Bags, open};
use crate::error::{CliError, hint};
use crate::models::{About, AnyModel, Model, Told, load};
use crate::page::{self, Explained, FeatureWeight};
use crate::report::{Cell, Format, Report, Table};

/// Bags that are drawn on a terminal.
const MAX_DRAWN: usize = 10;
/// Instances of a bag that are drawn on a terminal.
const MAX_BARS: usize = 12;

pub(super) fn run(args: &ExplainArgs, common: &Common) -> Result<(), CliError> {
    let (model, about) = load(&args.model)?;
    let explained = match open(&args.data, &args.reading)?.bags_of_any_label(&args.reading)? {
        Bags::Two(bags) => {
            of_model(&model, &about, &bags, |idx| Some(bags.labels()[idx].word(bags.class_names())), args)
        }
        Bags::Many(bags) => {
            of_model(&model, &about, &bags, |idx| Some(bags.labels()[idx].word(bags.class_names())), args)
        }
        Bags::Unlabelled(bags) => of_model(&model, &about, &bags, |_| None, args),
    }?;
    if let Some(path) = &args.html {
        page::write(path, &page::explanation(&about, &args.data, &explained))?;
    }
    let mut report = told(&explained).fact("learner", about.learner.clone()).fact("data", args.data.clone());
    if common.format == Format::Table {
        report.tables.clear();
        report = drawn(report, &explained);
    }
    if let Some(path) = &args.html {
        report = report.fact("html", path.display().to_string()).note(format!("Written: {}", path.display()));
    }
    report.print("explain", common.format)
}

fn of_model<Z: BagLabel>(
    model: &Model,
    about: &About,
    bags: &BagSet<Z>,
    actual: impl Fn(usize) -> Option<String> + Sync,
    args: &ExplainArgs,
) -> Result<Vec<Explained>, CliError> {
    about.require_features(bags)?;
    let wanted: Vec<usize> = match &args.bag {
        None => (0..bags.n_bags()).collect(),
        Some(name) => {
            let known: Vec<&str> = bags.names().iter().map(String::as_str).collect();
            let found = known.iter().position(|known| known == name);
            vec![found.ok_or_else(|| {
                CliError::Usage(format!(
                    "there is no bag {name:?}; {}the data hold {} bags, the first is {:?}",
                    hint(name, &known),
                    known.len(),
                    known[0]
                ))
            })?]
        }
    };
    let means = means_of(bags);
    let one = |&bag_idx: &usize| match model {
        Model::Two(model) => explained(&**model, about, bags, bag_idx, actual(bag_idx), &means, args.top),
        Model::Many(model) => explained(&**model, about, bags, bag_idx, actual(bag_idx), &means, args.top),
    };
    let outcomes: Vec<Result<Explained, CliError>> = wanted.par_iter().map(one).collect();
    outcomes.into_iter().collect()
}

fn means_of<Z: BagLabel>(bags: &BagSet<Z>) -> Vec<f64> {
    let share = 1.0 / bags.n_instances() as f64;
    let mut means = vec![0.0; bags.n_features()];
    for instance in bags.bags().flat_map(|bag| bag.instances()) {
        means.iter_mut().zip(instance).for_each(|(mean, value)| *mean += share * value);
    }
    means
}

fn explained<Y: Told, Z: BagLabel>(
    model: &dyn AnyModel<Y>,
    about: &About,
    bags: &BagSet<Z>,
    bag_idx: usize,
    actual: Option<String>,
    means: &[f64],
    n_top: usize,
) -> Result<Explained, CliError> {
    let (bag, classes) = (bags.bag(bag_idx), class_names::<Y>(about));
    let (score, label) = (model.score(bag)?, model.predict(bag)?);
    let instances: Option<Vec<f64>> =
        model.instance_scores(bag)?.map(|scores| scores.iter().map(|score| label.strength(score)).collect());
    let witness = instances.as_deref().map(argmax);
    let values: Vec<f64> = witness.map_or_else(|| bag.values().to_vec(), |witness| bag.instance(witness).to_vec());
    let n_features = bags.n_features();
    let strength = |values: &[f64]| -> Result<f64, CliError> {
        let changed = Bag::new(bag.name(), n_features, values).expect("means of finite values are finite");
        Ok(label.strength(&model.score(changed)?))
    };
    let whole = strength(&values)?;
    let mut features = Vec::with_capacity(n_features);
    for (feature_idx, &mean) in means.iter().enumerate() {
        let mut changed = values.clone();
        changed.chunks_exact_mut(n_features).for_each(|instance| instance[feature_idx] = mean);
        let value = witness.map(|witness| bag.instance(witness)[feature_idx]);
        let weight = if changed == values { 0.0 } else { whole - strength(&changed)? };
        features.push(FeatureWeight { name: bags.feature_name(feature_idx), value, weight });
    }
    // The largest first, the first on ties.
    features.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    features.truncate(n_top);
    Ok(Explained {
        bag: bag.name().to_owned(),
        score: label.strength(&score),
        predicted: label.word(&classes),
        actual,
        instances,
        witness,
        features,
    })
}

/// A row for each bag, with its instances and features for programs.
fn told(explained: &[Explained]) -> Report {
    let columns = [
        ("bag", "bag"),
        ("score", "score"),
        ("predicted", "predicted"),
        ("actual", "actual"),
        ("witness", "witness"),
        ("top_features", "top features"),
    ];
    let mut table = Table::new("bags", "", &columns);
    for bag in explained {
        let features: Vec<String> = bag.features.iter().map(|feature| feature.name.clone()).collect();
        table.row([
            Cell::text(bag.bag.clone()),
            Cell::Number(bag.score, 4),
            Cell::text(bag.predicted.clone()),
            Cell::option(bag.actual.clone(), Cell::Text),
            Cell::option(bag.witness, Cell::count),
            Cell::text(features.join(" ")),
        ]);
    }
    let details = serde_json::to_value(explained).expect("numbers and words are JSON");
    Report::of(table).fact("explanations", details)
}

/// Bars of letters for people.
fn drawn(mut report: Report, explained: &[Explained]) -> Report {
    const WIDTH: f64 = 30.0;
    for bag in explained.iter().take(MAX_DRAWN) {
        let actual = bag.actual.as_ref().map_or(String::new(), |actual| format!(", labelled {actual}"));
        report = report.note(format!("{}: {:.4}, predicted {}{actual}", bag.bag, bag.score, bag.predicted));
        match &bag.instances {
            None => report = report.note("  this model scores whole bags; it has no scores of instances"),
            Some(scores) => {
                let largest = scores.iter().fold(0.0_f64, |largest, score| largest.max(score.abs()));
                for idx in page::leading(scores, MAX_BARS) {
                    let length = if largest > 0.0 { (WIDTH * scores[idx].abs() / largest).round() as usize } else { 0 };
                    let bar = if scores[idx] < 0.0 { "-" } else { "#" }.repeat(length);
                    let mark = if bag.witness == Some(idx) { "  <- witness" } else { "" };
                    report = report.note(format!("  {idx:>5} {:>9.4} {bar}{mark}", scores[idx]));
                }
                if scores.len() > MAX_BARS {
                    report = report.note(format!("        and {} more instances", scores.len() - MAX_BARS));
                }
            }
        }
        let features = bag.features.iter().map(|feature| format!("{} ({:+.4})", feature.name, feature.weight));
        report = report.note(format!("  features: {}\n", features.collect::<Vec<_>>().join(", ")));
    }
    if explained.len() > MAX_DRAWN {
        report = report
            .note(format!("and {} more bags: --bag ID shows one, --html FILE draws all", explained.len() - MAX_DRAWN));
    }
    report
}
