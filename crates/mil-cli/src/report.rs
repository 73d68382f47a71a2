//! One report, three ways to print it: a table for people, JSON and CSV for programs.
//!
//! A command states facts and tables once. A column has a key for programs and a head for people, a cell its value; people see it rounded, programs to the last bit.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::error::CliError;

/// Version of the JSON that commands print.
pub const SCHEMA: &str = "mil-cli/1";

/// How a report is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs: one object, with a field `schema`.
    Json,
    /// For spreadsheets: the main table alone.
    Csv,
}

/// What a command found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Facts beside the tables, for JSON.
    pub facts: Map<String, Value>,
    /// The tables, the main one first.
    pub tables: Vec<Table>,
    /// Sentences for people, after the tables.
    pub notes: Vec<String>,
}

/// Rows of cells under columns.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name of the array of rows in JSON.
    pub key: &'static str,
    /// Title for people; may be empty.
    pub title: String,
    /// What stands in each column.
    pub columns: Vec<Column>,
    /// The cells, one for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name in JSON and CSV.
    pub key: String,
    /// Its name for people.
    pub head: String,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A word or a sentence.
    Text(String),
    /// A count.
    Count(u64),
    /// A number, of which people see so many significant digits after the point.
    Number(f64, usize),
    /// A share, which people see in percent.
    Share(f64),
    /// Yes or no; people see a mark or nothing.
    Flag(bool),
    /// Nothing is known.
    Absent,
}

impl Cell {
    /// A word or a sentence.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A count.
    #[must_use]
    pub fn count(count: usize) -> Cell {
        Cell::Count(count as u64)
    }

    /// What there may be.
    pub fn option<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
        value.map_or(Cell::Absent, cell)
    }

    /// For people.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Number(value, digits) => format!("{value:.digits$}"),
            Cell::Share(share) => format!("{:.1} %", 100.0 * share),
            Cell::Flag(true) => "*".to_owned(),
            Cell::Flag(false) => String::new(),
            Cell::Absent => "-".to_owned(),
        }
    }

    /// For spreadsheets.
    fn plain(&self) -> String {
        match self {
            Cell::Text(text) => quoted(text),
            Cell::Count(count) => count.to_string(),
            Cell::Number(value, _) | Cell::Share(value) => value.to_string(),
            Cell::Flag(flag) => flag.to_string(),
            Cell::Absent => String::new(),
        }
    }

    /// For programs. What is not finite is `null`.
    fn json(&self) -> Value {
        match self {
            Cell::Text(text) => json!(text),
            Cell::Count(count) => json!(count),
            Cell::Number(value, _) | Cell::Share(value) => json!(value),
            Cell::Flag(flag) => json!(flag),
            Cell::Absent => Value::Null,
        }
    }

    /// Whether people expect it at the right.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        matches!(self, Cell::Count(_) | Cell::Number(..) | Cell::Share(_))
    }
}

/// A field of CSV, in quotes where it needs them.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

