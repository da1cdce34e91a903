//! Goal: reads with `Consistency::Timeline` are answered by replicas if a region is late or its
//! server fails, and all other reads are not.
//! Method: a server in this process whose regions have replicas on other servers, with faults.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use hblite_client::{Client, ClientSettings, ClusterAddress, ServerAddress, Table};
use hblite_model::{
    Action, ActionResult, ColumnFamilyDescriptor, Consistency, Exception, Get, Put, Scan,
    TableDescriptor,
};
use hblite_server::{FaultAction, FaultRule, FaultServer};

use crate::support::{Cluster, rows_of};

/// Longer than a test may take.
const FOREVER: &str = "2000000000";

/// A client with these settings, and a table whose regions have two replicas.
async fn replicated(cluster: &Cluster, more: &[(&str, &str)]) -> (Client, Table) {
    let mut settings = ClientSettings::new();
    for (name, value) in [("hbase.client.pause", "2")].iter().chain(more) {
        assert!(settings.set(name, value).unwrap(), "{name}");
    }
    let port = cluster.server.ports().master;
    let servers = vec![ServerAddress { host: "127.0.0.1".to_owned(), port }];
    let client = Client::new(ClusterAddress::Rpc { servers }, settings);
    let mut descriptor =
        TableDescriptor::new("t".parse().unwrap()).with_family(ColumnFamilyDescriptor::new("f"));
    descriptor.set_attribute("REGION_REPLICATION", "3").unwrap();
    client.admin().create_table(&descriptor, &[b"m".to_vec()]).await.unwrap();
    let table = client.table(descriptor.name().clone());
    for row in ["a", "b", "x", "y"] {
        table.mutate(Put::new(row).add("f", "q", row).as_mutation()).await.unwrap();
    }
    (client, table)
}

/// The server of the region that has a row.
fn server_of(cluster: &Cluster, row: &str) -> usize {
    let regions = cluster.direct("t").regions().unwrap();
    let region = regions.iter().find(|region| region.contains_row(row.as_bytes())).unwrap();
    cluster.server.faults().server_of(region.encoded_name()).unwrap()
}

/// What happens to reads on one server.
fn disturb(cluster: &Cluster, server: usize, action: FaultAction) {
    let rule = FaultRule::new(action).methods(["Get", "Scan", "Multi"]).table("t");
    cluster.server.faults().set(rule.server(FaultServer::RegionServer(server))).unwrap();
}

fn get(row: &str) -> Get {
    Get::new(row).with_consistency(Consistency::Timeline)
}

#[tokio::test]
async fn a_replica_answers_if_the_region_is_late() {
    let cluster = Cluster::start(3);
    let (client, table) = replicated(&cluster, &[]).await;
    let minute = Duration::from_secs(60);
    disturb(&cluster, server_of(&cluster, "a"), FaultAction::Delay(minute, minute));
    let row = table.get(&get("a")).await.unwrap();
    assert_eq!(row.value("f", "q"), Some(&b"a"[..]));
    assert!(table.exists(&get("b")).await.unwrap());
    let metrics = client.metrics();
    assert_eq!((metrics.hedged_reads, metrics.hedged_read_wins), (4, 2));
    // The calls that lost were not waited for.
    assert!(metrics.get.canceled >= 2, "{metrics:?}");
}

#[tokio::test]
async fn a_region_that_answers_in_time_is_alone() {
    let cluster = Cluster::start(3);
    let (client, table) =
        replicated(&cluster, &[("hbase.client.primaryCallTimeout.get", FOREVER)]).await;
    let row = table.get(&get("a")).await.unwrap();
    assert_eq!((row.value("f", "q"), row.is_stale()), (Some(&b"a"[..]), false));
    // The default waits for the region, whatever happens.
    let short = Duration::from_millis(30);
    disturb(&cluster, server_of(&cluster, "a"), FaultAction::Delay(short, short));
    table.get(&Get::new("a")).await.unwrap();
    table.get(&Get::new("a").with_replica_id(1)).await.unwrap();
    let metrics = client.metrics();
    assert_eq!((metrics.hedged_reads, metrics.get.answered), (0, 3));
}

