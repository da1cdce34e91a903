//! A region's identity as bytes: in its directory and in hbase:meta.
//!
//! ```text
//! RegionInfo { 1 region_id, 2 table_name { 1 namespace, 2 qualifier }, 3 start_key, 4 end_key,
//!              5 offline, 6 split, 7 replica_id }
//! .regioninfo        "PBUF" varint length (RegionInfo | seal)       see `sealed.rs`
//! info:regioninfo    "PBUF" RegionInfo
//! ```
//!
//! hbase:meta is authoritative for regions. The file is for tools that look only at a directory,
//! and says to which region it belongs: a file that names another region is an error. It is written
//! once, without waiting for the disk, and rewritten from hbase:meta if it is missing or damaged.

use std::io::ErrorKind;

use hblite_env::FileSystem;
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, RegionInfo, Result};

use super::descriptor_file::encode_table_name;
use crate::layout::Layout;
use crate::sealed::{self, Seal};

/// What to do about a file that names another region.
const REMEDY: &str = "if the directory is the region's, remove the file, and the next open writes \
                      it from hbase:meta; otherwise restore the directory from a backup";

/// `RegionInfo` after "PBUF", as in hbase:meta.
pub(crate) fn encode(info: &RegionInfo) -> Vec<u8> {
    message(info).finish_with_magic()
}

/// `RegionInfo`.
pub(super) fn message(info: &RegionInfo) -> MessageWriter {
    MessageWriter::new()
        .number(1, info.region_id())
        .bytes(2, encode_table_name(info.table()))
        .bytes(3, info.start_key())
        .bytes(4, info.end_key())
        .number(5, u64::from(info.is_offline))
        .number(6, u64::from(info.is_split))
        .number(7, 0)
}

/// Decodes the bytes of [`encode`].
///
/// # Errors
/// `Corrupt` if these bytes do not describe a region.
pub(super) fn decode(bytes: &[u8]) -> Result<RegionInfo> {
    RegionInfo::from_bytes(bytes)
        .ok_or_else(|| Error::malformed("these bytes do not describe a region"))
}

/// The region that a `.regioninfo` names; `None` if it names none or its checksum is wrong.
pub(crate) fn decode_file(content: &[u8]) -> Option<RegionInfo> {
    decode_with_seal(content).map(|(info, _)| info)
}

fn decode_with_seal(content: &[u8]) -> Option<(RegionInfo, Seal)> {
    let mut message = content.strip_prefix(protobuf::MAGIC.as_slice())?;
    let length = protobuf::read_varint(&mut message)?;
    if message.len() as u64 != length {
        return None;
    }
    let (fields, seal) = sealed::unseal(message).ok()?;
    RegionInfo::from_bytes(fields).map(|info| (info, seal))
}

/// Whether these identify the same region; the other fields change over its lifetime.
pub(crate) fn is_same_region(left: &RegionInfo, right: &RegionInfo) -> bool {
    let identity = |info: &RegionInfo| {
        (info.encoded_name().to_owned(), info.table().clone(), info.end_key().to_vec())
    };
    identity(left) == identity(right)
}

/// The content of `.regioninfo`.
pub(crate) fn file_content(info: &RegionInfo) -> Vec<u8> {
    let message = sealed::seal(message(info));
    let mut content = protobuf::MAGIC.to_vec();
    protobuf::write_varint(&mut content, message.len() as u64);
    content.extend_from_slice(&message);
    content
}

/// Creates the region's directory and its `.regioninfo`, unless they exist.
///
/// # Errors
/// `Io`; `CorruptHFile` if the file names another region.
pub(super) fn ensure(fs: &dyn FileSystem, layout: &Layout, info: &RegionInfo) -> Result<()> {
    let path = layout.region_info_file(info);
    let io = |error| Error::io("cannot write", &path, error);
    let content = file_content(info);
    let found = match fs.read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        read => Some(read.map_err(io)?),
    };
    if let Some(found) = found {
        // A power cut may have left a part of it, or zeros: nothing waited for it to be durable.
        match decode_with_seal(&found) {
            Some((found, _)) if is_same_region(&found, info) => return Ok(()),
            Some((found, Seal::Absent)) if is_first_of_merged(&found, info) => {}
            Some((found, _)) => {
                return Err(sealed::damaged(&path, other_region(&found, info), REMEDY));
            }
            None => {}
        }
        fs.remove_file(&path).map_err(io)?;
    }
    fs.create_dir_all(&layout.region_dir(info)).map_err(io)?;
    fs.create(&path).and_then(|mut file| file.write_all(&content)).map_err(io)
}

/// Whether `found` can be the first of the regions that `info` was merged from. HBase 2.4 leaves
/// the file of that one in the directory of the merged region.
fn is_first_of_merged(found: &RegionInfo, info: &RegionInfo) -> bool {
    let ends_before = info.end_key().is_empty() || found.end_key() < info.end_key();
    found.table() == info.table()
        && found.start_key() == info.start_key()
        && !found.end_key().is_empty()
        && ends_before
        && found.region_id() < info.region_id()
}

