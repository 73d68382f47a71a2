//! Ending at once, in a process of its own: after it nothing can be written any more.

use mil_core::atomic_file;

#[test]
fn what_is_abandoned_leaves_the_old_file_and_nothing_else() {
    let folder = std::env::temp_dir().join(format!("mil-core-abandon-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let target = folder.join("model");
    atomic_file::write(&target, |out| out.write_all(b"old")).unwrap();
    let outcome = atomic_file::write(&target, |out| {
        out.write_all(b"half")?;
        out.flush()?;
        assert_eq!(std::fs::read_dir(&folder)?.count(), 2, "the temporary file is there");
        atomic_file::abandon();
        assert_eq!(std::fs::read_dir(&folder)?.count(), 1, "and now is not");
        Ok(())
    });
    assert!(outcome.is_err());
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    let later = atomic_file::write(&folder.join("other"), |out| out.write_all(b"new")).unwrap_err();
    assert_eq!(later.kind(), std::io::ErrorKind::Interrupted);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}
