//! Methods of numbers. Whole numbers have 64 bits; results beyond that are refused.

use super::{compare, integer, type_error};
use crate::error::Failure;
use crate::value::Value;

type Found = Option<Result<Value, Failure>>;

pub(super) fn call(receiver: &Value, name: &str, arguments: &[Value]) -> Found {
    match (receiver, arguments) {
        (Value::Integer(left), [Value::Integer(right)]) => {
            whole(*left, name, *right).or_else(|| of_any(receiver, name, arguments))
        }
        (Value::Integer(number), []) => {
            alone(*number, name).or_else(|| of_any(receiver, name, arguments))
        }
        _ => of_any(receiver, name, arguments),
    }
}

/// Both are whole.
fn whole(left: i64, name: &str, right: i64) -> Found {
    let number = match name {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" | "div" | "%" | "modulo" if right == 0 => {
            return Some(Err(Failure::ruby("ZeroDivisionError", "divided by 0".to_owned())));
        }
        "/" | "div" => floor_div(left, right),
        "%" | "modulo" => floor_div(left, right).map(|q| left.wrapping_sub(q.wrapping_mul(right))),
        "**" | "pow" if right >= 0 => {
            u32::try_from(right).ok().and_then(|right| left.checked_pow(right))
        }
        "&" => Some(left & right),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        ">>" => Some(left >> right.clamp(0, 63)),
        "<<" => u32::try_from(right).ok().and_then(|by| left.checked_mul(2_i64.checked_pow(by)?)),
        "upto" => return Some(Ok(range(left, right, false))),
        "to_s" => return Some(Ok(Value::from(in_base(left, right)?))),
        "digits" | "fdiv" | "round" | "divmod" => return others(left, name, right),
        _ => return None,
    };
    Some(number.map(Value::Integer).ok_or_else(too_large))
}

fn others(left: i64, name: &str, right: i64) -> Found {
    match name {
        "fdiv" => Some(Ok(Value::Float(left as f64 / right as f64))),
        "round" => Some(Ok(Value::Integer(left))),
        "divmod" => {
            let both = ["/", "%"].map(|operator| whole(left, operator, right));
            let both: Option<Result<Vec<_>, _>> = both.into_iter().collect();
            Some(both?.map(Value::Array))
        }
        _ => None,
    }
}

fn floor_div(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let is_below = left % right != 0 && (left < 0) != (right < 0);
    Some(quotient - i64::from(is_below))
}

fn too_large() -> Failure {
    let message = "a number of more than 64 bits: use texts for longer ones".to_owned();
    Failure::ruby("RangeError", message)
}

fn in_base(number: i64, base: i64) -> Option<String> {
    let base = u32::try_from(base).ok().filter(|base| (2..=36).contains(base))?;
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    loop {
        digits.extend(char::from_digit((rest % u64::from(base)) as u32, base));
        rest /= u64::from(base);
        if rest == 0 {
            break;
        }
    }
    let sign = if number < 0 { "-" } else { "" };
    Some(format!("{sign}{}", digits.into_iter().rev().collect::<String>()))
}

/// Methods of a whole number without arguments.
fn alone(number: i64, name: &str) -> Found {
    Some(Ok(match name {
        "even?" => Value::Bool(number % 2 == 0),
        "odd?" => Value::Bool(number % 2 != 0),
        "to_i" | "to_int" | "floor" | "ceil" | "round" | "ord" | "truncate" => {
            Value::Integer(number)
        }
        "to_f" => Value::Float(number as f64),
        "times" => range(0, number, true),
        "integer?" => Value::Bool(true),
        "succ" | "next" => {
            return Some(number.checked_add(1).map(Value::Integer).ok_or_else(too_large));
        }
        "pred" => return Some(number.checked_sub(1).map(Value::Integer).ok_or_else(too_large)),
        "abs" => return Some(number.checked_abs().map(Value::Integer).ok_or_else(too_large)),
        "-@" => return Some(number.checked_neg().map(Value::Integer).ok_or_else(too_large)),
        "chr" => match u8::try_from(number) {
            Ok(byte) => Value::String(vec![byte]),
            Err(_) => {
                let message = format!("{number} out of char range");
                return Some(Err(Failure::ruby("RangeError", message)));
            }
        },
        "digits" => {
            let digits = number.unsigned_abs().to_string().into_bytes();
            let digits = digits.iter().rev().map(|digit| Value::Integer(i64::from(digit - b'0')));
            Value::Array(digits.collect())
        }
        _ => return None,
    }))
}

