//! NumPy archives: one array per part, loadable with `numpy.load` without pickle.
//!
//! | array | shape and type | |
//! |---|---|---|
//! | `instances` | n × d, float64; float32, integers, booleans and Fortran order are read too | required |
//! | `offsets` | bags + 1, integers: bag `i` owns the rows `offsets[i]:offsets[i+1]` | this one |
//! | `bag_ids` | n, integers or text: the bag of each row, the rows of a bag together | or this |
//! | `bag_names` | bags, text | optional |
//! | `labels` | bags: 0 and 1, positions in `class_names`, or text | optional |
//! | `class_names` | classes, text | optional |
//! | `instance_labels` | n, as `labels` | optional |
//! | `feature_names` | d, text | optional |
//!
//! We write `instances`, `offsets`, `bag_names` and what else the set holds. Text is NumPy's `U`, which cannot end in NUL.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use crate::error::{DataError, Fault, Part, Place, Uncarried, shorten};
use crate::options::{Format, Limits, ReadOptions};
use crate::sheet::{LabelKind, Sheet};
use crate::table::{BagTable, Declared, PlaceStyle, RowHead, Rows, UNLABELLED};
use crate::text::{format_number, input, io};
use crate::zip::{Archive, ReadSeek, ZipError, ZipWriter};

const MAGIC: &[u8] = b"\x93NUMPY";
const MAX_HEADER_BYTES: usize = 1 << 16;
const CHUNK_BYTES: usize = 1 << 16;

pub(crate) fn read(source: &mut dyn ReadSeek, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    let limits = &options.limits;
    let archive = Archive::open(source).map_err(|error| zip_error(source_name, Place::Whole, error))?;
    let mut members = Members { archive, source_name, limits };

    let (values, n_instances, n_features) = members.instances()?;
    let bags = members.bags(n_instances)?;
    let class_names = members.words("class_names", None)?.map(|array| array.into_words());
    let labels = members.labels("labels", bags.len(), class_names.as_deref())?;
    let instance_labels = members.labels("instance_labels", n_instances, class_names.as_deref())?;
    let feature_names = members.words("feature_names", Some(n_features))?.map(|array| array.into_words());

    let mut rows = Rows::new(source_name, limits, PlaceStyle::Npz);
    rows.values = values;
    for (bag_idx, (bag, range)) in bags.iter().enumerate() {
        let label = labels.as_ref().map_or(UNLABELLED, |words| &words[bag_idx]);
        for instance_idx in range.clone() {
            let instance_label = instance_labels.as_ref().map(|words| words[instance_idx].as_str());
            let head = RowHead { bag, label, instance_label, line: instance_idx as u64 };
            let row_of = |part| if part == Part::Label { bag_idx } else { instance_idx };
            rows.end_row(&head, |part| (row_of(part) as u64, 0))?;
        }
    }
    let declared = Declared { feature_names, classes: class_names.unwrap_or_default() };
    rows.finish(Format::Npz, declared, Place::Whole)
}

/// The arrays of an archive.
struct Members<'a> {
    archive: Archive<'a>,
    source_name: &'a str,
    limits: &'a Limits,
}

/// The elements of an array of one dimension.
enum List {
    Integers(Vec<i64>),
    Words(Vec<String>),
}

impl List {
    fn len(&self) -> usize {
        match self {
            List::Integers(list) => list.len(),
            List::Words(list) => list.len(),
        }
    }

    fn into_words(self) -> Vec<String> {
        match self {
            List::Integers(list) => list.iter().map(i64::to_string).collect(),
            List::Words(list) => list,
        }
    }
}

type Bags = Vec<(String, std::ops::Range<usize>)>;

