//! Methods of arrays without a block.

use super::{call as call_value, compare, integer, matches_case, slice, type_error};
use crate::error::Failure;
use crate::value::{Hash, Value};

type Found = Option<Result<Value, Failure>>;

pub(super) fn call(items: &[Value], name: &str, arguments: &[Value]) -> Found {
    match arguments {
        [] => alone(items, name),
        _ => with(items, name, arguments),
    }
}

fn alone(items: &[Value], name: &str) -> Found {
    let at = |item: Option<&Value>| item.cloned().unwrap_or(Value::Nil);
    Some(Ok(match name {
        "length" | "size" | "count" => Value::Integer(items.len() as i64),
        "empty?" | "none?" => Value::Bool(items.is_empty()),
        "any?" => Value::Bool(items.iter().any(Value::is_truthy)),
        "all?" => Value::Bool(items.iter().all(Value::is_truthy)),
        "first" => at(items.first()),
        "last" => at(items.last()),
        "to_a" | "entries" | "each" | "map" | "select" => Value::Array(items.to_vec()),
        "each_with_index" => {
            let pair = |(at, item): (usize, &Value)| {
                Value::Array(vec![item.clone(), Value::Integer(at as i64)])
            };
            Value::Array(items.iter().enumerate().map(pair).collect())
        }
        "reverse" => Value::Array(items.iter().rev().cloned().collect()),
        "compact" => {
            let kept = items.iter().filter(|item| !matches!(item, Value::Nil));
            Value::Array(kept.cloned().collect())
        }
        "flatten" => {
            let mut flat = Vec::new();
            flatten(items, &mut flat);
            Value::Array(flat)
        }
        "uniq" => Value::Array(unique(items.to_vec())),
        "sort" => return Some(sort(items.to_vec()).map(Value::Array)),
        "min" | "max" => return Some(extreme(items, name == "min")),
        "sum" => return Some(sum(items, Value::Integer(0))),
        "join" => return Some(Ok(join(items, b""))),
        "to_h" => {
            let mut hash = Hash::default();
            for item in items {
                let Value::Array(pair) = item else { return Some(Err(type_error(item, "Array"))) };
                let [key, value] = pair.as_slice() else {
                    return Some(Err(type_error(item, "pair")));
                };
                hash.insert(key.clone(), value.clone());
            }
            Value::Hash(hash)
        }
        "tally" => {
            let mut hash = Hash::default();
            for item in items {
                let count = match hash.get_value(item) {
                    Some(Value::Integer(count)) => count + 1,
                    _ => 1,
                };
                hash.insert(item.clone(), Value::Integer(count));
            }
            Value::Hash(hash)
        }
        "transpose" => {
            let rows: Vec<&[Value]> = items.iter().filter_map(Value::as_array).collect();
            let width = rows.iter().map(|row| row.len()).min().unwrap_or(0);
            let column = |at: usize| Value::Array(rows.iter().map(|row| row[at].clone()).collect());
            Value::Array((0..width).map(column).collect())
        }
        _ => return None,
    }))
}

fn flatten(items: &[Value], into: &mut Vec<Value>) {
    for item in items {
        match item {
            Value::Array(inner) => flatten(inner, into),
            other => into.push(other.clone()),
        }
    }
}

/// Each value once.
pub(crate) fn unique(items: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for item in items {
        if seen.insert(item.inspect()) {
            kept.push(item);
        }
    }
    kept
}

pub(super) fn sort(mut items: Vec<Value>) -> Result<Vec<Value>, Failure> {
    let mut failure = None;
    items.sort_by(|left, right| {
        compare(left, right).unwrap_or_else(|| {
            failure.get_or_insert_with(|| no_order(left, right));
            std::cmp::Ordering::Equal
        })
    });
    failure.map_or(Ok(items), Err)
}

pub(crate) fn no_order(left: &Value, right: &Value) -> Failure {
    let (left, right) = (left.class_name(), right.inspect());
    Failure::ruby("ArgumentError", format!("comparison of {left} with {right} failed"))
}

fn extreme(items: &[Value], is_least: bool) -> Result<Value, Failure> {
    let sorted = sort(items.to_vec())?;
    let found = if is_least { sorted.first() } else { sorted.last() };
    Ok(found.cloned().unwrap_or(Value::Nil))
}

pub(crate) fn sum(items: &[Value], start: Value) -> Result<Value, Failure> {
    items.iter().try_fold(start, |sum, item| call_value(&sum, "+", std::slice::from_ref(item)))
}

fn join(items: &[Value], separator: &[u8]) -> Value {
    let mut flat = Vec::new();
    flatten(items, &mut flat);
    let texts: Vec<Vec<u8>> = flat.iter().map(Value::to_bytes).collect();
    Value::String(texts.join(separator))
}

fn count(value: &Value) -> Result<usize, Failure> {
    usize::try_from(integer(value)?)
        .map_err(|_| Failure::ruby("ArgumentError", "negative array size".to_owned()))
}

