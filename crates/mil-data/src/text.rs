//! What the text formats share: lines with their numbers, places in them, numbers, and words.

use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::ops::Range;

use crate::error::{DataError, Fault, Location, Part, Place, shorten};
use crate::gzip::{self, Plain};
use crate::options::Limits;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a text line by line. Accepts `\n` and `\r\n` and skips a byte order mark; refuses what is not UTF-8 or too long.
pub(crate) struct Lines<'a> {
    reader: Plain<'a>,
    source_name: &'a str,
    max_line_bytes: usize,
    buffer: Vec<u8>,
    /// Number of the line in the buffer, from 1.
    number: u64,
    /// Position of the line in the source.
    offset: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(reader: Plain<'a>, source_name: &'a str, limits: &Limits) -> Self {
        Lines { reader, source_name, max_line_bytes: limits.max_line_bytes, buffer: Vec::new(), number: 0, offset: 0 }
    }

    /// The next line that is not blank.
    pub(crate) fn next_filled(&mut self) -> Result<Option<Line<'_>>, DataError> {
        loop {
            if !self.advance()? {
                return Ok(None);
            }
            if !self.buffer.trim_ascii().is_empty() {
                return self.current().map(Some);
            }
        }
    }

    /// The next line, blank or not.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>, DataError> {
        if self.advance()? { self.current().map(Some) } else { Ok(None) }
    }

    /// The location after the last line, for a text that ends too early.
    pub(crate) fn end(&self) -> Place {
        Place::Text { line: self.number.max(1), column: 1 }
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        let limit = (self.max_line_bytes as u64).saturating_add(2);
        self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer).map_err(|e| io(self.source_name, e))?;
        if self.buffer.is_empty() {
            return Ok(false);
        }
        self.number += 1;
        if trim_line_end(&self.buffer).len() > self.max_line_bytes {
            let place = Place::Text { line: self.number, column: 1 };
            return Err(input(self.source_name, place, Fault::LineTooLong { limit: self.max_line_bytes }));
        }
        if self.number == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
            self.offset += BYTE_ORDER_MARK.len() as u64;
        }
        Ok(true)
    }

    fn current(&self) -> Result<Line<'_>, DataError> {
        let bytes = trim_line_end(&self.buffer);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Line { text, number: self.number, source_name: self.source_name }),
            Err(error) => {
                let valid = &bytes[..error.valid_up_to()];
                let column = String::from_utf8_lossy(valid).chars().count() as u64 + 1;
                let offset = self.offset + valid.len() as u64;
                let fault = Fault::NotUtf8 { byte: bytes[valid.len()], offset };
                Err(input(self.source_name, Place::Text { line: self.number, column }, fault))
            }
        }
    }
}

fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// One line, without its end.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) number: u64,
    source_name: &'a str,
}

impl<'a> Line<'a> {
    /// A fault at a byte of the line.
    pub(crate) fn fault(&self, at: usize, fault: Fault) -> DataError {
        input(self.source_name, Place::Text { line: self.number, column: self.column(at) }, fault)
    }

    /// The column, in characters from 1, of a byte.
    pub(crate) fn column(&self, at: usize) -> u64 {
        self.text.as_bytes()[..at.min(self.text.len())].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64 + 1
    }

    /// The number that a stretch of the line holds.
    pub(crate) fn number_in(&self, field: Range<usize>, feature: usize) -> Result<f64, DataError> {
        match parse_number(&self.text.as_bytes()[field.clone()]) {
            Some(value) if value.is_finite() => Ok(value),
            other => {
                let word = self.text[field.clone()].trim_ascii();
                let blanks = self.text[field.clone()].len() - self.text[field.clone()].trim_ascii_start().len();
                let word = match word {
                    "" | "?" => None,
                    filled => Some(shorten(filled)),
                };
                Err(self.fault(
                    field.start + if word.is_some() { blanks } else { 0 },
                    match (other, word) {
                        (_, None) => Fault::Missing { part: Part::Feature(feature) },
                        (Some(_), Some(word)) => Fault::NotFinite { feature, word },
                        (None, Some(word)) => Fault::NotANumber { feature, word },
                    },
                ))
            }
        }
    }

