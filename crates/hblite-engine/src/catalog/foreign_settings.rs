//! Tables of Apache HBase whose files hblite cannot find or read because of their settings: with
//! another store file tracker, or encryption.
//!
//! Threads: any; only reads.

use hblite_model::{ColumnFamilyDescriptor, Error, Exception, Result, TableDescriptor, TableName};

use super::file_tracker::TRACKER;

/// What to do if only HBase can read something.
const USE_EXPORT: &str = "copy the table out of HBase with a client, or load its \
                                     HFiles with `hblite load-hfiles`";

/// Refuses a table whose files hblite cannot find or read.
///
/// # Errors
/// `UnsupportedOperation` that names the table and the setting.
pub(super) fn check(table: &TableDescriptor) -> Result<()> {
    let name = table.name();
    let tracker = |value: Option<&String>| {
        value.filter(|value| !value.eq_ignore_ascii_case("DEFAULT")).cloned()
    };
    if let Some(other) = tracker(table.attributes().get(TRACKER)) {
        return unreadable(name, &format!("its store file tracker is {other}"));
    }
    for family in table.families() {
        check_family(name, family)?;
        if let Some(other) = tracker(family.configuration().get(TRACKER)) {
            return unreadable(name, &format!("the store file tracker of a family is {other}"));
        }
    }
    Ok(())
}

fn check_family(table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
    let text = hblite_model::bytes::to_string_binary(family.name());
    let attributes = family.attributes();
    match attributes.get("ENCRYPTION") {
        Some(cipher) => unreadable(table, &format!("its family {text} is encrypted ({cipher})")),
        None => Ok(()),
    }
}

fn unreadable(table: &TableName, what: &str) -> Result<()> {
    let message = format!(
        "hblite cannot read table {table} of Apache HBase: {what}. Nothing was changed. Drop the \
         table in HBase first; to keep its cells, {USE_EXPORT}"
    );
    Err(Error::new(Exception::UnsupportedOperation, message))
}
