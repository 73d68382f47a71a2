//! Every command as its user runs it: what it prints, what it leaves behind, how it ends.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use mil_core::{BagModel, CrossValidation, Learner, Scaled, Scaling};
use serde_json::Value;
use tempfile::TempDir;

fn mil(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("mil").unwrap();
    command.current_dir(folder).env_remove("MIL_DATA").args(args);
    command
}

/// What a command prints that must succeed.
fn said(folder: &Path, args: &[&str]) -> String {
    let Output { stdout, .. } = mil(folder, args).assert().success().get_output().clone();
    String::from_utf8(stdout).unwrap()
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let text = said(folder, &[args, &["--format", "json"]].concat());
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], "mil-cli/1");
    value
}

/// What a command complains of that the user can mend.
fn complaint(folder: &Path, args: &[&str]) -> String {
    let output = mil(folder, args).assert().code(1).get_output().clone();
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// A folder with a small set of bags, `bags.csv`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["n_positive=10", "n_negative=10", "n_features=3"];
    let mut args = vec!["synth", "witness", "-o", "bags.csv", "--seed", "3"];
    for setting in settings {
        args.extend(["--set", setting]);
    }
    said(folder.path(), &args);
    folder
}

#[test]
fn help_is_as_it_was_read_last() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    let commands = [
        "",
        "datasets",
        "info",
        "convert",
        "synth",
        "learners",
        "train",
        "predict",
        "evaluate",
        "tune",
        "compare",
        "stream",
        "query",
        "explain",
        "completions",
        "man",
    ];
    for command in commands {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let found: String = said(folder.path(), &args).lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let path = kept.join(if command.is_empty() { "mil.txt".to_owned() } else { format!("{command}.txt") });
        if std::env::var_os("MIL_UPDATE_SNAPSHOTS").is_some() {
            fs::create_dir_all(&kept).unwrap();
            fs::write(&path, &found).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            found, expected,
            "{command}: read the new help, then keep it with MIL_UPDATE_SNAPSHOTS=1 cargo test -p mil-cli"
        );
    }
}

#[test]
fn data_sets_are_listed_with_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let listed = json(folder.path(), &["datasets"]);
    let states: Vec<(&str, &str)> = listed["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    assert!(states.contains(&("musk1", "shipped")) && states.contains(&("fox", "missing")), "{states:?}");
}

#[test]
fn a_set_is_described() {
    let folder = folder();
    let musk = json(folder.path(), &["info", "musk1"]);
    assert_eq!((&musk["n_bags"], &musk["n_instances"], &musk["n_features"]), (&92.into(), &476.into(), &166.into()));
    assert!(said(folder.path(), &["info", "bags.csv"]).contains("positive    10"));
    let through_the_pipe = mil(folder.path(), &["info", "-", "--format", "json"])
        .write_stdin(fs::read(folder.path().join("bags.csv")).unwrap())
        .assert()
        .success()
        .get_output()
        .clone();
    let value: Value = serde_json::from_slice(&through_the_pipe.stdout).unwrap();
    assert_eq!(value["n_bags"], 20);
}

#[test]
fn a_set_survives_every_format() {
    let folder = folder();
    said(folder.path(), &["convert", "bags.csv", "bags.npz"]);
    said(folder.path(), &["convert", "bags.npz", "bags.parquet"]);
    said(folder.path(), &["convert", "bags.parquet", "again.csv.gz"]);
    said(folder.path(), &["convert", "again.csv.gz", "again.csv"]);
    assert_eq!(fs::read(folder.path().join("again.csv")).unwrap(), fs::read(folder.path().join("bags.csv")).unwrap());
    assert!(
        complaint(folder.path(), &["convert", "bags.csv", "bags.svm"]).contains("lossy")
            || folder.path().join("bags.svm").exists()
    );
    said(folder.path(), &["convert", "bags.csv", "bags.svm", "--lossy"]);
}

#[test]
fn every_kind_of_bags_is_generated_and_its_parameters_listed() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["witness", "clusters", "five-gaussians", "digits"] {
        let file = format!("{kind}.csv");
        said(folder.path(), &["synth", kind, "-o", &file, "--seed", "7"]);
        let first = fs::read(folder.path().join(&file)).unwrap();
        said(folder.path(), &["synth", kind, "-o", &file, "--seed", "7"]);
        assert_eq!(fs::read(folder.path().join(&file)).unwrap(), first, "a seed fixes {kind}");
        said(folder.path(), &["synth", kind, "-o", &file, "--seed", "8"]);
        assert_ne!(fs::read(folder.path().join(&file)).unwrap(), first, "another seed changes {kind}");
        assert!(said(folder.path(), &["synth", kind]).contains("seed"));
    }
    assert!(
        complaint(folder.path(), &["synth", "witness", "-o", "x.csv", "--set", "n_positiv=3"])
            .contains("did you mean `n_positive`?")
    );
}

