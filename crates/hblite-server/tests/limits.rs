//! What one client cannot do to the others: too many connections, calls and bytes, slow clients,
//! clients that disappear.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::support::{
    self, Client, KEY_VALUE_CODEC, connect, create_table, get, header, put, read_to_end, region,
    table_name,
};
use hblite::Options;
use hblite_server::{Limits, ServerOptions, TestServer};
use hblite_wire::memory::Room;
use hblite_wire::pb;
use socket2::{Domain, Socket, Type};

fn start(limits: Limits) -> TestServer {
    let options = ServerOptions::on_free_ports().with_limits(limits);
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
    let server = start(Limits::default().with_connections_max(2));
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
fn connections_that_say_nothing_make_room_for_those_that_do() {
    let server = start(Limits::default().with_connections_max(20));
    let name = create_table(&server, "t", &[]).remove(0);
    // Half a preamble each, on both kinds of ports.
    let ports = [server.ports().master, server.ports().region_servers[0]];
    let silent: Vec<std::net::TcpStream> = (0..100)
        .map(|index| {
            let mut stream = connect(ports[index % 2]);
            stream.write_all(b"HBa").unwrap();
            stream
        })
        .collect();
    let mut client = Client::data(&server);
    assert!(client.call("Get", &get(&name, "r")).header.exception.is_none());
    let more: Vec<std::net::TcpStream> = (0..50).map(|index| connect(ports[index % 2])).collect();
    // It has identified itself, and keeps its place.
    assert!(client.call("Get", &get(&name, "r")).header.exception.is_none());
    drop((silent, more));
}

/// A connection to a port from another address of this machine.
fn connect_from(address: [u8; 4], port: u16) -> std::net::TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
    socket.connect(&SocketAddr::from(([127, 0, 0, 1], port)).into()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.into()
}

#[test]
fn one_address_leaves_connections_for_others() {
    let server = start(Limits::default().with_connections_max(16));
    let mut greedy = Vec::new();
    for _ in 0..14 {
        let mut client = Client::java(server.ports().master, "MasterService");
        assert!(client.call("IsMasterRunning", &pb::Empty {}).header.exception.is_none());
        greedy.push(client);
    }
    assert_eq!(read_to_end(&mut connect(server.ports().master)), b"", "beyond its share");
    let mut other = connect_from([127, 0, 0, 2], server.ports().master);
    other.write_all(b"Regist").unwrap();
    assert!(!read_to_end(&mut other).is_empty(), "another address is served");
    assert!(greedy[0].call("IsMasterRunning", &pb::Empty {}).header.exception.is_none());
}

/// A request to create the table `large` with as many families and split keys.
fn large_table(families: usize, split_keys: usize) -> pb::CreateTableRequest {
    let family = |number| pb::ColumnFamilySchema {
        name: format!("f{number}").into(),
        ..pb::ColumnFamilySchema::default()
    };
    pb::CreateTableRequest {
        table_schema: pb::TableSchema {
            table_name: Some(table_name("large")),
            column_families: (0..families).map(family).collect(),
            ..pb::TableSchema::default()
        },
        split_keys: (0..split_keys).map(|number| format!("{number:08}").into()).collect(),
        ..pb::CreateTableRequest::default()
    }
}

#[test]
fn a_request_creates_a_limited_number_of_regions() {
    let options = ServerOptions::on_free_ports();
    let engine = Options::new().with_table_regions_max(20);
    let server = TestServer::start_with(engine, options).unwrap();
    let mut master = Client::java(server.ports().master, "MasterService");
    for (families, split_keys) in [(1, 20), (11, 10), (201, 0)] {
        let answer = master.call("CreateTable", &large_table(families, split_keys));
        assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
        let text = answer.exception_text();
        assert!(text.contains("hbase.table.quota.maxregions"), "{text}");
    }
    assert!(!server.connection().admin().table_exists("large").unwrap());
    let answer = master.call("CreateTable", &large_table(10, 19));
    assert_eq!(answer.header.exception, None);
    // Families that are added later count, too.
    let mut wider = large_table(11, 0).table_schema;
    let modify = |schema: &pb::TableSchema| pb::ModifyTableRequest {
        table_name: table_name("large"),
        table_schema: schema.clone(),
        ..pb::ModifyTableRequest::default()
    };
    assert_eq!(master.call("ModifyTable", &modify(&wider)).exception().0, "DoNotRetryIOException");
    wider.column_families.truncate(10);
    assert_eq!(master.call("ModifyTable", &modify(&wider)).header.exception, None);
}

#[test]
fn a_frame_that_is_too_long_is_refused_before_it_is_read() {
    let server = start(Limits::default().with_frame_size_max_bytes(1000));
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
    // A get with an invalid message.
    client.send_bytes(b"\0\0\0\x0c\x09\x08\x05\x1a\x03Get\x20\x01\x01\xff");
    let answer = client.receive();
    assert_eq!(answer.header.call_id, Some(5));
    assert_eq!(answer.exception(), ("InvalidProtocolBufferException", false));
    // The connection continues.
    let answer = client.call("Get", &get(support::META, "t"));
    assert!(answer.header.exception.is_none());
    client.send_bytes(b"\0\0\0\x02\xff\xff");
    assert_eq!(client.receive().header.call_id, Some(u32::MAX));
}

#[test]
fn who_stops_within_a_frame_is_closed() {
    let stall_timeout = Duration::from_millis(200);
    let server = start(Limits::default().with_stall_timeout(stall_timeout));
    let mut client = Client::data(&server);
    client.call("Get", &get(support::META, "t"));
    client.send_bytes(b"\0\0\0\x0c\x09\x08");
    assert!(client.is_closed());
    // A client that is silent between two calls is not closed.
    let mut client = Client::data(&server);
    client.call("Get", &get(support::META, "t"));
    std::thread::sleep(stall_timeout + stall_timeout / 2);
    client.call("Get", &get(support::META, "t"));
}

#[test]
fn who_sends_a_frame_byte_by_byte_is_closed_though_it_never_stops() {
    let server = start(Limits::default().with_stall_timeout(Duration::from_millis(200)));
    let begun = Instant::now();
    let mut stream = connect(server.ports().region_servers[0]);
    stream.write_all(&header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)))).unwrap();
    stream.write_all(&10_000_u32.to_be_bytes()).unwrap();
    while stream.write_all(b"x").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it may go on for ever");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(begun.elapsed() >= Duration::from_millis(200));
}

