//! Methods that change their receiver.

use super::{ITEMS_MAX, VALUE_MAX, call as call_value, integer, too_large, type_error, weight_of};
use crate::error::Failure;
use crate::value::Value;

/// Methods whose name without the `!` returns what they make of their receiver.
const IN_PLACE: [&str; 22] = [
    "upcase!",
    "downcase!",
    "capitalize!",
    "reverse!",
    "strip!",
    "lstrip!",
    "rstrip!",
    "chomp!",
    "chop!",
    "succ!",
    "next!",
    "swapcase!",
    "sub!",
    "gsub!",
    "tr!",
    "sort!",
    "uniq!",
    "compact!",
    "flatten!",
    "rotate!",
    "merge!",
    "squeeze!",
];

/// Methods after which no value has become too large.
const SHRINKS: [&str; 5] = ["pop", "shift", "delete", "delete_at", "clear"];

/// Whether a method of this name changes its receiver.
pub(crate) fn is_change(name: &str) -> bool {
    let others = [
        "<<",
        "push",
        "append",
        "pop",
        "shift",
        "unshift",
        "insert",
        "concat",
        "clear",
        "store",
        "delete_at",
        "update",
        "replace",
        "[]=",
    ];
    others.contains(&name) || IN_PLACE.contains(&name)
}

/// Calls a method that changes `receiver`.
pub(crate) fn call(
    receiver: &mut Value,
    name: &str,
    arguments: &[Value],
) -> Result<Value, Failure> {
    if let Some(plain) = name.strip_suffix('!').filter(|_| IN_PLACE.contains(&name)) {
        *receiver = call_value(receiver, plain, arguments)?;
        return Ok(receiver.clone());
    }
    let result = match receiver {
        Value::Array(items) => change_array(items, name, arguments),
        Value::Hash(hash) => match (name, arguments) {
            ("[]=" | "store", [key, value]) => {
                hash.insert(key.clone(), value.clone());
                Some(Ok(value.clone()))
            }
            ("delete", [wanted]) => Some(Ok(hash.remove_value(wanted).unwrap_or(Value::Nil))),
            ("clear", []) => {
                *hash = crate::value::Hash::default();
                Some(Ok(Value::Hash(hash.clone())))
            }
            ("update", [Value::Hash(other)]) => {
                other.iter().for_each(|(key, value)| hash.insert(key.clone(), value.clone()));
                Some(Ok(Value::Hash(hash.clone())))
            }
            _ => None,
        },
        Value::String(bytes) => match (name, arguments) {
            ("<<" | "concat", [Value::Integer(code)]) => {
                let character = u32::try_from(*code).ok().and_then(char::from_u32);
                bytes.extend(character.unwrap_or_default().to_string().into_bytes());
                Some(Ok(Value::String(bytes.clone())))
            }
            ("<<" | "concat" | "append", [other]) => {
                bytes.extend(other.to_bytes());
                Some(Ok(Value::String(bytes.clone())))
            }
            ("clear", []) => {
                bytes.clear();
                Some(Ok(Value::String(Vec::new())))
            }
            ("replace", [Value::String(other)]) => {
                bytes.clone_from(other);
                Some(Ok(Value::String(bytes.clone())))
            }
            ("insert", [at, Value::String(other)]) => {
                let at = usize::try_from(integer(at)?).unwrap_or(bytes.len()).min(bytes.len());
                bytes.splice(at..at, other.iter().copied());
                Some(Ok(Value::String(bytes.clone())))
            }
            _ => None,
        },
        _ => None,
    };
    match result {
        Some(result) => {
            // The results of most of these methods are as large as the receiver.
            if !SHRINKS.contains(&name) && weight_of(receiver, 0) > VALUE_MAX {
                *receiver = Value::Nil;
                return Err(too_large());
            }
            result
        }
        // Not one of these: `1 << 2`, `hash.delete`.
        None => call_value(receiver, name, arguments),
    }
}

