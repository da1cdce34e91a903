//! Methods of values, those of Ruby and those of the Java objects that commands return.
//!
//! `mutate` has those that change their receiver; those that take a block need the shell.

mod array;
mod format;
mod hash;
pub(crate) mod iterate;
pub(crate) mod mutate;
mod number;
mod order;
mod string;

pub(crate) use self::array::{no_order, sum, unique};
pub(crate) use self::format::format;
pub(crate) use self::order::compare;

use hblite::RegionLocation;

use crate::error::Failure;
use crate::value::Value;

/// The size of a text in bytes, of an array in items, and of a value with all that is in it in
/// bytes, beyond which they are refused.
const TEXT_MAX: usize = 64 << 20;
const ITEMS_MAX: usize = 1 << 20;
const VALUE_MAX: usize = 256 << 20;
/// Arrays and hashes in each other beyond this are refused.
const NESTING_MAX: usize = 64;

/// Calls a method that needs no block and changes nothing.
pub(crate) fn call(receiver: &Value, name: &str, arguments: &[Value]) -> Result<Value, Failure> {
    let found = match common(receiver, name, arguments) {
        Some(value) => Some(Ok(value)),
        None => match receiver {
            Value::Integer(_) | Value::Float(_) => number::call(receiver, name, arguments),
            Value::String(bytes) => string::call(bytes, name, arguments),
            Value::Symbol(text) => string::call(text.as_bytes(), name, arguments),
            Value::Array(items) => array::call(items, name, arguments),
            Value::Hash(hash) => hash::call(hash, name, arguments),
            Value::Range(ends, is_open) => range(receiver, ends, *is_open, name, arguments),
            Value::Pattern(_) => match (name, arguments) {
                ("match?" | "=~", [text]) => {
                    string::call(&text.to_bytes(), name, std::slice::from_ref(receiver))
                }
                _ => None,
            },
            Value::Time(millis) => time(*millis, name, arguments),
            Value::Exception(class, message) => match name {
                "message" | "getMessage" => Some(Ok(Value::from(message.as_str()))),
                "class" => Some(Ok(Value::Module(class.clone()))),
                "backtrace" => Some(Ok(Value::Array(Vec::new()))),
                _ => None,
            },
            Value::Module(class) if name == "name" => Some(Ok(Value::from(class.as_str()))),
            other if arguments.is_empty() => object(other, name).map(Ok),
            _ => None,
        },
    };
    let value = found.unwrap_or_else(|| Err(missing(receiver, name, arguments)))?;
    sized(value)
}

/// The error for a method that a value does not have, or not with these arguments.
pub(crate) fn missing(receiver: &Value, name: &str, arguments: &[Value]) -> Failure {
    let known = !arguments.is_empty() && {
        // The name alone is known, so the number or the kind of the arguments is wrong.
        call(receiver, name, &[]).is_ok()
    };
    if known {
        let given = arguments.len();
        let message = format!("wrong number of arguments (given {given}, expected 0)");
        return Failure::ruby("ArgumentError", message);
    }
    let shown = match receiver {
        Value::Nil => "nil".to_owned(),
        other => other.inspect(),
    };
    Failure::no_method(format!("undefined method `{name}' for {shown}:{}", receiver.class_name()))
}

/// Refuses what is too large to keep.
pub(crate) fn sized(value: Value) -> Result<Value, Failure> {
    match weight_of(&value, 0) <= VALUE_MAX {
        true => Ok(value),
        false => Err(too_large()),
    }
}

fn too_large() -> Failure {
    let message = format!(
        "a text of more than 64 MiB, more than a million items or 256 MiB in all, or arrays in \
         each other {NESTING_MAX} times"
    );
    Failure::ruby("NoMemoryError", message)
}

