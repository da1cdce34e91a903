//! Speaks HBase's protocols over sockets, so that unmodified HBase clients use hblite.

#![forbid(unsafe_code)]

pub mod zookeeper;
