//! A workload from recorded data: records with named fields, in the order in which they were
//! written.
//!
//! Fields are text at first. The type of a field (number, time or text) is decided once for all
//! designs: by the designs that use it, or by its values if none does.

mod identify;
mod parquet;
mod read;
mod unit;
mod value;

use std::fmt;

use hblite_rowkey::{Design, Encoding, End, Field, Number, Part, Text, Turn, Value};

pub use identify::KeyFields;
pub use read::{Format, ReadError};
pub use unit::TimeUnit;
pub use value::{parse_time, parse_value};

/// Records as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    fields: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Records with typed values, in write order.
#[derive(Debug, Clone)]
pub struct Records {
    /// Every field, with the type that all designs agree on.
    pub fields: Vec<Field>,
    /// Values, in the order of the fields.
    pub rows: Vec<Vec<Value<'static>>>,
    /// When each record was written, in milliseconds since 1970, ascending; `None` if the data
    /// contain no time.
    pub times_ms: Option<Vec<u64>>,
    /// How numbers were read as times, if that is not plain, in sentences.
    pub notes: Vec<String>,
}

/// Why records cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRecords(pub(crate) String);

impl fmt::Display for BadRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRecords {}

/// Records beyond this number are refused.
const RECORDS_MAX: usize = 10_000_000;

impl Table {
    /// Records of these fields.
    ///
    /// # Errors
    /// [`BadRecords`] if there are none, or one does not have a value for each field.
    pub fn new(fields: Vec<String>, rows: Vec<Vec<String>>) -> Result<Self, BadRecords> {
        if rows.is_empty() {
            return Err(BadRecords("there are no records".to_owned()));
        }
        if let Some(index) = rows.iter().position(|row| row.len() != fields.len()) {
            return Err(BadRecords(format!(
                "record {} has {} values for {} fields",
                index + 1,
                rows[index].len(),
                fields.len()
            )));
        }
        Ok(Self { fields, rows })
    }

    /// The names of the fields.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Types the fields for these designs, and sorts the records by time: that of the field
    /// `time`, or else of the first field that is a time. Times become milliseconds. Those that
    /// are numbers have the unit of their magnitude if none is given.
    ///
    /// # Errors
    /// [`BadRecords`] if a design uses an unknown field, two designs disagree about one, a value
    /// does not fit, the field `time` does not contain times, or the unit of times is not clear.
    pub fn typed(
        &self,
        designs: &[Design],
        time: Option<&str>,
        unit: Option<TimeUnit>,
    ) -> Result<Records, BadRecords> {
        for field in designs.iter().flat_map(Design::fields) {
            self.place(&field.name)?;
        }
        let fields: Vec<Field> = (0..self.fields.len())
            .map(|place| self.field(place, designs))
            .collect::<Result<_, _>>()?;
        let place = match time {
            Some(name) => Some(self.place(name)?),
            None => fields.iter().position(|field| is_time(field.encoding)),
        };
        let mut notes = Vec::new();
        let mut units = vec![TimeUnit::Millis; fields.len()];
        for (at, field) in fields.iter().enumerate() {
            if is_time(field.encoding) || place == Some(at) {
                units[at] = match unit {
                    Some(unit) => unit,
                    None => self.unit(at, &mut notes)?,
                };
            }
        }
        let mut rows = Vec::with_capacity(self.rows.len());
        for (index, row) in self.rows.iter().enumerate() {
            let wrong =
                |error: &dyn fmt::Display| BadRecords(format!("record {}: {error}", index + 1));
            let mut values = Vec::with_capacity(fields.len());
            for ((field, text), unit) in fields.iter().zip(row).zip(&units) {
                let value = match text.parse().ok().filter(|_| is_time(field.encoding)) {
                    Some(number) => unit.millis(number).map(Value::from).ok_or_else(|| {
                        format!("{}: {number} {unit} is beyond all times", field.name)
                    }),
                    None => parse_value(field, text),
                };
                values.push(value.map_err(|error| wrong(&error))?);
            }
            let time = place.map(|place| {
                let number = row[place].parse().ok().and_then(|n| units[place].millis(n));
                let time = number.or_else(|| parse_time(&row[place]));
                time.ok_or_else(|| wrong(&format!("{} is not a time", self.fields[place])))
            });
            rows.push((time.transpose()?, values));
        }
        rows.sort_by_key(|(time, _)| *time);
        let times_ms = rows.iter().map(|(time, _)| *time).collect();
        let rows = rows.into_iter().map(|(_, values)| values).collect();
        Ok(Records { fields, rows, times_ms, notes })
    }

