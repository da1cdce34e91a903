//! Goal: what HBase's client refuses or reports at once is not retried, and has its message.
//! Method: a server in this process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use hblite_model::{CompactRequest, Exception, MergeKind, TableName};
use support::Cluster;
use tokio::time::timeout;

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
        assert_eq!(error.message(), "Can't invoke merge on unknown region notaregion");
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
