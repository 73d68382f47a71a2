//! `mil evaluate`: repeated stratified cross-validation of one learner.

use mil_core::stats::Summary;
use mil_core::{BagSet, CrossValidation, CvReport, Label};
use serde_json::{Value, json};

use super::{Chosen, DEFAULT_SEED, tune};
use crate::args::{Common, EvaluateArgs, FoldArgs};
use crate::data::{Bags, open, unlabelled};
use crate::error::CliError;
use crate::learners::AnyLearner;
use crate::models::Told;
use crate::progress::Progress;
use crate::report::{Cell, Report, Table};

pub(super) fn run(args: &EvaluateArgs, common: &Common) -> Result<(), CliError> {
    if !args.tune && !args.grid.grid.is_empty() {
        return Err(CliError::Usage("--grid goes with --tune".to_owned()));
    }
    let chosen = Chosen::of(&args.learner)?;
    chosen.entry.pairs(&chosen.words)?;
    let bags = open(&args.data, &args.reading)?.bags(&args.reading)?;
    let plan = plan(&args.folds, common);
    let report = match bags {
        Bags::Two(bags) if args.tune => told(&chosen, &*search(&chosen, args)?, &plan, &bags, common),
        Bags::Two(bags) => told(&chosen, &*chosen.entry.two(&chosen.words, chosen.scaling)?, &plan, &bags, common),
        Bags::Many(_) if args.tune => Err(CliError::Usage(
            "--tune takes bags of two classes; name the positive one with --positive WORD".to_owned(),
        )),
        Bags::Many(bags) => told(&chosen, &*chosen.entry.many(&chosen.words, chosen.scaling)?, &plan, &bags, common),
        Bags::Unlabelled(_) => Err(unlabelled(&args.data)),
    }?;
    let params: serde_json::Map<String, Value> =
        chosen.entry.pairs(&chosen.words)?.into_iter().map(|(key, value)| (key, value.into())).collect();
    let report =
        report.fact("learner", chosen.entry.name).fact("data", args.data.clone()).fact("scale", chosen.scaling_word());
    report.fact("params", params).fact("tuned", args.tune).print("evaluate", common.format)
}

/// The learner that tunes itself inside each training fold.
fn search(chosen: &Chosen, args: &EvaluateArgs) -> Result<Box<dyn AnyLearner<Label>>, CliError> {
    let settings = tune::settings(chosen, &args.grid.grid)?;
    let folds = tune::inner_folds(&args.grid, 1, tune::INNER_SEED);
    let search = chosen.entry.search(&settings, chosen.scaling, folds)?;
    Ok(search)
}

/// Folds and repetitions as asked.
pub(super) fn plan(folds: &FoldArgs, common: &Common) -> CrossValidation {
    CrossValidation {
        n_folds: folds.folds as usize,
        n_repeats: folds.repeats as usize,
        seed: common.seed.unwrap_or(DEFAULT_SEED),
    }
}

/// Cross-validates, showing how far it is; the report and the seconds of one fit.
pub(super) fn validated<Y: Told>(
    chosen: &Chosen,
    learner: &dyn AnyLearner<Y>,
    plan: &CrossValidation,
    bags: &BagSet<Y>,
    common: &Common,
) -> Result<(CvReport<Y>, f64), CliError> {
    let n_fits = plan.n_folds * plan.n_repeats;
    let progress = Progress::new(n_fits, &format!("folds of {}", chosen.entry.title), common.quiet);
    let outcome = learner.cross_validate(plan, bags, &progress);
    progress.finish();
    let report = outcome.map_err(|error| chosen.entry.failed(error))?;
    Ok((report, progress.fit_seconds() / n_fits as f64))
}

fn told<Y: Told>(
    chosen: &Chosen,
    learner: &dyn AnyLearner<Y>,
    plan: &CrossValidation,
    bags: &BagSet<Y>,
    common: &Common,
) -> Result<Report, CliError> {
    let (cv, seconds) = validated(chosen, learner, plan, bags, common)?;
    let title = format!(
        "{} by {} folds, repeated {} times (seed {})",
        chosen.entry.title, plan.n_folds, plan.n_repeats, plan.seed
    );
    let columns = [
        ("measure", "measure"),
        ("mean", "mean"),
        ("low", "95 % from"),
        ("high", "to"),
        ("deviation", "deviation"),
        ("n", "repeats"),
    ];
    let mut table = Table::new("measures", title, &columns);
    let mut row = |measure: &str, summary: Summary| {
        let Summary { mean, deviation, half_width, n } = summary;
        let bound = |sign: f64| Cell::option(half_width, |half| Cell::Share(mean + sign * half));
        table.row([
            Cell::text(measure),
            Cell::Share(mean),
            bound(-1.0),
            bound(1.0),
            Cell::Share(deviation),
            Cell::count(n),
        ]);
    };
    row("accuracy", cv.accuracy());
    row("balanced accuracy", cv.balanced_accuracy());
    if let Some(auc) = Y::auc(&cv) {
        row("area under the curve", auc);
    }
    let confusion = cv.confusion();
    let names: Vec<String> = bags.class_names().iter().map(str::to_owned).collect();
    let mut counts = Table::new(
        "confusion",
        "How often bags of a class (lines) were labelled so (columns), all repetitions",
        &[("actual", "actual")],
    );
    counts.columns.extend(names.iter().map(|name| crate::report::Column { key: name.clone(), head: name.clone() }));
    for (actual, name) in names.iter().enumerate() {
        let row = (0..names.len()).map(|predicted| Cell::count(confusion.count(actual, predicted)));
        counts.row([Cell::text(name.clone())].into_iter().chain(row));
    }
    let mut report = Report::of(table)
        .fact("folds", plan.n_folds)
        .fact("repeats", plan.n_repeats)
        .fact("seed", plan.seed)
        .fact("accuracy", summary(cv.accuracy()))
        .fact("auc", Y::auc(&cv).map_or(Value::Null, summary))
        .fact("fit_seconds", seconds)
        .note(format!("\nA fit took {seconds:.3} s on average."));
    report.tables.push(counts);
    Ok(report)
}

/// A summary for programs.
pub(super) fn summary(summary: Summary) -> Value {
    json!({ "mean": summary.mean, "deviation": summary.deviation, "half_width": summary.half_width, "n": summary.n })
}
