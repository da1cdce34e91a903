//! A workload from recorded data: records with named fields, in the order in which they were
//! written.
//!
//! Fields are text at first. The type of a field (number, time or text) is decided once for all
//! designs: by the designs that use it, or by its values if none does.

mod parquet;
mod read;
mod value;

use std::fmt;

use hblite_rowkey::{Design, Encoding, End, Field, Number, Part, Text, Turn, Value};

pub use read::{Format, ReadError};
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
/// Numbers from here on are treated as milliseconds since 1970: September 2001.
const MILLIS_MIN: u64 = 1_000_000_000_000;
const MILLIS_MAX: u64 = 9_999_999_999_999;

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
    /// `time`, or else of the first field that is a time.
    ///
    /// # Errors
    /// [`BadRecords`] if a design uses an unknown field, two designs disagree about one, a value
    /// does not fit, or the field `time` does not contain times.
    pub fn typed(&self, designs: &[Design], time: Option<&str>) -> Result<Records, BadRecords> {
        for field in designs.iter().flat_map(Design::fields) {
            self.place(&field.name)?;
        }
        let fields: Vec<Field> = (0..self.fields.len())
            .map(|place| self.field(place, designs))
            .collect::<Result<_, _>>()?;
        let mut rows = Vec::with_capacity(self.rows.len());
        for (index, row) in self.rows.iter().enumerate() {
            let values = fields.iter().zip(row).map(|(field, text)| parse_value(field, text));
            let values = values.collect::<Result<Vec<_>, _>>();
            rows.push(
                values.map_err(|error| BadRecords(format!("record {}: {error}", index + 1)))?,
            );
        }
        let place = match time {
            Some(name) => Some(self.place(name)?),
            None => fields.iter().position(|field| is_time(field.encoding)),
        };
        let Some(place) = place else { return Ok(Records { fields, rows, times_ms: None }) };
        let of = |row: &Vec<Value<'static>>| {
            let number = row[place].as_number().and_then(|number| u64::try_from(number).ok());
            number.or_else(|| row[place].as_text().and_then(parse_time))
        };
        if let Some(index) = rows.iter().position(|row| of(row).is_none()) {
            let name = &self.fields[place];
            return Err(BadRecords(format!("record {}: {name} is not a time", index + 1)));
        }
        rows.sort_by_key(|row| of(row).unwrap_or(0));
        let times_ms = Some(rows.iter().map(|row| of(row).unwrap_or(0)).collect());
        Ok(Records { fields, rows, times_ms })
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
        let is_millis =
            |text: &str| number(text).is_some_and(|n| (MILLIS_MIN..=MILLIS_MAX).contains(&n));
        if values().all(is_millis) || values().all(|text| parse_time(text).is_some()) {
            return Encoding::Number(Number::Timestamp);
        }
        if values().all(|text| number(text).is_some()) {
            return Encoding::Number(Number::U64);
        }
        Encoding::TEXT
    }

    /// The design that has all fields in the order of the data: for a sample.
    ///
    /// # Errors
    /// [`BadRecords`] if the fields have no usable names.
    pub fn plain_design(&self, records: &Records) -> Result<Design, BadRecords> {
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
        let fields = records.fields.iter().enumerate();
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
        let records = table.typed(&[design], None).expect("records");
        assert_eq!(records.times_ms, Some(vec![1_767_225_600_000, 1_767_225_601_000]));
        // Sorted by time; phones stay text, other numbers become numbers.
        let first = [Value::from(1_767_225_600_000_u64), "0139".into(), 6_u64.into()];
        assert_eq!(records.rows[0], first);
        let number = Design::parse("phone:u64").expect("a design");
        let text = Design::parse("phone:str").expect("a design");
        let error = table.typed(&[number, text], None).expect_err("both").to_string();
        assert!(error.contains("a number in one design and text in another"), "{error}");
        let unknown = Design::parse("car:str").expect("a design");
        let error = table.typed(&[unknown], None).expect_err("unknown").to_string();
        assert!(error.contains("no field car; the fields are when, phone, n"), "{error}");
        assert_eq!(
            table.plain_design(&records).expect("a design").to_string(),
            "when:timestamp|phone:str|n:u64"
        );
    }
}
