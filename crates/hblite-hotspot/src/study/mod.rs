//! Workloads: what is recorded, the candidate keys for it, and the queries.
//!
//! A [`Study`] is data. Its records are about entities (hosts, customers, cars, …). The
//! [`crate::generate`] module decides which entity comes next and when; this module gives each
//! record its fields. A [`Candidate`] is a design of keys over these fields. A [`QueryTemplate`] is
//! a query about a written record; each candidate answers it with its own scans.

mod candidate;
mod catalog;
mod query_template;
mod records;
mod workload;

use std::fmt;

pub use candidate::{Candidate, key_text, split_designs};
pub use query_template::{Ask, QueryTemplate};
pub use records::{EPOCH_MS, Moment, Record};
pub use workload::{OwnData, Workload};

/// A workload.
#[derive(Debug, Clone, Copy)]
pub struct Study {
    /// The name on the command line.
    pub name: &'static str,
    /// What is recorded.
    pub about: &'static str,
    /// What the entities are called, in the plural.
    pub entity: &'static str,
    /// The fields of a record.
    pub fields: &'static [&'static str],
    /// Fields that replace another one in some keys, such as a number for a name.
    pub substitutes: &'static [(&'static str, &'static str)],
    /// Default number of records per entity.
    pub records_per_entity: u64,
    /// Named candidates: name, key with `{n}` for the number of salts or buckets, short
    /// description.
    pub designs: &'static [(&'static str, &'static str, &'static str)],
    /// The queries.
    pub questions: &'static [QueryTemplate],
    pub(crate) record: fn(&Moment) -> Record,
}

impl Study {
    /// All studies.
    pub fn all() -> &'static [Self] {
        catalog::STUDIES
    }

    /// The study with a name.
    ///
    /// # Errors
    /// [`BadStudy`] with the known names.
    pub fn find(name: &str) -> Result<&'static Self, BadStudy> {
        Self::all().iter().find(|study| study.name == name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(|study| study.name).collect();
            BadStudy(format!("unknown study {name:?}: use one of {}", names.join(", ")))
        })
    }

    /// The record at a moment.
    pub fn record(&self, moment: &Moment) -> Record {
        (self.record)(moment)
    }

    /// The position of a field among the values of a record.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| *field == name)
    }
}

/// Why there is no such study or candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadStudy(pub(crate) String);

impl fmt::Display for BadStudy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadStudy {}
