//! Any bytes as what `hblite hotspot watch` reads: lines of a recording, of which each is a
//! reading, or has the JSON documents of JMX, REST or `/status`. Whatever parses is written and
//! read back, and watched.

use hblite_hotspot::watch::{Reading, tables, verdict, watched};

/// Lines that are read of one input.
const LINES_MAX: usize = 20;

/// Returns how many lines are readings.
pub(crate) fn run(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let readings: Vec<Reading> =
        text.lines().take(LINES_MAX).filter_map(|line| Reading::parse(line).ok()).collect();
    for reading in &readings {
        let line = reading.to_line();
        assert_eq!(Reading::parse(&line).as_ref(), Ok(reading), "{line}");
    }
    for table in tables(&readings) {
        for servers in [1, 3] {
            if let Ok(result) = watched(&readings, &table, servers) {
                let _ = verdict(&readings, &result, None);
            }
        }
    }
    readings.len()
}
