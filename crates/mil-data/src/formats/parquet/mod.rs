//! Apache Parquet: one row per instance; columns for the bag, its label, maybe the instance's label, and one per feature.
//!
//! Columns are found as in CSV. Bags and labels may be text, integers, floats or booleans; features any of the numbers. A null label
//! means none, a null feature is refused. We write text for bags and classes, 0 and 1 for two classes, Snappy compression, and the
//! names of all classes as the metadata `mil.class.0`, `mil.class.1`, ….
//!
//! The file is read in two steps: [`guard`] walks its structure and refuses what could not be true, then the `parquet` crate decodes it.
//! Damage that the guard cannot see still makes that crate panic once in a while; the panic is caught and becomes an error of the file.
//! What the panic hook of the program prints is the program's own affair: a library does not change it.

mod guard;

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};

use crate::columns::{Role, Roles, is_taken_for_feature};
use crate::error::{DataError, Fault, Part, Place, Uncarried};
use crate::options::{Format, ReadOptions};
use crate::sheet::{LabelKind, Sheet};
use crate::table::{BagTable, Declared, PlaceStyle, RowHead, Rows, UNLABELLED, WordList};
use crate::text::{format_number, input};

const CLASS_KEY: &str = "mil.class.";
/// Rows decoded at a time.
const BATCH_ROWS: usize = 4096;
/// Values of a row group that we write.
const GROUP_VALUES: usize = 1 << 22;

pub(crate) fn read(bytes: Vec<u8>, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    guard::check(&bytes).map_err(|fault| input(source_name, Place::Whole, fault))?;
    let bytes = Bytes::from(bytes);
    // Nothing outlives the call but its result, so no broken state can be seen after a panic.
    catch_unwind(AssertUnwindSafe(|| read_guarded(bytes, source_name, options))).unwrap_or_else(|_| {
        let message = "the decoder gave up on damaged bytes".to_owned();
        Err(input(source_name, Place::Whole, Fault::Parquet { message }))
    })
}

fn read_guarded(bytes: Bytes, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    let whole = |fault| input(source_name, Place::Whole, fault);
    let reader = SerializedFileReader::new(bytes).map_err(|error| whole(decoder_fault(&error)))?;
    let metadata = reader.metadata();
    let columns = metadata.file_metadata().schema_descr().columns();
    if columns.len() > options.limits.max_columns {
        return Err(whole(Fault::TooManyColumns { limit: options.limits.max_columns }));
    }
    let names: Vec<String> = columns.iter().map(|column| column.name().to_owned()).collect();
    let roles = Roles::by_name(&names, &options.columns).map_err(whole)?;
    let n_features = roles.n_features();
    let name_of = |role| roles.position(role).map_or_else(|| "bag".to_owned(), |position| names[position].clone());
    let style = PlaceStyle::Parquet {
        bag: name_of(Role::Bag),
        label: name_of(Role::Label),
        instance_label: name_of(Role::InstanceLabel),
    };

    let mut rows = Rows::new(source_name, &options.limits, style);
    for group_idx in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group_idx).map_err(|error| whole(decoder_fault(&error)))?;
        let n_rows = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        let n_values = n_rows.checked_mul(n_features).and_then(|n| n.checked_add(rows.values.len()));
        if n_values.is_none_or(|n| n > options.limits.max_values) {
            return Err(whole(Fault::TooManyValues { limit: options.limits.max_values }));
        }
        let group = Group { reader: &*group, names: &names, source_name, n_rows, first_row: rows.n_instances() };
        read_group(&group, &roles, &mut rows)?;
    }
    let feature_names = names.iter().zip(roles.as_slice()).filter(|(_, role)| **role == Role::Feature);
    let declared = Declared {
        feature_names: Some(feature_names.map(|(name, _)| name.clone()).collect()),
        classes: declared_classes(metadata),
    };
    rows.finish(Format::Parquet, declared, Place::Whole)
}

fn declared_classes(metadata: &ParquetMetaData) -> Vec<String> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    pairs.filter(|pair| pair.key.starts_with(CLASS_KEY)).filter_map(|pair| pair.value.clone()).collect()
}

/// A row group and what its errors need.
struct Group<'a> {
    reader: &'a dyn RowGroupReader,
    names: &'a [String],
    source_name: &'a str,
    n_rows: usize,
    /// Rows of the groups before it.
    first_row: usize,
}

