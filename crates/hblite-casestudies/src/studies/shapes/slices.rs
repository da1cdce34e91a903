//! Numbered values of an owner as columns: all in one row, or a fixed number in each.
//!
//! ```text
//! row        [owner 8]             all values of an owner, however many there are
//!            [owner 8][number / n] n of them
//! qualifier  [number 4]
//! ```
//!
//! Part of a row is read by its columns: a range of them, or the first few. But a region cannot
//! split a row, so each owner is in one region.

use std::marker::PhantomData;

use hblite::filter::{Filter, ListOperator};
use hblite::{Connection, Get, Put, RowResult, Scan, TableDescriptor};
use hblite_rowkey::{FieldCondition, KeyRange, Order, Query, Value, next_after_prefix};

use crate::descriptor;
use crate::error::{Error, Result};
use crate::keyed::{self, FAMILY, Record};
use crate::study::{Question, RecordId, SchemaDesign, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

/// A record that is a numbered value of an owner.
pub(super) trait Numbered: Record {
    /// The field with the owner, a text of 8 bytes.
    const OWNER: &'static str;
    /// The field with the number, of 4 bytes.
    const NUMBER: &'static str;

    /// The value that the column has.
    fn content(&self) -> &[u8];

    /// The record of an owner's column.
    fn from_column(owner: &str, number: u32, content: &[u8]) -> Self;
}

/// Values as columns.
pub(super) struct Slices<R> {
    pub(super) name: &'static str,
    pub(super) table: &'static str,
    pub(super) why: &'static str,
    /// Numbers in a row; `None` for all of an owner.
    pub(super) per_row: Option<u32>,
    pub(super) record: PhantomData<fn() -> R>,
}

impl<R: Numbered> Slices<R> {
    fn key_text(&self) -> String {
        match self.per_row {
            None => format!("{}:str(8)", R::OWNER),
            Some(_) => format!("{}:str(8)|bundle:u32", R::OWNER),
        }
    }

    fn place(&self, record: &R) -> Result<(String, u32)> {
        let owner = record.value(R::OWNER).and_then(|owner| owner.as_text().map(str::to_owned));
        let number = record.value(R::NUMBER).and_then(|number| number.as_number());
        let number = number.and_then(|number| u32::try_from(number).ok());
        match (owner, number) {
            (Some(owner), Some(number)) => Ok((owner, number)),
            _ => Err(Error::row(&[], "a record lacks an owner, or a number of four bytes")),
        }
    }
}

fn row(owner: &str, number: u32, per_row: Option<u32>) -> Vec<u8> {
    let mut row = owner.as_bytes().to_vec();
    row.resize(OWNER_WIDTH, 0);
    if let Some(per_row) = per_row {
        row.extend_from_slice(&(number / per_row.max(1)).to_be_bytes());
    }
    row
}

/// Bytes of an owner in the row.
pub(super) const OWNER_WIDTH: usize = 8;

impl<R: Numbered> SchemaDesign for Slices<R> {
    fn name(&self) -> &str {
        self.name
    }

    fn pictures(&self) -> Vec<String> {
        vec![format!("{}: {}, columns: {}:u32", self.table, self.key_text(), R::NUMBER)]
    }

    fn why(&self) -> String {
        self.why.to_owned()
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        vec![descriptor(self.table, &[FAMILY])]
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        Ok(hblite_rowkey::Design::parse(&self.key_text())?.natural_splits(regions)?)
    }

    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        let (owner, number) = self.place(&R::generate(id))?;
        Ok(row(&owner, number, self.per_row))
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        let table = TableReader::new(connection.table(self.table)?)?;
        let design = Self { record: PhantomData, ..*self };
        Ok(Box::new(SlicesSession { design, tables: [table] }))
    }
}

struct SlicesSession<R> {
    design: Slices<R>,
    tables: [TableReader; 1],
}

/// What a query asks for: which owner, which numbers, how many.
struct Wanted {
    owner: Option<String>,
    first: u32,
    /// The last requested number.
    last: u32,
    /// The limit, if the smallest ones are requested.
    limit: Option<u64>,
}

