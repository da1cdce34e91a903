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

pub(crate) fn collect(items: Items<'_>) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::new();
    for item in items {
        all.push(item?);
        if all.len() > super::ITEMS_MAX {
            return super::sized(Value::Array(all)).map(|_| Vec::new());
        }
    }
    Ok(all)
}
