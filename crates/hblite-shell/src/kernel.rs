//! What Ruby lets every script call: `format`, `raise`, `Integer` and their like.

use crate::error::Failure;
use crate::method;
use crate::value::Value;

/// What a call returns, or prints.
pub(crate) enum Answer {
    Value(Value),
    Text(Vec<u8>),
}

/// Calls a method; `None` if there is none of this name.
pub(crate) fn call(name: &str, values: &[Value]) -> Result<Option<Answer>, Failure> {
    let value = match (name, values) {
        ("format" | "sprintf", [template, values @ ..]) => {
            method::format(&template.to_bytes(), values)?
        }
        ("printf", [template, values @ ..]) => {
            let text = method::format(&template.to_bytes(), values)?;
            return Ok(Some(Answer::Text(text.to_bytes())));
        }
        ("print", values) => {
            let text = values.iter().flat_map(Value::to_bytes).collect();
            return Ok(Some(Answer::Text(text)));
        }
        ("p" | "pp", values) => {
            let lines = values.iter().map(|value| value.inspect() + "\n");
            return Ok(Some(Answer::Text(lines.collect::<String>().into_bytes())));
        }
        ("raise" | "fail", values) => return Err(raised(values)),
        ("Integer", [value]) => integer(value)?,
        ("Float", [value]) => match value {
            Value::String(_) => float(value)?,
            value => method::call(value, "to_f", &[])?,
        },
        ("String", [value]) => Value::String(value.to_bytes()),
        ("Array", [value]) => match value {
            Value::Array(_) => value.clone(),
            Value::Nil => Value::Array(Vec::new()),
            Value::Hash(_) | Value::Range(..) => method::call(value, "to_a", &[])?,
            other => Value::Array(vec![other.clone()]),
        },
        ("require", _) => Value::Bool(true),
        ("load" | "include", _) => Value::Nil,
        ("rand" | "srand", _) => {
            let message = "rand is not supported, so that a script does the same each time: use \
                           MD5Hash.getMD5AsHex of a number";
            return Err(Failure::no_method(message));
        }
        ("gets", _) => {
            let message = "gets is not supported: write values into the script, or use --command";
            return Err(Failure::no_method(message));
        }
        _ => return Ok(None),
    };
    Ok(Some(Answer::Value(value)))
}

fn raised(values: &[Value]) -> Failure {
    match values {
        [Value::Module(class), message @ ..] => {
            let message = message.first().map_or_else(|| class.clone(), Value::to_text);
            Failure::ruby(class.clone(), message)
        }
        [Value::Exception(class, message)] => Failure::ruby(class.clone(), message.clone()),
        [message, ..] => Failure::ruby("RuntimeError", message.to_text()),
        [] => Failure::ruby("RuntimeError", "unhandled exception".to_owned()),
    }
}

fn integer(value: &Value) -> Result<Value, Failure> {
    let Value::String(bytes) = value else {
        return method::call(value, "to_i", &[]);
    };
    let text = String::from_utf8_lossy(bytes).replace('_', "");
    let number = match text.trim().strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => text.trim().parse(),
    };
    number.map(Value::Integer).map_err(|_| invalid("Integer", value))
}

fn float(value: &Value) -> Result<Value, Failure> {
    let text = value.to_text();
    text.trim().parse().map(Value::Float).map_err(|_| invalid("Float", value))
}

fn invalid(class: &str, value: &Value) -> Failure {
    let message = format!("invalid value for {class}(): {}", value.inspect());
    Failure::ruby("ArgumentError", message)
}
