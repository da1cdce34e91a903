//! Writes that move through the keys: of the whole table, of a region, or within a prefix.
//!
//! The sampled writes are in their order. Those of a front are divided into groups of equal size,
//! and each group lies beyond most of the group before it. Rows in no order do so once in some
//! million times. Where a front is only a part of the load, it has a region or a prefix of its own:
//! both are looked for in the whole table and in every prefix that has enough of the writes.

use hblite::bytes::next_after_prefix;

use super::observed::{Seen, Weighted};
use super::prefix::weight;
use super::{Finding, SAMPLE_MIN, chance, percent, quoted};

/// A front has at least this share of the writes.
const SHARE_MIN: f64 = 0.15;
const GROUPS: usize = 8;
/// Pairs of neighboring groups that must move.
const MOVING: usize = 6;
/// A group lies beyond this part of the one before it.
const BEYOND: f64 = 0.75;

/// The keys of a front and where it is.
struct Front<'a> {
    /// Rows with their weights, in the order of writing.
    rows: Vec<Weighted<'a>>,
    is_backward: bool,
    prefix: &'a [u8],
    region: Option<(Vec<u8>, Vec<u8>)>,
}

pub(super) fn find(seen: &Seen<'_>) -> Option<Finding> {
    if !seen.is_known() {
        return None;
    }
    let total = weight(&seen.sample);
    let least = SHARE_MIN * total;
    let front = in_prefixes(seen.sample.clone(), 0, least).or_else(|| in_regions(seen, least))?;
    Some(finding(seen, &front, total))
}

/// A front among rows that have their first `length` bytes in common, or some more.
fn in_prefixes(rows: Vec<Weighted<'_>>, length: usize, least: f64) -> Option<Front<'_>> {
    let mut pending = vec![(rows, length)];
    while let Some((rows, length)) = pending.pop() {
        if rows.len() < SAMPLE_MIN || weight(&rows) < least {
            continue;
        }
        if let Some(is_backward) = is_front(&rows) {
            let (rows, length) = narrowed(rows, length);
            let prefix = name_of(&rows, length);
            return Some(Front { rows, is_backward, prefix, region: None });
        }
        let (parts, next) = parts(&rows, length);
        pending.extend(parts.into_iter().map(|part| (part, next + 1)));
    }
    None
}

/// Rows by the first byte in which they differ, which is returned, each part in the order of
/// writing.
fn parts<'a>(rows: &[Weighted<'a>], least: usize) -> (Vec<Vec<Weighted<'a>>>, usize) {
    let length = common(rows).max(least);
    let mut parts: Vec<Vec<Weighted<'_>>> = (0..256).map(|_| Vec::new()).collect();
    for row in rows {
        if let Some(byte) = row.0.get(length) {
            parts[usize::from(*byte)].push(*row);
        }
    }
    parts.retain(|part| !part.is_empty());
    (parts, length)
}

/// The number of bytes that rows have in common.
fn common(rows: &[Weighted<'_>]) -> usize {
    let Some((first, _)) = rows.first() else { return 0 };
    let shared = |row: &[u8]| hblite::bytes::common_prefix_length(first, row);
    rows.iter().map(|(row, _)| shared(row)).min().unwrap_or(0)
}

/// A front without the rows that are written all the time and have another prefix.
fn narrowed(mut rows: Vec<Weighted<'_>>, mut length: usize) -> (Vec<Weighted<'_>>, usize) {
    loop {
        let (parts, next) = parts(&rows, length);
        let Some(most) = parts.into_iter().max_by_key(Vec::len) else { return (rows, length) };
        let byte = most[0].0[next];
        let is_other = |row: &&Weighted<'_>| row.0.get(next) != Some(&byte);
        let others: Vec<Weighted<'_>> = rows.iter().filter(is_other).copied().collect();
        // The rows of a front that lie before or beyond a prefix move, too.
        let is_one_front = others.len() < 2 * GROUPS || is_front(&others).is_some();
        if is_one_front || most.len() < SAMPLE_MIN || is_front(&most).is_none() {
            return (rows, length);
        }
        (rows, length) = (most, next + 1);
    }
}

/// What rows have in common, without the digits at its end, which count or tell the time; at least
/// `least` bytes, and none for the whole table.
fn name_of<'a>(rows: &[Weighted<'a>], least: usize) -> &'a [u8] {
    let (first, common) = (rows[0].0, common(rows).max(least));
    let text = first[..common].iter().rposition(|byte| !byte.is_ascii_digit());
    let end = if least == 0 { 0 } else { text.map_or(0, |at| at + 1).max(least) };
    &first[..end]
}

