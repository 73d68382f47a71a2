//! From the word DATA to bags.

use std::path::Path;

use mil_core::{BagSet, ClassId, ClassNames, Label};
use mil_data::catalogue::{self, DataSet, Entry};
use mil_data::{
    BagTable, Column, Columns, CsvOptions, DataError, Format, Header, NEGATIVE_WORDS, POSITIVE_WORDS, ReadOptions,
    UNLABELLED, read, read_path,
};

use crate::args::{Reading, StreamReading};
use crate::error::{CliError, hint};

/// Bags as they came.
#[derive(Debug)]
pub enum Bags {
    /// With labels of two classes.
    Two(BagSet<Label>),
    /// With labels of many.
    Many(BagSet<ClassId>),
    /// Without labels.
    Unlabelled(BagSet<()>),
}

/// What a source holds before anyone asks for its labels.
#[derive(Debug)]
pub enum Source {
    /// A file or standard input.
    Table(BagTable),
    /// A data set of the catalogue.
    Known(Bags),
}

/// Reads DATA: `-`, a name of the catalogue, or a file. A file that bears such a name is meant by `./name`.
///
/// # Errors
/// If there is none of these, or it cannot be read.
pub fn open(data: &str, reading: &Reading) -> Result<Source, CliError> {
    let options = read_options(reading)?;
    if data == "-" {
        let format = options.format.unwrap_or(Format::Csv);
        return Ok(Source::Table(read(std::io::stdin().lock(), "standard input", format, &options)?));
    }
    if let Ok(entry) = catalogue::find(data) {
        return known(entry, reading).map(Source::Known);
    }
    if !Path::new(data).exists() {
        let known: Vec<&str> = catalogue::entries().iter().map(|entry| entry.name).collect();
        return Err(CliError::NoData { data: data.to_owned(), hint: hint(data, &known), known: known.join(", ") });
    }
    Ok(Source::Table(read_path(data, &options)?))
}

fn known(entry: &'static Entry, reading: &Reading) -> Result<Bags, CliError> {
    match entry.load(reading.folder.folder.as_deref())? {
        DataSet::Binary(_) if reading.positive.is_some() || reading.multiclass => Err(CliError::Usage(format!(
            "{} has two classes of its own; leave out --positive and --multiclass",
            entry.name
        ))),
        DataSet::Binary(bags) => Ok(Bags::Two(bags)),
        DataSet::Classes(bags) => match &reading.positive {
            None => Ok(Bags::Many(bags)),
            Some(word) => {
                let class = bags.class_names().id(word).ok_or_else(|| no_class(word, bags.class_names()))?;
                Ok(Bags::Two(bags.one_against_rest(class)))
            }
        },
        _ => Err(CliError::Usage(format!(
            "{} holds instances in no bag; `mil synth digits` makes bags of such, and `cargo xtask reproduce` uses the set itself",
            entry.name
        ))),
    }
}

fn no_class(word: &str, names: &ClassNames) -> CliError {
    CliError::Usage(format!(
        "no bag is of class {word:?}; the classes are: {}",
        names.iter().collect::<Vec<_>>().join(", ")
    ))
}

impl Source {
    /// The bags with their labels, as the options say. What has no label at all is unlabelled.
    ///
    /// # Errors
    /// If the labels are not of two classes and no option says what they are.
    pub fn bags(self, reading: &Reading) -> Result<Bags, CliError> {
        let table = match self {
            Source::Known(bags) => return Ok(bags),
            Source::Table(table) => table,
        };
        if table.labels().all(|word| word == UNLABELLED) {
            return Ok(Bags::Unlabelled(table.unlabelled()?));
        }
        if reading.multiclass {
            return Ok(Bags::Many(table.classes()?));
        }
        let needs_choice = reading.positive.is_none() && !are_two_classes(&table);
        table.binary(reading.positive.as_deref()).map(Bags::Two).map_err(|source| match needs_choice {
            true => CliError::Labels { source },
            false => CliError::Data(source),
        })
    }

    /// As [`bags`](Self::bags), but labels that cannot be understood do not matter.
    ///
    /// # Errors
    /// If the features cannot be understood.
    pub fn bags_of_any_label(self, reading: &Reading) -> Result<Bags, CliError> {
        let table = match self {
            Source::Known(bags) => return Ok(bags),
            Source::Table(table) => table,
        };
        if table.labels().any(|word| word == UNLABELLED) {
            return Ok(Bags::Unlabelled(table.unlabelled()?));
        }
        let has = |wanted: &str| table.label_counts().iter().any(|(word, _)| *word == wanted);
        match &reading.positive {
            _ if reading.multiclass => Ok(Bags::Many(table.classes()?)),
            Some(word) if has(word) => Ok(Bags::Two(table.binary(Some(word))?)),
            // Bags to be predicted may all be negative.
            Some(_) => Ok(Bags::Unlabelled(table.unlabelled()?)),
            None if are_two_classes(&table) && !(has("0") && has("-1")) => Ok(Bags::Two(table.binary(None)?)),
            None => Ok(Bags::Many(table.classes()?)),
        }
    }
}

