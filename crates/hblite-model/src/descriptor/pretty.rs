//! Sizes and intervals as HBase writes and reads them (`PrettyPrinter`).

use std::time::Duration;

/// A time to live that never ends.
pub(super) const FOREVER_SECONDS: i64 = i32::MAX as i64;

const INTERVAL_UNITS: [(&str, i64); 4] =
    [("DAY", 86_400), ("HOUR", 3_600), ("MINUTE", 60), ("SECOND", 1)];
const SIZE_UNITS: [(&str, i64); 5] =
    [("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)];

/// Seconds, rounded up.
pub(crate) fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// How a unit is written: the required text and an optional letter after it. `DAY` and `DAYS`, `K`
/// and `KB`, `B` and nothing.
fn spelling(unit: &str) -> (&str, char) {
    match unit.strip_suffix('B') {
        Some(stem) => (stem, 'B'),
        None => (unit, 'S'),
    }
}

/// `3600` → `3600 SECONDS (1 HOUR)`; `2147483647` → `FOREVER`.
pub fn format_interval(seconds: i64) -> String {
    if seconds == FOREVER_SECONDS {
        return "FOREVER".to_owned();
    }
    if seconds < 60 {
        return format!("{seconds} SECOND{}", if seconds == 1 { "" } else { "S" });
    }
    let mut rest = seconds;
    let mut minutes = 0;
    let mut parts = Vec::new();
    for (unit, size) in INTERVAL_UNITS {
        let count = rest / size;
        rest %= size;
        if unit == "MINUTE" {
            minutes = count;
        }
        // HBase chooses the plural of SECOND by the number of minutes.
        let singular = if unit == "SECOND" { minutes == 1 } else { count == 1 };
        if count > 0 {
            parts.push(format!("{count} {unit}{}", if singular { "" } else { "S" }));
        }
    }
    format!("{seconds} SECONDS ({})", parts.join(" "))
}

/// `65536` → `65536 B (64KB)`.
pub fn format_bytes(size: i64) -> String {
    if size < 1024 {
        return format!("{size} B");
    }
    let mut rest = size;
    let mut parts = Vec::new();
    for (unit, unit_size) in SIZE_UNITS {
        let count = rest / unit_size;
        rest %= unit_size;
        if count > 0 {
            parts.push(format!("{count}{unit}"));
        }
    }
    format!("{size} B ({})", parts.join(" "))
}

/// Parses an interval in seconds: a number, `FOREVER`, or text such as `1 DAY 2 HOURS`.
///
/// Any other text counts as 0, as in HBase. `None` if the number before a parenthesis contradicts
/// the contents of the parenthesis, or a number does not fit in 64 bits.
pub fn parse_interval(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("FOREVER") {
        return Some(FOREVER_SECONDS);
    }
    parse_quantities(text, &INTERVAL_UNITS)
}

/// Parses a size in bytes: a number, or text such as `64KB`, `64K` or `1 GB 20 MB`. See
/// [`parse_interval`].
pub fn parse_bytes(text: &str) -> Option<i64> {
    parse_quantities(text, &SIZE_UNITS)
}

fn parse_quantities(text: &str, units: &[(&str, i64)]) -> Option<i64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let text = text.trim().to_ascii_uppercase();
    let (expected, inner) = match text.split_once('(') {
        Some((total, inner)) => (total.trim(), inner.trim_end_matches(')')),
        None => ("", text.as_str()),
    };
    let mut total: i64 = 0;
    let mut units_left = units;
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return Some(0);
        }
        let count: i64 = rest[..digits].parse().ok()?;
        let after = rest[digits..].trim_start();
        let matched = units_left.iter().enumerate().find_map(|(index, (unit, size))| {
            let (stem, ending) = spelling(unit);
            let tail = after.strip_prefix(stem)?;
            let tail = tail.strip_prefix(ending).unwrap_or(tail);
            // No text may follow the last unit.
            let fits = index + 1 < units_left.len() || tail.trim().is_empty();
            fits.then_some((index, *size, tail))
        });
        let Some((index, size, tail)) = matched else {
            return Some(0);
        };
        total = total.checked_add(count.checked_mul(size)?)?;
        units_left = &units_left[index + 1..];
        rest = tail.trim_start();
    }
    let expected_number = expected.trim_end_matches(|c: char| !c.is_ascii_digit());
    match expected_number.parse::<i64>() {
        Ok(number) if number != total => None,
        _ => Some(total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_sizes_read_as_hbase_prints_them() {
        assert_eq!(format_interval(93_600), "93600 SECONDS (1 DAY 2 HOURS)");
        assert_eq!(format_interval(1), "1 SECOND");
        assert_eq!(format_bytes(65_536), "65536 B (64KB)");
        assert_eq!(format_bytes(1_234_567_890), "1234567890 B (1GB 153MB 384KB 722B)");
        for seconds in [0, 1, 59, 60, 61, 3_600, 93_600, FOREVER_SECONDS] {
            assert_eq!(parse_interval(&format_interval(seconds)), Some(seconds));
        }
        for size in [0, 1_023, 1_024, 65_536, 1_234_567_890] {
            assert_eq!(parse_bytes(&format_bytes(size)), Some(size));
        }
        assert_eq!(parse_interval("1 day 2 hours"), Some(93_600));
        assert_eq!(parse_interval("1 MINUTE 5"), Some(0));
        assert_eq!(parse_interval("99999999999999999999 DAYS"), None);
        for (text, size) in [
            ("64K", 65_536),
            ("64 kb", 65_536),
            ("64M", 64 << 20),
            ("10G", 10 << 30),
            ("1T 1 G 1MB 1k 1", (1 << 40) + (1 << 30) + (1 << 20) + 1_025),
            ("5 B", 5),
            ("65536 B (64K)", 65_536),
            ("1 GB 1 TB", 0),
            ("1 X", 0),
            ("1 KBB", 0),
        ] {
            assert_eq!(parse_bytes(text), Some(size), "{text}");
        }
        assert_eq!(parse_bytes("9223372036854775807 TB"), None);
        assert_eq!(parse_interval("soon"), Some(0));
        assert_eq!(parse_interval("5 SECONDS (1 MINUTE)"), None);
    }
}
