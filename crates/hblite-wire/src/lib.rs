//! The protocol between HBase's clients and servers, without sockets.
//!
//! ```text
//! connection   preamble (6 bytes) │ u32 length │ ConnectionHeader
//! request      u32 length │ varint length, RequestHeader  │ varint length, message │ cell block
//! response     u32 length │ varint length, ResponseHeader │ varint length, message │ cell block
//! ```
//!
//! - [`pb`] has the messages
//! - [`preamble`] is how a connection begins
//! - [`greeting`] recognizes peers that speak another protocol
//! - [`frame`] parses requests and builds responses; [`client_frame`] is the inverse
//! - [`jute`] is the encoding of ZooKeeper's messages
//! - [`cell_block`] is cells outside messages, with the same bytes as in memory and on disk
//! - [`exception`] is the only place where errors become Java exceptions
//! - [`complaints`] reports malformed input, with a limit per minute
//! - [`callers`] counts who sends requests
//! - [`memory`] is the budget that requests and answers are charged to
//! - [`permits`] limits the connections of a port, and what one address may hold of them
//! - [`site`] refuses HTTP requests of other web sites' pages
//! - [`read_only`] is the switch that keeps clients of a gateway from changing anything
//! - [`convert`] converts messages to operations and results to messages
//! - [`ruby`] writes messages as HBase's shell prints them
//! - [`tree`] shows messages by the names of their fields; [`recording`] is a file of calls
//!
//! Whatever the bytes, nothing here panics, and an announced length allocates nothing.

#![forbid(unsafe_code)]

pub mod callers;
pub mod cell_block;
pub mod client_frame;
pub mod complaints;
pub mod convert;
pub mod decoded_size;
pub mod exception;
pub mod frame;
pub mod greeting;
pub mod jute;
mod machine;
pub mod memory;
pub mod pb;
pub mod permits;
pub mod preamble;
pub mod read_only;
#[cfg(feature = "recording")]
pub mod recording;
pub mod ruby;
mod shape;
pub mod site;
pub mod tree;

pub use exception::RemoteException;
