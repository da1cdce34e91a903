//! The identity of a region: a row range of a table.
//!
//! ```text
//! region name    table,start key,region id.encoded name.
//! encoded name   MD5 of "table,start key,region id" in hex; "1588230740" for hbase:meta
//! of a replica   the same with the region id "<id>_<replica in four hexadecimal digits>"
//! ```

use std::fmt;

use md5::{Digest as _, Md5};

use crate::bytes::{jenkins_hash, to_string_binary};
use crate::name::TableName;
use crate::protobuf;

/// The encoded name of the only region of hbase:meta.
pub const META_ENCODED_NAME: &str = "1588230740";

/// A region: table, row range and id (`RegionInfo`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RegionInfo {
    table: TableName,
    start_key: Vec<u8>,
    end_key: Vec<u8>,
    region_id: u64,
    /// 0 for the region itself; replicas have higher ids.
    replica_id: u16,
    /// Whether the region is the parent of two daughters.
    pub is_split: bool,
    /// Whether the region is out of service.
    pub is_offline: bool,
    encoded_name: String,
}

impl RegionInfo {
    /// A region. An empty start or end key means "unbounded"; the id is its creation time in
    /// milliseconds.
    pub fn new(table: TableName, start_key: &[u8], end_key: &[u8], region_id: u64) -> Self {
        let encoded_name = encode_name(&name_prefix(&table, start_key, region_id, 0));
        Self {
            replica_id: 0,
            table,
            start_key: start_key.to_vec(),
            end_key: end_key.to_vec(),
            region_id,
            is_split: false,
            is_offline: false,
            encoded_name,
        }
    }

    /// The replica of this region with that id; 0 is the region itself.
    #[must_use]
    pub fn replica(&self, id: u16) -> Self {
        let prefix = name_prefix(&self.table, &self.start_key, self.region_id, id);
        Self { replica_id: id, encoded_name: encode_name(&prefix), ..self.clone() }
    }

    /// The encoded name of the region that `name` means, as HBase's client finds it: `name` itself
    /// if it has the length of one, or its last part, or a hash of it.
    pub fn encoded_name_of(name: &str) -> String {
        const LENGTH: usize = 32;
        let part = name.strip_suffix('.').and_then(|name| name.rsplit_once('.'));
        match part {
            Some((_, encoded)) => encoded.to_owned(),
            None if name.len() == LENGTH || name == META_ENCODED_NAME => name.to_owned(),
            // That of hbase:meta is such a hash.
            None => jenkins_hash(name.as_bytes(), 0).cast_signed().unsigned_abs().to_string(),
        }
    }

    /// Which replica this is; 0 for the region itself.
    pub fn replica_id(&self) -> u16 {
        self.replica_id
    }

    /// The full name of the region of which `name` is a replica, and the replica's id; `None` for
    /// other names.
    pub fn primary_of_replica(name: &[u8]) -> Option<(Vec<u8>, u16)> {
        const ENCODED: usize = ".".len() + 32 + ".".len();
        const REPLICA: usize = "_0001".len();
        let prefix = &name[..name.len().checked_sub(ENCODED)?];
        let (primary, replica) = prefix.split_at_checked(prefix.len().checked_sub(REPLICA)?)?;
        let id = replica.strip_prefix(b"_").and_then(|id| std::str::from_utf8(id).ok())?;
        let id = u16::from_str_radix(id, 16).ok()?;
        let number = primary.rsplit(|byte| *byte == b',').next()?;
        if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let is_encoded = name[prefix.len()..] == *format!(".{}.", encode_name(prefix)).as_bytes();
        is_encoded.then(|| {
            let mut full = primary.to_vec();
            full.extend_from_slice(format!(".{}.", encode_name(primary)).as_bytes());
            (full, id)
        })
    }

    /// The region of hbase:meta.
    pub fn meta() -> Self {
        let mut info = Self::new(TableName::meta(), b"", b"", 1);
        info.encoded_name = META_ENCODED_NAME.to_owned();
        info
    }

    /// The region that represents a table's medium objects (MOB) in calls of HBase's clients. No
    /// server ever has it.
    pub fn mob(table: &TableName) -> Self {
        Self::new(table.clone(), Self::MOB_START_KEY, b"", 0)
    }

    /// The [`mob`](Self::mob) region with this full name; `None` if no table's region has it.
    pub fn mob_named(name: &[u8]) -> Option<Self> {
        let comma = name.iter().position(|byte| *byte == b',')?;
        let table = std::str::from_utf8(&name[..comma]).ok()?.parse().ok()?;
        Some(Self::mob(&table)).filter(|region| region.is_named(name))
    }