impl Table {
    /// A table without rows; each column is `key head`, or `key` alone where people read the same.
    #[must_use]
    pub fn new(key: &'static str, title: impl Into<String>, columns: &[(&str, &str)]) -> Table {
        let column = |(key, head): &(&str, &str)| Column { key: (*key).to_owned(), head: (*head).to_owned() };
        Table { key, title: title.into(), columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let fields = self.columns.iter().zip(row).map(|(column, cell)| (column.key.clone(), cell.json()));
            Value::Object(fields.collect())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let heads: Vec<String> = self.columns.iter().map(|column| quoted(&column.key)).collect();
        writeln!(out, "{}", heads.join(","))?;
        for row in &self.rows {
            writeln!(out, "{}", row.iter().map(Cell::plain).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }

    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.title.is_empty() {
            writeln!(out, "{}", self.title)?;
        }
        let shown: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect();
        let n_columns = self.columns.len();
        let width = |idx: usize| {
            let cells = shown.iter().map(|row| row[idx].chars().count());
            cells.chain([self.columns[idx].head.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..n_columns).map(width).collect();
        let is_right: Vec<bool> = (0..n_columns).map(|idx| self.rows.iter().any(|row| row[idx].is_numeric())).collect();
        let mut line = |cells: Vec<&str>| {
            let padded = cells.iter().enumerate().map(|(idx, cell)| match is_right[idx] {
                true => format!("{cell:>0$}", widths[idx]),
                false => format!("{cell:<0$}", widths[idx]),
            });
            writeln!(out, "{}", padded.collect::<Vec<_>>().join("  ").trim_end())
        };
        line(self.columns.iter().map(|column| column.head.as_str()).collect())?;
        for row in &shown {
            line(row.iter().map(String::as_str).collect())?;
        }
        Ok(())
    }
}

impl Report {
    /// A report with this main table.
    #[must_use]
    pub fn of(table: Table) -> Report {
        Report { tables: vec![table], ..Report::default() }
    }

    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, key: &str, value: impl Into<Value>) -> Report {
        self.facts.insert(key.to_owned(), value.into());
        self
    }

    /// Adds a sentence for people.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Report {
        self.notes.push(note.into());
        self
    }

    /// The object that JSON prints.
    #[must_use]
    pub fn json(&self, command: &str) -> Value {
        let mut object = Map::new();
        object.insert("schema".to_owned(), json!(SCHEMA));
        object.insert("command".to_owned(), json!(command));
        object.extend(self.facts.clone());
        object.extend(self.tables.iter().map(|table| (table.key.to_owned(), table.json())));
        Value::Object(object)
    }

    /// Prints to standard output.
    ///
    /// # Errors
    /// If it is closed or fails.
    pub fn print(&self, command: &str, format: Format) -> Result<(), CliError> {
        let out = &mut io::stdout().lock();
        match format {
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, &self.json(command)).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Format::Csv => match self.tables.first() {
                Some(table) => table.write_csv(out)?,
                None => {
                    return Err(CliError::Usage(
                        "this command has no table to print as CSV; use --format json".to_owned(),
                    ));
                }
            },
            Format::Table => {
                for (idx, table) in self.tables.iter().enumerate() {
                    if idx > 0 {
                        writeln!(out)?;
                    }
                    table.write_table(out)?;
                }
                for note in &self.notes {
                    writeln!(out, "{note}")?;
                }
            }
        }
        out.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new("bags", "Bags", &[("bag", "bag"), ("score", "score"), ("accuracy", "right")]);
        table.row([Cell::text("a, \"b\""), Cell::Number(0.1 + 0.2, 3), Cell::Share(0.875)]);
        table.row([Cell::text("c"), Cell::Absent, Cell::Share(1.0)]);
        table
    }

    fn written(write: impl Fn(&Table, &mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&sample(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn people_see_rounded_numbers_in_columns() {
        assert_eq!(
            written(Table::write_table),
            "Bags\nbag     score    right\na, \"b\"  0.300   87.5 %\nc           -  100.0 %\n"
        );
    }

    #[test]
    fn spreadsheets_see_every_digit() {
        let expected = "bag,score,accuracy\n\"a, \"\"b\"\"\",0.30000000000000004,0.875\nc,,1\n";
        assert_eq!(written(Table::write_csv), expected);
    }

    #[test]
    fn programs_see_a_schema_and_values() {
        let json = Report::of(sample()).fact("seed", 1).json("predict");
        assert_eq!(json["schema"], "mil-cli/1");
        assert_eq!((&json["command"], &json["seed"]), (&json!("predict"), &json!(1)));
        assert_eq!(json["bags"][0]["score"].as_f64(), Some(0.1 + 0.2));
        assert_eq!(json["bags"][1]["score"], Value::Null);
    }

    #[test]
    fn what_is_not_finite_is_null() {
        assert_eq!(Cell::Number(f64::INFINITY, 2).json(), Value::Null);
    }
}
