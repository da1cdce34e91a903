//! What one client's work costs the others: long reads, and hundreds of calls.
//!
//! Where possible, figures count cells or calls, which is exact, rather than time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Client, KEY_VALUE_CODEC, create_table, get, header, put, region};
use hblite::Put;
use hblite_server::{Limits, ServerOptions, TestServer};
use hblite_wire::pb;
use prost::Message as _;

/// Columns of the row `wide`.
const COLUMNS: usize = 100_000;

/// A server with a row of many columns and a row of one.
fn start(limits: Limits) -> (TestServer, Vec<u8>) {
    let options = ServerOptions::on_free_ports().with_limits(limits);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let table = server.connection().table("t").unwrap();
    for begin in (0..COLUMNS).step_by(10_000) {
        let columns = (begin..begin + 10_000).map(|column| format!("q{column:06}"));
        let wide = columns.fold(Put::new("wide"), |wide, column| wide.add("f", column, "value"));
        table.put(&wide).unwrap();
    }
    table.put(&Put::new("small").add("f", "q", "v")).unwrap();
    (server, name)
}

/// A filter of values that none passes.
fn expensive_filter() -> pb::Filter {
    let regex = pb::RegexStringComparator {
        pattern: "^(a|b|c)+[0-9]{3}$".into(),
        pattern_flags: 0,
        charset: "UTF-8".into(),
        engine: None,
    };
    let comparator = pb::Comparator {
        name: "org.apache.hadoop.hbase.filter.RegexStringComparator".into(),
        serialized_comparator: Some(regex.encode_to_vec().into()),
    };
    let compare_filter = pb::CompareFilter { compare_op: 2, comparator: Some(comparator) };
    let wrapped = pb::WrappedCompareFilter { compare_filter }.encode_to_vec();
    pb::Filter {
        name: "org.apache.hadoop.hbase.filter.ValueFilter".into(),
        serialized_filter: Some(wrapped.into()),
    }
}

fn wide_get(name: &[u8], filter: Option<pb::Filter>) -> pb::GetRequest {
    let get = pb::Get { row: "wide".into(), filter, ..pb::Get::default() };
    pb::GetRequest { region: region(name), get }
}

fn wide_scan(name: &[u8], filter: Option<pb::Filter>) -> pb::ScanRequest {
    pb::ScanRequest {
        region: Some(region(name)),
        scan: Some(pb::Scan { filter, ..pb::Scan::default() }),
        number_of_rows: Some(10),
        close_scanner: Some(true),
        ..pb::ScanRequest::default()
    }
}

fn multi(name: &[u8], rows: &[&str], filter: Option<&pb::Filter>) -> pb::MultiRequest {
    let action = |(index, row): (usize, &&str)| pb::Action {
        index: Some(index as u32),
        get: Some(
            pb::Get { row: row.to_string().into(), filter: filter.cloned(), ..pb::Get::default() }
                .into(),
        ),
        ..pb::Action::default()
    };
    let action = pb::RegionAction {
        region: region(name),
        action: rows.iter().enumerate().map(action).collect(),
        ..pb::RegionAction::default()
    };
    pb::MultiRequest { region_action: vec![action], ..pb::MultiRequest::default() }
}

/// Ids of the next `count` answers in the order in which they come.
fn order(client: &mut Client, count: usize) -> Vec<u32> {
    let answers = (0..count).map(|_| client.receive());
    answers
        .map(|answer| {
            assert_eq!(answer.header.exception, None);
            answer.header.call_id.unwrap()
        })
        .collect()
}

#[test]
fn a_short_call_does_not_wait_for_a_long_one_of_its_own_connection() {
    let (server, name) = start(Limits::default());
    let mut client = Client::data(&server);
    let filter = expensive_filter();
    let long_calls: [&dyn Fn(&mut Client) -> u32; 3] = [
        &|client| client.send("Get", &wide_get(&name, Some(filter.clone()))),
        &|client| client.send("Scan", &wide_scan(&name, Some(filter.clone()))),
        &|client| client.send("Multi", &multi(&name, &["wide", "wide"], Some(&filter))),
    ];
    for send_long in long_calls {
        let long = send_long(&mut client);
        let short = client.send("Get", &get(&name, "small"));
        assert_eq!(order(&mut client, 2), [short, long]);
    }
}

