//! HBase's REST interface in front of a store: rows, scanners, schemas and namespaces as JSON,
//! XML, protobuf and plain bytes over HTTP.
//!
//! Paths, status codes, headers and bodies are those of `RESTServer` of HBase 2.6. The path of a
//! request:
//!
//! ```text
//! server ─ listener ─ route ─ resource/* ─ hblite::{Table, Admin}
//!          HTTP       path    │
//!                             ├ media            the requested form, and the form of the body
//!                             ├ model/*          what is sent, in each form
//!                             ├ row_spec         the cells that a path selects
//!                             └ memory           the request's share of the common memory
//! ```
//!
//! The listener is asynchronous; from `route` on, a request runs on a thread of its own. `java` has
//! the rules of Java's library that are visible in paths and bodies.

#![forbid(unsafe_code)]

mod activity;
mod cell_stream;
mod csrf;
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
mod security_headers;
mod server;
mod turns;
mod xml;

pub use csrf::{BrowserPatterns, CsrfProtection};
pub use hblite_wire::complaints::Complaints;
pub use hblite_wire::read_only::ReadOnly;
pub use options::{RestLimits, RestOptions};
pub use security_headers::SecurityHeaders;
pub use server::RestServer;
