//! A program that keeps orders in a table: what the tests are for.

use hblite::{Connection, Get, Put, Result, Table};

/// The orders.
pub struct Orders {
    table: Table,
}

impl Orders {
    /// The orders in the table `orders`.
    pub fn open(connection: &Connection) -> Result<Self> {
        Ok(Self { table: connection.table("orders")? })
    }

    /// Stores an order.
    pub fn place(&self, id: &str, item: &str) -> Result<()> {
        self.table.put(&Put::new(id).add("o", "item", item))
    }

    /// What was ordered.
    pub fn item(&self, id: &str) -> Result<Option<String>> {
        let order = self.table.get(&Get::new(id))?;
        Ok(order.text("o", "item")?.map(Into::into))
    }
}
