//! The cells that a path selects: `row[,end][/columns[/timestamps[/parameters]]]`.
//!
//! ```text
//! r1                     a row
//! r1,r5                  the rows from r1 up to but excluding r5
//! r*                     the rows that begin with r
//! r1/a,b:1               a family and a column of the row
//! r1/a:1/100             versions before 100
//! r1/a:1/100,200         versions from 100 up to but excluding 200
//! ```
//!
//! The parts are URL-encoded; with a key encoding, rows and columns are Base64 within that. Bytes
//! that are not UTF-8 can only be given in Base64.

use std::collections::BTreeSet;
use std::fmt;

use hblite::{Error, Result};

use crate::java;

/// The cells that a path selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSpec {
    /// The row, or the first one.
    pub(crate) row: Vec<u8>,
    /// The row before which a range ends; `None` for a single row.
    pub(crate) end_row: Option<Vec<u8>>,
    /// Families and columns; none for all.
    pub(crate) columns: BTreeSet<Vec<u8>>,
    /// The first timestamp.
    pub(crate) start_time: i64,
    /// The end of the time range, excluded.
    pub(crate) end_time: i64,
    /// Versions of each column.
    pub(crate) versions_max: i32,
    /// Cells of an answer; one more than this is returned, as in HBase.
    pub(crate) values_max: i32,
}

impl RowSpec {
    /// Reads a path, which may begin with slashes, and the Base64 of its keys if `key_encoding`
    /// names one.
    ///
    /// # Errors
    /// `IllegalArgument` if this is not such a path.
    pub(crate) fn parse(path: &str, key_encoding: Option<&str>) -> Result<Self> {
        let path = path.trim_start_matches('/');
        let (rows, rest) = split(path);
        let (row, end_row) = parse_rows(rows)?;
        let mut spec = Self {
            row,
            end_row,
            columns: BTreeSet::new(),
            start_time: 0,
            end_time: i64::MAX,
            versions_max: 1,
            values_max: i32::MAX,
        };
        if let Some(rest) = rest {
            let (columns, rest) = split(rest);
            spec.parse_columns(columns)?;
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                let (times, rest) = split(rest);
                spec.parse_times(times)?;
                spec.parse_parameters(rest.unwrap_or_default())?;
            }
        }
        if let Some(encoding) = key_encoding {
            spec.decode_keys(encoding)?;
        }
        Ok(spec)
    }

    /// Whether this is one row and not a range.
    pub(crate) fn is_single_row(&self) -> bool {
        self.end_row.is_none()
    }

    /// The timestamp up to which to delete, if the path has one.
    pub(crate) fn timestamp(&self) -> Option<i64> {
        (self.start_time == 0 && self.end_time != i64::MAX).then_some(self.end_time)
    }

    fn parse_columns(&mut self, columns: &str) -> Result<()> {
        let mut names = columns.split(',').peekable();
        while let Some(name) = names.next() {
            if !name.is_empty() {
                self.columns.insert(decode(name)?.into_bytes());
            } else if names.peek().is_some() {
                return Err(Error::illegal_argument("invalid path"));
            }
        }
        Ok(())
    }

    fn parse_times(&mut self, times: &str) -> Result<()> {
        let time = |text: &str| -> Result<i64> {
            decode(text)?.parse().map_err(|_| malformed("a timestamp", text))
        };
        let (first, second) = match times.split_once(',') {
            Some((first, second)) => (time(first)?, time(second)?),
            None => (time(times)?, 0),
        };
        (self.start_time, self.end_time) =
            if second == 0 { (self.start_time, first) } else { (first, second) };
        Ok(())
    }

    /// `?m=versions` and `?n=values`, URL-encoded into the path.
    fn parse_parameters(&mut self, text: &str) -> Result<()> {
        let text = decode(text)?;
        let mut rest = text.as_str();
        while let Some(parameter) = rest.strip_prefix(['?', '&']) {
            let end = parameter.find(['?', '&']).unwrap_or(parameter.len());
            let (parameter, after) = parameter.split_at(end);
            let (name, value) =
                parameter.split_once('=').ok_or_else(|| malformed("a parameter", parameter))?;
            let value = value.parse().map_err(|_| malformed("a number", value))?;
            match name {
                "m" => self.versions_max = value,
                "n" => self.values_max = value,
                _ => return Err(malformed("a parameter", name)),
            }
            rest = after;
        }
        Ok(())
    }

    fn decode_keys(&mut self, encoding: &str) -> Result<()> {
        let decode: fn(&Vec<u8>) -> Option<Vec<u8>> = match encoding {
            "b64" | "base64" | "b64url" | "base64url" => |text| java::decode_base64_url(text),
            "b64basic" | "base64basic" => |text| java::decode_base64(text),
            _ => return Err(malformed("a key encoding", encoding)),
        };
        let key = |text: &Vec<u8>| decode(text).ok_or_else(|| malformed("Base64", "a key"));
        self.row = key(&self.row)?;
        self.end_row = self.end_row.as_ref().map(key).transpose()?;
        self.columns = self.columns.iter().map(key).collect::<Result<_>>()?;
        Ok(())
    }
}

