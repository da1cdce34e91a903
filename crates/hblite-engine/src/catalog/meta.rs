//! The rows of hbase:meta and hbase:namespace, as HBase 2.6 writes them.
//!
//! ```text
//! hbase:meta
//!   row: region name   info:regioninfo        "PBUF" RegionInfo
//!                      info:state             "OPEN", "CLOSED"; of a parent "CLOSED"
//!                      info:server            "host:port"
//!                      info:serverstartcode   i64
//!                      info:sn                "host,port,start code"
//!                      info:seqnumDuringOpen  i64: the region's log is of no use below this id
//!                      info:splitA, splitB    "PBUF" RegionInfo: daughters, until the parent goes
//!                      info:server_0001, …    of replicas: see `replicas`
//!                      info:merge0000, …      "PBUF" RegionInfo: parents, until they go
//!                      info:hblite.manifest   the region has a manifest: see below
//!                      info:hblite.snapshot.… of hbase:namespace: there is such a snapshot
//!   row: table name    table:state            TableState { 1 state }
//!   row: namespace     ns:d                   of HBase 3: see `namespace_family`
//! hbase:namespace
//!   row: namespace     info:d                 NamespaceDescriptor { 1 name, 2 configuration }
//! ```
//!
//! HBase ignores the columns that begin with `hblite.`, and clients do not see them.
//! `info:hblite.manifest` is written once the first manifest of the region is durable, so that a
//! region without one has lost it. Its value is the number of the `.seqid` file that the manifest
//! has recorded (u64), or empty; see `store/manifest.rs`. `info:hblite.snapshot.<name>` has the
//! number of the `.seqid` file of hbase:meta's region; see `snapshot/named.rs`. The row of
//! hbase:namespace may consist of such cells alone.

use std::collections::BTreeMap;
use std::fmt;

use hblite_model::descriptor::VERSIONS_ALL;
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{
    BloomType, CellRef, ColumnFamilyDescriptor, DataBlockEncoding, Delete, Error, Mutation,
    NamespaceDescriptor, Put, RegionInfo, Result, RowResult, TableDescriptor, TableName,
    TableState,
};

use super::descriptor_file::decode_pair;
use super::region_info_file;
use crate::store::manifest::Recorded;

pub(crate) const INFO: &str = "info";
pub(crate) const TABLE: &str = "table";
/// The family of HBase 3 for namespaces.
pub(super) const NAMESPACES: &str = "ns";
const REPLICATION_BARRIER: &str = "rep_barrier";

const REGION_INFO: &str = "regioninfo";
pub(super) const STATE: &str = "state";
pub(super) const SERVER: &str = "server";
pub(super) const SERVER_START_CODE: &str = "serverstartcode";
pub(super) const SERVER_NAME: &str = "sn";
pub(super) const OPEN_SEQUENCE_NUMBER: &str = "seqnumDuringOpen";
const SPLIT_A: &str = "splitA";
const SPLIT_B: &str = "splitB";
const MERGE_PREFIX: &str = "merge";
const MANIFEST: &str = "hblite.manifest";
const NAMESPACE_DESCRIPTOR: &str = "d";

/// Versions and block size of the catalog's families.
const META_VERSIONS: u32 = 3;
const NAMESPACE_VERSIONS: u32 = 10;
const META_BLOCK_SIZE: u32 = 8 * 1024;

/// The location of all regions in hbase:meta: hblite's only server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerName {
    pub(super) host: String,
    pub(super) port: u16,
    /// When the server was started, in milliseconds since 1970-01-01 UTC.
    pub(super) start_code: i64,
}

impl ServerName {
    /// The server that hbase:meta names on disk, the same in every store and after every open. For
    /// an HBase that starts on the directory, it is a server that has ended.
    pub(super) fn of_store() -> Self {
        Self { host: "localhost".to_owned(), port: 16020, start_code: 1 }
    }
}

/// `host,port,start code`, as HBase names servers.
impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.host, self.port, self.start_code)
    }
}

