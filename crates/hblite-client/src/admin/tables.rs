//! Creates, changes, disables, drops and describes tables.

use hblite_model::{
    ColumnFamilyDescriptor, Error, Exception, Result, SplitPoints, SystemTables, TableDescriptor,
    TableName, TableState,
};
use hblite_wire::{convert, pb};

use super::{Admin, not_found};
use crate::retry::Retries;

impl Admin {
    /// Creates a table that is split at these keys.
    pub async fn create_table(
        &self,
        table: &TableDescriptor,
        split_keys: &[Vec<u8>],
    ) -> Result<()> {
        let split_keys = sorted_split_keys(split_keys)?;
        let (nonce_group, nonce) = self.nonce();
        let request = pb::CreateTableRequest {
            table_schema: convert::table_schema(table),
            split_keys: split_keys.iter().map(|key| key.to_vec().into()).collect(),
            nonce_group,
            nonce,
        };
        self.change("CreateTable", &request).await
    }

    /// Deletes a disabled table with everything in it.
    pub async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.change_state("DeleteTable", table).await
    }

    /// Puts a disabled table back in service.
    pub async fn enable_table(&self, table: &TableName) -> Result<()> {
        self.change_state("EnableTable", table).await
    }

    /// Takes a table out of service.
    pub async fn disable_table(&self, table: &TableName) -> Result<()> {
        self.change_state("DisableTable", table).await
    }

    async fn change_state(&self, method: &'static str, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let table_name = convert::table_name(table);
        self.change(method, &pb::TableRequest { table_name, nonce_group, nonce }).await?;
        self.shared.locator.forget(table);
        Ok(())
    }

    /// The tables that are enabled, or those that are disabled.
    pub async fn list_tables_by_state(&self, is_enabled: bool) -> Result<Vec<TableName>> {
        let request = pb::TablesByStateRequest { is_enabled };
        let answer: pb::TableNamesResponse = self.call("ListTableNamesByState", &request).await?;
        answer.table_names.iter().map(convert::table_name_from).collect()
    }

    /// Changes how the store files of a table, or of one family, are found.
    pub async fn modify_file_tracker(
        &self,
        table: &TableName,
        family: Option<&[u8]>,
        tracker: &str,
    ) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let (table_name, dst_sft) = (convert::table_name(table), tracker.to_owned());
        match family {
            None => {
                let request = pb::ModifyTableStoreFileTrackerRequest {
                    table_name,
                    dst_sft,
                    nonce_group,
                    nonce,
                };
                self.change("ModifyTableStoreFileTracker", &request).await
            }
            Some(family) => {
                let request = pb::ModifyColumnStoreFileTrackerRequest {
                    table_name,
                    family: family.to_vec().into(),
                    dst_sft,
                    nonce_group,
                    nonce,
                };
                self.change("ModifyColumnStoreFileTracker", &request).await
            }
        }
    }

    /// Empties a disabled table and enables it.
    pub async fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::TruncateTableRequest {
            table_name: convert::table_name(table),
            preserve_splits: Some(splits == SplitPoints::Preserve),
            nonce_group,
            nonce,
        };
        self.change("truncateTable", &request).await?;
        self.shared.locator.forget(table);
        Ok(())
    }

    /// Whether the table exists.
    pub async fn table_exists(&self, table: &TableName) -> Result<bool> {
        Ok(self.state_of(table).await?.is_some())
    }

    /// Whether the table is enabled, disabled, or changing.
    pub async fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.state_of(table).await?.ok_or_else(|| not_found(table))
    }

    pub(super) async fn state_of(&self, table: &TableName) -> Result<Option<TableState>> {
        let mut retries = Retries::new(&self.shared.rpc);
        loop {
            match self.shared.locator.table_state(table, retries.deadline()).await {
                Ok(state) => return Ok(state),
                Err(error) => retries.after(error).await?,
            }
        }
    }

    /// The settings of a table.
    pub async fn describe_table(&self, table: &TableName) -> Result<TableDescriptor> {
        let request = pb::GetTableDescriptorsRequest {
            table_names: vec![convert::table_name(table)],
            include_sys_tables: Some(true),
            ..pb::GetTableDescriptorsRequest::default()
        };
        let mut found = self.descriptors(&request).await?;
        found.pop().ok_or_else(|| not_found(table))
    }

    /// Tables in the order of their names with their namespaces, `default:` included.
    pub async fn list_tables(&self, system: SystemTables) -> Result<Vec<TableDescriptor>> {
        let request = pb::GetTableDescriptorsRequest {
            include_sys_tables: Some(system == SystemTables::Include),
            ..pb::GetTableDescriptorsRequest::default()
        };
        let mut found = self.descriptors(&request).await?;
        found.sort_by_cached_key(|table| {
            let name = table.name();
            format!("{}:{}", name.namespace(), name.qualifier())
        });
        Ok(found)
    }

    async fn descriptors(
        &self,
        request: &pb::GetTableDescriptorsRequest,
    ) -> Result<Vec<TableDescriptor>> {
        let answer: pb::TableDescriptorsResponse =
            self.call("GetTableDescriptors", request).await?;
        answer.table_schema.iter().map(convert::table_schema_from).collect()
    }

    /// Replaces the settings of a table, families included.
    pub async fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.modify(table, true).await
    }

    /// As [`Admin::modify_table`], without reopening the regions: they get the settings when they
    /// are opened next.
    pub async fn modify_table_lazily(&self, table: &TableDescriptor) -> Result<()> {
        self.modify(table, false).await
    }

    async fn modify(&self, table: &TableDescriptor, reopens: bool) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::ModifyTableRequest {
            table_name: convert::table_name(table.name()),
            table_schema: convert::table_schema(table),
            nonce_group,
            nonce,
            reopen_regions: (!reopens).then_some(false),
        };
        self.change("ModifyTable", &request).await
    }

    /// Adds a family.
    pub async fn add_family(
        &self,
        table: &TableName,
        family: &ColumnFamilyDescriptor,
    ) -> Result<()> {
        self.change_family("AddColumn", table, family).await
    }

    /// Replaces the settings of a family.
    pub async fn modify_family(
        &self,
        table: &TableName,
        family: &ColumnFamilyDescriptor,
    ) -> Result<()> {
        self.change_family("ModifyColumn", table, family).await
    }

    async fn change_family(
        &self,
        method: &'static str,
        table: &TableName,
        family: &ColumnFamilyDescriptor,
    ) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::ColumnRequest {
            table_name: convert::table_name(table),
            column_families: convert::family(family),
            nonce_group,
            nonce,
        };
        self.change(method, &request).await
    }

    /// Deletes a family with its cells.
    pub async fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let request = pb::DeleteColumnRequest {
            table_name: convert::table_name(table),
            column_name: family.to_vec().into(),
            nonce_group,
            nonce,
        };
        self.change("DeleteColumn", &request).await
    }

    /// An error unless the table is in service.
    pub(super) async fn check_enabled(&self, table: &TableName) -> Result<()> {
        match self.table_state(table).await? {
            TableState::Disabled => Err(Error::new(Exception::TableNotEnabled, table.to_string())),
            _ => Ok(()),
        }
    }
}

