//! `mil datasets`, `info`, `convert` and `synth`: data before anyone learns from them.

use std::path::Path;

use mil_core::{BagLabel, BagSet, ClassNames, ParamSpec, Params};
use mil_data::catalogue::{self, Located};
use mil_data::synth::{
    ClustersParams, DigitsParams, FiveGaussiansParams, FromInstancesParams, SynthError, WitnessParams,
};
use mil_data::{WriteOptions, WrittenLabel, write_path};
use serde_json::json;

use super::SEED;
use crate::args::{Common, ConvertArgs, DataFolder, InfoArgs, SynthArgs, SynthKind};
use crate::data::{Bags, open};
use crate::error::CliError;
use crate::report::{Cell, Report, Table};

pub(super) fn datasets(folder: &DataFolder, common: &Common) -> Result<(), CliError> {
    let columns = [
        ("name", "name"),
        ("title", "title"),
        ("contents", "contents"),
        ("state", "where"),
        ("obtain", "how to get it"),
    ];
    let mut table = Table::new("datasets", "", &columns);
    for entry in catalogue::entries() {
        let (state, obtain) = match entry.locate(folder.folder.as_deref()) {
            Located::Shipped => ("shipped", Cell::text("")),
            Located::Present(_) => ("present", Cell::text("")),
            Located::Missing(_) => ("missing", Cell::text(entry.obtain)),
        };
        let contents: Vec<String> = entry.sections.iter().map(|section| section.contents.to_string()).collect();
        table.row([
            Cell::text(entry.name),
            Cell::text(entry.title),
            Cell::text(contents.join("; ")),
            Cell::text(state),
            obtain,
        ]);
    }
    Report::of(table).print("datasets", common.format)
}

pub(super) fn info(args: &InfoArgs, common: &Common) -> Result<(), CliError> {
    let report = match open(&args.data, &args.reading)?.bags_of_any_label(&args.reading)? {
        Bags::Two(bags) => described(&bags, bags.class_names()),
        Bags::Many(bags) => described(&bags, bags.class_names()),
        Bags::Unlabelled(bags) => described(&bags, bags.class_names()),
    };
    report.fact("data", args.data.clone()).print("info", common.format)
}

fn described<Y: BagLabel>(bags: &BagSet<Y>, classes: &ClassNames) -> Report {
    let mut sizes: Vec<usize> = bags.bags().map(|bag| bag.n_instances()).collect();
    sizes.sort_unstable();
    let (mut low, mut high) = (vec![f64::INFINITY; bags.n_features()], vec![f64::NEG_INFINITY; bags.n_features()]);
    for instance in bags.bags().flat_map(|bag| bag.instances()) {
        for ((low, high), &value) in low.iter_mut().zip(&mut high).zip(instance) {
            *low = low.min(value);
            *high = high.max(value);
        }
    }
    let n_constant = low.iter().zip(&high).filter(|(low, high)| low == high).count();
    let mut table = Table::new("facts", "", &[("fact", ""), ("value", "")]);
    let mut row = |fact: &str, value: Cell| table.row([Cell::text(fact), value]);
    row("bags", Cell::count(bags.n_bags()));
    row("instances", Cell::count(bags.n_instances()));
    row("features", Cell::count(bags.n_features()));
    row("smallest bag", Cell::count(sizes[0]));
    row("median bag", Cell::count(sizes[sizes.len() / 2]));
    row("largest bag", Cell::count(sizes[sizes.len() - 1]));
    row("constant features", Cell::count(n_constant));
    row("least value", Cell::Number(low.iter().copied().fold(f64::INFINITY, f64::min), 4));
    row("largest value", Cell::Number(high.iter().copied().fold(f64::NEG_INFINITY, f64::max), 4));
    row("labels of instances", Cell::text(if bags.instance_labels().is_some() { "yes" } else { "no" }));
    let mut of_classes = Table::new("classes", "", &[("class", "class"), ("bags", "bags")]);
    for (name, count) in classes.iter().zip(bags.class_counts()) {
        of_classes.row([Cell::text(name), Cell::count(count)]);
    }
    let mut report = Report::of(table)
        .fact("n_bags", bags.n_bags())
        .fact("n_instances", bags.n_instances())
        .fact("n_features", bags.n_features())
        .fact("bag_sizes", json!({ "min": sizes[0], "median": sizes[sizes.len() / 2], "max": sizes[sizes.len() - 1] }))
        .fact("feature_names", json!(bags.feature_names()));
    if of_classes.rows.is_empty() {
        report = report.note("The bags have no labels.");
    } else {
        report.tables.push(of_classes);
    }
    report
}

