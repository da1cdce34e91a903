//! Scanners as clients drive them: limits, sequence numbers, leases, closing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use crate::support::{self, Answer, Client, create_table, region};
use hblite::{ManualClock, Options, Put};
use hblite_server::{ServerOptions, TestServer};
use hblite_wire::cell_block::CellReader;
use hblite_wire::pb;

/// A server with the table `t` of `rows` rows, each with three cells; returns the region's name.
fn start(rows: usize) -> (TestServer, Vec<u8>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let options = Options::new().with_clock(Arc::clone(&clock) as Arc<_>);
    let server =
        TestServer::start_with(options, ServerOptions::on_free_ports()).expect("it starts");
    let name = create_table(&server, "t", &[]).remove(0);
    let table = server.connection().table("t").expect("a name");
    for row in 0..rows {
        let put = Put::new(format!("r{row:03}"));
        let put = ["a", "b", "c"].into_iter().fold(put, |put, name| put.add("f", name, "value"));
        table.put(&put).expect("written");
    }
    (server, name, clock)
}

/// The opening call of a client that can reassemble rows.
fn open(name: &[u8], scan: pb::Scan, rows: u32) -> pb::ScanRequest {
    pb::ScanRequest {
        region: Some(region(name)),
        scan: Some(scan),
        number_of_rows: Some(rows),
        client_handles_partials: Some(true),
        client_handles_heartbeats: Some(true),
        ..pb::ScanRequest::default()
    }
}

fn next(id: u64, rows: u32, sequence: Option<u64>) -> pb::ScanRequest {
    pb::ScanRequest {
        scanner_id: Some(id),
        number_of_rows: Some(rows),
        next_call_seq: sequence,
        client_handles_partials: Some(true),
        client_handles_heartbeats: Some(true),
        ..pb::ScanRequest::default()
    }
}

fn rows_of(answer: &Answer) -> Vec<String> {
    let response: pb::ScanResponse = answer.decode();
    let mut cells = CellReader::new(&answer.cells);
    let mut rows = Vec::new();
    for count in response.cells_per_result {
        let first = cells.next_cell().expect("a cell");
        rows.push(String::from_utf8_lossy(first.row()).into_owned());
        cells.skip(count as usize - 1).expect("all cells");
    }
    rows
}

#[test]
fn a_scan_goes_on_where_it_stopped_until_the_region_ends() {
    let (server, name, _) = start(5);
    let mut client = Client::data(&server);
    let answer = client.call("Scan", &open(&name, pb::Scan::default(), 2));
    let opened: pb::ScanResponse = answer.decode();
    assert_eq!(rows_of(&answer), ["r000", "r001"]);
    assert_eq!((opened.more_results, opened.more_results_in_region), (Some(true), Some(true)));
    let id = opened.scanner_id.unwrap();
    let answer = client.call("Scan", &next(id, 2, Some(0)));
    assert_eq!(rows_of(&answer), ["r002", "r003"]);
    assert_eq!(answer.decode::<pb::ScanResponse>().scanner_id, Some(id));
    let answer = client.call("Scan", &next(id, 2, Some(1)));
    assert_eq!(rows_of(&answer), ["r004"]);
    let last: pb::ScanResponse = answer.decode();
    assert_eq!((last.more_results, last.more_results_in_region), (Some(true), Some(false)));
    assert_eq!(server.server().open_scanners(), 0);
    // Older clients close closed scanners, and some call once more.
    let close = pb::ScanRequest { close_scanner: Some(true), ..next(id, 0, None) };
    assert_eq!(client.call("Scan", &close).decode::<pb::ScanResponse>().scanner_id, Some(id));
    assert!(rows_of(&client.call("Scan", &next(id, 2, Some(2)))).is_empty());
    let answer = client.call("Scan", &next(id, 2, Some(7)));
    assert_eq!(answer.exception(), ("OutOfOrderScannerNextException", true));
}

#[test]
fn a_scan_that_takes_long_goes_on_with_what_it_had() {
    let (server, name, _) = start(0);
    let table = server.connection().table("t").unwrap();
    let names: Vec<String> = (0..20_000).map(|row| format!("r{row:05}")).collect();
    let puts: Vec<Put> =
        names.iter().map(|row| Put::new(row.as_str()).add("f", "a", "value")).collect();
    table.put_all(&puts).unwrap();
    let mut client = Client::data(&server);
    // A few milliseconds, in which it moves from the connection's task to a thread.
    let answer = client.call("Scan", &open(&name, pb::Scan::default(), 15_000));
    assert_eq!(rows_of(&answer), names[..15_000]);
    let id = answer.decode::<pb::ScanResponse>().scanner_id.unwrap();
    let answer = client.call("Scan", &next(id, 15_000, Some(0)));
    assert_eq!(rows_of(&answer), names[15_000..]);
    assert_eq!(server.server().open_scanners(), 0);
}

