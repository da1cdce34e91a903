//! What is hot as a document for programs: the answer to `GET /hot`, and what
//! `hblite hotspot watch --json` prints. docs/console.md has its fields.

use hblite::bytes::to_string_binary;
use hblite::{CallerCounts, RowCounts, RowWaits, WaitedRow};
use serde::Serialize;

use super::observed::{Method, Observed, Seen};
use super::{Finding, HotCallers, Large, chance, findings, large, prefix, waits};
use crate::condition::NamedFigures;
use crate::result::Metric;

/// The version of the document. A field may be added without another one.
const VERSION: u32 = 1;
/// The seconds that it is about if no range of time is given.
pub const HOT_SECONDS: f64 = 60.0;
/// Regions, rows and prefixes in each list.
const REGIONS_MAX: usize = 5;
const ROWS_MAX: usize = 10;
const PREFIXES_MAX: usize = 10;
/// A row or a prefix in a list has this share.
const LISTED: f64 = 0.05;

/// What is hot in some tables.
#[derive(Debug, Clone, Serialize)]
pub struct HotReport {
    version: u32,
    /// Begin and end of the requests, in milliseconds since 1970-01-01 UTC; 0 if there are none.
    pub from_ms: i64,
    /// The end.
    pub to_ms: i64,
    /// The tables.
    pub tables: Vec<HotTable>,
    /// Who sent the requests to all tables, if that was counted.
    pub callers: Option<HotCallers>,
}

impl HotReport {
    /// A report of a time without tables, with those who sent requests to any.
    pub fn new<'c>(
        (from_ms, to_ms): (i64, i64),
        rows: impl Iterator<Item = &'c RowCounts>,
    ) -> Self {
        let mut counts = CallerCounts::default();
        rows.for_each(|rows| counts.add(&rows.callers));
        let callers = HotCallers::of(&counts, None);
        Self { version: VERSION, from_ms, to_ms, tables: Vec::new(), callers }
    }
}

/// What is hot in a table.
#[derive(Debug, Clone, Serialize)]
pub struct HotTable {
    table: String,
    seconds: f64,
    regions: usize,
    reads: u64,
    writes: u64,
    rows: KnownRows,
    hottest: Hottest,
    findings: Vec<HotFinding>,
    large: Vec<Large>,
    callers: Option<HotCallers>,
}

/// How the rows are known.
#[derive(Debug, Clone, Serialize)]
struct KnownRows {
    method: &'static str,
    text: String,
    /// Requests of which the rows are known.
    reads: u64,
    writes: u64,
}

#[derive(Debug, Clone, Serialize)]
struct Hottest {
    regions: Vec<Hot>,
    rows: Vec<Hot>,
    prefixes: Vec<Hot>,
    waits: HotWaits,
}

/// Waits for locks of rows.
#[derive(Debug, Clone, Serialize)]
struct HotWaits {
    waits: u64,
    seconds: f64,
    rows: Vec<HotWait>,
}

#[derive(Debug, Clone, Serialize)]
struct HotWait {
    /// `None` if a plain write held it.
    row: Option<String>,
    waits: u64,
    seconds: f64,
}

/// Something with its share of the table's reads or writes, and the bounds of the share.
#[derive(Debug, Clone, Serialize)]
struct Hot {
    metric: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Keys>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(flatten)]
    share: Share,
}

#[derive(Debug, Clone, Serialize)]
struct Keys {
    start: String,
    end: String,
}

/// A share with its bounds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Share {
    pub(super) share: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

#[derive(Debug, Clone, Serialize)]
struct HotFinding {
    kind: &'static str,
    metric: &'static str,
    text: String,
    help: String,
    keys: Option<Keys>,
    #[serde(flatten)]
    share: Share,
}

impl Share {
    /// Four digits after the point.
    pub(super) fn of(share: f64, low: f64, high: f64) -> Self {
        let rounded = |share: f64| (share.clamp(0.0, 1.0) * 1e4).round() / 1e4;
        Self { share: rounded(share), low: rounded(low), high: rounded(high) }
    }
}

impl HotWaits {
    fn of(waits: RowWaits) -> Self {
        let seconds = |micros: u64| micros as f64 / 1e6;
        let row = |waited: WaitedRow| HotWait {
            row: (!waited.row.is_empty()).then(|| to_string_binary(&waited.row)),
            waits: waited.waits,
            seconds: seconds(waited.micros),
        };
        let rows = waits.rows.into_iter().take(ROWS_MAX).map(row).collect();
        Self { waits: waits.waits, seconds: seconds(waits.micros), rows }
    }
}

impl Keys {
    fn of(keys: Option<&(Vec<u8>, Vec<u8>)>) -> Option<Self> {
        let (start, end) = keys?;
        Some(Self { start: to_string_binary(start), end: to_string_binary(end) })
    }
}