#[test]
fn learners_tell_their_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let listed = json(folder.path(), &["learners"]);
    for row in listed["learners"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        let told = json(folder.path(), &["learners", name]);
        assert!(
            !told["parameters"].as_array().unwrap().is_empty() && !told["paper"].as_str().unwrap().is_empty(),
            "{name}"
        );
    }
    assert!(said(folder.path(), &["learners", "mi-svm"]).contains("penalty"));
}

/// Scores in the order of the bags.
fn scores(predicted: &Value) -> Vec<f64> {
    predicted["bags"].as_array().unwrap().iter().map(|row| row["score"].as_f64().unwrap()).collect()
}

#[test]
fn another_process_scores_to_the_bit_as_this_one_does() {
    let folder = folder();
    let bags = mil_data::read_path(folder.path().join("bags.csv"), &mil_data::ReadOptions::default())
        .unwrap()
        .binary(None)
        .unwrap();
    for entry in mil_cli::learners::all() {
        said(folder.path(), &["train", "--learner", entry.name, "bags.csv", "-o", "model.mil"]);
        let model = entry.two(&[], entry.scaling).unwrap().fit_any(&bags).unwrap();
        let expected: Vec<f64> = bags.bags().map(|bag| model.score(bag).unwrap()).collect();
        assert_eq!(scores(&json(folder.path(), &["predict", "model.mil", "bags.csv"])), expected, "{}", entry.name);
        let csv = said(folder.path(), &["predict", "model.mil", "bags.csv", "--format", "csv"]);
        let from_csv: Vec<f64> =
            csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
        assert_eq!(from_csv, expected, "{}", entry.name);
        match model.instance_scores(bags.bag(0)).unwrap() {
            None => assert!(
                complaint(folder.path(), &["predict", "model.mil", "bags.csv", "--instances"]).contains("whole bags")
            ),
            Some(expected) => {
                let told = json(folder.path(), &["predict", "model.mil", "bags.csv", "--instances"]);
                let found: Vec<f64> = told["instances"].as_array().unwrap()[..expected.len()]
                    .iter()
                    .map(|row| row["score"].as_f64().unwrap())
                    .collect();
                assert_eq!(found, expected, "{}", entry.name);
            }
        }
        said(folder.path(), &["explain", "model.mil", "bags.csv", "--bag", "positive-1"]);
    }
}

#[test]
fn many_classes_are_learnt_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "label,bag,x,y\n".to_owned();
    for i in 0..30 {
        let (class, x) = [("apple", 0.0), ("pear", 5.0), ("plum", 10.0)][i % 3];
        for j in 0..2 {
            text.push_str(&format!("{class},b{i},{},{}\n", x + 0.01 * i as f64, f64::from(j)));
        }
    }
    fs::write(folder.path().join("fruit.csv"), text).unwrap();
    assert!(
        complaint(folder.path(), &["train", "-l", "miforest", "fruit.csv", "-o", "m.mil"]).contains("--multiclass")
    );
    for entry in mil_cli::learners::all().iter().filter(|entry| entry.learns_many()) {
        said(folder.path(), &["train", "-l", entry.name, "fruit.csv", "--multiclass", "-o", "m.mil"]);
        let told = json(folder.path(), &["predict", "m.mil", "fruit.csv"]);
        assert!(told["bags"][1]["posterior_pear"].as_f64().is_some(), "{}", entry.name);
        assert_eq!(told["bags"][1]["actual"], "pear");
        said(folder.path(), &["explain", "m.mil", "fruit.csv"]);
    }
    let told = json(
        folder.path(),
        &["evaluate", "-l", "nearest-centroid", "fruit.csv", "--multiclass", "--folds", "3", "--repeats", "2"],
    );
    assert_eq!(told["accuracy"]["mean"], 1.0);
    json(
        folder.path(),
        &[
            "compare",
            "-l",
            "nearest-centroid,random-forest",
            "fruit.csv",
            "--multiclass",
            "--folds",
            "3",
            "--repeats",
            "2",
        ],
    );
    assert!(
        complaint(folder.path(), &["train", "-l", "mi-svm", "fruit.csv", "--multiclass", "-o", "m.mil"])
            .contains("miforest")
    );
    said(folder.path(), &["train", "-l", "mi-svm", "fruit.csv", "--positive", "pear", "-o", "m.mil"]);
}