#[test]
fn a_call_out_of_order_is_refused_and_the_scanner_stays() {
    let (server, name, _) = start(5);
    let mut client = Client::data(&server);
    let opened = client.call("Scan", &open(&name, pb::Scan::default(), 1));
    let id = opened.decode::<pb::ScanResponse>().scanner_id.unwrap();
    let answer = client.call("Scan", &next(id, 1, Some(1)));
    assert_eq!(answer.exception(), ("OutOfOrderScannerNextException", true));
    assert_eq!(rows_of(&client.call("Scan", &next(id, 1, Some(0)))), ["r001"]);
    // A renewal counts as a call.
    let renew = pb::ScanRequest { renew: Some(true), ..next(id, 0, Some(1)) };
    let renewed: pb::ScanResponse = client.call("Scan", &renew).decode();
    assert_eq!(renewed, pb::ScanResponse { scanner_id: Some(id), ..pb::ScanResponse::default() });
    assert_eq!(rows_of(&client.call("Scan", &next(id, 1, Some(2)))), ["r002"]);
    let answer = client.call("Scan", &next(id + 1, 1, Some(0)));
    assert_eq!(answer.exception(), ("UnknownScannerException", true));
}

#[test]
fn leases_follow_the_stores_clock() {
    let (server, name, clock) = start(5);
    let mut client = Client::data(&server);
    let opened = client.call("Scan", &open(&name, pb::Scan::default(), 1));
    let id = opened.decode::<pb::ScanResponse>().scanner_id.unwrap();
    clock.advance(59_999);
    let renew = pb::ScanRequest { renew: Some(true), ..next(id, 0, None) };
    client.call("Scan", &renew).decode::<pb::ScanResponse>();
    clock.advance(59_999);
    assert_eq!(rows_of(&client.call("Scan", &next(id, 1, None))), ["r001"]);
    clock.advance(60_000);
    let answer = client.call("Scan", &next(id, 1, None));
    assert_eq!(answer.exception(), ("UnknownScannerException", true));
    assert!(answer.exception_text().contains("hbase.client.scanner.timeout.period"));
    assert_eq!(server.server().open_scanners(), 0);
}

/// Java's client hangs if such an answer comes too soon.
#[test]
fn the_answer_that_opens_a_scanner_of_single_cells_has_none() {
    let (server, name, _) = start(2);
    let mut client = Client::data(&server);
    let scan = || pb::Scan { max_result_size: Some(1), ..pb::Scan::default() };
    let opening = pb::ScanRequest {
        client_handles_partials: Some(true),
        client_handles_heartbeats: Some(true),
        ..open(&name, scan(), 100)
    };
    let response: pb::ScanResponse = client.call("Scan", &opening).decode();
    assert_eq!(response.heartbeat_message, Some(true));
    assert_eq!((response.more_results, response.more_results_in_region), (Some(true), Some(true)));
    assert!(response.cells_per_result.is_empty());
    let answer = client.call("Scan", &next(response.scanner_id.unwrap(), 100, Some(0)));
    assert_eq!(answer.decode::<pb::ScanResponse>().cells_per_result, [1]);
    // A client that counts answers, or cannot handle an empty one, gets the cell.
    let cursors = pb::ScanRequest {
        scan: Some(pb::Scan { need_cursor_result: Some(true), ..scan() }),
        ..opening.clone()
    };
    let old = pb::ScanRequest { client_handles_heartbeats: None, ..opening };
    for request in [cursors, old] {
        let response: pb::ScanResponse = client.call("Scan", &request).decode();
        assert_eq!(response.cells_per_result, [1]);
    }
}

#[test]
fn rows_are_cut_for_clients_that_put_them_together_and_for_no_others() {
    let (server, name, _) = start(2);
    let mut client = Client::data(&server);
    // Two cells fill it: each counts for its bytes and an object around them.
    let scan = || pb::Scan { max_result_size: Some(100), ..pb::Scan::default() };
    let answer = client.call("Scan", &open(&name, scan(), 100));
    let response: pb::ScanResponse = answer.decode();
    assert_eq!(
        (response.cells_per_result, response.partial_flag_per_result),
        (vec![2], vec![true])
    );
    assert_eq!(response.more_results_in_region, Some(true));
    let rest = client.call("Scan", &next(response.scanner_id.unwrap(), 100, Some(0)));
    let rest: pb::ScanResponse = rest.decode();
    assert_eq!((rest.cells_per_result[0], rest.partial_flag_per_result[0]), (1, false));
    let whole = pb::ScanRequest {
        client_handles_partials: Some(false),
        client_handles_heartbeats: Some(false),
        ..open(&name, scan(), 100)
    };
    let response: pb::ScanResponse = client.call("Scan", &whole).decode();
    assert_eq!(
        (response.cells_per_result, response.partial_flag_per_result),
        (vec![3], vec![false])
    );
}

