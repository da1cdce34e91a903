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
        // If one row has most of it, the row is hot, not the prefix.
        if !is_many(most) {
            break;
        }
        (inside, length) = (most, length + 1);
    }
    if length == of_all || inside.len() == rows.len() {
        return None;
    }
    let prefix = &inside[0].0[..length];
    let share = weight(inside) / total;
    let error = chance(share, size_of(&rows));
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
        low: share - error,
        high: share + error,
        keys: Some((prefix.to_vec(), next_after_prefix(prefix))),
    })
}

/// The size of an even sample that says as much: rows of other regions may stand for more requests
/// or fewer.
fn size_of(rows: &[Weighted<'_>]) -> f64 {
    let squares: f64 = rows.iter().map(|(_, weight)| weight * weight).sum();
    weight(rows).powi(2) / squares
}

/// The prefixes of many rows that have at least a share of the requests, with their shares and the
/// size of an even sample; at most `max`, the heaviest first. A prefix is listed if its rows differ
/// in the byte that follows.
pub(super) fn heaviest<'a>(seen: &Seen<'a>, least: f64, max: usize) -> Vec<(&'a [u8], f64, f64)> {
    if !seen.is_known() {
        return Vec::new();
    }
    let mut rows = seen.sample.clone();
    rows.sort_unstable_by_key(|(row, _)| *row);
    let (total, size) = (weight(&rows), size_of(&rows));
    let of_all = common_prefix_length(rows[0].0, rows[rows.len() - 1].0);
    let (mut pending, mut found) = (vec![&rows[..]], Vec::new());
    while let Some(inside) = pending.pop() {
        let length = common_prefix_length(inside[0].0, inside[inside.len() - 1].0);
        if length > of_all {
            found.push((&inside[0].0[..length], weight(inside) / total, size));
        }
        let parts = inside.chunk_by(|one, other| one.0.get(length) == other.0.get(length));
        pending.extend(parts.filter(|part| weight(part) >= least * total && is_many(part)));
    }
    found.sort_by(|one, other| other.1.total_cmp(&one.1));
    found.truncate(max);
    found
}

/// Whether sorted rows are many, none of which has most of the requests.
fn is_many(rows: &[Weighted<'_>]) -> bool {
    let rows_apart = rows.chunk_by(|one, other| one.0 == other.0);
    let heaviest = rows_apart.clone().map(weight).fold(0.0, f64::max);
    rows_apart.count() >= ROWS_MIN && heaviest <= weight(rows) / 2.0
}
