//! Connected cars: what a car reported in a period.
//!
//! Car + time answers it in one scan. Cars of one batch have adjacent numbers and report at the
//! same hours, so one region takes all of their writes. A prefix from the car's MD5 separates them,
//! and keeps the rows of each car adjacent and in order. (The guide writes md5(uid) here too; the
//! field to hash is the one that queries know, the car.)

use std::fmt;

use hblite_rowkey::{Query, Value};

use crate::keyed::{KeyedDesign, Kind, Record, expected};
use crate::names::EPOCH_MS;
use crate::study::{CaseStudy, DataSet, Question, RecordId, SchemaDesign};

/// One report of a car.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The number of the car.
    pub car: String,
    /// When, in milliseconds since 1970.
    pub ts: u64,
    /// Kilometres an hour.
    pub speed: u64,
    /// Where, in degrees.
    pub position: String,
}

const STEP_MS: u64 = 100;

impl Record for Report {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("car", Kind::Text),
        ("ts", Kind::Number),
        ("speed", Kind::Number),
        ("position", Kind::Text),
    ];

    fn generate(id: &RecordId) -> Self {
        let mut random = id.random();
        let degrees = |number: u64| format!("{}.{:04}", number / 10_000, number % 10_000);
        Self {
            car: format!("LSV2023B{:07}", id.entity),
            ts: EPOCH_MS + id.index * STEP_MS + random.below(STEP_MS),
            speed: random.below(140),
            position: format!(
                "{} {}",
                degrees(390_000 + random.below(20_000)),
                degrees(1_160_000 + random.below(20_000))
            ),
        }
    }

    fn value(&self, field: &str) -> Option<Value<'_>> {
        Some(match field {
            "car" => Value::from(&self.car),
            "ts" => Value::from(self.ts),
            "speed" => Value::from(self.speed),
            "position" => Value::from(&self.position),
            _ => return None,
        })
    }

    fn from_values(value: &dyn Fn(&str) -> Option<Value<'static>>) -> Option<Self> {
        let text = |field: &str| value(field)?.as_text().map(str::to_owned);
        let number = |field: &str| u64::try_from(value(field)?.as_number()?).ok();
        Some(Self {
            car: text("car")?,
            ts: number("ts")?,
            speed: number("speed")?,
            position: text("position")?,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { car, ts, speed, position } = self;
        write!(f, "{ts} {car} {speed} km/h at {position}")
    }
}

/// The study.
#[derive(Debug)]
pub struct ConnectedCars;

impl CaseStudy for ConnectedCars {
    fn name(&self) -> &'static str {
        "connected-cars"
    }

    fn title(&self) -> &'static str {
        "What a car reported in a period"
    }

    fn question(&self) -> &'static str {
        "Car and time unchanged, or with a prefix of the car's MD5?"
    }

    fn entities(&self, records: u64) -> u64 {
        (records / 100).clamp(4, 10_000)
    }

    fn designs(&self) -> Vec<Box<dyn SchemaDesign>> {
        let design =
            |name, key: &str, why| KeyedDesign::<Report>::new(name, "CARS", key, why).boxed();
        vec![
            design(
                "car",
                "car:str(15)|ts:timestamp",
                "a car's period in one scan; all cars of a batch are in one region",
            ),
            design(
                "md5-prefix",
                "md5hex(car, 5)|car:str(15)|ts:timestamp",
                "a car's period in one scan; the cars of a batch are apart",
            ),
            design(
                "reversed-car",
                "car:reversed_str(15)|ts:timestamp",
                "the digits that change come first; a car's period in one scan",
            ),
        ]
    }

    fn questions(&self, data: &DataSet, around: &RecordId) -> Vec<Question> {
        let Report { car, ts, .. } = Report::generate(around);
        let span = data.records * STEP_MS;
        let period = ts.saturating_sub(span / 6)..ts + span / 6;
        let of_car = || Query::new().equals("car", car.clone());
        vec![
            Question::new("car-period", of_car().range("ts", period).ascending("ts")),
            Question::new("car-latest", of_car().descending("ts").limit(1)),
            Question::new("batch", Query::new().prefix("car", car[..14].to_owned())),
            Question::new("speeding", Query::new().at_least("speed", 130_u64)),
        ]
    }

    fn expected(&self, data: &DataSet, question: &Question) -> Vec<String> {
        expected::<Report>(data, &question.query)
    }
}
