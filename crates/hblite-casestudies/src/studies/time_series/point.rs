//! One point of a series.

use std::fmt;

use hblite_rowkey::Value;

use crate::keyed::{Kind, Record};
use crate::names::EPOCH_MS;
use crate::study::RecordId;

use super::layout::Number;

/// One measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What is measured.
    pub metric: &'static str,
    /// Where.
    pub host: String,
    /// When, in milliseconds since 1970.
    pub ts: u64,
    /// The value.
    pub value: Number,
}

/// The metrics that are measured.
pub(super) const METRICS: &[&str] = &["sys.cpu.user", "sys.mem.free", "proc.net.bytes"];

/// Milliseconds between points.
pub(super) const STEP_MS: u64 = 1_000;

impl Record for Point {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("host", Kind::Text),
        ("metric", Kind::Text),
        ("ts", Kind::Number),
        ("value", Kind::Text),
    ];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let metric = random.one_of(METRICS);
        // Most points are at whole seconds, some between them.
        let millis = if random.below(5) == 0 { random.below(STEP_MS) } else { 0 };
        let value = match metric {
            "sys.cpu.user" => Number::Float(random.below(10_000) as f64 / 100.0),
            "sys.mem.free" => Number::Float(random.below(1 << 50) as f64 / 3.0),
            _ => Number::Integer(random.power_law(100, 1 << 40) as i64 - 200),
        };
        Self {
            metric,
            host: format!("web{:03}.example.com", id.entity),
            ts: EPOCH_MS + id.index * STEP_MS + millis,
            value,
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "host" => Value::from(&self.host),
            "metric" => Value::from(self.metric),
            "ts" => Value::from(self.ts),
            "value" => Value::from(self.value.to_string()),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        Some(Self {
            metric: known_metric(value("metric")?.as_text()?)?,
            host: value("host")?.as_text()?.to_owned(),
            ts: u64::try_from(value("ts")?.as_number()?).ok()?,
            value: Number::parse(value("value")?.as_text()?)?,
        })
    }
}

/// The metric of this name.
pub(super) fn known_metric(name: &str) -> Option<&'static str> {
    METRICS.iter().find(|metric| **metric == name).copied()
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.ts, self.metric, self.host, self.value)
    }
}
