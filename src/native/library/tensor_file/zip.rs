//! ZIP archives, as NumPy writes them for several arrays: entries that are stored or deflated.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// An entry of an archive: its name and its content.
pub(super) type Entry = (String, Vec<u8>);

const END: [u8; 4] = *b"PK\x05\x06";
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL_ENTRY: [u8; 4] = *b"PK\x03\x04";
/// The size that stands for a size in the extra field.
const IN_EXTRA_FIELD: u32 = u32::MAX;
/// The identifier of the extra field with sizes of 64 bits.
const LARGE_SIZES: u16 = 1;

/// A position in the bytes of an archive, at which numbers are read.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn at(bytes: &'b [u8], position: u64) -> Option<Reader<'b>> {
        Some(Reader(bytes.get(usize::try_from(position).ok()?..)?))
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.number().map(u64::from_le_bytes)
    }
}

/// The description of an entry in the directory.
struct Description {
    name: String,
    flags: u16,
    method: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    start: u64,
}

/// Returns the entries of an archive.
///
/// # Errors
/// Fails with the reason if the archive is damaged, encrypted, or packed by a method other than deflate.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let damaged = || "the archive is damaged or truncated: it has no valid directory at its end".to_owned();
    // The directory is announced at the end, before a comment of at most 65535 bytes.
    let first = bytes.len().saturating_sub(22 + usize::from(u16::MAX));
    let end = bytes[first..].windows(4).rposition(|window| window == END).ok_or_else(damaged)? + first;
    let (count, at) = (|| {
        let mut reader = Reader::at(bytes, end as u64 + 10)?;
        let (count, _, at, comment) = (reader.u16()?, reader.u32()?, reader.u32()?, reader.u16()?);
        reader.take(usize::from(comment))?;
        Some((count, at))
    })()
    .ok_or_else(damaged)?;
    let mut directory = Reader::at(bytes, u64::from(at)).ok_or_else(damaged)?;
    let mut entries = vec![];
    for _ in 0..count {
        let description = description(&mut directory).ok_or_else(damaged)?;
        let content =
            content(bytes, &description).map_err(|reason| format!("entry '{}': {reason}", description.name))?;
        entries.push((description.name, content));
    }
    Ok(entries)
}

fn description(reader: &mut Reader<'_>) -> Option<Description> {
    if reader.number()? != DIRECTORY_ENTRY {
        return None;
    }
    reader.take(4)?;
    let (flags, method) = (reader.u16()?, reader.u16()?);
    reader.take(4)?;
    let checksum = reader.u32()?;
    let (packed, size) = (reader.u32()?, reader.u32()?);
    let (name, extra, comment) = (reader.u16()?, reader.u16()?, reader.u16()?);
    reader.take(8)?;
    let start = reader.u32()?;
    let name = String::from_utf8_lossy(reader.take(usize::from(name))?).into_owned();
    let extra = reader.take(usize::from(extra))?;
    reader.take(usize::from(comment))?;
    let mut large = large_sizes(extra);
    let mut size_of = |size: u32| if size == IN_EXTRA_FIELD { large.u64() } else { Some(u64::from(size)) };
    // The extra field has the sizes in this order.
    let (size, packed, start) = (size_of(size)?, size_of(packed)?, size_of(start)?);
    Some(Description { name, flags, method, checksum, packed, size, start })
}

/// Returns the sizes of 64 bits among the extra fields of an entry.
fn large_sizes(extra: &[u8]) -> Reader<'_> {
    let mut reader = Reader(extra);
    while let (Some(id), Some(length)) = (reader.u16(), reader.u16()) {
        let Some(field) = reader.take(usize::from(length)) else { break };
        if id == LARGE_SIZES {
            return Reader(field);
        }
    }
    Reader(&[])
}

