//! The one format in which models are kept.
//!
//! ```text
//! offset  bytes  what
//! 0       8      magic, "MILMODEL"
//! 8       4      format version, little-endian, now 1
//! 12      4      length h of the header
//! 16      h      header: learner kind, creation parameters (bincode)
//! 16+h    8      length p of the payload
//! 24+h    p      payload: the model (bincode)
//! 24+h+p  4      CRC-32 of all bytes before
//! ```
//!
//! The checks run in that order of trust: magic, version, lengths, checksum, kind, payload, soundness of the model. [`save`] writes to a temporary file
//! and renames it, so a file under its own name is always whole. The encoding of header and payload is confined to this module.

use std::io;
use std::path::{Path, PathBuf};

use nalgebra::DMatrix;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::atomic_file;

const MAGIC: &[u8; 8] = b"MILMODEL";
const VERSION: u32 = 1;
/// Magic, version and header length.
const PREFIX: usize = 16;
const CHECKSUM: usize = 4;

/// A model that can be kept in a file.
pub trait SavedModel: Serialize + DeserializeOwned {
    /// Name of the kind of model, unique among all kinds, such as `nearest-centroid`.
    fn kind() -> String;

    /// Whether what was read is a model that scores without harm: dimensions that agree, numbers that are finite.
    ///
    /// # Errors
    /// What is not sound.
    fn check(&self) -> Result<(), &'static str>;
}

/// What a file says about its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The kind of model, as [`SavedModel::kind`].
    pub kind: String,
    /// The parameters it was fitted with, as [`Params::to_pairs`](crate::Params::to_pairs).
    pub params: Vec<(String, String)>,
}

/// Why a model file is refused.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// The file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The magic bytes are missing.
    #[error("this is not a model file: it does not begin with MILMODEL")]
    NotAModel,
    /// The file was written by a later release, or by none.
    #[error("the file has format version {found}, this release reads 1 to {known}; use a newer release")]
    Version {
        /// Version of the file.
        found: u32,
        /// Latest version known here.
        known: u32,
    },
    /// The file ends too early.
    #[error("the file is cut short: {found} bytes, expected {expected}; copy it again")]
    Truncated {
        /// Bytes there should be, at least.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The file goes on after its end.
    #[error("the file has {extra} bytes after its end; copy it again")]
    Trailing {
        /// Bytes too many.
        extra: u64,
    },
    /// The checksum does not fit: some bit has changed.
    #[error("the file is damaged: its checksum is {found:08x}, expected {expected:08x}; copy it again")]
    Checksum {
        /// Checksum of the bytes.
        found: u32,
        /// Checksum stated in the file.
        expected: u32,
    },
    /// The file holds another kind of model.
    #[error("the file holds a {found:?} model, expected {expected:?}")]
    WrongKind {
        /// Kind in the file.
        found: String,
        /// Kind asked for.
        expected: String,
    },
    /// The bytes do not encode a model of that kind.
    #[error("the model cannot be decoded: {0}")]
    Encoding(String),
    /// The model is not one that could be used.
    #[error("the model is not sound: {0}")]
    Unsound(&'static str),
}

/// Writes a model to a file, whole or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn save<M: SavedModel>(path: &Path, model: &M, params: &[(String, String)]) -> Result<(), ModelFileError> {
    let bytes = encode(model, params)?;
    atomic_file::write(path, |out| out.write_all(&bytes))
        .map_err(|source| ModelFileError::Io { path: path.to_owned(), source })
}

/// Reads a model from a file.
///
/// # Errors
/// If the file cannot be read, is damaged, or holds something else.
pub fn load<M: SavedModel>(path: &Path) -> Result<M, ModelFileError> {
    let bytes = std::fs::read(path).map_err(|source| ModelFileError::Io { path: path.to_owned(), source })?;
    decode(&bytes)
}

/// The bytes of a model file.
///
/// # Errors
/// If the model is not sound or does not serialise, or its header exceeds 4 GiB.
pub fn encode<M: SavedModel>(model: &M, params: &[(String, String)]) -> Result<Vec<u8>, ModelFileError> {
    model.check().map_err(ModelFileError::Unsound)?;
    let header = payload::to_bytes(&Header { kind: M::kind(), params: params.to_vec() })?;
    let header_len =
        u32::try_from(header.len()).map_err(|_| ModelFileError::Encoding("the header exceeds 4 GiB".to_owned()))?;
    let body = payload::to_bytes(model)?;
    let mut bytes = Vec::with_capacity(PREFIX + header.len() + 8 + body.len() + CHECKSUM);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&header_len.to_le_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    Ok(bytes)
}

