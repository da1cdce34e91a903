//! In place of `kerberos` in a build without that feature: refuses to connect rather than send
//! anything to a server that is not authenticated.

use std::time::Duration;

use super::Service;
use crate::error::CallError;
use crate::settings::ClientSettings;
use crate::url::ServerAddress;

/// A connection that is authenticated.
#[derive(Debug)]
pub(super) struct Authenticated<S> {
    pub(super) stream: S,
    pub(super) is_simple: bool,
}

#[expect(clippy::unused_async, reason = "it is asynchronous with the feature")]
pub(super) async fn authenticate<S>(
    stream: S,
    server: &ServerAddress,
    _: Service,
    _: &ClientSettings,
    _: &mut Option<usize>,
    _: Duration,
) -> Result<Option<Authenticated<S>>, CallError> {
    drop(Authenticated { stream, is_simple: false });
    Err(CallError::Unauthenticated {
        server: server.clone(),
        why: "this program was built without the feature kerberos of hblite-client".to_owned(),
    })
}
