//! Goal: what HBase's client refuses or reports at once is not retried, and has its message.
//! Method: a server in this process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use hblite_model::{
    BalanceRequest, BalancerLog, CompactRequest, CompactionKind, CompactionState, Consistency,
    Exception, Get, GroupMember, LabelQuery, MasterWork, MergeKind, PermissionPlace, Quota,
    QuotaLimit, QuotaOwner, RegionInfo, ServerLog, ServerLogRequest, ServerWork, Switch, TableName,
};
use tokio::time::timeout;

use crate::support::Cluster;

/// Far less than the time for which an operation is retried.
const AT_ONCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn unknown_regions_are_not_merged() {
    let cluster = Cluster::start(1);
    cluster.table("t", &["m"]).await;
    let admin = cluster.client().admin();
    let regions = admin.regions(&"t".parse().unwrap()).await.unwrap();
    let known = regions[0].encoded_name();
    for names in [["notaregion", "other"], [known, "notaregion"]] {
        let error = admin.merge_regions(&names, MergeKind::Adjacent).await.unwrap_err();
        assert_eq!(error.exception(), Exception::UnknownRegion);
        let hash = RegionInfo::encoded_name_of("notaregion");
        assert_eq!(error.message(), format!("Can't invoke merge on unknown region {hash}"));
    }
}

#[tokio::test]
async fn the_region_of_medium_objects_is_not_waited_for() {
    let cluster = Cluster::start(1);
    cluster.table("t", &[]).await;
    let admin = cluster.client().admin();
    let table: TableName = "t".parse().unwrap();
    let request = CompactRequest::mob(table).major();
    let error = timeout(AT_ONCE, admin.compact(&request)).await.unwrap().unwrap_err();
    assert_eq!(error.exception(), Exception::NotServingRegion);
}

#[tokio::test]
async fn switches_are_the_ones_of_the_server() {
    let cluster = Cluster::start(1);
    let admin = cluster.client().admin();
    for switch in Switch::ALL {
        let of_quotas = matches!(switch, Switch::RpcThrottle | Switch::ExceedThrottleQuota);
        let before = admin.set_switch(switch, false).await;
        if switch == Switch::Compaction {
            assert_eq!(before.unwrap_err().exception(), Exception::UnsupportedOperation);
            continue;
        }
        assert_eq!(before.unwrap(), !of_quotas, "{switch:?}");
        if switch != Switch::ExceedThrottleQuota {
            assert!(!admin.is_switched_on(switch).await.unwrap(), "{switch:?}");
        }
        assert!(!admin.set_switch(switch, true).await.unwrap(), "{switch:?}");
    }
}

#[tokio::test]
async fn servers_are_listed_and_do_what_they_are_asked() {
    let cluster = Cluster::start(2);
    cluster.table("t", &["m"]).await;
    let admin = cluster.client().admin();
    let servers = admin.servers().await.unwrap();
    assert_eq!(servers.live.len(), 2, "{servers:?}");
    assert!(servers.dead.is_empty() && servers.decommissioned.is_empty());
    let first = servers.live[0].as_str();
    let one = &[first];
    for work in [
        ServerWork::RollWal,
        ServerWork::Compact(CompactionKind::Major),
        ServerWork::ClearCompactionQueues(vec!["short".to_owned()]),
        ServerWork::UpdateConfiguration,
    ] {
        let done = admin.run_on_servers(one, &work).await.unwrap();
        assert_eq!(done, [(first.to_owned(), true)], "{work:?}");
    }
    let off = ServerWork::SwitchCompaction(false);
    let were_on = admin.run_on_servers(&[], &off).await.unwrap();
    assert_eq!(were_on.len(), 2);
    let cleared = admin.run_on_servers(one, &ServerWork::ClearSlowLog).await.unwrap();
    assert_eq!(cleared, [(first.to_owned(), false)]);
    let error = admin.run_on_servers(&["x"], &off).await.unwrap_err();
    assert_eq!(error.message(), "Invalid ServerName format: x");
    let table = "t".parse().unwrap();
    assert_eq!(admin.compaction_state(&table).await.unwrap(), CompactionState::None);
}

