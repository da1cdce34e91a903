//! What the API accepts as the name of a table.

use hblite_model::{Result, TableName};

/// A name of a table: parsed, or as text.
pub trait IntoTableName {
    /// The name.
    ///
    /// # Errors
    /// `IllegalArgument` if this cannot be the name of a table.
    fn into_table_name(self) -> Result<TableName>;
}

impl IntoTableName for TableName {
    fn into_table_name(self) -> Result<TableName> {
        Ok(self)
    }
}

impl IntoTableName for &TableName {
    fn into_table_name(self) -> Result<TableName> {
        Ok(self.clone())
    }
}

impl IntoTableName for &str {
    fn into_table_name(self) -> Result<TableName> {
        self.parse()
    }
}

impl IntoTableName for String {
    fn into_table_name(self) -> Result<TableName> {
        self.as_str().into_table_name()
    }
}

impl IntoTableName for &String {
    fn into_table_name(self) -> Result<TableName> {
        self.as_str().into_table_name()
    }
}