/// Memory of a value in bytes; more than any limit if it must be refused.
fn weight_of(value: &Value, depth: usize) -> usize {
    let inside = match value {
        Value::String(bytes) if bytes.len() <= TEXT_MAX => bytes.len(),
        Value::String(_) => return usize::MAX,
        Value::Array(items) if items.len() > ITEMS_MAX => return usize::MAX,
        Value::Array(_) | Value::Hash(_) if depth == NESTING_MAX => return usize::MAX,
        Value::Array(items) => total(items.iter().map(|item| weight_of(item, depth + 1))),
        Value::Hash(hash) => total(hash.iter().map(|(key, value)| {
            weight_of(key, depth + 1).saturating_add(weight_of(value, depth + 1))
        })),
        _ => 0,
    };
    inside.saturating_add(size_of::<Value>())
}

fn total(weights: impl Iterator<Item = usize>) -> usize {
    weights.fold(0, usize::saturating_add)
}

/// Methods of every value.
fn common(receiver: &Value, name: &str, arguments: &[Value]) -> Option<Value> {
    Some(match (name, arguments) {
        ("to_s", []) => Value::String(receiver.to_bytes()),
        ("inspect", []) => Value::from(receiver.inspect()),
        ("nil?", []) => Value::Bool(matches!(receiver, Value::Nil)),
        ("class", []) if !matches!(receiver, Value::Exception(..)) => {
            Value::Module(receiver.class_name().to_owned())
        }
        ("is_a?" | "kind_of?" | "instance_of?", [Value::Module(class)]) => {
            Value::Bool(is_of_class(receiver, class))
        }
        ("==" | "eql?" | "equal?", [other]) => Value::Bool(receiver.equals(other)),
        ("!=", [other]) => Value::Bool(!receiver.equals(other)),
        ("!", []) => Value::Bool(!receiver.is_truthy()),
        ("freeze" | "dup" | "clone" | "itself", []) => receiver.clone(),
        ("frozen?", []) => Value::Bool(false),
        ("to_a", []) if matches!(receiver, Value::Nil) => Value::Array(Vec::new()),
        ("to_i", []) if matches!(receiver, Value::Nil) => Value::Integer(0),
        ("respond_to?", [name]) => Value::Bool(call(receiver, &name.to_text(), &[]).is_ok()),
        _ => return None,
    })
}

fn is_of_class(value: &Value, class: &str) -> bool {
    let is_number = matches!(value, Value::Integer(_) | Value::Float(_));
    match class {
        "Object" | "BasicObject" => true,
        "Numeric" => is_number,
        "Comparable" => is_number || matches!(value, Value::String(_)),
        "Enumerable" => matches!(value, Value::Array(_) | Value::Hash(_) | Value::Range(..)),
        class => value.class_name() == class,
    }
}

/// Whether `when pattern` is for `value`.
pub(crate) fn matches_case(pattern: &Value, value: &Value) -> Result<bool, Failure> {
    Ok(match pattern {
        Value::Module(class) => is_of_class(value, class),
        Value::Range(..) => call(pattern, "include?", std::slice::from_ref(value))?.is_truthy(),
        Value::Pattern(_) => match value {
            Value::String(_) | Value::Symbol(_) => {
                call(value, "match?", std::slice::from_ref(pattern))?.is_truthy()
            }
            _ => false,
        },
        pattern => pattern.equals(value),
    })
}

fn range(
    receiver: &Value,
    ends: &(Value, Value),
    is_open: bool,
    name: &str,
    arguments: &[Value],
) -> Option<Result<Value, Failure>> {
    let (first, last) = ends;
    Some(match (name, arguments) {
        ("first" | "begin" | "min", []) => Ok(first.clone()),
        ("last" | "end", []) => Ok(last.clone()),
        ("include?" | "member?" | "cover?" | "===", [value]) => {
            let (Some(low), Some(high)) = (compare(first, value), compare(value, last)) else {
                return Some(Ok(Value::Bool(false)));
            };
            let is_below = if is_open { high.is_lt() } else { high.is_le() };
            Ok(Value::Bool(low.is_le() && is_below))
        }
        ("exclude_end?", []) => Ok(Value::Bool(is_open)),
        ("each", []) => Ok(receiver.clone()),
        ("step" | "%", [Value::Integer(step)]) if *step > 0 => {
            let by = usize::try_from(*step).unwrap_or(usize::MAX);
            iterate::items(receiver)
                .and_then(|items| iterate::collect(Box::new(items.step_by(by))))
                .map(Value::Array)
        }
        _ => {
            let items = match iterate::items(receiver).and_then(iterate::collect) {
                Ok(items) => items,
                Err(failure) => return Some(Err(failure)),
            };
            return array::call(&items, name, arguments);
        }
    })
}