#[tokio::test]
async fn the_master_does_what_it_is_asked() {
    let cluster = Cluster::start(1);
    let admin = cluster.client().admin();
    let all = MasterWork::Normalize { tables: Vec::new(), pattern: None, namespace: None };
    for work in [all, MasterWork::CleanerChore, MasterWork::HbckChore] {
        assert!(admin.run_on_master(&work).await.unwrap(), "{work:?}");
    }
    let run = BalanceRequest { is_dry_run: true, ..BalanceRequest::default() };
    assert!(admin.balance(&run).await.unwrap().has_run);
    for log in [BalancerLog::Decisions, BalancerLog::Rejections] {
        assert!(admin.balancer_log(log, 9).await.unwrap().is_empty());
    }
    assert_eq!(admin.run_catalog_janitor().await.unwrap(), 0);
}

#[tokio::test]
async fn a_replica_that_does_not_exist_is_an_error_at_once() {
    let cluster = Cluster::start(1);
    let table = cluster.table("t", &[]).await;
    let get = Get::new("a").with_consistency(Consistency::Timeline).with_replica_id(7);
    let error = timeout(AT_ONCE, table.get(&get)).await.unwrap().unwrap_err();
    assert!(error.message().ends_with("has no replica 7"), "{error}");
}

#[tokio::test]
async fn regions_are_on_the_servers_that_were_requested() {
    let cluster = Cluster::start(2);
    let _table = cluster.table("t", &[]).await;
    let admin = cluster.client().admin();
    let name: TableName = "t".parse().unwrap();
    let region = admin.regions(&name).await.unwrap().remove(0).encoded_name().to_owned();
    let [assign, unassign] =
        [MasterWork::Assign, MasterWork::Unassign].map(|new| new(region.clone()));
    let error = admin.run_on_master(&assign).await.unwrap_err();
    assert_eq!(error.exception(), Exception::DoNotRetryRegion, "{error}");
    assert!(admin.run_on_master(&unassign).await.unwrap());
    let error = admin.run_on_master(&unassign).await.unwrap_err();
    assert_eq!(error.exception(), Exception::DoNotRetryRegion, "{error}");
    assert!(admin.run_on_master(&assign).await.unwrap());
    let servers = admin.servers().await.unwrap().live;
    let port = |server: &str| server.split(',').nth(1).unwrap().to_owned();
    for server in &servers {
        let to = Some(server.clone());
        let work = MasterWork::Move { region: region.clone(), server: to };
        assert!(admin.run_on_master(&work).await.unwrap());
        let location = cluster.client().admin().locate_region(&name, b"a").await.unwrap();
        assert!(location.server.ends_with(&port(server)), "{location:?}");
    }
    let last = servers[1].clone();
    let work = MasterWork::Decommission { servers: vec![last.clone()], offload: true };
    assert!(admin.run_on_master(&work).await.unwrap());
    assert_eq!(admin.servers().await.unwrap().decommissioned.as_slice(), &servers[1..]);
    let location = cluster.client().admin().locate_region(&name, b"a").await.unwrap();
    assert!(location.server.ends_with(&port(&servers[0])), "{location:?}");
    let work = MasterWork::Recommission { server: last, regions: vec![region] };
    assert!(admin.run_on_master(&work).await.unwrap());
    let location = cluster.client().admin().locate_region(&name, b"a").await.unwrap();
    assert!(location.server.ends_with(&port(&servers[1])), "{location:?}");
    assert!(admin.servers().await.unwrap().decommissioned.is_empty());
}

#[tokio::test]
async fn caches_dead_servers_and_reports() {
    let cluster = Cluster::start(1);
    let _table = cluster.table("t", &[]).await;
    let admin = cluster.client().admin();
    let cleared = admin.clear_block_cache(&"t".parse().unwrap()).await.unwrap();
    assert!(cleared.size_max_bytes > 0 && cleared.failed_regions == 0, "{cleared:?}");
    let error = admin.clear_block_cache(&"nosuch".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.exception(), Exception::TableNotFound);
    let gone = ["localhost,7777,1".to_owned()];
    assert_eq!(admin.clear_dead_servers(&gone).await.unwrap(), gone);
    let report = admin.master_report().await.unwrap();
    assert_eq!(report.security_capabilities, ["SIMPLE_AUTHENTICATION"]);
    assert!(!report.is_in_maintenance_mode && report.regions_in_transition.is_empty());
}

