//! Comma-separated values, one instance per line, with or without a line of column names.
//!
//! Fields may stand in double quotes, doubled inside; a quoted field ends on its own line. Blanks around a field that is not quoted do
//! not count. We always write a header: `label,bag[,instance_label],f1,…,fd`.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::ops::Range;

use crate::columns::{Role, Roles, is_taken_for_feature, names_a_bag, names_a_label};
use crate::error::{DataError, Fault, Part, Place, Uncarried};
use crate::options::{Column, Columns, Format, Header, ReadOptions};
use crate::sheet::Sheet;
use crate::table::{BagTable, Declared, PlaceStyle, RowHead, Rows, UNLABELLED};
use crate::text::{Line, Lines, Word, field_end, format_number, input, parse_number};

pub(crate) fn read(mut lines: Lines<'_>, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    check_separator(source_name, options.csv.separator)?;
    let mut rows = Rows::new(source_name, &options.limits, PlaceStyle::Text);
    let Some(first) = lines.next_filled()? else {
        return Err(input(source_name, lines.end(), Fault::Empty));
    };
    let layout = Layout::of(&first, options)?;
    if layout.header.is_none() {
        layout.read_row(&first, &mut rows)?;
    }
    while let Some(line) = lines.next_filled()? {
        layout.read_row(&line, &mut rows)?;
    }
    let declared = Declared { feature_names: layout.header, classes: Vec::new() };
    rows.finish(Format::Csv, declared, lines.end())
}

fn check_separator(source_name: &str, separator: u8) -> Result<(), DataError> {
    if separator.is_ascii() && !matches!(separator, b'"' | b'\n' | b'\r') {
        return Ok(());
    }
    let found = char::from(separator).escape_default().to_string();
    let expected = "a separator of one ASCII character other than a quote or a line break";
    Err(input(source_name, Place::Whole, Fault::Expected { expected, found }))
}

/// The bags of a CSV text one after the other, each as soon as it is complete: when a row of another bag, a blank line or the end follows. Memory is that of one bag, so that the text may be endless.
///
/// A name that comes again after another opens a new bag. After an error nothing more comes.
///
/// ```
/// use mil_data::{CsvStream, ReadOptions};
/// let text = "label,bag,x\n1,a,0.5\n1,a,2\n0,b,3\n\n?,a,4\n";
/// let bags: Vec<_> = CsvStream::new(text.as_bytes(), "feed", ReadOptions::default()).collect::<Result<_, _>>()?;
/// let told = |bag: &mil_data::BagTable| (bag.names()[0].clone(), bag.n_instances(), bag.labels().next().unwrap().to_owned());
/// let expected = [("a", 2, "1"), ("b", 1, "0"), ("a", 1, "?")].map(|(name, n, label)| (name.to_owned(), n, label.to_owned()));
/// assert_eq!(bags.iter().map(told).collect::<Vec<_>>(), expected);
/// # Ok::<(), mil_data::DataError>(())
/// ```
pub struct CsvStream<'a> {
    lines: Lines<'a>,
    source_name: &'a str,
    options: ReadOptions,
    layout: Option<Layout>,
    /// Rows of the bag that is open.
    open: Rows,
    /// What went wrong in the row that closed the last bag.
    failed: Option<DataError>,
    is_over: bool,
}

impl<'a> CsvStream<'a> {
    /// Reads lines as they come. `source_name` is what errors call the source.
    pub fn new(reader: impl BufRead + 'a, source_name: &'a str, options: ReadOptions) -> CsvStream<'a> {
        let lines = Lines::new(Box::new(reader), source_name, &options.limits);
        let open = Rows::new(source_name, &options.limits, PlaceStyle::Text);
        CsvStream { lines, source_name, options, layout: None, open, failed: None, is_over: false }
    }

    /// Reads until a bag is complete; `None` at the end.
    fn next_bag(&mut self) -> Result<Option<BagTable>, DataError> {
        check_separator(self.source_name, self.options.csv.separator)?;
        while let Some(line) = self.lines.next_line()? {
            if line.text.trim_ascii().is_empty() {
                if self.open.n_instances() > 0 {
                    return self.close().map(Some);
                }
                continue;
            }
            let is_first = self.layout.is_none();
            if is_first {
                self.layout = Some(Layout::of(&line, &self.options)?);
            }
            let layout = self.layout.as_ref().expect("the first line has set it");
            if is_first && layout.header.is_some() {
                continue;
            }
            let is_other = self.open.n_instances() > 0 && !self.open.continues(&layout.bag_of(&line)?);
            let fresh = || Rows::new(self.source_name, &self.options.limits, PlaceStyle::Text);
            let complete = is_other.then(|| std::mem::replace(&mut self.open, fresh()));
            match (complete, layout.read_row(&line, &mut self.open)) {
                (Some(rows), outcome) => {
                    self.failed = outcome.err();
                    return self.finish(rows).map(Some);
                }
                (None, outcome) => outcome?,
            }
        }
        self.is_over = true;
        if self.open.n_instances() > 0 { self.close().map(Some) } else { Ok(None) }
    }

    fn close(&mut self) -> Result<BagTable, DataError> {
        let fresh = Rows::new(self.source_name, &self.options.limits, PlaceStyle::Text);
        let rows = std::mem::replace(&mut self.open, fresh);
        self.finish(rows)
    }

    fn finish(&self, rows: Rows) -> Result<BagTable, DataError> {
        let feature_names = self.layout.as_ref().and_then(|layout| layout.header.clone());
        rows.finish(Format::Csv, Declared { feature_names, classes: Vec::new() }, self.lines.end())
    }
}