#[test]
fn an_evaluation_gives_the_figure_of_the_reproduction() {
    let folder = tempfile::tempdir().unwrap();
    let bags = mil_data::catalogue::musk1();
    let plan = CrossValidation { n_folds: 10, n_repeats: 1, seed: 1 };
    let methods = mil_repro::methods::all();
    let figure_of = |id: &str| {
        let method = methods.iter().find(|method| method.id == id).unwrap();
        let report = (method.learner)("musk1").cross_validate(&plan, 0, &bags, &()).unwrap();
        (report.accuracy().mean, report.roc_auc().unwrap().mean)
    };
    let found = |args: &[&str]| {
        let told = json(folder.path(), &[&["evaluate", "musk1", "--repeats", "1", "--seed", "1"], args].concat());
        (told["accuracy"]["mean"].as_f64().unwrap(), told["auc"]["mean"].as_f64().unwrap())
    };
    let grid = [
        "--tune",
        "--grid",
        "kernel=gaussian(1/median),gaussian(3/median),gaussian(8/median),gaussian(25/median)",
        "--grid",
        "penalty=1,10,100",
    ];
    assert_eq!(found(&[&["-l", "mi-svm"][..], &grid].concat()), figure_of("mi-svm"));
    for (name, row) in [("nearest-centroid", "nearest-centroid-max"), ("miforest", "miforest"), ("pmi", "pmi")] {
        assert_eq!(found(&["-l", name]), figure_of(row), "{name}");
    }
}

#[test]
fn threads_do_not_change_a_figure() {
    let folder = folder();
    let figures = |threads: &str| {
        let mut told = json(
            folder.path(),
            &[
                "compare",
                "-l",
                "mi-svm,miforest,mio",
                "bags.csv",
                "--folds",
                "4",
                "--repeats",
                "2",
                "--threads",
                threads,
            ],
        );
        for row in told["learners"].as_array_mut().unwrap() {
            row["fit_seconds"].take();
        }
        told
    };
    assert_eq!(figures("1"), figures("3"));
}