/// A part of a path and what follows its slash.
fn split(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((part, rest)) => (part, Some(rest).filter(|rest| !rest.is_empty())),
        None => (path, None),
    }
}

fn parse_rows(rows: &str) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    let (start, end) = match rows.split_once(',') {
        Some((start, end)) => (decode(start)?, Some(decode(end)?)),
        None => (decode(rows)?, None),
    };
    if start.is_empty() {
        return Err(Error::illegal_argument("a path without a row"));
    }
    let Some(prefix) = start.strip_suffix('*') else {
        return Ok((start.into_bytes(), end.map(String::into_bytes)));
    };
    if end.is_some() {
        return Err(Error::illegal_argument("invalid path: start row specified with wildcard"));
    }
    let mut end = prefix.as_bytes().to_vec();
    end.push(u8::MAX);
    Ok((prefix.as_bytes().to_vec(), Some(end)))
}

fn decode(text: &str) -> Result<String> {
    java::decode_url(text).ok_or_else(|| malformed("URL-encoded", text))
}

fn malformed(what: &str, text: impl fmt::Display) -> Error {
    Error::illegal_argument(format!("this is not {what}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str) -> RowSpec {
        RowSpec::parse(path, None).unwrap()
    }

    fn columns(spec: &RowSpec) -> Vec<&[u8]> {
        spec.columns.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn rows_may_be_ranges() {
        assert_eq!(parse("r1").row, b"r1");
        assert_eq!(parse("//r1/").end_row, None);
        assert_eq!(parse("a%2Fb+c").row, b"a/b c");
        assert_eq!(parse("r1,r2").end_row.unwrap(), b"r2");
        assert_eq!(parse("r1,").end_row.unwrap(), b"");
        assert_eq!(parse("r%2A").end_row.unwrap(), b"r\xff");
        assert_eq!(parse("*").row, b"");
    }

    #[test]
    fn columns_and_times_follow() {
        let spec = parse("r/b:2,a,/100,200");
        assert_eq!(columns(&spec), [&b"a"[..], b"b:2"]);
        assert_eq!((spec.start_time, spec.end_time), (100, 200));
        assert_eq!(spec.timestamp(), None);
        let spec = parse("r/a:1/100");
        assert_eq!((spec.start_time, spec.timestamp()), (0, Some(100)));
        let spec = parse("r/a:1/5/%3Fm=3%26n=2");
        assert_eq!((spec.versions_max, spec.values_max), (3, 2));
    }

    #[test]
    fn keys_may_be_base64() {
        let spec = RowSpec::parse("_w/YTox", Some("b64")).unwrap();
        assert_eq!((spec.row.as_slice(), columns(&spec)), (&b"\xff"[..], vec![&b"a:1"[..]]));
        assert_eq!(RowSpec::parse("%2Fw==", Some("b64basic")).unwrap().row, b"\xff");
        assert!(RowSpec::parse("r", Some("hex")).is_err());
    }

    #[test]
    fn malformed_paths_are_refused() {
        for path in ["", "/", "r/,a", "r/a,,b", "r/a/x", "r/a/1,", "%zz", "r*,s", "r/a/1/%3Fm=x"] {
            assert!(RowSpec::parse(path, None).is_err(), "{path}");
        }
    }
}
