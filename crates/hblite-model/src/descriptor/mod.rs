//! Descriptors: the settings of tables and column families.
//!
//! Settings are kept as HBase keeps them, as attributes with text values, so that descriptors pass
//! between hblite, its files and HBase without loss; typed accessors read the ones that hblite
//! acts on. Defaults and texts are those of `TableDescriptorBuilder` and
//! `ColumnFamilyDescriptorBuilder`.

mod attribute;
mod family;
mod pretty;
mod table;

pub use family::{
    BloomType, ColumnFamilyDescriptor, Compression, DataBlockEncoding, KeepDeletedCells,
    VERSIONS_ALL,
};
pub use pretty::{format_bytes, format_interval, parse_bytes, parse_interval};
pub use table::TableDescriptor;
