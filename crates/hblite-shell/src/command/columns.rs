//! Column specifications: `family`, `family:qualifier`, `family:qualifier:CONVERTER`.

use std::collections::HashMap;

use super::Failure;
use crate::value::Value;

/// A column as a command names it (`Table.parse_column_format_spec`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) family: Vec<u8>,
    /// `None` if there was no colon: the whole family.
    pub(super) qualifier: Option<Vec<u8>>,
    /// How values of the column are printed.
    pub(super) converter: Option<String>,
}

impl Column {
    /// Reads a specification. A qualifier ends at its first colon.
    pub(super) fn parse(value: &Value) -> Result<Self, Failure> {
        let (Value::String(_) | Value::Symbol(_)) = value else {
            return Err(Failure::refused(format!(
                "a column must be given as 'family:qualifier', not as {}",
                value.inspect()
            )));
        };
        let spec = value.to_bytes();
        let (family, rest) = split_at_colon(&spec);
        let (qualifier, converter) = match rest.map(split_at_colon) {
            Some((qualifier, converter)) => (Some(qualifier.to_vec()), converter),
            None => (None, None),
        };
        Ok(Self {
            family: family.to_vec(),
            qualifier,
            converter: converter.map(|name| String::from_utf8_lossy(name).into_owned()),
        })
    }

    /// The qualifier to write to: the empty one if none is given.
    pub(super) fn qualifier_or_empty(&self) -> &[u8] {
        self.qualifier.as_deref().unwrap_or_default()
    }
}

fn split_at_colon(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|byte| *byte == b':') {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    }
}

/// Converters by column.
pub(super) type Converters = HashMap<(Vec<u8>, Vec<u8>), String>;

/// The columns of a read: one or an array of them.
pub(super) fn parse_columns(value: Option<&Value>) -> Result<Vec<Column>, Failure> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(Column::parse).collect(),
        Some(value @ (Value::String(_) | Value::Symbol(_))) => Ok(vec![Column::parse(value)?]),
        Some(_) => Err(Failure::refused("COLUMNS must be specified as a String or an Array")),
    }
}

/// The converters that columns name.
pub(super) fn converters(columns: &[Column]) -> Converters {
    let named = columns.iter().filter_map(|column| {
        let key = (column.family.clone(), column.qualifier_or_empty().to_vec());
        Some((key, column.converter.clone()?))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_part_family_qualifier_and_converter() {
        let column = |spec: &str| {
            let column = Column::parse(&Value::from(spec)).unwrap();
            let qualifier = column.qualifier.map(|q| String::from_utf8(q).unwrap());
            (String::from_utf8(column.family).unwrap(), qualifier, column.converter)
        };
        assert_eq!(column("f"), ("f".into(), None, None));
        assert_eq!(column("f:"), ("f".into(), Some("".into()), None));
        assert_eq!(column("f:q"), ("f".into(), Some("q".into()), None));
        assert_eq!(column("f:q:toLong"), ("f".into(), Some("q".into()), Some("toLong".into())));
    }
}
