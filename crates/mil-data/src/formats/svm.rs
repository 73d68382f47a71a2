//! Andrews' multiple-instance `.svm`: `instance:bag:label 1:v1 2:v2 …`, one instance per line, after `#` comments.
//!
//! Feature indices count from 1 and ascend; one that is left out means 0, and the largest of the file is the dimension. Ids of
//! instances must be unique in the file; they are not kept, and written as 0, 1, …. We write every feature, zeros too: the
//! dimension would otherwise be lost with a last feature that is always 0.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::error::{DataError, Fault, Part, Uncarried, shorten};
use crate::options::{Format, Limits, ReadOptions};
use crate::sheet::Sheet;
use crate::table::{BagTable, Declared, PlaceStyle, RowHead, Rows};
use crate::text::{Line, Lines, field_end, format_number, input, is_plain_word};

pub(crate) fn read(mut lines: Lines<'_>, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    let mut rows = Rows::new(source_name, &options.limits, PlaceStyle::Text);
    let mut row_ends = Vec::new();
    let mut instance_lines = HashMap::new();
    while let Some(line) = lines.next_filled()? {
        if line.text.trim_ascii_start().starts_with('#') {
            continue;
        }
        let head = Head::of(&line)?;
        if let Some(first_line) = instance_lines.insert(head.instance.to_owned(), line.number) {
            let fault = Fault::Duplicate { part: Part::Instance, value: head.instance.to_owned(), first_line };
            return Err(line.fault(head.start, fault));
        }
        read_features(&line, head.end, &options.limits, &mut rows.values)?;
        row_ends.push(rows.values.len());
        let row = RowHead { bag: head.bag, label: head.label, instance_label: None, line: line.number };
        rows.end_row(&row, |part| {
            let start = if part == Part::Label { head.label_start } else { head.bag_start };
            (line.number, line.column(start))
        })?;
    }
    if rows.n_instances() > 0 {
        let fault = |fault| input(source_name, lines.end(), fault);
        make_rectangular(&mut rows.values, &row_ends, options.limits.max_values).map_err(fault)?;
    }
    rows.finish(Format::Svm, Declared::default(), lines.end())
}

/// The `instance:bag:label` of a line.
struct Head<'a> {
    instance: &'a str,
    bag: &'a str,
    label: &'a str,
    start: usize,
    bag_start: usize,
    label_start: usize,
    end: usize,
}

impl<'a> Head<'a> {
    fn of(line: &Line<'a>) -> Result<Head<'a>, DataError> {
        let start = skip_blanks(line.text, 0);
        let end = word_end(line.text, start);
        let text = &line.text[start..end];
        let mut parts = text.split(':');
        let (Some(instance), Some(bag), Some(label), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            let fault = Fault::Expected { expected: "instance:bag:label", found: format!("{:?}", shorten(text)) };
            return Err(line.fault(start, fault));
        };
        let bag_start = start + instance.len() + 1;
        let label_start = bag_start + bag.len() + 1;
        let named = [(instance, Part::Instance, start), (bag, Part::Bag, bag_start), (label, Part::Label, label_start)];
        for (word, part, at) in named {
            if word.is_empty() {
                return Err(line.fault(at, Fault::Missing { part }));
            }
        }
        Ok(Head { instance, bag, label, start, bag_start, label_start, end })
    }
}

/// Pushes the features of a line onto the values, up to the last that is given.
fn read_features(line: &Line<'_>, start: usize, limits: &Limits, values: &mut Vec<f64>) -> Result<(), DataError> {
    let row_start = values.len();
    let mut at = skip_blanks(line.text, start);
    while at < line.text.len() {
        let end = word_end(line.text, at);
        let colon = field_end(&line.text.as_bytes()[..end], at, b':');
        let expected = |expected| Fault::Expected { expected, found: format!("{:?}", shorten(&line.text[at..end])) };
        let index_word = &line.text[at..colon];
        if colon == end || index_word.is_empty() || !index_word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(line.fault(at, expected("index:value with an index from 1")));
        }
        let index = index_word.parse().unwrap_or(usize::MAX);
        if index > limits.max_columns {
            return Err(line.fault(at, Fault::TooManyColumns { limit: limits.max_columns }));
        }
        if index <= values.len() - row_start {
            return Err(line.fault(at, expected("an index from 1, above the one before")));
        }
        values.resize(row_start + index - 1, 0.0);
        values.push(line.number_in(colon + 1..end, index)?);
        at = skip_blanks(line.text, end);
    }
    Ok(())
}

fn skip_blanks(text: &str, start: usize) -> usize {
    text.len() - text[start..].trim_ascii_start().len()
}

fn word_end(text: &str, start: usize) -> usize {
    text.as_bytes()[start..].iter().position(u8::is_ascii_whitespace).map_or(text.len(), |length| start + length)
}

/// Pads every row with zeros to the longest, in place.
fn make_rectangular(values: &mut Vec<f64>, row_ends: &[usize], max_values: usize) -> Result<(), Fault> {
    let row_start = |row: usize| if row == 0 { 0 } else { row_ends[row - 1] };
    let n_rows = row_ends.len();
    let n_features = (0..n_rows).map(|row| row_ends[row] - row_start(row)).max().unwrap_or(0);
    if n_features == 0 {
        return Err(Fault::Missing { part: Part::Feature(1) });
    }
    let too_many = Fault::TooManyValues { limit: max_values };
    let n_values = n_rows.checked_mul(n_features).filter(|&n| n <= max_values).ok_or(too_many.clone())?;
    values.try_reserve_exact(n_values - values.len()).map_err(|_| too_many)?;
    values.resize(n_values, 0.0);
    // From the last row on, since every row moves towards the end.
    for row in (0..n_rows).rev() {
        let (from, target) = (row_start(row)..row_ends[row], row * n_features);
        let length = from.len();
        values.copy_within(from, target);
        values[target + length..target + n_features].fill(0.0);
    }
    Ok(())
}

pub(crate) fn check(sheet: &Sheet<'_>) -> Result<(), Uncarried> {
    let fits = |name: &str| is_plain_word(name, &[':', ' ']);
    sheet.refuse_feature_names()?;
    sheet.refuse_instance_labels()?;
    sheet.require_bag_names(fits)?;
    sheet.require_class_names(fits)?;
    sheet.refuse_unused_classes()
}

pub(crate) fn write(sheet: &Sheet<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# instance:bag:label feature:value ...")?;
    for (bag_idx, instance_idx) in sheet.rows() {
        write!(out, "{instance_idx}:{}:{}", sheet.names[bag_idx], sheet.labels[bag_idx])?;
        for (feature, &value) in (1..).zip(sheet.instance(instance_idx)) {
            write!(out, " {feature}:{}", format_number(value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_padded_in_place() {
        let mut values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        make_rectangular(&mut values, &[1, 1, 4, 6], 100).unwrap();
        assert_eq!(values, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0]);
        assert_eq!(make_rectangular(&mut vec![1.0, 2.0], &[2, 2], 3), Err(Fault::TooManyValues { limit: 3 }));
    }
}
