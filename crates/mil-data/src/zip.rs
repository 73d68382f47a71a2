//! As much of the ZIP container as an `.npz` archive needs: members stored or deflated, ZIP64 sizes, checksums.
//!
//! APPNOTE.TXT 6.3, sections 4.3 to 4.5. Nothing is allocated by a size that a header declares.

use std::io::{self, Read, Seek, SeekFrom, Write};

use flate2::read::DeflateDecoder;

const LOCAL_HEADER: u32 = 0x0403_4b50;
const CENTRAL_HEADER: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const END_64_LOCATOR: u32 = 0x0706_4b50;
const EXTRA_64: u16 = 1;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// A source that can be read from any position.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// What is wrong with an archive.
pub(crate) enum ZipError {
    /// Reading failed.
    Io(io::Error),
    /// The bytes are not such an archive; what was found instead.
    Malformed(&'static str),
}

impl From<io::Error> for ZipError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => ZipError::Malformed("an archive that ends too early"),
            _ => ZipError::Io(error),
        }
    }
}

/// The directory of an archive.
pub(crate) struct Archive<'a> {
    source: &'a mut dyn ReadSeek,
    entries: Vec<Entry>,
}

struct Entry {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    checksum: u32,
    compressed_bytes: u64,
    offset: u64,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(source: &'a mut dyn ReadSeek) -> Result<Archive<'a>, ZipError> {
        let length = source.seek(SeekFrom::End(0))?;
        let tail_start = length.saturating_sub(22 + 0xffff);
        let tail = read_at(source, tail_start, length - tail_start)?;
        let end = (0..tail.len().saturating_sub(21)).rev().find(|&at| u32_at(&tail, at) == Some(END));
        let end = end.ok_or(ZipError::Malformed("no end record of a ZIP archive"))?;
        let broken = ZipError::Malformed("a broken end record");
        let narrow = (u32_at(&tail, end + 12).map(u64::from), u32_at(&tail, end + 16).map(u64::from));
        let (Some(mut size), Some(mut start)) = narrow else { return Err(broken) };
        if let Some(locator) = end.checked_sub(20).filter(|&at| u32_at(&tail, at) == Some(END_64_LOCATOR)) {
            let record_start = u64_at(&tail, locator + 8).unwrap_or(u64::MAX);
            let record = read_at(source, record_start, 56)?;
            if u32_at(&record, 0) != Some(END_64) {
                return Err(broken);
            }
            size = u64_at(&record, 40).expect("56 bytes were read");
            start = u64_at(&record, 48).expect("56 bytes were read");
        }
        if start.checked_add(size).is_none_or(|end| end > length) {
            return Err(ZipError::Malformed("a directory beyond the end of the file"));
        }
        let directory = read_at(source, start, size)?;
        Ok(Archive { source, entries: read_directory(&directory)? })
    }

    pub(crate) fn holds(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name.as_bytes())
    }

    /// The contents of a member. Its last read fails if the checksum does not fit.
    pub(crate) fn member(&mut self, name: &str) -> Result<Option<Box<dyn Read + '_>>, ZipError> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name.as_bytes()) else { return Ok(None) };
        if entry.flags & 1 != 0 {
            return Err(ZipError::Malformed("an encrypted member"));
        }
        let header = read_at(self.source, entry.offset, 30)?;
        if u32_at(&header, 0) != Some(LOCAL_HEADER) {
            return Err(ZipError::Malformed("a directory that points to no member"));
        }
        let skipped = u64::from(u16_at(&header, 26).unwrap_or(0)) + u64::from(u16_at(&header, 28).unwrap_or(0));
        self.source.seek(SeekFrom::Current(skipped as i64))?;
        let bytes = (&mut *self.source).take(entry.compressed_bytes);
        let contents: Box<dyn Read + '_> = match entry.method {
            STORED => Box::new(bytes),
            DEFLATED => Box::new(DeflateDecoder::new(bytes)),
            _ => return Err(ZipError::Malformed("a compression other than stored and deflate")),
        };
        Ok(Some(Box::new(Checked { contents, hasher: crc32fast::Hasher::new(), expected: entry.checksum })))
    }
}

fn read_directory(mut bytes: &[u8]) -> Result<Vec<Entry>, ZipError> {
    let broken = || ZipError::Malformed("a broken directory");
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        if u32_at(bytes, 0) != Some(CENTRAL_HEADER) || bytes.len() < 46 {
            return Err(broken());
        }
        let half = |at| u16_at(bytes, at).expect("46 bytes are there");
        let word = |at| u32_at(bytes, at).expect("46 bytes are there");
        let (name_len, extra_len, comment_len) = (half(28) as usize, half(30) as usize, half(32) as usize);
        let name = bytes.get(46..46 + name_len).ok_or_else(broken)?;
        let extra = bytes.get(46 + name_len..46 + name_len + extra_len).ok_or_else(broken)?;
        let wide = Wide::of(extra, word(24), word(20), word(42));
        entries.push(Entry {
            name: name.to_vec(),
            flags: half(8),
            method: half(10),
            checksum: word(16),
            compressed_bytes: wide.compressed_bytes,
            offset: wide.offset,
        });
        bytes = bytes.get(46 + name_len + extra_len + comment_len..).ok_or_else(broken)?;
    }
    Ok(entries)
}

