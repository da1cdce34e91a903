//! Faults on demand, as clients see them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{self, Client, META, create_table, get, put, region};
use hblite::{Durability, Get, Put};
use hblite_server::{FaultAction, FaultRule, FaultServer, ServerOptions, TestServer};
use hblite_wire::pb;

fn error(name: &str) -> FaultRule {
    FaultRule::new(FaultAction::Error(name.to_owned()))
}

/// Servers on free ports, with regions on all of them.
fn servers(count: usize) -> TestServer {
    let options = ServerOptions::on_free_ports().with_region_servers(count);
    TestServer::start_with(hblite::Options::new(), options).expect("it works")
}

fn encoded(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    text.trim_end_matches('.').rsplit('.').next().expect("it works").to_owned()
}

fn mutate(name: &[u8], mutation: pb::MutationProto, nonce_group: u64) -> pb::MutateRequest {
    let nonce_group = Some(nonce_group);
    pb::MutateRequest { region: region(name), mutation, nonce_group, condition: None }
}

fn increment(row: &str, nonce: u64) -> pb::MutationProto {
    let one = String::from_utf8(1_u64.to_be_bytes().to_vec()).expect("it works");
    pb::MutationProto { mutate_type: Some(1), nonce: Some(nonce), ..put(row, "n", &one) }
}

fn counter(server: &TestServer, table: &str, row: &str) -> u64 {
    let found =
        server.connection().table(table).expect("it works").get(&Get::new(row)).expect("it works");
    u64::from_be_bytes(found.value("f", "n").expect("it works").try_into().expect("as it should"))
}

#[test]
fn calls_are_refused_by_method_table_region_and_server_until_the_count_is_over() {
    let server = servers(2);
    let faults = server.faults();
    let t = create_table(&server, "t", &["m"]);
    let u = create_table(&server, "u", &[]);
    let client_of = |name: &[u8]| {
        let port = server.ports().region_servers[faults.server_of(&encoded(name)).unwrap()];
        Client::java(port, "ClientService")
    };
    let row = |name: &[u8]| if name == t[0] { "a" } else { "r" };
    let ask = |name: &[u8]| client_of(name).call("Get", &get(name, row(name)));

    let rule = error("RegionTooBusy").methods(["Get"]).table("t").count(2);
    let id = faults.set(rule).unwrap();
    assert_eq!(ask(&u[0]).header.exception, None);
    assert_eq!(client_of(META).call("Get", &get(META, "r")).header.exception, None);
    assert_eq!(ask(&t[0]).exception(), ("RegionTooBusyException", false));
    assert_eq!(ask(&t[1]).exception(), ("RegionTooBusyException", false));
    assert_eq!(ask(&t[0]).header.exception, None);
    let status = &faults.list()[0];
    assert_eq!((status.id, status.seen, status.happened), (id, 3, 2));
    assert!(faults.clear(id) && !faults.clear(id));

    faults.set(error("CallQueueTooBigException").region(encoded(&t[1]))).unwrap();
    assert_eq!(ask(&t[0]).header.exception, None);
    let answer = ask(&t[1]);
    assert_eq!(answer.exception(), ("CallQueueTooBigException", false));
    assert_eq!(answer.header.exception.unwrap().server_overloaded, Some(true));
    faults.clear_all();

    let other = faults.server_of(&encoded(&t[0])).unwrap();
    faults.set(error("DoNotRetryIO").server(FaultServer::RegionServer(other))).unwrap();
    assert_eq!(ask(&t[0]).exception(), ("DoNotRetryIOException", true));
    assert_eq!(ask(&t[1]).header.exception, None);
    faults.set(error("PleaseHold").server(FaultServer::Master)).unwrap();
    let answer = Client::master(&server).call("IsMasterRunning", &pb::Empty {});
    assert_eq!(answer.exception(), ("PleaseHoldException", false));
    assert!(faults.set(error("NoSuch")).is_err());
    assert!(faults.set(error("IO").server(FaultServer::RegionServer(2))).is_err());
}

