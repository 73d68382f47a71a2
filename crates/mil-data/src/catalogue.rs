//! The data sets that the literature measures on: what they hold, how to obtain them, and whether a file is the one meant.
//!
//! [`entries`] lists what is known and [`find`] looks up one by name. Musk1 and Musk2 are shipped inside this crate; of the others the
//! catalogue knows the files by name, size and SHA-256, and [`Entry::load`] reads them from a folder of the caller's. A file may be
//! compressed with gzip or not, and lie in the subfolder of its data set or directly in the folder; size and checksum are those of the
//! uncompressed bytes. A file that is longer than it should be is refused without being decompressed to its end.
//!
//! What is loaded is what was measured on: every file is held to its checksum, and every set to its counts.
//!
//! ```
//! use mil_data::catalogue;
//!
//! let musk1 = catalogue::musk1();
//! assert_eq!((musk1.n_bags(), musk1.n_instances(), musk1.n_features()), (92, 476, 166));
//!
//! let elephant = catalogue::find("elephant")?;
//! let error = elephant.load(None).unwrap_err();
//! assert!(error.to_string().starts_with("elephant: it is not shipped, and no data folder was given"));
//! # Ok::<(), catalogue::CatalogueError>(())
//! ```

mod entries;
mod error;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use mil_core::{BagSet, ClassId, ClassNames, Label};
use sha2::{Digest, Sha256};

pub use self::error::{CatalogueError, FileFault, Missing, Origin};
use crate::{DataError, Format, LabelledInstances, ReadOptions, gzip, read};

/// All known data sets, shipped ones first.
#[must_use]
pub fn entries() -> &'static [Entry] {
    &entries::ENTRIES
}

/// The data set of a name.
///
/// # Errors
/// [`CatalogueError::Unknown`], with the nearest name and all known ones.
pub fn find(name: &str) -> Result<&'static Entry, CatalogueError> {
    let known = || entries().iter().map(|entry| entry.name);
    entries()
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| CatalogueError::Unknown { name: name.to_owned(), known: known().collect() })
}

/// Musk1, without any file: 92 molecules, 476 conformations, 166 features.
#[must_use]
pub fn musk1() -> BagSet<Label> {
    shipped("musk1")
}

/// Musk2, without any file: 102 molecules, 6598 conformations, 166 features.
#[must_use]
pub fn musk2() -> BagSet<Label> {
    shipped("musk2")
}

fn shipped(name: &str) -> BagSet<Label> {
    match find(name).and_then(|entry| entry.load(None)) {
        Ok(DataSet::Binary(bags)) => bags,
        other => unreachable!("{name} is embedded and of two classes: {other:?}"),
    }
}

/// One known data set.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Short name, by which it is found.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// Licence or terms, as the source states them.
    pub terms: &'static str,
    /// How to obtain it, in one sentence.
    pub obtain: &'static str,
    /// What the classes stand for, in the order of their ids, where their names in the data do not say; else empty.
    pub class_titles: &'static [&'static str],
    /// What it consists of: its bags, or the training and the test instances.
    pub sections: &'static [Section],
}

/// One section of a data set, which lies in one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Section {
    /// `bags`, `training instances` or `test instances`.
    pub name: &'static str,
    /// What it holds.
    pub contents: Contents,
    /// The files that hold it, each equally good; the first one found is read.
    pub files: &'static [AcceptedFile],
}

/// What a section of a data set holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Bags of two classes.
    Binary {
        /// Number of bags.
        n_bags: usize,
        /// Number of positive bags.
        n_positive: usize,
        /// Number of instances over all bags.
        n_instances: usize,
        /// Dimension of the instances.
        n_features: usize,
    },
    /// Bags of many classes.
    Classes {
        /// Number of bags.
        n_bags: usize,
        /// Number of classes.
        n_classes: usize,
        /// Number of instances over all bags.
        n_instances: usize,
        /// Dimension of the instances.
        n_features: usize,
    },
    /// Instances of many classes, in no bag.
    Instances {
        /// Number of instances.
        n_instances: usize,
        /// Number of classes.
        n_classes: usize,
        /// Dimension of the instances.
        n_features: usize,
    },
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contents::Binary { n_bags, n_positive, n_instances, n_features } => {
                write!(f, "{n_bags} bags ({n_positive} positive), {n_instances} instances, {n_features} features")
            }
            Contents::Classes { n_bags, n_classes, n_instances, n_features } => {
                write!(f, "{n_bags} bags of {n_classes} classes, {n_instances} instances, {n_features} features")
            }
            Contents::Instances { n_instances, n_classes, n_features } => {
                write!(f, "{n_instances} instances of {n_classes} classes, {n_features} features")
            }
        }
    }
}

