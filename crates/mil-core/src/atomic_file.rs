//! Files that are either whole or not there.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a file by way of a temporary one in the same folder, which is renamed only when it is complete and on disk.
///
/// Whatever interrupts it, `path` holds either its old content or the whole new one. An error or a panic of `fill` removes the temporary file. A link is
/// followed, and a file that exists keeps its permissions.
///
/// # Errors
/// If the folder cannot be written to, or `fill` fails.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // What exists is resolved to where it really lies; what does not is taken as named.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (temporary, file) = Temporary::create_beside(&target)?;
    if let Ok(old) = fs::metadata(&target) {
        file.set_permissions(old.permissions())?;
    }
    let mut writer = BufWriter::new(file);
    fill(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    temporary.rename_to(&target)
}

/// Removes the temporary files of all writes under way in this process and refuses further ones: what a program calls when it is told to end at once, just before it does. Writes that it overtakes fail.
pub fn abandon() {
    let mut under_way = under_way();
    under_way.is_abandoned = true;
    for path in std::mem::take(&mut under_way.paths) {
        // Nothing can be done about a failure here; the target is untouched either way.
        let _ = fs::remove_file(path);
    }
}

/// The temporary files there are.
struct UnderWay {
    paths: BTreeSet<PathBuf>,
    is_abandoned: bool,
}

fn under_way() -> MutexGuard<'static, UnderWay> {
    static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay { paths: BTreeSet::new(), is_abandoned: false });
    // Whoever panicked while it held the lock left the set whole.
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is removed unless it is renamed.
struct Temporary {
    path: Option<PathBuf>,
}

impl Temporary {
    fn create_beside(path: &Path) -> io::Result<(Temporary, File)> {
        /// Tells apart writers within one process; the process id tells apart processes.
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        if path.is_dir() || path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, format!("{} is a folder", path.display())));
        }
        let mut under_way = under_way();
        if under_way.is_abandoned {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the program is about to end"));
        }
        loop {
            let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_file_name(format!(".{}-{unique}.mil-tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    under_way.paths.insert(temporary.clone());
                    return Ok((Temporary { path: Some(temporary) }, file));
                }
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename_to(mut self, target: &Path) -> io::Result<()> {
        let path = self.path.as_ref().expect("taken only here");
        let mut under_way = under_way();
        fs::rename(path, target)?;
        under_way.paths.remove(path);
        self.path = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            under_way().paths.remove(path);
            // Nothing can be done about a failure here; the target is untouched either way.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("mil-core-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn files_in(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn until_the_last_byte_is_written_the_old_file_stands() {
        let folder = folder("standing");
        let target = folder.join("model");
        write(&target, |out| out.write_all(b"old")).unwrap();
        write(&target, |out| {
            out.write_all(b"new but not yet all")?;
            out.flush()?;
            // Were the process killed here, this is what a reader would find.
            assert_eq!(fs::read(&target)?, b"old");
            out.write_all(b" of it")
        })
        .unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new but not yet all of it");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = folder("failed");
        let target = folder.join("model");
        write(&target, |out| out.write_all(b"old")).unwrap();
        let error = write(&target, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert_eq!(error.unwrap_err().to_string(), "disk full");
        let panicked = std::panic::catch_unwind(|| write(&target, |_| panic!("interrupted")));
        assert!(panicked.is_err());
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(files_in(&folder), ["model"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn writers_at_once_do_not_mix() {
        let folder = folder("at-once");
        let target = folder.join("model");
        std::thread::scope(|scope| {
            for letter in [b'a', b'b', b'c', b'd'] {
                let target = &target;
                scope.spawn(move || write(target, |out| out.write_all(&[letter; 100_000])).unwrap());
            }
        });
        let content = fs::read(&target).unwrap();
        assert!(content.len() == 100_000 && content.iter().all(|&byte| byte == content[0]));
        assert_eq!(files_in(&folder), ["model"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_behind_is_no_hindrance() {
        let folder = folder("stale");
        for unique in 0..200 {
            fs::write(folder.join(format!(".{}-{unique}.mil-tmp", std::process::id())), b"stale").unwrap();
        }
        let target = folder.join("m".repeat(250));
        write(&target, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("links");
        let (target, link) = (folder.join("private"), folder.join("link"));
        fs::write(&target, b"old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_is_not_a_target() {
        for path in [".", "..", "/"] {
            let error = write(Path::new(path), |_| Ok(())).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        }
    }
}
