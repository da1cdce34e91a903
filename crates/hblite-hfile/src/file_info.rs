//! File info: what a file says about itself, as a map of bytes.
//!
//! ```text
//! "PBUF" | varint length | FileInfoProto { repeated { 1 key, 2 value } = 1 }
//! ```
//!
//! Written sorted by key, read in any order; unknown keys are kept and ignored. The
//! names and layouts of all values are in this file. Source: `HFileInfo`, `HStoreFile`.

use std::collections::BTreeMap;

use hblite_model::protobuf::{FieldValue, MAGIC, MessageWriter, read_message, write_varint};
use hblite_model::{Error, Exception};

use crate::error::{Damage, Parsed, copied};
use crate::input::Input;

/// Flat key of the last cell.
pub const LAST_KEY: &[u8] = b"hfile.LASTKEY";
/// Mean length of keys: i32.
pub const AVG_KEY_LENGTH: &[u8] = b"hfile.AVG_KEY_LEN";
/// Mean length of values: i32.
pub const AVG_VALUE_LENGTH: &[u8] = b"hfile.AVG_VALUE_LEN";
/// When the file was begun: i64, milliseconds.
pub const CREATE_TIME: &[u8] = b"hfile.CREATE_TIME_TS";
/// Flat key of the biggest cell.
pub const KEY_OF_BIGGEST_CELL: &[u8] = b"hfile.KEY_OF_BIGGEST_CELL";
/// Size of the biggest cell: i64.
pub const LENGTH_OF_BIGGEST_CELL: &[u8] = b"hfile.LEN_OF_BIGGEST_CELL";
/// Longest tags: i32; present if and only if cells have a tags part.
pub const MAX_TAGS_LENGTH: &[u8] = b"hfile.MAX_TAGS_LEN";
/// Whether tags are dictionary-compressed: bool.
pub const TAGS_COMPRESSED: &[u8] = b"hfile.TAGS_COMPRESSED";
/// i32 1 if cells have an mvcc part.
pub const KEY_VALUE_VERSION: &[u8] = b"KEY_VALUE_VERSION";
/// Largest sequence id of a cell: i64.
pub const MAX_MEMSTORE_TS: &[u8] = b"MAX_MEMSTORE_TS_KEY";
/// Name of the data block encoding, unless NONE.
pub const DATA_BLOCK_ENCODING: &[u8] = b"DATA_BLOCK_ENCODING";
/// Largest log sequence id in the file: i64.
pub const MAX_SEQUENCE_ID: &[u8] = b"MAX_SEQ_ID_KEY";
/// Whether a major compaction wrote the file: bool.
pub const MAJOR_COMPACTION: &[u8] = b"MAJOR_COMPACTION_KEY";
/// Which files a compaction read: `PBUF` and `CompactionEventTracker`.
pub const COMPACTION_EVENT: &[u8] = b"COMPACTION_EVENT_KEY";
/// Smallest and largest timestamp: two i64.
pub const TIME_RANGE: &[u8] = b"TIMERANGE";
/// Smallest timestamp of a put: i64.
pub const EARLIEST_PUT: &[u8] = b"EARLIEST_PUT_TS";
/// Number of DeleteFamily and DeleteFamilyVersion cells: i64.
pub const DELETE_FAMILY_COUNT: &[u8] = b"DELETE_FAMILY_COUNT";
/// Number of delete markers of all kinds: u64. Only in store files that hblite wrote, and absent if
/// there are none.
pub const DELETE_MARKERS: &[u8] = b"HBLITE_DELETE_MARKERS";
/// The largest row: its size in bytes as u64, and the row. Only in store files that hblite wrote,
/// and absent if no row has a mebibyte. Blocks in which the row begins or ends among others do not
/// count.
pub const LARGEST_ROW: &[u8] = b"HBLITE_LARGEST_ROW";
/// The latest timestamp that the store had given to a cell of the region: i64, milliseconds. Only
/// in store files that hblite wrote, and absent if its clock was later.
pub const GIVEN_UNTIL: &[u8] = b"HBLITE_GIVEN_UNTIL";
/// Name of the general Bloom filter's type.
pub const BLOOM_FILTER_TYPE: &[u8] = b"BLOOM_FILTER_TYPE";
/// Row prefix length of the filter: i32.
pub const BLOOM_FILTER_PARAM: &[u8] = b"BLOOM_FILTER_PARAM";
/// Largest key in the general Bloom filter.
pub const LAST_BLOOM_KEY: &[u8] = b"LAST_BLOOM_KEY";
/// Whether the file holds old versions only: bool.
pub const HISTORICAL: &[u8] = b"HISTORICAL";

