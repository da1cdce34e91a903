//! Differences between a recorded answer and the one of the target.
//!
//! Unavoidable differences are left out: names and ids of regions, ids of scanners and procedures,
//! addresses, times, loads, and the texts of exceptions. A timestamp of a cell may differ if a
//! server assigned it: if no client sent it, and it lies in the time of the recording. Fields that
//! hblite does not know are left out, too.
//!
//! Threads: one.

use std::collections::BTreeSet;

use bytes::Bytes;
use hblite_wire::cell_block::CellReader;
use hblite_wire::recording::{shown, type_name};
use hblite_wire::tree::{Reading, Tree, Value};

use super::ids::{Ids, RegionName, region_key};

/// The maximum number of differences reported for one call.
const NAMED_MAX: usize = 5;
/// Data from before the recording, such as a seed's, may have timestamps of a server, too.
const EARLIER_MS: i64 = 24 * 60 * 60 * 1000;
/// Timestamps from here on are times: 2001-09-09.
const TIMES_BEGIN_MS: u64 = 1_000_000_000_000;

/// Fields that are not compared, by message and name.
const LEFT_OUT: &[(&str, &str)] = &[
    ("RegionInfo", "region_id"),
    ("RegionLocation", "seq_num"),
    ("ScanResponse", "scanner_id"),
    ("ScanResponse", "ttl"),
    ("ScanResponse", "scan_metrics"),
    ("ScanResponse", "mvcc_read_point"),
    ("ProcedureResponse", "proc_id"),
    ("GetProcedureResultResponse", "submitted_time"),
    ("GetProcedureResultResponse", "last_update"),
    ("GetProcedureResultResponse", "result"),
    ("SnapshotDescription", "creation_time"),
    ("SnapshotDescription", "version"),
    ("SnapshotDescription", "owner"),
    ("SnapshotResponse", "expected_timeout"),
    ("SnapshotResponse", "proc_id"),
    ("ProcedureDescription", "creation_time"),
    ("ExecProcedureResponse", "expected_timeout"),
    ("FlushRegionResponse", "last_flush_time"),
    ("MajorCompactionTimestampResponse", "compaction_timestamp"),
    ("PrepareBulkLoadResponse", "bulk_token"),
];
/// Repeated fields whose order has no meaning.
const UNORDERED: &[&str] = &["attributes", "configuration"];

/// Compares the answer to one call.
pub(super) struct Comparison<'i> {
    pub(super) ids: &'i mut Ids,
    /// The time of the recorded server at the recording's beginning, and at this answer.
    pub(super) began_ms: i64,
    pub(super) answered_ms: i64,
    pub(super) found: Vec<String>,
}