#[test]
fn a_search_tells_every_setting_and_keeps_the_best() {
    let folder = folder();
    let args = [
        "tune",
        "-l",
        "mi-svm",
        "bags.csv",
        "--inner-folds",
        "4",
        "--grid",
        "kernel=linear,gaussian(1/median)",
        "--grid",
        "penalty=0.1,10",
        "-o",
        "best.mil",
    ];
    let told = json(folder.path(), &args);
    let rows = told["settings"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    let best: Vec<&Value> = rows.iter().filter(|row| row["best"] == true).collect();
    assert_eq!(best.len(), 1);
    assert!(rows.iter().all(|row| row["accuracy"].as_f64() <= best[0]["accuracy"].as_f64()));
    assert_eq!((&told["best"]["kernel"], &told["best"]["penalty"]), (&best[0]["kernel"], &best[0]["penalty"]));
    // The model kept is that of the best setting.
    let setting = |key: &str| format!("{key}={}", best[0][key].as_str().unwrap());
    said(
        folder.path(),
        &[
            "train",
            "-l",
            "mi-svm",
            "bags.csv",
            "-o",
            "same.mil",
            "--set",
            &setting("kernel"),
            "--set",
            &setting("penalty"),
        ],
    );
    assert_eq!(
        scores(&json(folder.path(), &["predict", "best.mil", "bags.csv"])),
        scores(&json(folder.path(), &["predict", "same.mil", "bags.csv"]))
    );
    for entry in mil_cli::learners::all().iter().filter(|entry| !["midl"].contains(&entry.name)) {
        let told = json(folder.path(), &["tune", "-l", entry.name, "bags.csv", "--inner-folds", "2"]);
        let n_settings: usize = entry.grid.iter().map(|(_, values)| values.len()).product();
        assert_eq!(told["settings"].as_array().unwrap().len(), n_settings, "{}", entry.name);
    }
}

#[test]
fn learners_are_compared_on_the_same_folds() {
    let folder = folder();
    let args = [
        "compare",
        "-l",
        "nearest-centroid,mi-svm",
        "bags.csv",
        "--folds",
        "5",
        "--repeats",
        "3",
        "--set",
        "mi-svm.penalty=10",
        "--html",
        "page.html",
    ];
    let told = json(folder.path(), &args);
    let rows = told["learners"].as_array().unwrap();
    let alone = json(
        folder.path(),
        &["evaluate", "-l", "mi-svm", "bags.csv", "--folds", "5", "--repeats", "3", "--set", "penalty=10"],
    );
    assert_eq!(rows[1]["accuracy"], alone["accuracy"]["mean"]);
    let best = told["best"].as_str().unwrap();
    for row in rows {
        let is_best = row["learner"] == best;
        assert_eq!(row["verdict"] == "best", is_best);
        assert_eq!(row["p_value"].is_null(), is_best);
    }
    let html = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(html.contains("<svg") && html.contains("nearest-centroid") && !html.contains("http"));
    assert!(complaint(folder.path(), &["compare", "-l", "mi-svm,mi-svm", "bags.csv"]).contains("twice"));
    assert!(
        complaint(folder.path(), &["compare", "-l", "mi-svm", "bags.csv", "--set", "penalty=3"])
            .contains("LEARNER.KEY=VALUE")
    );
}

#[test]
fn a_stream_is_predicted_before_it_is_learnt_and_resumes_to_the_bit() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("bags.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // Between two bags, somewhere in the middle.
    let bag_of = |line: &str| line.split(',').nth(1).unwrap().to_owned();
    let cut = (lines.len() / 2..lines.len()).find(|&at| bag_of(lines[at]) != bag_of(lines[at - 1])).unwrap();
    let halves = [lines[..cut].join("\n"), format!("{}\n{}", lines[0], lines[cut..].join("\n"))];
    for (learner, setting) in [("mio", "width=2"), ("online-forest", "n_trees=5"), ("online-miforest", "n_trees=5")] {
        let stream = |args: &[&str], input: &str| {
            let all = [&["stream", "--format", "csv"], args].concat();
            let output = mil(folder.path(), &all).write_stdin(input).assert().success().get_output().clone();
            String::from_utf8(output.stdout).unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let whole = stream(&["-l", learner, "--set", setting, "-o", "whole.mil"], &text);
        assert_eq!(whole.len(), 20);
        let mut pieces = stream(&["-l", learner, "--set", setting, "-o", "half.mil"], &halves[0]);
        pieces.extend(stream(&["--resume", "half.mil", "-o", "resumed.mil"], &halves[1]));
        assert_eq!(pieces, whole, "{learner}");
        assert_eq!(
            fs::read(folder.path().join("resumed.mil")).unwrap(),
            fs::read(folder.path().join("whole.mil")).unwrap(),
            "{learner}"
        );
        said(folder.path(), &["predict", "whole.mil", "bags.csv"]);
        // A bag without a label is predicted and teaches nothing.
        let unlabelled = format!("{}\n?{}", lines[0], &lines[1][lines[1].find(',').unwrap()..]);
        stream(&["--resume", "whole.mil", "-o", "same.mil"], &unlabelled);
        assert_eq!(
            fs::read(folder.path().join("same.mil")).unwrap(),
            fs::read(folder.path().join("whole.mil")).unwrap(),
            "{learner}"
        );
    }
}

#[test]
fn a_stream_goes_on_with_the_same_features_only() {
    let folder = tempfile::tempdir().unwrap();
    let begun = "label,bag,size,weight\n1,a,1,2\n0,b,2,1\n";
    mil(folder.path(), &["stream", "-l", "online-forest", "-o", "m.mil"]).write_stdin(begun).assert().success();
    let swapped = "label,bag,weight,size\n1,a,1,2\n0,b,2,1\n";
    let output =
        mil(folder.path(), &["stream", "--resume", "m.mil"]).write_stdin(swapped).assert().code(1).get_output().clone();
    assert!(String::from_utf8(output.stderr).unwrap().contains("feature 1 is named \"weight\""));
}

#[test]
fn a_stream_that_breaks_keeps_what_it_has_learnt() {
    let folder = folder();
    let input = "label,bag,x\n1,a,1\n0,b,2\n1,c,oops\n";
    let output = mil(folder.path(), &["stream", "-l", "online-forest", "-o", "kept.mil"])
        .write_stdin(input)
        .assert()
        .code(1)
        .get_output()
        .clone();
    assert!(String::from_utf8(output.stdout).unwrap().contains('b'));
    assert!(String::from_utf8(output.stderr).unwrap().contains("line 4"));
    assert!(folder.path().join("kept.mil").exists());
}

#[test]
fn questions_go_on_where_they_stopped() {
    let folder = tempfile::tempdir().unwrap();
    said(folder.path(), &["synth", "clusters", "-o", "plane.csv", "--seed", "1"]);
    let ask = |args: &[&str], answers: &str| {
        let output = mil(folder.path(), &[&["query", "plane.csv", "--format", "json"], args].concat())
            .write_stdin(answers)
            .assert()
            .success()
            .get_output()
            .clone();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let settings = ["--set", "kernel=gaussian(0.5)", "--set", "nu=0.1", "--scale", "none"];
    let whole = ask(&[&["--trail", "whole.mil", "-o", "whole-model.mil"][..], &settings].concat(), "n\ny\n");
    assert_eq!((&whole["state"], whole["questions"].as_array().unwrap().len()), (&Value::from("positive"), 2));
    let first = ask(&[&["--trail", "parts.mil", "-o", "parts-model.mil"][..], &settings].concat(), "n\nq\n");
    assert_eq!(first["state"], "waiting");
    assert!(!folder.path().join("parts-model.mil").exists());
    let second = ask(&["--trail", "parts.mil", "-o", "parts-model.mil"], "y\n");
    assert_eq!(second["questions"], whole["questions"]);
    let model = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(model("parts-model.mil"), model("whole-model.mil"));
    assert!(
        complaint(folder.path(), &["query", "plane.csv", "--trail", "parts.mil", "--set", "nu=0.3"])
            .contains("has begun")
    );
    said(folder.path(), &["synth", "clusters", "-o", "other.csv", "--seed", "2"]);
    assert!(complaint(folder.path(), &["query", "other.csv", "--trail", "parts.mil"]).contains("other bags"));
}

#[test]
fn an_explanation_names_the_witness_and_the_feature_that_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "label,bag,noise,signal\n".to_owned();
    for i in 0..12 {
        let signal = if i % 2 == 0 { 9.0 } else { 0.0 };
        text.push_str(&format!("{},b{i},{},0\n{},b{i},{},{signal}\n", 1 - i % 2, i % 5, 1 - i % 2, i % 3));
    }
    fs::write(folder.path().join("two.csv"), text).unwrap();
    said(folder.path(), &["train", "-l", "mi-svm-bag", "two.csv", "-o", "m.mil"]);
    let told = json(folder.path(), &["explain", "m.mil", "two.csv", "--bag", "b2", "--html", "page.html"]);
    let bag = &told["explanations"][0];
    assert_eq!((&bag["witness"], &bag["predicted"]), (&Value::from(1), &Value::from("positive")));
    assert_eq!(bag["features"][0]["name"], "signal");
    let html = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(html.contains("witness") && html.contains("signal = 9") && !html.contains("http"), "{html}");
    assert!(
        complaint(folder.path(), &["explain", "m.mil", "two.csv", "--bag", "b22"]).contains("there is no bag \"b22\"")
    );
}

#[test]
fn manuals_and_completions_come_from_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    said(folder.path(), &["man", "-o", "man"]);
    let page = fs::read_to_string(folder.path().join("man/mil-evaluate.1")).unwrap();
    assert!(page.contains("folds") && page.contains("mil\\-evaluate"), "{page}");
    assert!(folder.path().join("man/mil.1").exists());
    for shell in ["bash", "zsh", "fish"] {
        assert!(said(folder.path(), &["completions", shell]).contains("evaluate"), "{shell}");
    }
}

#[test]
fn a_newcomer_understands_what_is_wrong() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("gap.csv", "label,bag,x\n1,a,1\n0,b,\n");
    write("words.csv", "label,bag,x\nripe,a,1\nraw,b,2\n");
    write("one.csv", "label,bag,x\n1,a,1\n1,b,2\n");
    write("plain.csv", "bag,x\na,1\nb,2\n");
    write("wide.csv", "label,bag,f1,f2\n1,a,1,2\n0,b,2,3\n");
    write("swapped.csv", "label,bag,size,weight\n1,a,1,2\n0,b,2,3\n");
    write("named.csv", "label,bag,weight,size\n1,a,1,2\n0,b,2,3\n");
    said(folder.path(), &["train", "-l", "mi-svm", "named.csv", "-o", "named.mil"]);
    write("junk.mil", "not a model");
    said(folder.path(), &["train", "-l", "mi-svm", "bags.csv", "-o", "good.mil"]);
    let cases: &[(&[&str], &str)] = &[
        (&["info", "musk3"], "did you mean `musk1`?"),
        (&["info", "gap.csv"], "gap.csv, line 3, column 5"),
        (&["info", "bags.txt"], "there is no file"),
        (&["info", "fox"], "no data folder"),
        (&["info", "musk1", "--positive", "pear"], "two classes of its own"),
        (&["evaluate", "-l", "mi-svn", "bags.csv"], "did you mean `mi-svm`?"),
        (&["evaluate", "-l", "mi-svm", "words.csv"], "--positive WORD"),
        (&["evaluate", "-l", "mi-svm", "plain.csv"], "no labels"),
        (&["evaluate", "-l", "mi-svm", "bags.csv", "--folds", "50"], "50"),
        (&["evaluate", "-l", "mi-svm", "bags.csv", "--set", "penalty=-1"], "penalty is -1"),
        (&["evaluate", "-l", "mi-svm", "bags.csv", "--set", "penalti=1"], "did you mean `penalty`?"),
        (&["evaluate", "-l", "mi-svm", "bags.csv", "--set", "penalty"], "KEY=VALUE"),
        (&["evaluate", "-l", "mi-svm", "bags.csv", "--scale", "minmax"], "min-max"),
        (&["train", "-l", "mi-svm", "one.csv", "-o", "m.mil"], "both classes"),
        (&["train", "-l", "mi-svm", "bags.csv", "-o", "no/such/folder/m.mil"], "no/such/folder"),
        (&["predict", "junk.mil", "bags.csv"], "not a model file"),
        (&["predict", "absent.mil", "bags.csv"], "absent.mil"),
        (&["predict", "good.mil", "wide.csv"], "2 features, the model expects 3"),
        (
            &["predict", "named.mil", "swapped.csv"],
            "feature 1 is named \"size\" in the data and \"weight\" in the model",
        ),
        (&["info", "bags.csv", "--bag-column", "molecule"], "molecule"),
        (&["info", "bags.csv", "--bag-column", "#0"], "#POSITION"),
        (&["info", "bags.csv", "--separator", "ab"], "one ASCII character"),
        (&["tune", "-l", "mi-svm", "bags.csv", "--grid", "penalty=1,,2"], "penalty is \"\""),
        (&["stream"], "--learner"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&[], "Usage"),
    ];
    for (args, expected) in cases {
        let said = complaint(folder.path(), args);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    assert!(!folder.path().join("m.mil").exists());
}

#[test]
fn columns_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.csv"), "molecule;hit;x;note\na;yes;1;u\na;yes;2;v\nb;no;3;w\n").unwrap();
    let args = [
        "info",
        "m.csv",
        "--separator",
        ";",
        "--bag-column",
        "molecule",
        "--label-column",
        "hit",
        "--ignore-columns",
        "note",
    ];
    let told = json(folder.path(), &args);
    assert_eq!((&told["n_bags"], &told["n_features"]), (&2.into(), &1.into()));
    let by_position = json(
        folder.path(),
        &[
            "info",
            "m.csv",
            "--separator",
            ";",
            "--bag-column",
            "#1",
            "--label-column",
            "hit",
            "--ignore-columns",
            "note",
        ],
    );
    assert_eq!(by_position["classes"], told["classes"]);
}

