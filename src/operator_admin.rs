//! What operators ask of a cluster.

use hblite_model::{Result, TableName, ZooKeeperReport};

use crate::admin::Admin;
use crate::table_name::IntoTableName;

/// For operators.
impl Admin {
    /// The tables that are enabled, or those that are disabled.
    pub fn list_tables_by_state(&self, is_enabled: bool) -> Result<Vec<TableName>> {
        self.backend.list_tables_by_state(is_enabled)
    }

    /// Changes how the store files of a table, or of one family, are found: `DEFAULT`, `FILE`, or
    /// `MIGRATION`.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `DoNotRetryIo` for a change that
    /// needs a migration first.
    pub fn modify_file_tracker(
        &self,
        table: impl IntoTableName,
        family: Option<&[u8]>,
        tracker: &str,
    ) -> Result<()> {
        self.backend.modify_file_tracker(&table.into_table_name()?, family, tracker)
    }

    /// What ZooKeeper knows of the cluster.
    ///
    /// # Errors
    /// `UnsupportedOperation` for a connection that does not use ZooKeeper.
    pub fn zookeeper(&self) -> Result<ZooKeeperReport> {
        self.backend.zookeeper()
    }
}
