//! Orders of a period with the names of their customers: joins in the application.
//!
//! HBase has no joins. The application reads one table and gets the rows of the other one by one (a
//! nested loop), reads the smaller table first into a map (a hash join), or has copied the customer
//! data it will need into each order.

use std::collections::HashMap;

use hblite::{Connection, Get, Put, RowResult, TableDescriptor};
use hblite_rowkey::{Plan, Query, Value};

use super::customer_order::SalesOrder;
use super::customer_plus_plus::{Customer, Entry, RECORDS_PER_CUSTOMER, is_customer, order_of};
use crate::descriptor;
use crate::error::{Error, Result};
use crate::keyed::{FAMILY, Record as _};
use crate::merged::merged;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign, Session, Visitor, Write};
use crate::trace::{TableReader, Trace};

/// Where the customer's name comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    NestedLoop,
    Hash,
    Written,
}

const ORDERS: &str = "ORDERS_BY_DATE";
const CUSTOMERS: &str = "CUSTOMERS";
const ORDER_KEY: &str = "date:timestamp|number:str";

/// The study.
#[derive(Debug)]
pub struct Joins;

impl CaseStudy for Joins {
    fn name(&self) -> &'static str {
        "joins"
    }

    fn title(&self) -> &'static str {
        "Orders of a period with the names of their customers"
    }

    fn question(&self) -> &'static str {
        "Join by a nested loop, by a map in memory, or when writing?"
    }

    fn entities(&self, records: u64) -> u64 {
        records.div_ceil(RECORDS_PER_CUSTOMER)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design =
            |name, join, why| Box::new(JoinDesign { name, join, why }) as Box<dyn SchemaDesign>;
        vec![
            design(
                "nested-loop",
                Join::NestedLoop,
                "a get for each order: good for few orders, or few customers among them",
            ),
            design(
                "hash-join",
                Join::Hash,
                "all customers are read once into a map: good for many orders",
            ),
            design(
                "denormalised",
                Join::Written,
                "the order has the name: one scan, until a customer changes its name",
            ),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let date = order_of(around).date;
        let span = data.records * 60_000;
        let period = |part: u64| {
            let range = date.saturating_sub(span / part)..date + span / part;
            Query::new().range("date", range).ascending("date")
        };
        vec![Question::new("short-period", period(100)), Question::new("long-period", period(3))]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        let orders = data.all().filter(|id| !is_customer(id)).map(|id| (id, order_of(&id)));
        orders
            .filter(|(_, order)| question.query.matches(|field| order.value(field)))
            .map(|(id, order)| joined(&order, &Customer::generate(id.seed, id.entity).name))
            .collect()
    }
}

fn joined(order: &SalesOrder, name: &str) -> String {
    format!("{order} {name}")
}

struct JoinDesign {
    name: &'static str,
    join: Join,
    why: &'static str,
}

fn order_key() -> hblite_rowkey::Design {
    hblite_rowkey::Design::parse(ORDER_KEY).expect("keys of studies are tested")
}

impl SchemaDesign for JoinDesign {
    fn name(&self) -> &str {
        self.name
    }

    fn pictures(&self) -> Vec<String> {
        vec![format!("{ORDERS}: {ORDER_KEY}"), format!("{CUSTOMERS}: customer:str(8)")]
    }

    fn why(&self) -> String {
        self.why.to_owned()
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        vec![descriptor(ORDERS, &[FAMILY]), descriptor(CUSTOMERS, &[FAMILY])]
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        Ok(order_key().natural_splits(regions)?)
    }

    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        match Entry::generate(id) {
            Entry::Customer(customer) => Ok(customer.number.into_bytes()),
            Entry::Order(order) => row(&order_key(), &order),
        }
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        let open = |name: &str| TableReader::new(connection.table(name)?);
        let tables = vec![open(ORDERS)?, open(CUSTOMERS)?];
        Ok(Box::new(JoinSession { join: self.join, key: order_key(), tables }))
    }
}

fn row(key: &hblite_rowkey::Design, order: &SalesOrder) -> Result<Vec<u8>> {
    Ok(key.encode(&[Value::from(order.date), Value::from(&order.number)])?)
}