/// A front in a region, among other writes to it that have no prefix in common with it.
fn in_regions<'a>(seen: &Seen<'a>, least: f64) -> Option<Front<'a>> {
    seen.regions.iter().find_map(|(region, _, load)| {
        let (start, end) = region.keys.as_ref()?;
        if (*load as f64) < least {
            return None;
        }
        let is_own = |row: &[u8]| *row >= **start && (end.is_empty() || *row < **end);
        let own = seen.sample.iter().filter(|(row, _)| is_own(row));
        let rows: Vec<Weighted<'_>> = own.copied().collect();
        if rows.len() < SAMPLE_MIN {
            return None;
        }
        let is_backward = is_front(&rows)?;
        Some(Front { rows, is_backward, prefix: b"", region: region.keys.clone() })
    })
}

/// Whether rows in the order of writing move, and if they do, whether backward.
pub(super) fn is_front(rows: &[Weighted<'_>]) -> Option<bool> {
    let groups: Vec<Vec<&[u8]>> = (0..GROUPS)
        .map(|group| {
            let place = |group: usize| group * rows.len() / GROUPS;
            let rows = &rows[place(group)..place(group + 1)];
            let mut rows: Vec<&[u8]> = rows.iter().map(|(row, _)| *row).collect();
            rows.sort_unstable();
            rows
        })
        .collect();
    let at = |group: &[&[u8]], part: f64| -> Vec<u8> {
        group[((group.len() - 1) as f64 * part).round() as usize].to_vec()
    };
    let behind = 1.0 - BEYOND;
    let (first, last) = (groups.first()?, groups.last()?);
    let forward = groups.windows(2).filter(|pair| at(&pair[1], 0.5) > at(&pair[0], BEYOND));
    if forward.count() >= MOVING && at(last, behind) > at(first, BEYOND) {
        return Some(false);
    }
    let backward = groups.windows(2).filter(|pair| at(&pair[1], 0.5) < at(&pair[0], behind));
    (backward.count() >= MOVING && at(last, BEYOND) < at(first, behind)).then_some(true)
}

fn finding(seen: &Seen<'_>, front: &Front<'_>, total: f64) -> Finding {
    let share = weight(&front.rows) / total;
    let error = chance(share, seen.sample.len() as f64);
    let latest = &front.rows[front.rows.len() - front.rows.len().div_ceil(GROUPS)..];
    let mut latest: Vec<&[u8]> = latest.iter().map(|(row, _)| *row).collect();
    latest.sort_unstable();
    let now = quoted(latest[latest.len() / 2]);
    let direction = if front.is_backward { "backward" } else { "forward" };
    let (within, keys) = match (&front.region, front.prefix) {
        (Some((start, _)), _) => {
            let region = seen
                .regions
                .iter()
                .find(|region| region.0.keys.as_ref().is_some_and(|(other, _)| other == start));
            let text = region.map_or_else(String::new, |region| region.0.text());
            (format!(" in the region {text}"), front.region.clone())
        }
        (None, b"") => (String::new(), None),
        (None, prefix) => (
            format!(" that begin with {}", quoted(prefix)),
            Some((prefix.to_vec(), next_after_prefix(prefix))),
        ),
    };
    Finding {
        kind: "forward",
        metric: seen.metric,
        text: format!(
            "{} of the writes move {direction} through the keys{within}, now at {now}: the region \
             there takes them all, however often it is split.",
            percent(share)
        ),
        help: match front.prefix {
            b"" => {
                "Begin the key with something that does not grow: another field, or a salt or hash \
                 of the rest. Reversing a number helps too, if ranges of it are not read."
            }
            _ => {
                "Put something that does not grow behind the prefix: another field, or a salt or \
                 hash of the rest."
            }
        }
        .to_owned(),
        share,
        low: share - error,
        high: share + error,
        keys,
    }
}
