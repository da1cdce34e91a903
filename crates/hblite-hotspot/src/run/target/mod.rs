//! What a run writes to and reads from: a candidate key of a study of keys, or a design of a case
//! study with all of its tables.

mod case_study;
mod keyed;

use hblite::{Connection, Put, Table, TableDescriptor};

pub use case_study::CaseStudyDesign;
#[cfg(test)]
pub(super) use keyed::answer;
pub(crate) use keyed::natural_splits;

use super::error::RunError;
use crate::study::{BadStudy, Candidate, Moment, Study};

/// A design of row keys, as a run sees it.
pub trait Target: Sync {
    /// The study's name.
    fn study(&self) -> &str;

    /// The design's name.
    fn name(&self) -> &str;

    /// The key in the language of `hblite-rowkey`, or a picture of it.
    fn key(&self) -> String;

    /// The default number of entities for this many records.
    fn entities(&self, records: u64) -> u64;

    /// The tables. The first one is split, and its regions are counted.
    ///
    /// # Errors
    /// [`RunError::Design`] if the design cannot name them.
    fn tables(&self) -> Result<Vec<TableDescriptor>, RunError>;

    /// Keys that split the first table at its salts, buckets or hashes; `None` if its keys begin
    /// with a field.
    ///
    /// # Errors
    /// [`RunError::FewPlaces`] if these are fewer than the regions, [`RunError::Design`] if more.
    fn natural_splits(&self, regions: usize) -> Result<Option<Vec<Vec<u8>>>, RunError>;

    /// Opens the tables, which must exist.
    ///
    /// # Errors
    /// Those of the store.
    fn open(&self, connection: &Connection) -> Result<Box<dyn Opened + '_>, RunError>;
}

/// The tables of a target, opened.
pub trait Opened: Sync {
    /// The tables, in the order of [`Target::tables`].
    fn tables(&self) -> Vec<&Table>;

    /// Adds the puts of a record to those of each table. `value` is stored where the record has
    /// none of its own.
    ///
    /// # Errors
    /// [`RunError::Design`] if the record cannot have a key, and those of the store.
    fn puts(&self, moment: &Moment, value: &[u8], puts: &mut [Vec<Put>]) -> Result<(), RunError>;

    /// The row of a record in the first table.
    ///
    /// # Errors
    /// As [`Opened::puts`].
    fn row(&self, moment: &Moment, key: &mut Vec<u8>) -> Result<(), RunError>;

    /// The queries: name and description.
    fn questions(&self) -> Vec<(String, String)>;

    /// Runs a query about a record.
    ///
    /// # Errors
    /// Those of the store.
    fn ask(&self, question: usize, about: &About<'_>) -> Result<Asked, RunError>;
}

/// What a query is about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The record.
    pub moment: Moment,
    /// Records of the run.
    pub records: u64,
    /// Entities of the run.
    pub entities: u64,
    /// Duration of the run in milliseconds.
    pub duration_ms: u64,
    /// First keys of the regions of the first table.
    pub start_keys: &'a [Vec<u8>],
}

/// What one run of a query cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Scans and gets.
    pub scans: u64,
    /// Regions that these opened.
    pub regions: u64,
    /// Rows that were read.
    pub rows_read: u64,
    /// Rows in the answer.
    pub rows_returned: u64,
    /// Whether the query gave no information on where the rows are.
    pub is_full_scan: bool,
}

/// The position of a key among regions with these first keys.
pub(super) fn position_of(start_keys: &[Vec<u8>], key: &[u8]) -> usize {
    start_keys.partition_point(|start| start.as_slice() <= key).saturating_sub(1)
}

/// A target on its own empty store in memory: to compute keys without the run's store.
pub(super) fn scratch(target: &dyn Target) -> Result<Box<dyn Opened + '_>, RunError> {
    let connection = hblite::open_in_memory()?;
    for table in target.tables()? {
        connection.admin().create_table(&table)?;
    }
    target.open(&connection)
}

/// The designs of a study by name; all designs if no names are given.
///
/// # Errors
/// [`BadStudy`] if there is no such study or design, or a key is wrong.
pub fn targets(
    study: &str,
    designs: &[String],
    buckets: usize,
) -> Result<Vec<Box<dyn Target>>, BadStudy> {
    if let Ok(study) = Study::find(study) {
        let all = || study.designs.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let designs: Vec<String> = if designs.is_empty() { all() } else { designs.to_vec() };
        let target = |name: &String| -> Result<Box<dyn Target>, BadStudy> {
            Ok(Box::new(Candidate::new(study, name, buckets)?))
        };
        return designs.iter().map(target).collect();
    }
    let Ok(case_study) = hblite_casestudies::study(study) else {
        let keys = Study::all().iter().map(|study| study.name.to_owned());
        let cases = hblite_casestudies::studies();
        let names: Vec<String> =
            keys.chain(cases.iter().map(|study| study.name().to_owned())).collect();
        return Err(BadStudy(format!("unknown study {study:?}: use one of {}", names.join(", "))));
    };
    let all = || case_study.designs().iter().map(|design| design.name().to_owned()).collect();
    let designs: Vec<String> = if designs.is_empty() { all() } else { designs.to_vec() };
    let target = |name: &String| -> Result<Box<dyn Target>, BadStudy> {
        Ok(Box::new(CaseStudyDesign::new(study, name)?))
    };
    designs.iter().map(target).collect()
}
