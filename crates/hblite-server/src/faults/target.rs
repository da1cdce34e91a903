//! The target of a call: a region, as its message names it.

use hblite_model::{META_ENCODED_NAME, RegionInfo};

/// A region as a call names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) table: String,
    pub(crate) encoded_name: String,
}

impl Target {
    pub(crate) fn of(info: &RegionInfo) -> Self {
        Self { table: info.table().to_string(), encoded_name: info.encoded_name().to_owned() }
    }

    pub(crate) fn is_meta(&self) -> bool {
        self.encoded_name == META_ENCODED_NAME
    }
}