    /// The unit of the numbers in a field of times.
    fn unit(&self, place: usize, notes: &mut Vec<String>) -> Result<TimeUnit, BadRecords> {
        let name = &self.fields[place];
        let numbers = || {
            let number = |(index, row): (usize, &Vec<String>)| {
                row[place].parse::<u64>().ok().map(|number| (index + 1, number))
            };
            self.rows.iter().enumerate().filter_map(number)
        };
        let Some((first, number)) = numbers().next() else { return Ok(TimeUnit::Millis) };
        let unit = TimeUnit::of(number);
        if let Some((other, different)) = numbers().find(|(_, n)| TimeUnit::of(*n) != unit) {
            return Err(BadRecords(format!(
                "{name}: {number} in record {first} and {different} in record {other} are not \
                 times in one unit: name it with --time-unit s, ms, us or ns"
            )));
        }
        match unit {
            Some(TimeUnit::Millis) => {}
            Some(unit) => notes.push(format!("{name}: times in {unit}, read as milliseconds")),
            None => notes.push(format!(
                "{name}: {number} is no recent time in any unit; read as milliseconds, unless \
                 --time-unit names another"
            )),
        }
        Ok(unit.unwrap_or(TimeUnit::Millis))
    }

    fn place(&self, name: &str) -> Result<usize, BadRecords> {
        self.fields.iter().position(|field| field == name).ok_or_else(|| {
            BadRecords(format!("no field {name}; the fields are {}", self.fields.join(", ")))
        })
    }

    /// A field as the designs have it.
    fn field(&self, place: usize, designs: &[Design]) -> Result<Field, BadRecords> {
        let name = &self.fields[place];
        let uses = designs.iter().flat_map(Design::parts).filter_map(|part| match part {
            Part::Field(field) if field.name == *name => Some(field.encoding),
            _ => None,
        });
        // A hash accepts any value.
        let uses: Vec<Encoding> = uses.filter(Encoding::is_reversible).collect();
        let is_number = |encoding: &Encoding| matches!(encoding, Encoding::Number(_));
        let Some(first) = uses.first() else {
            return Ok(Field::new(name.clone(), self.guessed(place)));
        };
        if uses.iter().any(|other| is_number(other) != is_number(first)) {
            return Err(BadRecords(format!(
                "{name} is a number in one design and text in another: run them separately"
            )));
        }
        // Among numeric types, only a time can be read from text.
        let time = uses.iter().find(|encoding| is_time(**encoding));
        let plain = Encoding::Number(Number::U64);
        let encoding = match (time, first) {
            (Some(time), _) => *time,
            (None, Encoding::Number(Number::I64)) => *first,
            (None, Encoding::Number(_)) => plain,
            (None, _) => *first,
        };
        Ok(Field::new(name.clone(), encoding))
    }

    /// The type of a field that no design has, from its values.
    fn guessed(&self, place: usize) -> Encoding {
        let values = || self.rows.iter().map(|row| row[place].as_str());
        let number = |text: &str| {
            let is_padded = text.len() > 1 && text.starts_with('0');
            text.parse::<u64>().ok().filter(|_| !is_padded)
        };
        let unit = |text: &str| number(text).and_then(TimeUnit::guessed);
        let first = values().next().and_then(unit);
        let is_one_unit = first.is_some() && values().all(|text| unit(text) == first);
        if is_one_unit || values().all(|text| parse_time(text).is_some()) {
            return Encoding::Number(Number::Timestamp);
        }
        if values().all(|text| number(text).is_some()) {
            return Encoding::Number(Number::U64);
        }
        Encoding::TEXT
    }

    /// The design that has these fields in the order of the data: for a sample.
    ///
    /// # Errors
    /// [`BadRecords`] if the fields have no usable names.
    pub fn plain_design(&self, records: &Records, places: &[usize]) -> Result<Design, BadRecords> {
        let has_zero = |place: usize| {
            let mut values = records.rows.iter().filter_map(|row| row[place].as_bytes());
            values.any(|bytes| bytes.contains(&0))
        };
        let ended = |(place, field): (usize, &Field)| match field.encoding {
            Encoding::Text(text) => {
                let end = if has_zero(place) { End::Escaped } else { End::Delimiter(0) };
                let text = Text { turn: Turn::Plain, end, ..text };
                Field::new(field.name.clone(), Encoding::Text(text))
            }
            _ => field.clone(),
        };
        let fields = places.iter().map(|place| (*place, &records.fields[*place]));
        let parts = fields.map(|field| Part::Field(ended(field))).collect();
        Design::new(parts).map_err(|error| BadRecords(error.to_string()))
    }
}