/// A region as hbase:meta knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegionRow {
    pub(crate) info: RegionInfo,
    /// Log entries with lower sequence ids do not matter to the region.
    pub(crate) open_sequence_number: u64,
    /// For a parent of a split: its daughters.
    pub(crate) daughters: Vec<RegionInfo>,
    /// For a merged region: the regions that it was merged from and still reads.
    pub(crate) merge_parents: Vec<RegionInfo>,
    /// What the region's manifest has recorded, if it must have one.
    pub(crate) manifest: Option<Recorded>,
}

impl RegionRow {
    /// A region without parents or daughters, whose log counts from this id on.
    pub(crate) fn new(info: RegionInfo, open_sequence_number: u64) -> Self {
        Self {
            info,
            open_sequence_number,
            daughters: Vec::new(),
            merge_parents: Vec::new(),
            manifest: None,
        }
    }

    /// The same region, whose manifest is durable and from before any HBase had the region.
    pub(super) fn with_new_manifest(self) -> Self {
        Self { manifest: Some(Recorded::default()), ..self }
    }
}

/// A row of hbase:meta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MetaRow {
    Region(RegionRow),
    Table(TableName, TableState),
    /// A row that only HBase writes.
    Other,
}

/// The table hbase:meta (`FSTableDescriptors.createMetaTableDescriptorBuilder`).
pub(crate) fn meta_descriptor() -> TableDescriptor {
    let barrier = meta_family(REPLICATION_BARRIER).with_versions(VERSIONS_ALL);
    let families = [small_meta_family(INFO), small_meta_family(TABLE), barrier];
    let mut attributes = TableDescriptor::new(TableName::meta()).attributes().clone();
    let endpoint = "|org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint|536870911|";
    for (name, value) in [("IS_META", "true"), ("coprocessor$1", endpoint)] {
        attributes.insert(name.to_owned(), value.to_owned());
    }
    TableDescriptor::from_parts(TableName::meta(), attributes, families)
}

/// The family of hbase:meta in which HBase 3 keeps namespaces.
pub(super) fn namespace_family() -> ColumnFamilyDescriptor {
    small_meta_family(NAMESPACES)
}

fn small_meta_family(name: &str) -> ColumnFamilyDescriptor {
    meta_family(name).with_versions(META_VERSIONS).with_block_size(META_BLOCK_SIZE)
}

fn meta_family(name: &str) -> ColumnFamilyDescriptor {
    in_memory(name)
        .with_data_block_encoding(DataBlockEncoding::RowIndexV1)
        .with_bloom(BloomType::RowCol)
}

/// The table hbase:namespace (`TableDescriptorBuilder.NAMESPACE_TABLEDESC`).
pub(crate) fn namespace_descriptor() -> TableDescriptor {
    let info = in_memory(INFO).with_versions(NAMESPACE_VERSIONS).with_block_size(META_BLOCK_SIZE);
    TableDescriptor::new(TableName::namespace_table()).with_family(info)
}

fn in_memory(name: &str) -> ColumnFamilyDescriptor {
    let mut attributes = ColumnFamilyDescriptor::new(name).attributes().clone();
    attributes.insert("IN_MEMORY".to_owned(), "true".to_owned());
    ColumnFamilyDescriptor::from_parts(name.into(), attributes, BTreeMap::new())
}

/// Puts a region that is in service.
pub(super) fn put_open_region(
    info: &RegionInfo,
    server: &ServerName,
    open_sequence_number: u64,
    timestamp: i64,
) -> Mutation {
    open_region(info, server, open_sequence_number, timestamp).into()
}

fn open_region(
    info: &RegionInfo,
    server: &ServerName,
    open_sequence_number: u64,
    timestamp: i64,
) -> Put {
    Put::new(info.region_name())
        .with_timestamp(timestamp)
        .add(INFO, REGION_INFO, region_info_file::encode(info))
        .add(INFO, STATE, "OPEN")
        .add(INFO, SERVER, format!("{}:{}", server.host, server.port))
        .add(INFO, SERVER_START_CODE, server.start_code.to_be_bytes())
        .add(INFO, SERVER_NAME, server.to_string())
        .add(INFO, OPEN_SEQUENCE_NUMBER, open_sequence_number.to_be_bytes())
}

