//! The tests of the server, one module each. Those that count memory are a program apart.

mod aggregates;
mod bulk_load;
mod captured;
mod fairness;
mod faults;
mod features;
mod fuzz_smoke;
mod hello;
mod http;
mod in_process;
mod limits;
mod milliseconds;
mod regions;
mod replicas;
mod requests;
mod scanners;
mod snapshots;
mod state;
mod support;
mod tables;
