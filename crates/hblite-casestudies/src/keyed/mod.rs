//! Studies whose designs differ in their row keys only.
//!
//! A [`Record`] has named fields. A design is one or more row keys in the design language, each the
//! key of a table. These determine the puts, the scans for any query, the records read back, and
//! the answer without a store. Fields that a key does not contain are stored as columns.

mod session;

use std::fmt;
use std::marker::PhantomData;

use hblite::{Connection, TableDescriptor};
use hblite_rowkey::{FieldCondition, Order, Query, Value};

use crate::descriptor;
use crate::error::Result;
use crate::study::{DataSet, RecordId, SchemaDesign, Session};

/// The family of columns.
pub(crate) const FAMILY: &str = "d";

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text; as a column its UTF-8 bytes.
    Text,
    /// A number from 0; as a column, its 8 bytes as `Bytes.toBytes(long)` writes them.
    Number,
}

/// A record: named fields.
pub trait Record: Sized + fmt::Display + Send + Sync + 'static {
    /// All fields.
    const FIELDS: &'static [(&'static str, Kind)];

    /// The record of an id.
    fn generate(id: &RecordId) -> Self;

    /// A field.
    fn value(&self, field: &str) -> Option<Value<'_>>;

    /// The record with these fields; `None` if one is missing or of the wrong kind.
    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self>;
}

/// A way to store records: tables, each with a row key.
#[derive(Debug)]
pub struct KeyedDesign<R> {
    name: &'static str,
    why: &'static str,
    tables: Vec<KeyTable>,
    /// Text fields that keys contain as numbers from a lookup table, with the kind of each there.
    numbered: Vec<(&'static str, u8)>,
    record: PhantomData<fn() -> R>,
}

/// A table and its row key.
#[derive(Debug, Clone)]
pub(crate) struct KeyTable {
    pub(crate) name: &'static str,
    pub(crate) key: hblite_rowkey::Design,
    /// If the table holds only some of the records: the field that decides, and its value for them.
    pub(crate) only: Option<(&'static str, u64)>,
}

impl KeyTable {
    /// Whether the table holds a record.
    pub(crate) fn holds<R: Record>(&self, record: &R) -> bool {
        self.only.is_none_or(|(field, only)| {
            record.value(field).and_then(|value| value.as_number()) == Some(i128::from(only))
        })
    }

    /// Whether the table may hold records that a query asks for.
    pub(crate) fn may_hold(&self, query: &Query) -> bool {
        self.only.is_none_or(|(field, only)| {
            let mut conditions = query.conditions().iter().filter(|(name, _)| name == field);
            conditions.all(|(_, condition)| condition.holds(&Value::Unsigned(only)))
        })
    }
}

/// The table that maps names to numbers.
pub(crate) const LOOKUP_TABLE: &str = "LOG_TYPES";

impl<R: Record> KeyedDesign<R> {
    /// A design with one table.
    pub(crate) fn new(
        name: &'static str,
        table: &'static str,
        key: &str,
        why: &'static str,
    ) -> Self {
        let design =
            Self { name, why, tables: Vec::new(), numbered: Vec::new(), record: PhantomData };
        design.and_table(table, key)
    }

    /// Stores every record in one more table, under another key.
    pub(crate) fn and_table(mut self, table: &'static str, key: &str) -> Self {
        let key = hblite_rowkey::Design::parse(key).expect("keys of the studies are tested");
        self.tables.push(KeyTable { name: table, key, only: None });
        self
    }

    /// The table named last holds only records with this value of a field. Together the tables must
    /// hold every record once.
    pub(crate) fn only(mut self, field: &'static str, value: u64) -> Self {
        if let Some(table) = self.tables.last_mut() {
            table.only = Some((field, value));
        }
        self
    }

    /// A text field whose number is in the key.
    pub(crate) fn numbering(mut self, field: &'static str, kind: u8) -> Self {
        self.numbered.push((field, kind));
        self
    }

    pub(crate) fn boxed(self) -> Box<dyn SchemaDesign> {
        Box::new(self)
    }

    /// Whether a key contains a field unchanged.
    fn is_shown(&self, table: &KeyTable, field: &str) -> bool {
        let is_said = table.only.is_some_and(|(name, _)| name == field);
        let is_numbered = self.numbered.iter().any(|(name, _)| *name == field);
        let mut fields = table.key.fields().iter();
        is_said
            || !is_numbered && fields.any(|own| own.name == field && own.encoding.is_reversible())
    }
}

impl<R: Record> SchemaDesign for KeyedDesign<R> {
    fn name(&self) -> &str {
        self.name
    }

