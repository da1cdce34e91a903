//! Names of Java that scripts use: classes by full or imported name, `Bytes`, `HConstants`, and
//! constructors of filters and comparators, which become text of the filter language.

use hblite::bytes::to_string_binary;

use crate::ast::Expression;
use crate::error::Failure;
use crate::value::Value;

/// Ruby's classes, and Java's that have a name of their own in the shell.
const CLASSES: [&str; 24] = [
    "Integer",
    "Float",
    "String",
    "Symbol",
    "Array",
    "Hash",
    "Range",
    "NilClass",
    "Numeric",
    "Object",
    "Time",
    "Bytes",
    "HConstants",
    "Long",
    "MD5Hash",
    "Digest",
    "Exception",
    "StandardError",
    "RuntimeError",
    "ArgumentError",
    "TypeError",
    "NameError",
    "Comparable",
    "Enumerable",
];
/// Words with which full names of Java's classes begin.
const ROOTS: [&str; 4] = ["org", "java", "com", "javax"];

/// What a constant without a package is.
pub(super) fn constant(name: &str) -> Option<Value> {
    let is_known = CLASSES.contains(&name)
        || name == "Java"
        || name.ends_with("Filter")
        || name.ends_with("Comparator")
        || matches!(name, "CompareOperator" | "CompareFilter" | "FilterList");
    is_known.then(|| Value::Module(name.to_owned()))
}

/// `org` and its like, with which a full name begins.
pub(super) fn root(name: &str) -> Option<&str> {
    ROOTS.contains(&name).then_some(name)
}

/// The full name that an expression spells: `org.apache.hadoop.hbase.util.Bytes`.
pub(super) fn path(expression: &Expression) -> Option<String> {
    match expression {
        Expression::Call(call) if call.arguments.is_none() && call.block.is_none() => {
            match &call.receiver {
                None => root(&call.name).map(str::to_owned),
                Some(outer) => {
                    let outer = path(outer)?;
                    // After a class come its methods.
                    let is_class = last(&outer).starts_with(|c: char| c.is_ascii_uppercase());
                    (!is_class).then(|| format!("{outer}.{}", call.name))
                }
            }
        }
        Expression::Scoped(outer, name) => Some(match &**outer {
            Expression::Constant(outer) => format!("{outer}::{name}"),
            outer => format!("{}.{name}", path(outer)?),
        }),
        _ => None,
    }
}

fn last(path: &str) -> &str {
    path.rsplit(['.', ':', '$']).next().unwrap_or(path)
}

/// `A::B`: a class, or a constant of one.
pub(super) fn member(outer: &Value, name: &str) -> Result<Value, Failure> {
    let Value::Module(class) = outer else {
        let message = format!("{} is not a class/module", outer.inspect());
        return Err(Failure::ruby("TypeError", message));
    };
    let operator = |name: &str| {
        let sign = operator_sign(name)?;
        Some(Value::Java("CompareOperator".to_owned(), sign.as_bytes().to_vec()))
    };
    let value = match (last(class), name) {
        ("Digest", "MD5") => Some(Value::Module(format!("{class}::{name}"))),
        ("HConstants", name) => constant_of_hbase(name),
        ("Long", "MAX_VALUE") => Some(Value::Integer(i64::MAX)),
        ("Long", "MIN_VALUE") => Some(Value::Integer(i64::MIN)),
        ("Integer", "MAX_VALUE") => Some(Value::Integer(i64::from(i32::MAX))),
        ("Integer", "MIN_VALUE") => Some(Value::Integer(i64::from(i32::MIN))),
        ("CompareOperator" | "CompareOp", name) => operator(name),
        ("Operator", "MUST_PASS_ALL") => Some(Value::Java("Operator".into(), b"AND".to_vec())),
        ("Operator", "MUST_PASS_ONE") => Some(Value::Java("Operator".into(), b"OR".to_vec())),
        _ => None,
    };
    let is_class = name.chars().any(|c| c.is_ascii_lowercase());
    match value {
        Some(value) => Ok(value),
        None if is_class => Ok(Value::Module(format!("{class}::{name}"))),
        None => Err(Failure::name_error(format!("uninitialized constant {class}::{name}"))),
    }
}