impl Iterator for CsvStream<'_> {
    type Item = Result<BagTable, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let outcome = match self.failed.take() {
            Some(error) => Err(error),
            None if self.is_over => return None,
            None => self.next_bag(),
        };
        self.is_over |= outcome.is_err();
        outcome.transpose()
    }
}

/// What the first line tells about all others.
struct Layout {
    roles: Roles,
    /// Names of the features, where the first line holds names.
    header: Option<Vec<String>>,
    separator: u8,
    max_columns: usize,
}

impl Layout {
    fn of(first: &Line<'_>, options: &ReadOptions) -> Result<Layout, DataError> {
        let (separator, max_columns) = (options.csv.separator, options.limits.max_columns);
        let mut fields = Vec::new();
        for_each_field(first, separator, max_columns, |_, field| {
            fields.push(field);
            Ok(())
        })?;
        let names: Vec<String> = fields.iter().map(|field| field.word(first).into_owned()).collect();
        let at_first = |fault| first.fault(0, fault);
        if !is_header(&names, options) {
            let roles = Roles::by_position(names.len(), &options.columns).map_err(at_first)?;
            return Ok(Layout { roles, header: None, separator, max_columns });
        }
        let roles = Roles::by_name(&names, &options.columns).map_err(at_first)?;
        let mut feature_names = Vec::with_capacity(names.len());
        let mut seen = HashMap::new();
        for ((name, field), role) in names.into_iter().zip(&fields).zip(roles.as_slice()) {
            if *role != Role::Feature {
                continue;
            }
            if seen.insert(name.clone(), ()).is_some() {
                let fault = Fault::Duplicate { part: Part::FeatureName, value: name, first_line: first.number };
                return Err(first.fault(field.content.start, fault));
            }
            feature_names.push(name);
        }
        Ok(Layout { roles, header: Some(feature_names), separator, max_columns })
    }

    /// The name of the bag that a row belongs to.
    fn bag_of<'a>(&self, line: &Line<'a>) -> Result<Word<'a>, DataError> {
        let mut bag = None;
        for_each_field(line, self.separator, self.max_columns, |position, field| {
            if self.roles.as_slice().get(position) == Some(&Role::Bag) {
                bag = Some(field);
            }
            Ok(())
        })?;
        match bag {
            Some(field) => filled(line, &field, Part::Bag),
            None => Err(line.fault(line.text.len(), Fault::Missing { part: Part::Bag })),
        }
    }

    fn read_row(&self, line: &Line<'_>, rows: &mut Rows) -> Result<(), DataError> {
        let roles = self.roles.as_slice();
        let [mut bag, mut label, mut instance_label] = [None, None, None];
        let (mut n_fields, mut feature, mut first_surplus) = (0, 0, None);
        for_each_field(line, self.separator, self.max_columns, |position, field| {
            n_fields = position + 1;
            match roles.get(position) {
                Some(Role::Feature) => {
                    feature += 1;
                    rows.values.push(line.number_in(field.content, feature)?);
                }
                Some(Role::Bag) => bag = Some(field),
                Some(Role::Label) => label = Some(field),
                Some(Role::InstanceLabel) => instance_label = Some(field),
                Some(Role::Ignored) => {}
                None => first_surplus = first_surplus.or(Some(field.content.start)),
            }
            Ok(())
        })?;
        if n_fields != roles.len() {
            let fault = Fault::Ragged { found: n_fields, expected: roles.len() };
            return Err(line.fault(first_surplus.unwrap_or(line.text.len()), fault));
        }
        let bag_word = filled(line, bag.as_ref().expect("a layout has a bag column"), Part::Bag)?;
        let label_word = label.as_ref().map(|field| filled(line, field, Part::Label)).transpose()?;
        let instance_word =
            instance_label.as_ref().map(|field| filled(line, field, Part::InstanceLabel)).transpose()?;
        let head = RowHead {
            bag: &bag_word,
            label: label_word.as_deref().unwrap_or(UNLABELLED),
            instance_label: instance_word.as_deref(),
            line: line.number,
        };
        rows.end_row(&head, |part| {
            let field = match part {
                Part::Label => &label,
                Part::InstanceLabel => &instance_label,
                _ => &bag,
            };
            (line.number, field.as_ref().map_or(1, |field| line.column(field.content.start)))
        })
    }
}