impl Members<'_> {
    /// The matrix, instance after instance, with its numbers of rows and columns.
    fn instances(&mut self) -> Result<(Vec<f64>, usize, usize), DataError> {
        let name = "instances";
        let limits = self.limits;
        let Some((header, mut data)) = self.open(name)? else {
            return Err(self.fault(Place::Whole, Fault::NoMember { name }));
        };
        let (n_rows, n_columns) = header.matrix_shape(limits)?;
        let mut values = Vec::new();
        header.for_each(&mut data, |item| {
            values.push(item.to_number());
            Ok(())
        })?;
        drop(data);
        if header.is_fortran {
            values = transposed(&values, n_rows, n_columns);
        }
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (position / n_columns, position % n_columns);
            let place = Place::Member { name: name.into(), row: Some(row as u64), column: Some(column as u64) };
            let fault = Fault::NotFinite { feature: column + 1, word: values[position].to_string() };
            return Err(self.fault(place, fault));
        }
        Ok((values, n_rows, n_columns))
    }

    /// The bags and the rows of each.
    fn bags(&mut self, n_instances: usize) -> Result<Bags, DataError> {
        let ranges = match (self.words("offsets", None)?, self.words("bag_ids", Some(n_instances))?) {
            (Some(offsets), _) => self.bags_by_offsets(&offsets, n_instances)?,
            (None, Some(ids)) => self.bags_by_ids(ids)?,
            (None, None) => return Err(self.fault(Place::Whole, Fault::NoMember { name: "offsets" })),
        };
        let Some(names) = self.words("bag_names", Some(ranges.len()))? else { return Ok(ranges) };
        let mut first_row = HashMap::new();
        let mut bags = Vec::with_capacity(ranges.len());
        for (row, (name, (_, range))) in names.into_words().into_iter().zip(ranges).enumerate() {
            if let Some(first_line) = first_row.insert(name.clone(), row as u64) {
                let fault = Fault::Duplicate { part: Part::Bag, value: name, first_line };
                return Err(self.fault(row_of("bag_names", row), fault));
            }
            bags.push((name, range));
        }
        Ok(bags)
    }

    fn bags_by_offsets(&self, offsets: &List, n_instances: usize) -> Result<Bags, DataError> {
        let List::Integers(offsets) = offsets else {
            return Err(self.fault(member("offsets"), expected("integers", "text")));
        };
        let mut bags = Bags::new();
        for (row, ends) in offsets.windows(2).enumerate() {
            let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
            let Some((start, end)) = range.filter(|&(start, end)| start < end && end <= n_instances) else {
                let found = format!("{} after {}", ends[1], ends[0]);
                let wanted = "offsets that ascend, so that no bag is empty, up to the number of instances";
                return Err(self.fault(row_of("offsets", row + 1), expected(wanted, &found)));
            };
            bags.push((row.to_string(), start..end));
        }
        let (first, last) = (offsets.first().copied(), offsets.last().copied());
        if first != Some(0) || last != Some(n_instances as i64) {
            let found = format!("{} to {}", first.unwrap_or(0), last.unwrap_or(0));
            return Err(self.fault(member("offsets"), expected("offsets from 0 to the number of instances", &found)));
        }
        Ok(bags)
    }

    fn bags_by_ids(&self, ids: List) -> Result<Bags, DataError> {
        let mut bags = Bags::new();
        let mut first_row: HashMap<String, u64> = HashMap::new();
        for (row, id) in ids.into_words().into_iter().enumerate() {
            match bags.last_mut() {
                Some((open, range)) if *open == id => range.end = row + 1,
                _ => {
                    if let Some(&first_line) = first_row.get(&id) {
                        return Err(self.fault(row_of("bag_ids", row), Fault::BagReappears { bag: id, first_line }));
                    }
                    first_row.insert(id.clone(), row as u64);
                    bags.push((id, row..row + 1));
                }
            }
        }
        Ok(bags)
    }

    /// Label words, integers being positions in the class names where there are any.
    fn labels(
        &mut self,
        name: &'static str,
        length: usize,
        class_names: Option<&[String]>,
    ) -> Result<Option<Vec<String>>, DataError> {
        let words = match (self.words(name, Some(length))?, class_names) {
            (None, _) => return Ok(None),
            (Some(List::Integers(ids)), Some(names)) => {
                let mut words = Vec::with_capacity(ids.len());
                for (row, id) in ids.into_iter().enumerate() {
                    let word = usize::try_from(id).ok().and_then(|id| names.get(id)).ok_or_else(|| {
                        self.fault(row_of(name, row), expected("a position in class_names", &id.to_string()))
                    })?;
                    words.push(word.clone());
                }
                words
            }
            (Some(list), _) => list.into_words(),
        };
        match words.iter().position(String::is_empty) {
            None => Ok(Some(words)),
            Some(row) => {
                let part = if name == "labels" { Part::Label } else { Part::InstanceLabel };
                Err(self.fault(row_of(name, row), Fault::Missing { part }))
            }
        }
    }

    /// An array of one dimension, of this length if one is given.
    fn words(&mut self, name: &'static str, length: Option<usize>) -> Result<Option<List>, DataError> {
        let source_name = self.source_name;
        let max_items = self.limits.max_values;
        let Some((header, mut data)) = self.open(name)? else { return Ok(None) };
        if header.shape.len() != 1 {
            return Err(header.fault(expected("one dimension", &format!("{}", header.shape.len()))));
        }
        if header.shape[0] > max_items as u64 {
            return Err(header.fault(Fault::TooManyValues { limit: max_items }));
        }
        let list = if header.is_integer() {
            let mut list = Vec::new();
            header.for_each(&mut data, |item| {
                list.push(item.to_integer());
                Ok(())
            })?;
            List::Integers(list)
        } else {
            let mut list = Vec::new();
            header.for_each(&mut data, |item| {
                let found = item.to_word().ok_or_else(|| {
                    input(source_name, row_of(name, list.len()), expected("text", "an invalid character"))
                })?;
                list.push(found);
                Ok(())
            })?;
            List::Words(list)
        };
        drop(data);
        match length {
            Some(length) if length != list.len() => {
                let fault = Fault::Length { found: list.len() as u64, expected: length as u64 };
                Err(self.fault(member(name), fault))
            }
            _ => Ok(Some(list)),
        }
    }

    /// The header of an array and its bytes.
    fn open(&mut self, name: &'static str) -> Result<Option<(ArrayHeader, Box<dyn Read + '_>)>, DataError> {
        let source_name = self.source_name;
        let file_name = format!("{name}.npy");
        if !self.archive.holds(&file_name) {
            return Ok(None);
        }
        let opened = self.archive.member(&file_name).map_err(|error| zip_error(source_name, member(name), error))?;
        let mut data = opened.expect("the directory holds it");
        let header = ArrayHeader::read(&mut data, name, source_name)?;
        Ok(Some((header, data)))
    }

    fn fault(&self, place: Place, fault: Fault) -> DataError {
        input(self.source_name, place, fault)
    }
}