/// The files with medium objects (MOB) that the cells refer to, with their tables; a zero byte if
/// there are none.
pub const MOB_FILE_REFS: &[u8] = b"MOB_FILE_REFS";
/// When a bulk load file was made: i64, milliseconds.
pub const BULKLOAD_TIMESTAMP: &[u8] = b"BULKLOAD_TIMESTAMP";
/// What made a bulk load file: text.
pub const BULKLOAD_SOURCE_TASK: &[u8] = b"BULKLOAD_SOURCE_TASK";
/// Whether minor compactions leave the file out: bool.
pub const EXCLUDE_FROM_MINOR_COMPACTION: &[u8] = b"EXCLUDE_FROM_MINOR_COMPACTION";

/// "The cells have an mvcc part": the value of [`KEY_VALUE_VERSION`].
const KEY_VALUE_VERSION_WITH_MVCC: i32 = 1;

/// Whether a bool, such as the value of [`MAJOR_COMPACTION`], is there and true.
pub fn is_true(value: Option<&[u8]>) -> bool {
    value.is_some_and(|value| value.first().is_some_and(|byte| *byte != 0))
}

/// A bool as HBase's `Bytes.toBytes(boolean)` writes it.
pub(crate) fn bool_value(value: bool) -> Vec<u8> {
    vec![if value { 0xff } else { 0 }]
}

/// A file has about twenty pairs; more than this is damage.
const PAIRS_MAX: usize = 65_536;

/// Pairs of key and value, sorted by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInfo(BTreeMap<Vec<u8>, Vec<u8>>);

