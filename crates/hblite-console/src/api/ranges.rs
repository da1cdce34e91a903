//! Ranges of time: two compared, and one or two as a report.
//!
//! A range consists of the windows that lie in it in part; answers state where these begin and end.

use std::sync::Arc;

use hblite::RegionInfo;
use hblite::bytes::to_string_binary;
use hblite_hotspot::report::{Notes, date_time, page_with_notes};
use hblite_hotspot::watch::{Recorded, RecordedWindow};
use http::StatusCode;
use serde_json::{Value, json};

use super::heat::{metric, regions};
use super::{Answer, Failure, Query};
use crate::findings;
use crate::heat::{Frame, HeatMap, Metric, heat_map, heat_maps};
use crate::history::History;
use crate::state::State;
use crate::window::Window;

/// Ranges of keys in a comparison.
const ROWS_DEFAULT: usize = 60;
const ROWS_MAX: usize = 400;
/// Regions in a report; beyond them, neighbors are taken together.
const REPORT_REGIONS_MAX: usize = 2_000;

type Times = (i64, i64);

/// The time from `since` to `until`, and the one from `base_since` to `base_until`.
fn asked(query: &Query) -> Result<(Times, Option<Times>), Failure> {
    let missing = || Failure::bad("the parameters since and until are missing");
    let times = super::times(query)?.ok_or_else(missing)?;
    Ok((times, super::times_of(query, "base_since", "base_until")?))
}

fn within(history: &History, (since_ms, until_ms): Times) -> Vec<&Window> {
    history.between(since_ms, until_ms).collect()
}

fn bounds(windows: &[&Window]) -> Times {
    windows
        .first()
        .zip(windows.last())
        .map_or((0, 0), |(first, last)| (first.start_ms, last.end_ms))
}

fn hot(history: &History, windows: &[&Window], regions: &[Arc<RegionInfo>]) -> Value {
    let counted = findings::counted(windows.iter().copied());
    json!(findings::hot(history, windows, counted.as_ref(), regions))
}

/// Requests per range of keys in two times.
pub(super) fn compare(state: &State, query: &Query) -> Answer {
    let table = query.required("table")?;
    let (name, metric) = metric(query)?;
    let rows_max = query.number("rows", ROWS_DEFAULT, (1, ROWS_MAX))?;
    let (times, base) = asked(query)?;
    let base =
        base.ok_or_else(|| Failure::bad("the parameters base_since and base_until are missing"))?;
    let regions = regions(state, table)?;
    let history = state.recorder.history();
    let (from, to) = (vec![], vec![]);
    let times_ms = (i64::MIN, i64::MAX);
    let map = heat_map(&history, &regions, &Frame { metric, from, to, rows_max, times_ms });
    let part = |times: Times| {
        let windows = within(&history, times);
        let (from_ms, to_ms) = bounds(&windows);
        let seconds: f64 = windows.iter().map(|window| window.seconds()).sum();
        let hot = hot(&history, &windows, &regions);
        let sums = sums(&map, times);
        let requests: f64 = sums.iter().sum();
        let part = json!({
            "from_ms": from_ms,
            "to_ms": to_ms,
            "seconds": seconds,
            "requests": requests,
            "findings": hot["findings"],
        });
        (part, sums, seconds)
    };
    let [(base, base_sums, base_seconds), (now, sums, seconds)] = [part(base), part(times)];
    let rate = |count: f64, seconds: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let range = |(range, (base, now)): (&crate::heat::Range, (&f64, &f64))| {
        json!({
            "start": to_string_binary(&range.start),
            "end": to_string_binary(&range.end),
            "region": range.region,
            "requests": [base, now],
            "rates": [rate(*base, base_seconds), rate(*now, seconds)],
        })
    };
    let ranges: Value = map.ranges.iter().zip(base_sums.iter().zip(&sums)).map(range).collect();
    Ok(json!({ "table": table, "metric": name, "base": base, "now": now, "ranges": ranges }))
}

/// The sum of each range in the windows that lie in a time in part.
fn sums(map: &HeatMap, (since_ms, until_ms): Times) -> Vec<f64> {
    let mut sums = vec![0.0; map.ranges.len()];
    for ((start_ms, end_ms), column) in map.windows.iter().zip(&map.counts) {
        if *end_ms > since_ms && *start_ms < until_ms {
            sums.iter_mut().zip(column).for_each(|(sum, count)| *sum += count);
        }
    }
    sums
}

/// A page with one time, or with the base of a comparison and the time.
pub(crate) fn report(state: &State, query: &Query) -> Result<String, Failure> {
    let table = query.required("table")?;
    let (times, base) = asked(query)?;
    let regions = regions(state, table)?;
    let servers = state.source.servers().len().max(1);
    let history = state.recorder.history();
    let (mut results, mut notes) = (Vec::new(), Vec::new());
    for times_ms in base.into_iter().chain([times]) {
        let windows = within(&history, times_ms);
        let (from_ms, to_ms) = bounds(&windows);
        let time = |ms: i64| {
            let text = u64::try_from(ms).ok().and_then(date_time).unwrap_or_default();
            text.split('.').next().unwrap_or_default().to_owned()
        };
        let title = format!("{table} {} to {} UTC", time(from_ms), time(to_ms));
        let rows_max = regions.len().min(REPORT_REGIONS_MAX);
        let (metric, from, to) = (Metric::Requests, vec![], vec![]);
        let frame = Frame { metric, from, to, rows_max, times_ms };
        let metrics = [Metric::Writes, Metric::Reads, Metric::Bytes];
        let [writes, reads, bytes] = heat_maps(&history, &regions, &frame, metrics);
        let range = |range: &crate::heat::Range| (range.start.clone(), range.end.clone());
        let counts = writes.counts.into_iter().zip(reads.counts).zip(bytes.counts);
        let window = |(times_ms, ((writes, reads), bytes))| RecordedWindow {
            times_ms,
            writes,
            reads,
            bytes,
        };
        let recorded = Recorded {
            title: title.clone(),
            ranges: writes.ranges.iter().map(range).collect(),
            windows: writes.windows.into_iter().zip(counts).map(window).collect(),
        };
        let nothing = |reason| Failure::new(StatusCode::NOT_FOUND, reason);
        results.push(recorded.result(servers).map_err(nothing)?);
        let hot = hot(&history, &windows, &regions);
        let lines = hot["findings"].as_array().into_iter().flatten().map(|finding| {
            let part = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            format!("{} {}", part("text"), part("help"))
        });
        notes.push(Notes { title, lines: lines.collect() });
    }
    drop(history);
    Ok(page_with_notes(&results, &notes))
}
