//! Methods of hashes without a block.

use super::call as call_value;
use crate::error::Failure;
use crate::value::{Hash, Value};

pub(super) fn call(hash: &Hash, name: &str, arguments: &[Value]) -> Option<Result<Value, Failure>> {
    let pairs = || hash.iter().map(|(key, value)| Value::Array(vec![key.clone(), value.clone()]));
    Some(Ok(match (name, arguments) {
        ("[]", [key]) => hash.get_value(key).cloned().unwrap_or(Value::Nil),
        ("fetch", [key, rest @ ..]) => match hash.get_value(key).or(rest.first()) {
            Some(value) => value.clone(),
            None => {
                let message = format!("key not found: {}", key.inspect());
                return Some(Err(Failure::ruby("KeyError", message)));
            }
        },
        ("dig", [key, rest @ ..]) => {
            let inner = hash.get_value(key).cloned().unwrap_or(Value::Nil);
            match rest {
                [] => inner,
                _ if matches!(inner, Value::Nil) => Value::Nil,
                rest => return Some(call_value(&inner, "dig", rest)),
            }
        }
        ("key?" | "has_key?" | "include?" | "member?", [key]) => {
            Value::Bool(hash.get_value(key).is_some())
        }
        ("value?" | "has_value?", [wanted]) => {
            Value::Bool(hash.iter().any(|(_, value)| value.equals(wanted)))
        }
        ("key", [wanted]) => {
            let found = hash.iter().find(|(_, value)| value.equals(wanted));
            found.map_or(Value::Nil, |(key, _)| key.clone())
        }
        ("keys", []) => Value::Array(hash.iter().map(|(key, _)| key.clone()).collect()),
        ("values", []) => Value::Array(hash.iter().map(|(_, value)| value.clone()).collect()),
        ("length" | "size" | "count", []) => Value::Integer(hash.len() as i64),
        ("empty?", []) => Value::Bool(hash.len() == 0),
        ("to_h", []) => Value::Hash(hash.clone()),
        ("merge", others) => {
            let mut merged = hash.clone();
            for other in others {
                let Value::Hash(other) = other else {
                    return Some(Err(super::type_error(other, "Hash")));
                };
                other.iter().for_each(|(key, value)| merged.insert(key.clone(), value.clone()));
            }
            Value::Hash(merged)
        }
        ("invert", []) => {
            let mut inverted = Hash::default();
            hash.iter().for_each(|(key, value)| inverted.insert(value.clone(), key.clone()));
            Value::Hash(inverted)
        }
        ("to_a" | "sort" | "first" | "min" | "max" | "any?", _) | ("join", [_]) => {
            return super::array::call(&pairs().collect::<Vec<_>>(), name, arguments);
        }
        _ => return None,
    }))
}
