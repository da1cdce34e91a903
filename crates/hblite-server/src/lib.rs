//! Stands in for an HBase cluster: unmodified HBase clients connect to it.
//!
//! [`Server`] answers for a store of this process; [`TestServer`] is one for a test. The protocol's
//! bytes are made and read in `hblite-wire`.
//!
//! - `server` opens ports and starts threads
//! - `cluster` is what clients believe in: servers, and which regions are on them
//! - `rpc` is connections, calls and services
//! - [`zookeeper`] is what clients look up first

#![forbid(unsafe_code)]

pub mod zookeeper;

mod cluster;
mod log;
mod options;
mod rpc;
mod server;
mod test_server;

pub use log::{Log, LogLevel};
pub use options::{Limits, ServerOptions};
pub use server::{Server, ServerPorts};
pub use test_server::TestServer;
