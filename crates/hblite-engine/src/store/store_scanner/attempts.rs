//! When a scan tries the loop of `merged_rows`: it is not worth it where sources mostly have the
//! same rows.

/// An attempt that takes fewer rows costs more than it saves.
const ROWS_MIN: u64 = 32;
/// At most this many attempts are skipped after such ones. Tests have few rows.
const SKIPPED_MAX: u32 = if cfg!(test) { 1 } else { 1024 };

/// How the last attempts went.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// How many are left out after the next such one: about twice as many each time.
    penalty: u32,
    skipped: u32,
}

impl Attempts {
    /// Whether to make an attempt this time.
    #[inline(always)]
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.skipped == 0;
        self.skipped = self.skipped.saturating_sub(1);
        is_due
    }

    /// Notes how many rows an attempt took.
    pub(super) fn note(&mut self, rows: u64) {
        self.penalty = if rows < ROWS_MIN { (2 * self.penalty + 1).min(SKIPPED_MAX) } else { 0 };
        self.skipped = self.penalty;
    }
}
