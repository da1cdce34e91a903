//! The order as an object: three tables, one table with record types, flattened line items, a blob.
//!
//! ```text
//! order row   [customer 8][order number 10]
//! normalised      ORDERS              [order row]
//!                 SHIPPING_LOCATION   [order row][location 2]
//!                 LINE_ITEM           [order row][location 2][line item 2]
//! record types    ORDER_TYPES         [order row][1]
//!                                     [order row][2][location 2]
//!                                     [order row][3][location 2][line item 2]
//! denormalised    ORDER_FLAT          [order row][1]
//!                                     [order row][3][line item 2], with the columns shipTo…
//! blob            ORDER_JSON, ORDER_AVRO   [order row], column order
//! ```

mod avro;
pub mod blob;
mod layout;
mod object;
mod session;

pub use object::{LineItem, Order, ShippingLocation};

use hblite::{Connection, TableDescriptor};
use hblite_rowkey::{Query, Value};

use self::blob::Format;
use self::layout::{Layout, order_row};
use self::session::OrderSession;
use crate::descriptor;
use crate::error::Result;
use crate::keyed::FAMILY;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign, Session};

/// The study.
#[derive(Debug)]
pub struct OrderObject;

impl CaseStudy for OrderObject {
    fn name(&self) -> &'static str {
        "order-object"
    }

    fn title(&self) -> &'static str {
        "An order with its shipping locations and line items"
    }

    fn question(&self) -> &'static str {
        "Three tables, one with record types, flattened, or a blob?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 10).clamp(4, 1_000_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design = |name, layout, why| {
            Box::new(OrderDesign { name, layout, why }) as Box<dyn SchemaDesign>
        };
        vec![
            design(
                "normalised",
                Layout::Normalised,
                "as in a relational database: a get and a scan for each level of the order",
            ),
            design(
                "record-types",
                Layout::RecordTypes,
                "an order is one scan; a part of it is a shorter one",
            ),
            design(
                "denormalised",
                Layout::Denormalised,
                "an item is read with its address; an address that changes is changed in each item",
            ),
            design(
                "blob-json",
                Layout::Blob(Format::Json),
                "an order is one get of one cell; reading one item reads the whole order",
            ),
            design(
                "blob-avro",
                Layout::Blob(Format::Avro),
                "as JSON, in a third of the bytes, but readable only with the schema",
            ),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let order = Order::generate(around);
        let of_order = || {
            let of_customer = Query::new().equals("customer", order.customer.clone());
            of_customer.equals("number", order.number.clone())
        };
        let location = order.locations.last();
        let location_number = location.map_or(1, |location| location.number);
        let item = location.and_then(|location| location.items.last());
        let of_location = || of_order().equals("location", location_number).ascending("item");
        let in_order = |query: Query| query.ascending("item");
        vec![
            Question::new("order", in_order(of_order())),
            Question::new("items-of-location", of_location()),
            Question::new("quantity", of_location().equals("item", item.map_or(1, |i| i.number))),
            Question::new(
                "orders-of-customer",
                Query::new()
                    .equals("customer", Order::generate(&data.record(around.index)).customer)
                    .ascending("number"),
            ),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        let orders = data.all().map(|id| Order::generate(&id));
        let wanted = Wanted::of(&question.query);
        let orders = orders.filter(|order| {
            order.customer == wanted.customer
                && wanted.number.as_ref().is_none_or(|number| *number == order.number)
        });
        orders.flat_map(|order| wanted.lines(&order)).collect()
    }
}

/// What a question asks, and of which order.
pub(super) struct Wanted {
    pub(super) customer: String,
    /// One order, or all of the customer.
    pub(super) number: Option<String>,
    pub(super) location: Option<i64>,
    pub(super) item: Option<i64>,
}

impl Wanted {
    pub(super) fn of(query: &Query) -> Self {
        let value = |field: &str| {
            query.conditions().iter().find_map(|(name, condition)| match condition {
                hblite_rowkey::FieldCondition::Equals(value) if name == field => {
                    Some(value.clone())
                }
                _ => None,
            })
        };
        let text = |field: &str| value(field).and_then(|v| v.as_text().map(str::to_owned));
        let number = |field: &str| {
            value(field).and_then(|v: Value<'_>| v.as_number()).map(|number| number as i64)
        };
        Self {
            customer: text("customer").unwrap_or_default(),
            number: text("number"),
            location: number("location"),
            item: number("item"),
        }
    }

    /// The requested lines of an order. For a single item, its quantity; for the items of a
    /// location, the items without the address, which not every layout stores with the items.
    pub(super) fn lines(&self, order: &Order) -> Vec<String> {
        let Some(number) = self.location else { return order.lines() };
        let locations = order.locations.iter().filter(|location| location.number == number);
        let items = locations.flat_map(|location| &location.items);
        match self.item {
            Some(wanted) => items
                .filter(|item| item.number == wanted)
                .map(|item| format!("quantity {}", item.quantity))
                .collect(),
            None => items.map(ToString::to_string).collect(),
        }
    }
}

struct OrderDesign {
    name: &'static str,
    layout: Layout,
    why: &'static str,
}

impl SchemaDesign for OrderDesign {
    fn name(&self) -> &str {
        self.name
    }

    fn pictures(&self) -> Vec<String> {
        self.layout.pictures()
    }

    fn why(&self) -> String {
        self.why.to_owned()
    }

    fn tables(&self) -> Vec<TableDescriptor> {
        self.layout.tables().iter().map(|name| descriptor(name, &[FAMILY])).collect()
    }

    fn natural_splits(&self, regions: usize) -> Result<Vec<Vec<u8>>> {
        let key = hblite_rowkey::Design::parse(layout::ORDER_ROW)?;
        Ok(key.natural_splits(regions)?)
    }

    fn key(&self, id: &RecordId) -> Result<Vec<u8>> {
        let order = Order::generate(id);
        order_row(&order.customer, &order.number)
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Session>> {
        Ok(Box::new(OrderSession::open(self.layout, connection)?))
    }
}
