//! A sample of keys, in write order, as field values.

use hblite::{Connection, Scan};
use hblite_rowkey::{Design, Part, Value};

use super::NoAdvice;
use crate::study::mixed;

/// Maximum number of sampled keys: more would not change the advice.
const KEYS_MAX: usize = 20_000;

/// Records whose keys are known.
#[derive(Debug, Clone)]
pub struct Sample {
    design: Design,
    records: Vec<Vec<Value<'static>>>,
}

impl Sample {
    /// Decodes keys, in write order, by their design. Of many keys, an even selection is kept.
    ///
    /// # Errors
    /// [`NoAdvice`] if there are too few keys, one does not match the design, or the design
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
        if keys.len() < 100 {
            return Err(NoAdvice(format!(
                "{} keys are too few: give at least 100, preferably 10000",
                keys.len()
            )));
        }
        let count = keys.len().min(KEYS_MAX);
        let decode = |index: usize| -> Result<Vec<Value<'static>>, NoAdvice> {
            // One random key from each stretch: keys at even distances may all end in the same
            // digits.
            let stretch = index * keys.len() / count..(index + 1) * keys.len() / count;
            let key = &keys[stretch.start + mixed(index as u64) as usize % stretch.len().max(1)];
            let values = design.decode(key).map_err(|error| {
                NoAdvice(format!(
                    "{}: not a key of {design}: {error}",
                    hblite_rowkey::printable(key)
                ))
            })?;
            Ok(values.into_iter().map(Value::into_owned).collect())
        };
        let records = (0..count).map(decode).collect::<Result<_, _>>()?;
        Ok(Self { design, records })
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
        Self::new(design, rows.into_iter().map(|(_, key)| key).collect())
    }

    /// The present design of the keys.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Records, as values of the design's fields.
    pub fn records(&self) -> &[Vec<Value<'static>>] {
        &self.records
    }

    /// A field's part by its name.
    pub(super) fn field(&self, name: &str) -> Option<&Part> {
        let is_it = |part: &&Part| matches!(part, Part::Field(field) if field.name == name);
        self.design.parts().iter().find(is_it)
    }
}