#[test]
fn reads_that_went_on_elsewhere_are_whole() {
    let (server, name) = start(Limits::default());
    let mut client = Client::data(&server);
    let answer = client.call("Get", &wide_get(&name, None));
    let result = answer.decode::<pb::GetResponse>().result.unwrap();
    assert_eq!(result.associated_cell_count(), COLUMNS as i32);
    let whole = answer.cells;
    let answer = client.call("Get", &wide_get(&name, Some(expensive_filter())));
    let result = answer.decode::<pb::GetResponse>().result.unwrap();
    assert_eq!((result.associated_cell_count(), answer.cells.len()), (0, 0));

    let answer = client.call("Multi", &multi(&name, &["small", "wide", "none"], None));
    let results = &answer.decode::<pb::MultiResponse>().region_action_result[0];
    let counts = results.result_or_exception.iter();
    let counts: Vec<i32> =
        counts.map(|one| one.result.as_ref().unwrap().associated_cell_count()).collect();
    assert_eq!(counts, [1, COLUMNS as i32, 0]);
    assert!(answer.cells.ends_with(&whole));

    let answer = client.call("Scan", &wide_scan(&name, None));
    let response = answer.decode::<pb::ScanResponse>();
    assert_eq!(response.cells_per_result, [1, COLUMNS as u32]);
    assert!(answer.cells.ends_with(&whole));

    let mut exists = wide_get(&name, Some(expensive_filter()));
    exists.get.existence_only = Some(true);
    let answer = client.call("Get", &exists);
    assert_eq!(answer.decode::<pb::GetResponse>().result.unwrap().exists, Some(false));
    assert_eq!(server.server().open_scanners(), 0);
}

/// Clients that have each sent a long get and not read its answer.
fn begin_long_gets(server: &TestServer, name: &[u8], count: usize) -> Vec<Client> {
    let mut clients: Vec<Client> = (0..count).map(|_| Client::data(server)).collect();
    for client in &mut clients {
        client.send("Get", &wide_get(name, Some(expensive_filter())));
    }
    clients
}

/// How many of them have their answers.
fn answered(clients: &mut [Client]) -> usize {
    clients.iter_mut().filter_map(|client| client.has_answer().then_some(())).count()
}

#[test]
fn long_reads_leave_handlers_to_the_others() {
    let limits = Limits::default().with_handlers(4).with_long_calls_max(2);
    let (server, name) = start(limits);
    let mut writer = Client::data(&server);
    let mut clients = begin_long_gets(&server, &name, 30);
    // A write that waits for the disk needs a handler.
    let mutation = pb::MutationProto { durability: Some(4), ..put("row", "q", "v") };
    let request =
        pb::MutateRequest { region: region(&name), mutation, condition: None, nonce_group: None };
    writer.call("Mutate", &request);
    let done = answered(&mut clients);
    assert!(done < 30, "it waited for all of them");
    for client in &mut clients {
        order(client, 1);
    }
}

#[test]
fn long_reads_take_turns() {
    let limits = Limits::default().with_handlers(4).with_long_calls_max(1);
    let (server, name) = start(limits);
    let mut middling = Client::data(&server);
    let mut clients = begin_long_gets(&server, &name, 12);
    // Too many gets to run on the reading task, but few cells.
    let answer = middling.call("Multi", &multi(&name, &["small"; 200], None));
    assert_eq!(answer.header.exception, None);
    let done = answered(&mut clients);
    assert!(done < 12, "it came after all that were there before it");
    for client in &mut clients {
        order(client, 1);
    }
}

#[test]
fn who_sends_one_call_is_served_among_those_who_send_hundreds() {
    const CONNECTIONS: usize = 100;
    const CALLS: usize = 400;
    let (server, name) = start(Limits::default());
    let mut probe = Client::data(&server);
    let hello = header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)));
    let is_over = AtomicBool::new(false);
    let (begun, mut slowest, mut probes) = (Instant::now(), Duration::ZERO, 0);
    std::thread::scope(|scope| {
        let flood = scope.spawn(|| {
            let mut clients: Vec<Client> = (0..CONNECTIONS)
                .map(|_| Client::with(server.ports().region_servers[0], &hello))
                .collect();
            for client in &mut clients {
                client.send_many("Get", &get(&name, "small"), CALLS);
            }
            for client in &mut clients {
                order(client, CALLS);
            }
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) && !flood.is_finished() {
            let asked = Instant::now();
            probe.call("Get", &get(&name, "small"));
            slowest = slowest.max(asked.elapsed());
            probes += 1;
        }
    });
    let all = begun.elapsed();
    assert!(probes > 20 && slowest < all / 4, "{probes} probes, {slowest:?} of {all:?}");
}