fn is_time(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Number(Number::Timestamp | Number::ReverseTimestamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        Table::read(text.as_bytes(), Format::Csv).expect("records")
    }

    #[test]
    fn designs_decide_what_fields_are() {
        let table =
            table("when,phone,n\n2026-01-01T00:00:01Z,0138,5\n2026-01-01 00:00:00,0139,6\n");
        let design = Design::parse("phone:reversed_str|when:timestamp").expect("a design");
        let records = table.typed(&[design], None, None).expect("records");
        assert_eq!(records.times_ms, Some(vec![1_767_225_600_000, 1_767_225_601_000]));
        // Sorted by time; phones stay text, other numbers become numbers.
        let first = [Value::from(1_767_225_600_000_u64), "0139".into(), 6_u64.into()];
        assert_eq!(records.rows[0], first);
        let number = Design::parse("phone:u64").expect("a design");
        let text = Design::parse("phone:str").expect("a design");
        let error = table.typed(&[number, text], None, None).expect_err("both").to_string();
        assert!(error.contains("a number in one design and text in another"), "{error}");
        let unknown = Design::parse("car:str").expect("a design");
        let error = table.typed(&[unknown], None, None).expect_err("unknown").to_string();
        assert!(error.contains("no field car; the fields are when, phone, n"), "{error}");
        assert_eq!(
            table.plain_design(&records, &[0, 1, 2]).expect("a design").to_string(),
            "when:timestamp|phone:str|n:u64"
        );
    }

    #[test]
    fn times_are_read_in_the_unit_of_their_magnitude() {
        let day = 1_767_225_600_u64;
        let of = |per_second: u64| {
            let row = |second: u64| format!("{},a\n", (day + second) * per_second);
            table(&format!("ts,host\n{}", (0..3).map(row).collect::<String>()))
        };
        let millis: Vec<u64> = (0..3).map(|second| (day + second) * 1000).collect();
        for (per_second, unit) in [(1, "s"), (1_000_000, "us"), (1_000_000_000, "ns")] {
            let records = of(per_second).typed(&[], None, None).expect("records");
            assert_eq!(records.times_ms, Some(millis.clone()), "{unit}");
            assert_eq!(records.rows[2][0], Value::from(millis[2]), "{unit}");
            assert_eq!(records.notes, [format!("ts: times in {unit}, read as milliseconds")]);
            // A key of numbers keeps them; the time of its record is the same.
            let number = Design::parse("ts:u64|host:str").expect("a design");
            let records = of(per_second).typed(&[number], Some("ts"), None).expect("records");
            assert_eq!(records.times_ms, Some(millis.clone()), "{unit}");
            assert_eq!(records.rows[0][0], Value::from(day * per_second), "{unit}");
        }
        let records = of(1000).typed(&[], None, None).expect("records");
        assert_eq!((records.times_ms, records.notes), (Some(millis), Vec::new()));

        let design = [Design::parse("ts:timestamp").expect("a design")];
        let mixed = table("ts\n1767225600\n1767225601000\n");
        let error = mixed.typed(&design, None, None).expect_err("mixed").to_string();
        assert!(error.contains("--time-unit"), "{error}");
        let small = table("ts\n7\n8\n");
        let records = small.typed(&design, None, None).expect("records");
        assert_eq!(records.times_ms, Some(vec![7, 8]));
        assert!(records.notes[0].contains("read as milliseconds, unless"), "{:?}", records.notes);
        let records = small.typed(&design, None, Some(TimeUnit::Seconds)).expect("records");
        assert_eq!((records.times_ms, records.notes), (Some(vec![7000, 8000]), Vec::new()));
        let large = table("ts\n18446744073709551615\n");
        assert!(large.typed(&design, None, Some(TimeUnit::Seconds)).is_err());
        // Ten digits may be a phone number.
        let phones = table("phone\n2125550123\n9175550123\n");
        assert_eq!(phones.typed(&[], None, None).expect("records").times_ms, None);
    }
}
