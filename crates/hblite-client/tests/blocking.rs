//! Goal: `hblite::connect` is a connection like any other: it reports what it cannot do, it can be
//! closed, and asynchronous code that calls it gets an error instead of a panic.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ops::ControlFlow;

use hblite::{
    BulkLoadOptions, ClusterOptions, ColumnFamilyDescriptor, Connection, ErrorKind,
    FailSafeSnapshot, Get, Put, Scan, SnapshotOptions, TableDescriptor,
};
use hblite_server::TestServer;

fn cluster() -> (TestServer, Connection) {
    let server = TestServer::start().unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    let connection =
        ClusterOptions::new().with_setting("hbase.client.pause", "2").connect(&url).unwrap();
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    connection.admin().create_table(&table).unwrap();
    (server, connection)
}

#[test]
fn an_operation_that_a_cluster_does_not_have_is_named() {
    let (_server, connection) = cluster();
    let admin = connection.admin();
    let errors = [
        ("backup", admin.backup("/nowhere").unwrap_err()),
        ("scrub", admin.scrub().unwrap_err()),
        ("bulk_load", admin.bulk_load("t", "/nowhere", &BulkLoadOptions::default()).unwrap_err()),
    ];
    for (operation, error) in errors {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.message(), format!("a cluster does not support {operation}"));
    }
    assert!(connection.dir().is_none() && connection.recovery().is_none());
}

#[test]
fn a_closed_connection_says_so() {
    let (_server, connection) = cluster();
    let table = connection.table("t").unwrap();
    assert!(!table.exists(&Get::new("r")).unwrap());
    connection.close().unwrap();
    assert_eq!(table.exists(&Get::new("r")).unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn a_cluster_has_metrics_and_a_store_has_none() {
    let (_server, connection) = cluster();
    connection.table("t").unwrap().put(&Put::new("r").add("f", "q", "v")).unwrap();
    assert_eq!(connection.client_metrics().map(|metrics| metrics.mutate.answered), Some(1));
    assert!(hblite::open_in_memory().unwrap().client_metrics().is_none());
}

/// Both kinds of runtime.
fn runtimes() -> [tokio::runtime::Runtime; 2] {
    [
        tokio::runtime::Builder::new_current_thread().build().unwrap(),
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap(),
    ]
}

#[test]
fn asynchronous_code_gets_an_error() {
    for runtime in runtimes() {
        let (_server, connection) = cluster();
        let error = runtime.block_on(async move {
            let in_task = connection.clone();
            let get = |connection: &Connection| {
                connection.table("t").unwrap().get(&Get::new("r")).unwrap_err()
            };
            let error = tokio::spawn(async move { get(&in_task) }).await.unwrap();
            assert_eq!(error.message(), get(&connection).message());
            // The last handle is dropped within the runtime.
            drop(connection);
            error
        });
        assert!(error.message().contains("spawn_blocking"), "{error}");
    }
}

#[test]
fn blocking_threads_of_a_runtime_may_call_it() {
    for runtime in runtimes() {
        let (_server, connection) = cluster();
        let exists = runtime.block_on(async move {
            let get = move || connection.table("t")?.exists(&Get::new("r"));
            tokio::task::spawn_blocking(get).await.unwrap()
        });
        assert!(!exists.unwrap());
    }
}

#[test]
fn a_loop_over_cells_may_leave_a_row() {
    let (_server, connection) = cluster();
    let table = connection.table("t").unwrap();
    for row in ["a", "b", "c"] {
        table.put(&Put::new(row).add("f", "1", "v").add("f", "2", "v").add("f", "3", "v")).unwrap();
    }
    let mut scanner = table.scan(&Scan::new().with_batch(1)).unwrap();
    let mut first = || {
        scanner.try_for_each_cell(|cell| {
            ControlFlow::Break((cell.row().to_vec(), cell.qualifier().to_vec()))
        })
    };
    for row in ["a", "b", "c"] {
        let expected = (row.as_bytes().to_vec(), b"1".to_vec());
        assert_eq!(first().unwrap(), ControlFlow::Break(expected));
    }
    assert_eq!(first().unwrap(), ControlFlow::Continue(()));
}

#[test]
fn a_table_is_restored_from_a_snapshot() {
    let (_server, connection) = cluster();
    let (admin, table) = (connection.admin(), connection.table("t").unwrap());
    table.put(&Put::new("r").add("f", "q", "before")).unwrap();
    admin.snapshot("s", "t", &SnapshotOptions::default()).unwrap();
    table.put(&Put::new("r").add("f", "q", "after")).unwrap();
    let error = admin.restore_snapshot("s", FailSafeSnapshot::Take).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongState);
    admin.disable_table("t").unwrap();
    admin.restore_snapshot("s", FailSafeSnapshot::Take).unwrap();
    admin.enable_table("t").unwrap();
    let row = table.get(&Get::new("r")).unwrap();
    assert_eq!(row.value("f", "q"), Some(&b"before"[..]));
    let names: Vec<String> =
        admin.list_snapshots().unwrap().into_iter().map(|snapshot| snapshot.name).collect();
    assert_eq!(names, ["s"]);
    admin.clone_snapshot("s", "u").unwrap();
    assert!(connection.table("u").unwrap().exists(&Get::new("r")).unwrap());
}

#[test]
fn the_settings_limit_the_size_and_age_of_buffered_writes() {
    let (server, connection) = cluster();
    connection.close().unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    let connection = ClusterOptions::new()
        .with_setting("hbase.client.write.buffer.periodicflush.timeout.ms", "5")
        .with_setting("hbase.client.write.buffer", "1000")
        .connect(&url)
        .unwrap();
    let (sender, failed) = std::sync::mpsc::channel();
    let mut writes =
        connection.table("t").unwrap().buffered_mutator().with_error_listener(move |failures| {
            sender.send(failures.into_failed()).unwrap();
            Ok(())
        });
    assert_eq!(writes.size_max_bytes(), 1_000);
    writes.mutate(Put::new("a").add("f", "q", "v")).unwrap();
    writes.mutate(Put::new("b").add("nowhere", "q", "v")).unwrap();
    let failed = failed.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
    let rows: Vec<&[u8]> = failed.iter().map(|one| one.mutation.row()).collect();
    assert_eq!(rows, [b"b"]);
    assert_eq!(failed[0].error.exception(), hblite::Exception::NoSuchColumnFamily);
    writes.close().unwrap();
    assert!(server.connection().table("t").unwrap().exists(&Get::new("a")).unwrap());
}

#[test]
fn buffered_writes_arrive() {
    let (server, connection) = cluster();
    let mut writes = connection.table("t").unwrap().buffered_mutator().with_count_max(100);
    for number in 0..250 {
        writes.mutate(Put::new(format!("r{number:03}")).add("f", "q", "v")).unwrap();
    }
    writes.close().unwrap();
    let table = server.connection().table("t").unwrap();
    assert_eq!(table.scan(&Scan::new()).unwrap().count(), 250);
    assert!(
        connection
            .admin()
            .status()
            .unwrap()
            .regions
            .iter()
            .any(|one| { one.region.table().qualifier() == "t" && one.load.write_requests >= 250 })
    );
}
