//! HBase's RPC over sockets.
//!
//! - `listener` accepts connections; `connection` reads frames (`incoming`) and writes answers
//!   (`outgoing`); `link` is its interface for calls
//! - `peer` is the client of a connection, `call` one of its requests; `dispatch` calls the
//!   service, on the connection's own task if the call is short, on a thread (`work`) if it may
//!   take long
//! - `channel` makes calls without a socket, from this process
//! - `client`, `admin`, `master`, `registry`: one service each

mod admin;
mod call;
mod channel;
mod client;
mod connection;
mod dispatch;
mod hello;
mod incoming;
mod link;
mod listener;
mod master;
mod outgoing;
mod peer;
mod registry;
mod work;

use hblite_wire::RemoteException;

use self::call::Call;
pub use channel::{CallAnswer, CallFailure, Channel};
pub(crate) use dispatch::Dispatcher;
pub(crate) use listener::{Listener, Port};

/// HBase's error for an unknown method.
fn no_such_method(call: &Call<'_>) -> RemoteException {
    let method = call.request.method();
    let service = call.client.service;
    RemoteException::do_not_retry(format!(
        "hblite does not answer {method} of its {service:?} service; see docs/compatibility.md: \
         java.lang.UnsupportedOperationException: {method}"
    ))
}
