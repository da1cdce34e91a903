//! Goal: a client without a master says so, and a client that finds its cluster through servers
//! keeps finding it when those of its URL no longer answer.
//! Method: a server in this process whose master drops connections.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use hblite_client::{Client, ClientSettings, ClusterAddress, ServerAddress};
use hblite_model::{Exception, Get, SystemTables};
use hblite_server::{FaultAction, FaultRule, FaultServer};

use crate::support::Cluster;

/// A client that gives up soon, with these additional settings.
fn client(address: ClusterAddress, more: &[(&str, &str)]) -> Client {
    let mut settings = ClientSettings::new();
    let few = [
        ("hbase.client.pause", "2"),
        ("hbase.client.retries.number", "2"),
        ("hbase.rpc.timeout", "5000"),
    ];
    for (name, value) in few.iter().chain(more) {
        assert!(settings.set(name, value).unwrap(), "{name}");
    }
    Client::new(address, settings)
}

fn of_server(port: u16) -> ClusterAddress {
    ClusterAddress::Rpc { servers: vec![ServerAddress { host: "127.0.0.1".to_owned(), port }] }
}

/// The master answers no call of these methods.
fn silence_master(cluster: &Cluster, methods: &[&str]) {
    let rule = FaultRule::new(FaultAction::DropBefore).methods(methods.iter().copied());
    cluster.server.faults().set(rule.server(FaultServer::Master)).unwrap();
}

/// How often these methods were called.
fn watch(cluster: &Cluster, method: &str, server: FaultServer) -> impl Fn() -> u64 {
    let rule = FaultRule::new(FaultAction::Delay(Duration::ZERO, Duration::ZERO));
    let faults = cluster.server.faults().clone();
    let id = faults.set(rule.methods([method]).server(server)).unwrap();
    move || faults.list().iter().find(|status| status.id == id).unwrap().seen
}

#[tokio::test]
async fn a_missing_master_is_reported() {
    let cluster = Cluster::start(1);
    let port = cluster.server.ports().zookeeper.unwrap();
    let quorum = vec![ServerAddress { host: "127.0.0.1".to_owned(), port }];
    let nowhere = ClusterAddress::ZooKeeper { quorum, parent: "/elsewhere".to_owned() };
    let client = client(nowhere, &[]);
    let error = client.master().await.unwrap_err();
    assert_eq!(error.exception(), Exception::MasterNotRunning);
    assert!(error.message().contains("/elsewhere/master"), "{error}");
    let error = client.admin().list_tables(SystemTables::Exclude).await.unwrap_err();
    assert_eq!(error.exception(), Exception::MasterNotRunning);
    assert!(error.message().contains("gave up after 3 attempts"), "{error}");
    // Without hbase:meta there is no region either, but that is not known.
    let error = client.table("t".parse().unwrap()).get(&Get::new("r")).await.unwrap_err();
    assert_eq!(error.exception(), Exception::Io);
    assert!(error.message().contains("/elsewhere/meta-region-server"), "{error}");
}

#[tokio::test]
async fn a_registry_that_does_not_answer_is_an_io_error() {
    let cluster = Cluster::start(1);
    silence_master(&cluster, &["GetActiveMaster", "GetMetaRegionLocations"]);
    let client = client(of_server(cluster.server.ports().master), &[]);
    let error = client.master().await.unwrap_err();
    assert_eq!(error.exception(), Exception::Io);
    assert!(error.message().contains("no server says where the master is"), "{error}");
    let error = client.table("t".parse().unwrap()).get(&Get::new("r")).await.unwrap_err();
    assert_eq!(error.exception(), Exception::Io);
}

/// Calls until the answer is as wanted, and fails after a long time.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_servers_that_are_asked_are_refreshed() {
    let cluster = Cluster::start(2);
    let asked_for_nodes = watch(&cluster, "GetBootstrapNodes", FaultServer::Master);
    let first = watch(&cluster, "GetActiveMaster", FaultServer::RegionServer(0));
    let second = watch(&cluster, "GetActiveMaster", FaultServer::RegionServer(1));
    let client = client(
        of_server(cluster.server.ports().master),
        &[("hbase.client.bootstrap.initial_refresh_delay_secs", "0")],
    );
    assert_eq!(client.master().await.unwrap().port, cluster.server.ports().master);
    // From the refresh on, region servers are asked, two at a time.
    until("a refresh", async || {
        client.master().await.unwrap();
        first() > 0 && second() > 0
    })
    .await;
    assert_eq!(asked_for_nodes(), 1);
    silence_master(&cluster, &["GetActiveMaster"]);
    assert_eq!(client.master().await.unwrap().port, cluster.server.ports().master);
    // When none of them answers, the one of the URL is asked again.
    cluster.server.faults().clear_all();
    for server in [0, 1] {
        cluster.server.faults().crash(server, None).unwrap();
    }
    assert_eq!(client.master().await.unwrap().port, cluster.server.ports().master);
}

#[tokio::test]
async fn servers_without_bootstrap_nodes_name_their_masters() {
    let cluster = Cluster::start(1);
    let asked_for_masters = watch(&cluster, "GetMasters", FaultServer::Master);
    let refused = FaultAction::Error("DoNotRetryIOException".to_owned());
    let rule = FaultRule::new(refused).methods(["GetBootstrapNodes"]);
    cluster.server.faults().set(rule).unwrap();
    let client = client(
        of_server(cluster.server.ports().master),
        &[("hbase.client.master_registry.initial_refresh_delay_secs", "0")],
    );
    client.master().await.unwrap();
    until("a refresh", async || asked_for_masters() == 1).await;
    client.master().await.unwrap();
}

#[tokio::test]
async fn a_server_that_does_not_answer_causes_a_refresh() {
    let cluster = Cluster::start(1);
    let asked_for_nodes = watch(&cluster, "GetBootstrapNodes", FaultServer::Master);
    silence_master(&cluster, &["GetActiveMaster"]);
    let client = client(
        of_server(cluster.server.ports().master),
        &[("hbase.client.bootstrap.min_secs_between_refreshes", "0")],
    );
    client.master().await.unwrap_err();
    until("a refresh", async || asked_for_nodes() > 0).await;
    until("a region server", async || client.master().await.is_ok()).await;
}

#[tokio::test]
async fn an_interval_of_zero_turns_refreshing_off() {
    let cluster = Cluster::start(1);
    let asked_for_nodes = watch(&cluster, "GetBootstrapNodes", FaultServer::Master);
    let settings = [
        ("hbase.client.bootstrap.refresh_interval_secs", "0"),
        ("hbase.client.bootstrap.initial_refresh_delay_secs", "0"),
    ];
    let client = client(of_server(cluster.server.ports().master), &settings);
    for _ in 0..20 {
        client.master().await.unwrap();
    }
    assert_eq!(asked_for_nodes(), 0);
}
