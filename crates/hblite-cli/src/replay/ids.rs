//! Replaces recorded ids with those of the target.
//!
//! Answers show which ids correspond: those of scanners and procedures, and timestamps that a
//! server assigned. Regions are the same if table, first row and replica are the same. Nonces are
//! replaced, so that a server that has seen the recorded ones does not treat a write as a repeated
//! one.
//!
//! Threads: one.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use hblite_client::ServerAddress;
use hblite_wire::tree::{Tree, Value};

use super::target::RegionKey;

/// The encoded name at the end of a region's name, with its points.
const ENCODED_SIZE: usize = 34;
/// `RegionSpecifier.type` of encoded names.
const ENCODED_NAME: u64 = 2;
/// The ids of the target for the recorded ones.
pub(super) struct Ids {
    /// Regions by the encoded names that they had.
    encoded: HashMap<Bytes, RegionKey>,
    /// Scanners: their present ids, their servers, and whether they read hbase:meta.
    pub(super) scanners: HashMap<u64, Scanner>,
    pub(super) procedures: HashMap<u64, u64>,
    pub(super) timestamps: HashMap<u64, u64>,
    /// Timestamps that clients sent.
    pub(super) explicit: HashSet<u64>,
    nonce_change: u64,
}

/// A scanner of the target.
#[derive(Debug, Clone)]
pub(super) struct Scanner {
    pub(super) id: u64,
    pub(super) server: ServerAddress,
    pub(super) reads_meta: bool,
}

/// The parts of a region's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RegionName {
    pub(super) key: RegionKey,
    pub(super) id: u64,
    /// Without its points.
    encoded: Bytes,
}

impl RegionName {
    /// Reads `table,first row,id.encoded name.`, with `_replica` after the id of a replica.
    pub(super) fn parse(name: &[u8]) -> Option<Self> {
        let (front, encoded) = name.split_at_checked(name.len().checked_sub(ENCODED_SIZE)?)?;
        let hex = encoded.strip_prefix(b".")?.strip_suffix(b".")?;
        if !hex.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let first = front.iter().position(|byte| *byte == b',')?;
        let last = front.iter().rposition(|byte| *byte == b',').filter(|last| *last > first)?;
        let id = std::str::from_utf8(&front[last + 1..]).ok()?;
        let (id, replica) = id.split_once('_').unwrap_or((id, "0"));
        let replica = u16::from_str_radix(replica, 16).ok()?;
        let key = (front[..first].to_vec(), front[first + 1..last].to_vec(), replica);
        Some(Self { key, id: id.parse().ok()?, encoded: Bytes::copy_from_slice(hex) })
    }
}

impl Ids {
    pub(super) fn new() -> Self {
        Self {
            encoded: HashMap::new(),
            scanners: HashMap::new(),
            procedures: HashMap::new(),
            timestamps: HashMap::new(),
            explicit: HashSet::new(),
            nonce_change: fastrand::u64(..),
        }
    }

    /// Remembers the region if this is the name of one.
    pub(super) fn learn_region(&mut self, name: &[u8]) {
        if let Some(name) = RegionName::parse(name) {
            self.encoded.insert(name.encoded, name.key);
        }
    }

    /// The region that a recorded `RegionSpecifier` names.
    pub(super) fn region(&self, specifier: &Tree) -> Option<RegionKey> {
        let value = specifier.bytes("value")?;
        match specifier.number("type") {
            Some(ENCODED_NAME) => self.encoded.get(value).cloned(),
            _ => RegionName::parse(value).map(|name| name.key),
        }
    }

    /// Changes a recorded request to one for the target. `name_of` gives the names of regions
    /// there.
    pub(super) fn rewrite(
        &mut self,
        request: &mut Tree,
        name_of: &mut impl FnMut(&RegionKey) -> Option<Bytes>,
    ) {
        request.for_each(&mut |message| {
            if message.message_type() == "RegionSpecifier"
                && let Some(name) = message.bytes("value")
            {
                self.learn_region(name);
            }
        });
        let reads_meta = names_meta(request);
        request.for_each_mut(&mut |message| self.rewrite_message(message, reads_meta, name_of));
    }