fn time(millis: i64, name: &str, arguments: &[Value]) -> Option<Result<Value, Failure>> {
    Some(Ok(match (name, arguments) {
        ("to_i", []) => Value::Integer(millis.div_euclid(1000)),
        ("to_f", []) => Value::Float(millis as f64 / 1000.0),
        ("-", [Value::Time(other)]) => Value::Float((millis - other) as f64 / 1000.0),
        ("strftime", [Value::String(text)]) => {
            Value::from(crate::format::strftime(millis, &String::from_utf8_lossy(text)))
        }
        _ => return None,
    }))
}

/// Methods of what commands return.
fn object(receiver: &Value, name: &str) -> Option<Value> {
    match receiver {
        Value::Table(table) => match name {
            "name" | "getName" => Some(Value::from(table.to_string())),
            _ => None,
        },
        Value::Location(location) => location_method(location, name),
        Value::Region(region) => Some(match name {
            "getEncodedName" => Value::from(region.encoded_name()),
            "getRegionNameAsString" => Value::from(region.region_name_as_string()),
            "getRegionName" => Value::String(region.region_name()),
            "getStartKey" => Value::String(region.start_key().to_vec()),
            "getEndKey" => Value::String(region.end_key().to_vec()),
            "getRegionId" => Value::Integer(region.region_id() as i64),
            "getTable" => Value::from(region.table().to_string()),
            _ => return None,
        }),
        _ => None,
    }
}

fn location_method(location: &RegionLocation, name: &str) -> Option<Value> {
    let (host, port) = location.server.split_once(':').unwrap_or((&location.server, ""));
    Some(match name {
        "getRegion" | "getRegionInfo" => Value::Region(Box::new(location.region.clone())),
        "getHostname" => Value::from(host),
        "getPort" => Value::Integer(port.parse().unwrap_or(0)),
        "getHostnamePort" => Value::from(location.server.as_str()),
        _ => return None,
    })
}

/// A whole number that is an argument.
pub(crate) fn integer(value: &Value) -> Result<i64, Failure> {
    match value {
        Value::Integer(number) => Ok(*number),
        Value::Float(number) => Ok(*number as i64),
        other => Err(type_error(other, "Integer")),
    }
}

fn type_error(value: &Value, wanted: &str) -> Failure {
    let class = match value {
        Value::Nil => "nil",
        other => other.class_name(),
    };
    Failure::ruby("TypeError", format!("no implicit conversion of {class} into {wanted}"))
}

/// The places that `[index]`, `[start, length]` or `[range]` means among `count` of them.
fn slice(count: usize, arguments: &[Value]) -> Result<Option<std::ops::Range<usize>>, Failure> {
    let from_end = |at: i64| if at < 0 { at + count as i64 } else { at };
    let (start, end) = match arguments {
        [Value::Range(ends, is_open)] => {
            let end = match &ends.1 {
                Value::Nil => count as i64,
                end => from_end(integer(end)?) + i64::from(!is_open),
            };
            (from_end(integer(&ends.0)?), end)
        }
        [start, length] => {
            let start = from_end(integer(start)?);
            (start, start.saturating_add(integer(length)?))
        }
        _ => return Ok(None),
    };
    let Ok(start) = usize::try_from(start) else { return Ok(None) };
    if start > count {
        return Ok(None);
    }
    let end = usize::try_from(end).unwrap_or(0).min(count);
    Ok(Some(start..end.max(start)))
}
