//! The tests of the client, one module each. That of `tracing` has a process of its own.

mod admin;
mod bad_peers;
mod blocking;
mod endpoints;
mod faults;
mod fuzz;
mod golden;
mod kerberos;
mod metrics;
mod prefetch;
mod pushback;
mod registry;
mod rewind;
mod rows;
mod support;
mod timeline;
mod tls;
