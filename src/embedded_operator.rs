//! What operators ask of a cluster, answered by a store of this process.

use hblite_engine::Timeline;
use hblite_model::{Result, SystemTables, TableName, TableState, ZooKeeperReport};

use crate::backend::OperatorBackend;

impl OperatorBackend for Timeline {
    fn list_tables_by_state(&self, is_enabled: bool) -> Result<Vec<TableName>> {
        let wanted = if is_enabled { TableState::Enabled } else { TableState::Disabled };
        let (engine, mut names) = (self.engine(), Vec::new());
        for table in engine.catalog().list_tables(SystemTables::Exclude) {
            if engine.catalog().table_state(table.name())? == wanted {
                names.push(table.name().clone());
            }
        }
        Ok(names)
    }

    fn modify_file_tracker(
        &self,
        table: &TableName,
        family: Option<&[u8]>,
        tracker: &str,
    ) -> Result<()> {
        self.engine().procedures().modify_file_tracker(table, family, tracker)
    }

    fn zookeeper(&self) -> Result<ZooKeeperReport> {
        let mut report = ZooKeeperReport::default();
        "/hbase".clone_into(&mut report.root);
        Ok(report)
    }
}
