//! Results kept one by one as they come, so that an interrupted run goes on where it was, and runs on several machines can be joined.
//!
//! A result is a file of its own under `cells/`, written whole or not at all, and named after what it is of. Its key states everything that its content depends on: what was
//! computed, on which data, by which code, from which seed. A file with another key is of no use and is left alone.

use std::io;
use std::path::{Path, PathBuf};

use mil_core::atomic_file;
use serde::{Deserialize, Serialize};

use crate::code::digest;
use crate::results::{Drawn, FigureTiming};

/// Name and version of the layout of a stored result.
const SCHEMA: &str = "mil-repro-cell/1";

/// The folder of the results inside that of a run.
const FOLDER: &str = "cells";

/// What a result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Short name of the method or figure.
    pub name: String,
    /// The data sets with the digest of each, or `absent` where one that would have been used was not there.
    pub data: Vec<(String, String)>,
    /// What is asked for.
    pub task: Task,
    /// Tells the code from any other.
    pub code: String,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Task {
    /// One repetition of a cross-validation.
    Repetition {
        /// Folds.
        n_folds: usize,
        /// Which repetition, from 0.
        repeat_idx: usize,
        /// Fixes the folds.
        seed: u64,
    },
    /// A figure.
    Figure {
        /// Whether it is that of the short run.
        quick: bool,
        /// Fixes what is drawn at random.
        seed: u64,
    },
}

impl Key {
    /// The name of its file: something to read, and a digest of the whole.
    fn file_name(&self) -> String {
        let whole = serde_json::to_string(self).expect("a key is plain data");
        let digest = &digest(whole.as_bytes())[..16];
        match &self.task {
            Task::Repetition { repeat_idx, .. } => {
                let data: Vec<&str> = self.data.iter().map(|(name, _)| name.as_str()).collect();
                format!("{}.{}.{repeat_idx:02}.{digest}.json", self.name, data.join("+"))
            }
            Task::Figure { quick, .. } => {
                format!("{}.{}.{digest}.json", self.name, if *quick { "quick" } else { "full" })
            }
        }
    }
}

/// A result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Content {
    /// Of one repetition of a cross-validation.
    Repetition(Repetition),
    /// Of a figure.
    Figure {
        /// What the seed fixes.
        drawn: Drawn,
        /// What it does not.
        timing: FigureTiming,
    },
}

/// What one repetition of a cross-validation came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// Share of bags labelled right.
    pub accuracy: f64,
    /// Area under the ROC curve.
    pub auc: Option<f64>,
    /// Seconds spent fitting, summed over the folds; not fixed by the seed.
    pub fit_seconds: f64,
}

impl Repetition {
    fn check(&self) -> Result<(), String> {
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        if is_share(self.accuracy) && self.auc.is_none_or(is_share) && self.fit_seconds >= 0.0 {
            return Ok(());
        }
        Err("accuracy and area are not from 0 to 1".to_owned())
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Stored {
    schema: String,
    key: Key,
    content: Content,
}

/// What is found under a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A result.
    Content(Content),
    /// A file that is not what its name says.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// A folder of results.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The results of the runs that go into the folder `out`, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(out: &Path) -> io::Result<Store> {
        let folder = out.join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(|error| about(&folder, &error))?;
        Ok(Store { folder })
    }

