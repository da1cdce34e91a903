//! What every case study has: records, questions, and designs that answer them at different cost.
//!
//! A [`CaseStudy`] has data of any size from a seed, and questions about it. Each of its
//! [`SchemaDesign`]s is a way to store the data: tables and their keys. An open design, a
//! [`Session`], turns records into puts and answers the questions, and every read goes through a
//! [`Trace`]. All designs of a study give the same answers, which are also computed without a
//! store ([`CaseStudy::expected`]).
//!
//! A record depends on (seed, index, entity) alone, so any thread can generate records in any
//! order: a benchmark draws the entity (which host, car or customer) from any distribution.

use std::fmt;

use hblite::{Connection, Put, TableDescriptor};
use hblite_rowkey::Query;

use crate::error::{Error, Result};
use crate::random::Random;
use crate::trace::{TableReader, Trace};

/// A record's id: everything that it is generated from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordId {
    /// The seed of the data.
    pub seed: u64,
    /// The number of the record; times grow with it.
    pub index: u64,
    /// Whose record it is, from 0: which host, car or customer.
    pub entity: u64,
}

impl RecordId {
    /// Random numbers of this record.
    pub(crate) fn random(&self) -> Random {
        Random::of(self.seed, self.index)
    }
}

/// The data of a study: how much, from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataSet {
    /// The seed: the same one gives the same data on every machine.
    pub seed: u64,
    /// How many records.
    pub records: u64,
    /// How many entities they belong to.
    pub entities: u64,
    /// How records are distributed over entities.
    pub skew: Skew,
}

/// How records are distributed over entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Skew {
    /// All entities are equally likely.
    Uniform,
    /// The likelihood of an entity falls as 1 / its number, in steps: each octave of numbers gets
    /// the same number of records. A few have very many, most have few.
    PowerLaw,
}

impl DataSet {
    /// The record with this number, of a random entity.
    pub fn record(&self, index: u64) -> RecordId {
        let mut random = Random::of(self.seed ^ 0x656e_7469_7479, index);
        let entities = self.entities.max(1);
        let entity = match self.skew {
            Skew::Uniform => random.below(entities),
            Skew::PowerLaw => {
                let octave = 1 << random.below(u64::from(entities.ilog2()) + 1);
                (octave + random.below(octave) - 1).min(entities - 1)
            }
        };
        RecordId { seed: self.seed, index, entity }
    }

    /// All records in the order in which they are written.
    pub fn all(&self) -> impl Iterator<Item = RecordId> + '_ {
        (0..self.records).map(|index| self.record(index))
    }
}

/// A question about the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// A short name, unique in the study.
    pub name: &'static str,
    /// The question, in terms of the records' fields.
    pub query: Query,
}

impl Question {
    /// A question.
    pub fn new(name: &'static str, query: Query) -> Self {
        Self { name, query }
    }
}

/// A put and its table.
#[derive(Debug, Clone)]
pub struct Write {
    /// Index into [`SchemaDesign::tables`].
    pub table: usize,
    /// What is written.
    pub put: Put,
}

impl Write {
    /// A put to the first table.
    pub fn new(put: Put) -> Self {
        Self { table: 0, put }
    }
}

/// Data, questions, and designs for them.
pub trait CaseStudy: Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What the study is about, in one line.
    fn title(&self) -> &'static str;

    /// The decision that it is about.
    fn question(&self) -> &'static str;

    /// The number of entities for this many records.
    fn entities(&self, records: u64) -> u64;

    /// The ways to store the data.
    fn designs(&self) -> Vec<Box<dyn SchemaDesign>>;

    /// The questions around one record: its entity, its time.
    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question>;

    /// The record that a run asks about.
    fn around(&self, data: &DataSet) -> RecordId {
        data.record(data.records / 2)
    }

    /// The answer to a question without a store: lines, in the requested order.
    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String>;

    /// The data of a size.
    fn data(&self, records: u64, seed: u64) -> DataSet {
        let entities = self.entities(records).max(1);
        DataSet { seed, records, entities, skew: Skew::Uniform }
    }

    /// The design with this name.
    ///
    /// # Errors
    /// `Unknown` with the known names.
    fn design(&self, name: &str) -> Result<Box<dyn SchemaDesign>> {
        let mut designs = self.designs();
        match designs.iter().position(|design| design.name() == name) {
            Some(index) => Ok(designs.swap_remove(index)),
            None => {
                let known: Vec<&str> = designs.iter().map(|design| design.name()).collect();
                let what = format!("design {name} in the study {}", self.name());
                Err(Error::Unknown { what, known: known.join(", ") })
            }
        }
    }
}

