//! What clients can make a server allocate: no more than its budget, whatever they send and leave
//! unread; and everything is released when they disconnect.
//!
//! The peak is that of the whole process, counted by its allocator, so the tests run one at a time.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../tests/testkit/counting.rs"]
mod counting;
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hblite::{ManualClock, Options, Put};
use hblite_server::{FaultAction, FaultRule, Limits, ServerOptions, TestServer};
use hblite_wire::cell_block::{Codec, Compressor};
use hblite_wire::pb;
use prost::Message as _;
use support::{Client, KEY_VALUE_CODEC, connect, create_table, get, header, region, table_name};

const MIB: usize = 1 << 20;
/// The memory for calls.
const BUDGET: usize = 64 * MIB;
/// What the process may use in addition: the test's clients, threads and the store.
const SLACK: usize = 24 * MIB;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

static ONE_BY_ONE: Mutex<()> = Mutex::new(());

/// A server, and the memory that the process uses before it is attacked.
struct Attacked {
    server: TestServer,
    clock: Arc<ManualClock>,
    table: Vec<u8>,
    before: usize,
    _alone: MutexGuard<'static, ()>,
}

impl Attacked {
    /// A server with a row `large` of one cell of this many bytes, and a row `small`.
    fn start(limits: Limits, value: usize) -> Self {
        let alone = ONE_BY_ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let limits = limits.with_memory_max_bytes(BUDGET);
        let options = ServerOptions::on_free_ports().with_limits(limits);
        let clock = Arc::new(ManualClock::new(1_700_000_000_000));
        let store = Options::new().with_clock(Arc::clone(&clock) as Arc<_>);
        let server = TestServer::start_with(store, options).unwrap();
        let table = create_table(&server, "t", &[]).remove(0);
        let rows = server.connection().table("t").unwrap();
        rows.put(&Put::new("large").add("f", "q", vec![7; value])).unwrap();
        rows.put(&Put::new("small").add("f", "q", "v")).unwrap();
        let before = counting::reset_peak();
        Self { server, clock, table, before, _alone: alone }
    }

    /// What the test itself allocated so far does not count.
    fn reset_peak(&self) {
        counting::reset_peak();
    }

    /// Asserts that the attack stayed within the budget.
    fn check_peak(&self) {
        let peak = counting::peak_bytes() - self.before;
        assert!(peak <= BUDGET + SLACK, "{} MiB at the peak", peak / MIB);
        println!("peak {} MiB, budget {} MiB", peak / MIB, BUDGET / MIB);
    }

    /// Asserts that another client is answered.
    fn check_others(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let answer = Client::data(&self.server).call("Get", &get(&self.table, "small"));
        assert_eq!(answer.header.exception, None);
        assert!(!answer.cells.is_empty() && Instant::now() < deadline);
    }

    /// Asserts that no memory is in use once all clients have disconnected.
    fn check_release(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.server.server().memory_used_bytes() > 0 {
            let used = self.server.server().memory_used_bytes();
            assert!(Instant::now() < deadline, "{used} bytes are still in use");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn multi(&self, gets: usize) -> pb::MultiRequest {
        let action = |index| pb::Action {
            index: Some(index as u32),
            get: Some(pb::Get { row: "large".into(), ..pb::Get::default() }.into()),
            ..pb::Action::default()
        };
        let action = pb::RegionAction {
            region: region(&self.table),
            action: (0..gets).map(action).collect(),
            ..pb::RegionAction::default()
        };
        pb::MultiRequest { region_action: vec![action], ..pb::MultiRequest::default() }
    }
}

/// Writes as much as the server reads, which may stop reading.
fn flood(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    stream.write_all(bytes).is_ok()
}

/// Reads an answer, which must say that the call took too much memory.
fn read_refusal(stream: &mut TcpStream) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("CallQueueTooBigException"), "{answer}");
}

/// The frame of a call with its length.
fn frame(method: &str, id: u32, message: &impl prost::Message, cells: &[u8]) -> Vec<u8> {
    let frame = support::frame(id, method, message, cells, None);
    [&(frame.len() as u32).to_be_bytes()[..], &frame].concat()
}

fn hello(attacked: &Attacked, compressor: Option<&str>) -> TcpStream {
    let mut stream = connect(attacked.server.ports().region_servers[0]);
    let Some(compressor) = compressor else {
        stream.write_all(&header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)))).unwrap();
        return stream;
    };
    let header = pb::ConnectionHeader {
        service_name: Some("ClientService".into()),
        cell_block_codec_class: Some(KEY_VALUE_CODEC.into()),
        cell_block_compressor_class: Some(compressor.into()),
        ..pb::ConnectionHeader::default()
    }
    .encode_to_vec();
    let length = (header.len() as u32).to_be_bytes();
    stream.write_all(&[b"HBas\0P", length.as_slice(), &header].concat()).unwrap();
    stream
}