#[test]
fn who_takes_no_answers_is_closed_and_holds_no_more_than_its_share() {
    let limits = Limits::default()
        .with_stall_timeout(Duration::from_millis(200))
        .with_connection_unsent_max_bytes(1 << 20);
    let server = start(limits);
    let name = create_table(&server, "t", &[]).remove(0);
    let table = server.connection().table("t").unwrap();
    table.put(&hblite::Put::new("r").add("f", "q", vec![7; 1 << 20])).unwrap();
    let mut client = Client::data(&server);
    // 200 MiB of answers, some of which the sockets buffer. In one write: the connection may be
    // closed at any time after it.
    let call = support::frame(1, "Get", &get(&name, "r"), b"", None);
    let call = [&(call.len() as u32).to_be_bytes()[..], &call].concat();
    client.send_bytes(&call.repeat(200));
    let begun = Instant::now();
    // Another client is served meanwhile.
    let answer = Client::data(&server).call("Get", &get(&name, "none"));
    assert_eq!(answer.header.exception, None);
    // Until only this connection is left.
    let status = format!("http://127.0.0.1:{}/status", server.ports().http.unwrap());
    let connections = || -> serde_json::Value {
        let mut response = ureq::get(&status).call().unwrap();
        response.body_mut().read_json::<serde_json::Value>().unwrap()["connections"].take()
    };
    while connections() != 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "it stays connected");
    }
    let mut answers = 0;
    while !client.is_closed() {
        answers += 1;
    }
    assert!(answers < 100 << 20, "{answers} bytes were kept for it");
}

#[test]
fn any_bytes_at_any_time_end_at_most_their_own_connection() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let hello = header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)));
    let mut state = 7_u64;
    let mut random = move || {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..300 {
        let port = match random() % 2 {
            0 => server.ports().master,
            _ => server.ports().region_servers[0],
        };
        let mut stream = connect(port);
        let kept = random() as usize % (hello.len() + 1);
        // What a client would send up to here, perhaps complete frames, and then anything.
        let mut bytes = hello[..kept].to_vec();
        if kept == hello.len() {
            let length = 1 + random() as u32 % 200;
            bytes.extend_from_slice(&length.to_be_bytes());
        }
        bytes.extend((0..random() % 400).map(|_| random() as u8));
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        read_to_end(&mut stream);
    }
    let answer = Client::data(&server).call("Get", &get(&name, "r"));
    assert_eq!(answer.header.exception, None);
}

#[test]
fn hundreds_of_clients_that_are_killed_leave_no_locks_and_no_places() {
    // One address has 50 of these.
    let server = start(Limits::default().with_connections_max(57));
    let name = create_table(&server, "t", &[]).remove(0);
    for round in 0_u64..300 {
        let Some(mut client) = try_client(&server) else { continue };
        let one = String::from_utf8(1_u64.to_be_bytes().to_vec()).unwrap();
        let increment = pb::MutationProto {
            mutate_type: Some(1),
            nonce: Some(round + 1),
            ..put("r", "n", &one)
        };
        let request = pb::MutateRequest {
            region: region(&name),
            mutation: increment,
            condition: None,
            nonce_group: Some(1),
        };
        for _ in 0..3 {
            client.send("Mutate", &request);
        }
    }
    // The row can be written, and every place is free again.
    let table = server.connection().table("t").unwrap();
    table.increment(&hblite::Increment::new("r").add("f", "n", 1)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut clients = Vec::new();
    while clients.len() < 50 {
        assert!(Instant::now() < deadline, "only {} places are free", clients.len());
        let mut client = match try_client(&server) {
            Some(client) => client,
            None => continue,
        };
        client.call("Get", &get(&name, "r"));
        clients.push(client);
    }
}

/// A connection, if there is a place.
fn try_client(server: &TestServer) -> Option<Client> {
    let mut stream = connect(server.ports().region_servers[0]);
    stream.write_all(b"Regist").ok()?;
    (!read_to_end(&mut stream).is_empty()).then(|| Client::data(server))
}

#[test]
fn pipelined_calls_are_all_answered() {
    let server = start(Limits::default().with_connection_calls_max(3).with_handlers(2));
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
    let server = start(Limits::default().with_scanner_lease(Duration::from_millis(200)));
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
    let server = start(Limits::default().with_queued_calls_max(0));
    let mut client = Client::java(server.ports().master, "MasterService");
    let answer = client.call("IsMasterRunning", &pb::Empty {});
    assert_eq!(answer.exception(), ("CallQueueTooBigException", false));
    assert_eq!(answer.header.exception.unwrap().server_overloaded, Some(true));
}

#[test]
fn cells_over_the_limit_are_refused() {
    let engine = Options::new().with_cell_size_max_bytes(100);
    let options = engine;
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
        let plain = compressor.decompress(&answer.cells, 1000, &mut Room::of(10_000)).unwrap();
        assert_eq!(plain, Some(expected.clone()), "{codec}");
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
