//! Tables, regions and namespaces.

use hblite_model::{
    Error, Exception, RegionInfo, Result, SplitPoints, SystemTables, TableDescriptor, TableName,
};
use regex::Regex;

use super::types::{
    TColumnFamilyDescriptor, THRegionInfo, THRegionLocation, TLogQueryFilter, TNamespaceDescriptor,
    TOnlineLogRecord, TServerName, TTableDescriptor, TTableName,
};
use super::{Bytes, Handler, schema};
use crate::fault::{Answer, Fault};
use crate::protocol::wire::{List, Set};
use crate::store::table_name;

impl Handler {
    pub(super) fn region_location(
        &self,
        table: Bytes,
        row: Bytes,
        _reload: bool,
    ) -> Answer<THRegionLocation> {
        let location = self.store.admin().locate_region(table_name(&table)?, &row)?;
        Ok(self.location(&location.region)?)
    }

    pub(super) fn region_locations(&self, table: Bytes) -> Answer<List<THRegionLocation>> {
        let regions = self.store.table(&table)?.regions()?;
        let locations = regions.iter().map(|region| self.location(region));
        Ok(List(locations.collect::<Result<_>>()?))
    }

    fn location(&self, region: &RegionInfo) -> Result<THRegionLocation> {
        let (host, port) = self.store.server_of(region)?;
        let server_name = TServerName {
            host_name: host,
            port: Some(i32::from(port)),
            start_code: Some(self.store.started_at_ms()),
        };
        let region_info = THRegionInfo {
            region_id: 0,
            table_name: region.table().to_string().into_bytes(),
            start_key: Some(region.start_key().to_vec()),
            end_key: Some(region.end_key().to_vec()),
            offline: Some(false),
            split: Some(false),
            replica_id: Some(0),
        };
        Ok(THRegionLocation { server_name, region_info })
    }

    pub(super) fn table_descriptor(&self, table: TTableName) -> Answer<TTableDescriptor> {
        let table = schema::table_name(&table)?;
        Ok(schema::to_table(&self.store.admin().describe_table(&table)?))
    }

    /// Tables that do not exist are left out.
    pub(super) fn table_descriptors(
        &self,
        tables: List<TTableName>,
    ) -> Answer<List<TTableDescriptor>> {
        let names: Result<Vec<_>> = tables.0.iter().map(schema::table_name).collect();
        let names = names?;
        if names.is_empty() {
            // The master takes an empty list for all tables of users.
            return self.descriptors_by_pattern(None, false);
        }
        let found = self.tables_where(SystemTables::Include, |name| names.contains(name))?;
        Ok(List(found.iter().map(schema::to_table).collect()))
    }

    pub(super) fn table_exists(&self, table: TTableName) -> Answer<bool> {
        Ok(self.store.admin().table_exists(schema::table_name(&table)?)?)
    }

    pub(super) fn descriptors_by_pattern(
        &self,
        pattern: Option<String>,
        system: bool,
    ) -> Answer<List<TTableDescriptor>> {
        let found = self.tables_matching(pattern.as_deref(), system)?;
        Ok(List(found.iter().map(schema::to_table).collect()))
    }

    pub(super) fn names_by_pattern(
        &self,
        pattern: Option<String>,
        system: bool,
    ) -> Answer<List<TTableName>> {
        let found = self.tables_matching(pattern.as_deref(), system)?;
        Ok(List(found.iter().map(|table| schema::to_table_name(table.name())).collect()))
    }

    pub(super) fn descriptors_by_namespace(
        &self,
        namespace: String,
    ) -> Answer<List<TTableDescriptor>> {
        let found = self.tables_of(&namespace)?;
        Ok(List(found.iter().map(schema::to_table).collect()))
    }

    pub(super) fn names_by_namespace(&self, namespace: String) -> Answer<List<TTableName>> {
        let found = self.tables_of(&namespace)?;
        Ok(List(found.iter().map(|table| schema::to_table_name(table.name())).collect()))
    }

    fn tables_of(&self, namespace: &str) -> Result<Vec<TableDescriptor>> {
        // An empty name is that of all, as in HBase.
        if namespace.is_empty() {
            return self.tables_where(SystemTables::Include, |_| true);
        }
        self.store.admin().describe_namespace(namespace)?;
        self.tables_where(SystemTables::Include, |name| name.namespace() == namespace)
    }

    /// Tables whose whole name a regular expression matches. Those of the default namespace match
    /// with or without its name.
    fn tables_matching(&self, pattern: Option<&str>, system: bool) -> Result<Vec<TableDescriptor>> {
        let system = if system { SystemTables::Include } else { SystemTables::Exclude };
        let Some(pattern) = pattern else { return self.tables_where(system, |_| true) };
        let regex = Regex::new(&format!("^(?:{pattern})$"))
            .map_err(|error| Error::new(Exception::PatternSyntax, error.to_string()))?;
        self.tables_where(system, |name| {
            regex.is_match(&name.to_string())
                || regex.is_match(&format!("{}:{}", name.namespace(), name.qualifier()))
        })
    }

    fn tables_where(
        &self,
        system: SystemTables,
        is_wanted: impl Fn(&TableName) -> bool,
    ) -> Result<Vec<TableDescriptor>> {
        let mut tables = self.store.admin().list_tables(system)?;
        tables.retain(|table| is_wanted(table.name()));
        Ok(tables)
    }

    pub(super) fn create_table(
        &self,
        table: TTableDescriptor,
        split_keys: Option<List<Bytes>>,
    ) -> Answer<()> {
        let split_keys = split_keys.unwrap_or_default().0;
        self.hold_table(&table, split_keys.len())?;
        let table = schema::table(&table)?;
        self.store.admin().create_table_with_splits(&table, &split_keys).map_err(Fault::of_master)
    }

