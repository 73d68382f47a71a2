//! The program as its user meets it: what it says and how it ends.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use mil_repro::selection::Selection;

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
fn everything_is_listed_by_name() {
    let output = mil_repro(&["reproduce", "--list"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let listed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert_eq!(listed, Selection::all().ids().collect::<Vec<_>>());
}

#[test]
fn a_mistyped_method_or_data_set_gets_a_hint() {
    let said = refusal(&["reproduce", "nearest-centroid-meen"]);
    assert!(
        said.contains("no table, figure or method") && said.contains("did you mean nearest-centroid-mean?"),
        "{said}"
    );
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
fn one_method_goes_all_the_way_to_its_report() {
    let folder = std::env::temp_dir().join(format!("mil-repro-program-{}", std::process::id()));
    let args = ["reproduce", "nearest-centroid-mean", "--quick", "--jobs", "2", "--out", folder.to_str().unwrap()];
    let output = mil_repro(&args, &[]);
    let files = mil_repro::report::FILES.map(|file| folder.join(file).is_file());
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && files == [true; 4], "{text}");
    assert!(text.contains("Nearest centroid, mean rule") && text.contains("Left out: fox"), "{text}");
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Folder(std::env::temp_dir().join(format!("mil-repro-{name}-{}", std::process::id())));
        let _ = std::fs::remove_dir_all(&folder.0);
        folder
    }

    fn results(&self) -> Vec<u8> {
        std::fs::read(self.0.join("results.json")).unwrap()
    }

    /// The pieces that are stored, and when each was.
    fn pieces(&self) -> Vec<(PathBuf, std::time::SystemTime)> {
        let listing = std::fs::read_dir(self.0.join("cells")).into_iter().flatten().flatten();
        let is_piece = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
        let paths = listing.map(|entry| entry.path()).filter(is_piece);
        paths.map(|path| (path.clone(), std::fs::metadata(path).unwrap().modified().unwrap())).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Cells, and a figure with pictures of its own: some twenty pieces that take a few seconds in all.
const SMALL: [&str; 7] = [
    "reproduce",
    "--quick",
    "nearest-centroid-max",
    "nearest-centroid-calibrated",
    "nearest-centroid-mean",
    "pmi-fig2",
    "pmi-table1",
];

fn started(out: &Path, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mil-repro"));
    command.args(SMALL).args(more).arg("--out").arg(out).env_remove("MIL_DATA").env_remove("MIL_TARGET");
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

#[test]
fn a_run_that_is_killed_again_and_again_gives_the_same_to_the_byte() {
    let (whole, broken) = (Folder::new("whole"), Folder::new("broken"));
    assert!(started(&whole.0, &[]).wait().unwrap().success());
    let n_pieces = whole.pieces().len();
    assert!(n_pieces > 15, "{n_pieces}");
    let mut n_killed = 0;
    for attempt in 0..5u64 {
        let before = broken.pieces();
        let mut child = started(&broken.0, &[]);
        // It is killed at some moment after it has stored a few pieces more, whatever it is about to do then.
        while broken.pieces().len() < before.len() + 2 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(attempt * 7 % 19));
        n_killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let after = broken.pieces();
        assert!(before.iter().all(|piece| after.contains(piece)), "what was stored has been left alone");
    }
    assert!(n_killed >= 3, "it was killed {n_killed} times before its end");
    let before = broken.pieces();
    assert!(started(&broken.0, &[]).wait().unwrap().success());
    assert!(before.iter().all(|piece| broken.pieces().contains(piece)));
    assert_eq!(broken.pieces().len(), n_pieces);
    assert!(broken.results() == whole.results(), "results.json differs");
}

#[test]
fn two_runs_at_once_do_each_other_no_harm() {
    let (alone, shared) = (Folder::new("alone"), Folder::new("shared"));
    assert!(started(&alone.0, &[]).wait().unwrap().success());
    let children = [started(&shared.0, &[]), started(&shared.0, &["--jobs", "1"])];
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert!(shared.results() == alone.results(), "results.json differs");
}

#[test]
fn shards_on_several_machines_are_joined_and_reported() {
    let (whole, joined) = (Folder::new("of-one"), Folder::new("of-shards"));
    assert!(started(&whole.0, &[]).wait().unwrap().success());
    let shards = ["1/2", "2/2"].map(|shard| Folder::new(&format!("shard-{}", &shard[..1])));
    for (folder, shard) in shards.iter().zip(["1/2", "2/2"]) {
        assert!(started(&folder.0, &["--shard", shard]).wait().unwrap().success());
        assert!(!folder.0.join("results.json").exists(), "a shard writes no report");
    }
    let paths = shards.each_ref().map(|folder| folder.0.to_str().unwrap());
    let out = joined.0.to_str().unwrap();
    let output = mil_repro(&["reproduce", "merge", paths[0], paths[1], "--out", out], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(started(&joined.0, &[]).wait().unwrap().success());
    assert!(joined.results() == whole.results(), "results.json differs");
    let said = refusal(&["reproduce", "merge", "no-such-folder", "--out", out]);
    assert!(said.contains("no-such-folder") && said.contains("--out"), "{said}");
    assert!(refusal(&["reproduce", "--shard", "3/2"]).contains("the second of eight is 2/8"));
}

#[test]
fn a_snapshot_is_written_and_drift_from_it_is_found() {
    let folder = Folder::new("snapshot");
    std::fs::create_dir_all(&folder.0).unwrap();
    let (out, page) = (folder.0.join("out"), folder.0.join("results.md"));
    let (out, page) = (out.to_str().unwrap(), page.to_str().unwrap());
    let names = ["reproduce", "nearest-centroid-max", "pmi-table1", "--quick", "--out", out];
    for wrong in [
        folder.0.join("results.json"),
        folder.0.join("out"),
        folder.0.join("out/results.md"),
        folder.0.join("no/results.md"),
    ] {
        let said = refusal(&[&names[..], &["--snapshot", wrong.to_str().unwrap()]].concat());
        assert!(said.contains("expected a file in a folder") || said.contains("ends in .md"), "{said}");
    }
    let run = |more: &[&str]| mil_repro(&[&names[..], more].concat(), &[("MIL_COMMIT", "abc1234")]);
    assert!(run(&["--snapshot", page]).status.success());
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("commit abc1234") && text.contains("Nearest centroid, max rule"), "{text}");

    let snapshot = folder.0.join("results.json");
    let check = format!("--check={}", snapshot.display());
    let output = run(&[&check]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains("3 the same, 0 moved a little, 0 drifted"), "{said}");

    let forged = std::fs::read_to_string(&snapshot).unwrap().replace("0.7", "0.3");
    std::fs::write(&snapshot, forged).unwrap();
    let output = run(&[&check]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success() && said.contains("drifted: nearest-centroid-max on musk1"), "{said}");
    assert!(!run(&["--check=no-such-file.json"]).status.success());
    let other_seed = run(&[&check, "--seed", "2"]);
    assert!(String::from_utf8(other_seed.stderr).unwrap().contains("they do not compare"));
}