fn operator_sign(name: &str) -> Option<&'static str> {
    Some(match name {
        "EQUAL" => "=",
        "NOT_EQUAL" => "!=",
        "LESS" => "<",
        "LESS_OR_EQUAL" => "<=",
        "GREATER" => ">",
        "GREATER_OR_EQUAL" => ">=",
        _ => return None,
    })
}

fn constant_of_hbase(name: &str) -> Option<Value> {
    Some(match name {
        "LATEST_TIMESTAMP" => Value::Integer(i64::MAX),
        "OLDEST_TIMESTAMP" => Value::Integer(i64::MIN),
        "FOREVER" | "ALL_VERSIONS" => Value::Integer(i64::from(i32::MAX)),
        "EMPTY_BYTE_ARRAY" | "EMPTY_START_ROW" | "EMPTY_END_ROW" => Value::String(Vec::new()),
        "CATALOG_FAMILY_STR" => Value::from("info"),
        "CATALOG_FAMILY" => Value::from("info"),
        _ => return None,
    })
}

/// Calls a method of a class.
pub(super) fn call(
    class: &str,
    name: &str,
    arguments: &[Value],
    now_ms: i64,
) -> Result<Value, Failure> {
    let found = match (last(class), name, arguments) {
        ("Time", "now", []) => Some(Value::Time(now_ms)),
        ("System", "currentTimeMillis", []) => Some(Value::Integer(now_ms)),
        ("Bytes", ..) => bytes(name, arguments)?,
        ("MD5Hash", "getMD5AsHex", [value]) => Some(Value::from(md5_hex(&value.to_bytes()))),
        ("MD5" | "Digest", "hexdigest", [value]) => Some(Value::from(md5_hex(&value.to_bytes()))),
        ("MD5" | "Digest", "digest", [value]) => {
            Some(Value::String(hblite::bytes::md5(&value.to_bytes()).to_vec()))
        }
        ("CompareOperator" | "CompareOp", "valueOf", [name]) => {
            return member(&Value::Module(class.to_owned()), &name.to_text());
        }
        (short, "new", arguments) => Some(construct(class, short, arguments)?),
        _ => None,
    };
    found.ok_or_else(|| {
        let message = format!(
            "undefined method `{name}' for {class}: of Java's classes, the shell has Bytes, \
             HConstants, MD5Hash, and constructors of filters and comparators"
        );
        Failure::no_method(message)
    })
}

