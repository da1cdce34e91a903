//! A small Thrift client: values of any type, the binary protocol, and a notation for both.
//!
//! ```text
//! "text" \xHH escapes    5 i32    5l i64    5b byte    5s i16    2.5 double    true
//! {1:"a" 2:5}  struct    ["a" "b"]  list    ("a":5)  map
//! ```
//!
//! It shares no code with the gateways.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Byte(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    Double(f64),
    Bytes(Vec<u8>),
    Struct(Vec<(i16, Value)>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Bool(_) => 2,
            Self::Byte(_) => 3,
            Self::Double(_) => 4,
            Self::I16(_) => 6,
            Self::I32(_) => 8,
            Self::I64(_) => 10,
            Self::Bytes(_) => 11,
            Self::Struct(_) => 12,
            Self::Map(_) => 13,
            Self::List(_) => 15,
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let size = |size: usize| u32::try_from(size).expect("a small value").to_be_bytes();
        let kind = |first: Option<&Value>| first.map_or(11, Value::kind);
        match self {
            Self::Bool(value) => out.push(u8::from(*value)),
            Self::Byte(value) => out.extend(value.to_be_bytes()),
            Self::I16(value) => out.extend(value.to_be_bytes()),
            Self::I32(value) => out.extend(value.to_be_bytes()),
            Self::I64(value) => out.extend(value.to_be_bytes()),
            Self::Double(value) => out.extend(value.to_be_bytes()),
            Self::Bytes(value) => {
                out.extend(size(value.len()));
                out.extend(value);
            }
            Self::Struct(fields) => {
                for (id, value) in fields {
                    out.push(value.kind());
                    out.extend(id.to_be_bytes());
                    value.write(out);
                }
                out.push(0);
            }
            Self::List(values) => {
                out.push(kind(values.first()));
                out.extend(size(values.len()));
                values.iter().for_each(|value| value.write(out));
            }
            Self::Map(pairs) => {
                out.push(kind(pairs.first().map(|(key, _)| key)));
                out.push(kind(pairs.first().map(|(_, value)| value)));
                out.extend(size(pairs.len()));
                for (key, value) in pairs {
                    key.write(out);
                    value.write(out);
                }
            }
        }
    }

    pub(crate) fn read(kind: u8, from: &mut impl Read) -> io::Result<Self> {
        Ok(match kind {
            2 => Self::Bool(array::<1>(from)? == [1]),
            3 => Self::Byte(i8::from_be_bytes(array(from)?)),
            4 => Self::Double(f64::from_be_bytes(array(from)?)),
            6 => Self::I16(i16::from_be_bytes(array(from)?)),
            8 => Self::I32(i32::from_be_bytes(array(from)?)),
            10 => Self::I64(i64::from_be_bytes(array(from)?)),
            11 => Self::Bytes(bytes(from)?),
            12 => {
                let mut fields = Vec::new();
                loop {
                    let [kind] = array(from)?;
                    if kind == 0 {
                        break;
                    }
                    let id = i16::from_be_bytes(array(from)?);
                    fields.push((id, Self::read(kind, from)?));
                }
                Self::Struct(fields)
            }
            13 => {
                let [key, value] = array(from)?;
                let pair = |from: &mut _| Ok((Self::read(key, from)?, Self::read(value, from)?));
                Self::Map((0..length(from)?).map(|_| pair(from)).collect::<io::Result<_>>()?)
            }
            14 | 15 => {
                let [kind] = array(from)?;
                let values = (0..length(from)?).map(|_| Self::read(kind, from));
                Self::List(values.collect::<io::Result<_>>()?)
            }
            kind => return Err(io::Error::other(format!("type {kind}"))),
        })
    }
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut array = [0; N];
    from.read_exact(&mut array)?;
    Ok(array)
}

fn length(from: &mut impl Read) -> io::Result<usize> {
    Ok(u32::from_be_bytes(array(from)?) as usize)
}

fn bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length(from)?];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separated = |f: &mut fmt::Formatter<'_>, index| match index {
            0 => Ok(()),
            _ => f.write_str(" "),
        };
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Byte(value) => write!(f, "{value}b"),
            Self::I16(value) => write!(f, "{value}s"),
            Self::I32(value) => write!(f, "{value}"),
            Self::I64(value) => write!(f, "{value}l"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::Bytes(value) => write!(f, "\"{}\"", escaped(value)),
            Self::Struct(fields) => {
                f.write_str("{")?;
                for (index, (id, value)) in fields.iter().enumerate() {
                    separated(f, index)?;
                    write!(f, "{id}:{value}")?;
                }
                f.write_str("}")
            }
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    separated(f, index)?;
                    write!(f, "{value}")?;
                }
                f.write_str("]")
            }
            Self::Map(pairs) => {
                let mut pairs: Vec<String> =
                    pairs.iter().map(|(key, value)| format!("{key}:{value}")).collect();
                pairs.sort();
                write!(f, "({})", pairs.join(" "))
            }
        }
    }
}

