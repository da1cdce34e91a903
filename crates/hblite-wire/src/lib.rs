//! What HBase's clients and servers say to each other, without sockets.
//!
//! ```text
//! connection   preamble (6 bytes) │ u32 length │ ConnectionHeader
//! request      u32 length │ varint length, RequestHeader  │ varint length, message │ cell block
//! response     u32 length │ varint length, ResponseHeader │ varint length, message │ cell block
//! ```
//!
//! - [`pb`] has the messages
//! - [`preamble`] is how a connection begins
//! - [`frame`] takes requests apart and puts responses together; [`client_frame`] is the way back
//! - [`jute`] is the encoding of ZooKeeper's messages
//! - [`cell_block`] is cells beside messages: their bytes as they lie in memory and on disk
//! - [`exception`] is the one place where errors become Java exceptions
//! - [`memory`] is the budget that requests and answers are charged to
//! - [`convert`] makes operations of messages and messages of results
//!
//! Whatever the bytes are: nothing here panics, and nothing allocates what a length merely
//! announces.

#![forbid(unsafe_code)]

pub mod cell_block;
pub mod client_frame;
pub mod convert;
pub mod decoded_size;
pub mod exception;
pub mod frame;
pub mod jute;
pub mod memory;
pub mod pb;
pub mod preamble;

pub use exception::RemoteException;