/// The model in the bytes of a file.
///
/// # Errors
/// If the bytes are damaged or hold something else.
pub fn decode<M: SavedModel>(bytes: &[u8]) -> Result<M, ModelFileError> {
    let sections = Sections::of(bytes)?;
    let header = sections.header()?;
    if header.kind != M::kind() {
        return Err(ModelFileError::WrongKind { found: header.kind, expected: M::kind() });
    }
    let model: M = payload::from_bytes(sections.payload)?;
    model.check().map_err(ModelFileError::Unsound)?;
    Ok(model)
}

/// What the bytes of a file say about their model, checksum verified.
///
/// # Errors
/// If the bytes are damaged.
pub fn header(bytes: &[u8]) -> Result<Header, ModelFileError> {
    Sections::of(bytes)?.header()
}

/// The parts of a file whose checksum is right.
struct Sections<'a> {
    header: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Sections<'a> {
    fn of(bytes: &'a [u8]) -> Result<Sections<'a>, ModelFileError> {
        if !bytes.starts_with(MAGIC) {
            return Err(ModelFileError::NotAModel);
        }
        let version = u32::from_le_bytes(read_at(bytes, 8)?);
        if !(1..=VERSION).contains(&version) {
            return Err(ModelFileError::Version { found: version, known: VERSION });
        }
        let header_len = u32::from_le_bytes(read_at(bytes, 12)?) as usize;
        let payload_at = PREFIX + header_len + 8;
        let payload_len = u64::from_le_bytes(read_at(bytes, payload_at - 8)?);
        let expected = (payload_at + CHECKSUM) as u64 + payload_len.min(u64::MAX / 2);
        let found = bytes.len() as u64;
        if found < expected {
            return Err(ModelFileError::Truncated { expected, found });
        }
        if found > expected {
            return Err(ModelFileError::Trailing { extra: found - expected });
        }
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        let expected = u32::from_le_bytes(read_at(checksum, 0)?);
        let found = crc32fast::hash(content);
        if found != expected {
            return Err(ModelFileError::Checksum { found, expected });
        }
        Ok(Sections { header: &content[PREFIX..payload_at - 8], payload: &content[payload_at..] })
    }

    fn header(&self) -> Result<Header, ModelFileError> {
        payload::from_bytes(self.header)
    }
}

fn read_at<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], ModelFileError> {
    match bytes.get(at..at + N) {
        Some(slice) => Ok(slice.try_into().expect("a slice of N bytes")),
        None => Err(ModelFileError::Truncated { expected: (at + N) as u64, found: bytes.len() as u64 }),
    }
}

/// Reads a matrix whose dimensions and values agree, for `#[serde(deserialize_with = "...")]` on the matrices of models. The matrix type's own reading multiplies dimensions without regard to overflow, so that a forged file could make it
/// larger than its memory.
///
/// # Errors
/// If the values are not as many as the dimensions say.
pub fn checked_matrix<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<DMatrix<f64>, D::Error> {
    let (values, n_rows, n_columns): (Vec<f64>, usize, usize) = Deserialize::deserialize(deserializer)?;
    if n_rows.checked_mul(n_columns) == Some(values.len()) {
        Ok(DMatrix::from_vec(n_rows, n_columns, values))
    } else {
        Err(serde::de::Error::custom(format!("a matrix of {n_rows} x {n_columns} with {} values", values.len())))
    }
}

/// The encoding, in one place so that it can be replaced without touching a model.
mod payload {
    use serde::{Serialize, de::DeserializeOwned};

    use super::ModelFileError;

    pub(super) fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, ModelFileError> {
        bincode::serde::encode_to_vec(value, bincode::config::standard())
            .map_err(|error| ModelFileError::Encoding(error.to_string()))
    }

    /// Decodes under a limit on what the bytes may claim to unpack to: without one, a hostile length overflows a capacity and panics.
    pub(super) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ModelFileError> {
        // An integer of eight bytes may take one in the file, hence sixteen times the size plus a floor is generous; the limit is part of a
        // type, hence the steps.
        const STEPS: [usize; 4] = [1 << 20, 1 << 26, 1 << 32, 1 << 40];
        let config = bincode::config::standard();
        let decoded = match bytes.len().saturating_mul(16) {
            0..=0xF_FFFF => bincode::serde::decode_from_slice(bytes, config.with_limit::<{ STEPS[0] }>()),
            0x10_0000..=0x3FF_FFFF => bincode::serde::decode_from_slice(bytes, config.with_limit::<{ STEPS[1] }>()),
            0x400_0000..=0xFFFF_FFFF => bincode::serde::decode_from_slice(bytes, config.with_limit::<{ STEPS[2] }>()),
            _ => bincode::serde::decode_from_slice(bytes, config.with_limit::<{ STEPS[3] }>()),
        };
        let (value, consumed) = decoded.map_err(|error| ModelFileError::Encoding(error.to_string()))?;
        if consumed != bytes.len() {
            return Err(ModelFileError::Encoding(format!("{} bytes are left over", bytes.len() - consumed)));
        }
        Ok(value)
    }
}