/// Reads the notation.
pub(crate) struct Notation<'t> {
    rest: &'t str,
}

impl<'t> Notation<'t> {
    pub(crate) fn new(rest: &'t str) -> Self {
        Self { rest }
    }

    /// Fields until the end: `1:"t" 2:5`.
    pub(crate) fn fields(&mut self) -> Value {
        let mut fields = Vec::new();
        while !self.skip_spaces().is_empty() && !self.rest.starts_with('}') {
            let (id, rest) = self.rest.split_once(':').expect("a field has a number");
            self.rest = rest;
            fields.push((id.parse().expect("the number of a field"), self.value()));
        }
        Value::Struct(fields)
    }

    fn skip_spaces(&mut self) -> &str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    fn take(&mut self, character: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(character);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Value {
        if self.take('{') {
            let value = self.fields();
            assert!(self.take('}'), "a struct ends with }} before {}", self.rest);
            return value;
        }
        if self.take('[') {
            let mut values = Vec::new();
            while !self.take(']') {
                values.push(self.value());
            }
            return Value::List(values);
        }
        if self.take('(') {
            let mut pairs = Vec::new();
            while !self.take(')') {
                let key = self.value();
                assert!(self.take(':'), "a pair has a colon");
                pairs.push((key, self.value()));
            }
            return Value::Map(pairs);
        }
        if self.take('"') {
            return Value::Bytes(self.quoted());
        }
        let end = self.rest.find([' ', ']', ')', '}', ':']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        scalar(word)
    }

    fn quoted(&mut self) -> Vec<u8> {
        let mut value = Vec::new();
        let mut bytes = self.rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => {
                    self.rest = &self.rest[at + 1..];
                    return value;
                }
                b'\\' => match bytes.next().expect("an escape").1 {
                    b'x' => {
                        let digits = &self.rest[at + 2..at + 4];
                        value.push(u8::from_str_radix(digits, 16).expect("two digits"));
                        bytes.nth(1);
                    }
                    other => value.push(other),
                },
                byte => value.push(byte),
            }
        }
        panic!("a text ends with a quote: {}", self.rest)
    }
}

fn scalar(word: &str) -> Value {
    let number = |suffix| word.strip_suffix(suffix);
    if let "true" | "false" = word {
        Value::Bool(word == "true")
    } else if let Some(number) = number('l') {
        Value::I64(number.parse().expect("an i64"))
    } else if let Some(number) = number('b') {
        Value::Byte(number.parse().expect("a byte"))
    } else if let Some(number) = number('s') {
        Value::I16(number.parse().expect("an i16"))
    } else if word.contains('.') {
        Value::Double(word.parse().expect("a double"))
    } else {
        Value::I32(word.parse().unwrap_or_else(|_| panic!("a value: {word:?}")))
    }
}

/// A call in the binary protocol, without a frame.
pub(crate) fn call(method: &str, arguments: &Value) -> Vec<u8> {
    let mut message = vec![0x80, 1, 0, 1];
    Value::text(method).write(&mut message);
    message.extend(7u32.to_be_bytes());
    arguments.write(&mut message);
    message
}

/// Type of the message (2 an answer, 3 an exception of Thrift) and the struct in it.
pub(crate) fn answer(from: &mut impl Read) -> io::Result<(u8, Value)> {
    let [_, _, _, kind] = array(from)?;
    bytes(from)?;
    assert_eq!(array(from)?, 7u32.to_be_bytes(), "the sequence number");
    Ok((kind, Value::read(12, from)?))
}

/// Calls a method and returns its answer.
pub(crate) fn ask(
    stream: &mut TcpStream,
    method: &str,
    arguments: &Value,
) -> io::Result<(u8, Value)> {
    stream.write_all(&call(method, arguments))?;
    answer(stream)
}

/// As in the notation.
fn escaped(value: &[u8]) -> String {
    value.escape_ascii().to_string().replace("\\'", "'")
}
