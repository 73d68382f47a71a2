//! `mil tune`: a grid of parameters, searched by cross-validation.

use super::{Chosen, DEFAULT_SEED, train};
use crate::args::{Common, GridArgs, TuneArgs, grid_values};
use crate::data::two_classes;
use crate::error::CliError;
use crate::learners::{Folds, Setting};
use crate::progress::Progress;
use crate::report::{Cell, Column, Report, Table};

/// Inner folds of an evaluation come from this seed, as in the reproduction.
pub(super) const INNER_SEED: u64 = 0;

/// More settings than this are a mistake.
const MAX_SETTINGS: usize = 10_000;

pub(super) fn run(args: &TuneArgs, common: &Common) -> Result<(), CliError> {
    let chosen = Chosen::of(&args.learner)?.seeded(common);
    let settings = settings(&chosen, &args.grid.grid)?;
    let folds = inner_folds(&args.grid, args.repeats as usize, common.seed.unwrap_or(DEFAULT_SEED));
    let search = chosen.entry.search(&settings, chosen.scaling, folds)?;
    let bags = two_classes(&args.data, &args.reading, "tune")?;
    let what =
        format!("{} settings of {}, {} fits each", settings.len(), chosen.entry.title, folds.n_folds * folds.n_repeats);
    let spinner = Progress::spinner(&what, common.quiet);
    let found = search.figures(&bags);
    spinner.finish();
    let found = found.map_err(|error| chosen.entry.failed(error))?;

    let varied: Vec<String> = axes(&chosen, &args.grid.grid).into_iter().map(|(key, _)| key).collect();
    let title = format!("{}: {what}", chosen.entry.title);
    let mut table = Table::new("settings", title, &[]);
    table.columns = varied.iter().map(|key| Column { key: key.clone(), head: key.clone() }).collect();
    for (key, head) in [("accuracy", "accuracy"), ("auc", "AUC"), ("best", "best")] {
        table.columns.push(Column { key: key.to_owned(), head: head.to_owned() });
    }
    for (idx, (setting, figures)) in settings.iter().zip(&found.figures).enumerate() {
        let values = varied.iter().map(|key| Cell::text(value_of(setting, key)));
        let figures = [Cell::Share(figures.accuracy), Cell::Number(figures.auc, 4), Cell::Flag(idx == found.best)];
        table.row(values.chain(figures));
    }
    let best = &settings[found.best];
    let words: Vec<String> = varied.iter().map(|key| format!("--set '{key}={}'", value_of(best, key))).collect();
    let mut report = Report::of(table)
        .fact("learner", chosen.entry.name)
        .fact("data", args.data.clone())
        .fact("scale", chosen.scaling_word())
        .fact("folds", folds.n_folds)
        .fact("repeats", folds.n_repeats)
        .fact("seed", folds.seed)
        .fact("best", varied.iter().map(|key| (key.clone(), value_of(best, key).into())).collect::<serde_json::Map<_, _>>())
        .note(format!("\nBest: {}", words.join(" ")))
        .note("The best figure of a search flatters; `mil evaluate --tune` searches inside each training fold and does not.");
    if let Some(output) = &args.output {
        let best = Chosen { words: best.clone(), ..chosen };
        let learner = best.entry.two(&best.words, best.scaling)?;
        train::trained(&best, &*learner, &bags, output, common)?;
        report = report.fact("model", output.display().to_string()).note(format!("Written: {}", output.display()));
    }
    report.print("tune", common.format)
}

fn value_of(setting: &[(String, String)], key: &str) -> String {
    setting.iter().rev().find(|(known, _)| known == key).map_or(String::new(), |(_, value)| value.clone())
}

/// Folds of a search.
pub(super) fn inner_folds(grid: &GridArgs, n_repeats: usize, seed: u64) -> Folds {
    Folds { n_folds: grid.inner_folds as usize, n_repeats, seed }
}

/// What is varied: as asked, or the learner's own grid without what is set.
fn axes(chosen: &Chosen, grid: &[(String, String)]) -> Vec<(String, Vec<String>)> {
    if !grid.is_empty() {
        return grid.iter().map(|(key, words)| (key.clone(), grid_values(words))).collect();
    }
    let is_free = |(key, _): &&(&str, &[&str])| !chosen.words.iter().any(|(set, _)| set == key);
    let axis =
        |(key, values): &(&str, &[&str])| ((*key).to_owned(), values.iter().map(|&value| value.to_owned()).collect());
    chosen.entry.grid.iter().filter(is_free).map(axis).collect()
}

/// All combinations, the first parameter changing slowest, each checked.
pub(super) fn settings(chosen: &Chosen, grid: &[(String, String)]) -> Result<Vec<Setting>, CliError> {
    let axes = axes(chosen, grid);
    let n_settings = axes.iter().map(|(_, values)| values.len()).try_fold(1_usize, usize::checked_mul);
    if n_settings.is_none_or(|n_settings| n_settings > MAX_SETTINGS) {
        return Err(CliError::Usage(format!("the grid has more than {MAX_SETTINGS} settings; try fewer values")));
    }
    let mut settings = vec![chosen.words.clone()];
    for (key, values) in &axes {
        let extended = |setting: &Setting| {
            let with = |value: &String| setting.iter().cloned().chain([(key.clone(), value.clone())]).collect();
            values.iter().map(with).collect::<Vec<Setting>>()
        };
        settings = settings.iter().flat_map(extended).collect();
    }
    settings.iter().try_for_each(|setting| chosen.entry.pairs(setting).map(|_| ()))?;
    Ok(settings)
}