/// Whether all labels are words for positive and negative.
fn are_two_classes(table: &BagTable) -> bool {
    let is_one_of = |words: &[&str], word: &str| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    let is_known =
        |word: &str| word == UNLABELLED || is_one_of(&POSITIVE_WORDS, word) || is_one_of(&NEGATIVE_WORDS, word);
    table.label_counts().iter().all(|(word, _)| is_known(word))
}

/// The bags of two classes, or an error that says what is wrong.
///
/// # Errors
/// If they have no labels, or labels of many classes.
pub fn two_classes(data: &str, reading: &Reading, command: &str) -> Result<BagSet<Label>, CliError> {
    match open(data, reading)?.bags(reading)? {
        Bags::Two(bags) => Ok(bags),
        Bags::Many(_) => Err(CliError::Usage(format!(
            "{command} takes bags of two classes; name the positive one with --positive WORD"
        ))),
        Bags::Unlabelled(_) => Err(unlabelled(data)),
    }
}

/// What is said of data that should have labels.
#[must_use]
pub fn unlabelled(data: &str) -> CliError {
    CliError::Usage(format!("{data}: the bags have no labels; name their column with --label-column"))
}

/// A column as named on the command line: `#3` is the third, `none` is none.
fn column(word: Option<&str>) -> Result<Column, CliError> {
    match word {
        None => Ok(Column::Found),
        Some("none") => Ok(Column::Absent),
        Some(word) => match word.strip_prefix('#') {
            None => Ok(Column::Named(word.to_owned())),
            Some(number) => match number.parse() {
                Ok(position) if position > 0 => Ok(Column::At(position)),
                _ => {
                    Err(CliError::Usage(format!("{word:?} is no column; expected a name, or #POSITION counted from 1")))
                }
            },
        },
    }
}

fn separator(word: Option<&str>) -> Result<u8, CliError> {
    match word {
        None => Ok(b','),
        Some("tab" | "\\t" | "\t") => Ok(b'\t'),
        Some(word) => match word.as_bytes() {
            [byte] if byte.is_ascii() => Ok(*byte),
            _ => Err(CliError::Usage(format!("the separator is {word:?}; expected one ASCII character, or `tab`"))),
        },
    }
}

fn columns(
    bag: Option<&str>,
    label: Option<&str>,
    instance_label: Option<&str>,
    ignore: &[String],
) -> Result<Columns, CliError> {
    if bag == Some("none") {
        return Err(CliError::Usage(
            "the column of bags cannot be `none`: which instances belong together?".to_owned(),
        ));
    }
    Ok(Columns {
        bag: column(bag)?,
        label: column(label)?,
        instance_label: column(instance_label)?,
        ignore: ignore.iter().map(|word| column(Some(word))).collect::<Result<_, _>>()?,
    })
}

fn csv(separated_by: Option<&str>, no_header: bool) -> Result<CsvOptions, CliError> {
    Ok(CsvOptions {
        header: if no_header { Header::Absent } else { Header::Found },
        separator: separator(separated_by)?,
    })
}

/// The options of a reader.
///
/// # Errors
/// If a column or a separator is none.
pub fn read_options(reading: &Reading) -> Result<ReadOptions, CliError> {
    let Reading { bag_column, label_column, instance_label_column, ignore_columns, .. } = reading;
    Ok(ReadOptions {
        format: reading.input_format.map(Format::from),
        columns: columns(
            bag_column.as_deref(),
            label_column.as_deref(),
            instance_label_column.as_deref(),
            ignore_columns,
        )?,
        csv: csv(reading.separator.as_deref(), reading.no_header)?,
        ..ReadOptions::default()
    })
}

/// The options of a reader of a stream.
///
/// # Errors
/// If a column or a separator is none.
pub fn stream_options(reading: &StreamReading) -> Result<ReadOptions, CliError> {
    let StreamReading { bag_column, label_column, ignore_columns, .. } = reading;
    Ok(ReadOptions {
        format: Some(Format::Csv),
        columns: columns(bag_column.as_deref(), label_column.as_deref(), None, ignore_columns)?,
        csv: csv(reading.separator.as_deref(), reading.no_header)?,
        ..ReadOptions::default()
    })
}

/// The label of a bag that came in a stream; `None` where it is not known.
///
/// # Errors
/// If the word is neither positive nor negative.
pub fn stream_label(table: &BagTable, positive: Option<&str>) -> Result<Option<Label>, DataError> {
    let word = table.labels().next().expect("a bag has a label");
    if word == UNLABELLED {
        return Ok(None);
    }
    if let Some(chosen) = positive {
        return Ok(Some(if word == chosen { Label::Positive } else { Label::Negative }));
    }
    table.clone().binary(None).map(|bags| Some(bags.labels()[0]))
}
