//! Bytes to the ports of a running server: ZooKeeper's, the master's, a region server's; from the
//! first one on, or after a hello that makes them frames. Whatever they are, the server answers the
//! next client.

#![no_main]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};
use hblite_server::TestServer;
use libfuzzer_sys::fuzz_target;

static SERVER: LazyLock<TestServer> = LazyLock::new(|| {
    let server = TestServer::start().expect("a server");
    let connection = server.connection();
    let family = ColumnFamilyDescriptor::new("f");
    let descriptor = TableDescriptor::new("t".parse().expect("a name")).with_family(family);
    connection.admin().create_table(&descriptor).expect("a table");
    let table = connection.table("t").expect("the table");
    table.put(&Put::new("r").add("f", "q", "v")).expect("a put");
    server
});

/// Preamble and header of a client of this service, with cell blocks.
fn hello(service: &str) -> Vec<u8> {
    let codec = "org.apache.hadoop.hbase.codec.KeyValueCodec";
    let mut header = vec![0x12, service.len() as u8];
    header.extend_from_slice(service.as_bytes());
    header.extend_from_slice(&[0x1a, codec.len() as u8]);
    header.extend_from_slice(codec.as_bytes());
    let mut bytes = b"HBas\0P".to_vec();
    bytes.extend_from_slice(&(header.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&header);
    bytes
}

/// The bytes in frames: each a length, taken from the first byte, and what follows.
fn frames(mut bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (frame, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        all.extend_from_slice(&(frame.len() as u32).to_be_bytes());
        all.extend_from_slice(frame);
        bytes = rest;
    }
    all
}

/// A session of ZooKeeper without end.
const CONNECT: [u8; 49] = {
    let mut bytes = [0; 49];
    (bytes[3], bytes[18], bytes[31]) = (45, 0x75, 16);
    bytes
};

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let ports = SERVER.ports();
    let zookeeper = ports.zookeeper.expect("a port");
    let (port, sent) = match choice % 6 {
        0 => (zookeeper, bytes.to_vec()),
        1 => (zookeeper, [&CONNECT[..], &frames(bytes)].concat()),
        2 => (ports.master, bytes.to_vec()),
        3 => (ports.master, [hello("MasterService"), frames(bytes)].concat()),
        4 => (ports.region_servers[0], [hello("ClientService"), frames(bytes)].concat()),
        _ => (ports.region_servers[0], [hello("AdminService"), frames(bytes)].concat()),
    };
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        panic!("the server is gone");
    };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let _ = stream.write_all(&sent);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the connection stays open");
    }
});
