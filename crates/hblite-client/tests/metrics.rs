//! Goal: the metrics of a client count what it did.
//! Method: a server in this process, with faults that make calls fail.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use hblite_client::{Client, ClientMetrics};
use hblite_model::filter::parse_filter;
use hblite_model::{Action, Get, Put, Scan, ScanMetrics};
use hblite_server::{FaultAction, FaultRule};

use crate::support::{Cluster, rows_of};

/// The next call of the method is answered with this exception.
fn refuse_one(cluster: &Cluster, method: &str, exception: &str) {
    let rule = FaultRule::new(FaultAction::Error(exception.to_owned()));
    cluster.server.faults().set(rule.methods([method]).table("t").count(1)).unwrap();
}

/// How the calls of a method ended.
fn ends(metrics: &ClientMetrics, method: &str) -> [u64; 4] {
    let (_, calls) = metrics.by_method().find(|(name, _)| *name == method).unwrap();
    assert_eq!(calls.latencies.count(), calls.answered + calls.refused);
    [calls.answered, calls.refused, calls.unanswered, calls.canceled]
}

#[tokio::test]
async fn calls_are_counted_by_method_and_end() {
    let cluster = Cluster::start(2);
    cluster.table("t", &["m"]).await;
    let client = cluster.client();
    let table = client.table("t".parse().unwrap());
    table.mutate(Put::new("a").add("f", "q", "v").as_mutation()).await.unwrap();
    table.get(&Get::new("a")).await.unwrap();
    table.get(&Get::new("b")).await.unwrap();
    let actions: Vec<Action> =
        ["a", "z"].map(|row| Put::new(row).add("f", "q", "v").into()).to_vec();
    table.batch(&actions).await.unwrap();
    assert_eq!(rows_of(&table, &Scan::new()).await, ["a", "z"]);
    let metrics = client.metrics();
    assert_eq!(ends(&metrics, "Get"), [2, 0, 0, 0]);
    assert_eq!(ends(&metrics, "Mutate"), [1, 0, 0, 0]);
    assert_eq!(ends(&metrics, "Multi"), [2, 0, 0, 0], "one for each server");
    assert_eq!(ends(&metrics, "Scan"), [2, 0, 0, 0], "one for each region");
    assert_eq!(ends(&metrics, "meta"), [2, 0, 0, 0], "one for each region");
    assert_eq!((metrics.location_misses, metrics.location_hits), (2, 6));
    assert_eq!(metrics.retries + metrics.operations_failed + metrics.connections_failed, 0);
    assert!(metrics.connections_opened >= 3, "the master and two region servers");
    assert!(metrics.bytes_sent > 100 && metrics.bytes_received > 100, "{metrics:?}");
    assert!(metrics.get.latencies.quantile(1.0) >= metrics.get.latencies.mean());
    assert_eq!(metrics.calls(), 9 + metrics.registry.answered);
}

#[tokio::test]
async fn retries_and_failures_are_counted() {
    let cluster = Cluster::start(1);
    cluster.table("t", &[]).await;
    let client = cluster.client();
    let table = client.table("t".parse().unwrap());
    refuse_one(&cluster, "Get", "CallQueueTooBigException");
    table.get(&Get::new("a")).await.unwrap();
    refuse_one(&cluster, "Get", "NotServingRegionException");
    table.get(&Get::new("a")).await.unwrap();
    let metrics = client.metrics();
    assert_eq!(ends(&metrics, "Get"), [2, 2, 0, 0]);
    assert_eq!((metrics.retries, metrics.retries_after_overload), (2, 1));
    assert_eq!((metrics.locations_cleared, metrics.operations_failed), (1, 0));
    table.get(&Get::new("a").with_family("nowhere")).await.unwrap_err();
    let batch = [Get::new("a").with_family("nowhere"), Get::new("a")].map(Action::from);
    table.batch(&batch).await.unwrap();
    let metrics = client.metrics();
    assert_eq!((metrics.operations_failed, metrics.get.refused), (2, 3));
}

#[tokio::test]
async fn a_batch_says_how_often_it_was_tried() {
    let cluster = Cluster::start(1);
    cluster.table("t", &[]).await;
    let url = format!("{}?hbase.client.retries.number=2&hbase.client.pause=2", cluster.url());
    let client = Client::connect(&url).await.unwrap();
    let rule = FaultRule::new(FaultAction::Error("RegionTooBusyException".to_owned()));
    cluster.server.faults().set(rule.methods(["Multi"]).table("t")).unwrap();
    let puts = ["a", "b"].map(|row| Action::from(Put::new(row).add("f", "q", "v")));
    let results = client.table("t".parse().unwrap()).batch(&puts).await.unwrap();
    for result in results {
        let error = result.unwrap_err();
        assert_eq!(error.exception(), hblite_model::Exception::RegionTooBusy);
        assert!(error.message().contains("(gave up after 3 attempts in "), "{error}");
    }
    let metrics = client.metrics();
    assert_eq!((metrics.retries, metrics.operations_failed, metrics.multi.answered), (2, 2, 3));
}

#[tokio::test]
async fn calls_without_an_answer_are_counted() {
    let cluster = Cluster::start(1);
    cluster.table("t", &[]).await;
    let url = format!("{}?hbase.client.retries.number=0", cluster.url());
    let client = Client::connect(&url).await.unwrap();
    let (table, get) = (client.table("t".parse().unwrap()), Get::new("a"));
    table.get(&get).await.unwrap();
    let faults = cluster.server.faults();
    // A future that is dropped while it waits.
    let late = FaultAction::Delay(Duration::from_secs(20), Duration::from_secs(20));
    faults.set(FaultRule::new(late).methods(["Get"]).table("t")).unwrap();
    tokio::time::timeout(Duration::from_millis(20), table.get(&get)).await.unwrap_err();
    faults.clear_all();
    let lost = FaultRule::new(FaultAction::DropBefore);
    faults.set(lost.methods(["Get"]).table("t").count(1)).unwrap();
    table.get(&get).await.unwrap_err();
    assert_eq!(ends(&client.metrics(), "Get"), [1, 0, 1, 1]);
}

#[tokio::test]
async fn a_scan_counts_its_calls_and_what_servers_count() {
    let cluster = Cluster::start(2);
    cluster.table("t", &["b", "c"]).await;
    let table = cluster.client().table("t".parse().unwrap());
    for row in ["a1", "a2", "b1", "c1"] {
        table.mutate(&Put::new(row).add("f", "q", "value").into()).await.unwrap();
    }
    let filter = parse_filter(b"RowFilter(!=, 'binary:a2')").unwrap();
    let scan = Scan::new().with_filter(filter);
    for is_tracked in [true, false] {
        let mut scanner = table.scan(&scan.clone().with_metrics(is_tracked)).await.unwrap();
        let mut bytes = 0;
        while let Some(row) = scanner.next_row().await.unwrap() {
            bytes += ScanMetrics::bytes_of_result(&row);
        }
        let metrics = scanner.metrics();
        assert_eq!((metrics.regions_scanned, metrics.bytes_in_results), (3, bytes));
        assert!(metrics.rpc_calls >= 3 && metrics.rpc_retries == 0, "{metrics:?}");
        let of_server = (metrics.rows_scanned, metrics.rows_filtered);
        assert_eq!(of_server, if is_tracked { (4, 1) } else { (0, 0) });
    }
}
