//! What operators ask of a cluster.

use hblite_model::{
    BalanceReport, BalanceRequest, BalancerLog, BalancerRecord, GroupMember, GroupWork, LabelQuery,
    LabelWork, LockedResource, LoggedCall, PermissionPlace, PermissionWork, ProcedureStatus, Quota,
    Result, ServerGroup, ServerLogRequest, SpaceUsage, TableDescriptor, TableName, UserPermission,
    ZooKeeperReport,
};

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

    fn modify_table_lazily(&self, table: &TableDescriptor) -> Result<()> {
        self.runtime.run(self.admin.modify_table_lazily(table))
    }

    fn enable_table_replication(&self, table: &TableName) -> Result<()> {
        self.runtime.run(self.admin.enable_table_replication(table))
    }

    fn zookeeper(&self) -> Result<ZooKeeperReport> {
        self.runtime.run(self.admin.zookeeper())
    }

    fn set_quota(&self, quota: &Quota) -> Result<()> {
        self.runtime.run(self.admin.set_quota(quota))
    }

    fn list_quotas(&self) -> Result<Vec<Quota>> {
        self.runtime.run(self.admin.list_quotas())
    }

    fn quota_table_sizes(&self) -> Result<Vec<(TableName, u64)>> {
        self.runtime.run(self.admin.quota_table_sizes())
    }

    fn space_usages(&self, server: Option<&str>) -> Result<Vec<SpaceUsage>> {
        self.runtime.run(self.admin.space_usages(server))
    }

    fn snapshot_sizes(&self) -> Result<Vec<(String, u64)>> {
        self.runtime.run(self.admin.snapshot_sizes())
    }

    fn list_procedures(&self) -> Result<Vec<ProcedureStatus>> {
        self.runtime.run(self.admin.list_procedures())
    }

    fn list_locks(&self) -> Result<Vec<LockedResource>> {
        self.runtime.run(self.admin.list_locks())
    }

    fn logged_calls(
        &self,
        servers: &[String],
        request: &ServerLogRequest,
    ) -> Result<Vec<LoggedCall>> {
        self.runtime.run(self.admin.logged_calls(servers, request))
    }

    fn change_permission(&self, work: &PermissionWork) -> Result<()> {
        self.runtime.run(self.admin.change_permission(work))
    }

    fn user_permissions(&self, place: &PermissionPlace) -> Result<Vec<UserPermission>> {
        self.runtime.run(self.admin.user_permissions(place))
    }

    fn labels(&self, query: &LabelQuery) -> Result<Vec<Vec<u8>>> {
        self.runtime.run(self.admin.labels(query))
    }

    fn change_labels(&self, work: &LabelWork) -> Result<Vec<String>> {
        self.runtime.run(self.admin.change_labels(work))
    }

    fn list_groups(&self) -> Result<Vec<ServerGroup>> {
        self.runtime.run(self.admin.list_groups())
    }

    fn find_group(&self, member: &GroupMember) -> Result<Option<ServerGroup>> {
        self.runtime.run(self.admin.find_group(member))
    }

    fn change_group(&self, work: &GroupWork) -> Result<()> {
        self.runtime.run(self.admin.change_group(work))
    }

    fn balance(&self, request: &BalanceRequest) -> Result<BalanceReport> {
        self.runtime.run(self.admin.balance(request))
    }

    fn balancer_log(&self, log: BalancerLog, limit: u32) -> Result<Vec<BalancerRecord>> {
        self.runtime.run(self.admin.balancer_log(log, limit))
    }
}