/// A file that is known to hold a section of a data set.
#[derive(Debug)]
#[non_exhaustive]
pub struct AcceptedFile {
    /// Where it is looked for in the data folder. Also accepted: without the subfolder, and without `.gz`.
    pub path: &'static str,
    /// How it is laid out.
    pub format: FileFormat,
    /// Number of bytes, uncompressed.
    pub n_bytes: u64,
    /// SHA-256 of the uncompressed bytes, in hexadecimal digits.
    pub sha256: &'static str,
    /// The file itself, where it is shipped.
    embedded: Option<&'static [u8]>,
}

/// How a file of the catalogue is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Bags in one of the formats that [`read`] knows.
    Bags(Format),
    /// Instances as lines of numbers, read by [`LabelledInstances::read_esl`].
    Esl,
}

/// A data set in memory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DataSet {
    /// Bags of two classes.
    Binary(BagSet<Label>),
    /// Bags of many classes.
    Classes(BagSet<ClassId>),
    /// Instances in no bag, divided by those who published them.
    Instances {
        /// Instances to train on.
        train: LabelledInstances,
        /// Instances to test on.
        test: LabelledInstances,
    },
}

/// Where a data set lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// Inside this crate.
    Shipped,
    /// In the data folder: one file for each section.
    Present(Vec<PathBuf>),
    /// Nowhere.
    Missing(Missing),
}

/// What [`Entry::verify`] found out about one file.
#[derive(Debug)]
pub struct FileCheck {
    /// Which file.
    pub origin: Origin,
    /// What it holds, or what is wrong with it.
    pub outcome: Result<Contents, CatalogueError>,
}

impl Entry {
    /// Whether the data set is inside this crate.
    #[must_use]
    pub fn is_shipped(&self) -> bool {
        self.sections.iter().all(|section| section.embedded().is_some())
    }

    /// Looks for the data set without reading it.
    #[must_use]
    pub fn locate(&self, data_dir: Option<&Path>) -> Located {
        if self.is_shipped() {
            return Located::Shipped;
        }
        match self.sections.iter().map(|section| section.locate(data_dir)).collect() {
            Ok(files) => Located::Present(files),
            Err(missing) => Located::Missing(missing),
        }
    }

    /// Reads the data set: from this crate if it is shipped, so that what is loaded does not depend on a folder, else from the folder.
    ///
    /// # Errors
    /// If the data set is not there, or a file differs in size, checksum or counts from the one known.
    pub fn load(&'static self, data_dir: Option<&Path>) -> Result<DataSet, CatalogueError> {
        let mut sections = self.sections.iter().map(|section| self.load_section(section, data_dir));
        let first = sections.next().expect("a data set has a section")?;
        match (first, sections.next().transpose()?) {
            (Loaded::Binary(bags), None) => Ok(DataSet::Binary(bags)),
            (Loaded::Classes(bags), None) => Ok(DataSet::Classes(bags)),
            (Loaded::Instances(train), Some(Loaded::Instances(test))) => Ok(DataSet::Instances { train, test }),
            _ => unreachable!("an entry has one section of bags, or two of instances"),
        }
    }

    /// Reads every accepted file that is present, the shipped ones included, and holds each to its size, checksum and counts.
    ///
    /// # Errors
    /// If no file of the data set is present. A file that is present and wrong is an outcome, not an error.
    pub fn verify(&'static self, data_dir: Option<&Path>) -> Result<Vec<FileCheck>, CatalogueError> {
        let mut checks = Vec::new();
        for section in self.sections {
            for file in section.files {
                let embedded = file.embedded.map(|_| Origin::Shipped(file.path));
                let in_folder = data_dir.into_iter().flat_map(|folder| file.candidates(folder));
                let present = in_folder.filter(|path| path.is_file()).map(Origin::File);
                checks.extend(embedded.into_iter().chain(present).map(|origin| {
                    let outcome = self.read(section, file, &origin).map(|_| section.contents);
                    FileCheck { origin, outcome }
                }));
            }
        }
        match (checks.is_empty(), self.locate(data_dir)) {
            (true, Located::Missing(missing)) => Err(self.missing(missing)),
            _ => Ok(checks),
        }
    }