impl Wanted {
    fn of<R: Numbered>(query: &Query) -> Self {
        let mut wanted = Self { owner: None, first: 0, last: u32::MAX, limit: None };
        let number = |value: &Value<'_>| value.as_number().and_then(|n| u32::try_from(n).ok());
        for (field, condition) in query.conditions() {
            match condition {
                FieldCondition::Equals(value) if field == R::OWNER => {
                    wanted.owner = value.as_text().map(str::to_owned);
                }
                FieldCondition::Equals(value) if field == R::NUMBER => {
                    wanted.first = number(value).unwrap_or(0);
                    wanted.last = wanted.first;
                }
                FieldCondition::Range { from, to } if field == R::NUMBER => {
                    wanted.first = from.as_ref().and_then(number).unwrap_or(0);
                    let to = to.as_ref().and_then(number);
                    wanted.last = to.map_or(u32::MAX, |to| to.saturating_sub(1));
                }
                _ => {}
            }
        }
        if matches!(query.order(), Order::Ascending(field) if field == R::NUMBER) {
            wanted.limit = query.row_limit();
        }
        wanted
    }

    /// The requested columns of a row, as a filter and in words.
    fn filter(&self, limit: Option<u64>) -> Result<(Option<Filter>, String)> {
        let (first, last) = (self.first.to_be_bytes(), self.last.to_be_bytes());
        let mut filters = Vec::new();
        let mut words = Vec::new();
        if (self.first, self.last) != (0, u32::MAX) {
            filters.push(Filter::column_range(
                Some(first.to_vec()),
                true,
                Some(last.to_vec()),
                true,
            ));
            words.push(format!("columns {} to {}", self.first, self.last));
        }
        if let Some(limit) = limit.and_then(|limit| i32::try_from(limit).ok()) {
            filters.push(Filter::column_pagination(limit, 0)?);
            words.push(format!("first {limit} of them"));
        }
        let filter = match filters.len() {
            0 => None,
            1 => filters.pop(),
            _ => Some(Filter::list(ListOperator::MustPassAll, filters)),
        };
        Ok((filter, words.join(", ")))
    }
}

impl<R: Numbered> SlicesSession<R> {
    fn records(&self, row: &RowResult) -> Result<Vec<R>> {
        let owner = row.row().get(..OWNER_WIDTH).unwrap_or(row.row());
        let owner = String::from_utf8_lossy(owner);
        let owner = owner.trim_end_matches('\0');
        let record = |cell: hblite::CellRef<'_>| {
            let number = <[u8; 4]>::try_from(cell.qualifier());
            let number =
                number.map_err(|_| Error::row(row.row(), "a qualifier does not have 4 bytes"))?;
            Ok(R::from_column(owner, u32::from_be_bytes(number), cell.value()))
        };
        row.cells().map(record).collect()
    }

    /// The rows that may contain the answer.
    fn range(&self, wanted: &Wanted) -> KeyRange {
        match (&wanted.owner, self.design.per_row) {
            (None, _) => KeyRange { start: Vec::new(), stop: Vec::new() },
            (Some(owner), None) => KeyRange::row(row(owner, 0, None)),
            (Some(owner), per_row) => KeyRange {
                start: row(owner, wanted.first, per_row),
                stop: next_after_prefix(&row(owner, wanted.last, per_row)),
            },
        }
    }
}

impl<R: Numbered> Session for SlicesSession<R> {
    fn tables(&self) -> &[TableReader] {
        &self.tables
    }

    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        let record = R::generate(id);
        let (owner, number) = self.design.place(&record)?;
        let row = row(&owner, number, self.design.per_row);
        let put = Put::new(row).add(FAMILY, number.to_be_bytes(), record.content());
        Ok(vec![Write::new(put)])
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let query = &question.query;
        let wanted = Wanted::of::<R>(query);
        let range = self.range(&wanted);
        // Within one row the store can stop after this many columns.
        let limit = wanted.limit.filter(|_| wanted.owner.is_some());
        let (filter, words) = wanted.filter(limit)?;
        let mut found: Vec<R> = Vec::new();
        if let Some(row) = range.as_row() {
            let get = match filter {
                Some(filter) => Get::new(row).with_filter(filter),
                None => Get::new(row),
            };
            found = self.records(&self.tables[0].get(&get, &words, trace)?)?;
        } else {
            let refine = |scan: Scan| match filter {
                Some(filter) => scan.with_filter(filter),
                None => scan,
            };
            let scan = self.tables[0].scan(&range.scan(false), None, &words, refine, trace)?;
            for row in scan {
                found.extend(self.records(&row?.0)?);
                // Rows of one owner are in order of their numbers.
                if limit.is_some_and(|limit| found.len() as u64 >= limit) {
                    break;
                }
            }
        }
        found.retain(|record| query.matches(|field| record.value(field)));
        keyed::wanted(found, query).iter().for_each(|record| visit(record));
        Ok(())
    }
}
