//! A bulk load as the engine receives it: the caller's options, and the file system of the files.
//!
//! The work is done in `catalog::bulk_load` (a folder into a table) and `region::bulk_load` (files
//! into one region).

use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_model::BulkLoadOptions;

/// What to load, and how.
#[derive(Debug, Clone, Default)]
pub struct BulkLoadRequest {
    /// The caller's options.
    pub options: BulkLoadOptions,
    /// The file system of the files; `None` for the store's own. Files of another file system are
    /// always copied.
    pub source: Option<Arc<dyn FileSystem>>,
}

impl From<&BulkLoadOptions> for BulkLoadRequest {
    fn from(options: &BulkLoadOptions) -> Self {
        Self { options: options.clone(), source: None }
    }
}