    /// Charges the memory for carrying out a request that describes a table.
    fn hold_table(&self, table: &TTableDescriptor, split_keys: usize) -> Answer<()> {
        let families = table.columns.as_ref().map_or(0, |columns| columns.0.len());
        Fault::unless_held(self.allowance.try_hold_table(families, split_keys))
    }

    pub(super) fn delete_table(&self, table: TTableName) -> Answer<()> {
        self.store.admin().delete_table(schema::table_name(&table)?).map_err(Fault::of_master)
    }

    pub(super) fn truncate_table(&self, table: TTableName, preserve: bool) -> Answer<()> {
        let splits = if preserve { SplitPoints::Preserve } else { SplitPoints::Discard };
        self.store
            .admin()
            .truncate_table(schema::table_name(&table)?, splits)
            .map_err(Fault::of_master)
    }

    pub(super) fn enable_table(&self, table: TTableName) -> Answer<()> {
        self.store.admin().enable_table(schema::table_name(&table)?).map_err(Fault::of_master)
    }

    pub(super) fn disable_table(&self, table: TTableName) -> Answer<()> {
        self.store.admin().disable_table(schema::table_name(&table)?).map_err(Fault::of_master)
    }

    pub(super) fn is_table_enabled(&self, table: TTableName) -> Answer<bool> {
        Ok(self.store.admin().is_table_enabled(schema::table_name(&table)?)?)
    }

    pub(super) fn is_table_disabled(&self, table: TTableName) -> Answer<bool> {
        Ok(self.store.admin().is_table_disabled(schema::table_name(&table)?)?)
    }

    pub(super) fn is_table_available(&self, table: TTableName) -> Answer<bool> {
        self.is_available(&table, None)
    }

    pub(super) fn is_table_available_with_split(
        &self,
        table: TTableName,
        split_keys: Option<List<Bytes>>,
    ) -> Answer<bool> {
        self.is_available(&table, split_keys.map(|keys| keys.0))
    }

    /// Whether the table is enabled and, if keys are given, split at them.
    fn is_available(&self, table: &TTableName, split_keys: Option<Vec<Bytes>>) -> Answer<bool> {
        let table = schema::table_name(table)?;
        let admin = self.store.admin();
        if !admin.table_exists(&table)? || !admin.is_table_enabled(&table)? {
            return Ok(false);
        }
        let Some(keys) = split_keys else { return Ok(true) };
        let regions = admin.regions(&table)?;
        let is_start = |key: &Bytes| regions.iter().any(|region| region.start_key() == key);
        Ok(keys.iter().all(is_start))
    }

    pub(super) fn add_family(
        &self,
        table: TTableName,
        family: TColumnFamilyDescriptor,
    ) -> Answer<()> {
        let family = schema::family(&family)?;
        self.store
            .admin()
            .add_family(schema::table_name(&table)?, &family)
            .map_err(Fault::of_master)
    }

    pub(super) fn delete_family(&self, table: TTableName, family: Bytes) -> Answer<()> {
        self.store
            .admin()
            .delete_family(schema::table_name(&table)?, &family)
            .map_err(Fault::of_master)
    }

    pub(super) fn modify_family(
        &self,
        table: TTableName,
        family: TColumnFamilyDescriptor,
    ) -> Answer<()> {
        let family = schema::family(&family)?;
        self.store
            .admin()
            .modify_family(schema::table_name(&table)?, &family)
            .map_err(Fault::of_master)
    }

    pub(super) fn modify_table(&self, table: TTableDescriptor) -> Answer<()> {
        self.hold_table(&table, 0)?;
        // The new attributes are those of the request, and no others.
        let descriptor = schema::table(&table)?;
        let families = descriptor.families().cloned();
        let wanted = schema::table_attributes(&table)?;
        let descriptor = TableDescriptor::from_parts(descriptor.name().clone(), wanted, families);
        self.store.admin().modify_table(&descriptor).map_err(Fault::of_master)
    }

    pub(super) fn create_namespace(&self, namespace: TNamespaceDescriptor) -> Answer<()> {
        self.store
            .admin()
            .create_namespace(&schema::namespace(&namespace))
            .map_err(Fault::of_master)
    }

    pub(super) fn modify_namespace(&self, namespace: TNamespaceDescriptor) -> Answer<()> {
        self.store
            .admin()
            .modify_namespace(&schema::namespace(&namespace))
            .map_err(Fault::of_master)
    }

    pub(super) fn delete_namespace(&self, name: String) -> Answer<()> {
        self.store.admin().delete_namespace(&name).map_err(Fault::of_master)
    }

    pub(super) fn namespace(&self, name: String) -> Answer<TNamespaceDescriptor> {
        Ok(schema::to_namespace(&self.store.admin().describe_namespace(&name)?))
    }

    pub(super) fn namespaces(&self) -> Answer<List<TNamespaceDescriptor>> {
        let namespaces = self.store.admin().list_namespaces()?;
        Ok(List(namespaces.iter().map(schema::to_namespace).collect()))
    }

    pub(super) fn namespace_names(&self) -> Answer<List<String>> {
        let namespaces = self.store.admin().list_namespaces()?;
        Ok(List(namespaces.into_iter().map(|namespace| namespace.name).collect()))
    }

    /// No calls are recorded as slow.
    pub(super) fn slow_calls(
        &self,
        _: Set<TServerName>,
        _: TLogQueryFilter,
    ) -> Answer<List<TOnlineLogRecord>> {
        Ok(List::default())
    }

    pub(super) fn clear_slow_calls(&self, servers: Set<TServerName>) -> Answer<List<bool>> {
        Ok(List(vec![true; servers.0.len()]))
    }
}
