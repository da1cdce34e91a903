//! The tests of the Thrift gateway, one module each. Those that count memory are a program apart.

mod arguments;
mod attributes;
mod clock_and_rewinds;
mod fuzz;
mod golden;
mod hostile;
mod http;
mod read_only;
mod support;
