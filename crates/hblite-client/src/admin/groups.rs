//! Server groups, and visibility labels: endpoints of the master and of hbase:labels.

use std::sync::Arc;

use bytes::Bytes;
use hblite_model::{
    BalanceReport, BalanceRequest, Error, GroupMember, GroupWork, LabelQuery, LabelWork, Result,
    ServerGroup, TableName,
};
use hblite_wire::{convert, pb};
use prost::Message;

use super::{Admin, not_found};
use crate::table::Table;
use crate::url::ServerAddress;

const GROUP_SERVICE: &str = "RSGroupAdminService";
const LABEL_SERVICE: &str = "VisibilityLabelsService";

impl Admin {
    /// The server groups.
    ///
    /// # Errors
    /// `UnknownProtocolException` if the cluster has none.
    pub async fn list_groups(&self) -> Result<Vec<ServerGroup>> {
        let answer: pb::ListRsGroupInfosResponse =
            self.call_master_service("ListRSGroupInfos", &pb::Empty {}).await?;
        answer.r_s_group_info.into_iter().map(group_from).collect()
    }

    /// A server group; `None` if there is no such group.
    ///
    /// # Errors
    /// `UnknownProtocolException` if the cluster has no groups.
    pub async fn find_group(&self, member: &GroupMember) -> Result<Option<ServerGroup>> {
        let answer: pb::GroupResponse = match member {
            GroupMember::Name(name) => {
                let request = pb::GroupNameRequest { r_s_group_name: name.clone() };
                self.call_master_service("GetRSGroupInfo", &request).await?
            }
            GroupMember::Server(server) => {
                let request = pb::GetRsGroupInfoOfServerRequest { server: server_name(server)? };
                self.call_master_service("GetRSGroupInfoOfServer", &request).await?
            }
            GroupMember::Table(table) => {
                let table_name = convert::table_name(table);
                let request = pb::GetRsGroupInfoOfTableRequest { table_name };
                self.call_master_service("GetRSGroupInfoOfTable", &request).await?
            }
        };
        answer.r_s_group_info.map(group_from).transpose()
    }

    /// Changes server groups.
    ///
    /// # Errors
    /// `UnknownProtocolException` if the cluster has none; `IllegalArgument` for a server that is
    /// not `host:port`.
    pub async fn change_group(&self, work: &GroupWork) -> Result<()> {
        let named = |name: &String| pb::GroupNameRequest { r_s_group_name: name.clone() };
        let _: pb::Empty = match work {
            GroupWork::Add(name) => self.call_master_service("AddRSGroup", &named(name)).await?,
            GroupWork::Remove(name) => {
                self.call_master_service("RemoveRSGroup", &named(name)).await?
            }
            GroupWork::Rename { from, to } => {
                let request = pb::RenameRsGroupRequest {
                    old_rsgroup_name: from.clone(),
                    new_rsgroup_name: to.clone(),
                };
                self.call_master_service("RenameRSGroup", &request).await?
            }
            GroupWork::Move { group, servers, tables } => {
                let servers = server_names(servers)?;
                let (target_group, table_name) = (group.clone(), table_names(tables));
                if table_name.is_empty() {
                    let request = pb::MoveServersRequest { target_group, servers };
                    self.call_master_service("MoveServers", &request).await?
                } else if servers.is_empty() {
                    for table in tables {
                        if !self.table_exists(table).await? {
                            return Err(not_found(table));
                        }
                    }
                    let request = pb::MoveTablesRequest { target_group, table_name };
                    self.call_master_service("MoveTables", &request).await?
                } else {
                    let request =
                        pb::MoveServersAndTablesRequest { target_group, servers, table_name };
                    self.call_master_service("MoveServersAndTables", &request).await?
                }
            }
            GroupWork::RemoveServers(servers) => {
                let request = pb::RemoveServersRequest { servers: server_names(servers)? };
                self.call_master_service("RemoveServers", &request).await?
            }
            GroupWork::Configure(group, settings) => {
                let pair = |(name, value): (&String, &String)| pb::NameStringPair {
                    name: name.clone(),
                    value: value.clone(),
                };
                let configuration = settings.iter().map(pair).collect();
                let request =
                    pb::UpdateRsGroupConfigRequest { group_name: group.clone(), configuration };
                self.call_master_service("UpdateRSGroupConfig", &request).await?
            }
        };
        Ok(())
    }

    /// Runs the balancer, for a server group or all servers.
    ///
    /// # Errors
    /// `UnknownProtocolException` for a group if the cluster has none.
    pub async fn balance(&self, request: &BalanceRequest) -> Result<BalanceReport> {
        let (ignore_rit, dry_run) = (Some(request.ignores_moves), Some(request.is_dry_run));
        let answer: pb::BalanceResponse = match &request.group {
            Some(group) => {
                let request = pb::BalanceRsGroupRequest {
                    r_s_group_name: group.clone(),
                    ignore_rit,
                    dry_run,
                };
                self.call_master_service("BalanceRSGroup", &request).await?
            }
            None => self.call("Balance", &pb::BalanceRequest { ignore_rit, dry_run }).await?,
        };
        Ok(BalanceReport {
            has_run: answer.balancer_ran,
            calculated: answer.moves_calculated.unwrap_or(0),
            executed: answer.moves_executed.unwrap_or(0),
        })
    }