impl FileInfo {
    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.0.get(key).map(Vec::as_slice)
    }

    /// All pairs, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    /// Sets the value of `key`.
    pub(crate) fn insert(&mut self, key: &[u8], value: impl Into<Vec<u8>>) {
        self.0.insert(key.to_vec(), value.into());
    }

    /// Marks the cells as having an mvcc part whose largest value is `sequence_id_max`.
    pub(crate) fn insert_mvcc(&mut self, sequence_id_max: u64) {
        self.insert(KEY_VALUE_VERSION, KEY_VALUE_VERSION_WITH_MVCC.to_be_bytes());
        self.insert(MAX_MEMSTORE_TS, sequence_id_max.to_be_bytes());
    }

    /// Whether the cells have an mvcc part.
    pub(crate) fn has_mvcc(&self) -> Parsed<bool> {
        Ok(self.i32(KEY_VALUE_VERSION)? == Some(KEY_VALUE_VERSION_WITH_MVCC))
    }

    /// An i32 value.
    pub(crate) fn i32(&self, key: &[u8]) -> Parsed<Option<i32>> {
        self.number(key, |input| input.i32())
    }

    /// An i64 value.
    pub(crate) fn i64(&self, key: &[u8]) -> Parsed<Option<i64>> {
        self.number(key, |input| input.i64())
    }

    /// A bool value; absent is false.
    pub(crate) fn bool(&self, key: &[u8]) -> bool {
        self.get(key).is_some_and(|value| value.first().is_some_and(|byte| *byte != 0))
    }

    fn number<T>(
        &self,
        key: &[u8],
        read: impl FnOnce(&mut Input<'_>) -> Parsed<T>,
    ) -> Parsed<Option<T>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let mut input = Input::new(value);
        match read(&mut input) {
            Ok(number) if input.is_empty() => Ok(Some(number)),
            _ => {
                let key = String::from_utf8_lossy(key);
                Err(Damage::new(format!("file info {key} has {} bytes", value.len())))
            }
        }
    }

    /// The time range, old protobuf form included.
    pub(crate) fn time_range(&self) -> Parsed<Option<(i64, i64)>> {
        let Some(value) = self.get(TIME_RANGE) else {
            return Ok(None);
        };
        if let Some(message) = value.strip_prefix(MAGIC.as_slice()) {
            let mut range = (i64::MAX, -1);
            read_message(message, |field, value| {
                match field {
                    1 => range.0 = value.as_number() as i64,
                    2 => range.1 = value.as_number() as i64,
                    _ => {}
                }
                Ok(())
            })
            .map_err(|error| Damage::new(format!("time range: {}", error.message())))?;
            return Ok(Some(range));
        }
        let mut input = Input::new(value);
        Ok(Some((input.i64()?, input.i64()?)))
    }

    /// The payload of the file info block.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut message = MessageWriter::new();
        for (key, value) in &self.0 {
            let pair = MessageWriter::new().bytes(1, key).bytes(2, value).finish();
            message = message.bytes(1, pair);
        }
        let message = message.finish();
        let mut payload = MAGIC.to_vec();
        write_varint(&mut payload, message.len() as u64);
        payload.extend_from_slice(&message);
        payload
    }

    /// Parses the payload of a file info block.
    pub(crate) fn parse(payload: &[u8]) -> Parsed<Self> {
        let mut input = Input::new(payload);
        if input.take(MAGIC.len())? != MAGIC {
            return Err(Damage::new("file info does not begin with PBUF"));
        }
        let length = input.varint()?;
        let message = input.take(length)?;
        let (mut pairs, mut shortage) = (BTreeMap::new(), None);
        let mut copy = |value: FieldValue<'_>| {
            copied(value.as_bytes()).map_err(|damage| {
                let error = Error::new(Exception::Io, damage.to_string());
                shortage = Some(damage);
                error
            })
        };
        let read = read_message(message, |field, value| {
            let (1, FieldValue::Bytes(pair)) = (field, value) else {
                return Ok(());
            };
            let (mut key, mut content) = (Vec::new(), Vec::new());
            read_message(pair, |field, value| {
                match field {
                    1 => key = copy(value)?,
                    2 => content = copy(value)?,
                    _ => {}
                }
                Ok(())
            })?;
            if pairs.len() >= PAIRS_MAX {
                return Err(Error::malformed("too many pairs"));
            }
            pairs.insert(key, content);
            Ok(())
        });
        match (read, shortage) {
            (Ok(()), _) => Ok(Self(pairs)),
            (Err(_), Some(shortage)) => Err(shortage),
            (Err(error), None) => Err(Damage::new(format!("file info: {}", error.message()))),
        }
    }
}

/// The value of [`COMPACTION_EVENT`]: the names of the files that were compacted.
pub(crate) fn compaction_event(compacted_files: &[String]) -> Vec<u8> {
    let mut message = MessageWriter::new();
    for name in compacted_files {
        message = message.bytes(1, name);
    }
    message.finish_with_magic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back_and_cut_ones_are_refused() {
        let mut info = FileInfo::default();
        info.insert_mvcc(42);
        info.insert(TIME_RANGE, [5_i64.to_be_bytes(), 9_i64.to_be_bytes()].concat());
        info.insert(MAJOR_COMPACTION, bool_value(true));
        info.insert(b"foreign", *b"");
        let payload = info.encode();
        let back = FileInfo::parse(&payload).unwrap();
        assert_eq!(back, info);
        assert_eq!(back.has_mvcc(), Ok(true));
        assert_eq!(back.time_range(), Ok(Some((5, 9))));
        assert!(back.bool(MAJOR_COMPACTION) && !back.bool(HISTORICAL));
        assert!(back.i32(MAX_MEMSTORE_TS).is_err(), "eight bytes are not an i32");
        for cut in 0..payload.len() {
            assert!(FileInfo::parse(&payload[..cut]).is_err());
        }
    }

    #[test]
    fn the_old_form_of_a_time_range_is_read() {
        let mut info = FileInfo::default();
        let message = MessageWriter::new().number(1, 3).number(2, 8).finish_with_magic();
        info.insert(TIME_RANGE, message);
        assert_eq!(info.time_range(), Ok(Some((3, 8))));
    }
}
