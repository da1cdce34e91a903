//! Reads and writes JSON lines: the stream around [`crate::json_line`].

use std::io::{BufRead, BufReader, Read, Write};

use hblite::{Durability, Mutation, RowResult};

use crate::error::{BadLine, TransferError};
use crate::export::{RowWriter, time_to_live};
use crate::import::{ImportOptions, RowRead, RowReader};
use crate::input::{Unmarked, too_long};
use crate::json_line;

/// Rows from JSON lines. Empty lines are skipped.
#[derive(Debug)]
pub struct JsonLinesReader<R> {
    input: BufReader<Unmarked<R>>,
    line: Vec<u8>,
    number: u64,
    timestamp: i64,
    durability: Durability,
    line_size_max: usize,
}

impl<R: Read> JsonLinesReader<R> {
    /// Reads from `input`.
    pub fn new(input: R, options: &ImportOptions) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 16, Unmarked::new(input)),
            line: Vec::new(),
            number: 0,
            timestamp: options.timestamp,
            durability: options.durability,
            line_size_max: options.line_size_max,
        }
    }

    /// Reads a line into `self.line`; `false` at the end.
    fn read_line(&mut self) -> Result<bool, TransferError> {
        self.line.clear();
        let limit = self.line_size_max as u64 + 1;
        let mut limited = self.input.by_ref().take(limit);
        let count = limited.read_until(b'\n', &mut self.line).map_err(TransferError::Read)?;
        self.number += 1;
        if count as u64 == limit && self.line.last() != Some(&b'\n') {
            let reason = too_long(self.line_size_max);
            return Err(TransferError::BadLine(BadLine { line: self.number, reason }));
        }
        Ok(count > 0)
    }
}

impl<R: Read> RowReader for JsonLinesReader<R> {
    fn next(&mut self, into: &mut Vec<Mutation>) -> Result<RowRead, TransferError> {
        while self.read_line()? {
            let line = self.line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let number = self.number;
            return Ok(match json_line::parse(line, self.timestamp, self.durability, into) {
                Ok(()) => RowRead::Line(number),
                Err(reason) => RowRead::Bad(BadLine { line: number, reason }),
            });
        }
        Ok(RowRead::End)
    }
}

/// Rows as JSON lines. A row in several pieces takes a line for each.
#[derive(Debug)]
pub struct JsonLinesWriter<W> {
    output: W,
    tags_left_out: u64,
}

impl<W: Write> JsonLinesWriter<W> {
    /// Writes to `output`, which should be buffered.
    pub fn new(output: W) -> Self {
        Self { output, tags_left_out: 0 }
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.output
    }
}

impl<W: Write> RowWriter for JsonLinesWriter<W> {
    fn write(&mut self, row: &RowResult) -> Result<(), TransferError> {
        let output = &mut self.output;
        let mut write = || {
            json_line::write_start(output, row.row())?;
            for (index, cell) in row.cells().enumerate() {
                if index > 0 {
                    output.write_all(b",")?;
                }
                let (ttl, has_others) = time_to_live(&cell);
                self.tags_left_out += u64::from(has_others);
                json_line::write_cell(output, &cell, ttl)?;
            }
            json_line::write_end(output)
        };
        write().map_err(TransferError::Write)
    }

    fn finish(&mut self) -> Result<(), TransferError> {
        self.output.flush().map_err(TransferError::Write)
    }

    fn takes_pieces(&self) -> bool {
        true
    }

    fn tags_left_out(&self) -> u64 {
        self.tags_left_out
    }
}
