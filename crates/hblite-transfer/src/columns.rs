//! The meaning of a line's fields: the column syntax of HBase's ImportTsv.
//!
//! Source: `ImportTsv.TsvParser`, `ImportTsv.run`.

use std::fmt;

use crate::error::TransferError;

/// The meaning of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// `HBASE_ROW_KEY`: the row.
    RowKey,
    /// `HBASE_TS_KEY`: the timestamp of the line's cells, in milliseconds.
    Timestamp,
    /// `HBASE_CELL_TTL`: the time to live of the line's cells, in milliseconds.
    TimeToLive,
    /// `HBASE_ATTRIBUTES_KEY`: attributes of the operation, which have no meaning without
    /// coprocessors; the field must be present.
    Attributes,
    /// `family:qualifier`, or `family` for the empty qualifier: the value of a cell.
    Cell {
        /// The family.
        family: Vec<u8>,
        /// The qualifier.
        qualifier: Vec<u8>,
    },
}

const ROW_KEY: &str = "HBASE_ROW_KEY";
const TIMESTAMP: &str = "HBASE_TS_KEY";
const TIME_TO_LIVE: &str = "HBASE_CELL_TTL";
const ATTRIBUTES: &str = "HBASE_ATTRIBUTES_KEY";
const VISIBILITY: &str = "HBASE_CELL_VISIBILITY";
const SPECIAL: [&str; 5] = [ROW_KEY, TIMESTAMP, TIME_TO_LIVE, ATTRIBUTES, VISIBILITY];

/// The meaning of a header line without an `HBASE_ROW_KEY`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderNames {
    /// The name of the field that is the row key; `None` for the first field.
    pub row_key: Option<String>,
    /// The family of names without a colon.
    pub family: Option<String>,
}

/// The fields of a line, in order.
///
/// ```
/// use hblite_transfer::Columns;
/// let columns = Columns::parse("HBASE_ROW_KEY, info:name, HBASE_TS_KEY")?;
/// assert_eq!(columns.families(), [b"info".as_slice()]);
/// assert!(Columns::parse("info:name").is_err());
/// # Ok::<(), hblite_transfer::TransferError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    fields: Vec<Column>,
    row_key: usize,
}

impl Columns {
    /// Columns in the form of ImportTsv's `importtsv.columns`, separated by commas.
    ///
    /// # Errors
    /// `Invalid`: whatever ImportTsv refuses, with its message.
    pub fn parse(text: &str) -> Result<Self, TransferError> {
        Self::from_names(text.split(','))
    }

    /// As [`Columns::parse`], one name at a time.
    ///
    /// # Errors
    /// As [`Columns::parse`].
    pub fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, TransferError> {
        let fields = names.map(|name| column(name.trim())).collect::<Result<Vec<_>, _>>()?;
        let count = |column: &Column| fields.iter().filter(|field| *field == column).count();
        if count(&Column::RowKey) != 1 {
            return Err(invalid(format!("Must specify exactly one column as {ROW_KEY}")));
        }
        let singles = [
            (Column::Timestamp, TIMESTAMP),
            (Column::TimeToLive, TIME_TO_LIVE),
            (Column::Attributes, ATTRIBUTES),
        ];
        for (column, name) in singles {
            if count(&column) > 1 {
                return Err(invalid(format!("Must specify at most one column as {name}")));
            }
        }
        if !fields.iter().any(|field| matches!(field, Column::Cell { .. })) {
            return Err(invalid(
                "One or more columns in addition to the row key and timestamp(optional) are \
                 required"
                    .to_owned(),
            ));
        }
        let row_key = fields.iter().position(|field| *field == Column::RowKey).unwrap_or(0);
        Ok(Self { fields, row_key })
    }

    /// The fields of a header line. One with an `HBASE_ROW_KEY` is read as by [`Columns::parse`].
    /// In any other, the row key is a field as `header` says, and names without a colon are
    /// qualifiers.
    ///
    /// # Errors
    /// As [`Columns::parse`]; `Invalid` too if the header does not have the row key, or a name has
    /// no family.
    pub fn from_header(names: &[&str], header: &HeaderNames) -> Result<Self, TransferError> {
        let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
        let place = match &header.row_key {
            Some(key) => names.iter().position(|name| name == key).ok_or_else(|| {
                invalid(format!("the header has no {key}, only {}", names.join(", ")))
            })?,
            None if names.contains(&ROW_KEY) => return Self::from_names(names.into_iter()),
            None => 0,
        };
        let name_of = |(index, name): (usize, &&str)| match (&header.family, *name) {
            _ if index == place => Ok(ROW_KEY.to_owned()),
            (_, "") => Err(invalid(format!("field {} of the header has no name", index + 1))),
            (_, name) if name.contains(':') || SPECIAL.contains(&name) => Ok(name.to_owned()),
            (Some(family), name) => Ok(format!("{family}:{name}")),
            (None, name) => Err(invalid(format!(
                "the column {name:?} of the header has no family: name it with --family"
            ))),
        };
        let names = names.iter().enumerate().map(name_of).collect::<Result<Vec<_>, _>>()?;
        Self::from_names(names.iter().map(String::as_str))
    }

