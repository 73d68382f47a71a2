//! `mil query`: PMI's loop of questions, kept after every answer.

use std::io::{BufReader, IsTerminal};

use mil_core::model_file;
use mil_core::{Params, Scaled};
use mil_pmi::{Interactive, Labeler, Pmi, QueryError, QuerySession, QueryStop, QueryTrail};

use crate::args::{Common, QueryArgs};
use crate::data::{Bags, open};
use crate::error::CliError;
use crate::learners::find;
use crate::models::{About, save};
use crate::report::{Cell, Report, Table};

pub(super) fn run(args: &QueryArgs, common: &Common) -> Result<(), CliError> {
    if args.data == "-" {
        return Err(CliError::Usage("standard input brings the answers; name a file for the bags".to_owned()));
    }
    let entry = find("pmi")?;
    let positives = match open(&args.data, &args.reading)?.bags(&args.reading)? {
        Bags::Two(bags) => bags.positives().map_err(|error| entry.failed(error))?,
        Bags::Unlabelled(bags) => bags,
        Bags::Many(_) => {
            return Err(CliError::Usage(
                "query takes the positive bags; name the positive class with --positive WORD".to_owned(),
            ));
        }
    };
    let mut session = if args.trail.exists() {
        if !args.settings.is_empty() || args.scale.is_some() {
            return Err(CliError::Usage(format!(
                "{} holds a session that has begun, with its parameters; leave out --set and --scale, or name another file",
                args.trail.display()
            )));
        }
        let trail: QueryTrail = model_file::load(&args.trail).map_err(|error| CliError::model(&args.trail, error))?;
        QuerySession::resume(trail, &positives)?
    } else {
        let mut learner = Pmi::default();
        let set = |(name, word): &(String, String)| learner.set(name, word);
        args.settings
            .iter()
            .try_for_each(set)
            .map_err(|source| CliError::Param { learner: entry.name.to_owned(), source })?;
        let session =
            QuerySession::begin(Scaled { scaling: args.scale.unwrap_or(entry.scaling), learner }, &positives)?;
        keep(args, session.trail())?;
        session
    };
    // Questions go to standard error, so that standard output holds the report alone.
    if std::io::stdin().is_terminal() && !common.quiet {
        announce(session.trail())?;
    }
    let mut person = Interactive::new(BufReader::new(std::io::stdin()), std::io::stderr(), positives.feature_names());
    while let Some(query) = session.question() {
        let place = (query.bag.to_owned(), query.instance_idx);
        let answer = person.label(&query).map_err(|source| QueryError::Labeler {
            bag: place.0,
            instance_idx: place.1,
            source,
        })?;
        let Some(answer) = answer else { break };
        session.answer(answer)?;
        keep(args, session.trail())?;
    }
    let trail = session.trail();
    let columns = [
        ("question", "question"),
        ("bag", "bag"),
        ("instance", "instance"),
        ("score", "score"),
        ("answer", "answer"),
        ("removed", "removed"),
    ];
    let mut table = Table::new("questions", "", &columns);
    for (idx, entry) in trail.entries().iter().enumerate() {
        let answer = entry.answer.to_string();
        table.row([
            Cell::count(idx + 1),
            Cell::text(entry.bag.clone()),
            Cell::count(entry.instance_idx),
            Cell::Number(entry.score, 4),
            Cell::text(answer),
            Cell::count(entry.removed.len()),
        ]);
    }
    let (word, state) = match trail.stop() {
        Some(QueryStop::Positive) => {
            ("positive", "The last instance is positive: the model is about what you meant.".to_owned())
        }
        Some(QueryStop::WholeBag { bag_idx }) => (
            "whole-bag",
            format!(
                "Bag {:?} lies wholly inside, so that one of its instances is positive: nothing is left to ask.",
                positives.names()[bag_idx]
            ),
        ),
        None => ("waiting", format!("To go on: the same command again; {} keeps the answers.", args.trail.display())),
    };
    let mut report = Report::of(table).fact("state", word).fact("trail", args.trail.display().to_string()).note(state);
    if let (Some(output), Some(_)) = (&args.output, trail.stop()) {
        let about = About {
            learner: entry.name.to_owned(),
            scaling: "inside".to_owned(),
            features: positives.feature_names().map(<[String]>::to_vec),
            classes: None,
            params: trail.params().to_vec(),
        };
        save(output, session.model(), &about)?;
        report = report.fact("model", output.display().to_string()).note(format!("Written: {}", output.display()));
    }
    report.print("query", common.format)
}

fn keep(args: &QueryArgs, trail: &QueryTrail) -> Result<(), CliError> {
    model_file::save(&args.trail, trail, trail.params()).map_err(|error| CliError::model(&args.trail, error))
}

fn announce(trail: &QueryTrail) -> Result<(), CliError> {
    use std::io::Write;
    writeln!(
        std::io::stderr(),
        "At most {} questions in all, {} answered so far.",
        trail.bounds().tight,
        trail.entries().len()
    )?;
    Ok(())
}
