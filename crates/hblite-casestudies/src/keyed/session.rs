//! The open tables of a keyed design: from records to puts, and from queries to merged scans to
//! records.

use std::marker::PhantomData;

use hblite::{Connection, Put, RowResult};
use hblite_rowkey::{Access, Ids, Order, Plan, Query, Value};

use super::{FAMILY, KeyTable, KeyedDesign, Kind, LOOKUP_TABLE, Record, for_key, wanted};
use crate::error::{Error, Result};
use crate::ids::IdTable;
use crate::merged::merged;
use crate::study::{Question, RecordId, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

pub(super) struct KeyedSession<R> {
    tables: Vec<TableReader>,
    keys: Vec<KeyTable>,
    /// For each table, the fields stored as columns.
    columns: Vec<Vec<(&'static str, Kind)>>,
    numbered: Vec<(&'static str, u8)>,
    ids: Option<Ids<IdTable>>,
    record: PhantomData<fn() -> R>,
}

/// The row of a record.
pub(super) fn encode<R: Record>(
    key: &hblite_rowkey::Design,
    record: &R,
    numbered: &[(&'static str, u8)],
    id: &RecordId,
    number: &dyn Fn(u8, &[u8]) -> Result<u64>,
) -> Result<Vec<u8>> {
    let mut values = Vec::with_capacity(key.fields().len());
    for field in key.fields() {
        let value = record.value(&field.name).unwrap_or(Value::Unsigned(0));
        let kind = numbered.iter().find(|(name, _)| *name == field.name);
        values.push(match kind {
            Some((_, kind)) => {
                Value::Unsigned(number(*kind, value.as_bytes().unwrap_or_default())?)
            }
            None => value,
        });
    }
    // A record keeps its random salt, so that it can be written again.
    let random = if key.has_random_salt() { salt(id) } else { 0 };
    let mut row = Vec::new();
    key.encode_into(&values, random, &mut row)?;
    Ok(row)
}

fn salt(id: &RecordId) -> u64 {
    crate::random::Random::of(id.seed ^ 0x7361_6c74, id.index).number()
}

impl<R: Record> KeyedSession<R> {
    pub(super) fn open(design: &KeyedDesign<R>, connection: &Connection) -> Result<Self> {
        let open = |table: &KeyTable| TableReader::new(connection.table(table.name)?);
        let mut tables = design.tables.iter().map(open).collect::<Result<Vec<_>>>()?;
        let ids = match design.numbered.is_empty() {
            true => None,
            false => {
                let table = connection.table(LOOKUP_TABLE)?;
                tables.push(TableReader::new(table.clone())?);
                Some(Ids::new(IdTable::new(table, FAMILY)))
            }
        };
        let columns = design.tables.iter().map(|table| {
            let fields = R::FIELDS.iter().copied();
            fields.filter(|(field, _)| !design.is_shown(table, field)).collect()
        });
        Ok(Self {
            tables,
            keys: design.tables.clone(),
            columns: columns.collect(),
            numbered: design.numbered.clone(),
            ids,
            record: PhantomData,
        })
    }

    /// The tables to read for a query, with plans: the cheapest one that answers it or, if tables
    /// share the records, all that may hold some.
    fn plans(&self, query: &Query) -> Result<Vec<(usize, Plan)>> {
        let mut plans = Vec::new();
        for (index, table) in self.keys.iter().enumerate() {
            if table.may_hold(query) {
                plans.extend(self.plan(&table.key, query)?.map(|plan| (index, plan)));
            }
        }
        if self.keys.iter().all(|table| table.only.is_none()) {
            plans.sort_by_key(|(_, plan)| rank(plan));
            plans.truncate(1);
        }
        Ok(plans)
    }

    /// The plan of one table; `None` if no row can match the query.
    fn plan(&self, key: &hblite_rowkey::Design, query: &Query) -> Result<Option<Plan>> {
        let number = |kind: u8, name: &[u8]| match &self.ids {
            Some(ids) => ids.find(kind, name),
            None => Ok(None),
        };
        let Some(asked) = for_key(query, key, &self.numbered, &number)? else { return Ok(None) };
        let mut plan = key.plan(&asked)?;
        plan.is_in_order &= (asked.order() == &Order::Any) == (query.order() == &Order::Any);
        if asked.conditions().len() < query.conditions().len() {
            // Rows will be dropped after they were read, so no scan may stop early.
            plan.limit = None;
        }
        Ok(Some(plan))
    }

    /// The record in a row.
    fn read(&self, table: usize, row: &RowResult) -> Result<R> {
        let key = &self.keys[table].key;
        let shown = key.decode(row.row())?;
        let value = |field: &str| -> Option<Value<'static>> {
            if let Some((_, kind)) = self.columns[table].iter().find(|(name, _)| *name == field) {
                return row.value(FAMILY, field).and_then(|bytes| column_value(*kind, bytes));
            }
            if let Some((_, only)) = self.keys[table].only.filter(|(name, _)| *name == field) {
                return Some(Value::Unsigned(only));
            }
            let index = key.field_index(field).ok()?;
            shown.get(index).cloned().map(Value::into_owned)
        };
        R::from_values(&value).ok_or_else(|| Error::row(row.row(), "a column is missing"))
    }
}

/// Cheapest first: whole rows, then ranges, then tables; in order before unsorted; few scans.
fn rank(plan: &Plan) -> (u8, bool, usize, usize) {
    let access = match plan.access {
        Access::Nothing => 0,
        Access::Rows => 1,
        Access::Ranges => 2,
        Access::Table => 3,
    };
    (access, !plan.is_in_order, plan.checks.len(), plan.ranges.len())
}

fn column_value(kind: Kind, bytes: &[u8]) -> Option<Value<'static>> {
    match kind {
        Kind::Number => {
            <[u8; 8]>::try_from(bytes).ok().map(|bytes| Value::Unsigned(u64::from_be_bytes(bytes)))
        }
        Kind::Text => String::from_utf8(bytes.to_vec()).ok().map(Value::from),
    }
}

fn is_empty(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(text) if text.is_empty())
}

fn column_bytes(value: &Value<'_>) -> Vec<u8> {
    match value.as_number() {
        Some(number) => u64::try_from(number).unwrap_or_default().to_be_bytes().to_vec(),
        None => value.as_bytes().unwrap_or_default().to_vec(),
    }
}

impl<R: Record> Session for KeyedSession<R> {
    fn tables(&self) -> &[TableReader] {
        &self.tables
    }

    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        let record = R::generate(id);
        let number = |kind: u8, name: &[u8]| match &self.ids {
            Some(ids) => ids.id(kind, name),
            None => Ok(0),
        };
        let mut writes = Vec::with_capacity(self.keys.len());
        for (table, (key, columns)) in self.keys.iter().zip(&self.columns).enumerate() {
            if !key.holds(&record) {
                continue;
            }
            let row = encode(&key.key, &record, &self.numbered, id, &number)?;
            let mut put = Put::new(row);
            for (field, _) in columns {
                // A record without a number has no cell for it.
                if let Some(value) = record.value(field).filter(|value| !is_empty(value)) {
                    put = put.add(FAMILY, field, column_bytes(&value));
                }
            }
            if columns.is_empty() {
                put = put.add(FAMILY, "", "");
            }
            writes.push(Write { table, put });
        }
        Ok(writes)
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let query = &question.query;
        let limit = query.row_limit().unwrap_or(u64::MAX);
        let plans = self.plans(query)?;
        let mut found = Vec::new();
        let mut count = 0;
        let is_ordered = query.order() != &Order::Any;
        let is_sorted_here =
            plans.iter().any(|(_, plan)| !plan.is_in_order) || (is_ordered && plans.len() > 1);
        for (table, plan) in &plans {
            for row in merged(&self.tables[*table], plan, trace) {
                let record = self.read(*table, &row?.0)?;
                if !query.matches(|field| record.value(field)) {
                    continue;
                }
                if is_sorted_here {
                    found.push(record);
                    continue;
                }
                visit(&record);
                count += 1;
                if count >= limit {
                    return Ok(());
                }
            }
        }
        wanted(found, query).iter().for_each(|record| visit(record));
        Ok(())
    }
}
