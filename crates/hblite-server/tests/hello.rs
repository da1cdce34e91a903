//! How connections begin and how they are refused, byte for byte as in HBase 2.6.1.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;
use std::time::Duration;

use crate::support::{self, Client, KEY_VALUE_CODEC, connect, header, read_to_end};
use hblite::Options;
use hblite_server::{Limits, Log, LogLevel, ServerOptions, TestServer};
use hblite_wire::pb;
use prost::Message as _;

/// The only frame that a client gets, and its exception.
fn only_answer(port: u16, sent: &[u8]) -> pb::ExceptionResponse {
    let mut stream = connect(port);
    stream.write_all(sent).expect("sent");
    let bytes = read_to_end(&mut stream);
    assert_eq!(
        u32::from_be_bytes(bytes[..4].try_into().expect("a length")) as usize,
        bytes.len() - 4
    );
    let header = pb::ResponseHeader::decode_length_delimited(&bytes[4..]).expect("a header");
    assert_eq!(header.call_id, Some(u32::MAX));
    header.exception.expect("an exception")
}

#[test]
fn what_is_no_client_of_hbase_is_told_so() {
    let server = TestServer::start().unwrap();
    let port = server.ports().master;
    let package = "org.apache.hadoop.hbase.ipc.";
    for (sent, class, text) in [
        (b"GET / ", "FatalConnectionException", "Expected HEADER=HBas but received HEADER=GET "),
        (b"HBas\x09P", "WrongVersionException", "serverVersion=0, clientVersion=9, authMethod=80"),
        (b"HBas\0\x07", "BadAuthException", "serverVersion=0, clientVersion=0, authMethod=7"),
    ] {
        let exception = only_answer(port, sent);
        assert_eq!(exception.exception_class_name, Some(format!("{package}{class}")));
        assert!(exception.stack_trace.unwrap().contains(text), "{class}");
        assert_eq!(exception.do_not_retry, Some(true));
    }
}

#[test]
fn a_refused_connection_is_logged_with_its_reason() {
    let (sender, lines) = std::sync::mpsc::channel();
    let log = Log::new(LogLevel::Errors, move |line| sender.send(line.to_owned()).unwrap());
    let options = ServerOptions::on_free_ports().with_log(log);
    let server = TestServer::start_with(Options::new(), options).unwrap();
    let (rpc, zookeeper) = (server.ports().master, server.ports().zookeeper.unwrap());
    let unknown = header("NoSuchService", None, None);
    let codec = header("MasterService", Some("a.Codec"), None);
    for (port, sent, reason) in [
        (rpc, &b"hrpc\x04P"[..], "a client of HBase 0.94 or older"),
        (rpc, b"\0\0\0\x2d\0\0\0\0\0", "a client of ZooKeeper"),
        (rpc, b"HBas\x09P", "clientVersion=9"),
        (rpc, &unknown, "has no service \"NoSuchService\""),
        (rpc, &codec, "the codec a.Codec is not supported"),
        (zookeeper, b"HBas\0P", "a client of HBase's RPC"),
        (zookeeper, b"GET / HTTP/1.1\r\n\r\n", "a client of HTTP"),
    ] {
        let mut stream = connect(port);
        stream.write_all(sent).unwrap();
        let line = lines.recv_timeout(Duration::from_secs(20)).unwrap();
        let name = if port == rpc { "RPC" } else { "ZooKeeper" };
        let peer = stream.local_addr().unwrap();
        assert!(line.starts_with(&format!("{name}: malformed input from {peer}: ")), "{line}");
        assert!(line.contains(reason), "{line}");
    }
}

#[test]
fn the_clusters_id_is_answered_and_no_more() {
    let server = TestServer::start().unwrap();
    let mut stream = connect(server.ports().region_servers[0]);
    stream.write_all(b"Regist").unwrap();
    let bytes = read_to_end(&mut stream);
    let id = server.server().cluster_id();
    assert_eq!(id.len(), 36);
    let head = b"\0\0\0\x2e\x06\x08\xff\xff\xff\xff\x0f\x26\x0a\x24";
    assert_eq!(bytes, [head, id.as_bytes()].concat());
}

#[test]
fn security_is_not_enabled_and_the_connection_goes_on() {
    let server = TestServer::start().unwrap();
    let port = server.ports().master;
    let hello = header("MasterService", Some(KEY_VALUE_CODEC), Some((2, 6)));
    let mut client = Client::with(port, &[b"Securi", hello.as_slice()].concat());
    let answer = client.receive();
    assert_eq!(answer.exception(), ("SecurityNotEnabledException", false));
    let running: pb::IsMasterRunningResponse =
        client.call("IsMasterRunning", &pb::Empty {}).decode();
    assert!(running.is_master_running);
}

