//! C4.5 data as UCI publishes Musk: `bag,instance,f1,…,fd,class.`, one instance per line.
//!
//! No header, no quotes. The full stop at the end of the line is written always and may be missing when read. Names of instances must
//! be unique within their bag; they are not kept, and written as 1, 2, ….

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

use crate::error::{DataError, Fault, Part, Uncarried};
use crate::options::{Format, ReadOptions};
use crate::sheet::Sheet;
use crate::table::{BagTable, Declared, PlaceStyle, RowHead, Rows};
use crate::text::{Line, Lines, field_end, format_number, is_plain_word};

const LEAST_FIELDS: usize = 4;

pub(crate) fn read(mut lines: Lines<'_>, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    let mut rows = Rows::new(source_name, &options.limits, PlaceStyle::Text);
    let mut n_fields = None;
    let mut instances_of_bag = HashMap::new();
    while let Some(line) = lines.next_filled()? {
        let row = read_row(&line, options.limits.max_columns, &mut rows.values)?;
        let expected = *n_fields.get_or_insert(row.n_fields);
        if row.n_fields != expected {
            return Err(line.fault(line.text.len(), Fault::Ragged { found: row.n_fields, expected }));
        }
        let bag = line.word_in(row.bag.clone(), Part::Bag)?;
        let instance = line.word_in(row.instance.clone(), Part::Instance)?;
        if !rows.continues(bag) {
            instances_of_bag.clear();
        }
        if let Some(first_line) = instances_of_bag.insert(instance.to_owned(), line.number) {
            let fault = Fault::Duplicate { part: Part::Instance, value: instance.to_owned(), first_line };
            return Err(line.fault(row.instance.start, fault));
        }
        let label = line.word_in(row.label.clone(), Part::Label)?;
        let head = RowHead { bag, label, instance_label: None, line: line.number };
        rows.end_row(&head, |part| {
            let start = if part == Part::Label { row.label.start } else { row.bag.start };
            (line.number, line.column(start))
        })?;
    }
    rows.finish(Format::C45, Declared::default(), lines.end())
}

struct Row {
    bag: Range<usize>,
    instance: Range<usize>,
    label: Range<usize>,
    n_fields: usize,
}

/// Pushes the features of a line onto the values and says where the rest stands.
fn read_row(line: &Line<'_>, max_columns: usize, values: &mut Vec<f64>) -> Result<Row, DataError> {
    let bytes = line.text.as_bytes();
    let (mut bag, mut instance) = (0..0, 0..0);
    let (mut start, mut n_fields) = (0, 0);
    loop {
        let field = start..field_end(bytes, start, b',');
        n_fields += 1;
        if n_fields > max_columns {
            return Err(line.fault(start, Fault::TooManyColumns { limit: max_columns }));
        }
        if field.end == bytes.len() {
            if n_fields < LEAST_FIELDS {
                return Err(line.fault(field.end, Fault::TooFewFields { found: n_fields, least: LEAST_FIELDS }));
            }
            return Ok(Row { bag, instance, label: without_full_stop(line, field), n_fields });
        }
        start = field.end + 1;
        match n_fields {
            1 => bag = field,
            2 => instance = field,
            _ => values.push(line.number_in(field, n_fields - 2)?),
        }
    }
}

fn without_full_stop(line: &Line<'_>, field: Range<usize>) -> Range<usize> {
    let end = field.start + line.text[field.clone()].trim_ascii_end().len();
    let has_stop = line.text[field.start..end].ends_with('.');
    field.start..end - usize::from(has_stop)
}

pub(crate) fn check(sheet: &Sheet<'_>) -> Result<(), Uncarried> {
    sheet.refuse_feature_names()?;
    sheet.refuse_instance_labels()?;
    sheet.require_bag_names(|name| is_plain_word(name, &[',']))?;
    sheet.require_class_names(|name| is_plain_word(name, &[',']))?;
    sheet.refuse_unused_classes()
}

pub(crate) fn write(sheet: &Sheet<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (bag_idx, instance_idx) in sheet.rows() {
        write!(out, "{},{}", sheet.names[bag_idx], instance_idx - sheet.offsets[bag_idx] + 1)?;
        for &value in sheet.instance(instance_idx) {
            write!(out, ",{}", format_number(value))?;
        }
        writeln!(out, ",{}.", sheet.labels[bag_idx])?;
    }
    Ok(())
}
