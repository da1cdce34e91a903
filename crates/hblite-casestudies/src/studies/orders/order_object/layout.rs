//! The rows of an order in each layout, written and read back piece by piece.

use std::collections::BTreeMap;

use hblite::{Put, RowResult};
use hblite_rowkey::{Design, Value};

use super::blob::Format;
use super::object::{LineItem, Order, ShippingLocation};
use crate::error::{Error, Result};
use crate::keyed::FAMILY;
use crate::study::Write;

/// The row layout of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Normalised,
    RecordTypes,
    Denormalised,
    Blob(Format),
}

/// The row of an order.
pub(super) const ORDER_ROW: &str = "customer:str(8)|number:str(10)";
const ORDER_ROW_WIDTH: usize = 18;

/// Record types.
const ORDER: u8 = 1;
const SHIPPING: u8 = 2;
const LINE: u8 = 3;

/// The column of a blob.
pub(super) const BLOB: &str = "order";

pub(super) fn order_row(customer: &str, number: &str) -> Result<Vec<u8>> {
    let design = Design::parse(ORDER_ROW)?;
    Ok(design.encode(&[Value::from(customer), Value::from(number)])?)
}

/// The beginning of the rows of all orders of a customer.
pub(super) fn customer_prefix(customer: &str) -> Result<Vec<u8>> {
    let mut row = order_row(customer, "")?;
    row.truncate(8);
    Ok(row)
}

/// Locations and items are numbered in two bytes.
pub(super) fn number_bytes(number: i64) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes()
}

impl Layout {
    pub(super) fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Normalised => &["ORDERS", "SHIPPING_LOCATION", "LINE_ITEM"],
            Self::RecordTypes => &["ORDER_TYPES"],
            Self::Denormalised => &["ORDER_FLAT"],
            Self::Blob(Format::Json) => &["ORDER_JSON"],
            Self::Blob(Format::Avro) => &["ORDER_AVRO"],
        }
    }

    pub(super) fn pictures(self) -> Vec<String> {
        let row = ORDER_ROW;
        let tails: &[(usize, &str)] = match self {
            Self::Normalised => &[(0, ""), (1, "|location:u16"), (2, "|location:u16|item:u16")],
            Self::RecordTypes => &[
                (0, "|\"\\x01\""),
                (0, "|\"\\x02\"|location:u16"),
                (0, "|\"\\x03\"|location:u16|item:u16"),
            ],
            Self::Denormalised => &[(0, "|\"\\x01\""), (0, "|\"\\x03\"|item:u16")],
            Self::Blob(_) => &[(0, "")],
        };
        let tables = self.tables();
        tails.iter().map(|(table, tail)| format!("{}: {row}{tail}", tables[*table])).collect()
    }

    /// Where rows of line items begin after the order's row, and whether the location is part of
    /// them.
    pub(super) fn item_row(self, order: &[u8], location: Option<i64>, item: i64) -> Vec<u8> {
        let mut row = self.items_prefix(order, location);
        row.extend_from_slice(&number_bytes(item));
        row
    }

    /// The beginning of the rows of an order's line items: those of one location, where rows are
    /// ordered by it.
    pub(super) fn items_prefix(self, order: &[u8], location: Option<i64>) -> Vec<u8> {
        let mut row = order.to_vec();
        if matches!(self, Self::RecordTypes | Self::Denormalised) {
            row.push(LINE);
        }
        if let Some(location) = location.filter(|_| self != Self::Denormalised) {
            row.extend_from_slice(&number_bytes(location));
        }
        row
    }

    /// The puts of an order; a blob is written by this version of the program.
    pub(super) fn writes(self, order: &Order, version: u8) -> Result<Vec<Write>> {
        let row = order_row(&order.customer, &order.number)?;
        if let Self::Blob(format) = self {
            let blob = format.encode(order, version);
            let blob = blob.map_err(|message| Error::row(&row, message))?;
            return Ok(vec![Write::new(Put::new(&row).add(FAMILY, BLOB, blob))]);
        }
        let head_row = if self == Self::Normalised { row.clone() } else { with(&row, &[ORDER]) };
        let mut head = Put::new(head_row).add(FAMILY, "date", order.date.to_string());
        if let Some(note) = &order.gift_note {
            head = head.add(FAMILY, "giftNote", note);
        }
        let mut writes = vec![Write::new(head)];
        for location in &order.locations {
            writes.extend(self.location_write(&row, location));
            for item in &location.items {
                writes.push(self.item_write(&row, location, item));
            }
        }
        Ok(writes)
    }

    /// The put of a location, where locations have rows.
    pub(super) fn location_write(self, order: &[u8], location: &ShippingLocation) -> Option<Write> {
        let number = number_bytes(location.number);
        let (table, row) = match self {
            Self::Normalised => (1, with(order, &number)),
            Self::RecordTypes => (0, with(&with(order, &[SHIPPING]), &number)),
            Self::Denormalised | Self::Blob(_) => return None,
        };
        Some(Write { table, put: add_address(Put::new(row), "", location) })
    }

    /// The put of a line item; if flattened, with its address.
    pub(super) fn item_write(
        self,
        order: &[u8],
        location: &ShippingLocation,
        item: &LineItem,
    ) -> Write {
        let row = self.item_row(order, Some(location.number), item.number);
        let put = Put::new(row)
            .add(FAMILY, "itemNumber", &item.item_number)
            .add(FAMILY, "quantity", item.quantity.to_string())
            .add(FAMILY, "price", item.price.to_string());
        let table = if self == Self::Normalised { 2 } else { 0 };
        let put = match self {
            Self::Denormalised => add_address(put, "shipTo", location).add(
                FAMILY,
                "shipLocation",
                location.number.to_string(),
            ),
            _ => put,
        };
        Write { table, put }
    }
}

