//! Thrift 2: the service `THBaseService` of HBase's hbase.thrift.
//!
//! Its methods declare `TIOError` for `IOException`s. For any other error, such as an invalid
//! argument, the answer is `Internal error processing <method>`, as HBase's gateway does.

mod convert;
mod rows;
mod schema;
mod tables;
mod types;

use std::rc::Rc;

use self::types::{
    RowAnswer, TAppend, TColumnFamilyDescriptor, TDelete, TGet, THRegionLocation, TIncrement,
    TLogQueryFilter, TNamespaceDescriptor, TOnlineLogRecord, TPut, TRowMutations, TScan,
    TServerName, TTableDescriptor, TTableName,
};
use crate::fault::Answer;
use crate::memory::Allowance;
use crate::protocol::wire::{List, Set};
use crate::requests::Requests;
use crate::service::thrift_service;

/// `TThriftServerType.TWO`.
const SERVER_TYPE: i32 = 2;

/// The service, for one connection.
pub(crate) struct Handler {
    store: Requests,
    /// Number of the connection.
    connection: u64,
    /// The account of answers.
    allowance: Rc<Allowance>,
}

type Bytes = Vec<u8>;
type Keys = Option<List<Bytes>>;

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

thrift_service! { Handler message {
    "exists" => exists(1 [required] table: Bytes, 2 [required] get: TGet) -> bool;
    "existsAll" => exists_all(1 [required] table: Bytes, 2 [required] gets: List<TGet>)
        -> List<bool>;
    "get" => get(1 [required] table: Bytes, 2 [required] get: TGet) -> RowAnswer;
    "getMultiple" => get_multiple(1 [required] table: Bytes, 2 [required] gets: List<TGet>)
        -> List<RowAnswer>;
    "put" => put(1 [required] table: Bytes, 2 [required] put: TPut) -> ();
    "checkAndPut" => check_and_put(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 [required] family: Bytes,
        4 [required] qualifier: Bytes, 5 value: Option<Bytes>, 6 [required] put: TPut
    ) -> bool;
    "putMultiple" => put_multiple(1 [required] table: Bytes, 2 [required] puts: List<TPut>) -> ();
    "deleteSingle" => delete_single(1 [required] table: Bytes, 2 [required] delete: TDelete)
        -> ();
    "deleteMultiple" => delete_multiple(
        1 [required] table: Bytes, 2 [required] deletes: List<TDelete>
    ) -> List<TDelete>;
    "checkAndDelete" => check_and_delete(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 [required] family: Bytes,
        4 [required] qualifier: Bytes, 5 value: Option<Bytes>, 6 [required] delete: TDelete
    ) -> bool;
    "increment" => increment(1 [required] table: Bytes, 2 [required] increment: TIncrement)
        -> RowAnswer;
    "append" => append(1 [required] table: Bytes, 2 [required] append: TAppend) -> RowAnswer;
    "openScanner" => open_scanner(1 [required] table: Bytes, 2 [required] scan: TScan) -> i32;
    "getScannerRows" => scanner_rows(1 [required] id: i32, 2 count: i32) -> List<RowAnswer>;
    "closeScanner" => close_scanner(1 [required] id: i32) -> ();
    "mutateRow" => mutate_row(1 [required] table: Bytes, 2 [required] mutations: TRowMutations)
        -> ();
    "getScannerResults" => scanner_results(
        1 [required] table: Bytes, 2 [required] scan: TScan, 3 count: i32
    ) -> List<RowAnswer>;
    "getRegionLocation" => region_location(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 reload: bool
    ) -> THRegionLocation;
    "getAllRegionLocations" => region_locations(1 [required] table: Bytes)
        -> List<THRegionLocation>;
    "checkAndMutate" => check_and_mutate(
        1 [required] table: Bytes, 2 [required] row: Bytes, 3 [required] family: Bytes,
        4 [required] qualifier: Bytes, 5 [required] operator: i32, 6 value: Option<Bytes>,
        7 [required] mutations: TRowMutations
    ) -> bool;
    "getTableDescriptor" => table_descriptor(1 [required] table: TTableName) -> TTableDescriptor;
    "getTableDescriptors" => table_descriptors(1 [required] tables: List<TTableName>)
        -> List<TTableDescriptor>;
    "tableExists" => table_exists(1 table: TTableName) -> bool;
    "getTableDescriptorsByPattern" => descriptors_by_pattern(
        1 pattern: Option<String>, 2 [required] system: bool
    ) -> List<TTableDescriptor>;
    "getTableDescriptorsByNamespace" => descriptors_by_namespace(1 [required] name: String)
        -> List<TTableDescriptor>;
    "getTableNamesByPattern" => names_by_pattern(
        1 pattern: Option<String>, 2 [required] system: bool
    ) -> List<TTableName>;
    "getTableNamesByNamespace" => names_by_namespace(1 [required] name: String)
        -> List<TTableName>;
    "createTable" => create_table(1 [required] table: TTableDescriptor, 2 split_keys: Keys) -> ();
    "deleteTable" => delete_table(1 [required] table: TTableName) -> ();
    "truncateTable" => truncate_table(1 [required] table: TTableName, 2 [required] preserve: bool)
        -> ();
    "enableTable" => enable_table(1 [required] table: TTableName) -> ();
    "disableTable" => disable_table(1 [required] table: TTableName) -> ();
    "isTableEnabled" => is_table_enabled(1 [required] table: TTableName) -> bool;
    "isTableDisabled" => is_table_disabled(1 [required] table: TTableName) -> bool;
    "isTableAvailable" => is_table_available(1 [required] table: TTableName) -> bool;
    "isTableAvailableWithSplit" => is_table_available_with_split(
        1 [required] table: TTableName, 2 split_keys: Keys
    ) -> bool;
    "addColumnFamily" => add_family(
        1 [required] table: TTableName, 2 [required] family: TColumnFamilyDescriptor
    ) -> ();
    "deleteColumnFamily" => delete_family(
        1 [required] table: TTableName, 2 [required] family: Bytes
    ) -> ();
    "modifyColumnFamily" => modify_family(
        1 [required] table: TTableName, 2 [required] family: TColumnFamilyDescriptor
    ) -> ();
    "modifyTable" => modify_table(1 [required] table: TTableDescriptor) -> ();
    "createNamespace" => create_namespace(1 [required] namespace: TNamespaceDescriptor) -> ();
    "modifyNamespace" => modify_namespace(1 [required] namespace: TNamespaceDescriptor) -> ();
    "deleteNamespace" => delete_namespace(1 [required] name: String) -> ();
    "getNamespaceDescriptor" => namespace(1 [required] name: String) -> TNamespaceDescriptor;
    "listNamespaceDescriptors" => namespaces() -> List<TNamespaceDescriptor>;
    "listNamespaces" => namespace_names() -> List<String>;
    "getThriftServerType" => server_type() -> i32;
    "getSlowLogResponses" => slow_calls(1 servers: Set<TServerName>, 2 filter: TLogQueryFilter)
        -> List<TOnlineLogRecord>;
    "clearSlowLogResponses" => clear_slow_calls(1 servers: Set<TServerName>) -> List<bool>;
    "getClusterId" => cluster_id() -> String;
}}
