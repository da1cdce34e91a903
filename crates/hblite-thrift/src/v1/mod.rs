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

use self::types::{
    BatchMutation, Cells, ColumnDescriptor, Mutation, Rows, TAppend, TIncrement, TRegionInfo,
    TScan, Texts,
};
use crate::attributes::Attributes;
use crate::protocol::wire::{List, Map};
use crate::requests::{self, Requests};
use crate::service::thrift_service;

/// The service, for one connection.
pub(crate) struct Handler(pub(crate) Requests);

type Text = Vec<u8>;

thrift_service! { Handler stack_trace {
    "enableTable" => tables::enable_table(1 table: Text) -> ();
    "disableTable" => tables::disable_table(1 table: Text) -> ();
    "isTableEnabled" => tables::is_table_enabled(1 table: Text) -> bool;
    "compact" => tables::compact(1 table_or_region: Text) -> ();
    "majorCompact" => tables::compact(1 table_or_region: Text) -> ();
    "getTableNames" => tables::table_names() -> Texts;
    "getTableNamesWithIsTableEnabled" => tables::table_states() -> Map<Text, bool>;
    "getColumnDescriptors" => tables::column_descriptors(
        1 table: Text
    ) -> Map<Text, ColumnDescriptor>;
    "getTableRegions" => tables::table_regions(1 table: Text) -> List<TRegionInfo>;
    "createTable" => tables::create_table(1 table: Text, 2 families: List<ColumnDescriptor>) -> ();
    "deleteTable" => tables::delete_table(1 table: Text) -> ();
    "get" => reads::get(
        1 table: Text, 2 row: Text, 3 column: Text, 4 attributes: Attributes
    ) -> Cells;
    "getVer" => reads::get_versions(
        1 table: Text, 2 row: Text, 3 column: Text, 4 versions: i32, 5 attributes: Attributes
    ) -> Cells;
    "getVerTs" => reads::get_versions_before(
        1 table: Text, 2 row: Text, 3 column: Text, 4 timestamp: i64, 5 versions: i32,
        6 attributes: Attributes
    ) -> Cells;
    "getRow" => reads::get_row(1 table: Text, 2 row: Text, 3 attributes: Attributes) -> Rows;
    "getRowWithColumns" => reads::get_row_with_columns(
        1 table: Text, 2 row: Text, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> Rows;
    "getRowTs" => reads::get_row_before(
        1 table: Text, 2 row: Text, 3 timestamp: i64, 4 attributes: Attributes
    ) -> Rows;
    "getRowWithColumnsTs" => reads::get_row_with_columns_before(
        1 table: Text, 2 row: Text, 3 columns: Option<Texts>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> Rows;
    "getRows" => reads::get_rows(1 table: Text, 2 rows: Texts, 3 attributes: Attributes) -> Rows;
    "getRowsWithColumns" => reads::get_rows_with_columns(
        1 table: Text, 2 rows: Texts, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> Rows;
    "getRowsTs" => reads::get_rows_before(
        1 table: Text, 2 rows: Texts, 3 timestamp: i64, 4 attributes: Attributes
    ) -> Rows;
    "getRowsWithColumnsTs" => reads::get_rows_with_columns_before(
        1 table: Text, 2 rows: Texts, 3 columns: Option<Texts>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> Rows;
    "mutateRow" => writes::mutate_row(
        1 table: Text, 2 row: Text, 3 mutations: List<Mutation>, 4 attributes: Attributes
    ) -> ();
    "mutateRowTs" => writes::mutate_row_at(
        1 table: Text, 2 row: Text, 3 mutations: List<Mutation>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> ();
    "mutateRows" => writes::mutate_rows(
        1 table: Text, 2 batches: List<BatchMutation>, 3 attributes: Attributes
    ) -> ();
    "mutateRowsTs" => writes::mutate_rows_at(
        1 table: Text, 2 batches: List<BatchMutation>, 3 timestamp: i64, 4 attributes: Attributes
    ) -> ();
    "atomicIncrement" => writes::atomic_increment(
        1 table: Text, 2 row: Text, 3 column: Text, 4 amount: i64
    ) -> i64;
    "deleteAll" => writes::delete_all(
        1 table: Text, 2 row: Text, 3 column: Text, 4 attributes: Attributes
    ) -> ();
    "deleteAllTs" => writes::delete_all_before(
        1 table: Text, 2 row: Text, 3 column: Text, 4 timestamp: i64, 5 attributes: Attributes
    ) -> ();
    "deleteAllRow" => writes::delete_row(
        1 table: Text, 2 row: Text, 3 attributes: Attributes
    ) -> ();
    "deleteAllRowTs" => writes::delete_row_before(
        1 table: Text, 2 row: Text, 3 timestamp: i64, 4 attributes: Attributes
    ) -> ();
    "increment" => writes::increment(1 increment: TIncrement) -> ();
    "incrementRows" => writes::increment_rows(1 increments: List<TIncrement>) -> ();
    "append" => writes::append(1 append: TAppend) -> Cells;
    "checkAndPut" => writes::check_and_put(
        1 table: Text, 2 row: Text, 3 column: Text, 5 value: Option<Text>, 6 put: Mutation,
        7 attributes: Attributes
    ) -> bool;
    "scannerOpenWithScan" => scans::open_scan(
        1 table: Text, 2 scan: TScan, 3 attributes: Attributes
    ) -> i32;
    "scannerOpen" => scans::open_scanner(
        1 table: Text, 2 start: Text, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> i32;
    "scannerOpenWithStop" => scans::open_scanner_with_stop(
        1 table: Text, 2 start: Text, 3 stop: Text, 4 columns: Option<Texts>,
        5 attributes: Attributes
    ) -> i32;
    "scannerOpenWithPrefix" => scans::open_scanner_with_prefix(
        1 table: Text, 2 prefix: Text, 3 columns: Option<Texts>, 4 attributes: Attributes
    ) -> i32;
    "scannerOpenTs" => scans::open_scanner_before(
        1 table: Text, 2 start: Text, 3 columns: Option<Texts>, 4 timestamp: i64,
        5 attributes: Attributes
    ) -> i32;
    "scannerOpenWithStopTs" => scans::open_scanner_with_stop_before(
        1 table: Text, 2 start: Text, 3 stop: Text, 4 columns: Option<Texts>, 5 timestamp: i64,
        6 attributes: Attributes
    ) -> i32;
    "scannerGet" => scans::scanner_get(1 id: i32) -> Rows;
    "scannerGetList" => scans::scanner_get_list(1 id: i32, 2 count: i32) -> Rows;
    "scannerClose" => scans::close_scanner(1 id: i32) -> ();
    "getRegionInfo" => tables::region_info(1 row: Text) -> TRegionInfo;
    "getThriftServerType" => tables::server_type() -> i32;
    "getClusterId" => requests::cluster_id() -> String;
}}