/// A way to store the data of a study.
pub trait SchemaDesign: Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &str;

    /// The key of each table, as a picture or in the design language.
    fn pictures(&self) -> Vec<String>;

    /// Why writes do or do not spread, and what the design is good for.
    fn why(&self) -> String;

    /// The tables, starting with the one that takes most writes.
    fn tables(&self) -> Vec<TableDescriptor>;

    /// Keys that split the first table into this many regions at its salts, buckets or hashes.
    ///
    /// # Errors
    /// `Key` if its keys begin otherwise, or if salts and regions do not match; sample
    /// [`SchemaDesign::key`] instead.
    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>>;

    /// The row of a record in the first table, without a store. Other numbers replace those from a
    /// lookup table.
    ///
    /// # Errors
    /// `Key` if the record cannot have a key.
    fn key(&self, record: &RecordId) -> Result<Vec<u8>>;

    /// Opens the tables, which must have been created.
    ///
    /// # Errors
    /// Those of the store.
    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>>;

    /// Creates the tables, the first one split at these keys.
    ///
    /// # Errors
    /// `Store`, for example if a table exists already.
    fn create(&self, connection: &Connection, splits: &[Vec<u8>]) -> Result<()> {
        for (index, table) in self.tables().iter().enumerate() {
            let splits = if index == 0 { splits } else { &[] };
            connection.admin().create_table_with_splits(table, splits)?;
        }
        Ok(())
    }
}

/// Puts of one batch in [`Session::load`].
const BATCH: usize = 500;

/// Is called with each record of an answer, in printable form.
pub type Visitor<'v> = &'v mut dyn FnMut(&dyn fmt::Display);

/// The tables of a design, opened. May be shared by threads.
pub trait Session: Send + Sync {
    /// The tables, in the order of [`SchemaDesign::tables`].
    fn tables(&self) -> &[TableReader];

    /// The puts of a record. May read or register ids.
    ///
    /// # Errors
    /// Those of keys and the store.
    fn writes(&self, record: &RecordId) -> Result<Vec<Write>>;

    /// Answers a question: calls `visit` with each matching record, in the requested order, in
    /// printable form.
    ///
    /// # Errors
    /// Those of keys and the store.
    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()>;

    /// Writes all records in batches and returns the number of puts.
    ///
    /// # Errors
    /// As [`Session::writes`].
    fn load(&self, data: &DataSet) -> Result<u64> {
        let mut batches: Vec<Vec<Put>> = self.tables().iter().map(|_| Vec::new()).collect();
        let mut puts = 0;
        for record in data.all() {
            for write in self.writes(&record)? {
                let batch = &mut batches[write.table];
                batch.push(write.put);
                puts += 1;
                if batch.len() >= BATCH {
                    self.tables()[write.table].table().put_all(batch)?;
                    batch.clear();
                }
            }
        }
        for (table, batch) in self.tables().iter().zip(&batches) {
            table.table().put_all(batch)?;
        }
        Ok(puts)
    }

    /// What the design does after its records were written: rewriting rows, inserting in the
    /// middle. Returns a description to print.
    ///
    /// # Errors
    /// Those of keys and the store.
    fn after_load(&self, _data: &DataSet) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}
