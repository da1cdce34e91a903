//! Where a run's tables are: in a store of the run's own, or on a cluster.
//!
//! In a store of its own, a run replaces the tables of an earlier run, and keeps its tables at the
//! end. A cluster has other tables, too: a run refuses names that are in use, and drops its tables
//! at the end, also after an error.

use hblite::{Connection, Options, TableDescriptor, TableName};
use hblite_casestudies::TemporaryTables;

use super::error::RunError;
use super::options::{RunOptions, Splits};
use super::target::Target;
use crate::result::file_name;

/// Where tables are.
pub(super) struct Place {
    connection: Connection,
    is_cluster: bool,
}

impl Place {
    /// The store of a design; each has its own.
    pub(super) fn own(target: &dyn Target, options: &RunOptions) -> Result<Self, RunError> {
        let store = Options::new();
        let store = if options.splits == Splits::Growing {
            let split_bytes = super::split_bytes(options);
            store
                .with_region_size_max_bytes(split_bytes)
                .with_region_split_first_size_bytes(split_bytes)
                .with_memstore_flush_size_bytes((split_bytes / 2).clamp(64 << 10, 32 << 20))
        } else {
            store.with_split_enabled(false)
        };
        let connection = match &options.dir {
            Some(dir) => store.open(dir.join(file_name(target.name())))?,
            None => store.open_in_memory()?,
        };
        Ok(Self { connection, is_cluster: false })
    }

    pub(super) fn cluster(connection: &Connection) -> Self {
        Self { connection: connection.clone(), is_cluster: true }
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether servers count cells and bytes: only those of a store do.
    pub(super) fn counts_cells(&self) -> bool {
        !self.is_cluster
    }
}

/// The tables of a run, while it runs.
pub(super) struct Tables {
    names: Vec<TableName>,
    temporary: Option<TemporaryTables>,
}

impl Tables {
    /// Creates them, empty. `splits` are those of the first one.
    pub(super) fn create(
        place: &Place,
        tables: &[TableDescriptor],
        splits: &[Vec<u8>],
    ) -> Result<Self, RunError> {
        let admin = place.connection.admin();
        let mut temporary = match place.is_cluster {
            true => Some(TemporaryTables::claim(&place.connection, tables)?),
            false => None,
        };
        let mut names = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            if temporary.is_none() && admin.table_exists(table.name())? {
                delete_table(&place.connection, table.name())?;
            }
            admin.create_table_with_splits(table, if index == 0 { splits } else { &[] })?;
            if let Some(temporary) = &mut temporary {
                temporary.add(table.name().clone());
            }
            names.push(table.name().clone());
        }
        Ok(Self { names, temporary })
    }

    /// The one whose regions are counted.
    pub(super) fn first(&self, design: &str) -> Result<&TableName, RunError> {
        let first = self.names.first();
        first.ok_or_else(|| RunError::Design(format!("{design} has no tables")))
    }

    /// Drops them if they are on a cluster.
    pub(super) fn remove(self) -> Result<(), RunError> {
        match self.temporary {
            Some(temporary) => Ok(temporary.remove()?),
            None => Ok(()),
        }
    }
}

fn delete_table(connection: &Connection, table: &TableName) -> Result<(), RunError> {
    let admin = connection.admin();
    if !admin.is_table_disabled(table)? {
        admin.disable_table(table)?;
    }
    Ok(admin.delete_table(table)?)
}
