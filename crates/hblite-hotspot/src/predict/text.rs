//! Predictions as a table and as JSON.

use hblite::bytes::to_string_binary;
use serde_json::{Value, json};

use super::{Figure, Prediction};
use crate::condition::{duration, short};
use crate::report::Table;

/// The predictions, one in each line.
pub fn table(title: &str, predictions: &[Prediction]) -> Table {
    let is_measured = predictions.iter().any(|one| one.throughput.measured.is_some());
    let has_interval = predictions.iter().any(|one| one.throughput.interval.is_some());
    let mut head = vec!["design".to_owned()];
    for name in ["requests/s", "p50", "p99"] {
        head.push(name.to_owned());
        if has_interval {
            head.push("interval".to_owned());
        }
        if is_measured {
            head.push("measured".to_owned());
        }
    }
    head.push("busiest server".to_owned());
    let rows = predictions.iter().map(|prediction| {
        let mut row = vec![prediction.choice.name.clone()];
        row.extend(cells(prediction.throughput, rate));
        row.extend(cells(prediction.p50_ns, duration));
        row.extend(cells(prediction.p99_ns, duration));
        row.push(format!("{} %", short(prediction.busiest_share * 100.0)));
        row
    });
    Table { title: title.to_owned(), rows: rows.collect(), head }
}

fn cells(figure: Figure, show: fn(f64) -> String) -> Vec<String> {
    let mut cells = vec![show(figure.predicted)];
    cells.extend(figure.interval.map(|(low, high)| format!("{} – {}", show(low), show(high))));
    cells.extend(figure.measured.map(|measured| match figure.holds() {
        Some(false) => format!("{} !", show(measured)),
        _ => show(measured),
    }));
    cells
}

fn rate(value: f64) -> String {
    short(value)
}

impl Figure {
    /// Whether what was measured lies within the interval.
    pub fn holds(&self) -> Option<bool> {
        let ((low, high), measured) = (self.interval?, self.measured?);
        Some((low..=high).contains(&measured))
    }

    fn json(&self, unit: f64) -> Value {
        let mut json = json!({ "predicted": self.predicted / unit });
        if let Some((low, high)) = self.interval {
            json["low"] = json!(low / unit);
            json["high"] = json!(high / unit);
        }
        if let Some(measured) = self.measured {
            json["measured"] = json!(measured / unit);
        }
        json
    }
}

impl Prediction {
    /// As JSON: rates a second, times in microseconds.
    pub fn json(&self) -> Value {
        json!({
            "design": self.choice.name,
            "key": self.choice.design.as_ref().map(ToString::to_string),
            "splits": self.splits.iter().map(|key| to_string_binary(key)).collect::<Vec<_>>(),
            "requests": self.requests,
            "left_out": self.left_out,
            "calls": self.calls,
            "busiest_share": self.busiest_share,
            "requests_per_second": self.throughput.json(1.0),
            "p50_us": self.p50_ns.json(1e3),
            "p99_us": self.p99_ns.json(1e3),
        })
    }
}
