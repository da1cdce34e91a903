//! A reference: a small file that refers to one half of a store file of another region.
//!
//! ```text
//! <file>.<encoded region name>      the name: half of that file of that region
//!
//! "PBUF" | Reference { bytes splitkey = 1; enum range = 2 (TOP 0, BOTTOM 1) } | seal
//! TOP    = cells at or after the split key; BOTTOM = cells before it
//! ```
//!
//! A daughter of a split refers to halves that end at its own boundary, a merged region to files
//! whose rows all belong to it. The region therefore determines what a reference in it must say,
//! and one that says something else is damaged ([`Half::misfit`]).
//!
//! Source: HBase's `Reference`. The seal is drawn in `sealed.rs`.

use std::path::Path;

use hblite_env::FileSystem;
use hblite_hfile::HFileReader;
use hblite_model::bytes::to_string_binary;
use hblite_model::cell::key;
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, RegionInfo, Result};

use crate::sealed;

const SPLIT_KEY_FIELD: u32 = 1;
const RANGE_FIELD: u32 = 2;
const RANGE_TOP: u64 = 0;
const RANGE_BOTTOM: u64 = 1;

/// What to do about a reference that is damaged.
pub(crate) const REMEDY: &str = "restore the file from a backup";

/// Which half of a file a reference refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Half {
    /// Rows at or after this one.
    Top(Vec<u8>),
    /// Rows before this one.
    Bottom(Vec<u8>),
}

impl Half {
    /// The content of a reference file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        sealed::seal_with_magic(self.message())
    }

    /// `Reference`.
    pub(crate) fn message(&self) -> MessageWriter {
        let (row, range) = match self {
            Self::Top(row) => (row, RANGE_TOP),
            Self::Bottom(row) => (row, RANGE_BOTTOM),
        };
        MessageWriter::new()
            .bytes(SPLIT_KEY_FIELD, key::first_on_row(row))
            .number(RANGE_FIELD, range)
    }

    /// The half that the reference at `path` refers to.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`.
    pub(crate) fn read(fs: &dyn FileSystem, path: &Path) -> Result<Self> {
        let content = fs.read(path).map_err(|source| Error::io("read", path, source))?;
        Self::decode(&content).map_err(|what| {
            let what = format!("not a reference to a half of a store file: {what}");
            sealed::damaged(path, what, REMEDY)
        })
    }

    fn decode(content: &[u8]) -> std::result::Result<Self, &'static str> {
        let (fields, _) = sealed::unseal_with_magic(content)?;
        Self::decode_message(fields)
    }

    /// Decodes the bytes of [`Half::message`]; for other bytes, says what is wrong.
    pub(crate) fn decode_message(fields: &[u8]) -> std::result::Result<Self, &'static str> {
        let (mut split_key, mut range) = (None, None);
        let read = protobuf::read_message(fields, |field, value| {
            match field {
                SPLIT_KEY_FIELD => split_key = Some(value.as_bytes()),
                RANGE_FIELD => range = Some(value.as_number()),
                _ => {}
            }
            Ok(())
        });
        read.map_err(|_| "it is not a protobuf message")?;
        let split_key = split_key.filter(|split_key| key::is_well_formed(split_key));
        let row = split_key.map(key::row).ok_or("it has no split key")?.to_vec();
        match range {
            Some(RANGE_TOP) => Ok(Self::Top(row)),
            Some(RANGE_BOTTOM) => Ok(Self::Bottom(row)),
            _ => Err("it does not say which half"),
        }
    }

    /// Why this cannot be the reference of `region` to the file that `reader` reads; `None` if it
    /// can.
    pub(crate) fn misfit(&self, reader: &HFileReader, region: &RegionInfo) -> Option<String> {
        let (Some(first), Some(last)) = (reader.first_key(), reader.last_key()) else {
            return None;
        };
        let (first, last) = (key::row(first), key::row(last));
        let (start, end) = (region.start_key(), region.end_key());
        let ends_within = end.is_empty() || last < end;
        let (fits, half, row) = match self {
            // The upper daughter of a split.
            Self::Top(row) if row == start => (ends_within, "from", row),
            // For a merged region: all of a parent's file.
            Self::Top(row) => {
                (region.contains_row(row) && row.as_slice() <= first && ends_within, "from", row)
            }
            // The lower daughter of a split.
            Self::Bottom(row) => (row == end && first >= start, "up to", row),
        };
        (!fits).then(|| {
            format!(
                "it refers to the rows {half} '{}', which is not a boundary of region {}",
                to_string_binary(row),
                region.region_name_as_string()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_come_back() {
        for half in [Half::Top(b"row".to_vec()), Half::Bottom(Vec::new())] {
            assert_eq!(Half::decode(&half.encode()), Ok(half));
        }
        assert!(Half::decode(b"PBUF\x0a\x03abc\x10\x00").is_err());
    }

    /// HBase's bytes, and those of earlier versions, have no seal.
    #[test]
    fn references_without_a_seal_are_read() {
        let key = key::first_on_row(b"m");
        let content = MessageWriter::new().bytes(1, &key).number(2, 1).finish_with_magic();
        assert_eq!(Half::decode(&content), Ok(Half::Bottom(b"m".to_vec())));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let half = Half::Top(b"a row in the middle".to_vec());
        let content = half.encode();
        for bit in 0..content.len() * 8 {
            let mut damaged = content.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let decoded = Half::decode(&damaged);
            assert!(decoded.is_err() || decoded == Ok(half.clone()), "bit {bit}: {decoded:?}");
        }
    }
}
