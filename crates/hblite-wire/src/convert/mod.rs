//! Messages to operations, results to messages.
//!
//! - `names`: tables, regions, servers
//! - `read`: gets and scans; `mutation`: writes and conditions
//! - `filter`, `comparator`: by class name and serialized form
//! - `result`: what a read gives
//! - `schema`: descriptors of tables, families and namespaces
//!
//! What makes no sense is an error in HBase's words where it has some, and `DoNotRetryIo`.

mod comparator;
mod filter;
mod mutation;
mod names;
mod read;
mod result;
mod schema;

pub use filter::filter;
pub use mutation::{condition, condition_time_range, kind_and_durability, mutation};
pub use names::{region_info, region_info_from, table_name, table_name_from};
pub use read::{ScanSettings, get, scan};
pub use result::{ResultWriter, cell};
pub use schema::{family, family_from, namespace, namespace_from, table_schema, table_schema_from};

use hblite_model::{Error, Result, TimeRange};

use crate::pb;

/// The range of timestamps that a message says; open ends where it says nothing.
///
/// # Errors
/// `IllegalArgument` as from [`TimeRange::new`].
pub fn time_range(range: Option<&pb::TimeRange>) -> Result<TimeRange> {
    let Some(range) = range else {
        return Ok(TimeRange::ALL);
    };
    TimeRange::new(
        range.from.map_or(0, |from| from as i64),
        range.to.map_or(i64::MAX, |to| to as i64),
    )
}

/// The value of an attribute.
fn attribute<'a>(attributes: &'a [pb::NameBytesPair], name: &str) -> Option<&'a [u8]> {
    let found = attributes.iter().find(|attribute| attribute.name == name)?;
    Some(found.value.as_deref().unwrap_or_default())
}

/// A number that Java has as an `int`, unless it is negative there.
fn natural(number: Option<u32>) -> Option<u32> {
    number.filter(|number| i32::try_from(*number).is_ok())
}

fn no_such(what: &str, number: i32) -> Error {
    Error::do_not_retry(format!("{number} is no {what}"))
}