/// What is wrong with a `.regioninfo` that names another region than hbase:meta.
pub(crate) fn other_region(found: &RegionInfo, expected: &RegionInfo) -> String {
    format!("it names region {found}, and hbase:meta {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite_env::MemFileSystem;
    use std::path::Path;

    fn info() -> RegionInfo {
        let mut info = RegionInfo::new("n:t".parse().unwrap(), b"a", b"\xff", 300);
        info.is_offline = true;
        info.is_split = true;
        info
    }

    #[test]
    fn bytes_are_hbases() {
        let fields: &[&[u8]] = &[
            b"\x08\xac\x02",
            b"\x12\x06\x0a\x01n\x12\x01t",
            b"\x1a\x01a",
            b"\x22\x01\xff",
            b"\x28\x01\x30\x01\x38\x00",
        ];
        let message = fields.concat();
        assert_eq!(encode(&info()), [b"PBUF", &*message].concat());
        let content = file_content(&info());
        let (head, seal) = content.split_at(content.len() - 7);
        assert_eq!(head, [b"PBUF\x1e", &*message].concat());
        assert_eq!(seal[..3], [0xcd, 0x91, 0x33]);
        assert_eq!(decode_file(&[b"PBUF\x17", &*message].concat()), Some(info()));
    }

    #[test]
    fn regions_come_back() {
        for info in [info(), RegionInfo::new("t".parse().unwrap(), b"", b"", 0), RegionInfo::meta()]
        {
            assert_eq!(decode(&encode(&info)).unwrap(), info);
        }
        for cut in 1..encode(&info()).len() - 4 {
            // A cut message is refused, or lacks its last fields; it never panics.
            let _ = decode(&encode(&info())[..4 + cut]);
        }
        assert!(decode(b"PBUF").is_err());
    }

    #[test]
    fn a_missing_cut_or_zeroed_file_is_written_again() {
        let fs = MemFileSystem::new();
        let layout = Layout::new(Path::new("/d"));
        let path = layout.region_info_file(&info());
        ensure(&fs, &layout, &info()).unwrap();
        assert_eq!(fs.read(&path).unwrap(), file_content(&info()));
        for left in [b"PBUF".to_vec(), vec![0; file_content(&info()).len()]] {
            fs.remove_file(&path).unwrap();
            fs.create(&path).unwrap().write_all(&left).unwrap();
            ensure(&fs, &layout, &info()).unwrap();
            assert_eq!(fs.read(&path).unwrap(), file_content(&info()));
        }
    }

    #[test]
    fn a_flipped_bit_is_repaired_and_another_region_is_an_error() {
        let fs = MemFileSystem::new();
        let layout = Layout::new(Path::new("/d"));
        let path = layout.region_info_file(&info());
        ensure(&fs, &layout, &info()).unwrap();
        let replace = |content: &[u8]| {
            fs.remove_file(&path).unwrap();
            fs.create(&path).unwrap().write_all(content).unwrap();
        };
        let content = file_content(&info());
        for bit in 0..content.len() * 8 {
            let mut damaged = content.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            replace(&damaged);
            ensure(&fs, &layout, &info()).unwrap();
            let left = decode_file(&fs.read(&path).unwrap());
            assert_eq!(left, Some(info()), "bit {bit}");
        }
        let other = RegionInfo::new("n:t".parse().unwrap(), b"a", b"\xfe", 300);
        replace(&file_content(&other));
        let error = ensure(&fs, &layout, &info()).unwrap_err();
        assert_eq!(error.file(), Some(&*path));
    }

    #[test]
    fn the_file_of_the_first_merged_region_is_replaced_if_hbase_left_it() {
        let fs = MemFileSystem::new();
        let layout = Layout::new(Path::new("/d"));
        let table: hblite_model::TableName = "n:t".parse().unwrap();
        let merged = RegionInfo::new(table.clone(), b"a", b"m", 300);
        let path = layout.region_info_file(&merged);
        ensure(&fs, &layout, &merged).unwrap();
        let unsealed = |info: &RegionInfo| {
            let message = message(info).finish();
            let mut content = protobuf::MAGIC.to_vec();
            protobuf::write_varint(&mut content, message.len() as u64);
            content.extend_from_slice(&message);
            content
        };
        let region = |start: &[u8], end: &[u8], id| RegionInfo::new(table.clone(), start, end, id);
        let first = region(b"a", b"f", 299);
        let others = [region(b"f", b"m", 299), region(b"a", b"x", 299), region(b"a", b"f", 301)];
        let refused = others.iter().map(unsealed).chain([file_content(&first)]);
        for (content, is_replaced) in
            refused.map(|content| (content, false)).chain([(unsealed(&first), true)])
        {
            fs.remove_file(&path).unwrap();
            fs.create(&path).unwrap().write_all(&content).unwrap();
            assert_eq!(ensure(&fs, &layout, &merged).is_ok(), is_replaced);
        }
        assert_eq!(fs.read(&path).unwrap(), file_content(&merged));
    }
}