#[test]
fn hundreds_of_large_requests_on_one_connection_without_an_answer_taken() {
    let attacked = Attacked::start(Limits::default(), MIB);
    let mut stream = hello(&attacked, None);
    for id in 0..900 {
        if !flood(&mut stream, &frame("Multi", id, &attacked.multi(200), b"")) {
            break;
        }
    }
    attacked.check_others();
    // Long enough for threads to answer whatever they can.
    std::thread::sleep(Duration::from_secs(2));
    attacked.check_others();
    attacked.check_peak();
    drop(stream);
    attacked.check_release();
}

#[test]
fn one_client_that_takes_its_answers_gets_them_all_or_is_told() {
    let attacked = Attacked::start(Limits::default(), MIB);
    let mut client = Client::data(&attacked.server);
    let sent: Vec<u32> = (0..50).map(|_| client.send("Multi", &attacked.multi(8))).collect();
    let (mut answered, mut cells) = (Vec::new(), 0);
    for _ in &sent {
        let answer = client.receive();
        answered.push(answer.header.call_id.unwrap());
        if answer.header.exception.is_some() {
            assert_eq!(answer.exception(), ("CallQueueTooBigException", false));
            continue;
        }
        let response = answer.decode::<pb::MultiResponse>();
        for result in &response.region_action_result[0].result_or_exception {
            match &result.exception {
                None => cells += result.result.as_ref().unwrap().associated_cell_count(),
                Some(exception) => {
                    assert!(exception.name.ends_with("CallQueueTooBigException"), "{exception:?}");
                }
            }
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, sent);
    assert!(cells >= 60, "{cells} cells came");
    attacked.check_peak();
    drop(client);
    attacked.check_release();
}

#[test]
fn many_large_frames_that_are_sent_by_half() {
    let limits = Limits::default().with_frame_timeout(Duration::from_secs(8));
    let attacked = Attacked::start(limits, 10);
    let part = vec![0; MIB];
    let mut streams: Vec<TcpStream> = (0..36).map(|_| hello(&attacked, None)).collect();
    for stream in &mut streams {
        stream.write_all(&(30 * MIB as u32).to_be_bytes()).unwrap();
        let _ = (0..12).all(|_| flood(stream, &part));
    }
    attacked.check_others();
    attacked.check_peak();
    // Those that are still open have had their time.
    attacked.check_release();
    // An announced size that can never fit is refused immediately.
    let mut stream = hello(&attacked, None);
    stream.write_all(&(40 * MIB as u32).to_be_bytes()).unwrap();
    let answer = support::read_to_end(&mut stream);
    assert!(String::from_utf8_lossy(&answer).contains("RequestTooBigException"));
}

#[test]
fn a_frame_without_memory_is_refused_by_its_id_and_the_connection_goes_on() {
    let attacked = Attacked::start(Limits::default(), 10);
    // Two connections that use up what large frames may use.
    let holders: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = hello(&attacked, None);
            stream.write_all(&(24 * MIB as u32).to_be_bytes()).unwrap();
            for _ in 0..23 {
                stream.write_all(&vec![0; MIB]).unwrap();
            }
            stream
        })
        .collect();
    let mut client = Client::data(&attacked.server);
    let mut request = get(&attacked.table, "small");
    request.get.attribute =
        vec![pb::NameBytesPair { name: "n".into(), value: Some(vec![1; 20 * MIB].into()) }];
    let id = client.send("Get", &request);
    let answer = client.receive();
    assert_eq!(answer.header.call_id, Some(id));
    assert_eq!(answer.exception(), ("CallQueueTooBigException", false));
    assert!(client.call("Get", &get(&attacked.table, "small")).header.exception.is_none());
    drop(holders);
    let deadline = Instant::now() + Duration::from_secs(30);
    while client.call("Get", &request).header.exception.is_some() {
        assert!(Instant::now() < deadline, "it is refused though there is memory");
    }
    drop(client);
    attacked.check_release();
}

#[test]
fn compressed_cell_blocks_that_become_large() {
    let attacked = Attacked::start(Limits::default(), 10);
    for codec in ["GzipCodec", "SnappyCodec", "Lz4Codec"] {
        let class = format!("org.apache.hadoop.io.compress.{codec}");
        let block = Compressor::from_class_name(&class).unwrap().compress(&vec![0; 8 * MIB]);
        let request = pb::MutateRequest {
            region: region(&attacked.table),
            mutation: pb::MutationProto {
                row: Some("r".into()),
                mutate_type: Some(2),
                associated_cell_count: Some(1),
                ..pb::MutationProto::default()
            },
            condition: None,
            nonce_group: None,
        };
        let bytes = frame("Mutate", 1, &request, &block.unwrap());
        counting::reset_peak();
        let mut streams: Vec<TcpStream> = (0..40).map(|_| hello(&attacked, Some(&class))).collect();
        for stream in &mut streams {
            stream.write_all(&bytes).unwrap();
        }
        attacked.check_others();
        drop(streams);
        attacked.check_release();
        attacked.check_peak();
    }
}

