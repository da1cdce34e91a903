//! Points packed into rows: their row and column, and the way from a query to rows to points.

use hblite::{Connection, Put, RowResult, TableDescriptor};
use hblite_rowkey::{FieldCondition, Order, Plan, Query, Value};

use super::compaction::{compacted, points_of};
use super::layout::{ROW_SECONDS, qualifier};
use super::point::{Point, known_metric};
use super::uids::{self, Uid, Uids};
use crate::descriptor;
use crate::error::{Error, Result};
use crate::keyed::{Record as _, wanted};
use crate::merged::merged;
use crate::study::{DataSet, Question, RecordId, SchemaDesign, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

/// How points are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// `[host][metric][five minutes]`, the document's example.
    HostFirst,
    /// `[metric][hour][tag name][tag value]`, with numbers for names, rewritten later.
    OpenTsdb,
}

/// The family of points, a single letter because every cell contains it.
const FAMILY: &str = "t";
const SERIES: &str = "TSDB";
const UIDS: &str = "TSDB_UID";

const METRIC: u8 = b'm';
const TAG_NAME: u8 = b'k';
const TAG_VALUE: u8 = b'v';
/// The only tag of the study.
const HOST_TAG: &str = "host";

impl Packing {
    fn table(self) -> &'static str {
        match self {
            Self::HostFirst => "SERIES_PACKED",
            Self::OpenTsdb => SERIES,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::HostFirst => "host:str|metric:str|base:u32",
            Self::OpenTsdb => "metric:bytes(3)|base:u32|tagk:bytes(3)|host:bytes(3)",
        }
    }

    fn row_seconds(self) -> u64 {
        match self {
            Self::HostFirst => 300,
            Self::OpenTsdb => ROW_SECONDS,
        }
    }

    /// The time of a point's row, in seconds, and the point's offset in milliseconds.
    fn place(self, ts: u64) -> (u64, u64) {
        let base = ts / 1_000 / self.row_seconds() * self.row_seconds();
        (base, ts - base * 1_000)
    }
}

pub(super) struct Packed {
    name: &'static str,
    packing: Packing,
    why: &'static str,
    key: hblite_rowkey::Design,
}

impl Packed {
    pub(super) fn new(name: &'static str, packing: Packing, why: &'static str) -> Self {
        let key = hblite_rowkey::Design::parse(packing.key()).expect("keys of studies are tested");
        Self { name, packing, why, key }
    }
}

impl SchemaDesign for Packed {
    fn name(&self) -> &str {
        self.name
    }

    fn pictures(&self) -> Vec<String> {
        let columns = "columns: [offset and flags, 2 or 4 bytes]";
        let key = format!("{}: {}, {columns}", self.packing.table(), self.key);
        match self.packing {
            Packing::HostFirst => vec![key],
            Packing::OpenTsdb => vec![key, format!("{UIDS}: kind:u8|name:str")],
        }
    }

    fn why(&self) -> String {
        format!("{} ({})", self.why, self.key.spread())
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        let series = descriptor(self.packing.table(), &[FAMILY]);
        match self.packing {
            Packing::HostFirst => vec![series],
            Packing::OpenTsdb => vec![series, descriptor(UIDS, &[uids::FAMILY])],
        }
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        Ok(self.key.natural_splits(regions)?)
    }

    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        let point = Point::generate(id);
        let stand_in = |name: &str| {
            let [a, b, c, ..] = hblite_rowkey::salt_hash(name.as_bytes()).to_be_bytes();
            Ok([a, b, c])
        };
        row(&self.key, self.packing, &point, &|_, name| stand_in(name))
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        let mut tables = vec![TableReader::new(connection.table(self.packing.table())?)?];
        let uids = match self.packing {
            Packing::HostFirst => None,
            Packing::OpenTsdb => {
                let table = connection.table(UIDS)?;
                tables.push(TableReader::new(table.clone())?);
                Some(Uids::new(table))
            }
        };
        Ok(Box::new(PackedSession { packing: self.packing, key: self.key.clone(), tables, uids }))
    }
}

fn row(
    key: &hblite_rowkey::Design,
    packing: Packing,
    point: &Point,
    uid: &dyn Fn(u8, &str) -> Result<Uid>,
) -> Result<Vec<u8>> {
    let base = Value::from(packing.place(point.ts).0);
    let values = match packing {
        Packing::HostFirst => vec![Value::from(&point.host), Value::from(point.metric), base],
        Packing::OpenTsdb => vec![
            Value::from(uid(METRIC, point.metric)?.to_vec()),
            base,
            Value::from(uid(TAG_NAME, HOST_TAG)?.to_vec()),
            Value::from(uid(TAG_VALUE, &point.host)?.to_vec()),
        ],
    };
    Ok(key.encode(&values)?)
}

struct PackedSession {
    packing: Packing,
    key: hblite_rowkey::Design,
    tables: Vec<TableReader>,
    uids: Option<Uids>,
}

