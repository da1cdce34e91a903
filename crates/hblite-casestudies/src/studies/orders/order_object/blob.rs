//! An order as bytes: JSON or Avro, in two versions of the program.
//!
//! The second version of the program added a gift note. What the first one wrote must remain
//! readable. JSON has the names of its fields in every value, and a missing field stays empty. Avro
//! has none: the value begins with the version of the schema that wrote it, and the library
//! resolves that schema against the present one, which has a default for the new field.
//!
//! ```text
//! JSON   {"customer":…,"number":…,"date":…,"gift_note":…,"locations":[…]}
//! Avro   [schema version 1][datum]
//! ```

use std::sync::OnceLock;

use apache_avro::{Schema, from_avro_datum, from_value, to_avro_datum, to_value};

use super::object::Order;

/// How orders are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Json,
    /// Avro's binary encoding.
    Avro,
}

/// The parts of the schema that did not change.
const LOCATIONS: &str = r#"{
    "name": "locations",
    "type": {"type": "array", "items": {
        "type": "record", "name": "ShippingLocation", "fields": [
            {"name": "number", "type": "long"},
            {"name": "line1", "type": "string"},
            {"name": "line2", "type": "string"},
            {"name": "city", "type": "string"},
            {"name": "state", "type": "string"},
            {"name": "zip", "type": "string"},
            {"name": "items", "type": {"type": "array", "items": {
                "type": "record", "name": "LineItem", "fields": [
                    {"name": "number", "type": "long"},
                    {"name": "item_number", "type": "string"},
                    {"name": "quantity", "type": "long"},
                    {"name": "price", "type": "long"}
                ]
            }}}
        ]
    }}
}"#;

const GIFT_NOTE: &str = r#"{"name": "gift_note", "type": ["null", "string"], "default": null},"#;

/// The schema of a version of the program, 1 or 2.
fn schema(version: u8) -> Option<&'static Schema> {
    static SCHEMAS: OnceLock<[Schema; 2]> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| {
        ["", GIFT_NOTE].map(|new_fields| {
            let text = format!(
                r#"{{"type": "record", "name": "Order", "fields": [
                    {{"name": "customer", "type": "string"}},
                    {{"name": "number", "type": "string"}},
                    {{"name": "date", "type": "long"}},
                    {new_fields} {LOCATIONS}
                ]}}"#
            );
            Schema::parse_str(&text).expect("the schemas are constant and tested")
        })
    });
    schemas.get(usize::from(version).checked_sub(1)?)
}

/// The version that is written now.
const PRESENT: u8 = 2;

impl Format {
    /// An order as a version of the program writes it: the first one omits the gift note.
    ///
    /// # Errors
    /// Those of the library; none for orders that this crate generates.
    pub fn encode(self, order: &Order, version: u8) -> Result<Vec<u8>, String> {
        match self {
            Self::Json if version == PRESENT => {
                serde_json::to_vec(order).map_err(|error| error.to_string())
            }
            Self::Json => {
                let order = Order { gift_note: None, ..order.clone() };
                serde_json::to_vec(&order).map_err(|error| error.to_string())
            }
            Self::Avro => {
                let schema = schema(version).ok_or_else(|| unknown(version))?;
                let encode = || {
                    let value = to_value(order)?.resolve(schema)?;
                    to_avro_datum(schema, value)
                };
                let datum = encode().map_err(|error| error.to_string())?;
                Ok([&[version][..], &datum].concat())
            }
        }
    }

    /// The order that either version of the program wrote.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(self, bytes: &[u8]) -> Result<Order, String> {
        match self {
            Self::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
            Self::Avro => {
                let (version, mut datum) = bytes.split_first().ok_or("no bytes")?;
                let writer = schema(*version).ok_or_else(|| unknown(*version))?;
                let present = schema(PRESENT).ok_or_else(|| unknown(PRESENT))?;
                let mut decode = || {
                    let value = from_avro_datum(writer, &mut datum, Some(present))?;
                    from_value(&value)
                };
                decode().map_err(|error| error.to_string())
            }
        }
    }
}

fn unknown(version: u8) -> String {
    format!("schema version {version} is unknown; known versions are 1 and 2")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::RecordId;

    #[test]
    fn both_versions_are_read() {
        for index in 0..30 {
            let order = Order::generate(&RecordId { seed: 5, index, entity: 1 });
            let old = Order { gift_note: None, ..order.clone() };
            for format in [Format::Json, Format::Avro] {
                let by_second = format.encode(&order, 2).expect("an order");
                assert_eq!(format.decode(&by_second), Ok(order.clone()));
                let by_first = format.encode(&order, 1).expect("an order");
                assert!(!String::from_utf8_lossy(&by_first).contains("For you"));
                assert_eq!(format.decode(&by_first), Ok(old.clone()));
            }
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let order = Order::generate(&RecordId { seed: 5, index: 4, entity: 1 });
        for format in [Format::Json, Format::Avro] {
            let bytes = format.encode(&order, 2).expect("an order");
            for length in 0..bytes.len() {
                assert!(format.decode(&bytes[..length]).is_err(), "{format:?} {length}");
            }
        }
        assert_eq!(Format::Avro.decode(&[9, 0]), Err(unknown(9)));
    }
}