fn read_group(group: &Group<'_>, roles: &Roles, rows: &mut Rows) -> Result<(), DataError> {
    let words = |role, part| roles.position(role).map(|position| group.words(position, part)).transpose();
    let bags = words(Role::Bag, Part::Bag)?.expect("roles include the bag");
    let labels = words(Role::Label, Part::Label)?;
    let instance_labels = words(Role::InstanceLabel, Part::InstanceLabel)?;

    let n_features = roles.n_features();
    let start = rows.values.len();
    rows.values.resize(start + group.n_rows * n_features, 0.0);
    let positions = roles.as_slice().iter().enumerate().filter(|(_, role)| **role == Role::Feature);
    for (feature_idx, (position, _)) in positions.enumerate() {
        group.numbers(position, feature_idx, &mut rows.values[start..], n_features)?;
    }
    for row in 0..group.n_rows {
        let line = (group.first_row + row) as u64;
        let head = RowHead {
            bag: bags.word(row),
            label: labels.as_ref().map_or(UNLABELLED, |words| words.word(row)),
            instance_label: instance_labels.as_ref().map(|words| words.word(row)),
            line,
        };
        rows.end_row(&head, |_| (line, 0))?;
    }
    Ok(())
}

impl Group<'_> {
    /// Decodes a column of words.
    fn words(&self, position: usize, part: Part) -> Result<WordList, DataError> {
        let mut words = WordList::default();
        let column = self.column(position)?;
        let is_unsigned = is_unsigned(column.descriptor);
        let mut push = |row: usize, word: Option<&str>| match word {
            Some("") if part != Part::Bag => Err(self.fault(position, Some(row), Fault::Missing { part })),
            Some(word) => {
                words.push(word);
                Ok(())
            }
            None if part == Part::Bag => Err(self.fault(position, Some(row), Fault::Missing { part })),
            None => {
                words.push(UNLABELLED);
                Ok(())
            }
        };
        let optional = column.is_optional;
        match column.reader {
            ColumnReader::BoolColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                push(row, value.map(|value| if *value { "true" } else { "false" }))
            }),
            ColumnReader::Int32ColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                push(row, value.map(|&value| integer_32(value, is_unsigned).to_string()).as_deref())
            }),
            ColumnReader::Int64ColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                push(row, value.map(|&value| integer_64(value, is_unsigned).to_string()).as_deref())
            }),
            ColumnReader::FloatColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                push(row, value.map(|&value| float_word(f64::from(value))).as_deref())
            }),
            ColumnReader::DoubleColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                push(row, value.map(|&value| float_word(value)).as_deref())
            }),
            ColumnReader::ByteArrayColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                let text = value.map(|value| std::str::from_utf8(value.data())).transpose().map_err(|error| {
                    let offset = error.valid_up_to() as u64;
                    let byte = value.map_or(0, |value| value.data()[error.valid_up_to()]);
                    self.fault(position, Some(row), Fault::NotUtf8 { byte, offset })
                })?;
                push(row, text)
            }),
            _ => Err(self.fault(position, None, expected("text, integers, floats or booleans"))),
        }?;
        Ok(words)
    }

    /// Decodes a column of numbers into every `n_features`-th place from `feature_idx` on.
    fn numbers(
        &self,
        position: usize,
        feature_idx: usize,
        values: &mut [f64],
        n_features: usize,
    ) -> Result<(), DataError> {
        let feature = feature_idx + 1;
        let mut put = |row: usize, value: Option<f64>| match value {
            Some(value) if value.is_finite() => {
                values[row * n_features + feature_idx] = value;
                Ok(())
            }
            Some(value) => Err(self.fault(position, Some(row), Fault::NotFinite { feature, word: value.to_string() })),
            None => Err(self.fault(position, Some(row), Fault::Missing { part: Part::Feature(feature) })),
        };
        let column = self.column(position)?;
        let (descriptor, optional) = (column.descriptor, column.is_optional);
        let is_number = match descriptor.logical_type_ref() {
            None | Some(LogicalType::Integer(_)) => true,
            Some(_) => false,
        };
        if !is_number {
            return Err(self.fault(position, None, expected("numbers: float64, float32, integers or booleans")));
        }
        let is_unsigned = is_unsigned(descriptor);
        match column.reader {
            ColumnReader::DoubleColumnReader(reader) => {
                self.each(position, reader, optional, |row, value| put(row, value.copied()))
            }
            ColumnReader::FloatColumnReader(reader) => {
                self.each(position, reader, optional, |row, value| put(row, value.map(|&value| f64::from(value))))
            }
            ColumnReader::Int32ColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                put(row, value.map(|&value| integer_32(value, is_unsigned) as f64))
            }),
            ColumnReader::Int64ColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                put(row, value.map(|&value| integer_64(value, is_unsigned) as f64))
            }),
            ColumnReader::BoolColumnReader(reader) => self.each(position, reader, optional, |row, value| {
                put(row, value.map(|&value| f64::from(u8::from(value))))
            }),
            _ => Err(self.fault(position, None, expected("numbers: float64, float32, integers or booleans"))),
        }
    }

    fn column(&self, position: usize) -> Result<OpenColumn<'_>, DataError> {
        let descriptor = self.reader.metadata().column(position).column_descr();
        if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 {
            return Err(self.fault(position, None, expected("a plain column")));
        }
        let reader = self.reader.get_column_reader(position);
        let reader = reader.map_err(|error| self.fault(position, None, decoder_fault(&error)))?;
        Ok(OpenColumn { descriptor, is_optional: descriptor.max_def_level() == 1, reader })
    }

    /// Calls `visit` with every row of the group and its value, `None` where it is null.
    fn each<T: DataType>(
        &self,
        position: usize,
        mut reader: ColumnReaderImpl<T>,
        is_optional: bool,
        mut visit: impl FnMut(usize, Option<&T::T>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut row = 0;
        while row < self.n_rows {
            values.clear();
            levels.clear();
            let wanted = BATCH_ROWS.min(self.n_rows - row);
            let (n_records, _, _) = reader
                .read_records(wanted, is_optional.then_some(&mut levels), None, &mut values)
                .map_err(|error| self.fault(position, Some(row), decoder_fault(&error)))?;
            if n_records == 0 {
                let fault = Fault::Length { found: row as u64, expected: self.n_rows as u64 };
                return Err(self.fault(position, None, fault));
            }
            let mut next = values.iter();
            for offset in 0..n_records {
                let is_null = is_optional && levels.get(offset) != Some(&1);
                visit(row + offset, if is_null { None } else { next.next() })?;
            }
            row += n_records;
        }
        Ok(())
    }

    fn fault(&self, position: usize, row: Option<usize>, fault: Fault) -> DataError {
        let row = row.map(|row| (self.first_row + row) as u64);
        input(self.source_name, Place::Column { name: self.names[position].clone(), row }, fault)
    }
}