/// The keys in order, because a master makes regions of them in the order in which they come.
/// Refuses what HBase's client refuses.
fn sorted_split_keys(split_keys: &[Vec<u8>]) -> Result<Vec<&[u8]>> {
    let mut keys: Vec<&[u8]> = split_keys.iter().map(Vec::as_slice).collect();
    keys.sort_unstable();
    if keys.first().is_some_and(|key| key.is_empty()) {
        let message = "Empty split key must not be passed in the split keys.";
        return Err(Error::illegal_argument(message));
    }
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let key = hblite_model::bytes::to_string_binary(pair[0]);
            let message = format!("All split keys must be unique, found duplicate: {key}, {key}");
            Err(Error::illegal_argument(message))
        }
        None => Ok(keys),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_keys_are_sent_in_order() {
        let keys = |keys: &[&str]| -> Vec<Vec<u8>> {
            keys.iter().map(|key| key.as_bytes().to_vec()).collect()
        };
        assert_eq!(sorted_split_keys(&keys(&["c", "a", "b"])).unwrap(), [b"a", b"b", b"c"]);
        assert!(sorted_split_keys(&[]).unwrap().is_empty());
        let refusal = |given: &[&str]| sorted_split_keys(&keys(given)).unwrap_err().to_string();
        assert!(refusal(&["b", "a", "b"]).contains("found duplicate: b, b"));
        assert!(refusal(&["b", ""]).contains("Empty split key"));
    }
}
