//! The handles of an engine's tables.
//!
//! Threads: any.

use std::sync::Arc;

use hblite_model::TableName;

use super::Engine;
use crate::catalog::Catalog;
use crate::table::{OpenStore, TableHandle};

impl Engine {
    /// A table, looked up when it is used.
    pub fn table(self: &Arc<Self>, name: TableName) -> TableHandle {
        self.table_of(name, Arc::<Self>::clone(self))
    }

    /// A table whose handle keeps `store` open.
    pub(crate) fn table_of(&self, name: TableName, store: Arc<dyn OpenStore>) -> TableHandle {
        TableHandle::new(self.catalog.slot(&name), Arc::clone(&self.context.options), store)
    }
}

impl OpenStore for Engine {
    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }
}
