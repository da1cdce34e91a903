//! What is hot in a table, and what would help: for `hotspot watch` and for the console.
//!
//! The basis is an [`Observed`]: the exact counts of regions in the latest seconds with load, and
//! the rows of their requests, counted or sampled. The constants are the thresholds.
//!
//! - `observed` joins both, and decides which windows are the latest
//! - `hot` is a document for programs, with the findings
//! - `waits` names rows for whose locks writes wait
//! - `large` names large cells and rows
//! - `callers` says who sends the requests
//! - `rows`, `prefix` and `front` each find one kind; `motion` follows regions whose rows are not
//!   known

mod callers;
mod front;
mod hot;
mod large;
mod motion;
mod observed;
mod prefix;
mod rows;
#[cfg(test)]
mod tests;
mod waits;

pub use callers::HotCallers;
pub use hot::{HOT_SECONDS, HotReport, HotTable};
pub use large::{Large, large};
pub use motion::{Hottest, Motion};
pub use observed::{Method, Observed, RegionSeen, SPREAD, latest, thinned};

use hblite::bytes::to_string_binary;

use crate::result::Metric;
use observed::Seen;

/// Below this many requests per second, nothing is called hot.
const RATE_MIN: f64 = 1.0;
/// A region is hot if its load is this many times an even share.
const HOT_REGION: f64 = 2.0;
/// The minimum number of sampled requests to examine their rows.
const SAMPLE_MIN: usize = 50;

/// Something that is hot.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// `region`, `row`, `prefix`, `forward`, `single` or `waits`.
    pub kind: &'static str,
    /// Writes or reads.
    pub metric: Metric,
    /// What is hot, as a sentence.
    pub text: String,
    /// What would help.
    pub help: String,
    /// Its share of the table's requests of this kind, from 0 to 1.
    pub share: f64,
    /// The bounds of the share, which is exact for regions.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The range of keys that it is about: the first key, and the one after the last; `None` for
    /// the whole table.
    pub keys: Option<(Vec<u8>, Vec<u8>)>,
}

/// What is hot in a table.
pub fn findings(observed: &Observed<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for metric in [Metric::Writes, Metric::Reads] {
        let seen = observed.seen(metric);
        if observed.seconds <= 0.0 || (seen.total as f64) < RATE_MIN * observed.seconds {
            continue;
        }
        let front = front::find(&seen).filter(|_| metric == Metric::Writes);
        let rows = rows::find(&seen);
        found.extend(hot_region(&seen, front.as_ref(), &rows));
        let prefix = prefix::find(&seen);
        found.extend(prefix.filter(|prefix| !is_within(prefix, front.as_ref())));
        found.extend(front);
        found.extend(rows);
    }
    found.extend(waits::find(observed).filter(|_| observed.seconds > 0.0));
    found
}

/// Whether a finding is about a part of the keys of another.
fn is_within(found: &Finding, other: Option<&Finding>) -> bool {
    match other.map(|other| (&other.keys, &found.keys)) {
        Some((None, _)) => true,
        Some((Some((from, to)), Some((start, end)))) => {
            start >= from && (to.is_empty() || (!end.is_empty() && end <= to))
        }
        _ => false,
    }
}

fn hot_region(seen: &Seen<'_>, front: Option<&Finding>, rows: &[Finding]) -> Option<Finding> {
    let (hottest, region) = seen.regions.iter().enumerate().max_by_key(|(_, region)| region.2)?;
    let (what, count) = (seen.metric.text(), seen.regions.len());
    let keys = region.0.keys.clone();
    let share = region.2 as f64 / seen.total as f64;
    if count == 1 {
        let text = format!("The table has one region: it takes all {what}.");
        let help = match (front, rows.iter().any(|row| row.share >= 0.5)) {
            (Some(_), _) => "Splits do not spread keys that move.",
            (None, true) => "A split does not divide a row.",
            (None, false) => "Split the table, at the split keys that the adviser proposes.",
        };
        let (kind, help, metric) = ("single", help.to_owned(), seen.metric);
        return Some(Finding { kind, metric, text, help, share, low: share, high: share, keys });
    }
    if share * (count as f64) < HOT_REGION {
        return None;
    }
    let is_row = rows.iter().any(|row| row.share >= share / 2.0);
    let help = match front {
        Some(_) => "Its keys move, so splitting it does not help.".to_owned(),
        None if is_row => "It is one row, which no split divides.".to_owned(),
        None if seen.is_known() => "Its requests are for many keys: splitting it helps.".to_owned(),
        None => seen.motion.help(hottest + 1 == count && region.0.keys.is_some()).to_owned(),
    };
    Some(Finding {
        kind: "region",
        metric: seen.metric,
        text: format!(
            "The region {} takes {} of the {what}; an even share of {count} regions is {}.",
            region.0.text(),
            percent(share),
            percent(1.0 / count as f64)
        ),
        help,
        share,
        low: share,
        high: share,
        keys,
    })
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// A share with what it may be wrong by: `low` and `high` are its bounds.
fn share_text(share: f64, low: f64, high: f64) -> String {
    let (low, high) = (low.max(0.0) * 100.0, high.min(1.0) * 100.0);
    match high - low {
        width if width < 1.0 => percent(share),
        width if width <= 12.0 => format!("{} (± {:.0})", percent(share), (width / 2.0).ceil()),
        _ => format!("{low:.0} to {high:.0} %"),
    }
}

/// Twice the standard error of a share in a sample of this size.
fn chance(share: f64, sample: f64) -> f64 {
    2.0 * (share * (1.0 - share) / sample.max(1.0)).max(0.0).sqrt()
}

fn quoted(key: &[u8]) -> String {
    format!("\"{}\"", to_string_binary(key))
}
