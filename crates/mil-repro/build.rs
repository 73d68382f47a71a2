//! Tells the program which compiler made it and, for each crate of the workspace, the digest of all code that it is made of, so that a stored result is known to be of
//! this code or of another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// Helps tests alone and computes nothing that is reported.
const NO_PART: &str = "mil-testkit";

fn main() {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = here.parent().and_then(Path::parent).expect("the crate lies in the workspace").to_owned();
    let lock_path = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock_path.display());
    let lock = fs::read_to_string(&lock_path).expect("a workspace has a lock file");
    let packages = packages(&lock);
    let mut sources = BTreeMap::new();
    for package in packages.values().filter(|package| package.checksum.is_none() && package.name.starts_with("mil-")) {
        let folder = root.join("crates").join(&package.name);
        if folder.is_dir() && package.name != NO_PART {
            for path in [folder.join("src"), folder.join("Cargo.toml")] {
                println!("cargo::rerun-if-changed={}", path.display());
            }
            sources.insert(package.name.clone(), digest_of_folder(&folder));
        }
    }
    let mut table = String::from("&[\n");
    for name in sources.keys().filter(|name| !["mil-repro", "mil-cli"].contains(&name.as_str())) {
        let _ = writeln!(table, "    ({name:?}, {:?}),", digest_of_closure(name, &packages, &sources));
    }
    table.push(']');
    let mut files = String::from("&[\n");
    for folder in ["src/methods", "src/figures"] {
        for path in files_under(&here.join(folder)) {
            let name = path.strip_prefix(&here).expect("it lies there").display().to_string();
            let _ = writeln!(files, "    ({name:?}, {:?}),", hex(&fs::read(&path).expect("a source file")));
        }
    }
    files.push(']');
    let out = PathBuf::from(variable("OUT_DIR"));
    fs::write(out.join("crates.rs"), table).expect("the build folder can be written to");
    fs::write(out.join("files.rs"), files).expect("the build folder can be written to");
    println!("cargo::rustc-env=MIL_COMPILER={}", compiler());
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// As in `rustc 1.95.0`.
fn compiler() -> String {
    let output = Command::new(variable("RUSTC")).arg("--version").output().expect("there is a compiler");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// A package of the lock file.
struct Package {
    name: String,
    version: String,
    /// `None` for those of the workspace.
    checksum: Option<String>,
    /// Names, with the version where there are several of one name.
    dependencies: Vec<String>,
}

/// The packages of a lock file by name and version.
fn packages(lock: &str) -> BTreeMap<(String, String), Package> {
    let mut packages = BTreeMap::new();
    for block in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.map(|text| text.trim_matches('"').to_owned())
        };
        let (name, version) = (value("name").expect("a package has a name"), value("version").unwrap_or_default());
        let dependencies =
            block.split_once("dependencies = [").map_or("", |(_, rest)| rest.split(']').next().unwrap_or(""));
        let dependencies =
            dependencies.lines().map(|line| line.trim().trim_matches([',', '"']).trim_end_matches('"').to_owned());
        let dependencies = dependencies.filter(|name| !name.is_empty()).collect();
        let package =
            Package { name: name.clone(), version: version.clone(), checksum: value("checksum"), dependencies };
        packages.insert((name, version), package);
    }
    packages
}

/// Of a crate and all that it depends on: sources of the workspace by content, others by version and checksum.
fn digest_of_closure(
    name: &str,
    packages: &BTreeMap<(String, String), Package>,
    sources: &BTreeMap<String, String>,
) -> String {
    let mut parts = BTreeSet::new();
    let mut ahead = vec![name.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(dependency) = ahead.pop() {
        if !seen.insert(dependency.clone()) {
            continue;
        }
        let mut words = dependency.split(' ');
        let (name, version) = (words.next().unwrap_or(""), words.next());
        let of_this_name = packages.values().filter(|package| package.name == name);
        for package in of_this_name.filter(|package| version.is_none_or(|version| package.version == version)) {
            let identity = match &package.checksum {
                Some(checksum) => checksum.clone(),
                None => sources.get(&package.name).cloned().unwrap_or_default(),
            };
            parts.insert(format!("{} {} {identity}\n", package.name, package.version));
            if package.name != NO_PART {
                ahead.extend(package.dependencies.iter().cloned());
            }
        }
    }
    hex(parts.into_iter().collect::<String>().as_bytes())
}

/// Of the manifest and all sources of a crate, by name and content.
fn digest_of_folder(folder: &Path) -> String {
    let mut text = Vec::new();
    for path in files_under(&folder.join("src")).into_iter().chain([folder.join("Cargo.toml")]) {
        let name = path.strip_prefix(folder).expect("it lies there").display().to_string();
        text.extend(format!("{name}\n{}\n", hex(&fs::read(&path).expect("a source file"))).bytes());
    }
    hex(&text)
}

/// All files below a folder, in the order of their names.
fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { ahead.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The first half of a SHA-256, which is enough to tell sources apart.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