impl Comparison<'_> {
    /// Compares messages; `path` is where they are in the answer.
    pub(super) fn compare(&mut self, path: &str, recorded: &Tree, replayed: &Tree) {
        let message = recorded.message_type();
        if message == "ServerName" {
            return;
        }
        if message == "RegionSpecifier" {
            let (then, now) = (self.ids.region(recorded), self.region_now(replayed));
            if then.is_some() && now.is_some() && then != now {
                self.differ(path, "another region".to_owned(), String::new());
            }
            return;
        }
        if message == "RegionInfo" && region_key(recorded) != region_key(replayed) {
            self.differ(
                path,
                format!("{:?}", region_key(recorded)),
                format!("{:?}", region_key(replayed)),
            );
            return;
        }
        let numbers = recorded.fields.iter().chain(&replayed.fields).map(|field| field.number);
        for number in numbers.collect::<BTreeSet<u32>>() {
            let Some(name) = recorded.field_name(number) else { continue };
            if LEFT_OUT.contains(&(message, name)) {
                continue;
            }
            let mut then = values(recorded, number);
            let mut now = values(replayed, number);
            if UNORDERED.contains(&name) {
                then.sort_by_key(|value| text(value, None));
                now.sort_by_key(|value| text(value, None));
            }
            let place = format!("{path}/{name}");
            self.compare_values(&place, &then, &now, recorded.reading(number), name);
        }
    }

    fn compare_values(
        &mut self,
        place: &str,
        then: &[&Value],
        now: &[&Value],
        reading: Option<Reading>,
        name: &str,
    ) {
        if then.len() != now.len() {
            let show = |values: &[&Value]| match values {
                [] => "nothing".to_owned(),
                [one] => text(one, reading),
                more => format!("{} values", more.len()),
            };
            return self.differ(place, show(then), show(now));
        }
        for (index, (then, now)) in then.iter().zip(now).enumerate() {
            let place = match index {
                0 => place.to_owned(),
                _ => format!("{place}[{index}]"),
            };
            match (then, now) {
                (Value::Message(then), Value::Message(now)) => {
                    if name == "exception" {
                        self.compare_exceptions(&place, then, now);
                    } else {
                        self.compare(&place, then, now);
                    }
                }
                (Value::Varint(then), Value::Varint(now)) if name == "timestamp" => {
                    self.compare_timestamps(&place, *then, *now);
                }
                (then, now) if text(then, reading) != text(now, reading) => {
                    self.differ(&place, text(then, reading), text(now, reading));
                }
                _ => {}
            }
        }
    }

    /// An exception of a single action: its class is its name.
    fn compare_exceptions(&mut self, place: &str, then: &Tree, now: &Tree) {
        let class = |tree: &Tree| tree.bytes("name").map(|name| shown(name)).unwrap_or_default();
        if class(then) != class(now) {
            self.differ(place, class(then), class(now));
        }
    }

    fn compare_timestamps(&mut self, place: &str, then: u64, now: u64) {
        if then == now || self.ids.timestamps.get(&then) == Some(&now) {
            return;
        }
        let begin = self.began_ms.saturating_sub(EARLIER_MS);
        let is_in_time =
            i64::try_from(then).is_ok_and(|then| (begin..=self.answered_ms).contains(&then));
        if is_in_time && !self.ids.explicit.contains(&then) && now >= TIMES_BEGIN_MS {
            self.ids.timestamps.insert(then, now);
        } else {
            self.differ(place, then.to_string(), now.to_string());
        }
    }

    /// Compares the cell blocks of the messages.
    pub(super) fn compare_cells(&mut self, recorded: &Bytes, replayed: &Bytes) {
        let (mut then, mut now) = (CellReader::new(recorded), CellReader::new(replayed));
        for index in 0.. {
            let place = format!("/cells[{index}]");
            let name = |cell: &hblite_model::CellRef<'_>| {
                let column = [cell.family(), b":", cell.qualifier()].concat();
                format!("{}/{}/{}", shown(cell.row()), shown(&column), type_name(cell))
            };
            match (then.next_cell(), now.next_cell()) {
                (Err(_), Err(_)) => return,
                (Ok(then), Err(_)) => {
                    return self.differ(&place, name(&then), "nothing".to_owned());
                }
                (Err(_), Ok(now)) => return self.differ(&place, "nothing".to_owned(), name(&now)),
                (Ok(then), Ok(now)) => {
                    if name(&then) != name(&now) {
                        return self.differ(&place, name(&then), name(&now));
                    }
                    if then.value() != now.value() {
                        let place = format!("{place} {}", name(&then));
                        self.differ(&place, shown(then.value()), shown(now.value()));
                    }
                    self.compare_timestamps(
                        &place,
                        then.timestamp() as u64,
                        now.timestamp() as u64,
                    );
                }
            }
        }
    }

    /// Records a difference.
    pub(super) fn differ(&mut self, place: &str, then: String, now: String) {
        if self.found.len() < NAMED_MAX {
            self.found.push(format!("{place}: recorded {then}, replayed {now}"));
        }
    }

    fn region_now(&self, specifier: &Tree) -> Option<super::target::RegionKey> {
        RegionName::parse(specifier.bytes("value")?).map(|name| name.key)
    }
}

fn values(tree: &Tree, number: u32) -> Vec<&Value> {
    tree.fields.iter().filter(|field| field.number == number).map(|field| &field.value).collect()
}

fn text(value: &Value, reading: Option<Reading>) -> String {
    match (value, reading) {
        (Value::Varint(number), Some(Reading::Bool)) => (*number != 0).to_string(),
        (Value::Varint(number), Some(Reading::Signed)) => (*number as i64).to_string(),
        (Value::Varint(number) | Value::Fixed64(number), _) => number.to_string(),
        (Value::Fixed32(number), _) => number.to_string(),
        (Value::Bytes(bytes), _) => format!("{:?}", shown(bytes)),
        (Value::Message(tree), _) => shown(&tree.encode()),
    }
}
