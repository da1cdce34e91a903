//! What is hot in a watched table, as a document for programs.

use super::keys::{Watched, Written};
use super::verdict::{Latest, hottest};
use super::{Reading, watched};
use crate::findings::{HOT_SECONDS, HotReport, HotTable};

/// What is hot in a watched table.
#[derive(Debug, Clone)]
pub struct HotWatched {
    /// The document.
    pub hot: HotTable,
    /// The region with the most writes, whose rows can be searched if the readings have none.
    pub unknown: Option<Watched>,
}

impl HotWatched {
    /// Says why the rows are not known.
    #[must_use]
    pub fn with_text(self, text: String) -> Self {
        Self { hot: self.hot.with_text(text), ..self }
    }
}

/// What is hot in a table in the last minute of the readings, or in their last window if that is
/// longer. `written` has rows from elsewhere, if the readings have none.
///
/// # Errors
/// As [`watched`].
pub fn hot(
    readings: &[Reading],
    table: &str,
    written: Option<&Written>,
) -> Result<HotWatched, String> {
    let minute = last_minute(readings);
    let result = watched(minute, table, 1)?;
    let latest = Latest::of_windows(minute, table, minute.len() - 1);
    let observed = latest.observed(&result.counts, written.map(|written| &written.rows));
    let unknown = match observed.rows {
        None => hottest(&latest.regions, table, latest.times_ms),
        Some(_) => None,
    };
    let text = written.filter(|_| latest.rows.is_none()).map(|written| written.method.clone());
    Ok(HotWatched { hot: HotTable::new(table, &observed, text), unknown })
}

impl HotReport {
    /// A report of the last minute of readings, with callers and without tables.
    pub fn of_last_minute(readings: &[Reading]) -> Self {
        let times = last_minute(readings);
        let ms = |reading: Option<&Reading>| reading.map_or(0, |reading| reading.time_ms);
        let rows = times.iter().skip(1).filter_map(|reading| reading.rows.as_ref());
        Self::new((ms(times.first()), ms(times.last())), rows)
    }
}

/// The last readings between which there is a minute, and at least two.
fn last_minute(readings: &[Reading]) -> &[Reading] {
    let Some(last) = readings.last() else { return readings };
    let is_within = |reading: &&Reading| {
        let age_ms = last.time_ms.saturating_sub(reading.time_ms);
        age_ms as f64 <= HOT_SECONDS * 1_000.0 * 1.05
    };
    let count = readings.iter().rev().take_while(is_within).count();
    &readings[readings.len() - count.max(2).min(readings.len())..]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn recorded() -> Vec<Reading> {
        let lines = include_str!("recordings/rest.jsonl").lines();
        lines.map(|line| Reading::parse(line).unwrap()).collect()
    }

    /// A real HBase counts no rows: the document says so, and which region is hot.
    #[test]
    fn without_rows_the_method_is_unknown() {
        let readings = recorded();
        let found = hot(&readings, "web_clicks", None).unwrap();
        assert_eq!(found.unknown.as_ref().unwrap().start, b"2026-01-31T12:00:04");
        let document = json!(found.hot);
        assert_eq!(document["writes"], 6_000);
        assert_eq!(document["rows"]["method"], "unknown");
        assert_eq!(document["hottest"]["rows"], json!([]));
        let region = &document["hottest"]["regions"][0];
        assert_eq!((&region["metric"], &region["share"]), (&json!("writes"), &json!(0.3333)));
        let figures = found.hot.figures();
        assert!((figures["writes hottest region share"] - 0.3333).abs() < 1e-9, "{figures:?}");
        assert!(!figures.contains_key("writes hottest row share"), "{figures:?}");
        assert!(hot(&readings[..1], "web_clicks", None).is_err());
        assert!(hot(&[], "web_clicks", None).is_err());
    }

    /// Rows that were found by the times of their cells: what left none is an error.
    #[test]
    fn rows_from_elsewhere_have_their_bounds() {
        let readings = recorded();
        let region = hot(&readings, "web_clicks", None).unwrap().unknown.unwrap();
        let rows: Vec<(Vec<u8>, Vec<i64>)> = (0..100)
            .map(|row| (format!("2026-01-31T12:00:05|{row:03}").into_bytes(), vec![row]))
            .chain([(b"2026-01-31T12:00:05|hot".to_vec(), (0..100).collect())])
            .collect();
        let counts =
            super::super::counts_of("web_clicks".parse().unwrap(), &region.region, &rows, 250);
        let written = Written { rows: counts, method: "Found.".to_owned() };
        let document = json!(hot(&readings, "web_clicks", Some(&written)).unwrap().hot);
        assert_eq!(document["rows"]["method"], "sampled");
        assert_eq!(
            (&document["rows"]["text"], &document["rows"]["writes"]),
            (&json!("Found."), &json!(200))
        );
        let row = &document["hottest"]["rows"][0];
        assert_eq!(row["row"], "2026-01-31T12:00:05|hot");
        let number = |value: &Value| value.as_f64().unwrap();
        // 100 of 250 writes of a region with a third of all; 50 of the others may be of the row.
        assert!((number(&row["share"]) - 0.4 / 3.0).abs() < 1e-3, "{row}");
        assert!(number(&row["low"]) < number(&row["share"]));
        assert!(number(&row["high"]) > 0.6 / 3.0, "{row}");
    }
}
