//! Keys as `create` and `locate_region` take them: a Ruby string through `Bytes.toBytesBinary`.
//!
//! Two steps, both lossy, and both HBase's:
//!
//! 1. JRuby passes the string to Java as UTF-16. Bytes that are not UTF-8 become U+FFFD.
//! 2. `toBytesBinary` reads `\xHH` as a byte and keeps the low eight bits of any other unit.
//!
//! So `"\x8B"` is the byte `FD`, while `'\x8B'`, which Ruby leaves as four characters, is the byte
//! `8B`. Other commands take the string's own bytes and need neither step.

use super::Failure;
use crate::value::Value;

const REPLACEMENT: u16 = 0xFFFD;

/// The key of a command's argument.
///
/// # Errors
/// Refused, in the words of HBase's shell: a value that is not a string, and a string that ends
/// with `\x`.
pub(super) fn key_of(value: &Value) -> Result<Vec<u8>, Failure> {
    match value {
        Value::String(_) | Value::Symbol(_) => key_from_text(&value.to_bytes()),
        _ => {
            let class = value.class_name();
            let message = format!("could not coerce {class} to class java.lang.String");
            Err(Failure::refused(message))
        }
    }
}

/// The key of the bytes of a Ruby string.
///
/// # Errors
/// Refused: fewer than two characters follow `\x`.
pub(super) fn key_from_text(text: &[u8]) -> Result<Vec<u8>, Failure> {
    let units = java_string(text);
    let mut key = Vec::with_capacity(units.len());
    let mut at = 0;
    while let Some(&unit) = units.get(at) {
        at += 1;
        if unit != u16::from(b'\\') || units.get(at) != Some(&u16::from(b'x')) {
            key.push(unit as u8);
            continue;
        }
        let digit = |offset: usize| {
            let index = at + offset;
            let found = units.get(index).map(|unit| digit(*unit));
            let message = || Failure::refused(format!("String index out of range: {index}"));
            found.ok_or_else(message)
        };
        // Of a wrong escape only the backslash is dropped.
        if let (Some(high), Some(low)) = (digit(1)?, digit(2)?) {
            key.push(high << 4 | low);
            at += 3;
        }
    }
    Ok(key)
}

/// A hexadecimal digit; HBase writes and reads upper case only.
fn digit(unit: u16) -> Option<u8> {
    let digit = u8::try_from(unit).ok()?;
    let is_digit = digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    char::from(digit).to_digit(16).filter(|_| is_digit).map(|value| value as u8)
}

/// The UTF-16 units that Java's decoder makes of UTF-8: one U+FFFD for each malformed part.
fn java_string(mut bytes: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(bytes.len());
    while let Some(chunk) = bytes.utf8_chunks().next() {
        units.extend(chunk.valid().encode_utf16());
        bytes = &bytes[chunk.valid().len() + chunk.invalid().len()..];
        if chunk.invalid().is_empty() {
            continue;
        }
        units.push(REPLACEMENT);
        // Java replaces an encoded surrogate as a whole, not byte by byte.
        if chunk.invalid() == [0xED] {
            let rest = bytes.iter().take(2).take_while(|byte| (0x80..0xC0).contains(*byte)).count();
            bytes = &bytes[rest..];
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &[u8]) -> Result<Vec<u8>, String> {
        key_from_text(text).map_err(|failure| match failure {
            Failure::Refused(message) => message,
            other => panic!("{other:?}"),
        })
    }

    /// What JRuby 9.2.13 and HBase 2.6.1 answered to the same bytes.
    #[test]
    fn bytes_that_are_not_utf8_are_lost() {
        for (text, expected) in [
            (&b"\x8B\xCF"[..], &b"\xFD\xFD"[..]),
            (br"\x8B\xCF", b"\x8B\xCF"),
            (b"\xC3\xA9", b"\xE9"),
            (b"\xE2\x82\xAC", b"\xAC"),
            (b"\xE2\x82a", b"\xFDa"),
            (b"\xF0\x9F\x98\x80", b"\x3D\x00"),
            (b"\xF0\x9F\x98", b"\xFD"),
            (b"\xED\xA0\x80z", b"\xFDz"),
            (b"\xED\xA0", b"\xFD"),
            (b"\xED\xBF\xBF\xED\xA0\x80", b"\xFD\xFD"),
            (b"\xE0\x80\x80z", b"\xFD\xFD\xFDz"),
            (b"\xF4\x90\x80\x80", b"\xFD\xFD\xFD\xFD"),
            (b"\xE1\x80\xE1\x80\x80", b"\xFD\x00"),
            (br"\xab\xCd\xAB", b"xabxCd\xAB"),
            (br"a\xZZb\y", br"axZZb\y"),
            (br"a\", br"a\"),
        ] {
            assert_eq!(key(text).as_deref(), Ok(expected), "{}", text.escape_ascii());
        }
        assert_eq!(key(br"a\x4").unwrap_err(), "String index out of range: 4");
        assert_eq!(key(br"\x").unwrap_err(), "String index out of range: 2");
    }

    #[test]
    fn only_strings_are_keys() {
        let refused = key_of(&Value::Integer(10)).unwrap_err();
        let expected = "could not coerce Integer to class java.lang.String";
        assert!(matches!(refused, Failure::Refused(message) if message == expected));
    }
}