/// The header of an `.npy` file.
struct ArrayHeader {
    name: &'static str,
    source_name: String,
    kind: Kind,
    item_bytes: usize,
    is_big_endian: bool,
    is_fortran: bool,
    shape: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
    Boolean,
    Unicode,
    Bytes,
}

impl ArrayHeader {
    fn read(data: &mut dyn Read, name: &'static str, source_name: &str) -> Result<ArrayHeader, DataError> {
        let fault = |fault| input(source_name, member(name), fault);
        let mut start = Vec::new();
        data.take(8).read_to_end(&mut start).map_err(|error| damaged(source_name, name, error))?;
        if start.len() < 8 || !start.starts_with(MAGIC) {
            return Err(fault(expected("an array in NumPy's .npy format", "other bytes")));
        }
        let n_length_bytes = if start[6] == 1 { 2 } else { 4 };
        let mut length = [0; 4];
        data.read_exact(&mut length[..n_length_bytes]).map_err(|error| damaged(source_name, name, error))?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER_BYTES {
            return Err(fault(expected("a header of at most 64 KiB", &format!("{length} bytes"))));
        }
        let mut text = Vec::new();
        data.take(length as u64).read_to_end(&mut text).map_err(|error| damaged(source_name, name, error))?;
        let text = String::from_utf8_lossy(&text);
        let wrong =
            || fault(expected("a header with descr, fortran_order and shape", &format!("{:?}", shorten(&text))));

        let descr = after_key(&text, "descr").ok_or_else(wrong)?;
        let is_fortran = after_key(&text, "fortran_order").ok_or_else(wrong)?.starts_with("True");
        let shape = parse_shape(after_key(&text, "shape").ok_or_else(wrong)?).ok_or_else(wrong)?;
        let (kind, item_bytes, is_big_endian) = parse_type(descr).ok_or_else(|| {
            let found = format!("{:?}", shorten(descr.split(", ").next().unwrap_or_default()));
            fault(expected("float64, float32, integers, booleans or text", &found))
        })?;
        Ok(ArrayHeader {
            name,
            source_name: source_name.to_owned(),
            kind,
            item_bytes,
            is_big_endian,
            is_fortran,
            shape,
        })
    }

