//! How current the answer of a read must be.

/// Whether a read may be answered by a replica of a region that lags behind
/// (`org.apache.hadoop.hbase.client.Consistency`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Consistency {
    /// The region itself answers, so every acknowledged write is seen.
    #[default]
    Strong,
    /// A replica may answer, in which case [`RowResult::is_stale`](crate::RowResult::is_stale) is
    /// true: the newest writes may be missing.
    Timeline,
}

impl Consistency {
    /// The names of all values.
    pub const NAMES: &'static [&'static str] = &["STRONG", "TIMELINE"];

    /// HBase's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strong => "STRONG",
            Self::Timeline => "TIMELINE",
        }
    }

    /// The value with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Strong, Self::Timeline].into_iter().find(|value| value.name() == name)
    }
}
