//! The items that loops run over.

use super::{missing, string};
use crate::error::Failure;
use crate::value::Value;

/// Items of a loop, made one by one: a range may be long.
pub(crate) type Items<'a> = Box<dyn Iterator<Item = Result<Value, Failure>> + 'a>;

/// The items of an array, a hash or a range.
pub(crate) fn items(value: &Value) -> Result<Items<'_>, Failure> {
    Ok(match value {
        Value::Array(items) => Box::new(items.iter().cloned().map(Ok)),
        Value::Hash(hash) => Box::new(
            hash.iter().map(|(key, value)| Ok(Value::Array(vec![key.clone(), value.clone()]))),
        ),
        Value::Range(ends, is_open) => match &**ends {
            (Value::Integer(first), Value::Integer(last)) => {
                let last = if *is_open { last.saturating_sub(1) } else { *last };
                Box::new((*first..=last).map(|number| Ok(Value::Integer(number))))
            }
            (Value::String(first), Value::String(last)) => texts(first, last, *is_open),
            (first, _) => {
                let message = format!("can't iterate from {}", first.class_name());
                return Err(Failure::ruby("TypeError", message));
            }
        },
        other => return Err(missing(other, "each", &[])),
    })
}

/// Texts from `first` to `last`, or as long as they are no longer than `last`.
pub(crate) fn texts<'a>(first: &'a [u8], last: &'a [u8], is_open: bool) -> Items<'a> {
    let mut next = (first.len() <= last.len()).then(|| first.to_vec());
    Box::new(std::iter::from_fn(move || {
        let text = next.take()?;
        if text == last {
            return (!is_open).then_some(Ok(Value::String(text)));
        }
        next = Some(string::successor(&text)).filter(|text| text.len() <= last.len());
        Some(Ok(Value::String(text)))
    }))
}

/// Values that are kept, as far as they are not too large.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    values: Vec<Value>,
    weight: usize,
}

impl Kept {
    pub(crate) fn push(&mut self, value: Value) -> Result<(), Failure> {
        self.weight = self.weight.saturating_add(super::weight_of(&value, 1));
        if self.weight > super::VALUE_MAX || self.values.len() == super::ITEMS_MAX {
            return Err(super::too_large());
        }
        self.values.push(value);
        Ok(())
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        self.values
    }
}

pub(crate) fn collect(items: Items<'_>) -> Result<Vec<Value>, Failure> {
    let mut all = Kept::default();
    for item in items {
        all.push(item?)?;
    }
    Ok(all.into_values())
}
