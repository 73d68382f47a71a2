//! `mil train`: fit, and keep the model.

use std::path::Path;
use std::time::Instant;

use mil_core::BagSet;

use super::Chosen;
use crate::args::{Common, TrainArgs};
use crate::data::{Bags, open, unlabelled};
use crate::error::CliError;
use crate::learners::AnyLearner;
use crate::models::{About, Told, save};
use crate::progress::Progress;
use crate::report::{Cell, Report, Table};

pub(super) fn run(args: &TrainArgs, common: &Common) -> Result<(), CliError> {
    let chosen = Chosen::of(&args.learner)?.seeded(common);
    chosen.entry.pairs(&chosen.words)?; // before anything long is read
    let bags = open(&args.data, &args.reading)?.bags(&args.reading)?;
    let report = match bags {
        Bags::Two(bags) => {
            trained(&chosen, &*chosen.entry.two(&chosen.words, chosen.scaling)?, &bags, &args.output, common)
        }
        Bags::Many(bags) => {
            trained(&chosen, &*chosen.entry.many(&chosen.words, chosen.scaling)?, &bags, &args.output, common)
        }
        Bags::Unlabelled(_) => Err(unlabelled(&args.data)),
    }?;
    report.print("train", common.format)
}

/// Fits a learner to all bags and keeps the model.
pub(super) fn trained<Y: Told>(
    chosen: &Chosen,
    learner: &dyn AnyLearner<Y>,
    bags: &BagSet<Y>,
    output: &Path,
    common: &Common,
) -> Result<Report, CliError> {
    let spinner = Progress::spinner(&format!("fitting {} to {} bags", chosen.entry.title, bags.n_bags()), common.quiet);
    let start = Instant::now();
    let fitted = learner.fit_any(bags);
    let seconds = start.elapsed().as_secs_f64();
    spinner.finish();
    let model = fitted.map_err(|error| chosen.entry.failed(error))?;
    let classes = Y::fixed_class_names().is_none().then(|| bags.class_names().iter().map(str::to_owned).collect());
    let about = About {
        learner: chosen.entry.name.to_owned(),
        scaling: chosen.scaling_word(),
        features: bags.feature_names().map(<[String]>::to_vec),
        classes,
        params: chosen.entry.pairs(&chosen.words)?,
    };
    save(output, &*model, &about)?;
    let predicted: Vec<Y> = bags.bags().map(|bag| model.predict(bag)).collect::<Result<_, _>>()?;
    let accuracy = mil_core::metrics::accuracy(&predicted, bags.labels());
    let columns = [
        ("model", "model"),
        ("learner", "learner"),
        ("bags", "bags"),
        ("training_accuracy", "right on the training bags"),
        ("fit_seconds", "seconds"),
    ];
    let mut table = Table::new("trained", "", &columns);
    let file = output.display().to_string();
    table.row([
        Cell::text(file),
        Cell::text(chosen.entry.name),
        Cell::count(bags.n_bags()),
        Cell::Share(accuracy),
        Cell::Number(seconds, 2),
    ]);
    let params: serde_json::Map<String, serde_json::Value> =
        about.params.into_iter().map(|(key, value)| (key, value.into())).collect();
    Ok(Report::of(table).fact("scale", chosen.scaling_word()).fact("params", params))
}
