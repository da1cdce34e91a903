//! Replaces an HBase cluster: unmodified HBase clients connect to it.
//!
//! [`Server`] serves a store of this process; [`TestServer`] is a server for a test; [`InProcess`]
//! answers clients in this process, without ports. The crate
//! `hblite-wire` encodes and decodes the protocol.
//!
//! - `server` opens ports and starts threads; `in_process` is a server without ports
//! - `cluster` is the cluster that clients see: servers, and their regions
//! - `rpc` has connections, calls and services
//! - `faults` injects faults; `state_control` handles checkpoints, forks and the clock; `http` is
//!   the admin endpoint
//! - `heap` returns free memory to the system
//! - `place` is a connection's permit
//! - `recorder` writes calls to a file
//! - `site_settings` knows HBase's names of the options
//! - `statistics` counts calls and keeps the last slow ones
//! - `view` is the state that pages display
//! - [`zookeeper`] answers the first requests of clients

#![forbid(unsafe_code)]

pub mod zookeeper;

mod cluster;
mod fault_control;
mod faults;
mod heap;
mod http;
mod in_process;
mod log;
mod options;
mod place;
mod ports;
mod recorder;
mod role;
mod rpc;
mod server;
mod site_settings;
mod state_control;
mod statistics;
mod stop_handler;
mod test_server;
mod view;

pub use fault_control::{Faults, ServerCrash};
pub use faults::{FaultAction, FaultRule, FaultServer, FaultStatus};
pub use http::{PAGE_SIZE_MAX_BYTES, PageServer, Pages};
pub use in_process::InProcess;
pub use log::{Log, LogLevel};
pub use options::{Limits, ServerOptions};
pub use ports::ServerPorts;
pub use recorder::{RecordedCalls, Recorder};
pub use rpc::{CallAnswer, CallFailure, Channel};
pub use server::Server;
pub use site_settings::SiteSettings;
pub use state_control::{ForkStatus, StateControl};
pub use statistics::{MethodCalls, SlowCall};
pub use stop_handler::StopHandler;
pub use test_server::TestServer;
pub use view::{RegionServerState, ServerFigures, ServerView};

/// Compiles the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/server.md")]
struct ServerDocument;

/// Runs the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing.md")]
struct TestingDocument;

/// Compiles the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/faults.md")]
struct FaultsDocument;
