//! Weka's multi-instance ARFF: one line per bag, its instances inside a quoted string.
//!
//! ```text
//! @relation bags
//! @attribute bag {left,right}
//! @attribute instances relational
//! @attribute f1 numeric
//! @attribute f2 numeric
//! @end instances
//! @attribute class {0,1}
//! @data
//! left,"1,2\n3,4",1
//! right,"5,6",0
//! ```
//!
//! The three attributes come in this order: the bag (nominal or string), the relational one (numeric inside), the class (nominal or
//! string), which unlabelled data may leave out. Labels of instances have no place: Weka's learners would take them for a feature.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

use crate::error::{DataError, Fault, Part, Uncarried, shorten};
use crate::options::{Format, Limits, ReadOptions};
use crate::sheet::{LabelKind, Sheet};
use crate::table::{BagTable, Declared, PlaceStyle, RowHead, Rows, UNLABELLED};
use crate::text::{Line, Lines, Word, format_number, input};

pub(crate) fn read(mut lines: Lines<'_>, source_name: &str, options: &ReadOptions) -> Result<BagTable, DataError> {
    let header = Header::read(&mut lines, source_name, &options.limits)?;
    let mut rows = Rows::new(source_name, &options.limits, PlaceStyle::Text);
    while let Some(line) = lines.next_filled()? {
        if !is_comment(&line) {
            read_bag(&line, &header, &mut rows)?;
        }
    }
    let declared = Declared { feature_names: Some(header.feature_names), classes: header.class_list };
    rows.finish(Format::Arff, declared, lines.end())
}

/// What stands before `@data`.
struct Header {
    /// The bags, where the attribute is nominal.
    bags: Option<HashSet<String>>,
    feature_names: Vec<String>,
    /// `None` where there is no class attribute.
    class: Option<Domain>,
    /// The classes declared, in order.
    class_list: Vec<String>,
}

/// The words an attribute may hold.
enum Domain {
    Any,
    Of(HashSet<String>),
}

/// The attributes as they come.
#[derive(Default)]
struct Draft {
    bags: Option<Domain>,
    relation: Option<Relation>,
    class: Option<Domain>,
    class_list: Vec<String>,
}

struct Relation {
    name: String,
    feature_names: Vec<String>,
    feature_lines: HashMap<String, u64>,
    is_open: bool,
}

impl Header {
    fn read(lines: &mut Lines<'_>, source_name: &str, limits: &Limits) -> Result<Header, DataError> {
        let mut draft = Draft::default();
        loop {
            let Some(line) = lines.next_filled()? else {
                let found = "the end of the file".to_owned();
                return Err(input(source_name, lines.end(), Fault::Expected { expected: "@data", found }));
            };
            if is_comment(&line) {
                continue;
            }
            let (keyword, rest) = keyword(&line);
            match keyword.to_ascii_lowercase().as_str() {
                "@relation" => {}
                "@attribute" => draft.add_attribute(&line, rest, limits)?,
                "@end" => draft.close_relation(&line, rest)?,
                "@data" => return draft.finish(&line),
                _ => return Err(expected(&line, 0, "@relation, @attribute, @end or @data", keyword)),
            }
        }
    }
}

impl Draft {
    fn add_attribute(&mut self, line: &Line<'_>, start: usize, limits: &Limits) -> Result<(), DataError> {
        let (name, at) = word(line, start, |byte| byte.is_ascii_whitespace())?;
        let name = name.ok_or_else(|| expected(line, start, "the name of an attribute", ""))?;
        let at = skip_blanks(line.text, at);
        let kind = line.text[at..].trim_ascii_end();
        if let Some(relation) = self.relation.as_mut().filter(|relation| relation.is_open) {
            return relation.add_feature(line, name.into_owned(), start, kind, at, limits);
        }
        match (&self.bags, &self.relation, &self.class) {
            (None, _, _) => self.bags = Some(domain(line, kind, at)?.0),
            (Some(_), None, _) if kind.eq_ignore_ascii_case("relational") => {
                let name = name.into_owned();
                self.relation =
                    Some(Relation { name, feature_names: Vec::new(), feature_lines: HashMap::new(), is_open: true });
            }
            (Some(_), None, _) => {
                return Err(expected(line, at, "relational as the kind of the second attribute", kind));
            }
            (Some(_), Some(_), None) => {
                let (domain, list) = domain(line, kind, at)?;
                (self.class, self.class_list) = (Some(domain), list);
            }
            (Some(_), Some(_), Some(_)) => {
                return Err(expected(line, start, "three attributes: bag, relational, class", "a fourth"));
            }
        }
        Ok(())
    }

