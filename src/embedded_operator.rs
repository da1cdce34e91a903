//! What operators ask of a cluster, answered by a store of this process.

use hblite_engine::Timeline;
use hblite_model::{
    BalanceReport, BalanceRequest, BalancerLog, BalancerRecord, Error, Exception, GroupMember,
    GroupWork, LabelQuery, LabelWork, LockedResource, LoggedCall, PermissionPlace, PermissionWork,
    ProcedureStatus, Quota, Result, ServerGroup, ServerLogRequest, SpaceUsage, Switch,
    SystemTables, TableDescriptor, TableName, TableState, UserPermission, ZooKeeperReport,
};

use crate::backend::OperatorBackend;
use crate::embedded_master::check_servers;

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

    fn modify_table_lazily(&self, table: &TableDescriptor) -> Result<()> {
        self.engine().procedures().modify_table(table)
    }

    fn enable_table_replication(&self, table: &TableName) -> Result<()> {
        self.engine().catalog().descriptor(table)?;
        Err(Error::illegal_argument("Found no peer cluster for replication."))
    }

    fn zookeeper(&self) -> Result<ZooKeeperReport> {
        let mut report = ZooKeeperReport::default();
        "/hbase".clone_into(&mut report.root);
        Ok(report)
    }

    fn set_quota(&self, _: &Quota) -> Result<()> {
        Err(off("quota support disabled"))
    }

    fn list_quotas(&self) -> Result<Vec<Quota>> {
        Ok(Vec::new())
    }

    fn quota_table_sizes(&self) -> Result<Vec<(TableName, u64)>> {
        Ok(Vec::new())
    }

    fn space_usages(&self, server: Option<&str>) -> Result<Vec<SpaceUsage>> {
        match server {
            None => Err(absent("hbase:quota")),
            Some(server) => check_servers(&self.engine(), &[server]).map(|()| Vec::new()),
        }
    }

    fn snapshot_sizes(&self) -> Result<Vec<(String, u64)>> {
        Err(absent("hbase:quota"))
    }

    fn list_procedures(&self) -> Result<Vec<ProcedureStatus>> {
        Ok(Vec::new())
    }

    fn list_locks(&self) -> Result<Vec<LockedResource>> {
        Ok(Vec::new())
    }

    fn logged_calls(&self, _: &[String], _: &ServerLogRequest) -> Result<Vec<LoggedCall>> {
        Ok(Vec::new())
    }

    fn change_permission(&self, _: &PermissionWork) -> Result<()> {
        Err(off(NO_PERMISSIONS))
    }

    fn user_permissions(&self, _: &PermissionPlace) -> Result<Vec<UserPermission>> {
        Err(off(NO_PERMISSIONS))
    }

    fn labels(&self, _: &LabelQuery) -> Result<Vec<Vec<u8>>> {
        Err(absent("hbase:labels"))
    }

    fn change_labels(&self, _: &LabelWork) -> Result<Vec<String>> {
        Err(absent("hbase:labels"))
    }

    fn list_groups(&self) -> Result<Vec<ServerGroup>> {
        Err(no_groups())
    }

    fn find_group(&self, _: &GroupMember) -> Result<Option<ServerGroup>> {
        Err(no_groups())
    }

    fn change_group(&self, work: &GroupWork) -> Result<()> {
        if let GroupWork::Move { servers, tables, .. } = work
            && servers.is_empty()
        {
            tables
                .iter()
                .try_for_each(|table| self.engine().catalog().descriptor(table).map(drop))?;
        }
        Err(no_groups())
    }

    /// With one server there is nothing to balance.
    fn balance(&self, request: &BalanceRequest) -> Result<BalanceReport> {
        if request.group.is_some() {
            return Err(no_groups());
        }
        let is_on = self.engine().switches().is_on(Switch::Balancer);
        Ok(BalanceReport { has_run: is_on || request.is_dry_run, ..BalanceReport::default() })
    }

    fn balancer_log(&self, _: BalancerLog, _: u32) -> Result<Vec<BalancerRecord>> {
        Ok(Vec::new())
    }
}

const NO_PERMISSIONS: &str =
    "org.apache.hadoop.hbase.security.access.AccessController is not loaded";

/// HBase's refusal where a feature is off.
fn off(why: &str) -> Error {
    Error::do_not_retry(format!("java.lang.UnsupportedOperationException: {why}"))
}

/// The error for a table that HBase has only with the feature.
fn absent(table: &str) -> Error {
    Error::new(Exception::TableNotFound, table)
}

fn no_groups() -> Error {
    let message = "No registered Master Coprocessor Endpoint found for RSGroupAdminService. Has it \
                   been enabled?";
    Error::new(Exception::UnknownProtocol, message)
}
