//! What operators ask of a cluster.

use hblite_model::{
    BalanceReport, BalanceRequest, BalancerLog, BalancerRecord, GroupMember, GroupWork, LabelQuery,
    LabelWork, LockedResource, LoggedCall, PermissionPlace, PermissionWork, ProcedureStatus, Quota,
    Result, ServerGroup, ServerLogRequest, SpaceUsage, TableDescriptor, TableName, UserPermission,
    ZooKeeperReport,
};

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

    /// Replaces the settings of a table, as [`Admin::modify_table`] does, without reopening its
    /// regions: they get the settings when they are opened next. A store applies them at once.
    ///
    /// # Errors
    /// As [`Admin::modify_table`]; of a cluster, also for families that are added or removed, and
    /// for changes of coprocessors and replicas.
    pub fn modify_table_lazily(&self, table: &TableDescriptor) -> Result<()> {
        self.backend.modify_table_lazily(table)
    }

    /// Replicates a table to the peers, which get the table if they do not have it.
    ///
    /// # Errors
    /// `IllegalArgument` without a peer, as of a store, or if the table of a peer has other
    /// settings; `TableNotFound`.
    pub fn enable_table_replication(&self, table: impl IntoTableName) -> Result<()> {
        self.backend.enable_table_replication(&table.into_table_name()?)
    }

    /// What ZooKeeper knows of the cluster.
    ///
    /// # Errors
    /// `UnsupportedOperation` for a connection that does not use ZooKeeper.
    pub fn zookeeper(&self) -> Result<ZooKeeperReport> {
        self.backend.zookeeper()
    }

    /// Sets a limit of requests or space, or removes it.
    ///
    /// # Errors
    /// `DoNotRetryIo` where quotas are off, as they always are for a store.
    pub fn set_quota(&self, quota: &Quota) -> Result<()> {
        self.backend.set_quota(quota)
    }

    /// All limits of requests and space.
    pub fn list_quotas(&self) -> Result<Vec<Quota>> {
        self.backend.list_quotas()
    }

    /// The sizes of tables, as the master knows them.
    pub fn quota_table_sizes(&self) -> Result<Vec<(TableName, u64)>> {
        self.backend.quota_table_sizes()
    }

    /// The space that tables with a limit use, as a region server sees it, or as hbase:quota has
    /// it.
    ///
    /// # Errors
    /// `TableNotFound` for hbase:quota where quotas are off.
    pub fn space_usages(&self, server: Option<&str>) -> Result<Vec<SpaceUsage>> {
        self.backend.space_usages(server)
    }

    /// The sizes of snapshots of tables with a limit, by name.
    ///
    /// # Errors
    /// As [`Admin::space_usages`].
    pub fn snapshot_sizes(&self) -> Result<Vec<(String, u64)>> {
        self.backend.snapshot_sizes()
    }

    /// The procedures that the master knows, ended ones for a while. A store runs them in the calls
    /// that request them, and lists none.
    pub fn list_procedures(&self) -> Result<Vec<ProcedureStatus>> {
        self.backend.list_procedures()
    }

    /// What procedures have locked.
    pub fn list_locks(&self) -> Result<Vec<LockedResource>> {
        self.backend.list_locks()
    }

    /// The latest calls in a log of region servers, `host,port,start code`; of all if none is
    /// named. A store logs none.
    pub fn logged_calls(
        &self,
        servers: &[String],
        request: &ServerLogRequest,
    ) -> Result<Vec<LoggedCall>> {
        self.backend.logged_calls(servers, request)
    }

    /// Grants or revokes permissions.
    ///
    /// # Errors
    /// `DoNotRetryIo` where permissions are off, as they always are for a store.
    pub fn change_permission(&self, work: &PermissionWork) -> Result<()> {
        self.backend.change_permission(work)
    }

    /// The permissions of users somewhere.
    ///
    /// # Errors
    /// As [`Admin::change_permission`].
    pub fn user_permissions(&self, place: &PermissionPlace) -> Result<Vec<UserPermission>> {
        self.backend.user_permissions(place)
    }

    /// Visibility labels.
    ///
    /// # Errors
    /// `TableNotFound` for hbase:labels where labels are off, as they always are for a store.
    pub fn labels(&self, query: &LabelQuery) -> Result<Vec<Vec<u8>>> {
        self.backend.labels(query)
    }

    /// Changes visibility labels, or which of them a user has. Returns what went wrong, label by
    /// label.
    ///
    /// # Errors
    /// As [`Admin::labels`].
    pub fn change_labels(&self, work: &LabelWork) -> Result<Vec<String>> {
        self.backend.change_labels(work)
    }

    /// The server groups.
    ///
    /// # Errors
    /// `DoNotRetryIo` where server groups are off, as they always are for a store.
    pub fn list_groups(&self) -> Result<Vec<ServerGroup>> {
        self.backend.list_groups()
    }

    /// A server group; `None` if there is no such group.
    ///
    /// # Errors
    /// As [`Admin::list_groups`].
    pub fn find_group(&self, member: &GroupMember) -> Result<Option<ServerGroup>> {
        self.backend.find_group(member)
    }

    /// Changes server groups.
    ///
    /// # Errors
    /// As [`Admin::list_groups`].
    pub fn change_group(&self, work: &GroupWork) -> Result<()> {
        self.backend.change_group(work)
    }

    /// Runs the balancer, which moves regions to servers with fewer of them.
    ///
    /// # Errors
    /// As [`Admin::list_groups`], for the regions of a group.
    pub fn balance(&self, request: &BalanceRequest) -> Result<BalanceReport> {
        self.backend.balance(request)
    }

    /// The latest runs of the balancer, if the master keeps a log of them. Empty for a store.
    ///
    /// # Errors
    /// Those of a cluster.
    pub fn balancer_log(&self, log: BalancerLog, limit: u32) -> Result<Vec<BalancerRecord>> {
        self.backend.balancer_log(log, limit)
    }
}