    fn close_relation(&mut self, line: &Line<'_>, start: usize) -> Result<(), DataError> {
        let (name, _) = word(line, start, |byte| byte.is_ascii_whitespace())?;
        match self.relation.as_mut().filter(|relation| relation.is_open) {
            Some(relation) if name.as_deref() == Some(&relation.name) => {
                relation.is_open = false;
                Ok(())
            }
            Some(_) => Err(expected(line, start, "the name of the relational attribute", &name.unwrap_or_default())),
            None => Err(expected(line, 0, "@attribute or @data, as no relational attribute is open", "@end")),
        }
    }

    fn finish(self, line: &Line<'_>) -> Result<Header, DataError> {
        let (Some(bags), Some(relation)) = (self.bags, self.relation) else {
            return Err(expected(line, 0, "an attribute for the bag and a relational one", "@data"));
        };
        if relation.is_open || relation.feature_names.is_empty() {
            return Err(expected(line, 0, "numeric attributes inside the relational one, closed by @end", "@data"));
        }
        let bags = if let Domain::Of(names) = bags { Some(names) } else { None };
        Ok(Header { bags, feature_names: relation.feature_names, class: self.class, class_list: self.class_list })
    }
}

impl Relation {
    fn add_feature(
        &mut self,
        line: &Line<'_>,
        name: String,
        name_at: usize,
        kind: &str,
        kind_at: usize,
        limits: &Limits,
    ) -> Result<(), DataError> {
        if !["numeric", "real", "integer"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
            return Err(expected(line, kind_at, "numeric, real or integer as the kind of a feature", kind));
        }
        if self.feature_names.len() == limits.max_columns {
            return Err(line.fault(name_at, Fault::TooManyColumns { limit: limits.max_columns }));
        }
        if let Some(first_line) = self.feature_lines.insert(name.clone(), line.number) {
            return Err(line.fault(name_at, Fault::Duplicate { part: Part::FeatureName, value: name, first_line }));
        }
        self.feature_names.push(name);
        Ok(())
    }
}

/// The words of a nominal attribute, or any word for a string attribute.
fn domain(line: &Line<'_>, kind: &str, at: usize) -> Result<(Domain, Vec<String>), DataError> {
    if kind.eq_ignore_ascii_case("string") {
        return Ok((Domain::Any, Vec::new()));
    }
    if !kind.starts_with('{') {
        return Err(expected(line, at, "a list of words in { } or string", kind));
    }
    let (mut words, mut list, mut at) = (HashSet::new(), Vec::new(), at + 1);
    loop {
        let (word, after) = word(line, at, |byte| matches!(byte, b',' | b'}'))?;
        if let Some(word) = word
            && words.insert(word.clone().into_owned())
        {
            list.push(word.into_owned());
        }
        at = skip_blanks(line.text, after);
        match line.text.as_bytes().get(at) {
            Some(b',') => at += 1,
            Some(b'}') => return Ok((Domain::Of(words), list)),
            _ => return Err(expected(line, at, ", or } in a list of words", &line.text[at..])),
        }
    }
}

