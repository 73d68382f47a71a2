//! `mil predict`: scores and labels of bags, or of their instances.

use mil_core::{BagLabel, BagSet, ClassNames, argmax};

use crate::args::{Common, PredictArgs};
use crate::data::{Bags, open};
use crate::error::CliError;
use crate::models::{About, AnyModel, Model, Told, load};
use crate::report::{Cell, Report, Table};

pub(super) fn run(args: &PredictArgs, common: &Common) -> Result<(), CliError> {
    let (model, about) = load(&args.model)?;
    let bags = open(&args.data, &args.reading)?.bags_of_any_label(&args.reading)?;
    let report = match &model {
        Model::Two(model) => over(&**model, &about, &bags, args)?,
        Model::Many(model) => over(&**model, &about, &bags, args)?,
    };
    report.fact("learner", about.learner.clone()).fact("data", args.data.clone()).print("predict", common.format)
}

fn over<Y: Told>(model: &dyn AnyModel<Y>, about: &About, bags: &Bags, args: &PredictArgs) -> Result<Report, CliError> {
    let classes = class_names::<Y>(about);
    match bags {
        Bags::Two(bags) => predicted(model, about, &classes, bags, |idx| bags.labels()[idx].word(&classes), args),
        Bags::Many(bags) => {
            predicted(model, about, &classes, bags, |idx| bags.labels()[idx].word(bags.class_names()), args)
        }
        Bags::Unlabelled(bags) => predicted(model, about, &classes, bags, |_| String::new(), args),
    }
}

/// The names of a model's classes.
pub(super) fn class_names<Y: Told>(about: &About) -> ClassNames {
    Y::fixed_class_names().unwrap_or_else(|| ClassNames::new(about.classes.clone().unwrap_or_default()))
}

fn predicted<Y: Told, Z: BagLabel>(
    model: &dyn AnyModel<Y>,
    about: &About,
    classes: &ClassNames,
    bags: &BagSet<Z>,
    actual: impl Fn(usize) -> String,
    args: &PredictArgs,
) -> Result<Report, CliError> {
    about.require_features(bags)?;
    if args.instances {
        return of_instances(model, classes, bags);
    }
    let is_labelled = !actual(0).is_empty();
    let mut table = Table::new("bags", "", &[("bag", "bag")]);
    let mut n_right = 0;
    for (bag_idx, bag) in bags.bags().enumerate() {
        let (score, label) = (model.score(bag)?, model.predict(bag)?.word(classes));
        let numbers = Y::numbers(&score, classes);
        if bag_idx == 0 {
            let column = |key: &str| crate::report::Column { key: key.to_owned(), head: key.to_owned() };
            table.columns.extend(numbers.iter().map(|(key, _)| column(key)));
            table.columns.push(column("predicted"));
            table.columns.extend(is_labelled.then(|| column("actual")));
        }
        n_right += usize::from(is_labelled && label == actual(bag_idx));
        let cells = numbers.iter().map(|(_, value)| Cell::Number(*value, 4)).chain([Cell::text(label)]);
        let truth = is_labelled.then(|| Cell::text(actual(bag_idx)));
        table.row([Cell::text(bag.name())].into_iter().chain(cells).chain(truth));
    }
    let report = Report::of(table);
    if !is_labelled {
        return Ok(report);
    }
    let accuracy = n_right as f64 / bags.n_bags() as f64;
    Ok(report.fact("accuracy", accuracy).note(format!(
        "\n{n_right} of {} bags as labelled ({:.1} %)",
        bags.n_bags(),
        100.0 * accuracy
    )))
}

fn of_instances<Y: Told, Z: BagLabel>(
    model: &dyn AnyModel<Y>,
    classes: &ClassNames,
    bags: &BagSet<Z>,
) -> Result<Report, CliError> {
    let mut table = Table::new("instances", "", &[("bag", "bag"), ("instance", "instance")]);
    for bag in bags.bags() {
        let label = model.predict(bag)?;
        let Some(scores) = model.instance_scores(bag)? else {
            return Err(CliError::Usage(
                "this model scores whole bags and knows nothing of instances; leave out --instances".to_owned(),
            ));
        };
        let strengths: Vec<f64> = scores.iter().map(|score| label.strength(score)).collect();
        let witness = argmax(&strengths);
        for (instance_idx, score) in scores.iter().enumerate() {
            let numbers = Y::numbers(score, classes);
            if table.columns.len() == 2 {
                let column = |key: &str| crate::report::Column { key: key.to_owned(), head: key.to_owned() };
                table.columns.extend(numbers.iter().map(|(key, _)| column(key)).chain([column("witness")]));
            }
            let cells = numbers.iter().map(|(_, value)| Cell::Number(*value, 4));
            let head = [Cell::text(bag.name()), Cell::count(instance_idx)];
            table.row(head.into_iter().chain(cells).chain([Cell::Flag(instance_idx == witness)]));
        }
    }
    Ok(Report::of(table))
}
