//! HBase's RPC over sockets.
//!
//! - `listener` accepts connections, `connection` reads frames and writes answers
//! - `call` is one request with who sent it; `dispatch` finds its service, on the connection's own
//!   task if it is quick, on a thread if it may take long
//! - `client`, `admin`, `master`, `registry`: a service each
//! - `scanners`: ids and leases

mod admin;
mod call;
mod client;
mod connection;
mod dispatch;
mod hello;
mod listener;
mod master;
mod registry;
pub(crate) mod scanners;

pub(crate) use dispatch::Dispatcher;
pub(crate) use listener::{Listener, Port};
