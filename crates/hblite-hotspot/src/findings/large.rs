//! Large cells and large rows, as HBase's files say of themselves in an hblite.

use hblite::bytes::to_string_binary;
use hblite::{LargeItem, RowCounts};
use serde::Serialize;

use super::quoted;

/// A large cell or row of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Large {
    /// `large_cell` or `large_row`.
    pub kind: &'static str,
    /// The row.
    pub row: String,
    /// Family and qualifier of a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Its size, at least.
    pub bytes: u64,
    /// What is large, as a sentence.
    pub text: String,
    /// What would help.
    pub help: &'static str,
}

/// What is large in a table, the largest first.
pub fn large(rows: &RowCounts, table: &str) -> Vec<Large> {
    let own = rows.large.iter().filter(|item| item.table.to_string() == table);
    own.map(|item| Large::of(item, table)).collect()
}

impl Large {
    fn of(item: &LargeItem, table: &str) -> Self {
        let LargeItem { row, column, bytes, .. } = item;
        let (size, shown) = (mebibytes(*bytes), quoted(row));
        let column = column.as_ref().map(|(family, qualifier)| {
            format!("{}:{}", to_string_binary(family), to_string_binary(qualifier))
        });
        let text = match &column {
            Some(column) => {
                format!("A cell of {table} is large: row {shown}, column {column}, {size}.")
            }
            None => format!("A row of {table} is large: {shown}, at least {size}."),
        };
        let (kind, help) = match column {
            Some(_) => (
                "large_cell",
                "A cell is read, sent and compacted as a whole: divide it among several columns, \
                 or keep it elsewhere and store where it is.",
            ),
            None => (
                "large_row",
                "No split divides a row: put a part of what its columns are named after into the \
                 key.",
            ),
        };
        Self { kind, row: to_string_binary(row), column, bytes: *bytes, text, help }
    }
}

fn mebibytes(bytes: u64) -> String {
    let size = bytes as f64 / f64::from(1 << 20);
    if size < 100.0 { format!("{size:.1} MiB") } else { format!("{size:.0} MiB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_data_of_the_table_is_said_with_its_place() {
        let item = |table: &str, column, bytes| LargeItem {
            table: table.parse().unwrap_or_else(|_| unreachable!()),
            region: "0123".to_owned(),
            row: b"r\0".to_vec(),
            column,
            bytes,
        };
        let column = Some((b"f".to_vec(), b"\xff".to_vec()));
        let large_of = vec![
            item("t", None, 16 << 20),
            item("ns:t", None, 1 << 30),
            item("t", column, (3 << 20) / 2),
        ];
        let rows = RowCounts { large: large_of, ..RowCounts::default() };
        let texts: Vec<String> = large(&rows, "t").into_iter().map(|large| large.text).collect();
        let expected = [
            r#"A row of t is large: "r\x00", at least 16.0 MiB."#,
            r#"A cell of t is large: row "r\x00", column f:\xFF, 1.5 MiB."#,
        ];
        assert_eq!(texts, expected);
        assert_eq!(
            large(&rows, "ns:t")[0].text,
            r#"A row of ns:t is large: "r\x00", at least 1024 MiB."#
        );
    }
}
