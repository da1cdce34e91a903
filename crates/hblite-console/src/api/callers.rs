//! Who sent the requests of the last seconds.

use hblite_hotspot::findings::HotCallers;
use serde_json::{Value, json};

use crate::history::History;

/// The callers of a table, or of all tables, with the seconds that they are about, the last of the
/// history; null if the source does not count them.
pub(super) fn callers(history: &History, span_ms: i64, table: Option<&str>) -> Value {
    let (counts, seconds) = history.recent_callers(span_ms);
    HotCallers::of(&counts, table).map_or(Value::Null, |callers| {
        let mut answer = json!(callers);
        answer["seconds"] = json!(seconds);
        answer
    })
}