fn range(first: i64, last: i64, is_open: bool) -> Value {
    Value::Range(Box::new((Value::Integer(first), Value::Integer(last))), is_open)
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Methods of every number.
fn of_any(receiver: &Value, name: &str, arguments: &[Value]) -> Found {
    let number = float(receiver)?;
    Some(Ok(match (name, arguments) {
        ("zero?", []) => Value::Bool(number == 0.0),
        ("positive?", []) => Value::Bool(number > 0.0),
        ("negative?", []) => Value::Bool(number < 0.0),
        ("nan?", []) => Value::Bool(number.is_nan()),
        ("to_f", []) => Value::Float(number),
        ("abs", []) => Value::Float(number.abs()),
        ("-@", []) => Value::Float(-number),
        ("to_i" | "truncate", []) => Value::Integer(number as i64),
        ("floor", []) => Value::Integer(number.floor() as i64),
        ("ceil", []) => Value::Integer(number.ceil() as i64),
        ("round", []) => Value::Integer(number.round() as i64),
        ("round", [digits]) => {
            let digits = match integer(digits) {
                Ok(digits) => digits.clamp(0, 15) as i32,
                Err(failure) => return Some(Err(failure)),
            };
            let scale = 10_f64.powi(digits);
            Value::Float((number * scale).round() / scale)
        }
        ("between?", [low, high]) => Value::Bool(
            compare(low, receiver).is_some_and(|order| order.is_le())
                && compare(receiver, high).is_some_and(|order| order.is_le()),
        ),
        ("clamp", [low, high]) => match (compare(receiver, low), compare(receiver, high)) {
            (Some(order), _) if order.is_lt() => low.clone(),
            (_, Some(order)) if order.is_gt() => high.clone(),
            _ => receiver.clone(),
        },
        ("<=>", [other]) => match compare(receiver, other) {
            Some(order) => Value::Integer(order as i64),
            None => Value::Nil,
        },
        ("<" | ">" | "<=" | ">=", [other]) => return Some(ordered(receiver, name, other)),
        ("+" | "-" | "*" | "/" | "%" | "**" | "fdiv" | "pow", [other]) => {
            let Some(other) = float(other) else {
                let class = match other {
                    Value::Nil => "nil",
                    other => other.class_name(),
                };
                let message = format!("{class} can't be coerced into {}", receiver.class_name());
                return Some(Err(Failure::ruby("TypeError", message)));
            };
            Value::Float(match name {
                "+" => number + other,
                "-" => number - other,
                "*" => number * other,
                "/" | "fdiv" => number / other,
                "%" => number.rem_euclid(other),
                _ => number.powf(other),
            })
        }
        ("&" | "|" | "^" | "<<" | ">>", [other]) => {
            return Some(Err(type_error(other, "Integer")));
        }
        _ => return None,
    }))
}

/// `<` and its relatives, of numbers and texts.
pub(super) fn ordered(left: &Value, name: &str, right: &Value) -> Result<Value, Failure> {
    let Some(order) = compare(left, right) else {
        let (class, shown) = (left.class_name(), right.inspect());
        let message = format!("comparison of {class} with {shown} failed");
        return Err(Failure::ruby("ArgumentError", message));
    };
    Ok(Value::Bool(match name {
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        _ => order.is_ge(),
    }))
}
