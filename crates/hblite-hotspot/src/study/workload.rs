//! What a candidate is about: a study, or recorded data.

use std::sync::Arc;

use hblite_rowkey::Query;

use super::records::{Moment, Record};
use super::{BadStudy, Study};
use crate::advise::{Sample, Wanted};
use crate::data::{Records, Table};

/// Recorded data with its expected queries.
#[derive(Debug)]
pub struct OwnData {
    name: String,
    records: Records,
    sample: Sample,
    wanted: Option<Wanted>,
}

impl OwnData {
    /// Records and the queries about them.
    ///
    /// # Errors
    /// [`BadStudy`] if there are too few records, or a query names an unknown field.
    pub fn new(
        name: &str,
        table: &Table,
        records: Records,
        wanted: Option<Wanted>,
    ) -> Result<Self, BadStudy> {
        let bad = |error: &dyn std::fmt::Display| BadStudy(error.to_string());
        let all: Vec<usize> = (0..records.fields.len()).collect();
        let design = table.plain_design(&records, &all).map_err(|error| bad(&error))?;
        let sample = Sample::of_records(design, &records.rows).map_err(|error| bad(&error))?;
        if let Some(wanted) = &wanted {
            wanted.check(&sample).map_err(|error| bad(&error))?;
        }
        Ok(Self { name: name.to_owned(), records, sample, wanted })
    }

    /// The records.
    pub fn records(&self) -> &Records {
        &self.records
    }
}

/// A study, or recorded data.
#[derive(Debug, Clone)]
pub enum Workload {
    /// Records are generated.
    Study(&'static Study),
    /// Records are given.
    Own(Arc<OwnData>),
}

impl Workload {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Study(study) => study.name,
            Self::Own(own) => &own.name,
        }
    }

    /// The names of the fields of a record.
    pub fn fields(&self) -> Vec<&str> {
        match self {
            Self::Study(study) => study.fields.to_vec(),
            Self::Own(own) => own.records.fields.iter().map(|field| field.name.as_str()).collect(),
        }
    }

    /// The position of a field among the values of a record.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| *field == name)
    }

    /// Fields that replace another one in some keys.
    pub(super) fn substitutes(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Study(study) => study.substitutes,
            Self::Own(_) => &[],
        }
    }

    /// The record at a moment.
    pub fn record(&self, moment: &Moment) -> Record {
        match self {
            Self::Study(study) => study.record(moment),
            Self::Own(own) => {
                let rows = &own.records.rows;
                rows[(moment.sequence as usize).min(rows.len() - 1)].clone()
            }
        }
    }

    /// Default number of records per entity.
    pub fn records_per_entity(&self) -> u64 {
        match self {
            Self::Study(study) => study.records_per_entity.max(1),
            Self::Own(_) => 1,
        }
    }

    /// The queries: name and description.
    pub fn questions(&self) -> Vec<(String, String)> {
        match self {
            Self::Study(study) => {
                let questions = study.questions.iter();
                questions.map(|q| (q.name.to_owned(), q.about.to_owned())).collect()
            }
            Self::Own(own) => {
                let queries = own.wanted.iter().flat_map(|wanted| &wanted.queries);
                queries.map(|query| (query.text.clone(), query.text.clone())).collect()
            }
        }
    }

    /// A query about a record.
    pub fn query(&self, question: usize, record: &Record, duration_ms: u64) -> Query {
        match self {
            Self::Study(study) => study.questions[question].fill(study, record, duration_ms),
            Self::Own(own) => {
                let query = own.wanted.as_ref().and_then(|wanted| wanted.queries.get(question));
                query.map_or_else(Query::new, |query| query.about(&own.sample, record))
            }
        }
    }
}