    /// Rows and columns, checked against the limits.
    fn matrix_shape(&self, limits: &Limits) -> Result<(usize, usize), DataError> {
        if matches!(self.kind, Kind::Unicode | Kind::Bytes) {
            return Err(self.fault(expected("numbers", "text")));
        }
        let [n_rows, n_columns] = self.shape[..] else {
            return Err(self.fault(expected("two dimensions, instances x features", &format!("{}", self.shape.len()))));
        };
        if n_rows == 0 {
            return Err(self.fault(Fault::Empty));
        }
        if n_columns == 0 {
            return Err(self.fault(Fault::Missing { part: Part::Feature(1) }));
        }
        if n_columns > limits.max_columns as u64 {
            return Err(self.fault(Fault::TooManyColumns { limit: limits.max_columns }));
        }
        if n_rows.checked_mul(n_columns).is_none_or(|n_values| n_values > limits.max_values as u64) {
            return Err(self.fault(Fault::TooManyValues { limit: limits.max_values }));
        }
        Ok((n_rows as usize, n_columns as usize))
    }

    fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned)
    }

    /// Calls `visit` with every item, and makes sure that there are as many as the shape says and no byte more.
    fn for_each(
        &self,
        data: &mut dyn Read,
        mut visit: impl FnMut(Item<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let n_items = self.shape.iter().try_fold(1_u64, |product, &length| product.checked_mul(length));
        let n_items =
            n_items.ok_or_else(|| self.fault(expected("a shape of moderate size", "a product beyond 64 bits")))?;
        let item_bytes = self.item_bytes as u64;
        let items_per_chunk = (CHUNK_BYTES as u64 / item_bytes).max(1);
        let mut chunk = Vec::new();
        let mut n_read = 0;
        while n_read < n_items {
            let wanted = items_per_chunk.min(n_items - n_read) * item_bytes;
            chunk.clear();
            data.take(wanted).read_to_end(&mut chunk).map_err(|error| damaged(&self.source_name, self.name, error))?;
            for bytes in chunk.chunks_exact(self.item_bytes) {
                visit(Item { bytes, kind: self.kind, is_big_endian: self.is_big_endian })?;
                n_read += 1;
            }
            if (chunk.len() as u64) < wanted {
                return Err(self.fault(Fault::Length { found: n_read, expected: n_items }));
            }
        }
        chunk.clear();
        data.take(1).read_to_end(&mut chunk).map_err(|error| damaged(&self.source_name, self.name, error))?;
        if chunk.is_empty() { Ok(()) } else { Err(self.fault(expected("the end of the array", "more bytes"))) }
    }

    fn fault(&self, fault: Fault) -> DataError {
        input(&self.source_name, member(self.name), fault)
    }
}

