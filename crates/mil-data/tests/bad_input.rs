//! Every fault of the input is an error that names its place.

use std::io::Write;

use mil_core::{BagSet, Label};
use mil_data::{
    Column, Columns, CsvOptions, DataError, Format, Header, Limits, ReadOptions, WriteOptions, read, write,
};

fn error(format: Format, bytes: impl AsRef<[u8]>) -> String {
    error_with(format, bytes, &ReadOptions::default())
}

fn error_with(format: Format, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let outcome = read(bytes.as_ref(), "bad", format, options);
    outcome.expect_err("the input is bad").to_string()
}

#[track_caller]
fn assert_starts(message: &str, start: &str) {
    assert!(message.starts_with(start), "expected {start:?}, found {message:?}");
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

const ARFF: &str = "@relation r\n@attribute bag {a,b}\n@attribute x relational\n@attribute f1 numeric\n\
                    @attribute f2 numeric\n@end x\n@attribute class {0,1}\n@data\n";

fn arff(data: &str) -> String {
    format!("{ARFF}{data}")
}

#[test]
fn an_empty_file_has_no_instance() {
    for text in ["", "\n\n", "\u{feff}", "\u{feff}\r\n"] {
        for format in [Format::C45, Format::Svm, Format::Csv] {
            assert!(error(format, text).ends_with("no instance found; expected at least one"), "{format} {text:?}");
        }
    }
    assert_eq!(error(Format::Csv, ""), "bad, line 1, column 1: no instance found; expected at least one");
    assert_starts(&error(Format::Csv, "label,bag,x\n"), "bad, line 1, column 1: no instance found");
    assert_starts(&error(Format::Svm, "# only a comment\n"), "bad, line 1, column 1: no instance found");
    assert_starts(&error(Format::Arff, ""), "bad, line 1, column 1: expected @data, found the end of the file");
    assert_starts(&error(Format::Arff, ARFF), "bad, line 8, column 1: no instance found");
    assert_starts(&error(Format::Npz, ""), "bad: no instance found");
    assert_starts(&error(Format::Parquet, ""), "bad: no instance found");
}

#[test]
fn compressed_data_cut_short_damaged_or_followed_by_more() {
    let text = "1,a,2\n1,a,3\n";
    let whole = gzipped(text);
    assert_eq!(
        error(Format::Csv, &whole[..whole.len() - 3]),
        "bad: the gzip data end too early; the file is incomplete"
    );
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 0xff;
    assert_eq!(error(Format::Csv, damaged), "bad: the gzip data are damaged");
    let trailing = [&whole[..], b"x"].concat();
    assert_eq!(
        error(Format::Csv, trailing),
        format!(
            "bad: byte {} (from 0) follows the end of the gzip data and is not gzip; expected nothing",
            whole.len()
        )
    );
    let two_members = [gzipped("1,a,2\n0,b,"), gzipped("3\n")].concat();
    let table = read(&two_members[..], "good", Format::Csv, &ReadOptions::default()).unwrap();
    assert_eq!((table.n_bags(), table.values()), (2, &[2.0, 3.0][..]));
}

#[test]
fn a_missing_value_is_named() {
    let missing = "is missing; expected a number";
    assert_starts(&error(Format::Csv, "1,a,2,3\n1,a,,3\n"), &format!("bad, line 2, column 5: feature 1 {missing}"));
    assert_starts(&error(Format::Csv, "1,a,2,3\n1,a,4,?\n"), &format!("bad, line 2, column 7: feature 2 {missing}"));
    assert_starts(&error(Format::C45, "a,i,?,1.\n"), &format!("bad, line 1, column 5: feature 1 {missing}"));
    assert_starts(&error(Format::Svm, "0:a:1 1:? \n"), &format!("bad, line 1, column 9: feature 1 {missing}"));
    assert_starts(&error(Format::Arff, arff("a,\"1,?\",1\n")), &format!("bad, line 9, column 6: feature 2 {missing}"));
    assert_starts(&error(Format::Csv, "1,,2\n"), "bad, line 1, column 3: the bag's name is missing");
    assert_starts(&error(Format::Csv, ",a,2\n"), "bad, line 1, column 1: the label is missing; expected a word, or ?");
    assert_starts(&error(Format::Arff, arff("?,\"1,2\",1\n")), "bad, line 9, column 1: the bag's name is missing");
}

#[test]
fn a_value_beyond_the_numbers_is_named() {
    for word in ["NaN", "inf", "-Infinity", "1e999"] {
        let finite = format!("is {word}; expected a finite number");
        assert_eq!(error(Format::Csv, format!("1,ü,2,{word}\n")), format!("bad, line 1, column 7: feature 2 {finite}"));
        assert_eq!(
            error(Format::C45, format!("a,i,{word},1.\n")),
            format!("bad, line 1, column 5: feature 1 {finite}")
        );
        assert_eq!(error(Format::Svm, format!("0:a:1 7:{word}")), format!("bad, line 1, column 9: feature 7 {finite}"));
        let text = arff(&format!("a,\"1,2\\n3,{word}\",1\n"));
        assert_eq!(error(Format::Arff, text), format!("bad, line 9, column 11: feature 2 {finite}"));
    }
}

#[test]
fn a_word_in_place_of_a_number_is_named() {
    let expected = "is \"x1\"; expected a number";
    assert_eq!(error(Format::Csv, "1,a, x1\n"), format!("bad, line 1, column 6: feature 1 {expected}"));
    assert_eq!(error(Format::C45, "a,i,3,x1,1.\n"), format!("bad, line 1, column 7: feature 2 {expected}"));
    assert_eq!(error(Format::Svm, "0:a:1 2:x1\n"), format!("bad, line 1, column 9: feature 2 {expected}"));
    assert_eq!(error(Format::Arff, arff("a,'x1,2',1\n")), format!("bad, line 9, column 4: feature 1 {expected}"));
    let long = format!("1,a,{}\n", "z".repeat(1000));
    assert!(error(Format::Csv, long).len() < 200);
}

#[test]
fn a_ragged_row_is_named() {
    assert_eq!(error(Format::Csv, "1,a,2,3\n1,a,2\n"), "bad, line 2, column 6: the row has 3 fields; expected 4");
    assert_eq!(error(Format::Csv, "1,a,2\n1,a,2,3\n"), "bad, line 2, column 7: the row has 4 fields; expected 3");
    assert_eq!(error(Format::C45, "a,i,2,3,1.\na,j,2,1.\n"), "bad, line 2, column 9: the row has 4 fields; expected 5");
    assert_eq!(
        error(Format::Arff, arff("a,\"1,2\\n3\",1\n")),
        "bad, line 9, column 10: the row has 1 fields; expected 2"
    );
    assert_eq!(error(Format::Arff, arff("a,\"1,2,3\",1\n")), "bad, line 9, column 8: the row has 3 fields; expected 2");
    assert_starts(&error(Format::Csv, "1,a\n"), "bad, line 1, column 1: the row has 2 fields; expected at least 3");
    assert_starts(&error(Format::C45, "a,i,1.\n"), "bad, line 1, column 7: the row has 3 fields; expected at least 4");
}

#[test]
fn labels_that_disagree_are_named() {
    let expected = "bag \"a\" has label \"0\" here and \"1\" on line (or row) 1; all rows of a bag must agree";
    assert_eq!(error(Format::Csv, "1,a,2\n0,a,3\n"), format!("bad, line 2, column 1: {expected}"));
    assert_eq!(error(Format::C45, "a,i,2,1.\na,j,3,0.\n"), format!("bad, line 2, column 7: {expected}"));
    assert_eq!(error(Format::Svm, "0:a:1 1:2\n1:a:0 1:3\n"), format!("bad, line 2, column 5: {expected}"));
}

#[test]
fn a_bag_that_comes_again_is_named() {
    let expected = "bag \"a\" began on line (or row) 1, was followed by another bag and comes again";
    assert_starts(&error(Format::Csv, "1,a,2\n1,b,2\n1,a,3\n"), &format!("bad, line 3, column 3: {expected}"));
    assert_starts(&error(Format::C45, "a,i,2,1.\nb,i,3,0.\na,j,1,1.\n"), &format!("bad, line 3, column 1: {expected}"));
    assert_starts(
        &error(Format::Svm, "0:a:1 1:2\n1:b:0 1:3\n2:a:1 1:1"),
        &format!("bad, line 3, column 3: {expected}"),
    );
}

#[test]
fn an_id_that_comes_twice_is_named() {
    assert_eq!(
        error(Format::Svm, "7:a:1 1:2\n\n7:b:0 1:3\n"),
        "bad, line 3, column 1: the instance's name \"7\" was used before, on line (or row) 1; it must be unique"
    );
    assert_starts(
        &error(Format::C45, "a,i,2,1.\na,i,3,1.\n"),
        "bad, line 2, column 3: the instance's name \"i\" was used",
    );
    assert!(read(&b"a,i,2,1.\nb,i,3,1.\n"[..], "good", Format::C45, &ReadOptions::default()).is_ok());
    assert_starts(
        &error(Format::Arff, arff("a,\"1,2\",1\na,\"3,4\",1\n")),
        "bad, line 10, column 1: the bag's name \"a\" was used before, on line (or row) 9",
    );
    assert_starts(
        &error(Format::Csv, "label,bag,x,x\n1,a,2,3\n"),
        "bad, line 1, column 13: the feature's name \"x\" was used",
    );
}

#[test]
fn a_byte_that_is_not_text_is_named() {
    assert_eq!(
        error(Format::Csv, b"1,a,2\r\n1,\xc3\xbc\xff,3\n"),
        "bad, line 2, column 4: byte 0xff (byte 11 of the source, from 0) is not UTF-8 text; convert the file to UTF-8"
    );
    assert_starts(&error(Format::Svm, b"\xef\xbb\xbf0:\xfe:1 1:1"), "bad, line 1, column 3: byte 0xfe (byte 5 of");
}

#[test]
fn limits_stop_what_is_too_large_and_say_how_to_go_on() {
    let wide = format!("1,a{}\n", ",0".repeat(1_000_000));
    assert_starts(
        &error(Format::Csv, &wide),
        "bad, line 1, column 200001: more than 100000 columns; if that is meant, raise",
    );
    let wide_c45 = format!("a,i{},1.\n", ",0".repeat(1_000_000));
    assert_starts(&error(Format::C45, wide_c45), "bad, line 1, column 200001: more than 100000 columns");
    assert_starts(&error(Format::Svm, "0:a:1 1000000:1\n"), "bad, line 1, column 7: more than 100000 columns");
    let raised = Limits { max_columns: 2_000_000, ..Default::default() };
    let options = ReadOptions { limits: raised, ..Default::default() };
    assert_eq!(read(wide.as_bytes(), "good", Format::Csv, &options).unwrap().n_features(), 1_000_000);

    let short = ReadOptions { limits: Limits { max_line_bytes: 7, ..Default::default() }, ..Default::default() };
    assert!(read(&b"1,a,123\r\n"[..], "good", Format::Csv, &short).is_ok());
    assert_starts(
        &error_with(Format::Csv, "1,a,1\n1,a,1234\n", &short),
        "bad, line 2, column 1: the line is longer than 7 bytes; if that is meant, raise `limits.max_line_bytes`",
    );
    let few = ReadOptions { limits: Limits { max_values: 3, ..Default::default() }, ..Default::default() };
    assert!(error_with(Format::Csv, "1,a,1,2\n1,a,3,4\n", &few).contains("more than 3 values"));
    assert!(error_with(Format::Svm, "0:a:1 1:1\n1:a:1 2:1\n", &few).contains("more than 3 values"));
}

#[test]
fn a_label_of_unknown_meaning_is_named() {
    let binary = |text: &str, positive| {
        read(text.as_bytes(), "bad", Format::Csv, &ReadOptions::default()).unwrap().binary(positive)
    };
    assert_starts(
        &binary("1,a,2\nmaybe,b,3\n", None).unwrap_err().to_string(),
        "bad, line 2, column 1: the label is \"maybe\"; expected one of 1, +1, 1.0, positive, pos, true, yes or 0, 0.0, -1",
    );
    assert_starts(
        &binary("1,a,2\n0,b,3\n-1,c,3\n", None).unwrap_err().to_string(),
        "bad, line 3, column 1: label \"-1\", but \"0\" stood for negative before",
    );
    assert_starts(
        &binary("1,a,2\n?,b,3\n", None).unwrap_err().to_string(),
        "bad, line 2, column 1: bag \"b\" has no label (?)",
    );
    let labels = binary("YES,a,2\nno,b,3\n", None).unwrap().labels().to_vec();
    assert_eq!(labels, [Label::Positive, Label::Negative]);
    let chosen = binary("0,a,2\n7,b,3\n-1,c,3\n", Some("7")).unwrap().labels().to_vec();
    assert_eq!(chosen, [Label::Negative, Label::Positive, Label::Negative]);
    let partly = "label,bag,instance_label,x\n1,a,1,2\n1,a,?,3\n";
    assert_starts(
        &binary(partly, None).unwrap_err().to_string(),
        "bad, line 3, column 5: some instances have a label and this one has none",
    );
    assert_starts(
        &error(Format::Arff, arff("a,\"1,2\",2\n")),
        "bad, line 9, column 9: the label \"2\" is not among those declared",
    );
    assert_starts(
        &error(Format::Arff, arff("c,\"1,2\",1\n")),
        "bad, line 9, column 1: the bag's name \"c\" is not among",
    );
}

#[test]
fn quotes_must_close_and_stand_alone() {
    let unterminated = "this quote is never closed; expected its partner on the same line";
    assert_eq!(error(Format::Csv, "1,a,2\n1,\"b,2\n"), format!("bad, line 2, column 3: {unterminated}"));
    assert_eq!(error(Format::Arff, arff("a,\"1,2,1\n")), format!("bad, line 9, column 3: {unterminated}"));
    assert_eq!(error(Format::Arff, "@attribute 'x {a}\n"), format!("bad, line 1, column 12: {unterminated}"));
    assert_starts(&error(Format::Csv, "1,\"b\"c,2\n"), "bad, line 1, column 6: text after a closing quote");
}

#[test]
fn line_ends_byte_order_marks_and_blank_lines_do_not_matter() {
    for (format, text) in [
        (Format::Csv, "label,bag,f1,f2\n1,a,1,2\n0,b,3,4\n".to_owned()),
        (Format::C45, "a,i,1,2,1.\nb,i,3,4,0.\n".to_owned()),
        (Format::Svm, "# comment\n0:a:1 1:1 2:2\n1:b:0 1:3 2:4\n".to_owned()),
        (Format::Arff, arff("a,\"1,2\",1\nb,\"3,4\",0\n")),
    ] {
        let plain = read(text.as_bytes(), "good", format, &ReadOptions::default()).unwrap().binary(None).unwrap();
        let variants = [
            text.replace('\n', "\r\n"),
            format!("\u{feff}{text}"),
            format!("{text}\n\r\n \n"),
            text.trim_end().to_owned(),
        ];
        for variant in variants {
            let table = read(variant.as_bytes(), "good", format, &ReadOptions::default()).unwrap();
            assert_eq!(table.binary(None).unwrap(), plain, "{format} {variant:?}");
        }
    }
}

#[test]
fn columns_that_do_not_exist_are_named() {
    let choose = |bag| ReadOptions { columns: Columns { bag, ..Default::default() }, ..Default::default() };
    let text = "molecule,y,x\na,1,2\n";
    let named = choose(Column::Named("molecule".into()));
    assert_eq!(read(text.as_bytes(), "good", Format::Csv, &named).unwrap().names(), ["a"]);
    let wrong = error_with(Format::Csv, text, &choose(Column::Named("mol".into())));
    assert_eq!(wrong, "bad, line 1, column 1: there is no column \"mol\"");
    let beyond = error_with(Format::Csv, "1,a,2\n", &choose(Column::At(4)));
    assert_eq!(beyond, "bad, line 1, column 1: there is no column 4; there are 3, counted from 1");
    let present =
        ReadOptions { csv: CsvOptions { header: Header::Present, ..Default::default() }, ..Default::default() };
    assert_starts(&error_with(Format::Csv, text, &present), "bad, line 1, column 1: there is no column for the bag");
    let semicolons = ReadOptions { csv: CsvOptions { separator: b';', ..Default::default() }, ..Default::default() };
    assert_eq!(read(&b"1;a;2\n"[..], "good", Format::Csv, &semicolons).unwrap().n_features(), 1);
}

#[test]
fn a_column_has_one_role_and_a_name() {
    for (text, ignore) in [("1,a,2\n", Column::At(2)), ("label,bag,x\n1,a,2\n", Column::Named("bag".into()))] {
        let options =
            ReadOptions { columns: Columns { ignore: vec![ignore], ..Default::default() }, ..Default::default() };
        assert_starts(&error_with(Format::Csv, text, &options), "bad, line 1, column 1: ");
    }
    let index = error(Format::Csv, ",label,bag,x\n0,1,a,2\n");
    assert_starts(&index, "bad, line 1, column 1: a column has no name; name it, or ignore it");
}

#[test]
fn a_separator_that_cannot_separate_is_refused() {
    for separator in [b'"', b'\n', 0xC3, 0xA9] {
        let options = ReadOptions { csv: CsvOptions { separator, ..Default::default() }, ..Default::default() };
        let message = error_with(Format::Csv, "1,é,2\n", &options);
        assert!(message.contains("a separator of one ASCII character"), "{message}");
    }
}

#[test]
fn a_tab_before_a_quote_does_not_count() {
    let table = read(&b"1,\t\"a\",1\n"[..], "tab", Format::Csv, &ReadOptions::default()).unwrap();
    assert_eq!(table.names(), ["a"]);
}

#[test]
fn a_positive_word_that_no_bag_has_is_named() {
    let table = read(&b"ripe,a,1\nraw,b,2\n"[..], "fruit.csv", Format::Csv, &ReadOptions::default()).unwrap();
    let message = table.clone().binary(Some("Ripe")).unwrap_err().to_string();
    assert_eq!(message, "fruit.csv: no bag has the positive label \"Ripe\"; the labels are ripe, raw");
    assert_eq!(table.binary(Some("ripe")).unwrap().positive_bags().count(), 1);
}

#[test]
fn the_grammar_of_svm_and_arff_is_kept() {
    assert_starts(
        &error(Format::Svm, "0:a 1:1\n"),
        "bad, line 1, column 1: expected instance:bag:label, found \"0:a\"",
    );
    assert_starts(
        &error(Format::Svm, "0:a:1 1:1 1:2\n"),
        "bad, line 1, column 11: expected an index from 1, above the one before",
    );
    assert_starts(&error(Format::Svm, "0:a:1 0:1\n"), "bad, line 1, column 7: expected an index from 1");
    assert_starts(&error(Format::Svm, "0:a:1 x\n"), "bad, line 1, column 7: expected index:value with an index from 1");
    assert_starts(&error(Format::Svm, "0::1 1:1\n"), "bad, line 1, column 3: the bag's name is missing");
    assert_starts(
        &error(Format::Arff, "@foo\n"),
        "bad, line 1, column 1: expected @relation, @attribute, @end or @data",
    );
    assert_starts(
        &error(Format::Arff, "@attribute a {x\n"),
        "bad, line 1, column 16: expected , or } in a list of words",
    );
    let text = "@attribute a string\n@attribute b numeric\n@data\n";
    assert_starts(&error(Format::Arff, text), "bad, line 2, column 14: expected relational as the kind of the second");
    assert_starts(
        &error(Format::Arff, arff("a,1,1\n")),
        "bad, line 9, column 3: expected the instances of the bag in quotes",
    );
    assert_starts(&error(Format::Arff, arff("a,\"\",1\n")), "bad, line 9, column 4: expected at least one instance");
    assert_starts(
        &error(Format::Arff, arff("a,\"1,2\",1,5\n")),
        "bad, line 9, column 10: expected the end of the line",
    );
    assert_starts(
        &error(Format::Arff, arff("a,\"1,2\\t3,4\",1\n")),
        "bad, line 9, column 7: expected \\n between instances",
    );
}

fn two_bags() -> BagSet<Label> {
    let mut builder = BagSet::builder();
    builder.bag("a", Label::Positive, [[1.0, 2.0], [3.0, 4.0]]).unwrap();
    builder.bag("b", Label::Negative, [[5.0, 6.0]]).unwrap();
    builder.build().unwrap()
}

fn bytes_of(format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, &two_bags(), format, &WriteOptions::default()).unwrap();
    bytes
}

