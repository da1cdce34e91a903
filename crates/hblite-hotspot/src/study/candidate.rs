//! A candidate: a design of keys over the fields of a study.

use std::sync::Arc;

use hblite_rowkey::{Design, FieldCondition, Order, Query, Value};

use super::records::{Moment, Record};
use super::workload::{OwnData, Workload};
use super::{BadStudy, Study};

/// A design of keys for a study.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its name: from the study's list, or the text of the key.
    pub name: String,
    /// The key in the language of `hblite-rowkey`.
    pub key: String,
    /// The checked design.
    pub design: Design,
    /// For each field of the key its position in a record.
    places: Vec<usize>,
    /// Fields of the record that the key does not contain: stored as columns.
    columns: Vec<Column>,
    workload: Workload,
}

/// A field stored as a column.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    place: usize,
    is_number: bool,
}

/// A key with the number of salts and buckets filled in.
pub fn key_text(key: &str, buckets: usize) -> String {
    key.replace("{n}", &buckets.to_string())
}

/// Splits a list of designs; commas in parentheses or quotes belong to a key.
///
/// ```
/// use hblite_hotspot::study::split_designs;
/// let designs = split_designs("md5, bucket(ts, 4)|ts:timestamp");
/// assert_eq!(designs, ["md5", "bucket(ts, 4)|ts:timestamp"]);
/// ```
pub fn split_designs(list: &str) -> Vec<String> {
    let mut designs = vec![String::new()];
    let mut depth = 0;
    let mut is_quoted = false;
    for c in list.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            _ => {}
        }
        if c == ',' && depth <= 0 && !is_quoted {
            designs.push(String::new());
        } else if let Some(last) = designs.last_mut() {
            last.push(c);
        }
    }
    designs.iter().map(|design| design.trim().to_owned()).collect()
}

impl Candidate {
    /// A candidate by its name, or by its key in the language of `hblite-rowkey` over the study's
    /// fields. `buckets` is the number of salts and buckets of named candidates.
    ///
    /// # Errors
    /// [`BadStudy`] with the reason: unknown name, wrong key, a field that records do not have.
    pub fn new(study: &'static Study, text: &str, buckets: usize) -> Result<Self, BadStudy> {
        let named = study.designs.iter().find(|(name, ..)| *name == text);
        let key = match named {
            Some((_, key, _)) => key_text(key, buckets),
            None if text.contains([':', '(', '|']) => text.to_owned(),
            None => {
                let names: Vec<&str> = study.designs.iter().map(|(name, ..)| *name).collect();
                return Err(BadStudy(format!(
                    "study {} has no design {text:?}: use one of {}, or write a key over its \
                     fields {}, like '{}'",
                    study.name,
                    names.join(", "),
                    study.fields.join(", "),
                    study.designs.first().map_or("", |(_, key, _)| key),
                )));
            }
        };
        let design = Design::parse(&key).map_err(|error| BadStudy(error.pointing_into(&key)))?;
        Self::of_design(Workload::Study(study), text.to_owned(), key, design)
    }

    /// A key over recorded data.
    ///
    /// # Errors
    /// [`BadStudy`] for a field that records do not have.
    pub fn of_data(data: Arc<OwnData>, design: Design) -> Result<Self, BadStudy> {
        let key = design.to_string();
        Self::of_design(Workload::Own(data), key.clone(), key, design)
    }

    fn of_design(
        workload: Workload,
        name: String,
        key: String,
        design: Design,
    ) -> Result<Self, BadStudy> {
        let mut places = Vec::new();
        for field in design.fields() {
            places.push(workload.field_index(&field.name).ok_or_else(|| {
                BadStudy(format!(
                    "{key}: records of study {} have no field {}; their fields are {}",
                    workload.name(),
                    field.name,
                    workload.fields().join(", ")
                ))
            })?);
        }
        let is_shown = |name: &str| {
            design.fields().iter().any(|field| field.name == name && field.encoding.is_reversible())
        };
        // A substitute is not the original, which is looked up or stored.
        let is_substitute =
            |name: &str| workload.substitutes().iter().any(|(_, other)| *other == name);
        let first = Moment { entity: 0, sequence: 0, arrival_ns: 0, seed: 0 };
        let sample = workload.record(&first);
        let columns = workload.fields().into_iter().zip(&sample).enumerate();
        let columns = columns.filter(|(_, (name, _))| !is_shown(name) && !is_substitute(name));
        let columns = columns
            .map(|(place, (name, value))| Column {
                name: name.to_owned(),
                place,
                is_number: value.as_number().is_some(),
            })
            .collect();
        Ok(Self { name, key, places, columns, workload, design })
    }

    /// What it is about.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The key of a record, into a reusable buffer.
    ///
    /// # Errors
    /// Those of `hblite-rowkey` for a value that does not fit.
    pub fn encode_into(
        &self,
        record: &Record,
        random: u64,
        key: &mut Vec<u8>,
    ) -> hblite_rowkey::Result<()> {
        // Keys have a handful of fields; a list on the stack would not be shorter.
        let values: Vec<Value<'_>> =
            self.places.iter().map(|&place| record[place].clone()).collect();
        self.design.encode_into(&values, random, key)
    }

    /// Qualifiers and values of the columns for fields that the key does not contain.
    pub fn columns<'r>(
        &'r self,
        record: &'r Record,
    ) -> impl Iterator<Item = (&'r str, Vec<u8>)> + 'r {
        self.columns
            .iter()
            .map(|column| (column.name.as_str(), column_value(&record[column.place])))
    }

    /// The part of a query that the key can answer, with substitutes for fields that it does not
    /// have. The rest must be checked on each row.
    pub fn translate(&self, query: &Query, record: &Record) -> Query {
        let has = |name: &str| self.design.field_index(name).is_ok();
        let mut translated = Query::new();
        for (name, condition) in query.conditions() {
            let substitute = self.workload.substitutes().iter().find(|(field, _)| field == name);
            if has(name) {
                translated = translated.condition(name, condition.clone());
            } else if let (Some((_, other)), FieldCondition::Equals(_)) = (substitute, condition)
                && let Some(place) = self.workload.field_index(other)
                && has(other)
            {
                translated = translated.equals(other, record[place].clone());
            }
        }
        match query.order() {
            Order::Descending(field) if has(field) => translated = translated.descending(field),
            Order::Ascending(field) if has(field) => translated = translated.ascending(field),
            _ => {}
        }
        match query.row_limit() {
            Some(limit) => translated.limit(limit),
            None => translated,
        }
    }

    /// The value of a field of a row: from its key, or from its column.
    pub fn field_of_row(
        &self,
        name: &str,
        key_values: &[Value<'_>],
        column: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Option<Value<'static>> {
        if let Some(kept) = self.columns.iter().find(|column| column.name == name) {
            let bytes = column(name)?;
            return if kept.is_number {
                Some(Value::Unsigned(u64::from_be_bytes(bytes.try_into().ok()?)))
            } else {
                Some(Value::Text(String::from_utf8(bytes).ok()?.into()))
            };
        }
        let index = self.design.field_index(name).ok()?;
        key_values.get(index).map(|value| value.clone().into_owned())
    }
}

fn column_value(value: &Value<'_>) -> Vec<u8> {
    match value {
        Value::Unsigned(number) => number.to_be_bytes().to_vec(),
        Value::Signed(number) => number.to_be_bytes().to_vec(),
        Value::Text(text) => text.as_bytes().to_vec(),
        Value::Bytes(bytes) | Value::Digest(bytes) => bytes.to_vec(),
    }
}