/// The text after `'key':`.
fn after_key<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let after = quoted.iter().find_map(|quoted| header.split_once(quoted.as_str()))?.1;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let inner = text.strip_prefix('(')?.split_once(')')?.0;
    inner.split(',').map(str::trim).filter(|length| !length.is_empty()).map(|length| length.parse().ok()).collect()
}

fn parse_type(descr: &str) -> Option<(Kind, usize, bool)> {
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let code = descr[1..].split_once(quote)?.0;
    let (order, code) = match code.chars().next()? {
        order @ ('<' | '>' | '|' | '=') => (order, &code[1..]),
        _ => ('=', code),
    };
    let mut chars = code.chars();
    let letter = chars.next()?;
    let size: usize = chars.as_str().parse().ok()?;
    let kind = match (letter, size) {
        ('f', 4 | 8) => Kind::Float,
        ('i', 1 | 2 | 4 | 8) => Kind::Signed,
        ('u', 1 | 2 | 4 | 8) => Kind::Unsigned,
        ('b', 1) => Kind::Boolean,
        ('U', 1..) => Kind::Unicode,
        ('S', 1..) => Kind::Bytes,
        _ => return None,
    };
    let item_bytes = if kind == Kind::Unicode { size.checked_mul(4)? } else { size };
    Some((kind, item_bytes, order == '>'))
}

/// One element of an array.
struct Item<'a> {
    bytes: &'a [u8],
    kind: Kind,
    is_big_endian: bool,
}

impl Item<'_> {
    fn to_number(&self) -> f64 {
        match (self.kind, self.bytes.len()) {
            (Kind::Float, 8) => f64::from_bits(self.bits()),
            (Kind::Float, _) => f64::from(f32::from_bits(self.bits() as u32)),
            (Kind::Unsigned, _) => self.bits() as f64,
            _ => self.to_integer() as f64,
        }
    }

    fn to_integer(&self) -> i64 {
        let bits = self.bits();
        match self.kind {
            Kind::Signed => {
                let unused = 64 - 8 * self.bytes.len() as u32;
                (bits << unused) as i64 >> unused
            }
            _ => bits.min(i64::MAX as u64) as i64,
        }
    }

    /// The item as a word; `None` if it is no text. A float that is NaN has no label to tell.
    fn to_word(&self) -> Option<String> {
        match self.kind {
            Kind::Float => {
                let value = self.to_number();
                Some(if value.is_nan() { UNLABELLED.to_owned() } else { format_number(value).to_string() })
            }
            Kind::Signed | Kind::Unsigned => Some(self.to_integer().to_string()),
            Kind::Boolean => Some((self.bits() != 0).to_string()),
            Kind::Bytes => {
                let end = self.bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                std::str::from_utf8(&self.bytes[..end]).ok().map(str::to_owned)
            }
            Kind::Unicode => {
                let code = |bytes: &[u8]| {
                    let bytes = bytes.try_into().expect("four bytes each");
                    if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
                };
                let text: String =
                    self.bytes.chunks_exact(4).map(|bytes| char::from_u32(code(bytes))).collect::<Option<_>>()?;
                Some(text.trim_end_matches('\0').to_owned())
            }
        }
    }

    fn bits(&self) -> u64 {
        let mut wide = [0; 8];
        let n_bytes = self.bytes.len().min(8);
        wide[..n_bytes].copy_from_slice(&self.bytes[..n_bytes]);
        if self.is_big_endian {
            wide[..n_bytes].reverse();
        }
        u64::from_le_bytes(wide)
    }
}

fn transposed(by_column: &[f64], n_rows: usize, n_columns: usize) -> Vec<f64> {
    (0..n_rows * n_columns).map(|at| by_column[at % n_columns * n_rows + at / n_columns]).collect()
}

fn member(name: &str) -> Place {
    Place::Member { name: name.to_owned(), row: None, column: None }
}

fn row_of(name: &str, row: usize) -> Place {
    Place::Member { name: name.to_owned(), row: Some(row as u64), column: None }
}

fn expected(expected: &'static str, found: &str) -> Fault {
    Fault::Expected { expected, found: found.to_owned() }
}