impl HotTable {
    /// What was observed. `text` says how the rows are known and what is missing, if the source
    /// says more than the method.
    pub fn new(table: &str, observed: &Observed<'_>, text: Option<String>) -> Self {
        let metrics = [Metric::Writes, Metric::Reads];
        let seen = metrics.map(|metric| observed.seen(metric));
        let known = |metric: Metric| {
            let regions = observed.rows.map_or(&[][..], |rows| &rows.regions);
            let own = regions.iter().filter(|region| region.table.to_string() == table);
            let counts = own.map(|region| match metric {
                Metric::Writes => region.writes.requests.saturating_sub(left_out(observed, region)),
                _ => region.reads.requests,
            });
            counts.fold(0_u64, u64::saturating_add)
        };
        let [writes, reads] = &seen;
        let (method, usual) = method(observed);
        Self {
            table: table.to_owned(),
            seconds: (observed.seconds * 1e3).round() / 1e3,
            regions: observed.regions.len(),
            reads: reads.total,
            writes: writes.total,
            rows: KnownRows {
                method,
                text: text.unwrap_or_else(|| usual.to_owned()),
                reads: known(Metric::Reads),
                writes: known(Metric::Writes),
            },
            hottest: Hottest {
                regions: seen.iter().flat_map(regions).collect(),
                rows: seen.iter().flat_map(rows).collect(),
                prefixes: seen.iter().flat_map(prefixes).collect(),
                waits: HotWaits::of(waits::of(observed)),
            },
            findings: findings(observed).into_iter().map(HotFinding::of).collect(),
            large: observed.rows.map(|rows| large::large(rows, table)).unwrap_or_default(),
            callers: observed.rows.and_then(|rows| HotCallers::of(&rows.callers, Some(table))),
        }
    }

    /// Says why rows are not known.
    #[must_use]
    pub fn with_text(mut self, text: String) -> Self {
        self.rows.text = text;
        self
    }

    /// The greatest shares, for conditions. Those of rows and prefixes are left out if no rows are
    /// known.
    pub fn figures(&self) -> NamedFigures {
        let mut figures = NamedFigures::new();
        let count = self.findings.len() as f64;
        figures.insert("findings".to_owned(), count);
        let lists = [
            ("region", &self.hottest.regions),
            ("row", &self.hottest.rows),
            ("prefix", &self.hottest.prefixes),
        ];
        for (what, list) in lists {
            if what != "region" && self.rows.method == UNKNOWN {
                continue;
            }
            for metric in [Metric::Writes, Metric::Reads].map(Metric::text) {
                let own = list.iter().filter(|hot| hot.metric == metric);
                let most = own.map(|hot| hot.share.share).fold(0.0, f64::max);
                figures.insert(format!("{metric} hottest {what} share"), most);
            }
        }
        figures
    }
}

const UNKNOWN: &str = "unknown";

/// The writes that the server counted and of which no row is known.
fn left_out(observed: &Observed<'_>, region: &hblite::RegionRows) -> u64 {
    if observed.method == Method::Sampled { region.writes.error } else { 0 }
}

fn method(observed: &Observed<'_>) -> (&'static str, &'static str) {
    match (observed.rows, observed.method) {
        (None, _) => (UNKNOWN, "The source gives no rows of requests."),
        (Some(_), Method::Counted) => (
            "counted",
            "hblite counted the rows of requests: all up to 2,048 of a region between two \
             readings, and then a part. Bounds are two standard errors, and what the list of a \
             region's 64 heaviest rows may have missed.",
        ),
        (Some(_), Method::Sampled) => {
            ("sampled", "The rows are those of a sample. Bounds are two standard errors.")
        }
    }
}

fn regions(seen: &Seen<'_>) -> Vec<Hot> {
    let mut regions: Vec<_> = seen.regions.iter().filter(|region| region.2 > 0).collect();
    regions.sort_by_key(|region| std::cmp::Reverse(region.2));
    let hot = |(region, _, requests): &&(&super::RegionSeen, usize, u64)| {
        let share = *requests as f64 / seen.total.max(1) as f64;
        Hot {
            region: Some(region.name.clone()),
            keys: Keys::of(region.keys.as_ref()),
            requests: Some(*requests),
            ..Hot::of(seen.metric, Share::of(share, share, share))
        }
    };
    regions.iter().take(REGIONS_MAX).map(hot).collect()
}

fn rows(seen: &Seen<'_>) -> Vec<Hot> {
    let listed = seen.heavy.iter().take_while(|heavy| heavy.share >= LISTED);
    let hot = |heavy: &super::observed::Heavy<'_>| Hot {
        row: Some(to_string_binary(heavy.row)),
        ..Hot::of(seen.metric, Share::of(heavy.share, heavy.low, heavy.high))
    };
    listed.take(ROWS_MAX).map(hot).collect()
}

fn prefixes(seen: &Seen<'_>) -> Vec<Hot> {
    let hot = |(prefix, share, size): (&[u8], f64, f64)| {
        let error = chance(share, size);
        Hot {
            prefix: Some(to_string_binary(prefix)),
            ..Hot::of(seen.metric, Share::of(share, share - error, share + error))
        }
    };
    prefix::heaviest(seen, LISTED, PREFIXES_MAX).into_iter().map(hot).collect()
}

impl Hot {
    fn of(metric: Metric, share: Share) -> Self {
        let metric = metric.text();
        Self { metric, region: None, row: None, prefix: None, keys: None, requests: None, share }
    }
}

impl HotFinding {
    fn of(finding: Finding) -> Self {
        Self {
            kind: finding.kind,
            metric: finding.metric.text(),
            keys: Keys::of(finding.keys.as_ref()),
            share: Share::of(finding.share, finding.low, finding.high),
            text: finding.text,
            help: finding.help,
        }
    }
}
