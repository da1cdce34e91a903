//! The schemas of HBase's case studies as running code, on the public API of `hblite` only.
//!
//! Each [`CaseStudy`] asks the same questions of several [`SchemaDesign`]s for the same data. This
//! shows what a row key offers and what it costs, in scans, regions, rows and cells read.
//!
//! ```
//! use hblite_casestudies::{CaseStudyOptions, run_design, study};
//!
//! let study = study("recent-operations")?;
//! let data = study.data(1_000, 1);
//! let design = study.design("reversed-scan")?;
//! let connection = hblite::open_in_memory()?;
//! let options = CaseStudyOptions::default().with_regions(4).with_checked(true);
//! let report = run_design(study.as_ref(), design.as_ref(), &data, &connection, options)?;
//! assert!(report.questions.iter().all(|question| question.is_right == Some(true)));
//! println!("{report}");
//! # Ok::<(), hblite_casestudies::Error>(())
//! ```
//!
//! # Where things are
//!
//! [`mod@studies`] has a file or folder for each study. Studies whose designs differ in their keys
//! only are [`Record`]s with [`KeyedDesign`]s: such a design is nothing but a key in the design
//! language of `hblite-rowkey`. The others arrange records in rows and columns of their own.
//! [`Session::ask`] reads through [`TableReader`]s, which record every read in a [`Trace`].
//! [`merged`] turns a plan of `hblite-rowkey` into rows, and [`IdTable`] maintains the lookup
//! table.

#![forbid(unsafe_code)]

mod error;
mod ids;
mod keyed;
mod merged;
mod names;
mod random;
mod run;
pub mod studies;
mod study;
mod temporary;
mod trace;

use hblite::{ColumnFamilyDescriptor, TableDescriptor, TableName};

pub use error::{Error, Result};
pub use ids::IdTable;
pub use keyed::{KeyedDesign, Kind, Record};
pub use merged::{MergedRows, merged};
pub use run::{
    CaseStudyOptions, Comparison, DesignReport, QuestionReport, run_design, run_design_on_cluster,
};
pub use studies::{studies, study};
pub use study::{
    CaseStudy, DataSet, Question, RecordId, SchemaDesign, Session, Skew, Visitor, Write,
};
pub use temporary::TemporaryTables;
pub use trace::{Cost, Row, Step, TableReader, Trace, TracedRead, TracedScan};

/// A table with families of the default settings.
pub(crate) fn descriptor(name: &str, families: &[&str]) -> TableDescriptor {
    let name: TableName = name.parse().expect("names of the studies' tables are tested");
    let families = families.iter().map(ColumnFamilyDescriptor::new);
    families.fold(TableDescriptor::new(name), TableDescriptor::with_family)
}