struct OpenColumn<'a> {
    descriptor: &'a ColumnDescriptor,
    is_optional: bool,
    reader: ColumnReader,
}

fn is_unsigned(descriptor: &ColumnDescriptor) -> bool {
    use parquet::basic::ConvertedType as Converted;
    let by_logical = matches!(descriptor.logical_type_ref(), Some(LogicalType::Integer(integer)) if !integer.is_signed);
    let converted = descriptor.converted_type();
    by_logical || matches!(converted, Converted::UINT_8 | Converted::UINT_16 | Converted::UINT_32 | Converted::UINT_64)
}

fn integer_32(value: i32, is_unsigned: bool) -> i128 {
    if is_unsigned { i128::from(value.cast_unsigned()) } else { i128::from(value) }
}

fn integer_64(value: i64, is_unsigned: bool) -> i128 {
    if is_unsigned { i128::from(value.cast_unsigned()) } else { i128::from(value) }
}

fn float_word(value: f64) -> String {
    if value.is_nan() { UNLABELLED.to_owned() } else { format_number(value).to_string() }
}

fn expected(expected: &'static str) -> Fault {
    Fault::Expected { expected, found: "another type".to_owned() }
}

fn decoder_fault(error: &ParquetError) -> Fault {
    Fault::Parquet { message: error.to_string() }
}

pub(crate) fn check(sheet: &Sheet<'_>) -> Result<(), Uncarried> {
    sheet.require_class_names(|_| true)?;
    sheet.require_feature_names(|name| is_taken_for_feature(name, &fixed_columns(sheet)))
}