/// Makes a region's row name this server, if it names another one.
pub(super) fn rename_server(row: &RowResult, server: &ServerName) -> Option<ServerRename> {
    let name = server.to_string();
    let named = row.value(INFO, SERVER_NAME).is_some_and(|found| found != name.as_bytes());
    let located = row.value(INFO, SERVER).is_some();
    named.then(|| ServerRename { row: row.row().to_vec(), is_located: located })
}

/// A row of hbase:meta that names a server of HBase.
pub(super) struct ServerRename {
    row: Vec<u8>,
    /// Whether it is the server's address for clients.
    is_located: bool,
}

impl ServerRename {
    pub(super) fn put(&self, server: &ServerName, timestamp: i64) -> Mutation {
        let put = Put::new(&self.row).with_timestamp(timestamp).add(
            INFO,
            SERVER_NAME,
            server.to_string(),
        );
        if !self.is_located {
            return put.into();
        }
        put.add(INFO, SERVER, format!("{}:{}", server.host, server.port))
            .add(INFO, SERVER_START_CODE, server.start_code.to_be_bytes())
            .into()
    }
}

/// Puts a region that its table's state took out of service.
pub(super) fn put_closed_region(
    info: &RegionInfo,
    open_sequence_number: u64,
    timestamp: i64,
) -> Mutation {
    Put::new(info.region_name())
        .with_timestamp(timestamp)
        .add(INFO, STATE, "CLOSED")
        .add(INFO, OPEN_SEQUENCE_NUMBER, open_sequence_number.to_be_bytes())
        .into()
}

/// Puts the sequence id from which the region's log counts, for a region that was flushed and is
/// about to change.
pub(super) fn put_open_sequence_number(
    info: &RegionInfo,
    open_sequence_number: u64,
    timestamp: i64,
) -> Mutation {
    Put::new(info.region_name())
        .with_timestamp(timestamp)
        .add(INFO, OPEN_SEQUENCE_NUMBER, open_sequence_number.to_be_bytes())
        .into()
}

/// Puts the parent of a split, which is now read only by its daughters.
pub(super) fn put_split_parent(
    parent: &RegionInfo,
    daughters: [&RegionInfo; 2],
    timestamp: i64,
) -> Mutation {
    let mut parent = parent.clone();
    parent.is_offline = true;
    parent.is_split = true;
    Put::new(parent.region_name())
        .with_timestamp(timestamp)
        .add(INFO, REGION_INFO, region_info_file::encode(&parent))
        .add(INFO, STATE, "CLOSED")
        .add(INFO, SPLIT_A, region_info_file::encode(daughters[0]))
        .add(INFO, SPLIT_B, region_info_file::encode(daughters[1]))
        .into()
}

/// Puts a region in service that was merged from others and still reads from them.
pub(super) fn put_merged_region(
    info: &RegionInfo,
    parents: &[RegionInfo],
    server: &ServerName,
    open_sequence_number: u64,
    timestamp: i64,
) -> Mutation {
    let mut put = open_region(info, server, open_sequence_number, timestamp);
    for (index, parent) in parents.iter().enumerate() {
        put = put.add(INFO, merge_qualifier(index), region_info_file::encode(parent));
    }
    put.into()
}

fn merge_qualifier(index: usize) -> String {
    format!("{MERGE_PREFIX}{index:04}")
}

/// Puts that a region has a manifest, which has recorded this.
pub(super) fn put_manifest(info: &RegionInfo, recorded: Recorded, timestamp: i64) -> Mutation {
    Put::new(info.region_name())
        .with_timestamp(timestamp)
        .add(INFO, MANIFEST, encode_recorded(recorded))
        .into()
}

/// Puts that these regions have manifests, as far as their rows say so.
pub(super) fn put_manifests<'r>(
    rows: impl IntoIterator<Item = &'r RegionRow>,
    timestamp: i64,
) -> impl Iterator<Item = Mutation> {
    rows.into_iter().filter_map(move |row| {
        row.manifest.map(|recorded| put_manifest(&row.info, recorded, timestamp))
    })
}