    /// The word that a stretch of the line holds, blanks around it aside.
    pub(crate) fn word_in(&self, field: Range<usize>, part: Part) -> Result<&'a str, DataError> {
        match self.text[field.clone()].trim_ascii() {
            "" => Err(self.fault(field.start, Fault::Missing { part })),
            word => Ok(word),
        }
    }
}

/// A number in decimal notation, blanks around it aside.
pub(crate) fn parse_number(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    if let Some(integer) = parse_short_integer(field) {
        return Some(integer);
    }
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Integers of up to 15 digits, which a double holds exactly. Most features of most sets are such, and this is several times as fast
/// as the general way.
fn parse_short_integer(field: &[u8]) -> Option<f64> {
    let (digits, is_negative) = match field {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let mut magnitude = 0_u64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        magnitude = magnitude * 10 + u64::from(digit);
    }
    Some(if is_negative { -(magnitude as f64) } else { magnitude as f64 })
}

/// The shortest decimal that reads back to the same double.
pub(crate) fn format_number(value: f64) -> impl std::fmt::Display {
    let debug = format!("{value:?}");
    match debug.strip_suffix(".0") {
        Some(integer) => integer.to_owned(),
        None => debug,
    }
}

/// The end of a field that no quote opens: the next separator or the end of the text.
pub(crate) fn field_end(text: &[u8], start: usize, separator: u8) -> usize {
    text[start..].iter().position(|&byte| byte == separator).map_or(text.len(), |length| start + length)
}

/// The position of the first character from `start` on that is not blank.
pub(crate) fn skip_blanks(text: &str, start: usize) -> usize {
    text.len() - text[start..].trim_ascii_start().len()
}

/// An error of the input.
pub(crate) fn input(source_name: &str, place: Place, fault: Fault) -> DataError {
    DataError::Input { at: Box::new(Location { source_name: source_name.to_owned(), place }), fault }
}

/// An error of a reader; a fault of its compression is one of the input.
pub(crate) fn io(source_name: &str, error: std::io::Error) -> DataError {
    match gzip::fault_of(&error) {
        Some(fault) => input(source_name, Place::Whole, fault),
        None => DataError::Io { source_name: source_name.to_owned(), error },
    }
}

/// A word that stands alone and unquoted, as the formats without quotes need: not empty, nothing of the `forbidden`, no control
/// character, no blank at its ends, and no byte order mark at its start, which at the start of a file would be dropped.
pub(crate) fn is_plain_word(word: &str, forbidden: &[char]) -> bool {
    !word.is_empty()
        && !word.starts_with('\u{feff}')
        && word.trim_ascii() == word
        && !word.contains(|c: char| forbidden.contains(&c) || c.is_control())
}

/// Either text of the source or a copy with its quotes undone.
pub(crate) type Word<'a> = Cow<'a, str>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_their_shortest_form() {
        let extremes =
            [0.0, -0.0, 1.0, -42.0, 0.1, 1e308, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e15, 1e16, 123456789012345678.0];
        for value in extremes {
            let text = format_number(value).to_string();
            assert_eq!(parse_number(text.as_bytes()).unwrap().to_bits(), value.to_bits(), "{text}");
        }
        assert_eq!(format_number(42.0).to_string(), "42");
    }

    #[test]
    fn the_quick_way_agrees_with_the_general_one() {
        for text in ["0", "-0", "7", "-198", "999999999999999", "00012"] {
            let general: f64 = text.parse().unwrap();
            assert_eq!(parse_short_integer(text.as_bytes()).unwrap().to_bits(), general.to_bits());
        }
        for text in ["", "-", "1.5", "1e3", "--1", "+1", "1234567890123456", "1 2"] {
            assert_eq!(parse_short_integer(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_column_counts_characters() {
        let line = Line { text: "é,ü,x", number: 1, source_name: "t" };
        assert_eq!(line.column(6), 5);
    }
}
