//! Tables that exist on a cluster for one run only.
//!
//! A cluster has other tables, too. A run therefore refuses names that are in use, and drops only
//! the tables that it created, also after an error.

use hblite::{Connection, TableDescriptor, TableName};

use crate::error::{Error, Result};

/// The tables that a run has created. Dropping this drops them.
#[derive(Debug)]
pub struct TemporaryTables {
    connection: Connection,
    names: Vec<TableName>,
}

impl TemporaryTables {
    /// No tables yet, after a check that none of these exists.
    ///
    /// # Errors
    /// [`Error::Taken`] if one exists, and those of the cluster.
    pub fn claim(connection: &Connection, tables: &[TableDescriptor]) -> Result<Self> {
        for table in tables {
            if connection.admin().table_exists(table.name())? {
                return Err(Error::Taken(table.name().clone()));
            }
        }
        Ok(Self { connection: connection.clone(), names: Vec::new() })
    }

    /// Takes over a table that was just created.
    pub fn add(&mut self, table: TableName) {
        self.names.push(table);
    }

    /// Drops the tables.
    ///
    /// # Errors
    /// Those of the cluster.
    pub fn remove(mut self) -> Result<()> {
        self.drop_all()
    }

    fn drop_all(&mut self) -> Result<()> {
        let admin = self.connection.admin();
        for name in std::mem::take(&mut self.names) {
            if !admin.is_table_disabled(&name)? {
                admin.disable_table(&name)?;
            }
            admin.delete_table(&name)?;
        }
        Ok(())
    }
}

impl Drop for TemporaryTables {
    fn drop(&mut self) {
        // This happens only after another error, which is the one to report.
        let _ = self.drop_all();
    }
}
