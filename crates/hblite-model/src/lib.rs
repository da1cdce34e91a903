//! HBase's data model as values.
//!
//! Cells and their order, the operations of the client API and their results, filters, table
//! descriptors, names and errors. Nothing here does I/O: the engine, the wire protocols and the
//! client API share these types and none of each other.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod cell;

pub mod error;

mod direction;

pub use cell::{Cell, CellBuffer, CellComparator, CellRef, CellType, LATEST_TIMESTAMP};
pub use direction::Direction;
pub use error::{Error, ErrorKind, Exception, Result};