#[tokio::test]
async fn a_replica_answers_at_once_if_the_server_fails() {
    let cluster = Cluster::start(3);
    let settings = [
        ("hbase.client.primaryCallTimeout.get", FOREVER),
        ("hbase.client.replicaCallTimeout.scan", FOREVER),
    ];
    let (client, table) = replicated(&cluster, &settings).await;
    disturb(&cluster, server_of(&cluster, "a"), FaultAction::DropBefore);
    disturb(&cluster, server_of(&cluster, "x"), FaultAction::DropBefore);
    assert_eq!(table.get(&get("a")).await.unwrap().value("f", "q"), Some(&b"a"[..]));
    let scan = Scan::new().with_consistency(Consistency::Timeline).with_caching(1);
    assert_eq!(rows_of(&table, &scan).await, ["a", "b", "x", "y"]);
    let back = scan.clone().with_reversed(true).with_async_prefetch(true);
    assert_eq!(rows_of(&table, &back).await, ["y", "x", "b", "a"]);
    let metrics = client.metrics();
    assert!(metrics.hedged_read_wins >= 5, "{metrics:?}");
}

#[tokio::test]
async fn a_scan_goes_to_a_replica_that_opens_it_first() {
    let cluster = Cluster::start(3);
    let (client, table) =
        replicated(&cluster, &[("hbase.client.replicaCallTimeout.scan", "1000")]).await;
    let minute = Duration::from_secs(60);
    disturb(&cluster, server_of(&cluster, "a"), FaultAction::Delay(minute, minute));
    let scan = Scan::new().with_consistency(Consistency::Timeline).with_stop_row("m");
    assert_eq!(rows_of(&table, &scan.with_caching(1)).await, ["a", "b"]);
    assert_eq!(client.metrics().hedged_read_wins, 1, "the scan stays on the replica");
}

/// The values that the gets of a batch found.
async fn batch_of(table: &Table, actions: &[Action]) -> Vec<Option<Vec<u8>>> {
    let results = table.batch(actions).await.unwrap();
    let value = |result: hblite_model::Result<ActionResult>| {
        result.unwrap().row().and_then(|row| row.value("f", "q")).map(<[u8]>::to_vec)
    };
    results.into_iter().map(value).collect()
}

fn values(rows: &[&str]) -> Vec<Option<Vec<u8>>> {
    rows.iter().map(|row| Some(row.as_bytes().to_vec())).collect()
}

#[tokio::test]
async fn gets_of_a_batch_are_answered_by_replicas_if_a_region_is_late() {
    let cluster = Cluster::start(3);
    let (client, table) = replicated(&cluster, &[]).await;
    let minute = Duration::from_secs(60);
    disturb(&cluster, server_of(&cluster, "a"), FaultAction::Delay(minute, minute));
    let began = Instant::now();
    let rows = ["a", "x", "b", "y"];
    let gets: Vec<Action> = rows.map(|row| get(row).into()).into();
    assert_eq!(batch_of(&table, &gets).await, values(&rows));
    assert!(began.elapsed() < minute, "the calls that lost were not waited for");
    let metrics = client.metrics();
    assert!(metrics.hedged_reads >= 2 && metrics.hedged_read_wins >= 1, "{metrics:?}");
}

