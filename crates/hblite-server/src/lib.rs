//! Stands in for an HBase cluster.
#![forbid(unsafe_code)]
