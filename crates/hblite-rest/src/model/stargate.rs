//! The messages of HBase's protobuf form: numbers and types of fields are the contract.

use prost::Message;

/// A cell.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Cell {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) row: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) column: Option<Vec<u8>>,
    #[prost(int64, optional, tag = "3")]
    pub(crate) timestamp: Option<i64>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(crate) data: Option<Vec<u8>>,
}

/// A row of a cell set.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Row {
    #[prost(bytes = "vec", required, tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) values: Vec<Cell>,
}

/// Rows.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CellSet {
    #[prost(message, repeated, tag = "1")]
    pub(crate) rows: Vec<Row>,
}

/// An attribute of a table or family.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, required, tag = "1")]
    pub(crate) name: String,
    #[prost(string, required, tag = "2")]
    pub(crate) value: String,
}

/// A family.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ColumnSchema {
    #[prost(string, optional, tag = "1")]
    pub(crate) name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) attrs: Vec<Attribute>,
    #[prost(int32, optional, tag = "3")]
    pub(crate) ttl: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(crate) max_versions: Option<i32>,
    #[prost(string, optional, tag = "5")]
    pub(crate) compression: Option<String>,
}

/// A table and its families.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableSchema {
    #[prost(string, optional, tag = "1")]
    pub(crate) name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) attrs: Vec<Attribute>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) columns: Vec<ColumnSchema>,
    #[prost(bool, optional, tag = "4")]
    pub(crate) in_memory: Option<bool>,
    #[prost(bool, optional, tag = "5")]
    pub(crate) read_only: Option<bool>,
}

/// A property of a namespace.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Property {
    #[prost(string, required, tag = "1")]
    pub(crate) key: String,
    #[prost(string, required, tag = "2")]
    pub(crate) value: String,
}

/// The properties of a namespace.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NamespaceProperties {
    #[prost(message, repeated, tag = "1")]
    pub(crate) props: Vec<Property>,
}

/// Names of namespaces, and of tables: both messages have this one field.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Names {
    #[prost(string, repeated, tag = "1")]
    pub(crate) names: Vec<String>,
}

/// What a scanner selects.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Scanner {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) start_row: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) end_row: Option<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) columns: Vec<Vec<u8>>,
    #[prost(int32, optional, tag = "4")]
    pub(crate) batch: Option<i32>,
    #[prost(int64, optional, tag = "5")]
    pub(crate) start_time: Option<i64>,
    #[prost(int64, optional, tag = "6")]
    pub(crate) end_time: Option<i64>,
    #[prost(int32, optional, tag = "7")]
    pub(crate) max_versions: Option<i32>,
    #[prost(string, optional, tag = "8")]
    pub(crate) filter: Option<String>,
    #[prost(int32, optional, tag = "9")]
    pub(crate) caching: Option<i32>,
    #[prost(string, repeated, tag = "10")]
    pub(crate) labels: Vec<String>,
    #[prost(bool, optional, tag = "11")]
    pub(crate) cache_blocks: Option<bool>,
}

/// A region of a table.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableRegion {
    #[prost(string, required, tag = "1")]
    pub(crate) name: String,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) start_key: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub(crate) end_key: Option<Vec<u8>>,
    #[prost(int64, optional, tag = "4")]
    pub(crate) id: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(crate) location: Option<String>,
}

/// The regions of a table.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableInfo {
    #[prost(string, required, tag = "1")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) regions: Vec<TableRegion>,
}

/// The gateway's version and what it runs on.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Version {
    #[prost(string, optional, tag = "1")]
    pub(crate) rest_version: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(crate) jvm_version: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(crate) os_version: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(crate) server_version: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub(crate) jersey_version: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub(crate) version: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub(crate) revision: Option<String>,
}

/// A region in the status of the store.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionLoad {
    #[prost(bytes = "vec", required, tag = "1")]
    pub(crate) name: Vec<u8>,
    #[prost(int32, optional, tag = "2")]
    pub(crate) stores: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(crate) storefiles: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(crate) storefile_size_mb: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(crate) mem_store_size_mb: Option<i32>,
    #[prost(int64, optional, tag = "6")]
    pub(crate) storefile_index_size_kb: Option<i64>,
    #[prost(int64, optional, tag = "7")]
    pub(crate) read_requests_count: Option<i64>,
    #[prost(int64, optional, tag = "8")]
    pub(crate) write_requests_count: Option<i64>,
    #[prost(int32, optional, tag = "9")]
    pub(crate) root_index_size_kb: Option<i32>,
    #[prost(int32, optional, tag = "10")]
    pub(crate) total_static_index_size_kb: Option<i32>,
    #[prost(int32, optional, tag = "11")]
    pub(crate) total_static_bloom_size_kb: Option<i32>,
    #[prost(int64, optional, tag = "12")]
    pub(crate) total_compacting_kvs: Option<i64>,
    #[prost(int64, optional, tag = "13")]
    pub(crate) current_compacted_kvs: Option<i64>,
}

/// A server in the status of the store.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(string, required, tag = "1")]
    pub(crate) name: String,
    #[prost(int64, optional, tag = "2")]
    pub(crate) start_code: Option<i64>,
    #[prost(int64, optional, tag = "3")]
    pub(crate) requests: Option<i64>,
    #[prost(int32, optional, tag = "4")]
    pub(crate) heap_size_mb: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(crate) max_heap_size_mb: Option<i32>,
    #[prost(message, repeated, tag = "6")]
    pub(crate) regions: Vec<RegionLoad>,
}

/// The status of the store.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StorageClusterStatus {
    #[prost(message, repeated, tag = "1")]
    pub(crate) live_nodes: Vec<Node>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) dead_nodes: Vec<String>,
    #[prost(int32, optional, tag = "3")]
    pub(crate) regions: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub(crate) requests: Option<i64>,
    #[prost(double, optional, tag = "5")]
    pub(crate) average_load: Option<f64>,
}
