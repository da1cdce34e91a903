//! HBase's REST interface in front of a store: rows, scanners, schemas and namespaces as JSON,
//! XML, protobuf and plain bytes over HTTP.
//!
//! Paths, status codes, headers and bodies are those of `RESTServer` of HBase 2.6. A request takes
//! this way:
//!
//! ```text
//! server ─ listener ─ route ─ resource/* ─ hblite::{Table, Admin}
//!          HTTP       path    │
//!                             ├ media            which form is wanted, and which one came
//!                             ├ model/*          what is sent, in each of its forms
//!                             ├ row_spec         which cells a path means
//!                             └ memory           what the request takes of the memory of all
//! ```
//!
//! The listener is asynchronous; from `route` on, a request runs on a thread of its own. `java`
//! has the rules of Java's library that show in paths and bodies.

#![forbid(unsafe_code)]

mod activity;
mod cell_stream;
mod error_page;
mod failure;
mod gateway;
mod java;
mod listener;
mod media;
mod memory;
mod model;
mod options;
mod packing;
#[doc(hidden)]
pub mod parsers;
mod request;
mod resource;
mod response;
mod route;
mod row_spec;
mod scanners;
mod server;
mod xml;

pub use hblite_wire::complaints::Complaints;
pub use options::{RestLimits, RestOptions};
pub use server::RestServer;
