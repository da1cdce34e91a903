//! Quotas: set by the master, and kept in hbase:quota.

use std::sync::Arc;

use hblite_model::{
    Error, Quota, QuotaLimit, QuotaOwner, QuotaScope, Rate, RateUnit, Result, RowResult, Scan,
    SpaceLimit, SpaceUsage, SpaceViolationPolicy, TableName, ThrottleType,
};
use hblite_wire::{convert, pb};
use prost::Message;

use super::Admin;
use super::operations::address;
use crate::table::Table;

const QUOTA_TABLE: &str = "hbase:quota";
/// Its families, and the qualifiers in them.
const SETTINGS: &str = "q";
const USAGE: &str = "u";
const OWN: &[u8] = b"s";
const OWN_PREFIX: &[u8] = b"s.";
const SNAPSHOT_SIZE: &[u8] = b"ss";
const POLICY: &str = "p";
const MARK: &[u8] = b"PBUF";

impl Admin {
    /// Sets or removes a quota.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the cluster has no quotas.
    pub async fn set_quota(&self, quota: &Quota) -> Result<()> {
        let owner = quota.owner.clone();
        let mut request = pb::SetQuotaRequest {
            user_name: owner.user,
            namespace: owner.namespace,
            table_name: owner.table.as_ref().map(convert::table_name),
            region_server: owner.region_server,
            ..pb::SetQuotaRequest::default()
        };
        match &quota.limit {
            QuotaLimit::BypassGlobals(is_on) => request.bypass_globals = Some(*is_on),
            QuotaLimit::Throttle { kind, rate } => {
                let timed = |rate: &Rate| pb::TimedQuota {
                    time_unit: rate.per.number(),
                    soft_limit: Some(rate.amount),
                    scope: Some(rate.scope.number()),
                };
                request.throttle = Some(pb::ThrottleRequest {
                    r#type: kind.map(ThrottleType::number),
                    timed_quota: rate.as_ref().map(timed),
                });
            }
            QuotaLimit::Space(limit) => {
                let quota = match limit {
                    Some(limit) => pb::SpaceQuota {
                        soft_limit: Some(limit.size_max_bytes),
                        violation_policy: Some(limit.policy.number()),
                        remove: None,
                    },
                    None => pb::SpaceQuota { remove: Some(true), ..pb::SpaceQuota::default() },
                };
                request.space_limit = Some(pb::SpaceLimitRequest { quota: Some(quota) });
            }
        }
        let _: pb::Empty = self.call("SetQuota", &request).await?;
        Ok(())
    }

    /// All quotas; none if the cluster has none.
    pub async fn list_quotas(&self) -> Result<Vec<Quota>> {
        let mut quotas = Vec::new();
        if !self.table_exists(&QUOTA_TABLE.parse()?).await? {
            return Ok(quotas);
        }
        self.for_each_quota_row(&Scan::new().with_family(SETTINGS), |row| {
            for cell in row.cells() {
                if let Some(owner) = owner(cell.row(), cell.qualifier()) {
                    add(&owner, &decode(cell.value())?, &mut quotas);
                }
            }
            Ok(())
        })
        .await?;
        Ok(quotas)
    }

    /// The sizes of tables, as the master knows them.
    pub async fn quota_table_sizes(&self) -> Result<Vec<(TableName, u64)>> {
        let answer: pb::GetSpaceQuotaRegionSizesResponse =
            self.call("GetSpaceQuotaRegionSizes", &pb::Empty {}).await?;
        let size = |one: pb::TableSize| {
            let table = convert::table_name_from(&one.table_name.unwrap_or_default())?;
            Ok((table, one.size.unwrap_or(0)))
        };
        answer.sizes.into_iter().map(size).collect()
    }

    /// The space that tables with a quota use, as a region server sees it, or as hbase:quota has
    /// it.
    ///
    /// # Errors
    /// `TableNotFound` for hbase:quota if the cluster has no quotas; `IllegalArgument` for a name
    /// that is not `host,port,start code`.
    pub async fn space_usages(&self, server: Option<&str>) -> Result<Vec<SpaceUsage>> {
        let mut usages = Vec::new();
        if let Some(server) = server {
            let server = address(server)?;
            let answer: pb::GetSpaceQuotaSnapshotsResponse =
                self.call_region_server(&server, "GetSpaceQuotaSnapshots", &pb::Empty {}).await?;
            for one in answer.snapshots {
                let table = convert::table_name_from(&one.table_name.unwrap_or_default())?;
                usages.push(usage(table, &one.snapshot.unwrap_or_default()));
            }
            return Ok(usages);
        }
        let scan = Scan::new().with_prefix("t.").with_column(USAGE, POLICY);
        self.for_each_quota_row(&scan, |row| {
            if let (Some(table), Some(value)) = (table_of(row.row()), row.value(USAGE, POLICY)) {
                usages.push(usage(table, &decode(value)?));
            }
            Ok(())
        })
        .await?;
        Ok(usages)
    }

    /// The sizes of snapshots, by name.
    ///
    /// # Errors
    /// `TableNotFound` for hbase:quota if the cluster has no quotas.
    pub async fn snapshot_sizes(&self) -> Result<Vec<(String, u64)>> {
        let mut sizes = Vec::new();
        let scan = Scan::new().with_prefix("t.").with_family(USAGE);
        self.for_each_quota_row(&scan, |row| {
            for cell in row.cells() {
                let name = cell.qualifier().strip_prefix(SNAPSHOT_SIZE);
                if let Some(name) = name.and_then(|name| name.strip_prefix(b".")) {
                    let name = String::from_utf8_lossy(name).into_owned();
                    let snapshot: pb::SpaceQuotaSnapshot = decode(cell.value())?;
                    sizes.push((name, snapshot.quota_usage.unwrap_or(0)));
                }
            }
            Ok(())
        })
        .await?;
        Ok(sizes)
    }