#[test]
fn open_scanners_with_parts_of_large_rows() {
    let attacked = Attacked::start(Limits::default(), MIB);
    // With such a filter, the row is collected before any of it is returned.
    let judge = pb::SingleColumnValueFilter {
        column_family: Some("f".into()),
        column_qualifier: Some("q".into()),
        compare_op: 4,
        comparator: pb::Comparator {
            name: "org.apache.hadoop.hbase.filter.BinaryComparator".into(),
            serialized_comparator: Some(
                pb::BinaryComparator { comparable: pb::ByteArrayComparable::default() }
                    .encode_to_vec()
                    .into(),
            ),
        },
        ..pb::SingleColumnValueFilter::default()
    };
    let filter = pb::Filter {
        name: "org.apache.hadoop.hbase.filter.SingleColumnValueFilter".into(),
        serialized_filter: Some(judge.encode_to_vec().into()),
    };
    let request = pb::ScanRequest {
        region: Some(region(&attacked.table)),
        scan: Some(pb::Scan { filter: Some(filter), ..pb::Scan::default() }),
        number_of_rows: Some(1),
        client_handles_partials: Some(true),
        ..pb::ScanRequest::default()
    };
    let mut client = Client::data(&attacked.server);
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..2500 {
        let answer = client.call("Scan", &request);
        match answer.header.exception {
            None => opened += 1,
            Some(_) => {
                assert_eq!(answer.exception(), ("CallQueueTooBigException", false));
                refused += 1;
            }
        }
    }
    assert!(opened > 500 && refused > 0, "{opened} opened, {refused} refused");
    attacked.check_others();
    attacked.check_peak();
    drop(client);
    // Scanners outlive the connection, but not their leases.
    attacked.clock.advance(60_000);
    attacked.check_release();
}

#[test]
fn many_connections_each_within_its_limits() {
    let attacked = Attacked::start(Limits::default(), 3 * MIB);
    let mut streams: Vec<TcpStream> = (0..100).map(|_| hello(&attacked, None)).collect();
    for stream in &mut streams {
        for id in 0..4 {
            let bytes = frame("Get", id, &get(&attacked.table, "large"), b"");
            flood(stream, &bytes);
        }
    }
    attacked.check_others();
    attacked.check_peak();
    drop(streams);
    attacked.check_release();
}

#[test]
fn a_request_that_is_much_larger_decoded_is_refused() {
    let attacked = Attacked::start(Limits::default(), 10);
    // Each action is two bytes in the frame, and hundreds in memory.
    let actions = vec![pb::Action::default(); MIB / 2];
    let action = pb::RegionAction {
        region: region(&attacked.table),
        action: actions,
        ..pb::RegionAction::default()
    };
    let multi = pb::MultiRequest { region_action: vec![action], ..pb::MultiRequest::default() };
    let bytes = frame("Multi", 1, &multi, b"");
    drop(multi);
    attacked.reset_peak();
    let mut streams: Vec<TcpStream> = (0..8).map(|_| hello(&attacked, None)).collect();
    for stream in &mut streams {
        stream.write_all(&bytes).unwrap();
    }
    for stream in &mut streams {
        read_refusal(stream);
    }
    attacked.check_peak();
    attacked.check_others();
    drop(streams);
    attacked.check_release();
}

#[test]
fn twenty_thousand_puts_in_one_request_fit_the_smallest_budget() {
    const PUTS: u32 = 20_000;
    let attacked = Attacked::start(Limits::default(), 10);
    let mut block = Vec::new();
    for row in 0..PUTS {
        let mut cells = hblite::CellBuffer::new();
        cells.push_parts(format!("row{row:05}").as_bytes(), b"f", b"q", 7, 4, &[7; 100]);
        Codec::KeyValue.push(&mut block, &cells.get(0).unwrap());
    }
    let put = pb::MutationProto {
        mutate_type: Some(2),
        associated_cell_count: Some(1),
        ..pb::MutationProto::default()
    };
    let action = |index| pb::Action {
        index: Some(index),
        mutation: Some(put.clone().into()),
        ..pb::Action::default()
    };
    let action = pb::RegionAction {
        region: region(&attacked.table),
        action: (0..PUTS).map(action).collect(),
        ..pb::RegionAction::default()
    };
    let multi = pb::MultiRequest { region_action: vec![action], ..pb::MultiRequest::default() };
    let mut client = Client::data(&attacked.server);
    client.send_with("Multi", &multi, &block, None);
    let answer = client.receive();
    assert_eq!(answer.header.exception, None);
    assert!(
        !Client::data(&attacked.server)
            .call("Get", &get(&attacked.table, "row19999"))
            .cells
            .is_empty()
    );
}