/// Replaces text of the same length inside a binary file.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|window| window == from).expect("the text is there");
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

#[test]
fn an_archive_that_lies_about_its_shape_is_refused() {
    let bytes = bytes_of(Format::Npz);
    let longer = replaced(&bytes, b"'shape': (3, 2), }", b"'shape': (9, 2), }");
    assert!(error(Format::Npz, longer).starts_with("bad, member \"instances\": "));
    let huge = replaced(&bytes, b"'shape': (3, 2), }          ", b"'shape': (30000000, 20000), }"[..28].as_ref());
    assert_starts(&error(Format::Npz, huge), "bad, member \"instances\": ");
    let text = replaced(&bytes, b"'<f8'", b"'<U8'");
    assert_starts(&error(Format::Npz, text), "bad, member \"instances\": expected numbers, found text");
    let pickled = replaced(&bytes, b"'<f8'", b"'|O8'");
    assert_starts(&error(Format::Npz, pickled), "bad, member \"instances\": expected float64, float32, integers");
    let mut damaged = bytes.clone();
    let value = damaged.windows(8).position(|window| window == 6_f64.to_le_bytes()).unwrap();
    damaged[value] ^= 1;
    assert!(error(Format::Npz, damaged).contains("the checksum does not fit"));
    assert_starts(
        &error(Format::Npz, &bytes[..bytes.len() / 2]),
        "bad: expected a NumPy .npz archive, found no end record",
    );
    assert_starts(&error(Format::Npz, "1,a,2\n"), "bad: expected a NumPy .npz archive");
    let nameless = replaced(&replaced(&bytes, b"instances.npy", b"instincts.npy"), b"instances.npy", b"instincts.npy");
    assert_starts(&error(Format::Npz, nameless), "bad: \"instances\" is missing");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_that_lies_is_refused() {
    let bytes = bytes_of(Format::Parquet);
    assert_starts(&error(Format::Parquet, "1,a,2\n"), "bad: not a readable Parquet file: no PAR1 at both ends");
    assert_starts(&error(Format::Parquet, &bytes[..bytes.len() - 5]), "bad: not a readable Parquet file: no PAR1");
    let mut long_footer = bytes.clone();
    let at = long_footer.len() - 6;
    long_footer[at] = 0xff;
    assert_starts(
        &error(Format::Parquet, long_footer),
        "bad: not a readable Parquet file: a footer longer than the file",
    );
    let limits = Limits { max_values: 5, ..Default::default() };
    let few = ReadOptions { limits, ..Default::default() };
    assert!(error_with(Format::Parquet, &bytes, &few).contains("more than 5 values"));
    let nan = replaced(&bytes, &6_f64.to_le_bytes(), &f64::NAN.to_le_bytes());
    assert_eq!(error(Format::Parquet, nan), "bad, column \"f2\", row 2: feature 2 is NaN; expected a finite number");
    let renamed = replaced(&replaced(&bytes, b"bags", b"gabs"), b"bag", b"gab");
    assert_starts(&error(Format::Parquet, renamed), "bad: there is no column for the bag");
}

#[test]
fn a_file_that_is_not_there_and_a_name_without_format() {
    let missing = mil_data::read_path("no/such/file.csv", &ReadOptions::default()).unwrap_err();
    assert!(matches!(missing, DataError::Io { .. }) && missing.to_string().starts_with("no/such/file.csv: "));
    let unknown = mil_data::read_path("bags.txt", &ReadOptions::default()).unwrap_err();
    assert_starts(&unknown.to_string(), "bags.txt: the file name tells no format; expected .data, .svm");
}
