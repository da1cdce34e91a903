//! The store in the process of a C program: the functions of `include/hblite.h`.
//!
//! - `memory` is what C and Rust lend each other, and the only unsafe code: the types of the
//!   parameters hold what C promises, so the functions themselves are safe
//! - `registry` has the objects behind the handles
//! - `error` runs the functions: errors and panics become codes
//! - `store`, `schema`, `tables` and `snapshots` are a store and what is in it
//! - `read`, `write`, `table`, `row` and `batch` are operations and their results
//!
//! `tests/header.rs` writes the header from this source; the comments are the user's.

#![allow(unsafe_code, reason = "exported names; `tests/tidy.rs` allows pointers in one file only")]

// In the order of the header.
pub mod error;
pub mod memory;
mod registry;

pub mod store;

pub mod schema;
pub mod tables;

pub mod list;
pub mod snapshots;

pub mod table;

pub mod read;
pub mod row;

pub mod write;

pub mod batch;

use std::ffi::c_char;

/// The version of the library, such as "0.1.0". The text is part of the library and stays.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
