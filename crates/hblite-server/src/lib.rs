//! Replaces an HBase cluster: unmodified HBase clients connect to it.
//!
//! [`Server`] serves a store of this process; [`TestServer`] is one for a test. The bytes of the
//! protocol are written and read in `hblite-wire`.
//!
//! - `server` opens ports and starts threads
//! - `cluster` is what clients see: servers, and which regions are on them
//! - `rpc` is connections, calls and services
//! - `faults` are faults on demand, `state_control` returns to earlier states, forks and sets the
//!   clock, `http` is the admin endpoint
//! - `places` limits the number of connections
//! - `recorder` writes calls to a file
//! - `statistics` counts calls and keeps the last slow ones
//! - `view` is what the server shows of itself to pages
//! - [`zookeeper`] is what clients contact first

#![forbid(unsafe_code)]

pub mod zookeeper;

mod cluster;
mod fault_control;
mod faults;
mod http;
mod log;
mod options;
mod places;
mod ports;
mod recorder;
mod role;
mod rpc;
mod server;
mod state_control;
mod statistics;
mod test_server;
mod view;

pub use fault_control::{Faults, ServerCrash};
pub use faults::{FaultAction, FaultRule, FaultServer, FaultStatus};
pub use http::{PAGE_SIZE_MAX_BYTES, PageServer, Pages};
pub use log::{Log, LogLevel};
pub use options::{Limits, ServerOptions};
pub use ports::ServerPorts;
pub use recorder::{RecordedCalls, Recorder};
pub use server::Server;
pub use state_control::{ForkStatus, StateControl};
pub use statistics::{MethodCalls, SlowCall};
pub use test_server::TestServer;
pub use view::{RegionServerState, ServerFigures, ServerView};
