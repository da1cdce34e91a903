//! Which conditions a key supports: the matrix from row-key guides, computed.

use std::fmt;

use crate::design::Design;
use crate::error::Result;
use crate::part::Encoding;
use crate::plan::{Access, Plan};
use crate::query::Query;
use crate::text::{End, Text, Turn};
use crate::value::Value;

/// What is known of a field, whatever its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Known {
    /// Its value.
    Value,
    /// Its beginning, or a range.
    Part,
    /// Its end.
    End,
}

/// How a design serves one set of conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// Fields that are known, in the order of the key.
    pub known: Vec<(String, Known)>,
    /// How rows are reached.
    pub access: Access,
    /// How many scans it takes.
    pub scans: usize,
    /// Fields to check on each row.
    pub checked: Vec<String>,
}

/// The maximum number of fields in a matrix. More would produce thousands of lines.
const MATRIX_FIELDS_MAX: usize = 6;

impl Design {
    /// How the design serves conditions on these fields.
    ///
    /// ```
    /// use hblite_rowkey::{Access, Design, Known};
    /// let design = Design::parse("uid:str|phone:str|name:str")?;
    /// let support = design.support(&[("uid", Known::Value), ("phone", Known::Part)])?;
    /// assert_eq!(support.to_string(), "uid, part of phone: prefix scan");
    /// let support = design.support(&[("phone", Known::Value), ("name", Known::Value)])?;
    /// assert_eq!(support.access, Access::Table);
    /// # Ok::<(), hblite_rowkey::Error>(())
    /// ```
    ///
    /// The end of a text is known by its last characters, or by the last labels of a domain:
    ///
    /// ```
    /// use hblite_rowkey::{Design, Known};
    /// let turned = Design::parse("domain:domain|path:str")?;
    /// let support = turned.support(&[("domain", Known::End)])?;
    /// assert_eq!(support.to_string(), "the end of domain: prefix scan");
    /// # Ok::<(), hblite_rowkey::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Query` if there is no such field, or only the end of a number is known.
    pub fn support(&self, known: &[(&str, Known)]) -> Result<Support> {
        let mut query = Query::new();
        let mut fields = Vec::new();
        for (name, known) in known {
            let index = self.field_index(name)?;
            fields.push((index, *known));
            query = ask(query, name, self.fields()[index].encoding, *known);
        }
        fields.sort_by_key(|(index, _)| *index);
        let name = |(index, known): (usize, Known)| (self.fields()[index].name.clone(), known);
        let known = fields.into_iter().map(name).collect();
        Ok(Support::of(known, &self.plan(&query)?))
    }

    /// How the design serves every combination of known fields, the last of them both complete and
    /// partial, whole keys first. For a key with many fields, only the first six count.
    ///
    /// # Errors
    /// None for a valid design; the signature is that of [`Design::support`].
    pub fn support_matrix(&self) -> Result<Vec<Support>> {
        let fields = &self.fields()[..self.fields().len().min(MATRIX_FIELDS_MAX)];
        let mut matrix = Vec::new();
        for set in (1..1_usize << fields.len()).rev() {
            // The first field is the highest bit, so that combinations that know the front come
            // first.
            let is_in = |index: &usize| set >> (fields.len() - 1 - index) & 1 == 1;
            let chosen: Vec<usize> = (0..fields.len()).filter(is_in).collect();
            // The end of a value helps only if it is written backwards.
            let ends = chosen.last().filter(|index| is_turned(fields[**index].encoding));
            let ends = ends.map(|_| Known::End);
            for last in [Known::Value, Known::Part].into_iter().chain(ends) {
                let known = chosen.iter().enumerate().map(|(place, index)| {
                    let is_last = place + 1 == chosen.len();
                    (fields[*index].name.as_str(), if is_last { last } else { Known::Value })
                });
                matrix.push(self.support(&known.collect::<Vec<_>>())?);
            }
        }
        Ok(matrix)
    }
}

/// Adds a condition on some value. Which value does not affect the plan.
fn ask(query: Query, name: &str, encoding: Encoding, known: Known) -> Query {
    match (encoding, known) {
        (Encoding::Number(_), Known::Value) => query.equals(name, 1_u64),
        (Encoding::Number(_), Known::Part) => query.range(name, 0_u64..1 << 40),
        (Encoding::Text(text), Known::Value) => match (text.is_text, encoding.width()) {
            (false, Some(width)) => query.equals(name, vec![b'v'; width]),
            _ => query.equals(name, sample(text)),
        },
        (Encoding::Text(text), Known::Part) => query.prefix(name, sample(text)),
        (Encoding::Text(text), Known::End) => query.suffix(name, sample_end(text)),
        (_, Known::Value) => query.equals(name, Value::from("v".to_owned())),
        (_, Known::Part) => query.prefix(name, Value::from("v".to_owned())),
        (Encoding::Number(_), Known::End) => query,
        (_, Known::End) => query.suffix(name, Value::from(".v".to_owned())),
    }
}

/// A value that the field can hold: its bytes are greater than the delimiter.
fn sample(text: Text) -> Value<'static> {
    match text.end {
        End::Delimiter(delimiter) if delimiter >= b'v' => match text.is_text {
            // In UTF-8, of all characters the one whose least byte is the greatest.
            true => Value::from("\u{7ff}".to_owned()),
            false => Value::from(vec![0xff]),
        },
        _ => Value::from("v".to_owned()),
    }
}

/// The end of such a value: with a dot, if it fits, so that a domain has a whole label.
fn sample_end(text: Text) -> Value<'static> {
    match text.end {
        End::Fixed(1) => sample(text),
        End::Delimiter(delimiter) if delimiter >= b'.' => sample(text),
        _ => Value::from(".v".to_owned()),
    }
}

/// Whether text is written backwards, by characters or labels.
fn is_turned(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Text(text) if text.turn != Turn::Plain)
}

impl Support {
    fn of(known: Vec<(String, Known)>, plan: &Plan) -> Self {
        Self {
            known,
            access: plan.access,
            scans: plan.ranges.len(),
            checked: plan.checks.iter().map(|check| check.field.clone()).collect(),
        }
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (field, known)) in self.known.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let part = match known {
                Known::Value => "",
                Known::Part => "part of ",
                Known::End => "the end of ",
            };
            write!(f, "{comma}{part}{field}")?;
        }
        match (self.access, self.scans) {
            (Access::Rows, 1) => f.write_str(": one row")?,
            (Access::Rows, scans) => write!(f, ": one row under each of {scans} prefixes")?,
            (access, 1) => write!(f, ": {access}")?,
            (access, scans) => write!(f, ": {scans} × {access}")?,
        }
        if self.access == Access::Ranges && !self.checked.is_empty() {
            write!(f, ", {} checked row by row", self.checked.join(", "))?;
        }
        Ok(())
    }
}