fn is_header(names: &[String], options: &ReadOptions) -> bool {
    let Columns { bag, label, instance_label, ignore } = &options.columns;
    match options.csv.header {
        Header::Present => true,
        Header::Absent => false,
        Header::Found => {
            let is_chosen_by_name =
                [bag, label, instance_label].into_iter().chain(ignore).any(|c| matches!(c, Column::Named(_)));
            let is_number = |name: &String| parse_number(name.as_bytes()).is_some();
            is_chosen_by_name
                || names.iter().any(|name| names_a_bag(name))
                    && (names.iter().any(|name| names_a_label(name)) || !names.iter().any(is_number))
        }
    }
}

/// One field of a line.
struct Field {
    /// Its bytes, quotes aside.
    content: Range<usize>,
    is_quoted: bool,
}

impl Field {
    fn word<'a>(&self, line: &Line<'a>) -> Word<'a> {
        let text = &line.text[self.content.clone()];
        if !self.is_quoted {
            Word::Borrowed(text.trim_ascii())
        } else if text.contains('"') {
            Word::Owned(text.replace("\"\"", "\""))
        } else {
            Word::Borrowed(text)
        }
    }
}

fn filled<'a>(line: &Line<'a>, field: &Field, part: Part) -> Result<Word<'a>, DataError> {
    let word = field.word(line);
    if word.is_empty() { Err(line.fault(field.content.start, Fault::Missing { part })) } else { Ok(word) }
}

/// Calls `visit` with the position and the bounds of every field.
#[inline]
fn for_each_field(
    line: &Line<'_>,
    separator: u8,
    max_columns: usize,
    mut visit: impl FnMut(usize, Field) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let bytes = line.text.as_bytes();
    let (mut start, mut position) = (0, 0);
    loop {
        if position == max_columns {
            return Err(line.fault(start, Fault::TooManyColumns { limit: max_columns }));
        }
        let mut end = field_end(bytes, start, separator);
        let blanks = bytes[start..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let field = if bytes.get(start + blanks) == Some(&b'"') && start + blanks < end {
            let content = quoted(line, start + blanks)?;
            let after = content.end + 1;
            end = field_end(bytes, after, separator);
            if !bytes[after..end].trim_ascii().is_empty() {
                return Err(line.fault(after, Fault::TextAfterQuote));
            }
            Field { content, is_quoted: true }
        } else {
            Field { content: start..end, is_quoted: false }
        };
        visit(position, field)?;
        if end == bytes.len() {
            return Ok(());
        }
        (start, position) = (end + 1, position + 1);
    }
}

/// The bytes between a quote and its partner; a doubled quote is part of them.
fn quoted(line: &Line<'_>, open: usize) -> Result<Range<usize>, DataError> {
    let bytes = line.text.as_bytes();
    let mut at = open + 1;
    loop {
        at = field_end(bytes, at, b'"');
        if at == bytes.len() {
            return Err(line.fault(open, Fault::UnterminatedQuote));
        }
        if bytes.get(at + 1) != Some(&b'"') {
            return Ok(open + 1..at);
        }
        at += 2;
    }
}

pub(crate) fn check(sheet: &Sheet<'_>) -> Result<(), Uncarried> {
    let is_one_line = |word: &str| !word.contains(['\n', '\r']);
    sheet.require_bag_names(|name| !name.is_empty() && is_one_line(name))?;
    sheet.require_class_names(is_one_line)?;
    sheet.require_feature_names(is_one_line)?;
    sheet.require_feature_names(|name| is_taken_for_feature(name, fixed_columns(sheet)))?;
    sheet.refuse_unused_classes()
}

fn fixed_columns(sheet: &Sheet<'_>) -> &'static [&'static str] {
    if sheet.instance_labels.is_some() { &["label", "bag", "instance_label"] } else { &["label", "bag"] }
}

pub(crate) fn write(sheet: &Sheet<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}", fixed_columns(sheet).join(","))?;
    for feature_idx in 0..sheet.n_features {
        write!(out, ",{}", quote(&sheet.feature_name(feature_idx)))?;
    }
    writeln!(out)?;
    for (bag_idx, instance_idx) in sheet.rows() {
        write!(out, "{},{}", quote(sheet.labels[bag_idx]), quote(&sheet.names[bag_idx]))?;
        if let Some(labels) = &sheet.instance_labels {
            write!(out, ",{}", quote(labels[instance_idx]))?;
        }
        for &value in sheet.instance(instance_idx) {
            write!(out, ",{}", format_number(value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn quote(word: &str) -> Word<'_> {
    if word.is_empty() || word.contains([',', '"']) || word.trim_ascii() != word {
        Word::Owned(format!("\"{}\"", word.replace('"', "\"\"")))
    } else {
        Word::Borrowed(word)
    }
}
