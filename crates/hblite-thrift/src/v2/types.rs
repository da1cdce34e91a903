//! The structs of Thrift 2, and results as it returns them.
//!
//! Enumerations are numbers here; `schema.rs` and `convert.rs` know their names.

use hblite_model::RowResult;

use crate::attributes::Attributes;
use crate::protocol::error::{ProtocolError, Result};
use crate::protocol::reader::Reader;
use crate::protocol::types;
use crate::protocol::wire::{List, Map, ShortBytes, Wire, thrift_struct};
use crate::protocol::writer::Writer;

type Bytes = Vec<u8>;

thrift_struct! {
    /// A range of timestamps, the end excluded.
    TTimeRange {
        1 [required] min: i64,
        2 [required] max: i64,
    }

    /// A column, or without a qualifier a family.
    TColumn {
        1 [required] family: ShortBytes,
        2 qualifier: Option<ShortBytes>,
        3 timestamp: Option<i64>,
    }

    /// A cell to write.
    TColumnValue {
        1 [required] family: ShortBytes,
        2 [required] qualifier: ShortBytes,
        3 [required] value: Bytes,
        4 timestamp: Option<i64>,
        5 tags: Option<Bytes>,
        6 kind: Option<i8>,
    }

    /// An increment of one column.
    TColumnIncrement {
        1 [required] family: Bytes,
        2 [required] qualifier: Bytes,
        3 amount: i64 = 1,
    }

    /// What to get.
    TGet {
        1 [required] row: ShortBytes,
        2 columns: Option<List<TColumn>>,
        3 timestamp: Option<i64>,
        4 time_range: Option<TTimeRange>,
        5 max_versions: Option<i32>,
        6 filter_string: Option<Bytes>,
        7 attributes: Option<Attributes>,
        12 store_limit: Option<i32>,
        13 store_offset: Option<i32>,
        14 existence_only: Option<bool>,
        15 filter_bytes: Option<Bytes>,
    }

    /// What to put.
    TPut {
        1 [required] row: ShortBytes,
        2 [required] column_values: List<TColumnValue>,
        3 timestamp: Option<i64>,
        5 attributes: Option<Attributes>,
        6 durability: Option<i32>,
    }

    /// What to delete.
    TDelete {
        1 [required] row: ShortBytes,
        2 columns: Option<List<TColumn>>,
        3 timestamp: Option<i64>,
        4 delete_type: i32 = 1,
        6 attributes: Option<Attributes>,
        7 durability: Option<i32>,
    }

    /// Amounts to add to counters.
    TIncrement {
        1 [required] row: Bytes,
        2 [required] columns: List<TColumnIncrement>,
        4 attributes: Option<Attributes>,
        5 durability: Option<i32>,
        7 return_results: Option<bool>,
    }

    /// What to append.
    TAppend {
        1 [required] row: Bytes,
        2 [required] columns: List<TColumnValue>,
        3 attributes: Option<Attributes>,
        4 durability: Option<i32>,
        6 return_results: Option<bool>,
    }

    /// What to scan.
    TScan {
        1 start_row: Option<Bytes>,
        2 stop_row: Option<Bytes>,
        3 columns: Option<List<TColumn>>,
        4 caching: Option<i32>,
        5 max_versions: Option<i32>,
        6 time_range: Option<TTimeRange>,
        7 filter_string: Option<Bytes>,
        8 batch_size: Option<i32>,
        9 attributes: Option<Attributes>,
        11 reversed: Option<bool>,
        12 cache_blocks: Option<bool>,
        13 family_time_ranges: Option<Map<Bytes, TTimeRange>>,
        15 limit: Option<i32>,
        18 filter_bytes: Option<Bytes>,
    }

    /// A put or a delete.
    TMutation {
        1 put: Option<TPut>,
        2 delete: Option<TDelete>,
    }

    /// Changes of one row, together or not at all.
    TRowMutations {
        1 [required] row: Bytes,
        2 [required] mutations: List<TMutation>,
    }

    /// A region. HBase's gateway leaves the id at 0.
    THRegionInfo {
        1 region_id: i64,
        2 table_name: Bytes,
        3 start_key: Option<Bytes>,
        4 end_key: Option<Bytes>,
        5 offline: Option<bool>,
        6 split: Option<bool>,
        7 replica_id: Option<i32>,
    }

    /// A server.
    TServerName {
        1 [required] host_name: String,
        2 port: Option<i32>,
        3 start_code: Option<i64>,
    }

    /// Where a region is.
    THRegionLocation {
        1 server_name: TServerName,
        2 region_info: THRegionInfo,
    }

    /// The name of a table.
    TTableName {
        1 ns: Option<Bytes>,
        2 [required] qualifier: Bytes,
    }

    /// A family of a table.
    TColumnFamilyDescriptor {
        1 [required] name: Bytes,
        2 attributes: Option<Map<Bytes, Bytes>>,
        3 configuration: Option<Map<String, String>>,
        4 block_size: Option<i32>,
        5 bloom_filter_type: Option<i32>,
        6 compression_type: Option<i32>,
        7 dfs_replication: Option<i16>,
        8 data_block_encoding: Option<i32>,
        9 keep_deleted_cells: Option<i32>,
        10 max_versions: Option<i32>,
        11 min_versions: Option<i32>,
        12 scope: Option<i32>,
        13 time_to_live: Option<i32>,
        14 block_cache_enabled: Option<bool>,
        15 cache_blooms_on_write: Option<bool>,
        16 cache_data_on_write: Option<bool>,
        17 cache_indexes_on_write: Option<bool>,
        18 compress_tags: Option<bool>,
        19 evict_blocks_on_close: Option<bool>,
        20 in_memory: Option<bool>,
    }

    /// A table.
    TTableDescriptor {
        1 [required] table_name: TTableName,
        2 columns: Option<List<TColumnFamilyDescriptor>>,
        3 attributes: Option<Map<Bytes, Bytes>>,
        4 durability: Option<i32>,
    }

    /// A namespace.
    TNamespaceDescriptor {
        1 [required] name: String,
        2 configuration: Option<Map<String, String>>,
    }

    /// Which slow calls are requested. hblite records none.
    TLogQueryFilter {
        1 region_name: Option<String>,
    }

    /// A slow call. hblite records none.
    TOnlineLogRecord {
        1 start_time: i64,
    }
}

/// `TResult`, written from the cells of the store without copying them.
pub(crate) struct RowAnswer(pub(crate) RowResult);

impl Wire for RowAnswer {
    const TYPE: u8 = types::STRUCT;

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Err(ProtocolError::malformed("an answer in place of a request"))
    }

    fn write(&self, writer: &mut Writer) {
        writer.struct_begin();
        if !self.0.is_empty() {
            self.write_bytes(writer, 1, self.0.row());
        }
        writer.field(types::LIST, 2);
        writer.list_begin(types::STRUCT, self.0.len());
        for cell in self.0.cells() {
            writer.struct_begin();
            self.write_bytes(writer, 1, cell.family());
            self.write_bytes(writer, 2, cell.qualifier());
            self.write_bytes(writer, 3, cell.value());
            cell.timestamp().write_field(writer, 4);
            cell.type_code().cast_signed().write_field(writer, 6);
            writer.struct_end();
        }
        writer.bool_field(3, false);
        writer.bool_field(4, self.0.may_have_more_cells());
        writer.struct_end();
    }
}

impl RowAnswer {
    fn write_bytes(&self, writer: &mut Writer, id: i16, bytes: &[u8]) {
        writer.field(types::STRING, id);
        writer.bytes(bytes);
    }
}
