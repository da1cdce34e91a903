//! Whether a table is in service.

use std::fmt;

/// The state of a table (`TableState.State`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableState {
    /// In service.
    Enabled,
    /// Out of service; its regions are closed.
    Disabled,
    /// On its way out of service.
    Disabling,
    /// On its way into service.
    Enabling,
}

impl TableState {
    const ALL: [Self; 4] = [Self::Enabled, Self::Disabled, Self::Disabling, Self::Enabling];

    /// The number that hbase:meta has for it.
    pub fn code(self) -> u64 {
        self as u64
    }

    pub(super) fn from_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// The state once what was under way is finished, as a server that starts finishes it.
    pub(super) fn settled(self) -> Self {
        match self {
            Self::Enabled | Self::Enabling => Self::Enabled,
            Self::Disabled | Self::Disabling => Self::Disabled,
        }
    }

    /// HBase's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Enabled => "ENABLED",
            Self::Disabled => "DISABLED",
            Self::Disabling => "DISABLING",
            Self::Enabling => "ENABLING",
        }
    }
}

impl fmt::Display for TableState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
