//! The program as its user meets it: what it says and how it ends.

use std::process::{Command, Output};

fn mil_repro(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mil-repro"));
    command
        .args(args)
        .env_remove("MIL_DATA")
        .env_remove("MIL_TARGET")
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts")
}

/// What it said on standard error when it refused.
fn refusal(args: &[&str]) -> String {
    let output = mil_repro(args, &[]);
    assert!(!output.status.success(), "{args:?} was accepted");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn known_data_sets_are_listed_and_an_empty_variable_counts_as_unset() {
    for variables in [&[][..], &[("MIL_DATA", "")]] {
        let output = mil_repro(&["data", "list"], variables);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("musk1") && text.contains("shipped"), "{text}");
    }
}

#[test]
fn a_data_folder_that_is_named_must_exist() {
    assert!(
        refusal(&["data", "verify", "--data", "no-such-folder"]).contains("there is no data folder no-such-folder")
    );
    assert!(refusal(&["reproduce", "--data", "no-such-folder"]).contains("there is no data folder no-such-folder"));
    let output = mil_repro(&["data", "verify"], &[("MIL_DATA", "no-such-folder")]);
    assert!(!output.status.success(), "the variable names a folder as well");
}

#[test]
fn rows_and_figures_are_listed_by_name() {
    let output = mil_repro(&["reproduce", "--list"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let listed: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let (rows, figures) = (mil_repro::rows::all(), mil_repro::figures::all());
    let known: Vec<&str> = rows.iter().map(|row| row.id).chain(figures.iter().map(|figure| figure.id)).collect();
    assert_eq!(listed, known);
}

#[test]
fn a_mistyped_row_or_data_set_gets_a_hint() {
    let said = refusal(&["reproduce", "nearest-centroid-meen"]);
    assert!(said.contains("no row or figure") && said.contains("did you mean nearest-centroid-mean?"), "{said}");
    assert!(refusal(&["data", "fetch", "elefant"]).contains("did you mean `elephant`?"));
    assert!(refusal(&["data", "fetch", "fox"]).contains("cannot be fetched"));
}

#[test]
fn senseless_numbers_of_threads_are_refused() {
    for jobs in ["0", "65535"] {
        assert!(refusal(&["reproduce", "--jobs", jobs]).contains("--jobs"), "{jobs}");
    }
}

#[test]
fn a_bad_folder_for_results_ends_the_run_before_it_begins() {
    let file = std::env::temp_dir().join(format!("mil-repro-in-the-way-{}", std::process::id()));
    std::fs::write(&file, b"a file").unwrap();
    let said = refusal(&["reproduce", "--out", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    assert!(said.contains("in-the-way") && !said.contains("accuracy"), "{said}");
}

#[test]
fn one_row_goes_all_the_way_to_its_report() {
    let folder = std::env::temp_dir().join(format!("mil-repro-program-{}", std::process::id()));
    let args = ["reproduce", "nearest-centroid-mean", "--quick", "--jobs", "2", "--out", folder.to_str().unwrap()];
    let output = mil_repro(&args, &[]);
    let files = ["results.json", "report.md", "report.html"].map(|file| folder.join(file).is_file());
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && files == [true; 3], "{text}");
    assert!(text.contains("Nearest centroid, mean rule") && text.contains("Left out: fox"), "{text}");
}
