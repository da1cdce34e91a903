//! Bytes that real clients sent to a real HBase 2.6.1, and its answers, replayed to this server.
//! Only the names of regions, times and scanner ids are this server's own.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::{self, Client, KEY_VALUE_CODEC, create_table, header, put, region};
use hblite_server::TestServer;
use hblite_wire::pb;

/// What gohbase and asynchbase send first.
const HELLO: &[u8] = b"HBas\0P\0\0\0\x44\x0a\x06\x0a\x04root\x12\x0dClientService\
    \x1a\x2borg.apache.hadoop.hbase.codec.KeyValueCodec";

/// The cell r1/f:q/1000/Put/v1 as the codec has it.
const CELL: &[u8] = b"\0\0\0\x1a\0\0\0\x10\0\0\0\x02\0\x02r1\x01fq\0\0\0\0\0\0\x03\xe8\x04v1";

/// Bytes after their length as a varint.
fn delimited(parts: &[&[u8]]) -> Vec<u8> {
    let bytes = parts.concat();
    let mut all = Vec::new();
    prost::encode_length_delimiter(bytes.len(), &mut all).expect("room");
    all.extend_from_slice(&bytes);
    all
}

/// Bytes after their length, as in a frame.
fn framed(parts: &[&[u8]]) -> Vec<u8> {
    let bytes = parts.concat();
    [&(bytes.len() as u32).to_be_bytes()[..], &bytes].concat()
}

/// `RegionSpecifier` as field 1.
fn region_field(name: &[u8]) -> Vec<u8> {
    let specifier = [b"\x08\x01\x12".as_slice(), &delimited(&[name])].concat();
    [b"\x0a".as_slice(), &delimited(&[&specifier])].concat()
}

/// A table `t` with the row of [`CELL`].
fn table_with_r1(server: &TestServer) -> Vec<u8> {
    let name = create_table(server, "t", &[]).remove(0);
    let put = hblite::Put::new("r1").with_timestamp(1000).add("f", "q", "v1");
    let table = server.connection().table("t").expect("a name");
    table.put(&put).expect("written");
    name
}

#[test]
fn gohbases_probe_of_the_catalog() {
    let server = TestServer::start().unwrap();
    let mut client = Client::with(server.ports().region_servers[0], HELLO);
    client.send_bytes(
        b"\0\0\0\x37\x09\x08\x01\x1a\x03Get\x20\x01\x2c\x0a\x11\x08\x01\x12\x0dhbase:meta,,1\
        \x12\x17\x0a\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x2a\x00\x50\x01",
    );
    assert_eq!(client.read_frame(), b"\x02\x08\x01\x06\x0a\x04\x10\x00\x18\x00");
}

#[test]
fn asynchbases_probe_of_a_region() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let mut client = Client::with(server.ports().region_servers[0], HELLO);
    let row = b":AsyncHBase~probe~<;_<";
    let get = [b"\x0a".as_slice(), &delimited(&[row]), b"\x50\x01"].concat();
    let get = [b"\x12".as_slice(), &delimited(&[&get])].concat();
    let header = b"\x09\x08\x00\x1a\x03Get\x20\x01";
    client.send_bytes(&framed(&[header, &delimited(&[&region_field(&name), &get])]));
    assert_eq!(client.read_frame(), b"\x02\x08\x00\x06\x0a\x04\x10\x00\x18\x00");
}

#[test]
fn javas_get_of_a_row() {
    let server = TestServer::start().unwrap();
    let name = table_with_r1(&server);
    let hello = header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)));
    let mut client = Client::with(server.ports().region_servers[0], &hello);
    let header = b"\x11\x08\x0e\x12\x00\x1a\x03Get\x20\x01\x30\x00\x38\xe0\xd4\x03";
    let get = b"\x12\x16\x0a\x02r1\x2a\x0c\x08\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f\
        \x30\x01\x38\x01";
    client.send_bytes(&framed(&[header, &delimited(&[&region_field(&name), get])]));
    let head = b"\x06\x08\x0e\x1a\x02\x08\x1e\x06\x0a\x04\x10\x01\x20\x00";
    assert_eq!(client.read_frame(), [head, CELL].concat());
}