/// How much is added to values before the next of them is weighed, which takes as long as it is
/// large.
const WEIGHED_AFTER: usize = VALUE_MAX / 64;

/// Adds to the end of an array or text, or sets an entry of a hash, and returns nothing. `false` if
/// the call is another. `added` is what has been added since a value was weighed.
pub(crate) fn add(
    receiver: &mut Value,
    name: &str,
    arguments: &[Value],
    added: &mut usize,
) -> Result<bool, Failure> {
    match (&mut *receiver, name, arguments) {
        (Value::Array(items), "<<" | "push" | "append", [item]) if items.len() < ITEMS_MAX => {
            items.push(item.clone());
        }
        (Value::Array(items), "[]=", [Value::Integer(at), value])
            if usize::try_from(*at).is_ok_and(|at| at < items.len()) =>
        {
            items[*at as usize] = value.clone();
        }
        (Value::String(bytes), "<<" | "concat" | "append", [Value::String(more)]) => {
            bytes.extend_from_slice(more);
        }
        (Value::Hash(hash), "[]=" | "store", [key, value]) => {
            hash.insert(key.clone(), value.clone());
        }
        _ => return Ok(false),
    }
    let weight = arguments.iter().map(|argument| weight_of(argument, 1));
    *added = weight.fold(*added, usize::saturating_add);
    if *added >= WEIGHED_AFTER {
        *added = 0;
        if weight_of(receiver, 0) > VALUE_MAX {
            *receiver = Value::Nil;
            return Err(too_large());
        }
    }
    Ok(true)
}

fn change_array(
    items: &mut Vec<Value>,
    name: &str,
    arguments: &[Value],
) -> Option<Result<Value, Failure>> {
    let grown = match (name, arguments) {
        ("<<", [item]) => {
            items.push(item.clone());
            true
        }
        ("push" | "append", more) => {
            items.extend(more.iter().cloned());
            true
        }
        ("unshift", more) => {
            items.splice(0..0, more.iter().cloned());
            true
        }
        ("concat", [Value::Array(more)]) => {
            items.extend(more.iter().cloned());
            true
        }
        ("clear", []) => {
            items.clear();
            true
        }
        ("replace", [Value::Array(other)]) => {
            items.clone_from(other);
            true
        }
        _ => false,
    };
    if grown {
        return Some(Ok(Value::Array(items.clone())));
    }
    Some(match (name, arguments) {
        ("pop", []) => Ok(items.pop().unwrap_or(Value::Nil)),
        ("shift", []) => Ok(if items.is_empty() { Value::Nil } else { items.remove(0) }),
        ("delete_at", [at]) => integer(at).map(|at| {
            let at = if at < 0 { at + items.len() as i64 } else { at };
            match usize::try_from(at).ok().filter(|at| *at < items.len()) {
                Some(at) => items.remove(at),
                None => Value::Nil,
            }
        }),
        ("delete", [wanted]) => {
            let before = items.len();
            items.retain(|item| !item.equals(wanted));
            Ok(if items.len() < before { wanted.clone() } else { Value::Nil })
        }
        ("[]=", [at, value]) => set(items, at, value),
        ("insert", [at, value]) => integer(at).map(|at| {
            let at = usize::try_from(at).unwrap_or(items.len()).min(items.len());
            items.insert(at, value.clone());
            Value::Array(items.clone())
        }),
        _ => return None,
    })
}

fn set(items: &mut Vec<Value>, at: &Value, value: &Value) -> Result<Value, Failure> {
    let Value::Integer(at) = at else { return Err(type_error(at, "Integer")) };
    let at = if *at < 0 { at + items.len() as i64 } else { *at };
    let Ok(at) = usize::try_from(at) else {
        let message = format!("index {at} too small for array");
        return Err(Failure::ruby("IndexError", message));
    };
    if at >= ITEMS_MAX {
        return Err(Failure::ruby("IndexError", format!("index {at} too big")));
    }
    if at >= items.len() {
        items.resize(at + 1, Value::Nil);
    }
    items[at] = value.clone();
    Ok(value.clone())
}