    /// What there is under a key.
    #[must_use]
    pub fn find(&self, key: &Key) -> Found {
        let path = self.folder.join(key.file_name());
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Nothing,
            Err(error) => return Found::Damaged { path, reason: error.to_string() },
        };
        match read(&bytes) {
            Ok(stored) if stored.key == *key => Found::Content(stored.content),
            Ok(_) => Found::Damaged { path, reason: "it is of something else than its name says".to_owned() },
            Err(reason) => Found::Damaged { path, reason },
        }
    }

    /// Keeps a result, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, key: &Key, content: Content) -> io::Result<()> {
        let path = self.folder.join(key.file_name());
        let stored = Stored { schema: SCHEMA.to_owned(), key: key.clone(), content };
        let mut text = serde_json::to_string(&stored).map_err(io::Error::other)?;
        text.push('\n');
        atomic_file::write(&path, |out| out.write_all(text.as_bytes())).map_err(|error| about(&path, &error))
    }

    /// Takes over the results of another run's folder. Of two results under one key the one that is here already stays, if they agree but for times.
    ///
    /// # Errors
    /// If the folder holds no results, if a file cannot be read or written or is damaged, or if two results under one key differ.
    pub fn merge(&self, out: &Path) -> Result<Merged, MergeError> {
        let folder = out.join(FOLDER);
        let listing =
            std::fs::read_dir(&folder).map_err(|source| MergeError::NoStore { folder: folder.clone(), source })?;
        let mut names: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
        names.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        names.sort();
        let mut merged = Merged::default();
        for path in names {
            let damaged = |reason: String| MergeError::Damaged { path: path.clone(), reason };
            let bytes = std::fs::read(&path).map_err(|error| damaged(error.to_string()))?;
            let stored = read(&bytes).map_err(damaged)?;
            if path.file_name().is_none_or(|name| *name != *stored.key.file_name()) {
                return Err(damaged("it is of something else than its name says".to_owned()));
            }
            match self.find(&stored.key) {
                Found::Content(ours) if ours.agrees_with(&stored.content) => merged.n_known += 1,
                Found::Content(_) => return Err(MergeError::Conflict { path }),
                Found::Nothing | Found::Damaged { .. } => {
                    let target = self.folder.join(stored.key.file_name());
                    self.keep(&stored.key, stored.content)
                        .map_err(|source| MergeError::Unwritable { path: target, source })?;
                    merged.n_new += 1;
                }
            }
        }
        Ok(merged)
    }
}

