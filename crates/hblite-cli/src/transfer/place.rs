//! The place of tables: the directory of a store, or the address of a cluster. All subcommands that
//! take either open it here.

use std::path::Path;

use hblite::{Connection, TableName};
use hblite_transfer::TransferError;

use crate::cluster;
use crate::notices::Notices;
use crate::store_files;

/// How to treat a missing directory of a store, and what is done with an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A store is created there.
    Create,
    /// It is an error.
    Refuse,
    /// It is an error, and the store is only read: another process may have it open.
    Read,
}

/// Whether a place is the address of a cluster.
pub(crate) fn is_cluster(place: &str) -> bool {
    place.contains("://")
}

/// Opens a directory or connects to a cluster.
pub(crate) fn open(place: &str, missing: Missing) -> Result<Connection, TransferError> {
    let connection = if is_cluster(place) {
        cluster::connect(place)
    } else {
        let options = store_files::options().with_create_if_missing(missing == Missing::Create);
        let options = options.with_read_only(missing == Missing::Read);
        options.open(Path::new(place))
    }
    .map_err(|error| at(place, error))?;
    Notices::Text.open(&connection);
    Ok(connection)
}

/// Connects to a cluster.
pub(crate) fn connect(url: &str) -> Result<Connection, String> {
    cluster::connect(url).map_err(|error| at(url, error).to_string())
}

/// Adds the place to an error, unless the error names it.
fn at(place: &str, error: hblite::Error) -> TransferError {
    if error.message().contains(place) {
        return error.into();
    }
    TransferError::Invalid(format!("{place}: {}", error.message()))
}

/// The tables with these names, or all except system tables.
pub(crate) fn tables(
    place: &str,
    connection: &Connection,
    names: &[String],
) -> Result<Vec<TableName>, TransferError> {
    let admin = connection.admin();
    if names.is_empty() {
        let tables = admin.list_tables(hblite::SystemTables::Exclude)?;
        return Ok(tables.iter().map(|table| table.name().clone()).collect());
    }
    let mut tables = Vec::new();
    for name in names {
        let name: TableName = name.parse().map_err(TransferError::Store)?;
        if !admin.table_exists(&name)? {
            let message = format!("{place}: Table '{name}' does not exist.");
            return Err(TransferError::Invalid(message));
        }
        tables.push(name);
    }
    Ok(tables)
}
