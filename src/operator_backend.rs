//! What operators ask of a cluster, and what a store answers: part of the interface between the
//! API and an engine. See `backend.rs`.

use hblite_model::{Result, TableName, ZooKeeperReport};

/// An engine as operators see it.
#[allow(missing_docs, reason = "each method is the one of the same name in Admin")]
pub trait OperatorBackend {
    fn list_tables_by_state(&self, is_enabled: bool) -> Result<Vec<TableName>>;
    fn modify_file_tracker(
        &self,
        table: &TableName,
        family: Option<&[u8]>,
        tracker: &str,
    ) -> Result<()>;
    fn zookeeper(&self) -> Result<ZooKeeperReport>;
}