#[test]
fn a_multi_is_refused_region_by_region() {
    let server = TestServer::start().unwrap();
    let t = create_table(&server, "t", &["m"]);
    let rule = error("NotServingRegionException").methods(["Multi"]).region(encoded(&t[1]));
    server.faults().set(rule).unwrap();
    let action = |name: &[u8], row: &str| pb::RegionAction {
        region: region(name),
        action: vec![pb::Action {
            index: Some(0),
            mutation: Some(put(row, "q", "v").into()),
            ..pb::Action::default()
        }],
        ..pb::RegionAction::default()
    };
    let request = pb::MultiRequest {
        region_action: vec![action(&t[0], "a"), action(&t[1], "x")],
        ..pb::MultiRequest::default()
    };
    let response: pb::MultiResponse = Client::data(&server).call("Multi", &request).decode();
    let results = response.region_action_result;
    assert_eq!(results[0].exception, None);
    let exception = results[1].exception.as_ref().unwrap();
    assert_eq!(exception.name, "org.apache.hadoop.hbase.NotServingRegionException");
    let table = server.connection().table("t").unwrap();
    assert!(table.exists(&Get::new("a")).unwrap() && !table.exists(&Get::new("x")).unwrap());
}

#[test]
fn a_call_whose_answer_is_lost_was_carried_out_and_its_repeat_is_not() {
    let server = TestServer::start().unwrap();
    let t = create_table(&server, "t", &[]);
    let faults = server.faults();
    let drop = |action| FaultRule::new(action).methods(["Mutate"]).count(1);

    faults.set(drop(FaultAction::DropAfter)).unwrap();
    let mut client = Client::data(&server);
    client.send("Mutate", &mutate(&t[0], increment("r", 5), 9));
    assert!(client.is_closed());
    assert_eq!(counter(&server, "t", "r"), 1);
    let answer = Client::data(&server).call("Mutate", &mutate(&t[0], increment("r", 5), 9));
    assert_eq!(answer.header.exception, None);
    assert_eq!(counter(&server, "t", "r"), 1);

    faults.set(drop(FaultAction::DropBefore)).unwrap();
    let mut client = Client::data(&server);
    client.send("Mutate", &mutate(&t[0], increment("r", 6), 9));
    assert!(client.is_closed());
    assert_eq!(counter(&server, "t", "r"), 1);
    Client::data(&server).call("Mutate", &mutate(&t[0], increment("r", 6), 9));
    assert_eq!(counter(&server, "t", "r"), 2);
}

#[test]
fn a_delayed_call_holds_up_no_other() {
    let server = TestServer::start().unwrap();
    let t = create_table(&server, "t", &[]);
    let time = Duration::from_millis(300);
    let rule = FaultRule::new(FaultAction::Delay(time, time)).methods(["Get"]).count(1);
    server.faults().set(rule).unwrap();
    let begun = Instant::now();
    let mut client = Client::data(&server);
    let slow = client.send("Get", &get(&t[0], "r"));
    let quick = client.send("Get", &get(&t[0], "r"));
    let first = client.receive();
    assert_eq!(first.header.call_id, Some(quick));
    let second = client.receive();
    assert_eq!((second.header.call_id, second.header.exception), (Some(slow), None));
    assert!(begun.elapsed() >= time);
}

/// Server and start code that hbase:meta names for a region.
fn meta_server(port: u16, name: &[u8]) -> (String, u64) {
    let row = String::from_utf8_lossy(name).into_owned();
    let answer = Client::with(port, &support::header("ClientService", None, None))
        .call("Get", &get(META, &row));
    let response: pb::GetResponse = answer.decode();
    let cells = response.result.expect("it works").cell;
    let value = |qualifier: &[u8]| {
        let is_it = |cell: &&pb::Cell| cell.qualifier.as_deref() == Some(qualifier);
        cells.iter().find(is_it).and_then(|cell| cell.value.clone()).expect("it works")
    };
    let code = u64::from_be_bytes(value(b"serverstartcode").as_ref().try_into().expect("it works"));
    (String::from_utf8_lossy(&value(b"server")).into_owned(), code)
}