/// Removes that a region has a manifest.
pub(super) fn delete_manifest(info: &RegionInfo, timestamp: i64) -> Mutation {
    Delete::new(info.region_name()).with_timestamp(timestamp).columns(INFO, MANIFEST).into()
}

/// What the row of a region says about its manifest.
pub(crate) fn manifest_of(row: &RowResult) -> Option<Recorded> {
    row.value(INFO, MANIFEST).map(decode_recorded)
}

pub(super) fn encode_recorded(recorded: Recorded) -> Vec<u8> {
    recorded.map(|number| number.to_be_bytes().to_vec()).unwrap_or_default()
}

pub(super) fn decode_recorded(value: &[u8]) -> Recorded {
    Some(u64::from_be_bytes(value.try_into().ok()?))
}

/// Removes the parents of a merged region.
pub(super) fn delete_merge_parents(info: &RegionInfo, count: usize, timestamp: i64) -> Mutation {
    let delete = Delete::new(info.region_name()).with_timestamp(timestamp);
    (0..count).fold(delete, |delete, index| delete.columns(INFO, merge_qualifier(index))).into()
}

/// Removes a region.
pub(super) fn delete_region(info: &RegionInfo, timestamp: i64) -> Mutation {
    Delete::new(info.region_name()).with_timestamp(timestamp).family(INFO).into()
}

/// Puts the state of a table.
pub(super) fn put_table_state(table: &TableName, state: TableState, timestamp: i64) -> Mutation {
    let message = MessageWriter::new().number(1, state.code()).finish();
    Put::new(table.to_string()).with_timestamp(timestamp).add(TABLE, STATE, message).into()
}

/// Removes a table.
pub(super) fn delete_table_state(table: &TableName, timestamp: i64) -> Mutation {
    Delete::new(table.to_string()).with_timestamp(timestamp).columns(TABLE, STATE).into()
}

/// Puts a namespace, in hbase:namespace.
pub(super) fn put_namespace(namespace: &NamespaceDescriptor, timestamp: i64) -> Mutation {
    let mut message = MessageWriter::new().bytes(1, &namespace.name);
    for (key, value) in &namespace.properties {
        message = message.bytes(2, MessageWriter::new().bytes(1, key).bytes(2, value).finish());
    }
    Put::new(&namespace.name)
        .with_timestamp(timestamp)
        .add(INFO, NAMESPACE_DESCRIPTOR, message.finish())
        .into()
}

/// Removes a namespace, in hbase:namespace.
pub(super) fn delete_namespace(name: &str, timestamp: i64) -> Mutation {
    Delete::new(name).with_timestamp(timestamp).family(INFO).into()
}

/// Removes a namespace, in hbase:meta.
pub(super) fn empty_namespace_family(name: &str, timestamp: i64) -> Mutation {
    Delete::new(name).with_timestamp(timestamp).family(NAMESPACES).into()
}

/// What a row of hbase:meta is about: the encoded name of a region, or the name of a table.
pub(super) fn short_name(row: &[u8]) -> &[u8] {
    let encoded = row.strip_suffix(b".").filter(|row| row.contains(&b','));
    encoded.and_then(|row| row.rsplit(|byte| *byte == b'.').next()).unwrap_or(row)
}

/// The region that a cell of hbase:meta names as a merge parent.
pub(super) fn merge_parent(cell: &CellRef<'_>) -> Option<RegionInfo> {
    let is_parent =
        cell.family() == INFO.as_bytes() && cell.qualifier().starts_with(MERGE_PREFIX.as_bytes());
    is_parent.then(|| region_info_file::decode(cell.value()).ok()).flatten()
}

