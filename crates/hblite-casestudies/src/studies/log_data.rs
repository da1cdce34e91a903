//! LOG_DATA: host, time, event and message, and the choice of a row key.
//!
//! With the time first, every write goes to the last region. Buckets of the time spread the writes,
//! and cost a scan each. With the host first, writes spread as well as the hosts do, and one scan
//! reads one host. Hashes or numbers replace long names in every key; the originals are stored as
//! columns.

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::names::EPOCH_MS;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEvent {
    /// The host that wrote it.
    pub host: String,
    /// The kind of event: the name of a service's class, or a short word.
    pub event: &'static str,
    /// When, in milliseconds since 1970.
    pub ts: u64,
    /// What it says.
    pub message: String,
}

const EVENTS: &[&str] = &[
    "login",
    "logout",
    "error",
    "gc",
    "com.package1.subpackage2.subsubpackage3.ImportantService",
    "com.package1.subpackage2.Checkout",
];

/// Milliseconds between two lines, on average.
const STEP_MS: u64 = 250;

impl Record for LogEvent {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("host", Kind::Text),
        ("event", Kind::Text),
        ("ts", Kind::Number),
        ("message", Kind::Text),
    ];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let event = random.one_of(EVENTS);
        let role = ["web", "db", "cache", "mail"][(id.entity % 4) as usize];
        Self {
            host: format!("{role}{}.mycompany.com", id.entity),
            event,
            ts: EPOCH_MS + id.index * STEP_MS + random.below(STEP_MS),
            message: format!("session {:06}", random.below(1_000_000)),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "host" => Value::from(&self.host),
            "event" => Value::from(self.event),
            "ts" => Value::from(self.ts),
            "message" => Value::from(&self.message),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        let event = value("event")?;
        let event = EVENTS.iter().find(|known| Some(**known) == event.as_text())?;
        Some(Self {
            host: value("host")?.as_text()?.to_owned(),
            event,
            ts: u64::try_from(value("ts")?.as_number()?).ok()?,
            message: value("message")?.as_text()?.to_owned(),
        })
    }
}

impl fmt::Display for LogEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.ts, self.host, self.event, self.message)
    }
}

/// The study.
#[derive(Debug)]
pub struct LogData;

/// Kinds of names in the lookup table.
const HOST: u8 = b'h';
const EVENT: u8 = b'e';

impl CaseStudy for LogData {
    fn name(&self) -> &'static str {
        "log-data"
    }

    fn title(&self) -> &'static str {
        "LOG_DATA: host, time, event, message"
    }

    fn question(&self) -> &'static str {
        "Which of host, time and event comes first in the row key, and in which form?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 500).clamp(4, 2_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design =
            |name, key: &str, why| KeyedDesign::<LogEvent>::new(name, "LOG_DATA", key, why);
        vec![
            design(
                "timestamp-first",
                "ts:timestamp|host:str|event:str",
                "one scan for a period of all hosts, and every write goes to the last region",
            )
            .boxed(),
            design(
                "bucketed",
                "bucket(ts, 16)|ts:timestamp|host:str|event:str",
                "a period of all hosts costs as many scans as there are buckets",
            )
            .boxed(),
            design(
                "host-first",
                "host:str|event:str|ts:timestamp",
                "one scan for a host and event, oldest first; the newest by a reversed scan",
            )
            .boxed(),
            design(
                "host-first-newest",
                "host:str|event:str|ts:reverse_timestamp",
                "one scan for a host and event, newest first",
            )
            .boxed(),
            design(
                "hashed",
                "host:md5|event:md5|ts:timestamp",
                "40 bytes whatever the names, hosts spread evenly; the originals are columns",
            )
            .boxed(),
            design(
                "numbered",
                "host:u64|event:u64|ts:timestamp",
                "24 bytes whatever the names, numbers from a lookup table; originals are columns",
            )
            .numbering("host", HOST)
            .numbering("event", EVENT)
            .boxed(),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let event = LogEvent::generate(around);
        let (host, kind, ts) = (event.host, event.event, event.ts);
        // About a thirtieth of the data, and a third for one host.
        let span = data.records * STEP_MS;
        let near = ts.saturating_sub(span / 60)..ts + span / 60;
        let far = ts.saturating_sub(span / 6)..ts + span / 6;
        let of_kind = |host: &String| {
            Query::new().equals("host", host.clone()).equals("event", Value::from(kind))
        };
        vec![
            Question::new("period", Query::new().range("ts", near).ascending("ts")),
            Question::new("instant", Query::new().equals("ts", ts)),
            Question::new("latest", Query::new().descending("ts").limit(10)),
            Question::new("host", Query::new().equals("host", host.clone())),
            Question::new("host-event-period", of_kind(&host).range("ts", far).ascending("ts")),
            Question::new("host-event-latest", of_kind(&host).descending("ts").limit(10)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<LogEvent>(data, &question.query)
    }
}
