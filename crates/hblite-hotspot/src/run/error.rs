//! Reasons why a run is not possible.

use std::fmt;

use crate::simulate::BadCluster;
use crate::study::BadStudy;

/// Why a run is not possible.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// Settings that do not fit together, with the reason.
    Settings(String),
    /// A design that does not fit the study or the regions.
    Design(String),
    /// Salts, buckets or hashes that begin keys in fewer places than there are regions.
    FewPlaces(String),
    /// The store.
    Store(hblite::Error),
    /// The file for the keys.
    Output(std::io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(reason) | Self::Design(reason) | Self::FewPlaces(reason) => {
                f.write_str(reason)
            }
            Self::Store(error) => f.write_str(error.message()),
            Self::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<hblite::Error> for RunError {
    fn from(error: hblite::Error) -> Self {
        Self::Store(error)
    }
}

impl From<hblite_rowkey::Error> for RunError {
    fn from(error: hblite_rowkey::Error) -> Self {
        match error.kind() {
            hblite_rowkey::ErrorKind::FewPlaces => Self::FewPlaces(error.to_string()),
            _ => Self::Design(error.to_string()),
        }
    }
}

impl From<BadStudy> for RunError {
    fn from(error: BadStudy) -> Self {
        Self::Design(error.to_string())
    }
}

impl From<BadCluster> for RunError {
    fn from(error: BadCluster) -> Self {
        Self::Settings(error.to_string())
    }
}
