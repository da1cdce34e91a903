//! Gets of one column take a way of their own; a scan of the row takes another. Both must find the
//! same.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite::{ColumnFamilyDescriptor, Delete, Get, Put, Scan, Table, TableDescriptor, TimeRange};
use proptest::prelude::*;

const FAMILY: &str = "f";
/// Timestamps are below; the clock of the store is far ahead.
const TIMES: i64 = 60;

/// A write to column `f:q` of the row, or to what is around it.
#[derive(Debug, Clone)]
enum Write {
    Put {
        qualifier: &'static str,
        time: i64,
    },
    /// Many versions, of which some reads pass more than the short way does.
    Puts {
        from: i64,
        count: i64,
    },
    DeleteVersion {
        time: i64,
    },
    DeleteColumn {
        time: i64,
    },
    DeleteFamily {
        time: i64,
    },
    Flush,
}

fn write() -> impl Strategy<Value = Write> {
    let time = 1..TIMES;
    prop_oneof![
        8 => (prop_oneof![Just("p"), Just("q"), Just("q"), Just("r")], time.clone())
            .prop_map(|(qualifier, time)| Write::Put { qualifier, time }),
        2 => (time.clone(), 1..50_i64).prop_map(|(from, count)| Write::Puts { from, count }),
        1 => time.clone().prop_map(|time| Write::DeleteVersion { time }),
        1 => time.clone().prop_map(|time| Write::DeleteColumn { time }),
        1 => time.prop_map(|time| Write::DeleteFamily { time }),
        2 => Just(Write::Flush),
    ]
}

fn apply(write: &Write, table: &Table, connection: &hblite::Connection) {
    let put = |qualifier: &str, time: i64| {
        let value = format!("{qualifier} at {time}");
        table.put(&Put::new("row").add_at(FAMILY, qualifier, time, value)).unwrap();
    };
    match *write {
        Write::Put { qualifier, time } => put(qualifier, time),
        Write::Puts { from, count } => (from..from + count).for_each(|time| put("q", time)),
        Write::DeleteVersion { time } => {
            table.delete(&Delete::new("row").column_at(FAMILY, "q", time)).unwrap();
        }
        Write::DeleteColumn { time } => {
            table.delete(&Delete::new("row").columns_at(FAMILY, "q", time)).unwrap();
        }
        Write::DeleteFamily { time } => {
            table.delete(&Delete::new("row").family_at(FAMILY, time)).unwrap();
        }
        Write::Flush => connection.admin().flush_table("t").unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_get_of_a_column_in_a_range_of_time_finds_what_a_scan_finds(
        writes in proptest::collection::vec(write(), 1..40),
        ranges in proptest::collection::vec((0..TIMES + 50, 0..TIMES), 8),
        versions in 1..4_u32,
        is_kept in any::<bool>(),
    ) {
        let connection = hblite::open_in_memory().unwrap();
        let kept = if is_kept { 100 } else { 3 };
        let family = ColumnFamilyDescriptor::new(FAMILY).with_versions(kept);
        let descriptor = TableDescriptor::new("t".parse().unwrap()).with_family(family);
        connection.admin().create_table(&descriptor).unwrap();
        let table = connection.table("t").unwrap();
        for write in &writes {
            apply(write, &table, &connection);
        }
        for (start, length) in ranges {
            let range = TimeRange::new(start, start + length).unwrap();
            let get = Get::new("row").with_column(FAMILY, "q").with_time_range(range);
            let got = table.get(&get.with_versions(versions)).unwrap();
            let scan = Scan::new().with_stop_row("row2").with_column(FAMILY, "q");
            let scan = scan.with_time_range(range).with_versions(versions);
            let scanned = table.scan(&scan).unwrap().next().transpose().unwrap();
            let (got, scanned) = (format!("{got:?}"), format!("{:?}", scanned.unwrap_or_default()));
            prop_assert_eq!(got, scanned, "{}..{}", start, start + length);
        }
    }
}
