//! The exceptions that a call can be answered with, by their short names.

use hblite_model::{Error, Exception, Result};
use hblite_wire::exception::class;

const REGION_TOO_BUSY: &str = Exception::RegionTooBusy.class_name();
const REGION_SERVER_STOPPED: &str = Exception::RegionServerStopped.class_name();
const TABLE_NOT_ENABLED: &str = Exception::TableNotEnabled.class_name();
const PLEASE_HOLD: &str = "org.apache.hadoop.hbase.PleaseHoldException";

/// Exceptions that need only a text. Those that HBase derives from `DoNotRetryIOException` tell the
/// client not to retry.
const CLASSES: &[&str] = &[
    class::IO,
    class::DO_NOT_RETRY_IO,
    class::CALL_QUEUE_TOO_BIG,
    class::CALL_DROPPED,
    class::NOT_SERVING_REGION,
    class::REGION_OPENING,
    REGION_TOO_BUSY,
    REGION_SERVER_STOPPED,
    class::UNKNOWN_SCANNER,
    class::UNKNOWN_REGION,
    class::REQUEST_TOO_BIG,
    class::SCANNER_RESET,
    class::OUT_OF_ORDER_SCANNER_NEXT,
    class::LEASE,
    class::TIMEOUT_IO,
    class::MULTI_ACTION_RESULT_TOO_LARGE,
    class::SERVER_NOT_RUNNING_YET,
    PLEASE_HOLD,
    class::UNKNOWN_PROTOCOL,
    class::TABLE_NOT_FOUND,
    TABLE_NOT_ENABLED,
];

/// Exceptions about a region: in a `Multi`, each region gets its own.
const OF_REGIONS: &[&str] =
    &[class::NOT_SERVING_REGION, class::REGION_OPENING, REGION_TOO_BUSY, class::UNKNOWN_REGION];

fn short_name(class_name: &'static str) -> &'static str {
    class_name.rsplit('.').next().unwrap_or(class_name)
}

pub(super) fn short_names() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|class_name| short_name(class_name))
}

/// The class with this short or full name, the short one also without `Exception`.
///
/// # Errors
/// `IllegalArgument` that lists the known ones.
pub(super) fn of_name(name: &str) -> Result<&'static str> {
    let is_it = |class_name: &&'static str| {
        let short = short_name(class_name);
        name == *class_name || name == short || short.strip_suffix("Exception") == Some(name)
    };
    CLASSES.iter().copied().find(is_it).ok_or_else(|| {
        let names: Vec<&str> = short_names().collect();
        let known = names.join(", ");
        let message = format!("no fault returns {name:?}; the known exceptions are {known}");
        Error::illegal_argument(message)
    })
}

pub(super) fn is_of_regions(class_name: &str) -> bool {
    OF_REGIONS.contains(&class_name)
}
