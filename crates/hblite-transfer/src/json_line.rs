//! A row as a line of JSON.
//!
//! ```text
//! {"row":"u1","cells":[{"column":"info:name","timestamp":1767225600000,"value":"Ada"}]}
//! ```
//!
//! | field of a cell | what | when missing |
//! |---|---|---|
//! | `column` | `family:qualifier`; the first colon divides | an error |
//! | `timestamp` | milliseconds | the import's |
//! | `type` | `Put`, or HBase's name of a delete marker | `Put` |
//! | `value` | of a `Put` | an error; markers have none |
//! | `ttl` | the cell's own time to live in milliseconds | none |
//!
//! Bytes are written as HBase prints them (`Bytes.toStringBinary`): printable ASCII as itself,
//! every other byte and the backslash as `\xHH`, whose backslash JSON doubles. That is exact in
//! both directions. On import, other characters mean their UTF-8 bytes.

use std::borrow::Cow;
use std::io::{self, Write};

use hblite::bytes::from_string_binary;
use hblite::{CellRef, CellType, Durability, Mutation};
use serde::Deserialize;

use crate::row_builder::RowBuilder;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowLine<'a> {
    #[serde(borrow)]
    row: Cow<'a, str>,
    #[serde(borrow)]
    cells: Vec<CellEntry<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CellEntry<'a> {
    #[serde(borrow)]
    column: Cow<'a, str>,
    timestamp: Option<i64>,
    #[serde(rename = "type")]
    cell_type: Option<Cow<'a, str>>,
    value: Option<Cow<'a, str>>,
    ttl: Option<i64>,
}

const TYPES: [CellType; 5] = [
    CellType::Put,
    CellType::Delete,
    CellType::DeleteFamilyVersion,
    CellType::DeleteColumn,
    CellType::DeleteFamily,
];

/// The mutations for the cells of a line.
///
/// # Errors
/// What is wrong with the line.
pub(crate) fn parse(
    line: &[u8],
    timestamp: i64,
    durability: Durability,
    into: &mut Vec<Mutation>,
) -> Result<(), String> {
    // The parser counts lines, but sees only this one.
    let reason =
        |error: serde_json::Error| error.to_string().replace(" at line 1 column ", ", column ");
    let line: RowLine<'_> = serde_json::from_slice(line).map_err(reason)?;
    let mut row = RowBuilder::new(from_string_binary(&line.row), durability);
    if line.cells.is_empty() {
        return Err("no cells".to_owned());
    }
    for (index, cell) in line.cells.iter().enumerate() {
        add(&mut row, cell, timestamp).map_err(|reason| format!("cell {}: {reason}", index + 1))?;
    }
    let mutations = row.finish();
    for mutation in &mutations {
        mutation.check().map_err(|error| error.message().to_owned())?;
    }
    into.extend(mutations);
    Ok(())
}

/// Adds a cell of the line to its row.
fn add(row: &mut RowBuilder, cell: &CellEntry<'_>, timestamp: i64) -> Result<(), String> {
    let column = from_string_binary(&cell.column);
    let colon = column.iter().position(|byte| *byte == b':').unwrap_or(column.len());
    let (family, qualifier) = (&column[..colon], column.get(colon + 1..).unwrap_or_default());
    let name = cell.cell_type.as_deref().unwrap_or("Put");
    let cell_type = TYPES.into_iter().find(|cell_type| cell_type.to_string() == name);
    let cell_type = cell_type.ok_or_else(|| format!("unknown type {name:?}"))?;
    let timestamp = cell.timestamp.unwrap_or(timestamp);
    if cell_type == CellType::Put {
        let value = cell.value.as_deref().ok_or("no value")?;
        if cell.ttl.is_some_and(|millis| millis <= 0) {
            return Err("ttl is not positive".to_owned());
        }
        row.add_put(family, qualifier, timestamp, &from_string_binary(value), cell.ttl);
        return Ok(());
    }
    if cell.value.is_some() || cell.ttl.is_some() {
        return Err(format!("a {name} has neither value nor ttl"));
    }
    let is_of_family = matches!(cell_type, CellType::DeleteFamily | CellType::DeleteFamilyVersion);
    if is_of_family && !qualifier.is_empty() {
        return Err(format!("a {name} has no qualifier"));
    }
    row.add_marker(family, qualifier, timestamp, cell_type);
    Ok(())
}

/// Writes the beginning of a line.
pub(crate) fn write_start(out: &mut impl Write, row: &[u8]) -> io::Result<()> {
    out.write_all(b"{\"row\":\"")?;
    write_bytes(out, row)?;
    out.write_all(b"\",\"cells\":[")
}

