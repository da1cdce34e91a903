//! CUSTOMER and SALES as two tables, or CUSTOMER++ with two record types in one.
//!
//! ```text
//! CUSTOMER++   [customer id][1]           a customer
//!              [customer id][2][order]    an order of it
//! ```
//!
//! All data of a customer are adjacent, so one scan reads them. Customers without their orders are
//! not adjacent: such a scan reads every row, or skips from customer to customer.

use std::fmt;

use hblite_rowkey::{Query, Value};

use super::customer_order::SalesOrder;
use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::names::{CITIES, FAMILY, GIVEN, STREETS};
use crate::random::Random;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// A customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Customer {
    /// The customer number.
    pub number: String,
    /// The name.
    pub name: String,
    /// The address in one line.
    pub address: String,
    /// The telephone.
    pub phone: String,
}

impl Customer {
    /// The customer with this number in the data of a seed.
    pub fn generate(seed: u64, entity: u64) -> Self {
        let mut random = Random::of(seed ^ 0x6375_7374, entity);
        let (city, state, zip) = CITIES[random.below(CITIES.len() as u64) as usize];
        Self {
            number: format!("C{entity:07}"),
            name: format!("{} {}", random.one_of(GIVEN), random.one_of(FAMILY)),
            address: format!(
                "{} {}, {city} {state} {zip}",
                1 + random.below(999),
                random.one_of(STREETS)
            ),
            phone: format!("555-{:07}", random.below(10_000_000)),
        }
    }
}

/// A customer or an order: the first records of a data set are its customers, the others orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Record type 1.
    Customer(Customer),
    /// Record type 2.
    Order(SalesOrder),
}

/// The type of a customer's record.
pub const CUSTOMER: u64 = 1;
/// The type of an order's record.
pub const ORDER: u64 = 2;

/// One record in this many is a customer.
pub(super) const RECORDS_PER_CUSTOMER: u64 = 20;

/// The order of a record that is not a customer.
pub(super) fn order_of(id: &RecordId) -> SalesOrder {
    SalesOrder::generate(id)
}

/// Whether a record is a customer. Every twentieth is, so that a customer precedes most of its
/// orders whatever the size of the data.
pub(super) fn is_customer(id: &RecordId) -> bool {
    id.index.is_multiple_of(RECORDS_PER_CUSTOMER)
}

impl Record for Entry {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("customer", Kind::Text),
        ("type", Kind::Number),
        ("number", Kind::Text),
        ("name", Kind::Text),
        ("address", Kind::Text),
        ("phone", Kind::Text),
        ("date", Kind::Number),
        ("total", Kind::Number),
    ];

    fn generate(id: &RecordId) -> Self {
        if is_customer(id) {
            Self::Customer(Customer::generate(id.seed, id.index / RECORDS_PER_CUSTOMER))
        } else {
            Self::Order(order_of(id))
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        match self {
            Self::Customer(customer) => Some(match field {
                "customer" => Value::from(&customer.number),
                "type" => Value::from(CUSTOMER),
                "number" => Value::from(""),
                "name" => Value::from(&customer.name),
                "address" => Value::from(&customer.address),
                "phone" => Value::from(&customer.phone),
                _ => return None,
            }),
            Self::Order(_) if field == "type" => Some(Value::from(ORDER)),
            Self::Order(order) => order.value(field),
        }
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        if value("type")?.as_number()? == i128::from(ORDER) {
            return SalesOrder::from_values(value).map(Self::Order);
        }
        let text = |field: &str| value(field)?.as_text().map(str::to_owned);
        Some(Self::Customer(Customer {
            number: text("customer")?,
            name: text("name")?,
            address: text("address")?,
            phone: text("phone")?,
        }))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Customer(customer) => {
                let Customer { number, name, address, phone } = customer;
                write!(f, "{number} {name}, {address}, {phone}")
            }
            Self::Order(order) => write!(f, "{order}"),
        }
    }
}

/// The study.
#[derive(Debug)]
pub struct CustomerPlusPlus;

impl CaseStudy for CustomerPlusPlus {
    fn name(&self) -> &'static str {
        "customer-plus-plus"
    }

    fn title(&self) -> &'static str {
        "Customers and orders in two tables, or in one with record types"
    }

    fn question(&self) -> &'static str {
        "One table for each type of record, or one for all that belongs to a customer?"
    }

    fn entities(&self, records: u64) -> u64 {
        records.div_ceil(RECORDS_PER_CUSTOMER)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        vec![
            KeyedDesign::<Entry>::new(
                "two-tables",
                "SALES",
                "customer:str(8)|number:str",
                "each type of record in its own table; a customer with its orders takes two reads",
            )
            .only("type", ORDER)
            .and_table("CUSTOMER", "customer:str(8)")
            .only("type", CUSTOMER)
            .boxed(),
            KeyedDesign::<Entry>::new(
                "record-types",
                "CUSTOMER_PP",
                "customer:str(8)|type:u8|number:str",
                "a customer with its orders in one scan; all customers read the whole table",
            )
            .boxed(),
        ]
    }

    fn questions(&self, _data: &DataSet, around: &RecordId) -> Vec<Question> {
        let customer = format!("C{:07}", around.entity);
        let of_customer = || Query::new().equals("customer", customer.clone());
        vec![
            Question::new("everything-of-customer", of_customer()),
            Question::new("customer", of_customer().equals("type", CUSTOMER)),
            Question::new("orders", of_customer().equals("type", ORDER)),
            Question::new("all-customers", Query::new().equals("type", CUSTOMER)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Entry>(data, &question.query)
    }
}
