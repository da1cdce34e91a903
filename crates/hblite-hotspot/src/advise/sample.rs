//! A sample of keys, in write order, as field values.

use hblite::{Connection, Scan};
use hblite_rowkey::{Design, Encoding, Number, Part, Turn, Value};

use super::NoAdvice;
use super::growth::{Motion, motion, moved};
use crate::mix::mixed;

/// Maximum number of sampled keys: more would not change the advice.
const KEYS_MAX: usize = 20_000;

/// Digits at the end of a text that count up evenly if the text does.
const COUNTER_DIGITS: usize = 4;

/// Records whose keys are known.
#[derive(Debug, Clone)]
pub struct Sample {
    design: Design,
    records: Vec<Vec<Value<'static>>>,
    /// Records that it was taken from, without gaps.
    count: u64,
    motions: Vec<Motion>,
    /// Least and greatest number of each field.
    extents: Vec<(i128, i128)>,
}

impl Sample {
    /// Decodes keys, in write order, by their design. Of many keys, an even selection is kept.
    ///
    /// # Errors
    /// [`NoAdvice`] if there are too few keys, if one does not match the design, or if the design
    /// contains only a hash of a field.
    pub fn new(design: Design, keys: Vec<Vec<u8>>) -> Result<Self, NoAdvice> {
        let hidden = design.fields().iter().find(|field| !field.encoding.is_reversible());
        if let Some(field) = hidden {
            return Err(NoAdvice(format!(
                "keys of {design} show only a hash of {}: sample the records before they are \
                 written",
                field.name
            )));
        }
        check_count(keys.len())?;
        let decode = |index: usize| -> Result<Vec<Value<'static>>, NoAdvice> {
            let key = &keys[index];
            let values = design.decode(key).map_err(|error| {
                NoAdvice(format!(
                    "{}: not a key of {design}: {error}",
                    hblite_rowkey::printable(key)
                ))
            })?;
            Ok(values.into_iter().map(Value::into_owned).collect())
        };
        let records = selection(keys.len(), KEYS_MAX).map(decode).collect::<Result<_, _>>()?;
        Ok(Self::of(design, records, keys.len() as u64))
    }

    /// A sample of records, in write order, with the values of the design's fields. Of many
    /// records, an even selection is kept.
    ///
    /// # Errors
    /// [`NoAdvice`] if there are too few records, or one does not fit the design.
    pub fn of_records(design: Design, records: &[Vec<Value<'static>>]) -> Result<Self, NoAdvice> {
        check_count(records.len())?;
        let mut key = Vec::new();
        let checked = |index: usize| {
            design.encode_into(&records[index], 0, &mut key)?;
            Ok(records[index].clone())
        };
        let count = records.len() as u64;
        let records =
            selection(records.len(), KEYS_MAX).map(checked).collect::<Result<_, NoAdvice>>()?;
        Ok(Self::of(design, records, count))
    }

    fn of(design: Design, records: Vec<Vec<Value<'static>>>, count: u64) -> Self {
        let fields = 0..design.fields().len();
        let motions = fields.clone().map(|index| motion(&records, index)).collect();
        let extent = |index: usize| {
            let numbers = records.iter().filter_map(|record| record[index].as_number());
            numbers.fold((i128::MAX, i128::MIN), |(least, most), number| {
                (least.min(number), most.max(number))
            })
        };
        let extents = fields.map(extent).collect();
        Self { design, records, count, motions, extents }
    }

    /// A smaller sample, for the first search.
    pub(super) fn thinned(&self, count: usize) -> Self {
        let records = selection(self.records.len(), count).map(|index| self.records[index].clone());
        Self::of(self.design.clone(), records.collect(), self.count)
    }

    /// Records that the sample was taken from.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The time from the first to the last of these records in milliseconds: the extent of the
    /// first field that is a time and grows.
    pub(super) fn period_ms(&self) -> Option<u64> {
        let is_time = |encoding: Encoding| {
            matches!(encoding, Encoding::Number(Number::Timestamp | Number::ReverseTimestamp))
        };
        let fields = self.design.fields();
        let mut fields = fields.iter().zip(&self.motions).zip(&self.extents);
        let ((_, _), (least, most)) = fields
            .find(|((field, motion), _)| is_time(field.encoding) && **motion != Motion::Still)?;
        u64::try_from(most - least).ok().filter(|millis| *millis > 0)
    }

    /// The records of the next period: fields that grow have advanced.
    pub(super) fn next_period(&self) -> Vec<Vec<Value<'static>>> {
        let next = |record: &Vec<Value<'static>>| {
            record.iter().zip(&self.motions).map(|(value, motion)| moved(value, motion)).collect()
        };
        self.records.iter().map(next).collect()
    }

    /// Whether the values of a field keep rising.
    pub(super) fn is_growing(&self, field: &str) -> bool {
        let index = self.design.field_index(field);
        index.is_ok_and(|index| self.motions[index] != Motion::Still)
    }

    /// Whether keys of a design begin with the digits of a counter, the last one first.
    pub(super) fn counts_in_decimals(&self, design: &Design) -> bool {
        let Some(Part::Field(field)) = design.parts().first() else { return false };
        let is_reversed =
            matches!(field.encoding, Encoding::Text(text) if text.turn == Turn::Reversed);
        let Ok(index) = self.design.field_index(&field.name) else { return false };
        let ends_in_digits = |record: &Vec<Value<'static>>| {
            let text = record[index].as_text().unwrap_or_default();
            let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
            digits >= COUNTER_DIGITS
        };
        is_reversed
            && matches!(self.motions[index], Motion::Digits { .. })
            && self.records.iter().all(ends_in_digits)
    }

    /// Least and greatest number of a field.
    pub(super) fn extent(&self, index: usize) -> (i128, i128) {
        self.extents[index]
    }

    /// Reads a sample from text: one key per line, as `Bytes.toStringBinary` prints it, in write
    /// order. Lines of `hblite hotspot run --keys-out` are also accepted.
    ///
    /// # Errors
    /// As [`Sample::new`].
    pub fn parse(design: Design, text: &str) -> Result<Self, NoAdvice> {
        let key = |line: &str| {
            let line = match line.strip_prefix("put ").and_then(|rest| rest.split_once(' ')) {
                Some((window, key)) if window.bytes().all(|byte| byte.is_ascii_digit()) => key,
                _ => line,
            };
            hblite::bytes::from_string_binary(line)
        };
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("split "));
        Self::new(design, lines.map(key).collect())
    }

    /// Reads the keys of a table, in the order of the timestamps of their cells. This scans all
    /// rows.
    ///
    /// # Errors
    /// As [`Sample::new`], and those of the store.
    pub fn of_table(
        design: Design,
        connection: &Connection,
        table: &str,
    ) -> Result<Self, NoAdvice> {
        let store = |error: hblite::Error| NoAdvice(error.message().to_owned());
        let table = connection.table(table).map_err(store)?;
        let mut rows: Vec<(i64, Vec<u8>)> = Vec::new();
        let mut scanner = table.scan(&Scan::new()).map_err(store)?;
        // Keeps one of about `step` rows, and drops half of them when there are too many.
        let (mut step, mut seen) = (1, 0_u64);
        while let Some(row) = scanner.next_row().map_err(store)? {
            if mixed(seen).is_multiple_of(step) {
                let newest = row.cells().map(|cell| cell.timestamp()).max().unwrap_or(0);
                rows.push((newest, row.row().to_vec()));
            }
            seen += 1;
            if rows.len() >= 2 * KEYS_MAX {
                let mut index = 0;
                rows.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                step *= 2;
            }
        }
        rows.sort();
        let sample = Self::new(design, rows.into_iter().map(|(_, key)| key).collect())?;
        Ok(Self { count: seen, ..sample })
    }

    /// The current design of the keys.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Records, as values of the design's fields.
    pub fn records(&self) -> &[Vec<Value<'static>>] {
        &self.records
    }
}

fn check_count(count: usize) -> Result<(), NoAdvice> {
    if count < 100 {
        return Err(NoAdvice(format!(
            "{count} keys are too few: provide at least 100, preferably 10000"
        )));
    }
    Ok(())
}

/// At most `count_max` of `count` positions, ascending: a random one from each stretch, because
/// keys at even distances may all end in the same digits.
fn selection(count: usize, count_max: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(count_max);
    (0..kept).map(move |index| {
        let stretch = index * count / kept..(index + 1) * count / kept;
        stretch.start + mixed(index as u64) as usize % stretch.len().max(1)
    })
}