impl PackedSession {
    /// The query for rows; `None` if a name has no number.
    fn for_rows(&self, query: &Query) -> Result<Option<Query>> {
        let mut rows = Query::new();
        for (field, condition) in query.conditions() {
            match (field.as_str(), condition) {
                ("host" | "metric", FieldCondition::Equals(value)) => {
                    let Some(value) = self.known(field, value)? else { return Ok(None) };
                    rows = rows.equals(field, value);
                }
                ("ts", FieldCondition::Equals(value)) => {
                    let ts = value.as_number().and_then(|ts| u64::try_from(ts).ok());
                    rows = rows.equals("base", self.packing.place(ts.unwrap_or(0)).0);
                }
                ("ts", FieldCondition::Range { from, to }) => {
                    let ts = |value: &Option<Value<'_>>| {
                        let number = value.as_ref().and_then(Value::as_number);
                        number.and_then(|ts| u64::try_from(ts).ok())
                    };
                    // Up to the row that holds the last requested millisecond.
                    let first = ts(from).map(|ts| Value::from(self.packing.place(ts).0));
                    let last = ts(to).map(|ts| self.packing.place(ts.saturating_sub(1)).0 + 1);
                    let range = FieldCondition::Range { from: first, to: last.map(Value::from) };
                    rows = rows.condition("base", range);
                }
                _ => {}
            }
        }
        Ok(Some(match query.order() {
            Order::Ascending(field) if field == "ts" => rows.ascending("base"),
            Order::Descending(field) if field == "ts" => rows.descending("base"),
            _ => rows,
        }))
    }

    /// A name in the form that rows contain.
    fn known(&self, field: &str, value: &Value<'static>) -> Result<Option<Value<'static>>> {
        let Some(uids) = &self.uids else { return Ok(Some(value.clone())) };
        let kind = if field == "host" { TAG_VALUE } else { METRIC };
        let uid = uids.find(kind, value.as_text().unwrap_or_default())?;
        Ok(uid.map(|uid| Value::from(uid.to_vec())))
    }

    /// The points of a row, oldest first.
    fn points(&self, row: &RowResult) -> Result<Vec<Point>> {
        let unknown = |what: &str| Error::row(row.row(), what.to_owned());
        let values = self.key.decode(row.row())?;
        let field = |name: &str| {
            self.key.field_index(name).ok().and_then(|index| values.get(index).cloned())
        };
        let name = |field_name: &str, kind: u8| -> Result<String> {
            let value = field(field_name).ok_or_else(|| unknown("a part of the key is missing"))?;
            match (&self.uids, value.as_bytes().map(Uid::try_from)) {
                (Some(uids), Some(Ok(uid))) => uids.name(kind, uid),
                _ => Ok(value.as_text().unwrap_or_default().to_owned()),
            }
        };
        let (host, metric) = (name("host", TAG_VALUE)?, name("metric", METRIC)?);
        let metric = known_metric(&metric).ok_or_else(|| unknown("the metric is unknown"))?;
        let base = field("base").and_then(|base| base.as_number()).unwrap_or(0) as u64 * 1_000;
        let placed = points_of(row, FAMILY)?.into_iter();
        let point =
            |(offset_ms, value)| Point { metric, host: host.clone(), ts: base + offset_ms, value };
        Ok(placed.map(point).collect())
    }

    fn plan(&self, query: &Query) -> Result<Option<Plan>> {
        match self.for_rows(query)? {
            Some(rows) => Ok(Some(self.key.plan(&rows)?)),
            None => Ok(None),
        }
    }
}

impl Session for PackedSession {
    fn tables(&self) -> &[TableReader] {
        &self.tables
    }

    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        let point = Point::generate(id);
        let uid = |kind: u8, name: &str| match &self.uids {
            Some(uids) => uids.register(kind, name),
            None => Ok([0; 3]),
        };
        let row = row(&self.key, self.packing, &point, &uid)?;
        let (value, flags) = point.value.encode();
        let name = qualifier(self.packing.place(point.ts).1, flags);
        Ok(vec![Write::new(Put::new(row).add(FAMILY, name, value))])
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let query = &question.query;
        let limit = query.row_limit().unwrap_or(u64::MAX);
        let Some(plan) = self.plan(query)? else { return Ok(()) };
        // Rows of one series do not overlap in time; those of several do.
        let is_series = self.key.fields().iter().all(|field| {
            !matches!(field.name.as_str(), "host" | "metric")
                || query.conditions().iter().any(|(name, condition)| {
                    *name == field.name && matches!(condition, FieldCondition::Equals(_))
                })
        });
        let is_in_order = plan.is_in_order && is_series;
        let is_descending = matches!(query.order(), Order::Descending(_));
        let mut found = Vec::new();
        let mut count = 0;
        for row in merged(&self.tables[0], &plan, trace) {
            let mut points = self.points(&row?.0)?;
            points.retain(|point| query.matches(|field| point.value(field)));
            if !is_in_order {
                found.append(&mut points);
                continue;
            }
            if is_descending {
                points.reverse();
            }
            for point in points {
                if count >= limit {
                    return Ok(());
                }
                visit(&point);
                count += 1;
            }
            if count >= limit {
                return Ok(());
            }
        }
        wanted(found, query).iter().for_each(|point| visit(point));
        Ok(())
    }

    /// OpenTSDB's rows are rewritten after their hour has ended.
    fn after_load(&self, _data: &DataSet) -> Result<Vec<String>> {
        if self.packing != Packing::OpenTsdb {
            return Ok(Vec::new());
        }
        let table = self.tables[0].table();
        let (mut rows, mut cells) = (0_u64, 0);
        for row in table.scan(&hblite::Scan::new())? {
            let row = row?;
            if let Some(mutations) = compacted(&row, FAMILY)? {
                table.mutate_row(&mutations)?;
                rows += 1;
                cells += row.len();
            }
        }
        Ok(vec![format!("rewrote {cells} columns of {rows} rows into one column each")])
    }
}
