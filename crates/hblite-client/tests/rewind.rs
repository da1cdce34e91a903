//! Goal: a connected client keeps working through rewinds: its cached regions stay valid, and its
//! scans continue.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::{Cluster, rows_of};
use hblite_model::{Get, Put, Scan};

#[tokio::test]
async fn a_client_goes_on_through_rewinds() {
    let cluster = Cluster::start(2);
    let table = cluster.table("t", &["m"]).await;
    for row in ["a", "b", "x", "y"] {
        table.mutate(Put::new(row).add("f", "q", "1").as_mutation()).await.unwrap();
    }
    let state = cluster.server.state().clone();
    state.checkpoint("base").unwrap();
    for _ in 0..3 {
        table.mutate(Put::new("c").add("f", "q", "2").as_mutation()).await.unwrap();
        // Regions of the checkpoint that were split or merged are back.
        let direct = cluster.server.connection().admin();
        direct.split_table("t", Some(b"f")).unwrap();
        assert_eq!(rows_of(&table, &Scan::new()).await, ["a", "b", "c", "x", "y"]);
        let scan = Scan::new().with_caching(1);
        let mut scanner = table.scan(&scan).await.unwrap();
        assert_eq!(scanner.next_row().await.unwrap().unwrap().row(), b"a");

        state.rewind("base").unwrap();
        assert!(table.get(&Get::new("c")).await.unwrap().is_empty());
        let mut rest = Vec::new();
        while let Some(row) = scanner.next_row().await.unwrap() {
            rest.push(String::from_utf8_lossy(row.row()).into_owned());
        }
        // The scanner already had some rows; it requests the following ones again.
        assert!(rest.ends_with(&["x".to_owned(), "y".to_owned()]), "{rest:?}");
        assert_eq!(rows_of(&table, &Scan::new()).await, ["a", "b", "x", "y"]);
    }
}
