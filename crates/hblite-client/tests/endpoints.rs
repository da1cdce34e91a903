//! Goal: endpoints are called on the right regions, and aggregates count every row once, while
//! regions move and split.
//! Method: the endpoints of a server in this process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_client::Table;
use hblite_model::{Action, Exception, Get, Put, Scan};
use hblite_server::{FaultAction, FaultRule};
use hblite_wire::cell_block::Codec;
use hblite_wire::{convert, pb};
use prost::Message;

use crate::support::Cluster;

const ROWS: i64 = 100;

/// Writes [`ROWS`] rows with the numbers from 0 on.
async fn fill(table: &Table) {
    let put = |number: i64| Put::new(format!("row{number:03}")).add("f", "n", number);
    let actions: Vec<Action> = (0..ROWS).map(|number| put(number).into()).collect();
    for result in table.batch(&actions).await.unwrap() {
        result.unwrap();
    }
}

#[tokio::test]
async fn the_servers_count_and_add_up() {
    let cluster = Cluster::start(3);
    let table = cluster.table("t", &["row020", "row060"]).await;
    fill(&table).await;
    let all = Scan::new().with_family("f");
    assert_eq!(table.row_count(&Scan::new()).await.unwrap(), 100);
    assert_eq!(table.sum(&all).await.unwrap(), Some(4_950));
    assert_eq!(table.min(&all).await.unwrap(), Some(0));
    assert_eq!(table.max(&all).await.unwrap(), Some(99));
    assert_eq!(table.avg(&all).await.unwrap(), Some(49.5));
    // Ranges that begin and end within regions, with and without their boundaries.
    let some = all.clone().with_start_row("row010").with_stop_row("row070");
    assert_eq!(table.row_count(&some).await.unwrap(), 60);
    assert_eq!(table.max(&some).await.unwrap(), Some(69));
    let some = all.clone().with_start_row_exclusive("row010").with_stop_row_inclusive("row070");
    assert_eq!(table.row_count(&some).await.unwrap(), 60);
    assert_eq!(table.min(&some).await.unwrap(), Some(11));
    let none = all.clone().with_start_row("x");
    assert_eq!(table.row_count(&none).await.unwrap(), 0);
    assert_eq!((table.sum(&none).await.unwrap(), table.avg(&none).await.unwrap()), (None, None));
    // What HBase's client refuses.
    for (refused, message) in [
        (Scan::new(), "There must be only one family."),
        (all.clone().with_family("g"), "There must be only one family."),
        (
            all.with_start_row("b").with_stop_row("a"),
            "Agg client Exception: Startrow should be smaller than Stoprow",
        ),
    ] {
        assert_eq!(table.sum(&refused).await.unwrap_err().message(), message);
    }
}

#[tokio::test]
async fn every_row_counts_once_while_regions_move_and_split() {
    let cluster = Cluster::start(3);
    let table = cluster.table("t", &["row050"]).await;
    fill(&table).await;
    let faults = cluster.server.faults().clone();
    let lost = FaultRule::new(FaultAction::DropAfter);
    faults.set(lost.methods(["ExecService"]).table("t").rate(0.1).seed(1)).unwrap();
    let region_of = |row: &str| {
        let regions = cluster.direct("t").regions().unwrap();
        let region = regions.iter().find(|region| region.contains_row(row.as_bytes())).unwrap();
        region.encoded_name().to_owned()
    };
    for number in [10, 70, 30, 90, 20] {
        let row = format!("row{number:03}");
        // The client does not know yet that the region has split, and that the rest has moved.
        faults.split_region(&region_of(&row), Some(row.as_bytes())).unwrap();
        faults.move_region(&region_of(&row), (number / 10) % 3).unwrap();
        let scan = Scan::new().with_family("f");
        assert_eq!(table.row_count(&scan).await.unwrap(), 100, "{row}");
        assert_eq!(table.sum(&scan).await.unwrap(), Some(4_950), "{row}");
    }
    assert_eq!(table.row_count(&Scan::new()).await.unwrap(), 100);
}

#[tokio::test]
async fn any_endpoint_can_be_called() {
    let cluster = Cluster::start(2);
    let table = cluster.table("t", &["m"]).await;
    let mutation = |row: &str| {
        let put = Put::new(row).add("f", "q", row);
        let mut cells = Vec::new();
        let mut message = convert::mutation_message(put.as_mutation(), Codec::KeyValue, &mut cells);
        // An endpoint's request has its cells in the message.
        let value = pb::mutation_proto::column_value::QualifierValue {
            qualifier: Some(b"q".as_slice().into()),
            value: Some(row.as_bytes().to_vec().into()),
            ..Default::default()
        };
        message.associated_cell_count = None;
        message.column_value = vec![pb::mutation_proto::ColumnValue {
            family: b"f".as_slice().into(),
            qualifier_value: vec![value],
        }];
        message
    };
    let request = pb::MutateRowsRequest {
        mutation_request: vec![mutation("n"), mutation("o")],
        ..pb::MutateRowsRequest::default()
    };
    let (service, request) = ("MultiRowMutationService", request.encode_to_vec());
    let answer = table.exec_service(b"n", service, "MutateRows", &request).await.unwrap();
    assert_eq!(pb::MutateRowsResponse::decode(answer).unwrap().processed, Some(true));
    for row in ["n", "o"] {
        assert!(cluster.direct("t").exists(&Get::new(row)).unwrap(), "{row}");
    }
    let error = table.exec_service(b"n", "NoService", "Nothing", b"").await.unwrap_err();
    assert!(error.message().contains("NoService"), "{error}");
    assert_ne!(error.exception(), Exception::TableNotFound);
    let missing = cluster.client().table("none".parse().unwrap());
    let error = missing.exec_service(b"n", service, "MutateRows", b"").await.unwrap_err();
    assert_eq!(error.exception(), Exception::TableNotFound);
}