    /// Whether this is the region that represents a table's medium objects.
    pub fn is_mob(&self) -> bool {
        self.start_key == Self::MOB_START_KEY
            && self.encoded_name == Self::mob(&self.table).encoded_name
    }

    /// The start key of [`mob`](Self::mob) regions.
    const MOB_START_KEY: &[u8] = b".mob";

    /// The region that HBase wrote as `RegionInfo.toByteArray`, as stored in hbase:meta; `None` if
    /// the bytes are not a region (`RegionInfo.parseFromOrNull`).
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut table: Option<TableName> = None;
        let (mut region_id, mut start_key, mut end_key) = (0, &b""[..], &b""[..]);
        let (mut is_offline, mut is_split) = (false, false);
        protobuf::read_message(protobuf::strip_magic(bytes), |field, value| {
            match field {
                1 => region_id = value.as_number(),
                2 => table = Some(TableName::from_protobuf(value.as_bytes())?),
                3 => start_key = value.as_bytes(),
                4 => end_key = value.as_bytes(),
                5 => is_offline = value.as_number() != 0,
                6 => is_split = value.as_number() != 0,
                _ => {}
            }
            Ok(())
        })
        .ok()?;
        let table = table?;
        if table.is_meta() {
            return Some(Self::meta());
        }
        Some(Self { is_split, is_offline, ..Self::new(table, start_key, end_key, region_id) })
    }

    /// The table.
    pub fn table(&self) -> &TableName {
        &self.table
    }

    /// The first row, empty for the first region.
    pub fn start_key(&self) -> &[u8] {
        &self.start_key
    }

    /// The first row that does not belong to the region; empty for the last region.
    pub fn end_key(&self) -> &[u8] {
        &self.end_key
    }

    /// The id: creation time in milliseconds.
    pub fn region_id(&self) -> u64 {
        self.region_id
    }

    /// The name of the region's directory.
    pub fn encoded_name(&self) -> &str {
        &self.encoded_name
    }

    /// The full name: the row key of hbase:meta.
    pub fn region_name(&self) -> Vec<u8> {
        let mut name = name_prefix(&self.table, &self.start_key, self.region_id, self.replica_id);
        if !self.table.is_meta() {
            name.push(b'.');
            name.extend_from_slice(self.encoded_name.as_bytes());
            name.push(b'.');
        }
        name
    }

    /// Whether this is the full name of the region.
    pub fn is_named(&self, name: &[u8]) -> bool {
        // Half of the compared names match, so no name is built for the comparison.
        let encoded = self.encoded_name.as_bytes();
        if self.table.is_meta() {
            return name == self.region_name();
        }
        let front = name.strip_suffix(b".").and_then(|name| name.strip_suffix(encoded));
        let Some(front) = front.and_then(|front| front.strip_suffix(b".")) else {
            return false;
        };
        let id = id_text(self.region_id, self.replica_id);
        let front = front.strip_suffix(id.as_bytes()).and_then(|front| front.strip_suffix(b","));
        front.and_then(|front| front.strip_suffix(self.start_key.as_slice())).is_some_and(|table| {
            table.strip_suffix(b",").is_some_and(|table| table == self.table.to_string().as_bytes())
        })
    }

    /// The full name in printable form.
    pub fn region_name_as_string(&self) -> String {
        to_string_binary(&self.region_name())
    }

    /// Whether `row` belongs to the region.
    #[inline]
    pub fn contains_row(&self, row: &[u8]) -> bool {
        (self.start_key.is_empty() || row >= self.start_key.as_slice())
            && (self.end_key.is_empty() || row < self.end_key.as_slice())
    }

    /// Whether this region ends where `other` begins, or begins where it ends.
    pub fn is_adjacent(&self, other: &Self) -> bool {
        (!self.end_key.is_empty() && self.end_key == other.start_key)
            || (!other.end_key.is_empty() && other.end_key == self.start_key)
    }
}

/// As `RegionInfo.toString`.
impl fmt::Display for RegionInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{ENCODED => {}, NAME => '{}', STARTKEY => '{}', ENDKEY => '{}'",
            self.encoded_name,
            self.region_name_as_string(),
            to_string_binary(&self.start_key),
            to_string_binary(&self.end_key)
        )?;
        if self.is_offline {
            f.write_str(", OFFLINE => true")?;
        }
        if self.is_split {
            f.write_str(", SPLIT => true")?;
        }
        f.write_str("}")
    }
}