fn content(bytes: &[u8], entry: &Description) -> Result<Vec<u8>, String> {
    let damaged = || "its data are damaged or truncated".to_owned();
    if entry.flags & 1 != 0 {
        return Err("it is encrypted".to_owned());
    }
    let packed = (|| {
        let mut reader = Reader::at(bytes, entry.start)?;
        if reader.number()? != LOCAL_ENTRY {
            return None;
        }
        reader.take(22)?;
        let (name, extra) = (reader.u16()?, reader.u16()?);
        reader.take(usize::from(name) + usize::from(extra))?;
        reader.take(usize::try_from(entry.packed).ok()?)
    })()
    .ok_or_else(damaged)?;
    let size = usize::try_from(entry.size).map_err(|_| damaged())?;
    let content = match entry.method {
        0 => packed.to_vec(),
        // Memory is allocated as the data are unpacked, so a false size alone allocates nothing.
        8 => decompress_to_vec_with_limit(packed, size).map_err(|_| damaged())?,
        method => return Err(format!("it is packed by method {method}; only stored and deflated entries can be read")),
    };
    if content.len() != size || crc32fast::hash(&content) != entry.checksum {
        return Err(damaged());
    }
    Ok(content)
}

/// Returns the bytes of an archive whose entries are stored.
///
/// # Errors
/// Fails with the reason if the archive would be larger than the format allows.
pub(super) fn write(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let too_large = || "a .npz file has at most 65535 arrays and 4 GB".to_owned();
    let (mut bytes, mut directory) = (vec![], vec![]);
    for (name, content) in entries {
        let start = u32::try_from(bytes.len()).map_err(|_| too_large())?;
        let size = u32::try_from(content.len()).map_err(|_| too_large())?;
        let length = u16::try_from(name.len()).map_err(|_| too_large())?;
        let mut common = vec![];
        // Version 2.0, names in UTF-8, stored; the date is the first day of 1980, so that equal data give equal files.
        for number in [20u16, 0x800, 0, 0, 0x21] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc32fast::hash(content), size, size] {
            common.extend(number.to_le_bytes());
        }
        common.extend(length.to_le_bytes());
        common.extend(0u16.to_le_bytes());
        bytes.extend(LOCAL_ENTRY);
        bytes.extend(&common);
        bytes.extend(name.as_bytes());
        bytes.extend(content);
        directory.extend(DIRECTORY_ENTRY);
        directory.extend(20u16.to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let count = u16::try_from(entries.len()).map_err(|_| too_large())?;
    let (start, size) = (u32::try_from(bytes.len()), u32::try_from(directory.len()));
    let (start, size) = (start.map_err(|_| too_large())?, size.map_err(|_| too_large())?);
    bytes.extend(directory);
    bytes.extend(END);
    bytes.extend([0; 4]);
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend(0u16.to_le_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_archive_is_read_again() {
        let entries = vec![("a.npy".to_owned(), vec![1, 2, 3]), ("b.npy".to_owned(), vec![])];
        let bytes = write(&entries).unwrap();
        assert_eq!(read(&bytes).unwrap(), entries);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
        let mut damaged = bytes.clone();
        damaged[35] ^= 1;
        assert!(read(&damaged).unwrap_err().contains("entry 'a.npy'"));
    }

    #[test]
    fn deflated_entries_are_unpacked() {
        let content = vec![7; 5000];
        let packed = miniz_oxide::deflate::compress_to_vec(&content, 6);
        let mut bytes = write(&[("x".to_owned(), packed.clone())]).unwrap();
        let directory = bytes.windows(4).position(|window| window == DIRECTORY_ENTRY).unwrap();
        bytes[directory + 10] = 8;
        bytes[directory + 16..directory + 20].copy_from_slice(&crc32fast::hash(&content).to_le_bytes());
        bytes[directory + 24..directory + 28].copy_from_slice(&5000u32.to_le_bytes());
        assert_eq!(read(&bytes).unwrap(), [("x".to_owned(), content)]);
        // An entry that is longer than it claims is damaged.
        bytes[directory + 24..directory + 28].copy_from_slice(&4999u32.to_le_bytes());
        assert!(read(&bytes).is_err());
    }
}
