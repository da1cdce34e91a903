//! Goal: a scan that fetches in advance returns the same rows, and asks for the next ones before
//! they are requested, but not for more than its caller should hold in memory.
//! Method: a server in this process that counts the calls.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use hblite_client::{Client, Table};
use hblite_model::{Action, Exception, Put, Scan, ScanStep};
use hblite_server::{FaultAction, FaultRule};

use crate::support::{Cluster, rows_of};

const ROWS: usize = 60;

/// A table with rows of about a kilobyte, in three regions.
async fn filled(cluster: &Cluster) -> (Client, Table, Vec<String>) {
    cluster.table("t", &["row20", "row40"]).await;
    let client = cluster.client();
    let table = client.table("t".parse().unwrap());
    let names: Vec<String> = (0..ROWS).map(|number| format!("row{number:02}")).collect();
    let value = "v".repeat(1_000);
    let puts: Vec<Action> =
        names.iter().map(|name| Put::new(name).add("f", "q", value.as_str()).into()).collect();
    for result in table.batch(&puts).await.unwrap() {
        result.unwrap();
    }
    (client, table, names)
}

fn scans(client: &Client) -> u64 {
    client.metrics().scan.answered
}

/// Waits until this many calls were answered.
async fn answered(client: &Client, calls: u64) {
    let began = Instant::now();
    while scans(client) < calls {
        assert!(began.elapsed() < Duration::from_secs(30), "{} calls", scans(client));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn the_rows_are_those_of_an_ordinary_scan() {
    let cluster = Cluster::start(3);
    let (_, table, names) = filled(&cluster).await;
    let reversed: Vec<String> = names.iter().rev().cloned().collect();
    for scan in [
        Scan::new().with_caching(7),
        Scan::new().with_size_max_bytes(1),
        Scan::new().with_size_max_bytes(3_000),
        Scan::new(),
    ] {
        let scan = scan.with_async_prefetch(true);
        assert_eq!(rows_of(&table, &scan).await, names);
        assert_eq!(rows_of(&table, &scan.clone().with_reversed(true)).await, reversed);
        assert_eq!(rows_of(&table, &scan.clone().with_limit(30)).await, names[..30]);
    }
}

#[tokio::test]
async fn the_next_rows_are_fetched_before_they_are_requested() {
    let cluster = Cluster::start(1);
    let (client, table, _) = filled(&cluster).await;
    let scan = Scan::new().with_caching(10).with_async_prefetch(true);
    let mut scanner = table.scan(&scan).await.unwrap();
    answered(&client, 1).await;
    scanner.next_row().await.unwrap().unwrap();
    answered(&client, 2).await;
}

#[tokio::test]
async fn no_more_is_ready_than_one_fetch_may_return() {
    let cluster = Cluster::start(1);
    let (client, table, names) = filled(&cluster).await;
    // A fetch ends after the row that exceeds the limit, so each returns one row.
    let scan = Scan::new().with_size_max_bytes(1).with_async_prefetch(true);
    let mut scanner = table.scan(&scan).await.unwrap();
    for (name, calls) in names[..10].iter().zip(1..) {
        answered(&client, calls).await;
        assert_eq!(scans(&client), calls);
        assert_eq!(scanner.next_row().await.unwrap().unwrap().row(), name.as_bytes());
    }
}

#[tokio::test]
async fn an_ordinary_scan_fetches_only_what_is_requested() {
    let cluster = Cluster::start(1);
    let (client, table, _) = filled(&cluster).await;
    let mut scanner = table.scan(&Scan::new().with_caching(10)).await.unwrap();
    assert_eq!(scans(&client), 0);
    for _ in 0..10 {
        scanner.next_row().await.unwrap().unwrap();
    }
    assert_eq!(scans(&client), 1);
    // With the setting, scans need not say so.
    let setting = "hbase.client.scanner.async.prefetch=true";
    let client = Client::connect(&format!("{}?{setting}", cluster.url())).await.unwrap();
    let table = client.table("t".parse().unwrap());
    let _scanner = table.scan(&Scan::new()).await.unwrap();
    answered(&client, 1).await;
    let before = scans(&client);
    table.scan(&Scan::new().with_async_prefetch(false)).await.unwrap();
    assert_eq!(scans(&client), before);
}

#[tokio::test]
async fn a_failure_follows_the_rows_before_it() {
    let cluster = Cluster::start(1);
    let (_, table, names) = filled(&cluster).await;
    let error = FaultAction::Error("DoNotRetryIOException".to_owned());
    let rule = FaultRule::new(error).methods(["Scan"]).table("t").skip(1);
    cluster.server.faults().set(rule).unwrap();
    let scan = Scan::new().with_caching(10).with_async_prefetch(true);
    let mut scanner = table.scan(&scan).await.unwrap();
    for name in &names[..10] {
        assert_eq!(scanner.next_row().await.unwrap().unwrap().row(), name.as_bytes());
    }
    let error = scanner.next_row().await.unwrap_err();
    assert_eq!(error.exception(), Exception::DoNotRetryIo);
    assert!(scanner.next_row().await.unwrap().is_none(), "the scan is over");
}

#[tokio::test]
async fn a_search_with_a_time_limit_ends_prefetching() {
    let cluster = Cluster::start(1);
    let (client, table, names) = filled(&cluster).await;
    let scan = Scan::new().with_caching(10).with_async_prefetch(true);
    let mut scanner = table.scan(&scan).await.unwrap();
    let mut found = Vec::new();
    let limit = Duration::from_secs(30);
    while let ScanStep::Row(row) = scanner.next_row_within(limit).await.unwrap() {
        found.push(String::from_utf8_lossy(row.row()).into_owned());
        if found.len() == 10 {
            assert_eq!(scans(&client), 1);
        }
    }
    assert_eq!(found, names);
}

#[tokio::test]
async fn a_dropped_scan_closes_its_scanner() {
    let cluster = Cluster::start(1);
    let (client, table, _) = filled(&cluster).await;
    let scan = Scan::new().with_caching(10).with_size_max_bytes(1).with_async_prefetch(true);
    let mut scanner = table.scan(&scan).await.unwrap();
    scanner.next_row().await.unwrap().unwrap();
    answered(&client, 2).await;
    scanner.renew_lease().await.unwrap();
    assert_eq!(scans(&client), 2, "the fetch has extended the lease");
    drop(scanner);
    answered(&client, 3).await;
}
