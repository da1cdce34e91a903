//! A sample of keys in the order in which they were written, as values of fields.

use hblite::{Connection, Scan};
use hblite_rowkey::{Design, Part, Value};

use super::NoAdvice;

/// Keys of a sample that are kept: more would not change the advice.
const KEYS_MAX: usize = 20_000;

/// Records of which the keys are known.
#[derive(Debug, Clone)]
pub struct Sample {
    design: Design,
    records: Vec<Vec<Value<'static>>>,
}

impl Sample {
    /// Decodes keys, in the order in which they were written, by the design that they have. Of many
    /// keys an even choice is taken.
    ///
    /// # Errors
    /// [`NoAdvice`] if there are too few keys, one is not of the design, or the design shows only a
    /// hash of a field.
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
                "{} keys are too few to see how they lie: give 100 at least, better 10000",
                keys.len()
            )));
        }
        let count = keys.len().min(KEYS_MAX);
        let decode = |index: usize| -> Result<Vec<Value<'static>>, NoAdvice> {
            let key = &keys[index * keys.len() / count];
            let values = design.decode(key).map_err(|error| {
                NoAdvice(format!("{}: no key of {design}: {error}", hblite_rowkey::printable(key)))
            })?;
            Ok(values.into_iter().map(Value::into_owned).collect())
        };
        let records = (0..count).map(decode).collect::<Result<_, _>>()?;
        Ok(Self { design, records })
    }

    /// Reads a sample from text: a line for each key, as `Bytes.toStringBinary` prints it, in the
    /// order in which they were written. Lines of `hblite hotspot run --keys-out` are taken too.
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

    /// Reads the keys of a table, in the order of the timestamps of their cells. All rows are
    /// looked at.
    ///
    /// # Errors
    /// As [`Sample::new`], and what the store says.
    pub fn of_table(
        design: Design,
        connection: &Connection,
        table: &str,
    ) -> Result<Self, NoAdvice> {
        let store = |error: hblite::Error| NoAdvice(error.message().to_owned());
        let table = connection.table(table).map_err(store)?;
        let mut rows: Vec<(i64, Vec<u8>)> = Vec::new();
        let mut scanner = table.scan(&Scan::new()).map_err(store)?;
        // Of every `step` rows one is kept; when there are too many, half of them go.
        let (mut step, mut seen) = (1, 0_usize);
        while let Some(row) = scanner.next_row().map_err(store)? {
            if seen.is_multiple_of(step) {
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

    /// The design that the keys have.
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