    fn load_section(&'static self, section: &Section, data_dir: Option<&Path>) -> Result<Loaded, CatalogueError> {
        if let Some(file) = section.embedded() {
            return self.read(section, file, &Origin::Shipped(file.path));
        }
        let path = section.locate(data_dir).map_err(|missing| self.missing(missing))?;
        let folder = data_dir.expect("a file was found in it");
        let is_this = |file: &&AcceptedFile| file.candidates(folder).contains(&path);
        let file = section.files.iter().find(is_this).expect("the path is a candidate of a file");
        self.read(section, file, &Origin::File(path))
    }

    fn read(&'static self, section: &Section, file: &AcceptedFile, origin: &Origin) -> Result<Loaded, CatalogueError> {
        let fault = |fault| CatalogueError::File { entry: self, origin: origin.clone(), fault: Box::new(fault) };
        let bytes = match origin {
            Origin::Shipped(_) => file.verified_bytes(file.embedded.expect("the origin says so")),
            Origin::File(path) => File::open(path).map_err(FileFault::Io).and_then(|open| file.verified_bytes(open)),
        };
        let bytes = bytes.map_err(fault)?;
        let loaded = load_bytes(bytes, &origin.to_string(), file.format, section.contents)
            .map_err(|error| fault(FileFault::Read(Box::new(error))))?;
        match loaded.contents() {
            found if found == section.contents => Ok(loaded),
            found => Err(fault(FileFault::Contents { found, expected: section.contents })),
        }
    }

    fn missing(&'static self, missing: Missing) -> CatalogueError {
        CatalogueError::Missing { entry: self, missing }
    }
}

impl Section {
    fn embedded(&self) -> Option<&AcceptedFile> {
        self.files.iter().find(|file| file.embedded.is_some())
    }

    /// The first accepted file that is present.
    fn locate(&self, data_dir: Option<&Path>) -> Result<PathBuf, Missing> {
        let folder = data_dir.ok_or(Missing::NoFolderGiven)?;
        if !folder.is_dir() {
            return Err(Missing::FolderAbsent { folder: folder.to_owned() });
        }
        let looked_for: Vec<PathBuf> = self.files.iter().flat_map(|file| file.candidates(folder)).collect();
        match looked_for.iter().find(|path| path.is_file()) {
            Some(path) => Ok(path.clone()),
            None => Err(Missing::FileAbsent { folder: folder.to_owned(), section: self.name, looked_for }),
        }
    }
}

impl AcceptedFile {
    /// The paths under which the file is accepted: with subfolder and without, compressed and not.
    fn candidates(&self, folder: &Path) -> Vec<PathBuf> {
        let in_subfolder = [self.path, self.path.trim_end_matches(".gz")];
        let file_name = |path: &'static str| path.rsplit('/').next().expect("a split has at least one piece");
        in_subfolder.into_iter().chain(in_subfolder.map(file_name)).map(|path| folder.join(path)).collect()
    }

    /// The uncompressed bytes, once they are known to be those meant. No more than one byte too many is ever decompressed.
    fn verified_bytes(&self, reader: impl Read) -> Result<Vec<u8>, FileFault> {
        let mut bytes = Vec::with_capacity(self.n_bytes as usize + 1);
        gzip::open(reader)?.take(self.n_bytes + 1).read_to_end(&mut bytes)?;
        let (found, expected) = (bytes.len() as u64, self.n_bytes);
        if found > expected {
            return Err(FileFault::TooLong { expected });
        }
        if found < expected {
            return Err(FileFault::TooShort { found, expected });
        }
        let sha256 = hexadecimal(&Sha256::digest(&bytes));
        if sha256 != self.sha256 {
            return Err(FileFault::Checksum { found: sha256, expected: self.sha256 });
        }
        Ok(bytes)
    }
}

