//! The checks on the source tree that no compiler makes.
//!
//! Each check is a function from text to complaints, with a test in which it complains.

use std::collections::BTreeMap;
use std::process::Command;

use crate::process::{Failure, cargo, output_of, root};

/// Which crates of the workspace a crate may depend on: arrows point one way.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("mil-core", &[]),
    ("mil-data", &["mil-core"]),
    ("mil-dict", &["mil-core", "mil-kernels", "mil-qp"]),
    ("mil-forest", &["mil-core"]),
    ("mil-kernels", &["mil-core"]),
    ("mil-qp", &["mil-core"]),
    ("mil-mio", &["mil-core", "mil-kernels", "mil-qp"]),
    ("mil-pmi", &["mil-core", "mil-kernels", "mil-qp"]),
    ("mil-svm", &["mil-core", "mil-kernels", "mil-qp"]),
    ("mil-testkit", &["mil-core"]),
];

/// Crates that may depend on anything: they are at the top.
const TOP: [&str; 4] = ["mil-cli", "mil-repro", "mil-benches", "xtask"];

/// What must not be in the dependency tree of `mil-core`: solvers, plotting, command line, file formats.
const BANNED_FROM_CORE: [&str; 10] =
    ["osqp", "clarabel", "faer", "plotters", "clap", "indicatif", "csv", "parquet", "zip", "serde_json"];

/// Direct and indirect dependencies of `mil-core`, the build included, that are still "small".
const MAX_CORE_TREE: usize = 45;

/// What marks unfinished work; spelt in halves, lest this file complain of itself.
const UNFINISHED: [&str; 4] =
    [concat!("todo", "!"), concat!("unimplemented", "!"), concat!("FIX", "ME"), concat!("// TO", "DO")];

/// Runs every check over the files that git tracks.
pub fn run() -> Result<(), Failure> {
    let files = tracked_files()?;
    let mut complaints = Vec::new();
    for (path, text) in &files {
        complaints.extend(check_text(path, text));
        if let ["crates", name, "Cargo.toml"] = path.split('/').collect::<Vec<_>>()[..] {
            complaints.extend(check_arrows(name, &tree_of(name, &["--edges", "normal,build", "--depth", "1"])?));
        }
    }
    complaints.extend(check_layout(&files));
    complaints.extend(check_core_tree(&tree_of("mil-core", &["--edges", "normal"])?));
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the tree is not tidy:\n  {}", complaints.join("\n  "))))
}

/// What a package depends on for any target, a line each.
fn tree_of(package: &str, options: &[&str]) -> Result<String, Failure> {
    let fixed = ["tree", "--package", package, "--target", "all", "--prefix", "none"];
    output_of(cargo().current_dir(root()).args(fixed).args(options))
}

/// Path and text of every tracked file that is text.
fn tracked_files() -> Result<BTreeMap<String, String>, Failure> {
    let listing = output_of(Command::new("git").current_dir(root()).args(["ls-files", "-z"]))?;
    let texts = listing.split('\0').filter(|path| !path.is_empty()).filter_map(|path| {
        let text = std::fs::read_to_string(root().join(path)).ok()?;
        Some((path.to_owned(), text))
    });
    Ok(texts.collect())
}

fn check_text(path: &str, text: &str) -> Vec<String> {
    let generated =
        path == "Cargo.lock" || path.starts_with("fixtures/golden/") || path.contains("proptest-regressions");
    if generated {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    if !text.is_empty() && !text.ends_with('\n') {
        complaints.push(format!("{path}: no line end after the last line"));
    }
    for (line_idx, line) in text.lines().enumerate() {
        let mut complain = |what: &str| complaints.push(format!("{path}:{}: {what}", line_idx + 1));
        if line.ends_with(' ') || line.ends_with('\t') {
            complain("blank at the end of the line");
        }
        if path.ends_with(".rs") {
            if UNFINISHED.iter().any(|mark| line.contains(mark)) {
                complain("unfinished work");
            }
            if line.contains(concat!("#[ign", "ore")) {
                complain("an ignored test: slow experiments are commands of xtask");
            }
        }
        if ["home", "root", "work", "Users"].iter().any(|top| names_folder(line, top)) {
            complain("an absolute path of one machine");
        }
    }
    complaints
}

/// Whether a line names something inside a top-level folder such as `/home`.
fn names_folder(line: &str, top: &str) -> bool {
    let needle = format!("/{top}/");
    line.match_indices(&needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + needle.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-*/".contains(c)) && after.is_some_and(char::is_alphanumeric)
    })
}

/// The crates of the workspace that a crate depends on, as cargo sees them, against the table.
fn check_arrows(name: &str, tree: &str) -> Vec<String> {
    if TOP.contains(&name) {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{name} is not in the table of arrows in xtask/src/tidy.rs")];
    };
    let internal =
        tree.lines().filter_map(|line| line.split(' ').next()).filter(|dependency| dependency.starts_with("mil-"));
    internal
        .filter(|dependency| *dependency != name && !allowed.contains(dependency))
        .map(|dependency| format!("{name} must not depend on {dependency}"))
        .collect()
}

