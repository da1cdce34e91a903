//! Thrift 2: the service `THBaseService` of HBase's hbase.thrift.
//!
//! Its methods declare `TIOError` for `IOException`s. For any other error, such as an invalid
//! argument, the answer is `Internal error processing <method>`, as HBase's gateway does.

mod convert;
mod rows;
mod schema;
mod tables;
mod types;

use self::types::{
    RowAnswer, TAppend, TColumnFamilyDescriptor, TDelete, TGet, THRegionLocation, TIncrement,
    TLogQueryFilter, TNamespaceDescriptor, TOnlineLogRecord, TPut, TRowMutations, TScan,
    TServerName, TTableDescriptor, TTableName,
};
use crate::protocol::wire::{List, Set};
use crate::requests::{self, Requests};
use crate::service::thrift_service;

/// The service, for one connection.
pub(crate) struct Handler(pub(crate) Requests);

type Bytes = Vec<u8>;
type Keys = Option<List<Bytes>>;

thrift_service! { Handler message {
    "exists" => rows::exists(1 [required] table: Bytes, 2 [required] get: TGet) -> bool;
    "existsAll" => rows::exists_all(1 [required] table: Bytes, 2 [required] gets: List<TGet>)
        -> List<bool>;
    "get" => rows::get(1 [required] table: Bytes, 2 [required] get: TGet) -> RowAnswer;
    "getMultiple" => rows::get_multiple(1 [required] table: Bytes, 2 [required] gets: List<TGet>)
        -> List<RowAnswer>;
    "put" => rows::put(1 [required] table: Bytes, 2 [required] put: TPut) -> ();
    "checkAndPut" => rows::check_and_put(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 [required] family: Bytes,
        4 [required] qualifier: Bytes, 5 value: Option<Bytes>, 6 [required] put: TPut
    ) -> bool;
    "putMultiple" => rows::put_multiple(
        1 [required] table: Bytes, 2 [required] puts: List<TPut>
    ) -> ();
    "deleteSingle" => rows::delete_single(1 [required] table: Bytes, 2 [required] delete: TDelete)
        -> ();
    "deleteMultiple" => rows::delete_multiple(
        1 [required] table: Bytes, 2 [required] deletes: List<TDelete>
    ) -> List<TDelete>;
    "checkAndDelete" => rows::check_and_delete(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 [required] family: Bytes,
        4 [required] qualifier: Bytes, 5 value: Option<Bytes>, 6 [required] delete: TDelete
    ) -> bool;
    "increment" => rows::increment(1 [required] table: Bytes, 2 [required] increment: TIncrement)
        -> RowAnswer;
    "append" => rows::append(1 [required] table: Bytes, 2 [required] append: TAppend) -> RowAnswer;
    "openScanner" => rows::open_scanner(1 [required] table: Bytes, 2 [required] scan: TScan) -> i32;
    "getScannerRows" => rows::scanner_rows(1 [required] id: i32, 2 count: i32) -> List<RowAnswer>;
    "closeScanner" => rows::close_scanner(1 [required] id: i32) -> ();
    "mutateRow" => rows::mutate_row(
        1 [required] table: Bytes, 2 [required] mutations: TRowMutations
    ) -> ();
    "getScannerResults" => rows::scanner_results(
        1 [required] table: Bytes, 2 [required] scan: TScan, 3 count: i32
    ) -> List<RowAnswer>;
    "getRegionLocation" => tables::region_location(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 reload: bool
    ) -> THRegionLocation;
    "getAllRegionLocations" => tables::region_locations(1 [required] table: Bytes)
        -> List<THRegionLocation>;
    "checkAndMutate" => rows::check_and_mutate(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 [required] family: Bytes,
        4 [required] qualifier: Bytes, 5 [required] operator: i32, 6 value: Option<Bytes>,
        7 [required] mutations: TRowMutations
    ) -> bool;
    "getTableDescriptor" => tables::table_descriptor(
        1 [required] table: TTableName
    ) -> TTableDescriptor;
    "getTableDescriptors" => tables::table_descriptors(1 [required] tables: List<TTableName>)
        -> List<TTableDescriptor>;
    "tableExists" => tables::table_exists(1 table: TTableName) -> bool;
    "getTableDescriptorsByPattern" => tables::descriptors_by_pattern(
        1 pattern: Option<String>, 2 [required] system: bool
    ) -> List<TTableDescriptor>;
    "getTableDescriptorsByNamespace" => tables::descriptors_by_namespace(1 [required] name: String)
        -> List<TTableDescriptor>;
    "getTableNamesByPattern" => tables::names_by_pattern(
        1 pattern: Option<String>, 2 [required] system: bool
    ) -> List<TTableName>;
    "getTableNamesByNamespace" => tables::names_by_namespace(1 [required] name: String)
        -> List<TTableName>;
    "createTable" => tables::create_table(
        1 [required] table: TTableDescriptor, 2 split_keys: Keys
    ) -> ();
    "deleteTable" => tables::delete_table(1 [required] table: TTableName) -> ();
    "truncateTable" => tables::truncate_table(
        1 [required] table: TTableName, 2 [required] preserve: bool
    ) -> ();
    "enableTable" => tables::enable_table(1 [required] table: TTableName) -> ();
    "disableTable" => tables::disable_table(1 [required] table: TTableName) -> ();
    "isTableEnabled" => tables::is_table_enabled(1 [required] table: TTableName) -> bool;
    "isTableDisabled" => tables::is_table_disabled(1 [required] table: TTableName) -> bool;
    "isTableAvailable" => tables::is_table_available(1 [required] table: TTableName) -> bool;
    "isTableAvailableWithSplit" => tables::is_table_available_with_split(
        1 [required] table: TTableName, 2 split_keys: Keys
    ) -> bool;
    "addColumnFamily" => tables::add_family(
        1 [required] table: TTableName, 2 [required] family: TColumnFamilyDescriptor
    ) -> ();
    "deleteColumnFamily" => tables::delete_family(
        1 [required] table: TTableName, 2 [required] family: Bytes
    ) -> ();
    "modifyColumnFamily" => tables::modify_family(
        1 [required] table: TTableName, 2 [required] family: TColumnFamilyDescriptor
    ) -> ();
    "modifyTable" => tables::modify_table(1 [required] table: TTableDescriptor) -> ();
    "createNamespace" => tables::create_namespace(
        1 [required] namespace: TNamespaceDescriptor
    ) -> ();
    "modifyNamespace" => tables::modify_namespace(
        1 [required] namespace: TNamespaceDescriptor
    ) -> ();
    "deleteNamespace" => tables::delete_namespace(1 [required] name: String) -> ();
    "getNamespaceDescriptor" => tables::namespace(
        1 [required] name: String
    ) -> TNamespaceDescriptor;
    "listNamespaceDescriptors" => tables::namespaces() -> List<TNamespaceDescriptor>;
    "listNamespaces" => tables::namespace_names() -> List<String>;
    "getThriftServerType" => tables::server_type() -> i32;
    "getSlowLogResponses" => tables::slow_calls(
        1 servers: Set<TServerName>, 2 filter: TLogQueryFilter
    ) -> List<TOnlineLogRecord>;
    "clearSlowLogResponses" => tables::clear_slow_calls(1 servers: Set<TServerName>) -> List<bool>;
    "getClusterId" => requests::cluster_id() -> String;
}}
