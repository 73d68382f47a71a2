//! Gzip: found by its magic bytes, member after member, with every ending told apart.

use std::io::{self, BufRead, BufReader, Read, Seek};

use flate2::bufread::GzDecoder;

use crate::error::Fault;

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const BUFFER_BYTES: usize = 1 << 16;

/// A source of bytes, decompressed where it was compressed.
pub(crate) type Plain<'a> = Box<dyn BufRead + 'a>;

/// Looks at the first two bytes and decompresses what is gzip.
pub(crate) fn open<'a>(reader: impl Read + 'a) -> io::Result<Plain<'a>> {
    let mut head = Vec::with_capacity(MAGIC.len());
    let mut reader = reader;
    reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
    let is_gzip = head == MAGIC;
    let whole = BufReader::with_capacity(BUFFER_BYTES, io::Cursor::new(head).chain(reader));
    if is_gzip {
        let decoder = GzDecoder::new(Counted { inner: whole, consumed: 0 });
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, Members { decoder: Some(decoder) })))
    } else {
        Ok(Box::new(whole))
    }
}

/// Whether a source begins with gzip's magic bytes; leaves it at its start.
pub(crate) fn is_next(source: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut head = Vec::with_capacity(MAGIC.len());
    source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head)?;
    source.rewind()?;
    Ok(head == MAGIC)
}

/// The gzip fault inside an I/O error, if it is one of ours.
pub(crate) fn fault_of(error: &io::Error) -> Option<Fault> {
    error.get_ref()?.downcast_ref::<GzipFault>().map(|inner| inner.0.clone())
}

/// The concatenated contents of all gzip members of a source.
struct Members<R: BufRead> {
    /// `None` once the last member has ended.
    decoder: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Members<Counted<R>> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let n_bytes = decoder.read(into).map_err(classify)?;
            if n_bytes > 0 || into.is_empty() {
                return Ok(n_bytes);
            }
            let mut rest = self.decoder.take().expect("just borrowed").into_inner();
            let follows = rest.fill_buf()?;
            if follows.is_empty() {
                break;
            }
            if follows[0] != MAGIC[0] {
                return Err(wrap(Fault::GzipTrailing { offset: rest.consumed }));
            }
            self.decoder = Some(GzDecoder::new(rest));
        }
        Ok(0)
    }
}

fn classify(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => wrap(Fault::GzipTruncated),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => wrap(Fault::GzipDamaged),
        _ => error,
    }
}

fn wrap(fault: Fault) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, GzipFault(fault))
}

/// A fault on its way through the traits of `std::io`.
#[derive(Debug)]
struct GzipFault(Fault);

impl std::fmt::Display for GzipFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for GzipFault {}

/// Counts the bytes that were consumed.
struct Counted<R> {
    inner: R,
    consumed: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.inner.read(into)?;
        self.consumed += n_bytes as u64;
        Ok(n_bytes)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n_bytes: usize) {
        self.consumed += n_bytes as u64;
        self.inner.consume(n_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn zip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn unzip(bytes: &[u8]) -> Result<String, Fault> {
        let mut text = String::new();
        let outcome = open(bytes).and_then(|mut plain| plain.read_to_string(&mut text));
        outcome.map(|_| text).map_err(|error| fault_of(&error).expect("a fault of gzip"))
    }

    #[test]
    fn members_join_and_plain_bytes_pass() {
        assert_eq!(unzip(b"plain").unwrap(), "plain");
        assert_eq!(unzip(b"\x1f").unwrap(), "\x1f");
        assert_eq!(unzip(&[zip("one "), zip(""), zip("two")].concat()).unwrap(), "one two");
    }

    #[test]
    fn every_truncation_is_told() {
        let whole = zip("a text that is long enough to have a body, a body, a body");
        for end in 2..whole.len() {
            assert_eq!(unzip(&whole[..end]), Err(Fault::GzipTruncated), "cut at {end}");
        }
        let two = [whole.clone(), whole.clone()].concat();
        assert_eq!(unzip(&two[..whole.len() + 7]), Err(Fault::GzipTruncated));
    }

    #[test]
    fn garbage_and_damage_are_told_apart() {
        let whole = zip("text");
        let offset = whole.len() as u64;
        assert_eq!(unzip(&[&whole[..], b"more"].concat()), Err(Fault::GzipTrailing { offset }));
        let mut damaged = whole;
        let checksum = damaged.len() - 6;
        damaged[checksum] ^= 1;
        assert_eq!(unzip(&damaged), Err(Fault::GzipDamaged));
    }
}
