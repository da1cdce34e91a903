//! A region's identity as bytes: in its directory and in hbase:meta.
//!
//! ```text
//! RegionInfo { 1 region_id, 2 table_name { 1 namespace, 2 qualifier }, 3 start_key, 4 end_key,
//!              5 offline, 6 split, 7 replica_id }
//! .regioninfo        "PBUF" varint length RegionInfo
//! info:regioninfo    "PBUF" RegionInfo
//! ```
//!
//! hbase:meta is the truth about regions. The file is for tools that look at a directory alone; it
//! is written once, without waiting for the disk, and written again when it is found missing.

use hblite_env::FileSystem;
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, Exception, RegionInfo, Result};

use super::descriptor_file::encode_table_name;
use crate::layout::Layout;

/// `RegionInfo` behind "PBUF", as in hbase:meta.
pub(crate) fn encode(info: &RegionInfo) -> Vec<u8> {
    message(info).finish_with_magic()
}

fn message(info: &RegionInfo) -> MessageWriter {
    MessageWriter::new()
        .number(1, info.region_id())
        .bytes(2, encode_table_name(info.table()))
        .bytes(3, info.start_key())
        .bytes(4, info.end_key())
        .number(5, u64::from(info.is_offline))
        .number(6, u64::from(info.is_split))
        .number(7, 0)
}

/// What [`encode`] gave.
///
/// # Errors
/// `Io` if these bytes are no region.
pub(super) fn decode(bytes: &[u8]) -> Result<RegionInfo> {
    RegionInfo::from_bytes(bytes)
        .ok_or_else(|| Error::new(Exception::Io, "these bytes do not describe a region"))
}

/// The region that a `.regioninfo` names; nothing if it names none.
pub(crate) fn decode_file(content: &[u8]) -> Option<RegionInfo> {
    let mut message = content.strip_prefix(protobuf::MAGIC.as_slice())?;
    let length = protobuf::read_varint(&mut message)?;
    if message.len() as u64 == length { RegionInfo::from_bytes(message) } else { None }
}

/// The content of `.regioninfo`.
pub(crate) fn file_content(info: &RegionInfo) -> Vec<u8> {
    let message = message(info).finish();
    let mut content = protobuf::MAGIC.to_vec();
    protobuf::write_varint(&mut content, message.len() as u64);
    content.extend_from_slice(&message);
    content
}

/// Makes the region's directory and its `.regioninfo`, as far as they are not there.
///
/// # Errors
/// `Io`.
pub(super) fn ensure(fs: &dyn FileSystem, layout: &Layout, info: &RegionInfo) -> Result<()> {
    let path = layout.region_info_file(info);
    let io = |error| Error::io("cannot write", &path, error);
    let content = file_content(info);
    if fs.exists(&path).map_err(io)? {
        // A power cut may have left a part of it, or zeros: nobody waited for it to be safe.
        if decode_file(&fs.read(&path).map_err(io)?).is_some() {
            return Ok(());
        }
        fs.remove_file(&path).map_err(io)?;
    }
    fs.create_dir_all(&layout.region_dir(info)).map_err(io)?;
    fs.create(&path).and_then(|mut file| file.write_all(&content)).map_err(io)
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
        assert_eq!(file_content(&info()), [b"PBUF\x17", &*message].concat());
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
}