#[test]
fn a_batch_cuts_rows_and_the_last_piece_says_so() {
    let (server, name, _) = start(1);
    let mut client = Client::data(&server);
    let scan = pb::Scan { batch_size: Some(2), ..pb::Scan::default() };
    let response: pb::ScanResponse = client.call("Scan", &open(&name, scan, 100)).decode();
    assert_eq!(response.cells_per_result, [2, 1]);
    assert_eq!(response.partial_flag_per_result, [true, false]);
    // A part that ends with its row and the region is not partial.
    let scan = pb::Scan { batch_size: Some(3), ..pb::Scan::default() };
    let response: pb::ScanResponse = client.call("Scan", &open(&name, scan, 100)).decode();
    assert_eq!(
        (response.cells_per_result, response.partial_flag_per_result),
        (vec![3], vec![false])
    );
}

#[test]
fn the_limit_of_rows_ends_the_scan() {
    let (server, name, _) = start(5);
    let mut client = Client::data(&server);
    let request =
        pb::ScanRequest { limit_of_rows: Some(3), ..open(&name, pb::Scan::default(), 100) };
    let answer = client.call("Scan", &request);
    assert_eq!(rows_of(&answer).len(), 3);
    let response: pb::ScanResponse = answer.decode();
    assert_eq!((response.more_results, response.more_results_in_region), (Some(false), Some(true)));
    assert_eq!(server.server().open_scanners(), 0);
    // Parts of a row count once.
    let scan = pb::Scan { batch_size: Some(1), ..pb::Scan::default() };
    let request = pb::ScanRequest { limit_of_rows: Some(2), ..open(&name, scan, 100) };
    let answer = client.call("Scan", &request);
    assert_eq!(rows_of(&answer), ["r000", "r000", "r000", "r001", "r001", "r001"]);
}

#[test]
fn without_a_codec_results_are_in_the_message() {
    let (server, name, _) = start(2);
    let hello = support::header("ClientService", None, Some((2, 6)));
    let mut client = Client::with(server.ports().region_servers[0], &hello);
    let answer = client.call("Scan", &open(&name, pb::Scan::default(), 100));
    assert!(answer.cells.is_empty());
    let response: pb::ScanResponse = answer.decode();
    assert!(response.cells_per_result.is_empty());
    assert_eq!(response.results.len(), 2);
    assert_eq!(response.results[1].cell.len(), 3);
    assert_eq!(response.results[1].cell[2].qualifier.as_deref(), Some(&b"c"[..]));
}

#[test]
fn counters_of_a_scan_are_told_to_who_asks() {
    let (server, name, _) = start(5);
    let mut client = Client::data(&server);
    let prefix = pb::PrefixFilter { prefix: Some("r003".into()) };
    let filter = pb::Filter {
        name: "org.apache.hadoop.hbase.filter.PrefixFilter".to_owned(),
        serialized_filter: Some(prost::Message::encode_to_vec(&prefix).into()),
    };
    let scan = pb::Scan { filter: Some(filter), ..pb::Scan::default() };
    let request = pb::ScanRequest { track_scan_metrics: Some(true), ..open(&name, scan, 100) };
    let answer = client.call("Scan", &request);
    assert_eq!(rows_of(&answer), ["r003"]);
    let metrics = answer.decode::<pb::ScanResponse>().scan_metrics.unwrap().metrics;
    let value = |name: &str| {
        metrics.iter().find(|one| one.name.as_deref() == Some(name)).and_then(|one| one.value)
    };
    assert_eq!((value("ROWS_SCANNED"), value("ROWS_FILTERED")), (Some(4), Some(4)));
}

#[test]
fn a_scanner_of_a_region_that_was_split_says_that_it_is_not_served() {
    let (server, name, _) = start(5);
    let mut client = Client::data(&server);
    let opened = client.call("Scan", &open(&name, pb::Scan::default(), 1));
    let id = opened.decode::<pb::ScanResponse>().scanner_id.unwrap();
    server.connection().admin().split_table("t", Some(b"r002")).unwrap();
    let answer = client.call("Scan", &next(id, 1, Some(0)));
    assert_eq!(answer.exception(), ("NotServingRegionException", false));
    assert_eq!(server.server().open_scanners(), 0);
}
