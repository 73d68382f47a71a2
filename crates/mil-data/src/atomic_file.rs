//! Files that appear whole or not at all. To be replaced by `mil_core::atomic_file`, which has the same signature.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Fills a temporary file in the same folder, flushes it to disk and renames it; removes it if anything fails.
pub(crate) fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let (temporary, mut file) = create_beside(path)?;
    let outcome = fill(&mut file).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&temporary, path));
    if outcome.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    outcome
}

fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}