fn zip_error(source_name: &str, place: Place, error: ZipError) -> DataError {
    match error {
        ZipError::Io(error) => io(source_name, error),
        ZipError::Malformed(found) => input(source_name, place, expected("a NumPy .npz archive", found)),
    }
}

/// An error while the bytes of a member are read: mostly damage.
fn damaged(source_name: &str, name: &'static str, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            input(source_name, member(name), expected("undamaged bytes", &error.to_string()))
        }
        _ => DataError::Io { source_name: source_name.to_owned(), error },
    }
}

pub(crate) fn check(sheet: &Sheet<'_>) -> Result<(), Uncarried> {
    let fits = |name: &str| !name.ends_with('\0');
    sheet.require_bag_names(fits)?;
    sheet.require_class_names(fits)?;
    sheet.require_feature_names(fits)
}

pub(crate) fn write(sheet: &Sheet<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut zip = ZipWriter::new(out);
    let shape = format!("({}, {})", sheet.n_instances(), sheet.n_features);
    zip.add("instances.npy", |out| {
        write_header(out, "<f8", &shape)?;
        for chunk in sheet.values.chunks(CHUNK_BYTES / 8) {
            let bytes: Vec<u8> = chunk.iter().flat_map(|value| value.to_le_bytes()).collect();
            out.write_all(&bytes)?;
        }
        Ok(())
    })?;
    add_integers(&mut zip, "offsets.npy", sheet.offsets.iter().map(|&offset| offset as i64))?;
    add_words(&mut zip, "bag_names.npy", sheet.names.iter().map(String::as_str))?;
    match sheet.kind {
        LabelKind::None => {}
        LabelKind::Binary => add_labels(&mut zip, "labels.npy", sheet, &sheet.labels)?,
        LabelKind::Classes => {
            add_labels(&mut zip, "labels.npy", sheet, &sheet.labels)?;
            add_words(&mut zip, "class_names.npy", sheet.classes.iter().copied())?;
        }
    }
    if let Some(labels) = &sheet.instance_labels {
        add_labels(&mut zip, "instance_labels.npy", sheet, labels)?;
    }
    if let Some(names) = sheet.feature_names {
        add_words(&mut zip, "feature_names.npy", names.iter().map(String::as_str))?;
    }
    zip.finish()
}

fn add_labels(zip: &mut ZipWriter<'_>, name: &str, sheet: &Sheet<'_>, labels: &[&str]) -> io::Result<()> {
    match sheet.kind {
        LabelKind::None => add_words(zip, name, labels.iter().copied()),
        LabelKind::Binary => add_integers(zip, name, labels.iter().map(|&word| i64::from(word == "1"))),
        LabelKind::Classes => {
            let id_of: HashMap<&str, i64> = sheet.classes.iter().copied().zip(0..).collect();
            add_integers(zip, name, labels.iter().map(|word| id_of[word]))
        }
    }
}

fn add_integers(
    zip: &mut ZipWriter<'_>,
    name: &str,
    list: impl ExactSizeIterator<Item = i64> + Clone,
) -> io::Result<()> {
    zip.add(name, |out| {
        write_header(out, "<i8", &format!("({},)", list.len()))?;
        list.clone().try_for_each(|integer| out.write_all(&integer.to_le_bytes()))
    })
}

fn add_words<'a>(
    zip: &mut ZipWriter<'_>,
    name: &str,
    list: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> io::Result<()> {
    let n_chars = list.clone().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
    zip.add(name, |out| {
        write_header(out, &format!("<U{n_chars}"), &format!("({},)", list.len()))?;
        list.clone().try_for_each(|word| {
            let padded = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(n_chars);
            out.write_all(&padded.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
        })
    })
}

/// The header of version 1.0, padded so that the data start at a multiple of 64.
fn write_header(out: &mut dyn Write, descr: &str, shape: &str) -> io::Result<()> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let preamble = MAGIC.len() + 4;
    while (preamble + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}