    /// The fields in order.
    pub fn fields(&self) -> &[Column] {
        &self.fields
    }

    /// The index of the row key.
    pub fn row_key(&self) -> usize {
        self.row_key
    }

    /// Whether one of the fields is the timestamp.
    pub fn has_timestamp(&self) -> bool {
        self.fields.contains(&Column::Timestamp)
    }

    /// Whether one of the fields is the time to live.
    pub fn has_time_to_live(&self) -> bool {
        self.fields.contains(&Column::TimeToLive)
    }

    /// The families, each once, in the order of their first mention.
    pub fn families(&self) -> Vec<&[u8]> {
        let mut families: Vec<&[u8]> = Vec::new();
        for (family, _) in self.cells() {
            if !families.contains(&family) {
                families.push(family);
            }
        }
        families
    }

    /// Families and qualifiers of the fields that are cells.
    pub fn cells(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields.iter().filter_map(|field| match field {
            Column::Cell { family, qualifier } => Some((family.as_slice(), qualifier.as_slice())),
            _ => None,
        })
    }
}

/// The name that [`Columns::parse`] accepts for the column.
impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RowKey => ROW_KEY,
            Self::Timestamp => TIMESTAMP,
            Self::TimeToLive => TIME_TO_LIVE,
            Self::Attributes => ATTRIBUTES,
            Self::Cell { family, qualifier } => {
                let (family, qualifier) =
                    (String::from_utf8_lossy(family), String::from_utf8_lossy(qualifier));
                return write!(f, "{family}:{qualifier}");
            }
        })
    }
}

fn column(name: &str) -> Result<Column, TransferError> {
    Ok(match name {
        ROW_KEY => Column::RowKey,
        TIMESTAMP => Column::Timestamp,
        TIME_TO_LIVE => Column::TimeToLive,
        ATTRIBUTES => Column::Attributes,
        VISIBILITY => {
            return Err(invalid(format!("{VISIBILITY} is not supported: there are no labels")));
        }
        "" => return Err(invalid("a column has no name".to_owned())),
        _ => {
            let (family, qualifier) = name.split_once(':').unwrap_or((name, ""));
            Column::Cell { family: family.into(), qualifier: qualifier.into() }
        }
    })
}

fn invalid(message: String) -> TransferError {
    TransferError::Invalid(format!("columns: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_import_tsv_refuses_is_refused() {
        let refused = [
            ("f:q", "exactly one"),
            ("HBASE_ROW_KEY,HBASE_ROW_KEY,f:q", "exactly one"),
            ("HBASE_ROW_KEY,HBASE_TS_KEY", "One or more columns"),
            ("HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_TS_KEY,f", "at most one"),
            ("HBASE_ROW_KEY,HBASE_CELL_VISIBILITY,f", "labels"),
            ("HBASE_ROW_KEY,,f", "no name"),
        ];
        for (text, reason) in refused {
            let error = Columns::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn any_header_names_columns_and_the_first_is_the_row_key() {
        let of = |names: &[&str], row_key: Option<&str>, family: Option<&str>| {
            let [row_key, family] = [row_key, family].map(|text| text.map(str::to_owned));
            Columns::from_header(names, &HeaderNames { row_key, family })
        };
        let shown = |columns: Columns| {
            columns.fields().iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        };
        let names = ["id", " name", "g:city", "HBASE_TS_KEY"];
        let first = of(&names, None, Some("f")).unwrap();
        assert_eq!(shown(first), "HBASE_ROW_KEY,f:name,g:city,HBASE_TS_KEY");
        let named = of(&names, Some("name"), Some("f")).unwrap();
        assert_eq!(shown(named), "f:id,HBASE_ROW_KEY,g:city,HBASE_TS_KEY");
        let marked = of(&["f", "HBASE_ROW_KEY"], None, Some("g")).unwrap();
        assert_eq!(shown(marked), "f:,HBASE_ROW_KEY", "as in columns");
        for (names, row_key, family, reason) in [
            (&names[..], Some("key"), Some("f"), "the header has no key, only id, name, g:city"),
            (&names, None, None, "\"name\" of the header has no family"),
            (&["id", ""], None, Some("f"), "field 2 of the header has no name"),
            (&["id"], None, Some("f"), "One or more columns"),
            (&["id", "HBASE_ROW_KEY", "x"], Some("id"), Some("f"), "exactly one"),
        ] {
            let error = of(names, row_key, family).unwrap_err().to_string();
            assert!(error.contains(reason), "{names:?}: {error}");
        }
    }

    #[test]
    fn a_family_alone_has_the_empty_qualifier_and_the_first_colon_counts() {
        let columns = Columns::parse("f, HBASE_ROW_KEY ,g:a:b").unwrap();
        assert_eq!(columns.row_key(), 1);
        let cells: Vec<_> = columns.cells().collect();
        assert_eq!(cells, [(&b"f"[..], &b""[..]), (&b"g"[..], &b"a:b"[..])]);
        assert_eq!(columns.fields()[2].to_string(), "g:a:b");
    }
}
