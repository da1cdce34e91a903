//! Operations, results and descriptors as messages, in both directions.
//!
//! A server reads requests (`read`, `mutation`, `filter`, `comparator`) and writes answers
//! (`result`). A client writes requests (`read_message`, `mutation_message`, `filter_message`,
//! `multi`) and reads answers (`response`). `tests/messages.rs` tests both directions.
//!
//! - `names`: tables, regions, servers
//! - `read`: gets and scans; `mutation`: writes and conditions
//! - `filter`, `comparator`: by class name and serialized form
//! - `result`: what a read returns
//! - `row_counts`: which rows are requested; not of HBase
//! - `schema`: descriptors of tables, families and namespaces
//!
//! Invalid messages are `DoNotRetryIo` errors, with HBase's text if it has one.

mod comparator;
mod filter;
mod filter_message;
mod multi;
mod mutation;
mod mutation_message;
mod names;
mod read;
mod read_message;
mod response;
mod result;
mod row_counts;
mod schema;

pub use filter::filter;
pub use filter_message::filter_message;
pub use multi::{MultiRequest, PartKind, RequestPart};
pub use mutation::{condition, condition_time_range, kind_and_durability, mutation};
pub use mutation_message::{condition_message, mutation_message, region_specifier};
pub use names::{region_info, region_info_from, table_name, table_name_from};
pub use read::{ScanSettings, get, scan};
pub use read_message::{get_message, scan_message};
pub use response::{error_from, error_of_class, result_from, rows_from};
pub use result::{ResultWriter, cell};
pub use row_counts::{ROW_COUNTS_METHOD, ROW_COUNTS_SERVICE, row_counts, row_counts_message};
pub use schema::{family, family_from, namespace, namespace_from, table_schema, table_schema_from};

use hblite_model::{Error, Result, TimeRange};

use crate::pb;

/// The time range in a message; missing bounds are open.
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

/// The range of timestamps as a message.
fn time_range_message(range: TimeRange) -> pb::TimeRange {
    pb::TimeRange { from: Some(range.min() as u64), to: Some(range.max() as u64) }
}

/// The value of an attribute.
fn attribute<'a>(attributes: &'a [pb::NameBytesPair], name: &str) -> Option<&'a [u8]> {
    let found = attributes.iter().find(|attribute| attribute.name == name)?;
    Some(found.value.as_deref().unwrap_or_default())
}

/// A nonnegative number that is an `int` in Java.
fn natural(number: Option<u32>) -> Option<u32> {
    number.filter(|number| i32::try_from(*number).is_ok())
}

fn no_such(what: &str, number: i32) -> Error {
    Error::do_not_retry(format!("{number} is no {what}"))
}