#[tokio::test]
async fn features_that_a_server_does_not_have_are_off_or_empty() {
    let cluster = Cluster::start(1);
    let admin = cluster.client().admin();
    let of_all = QuotaOwner { region_server: Some("all".to_owned()), ..QuotaOwner::default() };
    let quota = Quota { owner: of_all, limit: QuotaLimit::Throttle { kind: None, rate: None } };
    let off = admin.set_quota(&quota).await.unwrap_err();
    assert!(off.message().contains("quota support disabled"), "{off}");
    assert!(admin.list_quotas().await.unwrap().is_empty());
    assert!(admin.quota_table_sizes().await.unwrap().is_empty());
    let server = admin.servers().await.unwrap().live.remove(0);
    assert!(admin.space_usages(Some(&server)).await.unwrap().is_empty());
    for absent in [
        admin.space_usages(None).await.unwrap_err(),
        admin.snapshot_sizes().await.unwrap_err(),
        admin.labels(&LabelQuery::OfUser("u".to_owned())).await.unwrap_err(),
    ] {
        assert_eq!(absent.exception(), Exception::TableNotFound);
    }
    assert!(admin.list_procedures().await.unwrap().is_empty());
    assert!(admin.list_locks().await.unwrap().is_empty());
    for log in [ServerLog::Slow, ServerLog::Large] {
        let request = ServerLogRequest {
            log,
            limit: 10,
            region: None,
            table: None,
            client: None,
            user: None,
            matches_all: false,
        };
        assert!(admin.logged_calls(&[], &request).await.unwrap().is_empty());
        assert!(admin.logged_calls(&["x".to_owned()], &request).await.is_err());
    }
    let off = admin.user_permissions(&PermissionPlace::Global).await.unwrap_err();
    assert!(off.message().contains("AccessController is not loaded"), "{off}");
    let of_group = BalanceRequest { group: Some("default".to_owned()), ..Default::default() };
    for off in [
        admin.list_groups().await.unwrap_err(),
        admin.find_group(&GroupMember::Name("default".to_owned())).await.unwrap_err(),
        admin.balance(&of_group).await.unwrap_err(),
    ] {
        assert_eq!(off.exception(), Exception::UnknownProtocol);
    }
    let error = admin.find_group(&GroupMember::Server("nosuch".to_owned())).await.unwrap_err();
    assert_eq!(error.exception(), Exception::IllegalArgument);
}

#[tokio::test]
async fn tables_by_state_and_their_file_trackers() {
    let cluster = Cluster::start(1);
    cluster.table("on", &[]).await;
    cluster.table("off", &[]).await;
    let admin = cluster.client().admin();
    let (on, off): (TableName, TableName) = ("on".parse().unwrap(), "off".parse().unwrap());
    admin.disable_table(&off).await.unwrap();
    assert!(admin.list_tables_by_state(true).await.unwrap().contains(&on));
    assert_eq!(admin.list_tables_by_state(false).await.unwrap(), std::slice::from_ref(&off));
    admin.modify_file_tracker(&on, Some(b"f"), "FILE").await.unwrap();
    let error = admin.modify_file_tracker(&on, Some(b"no"), "FILE").await.unwrap_err();
    assert_eq!(error.exception(), Exception::NoSuchColumnFamily);
    let error = admin.modify_file_tracker(&off, None, "FILE").await.unwrap_err();
    assert_eq!(error.exception(), Exception::TableNotEnabled);
    let family = admin.describe_table(&on).await.unwrap();
    let tracker = "hbase.store.file-tracker.impl";
    assert_eq!(family.family(b"f").unwrap().configuration()[tracker], "FILE");
}

#[tokio::test]
async fn zookeeper_says_what_it_is() {
    let cluster = Cluster::start(1);
    let error = cluster.client().admin().zookeeper().await.unwrap_err();
    assert_eq!(error.exception(), Exception::UnsupportedOperation);
    let client = hblite_client::Client::connect(&cluster.zookeeper_url()).await.unwrap();
    let report = client.admin().zookeeper().await.unwrap();
    assert_eq!((report.root.as_str(), report.quorum.len()), ("/hbase", 1));
}
