//! Thrift 1: the service `Hbase` of HBase's Hbase.thrift.
//!
//! Behavior is that of HBase's gateway, including its oddities: which exceptions a method converts
//! to `IllegalArgument` and which it forwards, and that `mutateRow` deletes before it puts while
//! `mutateRows` puts first.

mod reads;
mod scans;
mod tables;
mod types;
mod writes;

use std::rc::Rc;

use self::types::{
    BatchMutation, Cells, ColumnDescriptor, Mutation, Rows, TAppend, TIncrement, TRegionInfo,
    TScan, Texts,
};
use crate::attributes::Attributes;
use crate::fault::Answer;
use crate::memory::Allowance;
use crate::protocol::wire::{List, Map};
use crate::requests::Requests;
use crate::service::thrift_service;

/// `TThriftServerType.ONE`.
const SERVER_TYPE: i32 = 1;

/// The service, for one connection.
pub(crate) struct Handler {
    store: Requests,
    /// Number of the connection.
    connection: u64,
    /// The account of answers.
    allowance: Rc<Allowance>,
}

type Text = Vec<u8>;

impl Handler {
    pub(crate) fn new(store: Requests, connection: u64, allowance: Rc<Allowance>) -> Self {
        Self { store, connection, allowance }
    }

    fn server_type(&self) -> Answer<i32> {
        Ok(SERVER_TYPE)
    }

    fn cluster_id(&self) -> Answer<String> {
        Ok(self.store.cluster_id().to_owned())
    }
}

thrift_service! { Handler stack_trace {
    "enableTable" => enable_table(1 table: Text) -> ();
    "disableTable" => disable_table(1 table: Text) -> ();
    "isTableEnabled" => is_table_enabled(1 table: Text) -> bool;
    "compact" => compact(1 table_or_region: Text) -> ();
    "majorCompact" => compact(1 table_or_region: Text) -> ();
    "getTableNames" => table_names() -> Texts;
    "getTableNamesWithIsTableEnabled" => table_states() -> Map<Text, bool>;
    "getColumnDescriptors" => column_descriptors(1 table: Text) -> Map<Text, ColumnDescriptor>;
    "getTableRegions" => table_regions(1 table: Text) -> List<TRegionInfo>;
    "createTable" => create_table(1 table: Text, 2 families: List<ColumnDescriptor>) -> ();
    "deleteTable" => delete_table(1 table: Text) -> ();
    "get" => get(1 table: Text, 2 row: Text, 3 column: Text, 4 attributes: Attributes) -> Cells;
    "getVer" => get_versions(
        1 table: Text, 2 row: Text, 3 column: Text, 4 versions: i32, 5 attributes: Attributes
    ) -> Cells;
    "getVerTs" => get_versions_before(
        1 table: Text, 2 row: Text, 3 column: Text, 4 timestamp: i64, 5 versions: i32,
        6 attributes: Attributes
    ) -> Cells;
    "getRow" => get_row(1 table: Text, 2 row: Text, 3 attributes: Attributes) -> Rows;
    "getRowWithColumns" => get_row_with_columns(
        1 table: Text, 2 row: Text, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> Rows;
    "getRowTs" => get_row_before(
        1 table: Text, 2 row: Text, 3 timestamp: i64, 4 attributes: Attributes
    ) -> Rows;
    "getRowWithColumnsTs" => get_row_with_columns_before(
        1 table: Text, 2 row: Text, 3 columns: Option<Texts>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> Rows;
    "getRows" => get_rows(1 table: Text, 2 rows: Texts, 3 attributes: Attributes) -> Rows;
    "getRowsWithColumns" => get_rows_with_columns(
        1 table: Text, 2 rows: Texts, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> Rows;
    "getRowsTs" => get_rows_before(
        1 table: Text, 2 rows: Texts, 3 timestamp: i64, 4 attributes: Attributes
    ) -> Rows;
    "getRowsWithColumnsTs" => get_rows_with_columns_before(
        1 table: Text, 2 rows: Texts, 3 columns: Option<Texts>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> Rows;
    "mutateRow" => mutate_row(
        1 table: Text, 2 row: Text, 3 mutations: List<Mutation>, 4 attributes: Attributes
    ) -> ();
    "mutateRowTs" => mutate_row_at(
        1 table: Text, 2 row: Text, 3 mutations: List<Mutation>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> ();
    "mutateRows" => mutate_rows(
        1 table: Text, 2 batches: List<BatchMutation>, 3 attributes: Attributes
    ) -> ();
    "mutateRowsTs" => mutate_rows_at(
        1 table: Text, 2 batches: List<BatchMutation>, 3 timestamp: i64, 4 attributes: Attributes
    ) -> ();
    "atomicIncrement" => atomic_increment(
        1 table: Text, 2 row: Text, 3 column: Text, 4 amount: i64
    ) -> i64;
    "deleteAll" => delete_all(
        1 table: Text, 2 row: Text, 3 column: Text, 4 attributes: Attributes
    ) -> ();
    "deleteAllTs" => delete_all_before(
        1 table: Text, 2 row: Text, 3 column: Text, 4 timestamp: i64, 5 attributes: Attributes
    ) -> ();
    "deleteAllRow" => delete_row(1 table: Text, 2 row: Text, 3 attributes: Attributes) -> ();
    "deleteAllRowTs" => delete_row_before(
        1 table: Text, 2 row: Text, 3 timestamp: i64, 4 attributes: Attributes
    ) -> ();
    "increment" => increment(1 increment: TIncrement) -> ();
    "incrementRows" => increment_rows(1 increments: List<TIncrement>) -> ();
    "append" => append(1 append: TAppend) -> Cells;
    "checkAndPut" => check_and_put(
        1 table: Text, 2 row: Text, 3 column: Text, 5 value: Option<Text>, 6 put: Mutation,
        7 attributes: Attributes
    ) -> bool;
    "scannerOpenWithScan" => open_scan(
        1 table: Text, 2 scan: TScan, 3 attributes: Attributes
    ) -> i32;
    "scannerOpen" => open_scanner(
        1 table: Text, 2 start: Text, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> i32;
    "scannerOpenWithStop" => open_scanner_with_stop(
        1 table: Text, 2 start: Text, 3 stop: Text, 4 columns: Option<Texts>,
        5 attributes: Attributes
    ) -> i32;
    "scannerOpenWithPrefix" => open_scanner_with_prefix(
        1 table: Text, 2 prefix: Text, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> i32;
    "scannerOpenTs" => open_scanner_before(
        1 table: Text, 2 start: Text, 3 columns: Option<Texts>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> i32;
    "scannerOpenWithStopTs" => open_scanner_with_stop_before(
        1 table: Text, 2 start: Text, 3 stop: Text, 4 columns: Option<Texts>, 5 timestamp: i64,
        6 attributes: Attributes
    ) -> i32;
    "scannerGet" => scanner_get(1 id: i32) -> Rows;
    "scannerGetList" => scanner_get_list(1 id: i32, 2 count: i32) -> Rows;
    "scannerClose" => close_scanner(1 id: i32) -> ();
    "getRegionInfo" => region_info(1 row: Text) -> TRegionInfo;
    "getThriftServerType" => server_type() -> i32;
    "getClusterId" => cluster_id() -> String;
}}
