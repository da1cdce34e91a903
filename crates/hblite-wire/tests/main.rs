//! The tests of HBase's messages, one module each.

mod messages;
mod robustness;