#[test]
fn rust_code_reads_what_the_program_wrote() {
    let folder = folder();
    said(folder.path(), &["train", "-l", "nearest-centroid", "bags.csv", "-o", "m.mil"]);
    let bags = mil_data::read_path(folder.path().join("bags.csv"), &mil_data::ReadOptions::default())
        .unwrap()
        .binary(None)
        .unwrap();
    let expected =
        Scaled { scaling: Scaling::Standard, learner: mil_core::NearestCentroid::default() }.fit(&bags).unwrap();
    let read: mil_core::ScaledModel<mil_core::NearestCentroidModel<mil_core::Label>> =
        mil_core::model_file::load(&folder.path().join("m.mil")).unwrap();
    assert_eq!(read.scores(&bags).unwrap(), expected.scores(&bags).unwrap());
}

#[cfg(unix)]
#[test]
fn an_interrupted_program_leaves_no_half_written_file() {
    use std::process::{Command, Stdio};
    let folder = folder();
    fs::write(folder.path().join("m.mil"), "old").unwrap();
    let before = fs::read_dir(folder.path()).unwrap().count();
    let program = assert_cmd::cargo::cargo_bin("mil");
    let args = ["train", "-l", "random-forest", "musk2", "--set", "n_trees=100000", "-o", "m.mil"];
    let mut child = Command::new(program)
        .current_dir(folder.path())
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read(folder.path().join("m.mil")).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
}