#[test]
fn the_same_get_without_a_version_is_answered_in_the_message() {
    let server = TestServer::start().unwrap();
    let name = table_with_r1(&server);
    let mut client = Client::with(server.ports().region_servers[0], HELLO);
    let answer = client.call("Get", &support::get(&name, "r1"));
    assert!(answer.cells.is_empty());
    let result = answer.decode::<pb::GetResponse>().result.unwrap();
    assert_eq!(result.cell[0].value.as_deref(), Some(&b"v1"[..]));
    assert_eq!(result.cell[0].timestamp, Some(1000));
}

#[test]
fn javas_scan_of_a_whole_table() {
    let server = TestServer::start().unwrap();
    let name = table_with_r1(&server);
    let hello = header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)));
    let mut client = Client::with(server.ports().region_servers[0], &hello);
    let header = b"\x12\x08\x10\x12\x00\x1a\x04Scan\x20\x01\x30\x00\x38\xe0\xd4\x03";
    let scan = b"\x12\x38\x12\x15\x0a\x10_isolationlevel_\x12\x01\x00\
        \x32\x0c\x08\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f\
        \x38\x01\x40\x01\x50\x80\x80\x80\x01\x88\x01\xff\xff\xff\xff\x07\xb0\x01\x00\
        \x20\xff\xff\xff\xff\x07\x28\x00\x38\x01\x40\x01\x48\x00";
    client.send_bytes(&framed(&[header, &delimited(&[&region_field(&name), scan])]));
    let answer = client.receive();
    assert_eq!(answer.cells, CELL);
    let response: pb::ScanResponse = answer.decode();
    assert_eq!(response.cells_per_result, [1]);
    assert_eq!(response.partial_flag_per_result, [false]);
    assert_eq!((response.more_results, response.more_results_in_region), (Some(true), Some(false)));
    assert_eq!((response.stale, response.ttl), (Some(false), Some(60_000)));
    assert!(response.scanner_id.is_some() && response.mvcc_read_point.is_some());
    assert_eq!(server.server().open_scanners(), 0, "the region is exhausted");
}

#[test]
fn javas_multi_has_its_cells_beside_it() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let hello = header("ClientService", Some(KEY_VALUE_CODEC), Some((2, 6)));
    let mut client = Client::with(server.ports().region_servers[0], &hello);
    let action = |index: u8| {
        let mutation = b"\x12\x14\x0a\x02r1\x10\x02\x20\xff\xff\xff\xff\xff\xff\xff\xff\x7f\
            \x30\x00\x40\x01";
        [&[0x1a, 0x18, 0x08, index], &mutation[..]].concat()
    };
    let actions = [region_field(&name), action(0), action(1), action(2)].concat();
    let message = [b"\x0a".as_slice(), &delimited(&[&actions])].concat();
    let header =
        b"\x17\x08\x0d\x12\x00\x1a\x05Multi\x20\x01\x2a\x02\x08\x5a\x30\x00\x38\xe0\xd4\x03";
    client.send_bytes(&framed(&[header, &delimited(&[&message]), CELL, CELL, CELL]));
    // HBase ends with empty statistics of regions, which no client needs.
    let expected = b"\x02\x08\x0d\x14\x0a\x12\x0a\x04\x08\x00\x12\x00\x0a\x04\x08\x01\x12\x00\
        \x0a\x04\x08\x02\x12\x00";
    assert_eq!(client.read_frame(), expected);
    let found = server.connection().table("t").unwrap().get(&hblite::Get::new("r1")).unwrap();
    assert_eq!(found.value("f", "q"), Some(&b"v1"[..]));
}

