//! Methods of texts and symbols. Texts are bytes; methods on characters read them as UTF-8.

use regex::bytes::{NoExpand, Regex};

use super::{format, integer, number, slice, type_error};
use crate::error::Failure;
use crate::value::Value;

type Found = Option<Result<Value, Failure>>;

pub(super) fn call(bytes: &[u8], name: &str, arguments: &[Value]) -> Found {
    match arguments {
        [] => alone(bytes, name).map(Ok),
        _ => with(bytes, name, arguments).or_else(|| with_pattern(bytes, name, arguments)),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn alone(bytes: &[u8], name: &str) -> Option<Value> {
    let texts = |parts: Vec<String>| Value::Array(parts.into_iter().map(Value::from).collect());
    Some(match name {
        "length" | "size" => Value::Integer(text(bytes).chars().count() as i64),
        "bytesize" => Value::Integer(bytes.len() as i64),
        "empty?" => Value::Bool(bytes.is_empty()),
        "upcase" => Value::from(text(bytes).to_uppercase()),
        "downcase" => Value::from(text(bytes).to_lowercase()),
        "capitalize" => {
            let text = text(bytes).to_lowercase();
            let mut rest = text.chars();
            let first = rest.next().map(|first| first.to_uppercase().to_string());
            Value::from(first.unwrap_or_default() + rest.as_str())
        }
        "reverse" => match std::str::from_utf8(bytes) {
            Ok(text) => Value::from(text.chars().rev().collect::<String>()),
            Err(_) => Value::String(bytes.iter().rev().copied().collect()),
        },
        "strip" => Value::String(bytes.trim_ascii().to_vec()),
        "lstrip" => Value::String(bytes.trim_ascii_start().to_vec()),
        "rstrip" => Value::String(bytes.trim_ascii_end().to_vec()),
        "chomp" => {
            let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            Value::String(line.strip_suffix(b"\r").unwrap_or(line).to_vec())
        }
        "chop" => {
            let mut text = text(bytes);
            text.pop();
            Value::from(text)
        }
        "chars" => texts(text(bytes).chars().map(String::from).collect()),
        "bytes" => {
            Value::Array(bytes.iter().map(|byte| Value::Integer(i64::from(*byte))).collect())
        }
        "lines" => texts(text(bytes).split_inclusive('\n').map(str::to_owned).collect()),
        "split" => texts(text(bytes).split_whitespace().map(str::to_owned).collect()),
        "to_sym" | "intern" => Value::Symbol(text(bytes)),
        "to_i" => Value::Integer(leading_integer(bytes, 10)),
        "hex" => Value::Integer(leading_integer(bytes, 16)),
        "oct" => Value::Integer(leading_integer(bytes, 8)),
        "to_f" => {
            let text = text(bytes);
            let text = text.trim_start();
            let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
            let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
            let parsed = (0..=end).rev().find_map(|end| text.get(..end)?.parse().ok());
            Value::Float(parsed.unwrap_or(0.0))
        }
        "ord" => Value::Integer(text(bytes).chars().next().map_or(0, |c| i64::from(u32::from(c)))),
        "succ" | "next" => Value::String(successor(bytes)),
        "to_java_bytes" | "getBytes" | "force_encoding" | "encode" | "b" | "scrub" | "to_str" => {
            Value::String(bytes.to_vec())
        }
        "swapcase" => {
            let swap = |c: char| match c.is_uppercase() {
                true => c.to_lowercase().to_string(),
                false => c.to_uppercase().to_string(),
            };
            Value::from(text(bytes).chars().map(swap).collect::<String>())
        }
        "hash" => Value::Integer(java_hash(bytes)),
        _ => return None,
    })
}

/// Java's `String.hashCode`: the same in every process, unlike Ruby's.
fn java_hash(bytes: &[u8]) -> i64 {
    let add = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    i64::from(text(bytes).encode_utf16().fold(0, add))
}

fn leading_integer(bytes: &[u8], radix: u32) -> i64 {
    let text = text(bytes).replace('_', "");
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.strip_prefix("0x").filter(|_| radix == 16).unwrap_or(digits);
    let digit = |c: char| c.to_digit(radix).map(i64::from);
    let radix = i64::from(radix);
    sign * digits
        .chars()
        .map_while(digit)
        .fold(0_i64, |number, digit| number.saturating_mul(radix).saturating_add(digit))
}

/// Ruby's `succ`: the last letter or digit counts up, and carries to those before it.
pub(super) fn successor(bytes: &[u8]) -> Vec<u8> {
    let mut next = bytes.to_vec();
    let mut at = next.len();
    let mut carried = None;
    while let Some(place) = next[..at].iter().rposition(u8::is_ascii_alphanumeric) {
        if carried.is_some_and(|carried| place + 1 != carried) {
            break;
        }
        at = place;
        let (wrapped, is_over) = match next[place] {
            b'z' => (b'a', true),
            b'Z' => (b'A', true),
            b'9' => (b'0', true),
            other => (other + 1, false),
        };
        next[place] = wrapped;
        if !is_over {
            return next;
        }
        carried = Some(place);
    }
    match carried {
        Some(place) => {
            let first = if next[place] == b'0' { b'1' } else { next[place] };
            next.insert(place, first);
        }
        None => {
            if let Some(last) = next.last_mut() {
                *last = last.wrapping_add(1);
            }
        }
    }
    next
}

fn with(bytes: &[u8], name: &str, arguments: &[Value]) -> Found {
    let starts = |value: &Value, is: fn(&[u8], &[u8]) -> bool| is(bytes, &value.to_bytes());
    Some(Ok(match (name, arguments) {
        ("+", [Value::String(other)]) => Value::String([bytes, other].concat()),
        ("+", [other]) => return Some(Err(type_error(other, "String"))),
        ("*", [times]) => return Some(repeat(bytes, times)),
        ("%", [Value::Array(values)]) => return Some(format::format(bytes, values)),
        ("%", [_]) => return Some(format::format(bytes, arguments)),
        ("<=>", [other]) => match super::compare(&Value::String(bytes.to_vec()), other) {
            Some(order) => Value::Integer(order as i64),
            None => Value::Nil,
        },
        ("<" | ">" | "<=" | ">=", [other]) => {
            return Some(number::ordered(&Value::String(bytes.to_vec()), name, other));
        }
        ("start_with?", values) => Value::Bool(
            values.iter().any(|value| starts(value, |text, part| text.starts_with(part))),
        ),
        ("end_with?", values) => {
            Value::Bool(values.iter().any(|value| starts(value, |text, part| text.ends_with(part))))
        }
        ("include?", [Value::String(part)]) => Value::Bool(find(bytes, part).is_some()),
        ("index", [Value::String(part)]) => match find(bytes, part) {
            Some(at) => Value::Integer(text(&bytes[..at]).chars().count() as i64),
            None => Value::Nil,
        },
        ("count", [Value::String(set)]) => {
            Value::Integer(bytes.iter().filter(|byte| set.contains(byte)).count() as i64)
        }
        ("delete", [Value::String(set)]) => {
            Value::String(bytes.iter().filter(|byte| !set.contains(byte)).copied().collect())
        }
        ("chomp" | "delete_suffix", [Value::String(end)]) => {
            Value::String(bytes.strip_suffix(end.as_slice()).unwrap_or(bytes).to_vec())
        }
        ("delete_prefix", [Value::String(start)]) => {
            Value::String(bytes.strip_prefix(start.as_slice()).unwrap_or(bytes).to_vec())
        }
        ("rjust" | "ljust" | "center", [width, pad @ ..]) => {
            return Some(justify(bytes, name, width, pad));
        }
        ("to_i", [base]) => match integer(base) {
            Ok(base) => Value::Integer(leading_integer(bytes, base.clamp(2, 36) as u32)),
            Err(failure) => return Some(Err(failure)),
        },
        ("force_encoding" | "encode", [..]) => Value::String(bytes.to_vec()),
        ("[]" | "slice", [Value::Integer(_)] | [Value::Range(..)] | [_, _]) => {
            return Some(part(bytes, arguments));
        }
        ("[]" | "slice", [Value::String(part)]) => match find(bytes, part) {
            Some(_) => Value::String(part.clone()),
            None => Value::Nil,
        },
        ("tr", [Value::String(from), Value::String(to)]) => translate(bytes, from, to),
        ("casecmp?", [Value::String(other)]) => {
            Value::Bool(text(bytes).to_lowercase() == text(other).to_lowercase())
        }
        ("prepend", [Value::String(other)]) => Value::String([other, bytes].concat()),
        _ => return None,
    }))
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    match part.is_empty() {
        true => Some(0),
        false => bytes.windows(part.len()).position(|window| window == part),
    }
}

fn repeat(bytes: &[u8], times: &Value) -> Result<Value, Failure> {
    let times = usize::try_from(integer(times)?)
        .map_err(|_| Failure::ruby("ArgumentError", "negative argument".to_owned()))?;
    if bytes.len().saturating_mul(times) > super::TEXT_MAX {
        let message = "a text of more than 64 MiB".to_owned();
        return Err(Failure::ruby("NoMemoryError", message));
    }
    Ok(Value::String(bytes.repeat(times)))
}

fn justify(bytes: &[u8], name: &str, width: &Value, pad: &[Value]) -> Result<Value, Failure> {
    let pad = pad.first().map_or_else(|| " ".to_owned(), Value::to_text);
    let text = text(bytes);
    let width = usize::try_from(integer(width)?).unwrap_or(0).min(super::TEXT_MAX / 4);
    let missing = width.saturating_sub(text.chars().count());
    let left = match name {
        "rjust" => missing,
        "ljust" => 0,
        _ => missing / 2,
    };
    let fill = |count: usize| pad.chars().cycle().take(count).collect::<String>();
    if pad.is_empty() {
        return Err(Failure::ruby("ArgumentError", "zero width padding".to_owned()));
    }
    Ok(Value::from(format!("{}{text}{}", fill(left), fill(missing - left))))
}

fn part(bytes: &[u8], arguments: &[Value]) -> Result<Value, Failure> {
    let text = text(bytes);
    let characters: Vec<char> = text.chars().collect();
    if let [Value::Integer(at)] = arguments {
        let at = if *at < 0 { at + characters.len() as i64 } else { *at };
        let found = usize::try_from(at).ok().and_then(|at| characters.get(at));
        return Ok(found.map_or(Value::Nil, |found| Value::from(found.to_string())));
    }
    let range = slice(characters.len(), arguments)?;
    Ok(range.map_or(Value::Nil, |range| Value::from(characters[range].iter().collect::<String>())))
}

/// `tr`, with ranges as in `a-z`.
fn translate(bytes: &[u8], from: &[u8], to: &[u8]) -> Value {
    let expand = |set: &[u8]| {
        let mut all = Vec::new();
        let mut at = 0;
        while at < set.len() {
            match set[at..] {
                [first, b'-', last, ..] if first <= last => {
                    all.extend(first..=last);
                    at += 3;
                }
                [one, ..] => {
                    all.push(one);
                    at += 1;
                }
                [] => break,
            }
        }
        all
    };
    let (from, to) = (expand(from), expand(to));
    let change = |byte: &u8| match from.iter().position(|one| one == byte) {
        Some(at) => to.get(at).or(to.last()).copied(),
        None => Some(*byte),
    };
    Value::String(bytes.iter().filter_map(change).collect())
}

/// The pattern that an argument is; a text is looked for as it is.
fn pattern(value: &Value) -> Result<Regex, Failure> {
    let source = match value {
        Value::Pattern(source) => String::from_utf8_lossy(source).into_owned(),
        Value::String(text) => regex::escape(&String::from_utf8_lossy(text)),
        other => return Err(type_error(other, "Regexp")),
    };
    Regex::new(&source).map_err(|error| {
        let message = format!("/{source}/ is not a regular expression: {error}");
        Failure::ruby("RegexpError", message)
    })
}

fn with_pattern(bytes: &[u8], name: &str, arguments: &[Value]) -> Found {
    let known = ["sub", "gsub", "split", "match?", "=~", "scan", "[]", "index"];
    if !known.contains(&name) {
        return None;
    }
    let pattern = match pattern(arguments.first()?) {
        Ok(pattern) => pattern,
        Err(failure) => return Some(Err(failure)),
    };
    let part = |range: std::ops::Range<usize>| Value::String(bytes[range].to_vec());
    Some(Ok(match (name, arguments) {
        ("sub", [_, with]) => {
            let with = with.to_bytes();
            Value::String(pattern.replace(bytes, NoExpand(&with)).into_owned())
        }
        ("gsub", [_, with]) => {
            let with = with.to_bytes();
            Value::String(pattern.replace_all(bytes, NoExpand(&with)).into_owned())
        }
        ("split", [_, rest @ ..]) => {
            let limit = match rest.first().map(integer).transpose() {
                Ok(limit) => limit.and_then(|limit| usize::try_from(limit).ok()),
                Err(failure) => return Some(Err(failure)),
            };
            let own = |part: &[u8]| Value::String(part.to_vec());
            let mut parts: Vec<Value> = match limit.filter(|limit| *limit > 0) {
                Some(limit) => pattern.splitn(bytes, limit).map(own).collect(),
                None => pattern.split(bytes).map(own).collect(),
            };
            // A pattern that matches nothing divides into characters; empty ends are dropped.
            let is_empty = |value: &Value| value.to_bytes().is_empty();
            if parts.first().is_some_and(is_empty) && pattern.as_str().is_empty() {
                parts.remove(0);
            }
            while limit.is_none() && parts.last().is_some_and(is_empty) {
                parts.pop();
            }
            Value::Array(parts)
        }
        ("match?", [_]) => Value::Bool(pattern.is_match(bytes)),
        ("=~" | "index", [_]) => {
            pattern.find(bytes).map_or(Value::Nil, |found| Value::Integer(found.start() as i64))
        }
        ("[]", [_]) => pattern.find(bytes).map_or(Value::Nil, |found| part(found.range())),
        ("[]", [_, group]) => {
            let at = match integer(group) {
                Ok(at) => usize::try_from(at).unwrap_or(usize::MAX),
                Err(failure) => return Some(Err(failure)),
            };
            let group = pattern.captures(bytes).and_then(|found| Some(found.get(at)?.range()));
            group.map_or(Value::Nil, part)
        }
        ("scan", [_]) => {
            let one = |found: regex::bytes::Captures<'_>| match found.len() {
                1 => part(found.get(0).map_or(0..0, |all| all.range())),
                _ => Value::Array(
                    found
                        .iter()
                        .skip(1)
                        .map(|g| g.map_or(Value::Nil, |g| part(g.range())))
                        .collect(),
                ),
            };
            Value::Array(pattern.captures_iter(bytes).map(one).collect())
        }
        _ => return None,
    }))
}
