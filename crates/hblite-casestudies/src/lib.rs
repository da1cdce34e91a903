//! The schemas of HBase's case studies as running code.

#![forbid(unsafe_code)]

mod error;
mod ids;
mod keyed;
mod merged;
mod names;
mod random;
pub mod studies;
mod study;
mod trace;

use hblite::{ColumnFamilyDescriptor, TableDescriptor, TableName};

pub use error::{Error, Result};
pub use ids::IdTable;
pub use keyed::{KeyedDesign, Kind, Record};
pub use merged::{MergedRows, merged};
pub use studies::{studies, study};
pub use study::{DataSet, Design, Question, RecordId, Session, Skew, Study, Write};
pub use trace::{Access, Cost, Row, Step, TableReader, Trace, TracedScan};

/// A table with families of the default settings.
pub(crate) fn descriptor(name: &str, families: &[&str]) -> TableDescriptor {
    let name: TableName = name.parse().expect("names of the studies' tables are tested");
    let families = families.iter().map(ColumnFamilyDescriptor::new);
    families.fold(TableDescriptor::new(name), TableDescriptor::with_family)
}
