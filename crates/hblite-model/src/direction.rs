//! Forward or reverse.

use std::cmp::Ordering;

/// The direction of a scan over rows. Within a row, cells always come in stored order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// Rows ascend.
    #[default]
    Forward,
    /// Rows descend.
    Reverse,
}

impl Direction {
    /// `ordering` as it is for a forward scan, reversed for a reverse one.
    #[inline]
    pub fn apply(self, ordering: Ordering) -> Ordering {
        match self {
            Self::Forward => ordering,
            Self::Reverse => ordering.reverse(),
        }
    }

    /// Whether rows descend.
    #[inline]
    pub fn is_reverse(self) -> bool {
        self == Self::Reverse
    }
}