#[test]
fn asynchbase_looks_for_the_closest_row_before() {
    let server = TestServer::start().unwrap();
    create_table(&server, "a", &[]);
    let names = create_table(&server, "t", &["m"]);
    let mut client = Client::with(server.ports().region_servers[0], HELLO);
    let mut closest = |row: &str| {
        let mut request = support::get(support::META, row);
        request.get.closest_row_before = Some(true);
        request.get.column = vec![pb::Column { family: "info".into(), qualifier: vec![] }];
        let answer = client.call("Get", &request);
        assert!(answer.cells.is_empty(), "asynchbase expects them in the message");
        answer
    };
    let row = |answer: support::Answer| {
        answer.decode::<pb::GetResponse>().result.unwrap().cell[0].row.clone().unwrap().to_vec()
    };
    assert_eq!(row(closest("t,a,:")), names[0]);
    assert_eq!(row(closest("t,zz,:")), names[1]);
    // Not the region of a table before it. asynchbase then repeats it as a scan.
    assert_eq!(closest("s,zz,:").exception(), ("UnknownProtocolException", true));
}

#[test]
fn gohbase_and_java_look_regions_up_backwards() {
    let server = TestServer::start().unwrap();
    create_table(&server, "a", &[]);
    let names = create_table(&server, "t", &["m"]);
    let mut client = Client::with(server.ports().region_servers[0], HELLO);
    for (start, stop, expected) in [
        ("t,a,99999999999999", "t,,", Some(&names[0])),
        ("t,m,99999999999999", "t,,", Some(&names[1])),
        ("t,z,:", "t", Some(&names[1])),
        ("s,z,:", "s", None),
    ] {
        let scan = pb::Scan {
            start_row: Some(start.into()),
            stop_row: Some(stop.into()),
            reversed: Some(true),
            column: vec![pb::Column { family: "info".into(), qualifier: vec![] }],
            include_stop_row: Some(stop.ends_with(",,")),
            ..pb::Scan::default()
        };
        let request = pb::ScanRequest {
            region: Some(region(support::META)),
            scan: Some(scan),
            number_of_rows: Some(1),
            close_scanner: Some(true),
            client_handles_partials: Some(true),
            client_handles_heartbeats: Some(true),
            ..pb::ScanRequest::default()
        };
        let answer = client.call("Scan", &request);
        let response: pb::ScanResponse = answer.decode();
        assert_eq!(response.cells_per_result.len(), usize::from(expected.is_some()), "{start}");
        let mut cells = hblite_wire::cell_block::CellReader::new(&answer.cells);
        assert_eq!(cells.next_cell().ok().map(|cell| cell.row().to_vec()).as_ref(), expected);
    }
    assert_eq!(server.server().open_scanners(), 0);
}

#[test]
fn a_put_of_asynchbase_and_one_that_only_checks() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let mut client = Client::with(server.ports().region_servers[0], HELLO);
    // Its comparator for "not there" is a message with an empty message.
    let condition = || pb::Condition {
        row: "r".into(),
        family: Some("f".into()),
        qualifier: Some("q".into()),
        compare_type: Some(2),
        comparator: Some(pb::Comparator {
            name: "org.apache.hadoop.hbase.filter.BinaryComparator".to_owned(),
            serialized_comparator: Some(b"\x0a\x02\x0a\x00".to_vec().into()),
        }),
        ..pb::Condition::default()
    };
    let request = |value| pb::MutateRequest {
        region: region(&name),
        mutation: put("r", "q", value),
        condition: Some(condition()),
        nonce_group: None,
    };
    let answer = client.call("Mutate", &request("one"));
    assert_eq!(answer.decode::<pb::MutateResponse>().processed, Some(true));
    let answer = client.call("Mutate", &request("two"));
    assert_eq!(answer.decode::<pb::MutateResponse>().processed, Some(false));
    let found = server.connection().table("t").unwrap().get(&hblite::Get::new("r")).unwrap();
    assert_eq!(found.value("f", "q"), Some(&b"one"[..]));
}