fn check_layout(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut complaints = Vec::new();
    let architecture = files.get("ARCHITECTURE.md").map_or("", String::as_str);
    let provenance = files.get("fixtures/PROVENANCE.md").map_or("", String::as_str);
    for path in files.keys() {
        let parts: Vec<&str> = path.split('/').collect();
        if let ["crates", name, "Cargo.toml"] = parts[..] {
            if !files.contains_key(&format!("crates/{name}/README.md")) {
                complaints.push(format!("crates/{name}: no README.md"));
            }
            if !architecture.contains(name) {
                complaints.push(format!("ARCHITECTURE.md does not mention {name}"));
            }
        }
        if let ["fixtures", "golden", name] = parts[..]
            && !provenance.contains(name)
        {
            complaints.push(format!("fixtures/PROVENANCE.md does not say where golden/{name} comes from"));
        }
    }
    for top in files.keys().filter_map(|path| path.split_once('/')).map(|(top, _)| top) {
        if !["crates", "xtask", "benches", "fixtures", "docs", ".cargo", ".ci", ".github"].contains(&top) {
            complaints.push(format!("{top}/ is not a folder of the layout"));
        }
    }
    complaints
}

fn check_core_tree(tree: &str) -> Vec<String> {
    let mut names: Vec<&str> =
        tree.lines().filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let mut complaints: Vec<String> = names
        .iter()
        .filter(|name| BANNED_FROM_CORE.contains(name))
        .map(|name| format!("mil-core depends on {name}"))
        .collect();
    if names.len() > MAX_CORE_TREE {
        complaints.push(format!("mil-core's tree has {} packages, at most {MAX_CORE_TREE} are small", names.len()));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[(&str, &str)]) -> BTreeMap<String, String> {
        paths.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn text_faults_are_named_by_line() {
        assert_eq!(check_text("a.rs", "let a = 1;\n"), Vec::<String>::new());
        assert_eq!(check_text("a.rs", "let a = 1; \n"), ["a.rs:1: blank at the end of the line"]);
        assert_eq!(check_text("a.rs", "x"), ["a.rs: no line end after the last line"]);
        let unfinished = format!("\n{}\n", concat!("todo", "!()"));
        assert_eq!(check_text("a.rs", &unfinished), ["a.rs:2: unfinished work"]);
        assert_eq!(check_text("a.rs", concat!("#[ign", "ore]\n")).len(), 1);
    }

    #[test]
    fn paths_of_one_machine_are_found_and_relative_ones_are_not() {
        assert!(names_folder(concat!("see /ho", "me/me/x"), "home"));
        for fine in [
            concat!("a/home", "/b"),
            concat!("../work", "/x"),
            concat!("/home", "/ alone"),
            concat!("https://x.org/home", "/y"),
        ] {
            assert!(!names_folder(fine, "home") && !names_folder(fine, "work"), "{fine}");
        }
    }

    #[test]
    fn an_arrow_against_the_grain_is_found() {
        let tree = "mil-kernels v0.1.0 (crates/mil-kernels)\nmil-core v0.1.0\nmil-data v0.1.0\nnalgebra v0.35.0\n";
        assert_eq!(check_arrows("mil-kernels", tree), ["mil-kernels must not depend on mil-data"]);
        assert_eq!(check_arrows("mil-novel", "").len(), 1, "a crate that no one has placed");
        assert!(check_arrows("mil-repro", tree).is_empty());
    }

    #[test]
    fn the_layout_asks_for_readme_map_and_provenance() {
        let complete = [
            ("ARCHITECTURE.md", "mil-core"),
            ("crates/mil-core/Cargo.toml", ""),
            ("crates/mil-core/README.md", ""),
            ("fixtures/PROVENANCE.md", "a.json"),
            ("fixtures/golden/a.json", ""),
        ];
        assert!(check_layout(&tree(&complete)).is_empty());
        for missing in [0, 2, 3] {
            let mut paths = complete.to_vec();
            paths.remove(missing);
            assert_eq!(check_layout(&tree(&paths)).len(), 1, "without {}", complete[missing].0);
        }
        assert_eq!(check_layout(&tree(&[("scripts/x.sh", "")])).len(), 1);
    }

    #[test]
    fn a_solver_under_the_core_is_found() {
        assert!(check_core_tree("mil-core v0.1.0 (x)\nnalgebra v0.35.0\n").is_empty());
        assert_eq!(check_core_tree("mil-core v0.1.0\nosqp v0.6.3\n"), ["mil-core depends on osqp"]);
        let many: String = (0..60).map(|i| format!("package-{i} v1.0.0\n")).collect();
        assert_eq!(check_core_tree(&many).len(), 1);
    }
}
