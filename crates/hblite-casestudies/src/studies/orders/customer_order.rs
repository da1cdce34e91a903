//! ORDER: `[customer number][order number]`, unchanged, hashed, or half numbered and half hashed.
//!
//! Unchanged numbers keep a customer's orders in order, but new rows all go to the region with the
//! highest numbers. Hashes have a fixed length whatever the numbers look like, and spread; a
//! customer's orders still take one scan, but are in the order of their hashes.

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::names::EPOCH_MS;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// A sales order, without its line items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalesOrder {
    /// The customer number.
    pub customer: String,
    /// The order number.
    pub number: String,
    /// When it was sold, in milliseconds since 1970.
    pub date: u64,
    /// The sum in cents.
    pub total: u64,
}

const STEP_MS: u64 = 60_000;

impl Record for SalesOrder {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("customer", Kind::Text),
        ("number", Kind::Text),
        ("date", Kind::Number),
        ("total", Kind::Number),
    ];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        Self {
            customer: format!("C{:07}", id.entity),
            number: format!("O{:09}", id.index),
            date: EPOCH_MS + id.index * STEP_MS,
            total: random.power_law(1_000, 10_000_000) + random.below(1_000),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "customer" => Value::from(&self.customer),
            "number" => Value::from(&self.number),
            "date" => Value::from(self.date),
            "total" => Value::from(self.total),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        let text = |field: &str| value(field)?.as_text().map(str::to_owned);
        let number = |field: &str| u64::try_from(value(field)?.as_number()?).ok();
        Some(Self {
            customer: text("customer")?,
            number: text("number")?,
            date: number("date")?,
            total: number("total")?,
        })
    }
}

impl fmt::Display for SalesOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { customer, number, date, total } = self;
        write!(f, "{customer} {number} {date} {}.{:02}", total / 100, total % 100)
    }
}

/// The study.
#[derive(Debug)]
pub struct CustomerOrder;

impl CaseStudy for CustomerOrder {
    fn name(&self) -> &'static str {
        "customer-order"
    }

    fn title(&self) -> &'static str {
        "ORDER: customer number and order number"
    }

    fn question(&self) -> &'static str {
        "Are the raw numbers the best row keys, or hashes of them, or substituted numbers?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 20).clamp(4, 1_000_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design = |name, key: &str, why| KeyedDesign::<SalesOrder>::new(name, "ORDER", key, why);
        vec![
            design(
                "raw",
                "customer:str(8)|number:str(10)",
                "18 bytes; a customer's orders in order; new customers all go to the last region",
            )
            .boxed(),
            design(
                "md5-md5",
                "customer:md5|number:md5",
                "32 bytes whatever the numbers; a customer's orders in one scan, in no order",
            )
            .boxed(),
            design(
                "long-md5",
                "customer:u64|number:md5",
                "24 bytes; the customer's number from a lookup table",
            )
            .numbering("customer", b'c')
            .boxed(),
        ]
    }

    fn questions(&self, _data: &DataSet, around: &RecordId) -> Vec<Question> {
        let SalesOrder { customer, number, .. } = SalesOrder::generate(around);
        let of_customer = || Query::new().equals("customer", customer.clone());
        vec![
            Question::new("order", of_customer().equals("number", number)),
            Question::new("customer", of_customer()),
            Question::new("latest", of_customer().descending("number").limit(5)),
            Question::new("large", Query::new().at_least("total", 1_000_000_u64)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<SalesOrder>(data, &question.query)
    }
}