#[tokio::test]
async fn gets_of_a_batch_are_answered_by_replicas_if_a_server_fails() {
    let cluster = Cluster::start(3);
    let (client, table) =
        replicated(&cluster, &[("hbase.client.primaryCallTimeout.multiget", FOREVER)]).await;
    let gets: Vec<Action> = ["a", "x"].map(|row| get(row).into()).into();
    assert_eq!(batch_of(&table, &gets).await, values(&["a", "x"]));
    assert_eq!(client.metrics().hedged_reads, 0, "both regions answered in time");
    // Whatever a replica must not answer is retried at the region.
    let server = FaultServer::RegionServer(server_of(&cluster, "a"));
    let once = FaultRule::new(FaultAction::DropBefore).methods(["Multi"]).table("t").count(1);
    cluster.server.faults().set(once.server(server)).unwrap();
    let mixed: Vec<Action> =
        vec![get("a").into(), Put::new("b").add("f", "q", "B").into(), Get::new("b").into()];
    let found = batch_of(&table, &mixed).await;
    assert_eq!(found[0], Some(b"a".to_vec()));
    let row = table.get(&Get::new("b")).await.unwrap();
    assert_eq!(row.value("f", "q"), Some(&b"B"[..]));
    let metrics = client.metrics();
    assert!(metrics.hedged_reads >= 1 && metrics.retries >= 1, "{metrics:?}");
}

#[tokio::test]
async fn a_get_of_a_batch_may_name_its_replica() {
    let cluster = Cluster::start(3);
    let (client, table) = replicated(&cluster, &[("hbase.client.retries.number", "1")]).await;
    let error = FaultAction::Error("DoNotRetryIOException".to_owned());
    disturb(&cluster, server_of(&cluster, "a"), error);
    let gets = [get("a").with_replica_id(1), get("a"), get("b").with_replica_id(7)];
    let results = table.batch(&gets.map(Action::from)).await.unwrap();
    let row = results[0].as_ref().unwrap().row().unwrap();
    assert_eq!(row.value("f", "q"), Some(&b"a"[..]));
    // What a retry cannot fix, a replica cannot fix either.
    assert_eq!(results[1].as_ref().unwrap_err().exception(), Exception::DoNotRetryIo);
    let error = results[2].as_ref().unwrap_err();
    assert!(error.message().contains("has no replica 7"), "{error}");
    assert_eq!(client.metrics().hedged_reads, 0);
}

#[tokio::test]
async fn one_replica_may_be_named() {
    let cluster = Cluster::start(3);
    let (client, table) = replicated(&cluster, &[("hbase.client.retries.number", "1")]).await;
    let primary = server_of(&cluster, "a");
    disturb(&cluster, primary, FaultAction::Error("DoNotRetryIOException".to_owned()));
    for replica in [1, 2] {
        let row = table.get(&get("a").with_replica_id(replica)).await.unwrap();
        assert_eq!(row.value("f", "q"), Some(&b"a"[..]));
        let scan = Scan::new().with_consistency(Consistency::Timeline).with_stop_row("m");
        assert_eq!(rows_of(&table, &scan.with_replica_id(replica)).await, ["a", "b"]);
    }
    let error = table.get(&get("a").with_replica_id(0)).await.unwrap_err();
    assert_eq!(error.exception(), Exception::DoNotRetryIo);
    let error = table.get(&get("a").with_replica_id(7)).await.unwrap_err();
    assert!(error.message().contains("has no replica 7"), "{error}");
    assert_eq!(client.metrics().hedged_reads, 0);
}

#[tokio::test]
async fn replicas_are_found_again_after_a_move() {
    let cluster = Cluster::start(3);
    let (_, table) = replicated(&cluster, &[]).await;
    let read = async |replica: u16| {
        let row = table.get(&get("a").with_replica_id(replica)).await.unwrap();
        assert_eq!(row.value("f", "q"), Some(&b"a"[..]));
    };
    let regions = cluster.direct("t").regions().unwrap();
    let name = regions[0].encoded_name();
    for step in 1..=3 {
        read(1).await;
        read(2).await;
        // The replicas of a region follow it from server to server.
        let server = cluster.server.faults().server_of(name).unwrap();
        cluster.server.faults().move_region(name, (server + step) % 3).unwrap();
    }
    read(1).await;
    read(2).await;
    read(0).await;
}