/// A table of many regions or families takes much more memory than the request for it.
#[test]
fn requests_for_large_tables_are_charged_before_they_are_carried_out() {
    let attacked = Attacked::start(Limits::default(), 10);
    let family = |number: u32| pb::ColumnFamilySchema {
        name: format!("{number:x}").into(),
        ..pb::ColumnFamilySchema::default()
    };
    let request = |families: u32, split_keys: u32| pb::CreateTableRequest {
        table_schema: pb::TableSchema {
            table_name: Some(table_name("large")),
            column_families: (0..families).map(family).collect(),
            ..pb::TableSchema::default()
        },
        split_keys: (0..split_keys).map(|key| key.to_be_bytes().to_vec().into()).collect(),
        ..pb::CreateTableRequest::default()
    };
    for (families, split_keys) in [(1, 150_000), (30_000, 0)] {
        let frame = frame("CreateTable", 1, &request(families, split_keys), b"");
        let mut master = connect(attacked.server.ports().master);
        master.write_all(&header("MasterService", Some(KEY_VALUE_CODEC), Some((2, 6)))).unwrap();
        attacked.reset_peak();
        master.write_all(&frame).unwrap();
        read_refusal(&mut master);
        attacked.check_peak();
    }
    // What a request may ask for fits the smallest budget.
    let mut master = Client::java(attacked.server.ports().master, "MasterService");
    let answer = master.call("CreateTable", &request(1, 5_000));
    assert_eq!(answer.header.exception, None);
    attacked.check_others();
    drop(master);
    attacked.check_release();
}

/// A rule for faults examines each call before it is decoded and charged.
#[test]
fn a_request_that_a_fault_might_happen_to_is_not_decoded_for_it() {
    let attacked = Attacked::start(Limits::default(), 10);
    let rule = FaultRule::new(FaultAction::DropAfter).table("other");
    attacked.server.faults().set(rule).unwrap();
    // Each part is two bytes in the frame, and a hundred in memory.
    let parts = [0x0a, 0x00].repeat(2 * MIB);
    let header = pb::RequestHeader {
        call_id: Some(1),
        method_name: Some("Multi".to_owned()),
        request_param: Some(true),
        ..pb::RequestHeader::default()
    };
    let mut bytes = header.encode_length_delimited_to_vec();
    prost::encode_length_delimiter(parts.len(), &mut bytes).unwrap();
    bytes.extend_from_slice(&parts);
    drop(parts);
    attacked.reset_peak();
    let mut stream = hello(&attacked, None);
    stream.write_all(&(bytes.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(&bytes).unwrap();
    read_refusal(&mut stream);
    attacked.check_peak();
    attacked.check_others();
    drop(stream);
    attacked.check_release();
}

#[test]
fn zookeeper_frames_that_are_sent_by_half() {
    let attacked = Attacked::start(Limits::default(), 10);
    let port = attacked.server.ports().zookeeper.unwrap();
    // The largest frame that the server accepts, except its last byte.
    let length = 0xf_ffff_u32;
    let part = vec![0; length as usize - 1];
    let mut streams: Vec<TcpStream> = (0..150).map(|_| connect(port)).collect();
    let mut taken = 0;
    for stream in &mut streams {
        let is_taken = stream.write_all(&length.to_be_bytes()).is_ok() && flood(stream, &part);
        taken += usize::from(is_taken);
    }
    assert!(taken > 0, "no connection was served");
    attacked.check_others();
    attacked.check_peak();
    drop(streams);
    attacked.check_release();
}

#[test]
fn http_requests_that_are_sent_by_half() {
    let attacked = Attacked::start(Limits::default(), 10);
    let port = attacked.server.ports().http.unwrap();
    let mut streams: Vec<TcpStream> = (0..300).map(|_| connect(port)).collect();
    for (index, stream) in streams.iter_mut().enumerate() {
        let request = match index % 3 {
            // A head without an end, a missing body, and a body of unknown length.
            0 => format!("GET /status HTTP/1.1\r\nX: {}", "x".repeat(MIB)),
            1 => format!(
                "POST /faults HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}",
                64 * MIB,
                "x".repeat(MIB)
            ),
            _ => {
                let chunk = format!("{MIB:x}\r\n{}\r\n", "x".repeat(MIB));
                format!("POST /faults HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}")
            }
        };
        // The server may refuse it, or close the connection, before it is sent.
        let _ = flood(stream, request.as_bytes());
    }
    attacked.check_others();
    attacked.check_peak();
    drop(streams);
    attacked.check_release();
}
