//! Hot rows.

use hblite::ROW_MAX;

use super::observed::Seen;
use super::{Finding, quoted, share_text};
use crate::result::Metric;

/// A row is hot if it has this share of the requests.
const HOT_ROW: f64 = 0.10;
/// Fewer requests than these say nothing.
const REQUESTS_MIN: u64 = 20;
/// Hot rows in the list.
const ROWS_SHOWN: usize = 3;

/// The rows that have many of the requests.
pub(super) fn find(seen: &Seen<'_>) -> Vec<Finding> {
    if seen.total < REQUESTS_MIN {
        return Vec::new();
    }
    let help = match seen.metric {
        Metric::Writes => {
            "No split and no prefix spreads a single row. Divide what is written among several \
             rows, with a salt or a time bucket in the key, and read them together."
        }
        _ => {
            "No split and no prefix spreads a single row. Cache it in the clients, or keep copies \
             of it under several keys."
        }
    };
    let hot = seen.heavy.iter().take_while(|heavy| heavy.share >= HOT_ROW).take(ROWS_SHOWN);
    hot.map(|heavy| {
        let (row, what) = (quoted(heavy.row), seen.metric.text());
        let share = share_text(heavy.share, heavy.low, heavy.high);
        let is_cut = heavy.row.len() >= ROW_MAX;
        let text = match is_cut {
            true => format!("Rows that begin with {row} have {share} of the {what}."),
            false => format!("The row {row} has {share} of the {what}."),
        };
        Finding {
            kind: if is_cut { "prefix" } else { "row" },
            metric: seen.metric,
            text,
            help: help.to_owned(),
            share: heavy.share,
            low: heavy.low,
            high: heavy.high,
            keys: Some(match is_cut {
                true => (heavy.row.to_vec(), hblite::bytes::next_after_prefix(heavy.row)),
                false => (heavy.row.to_vec(), [heavy.row, &b"\0"[..]].concat()),
            }),
        }
    })
    .collect()
}
