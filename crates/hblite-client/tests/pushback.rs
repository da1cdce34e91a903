//! Goal: batches wait before they go to a region that reported a high load, if the settings say so.
//! Method: a server in this process that reports the load of its regions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_client::{Client, ClientMetrics};
use hblite_model::{Action, ColumnFamilyDescriptor, Put, RowMutations, TableDescriptor};
use hblite_server::{ServerOptions, TestServer};

use crate::support::Cluster;

const POLICY: &str = "hbase.client.statistics.backoff-policy=\
                      org.apache.hadoop.hbase.client.backoff.ExponentialClientBackoffPolicy";

/// A cluster whose servers report loads, with a table whose regions are flushed at 1 MiB.
async fn loaded(reports: bool) -> Cluster {
    let options =
        ServerOptions::on_free_ports().with_region_servers(2).with_client_backpressure(reports);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let cluster = Cluster { server };
    let mut descriptor =
        TableDescriptor::new("t".parse().unwrap()).with_family(ColumnFamilyDescriptor::new("f"));
    descriptor.set_attribute("MEMSTORE_FLUSHSIZE", "1048576").unwrap();
    let splits = [b"m".to_vec()];
    cluster.client().admin().create_table(&descriptor, &splits).await.unwrap();
    cluster
}

/// Fills a region by half with `first`, sends both rows in a batch, and returns the metrics.
async fn run(cluster: &Cluster, settings: &str, first: Action) -> ClientMetrics {
    let client = Client::connect(&format!("{}?{settings}", cluster.url())).await.unwrap();
    let table = client.table("t".parse().unwrap());
    let batches =
        [vec![first], ["a", "z"].map(|row| Put::new(row).add("f", "n", "v").into()).into()];
    for batch in batches {
        for result in table.batch(&batch).await.unwrap() {
            result.unwrap();
        }
    }
    client.metrics()
}

fn half() -> Put {
    Put::new("a").add("f", "q", "v".repeat(1 << 19))
}

#[tokio::test]
async fn batches_wait_for_a_region_that_is_loaded() {
    let enabled = format!("hbase.client.backpressure.enabled=true&{POLICY}");
    let settings = format!("{enabled}&hbase.client.exponential-backoff.max=200");
    let cluster = loaded(true).await;
    let metrics = run(&cluster, &settings, half().into()).await;
    // The request for the other region did not wait.
    assert_eq!((metrics.delayed_requests, metrics.multi.answered), (1, 3));
    // Half of the memstore: 200 ms to the fourth power of a half.
    assert!(metrics.retries == 0);
    let several = RowMutations::new("a").add(half()).add(Put::new("a").add("f", "m", "v"));
    let metrics = run(&loaded(true).await, &settings, several.into()).await;
    assert_eq!(metrics.delayed_requests, 1);
}

#[tokio::test]
async fn nothing_waits_without_both_settings_and_reports() {
    let enabled = "hbase.client.backpressure.enabled=true";
    let both = format!("{enabled}&{POLICY}");
    for (reports, settings) in [(true, enabled), (true, POLICY), (false, both.as_str())] {
        let metrics = run(&loaded(reports).await, settings, half().into()).await;
        assert_eq!((metrics.delayed_requests, metrics.multi.answered), (0, 3), "{settings}");
    }
}

#[tokio::test]
async fn a_policy_that_does_not_exist_is_refused() {
    let cluster = Cluster::start(1);
    let policy = "hbase.client.statistics.backoff-policy=com.example.Mine";
    let error = Client::connect(&format!("{}?{policy}", cluster.url())).await.unwrap_err();
    assert!(error.message().contains("ExponentialClientBackoffPolicy"), "{error}");
}
