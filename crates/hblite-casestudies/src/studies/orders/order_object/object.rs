//! An order with its shipping locations and line items, as the application sees it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::names::{CITIES, EPOCH_MS, STREETS};
use crate::study::RecordId;

/// An order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The customer number.
    pub customer: String,
    /// The order number.
    pub number: String,
    /// When it was sold, in milliseconds since 1970.
    pub date: i64,
    /// What to write on the card. Orders of the first version of the program have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gift_note: Option<String>,
    /// The shipping locations.
    pub locations: Vec<ShippingLocation>,
}

/// The destination of a part of an order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippingLocation {
    /// 1st location, 2nd, and so on.
    pub number: i64,
    /// The street.
    pub line1: String,
    /// The floor.
    pub line2: String,
    /// The city.
    pub city: String,
    /// The state.
    pub state: String,
    /// The zip code.
    pub zip: String,
    /// The items shipped there.
    pub items: Vec<LineItem>,
}

/// What was ordered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineItem {
    /// 1st line item, 2nd, and so on, through the whole order.
    pub number: i64,
    /// The number of the item.
    pub item_number: String,
    /// How many.
    pub quantity: i64,
    /// The price of one in cents.
    pub price: i64,
}

impl Order {
    /// The order of an id: one to three locations with one to four items each.
    pub fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let mut item = 0;
        let mut locations = Vec::new();
        for number in 1..=1 + random.below(3) {
            let (city, state, zip) = CITIES[random.below(CITIES.len() as u64) as usize];
            let items = (0..1 + random.below(4)).map(|_| {
                item += 1;
                LineItem {
                    number: item,
                    item_number: format!("item{:05}", random.below(100_000)),
                    quantity: 1 + random.below(9) as i64,
                    price: 99 + random.below(100_000) as i64,
                }
            });
            let items = items.collect();
            locations.push(ShippingLocation {
                number: number as i64,
                line1: format!("{} {}", 1 + random.below(999), random.one_of(STREETS)),
                line2: format!("floor {}", random.below(20)),
                city: city.to_owned(),
                state: state.to_owned(),
                zip: zip.to_owned(),
                items,
            });
        }
        // Two in three were written by the second version of the program.
        let gift_note =
            (!is_first_version(id)).then(|| format!("For you, {:04}", id.index % 10_000));
        Self {
            customer: format!("C{:07}", id.entity),
            number: format!("O{:09}", id.index),
            date: (EPOCH_MS + id.index * 60_000) as i64,
            gift_note,
            locations,
        }
    }

    /// The order in lines: itself, and each line item with its destination.
    pub fn lines(&self) -> Vec<String> {
        let note = self.gift_note.as_deref().unwrap_or("no note");
        let mut lines = vec![format!("{} {} {} {note}", self.customer, self.number, self.date)];
        for location in &self.locations {
            let items = location.items.iter();
            lines.extend(items.map(|item| format!("{} {item} to {location}", self.number)));
        }
        lines
    }
}

/// Whether an order was written before orders had gift notes.
pub(super) fn is_first_version(id: &RecordId) -> bool {
    id.index.is_multiple_of(3)
}

impl fmt::Display for ShippingLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, line1, line2, city, state, zip, .. } = self;
        write!(f, "{number}: {line1}, {line2}, {city} {state} {zip}")
    }
}

impl fmt::Display for LineItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, item_number, quantity, price } = self;
        write!(f, "line {number}: {quantity} × {item_number} at {}.{:02}", price / 100, price % 100)
    }
}
