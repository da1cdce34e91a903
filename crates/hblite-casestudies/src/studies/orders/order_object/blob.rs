//! An order as bytes: JSON or Avro, in two versions of the program.
//!
//! The second version of the program added a gift note. What the first one wrote must remain
//! readable. JSON has the names of its fields in every value, and a missing field stays empty. Avro
//! has none: the value begins with the version of the schema that wrote it.
//!
//! ```text
//! JSON   {"customer":…,"number":…,"date":…,"gift_note":…,"locations":[…]}
//! Avro   [schema version 1][order]
//! ```

use super::avro::{read_order, write_order};
use super::object::Order;

/// How orders are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Json,
    /// Avro's binary encoding.
    Avro,
}

/// The version that is written now.
const PRESENT: u8 = 2;

/// Whether a version of the program has gift notes.
fn has_note(version: u8) -> Result<bool, String> {
    match version {
        1 => Ok(false),
        PRESENT => Ok(true),
        _ => Err(format!("schema version {version} is unknown; known versions are 1 and 2")),
    }
}

impl Format {
    /// An order as a version of the program writes it: the first one omits the gift note.
    ///
    /// # Errors
    /// An unknown version.
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
                let mut bytes = vec![version];
                write_order(&mut bytes, order, has_note(version)?);
                Ok(bytes)
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
                let (version, datum) = bytes.split_first().ok_or("no bytes")?;
                read_order(datum, has_note(*version)?)
            }
        }
    }
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
        let unknown = "schema version 9 is unknown; known versions are 1 and 2";
        assert_eq!(Format::Avro.decode(&[9, 0]), Err(unknown.to_owned()));
    }
}