fn with(front: &[u8], tail: &[u8]) -> Vec<u8> {
    [front, tail].concat()
}

const ADDRESS: [&str; 5] = ["Line1", "Line2", "City", "State", "Zip"];

fn add_address(put: Put, prefix: &str, location: &ShippingLocation) -> Put {
    let ShippingLocation { line1, line2, city, state, zip, .. } = location;
    let values = [line1, line2, city, state, zip];
    ADDRESS
        .iter()
        .zip(values)
        .fold(put, |put, (name, value)| put.add(FAMILY, format!("{prefix}{name}"), value))
}

/// Orders assembled from rows of any layout and table, in any order.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    orders: BTreeMap<Vec<u8>, Order>,
}

impl Assembly {
    /// Adds the contents of a row.
    pub(super) fn add(&mut self, layout: Layout, table: usize, row: &RowResult) -> Result<()> {
        let key = row.row();
        let wrong = |what: &str| Error::row(key, what.to_owned());
        let (order_row, tail) = key
            .split_at_checked(ORDER_ROW_WIDTH)
            .ok_or_else(|| wrong("is shorter than the row of an order"))?;
        if let Layout::Blob(format) = layout {
            let blob =
                row.value(FAMILY, BLOB).ok_or_else(|| wrong("lacks the column \"order\""))?;
            let order = format.decode(blob).map_err(|message| wrong(&message))?;
            self.orders.insert(order_row.to_vec(), order);
            return Ok(());
        }
        let column = Columns(row);
        let order = self.order(order_row);
        match (layout, table, tail) {
            (Layout::Normalised, 0, []) | (_, _, [ORDER]) => {
                order.date = column.number("date")?;
                let note = row.value(FAMILY, "giftNote");
                order.gift_note = note.map(|note| String::from_utf8_lossy(note).into_owned());
            }
            (Layout::Normalised, 1, [a, b]) | (Layout::RecordTypes, _, [SHIPPING, a, b]) => {
                let location = location(order, i64::from(u16::from_be_bytes([*a, *b])));
                column.address("", location)?;
            }
            (Layout::Normalised, 2, [a, b, c, d])
            | (Layout::RecordTypes, _, [LINE, a, b, c, d]) => {
                let location = location(order, i64::from(u16::from_be_bytes([*a, *b])));
                location.items.push(column.item(u16::from_be_bytes([*c, *d]))?);
            }
            (Layout::Denormalised, _, [LINE, a, b]) => {
                let location = location(order, column.number("shipLocation")?);
                column.address("shipTo", location)?;
                location.items.push(column.item(u16::from_be_bytes([*a, *b]))?);
            }
            _ => return Err(wrong("has an unknown record type")),
        }
        Ok(())
    }

    fn order(&mut self, row: &[u8]) -> &mut Order {
        self.orders.entry(row.to_vec()).or_insert_with(|| {
            let text =
                |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
            Order {
                customer: text(&row[..8]),
                number: text(&row[8..]),
                date: 0,
                gift_note: None,
                locations: Vec::new(),
            }
        })
    }

    /// The numbers of the locations of an order that are known so far.
    pub(super) fn locations_of(&self, row: &[u8]) -> Vec<i64> {
        let order = self.orders.get(row);
        order.map_or_else(Vec::new, |order| order.locations.iter().map(|at| at.number).collect())
    }

    /// The orders, in order of their rows.
    pub(super) fn into_orders(self) -> impl Iterator<Item = Order> {
        self.orders.into_values().map(|mut order| {
            order.locations.sort_by_key(|location| location.number);
            order
        })
    }
}

/// The location of this number, new or known.
fn location(order: &mut Order, number: i64) -> &mut ShippingLocation {
    let at = order.locations.iter().position(|location| location.number == number);
    let at = at.unwrap_or_else(|| {
        order.locations.push(ShippingLocation { number, ..ShippingLocation::default() });
        order.locations.len() - 1
    });
    &mut order.locations[at]
}

/// The columns of a row.
struct Columns<'r>(&'r RowResult);

impl Columns<'_> {
    fn text(&self, name: &str) -> Result<String> {
        let value = self.0.value(FAMILY, name).and_then(|value| std::str::from_utf8(value).ok());
        value.map(str::to_owned).ok_or_else(|| {
            Error::row(self.0.row(), format!("the column {name} is missing or not text"))
        })
    }

    fn number(&self, name: &str) -> Result<i64> {
        self.text(name)?
            .parse()
            .map_err(|_| Error::row(self.0.row(), format!("the column {name} is not a number")))
    }

    fn address(&self, prefix: &str, location: &mut ShippingLocation) -> Result<()> {
        let of = |name: &str| self.text(&format!("{prefix}{name}"));
        location.line1 = of("Line1")?;
        location.line2 = of("Line2")?;
        location.city = of("City")?;
        location.state = of("State")?;
        location.zip = of("Zip")?;
        Ok(())
    }

    fn item(&self, number: u16) -> Result<LineItem> {
        Ok(LineItem {
            number: i64::from(number),
            item_number: self.text("itemNumber")?,
            quantity: self.number("quantity")?,
            price: self.number("price")?,
        })
    }
}
