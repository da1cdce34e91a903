//! Stands in for an HBase cluster: unmodified HBase clients connect to it.
//!
//! [`Server`] answers for a store of this process; [`TestServer`] is one for a test. The protocol's
//! bytes are made and read in `hblite-wire`.
//!
//! - `server` opens ports and starts threads
//! - `cluster` is what clients believe in: servers, and which regions are on them
//! - `rpc` is connections, calls and services
//! - `faults` is what goes wrong on demand, `http` the admin endpoint
//! - `places` are how many connections there may be, `machine` is what memory there is
//! - [`zookeeper`] is what clients look up first

#![forbid(unsafe_code)]

pub mod zookeeper;

mod cluster;
mod fault_control;
mod faults;
mod http;
mod log;
mod machine;
mod options;
mod places;
mod role;
mod rpc;
mod server;
mod test_server;

pub use fault_control::{Faults, ServerCrash};
pub use faults::{FaultAction, FaultRule, FaultServer, FaultStatus};
pub use log::{Log, LogLevel};
pub use options::{Limits, ServerOptions};
pub use server::{Server, ServerPorts};
pub use test_server::TestServer;
