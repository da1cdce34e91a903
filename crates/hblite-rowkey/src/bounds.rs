//! What a condition on one field implies for the bytes of the field.

use crate::bytes::{KeyRange, next_after_prefix};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::number::Number;
use crate::part::{Encoding, Field};
use crate::query::{FieldCondition, domain_prefix, reversed_prefix};
use crate::text::{Text, Turn};
use crate::value::Value;

/// A range of the bytes that follow a prefix.
#[derive(Debug)]
pub(crate) struct Bound {
    /// The first bytes in the range.
    start: Vec<u8>,
    /// The first bytes after the range; `None` if it extends to the end of the prefix.
    stop: Option<Vec<u8>>,
    /// Whether every key in the range fulfils the condition.
    pub(crate) is_exact: bool,
    /// Whether no value fulfils the condition.
    pub(crate) is_empty: bool,
}

impl Bound {
    fn new(start: Vec<u8>, stop: Option<Vec<u8>>) -> Self {
        Self { start, stop, is_exact: true, is_empty: false }
    }

    fn nothing() -> Self {
        Self { is_empty: true, ..Self::new(Vec::new(), None) }
    }

    fn of_prefix(prefix: Vec<u8>) -> Self {
        let stop = next_after_prefix(&prefix);
        Self::new(prefix, (!stop.is_empty()).then_some(stop))
    }

    pub(crate) fn range(&self, prefix: &[u8]) -> KeyRange {
        let start = [prefix, self.start.as_slice()].concat();
        let stop = match &self.stop {
            Some(stop) => [prefix, stop.as_slice()].concat(),
            None => next_after_prefix(prefix),
        };
        KeyRange { start, stop }
    }
}

/// The bytes of a field that meet a condition; `None` if the condition cannot be checked on them.
///
/// # Errors
/// `Query` if the condition does not apply to the field's type, `Value` if its value does not fit.
pub(crate) fn bound_of(
    design: &Design,
    field: usize,
    condition: &FieldCondition,
) -> Result<Option<Bound>> {
    let Field { name, encoding } = &design.fields()[field];
    match (encoding, condition) {
        (Encoding::Number(number), FieldCondition::Range { from, to }) => {
            let of = |value: &Option<Value<'static>>| match value {
                Some(value) => value.as_number().map(Some).ok_or_else(|| {
                    Error::query(format!("{name} is a number and cannot be compared with {value}"))
                }),
                None => Ok(None),
            };
            let (from, to) = (of(from)?, of(to)?);
            Ok(number.is_ordered().then(|| number_bound(*number, from, to)))
        }
        (Encoding::Number(_), FieldCondition::Prefix(_) | FieldCondition::Suffix(_)) => Err(
            Error::query(format!("{name} is a number: it has no prefix or suffix, use a range")),
        ),
        (Encoding::Text(text), condition) => text_bound(design, field, text, condition),
        (Encoding::Md5 | Encoding::Md5Hex(_), _) | (_, FieldCondition::Equals(_)) => Ok(None),
    }
}

fn number_bound(number: Number, from: Option<i128>, to: Option<i128>) -> Bound {
    let first = from.map_or(number.least(), |from| from.max(number.least()));
    let last = to.map_or(number.greatest(), |to| (to - 1).min(number.greatest()));
    if first > last {
        return Bound::nothing();
    }
    let (Some(first), Some(last)) = (number.bits_of(first), number.bits_of(last)) else {
        return Bound::nothing();
    };
    let (least, greatest) = if number.is_descending() { (last, first) } else { (first, last) };
    let bytes = |bits: u64| {
        let mut bytes = Vec::with_capacity(8);
        number.push(bits, &mut bytes);
        bytes
    };
    let all_ones = u64::MAX >> (64 - 8 * number.width());
    Bound::new(bytes(least), (greatest < all_ones).then(|| bytes(greatest + 1)))
}

fn text_bound(
    design: &Design,
    field: usize,
    text: &Text,
    condition: &FieldCondition,
) -> Result<Option<Bound>> {
    let name = &design.fields()[field].name;
    let wants_text = |value: &Value<'_>| {
        if value.as_bytes().is_none() {
            return Err(Error::query(format!("{name} cannot be compared with {value}, a number")));
        }
        Ok(())
    };
    // A bound may be longer than the field, or have bytes that no value has.
    let open = Text { end: crate::text::End::Rest, turn: Turn::Plain, is_text: false };
    let escaped = matches!(text.end, crate::text::End::Escaped) && !design.is_last(field);
    let open = if escaped { Text { end: crate::text::End::Escaped, ..open } } else { open };
    let bytes = |value: &Value<'_>| {
        wants_text(value)?;
        let mut bytes = Vec::new();
        let pushed = open.push_open(value, false, &mut bytes);
        pushed.map_err(|message| Error::value(name, message))?;
        Ok(bytes)
    };
    match (condition, text.turn) {
        (FieldCondition::Prefix(prefix), Turn::Plain) => Ok(Some(Bound::of_prefix(bytes(prefix)?))),
        (FieldCondition::Range { from, to }, Turn::Plain) => {
            let from = from.as_ref().map(&bytes).transpose()?.unwrap_or_default();
            let to = to.as_ref().map(&bytes).transpose()?;
            if to.as_ref().is_some_and(|to| *to <= from) {
                return Ok(Some(Bound::nothing()));
            }
            Ok(Some(Bound::new(from, to)))
        }
        (FieldCondition::Suffix(suffix), turn @ (Turn::Reversed | Turn::Domain)) => {
            let text = suffix.as_text().ok_or_else(|| {
                Error::query(format!("{name} is text and cannot end with {suffix}"))
            })?;
            let (prefix, is_exact) = match turn {
                Turn::Domain => (domain_prefix(text), text.starts_with('.')),
                _ => (reversed_prefix(text), true),
            };
            if prefix.is_empty() {
                return Ok(None);
            }
            let bound = Bound::of_prefix(bytes(&Value::from(prefix))?);
            Ok(Some(Bound { is_exact, ..bound }))
        }
        (FieldCondition::Prefix(value) | FieldCondition::Suffix(value), _) => {
            wants_text(value)?;
            Ok(None)
        }
        (FieldCondition::Range { from, to }, _) => {
            from.iter().chain(to).try_for_each(wants_text)?;
            Ok(None)
        }
        (FieldCondition::Equals(_), _) => Ok(None),
    }
}
