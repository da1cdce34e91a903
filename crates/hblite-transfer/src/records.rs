//! Splits input into records of fields: lines, or with quotes, fields that span several lines.
//!
//! A field is quoted if it begins with `"`. Within quotes, `""` is a quote, and anything else is
//! literal. `\n`, `\r\n` and `\r` end a record outside of quotes; empty lines between records are
//! skipped. A quote elsewhere in a field is an ordinary byte, except after a closing quote: text
//! there means that the quotes are not balanced, and the record is refused.
//!
//! Bounds: the number of bytes and fields ([`FIELDS_MAX`]) of a record and the number of lines of a
//! quoted field are limited. So one unclosed quote cannot swallow the rows after it.
//!
//! Threads: one reader owns it.

use std::io::{self, BufRead, BufReader, Read};

use crate::error::{BadLine, TransferError};
use crate::input::{Unmarked, too_long};

const BUFFER_SIZE: usize = 1 << 16;

/// Fields of one record.
const FIELDS_MAX: usize = 1 << 20;

/// How records are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordFormat {
    /// The byte between fields.
    pub(crate) separator: u8,
    /// Whether a field may be quoted.
    pub(crate) has_quotes: bool,
    /// Maximum bytes of a record.
    pub(crate) size_max: usize,
    /// Maximum lines of a quoted field.
    pub(crate) field_lines_max: u64,
}

/// Reads records in sequence.
#[derive(Debug)]
pub(crate) struct RecordReader<R> {
    input: BufReader<Unmarked<R>>,
    splitter: Splitter,
}

impl<R: Read> RecordReader<R> {
    pub(crate) fn new(input: R, format: RecordFormat) -> Self {
        let input = BufReader::with_capacity(BUFFER_SIZE, Unmarked::new(input));
        Self { input, splitter: Splitter::new(format) }
    }

    /// Reads the next record; `false` at the end. A refused record is skipped. If reading can
    /// continue after it, the result is `Ok` with its line and what is wrong with it.
    ///
    /// # Errors
    /// `Read`; `BadLine` if the start of the next record is unknown.
    pub(crate) fn next(&mut self) -> Result<bool, TransferError> {
        self.splitter.begin();
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(TransferError::Read(error)),
            };
            if buffer.is_empty() {
                return self.splitter.end().map_err(TransferError::BadLine);
            }
            let (used, is_whole) = self.splitter.feed(buffer).map_err(TransferError::BadLine)?;
            self.input.consume(used);
            if is_whole {
                return Ok(true);
            }
        }
    }

    /// The line on which the last record began, counted from 1.
    pub(crate) fn first_line(&self) -> u64 {
        self.splitter.first_line
    }

    /// Why the last record is not valid, if it is not.
    pub(crate) fn flaw(&self) -> Option<&'static str> {
        self.splitter.is_flawed.then_some("text after the quote that closes a field")
    }

    /// The number of fields in the last record.
    pub(crate) fn len(&self) -> usize {
        self.splitter.ends.len()
    }

    /// A field of the last record.
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.splitter.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.splitter.ends[before]);
        Some(&self.splitter.bytes[start..end])
    }

    /// The fields of the last record.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a record, perhaps on an empty line.
    Start,
    FieldStart,
    Unquoted,
    Quoted,
    /// After a quote within quotes: the first of two, or the closing one.
    Quote,
}

/// The record being read.
#[derive(Debug)]
struct Splitter {
    format: RecordFormat,
    state: State,
    /// The fields without enclosing quotes and separators, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Bytes that the record took so far.
    size: usize,
    /// The line of the next byte, counted from 1.
    line: u64,
    /// Whether the last byte was `\r`: a `\n` then belongs to it.
    was_return: bool,
    first_line: u64,
    /// Where the last quote opened.
    quote_line: u64,
    is_flawed: bool,
}

impl Splitter {
    fn new(format: RecordFormat) -> Self {
        Self {
            format,
            state: State::Start,
            bytes: Vec::new(),
            ends: Vec::new(),
            size: 0,
            line: 1,
            was_return: false,
            first_line: 1,
            quote_line: 1,
            is_flawed: false,
        }
    }

