//! A bulk load as the engine receives it: the caller's options, and the file system of the files.
//!
//! The work is done in `catalog::bulk_load` (a folder into a table) and `region::bulk_load` (files
//! into one region).

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FileSystem, copy_between};
use hblite_model::{BulkLoadOptions, Error, FileTransfer, Result};

use crate::files::link_or_copy;

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

impl BulkLoadRequest {
    /// The file system of the files.
    pub(crate) fn source_or<'a>(&'a self, own: &'a dyn FileSystem) -> &'a dyn FileSystem {
        self.source.as_deref().unwrap_or(own)
    }

    /// Hard-links or copies a file to the store's own file system, depending on the options and the
    /// file systems. On return, its content is durable; its name is not.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn transfer(&self, own: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
        let copied = |error| Error::io("cannot copy", from, error);
        if let Some(source) = &self.source {
            return copy_between(source.as_ref(), from, own, to).map_err(copied);
        }
        if self.options.transfer != FileTransfer::Copy {
            return link_or_copy(own, from, to);
        }
        own.copy(from, to).map_err(copied)
    }
}