    fn rewrite_message(
        &mut self,
        message: &mut Tree,
        reads_meta: bool,
        name_of: &mut impl FnMut(&RegionKey) -> Option<Bytes>,
    ) {
        match message.message_type() {
            "RegionSpecifier" => {
                let is_encoded = message.number("type") == Some(ENCODED_NAME);
                let name = self.region(message).and_then(|key| name_of(&key));
                let value = name.map(|name| match is_encoded {
                    true => name.slice(name.len() - ENCODED_SIZE + 1..name.len() - 1),
                    false => name,
                });
                message.replace("value", |_| value.clone().map(Value::Bytes));
            }
            "RegionInfo" => {
                let name = region_key(message).and_then(|key| name_of(&key));
                let id = name.and_then(|name| RegionName::parse(&name)).map(|name| name.id);
                message.replace("region_id", |_| id.map(Value::Varint));
            }
            "ScanRequest" => {
                let scanners = &self.scanners;
                message.replace("scanner_id", |old| {
                    Some(Value::Varint(scanners.get(&varint(old)?)?.id))
                });
            }
            "GetProcedureResultRequest" => {
                let procedures = &self.procedures;
                message.replace("proc_id", |old| {
                    procedures.get(&varint(old)?).copied().map(Value::Varint)
                });
            }
            "TimeRange" => {
                let timestamps = &self.timestamps;
                message.replace("from", |old| {
                    timestamps.get(&varint(old)?).copied().map(Value::Varint)
                });
                // It is the first that is too late.
                message.replace("to", |old| {
                    let last = varint(old)?.checked_sub(1)?;
                    timestamps.get(&last).map(|last| Value::Varint(last + 1))
                });
            }
            "MutationProto" | "QualifierValue" | "MutationProto.ColumnValue.QualifierValue" => {
                message.replace("timestamp", |old| {
                    Some(Value::Varint(self.sent_timestamp(varint(old)?)))
                });
            }
            "Get" if reads_meta => {
                let name = message.bytes("row").and_then(|row| RegionName::parse(row));
                let name = name.and_then(|name| name_of(&name.key));
                message.replace("row", |_| name.clone().map(Value::Bytes));
            }
            _ => {}
        }
        for name in ["nonce", "nonce_group"] {
            message.replace(name, |old| {
                let nonce = varint(old)?;
                (nonce != 0).then(|| Value::Varint((nonce ^ self.nonce_change).max(1)))
            });
        }
    }

    /// The timestamp to send instead of the one that a client sent.
    pub(super) fn sent_timestamp(&mut self, timestamp: u64) -> u64 {
        match self.timestamps.get(&timestamp) {
            Some(now) => *now,
            None => {
                self.explicit.insert(timestamp);
                timestamp
            }
        }
    }
}

/// Whether a request is about hbase:meta.
pub(super) fn names_meta(request: &Tree) -> bool {
    let mut names_meta = false;
    request.for_each(&mut |message| {
        let is_region = message.message_type() == "RegionSpecifier";
        let name = message.bytes("value").filter(|_| is_region);
        names_meta |=
            name.is_some_and(|name| name.starts_with(b"hbase:meta,") || name == "1588230740");
    });
    names_meta
}

/// The region that a `RegionInfo` describes.
pub(super) fn region_key(info: &Tree) -> Option<RegionKey> {
    let table = info.message("table_name")?;
    let (namespace, qualifier) = (table.bytes("namespace")?, table.bytes("qualifier")?);
    let table = match namespace.as_ref() {
        b"default" | b"" => qualifier.to_vec(),
        _ => [namespace, &b":"[..], qualifier].concat(),
    };
    let start = info.bytes("start_key").map(|key| key.to_vec()).unwrap_or_default();
    let replica = info.number("replica_id").and_then(|id| u16::try_from(id).ok()).unwrap_or(0);
    Some((table, start, replica))
}

fn varint(value: &Value) -> Option<u64> {
    match value {
        Value::Varint(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_region_is_taken_apart() {
        let hex = "0123456789abcdef0123456789abcdef";
        let parse = |name: String| RegionName::parse(name.as_bytes());
        let name = parse(format!("n:t,a,b,,17.{hex}.")).unwrap();
        assert_eq!((name.key, name.id), ((b"n:t".to_vec(), b"a,b,".to_vec(), 0), 17));
        let replica = parse(format!("t,,17_0002.{hex}.")).unwrap();
        assert_eq!(replica.key, (b"t".to_vec(), Vec::new(), 2));
        for other in ["hbase:meta,,1", "", "t,,17.xyz.", "row"] {
            assert_eq!(parse(other.to_owned()), None, "{other}");
        }
        assert_eq!(parse(format!("t17.{hex}.")), None);
    }
}
