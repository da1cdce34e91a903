//! In place of `tls` in a build without that feature: refuses to connect rather than send anything
//! that is not encrypted.

use std::time::Duration;

use tokio::net::TcpStream;

use crate::error::CallError;
use crate::tls_settings::TlsSettings;
use crate::url::ServerAddress;

#[expect(clippy::unused_async, reason = "it is asynchronous with the feature")]
pub(super) async fn handshake(
    _: TcpStream,
    server: &ServerAddress,
    _: &TlsSettings,
    _: Duration,
) -> Result<TcpStream, CallError> {
    Err(CallError::Insecure {
        server: server.clone(),
        why: "this program was built without the feature tls of hblite-client".to_owned(),
    })
}

pub(super) fn of_connection(_: &ServerAddress, _: &std::io::Error) -> Option<CallError> {
    None
}
