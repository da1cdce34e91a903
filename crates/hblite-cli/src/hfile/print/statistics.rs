//! Statistics of keys, values and rows.
//!
//! As in HBase, a row counts once for the length of keys, with its last cell. HBase estimates the
//! quantiles of more than 1,028 values from a sample; here they are exact.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hblite_model::CellRef;
use hblite_model::bytes::to_string_binary;

/// Bytes of the length field before tags.
const TAGS_LENGTH_SIZE: usize = 2;

/// How often each value occurred. Memory grows with the number of distinct values.
#[derive(Debug, Default)]
struct Distribution {
    counts: BTreeMap<u64, u64>,
    count: u64,
}

impl Distribution {
    fn add(&mut self, value: u64) {
        *self.counts.entry(value).or_default() += 1;
        self.count += 1;
    }

    fn mean(&self) -> f64 {
        let sum: f64 = self.counts.iter().map(|(value, count)| (value * count) as f64).sum();
        sum / self.count as f64
    }

    /// Computed from a sample, as in HBase.
    fn standard_deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let mean = self.mean();
        let squares = |(value, count): (&u64, &u64)| (*value as f64 - mean).powi(2) * *count as f64;
        let sum: f64 = self.counts.iter().map(squares).sum();
        (sum / (self.count - 1) as f64).sqrt()
    }

    /// The value with this rank, counted from 1.
    fn ranked(&self, rank: u64) -> f64 {
        let mut seen = 0;
        for (value, count) in &self.counts {
            seen += count;
            if seen >= rank {
                return *value as f64;
            }
        }
        self.counts.last_key_value().map_or(0.0, |(value, _)| *value as f64)
    }

    /// Interpolates between the two values around the position of the quantile.
    fn quantile(&self, quantile: f64) -> f64 {
        let place = quantile * (self.count + 1) as f64;
        if place < 1.0 {
            return self.ranked(1);
        }
        let lower = self.ranked(place as u64);
        lower + place.fract() * (self.ranked(place as u64 + 1) - lower)
    }

    fn print(&self, out: &mut dyn Write, title: &str) -> io::Result<()> {
        writeln!(out, "   {title}:")?;
        let mut line = |name: &str, text: String| writeln!(out, "{name:>18} = {text}");
        line("min", self.ranked(1).to_string())?;
        line("max", self.ranked(self.count).to_string())?;
        line("mean", format!("{:.2}", self.mean()))?;
        line("stddev", format!("{:.2}", self.standard_deviation()))?;
        line("median", format!("{:.2}", self.quantile(0.5)))?;
        for (name, quantile) in
            [("75%", 0.75), ("95%", 0.95), ("98%", 0.98), ("99%", 0.99), ("99.9%", 0.999)]
        {
            writeln!(out, "{name:>17} <= {:.2}", self.quantile(quantile))?;
        }
        writeln!(out, "{:>18} = {}", "count", self.count)
    }
}

/// The current row.
#[derive(Debug)]
struct OpenRow {
    row: Vec<u8>,
    bytes: u64,
    cells: u64,
    key_length: u64,
}

/// Statistics of one file.
#[derive(Debug, Default)]
pub(super) struct FileStatistics {
    key_lengths: Distribution,
    value_lengths: Distribution,
    row_bytes: Distribution,
    row_cells: Distribution,
    open: Option<OpenRow>,
    biggest: Option<(u64, Vec<u8>)>,
}

impl FileStatistics {
    /// Adds the next cell.
    pub(super) fn add(&mut self, cell: &CellRef<'_>) {
        self.value_lengths.add(cell.value().len() as u64);
        let row = match self.open.take() {
            Some(open) if open.row == cell.row() => open,
            open => {
                self.close(open);
                OpenRow { row: cell.row().to_vec(), bytes: 0, cells: 0, key_length: 0 }
            }
        };
        let tags = match cell.tags().len() {
            0 => 0,
            length => TAGS_LENGTH_SIZE + length,
        };
        self.open = Some(OpenRow {
            bytes: row.bytes + (cell.serialized_size() + tags) as u64,
            cells: row.cells + 1,
            key_length: cell.key().len() as u64,
            ..row
        });
    }

    fn close(&mut self, row: Option<OpenRow>) {
        let Some(row) = row else { return };
        self.key_lengths.add(row.key_length);
        self.row_bytes.add(row.bytes);
        self.row_cells.add(row.cells);
        if self.biggest.as_ref().is_none_or(|(bytes, _)| *bytes < row.bytes) {
            self.biggest = Some((row.bytes, row.row));
        }
    }

    /// Closes the last row and prints the statistics.
    pub(super) fn print(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let last = self.open.take();
        self.close(last);
        writeln!(out, "Stats:")?;
        let Some((_, biggest)) = &self.biggest else {
            return writeln!(out, "no data available for statistics");
        };
        self.key_lengths.print(out, "Key length")?;
        self.value_lengths.print(out, "Val length")?;
        self.row_bytes.print(out, "Row size (bytes)")?;
        self.row_cells.print(out, "Row size (columns)")?;
        writeln!(out, "\n\nKey of biggest row: {}", to_string_binary(biggest))
    }
}
