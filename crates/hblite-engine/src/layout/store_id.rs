//! The id of a store: a UUID, generated when the store is created and kept for its lifetime.
//!
//! HBase calls it the cluster id and writes it as text; fixed-size headers hold its 16 bytes.

use std::fmt;
use std::str::FromStr;

use hblite_env::Random;
use hblite_model::{Error, Result};

/// The id of a store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct StoreId([u8; Self::SIZE]);

impl StoreId {
    /// Bytes of an id in a file.
    pub const SIZE: usize = 16;
    /// Bytes of an id as text.
    pub(crate) const TEXT_SIZE: usize = 36;
    /// The id that no store has.
    pub const NIL: Self = Self([0; Self::SIZE]);

    /// The id with these bytes.
    pub const fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id in a file.
    pub const fn as_bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }

    /// A random id: a UUID of version 4, which is what HBase gives a cluster.
    pub fn random(random: &dyn Random) -> Self {
        let high = random.next_u64() & !0xf000 | 0x4000;
        let low = random.next_u64() >> 2 | 1 << 63;
        Self((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
    }
}

/// As UUIDs are written: 36 characters, lower case.
impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreId({self})")
    }
}

impl FromStr for StoreId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = || Error::illegal_argument(format!("not a UUID: {text:?}"));
        let digits: String = text.split('-').collect();
        let bits = u128::from_str_radix(&digits, 16).map_err(|_| refused())?;
        let id = Self(bits.to_be_bytes());
        // An id has only one spelling: characters left out or added above are detected here.
        if id.to_string() == text.to_ascii_lowercase() { Ok(id) } else { Err(refused()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite_env::SeededRandom;

    #[test]
    fn an_id_is_a_uuid_of_version_4_and_comes_back_from_its_text() {
        let random = SeededRandom::new(7);
        for _ in 0..100 {
            let id = StoreId::random(&random);
            let text = id.to_string();
            assert_eq!((text.len(), &text[14..15]), (36, "4"), "{text}");
            assert!("89ab".contains(&text[19..20]), "{text}");
            assert_eq!(text.parse::<StoreId>().unwrap(), id);
            assert_eq!(text.to_uppercase().parse::<StoreId>().unwrap(), id);
            assert_eq!(StoreId::from_bytes(*id.as_bytes()), id);
        }
    }

    #[test]
    fn what_is_not_a_uuid_is_refused() {
        let text = "ca9fced8-4350-477d-9b81-eaf32ebf7024";
        assert_eq!(text.parse::<StoreId>().unwrap().to_string(), text);
        for wrong in ["", "-", "+", &text[1..], &text.replace('-', ""), &format!("{text}0"), "ü"] {
            assert!(wrong.parse::<StoreId>().is_err(), "{wrong}");
        }
    }
}
