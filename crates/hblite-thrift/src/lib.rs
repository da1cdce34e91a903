//! HBase's Thrift gateways: clients of HBase in Python and other languages connect to them.
//!
//! ```text
//! gateway.rs    ports, threads, limits
//! in_process.rs the same without ports
//! transport.rs  one connection: frames, detection of the protocol, one call after the other
//! protocol/     the binary and the compact protocol
//! service.rs    methods as tables; answers and exceptions as messages
//! v1/, v2/      Thrift 1: Hbase.thrift; Thrift 2: hbase.thrift
//! memory.rs     the memory of a connection, within the common budget
//! store.rs, scanners.rs, fault.rs: what the services share
//! ```
//!
//! The gateways use only the public API of hblite, so they serve an embedded store and a cluster
//! alike. Calls block the thread of their connection.
//!
//! No input from a client panics, hangs or allocates without bound: see `protocol/` for messages,
//! [`ThriftLimits`] for connections and scanners, and `memory.rs` for all of them together.

#![forbid(unsafe_code)]

mod attributes;
mod fault;
mod gateway;
mod http;
mod in_process;
mod memory;
mod options;
mod protocol;
mod requests;
mod scanners;
mod service;
mod store;
mod transport;
mod v1;
mod v2;

pub use hblite_wire::complaints::Complaints;
pub use hblite_wire::read_only::ReadOnly;

pub use gateway::{ThriftGateway, ThriftPorts, ThriftVersion};
pub use in_process::{InProcess, answer_bytes};
pub use options::{ThriftLimits, ThriftOptions};
