//! `GET /hot`: what was hot in the last minute or in another range of time, for programs.

use std::cmp::Reverse;
use std::collections::HashMap;

use hblite::TableName;
use hblite_hotspot::findings::{HOT_SECONDS, HotReport};
use serde_json::json;

use super::heat::regions;
use super::{Answer, Query, times};
use crate::findings;
use crate::history::History;
use crate::state::State;
use crate::window::Window;

/// Tables if none is named, the busiest ones.
const TABLES_MAX: usize = 20;

/// The document, whose fields docs/console.md has.
pub(crate) fn hot(state: &State, query: &Query) -> Answer {
    let asked = times(query)?;
    // Regions are read while the history is not locked.
    let known = match query.text("table") {
        Some(table) => vec![regions(state, table)?],
        None => {
            let busy = busy_tables(state, asked);
            // A table that was dropped meanwhile is left out.
            busy.iter().filter_map(|table| regions(state, table).ok()).collect()
        }
    };
    let history = state.recorder.history();
    let windows = within(&history, asked);
    let times_ms = windows.first().zip(windows.last());
    let times_ms = times_ms.map_or((0, 0), |(first, last)| (first.start_ms, last.end_ms));
    let rows = windows.iter().filter_map(|window| window.rows.as_ref());
    let mut report = HotReport::new(times_ms, rows);
    let counted = findings::counted(windows.iter().copied());
    let hot = |regions: &Vec<_>| findings::hot(&history, &windows, counted.as_ref(), regions);
    report.tables = known.iter().filter(|regions| !regions.is_empty()).map(hot).collect();
    Ok(json!(report))
}

/// The windows of a time, or else of the last minute.
fn within(history: &History, asked: Option<(i64, i64)>) -> Vec<&Window> {
    let last_ms = history.windows().next_back().map_or(0, |window| window.end_ms);
    let minute_ms = (HOT_SECONDS * 1_000.0) as i64;
    let (since, until) = asked.unwrap_or((last_ms.saturating_sub(minute_ms), i64::MAX));
    history.between(since, until).collect()
}

/// The tables of users with requests in a time, the busiest first.
fn busy_tables(state: &State, asked: Option<(i64, i64)>) -> Vec<String> {
    let history = state.recorder.history();
    let mut sums: HashMap<&TableName, u64> = HashMap::new();
    for window in within(&history, asked) {
        for (region, load) in &window.loads {
            *sums.entry(region.table()).or_default() += load.reads + load.writes;
        }
    }
    let mut busy: Vec<_> = sums.into_iter().filter(|(table, _)| !table.is_system()).collect();
    busy.sort_by_key(|(table, sum)| (Reverse(*sum), table.to_string()));
    busy.into_iter().take(TABLES_MAX).map(|(table, _)| table.to_string()).collect()
}