fn fixed_columns(sheet: &Sheet<'_>) -> Vec<&'static str> {
    let label = (sheet.kind != LabelKind::None).then_some("label");
    let instance_label = sheet.instance_labels.is_some().then_some("instance_label");
    ["bag"].into_iter().chain(label).chain(instance_label).collect()
}

pub(crate) fn write(sheet: &Sheet<'_>, out: &mut dyn Write) -> io::Result<()> {
    let schema = Arc::new(schema_of(sheet).map_err(io::Error::other)?);
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties_of(sheet))).map_err(io::Error::other)?;
    let rows: Vec<(usize, usize)> = sheet.rows().collect();
    for rows in rows.chunks((GROUP_VALUES / sheet.n_features).max(1)) {
        let mut group = writer.next_row_group().map_err(io::Error::other)?;
        write_group(sheet, rows, &mut group).map_err(io::Error::other)?;
        group.close().map_err(io::Error::other)?;
        // The crate's writer wants to be sent between threads; ours need not be, so the bytes change hands here.
        writer.flush()?;
        out.write_all(&std::mem::take(writer.inner_mut()))?;
    }
    out.write_all(&writer.into_inner().map_err(io::Error::other)?)
}

fn schema_of(sheet: &Sheet<'_>) -> Result<Type, ParquetError> {
    let text = |name| {
        Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String))
            .with_repetition(Repetition::REQUIRED)
            .build()
    };
    let integer =
        |name| Type::primitive_type_builder(name, PhysicalType::INT64).with_repetition(Repetition::REQUIRED).build();
    let double = |name: &str| {
        Type::primitive_type_builder(name, PhysicalType::DOUBLE).with_repetition(Repetition::REQUIRED).build()
    };
    let mut fields = Vec::with_capacity(sheet.n_features + 3);
    for name in fixed_columns(sheet) {
        let is_integer = name != "bag" && sheet.kind == LabelKind::Binary;
        fields.push(Arc::new(if is_integer { integer(name)? } else { text(name)? }));
    }
    for feature_idx in 0..sheet.n_features {
        fields.push(Arc::new(double(&sheet.feature_name(feature_idx))?));
    }
    Type::group_type_builder("bags").with_fields(fields).build()
}

fn properties_of(sheet: &Sheet<'_>) -> WriterProperties {
    let classes = sheet.classes.iter().enumerate();
    let pairs =
        classes.map(|(idx, name)| KeyValue::new(format!("{CLASS_KEY}{idx}"), Some((*name).to_owned()))).collect();
    // A dictionary of doubles would take 0.0 and -0.0 for one.
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_key_value_metadata(Some(pairs));
    for name in fixed_columns(sheet) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), true);
    }
    properties.build()
}

fn write_group(
    sheet: &Sheet<'_>,
    rows: &[(usize, usize)],
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
) -> Result<(), ParquetError> {
    let bags: Vec<ByteArray> = rows.iter().map(|&(bag_idx, _)| sheet.names[bag_idx].as_str().into()).collect();
    write_column::<ByteArrayType>(group, &bags)?;
    if sheet.kind != LabelKind::None {
        write_labels(sheet, group, rows.iter().map(|&(bag_idx, _)| sheet.labels[bag_idx]))?;
    }
    if let Some(labels) = &sheet.instance_labels {
        write_labels(sheet, group, rows.iter().map(|&(_, instance_idx)| labels[instance_idx]))?;
    }
    let mut column = Vec::with_capacity(rows.len());
    for feature_idx in 0..sheet.n_features {
        column.clear();
        column.extend(rows.iter().map(|&(_, instance_idx)| sheet.instance(instance_idx)[feature_idx]));
        write_column::<DoubleType>(group, &column)?;
    }
    Ok(())
}

fn write_labels<'a>(
    sheet: &Sheet<'_>,
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    words: impl Iterator<Item = &'a str>,
) -> Result<(), ParquetError> {
    if sheet.kind == LabelKind::Binary {
        write_column::<Int64Type>(group, &words.map(|word| i64::from(word == "1")).collect::<Vec<_>>())
    } else {
        write_column::<ByteArrayType>(group, &words.map(ByteArray::from).collect::<Vec<_>>())
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has a column for every part");
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}