    fn pictures(&self) -> Vec<String> {
        let keys = self.tables.iter().map(|table| format!("{}: {}", table.name, table.key));
        let mut pictures: Vec<String> = keys.collect();
        if !self.numbered.is_empty() {
            pictures.push(format!("{LOOKUP_TABLE}: kind:u8|name:str"));
        }
        pictures
    }

    fn why(&self) -> String {
        match self.tables.first() {
            Some(table) => format!("{} ({})", self.why, table.key.spread()),
            None => self.why.to_owned(),
        }
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        let lookup = (!self.numbered.is_empty()).then_some(LOOKUP_TABLE);
        let names = self.tables.iter().map(|table| table.name).chain(lookup);
        names.map(|name| descriptor(name, &[FAMILY])).collect()
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        Ok(self.tables[0].key.natural_splits(regions)?)
    }

    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        let record = R::generate(id);
        // Any distinct number replaces the one from the lookup table.
        let stand_in = |_: u8, name: &[u8]| Ok(hblite_rowkey::salt_hash(name) >> 48);
        let table = self.tables.iter().find(|table| table.holds(&record));
        let key = &table.unwrap_or(&self.tables[0]).key;
        session::encode(key, &record, &self.numbered, id, &stand_in)
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        Ok(Box::new(session::KeyedSession::<R>::open(self, connection)?))
    }
}

/// The answer to a query without a store: generates, filters and sorts every record.
pub(crate) fn expected<R: Record>(data: &DataSet, query: &Query) -> Vec<String> {
    let records = data.all().map(|id| R::generate(&id));
    let found = records.filter(|record| query.matches(|field| record.value(field))).collect();
    wanted::<R>(found, query).iter().map(ToString::to_string).collect()
}

/// The requested number of records, in the requested order; equal ones keep their order.
pub(crate) fn wanted<R: Record>(mut records: Vec<R>, query: &Query) -> Vec<R> {
    let number = |record: &R, field: &str| {
        record.value(field).map(|value| match value.as_number() {
            Some(number) => (number, Vec::new()),
            None => (0, value.as_bytes().unwrap_or_default().to_vec()),
        })
    };
    match query.order() {
        Order::Any => {}
        Order::Ascending(field) => records.sort_by_cached_key(|record| number(record, field)),
        Order::Descending(field) => {
            records.sort_by_cached_key(|record| std::cmp::Reverse(number(record, field)));
        }
    }
    let limit = query.row_limit().and_then(|limit| usize::try_from(limit).ok());
    records.truncate(limit.unwrap_or(usize::MAX));
    records
}

/// Finds the number of a name of a kind, if it has one.
pub(crate) type FindNumber<'f> = dyn Fn(u8, &[u8]) -> Result<Option<u64>> + 'f;

/// The part of a query that a key can answer: without conditions on fields it does not have, and
/// with numbers in place of names. `None` if a name has no number, so that no row has it.
pub(crate) fn for_key(
    query: &Query,
    key: &hblite_rowkey::Design,
    numbered: &[(&'static str, u8)],
    number: &FindNumber<'_>,
) -> Result<Option<Query>> {
    let has = |field: &str| key.fields().iter().any(|own| own.name == field);
    let mut asked = Query::new();
    for (field, condition) in query.conditions().iter().filter(|(field, _)| has(field)) {
        let Some((_, kind)) = numbered.iter().find(|(name, _)| name == field) else {
            asked = asked.condition(field, condition.clone());
            continue;
        };
        if let FieldCondition::Equals(value) = condition {
            let name = value.as_bytes().unwrap_or_default();
            match number(*kind, name)? {
                Some(number) => asked = asked.equals(field, number),
                None => return Ok(None),
            }
        }
    }
    let is_ordered_by =
        |field: &str| has(field) && !numbered.iter().any(|(name, _)| *name == field);
    match query.order() {
        Order::Ascending(field) if is_ordered_by(field) => asked = asked.ascending(field),
        Order::Descending(field) if is_ordered_by(field) => asked = asked.descending(field),
        _ => {}
    }
    if let Some(limit) = query.row_limit() {
        asked = asked.limit(limit);
    }
    Ok(Some(asked))
}