#[test]
fn who_would_authenticate_is_told_to_switch_to_simple() {
    let server = TestServer::start().unwrap();
    let hello = header("MasterService", None, None);
    let mut stream = connect(server.ports().master);
    stream.write_all(b"HBas\0Q").unwrap();
    let mut status = [0; 8];
    std::io::Read::read_exact(&mut stream, &mut status).unwrap();
    assert_eq!(status, [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xa8]);
    // The first message of SASL is skipped.
    stream.write_all(b"\0\0\0\x03abc").unwrap();
    stream.write_all(&hello[6..]).unwrap();
    let request = b"\0\0\0\x17\x15\x08\x07\x1a\x0fIsMasterRunning\x20\x01\x00";
    stream.write_all(request).unwrap();
    let mut answer = [0; 10];
    std::io::Read::read_exact(&mut stream, &mut answer).unwrap();
    assert_eq!(&answer, b"\0\0\0\x06\x02\x08\x07\x02\x08\x01");
}

#[test]
fn unknown_services_codecs_and_compressors_are_closed_without_a_word() {
    let server = TestServer::start().unwrap();
    let unknown_compressor = {
        let compressed = pb::ConnectionHeader {
            service_name: Some("ClientService".into()),
            cell_block_compressor_class: Some("my.Codec".into()),
            ..pb::ConnectionHeader::default()
        };
        let length = (compressed.encoded_len() as u32).to_be_bytes();
        [b"HBas\0P", length.as_slice(), &compressed.encode_to_vec()].concat()
    };
    for hello in [
        header("NoService", None, None),
        header("ClientService", Some("my.Codec"), None),
        unknown_compressor,
        b"HBas\0P\xff\xff\xff\xff".to_vec(),
        b"HBas\0P\0\0\0\x03\xff\xff\xff".to_vec(),
    ] {
        let mut stream = connect(server.ports().region_servers[0]);
        stream.write_all(&hello).unwrap();
        assert_eq!(read_to_end(&mut stream), b"");
    }
    // Only the master has the master's service.
    let hello = header("MasterService", None, None);
    let mut stream = connect(server.ports().region_servers[0]);
    stream.write_all(&hello).unwrap();
    assert_eq!(read_to_end(&mut stream), b"");
}

#[test]
fn a_connection_that_says_nothing_is_closed() {
    let limits = Limits::default().with_hello_timeout(Duration::from_millis(300));
    let options = ServerOptions::on_free_ports().with_limits(limits);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    for sent in [&b""[..], b"HB", b"HBas\0P", b"HBas\0P\0\0\0\x09abc"] {
        let mut stream = connect(server.ports().master);
        stream.write_all(sent).unwrap();
        assert_eq!(read_to_end(&mut stream), b"", "{sent:?}");
    }
}

#[test]
fn registries_name_the_address_by_which_the_client_came() {
    let server = TestServer::start().unwrap();
    let ports = server.ports();
    for port in [ports.master, ports.region_servers[0]] {
        let mut client = Client::java(port, "ClientMetaService");
        let master: pb::GetActiveMasterResponse =
            client.call("GetActiveMaster", &pb::Empty {}).decode();
        let master = master.server_name.unwrap();
        assert_eq!(
            (master.host_name.as_str(), master.port),
            ("127.0.0.1", Some(ports.master.into()))
        );
        let meta: pb::GetMetaRegionLocationsResponse =
            client.call("GetMetaRegionLocations", &pb::Empty {}).decode();
        let location = &meta.meta_locations[0];
        assert_eq!(location.seq_num, -1);
        let server_name = location.server_name.clone().unwrap();
        assert_eq!(server_name.port, Some(ports.region_servers[0].into()));
        let id: pb::GetClusterIdResponse = client.call("GetClusterId", &pb::Empty {}).decode();
        assert_eq!(id.cluster_id.as_deref(), Some(server.server().cluster_id()));
        let nodes: pb::GetBootstrapNodesResponse =
            client.call("GetBootstrapNodes", &pb::Empty {}).decode();
        assert_eq!(nodes.server_name.len(), 1);
        let masters: pb::GetMastersResponse = client.call("GetMasters", &pb::Empty {}).decode();
        assert!(masters.master_servers[0].is_active);
    }
}

#[test]
fn an_advertised_host_is_named_everywhere() {
    let options = ServerOptions::on_free_ports().with_advertise(Some("db.test".into()));
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let regions = support::create_table(&server, "t", &[]);
    let mut client = Client::data(&server);
    let name = std::str::from_utf8(&regions[0]).unwrap();
    let answer = client.call("Get", &support::get(support::META, name));
    let port = server.ports().region_servers[0];
    let text = String::from_utf8_lossy(&answer.cells).into_owned();
    assert!(text.contains(&format!("db.test:{port}")), "{text:?}");
    assert!(text.contains(&format!("db.test,{port},")), "{text:?}");
    assert!(!text.contains("localhost"), "{text:?}");
}
