//! What must hold of a Parquet file before the library may see it.
//!
//! The `parquet` crate allocates by sizes that a file declares (lists of the footer, pages, dictionaries) and descends as deep as a
//! schema does; on hostile bytes that ends in an abort, which nobody can catch. So we walk the Thrift structures first, footer and
//! page headers, and refuse what could not be true. The numbers of fields are those of `parquet.thrift`, format version 2.11.

use crate::error::Fault;

const MAGIC: &[u8] = b"PAR1";
const MAX_DEPTH: usize = 24;
/// A page within this size is believed, whatever it was compressed to; writers stay near 1 MiB.
const BELIEVED_PAGE_BYTES: u64 = 16 << 20;
/// The largest factor by which deflate compresses, with some room.
const MAX_RATIO: u64 = 1100;
/// PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY, BYTE_STREAM_SPLIT. The delta encodings allocate by what their data say.
const KNOWN_ENCODINGS: [i64; 5] = [0, 2, 3, 8, 9];
const FIXED_LEN_BYTE_ARRAY: i64 = 7;

/// Refuses a file whose structure lies.
pub(super) fn check(file: &[u8]) -> Result<(), Fault> {
    let footer = footer_of(file)?;
    let metadata = Thrift { bytes: footer, at: 0 }.structure(0)?;
    check_flat(&metadata)?;
    let mut n_rows = 0_i64;
    for group in metadata.list(4) {
        let rows_of_group = group.int(3).filter(|&n| n >= 0).ok_or(lie("a row group without a number of rows"))?;
        n_rows = n_rows.checked_add(rows_of_group).ok_or(lie("more rows than 64 bits count"))?;
        for column in group.list(1) {
            let column = column.get(3).ok_or(lie("a column without metadata"))?;
            check_column(file, column, rows_of_group)?;
        }
    }
    if metadata.int(3) == Some(n_rows) {
        Ok(())
    } else {
        Err(lie("row groups that do not add up to the number of rows"))
    }
}

fn footer_of(file: &[u8]) -> Result<&[u8], Fault> {
    let body = file.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix(MAGIC));
    let body = body.ok_or(lie("no PAR1 at both ends"))?;
    let (body, length) = body.split_last_chunk::<4>().ok_or(lie("no footer"))?;
    let length = u32::from_le_bytes(*length) as usize;
    let start = body.len().checked_sub(length).ok_or(lie("a footer longer than the file"))?;
    Ok(&body[start..])
}

/// One row per instance leaves no room for nesting.
fn check_flat(metadata: &Value) -> Result<(), Fault> {
    let schema = metadata.list(2);
    let (root, columns) = schema.split_first().ok_or(lie("no schema"))?;
    if root.int(5) != Some(columns.len() as i64) || columns.iter().any(|column| column.int(5).unwrap_or(0) != 0) {
        return Err(lie("nested columns; expected plain ones, one row per instance"));
    }
    Ok(())
}