/// Decodes a row of hbase:meta.
///
/// # Errors
/// `Corrupt` that names the row if it is invalid.
pub(crate) fn parse(row: &RowResult) -> Result<MetaRow> {
    let unreadable = |error: Error| {
        let name = hblite_model::bytes::to_string_binary(row.row());
        let message = format!("hbase:meta, row {name}: {}", error.message());
        Error::malformed(message)
    };
    if row.cell(INFO, REGION_INFO).is_some() {
        return parse_region(row).map(MetaRow::Region).map_err(unreadable);
    }
    let Some(state) = row.value(TABLE, STATE) else {
        return Ok(MetaRow::Other);
    };
    let name = String::from_utf8_lossy(row.row()).parse().map_err(unreadable)?;
    let mut code = 0;
    protobuf::read_message(state, |field, value| {
        if field == 1 {
            code = value.as_number();
        }
        Ok(())
    })
    .map_err(unreadable)?;
    let state = TableState::from_code(code).ok_or_else(|| {
        unreadable(Error::malformed(format!("{code} is not the state of a table")))
    })?;
    Ok(MetaRow::Table(name, state))
}

fn parse_region(row: &RowResult) -> Result<RegionRow> {
    let decoded =
        |qualifier: &str| row.value(INFO, qualifier).map(region_info_file::decode).transpose();
    let info =
        decoded(REGION_INFO)?.ok_or_else(|| Error::malformed("a region without regioninfo"))?;
    if row.row() != info.region_name() {
        return Err(Error::malformed("a region under the row key of another"));
    }
    let open_sequence_number = row
        .value(INFO, OPEN_SEQUENCE_NUMBER)
        .and_then(|value| Some(i64::from_be_bytes(value.try_into().ok()?)))
        .and_then(|number| u64::try_from(number).ok())
        .unwrap_or(0);
    let daughters = [decoded(SPLIT_A)?, decoded(SPLIT_B)?].into_iter().flatten().collect();
    let merge_parents = row
        .cells()
        .filter(|cell| cell.family() == INFO.as_bytes())
        .filter(|cell| cell.qualifier().starts_with(MERGE_PREFIX.as_bytes()))
        .map(|cell| region_info_file::decode(cell.value()))
        .collect::<Result<_>>()?;
    let manifest = manifest_of(row);
    Ok(RegionRow { info, open_sequence_number, daughters, merge_parents, manifest })
}

