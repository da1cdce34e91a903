//! What one client cannot do to the others: too many connections, calls and bytes, slow ones,
//! gone ones.

mod support;

use std::io::Write as _;
use std::time::{Duration, Instant};

use hblite::{EngineOptions, Options};
use hblite_server::{Limits, ServerOptions, TestServer};
use hblite_wire::pb;
use support::{
    Client, KEY_VALUE_CODEC, connect, create_table, get, header, put, read_to_end, region,
};

fn start(limits: Limits) -> TestServer {
    let options = ServerOptions { limits, ..ServerOptions::on_free_ports() };
    TestServer::start_with(Options::new(), options).expect("it starts")
}

#[test]
fn a_thousand_connections_at_once() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let mut clients: Vec<Client> = (0..1000).map(|_| Client::data(&server)).collect();
    for (index, client) in clients.iter_mut().enumerate() {
        let mutation = put(&format!("r{index}"), "q", "v");
        let request = pb::MutateRequest {
            region: region(&name),
            mutation,
            condition: None,
            nonce_group: None,
        };
        client.send("Mutate", &request);
    }
    for client in &mut clients {
        assert_eq!(client.receive().decode::<pb::MutateResponse>().processed, Some(true));
    }
    let table = server.connection().table("t").unwrap();
    assert_eq!(table.scan(&hblite::Scan::new()).unwrap().count(), 1000);
}

#[test]
fn connections_beyond_the_limit_are_closed_and_room_is_made_again() {
    let server = start(Limits { connections_max: 2, ..Limits::default() });
    let mut first = Client::java(server.ports().master, "MasterService");
    first.call("IsMasterRunning", &pb::Empty {});
    let mut second = Client::java(server.ports().master, "MasterService");
    second.call("IsMasterRunning", &pb::Empty {});
    let mut third = connect(server.ports().master);
    assert_eq!(read_to_end(&mut third), b"");
    drop(first);
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let mut stream = connect(server.ports().master);
        stream.write_all(b"Regist").unwrap();
        if !read_to_end(&mut stream).is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "the place of who left is never free");
    }
}

#[test]
fn a_frame_that_is_too_long_is_refused_before_it_is_read() {
    let server = start(Limits { frame_size_max_bytes: 1000, ..Limits::default() });
    let mut client = Client::data(&server);
    client.send_bytes(&1001_u32.to_be_bytes());
    let answer = client.receive();
    assert_eq!(answer.exception(), ("RequestTooBigException", true));
    assert_eq!(answer.header.call_id, Some(u32::MAX));
    assert!(client.is_closed());
}

#[test]
fn what_cannot_be_read_is_answered_under_its_id() {
    let server = TestServer::start().unwrap();
    let mut client = Client::data(&server);
    // A get whose message is no message.
    client.send_bytes(b"\0\0\0\x0c\x09\x08\x05\x1a\x03Get\x20\x01\x01\xff");
    let answer = client.receive();
    assert_eq!(answer.header.call_id, Some(5));
    assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
    // The connection goes on.
    let answer = client.call("Get", &get(support::META, "t"));
    assert!(answer.header.exception.is_none());
    client.send_bytes(b"\0\0\0\x02\xff\xff");
    assert_eq!(client.receive().header.call_id, Some(u32::MAX));
}

#[test]
fn who_stops_within_a_frame_is_closed() {
    let server = start(Limits { stall_timeout: Duration::from_millis(50), ..Limits::default() });
    let mut client = Client::data(&server);
    client.call("Get", &get(support::META, "t"));
    client.send_bytes(b"\0\0\0\x0c\x09\x08");
    assert!(client.is_closed());
    // Who says nothing between two calls is not.
    let mut client = Client::data(&server);
    client.call("Get", &get(support::META, "t"));
    std::thread::sleep(Duration::from_millis(200));
    client.call("Get", &get(support::META, "t"));
}

#[test]
fn pipelined_calls_are_all_answered() {
    let server = start(Limits { connection_calls_max: 3, handlers: 2, ..Limits::default() });
    let name = create_table(&server, "t", &[]).remove(0);
    let mut client = Client::data(&server);
    let scan = pb::ScanRequest {
        region: Some(region(&name)),
        scan: Some(pb::Scan::default()),
        number_of_rows: Some(10),
        close_scanner: Some(true),
        ..pb::ScanRequest::default()
    };
    let mut sent = Vec::new();
    for _ in 0..100 {
        sent.push(client.send("Scan", &scan));
        sent.push(client.send("Get", &get(&name, "r")));
    }
    let mut answered: Vec<u32> =
        sent.iter().map(|_| client.receive().header.call_id.unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, sent);
}