/// Walks the pages of one column of one row group.
fn check_column(file: &[u8], column: &Value, n_rows: i64) -> Result<(), Fault> {
    let start = [column.int(11), column.int(9)].into_iter().flatten().filter(|&offset| offset > 0).min();
    let range = start.zip(column.int(7)).and_then(|(start, length)| {
        let (start, length) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
        file.get(start..start.checked_add(length)?)
    });
    let mut thrift = Thrift { bytes: range.ok_or(lie("a column beyond the end of the file"))?, at: 0 };
    if column.int(5) != Some(n_rows) {
        return Err(lie("a column with another number of values than there are rows"));
    }
    let least_bytes = if column.int(1) == Some(FIXED_LEN_BYTE_ARRAY) { 1 } else { 4 };
    let mut n_values = 0_i64;
    while thrift.at < thrift.bytes.len() && n_values < n_rows {
        let page = thrift.structure(0)?;
        let size = |id| page.int(id).and_then(|size| u64::try_from(size).ok()).ok_or(lie("a page without a size"));
        let (plain, compressed) = (size(2)?, size(3)?);
        if plain > BELIEVED_PAGE_BYTES.max(compressed.saturating_mul(MAX_RATIO)) {
            return Err(lie("a page that grows beyond belief when decompressed"));
        }
        let (header, encoding_id) = match (page.get(5), page.get(8), page.get(7)) {
            (Some(data), _, _) => (Some(data), 2),
            (_, Some(data), _) => (Some(data), 4),
            (_, _, Some(dictionary)) => {
                let n_entries = dictionary.int(1).and_then(|n| u64::try_from(n).ok());
                if n_entries.is_none_or(|n| n.saturating_mul(least_bytes) > plain) {
                    return Err(lie("a dictionary with more entries than bytes"));
                }
                (None, 2)
            }
            _ => (None, 2),
        };
        if let Some(header) = header {
            let n = header.int(1).filter(|&n| n >= 0).ok_or(lie("a page without a number of values"))?;
            n_values = n_values.saturating_add(n);
            if !header.int(encoding_id).is_some_and(|encoding| KNOWN_ENCODINGS.contains(&encoding)) {
                return Err(lie(
                    "an encoding other than plain, dictionary and byte stream split; write the file with one of these",
                ));
            }
        }
        let end = usize::try_from(compressed).ok().and_then(|n| thrift.at.checked_add(n));
        thrift.at = end.filter(|&end| end <= thrift.bytes.len()).ok_or(lie("a page beyond the end of its column"))?;
    }
    if n_values == n_rows { Ok(()) } else { Err(lie("pages that do not add up to the number of rows")) }
}

fn lie(found: &'static str) -> Fault {
    Fault::Parquet { message: found.to_owned() }
}

/// A value of the Thrift compact protocol, as far as we look at it.
enum Value {
    Int(i64),
    List(Vec<Value>),
    Struct(Vec<(i16, Value)>),
    Other,
}

impl Value {
    fn get(&self, id: i16) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(found, _)| *found == id).map(|(_, value)| value),
            _ => None,
        }
    }

    fn int(&self, id: i16) -> Option<i64> {
        match self.get(id) {
            Some(Value::Int(value)) => Some(*value),
            _ => None,
        }
    }

    fn list(&self, id: i16) -> &[Value] {
        match self.get(id) {
            Some(Value::List(values)) => values,
            _ => &[],
        }
    }
}

struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn structure(&mut self, depth: usize) -> Result<Value, Fault> {
        if depth > MAX_DEPTH {
            return Err(lie("structures too deep"));
        }
        let mut fields = Vec::new();
        let mut id = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(Value::Struct(fields));
            }
            id = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| lie("a field number out of range"))?,
                step => id.checked_add(i16::from(step)).ok_or(lie("a field number out of range"))?,
            };
            let value = match head & 15 {
                1 | 2 => Value::Other, // a boolean lives in its type
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Value, Fault> {
        match kind {
            1..=3 => self.byte().map(|_| Value::Other),
            4..=6 => self.zigzag().map(Value::Int),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // Every element takes at least one byte.
                if length > (self.bytes.len() - self.at) as u64 || depth > MAX_DEPTH {
                    return Err(lie("a list longer than the file"));
                }
                let mut values = Vec::new();
                for _ in 0..length {
                    values.push(self.value(head & 15, depth + 1)?);
                }
                Ok(Value::List(values))
            }
            12 => self.structure(depth + 1),
            _ => Err(lie("a structure of unknown type")),
        }
    }

    fn skip(&mut self, length: u64) -> Result<Value, Fault> {
        let left = (self.bytes.len() - self.at) as u64;
        if length > left {
            return Err(lie("a text longer than the file"));
        }
        self.at += length as usize;
        Ok(Value::Other)
    }

    fn zigzag(&mut self) -> Result<i64, Fault> {
        let raw = self.varint()?;
        Ok((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(lie("a number of more than 64 bits"))
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.bytes.get(self.at).ok_or(lie("a structure that ends too early"))?;
        self.at += 1;
        Ok(byte)
    }
}
