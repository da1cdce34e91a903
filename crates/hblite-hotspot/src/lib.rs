//! Where the load of a row-key design goes, and what reads cost.
//!
//! - [`advise`]: from sampled keys and expected queries to a design
//! - [`condition`]: conditions over named figures, for tests in a build
//! - [`data`]: records from files
//! - [`figures`]: how evenly loads are spread, per time window and in total
//! - [`findings`]: what is hot in a running table
//! - [`generate`]: which entity each request is about, and when it arrives
//! - [`predict`]: throughput and latency of recorded requests under other keys
//! - [`report`]: a page, pictures and tables of results
//! - [`result`]: the result of a run, as a file
//! - [`run`]: runs a candidate on a store and counts
//! - [`simulate`]: the stream of requests on a number of region servers
//! - [`study`]: workloads with candidate keys and queries
//! - [`watch`]: the same figures from the counters of a running cluster

#![forbid(unsafe_code)]

pub mod advise;
pub mod condition;
pub mod data;
pub mod figures;
pub mod findings;
pub mod generate;
mod mix;
pub mod predict;
pub mod report;
pub mod result;
pub mod run;
pub mod simulate;
pub mod study;
pub mod watch;
