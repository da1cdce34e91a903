//! Goal: a client that must authenticate with Kerberos, in a build that cannot, says so and sends
//! nothing. What a build with the feature does is tested by `tools/conformance/kerberos`.

#![cfg(not(feature = "kerberos"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_client::Client;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

#[tokio::test]
async fn a_build_without_the_feature_sends_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "hbase+rpc://{}?hbase.security.authentication=kerberos&hbase.client.retries.number=0",
        listener.local_addr().unwrap()
    );
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        received
    });
    let error = Client::connect(&url).await.unwrap_err();
    assert!(error.message().contains("without the feature kerberos"), "{error}");
    assert_eq!(server.await.unwrap(), b"");
}
