//! The arguments of one filter of the language, as a filter's constructor reads them.
//!
//! An argument is a word, or bytes in single quotes. HBase only logs why it refuses one.

use super::{Comparator, CompareOperator, Filter, RegexEngine, RegexFlags, RegexString};
use crate::error::{Error, Result};

pub(super) type Arguments<'a> = &'a [Vec<u8>];
pub(super) type Constructor = fn(Arguments<'_>) -> Result<Filter>;

/// The error for text that is not a filter.
pub(super) fn wrong(message: &str) -> Error {
    Error::illegal_argument(message)
}

pub(super) fn expect_count(arguments: Arguments<'_>, counts: &[usize]) -> Result<()> {
    if counts.contains(&arguments.len()) {
        return Ok(());
    }
    Err(wrong(&format!("Expected {counts:?} arguments but got: {}", arguments.len())))
}

/// The bytes of a quoted argument.
pub(super) fn unquote(argument: &[u8]) -> Result<Vec<u8>> {
    match argument {
        [b'\'', inner @ .., b'\''] => Ok(inner.to_vec()),
        _ => Err(wrong("removeQuotesFromByteArray needs a quoted byte array")),
    }
}

pub(super) fn only_quoted(arguments: Arguments<'_>) -> Result<Vec<u8>> {
    expect_count(arguments, &[1])?;
    unquote(&arguments[0])
}

/// A decimal number. A number too large for 64 bits wraps, and is refused if it becomes negative.
pub(super) fn long(argument: &[u8]) -> Result<i64> {
    let (is_negative, digits) = match argument {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut number = 0i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return Err(wrong("Byte Array should only contain digits"));
        }
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        if number < 0 {
            return Err(wrong("Long Argument too large"));
        }
    }
    Ok(if is_negative { -number } else { number })
}

pub(super) fn int(argument: &[u8]) -> Result<i32> {
    i32::try_from(long(argument)?).map_err(|_| wrong("Integer Argument out of range"))
}

pub(super) fn boolean(argument: &[u8]) -> Result<bool> {
    if argument.eq_ignore_ascii_case(b"true") {
        Ok(true)
    } else if argument.eq_ignore_ascii_case(b"false") {
        Ok(false)
    } else {
        Err(wrong("Incorrect Boolean Expression"))
    }
}

pub(super) fn compare_operator(argument: &[u8]) -> Result<CompareOperator> {
    Ok(match argument {
        b"<" => CompareOperator::Less,
        b"<=" => CompareOperator::LessOrEqual,
        b">" => CompareOperator::Greater,
        b">=" => CompareOperator::GreaterOrEqual,
        b"!=" => CompareOperator::NotEqual,
        b"=" => CompareOperator::Equal,
        _ => return Err(wrong("Invalid compare operator")),
    })
}

/// `'type:value'`.
pub(super) fn comparator(argument: &[u8]) -> Result<Comparator> {
    let argument = unquote(argument)?;
    let Some(colon) = argument.iter().position(|byte| *byte == b':') else {
        return Err(wrong("Incorrect comparator"));
    };
    let (kind, value) = (&argument[..colon], &argument[colon + 1..]);
    let text = String::from_utf8_lossy(value);
    Ok(match kind {
        b"binary" => Comparator::binary(value),
        b"binaryprefix" => Comparator::binary_prefix(value),
        b"regexstring" => Comparator::regex(&text)?,
        b"regexstringnocase" => {
            let flags = RegexFlags(RegexFlags::CASE_INSENSITIVE.0 | RegexFlags::DOTALL.0);
            Comparator::Regex(RegexString::new(&text, flags, RegexEngine::Java)?)
        }
        b"substring" => Comparator::substring(&text),
        _ => return Err(wrong("Incorrect comparatorType")),
    })
}

/// An operator and a comparator that fit together.
pub(super) fn operator_and_comparator(
    operator: &[u8],
    argument: &[u8],
) -> Result<(CompareOperator, Comparator)> {
    let operator = compare_operator(operator)?;
    let comparator = comparator(argument)?;
    let knows_order = !matches!(comparator, Comparator::Regex(_) | Comparator::Substring { .. });
    if !knows_order && !matches!(operator, CompareOperator::Equal | CompareOperator::NotEqual) {
        return Err(wrong(
            "A regexstring comparator and substring comparator can only be used with EQUAL and \
             NOT_EQUAL",
        ));
    }
    Ok((operator, comparator))
}

pub(super) fn comparison(arguments: Arguments<'_>) -> Result<(CompareOperator, Comparator)> {
    expect_count(arguments, &[2])?;
    operator_and_comparator(&arguments[0], &arguments[1])
}
