//! Reads orders, or parts of one, from each layout.

use hblite::{Connection, Get};
use hblite_model::counted;
use hblite_rowkey::{KeyRange, next_after_prefix};

use super::Wanted;
use super::layout::{Assembly, BLOB, Layout, customer_prefix, order_row};
use super::object::{Order, is_first_version};
use crate::error::{Error, Result};
use crate::study::{DataSet, Question, RecordId, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

pub(super) struct OrderSession {
    layout: Layout,
    tables: Vec<TableReader>,
}

impl OrderSession {
    pub(super) fn open(layout: Layout, connection: &Connection) -> Result<Self> {
        let open = |name: &&str| TableReader::new(connection.table(*name)?);
        Ok(Self { layout, tables: layout.tables().iter().map(open).collect::<Result<_>>()? })
    }

    fn get(&self, table: usize, row: &[u8], into: &mut Assembly, trace: &Trace) -> Result<()> {
        let row = self.tables[table].get(&Get::new(row), "", trace)?;
        if row.is_empty() { Ok(()) } else { into.add(self.layout, table, &row) }
    }

    fn scan(&self, table: usize, prefix: &[u8], into: &mut Assembly, trace: &Trace) -> Result<()> {
        let range = KeyRange { start: prefix.to_vec(), stop: next_after_prefix(prefix) };
        for row in self.tables[table].scan(&range.scan(false), None, "", |scan| scan, trace)? {
            into.add(self.layout, table, &row?.0)?;
        }
        Ok(())
    }

    /// One order, whole.
    fn order(&self, row: &[u8], into: &mut Assembly, trace: &Trace) -> Result<()> {
        match self.layout {
            Layout::Blob(_) => self.get(0, row, into, trace),
            Layout::RecordTypes | Layout::Denormalised => self.scan(0, row, into, trace),
            Layout::Normalised => {
                self.get(0, row, into, trace)?;
                self.scan(1, row, into, trace)?;
                for location in into.locations_of(row) {
                    let prefix = self.layout.items_prefix(row, Some(location));
                    self.scan(2, &prefix, into, trace)?;
                }
                Ok(())
            }
        }
    }

    /// All orders of a customer: their rows share a prefix in every table.
    fn orders(&self, customer: &str, into: &mut Assembly, trace: &Trace) -> Result<()> {
        let prefix = customer_prefix(customer)?;
        (0..self.tables.len()).try_for_each(|table| self.scan(table, &prefix, into, trace))
    }

    /// The line items of a location, or one of them.
    fn items(&self, row: &[u8], wanted: &Wanted, into: &mut Assembly, trace: &Trace) -> Result<()> {
        let table = if self.layout == Layout::Normalised { 2 } else { 0 };
        match (self.layout, wanted.item) {
            (Layout::Blob(_), _) => self.get(0, row, into, trace),
            (_, Some(item)) => {
                let row = self.layout.item_row(row, wanted.location, item);
                self.get(table, &row, into, trace)
            }
            (_, None) => {
                let prefix = self.layout.items_prefix(row, wanted.location);
                self.scan(table, &prefix, into, trace)
            }
        }
    }

    /// The puts for a new address of an order's first location.
    fn new_address(&self, order: &Order) -> Result<Vec<Write>> {
        let row = order_row(&order.customer, &order.number)?;
        let Some(location) = order.locations.first() else { return Ok(Vec::new()) };
        match self.layout {
            Layout::Normalised | Layout::RecordTypes => {
                Ok(self.layout.location_write(&row, location).into_iter().collect())
            }
            Layout::Denormalised => {
                let items = location.items.iter();
                Ok(items.map(|item| self.layout.item_write(&row, location, item)).collect())
            }
            Layout::Blob(_) => self.layout.writes(order, 2),
        }
    }
}

impl Session for OrderSession {
    fn tables(&self) -> &[TableReader] {
        &self.tables
    }

    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        let version = if is_first_version(id) { 1 } else { 2 };
        self.layout.writes(&Order::generate(id), version)
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let wanted = Wanted::of(&question.query);
        let mut found = Assembly::default();
        match &wanted.number {
            None => self.orders(&wanted.customer, &mut found, trace)?,
            Some(number) => {
                let row = order_row(&wanted.customer, number)?;
                match wanted.location {
                    None => self.order(&row, &mut found, trace)?,
                    Some(_) => self.items(&row, &wanted, &mut found, trace)?,
                }
            }
        }
        for order in found.into_orders() {
            for line in wanted.lines(&order) {
                visit(&line);
            }
        }
        Ok(())
    }

    /// Changes the address of one order and back, to measure the cost.
    fn after_load(&self, data: &DataSet) -> Result<Vec<String>> {
        let orders = data.all().map(|id| Order::generate(&id));
        let has_several = |order: &Order| {
            order.locations.first().is_some_and(|location| location.items.len() > 2)
        };
        let mut orders = orders.skip_while(|order| !has_several(order));
        let Some(order) = orders.next() else { return Ok(Vec::new()) };
        let mut moved = order.clone();
        if let Some(location) = moved.locations.first_mut() {
            location.line1 = "1 New St".to_owned();
        }
        let mut told = Vec::new();
        for (order, is_first) in [(&moved, true), (&order, false)] {
            let writes = self.new_address(order)?;
            if is_first {
                let cells: usize =
                    writes.iter().map(|write| write.put.as_mutation().cells().len()).sum();
                let blob = writes.first().and_then(|write| {
                    let mut cells = write.put.as_mutation().cells().iter();
                    cells.find(|cell| cell.qualifier() == BLOB.as_bytes()).map(|c| c.value().len())
                });
                let note = blob.map_or(String::new(), |bytes| {
                    format!(", after reading the order: {bytes} bytes")
                });
                let puts = counted(writes.len() as u64, "put");
                let cells = counted(cells as u64, "cell");
                told.push(format!("a new address takes {puts}, {cells}{note}"));
            }
            for write in writes {
                let table = self.tables.get(write.table).ok_or_else(|| {
                    Error::row(write.put.row(), "belongs to a table that does not exist")
                })?;
                table.table().put(&write.put)?;
            }
        }
        Ok(told)
    }
}