/// Sizes that may have moved to the ZIP64 extra field, where only those stand that did not fit into 32 bits.
struct Wide {
    compressed_bytes: u64,
    offset: u64,
}

impl Wide {
    fn of(mut extra: &[u8], size: u32, compressed: u32, offset: u32) -> Wide {
        let mut fields: &[u8] = &[];
        while let (Some(id), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
            let end = (4 + length as usize).min(extra.len());
            if id == EXTRA_64 {
                fields = &extra[4..end];
            }
            extra = &extra[end..];
        }
        let mut next = |narrow: u32| {
            if narrow != u32::MAX {
                return u64::from(narrow);
            }
            let wide = u64_at(fields, 0).unwrap_or(u64::from(narrow));
            fields = fields.get(8..).unwrap_or_default();
            wide
        };
        next(size);
        Wide { compressed_bytes: next(compressed), offset: next(offset) }
    }
}

/// Compares the checksum once everything was read.
struct Checked<'a> {
    contents: Box<dyn Read + 'a>,
    hasher: crc32fast::Hasher,
    expected: u32,
}

impl Read for Checked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.contents.read(into)?;
        self.hasher.update(&into[..n_bytes]);
        if n_bytes == 0 && !into.is_empty() && self.hasher.clone().finalize() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum does not fit: the file is damaged"));
        }
        Ok(n_bytes)
    }
}

fn read_at(source: &mut dyn ReadSeek, start: u64, length: u64) -> Result<Vec<u8>, ZipError> {
    if start > i64::MAX as u64 {
        return Err(ZipError::Malformed("a position beyond the end of the file"));
    }
    source.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    source.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(ZipError::Malformed("an archive that ends too early")) }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Writes an archive of stored members front to back. All sizes stand in ZIP64 fields, so that large and small take one way.
pub(crate) struct ZipWriter<'a> {
    out: &'a mut dyn Write,
    position: u64,
    directory: Vec<u8>,
    n_members: u64,
}

impl<'a> ZipWriter<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        ZipWriter { out, position: 0, directory: Vec::new(), n_members: 0 }
    }

    /// Adds a member. `fill` is called twice and must write the same bytes: once to count and check, once to write.
    pub(crate) fn add(&mut self, name: &str, fill: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut measure = Measure { n_bytes: 0, hasher: crc32fast::Hasher::new() };
        fill(&mut measure)?;
        let (n_bytes, checksum) = (measure.n_bytes, measure.hasher.finalize());
        let common = |extra_len: u16| {
            let mut header = Vec::new();
            header.extend(45_u16.to_le_bytes()); // version needed: ZIP64
            header.extend([0; 2]); // flags
            header.extend(STORED.to_le_bytes());
            header.extend([0, 0, 0x21, 0]); // 1 January 1980, 00:00: the same data give the same file
            header.extend(checksum.to_le_bytes());
            header.extend([0xff; 8]); // both sizes: see the extra field
            header.extend((name.len() as u16).to_le_bytes());
            header.extend(extra_len.to_le_bytes());
            header
        };
        let extra = |fields: &[u64]| {
            let mut extra = Vec::new();
            extra.extend(EXTRA_64.to_le_bytes());
            extra.extend((8 * fields.len() as u16).to_le_bytes());
            fields.iter().for_each(|field| extra.extend(field.to_le_bytes()));
            extra
        };
        let offset = self.position;
        let (local_extra, central_extra) = (extra(&[n_bytes, n_bytes]), extra(&[n_bytes, n_bytes, offset]));
        let local = [&LOCAL_HEADER.to_le_bytes()[..], &common(local_extra.len() as u16), name.as_bytes(), &local_extra]
            .concat();
        self.out.write_all(&local)?;
        fill(self.out)?;
        self.position += local.len() as u64 + n_bytes;

        self.directory.extend(CENTRAL_HEADER.to_le_bytes());
        self.directory.extend(45_u16.to_le_bytes()); // version made by
        self.directory.extend(common(central_extra.len() as u16));
        self.directory.extend([0; 10]); // comment length, disk, attributes
        self.directory.extend([0xff; 4]); // offset: see the extra field
        self.directory.extend(name.as_bytes());
        self.directory.extend(central_extra);
        self.n_members += 1;
        Ok(())
    }

    /// Writes the directory.
    pub(crate) fn finish(self) -> io::Result<()> {
        let (start, size) = (self.position, self.directory.len() as u64);
        self.out.write_all(&self.directory)?;
        let mut end = Vec::new();
        end.extend(END_64.to_le_bytes());
        end.extend(44_u64.to_le_bytes()); // size of the rest of this record
        end.extend([45, 0, 45, 0]); // versions
        end.extend([0; 8]); // disks
        for field in [self.n_members, self.n_members, size, start] {
            end.extend(field.to_le_bytes());
        }
        end.extend(END_64_LOCATOR.to_le_bytes());
        end.extend([0; 4]);
        end.extend((start + size).to_le_bytes());
        end.extend([1, 0, 0, 0]);
        end.extend(END.to_le_bytes());
        end.extend([0; 4]);
        end.extend([0xff; 12]); // counts, size and offset: see the ZIP64 record
        end.extend([0; 2]);
        self.out.write_all(&end)
    }
}

struct Measure {
    n_bytes: u64,
    hasher: crc32fast::Hasher,
}

impl Write for Measure {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.n_bytes += bytes.len() as u64;
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