    fn begin(&mut self) {
        self.state = State::Start;
        self.bytes.clear();
        self.ends.clear();
        self.size = 0;
        self.first_line = self.line;
        self.is_flawed = false;
    }

    /// Takes bytes up to the end of the record. Returns how many it took, and whether the record
    /// ended.
    fn feed(&mut self, input: &[u8]) -> Result<(usize, bool), BadLine> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            match self.state {
                State::Start if is_line_end(byte) => {
                    self.count_line_end(byte);
                    at += 1;
                }
                State::Start => {
                    self.was_return = false;
                    self.first_line = self.line;
                    self.state = State::FieldStart;
                }
                State::FieldStart if byte == b'"' && self.format.has_quotes => {
                    self.quote_line = self.line;
                    self.state = State::Quoted;
                    at += self.count_size(1)?;
                }
                State::FieldStart | State::Unquoted => {
                    self.state = State::Unquoted;
                    let separator = self.format.separator;
                    let is_end = |byte: &u8| *byte == separator || is_line_end(*byte);
                    at += self.take_run(&input[at..], is_end)?;
                    if let Some(&end) = input.get(at) {
                        at += self.count_size(1)?;
                        if self.end_field(end)? {
                            return Ok((at, true));
                        }
                    }
                }
                State::Quoted if byte == b'"' => {
                    self.state = State::Quote;
                    at += self.count_size(1)?;
                }
                State::Quoted => at += self.take_quoted(&input[at..])?,
                State::Quote if byte == b'"' => {
                    self.was_return = false;
                    self.bytes.push(byte);
                    self.state = State::Quoted;
                    at += self.count_size(1)?;
                }
                State::Quote => {
                    self.was_return = false;
                    self.state = State::Unquoted;
                    if byte != self.format.separator && !is_line_end(byte) {
                        self.refuse_text_after_quote()?;
                    }
                }
            }
        }
        Ok((at, false))
    }

    /// The input ends here. Returns whether that ends a record.
    fn end(&mut self) -> Result<bool, BadLine> {
        match self.state {
            State::Start => Ok(false),
            State::Quoted => Err(self.bad_quote("a quote opens here and is not closed".to_owned())),
            State::FieldStart | State::Unquoted | State::Quote => {
                self.ends.push(self.bytes.len());
                Ok(true)
            }
        }
    }

    /// Takes bytes up to the first that `is_end`.
    fn take_run(&mut self, input: &[u8], is_end: impl Fn(&u8) -> bool) -> Result<usize, BadLine> {
        let length = input.iter().position(is_end).unwrap_or(input.len());
        self.count_size(length)?;
        self.bytes.extend_from_slice(&input[..length]);
        Ok(length)
    }

    /// Takes bytes up to the next quote.
    fn take_quoted(&mut self, input: &[u8]) -> Result<usize, BadLine> {
        let length = self.take_run(input, |byte| *byte == b'"')?;
        for &byte in &input[..length] {
            if is_line_end(byte) {
                self.count_line_end(byte);
            } else {
                self.was_return = false;
            }
        }
        let lines_max = self.format.field_lines_max;
        if self.line - self.quote_line >= lines_max {
            return Err(self.bad_quote(format!(
                "a quote opens here and is not closed within {lines_max} lines, the limit"
            )));
        }
        Ok(length)
    }

    /// Ends a field at this byte. Returns whether the record ends with it.
    fn end_field(&mut self, byte: u8) -> Result<bool, BadLine> {
        self.ends.push(self.bytes.len());
        if is_line_end(byte) {
            self.count_line_end(byte);
            return Ok(true);
        }
        self.state = State::FieldStart;
        if self.ends.len() >= FIELDS_MAX {
            let reason = format!("more than {FIELDS_MAX} fields");
            return Err(BadLine { line: self.first_line, reason });
        }
        Ok(false)
    }

    /// If the field is on one line, only that line is refused. A field over several lines may
    /// contain rows that were meant to be separate, so reading ends.
    fn refuse_text_after_quote(&mut self) -> Result<(), BadLine> {
        self.is_flawed = true;
        if self.line == self.quote_line {
            return Ok(());
        }
        Err(self.bad_quote(format!(
            "a quote opens here and is closed on line {}, with text after it; a quote within a \
             field is written twice",
            self.line
        )))
    }

    fn bad_quote(&self, reason: String) -> BadLine {
        BadLine { line: self.quote_line, reason }
    }

    fn count_line_end(&mut self, byte: u8) {
        self.line += u64::from(byte == b'\r' || !self.was_return);
        self.was_return = byte == b'\r';
    }

    /// Returns `count`.
    fn count_size(&mut self, count: usize) -> Result<usize, BadLine> {
        self.size += count;
        if self.size > self.format.size_max {
            let reason = too_long(self.format.size_max);
            return Err(BadLine { line: self.first_line, reason });
        }
        Ok(count)
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FORMAT: RecordFormat =
        RecordFormat { separator: b',', has_quotes: true, size_max: 1 << 20, field_lines_max: 99 };

    type Records = Vec<(u64, Vec<Vec<u8>>)>;

    /// All records with their lines, or the reason why the input ended early. `None` for a flawed
    /// one.
    fn read(input: impl Read, format: RecordFormat) -> Result<Option<Records>, TransferError> {
        let mut reader = RecordReader::new(input, format);
        let mut records = Some(Vec::new());
        while reader.next()? {
            let fields = reader.fields().map(<[u8]>::to_vec).collect();
            match (&mut records, reader.flaw()) {
                (Some(records), None) => records.push((reader.first_line(), fields)),
                _ => records = None,
            }
        }
        Ok(records)
    }

    #[test]
    fn fields_and_lines() {
        let text = b"\r\na,\"b\r\nc\",\n\r\r\"\",x\"y\r,\n\"last\"";
        let expected: [(u64, &[&[u8]]); 4] =
            [(2, &[b"a", b"b\r\nc", b""]), (6, &[b"", b"x\"y"]), (7, &[b"", b""]), (8, &[b"last"])];
        let expected = expected.map(|(line, fields)| {
            (line, fields.iter().map(|field| field.to_vec()).collect::<Vec<_>>())
        });
        assert_eq!(read(text.as_slice(), FORMAT).unwrap().unwrap(), expected);
        let plain = RecordFormat { has_quotes: false, ..FORMAT };
        let records = read(b"\"a,b\"\n".as_slice(), plain).unwrap().unwrap();
        assert_eq!(records, [(1, vec![b"\"a".to_vec(), b"b\"".to_vec()])]);
    }

    #[test]
    fn a_record_has_at_most_so_many_fields() {
        let commas = vec![b','; FIELDS_MAX];
        let format = RecordFormat { size_max: usize::MAX, ..FORMAT };
        assert!(read(&commas[2..], format).is_ok());
        let error = read(commas.as_slice(), format).unwrap_err();
        assert_eq!(error.to_string(), "line 1: more than 1048576 fields");
    }

    /// The result of the `csv` crate.
    fn peer(input: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut builder = csv::ReaderBuilder::new();
        let reader = builder.flexible(true).has_headers(false).from_reader(input);
        let records = reader.into_byte_records();
        records.map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Whatever the input, and wherever reads divide it: a well-formed one has the fields that
        /// another reader finds, any other is refused, and none panics.
        #[test]
        fn agrees_with_another_reader(
            text in "([ab,\"\n\r]|\r\n|\"[a,\n]{0,3}\"|,){0,24}",
            cut in 0_usize..24,
        ) {
            let bytes = text.as_bytes();
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let found = read(head.chain(tail), FORMAT);
            prop_assert_eq!(format!("{found:?}"), format!("{:?}", read(bytes, FORMAT)));
            if let Ok(Some(records)) = found {
                let fields: Vec<_> = records.into_iter().map(|(_, fields)| fields).collect();
                prop_assert_eq!(fields, peer(bytes));
            }
        }
    }
}