/// Reads one line of data: all instances of one bag.
fn read_bag(line: &Line<'_>, header: &Header, rows: &mut Rows) -> Result<(), DataError> {
    let is_comma = |byte| byte == b',';
    let bag_start = skip_blanks(line.text, 0);
    let (bag, at) = word(line, bag_start, is_comma)?;
    // A question mark without quotes is ARFF's missing value.
    let bag = bag.filter(|bag| bag != UNLABELLED || !line.text[bag_start..].starts_with(UNLABELLED));
    let bag = bag.ok_or_else(|| line.fault(bag_start, Fault::Missing { part: Part::Bag }))?;
    check_bag(line, bag_start, &bag, header, rows)?;

    let content_start = skip_blanks(line.text, after_comma(line, at)?);
    let Some(&quote @ (b'"' | b'\'')) = line.text.as_bytes().get(content_start) else {
        let rest = &line.text[content_start..];
        return Err(expected(line, content_start, "the instances of the bag in quotes", rest));
    };
    let content = quoted(line, content_start, quote)?;
    let after_content = content.end + 1;

    let (label, label_start) = match &header.class {
        None => (Word::Borrowed(UNLABELLED), bag_start),
        Some(domain) => {
            let start = skip_blanks(line.text, after_comma(line, after_content)?);
            let (label, end) = word(line, start, is_comma)?;
            let label = label.ok_or_else(|| line.fault(start, Fault::Missing { part: Part::Label }))?;
            check_end(line, end)?;
            if let Domain::Of(words) = domain
                && label != UNLABELLED
                && !words.contains(label.as_ref())
            {
                return Err(line.fault(start, Fault::Undeclared { part: Part::Label, word: shorten(&label) }));
            }
            (label, start)
        }
    };
    if header.class.is_none() {
        check_end(line, after_content)?;
    }

    let head = RowHead { bag: &bag, label: &label, instance_label: None, line: line.number };
    let spot_of = |part| (line.number, line.column(if part == Part::Label { label_start } else { bag_start }));
    read_instances(line, content, header.feature_names.len(), rows, |rows| rows.end_row(&head, spot_of))
}

fn check_bag(line: &Line<'_>, at: usize, bag: &str, header: &Header, rows: &Rows) -> Result<(), DataError> {
    if let Some(first_line) = rows.first_line_of(bag) {
        return Err(line.fault(at, Fault::Duplicate { part: Part::Bag, value: bag.to_owned(), first_line }));
    }
    match &header.bags {
        Some(names) if !names.contains(bag) => {
            Err(line.fault(at, Fault::Undeclared { part: Part::Bag, word: shorten(bag) }))
        }
        _ => Ok(()),
    }
}

/// Reads numbers between commas, and rows between the two characters `\n`.
fn read_instances(
    line: &Line<'_>,
    content: Range<usize>,
    n_features: usize,
    rows: &mut Rows,
    end_row: impl Fn(&mut Rows) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let bytes = &line.text.as_bytes()[..content.end];
    let mut start = content.start;
    if line.text[content.clone()].trim_ascii().is_empty() {
        return Err(expected(line, start, "at least one instance in the bag", "none"));
    }
    while start < content.end {
        let mut feature = 0;
        loop {
            let end = bytes[start..].iter().position(|&b| matches!(b, b',' | b'\\')).map_or(content.end, |n| start + n);
            feature += 1;
            if feature > n_features {
                return Err(line.fault(start, Fault::Ragged { found: feature, expected: n_features }));
            }
            rows.values.push(line.number_in(start..end, feature)?);
            start = end + 1;
            if bytes.get(end) != Some(&b',') {
                if end < content.end {
                    if bytes.get(start) != Some(&b'n') {
                        return Err(expected(line, end, "\\n between instances", &line.text[end..content.end]));
                    }
                    start += 1;
                }
                if feature < n_features {
                    return Err(line.fault(end, Fault::Ragged { found: feature, expected: n_features }));
                }
                break;
            }
        }
        end_row(rows)?;
    }
    Ok(())
}

fn is_comment(line: &Line<'_>) -> bool {
    line.text.trim_ascii_start().starts_with('%')
}

/// The first word of a line and where the rest begins.
fn keyword<'a>(line: &Line<'a>) -> (&'a str, usize) {
    let start = skip_blanks(line.text, 0);
    let rest = &line.text[start..];
    let length = rest.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
    (&rest[..length], skip_blanks(line.text, start + length))
}

/// A word, quoted or up to where it `ends`, and the position after it; `None` if there is none.
fn word<'a>(line: &Line<'a>, start: usize, ends: impl Fn(u8) -> bool) -> Result<(Option<Word<'a>>, usize), DataError> {
    let start = skip_blanks(line.text, start);
    let bytes = line.text.as_bytes();
    match bytes.get(start) {
        Some(&quote @ (b'"' | b'\'')) => {
            let content = quoted(line, start, quote)?;
            let after = content.end + 1;
            Ok((Some(unescape(line, content)?), after))
        }
        _ => {
            let end = bytes[start..].iter().position(|&byte| ends(byte)).map_or(bytes.len(), |length| start + length);
            let text = line.text[start..end].trim_ascii_end();
            Ok(((!text.is_empty()).then_some(Word::Borrowed(text)), end))
        }
    }
}

