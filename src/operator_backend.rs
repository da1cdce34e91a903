//! What operators ask of a cluster, and what a store answers: part of the interface between the
//! API and an engine. See `backend.rs`.

use hblite_model::{
    BalanceReport, BalanceRequest, BalancerLog, BalancerRecord, GroupMember, GroupWork, LabelQuery,
    LabelWork, LockedResource, LoggedCall, PermissionPlace, PermissionWork, ProcedureStatus, Quota,
    Result, ServerGroup, ServerLogRequest, SpaceUsage, TableDescriptor, TableName, UserPermission,
    ZooKeeperReport,
};

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
    fn modify_table_lazily(&self, table: &TableDescriptor) -> Result<()>;
    fn enable_table_replication(&self, table: &TableName) -> Result<()>;
    fn zookeeper(&self) -> Result<ZooKeeperReport>;
    fn set_quota(&self, quota: &Quota) -> Result<()>;
    fn list_quotas(&self) -> Result<Vec<Quota>>;
    fn quota_table_sizes(&self) -> Result<Vec<(TableName, u64)>>;
    fn space_usages(&self, server: Option<&str>) -> Result<Vec<SpaceUsage>>;
    fn snapshot_sizes(&self) -> Result<Vec<(String, u64)>>;
    fn list_procedures(&self) -> Result<Vec<ProcedureStatus>>;
    fn list_locks(&self) -> Result<Vec<LockedResource>>;
    fn logged_calls(
        &self,
        servers: &[String],
        request: &ServerLogRequest,
    ) -> Result<Vec<LoggedCall>>;
    fn change_permission(&self, work: &PermissionWork) -> Result<()>;
    fn user_permissions(&self, place: &PermissionPlace) -> Result<Vec<UserPermission>>;
    fn labels(&self, query: &LabelQuery) -> Result<Vec<Vec<u8>>>;
    fn change_labels(&self, work: &LabelWork) -> Result<Vec<String>>;
    fn list_groups(&self) -> Result<Vec<ServerGroup>>;
    fn find_group(&self, member: &GroupMember) -> Result<Option<ServerGroup>>;
    fn change_group(&self, work: &GroupWork) -> Result<()>;
    fn balance(&self, request: &BalanceRequest) -> Result<BalanceReport>;
    fn balancer_log(&self, log: BalancerLog, limit: u32) -> Result<Vec<BalancerRecord>>;
}
