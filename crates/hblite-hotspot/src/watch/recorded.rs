//! A recorded time of a table as a result like that of a run, for reports.
//!
//! Recorded windows differ in length, and there may be none for a while. The windows of a result
//! are equally long, and at least as long as the longest recorded one. What was recorded is divided
//! over them in proportion to time; a region's sum stays what it was, rounded.

use hblite::bytes::to_string_binary;

use super::result_of;
use crate::result::{Counts, Region, RunResult, WindowCounts};

/// Windows of a result.
const WINDOWS_MAX: i64 = 360;

/// A table in a time.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// The title.
    pub title: String,
    /// First key and the one after the last of each range of keys, in order.
    pub ranges: Vec<(Vec<u8>, Vec<u8>)>,
    /// The windows, the oldest first.
    pub windows: Vec<RecordedWindow>,
}

/// A window of time. Each list has a number per range.
#[derive(Debug, Clone, Default)]
pub struct RecordedWindow {
    /// Begin and end, in milliseconds.
    pub times_ms: (i64, i64),
    /// Mutations.
    pub writes: Vec<f64>,
    /// Gets and scanned rows.
    pub reads: Vec<f64>,
    /// Bytes read and written.
    pub bytes: Vec<f64>,
}

impl Recorded {
    /// The result, with the figures of `servers` servers.
    ///
    /// # Errors
    /// The reason why there is none: no windows, or no ranges.
    pub fn result(&self, servers: usize) -> Result<RunResult, String> {
        let time = self.windows.first().zip(self.windows.last());
        let (first, last) = time.ok_or("nothing was recorded in this time")?;
        let (from_ms, to_ms) = (first.times_ms.0, last.times_ms.1);
        let length = |window: &RecordedWindow| window.times_ms.1 - window.times_ms.0;
        let longest = self.windows.iter().map(length).max().unwrap_or(1).max(1);
        let columns = ((to_ms - from_ms) / longest).clamp(1, WINDOWS_MAX);
        let boundary = |column: i64| from_ms + (to_ms - from_ms) * column / columns;
        let divided = |of: fn(&RecordedWindow) -> &[f64]| self.divided(columns, boundary, of);
        let sums = [
            divided(|window| &window.writes),
            divided(|window| &window.reads),
            divided(|window| &window.bytes),
        ];
        let [writes, reads, bytes] = sums.map(Vec::into_iter);
        let ns = |ms: i64| u64::try_from(ms - from_ms).unwrap_or(0).saturating_mul(1_000_000);
        let window = |(column, ((writes, reads), bytes))| WindowCounts {
            start_ns: ns(boundary(column)),
            end_ns: ns(boundary(column + 1)),
            layout: 0,
            writes,
            reads,
            bytes,
        };
        let region = |(start, end): &(Vec<u8>, Vec<u8>)| Region {
            start: to_string_binary(start),
            end: to_string_binary(end),
            parent: None,
        };
        let counts = Counts {
            regions: self.ranges.iter().map(region).collect(),
            layouts: vec![(0..self.ranges.len() as u32).collect()],
            windows: (0..columns).zip(writes.zip(reads).zip(bytes)).map(window).collect(),
        };
        counts.check()?;
        Ok(result_of(counts, &self.title, servers))
    }

    /// One metric per column and range.
    fn divided(
        &self,
        columns: i64,
        boundary: impl Fn(i64) -> i64,
        of: fn(&RecordedWindow) -> &[f64],
    ) -> Vec<Vec<u64>> {
        let mut parts = vec![vec![0.0; self.ranges.len()]; columns as usize];
        for window in &self.windows {
            let (start, end) = window.times_ms;
            let is_before = |column: &i64| boundary(column + 1) <= start;
            let first = (0..columns).take_while(is_before).count() as i64;
            for column in (first..columns).take_while(|column| boundary(*column) < end) {
                let within = end.min(boundary(column + 1)) - start.max(boundary(column));
                let part = within as f64 / (end - start).max(1) as f64;
                for (sum, count) in parts[column as usize].iter_mut().zip(of(window)) {
                    *sum += part * count;
                }
            }
        }
        // Each count is what the rounded sum grows by.
        let (mut sums, mut rounded) = (vec![0.0; self.ranges.len()], vec![0; self.ranges.len()]);
        let column = |parts: Vec<f64>| {
            let grown =
                parts.iter().zip(sums.iter_mut().zip(&mut rounded)).map(|(part, (sum, so_far))| {
                    *sum += part;
                    let count = f64::round(*sum) as u64;
                    count - std::mem::replace(so_far, count)
                });
            grown.collect()
        };
        parts.into_iter().map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Metric;

    fn recorded(windows: &[(i64, i64, [f64; 2])]) -> Recorded {
        let window = |(start, end, writes): &(i64, i64, [f64; 2])| RecordedWindow {
            times_ms: (*start, *end),
            writes: writes.to_vec(),
            reads: vec![1.0, 0.0],
            bytes: vec![0.0, 0.0],
        };
        let ranges = vec![(vec![], b"m".to_vec()), (b"m".to_vec(), vec![])];
        Recorded { title: "t".to_owned(), ranges, windows: windows.iter().map(window).collect() }
    }

    /// Windows of 5, 10 and 20 seconds with the same rate, a pause, and one of 5: an even load is
    /// even, and no request is lost.
    #[test]
    fn an_even_load_in_uneven_windows_is_even() {
        let windows = [
            (0, 20_000, [200.0, 20.0]),
            (20_000, 30_000, [100.0, 10.0]),
            (30_000, 35_000, [50.0, 5.0]),
            (95_000, 100_000, [50.0, 5.0]),
        ];
        let result = recorded(&windows).result(2).unwrap();
        let writes: Vec<&[u64]> = result.counts.windows.iter().map(|w| &w.writes[..]).collect();
        assert_eq!(writes, [&[200, 20][..], &[150, 15], &[0, 0], &[0, 0], &[50, 5]]);
        assert_eq!(result.counts.sum(Metric::Reads), 4);
        assert_eq!(result.counts.windows[4].end_ns, 100_000_000_000);
        assert!(recorded(&[]).result(2).is_err());
    }

    #[test]
    fn many_windows_keep_their_sum() {
        let mut state = 1_u64;
        let windows: Vec<(i64, i64, [f64; 2])> = (0..5_000)
            .map(|at| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (at * 5_000, at * 5_000 + 5_000, [(state >> 50) as f64 / 3.0, (state >> 60) as f64])
            })
            .collect();
        let result = recorded(&windows).result(2).unwrap();
        assert_eq!(result.counts.windows.len(), 360);
        for range in [0, 1] {
            let sum: f64 = windows.iter().map(|window| window.2[range]).sum();
            let kept: u64 = result.counts.windows.iter().map(|window| window.writes[range]).sum();
            assert!((sum - kept as f64).abs() <= 0.5 + 1e-6, "{sum} and {kept}");
        }
    }
}