    /// Visibility labels.
    ///
    /// # Errors
    /// `TableNotFound` for hbase:labels if the cluster has none.
    pub async fn labels(&self, query: &LabelQuery) -> Result<Vec<Vec<u8>>> {
        let labels = match query {
            LabelQuery::Matching(pattern) => {
                let request = pb::ListLabelsRequest { regex: Some(pattern.clone()) };
                let answer: pb::ListLabelsResponse =
                    self.call_labels("listLabels", &request).await?;
                answer.label
            }
            LabelQuery::OfUser(user) => {
                let request = pb::GetAuthsRequest { user: user.clone().into() };
                let answer: pb::GetAuthsResponse = self.call_labels("getAuths", &request).await?;
                answer.auth
            }
        };
        Ok(labels.iter().map(|label| label.to_vec()).collect())
    }

    /// Changes visibility labels, or which of them a user has. Returns what went wrong, label by
    /// label.
    ///
    /// # Errors
    /// `TableNotFound` for hbase:labels if the cluster has none.
    pub async fn change_labels(&self, work: &LabelWork) -> Result<Vec<String>> {
        let auths = |user: &String, labels: &[String]| pb::SetAuthsRequest {
            user: user.clone().into(),
            auth: labels.iter().map(|label| label.clone().into()).collect(),
        };
        let answer: pb::VisibilityLabelsResponse = match work {
            LabelWork::Add(labels) => {
                let label = |label: &String| pb::VisibilityLabel { label: label.clone().into() };
                let request =
                    pb::VisibilityLabelsRequest { vis_label: labels.iter().map(label).collect() };
                self.call_labels("addLabels", &request).await?
            }
            LabelWork::SetAuths(user, labels) => {
                self.call_labels("setAuths", &auths(user, labels)).await?
            }
            LabelWork::ClearAuths(user, labels) => {
                self.call_labels("clearAuths", &auths(user, labels)).await?
            }
        };
        let error = |result: pb::RegionActionResult| {
            let text = result.exception?.value.unwrap_or_default();
            // The rest is a stack trace.
            String::from_utf8_lossy(&text).lines().next().map(str::to_owned)
        };
        Ok(answer.result.into_iter().filter_map(error).collect())
    }

    /// Calls an endpoint of the master.
    async fn call_master_service<M: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
    ) -> Result<M> {
        let request = pb::CoprocessorServiceRequest {
            // A master has no regions.
            region: convert::region_specifier(b""),
            call: pb::CoprocessorServiceCall {
                row: Bytes::new(),
                service_name: GROUP_SERVICE.to_owned(),
                method_name: method.to_owned(),
                request: request.encode_to_vec().into(),
            },
        };
        let answer: pb::CoprocessorServiceResponse =
            self.call("ExecMasterService", &request).await?;
        decode(method, answer.value.value.unwrap_or_default())
    }

    async fn call_labels<M: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
    ) -> Result<M> {
        let table: TableName = "hbase:labels".parse()?;
        let table = Table::new(Arc::clone(&self.shared), table);
        let request = request.encode_to_vec();
        decode(method, table.exec_service(b"", LABEL_SERVICE, method, &request).await?)
    }
}

fn decode<M: Message + Default>(method: &str, answer: Bytes) -> Result<M> {
    M::decode(answer)
        .map_err(|error| Error::do_not_retry(format!("the answer to {method} is damaged: {error}")))
}

fn server_name(text: &str) -> Result<pb::ServerName> {
    let ServerAddress { host, port } = ServerAddress::parse(text, None)?;
    Ok(pb::ServerName { host_name: host, port: Some(port.into()), start_code: None })
}

fn server_names(servers: &[String]) -> Result<Vec<pb::ServerName>> {
    servers.iter().map(|server| server_name(server)).collect()
}

fn table_names(tables: &[TableName]) -> Vec<pb::TableName> {
    tables.iter().map(convert::table_name).collect()
}

fn group_from(message: pb::RsGroupInfo) -> Result<ServerGroup> {
    let mut group = ServerGroup::default();
    group.name = message.name;
    let place = |server: &pb::ServerName| {
        format!("{}:{}", server.host_name, server.port.unwrap_or_default())
    };
    group.servers = message.servers.iter().map(place).collect();
    group.tables = message.tables.iter().map(convert::table_name_from).collect::<Result<_>>()?;
    let settings = message.configuration.into_iter().map(|pair| (pair.name, pair.value));
    group.configuration = settings.collect();
    Ok(group)
}