/// One section in memory.
#[derive(Debug)]
enum Loaded {
    Binary(BagSet<Label>),
    Classes(BagSet<ClassId>),
    Instances(LabelledInstances),
}

impl Loaded {
    fn contents(&self) -> Contents {
        match self {
            Loaded::Binary(bags) => Contents::Binary {
                n_bags: bags.n_bags(),
                n_positive: bags.positive_bags().count(),
                n_instances: bags.n_instances(),
                n_features: bags.n_features(),
            },
            Loaded::Classes(bags) => Contents::Classes {
                n_bags: bags.n_bags(),
                n_classes: bags.n_classes(),
                n_instances: bags.n_instances(),
                n_features: bags.n_features(),
            },
            Loaded::Instances(set) => Contents::Instances {
                n_instances: set.n_instances(),
                n_classes: set.class_names().len(),
                n_features: set.n_features(),
            },
        }
    }
}

/// Reads bytes that are known to be those meant.
fn load_bytes(bytes: Vec<u8>, source_name: &str, format: FileFormat, contents: Contents) -> Result<Loaded, DataError> {
    let FileFormat::Bags(format) = format else {
        return LabelledInstances::read_esl(&bytes[..], source_name).map(Loaded::Instances);
    };
    let table = read(&bytes[..], source_name, format, &ReadOptions::default())?;
    drop(bytes);
    match contents {
        Contents::Binary { .. } => table.binary(None).map(Loaded::Binary),
        Contents::Classes { n_classes, .. } => Ok(Loaded::Classes(of_first_classes(table.classes()?, n_classes))),
        Contents::Instances { .. } => unreachable!("instances are in no format of bags"),
    }
}

