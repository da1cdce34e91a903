//! The file that describes a snapshot.
//!
//! ```text
//! .snapshotinfo = SnapshotDescription { 1 name, 2 table, 3 creation_time, 4 type, 5 version,
//!                                       8 ttl, 9 max_file_size } | seal
//! ```
//!
//! A time to live counts only if the seal confirms it (`sealed.rs`). If another writer, or damage,
//! added one, the snapshot stays until it is deleted.
//!
//! The work is done in `catalog::snapshot`. Source: HBase's `Snapshot.proto`.

use std::time::Duration;

use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Result, SnapshotDescription, SnapshotKind};

use crate::sealed::{self, Seal};

/// The version that HBase writes for its layout with a list of all files (`data.manifest`).
const VERSION: u64 = 2;
/// Milliseconds per unit of a time to live.
const SECOND_MS: i64 = 1_000;

/// The content of `.snapshotinfo`.
pub(crate) fn encode(description: &SnapshotDescription) -> Vec<u8> {
    sealed::seal(message(description))
}

fn message(description: &SnapshotDescription) -> MessageWriter {
    MessageWriter::new()
        .bytes(1, &description.name)
        .bytes(2, description.table.to_string())
        .number(3, u64::try_from(description.created_at_ms).unwrap_or(0))
        .number(4, description.kind as u64)
        .number(5, VERSION)
        .number(8, description.time_to_live.map_or(0, |time| time.as_secs()))
        .number(9, description.max_file_size_bytes.unwrap_or(0))
}

/// Like [`encode`], with a checksum only if there was one before.
pub(crate) fn encode_as(description: &SnapshotDescription, seal: Seal) -> Vec<u8> {
    match seal {
        Seal::Verified => encode(description),
        Seal::Absent => message(description).finish(),
    }
}

/// Decodes the bytes of [`encode`], and says whether a seal confirms them. For other bytes, what is
/// wrong.
pub(crate) fn decode(
    content: &[u8],
) -> std::result::Result<(SnapshotDescription, Seal), &'static str> {
    let (fields, seal) = sealed::unseal(content)?;
    let description = parse(fields).ok_or("it describes no snapshot")?;
    let ttl_max = i64::MAX as u64 / SECOND_MS as u64;
    if seal == Seal::Absent && description.time_to_live.is_some_and(|time| time.as_secs() > ttl_max)
    {
        return Err("its time to live is out of range");
    }
    Ok((description, seal))
}

fn parse(fields: &[u8]) -> Option<SnapshotDescription> {
    let (mut name, mut table, mut created_at_ms) = (String::new(), String::new(), 0);
    let (mut kind, mut time_to_live_s, mut max_file_size) = (1, 0, 0);
    let read: Result<()> = protobuf::read_message(fields, |field, value| {
        match field {
            1 => name = value.as_text(),
            2 => table = value.as_text(),
            3 => created_at_ms = value.as_number(),
            4 => kind = value.as_number(),
            8 => time_to_live_s = value.as_number(),
            9 => max_file_size = value.as_number(),
            _ => {}
        }
        Ok(())
    });
    read.ok().filter(|()| !name.is_empty())?;
    Some(SnapshotDescription {
        name,
        table: table.parse().ok()?,
        created_at_ms: i64::try_from(created_at_ms).ok()?,
        kind: SnapshotKind::ALL.get(usize::try_from(kind).ok()?).copied()?,
        time_to_live: (time_to_live_s > 0).then_some(Duration::from_secs(time_to_live_s)),
        max_file_size_bytes: (max_file_size > 0).then_some(max_file_size),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_come_back_and_cut_ones_do_no_harm() {
        let mut description = SnapshotDescription {
            name: "s".to_owned(),
            table: "n:t".parse().unwrap(),
            created_at_ms: 1_700_000_000_000,
            kind: SnapshotKind::SkipFlush,
            time_to_live: Some(Duration::from_secs(60)),
            max_file_size_bytes: Some(7),
        };
        let bytes = encode(&description);
        assert_eq!(decode(&bytes), Ok((description.clone(), Seal::Verified)));
        for cut in 0..bytes.len() {
            let _ = decode(&bytes[..cut]);
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let decoded = decode(&damaged);
            let is_sound = decoded == Ok((description.clone(), Seal::Absent));
            assert!(decoded.is_err() || is_sound, "bit {bit}: {decoded:?}");
        }
        assert!(decode(b"").is_err());
        // As HBase and earlier versions write it.
        let unsealed = decode(&message(&description).finish());
        assert_eq!(unsealed, Ok((description.clone(), Seal::Absent)));
        assert!(!description.has_expired(1_700_000_060_000));
        assert!(description.has_expired(1_700_000_060_001));
        for never in [None, Some(u64::MAX), Some(i64::MAX as u64)] {
            description.time_to_live = never.map(Duration::from_secs);
            assert!(!description.has_expired(i64::MAX), "{never:?}");
        }
    }
}
