//! What markers of the usual kinds hide, for the paths that pass cells without the matcher.
//!
//! Markers precede what they hide: those of the family come first, under the empty qualifier, and
//! those of a column before the versions that they delete. A marker is usual if it has no tags, has
//! not expired, and, if it is one of a column, names one. The delete tracker of the matcher serves
//! all others.

use hblite_model::cell::{CellRef, CellType};

use super::PlainRules;

/// What one marker hides, of its row: puts up to a timestamp, or with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hides {
    /// `DeleteFamily`: those up to this timestamp.
    Family(i64),
    /// `DeleteFamilyVersion`: those with this timestamp.
    FamilyVersion(i64),
    /// `DeleteColumn`: those of the marker's column up to this timestamp.
    Column(i64),
    /// `Delete`: those of the marker's column with this timestamp.
    Version(i64),
}

impl Hides {
    /// `None` if the marker is not usual, or if the cell is a put.
    #[inline]
    pub(crate) fn of(marker: &CellRef<'_>, rules: &PlainRules) -> Option<Self> {
        let (type_code, timestamp) = (marker.type_code(), marker.timestamp());
        if type_code == CellType::Put.code() {
            return None;
        }
        let hides = match CellType::from_code(type_code)? {
            CellType::DeleteFamily => Self::Family(timestamp),
            CellType::DeleteFamilyVersion => Self::FamilyVersion(timestamp),
            CellType::DeleteColumn => Self::Column(timestamp),
            CellType::Delete => Self::Version(timestamp),
            _ => return None,
        };
        let names_what_it_hides = !hides.is_of_column() || !marker.qualifier().is_empty();
        let is_usual =
            names_what_it_hides && timestamp >= rules.oldest_unexpired && marker.tags().is_empty();
        is_usual.then_some(hides)
    }

    /// Whether it hides cells of one column only.
    #[inline]
    pub(crate) fn is_of_column(self) -> bool {
        matches!(self, Self::Column(_) | Self::Version(_))
    }

    /// Whether it hides a put of the same row, and of the same column if that matters, with this
    /// timestamp.
    #[inline]
    pub(crate) fn hides(self, put_timestamp: i64) -> bool {
        match self {
            Self::Family(timestamp) | Self::Column(timestamp) => put_timestamp <= timestamp,
            Self::FamilyVersion(timestamp) | Self::Version(timestamp) => put_timestamp == timestamp,
        }
    }
}

/// What the markers of the current row hide.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Markers {
    /// The newest `DeleteFamily`.
    family: Option<Hides>,
    /// The only `DeleteFamilyVersion`.
    family_version: Option<Hides>,
    /// The marker of the last column.
    column: Option<Hides>,
}

/// Whether a put is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    No,
    /// Older versions of its column may be visible.
    Alone,
    WithOlder,
}

impl Markers {
    /// Whether nothing is hidden.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.family.is_none() && self.family_version.is_none() && self.column.is_none()
    }

    /// All of them, for the matcher.
    pub(super) fn iter(&self) -> impl Iterator<Item = Hides> {
        [self.family, self.family_version, self.column].into_iter().flatten()
    }

    /// The marker of the last column.
    #[inline]
    pub(crate) fn of_column(&self) -> Option<Hides> {
        self.column
    }

    /// Adds the next marker. False, and nothing happens, if there would be a second
    /// `DeleteFamilyVersion`: the matcher serves such rows.
    #[inline]
    pub(crate) fn add(&mut self, hides: Hides, is_of_last_column: bool) -> bool {
        match hides {
            Hides::Family(_) if self.family.is_none() => self.family = Some(hides),
            Hides::Family(later) => debug_assert!(
                self.family.is_some_and(|newest| newest.hides(later)),
                "the newest comes first"
            ),
            Hides::FamilyVersion(_) => {
                let known = *self.family_version.get_or_insert(hides);
                return known == hides;
            }
            Hides::Version(_) if is_of_last_column => {
                // What a `DeleteColumn` of the same column hides includes the rest of the column.
                if !matches!(self.column, Some(Hides::Column(_))) {
                    self.column = Some(hides);
                }
            }
            Hides::Column(_) | Hides::Version(_) => self.column = Some(hides),
        }
        true
    }

    /// Whether the next put is hidden. The first one of another column than the last, or beyond the
    /// version that was deleted, ends what the last column's marker hides.
    #[inline]
    pub(crate) fn hide(
        &mut self,
        is_of_last_column: impl FnOnce() -> bool,
        timestamp: i64,
    ) -> Hidden {
        if let Some(marker) = self.column {
            if is_of_last_column() && marker.hides(timestamp) {
                return match marker {
                    Hides::Column(_) => Hidden::WithOlder,
                    _ => Hidden::Alone,
                };
            }
            self.column = None;
        }
        let hides = |marker: Hides| marker.hides(timestamp);
        if self.family.is_some_and(hides) {
            Hidden::WithOlder
        } else if self.family_version.is_some_and(hides) {
            Hidden::Alone
        } else {
            Hidden::No
        }
    }
}