fn id_text(region_id: u64, replica_id: u16) -> String {
    match replica_id {
        0 => region_id.to_string(),
        replica => format!("{region_id}_{replica:04X}"),
    }
}

fn name_prefix(table: &TableName, start_key: &[u8], region_id: u64, replica_id: u16) -> Vec<u8> {
    let mut name = table.to_string().into_bytes();
    name.push(b',');
    name.extend_from_slice(start_key);
    name.push(b',');
    name.extend_from_slice(id_text(region_id, replica_id).as_bytes());
    name
}

fn encode_name(prefix: &[u8]) -> String {
    Md5::digest(prefix).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_hbase_keeps_in_meta() {
        let bytes = b"PBUF\x08\xac\x02\x12\x06\x0a\x01n\x12\x01t\x1a\x01a\x22\x01\xff\x30\x01";
        let info = RegionInfo::from_bytes(bytes).unwrap();
        let expected = RegionInfo::new("n:t".parse().unwrap(), b"a", b"\xff", 300);
        assert_eq!(info, RegionInfo { is_split: true, ..expected });
        assert_eq!(RegionInfo::from_bytes(b"PBUF\x08\x01"), None);
        assert_eq!(RegionInfo::from_bytes(b""), None);
    }

    #[test]
    fn the_encoded_name_of_a_text_is_its_end_itself_or_a_hash() {
        let encoded = "0123456789abcdef0123456789abcdef";
        for (name, expected) in [
            (&*format!("t,,1.{encoded}."), encoded),
            (encoded, encoded),
            ("hbase:meta,,1", META_ENCODED_NAME),
            (META_ENCODED_NAME, META_ENCODED_NAME),
            ("FULL_REGIONNAME", "1767170404"),
            ("ENCODED_REGIONNAME", "1472284402"),
        ] {
            assert_eq!(RegionInfo::encoded_name_of(name), expected);
        }
    }

    #[test]
    fn a_region_has_its_start_row_and_not_its_end_row() {
        let region =
            |start: &[u8], end: &[u8]| RegionInfo::new("t".parse().unwrap(), start, end, 1);
        let middle = region(b"g", b"m");
        let found = [b"f\xff".as_slice(), b"g", b"g\0", b"l\xff", b"m", b"m\0"];
        assert_eq!(
            found.map(|row| middle.contains_row(row)),
            [false, true, true, true, false, false]
        );
        let (first, last) = (region(b"", b"g"), region(b"m", b""));
        assert!(first.contains_row(b"") && first.contains_row(b"f") && !first.contains_row(b"g"));
        assert!(
            last.contains_row(b"m") && last.contains_row(&[0xff; 9]) && !last.contains_row(b"l")
        );
    }

    /// The name was printed by a running HBase.
    #[test]
    fn encoded_name_is_the_md5_of_the_name() {
        let table: TableName = "s1".parse().unwrap();
        let info = RegionInfo::new(table, b"g", b"m", 1_795_259_073_777);
        assert_eq!(info.encoded_name(), "5c61671f3d207ab58c9b6d747fcd004b");
        assert_eq!(
            info.to_string(),
            "{ENCODED => 5c61671f3d207ab58c9b6d747fcd004b, NAME => \
             's1,g,1795259073777.5c61671f3d207ab58c9b6d747fcd004b.', STARTKEY => 'g', \
             ENDKEY => 'm'}"
        );
        assert_eq!(RegionInfo::meta().region_name_as_string(), "hbase:meta,,1");
    }

    /// The names were printed by a running HBase.
    #[test]
    fn a_replica_has_a_name_of_its_own_that_leads_to_its_region() {
        let info = RegionInfo::new("rep".parse().unwrap(), b"", b"m", 1_795_384_729_897);
        assert_eq!(info.encoded_name(), "5f2191fda861142786b42936bafdf301");
        let replica = info.replica(0x1f);
        let name = replica.region_name();
        assert!(name.starts_with(b"rep,,1795384729897_001F."), "{replica}");
        assert!(replica.is_named(&name) && !info.is_named(&name));
        assert_eq!(RegionInfo::primary_of_replica(&name), Some((info.region_name(), 0x1f)));
        assert_eq!(RegionInfo::primary_of_replica(&info.region_name()), None);
        for name in ["", "t,a,1.x.", "rep,,17_0001.00000000000000000000000000000000."] {
            assert_eq!(RegionInfo::primary_of_replica(name.as_bytes()), None, "{name}");
        }
        assert_eq!(replica.replica(0), info);
    }
}