#[test]
fn a_client_that_is_gone_leaves_nothing() {
    let server = start(Limits { scanner_lease: Duration::from_millis(200), ..Limits::default() });
    let name = create_table(&server, "t", &["m"]).remove(0);
    for _ in 0..20 {
        let mut client = Client::data(&server);
        let scan = pb::ScanRequest {
            region: Some(region(&name)),
            scan: Some(pb::Scan::default()),
            number_of_rows: Some(0),
            ..pb::ScanRequest::default()
        };
        client.call("Scan", &scan);
        client.send("Scan", &scan);
        client.send_bytes(b"\0\0\x01\0half of a frame");
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while server.server().open_scanners() > 0 {
        assert!(Instant::now() < deadline, "scanners of nobody stay");
        std::thread::yield_now();
    }
}

#[test]
fn too_many_calls_are_refused_and_may_come_again() {
    let server = start(Limits { queued_calls_max: 0, ..Limits::default() });
    let mut client = Client::java(server.ports().master, "MasterService");
    let answer = client.call("IsMasterRunning", &pb::Empty {});
    assert_eq!(answer.exception(), ("CallQueueTooBigException", false));
    assert_eq!(answer.header.exception.unwrap().server_overloaded, Some(true));
}

#[test]
fn cells_over_the_limit_are_refused() {
    let engine = EngineOptions { cell_size_max_bytes: 100, ..EngineOptions::default() };
    let options = Options::new().engine(engine);
    let server = TestServer::start_with(options, ServerOptions::on_free_ports()).unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let mut client = Client::data(&server);
    let request = pb::MutateRequest {
        region: region(&name),
        mutation: put("r", "q", &"v".repeat(100)),
        condition: None,
        nonce_group: None,
    };
    let answer = client.call("Mutate", &request);
    assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
    assert!(answer.exception_text().contains("exceeds limit of 100 bytes"));
}

#[test]
fn compressed_blocks_go_both_ways() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let table = server.connection().table("t").unwrap();
    table.put(&hblite::Put::new("r").add("f", "q", "v")).unwrap();
    let plain = header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)));
    let expected =
        Client::with(server.ports().region_servers[0], &plain).call("Get", &get(&name, "r")).cells;
    for codec in ["GzipCodec", "SnappyCodec", "Lz4Codec"] {
        let class = format!("org.apache.hadoop.io.compress.{codec}");
        let header = pb::ConnectionHeader {
            service_name: Some("ClientService".into()),
            cell_block_codec_class: Some(KEY_VALUE_CODEC.into()),
            cell_block_compressor_class: Some(class.clone()),
            version_info: Some(pb::VersionInfo {
                version_major: Some(2),
                version_minor: Some(6),
                ..pb::VersionInfo::default()
            }),
            ..pb::ConnectionHeader::default()
        };
        let length = (prost::Message::encoded_len(&header) as u32).to_be_bytes();
        let bytes = prost::Message::encode_to_vec(&header);
        let hello = [b"HBas\0P", length.as_slice(), &bytes].concat();
        let mut client = Client::with(server.ports().region_servers[0], &hello);
        let answer = client.call("Get", &get(&name, "r"));
        assert_ne!(answer.cells, expected);
        let compressor = hblite_wire::cell_block::Compressor::from_class_name(&class).unwrap();
        assert_eq!(compressor.decompress(&answer.cells, 1000).unwrap(), expected, "{codec}");
    }
}

/// A filter of HBase by the name of its class.
fn filter(name: &str, message: &impl prost::Message) -> pb::Filter {
    pb::Filter {
        name: format!("org.apache.hadoop.hbase.filter.{name}"),
        serialized_filter: Some(message.encode_to_vec().into()),
    }
}

/// Filters of more bytes than a row or a column can have.
fn long_filters() -> Vec<pb::Filter> {
    let long = || bytes::Bytes::from(vec![b'a'; 70_000]);
    let range = pb::RowRange {
        start_row: Some(long()),
        start_row_inclusive: Some(false),
        stop_row: None,
        stop_row_inclusive: Some(true),
    };
    let fuzzy = pb::BytesBytesPairOfFuzzyRow { key: long(), mask: vec![0xff; 70_000].into() };
    let fuzzy = pb::FuzzyRowFilter { fuzzy_keys_data: vec![fuzzy], is_mask_v2: Some(true) };
    let columns =
        pb::ColumnRangeFilter { min_column: Some(long()), ..pb::ColumnRangeFilter::default() };
    let page = pb::ColumnPaginationFilter { limit: 1, offset: None, column_offset: Some(long()) };
    let ranges = pb::MultiRowRangeFilter { row_range_list: vec![range] };
    vec![
        filter("PrefixFilter", &pb::PrefixFilter { prefix: Some(long()) }),
        filter("MultiRowRangeFilter", &ranges),
        filter("FuzzyRowFilter", &fuzzy),
        filter("ColumnPrefixFilter", &pb::ColumnPrefixFilter { prefix: long() }),
        filter("ColumnRangeFilter", &columns),
        filter("ColumnPaginationFilter", &page),
        filter("InclusiveStopFilter", &pb::InclusiveStopFilter { stop_row_key: Some(long()) }),
    ]
}

#[test]
fn rows_and_filters_longer_than_any_key_do_no_harm() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let table = server.connection().table("t").unwrap();
    table.put(&hblite::Put::new("r").add("f", "q", "v")).unwrap();
    let mut client = Client::data(&server);
    for reversed in [false, true] {
        for filter in long_filters() {
            let class = filter.name.clone();
            let scan =
                pb::Scan { filter: Some(filter), reversed: Some(reversed), ..pb::Scan::default() };
            let request = pb::ScanRequest {
                region: Some(region(&name)),
                scan: Some(scan),
                number_of_rows: Some(10),
                close_scanner: Some(true),
                ..pb::ScanRequest::default()
            };
            let answer = client.call("Scan", &request);
            if answer.header.exception.is_some() {
                let text = answer.exception_text();
                assert!(!text.contains("failed in the server"), "{class}: {text}");
            }
        }
    }
    let mut closest = get(support::META, &"t".repeat(70_000));
    for before in [false, true] {
        closest.get.closest_row_before = Some(before);
        let answer = client.call("Get", &closest);
        assert!(!answer.exception_text().contains("failed"), "{}", answer.exception_text());
    }
    let mut none = get(&name, "r");
    let column = pb::Column { family: vec![b'f'; 300].into(), qualifier: vec!["q".into()] };
    none.get.column = vec![column];
    assert_eq!(client.call("Get", &none).exception().0, "NoSuchColumnFamilyException");
}
