//! Descriptors: the settings of tables and column families.
//!
//! Settings are stored as in HBase, as attributes with text values, so that descriptors pass
//! between hblite, its files and HBase without loss. Typed accessors read the ones that hblite
//! uses. Defaults and texts are those of `TableDescriptorBuilder` and
//! `ColumnFamilyDescriptorBuilder`.

mod attribute;
mod coprocessor;
mod family;
mod named;
mod pretty;
mod table;

pub use coprocessor::Coprocessor;
pub use family::{ColumnFamilyDescriptor, VERSIONS_ALL};
pub use named::{BloomType, Compression, DataBlockEncoding, KeepDeletedCells};
pub(crate) use pretty::whole_seconds;
pub use pretty::{format_bytes, format_interval, parse_bytes, parse_interval};
pub use table::{REGION_REPLICATION_MAX, TableDescriptor};