/// The bytes between a quote and its partner; a backslash guards the character after it.
fn quoted(line: &Line<'_>, open: usize, quote: u8) -> Result<Range<usize>, DataError> {
    let bytes = line.text.as_bytes();
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return Ok(open + 1..at),
            _ => at += 1,
        }
    }
    Err(line.fault(open, Fault::UnterminatedQuote))
}

fn unescape<'a>(line: &Line<'a>, content: Range<usize>) -> Result<Word<'a>, DataError> {
    let text = &line.text[content.clone()];
    if !text.contains('\\') {
        return Ok(Word::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        plain.push(match chars.next() {
            Some((_, 'n')) => '\n',
            Some((_, 'r')) => '\r',
            Some((_, 't')) => '\t',
            Some((_, guarded @ ('\\' | '\'' | '"' | '%'))) => guarded,
            _ => return Err(expected(line, content.start + at, "one of \\n \\r \\t \\\\ \\' \\\" \\%", &text[at..])),
        });
    }
    Ok(Word::Owned(plain))
}

fn after_comma(line: &Line<'_>, at: usize) -> Result<usize, DataError> {
    let at = skip_blanks(line.text, at);
    match line.text.as_bytes().get(at) {
        Some(b',') => Ok(at + 1),
        _ => Err(expected(line, at, "a comma", &line.text[at..])),
    }
}

fn check_end(line: &Line<'_>, at: usize) -> Result<(), DataError> {
    match line.text[at..].trim_ascii() {
        "" => Ok(()),
        rest => Err(expected(line, at, "the end of the line", rest)),
    }
}

fn expected(line: &Line<'_>, at: usize, expected: &'static str, found: &str) -> DataError {
    let found = if found.is_empty() { "nothing".to_owned() } else { format!("{:?}", shorten(found)) };
    line.fault(at, Fault::Expected { expected, found })
}

fn skip_blanks(text: &str, start: usize) -> usize {
    text.len() - text[start..].trim_ascii_start().len()
}

pub(crate) fn check(sheet: &Sheet<'_>) -> Result<(), Uncarried> {
    sheet.refuse_instance_labels()?;
    sheet.require_class_names(|_| true)
}

pub(crate) fn write(sheet: &Sheet<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "@relation bags")?;
    writeln!(out, "@attribute bag {{{}}}", list(sheet.names.iter().map(String::as_str)))?;
    writeln!(out, "@attribute instances relational")?;
    for feature_idx in 0..sheet.n_features {
        writeln!(out, "@attribute {} numeric", quote(&sheet.feature_name(feature_idx)))?;
    }
    writeln!(out, "@end instances")?;
    match sheet.kind {
        LabelKind::Binary => writeln!(out, "@attribute class {{0,1}}")?,
        LabelKind::Classes => writeln!(out, "@attribute class {{{}}}", list(sheet.classes.iter().copied()))?,
        LabelKind::None => {}
    }
    writeln!(out, "@data")?;
    for (bag_idx, name) in sheet.names.iter().enumerate() {
        write!(out, "{},\"", quote(name))?;
        for instance_idx in sheet.offsets[bag_idx]..sheet.offsets[bag_idx + 1] {
            if instance_idx > sheet.offsets[bag_idx] {
                out.write_all(b"\\n")?;
            }
            for (feature_idx, &value) in sheet.instance(instance_idx).iter().enumerate() {
                let comma = if feature_idx > 0 { "," } else { "" };
                write!(out, "{comma}{}", format_number(value))?;
            }
        }
        match sheet.kind {
            LabelKind::None => writeln!(out, "\"")?,
            _ => writeln!(out, "\",{}", quote(sheet.labels[bag_idx]))?,
        }
    }
    Ok(())
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| quote(word).into_owned()).collect::<Vec<_>>().join(",")
}

fn quote(word: &str) -> Word<'_> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
    if !word.is_empty() && word.chars().all(is_plain) {
        return Word::Borrowed(word);
    }
    let mut quoted = String::with_capacity(word.len() + 2);
    quoted.push('\'');
    for c in word.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' | '"' | '%' => quoted.extend(['\\', c]),
            _ => quoted.push(c),
        }
    }
    quoted.push('\'');
    Word::Owned(quoted)
}
