//! Rows or versions: the history of a value.
//!
//! HBase keeps old versions of a cell automatically, as many as the family's setting allows. A
//! history stored that way is one row that grows without end, is truncated at the number of
//! versions, and cannot be split among regions. A history of rows has the time in the key and none
//! of these limits.

use std::fmt;

use hblite::{ColumnFamilyDescriptor, Connection, Get, Put, RowResult, TableDescriptor, TimeRange};
use hblite_rowkey::{FieldCondition, KeyRange, Order, Query, Value};

use crate::error::{Error, Result};
use crate::keyed::{self, FAMILY, KeyedDesign, Kind, Record, expected};
use crate::names::EPOCH_MS;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

/// A value that a device had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The device.
    pub device: String,
    /// When, in milliseconds since 1970.
    pub ts: u64,
    /// The value.
    pub state: String,
}

const STEP_MS: u64 = 700;

impl Record for State {
    const FIELDS: &'static [(&'static str, Kind)] =
        &[("device", Kind::Text), ("ts", Kind::Number), ("state", Kind::Text)];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        Self {
            device: format!("dev{:05}", id.entity),
            ts: EPOCH_MS + id.index * STEP_MS + random.below(STEP_MS),
            state: format!("{}.{} °C", 15 + random.below(15), random.below(10)),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "device" => Value::from(&self.device),
            "ts" => Value::from(self.ts),
            "state" => Value::from(&self.state),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        Some(Self {
            device: value("device")?.as_text()?.to_owned(),
            ts: u64::try_from(value("ts")?.as_number()?).ok()?,
            state: value("state")?.as_text()?.to_owned(),
        })
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.ts, self.device, self.state)
    }
}

/// The study.
#[derive(Debug)]
pub struct RowsVersions;

impl CaseStudy for RowsVersions {
    fn name(&self) -> &'static str {
        "rows-versions"
    }

    fn title(&self) -> &'static str {
        "The history of a value"
    }

    fn question(&self) -> &'static str {
        "A row for each state, or a version of one cell?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 200).clamp(4, 10_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        vec![
            KeyedDesign::<State>::new(
                "rows",
                "HISTORY",
                "device:str(8)|ts:reverse_timestamp",
                "any length, can be split among regions, needs no setting (the preferred way)",
            )
            .boxed(),
            Box::new(Versions),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let State { device, ts, .. } = State::generate(around);
        let span = data.records * STEP_MS;
        let period = ts.saturating_sub(span / 6)..ts + span / 6;
        let of_device = || Query::new().equals("device", device.clone());
        vec![
            Question::new("latest", of_device().descending("ts").limit(1)),
            Question::new("last-five", of_device().descending("ts").limit(5)),
            Question::new("period", of_device().range("ts", period).descending("ts")),
            Question::new("history", of_device().descending("ts")),
            Question::new(
                "latest-of-period",
                of_device().below("ts", ts).descending("ts").limit(1),
            ),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<State>(data, &question.query)
    }
}

/// A cell whose versions are the history.
struct Versions;

const TABLE: &str = "VERSIONS";
const COLUMN: &str = "state";
/// More than any history of the study has; a history beyond it would lose its oldest states.
const VERSIONS_MAX: u32 = i32::MAX as u32;

impl SchemaDesign for Versions {
    fn name(&self) -> &str {
        "versions"
    }

    fn pictures(&self) -> Vec<String> {
        vec![format!("{TABLE}: device:str(8), column {FAMILY}:{COLUMN}, version = time")]
    }

    fn why(&self) -> String {
        "one row for a device: all of it in one region, cut at the family's VERSIONS; reads of the \
         latest state need no key for it"
            .to_owned()
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        let family = ColumnFamilyDescriptor::new(FAMILY).with_versions(VERSIONS_MAX);
        let name = TABLE.parse().expect("the name of a table");
        vec![TableDescriptor::new(name).with_family(family)]
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        Ok(hblite_rowkey::Design::parse("device:str(8)")?.natural_splits(regions)?)
    }

    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        Ok(State::generate(id).device.into_bytes())
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        Ok(Box::new(VersionsSession([TableReader::new(connection.table(TABLE)?)?])))
    }
}

struct VersionsSession([TableReader; 1]);

fn states(row: &RowResult) -> Result<Vec<State>> {
    let device = std::str::from_utf8(row.row());
    let device = device.map_err(|_| Error::row(row.row(), "is not a device"))?;
    let state = |cell: hblite::CellRef<'_>| State {
        device: device.to_owned(),
        ts: u64::try_from(cell.timestamp()).unwrap_or(0),
        state: String::from_utf8_lossy(cell.value()).into_owned(),
    };
    Ok(row.cells().map(state).collect())
}

impl Session for VersionsSession {
    fn tables(&self) -> &[TableReader] {
        &self.0
    }

    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        let State { device, ts, state } = State::generate(id);
        let version = i64::try_from(ts).unwrap_or(i64::MAX);
        Ok(vec![Write::new(Put::new(device).add_at(FAMILY, COLUMN, version, state))])
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let query = &question.query;
        let mut device = None;
        let (mut from, mut to) = (0, i64::MAX);
        for (field, condition) in query.conditions() {
            match (field.as_str(), condition) {
                ("device", FieldCondition::Equals(value)) => device = value.as_text(),
                ("ts", FieldCondition::Range { from: first, to: last }) => {
                    let number = |value: &Option<Value<'_>>| {
                        let number = value.as_ref().and_then(Value::as_number);
                        number.and_then(|ts| i64::try_from(ts).ok())
                    };
                    from = number(first).unwrap_or(from);
                    to = number(last).unwrap_or(to);
                }
                _ => {}
            }
        }
        let versions = query.row_limit().and_then(|limit| u32::try_from(limit).ok());
        let versions = versions.filter(|_| *query.order() == Order::Descending("ts".to_owned()));
        let versions = versions.unwrap_or(VERSIONS_MAX);
        let range = TimeRange::new(from, to)?;
        let options = match versions {
            VERSIONS_MAX => format!("all versions in [{from}, {to})"),
            versions => format!("{versions} versions in [{from}, {to})"),
        };
        let mut found = Vec::new();
        match device {
            Some(device) => {
                let get = Get::new(device).with_versions(versions).with_time_range(range);
                found = states(&self.0[0].get(&get, &options, trace)?)?;
            }
            None => {
                let everything = KeyRange { start: Vec::new(), stop: Vec::new() }.scan(false);
                let refine = |scan: hblite::Scan| scan.with_all_versions().with_time_range(range);
                for row in self.0[0].scan(&everything, None, &options, refine, trace)? {
                    found.extend(states(&row?.0)?);
                }
            }
        }
        found.retain(|state| query.matches(|field| state.value(field)));
        keyed::wanted(found, query).iter().for_each(|state| visit(state));
        Ok(())
    }
}