pub(super) fn convert(args: &ConvertArgs, common: &Common) -> Result<(), CliError> {
    let report = match open(&args.input, &args.reading)?.bags_of_any_label(&args.reading)? {
        Bags::Two(bags) => written(&args.output, &bags, args.lossy),
        Bags::Many(bags) => written(&args.output, &bags, args.lossy),
        Bags::Unlabelled(bags) => written(&args.output, &bags, args.lossy),
    }?;
    report.print("convert", common.format)
}

/// Writes the bags and tells what was written.
fn written<Y: WrittenLabel>(path: &Path, bags: &BagSet<Y>, lossy: bool) -> Result<Report, CliError> {
    write_path(path, bags, &WriteOptions { lossy, ..WriteOptions::default() })?;
    let mut table = Table::new(
        "written",
        "",
        &[("file", "file"), ("bags", "bags"), ("instances", "instances"), ("features", "features")],
    );
    let file = path.display().to_string();
    table.row([
        Cell::text(file),
        Cell::count(bags.n_bags()),
        Cell::count(bags.n_instances()),
        Cell::count(bags.n_features()),
    ]);
    Ok(Report::of(table))
}

/// The positive digit, beside the parameters of the images and of their bags.
const POSITIVE_DIGIT: &str = "positive_digit";

pub(super) fn synth(args: &SynthArgs, common: &Common) -> Result<(), CliError> {
    let mut words = args.settings.clone();
    if let (Some(seed), false) = (common.seed, words.iter().any(|(key, _)| key == SEED)) {
        words.push((SEED.to_owned(), seed.to_string()));
    }
    let Some(output) = &args.output else {
        return specs_of(args.kind).print("synth", common.format);
    };
    let bags = match args.kind {
        SynthKind::Witness => set::<WitnessParams>(&words)?.generate()?,
        SynthKind::Clusters => set::<ClustersParams>(&words)?.generate()?,
        SynthKind::FiveGaussians => set::<FiveGaussiansParams>(&words)?.generate()?,
        SynthKind::Digits => digits(&words)?,
    };
    written(output, &bags, args.lossy)?.print("synth", common.format)
}

fn set<P: Params>(words: &[(String, String)]) -> Result<P, SynthError> {
    let mut params = P::default();
    words.iter().try_for_each(|(name, word)| params.set(name, word))?;
    Ok(params)
}

/// A word is for the images if they have such a parameter, else for the bags; both share the seed.
fn digits(words: &[(String, String)]) -> Result<BagSet<mil_core::Label>, CliError> {
    let (mut images, mut bags, mut digit) = (DigitsParams::default(), FromInstancesParams::default(), "3".to_owned());
    for (name, word) in words {
        let of_images = DigitsParams::specs().iter().any(|spec| spec.name == name);
        if name == POSITIVE_DIGIT {
            digit.clone_from(word);
        } else if name == SEED {
            images.set(name, word).and_then(|()| bags.set(name, word)).map_err(SynthError::Param)?;
        } else if of_images {
            images.set(name, word).map_err(SynthError::Param)?;
        } else {
            bags.set(name, word).map_err(SynthError::Param)?;
        }
    }
    Ok(bags.generate(&images.generate()?, &digit)?)
}

fn specs_of(kind: SynthKind) -> Report {
    let specs = match kind {
        SynthKind::Witness => WitnessParams::specs(),
        SynthKind::Clusters => ClustersParams::specs(),
        SynthKind::FiveGaussians => FiveGaussiansParams::specs(),
        SynthKind::Digits => {
            let is_new = |spec: &ParamSpec| spec.name != SEED && !spec.name.starts_with("n_test");
            DigitsParams::specs().into_iter().chain(FromInstancesParams::specs().into_iter().filter(is_new)).collect()
        }
    };
    let mut report = Report::of(super::learners::table_of(&specs));
    if kind == SynthKind::Digits {
        report = report.note(format!("{POSITIVE_DIGIT} (default 3) is the digit that makes a bag positive."));
    }
    report.note("Write the bags with --output FILE.")
}