/// The namespace in a row of hbase:namespace (family `info`) or hbase:meta (family `ns`); `None` if
/// the row has none.
///
/// # Errors
/// `Io` if the descriptor is invalid.
pub(super) fn parse_namespace(
    row: &RowResult,
    family: &str,
) -> Result<Option<NamespaceDescriptor>> {
    let Some(message) = row.value(family, NAMESPACE_DESCRIPTOR) else {
        return Ok(None);
    };
    let mut namespace = NamespaceDescriptor::new("");
    protobuf::read_message(message, |field, value| {
        match field {
            1 => namespace.name = value.as_text(),
            2 => namespace.properties.extend([decode_pair(value)?]),
            _ => {}
        }
        Ok(())
    })?;
    Ok(Some(namespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite_model::CellType;

    fn result(mutations: &[&Mutation]) -> RowResult {
        let mut cells = hblite_model::CellBuffer::new();
        for mutation in mutations {
            for cell in mutation.cells() {
                assert_eq!(cell.type_code(), CellType::Put.code());
                cells.push(&cell);
            }
        }
        RowResult::new(cells)
    }

    fn server() -> ServerName {
        ServerName { host: "localhost".to_owned(), port: 16020, start_code: 258 }
    }

    fn region(start: &[u8], end: &[u8]) -> RegionInfo {
        RegionInfo::new("n:t".parse().unwrap(), start, end, 9)
    }

    #[test]
    fn an_open_region_has_hbases_columns() {
        let info = region(b"a", b"b");
        let row = result(&[&put_open_region(&info, &server(), 7, 5)]);
        assert_eq!(row.row(), info.region_name());
        assert!(row.cells().all(|cell| cell.timestamp() == 5));
        let value = |qualifier| row.value("info", qualifier).unwrap();
        assert_eq!(value("regioninfo"), region_info_file::encode(&info));
        assert_eq!(value("state"), b"OPEN");
        assert_eq!(value("server"), b"localhost:16020");
        assert_eq!(value("serverstartcode"), [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(value("sn"), b"localhost,16020,258");
        assert_eq!(value("seqnumDuringOpen"), [0, 0, 0, 0, 0, 0, 0, 7]);
        let expected = RegionRow {
            info,
            open_sequence_number: 7,
            daughters: Vec::new(),
            merge_parents: Vec::new(),
            manifest: None,
        };
        assert_eq!(parse(&row).unwrap(), MetaRow::Region(expected));
    }

    #[test]
    fn a_region_under_the_row_key_of_another_is_refused() {
        let (info, other) = (region(b"a", b"b"), region(b"b", b"c"));
        let put = Put::new(other.region_name()).with_timestamp(5);
        let put = put.add(INFO, REGION_INFO, region_info_file::encode(&info));
        assert!(parse(&result(&[&put.into()])).is_err());
    }

    #[test]
    fn splits_and_merges_name_their_relatives() {
        let (parent, left, right) = (region(b"", b""), region(b"", b"m"), region(b"m", b""));
        let row = result(&[&put_split_parent(&parent, [&left, &right], 5)]);
        let MetaRow::Region(found) = parse(&row).unwrap() else { panic!("not a region") };
        assert!(found.info.is_split && found.info.is_offline);
        assert_eq!(found.info.encoded_name(), parent.encoded_name());
        assert_eq!(found.daughters, [left.clone(), right.clone()]);
        assert_eq!(row.value("info", "state"), Some(&b"CLOSED"[..]));

        let parents = [left, right];
        let row = result(&[&put_merged_region(&parent, &parents, &server(), 1, 5)]);
        assert!(row.cell("info", "merge0000").is_some() && row.cell("info", "merge0001").is_some());
        let MetaRow::Region(found) = parse(&row).unwrap() else { panic!("not a region") };
        assert_eq!(found.merge_parents, parents);
        let delete = delete_merge_parents(&parent, 2, 6);
        let deleted: Vec<Vec<u8>> =
            delete.cells().iter().map(|cell| cell.qualifier().to_vec()).collect();
        assert_eq!(deleted, [b"merge0000", b"merge0001"]);
    }

    #[test]
    fn table_states_are_numbers() {
        let table: TableName = "t".parse().unwrap();
        let bytes = [
            (TableState::Enabled, b"\x08\x00"),
            (TableState::Disabled, b"\x08\x01"),
            (TableState::Disabling, b"\x08\x02"),
            (TableState::Enabling, b"\x08\x03"),
        ];
        for (state, message) in bytes {
            let row = result(&[&put_table_state(&table, state, 5)]);
            assert_eq!((row.row(), row.value("table", "state")), (&b"t"[..], Some(&message[..])));
            assert_eq!(parse(&row).unwrap(), MetaRow::Table(table.clone(), state));
        }
        let strange = Put::new("t").add("table", "state", b"\x08\x09").into();
        assert!(parse(&result(&[&strange])).unwrap_err().message().contains("row t"));
        let other = Put::new("t").add("rep_barrier", "x", b"").into();
        assert_eq!(parse(&result(&[&other])).unwrap(), MetaRow::Other);
    }

    #[test]
    fn namespaces_come_back() {
        let namespace = NamespaceDescriptor::new("ns").with_property("k", "v");
        let row = result(&[&put_namespace(&namespace, 5)]);
        assert_eq!(row.value("info", "d"), Some(&b"\x0a\x02ns\x12\x06\x0a\x01k\x12\x01v"[..]));
        assert_eq!(parse_namespace(&row, INFO).unwrap(), Some(namespace));
    }

    #[test]
    fn damaged_rows_are_reported_by_name() {
        let damaged = Put::new("row,x").add("info", "regioninfo", b"PBUF\xff").into();
        let error = parse(&result(&[&damaged])).unwrap_err();
        assert!(error.message().starts_with("hbase:meta, row row,x: "), "{error}");
    }
}
