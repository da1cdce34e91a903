//! Tables whose handles follow the store through rewinds.
//!
//! Threads: any. A handle waits while a rewind replaces the engine.

use std::sync::Arc;

use hblite_model::TableName;

use super::Timeline;
use crate::catalog::Catalog;
use crate::table::{OpenStore, TableHandle};

impl Timeline {
    /// A table, looked up when it is used.
    pub fn table(self: &Arc<Self>, name: TableName) -> TableHandle {
        // Held: no rewind comes between.
        let world = self.world.read();
        world.engine.table_of(name, Arc::<Self>::clone(self))
    }
}

impl OpenStore for Timeline {
    fn catalog(&self) -> Arc<Catalog> {
        OpenStore::catalog(&*self.world.read().engine)
    }
}