fn md5_hex(bytes: &[u8]) -> String {
    hblite::bytes::md5(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(name: &str, arguments: &[Value]) -> Result<Option<Value>, Failure> {
    let [value, ..] = arguments else { return Ok(None) };
    let given = value.to_bytes();
    let number = |width: usize| -> Result<Value, Failure> {
        if given.len() < width {
            let length = given.len();
            let message =
                format!("offset (0) + length ({width}) exceed the capacity of the array: {length}");
            return Err(Failure::ruby("ArgumentError", message));
        }
        let sign = if given[0] & 0x80 != 0 { -1 } else { 0 };
        let add = |number: i64, byte: &u8| (number << 8) | i64::from(*byte);
        Ok(Value::Integer(given[..width].iter().fold(sign, add)))
    };
    Ok(Some(match name {
        "toBytes" | "to_bytes" => Value::String(match value {
            Value::Integer(number) => number.to_be_bytes().to_vec(),
            Value::Float(number) => number.to_be_bytes().to_vec(),
            Value::Bool(value) => vec![if *value { 0xff } else { 0 }],
            _ => given,
        }),
        "toBytesBinary" => Value::String(hblite::bytes::from_string_binary(&value.to_text())),
        "toStringBinary" => Value::from(to_string_binary(&given)),
        "toString" | "to_string" => Value::from(value.to_text()),
        "toLong" => number(8)?,
        "toInt" => number(4)?,
        "toShort" => number(2)?,
        "toBoolean" => Value::Bool(given.first().is_some_and(|byte| *byte != 0)),
        _ => return Ok(None),
    }))
}

/// A filter or comparator, written as text of the filter language.
fn construct(class: &str, short: &str, arguments: &[Value]) -> Result<Value, Failure> {
    let quoted = |bytes: &[u8]| {
        let mut text = vec![b'\''];
        for byte in bytes {
            text.push(*byte);
            if *byte == b'\'' {
                text.push(b'\'');
            }
        }
        text.push(b'\'');
        text
    };
    let kind = match short {
        "BinaryComparator" => Some("binary:"),
        "BinaryPrefixComparator" => Some("binaryprefix:"),
        "RegexStringComparator" => Some("regexstring:"),
        "SubstringComparator" => Some("substring:"),
        _ => None,
    };
    let java = |text: Vec<u8>| Ok(Value::Java(short.to_owned(), text));
    if let (Some(kind), [value]) = (kind, arguments) {
        return java([kind.as_bytes(), &value.to_bytes()].concat());
    }
    if matches!(short, "SkipFilter" | "WhileMatchFilter")
        && let [Value::Java(_, inner)] = arguments
    {
        let word = if short == "SkipFilter" { "SKIP " } else { "WHILE " };
        return java([word.as_bytes(), inner].concat());
    }
    if short == "FilterList" {
        return java(filter_list(arguments)?);
    }
    if !short.ends_with("Filter") || matches!(short, "FuzzyRowFilter" | "RandomRowFilter") {
        let message = format!(
            "{class}.new is not supported: the shell makes filters and comparators that the \
             filter language has, as in FILTER => \"PrefixFilter('a')\""
        );
        return Err(Failure::no_method(message));
    }
    let mut parts = Vec::new();
    let mut is_compared = false;
    for argument in arguments {
        let follows_operator = std::mem::take(&mut is_compared);
        match argument {
            Value::Java(class, text) if class.ends_with("Comparator") => parts.push(quoted(text)),
            Value::Java(class, text) => {
                is_compared = class == "CompareOperator";
                parts.push(text.clone());
            }
            Value::String(bytes) if follows_operator => {
                parts.push(quoted(&[b"binary:", bytes.as_slice()].concat()));
            }
            Value::String(bytes) => parts.push(quoted(bytes)),
            Value::Array(items) => {
                let item = |item: &Value| match item {
                    Value::Integer(number) => number.to_string().into_bytes(),
                    other => quoted(&other.to_bytes()),
                };
                parts.extend(items.iter().map(item));
            }
            other => parts.push(other.inspect().into_bytes()),
        }
    }
    java([short.as_bytes(), b" (", &parts.join(b", ".as_slice()), b")"].concat())
}

fn filter_list(arguments: &[Value]) -> Result<Vec<u8>, Failure> {
    let mut word = b"AND".to_vec();
    let mut filters = Vec::new();
    let mut add = |value: &Value| match value {
        Value::Java(class, text) if class == "Operator" => {
            word.clone_from(text);
            Ok(())
        }
        Value::Java(_, text) => {
            filters.push([b"(", text.as_slice(), b")"].concat());
            Ok(())
        }
        other => {
            let message = format!("{} is not a filter", other.inspect());
            Err(Failure::ruby("TypeError", message))
        }
    };
    for argument in arguments {
        match argument {
            Value::Array(items) => items.iter().try_for_each(&mut add)?,
            other => add(other)?,
        }
    }
    if filters.is_empty() {
        return Err(Failure::ruby("ArgumentError", "a FilterList needs filters".to_owned()));
    }
    Ok(filters.join([b" ", word.as_slice(), b" "].concat().as_slice()))
}
