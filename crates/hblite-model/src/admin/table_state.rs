//! Whether a table is in service.

use std::fmt;

/// The state of a table (`TableState.State`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableState {
    /// In service.
    Enabled,
    /// Out of service; its regions are closed.
    Disabled,
    /// Going out of service.
    Disabling,
    /// Coming into service.
    Enabling,
}

impl TableState {
    const ALL: [Self; 4] = [Self::Enabled, Self::Disabled, Self::Disabling, Self::Enabling];

    /// Its number in hbase:meta.
    pub fn code(self) -> u64 {
        self as u64
    }

    /// The state with this number in hbase:meta; `None` for a number that HBase does not use.
    pub fn from_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// The state after an unfinished change is completed, as a starting server completes it.
    pub fn settled(self) -> Self {
        match self {
            Self::Enabled | Self::Enabling => Self::Enabled,
            Self::Disabled | Self::Disabling => Self::Disabled,
        }
    }

    /// HBase's name of the state.
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