/// The bags of the first classes only, as Corel-1000 is the first half of Corel-2000.
fn of_first_classes(bags: BagSet<ClassId>, n_classes: usize) -> BagSet<ClassId> {
    if bags.n_classes() <= n_classes {
        return bags;
    }
    let class_names = ClassNames::new(bags.class_names().iter().take(n_classes));
    let mut builder = BagSet::builder_of_classes(class_names);
    for (bag, &class) in bags.bags().zip(bags.labels()).filter(|(_, class)| class.idx() < n_classes) {
        builder.bag(bag.name(), class, bag.instances()).expect("the instances of a set suit each other");
    }
    builder.build().expect("the bags of a set suit each other, and the first class has bags")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_sets_hold_what_the_table_says() {
        for name in ["musk1", "musk2"] {
            let entry = find(name).unwrap();
            assert_eq!(entry.locate(None), Located::Shipped);
            let checks = entry.verify(None).unwrap();
            assert_eq!(checks.len(), 1);
            assert_eq!(*checks[0].outcome.as_ref().unwrap(), entry.sections[0].contents);
        }
    }

    #[test]
    fn the_first_conformation_of_musk1_is_the_published_one() {
        // clean1.data, line 1: MUSK-188,188_1+1,42,-198,-109,-75,-117,11,23,-88,...
        let bags = musk1();
        assert_eq!(bags.bag(0).instance(0)[..8], [42.0, -198.0, -109.0, -75.0, -117.0, 11.0, 23.0, -88.0]);
        assert_eq!(bags.labels()[0], Label::Positive);
        assert_eq!(bags.labels()[91], Label::Negative);
        assert_eq!(musk2().labels().iter().filter(|label| **label == Label::Positive).count(), 39);
    }

    #[test]
    fn the_table_is_in_order() {
        let mut names: Vec<_> = entries().iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), entries().len(), "names are unique");
        for entry in entries() {
            let kinds: Vec<_> =
                entry.sections.iter().map(|section| std::mem::discriminant(&section.contents)).collect();
            let instances =
                std::mem::discriminant(&Contents::Instances { n_instances: 0, n_classes: 0, n_features: 0 });
            assert!(kinds == [instances; 2] || (kinds.len() == 1 && kinds[0] != instances), "{}", entry.name);
            assert!(entry.obtain.ends_with('.') && !entry.terms.is_empty() && !entry.citation.is_empty());
            for file in entry.sections.iter().flat_map(|section| section.files) {
                let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
                assert!(file.sha256.len() == 64 && file.sha256.bytes().all(is_digit), "{}", file.path);
                assert!(file.path.ends_with(".gz") && file.path.split('/').count() == 2, "{}", file.path);
            }
            if let Contents::Classes { n_classes, .. } = entry.sections[0].contents {
                assert_eq!(entry.class_titles.len(), n_classes);
            }
        }
    }

    /// Musk1 as if it were not shipped.
    static UNSHIPPED: Entry = Entry {
        name: "molecules",
        title: "Musk1, from a folder",
        citation: "none",
        terms: "CC BY 4.0",
        obtain: "Copy the fixture.",
        class_titles: &[],
        sections: &[Section {
            name: "bags",
            contents: Contents::Binary { n_bags: 92, n_positive: 47, n_instances: 476, n_features: 166 },
            files: &[AcceptedFile {
                path: "molecules/musk1.csv.gz",
                format: FileFormat::Bags(Format::Csv),
                n_bytes: 320_710,
                sha256: "6eb13180b63f7cfabd1c759c510a036ecb561069aa8e86700c76a2fe139d297a",
                embedded: None,
            }],
        }],
    };

    fn compressed() -> &'static [u8] {
        find("musk1").unwrap().sections[0].files[0].embedded.unwrap()
    }

    fn uncompressed() -> Vec<u8> {
        find("musk1").unwrap().sections[0].files[0].verified_bytes(compressed()).unwrap()
    }

    /// A data folder with one file.
    fn folder_with(path: &str, bytes: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        folder
    }

    #[test]
    fn a_file_is_accepted_with_subfolder_or_without_compressed_or_not() {
        for (path, bytes) in [
            ("molecules/musk1.csv.gz", compressed()),
            ("molecules/musk1.csv", &uncompressed()),
            ("musk1.csv.gz", compressed()),
            ("musk1.csv", &uncompressed()),
            // What a file is, its bytes say, not its name.
            ("musk1.csv", compressed()),
        ] {
            let folder = folder_with(path, bytes);
            assert_eq!(UNSHIPPED.locate(Some(folder.path())), Located::Present(vec![folder.path().join(path)]));
            assert_eq!(UNSHIPPED.load(Some(folder.path())).unwrap(), DataSet::Binary(musk1()), "{path}");
            assert_eq!(UNSHIPPED.verify(Some(folder.path())).unwrap().len(), 1);
        }
    }

    #[test]
    fn what_is_missing_is_told_apart() {
        let message = |folder| UNSHIPPED.load(folder).unwrap_err().to_string();
        assert_eq!(
            message(None),
            "molecules: it is not shipped, and no data folder was given (option --data or variable MIL_DATA). Copy the fixture."
        );
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        assert_eq!(
            message(Some(&absent)),
            format!("molecules: there is no data folder {}. Copy the fixture.", absent.display())
        );
        assert_eq!(
            message(Some(folder.path())),
            format!(
                "molecules: the folder {} has no file of its bags; looked for molecules/musk1.csv.gz, molecules/musk1.csv, \
                 musk1.csv.gz, musk1.csv. Copy the fixture.",
                folder.path().display()
            )
        );
        // A folder of the file's name is not the file.
        std::fs::create_dir(folder.path().join("musk1.csv")).unwrap();
        assert!(matches!(
            UNSHIPPED.verify(Some(folder.path())),
            Err(CatalogueError::Missing { missing: Missing::FileAbsent { .. }, .. })
        ));
    }

    #[test]
    fn a_wrong_file_is_named_with_what_is_wrong() {
        let fault_of = |bytes: &[u8]| {
            let folder = folder_with("musk1.csv", bytes);
            let path = folder.path().join("musk1.csv").display().to_string();
            let message = UNSHIPPED.load(Some(folder.path())).unwrap_err().to_string();
            let checks = UNSHIPPED.verify(Some(folder.path())).unwrap();
            assert_eq!(
                checks[0].outcome.as_ref().unwrap_err().to_string(),
                message,
                "verifying says what loading says"
            );
            let fault = message.strip_prefix(&format!("molecules: {path}: ")).expect("it begins with set and file");
            fault.strip_suffix(". Copy the fixture.").expect("it ends with how to obtain the file").to_owned()
        };
        let right = uncompressed();
        assert_eq!(fault_of(&right[1..]), "holds 320709 bytes (uncompressed), expected 320710");
        assert_eq!(fault_of(b""), "holds 0 bytes (uncompressed), expected 320710");
        let longer = [&right[..], b"\n"].concat();
        assert_eq!(fault_of(&longer), "holds more than 320710 bytes (uncompressed), expected just as many");
        let mut other = right.clone();
        other[0] = b'0';
        let fault = fault_of(&other);
        assert!(
            fault.starts_with("has the SHA-256 ") && fault.ends_with(UNSHIPPED.sections[0].files[0].sha256),
            "{fault}"
        );
        assert!(fault_of(&compressed()[..5000]).starts_with("cannot be read: "));
    }

    #[test]
    fn wrong_counts_are_named() {
        static MISCOUNTED: Entry = Entry {
            sections: &[Section {
                contents: Contents::Binary { n_bags: 92, n_positive: 46, n_instances: 476, n_features: 166 },
                ..UNSHIPPED.sections[0]
            }],
            ..UNSHIPPED
        };
        let folder = folder_with("musk1.csv.gz", compressed());
        let message = MISCOUNTED.load(Some(folder.path())).unwrap_err().to_string();
        let fault = "holds 92 bags (47 positive), 476 instances, 166 features; \
                     expected 92 bags (46 positive), 476 instances, 166 features";
        assert!(message.contains(fault), "{message}");
    }

    /// A gzip file without end: a header, then one stored block of deflate after the other.
    struct Endless {
        block: Vec<u8>,
        n_read: usize,
    }

    impl Endless {
        const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

        fn new() -> Self {
            let n_bytes = u16::MAX;
            let mut block = vec![0];
            block.extend(n_bytes.to_le_bytes());
            block.extend((!n_bytes).to_le_bytes());
            block.extend(vec![b'1'; usize::from(n_bytes)]);
            Endless { block, n_read: 0 }
        }
    }

    impl Read for &mut Endless {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            for byte in &mut *buf {
                *byte = match self.n_read.checked_sub(Endless::HEADER.len()) {
                    None => Endless::HEADER[self.n_read],
                    Some(position) => self.block[position % self.block.len()],
                };
                self.n_read += 1;
            }
            Ok(buf.len())
        }
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let file = &UNSHIPPED.sections[0].files[0];
        assert!(matches!(file.verified_bytes(std::io::repeat(b'1')), Err(FileFault::TooLong { expected: 320_710 })));
        let mut endless = Endless::new();
        assert!(matches!(file.verified_bytes(&mut endless), Err(FileFault::TooLong { expected: 320_710 })));
        // Stored blocks hardly add to the bytes; what is read beyond the limit is what buffers hold.
        assert!(endless.n_read < 500_000, "{} bytes read", endless.n_read);
    }

    #[test]
    fn an_unknown_name_gets_a_hint() {
        for (name, start) in [
            ("Musk-1", "there is no data set \"Musk-1\"; did you mean `musk1`? known: musk1, musk2, elephant"),
            ("corel1000", "there is no data set \"corel1000\"; did you mean `corel-1000`? known"),
            ("elefant", "there is no data set \"elefant\"; did you mean `elephant`? known"),
            ("mnist-bags", "there is no data set \"mnist-bags\"; known: musk1"),
            ("", "there is no data set \"\"; known: musk1"),
        ] {
            let message = find(name).unwrap_err().to_string();
            assert!(message.starts_with(start), "{message}");
        }
    }

    #[test]
    fn a_checksum_is_written_as_the_published_one() {
        // FIPS 180-2, appendix B.1.
        let digest = hexadecimal(&Sha256::digest(b"abc"));
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn the_first_classes_keep_their_ids_and_bags() {
        let mut builder = BagSet::builder_of_classes(ClassNames::new(["0", "1", "2"]));
        for (name, class) in [("a", 0), ("b", 2), ("c", 1), ("d", 0)] {
            builder.bag(name, ClassId(class), [[f64::from(class)]]).unwrap();
        }
        let first = of_first_classes(builder.build().unwrap(), 2);
        assert_eq!(first.names(), ["a", "c", "d"]);
        assert_eq!(first.labels(), [ClassId(0), ClassId(1), ClassId(0)]);
        assert_eq!(first.n_classes(), 2);
    }
}
