//! Goal: an operation ends before its deadline with an error that says what was tried, whatever
//! is listening at the other end, and if nothing is.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../tests/testkit/ports.rs"]
mod ports;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hblite_client::Client;
use hblite_model::Error;
use ports::ClosedPort;

/// Longer than the deadlines below, with room for a slow machine.
const AT_LATEST: Duration = Duration::from_secs(20);

/// A peer that sends these bytes on every connection, and is then silent.
async fn peer(answer: &'static [u8]) -> SocketAddr {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut bytes = [0; 1024];
                let _ = stream.read(&mut bytes).await;
                let _ = stream.write_all(answer).await;
                // Reads until the client has disconnected.
                while stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
            });
        }
    });
    address
}

/// Connects, and returns the error.
async fn failure(address: &str) -> Error {
    let settings = "hbase.rpc.timeout=1500&hbase.client.pause=20&hbase.client.retries.number=3&\
                    hbase.zookeeper.client.timeout=500&\
                    hbase.ipc.client.socket.timeout.connect=500";
    let began = Instant::now();
    let error = Client::connect(&format!("{address}?{settings}")).await.unwrap_err();
    assert!(began.elapsed() < AT_LATEST, "{address}: {:?}", began.elapsed());
    error
}

async fn check(address: &str, reasons: &[&str]) {
    let error = failure(address).await;
    for reason in reasons {
        assert!(error.message().contains(reason), "{address}: {error}");
    }
}

#[tokio::test]
async fn no_server_listens() {
    let closed = ClosedPort::new();
    let place = format!("127.0.0.1:{}", closed.port());
    check(&format!("hbase+rpc://{place}"), &["cannot reach", &place, "refused"]).await;
    check(&format!("hbase://{place}/hbase"), &["cannot reach", &place, "refused"]).await;
}

#[tokio::test]
async fn a_name_does_not_resolve() {
    check("hbase+rpc://no-such-host.invalid:16000", &["no-such-host.invalid:16000"]).await;
    check("hbase://no-such-host.invalid", &["no-such-host.invalid:2181"]).await;
}

#[tokio::test]
async fn a_web_server_listens() {
    let address = peer(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    check(&format!("hbase+rpc://{address}"), &["HTTP", &address.to_string()]).await;
    let reasons = ["HTTP", "ZooKeeper was expected", &address.to_string()];
    check(&format!("hbase://{address}"), &reasons).await;
}

#[tokio::test]
async fn a_peer_announces_two_gigabytes() {
    let address = peer(b"\x7f\xff\xff\xff then little").await;
    check(&format!("hbase+rpc://{address}"), &["2147483647 bytes", &address.to_string()]).await;
    check(&format!("hbase://{address}"), &["2147483647 bytes", &address.to_string()]).await;
}

#[tokio::test]
async fn a_peer_sends_garbage() {
    let address = peer(b"\0\0\0\x05\xff\xff\xff\xff\xff").await;
    check(&format!("hbase+rpc://{address}"), &["does not answer as HBase does"]).await;
    check(&format!("hbase://{address}"), &["ZooKeeper was expected"]).await;
}

#[tokio::test]
async fn a_peer_is_silent() {
    let address = peer(b"").await;
    check(&format!("hbase+rpc://{address}"), &["did not answer", &address.to_string()]).await;
    check(&format!("hbase://{address}"), &["did not answer in time", &address.to_string()]).await;
    // A whole frame was announced, and part of it sent.
    let address = peer(b"\0\0\x01\0abc").await;
    check(&format!("hbase+rpc://{address}"), &["did not answer", &address.to_string()]).await;
}

#[tokio::test]
async fn a_node_of_zookeeper_is_missing() {
    let server = hblite_server::TestServer::start().unwrap();
    let port = server.ports().zookeeper.unwrap();
    let reasons = ["/elsewhere/meta-region-server", "zookeeper.znode.parent"];
    check(&format!("hbase://127.0.0.1:{port}/elsewhere"), &reasons).await;
}

#[tokio::test]
async fn the_port_is_that_of_another_service() {
    let server = hblite_server::TestServer::start().unwrap();
    let zookeeper = server.ports().zookeeper.unwrap();
    let error = failure(&format!("hbase+rpc://127.0.0.1:{zookeeper}")).await;
    assert!(error.message().contains(&format!("127.0.0.1:{zookeeper}")), "{error}");
    assert!(error.message().contains("is a ZooKeeper (use hbase://)"), "{error}");
    let master = server.ports().master;
    let error = failure(&format!("hbase://127.0.0.1:{master}")).await;
    assert!(error.message().contains(&format!("127.0.0.1:{master}")), "{error}");
    assert!(error.message().contains("use hbase+rpc://"), "{error}");
}
