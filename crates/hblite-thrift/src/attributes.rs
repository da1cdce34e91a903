//! The attributes of an operation, which clients may send. Of HBase's own, only the time to live of
//! a mutation's cells has an effect on a store.

use crate::protocol::wire::Map;

/// Names and values.
pub(crate) type Attributes = Map<Vec<u8>, Vec<u8>>;

/// The name of the attribute in HBase's `Mutation`; its value is a number of eight bytes.
const TIME_TO_LIVE: &[u8] = b"_ttl";

/// The time to live of a mutation's cells, in milliseconds, if the attributes set one.
pub(crate) fn time_to_live_ms(attributes: &Attributes) -> Option<i64> {
    let (_, value) = attributes.0.iter().find(|(name, _)| name == TIME_TO_LIVE)?;
    value.as_slice().try_into().ok().map(i64::from_be_bytes)
}