struct JoinSession {
    join: Join,
    key: hblite_rowkey::Design,
    tables: Vec<TableReader>,
}

impl JoinSession {
    fn orders(&self, plan: &Plan, trace: &Trace) -> Result<Vec<(SalesOrder, RowResult)>> {
        let mut orders = Vec::new();
        for row in merged(&self.tables[0], plan, trace) {
            let row = row?.0;
            let shown = self.key.decode(row.row())?;
            let text = |field: &str| -> Option<String> {
                String::from_utf8(row.value(FAMILY, field)?.to_vec()).ok()
            };
            let order = (|| {
                Some(SalesOrder {
                    date: u64::try_from(shown.first()?.as_number()?).ok()?,
                    number: shown.get(1)?.as_text()?.to_owned(),
                    customer: text("customer")?,
                    total: text("total")?.parse().ok()?,
                })
            })();
            let order = order.ok_or_else(|| Error::row(row.row(), "is not an order"))?;
            orders.push((order, row));
        }
        Ok(orders)
    }

    /// The customer's name, one get for each order.
    fn name_of(&self, order: &SalesOrder, trace: &Trace) -> Result<String> {
        let get = Get::new(&order.customer).with_column(FAMILY, "name");
        name_in(&self.tables[1].get(&get, "column d:name", trace)?)
    }

    /// The names of all customers.
    fn names(&self, trace: &Trace) -> Result<HashMap<String, String>> {
        let everything = hblite_rowkey::KeyRange { start: Vec::new(), stop: Vec::new() };
        let bounds = everything.scan(false);
        let name_only = |scan: hblite::Scan| scan.with_column(FAMILY, "name");
        let mut names = HashMap::new();
        for row in self.tables[1].scan(&bounds, None, "column d:name", name_only, trace)? {
            let row = row?.0;
            let customer = String::from_utf8_lossy(row.row()).into_owned();
            names.insert(customer, name_in(&row)?);
        }
        Ok(names)
    }
}

fn name_in(row: &RowResult) -> Result<String> {
    let name = row.value(FAMILY, "name").and_then(|name| std::str::from_utf8(name).ok());
    name.map(str::to_owned).ok_or_else(|| Error::row(row.row(), "the customer has no name"))
}

impl Session for JoinSession {
    fn tables(&self) -> &[TableReader] {
        &self.tables
    }

    fn writes(&self, id: &RecordId) -> Result<Vec<Write>> {
        match Entry::generate(id) {
            Entry::Customer(customer) => {
                let put = Put::new(&customer.number)
                    .add(FAMILY, "name", customer.name)
                    .add(FAMILY, "address", customer.address)
                    .add(FAMILY, "phone", customer.phone);
                Ok(vec![Write { table: 1, put }])
            }
            Entry::Order(order) => {
                let put = Put::new(row(&self.key, &order)?)
                    .add(FAMILY, "customer", &order.customer)
                    .add(FAMILY, "total", order.total.to_string());
                // When an order is written, its customer is already known.
                let put = match self.join {
                    Join::Written => {
                        put.add(FAMILY, "name", Customer::generate(id.seed, id.entity).name)
                    }
                    Join::NestedLoop | Join::Hash => put,
                };
                Ok(vec![Write { table: 0, put }])
            }
        }
    }

    fn ask(&self, question: &Question, trace: &Trace, visit: Visitor<'_>) -> Result<()> {
        let plan = self.key.plan(&question.query)?;
        let names = match self.join {
            Join::Hash => self.names(trace)?,
            Join::NestedLoop | Join::Written => HashMap::new(),
        };
        for (order, row) in self.orders(&plan, trace)? {
            let name = match self.join {
                Join::NestedLoop => self.name_of(&order, trace)?,
                Join::Written => name_in(&row)?,
                Join::Hash => match names.get(&order.customer) {
                    Some(name) => name.clone(),
                    None => return Err(Error::row(row.row(), "the customer does not exist")),
                },
            };
            visit(&joined(&order, &name));
        }
        Ok(())
    }
}