/// Writes a cell; the caller writes commas between cells.
pub(crate) fn write_cell(
    out: &mut impl Write,
    cell: &CellRef<'_>,
    ttl: Option<i64>,
) -> io::Result<()> {
    out.write_all(b"{\"column\":\"")?;
    write_bytes(out, cell.family())?;
    out.write_all(b":")?;
    write_bytes(out, cell.qualifier())?;
    write!(out, "\",\"timestamp\":{}", cell.timestamp())?;
    match cell.cell_type() {
        Some(CellType::Put) => {
            out.write_all(b",\"value\":\"")?;
            write_bytes(out, cell.value())?;
            out.write_all(b"\"")?;
        }
        Some(cell_type) => write!(out, ",\"type\":\"{cell_type}\"")?,
        None => write!(out, ",\"type\":\"{}\"", cell.type_code())?,
    }
    if let Some(millis) = ttl {
        write!(out, ",\"ttl\":{millis}")?;
    }
    out.write_all(b"}")
}

/// Writes the end of a line.
pub(crate) fn write_end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"]}\n")
}

/// Writes bytes as the inside of a JSON string.
fn write_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut rest = bytes;
    while !rest.is_empty() {
        let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !matches!(byte, b'\\' | b'"');
        let plain = rest.iter().take_while(|byte| is_plain(byte)).count();
        out.write_all(&rest[..plain])?;
        let Some(&byte) = rest.get(plain) else { break };
        if byte == b'"' {
            out.write_all(b"\\\"")?;
        } else {
            let (high, low) = (DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]);
            out.write_all(&[b'\\', b'\\', b'x', high, low])?;
        }
        rest = &rest[plain + 1..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hblite::bytes::to_string_binary;
    use proptest::prelude::*;

    use super::*;

    fn reason(line: &str) -> String {
        parse(line.as_bytes(), 5, Durability::UseDefault, &mut Vec::new()).unwrap_err()
    }

    #[test]
    fn what_is_no_row_is_refused_with_its_place() {
        let cell = |fields: &str| format!(r#"{{"row":"r","cells":[{{{fields}}}]}}"#);
        let refused = [
            ("{}".to_owned(), "missing field `row`"),
            (r#"{"row":"r","cells":[]}"#.to_owned(), "no cells"),
            (r#"{"row":"","cells":[{"column":"f:q","value":""}]}"#.to_owned(), "Row length is 0"),
            (cell(r#""column":"f:q""#), "cell 1: no value"),
            (cell(r#""column":"f:q","value":"v","type":"put""#), "unknown type \"put\""),
            (cell(r#""column":"f:q","value":"v","ttl":0"#), "ttl is not positive"),
            (cell(r#""column":"f:q","value":"v","stamp":0"#), "unknown field `stamp`"),
            (cell(r#""column":"f:q","value":"v","timestamp":-1"#), "Timestamp cannot be negative"),
            (cell(r#""column":"f:q","value":"v","type":"Delete""#), "neither value nor ttl"),
            (cell(r#""column":"f:q","type":"DeleteFamily""#), "no qualifier"),
        ];
        for (line, expected) in refused {
            let reason = reason(&line);
            assert!(reason.contains(expected), "{line}: {reason}");
        }
    }

    #[test]
    fn markers_of_families_do_not_push_one_another_out() {
        let line = r#"{"row":"r","cells":[{"column":"f:","timestamp":9,"type":"DeleteFamily"},
            {"column":"f:","timestamp":3,"type":"DeleteFamily"},
            {"column":"f:q","timestamp":2,"type":"DeleteColumn"},
            {"column":"f:q","timestamp":1,"value":"\\xC3ö"}]}"#;
        let mut mutations = Vec::new();
        parse(line.as_bytes(), 5, Durability::UseDefault, &mut mutations).unwrap();
        let cells: Vec<String> = mutations
            .iter()
            .flat_map(|mutation| mutation.cells().iter().map(|cell| cell.to_string()))
            .collect();
        let expected = [
            "r/f:/9/DeleteFamily/vlen=0/seqid=0",
            "r/f:/3/DeleteFamily/vlen=0/seqid=0",
            "r/f:q/2/DeleteColumn/vlen=0/seqid=0",
            "r/f:q/1/Put/vlen=3/seqid=0",
        ];
        assert_eq!(cells, expected);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut text = b"\"".to_vec();
            write_bytes(&mut text, &bytes).unwrap();
            text.push(b'"');
            let string: String = serde_json::from_slice(&text).unwrap();
            prop_assert_eq!(&string, &to_string_binary(&bytes));
            prop_assert_eq!(from_string_binary(&string), bytes);
        }
    }
}