impl Content {
    /// Whether both say the same, times aside.
    fn agrees_with(&self, other: &Content) -> bool {
        match (self, other) {
            (Content::Repetition(a), Content::Repetition(b)) => (a.accuracy, a.auc) == (b.accuracy, b.auc),
            (Content::Figure { drawn: a, .. }, Content::Figure { drawn: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// What a merge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Merged {
    /// Results taken over.
    pub n_new: usize,
    /// Results that were here already.
    pub n_known: usize,
}

/// Why results could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The folder is not one of a run.
    #[error("{}: {source}; name the folder that was given to `reproduce --out`", folder.display())]
    NoStore {
        /// The folder looked for.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what its name says.
    #[error("{} is damaged: {reason}; remove it and run that shard again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Two results of the same code, data and seed differ.
    #[error("{} differs from the result that is here under the same key: the two machines do not compute alike; keep the results of one of them", path.display())]
    Conflict {
        /// The file that was to be taken over.
        path: PathBuf,
    },
    /// A result could not be kept.
    #[error("{}: {source}", path.display())]
    Unwritable {
        /// Where it was to go.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn read(bytes: &[u8]) -> Result<Stored, String> {
    let stored: Stored = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if stored.schema != SCHEMA {
        return Err(format!("its layout is {}, expected {SCHEMA}", stored.schema));
    }
    match (&stored.key.task, &stored.content) {
        (Task::Repetition { .. }, Content::Repetition(repetition)) => repetition.check()?,
        (Task::Figure { .. }, Content::Figure { drawn, .. }) => drawn.check()?,
        _ => return Err("it is of another kind than its key says".to_owned()),
    }
    Ok(stored)
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(repeat_idx: usize) -> Key {
        Key {
            name: "mi-svm".to_owned(),
            data: vec![("musk1".to_owned(), "ab12".to_owned())],
            task: Task::Repetition { n_folds: 10, repeat_idx, seed: 1 },
            code: "cd34".to_owned(),
        }
    }

    fn content(accuracy: f64, fit_seconds: f64) -> Content {
        Content::Repetition(Repetition { accuracy, auc: Some(0.1 + 0.2), fit_seconds })
    }

    fn store(name: &str) -> (PathBuf, Store) {
        let folder = std::env::temp_dir().join(format!("mil-repro-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let store = Store::open(&folder).unwrap();
        (folder, store)
    }

    #[test]
    fn what_is_kept_is_found_again_to_the_bit() {
        let (folder, store) = store("kept");
        assert_eq!(store.find(&key(0)), Found::Nothing);
        store.keep(&key(0), content(1.0 / 3.0, 0.1)).unwrap();
        assert_eq!(store.find(&key(0)), Found::Content(content(1.0 / 3.0, 0.1)));
        assert_eq!(store.find(&key(1)), Found::Nothing, "another repetition");
        for other in [
            Key { code: "else".to_owned(), ..key(0) },
            Key { data: vec![("musk1".to_owned(), "else".to_owned())], ..key(0) },
            Key { task: Task::Repetition { n_folds: 10, repeat_idx: 0, seed: 2 }, ..key(0) },
            Key { task: Task::Figure { quick: true, seed: 1 }, ..key(0) },
        ] {
            assert_eq!(store.find(&other), Found::Nothing, "{other:?}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_damaged_file_is_told_and_never_taken_for_a_result() {
        let (folder, store) = store("damaged");
        store.keep(&key(0), content(0.5, 0.1)).unwrap();
        let path = store.folder.join(key(0).file_name());
        let whole = std::fs::read(&path).unwrap();
        let half = &whole[..whole.len() / 2];
        let other_layout = String::from_utf8(whole.clone()).unwrap().replace("cell/1", "cell/0");
        let other_key = String::from_utf8(whole.clone()).unwrap().replace("cd34", "ef56");
        let no_share = String::from_utf8(whole.clone()).unwrap().replace("\"accuracy\":0.5", "\"accuracy\":50.0");
        let other_kind = String::from_utf8(whole.clone()).unwrap();
        let other_kind = other_kind
            .replace("\"kind\":\"repetition\",\"n_folds\":10,\"repeat_idx\":0", "\"kind\":\"figure\",\"quick\":true");
        for bytes in
            [&b""[..], half, other_layout.as_bytes(), other_key.as_bytes(), no_share.as_bytes(), other_kind.as_bytes()]
        {
            std::fs::write(&path, bytes).unwrap();
            assert!(matches!(store.find(&key(0)), Found::Damaged { .. }), "{}", String::from_utf8_lossy(bytes));
        }
        store.keep(&key(0), content(0.5, 0.1)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn stores_are_joined_and_contradictions_are_found() {
        let ((a, ours), (b, theirs)) = (store("ours"), store("theirs"));
        ours.keep(&key(0), content(0.5, 0.1)).unwrap();
        theirs.keep(&key(0), content(0.5, 7.0)).unwrap();
        theirs.keep(&key(1), content(0.6, 0.1)).unwrap();
        assert_eq!(ours.merge(&b).unwrap(), Merged { n_new: 1, n_known: 1 });
        assert_eq!(ours.find(&key(0)), Found::Content(content(0.5, 0.1)), "what was here stays");
        assert_eq!(ours.find(&key(1)), Found::Content(content(0.6, 0.1)));

        theirs.keep(&key(0), content(0.7, 0.1)).unwrap();
        assert!(matches!(ours.merge(&b), Err(MergeError::Conflict { .. })));
        std::fs::write(theirs.folder.join(key(0).file_name()), b"{").unwrap();
        assert!(matches!(ours.merge(&b), Err(MergeError::Damaged { .. })));
        std::fs::remove_dir_all(&b).unwrap();
        assert!(matches!(ours.merge(&b), Err(MergeError::NoStore { .. })));
        std::fs::remove_dir_all(a).unwrap();
    }
}
