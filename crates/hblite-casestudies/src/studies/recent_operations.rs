//! The newest operations of a user: uid + (Long.MAX_VALUE − time), or a reversed scan.
//!
//! With reversed times, the newest row of a user comes first: a scan starts at `[uid][00000000]`
//! and stops after the requested number of rows. For a period, the bounds are swapped: the scan
//! starts at `[uid][Long.MAX_VALUE - end]` and stops after `[uid][Long.MAX_VALUE - begin]` (the
//! guide has them in the opposite order, which finds nothing). With plain times, a reversed scan
//! gives the same rows; HBase has had it since 0.98.

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::names::EPOCH_MS;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// Something that a user did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The user.
    pub uid: String,
    /// When, in milliseconds since 1970.
    pub ts: u64,
    /// What.
    pub action: String,
}

const STEP_MS: u64 = 50;

impl Record for Operation {
    const FIELDS: &'static [(&'static str, Kind)] =
        &[("uid", Kind::Text), ("ts", Kind::Number), ("action", Kind::Text)];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let action = random.one_of(&["view", "search", "buy", "pay", "rate", "return"]);
        Self {
            uid: format!("u{:07}", id.entity),
            ts: EPOCH_MS + id.index * STEP_MS + random.below(STEP_MS),
            action: format!("{action} item{:05}", random.below(100_000)),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "uid" => Value::from(&self.uid),
            "ts" => Value::from(self.ts),
            "action" => Value::from(&self.action),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        Some(Self {
            uid: value("uid")?.as_text()?.to_owned(),
            ts: u64::try_from(value("ts")?.as_number()?).ok()?,
            action: value("action")?.as_text()?.to_owned(),
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.ts, self.uid, self.action)
    }
}

/// The study.
#[derive(Debug)]
pub struct RecentOperations;

impl CaseStudy for RecentOperations {
    fn name(&self) -> &'static str {
        "recent-operations"
    }

    fn title(&self) -> &'static str {
        "The newest operations of a user"
    }

    fn question(&self) -> &'static str {
        "Reverse timestamps, or timestamps and a reversed scan?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 50).clamp(4, 100_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design = |name, key: &str, why| {
            KeyedDesign::<Operation>::new(name, "USER_OPS", key, why).boxed()
        };
        vec![
            design(
                "reverse-timestamp",
                "uid:str(8)|ts:reverse_timestamp",
                "newest first by a forward scan, which every client and tool can do",
            ),
            design(
                "reversed-scan",
                "uid:str(8)|ts:timestamp",
                "oldest first as stored, newest first by a reversed scan",
            ),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Operation { uid, ts, .. } = Operation::generate(around);
        let span = data.records * STEP_MS;
        let period = ts.saturating_sub(span / 4)..ts + span / 4;
        let of_user = || Query::new().equals("uid", uid.clone());
        vec![
            Question::new("latest", of_user().descending("ts").limit(10)),
            Question::new("since", of_user().at_least("ts", ts).descending("ts")),
            Question::new("period", of_user().range("ts", period).descending("ts")),
            Question::new("oldest", of_user().ascending("ts").limit(10)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Operation>(data, &question.query)
    }
}
