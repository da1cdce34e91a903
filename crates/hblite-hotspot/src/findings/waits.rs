//! Rows for whose locks writes wait.

use std::collections::HashSet;

use hblite::{RowWaits, WaitedRow};

use super::{Finding, Observed, quoted};
use crate::condition::short;
use crate::result::Metric;

/// Waiting is a finding if this many writes wait at any moment, on average.
const WAITING: f64 = 0.1;

/// All waits of the regions that were observed.
pub(super) fn of(observed: &Observed<'_>) -> RowWaits {
    let mut waits = RowWaits::default();
    let own: HashSet<&str> = observed.regions.iter().map(|region| region.name.as_str()).collect();
    let regions = observed.rows.map_or(&[][..], |rows| &rows.regions);
    let own = regions.iter().filter(|one| own.contains(one.region.as_str()));
    own.for_each(|one| waits.add(&one.waits));
    waits
}

/// The row for which writes wait the longest.
pub(super) fn find(observed: &Observed<'_>) -> Option<Finding> {
    let waits = of(observed);
    let waiting = |micros: u64| micros as f64 / 1e6 / observed.seconds;
    let known = |row: &&WaitedRow| !row.row.is_empty() && waiting(row.micros) >= WAITING;
    let longest = waits.rows.iter().find(known)?;
    let share = |micros: u64| micros as f64 / waits.micros.max(1) as f64;
    let text = format!(
        "Writes waited {} s for the row {}, {} times: at any moment, {} of them wait.",
        short(longest.micros as f64 / 1e6),
        quoted(&longest.row),
        longest.waits,
        short(waiting(longest.micros)),
    );
    Some(Finding {
        kind: "waits",
        metric: Metric::Writes,
        text,
        help: "An increment, an append and a conditional write lock their row until they are \
               done. Divide what they change among several rows."
            .to_owned(),
        share: share(longest.micros),
        low: share(longest.micros),
        high: share(longest.micros.saturating_add(waits.error_micros)),
        keys: Some((longest.row.clone(), [&longest.row, &b"\0"[..]].concat())),
    })
}
