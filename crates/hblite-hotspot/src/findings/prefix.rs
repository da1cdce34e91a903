//! A prefix that many of the requested rows have.

use hblite::bytes::{common_prefix_length, next_after_prefix};

use super::observed::{Seen, Weighted};
use super::{Finding, chance, quoted, share_text};

/// A prefix is hot if its rows have this share of the requests.
const HOT_PREFIX: f64 = 0.40;
/// The minimum number of rows of a hot prefix: with fewer, the rows are hot.
const ROWS_MIN: usize = 5;

pub(super) fn weight(rows: &[Weighted<'_>]) -> f64 {
    rows.iter().map(|(_, weight)| weight).sum()
}

/// The longest prefix that many rows share, if it is longer than what all share.
pub(super) fn find(seen: &Seen<'_>) -> Option<Finding> {
    if !seen.is_known() {
        return None;
    }
    let mut rows = seen.sample.clone();
    rows.sort_unstable_by_key(|(row, _)| *row);
    let of_all = common_prefix_length(rows[0].0, rows[rows.len() - 1].0);
    let total = weight(&rows);
    let mut inside = &rows[..];
    let mut length = of_all;
    // Extends the prefix byte by byte, as long as enough of the rows have it.
    while let Some(most) = inside
        .chunk_by(|one, other| one.0.get(length) == other.0.get(length))
        .filter(|group| group[0].0.len() > length)
        .max_by(|one, other| weight(one).total_cmp(&weight(other)))
        .filter(|group| weight(group) >= HOT_PREFIX * total)
    {
        let rows = most.chunk_by(|one, other| one.0 == other.0);
        let heaviest = rows.clone().map(weight).fold(0.0, f64::max);
        // If one row has most of it, the row is hot, not the prefix.
        if rows.count() < ROWS_MIN || heaviest > weight(most) / 2.0 {
            break;
        }
        (inside, length) = (most, length + 1);
    }
    if length == of_all || inside.len() == rows.len() {
        return None;
    }
    let prefix = &inside[0].0[..length];
    let share = weight(inside) / total;
    // Rows of other regions may stand for more requests or fewer: the size of an even sample.
    let squares: f64 = rows.iter().map(|(_, weight)| weight * weight).sum();
    let error = chance(share, total * total / squares);
    Some(Finding {
        kind: "prefix",
        metric: seen.metric,
        text: format!(
            "Rows that begin with {} have {} of the {}.",
            quoted(prefix),
            share_text(share, share - error, share + error),
            seen.metric.text()
        ),
        help: "Split within the prefix, or put a salt or a hash of the rest after it. A salt in \
               front of the whole key also spreads the load, but turns every scan into several."
            .to_owned(),
        share,
        keys: Some((prefix.to_vec(), next_after_prefix(prefix))),
    })
}