    async fn for_each_quota_row(
        &self,
        scan: &Scan,
        mut visit: impl FnMut(&RowResult) -> Result<()>,
    ) -> Result<()> {
        let table = Table::new(Arc::clone(&self.shared), QUOTA_TABLE.parse()?);
        let mut scanner = table.scan(scan).await?;
        while let Some(row) = scanner.next_row().await? {
            visit(&row)?;
        }
        Ok(())
    }
}

/// A message, with or without the mark that HBase puts before some.
fn decode<M: Message + Default>(value: &[u8]) -> Result<M> {
    M::decode(value.strip_prefix(MARK).unwrap_or(value))
        .map_err(|error| Error::do_not_retry(format!("a value in hbase:quota is damaged: {error}")))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn table_of(row: &[u8]) -> Option<TableName> {
    text(row.strip_prefix(b"t.")?).parse().ok()
}

/// Whom the value in this column limits; `None` if it is not a quota.
fn owner(row: &[u8], qualifier: &[u8]) -> Option<QuotaOwner> {
    let mut owner = QuotaOwner::default();
    if let Some(user) = row.strip_prefix(b"u.") {
        owner.user = Some(text(user));
        let of = qualifier.strip_prefix(OWN_PREFIX).unwrap_or_default();
        match of.strip_suffix(b":") {
            Some(namespace) => owner.namespace = Some(text(namespace)),
            None if of.is_empty() => {}
            None => owner.table = Some(text(of).parse().ok()?),
        }
        return Some(owner);
    }
    if qualifier != OWN {
        return None;
    }
    match row {
        [b't', b'.', ..] => owner.table = Some(table_of(row)?),
        [b'n', b'.', namespace @ ..] => owner.namespace = Some(text(namespace)),
        [b'r', b'.', server @ ..] => owner.region_server = Some(text(server)),
        _ => return None,
    }
    Some(owner)
}

/// Adds the settings of a value, in the order of HBase's client.
fn add(owner: &QuotaOwner, quotas: &pb::Quotas, all: &mut Vec<Quota>) {
    let mut push = |limit| all.push(Quota { owner: owner.clone(), limit });
    if let Some(throttle) = &quotas.throttle {
        for (kind, timed) in [
            (ThrottleType::RequestNumber, &throttle.req_num),
            (ThrottleType::RequestSize, &throttle.req_size),
            (ThrottleType::WriteNumber, &throttle.write_num),
            (ThrottleType::WriteSize, &throttle.write_size),
            (ThrottleType::ReadNumber, &throttle.read_num),
            (ThrottleType::ReadSize, &throttle.read_size),
            (ThrottleType::RequestCapacityUnit, &throttle.req_capacity_unit),
            (ThrottleType::ReadCapacityUnit, &throttle.read_capacity_unit),
            (ThrottleType::WriteCapacityUnit, &throttle.write_capacity_unit),
        ] {
            let Some(timed) = timed else { continue };
            let rate = RateUnit::of_number(timed.time_unit).map(|per| Rate {
                amount: timed.soft_limit.unwrap_or(0),
                per,
                scope: timed.scope.and_then(QuotaScope::of_number).unwrap_or(QuotaScope::Machine),
            });
            push(QuotaLimit::Throttle { kind: Some(kind), rate });
        }
    }
    if quotas.bypass_globals == Some(true) {
        push(QuotaLimit::BypassGlobals(true));
    }
    if let Some(space) = &quotas.space {
        push(QuotaLimit::Space(
            policy(space.violation_policy)
                .map(|policy| SpaceLimit { size_max_bytes: space.soft_limit.unwrap_or(0), policy }),
        ));
    }
}

fn policy(number: Option<i32>) -> Option<SpaceViolationPolicy> {
    number.and_then(SpaceViolationPolicy::of_number)
}

fn usage(table: TableName, snapshot: &pb::SpaceQuotaSnapshot) -> SpaceUsage {
    let status = snapshot.quota_status.as_ref().filter(|status| status.in_violation == Some(true));
    SpaceUsage {
        table,
        used_bytes: snapshot.quota_usage.unwrap_or(0),
        size_max_bytes: snapshot.quota_limit.unwrap_or(0),
        violation: status.and_then(|status| policy(status.violation_policy)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_hbase_quota_say_whom_they_limit() {
        let shown = |row: &str, qualifier: &str| {
            owner(row.as_bytes(), qualifier.as_bytes()).map(|owner| owner.to_string())
        };
        for (row, qualifier, expected) in [
            ("u.bob", "s", Some("USER => bob")),
            ("u.bob", "s.t1", Some("USER => bob, TABLE => t1")),
            ("u.bob", "s.ns:", Some("USER => bob, NAMESPACE => ns")),
            ("u.bob", "s.ns:t", Some("USER => bob, TABLE => ns:t")),
            ("t.ns:t", "s", Some("TABLE => ns:t")),
            ("n.ns", "s", Some("NAMESPACE => ns")),
            ("r.all", "s", Some("REGIONSERVER => all")),
            ("t.", "s", None),
            ("t.t", "x", None),
            ("exceedThrottleQuota", "s", None),
            ("", "", None),
        ] {
            assert_eq!(shown(row, qualifier).as_deref(), expected, "{row} {qualifier}");
        }
    }
}