#[test]
fn a_crashed_server_loses_what_skipped_the_log_and_others_get_its_regions() {
    let server = servers(3);
    let faults = server.faults();
    let t = create_table(&server, "t", &["b", "c", "d"]);
    let table = server.connection().table("t").unwrap();
    // Not the one with hbase:meta.
    let victim = t.iter().find(|name| faults.server_of(&encoded(name)).unwrap() == 1).unwrap();
    let row = ["a", "b", "c", "d"][t.iter().position(|name| name == victim).unwrap()];
    let port = server.ports().region_servers[1];
    let meta_port = server.ports().region_servers[0];
    let mut client = Client::java(port, "ClientService");
    client.call("Mutate", &mutate(victim, put(row, "kept", "v"), 0));
    let skipped = Put::new(row).add("f", "lost", "v").with_durability(Durability::SkipWal);
    table.put(&skipped).unwrap();
    let mut idle = Client::java(port, "ClientService");
    idle.call("Get", &get(victim, row));
    let (_, code) = meta_server(meta_port, victim);

    let report = faults.crash(1, Some(Duration::ZERO)).unwrap();
    assert!(report.regions >= 1 && report.log_entries >= 1);
    assert!(client.is_closed() && idle.is_closed());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the port refuses");
    assert!(faults.crash(1, None).is_err());
    assert_eq!(faults.dead_servers(), [1]);
    while faults.server_of(&encoded(victim)).unwrap() == 1 {
        std::thread::yield_now();
    }
    let now = faults.server_of(&encoded(victim)).unwrap();
    let (at, _) = meta_server(meta_port, victim);
    assert!(at.ends_with(&format!(":{}", server.ports().region_servers[now])), "{at}");
    let mut client = Client::java(server.ports().region_servers[now], "ClientService");
    assert_eq!(client.call("Get", &get(victim, row)).header.exception, None);
    let found = table.get(&Get::new(row)).unwrap();
    assert_eq!((found.value("f", "kept"), found.value("f", "lost")), (Some(&b"v"[..]), None));

    faults.restart(1).unwrap();
    assert!(faults.restart(1).is_err());
    faults.move_region(&encoded(victim), 1).unwrap();
    let (_, later) = meta_server(meta_port, victim);
    assert!(later > code);
    let answer = client.call("Get", &get(victim, row));
    assert_eq!(answer.exception(), ("RegionMovedException", false));
    let mut client = Client::java(port, "ClientService");
    assert_eq!(client.call("Get", &get(victim, row)).header.exception, None);
}

#[test]
fn without_another_server_regions_wait_for_the_restart() {
    let server = TestServer::start().unwrap();
    let t = create_table(&server, "t", &[]);
    let mut client = Client::data(&server);
    client.call("Mutate", &mutate(&t[0], increment("r", 1), 1));
    let scan = pb::ScanRequest {
        region: Some(region(&t[0])),
        scan: Some(pb::Scan::default()),
        number_of_rows: Some(0),
        ..pb::ScanRequest::default()
    };
    let scanner: pb::ScanResponse = client.call("Scan", &scan).decode();
    assert_eq!(server.server().open_scanners(), 1);
    for _ in 0..3 {
        server.faults().crash(0, Some(Duration::ZERO)).unwrap();
        assert_eq!(server.server().open_scanners(), 0);
        server.faults().restart(0).unwrap();
    }
    let mut client = Client::data(&server);
    let next = pb::ScanRequest { scanner_id: scanner.scanner_id, ..pb::ScanRequest::default() };
    assert_eq!(client.call("Scan", &next).exception(), ("UnknownScannerException", true));
    // A retry of what was done before the crashes.
    client.call("Mutate", &mutate(&t[0], increment("r", 1), 1));
    client.call("Mutate", &mutate(&t[0], increment("r", 2), 1));
    assert_eq!(counter(&server, "t", "r"), 2);
}

#[test]
fn regions_split_and_go_out_of_service_on_demand() {
    let server = servers(2);
    let faults = server.faults();
    let t = create_table(&server, "t", &[]);
    let name = encoded(&t[0]);
    let port = server.ports().region_servers[faults.server_of(&name).unwrap()];
    let mut client = Client::java(port, "ClientService");
    faults.unassign_region(&name).unwrap();
    let answer = client.call("Get", &get(&t[0], "r"));
    assert_eq!(answer.exception(), ("NotServingRegionException", false));
    faults.assign_region(&name).unwrap();
    assert_eq!(client.call("Get", &get(&t[0], "r")).header.exception, None);
    faults.split_region(&name, Some(b"m")).unwrap();
    let answer = client.call("Get", &get(&t[0], "r"));
    assert_eq!(answer.exception(), ("NotServingRegionException", false));
    let table = server.connection().table("t").unwrap();
    for daughter in table.regions().unwrap() {
        let answer = client.call("Get", &get(&daughter.region_name(), "m"));
        let is_its_row = daughter.contains_row(b"m");
        assert_eq!(answer.header.exception.is_none(), is_its_row);
    }
    assert!(faults.split_region("nowhere", None).is_err());
    assert!(faults.move_region(&name, 7).is_err());
}

#[test]
fn a_server_of_a_test_that_is_a_task_ends_with_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let server = TestServer::start().unwrap();
        server.faults().crash(0, None).unwrap();
    });
}