fn with(items: &[Value], name: &str, arguments: &[Value]) -> Found {
    Some(match (name, arguments) {
        ("[]" | "at", [Value::Integer(at)]) => {
            let at = if *at < 0 { at + items.len() as i64 } else { *at };
            let item = usize::try_from(at).ok().and_then(|at| items.get(at));
            Ok(item.cloned().unwrap_or(Value::Nil))
        }
        ("[]" | "slice", [Value::Range(..)] | [_, _]) => slice(items.len(), arguments)
            .map(|range| range.map_or(Value::Nil, |range| Value::Array(items[range].to_vec()))),
        ("dig", [first, rest @ ..]) => {
            let inner =
                call_value(&Value::Array(items.to_vec()), "[]", std::slice::from_ref(first));
            match rest {
                [] => inner,
                rest => inner.and_then(|inner| call_value(&inner, "dig", rest)),
            }
        }
        ("fetch", [Value::Integer(at), rest @ ..]) => {
            let found = usize::try_from(*at).ok().and_then(|at| items.get(at)).or(rest.first());
            found.cloned().ok_or_else(|| {
                let message = format!("index {at} outside of array bounds");
                Failure::ruby("IndexError", message)
            })
        }
        ("first" | "take", [size]) => {
            count(size).map(|size| Value::Array(items[..size.min(items.len())].to_vec()))
        }
        ("last", [size]) => {
            count(size).map(|size| Value::Array(items[items.len().saturating_sub(size)..].to_vec()))
        }
        ("drop", [size]) => {
            count(size).map(|size| Value::Array(items[size.min(items.len())..].to_vec()))
        }
        _ => return combined(items, name, arguments),
    })
}

/// The items that `when pattern` is for, or those that it is not for.
fn grep(items: &[Value], pattern: &Value, is_wanted: bool) -> Result<Value, Failure> {
    let mut found = Vec::new();
    for item in items {
        if matches_case(pattern, item)? == is_wanted {
            found.push(item.clone());
        }
    }
    Ok(Value::Array(found))
}

/// Methods that look for something, or that join arrays.
fn combined(items: &[Value], name: &str, arguments: &[Value]) -> Found {
    let has = |list: &[Value], item: &Value| list.iter().any(|one| one.equals(item));
    Some(match (name, arguments) {
        ("include?" | "member?", [item]) => Ok(Value::Bool(has(items, item))),
        ("grep" | "grep_v", [pattern]) => grep(items, pattern, name == "grep"),
        ("count", [item]) => {
            Ok(Value::Integer(items.iter().filter(|one| one.equals(item)).count() as i64))
        }
        ("index" | "find_index", [item]) => {
            let at = items.iter().position(|one| one.equals(item));
            Ok(at.map_or(Value::Nil, |at| Value::Integer(at as i64)))
        }
        ("join", [separator]) => Ok(join(items, &separator.to_bytes())),
        ("+" | "concat", [Value::Array(other)]) => Ok(Value::Array([items, other].concat())),
        ("-", [Value::Array(other)]) => {
            Ok(Value::Array(items.iter().filter(|item| !has(other, item)).cloned().collect()))
        }
        ("&", [Value::Array(other)]) => {
            let both = items.iter().filter(|item| has(other, item)).cloned().collect();
            Ok(Value::Array(unique(both)))
        }
        ("|", [Value::Array(other)]) => Ok(Value::Array(unique([items, other].concat()))),
        ("*", [Value::String(separator)]) => Ok(join(items, separator)),
        ("*", [times]) => count(times).and_then(|times| repeated(items, times)),
        ("<=>", [other]) => Ok(match compare(&Value::Array(items.to_vec()), other) {
            Some(order) => Value::Integer(order as i64),
            None => Value::Nil,
        }),
        ("zip", [Value::Array(other)]) => {
            let pair = |(at, item): (usize, &Value)| {
                Value::Array(vec![item.clone(), other.get(at).cloned().unwrap_or(Value::Nil)])
            };
            Ok(Value::Array(items.iter().enumerate().map(pair).collect()))
        }
        ("each_slice", [size]) => count(size).map(|size| {
            let part = |part: &[Value]| Value::Array(part.to_vec());
            Value::Array(items.chunks(size.max(1)).map(part).collect())
        }),
        ("rotate", [by]) => integer(by).map(|by| {
            let by = by.rem_euclid(items.len().max(1) as i64) as usize;
            Value::Array([&items[by..], &items[..by]].concat())
        }),
        ("sum", [start]) => sum(items, start.clone()),
        ("inject" | "reduce", [Value::Symbol(operator)]) => match items {
            [] => Ok(Value::Nil),
            [first, rest @ ..] => rest.iter().try_fold(first.clone(), |sum, item| {
                call_value(&sum, operator, std::slice::from_ref(item))
            }),
        },
        ("inject" | "reduce", [start, Value::Symbol(operator)]) => {
            items.iter().try_fold(start.clone(), |sum, item| {
                call_value(&sum, operator, std::slice::from_ref(item))
            })
        }
        ("values_at", places) => {
            let one = |at: &Value| {
                call_value(&Value::Array(items.to_vec()), "[]", std::slice::from_ref(at))
            };
            places.iter().map(one).collect::<Result<_, _>>().map(Value::Array)
        }
        _ => return None,
    })
}

fn repeated(items: &[Value], times: usize) -> Result<Value, Failure> {
    let weight = super::total(items.iter().map(|item| super::weight_of(item, 1)));
    let is_too_large = items.len().saturating_mul(times) > super::ITEMS_MAX
        || weight.saturating_mul(times) > super::VALUE_MAX;
    match is_too_large {
        true => Err(super::too_large()),
        false => {
            let all = items.iter().cycle().take(items.len() * times);
            Ok(Value::Array(all.cloned().collect()))
        }
    }
}
