//! `mil compare`: several learners on the same folds.

use mil_core::{BagSet, CrossValidation, CvReport, Label};

use super::evaluate::{plan, summary, validated};
use super::{Chosen, tune};
use crate::args::{Common, CompareArgs, GridArgs};
use crate::data::{Bags, open, unlabelled};
use crate::error::CliError;
use crate::learners::{AnyLearner, find};
use crate::models::Told;
use crate::page;
use crate::report::{Cell, Report, Table};

pub(super) fn run(args: &CompareArgs, common: &Common) -> Result<(), CliError> {
    let chosen = chosen(args)?;
    let plan = plan(&args.folds, common);
    let bags = open(&args.data, &args.reading)?.bags(&args.reading)?;
    let report = match bags {
        Bags::Two(bags) => compared(&chosen, two, &plan, &bags, args, common),
        Bags::Many(_) if args.tune => Err(CliError::Usage(
            "--tune takes bags of two classes; name the positive one with --positive WORD".to_owned(),
        )),
        Bags::Many(bags) => {
            compared(&chosen, |chosen, _| chosen.entry.many(&chosen.words, chosen.scaling), &plan, &bags, args, common)
        }
        Bags::Unlabelled(_) => Err(unlabelled(&args.data)),
    }?;
    report.print("compare", common.format)
}

/// The learners with their own parameters among those that are set.
fn chosen(args: &CompareArgs) -> Result<Vec<Chosen>, CliError> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for name in &args.learners {
        let entry = find(name.trim())?;
        if chosen.iter().any(|known| known.entry.name == entry.name) {
            return Err(CliError::Usage(format!("{} is named twice; each learner is compared once", entry.name)));
        }
        chosen.push(Chosen { entry, words: Vec::new(), scaling: args.scale.unwrap_or(entry.scaling) });
    }
    for (key, value) in &args.settings {
        let of = |chosen: &&mut Chosen| key.strip_prefix(chosen.entry.name).is_some_and(|rest| rest.starts_with('.'));
        let Some(owner) = chosen.iter_mut().find(of) else {
            return Err(CliError::Usage(format!(
                "--set {key}: expected LEARNER.KEY=VALUE with one of the learners compared, such as {}.KEY=VALUE",
                args.learners[0]
            )));
        };
        owner.words.push((key[owner.entry.name.len() + 1..].to_owned(), value.clone()));
    }
    chosen.iter().try_for_each(|chosen| chosen.entry.pairs(&chosen.words).map(|_| ()))?;
    Ok(chosen)
}

fn two(chosen: &Chosen, is_tuned: bool) -> Result<Box<dyn AnyLearner<Label>>, CliError> {
    if !is_tuned {
        return chosen.entry.two(&chosen.words, chosen.scaling);
    }
    let grid = GridArgs { grid: Vec::new(), inner_folds: 5 };
    let search = chosen.entry.search(
        &tune::settings(chosen, &[])?,
        chosen.scaling,
        tune::inner_folds(&grid, 1, tune::INNER_SEED),
    )?;
    Ok(search)
}

/// Differences with a smaller probability are told as such.
const SIGNIFICANT: f64 = 0.05;

fn compared<Y: Told>(
    chosen: &[Chosen],
    learner: impl Fn(&Chosen, bool) -> Result<Box<dyn AnyLearner<Y>>, CliError>,
    plan: &CrossValidation,
    bags: &BagSet<Y>,
    args: &CompareArgs,
    common: &Common,
) -> Result<Report, CliError> {
    let learners = chosen.iter().map(|chosen| learner(chosen, args.tune)).collect::<Result<Vec<_>, _>>()?;
    let mut outcomes: Vec<(CvReport<Y>, f64)> = Vec::new();
    for (chosen, learner) in chosen.iter().zip(&learners) {
        outcomes.push(validated(chosen, &**learner, plan, bags, common)?);
    }
    let means: Vec<f64> = outcomes.iter().map(|(cv, _)| cv.accuracy().mean).collect();
    let best = mil_core::argmax(&means);
    let title =
        format!("{}: {} folds, repeated {} times (seed {})", args.data, plan.n_folds, plan.n_repeats, plan.seed);
    let columns = [
        ("learner", "learner"),
        ("accuracy", "accuracy"),
        ("low", "95 % from"),
        ("high", "to"),
        ("auc", "AUC"),
        ("fit_seconds", "fit, s"),
        ("difference", "to the best"),
        ("p_value", "p"),
        ("verdict", ""),
    ];
    let mut table = Table::new("learners", title, &columns);
    for (idx, (chosen, (cv, seconds))) in chosen.iter().zip(&outcomes).enumerate() {
        let accuracy = cv.accuracy();
        let bound = |sign: f64| Cell::option(accuracy.half_width, |half| Cell::Share(accuracy.mean + sign * half));
        let test = (idx != best).then(|| outcomes[best].0.compare(cv)).flatten();
        let verdict = match &test {
            _ if idx == best => "best",
            Some(test) if test.p_value < SIGNIFICANT => "worse",
            Some(_) => "not told apart",
            None => "",
        };
        table.row([
            Cell::text(chosen.entry.name),
            Cell::Share(accuracy.mean),
            bound(-1.0),
            bound(1.0),
            Cell::option(Y::auc(cv), |auc| Cell::Number(auc.mean, 3)),
            Cell::Number(*seconds, 3),
            if idx == best { Cell::Absent } else { Cell::Number(100.0 * (accuracy.mean - means[best]), 1) },
            Cell::option(test, |test| Cell::Number(test.p_value, 3)),
            Cell::text(verdict),
        ]);
    }
    if let Some(path) = &args.html {
        page::write(path, &page::comparison(&table))?;
    }
    let accuracies: serde_json::Map<String, serde_json::Value> = chosen
        .iter()
        .zip(&outcomes)
        .map(|(chosen, (cv, _))| (chosen.entry.name.to_owned(), summary(cv.accuracy())))
        .collect();
    let report = Report::of(table)
        .fact("data", args.data.clone())
        .fact("folds", plan.n_folds)
        .fact("repeats", plan.n_repeats)
        .fact("seed", plan.seed)
        .fact("tuned", args.tune)
        .fact("best", chosen[best].entry.name)
        .fact("accuracies", accuracies)
        .note("\nThe difference is in points of accuracy; p is that of the corrected resampled t-test over the folds (Nadeau & Bengio 2003), not corrected for several learners.");
    Ok(match &args.html {
        Some(path) => report.note(format!("Written: {}", path.display())),
        None => report,
    })
}
