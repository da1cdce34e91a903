//! What operators ask of a cluster.

use hblite_model::{Result, TableName, ZooKeeperReport};

use super::Cluster;
use crate::backend::OperatorBackend;

impl OperatorBackend for Cluster {
    fn list_tables_by_state(&self, is_enabled: bool) -> Result<Vec<TableName>> {
        self.runtime.run(self.admin.list_tables_by_state(is_enabled))
    }

    fn modify_file_tracker(
        &self,
        table: &TableName,
        family: Option<&[u8]>,
        tracker: &str,
    ) -> Result<()> {
        self.runtime.run(self.admin.modify_file_tracker(table, family, tracker))
    }

    fn zookeeper(&self) -> Result<ZooKeeperReport> {
        self.runtime.run(self.admin.zookeeper())
    }
}
