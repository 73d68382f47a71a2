//! Which code a result is of: digests of sources, made when the program is built.

use sha2::{Digest, Sha256};

/// For each crate of the workspace below this one: a digest of its sources and of all that it depends on.
const CRATES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/crates.rs"));

/// For each file of methods and figures a digest of its content.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Folders whose files each stand for themselves; in folders below them all files belong together.
const TOP_FOLDERS: [&str; 2] = ["src/methods/", "src/figures/"];

/// Tells the code of these crates and of what the file `source` belongs to from any other.
///
/// # Panics
/// If a crate or the file is not known: both are stated in the program itself, and a test goes through all.
pub(crate) fn version(crates: &[&str], source: &str) -> String {
    let mut parts: Vec<&str> = crates.iter().map(|&name| digest_of_crate(name)).collect();
    parts.extend(digests_of_files(source));
    digest(parts.concat().as_bytes())
}

fn digest_of_crate(name: &str) -> &'static str {
    let found = CRATES.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("{name} is not a crate below this one")).1
}

/// Of the file, or of all in its folder where that holds one family.
fn digests_of_files(source: &str) -> Vec<&'static str> {
    let source = source.replace('\\', "/");
    let at =
        TOP_FOLDERS.iter().find_map(|folder| source.find(folder)).unwrap_or_else(|| panic!("{source} has no place"));
    let name = &source[at..];
    let family = match name.rsplit_once('/') {
        Some((folder, _)) if !TOP_FOLDERS.contains(&format!("{folder}/").as_str()) => format!("{folder}/"),
        _ => name.to_owned(),
    };
    let digests: Vec<&str> =
        FILES.iter().filter(|(known, _)| known.starts_with(&family)).map(|(_, digest)| *digest).collect();
    assert!(!digests.is_empty(), "{name} was not there when the program was built");
    digests
}

/// The first half of the SHA-256 of some bytes, in hexadecimal digits: enough to tell things apart.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_tell_crates_and_files_apart() {
        let of_svm = version(&["mil-svm"], "crates/mil-repro/src/methods/svm.rs");
        assert_eq!(of_svm.len(), 32);
        assert_ne!(of_svm, version(&["mil-svm"], "crates/mil-repro/src/methods/mio.rs"));
        assert_ne!(of_svm, version(&["mil-mio"], "crates/mil-repro/src/methods/svm.rs"));
        assert_eq!(of_svm, version(&["mil-svm"], "crates\\mil-repro\\src\\methods\\svm.rs"), "on other systems");
    }

    #[test]
    fn files_of_one_folder_belong_together() {
        let of = |file: &str| digests_of_files(&format!("crates/mil-repro/src/figures/{file}"));
        assert_eq!(of("midl/table.rs"), of("midl/digits.rs"));
        assert!(of("midl/table.rs").len() > 3 && of("mio.rs").len() == 1);
    }
}
