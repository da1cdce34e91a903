//! Values of the shell's language, and how Ruby prints them.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use hblite::bytes::to_string_binary;
use hblite::{RegionInfo, RegionLocation, TableName};
use serde_json::Value as Json;

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(f64),
    /// Strings are bytes.
    String(Vec<u8>),
    Symbol(String),
    Array(Vec<Value>),
    Hash(Hash),
    /// What `get_table` and `create` return.
    Table(TableName),
    /// What `locate_region` returns.
    Location(Box<RegionLocation>),
    Region(Box<RegionInfo>),
    /// `first..last`, or with `true` `first...last`, which ends before `last`.
    Range(Box<(Value, Value)>, bool),
    /// A regular expression.
    Pattern(Vec<u8>),
    /// A class, by its name.
    Module(String),
    /// A filter, comparator or operator: its class, and its text in the filter language.
    Java(String, Vec<u8>),
    /// Milliseconds since 1970.
    Time(i64),
    /// An error that was caught: its class and message.
    Exception(String, String),
}

/// A hash: pairs in the order in which they were first named.
///
/// Keys are compared by their text, so `NAME`, `'NAME'` and `:NAME` are one key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hash(Box<Pairs>);

#[derive(Debug, Clone, Default)]
struct Pairs {
    /// Numbers of the pairs by the text of their key.
    numbers: HashMap<Vec<u8>, u64>,
    by_number: BTreeMap<u64, (Value, Value)>,
    next: u64,
}

impl Hash {
    pub(crate) fn insert(&mut self, key: Value, value: Value) {
        let Pairs { numbers, by_number, next } = &mut *self.0;
        let number = *numbers.entry(key.to_bytes()).or_insert(*next);
        match by_number.get_mut(&number) {
            Some((_, old)) => *old = value,
            None => {
                by_number.insert(number, (key, value));
                *next += 1;
            }
        }
    }

    pub(crate) fn get_value(&self, key: &Value) -> Option<&Value> {
        self.get_bytes(&key.to_bytes())
    }

    pub(crate) fn get_mut(&mut self, key: &Value) -> Option<&mut Value> {
        let number = self.0.numbers.get(&key.to_bytes())?;
        self.0.by_number.get_mut(number).map(|(_, value)| value)
    }

    pub(crate) fn remove_value(&mut self, key: &Value) -> Option<Value> {
        self.remove_bytes(&key.to_bytes())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.get_bytes(key.as_bytes())
    }

    fn get_bytes(&self, key: &[u8]) -> Option<&Value> {
        self.0.by_number.get(self.0.numbers.get(key)?).map(|(_, value)| value)
    }

    fn remove_bytes(&mut self, key: &[u8]) -> Option<Value> {
        let number = self.0.numbers.remove(key)?;
        self.0.by_number.remove(&number).map(|(_, value)| value)
    }

    /// The value of a key unless it is `nil` or `false`, as Ruby's `if args[KEY]` asks.
    pub(crate) fn truthy(&self, key: &str) -> Option<&Value> {
        self.get(key).filter(|value| value.is_truthy())
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Value> {
        self.remove_bytes(key.as_bytes())
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.by_number.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.0.by_number.values().map(|(key, value)| (key, value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.as_bytes().to_vec())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into_bytes())
    }
}

impl Value {
    pub(crate) fn is_truthy(&self) -> bool {
        !matches!(self, Self::Nil | Self::Bool(false))
    }

    /// The bytes of Ruby's `to_s`.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Nil => Vec::new(),
            Self::String(bytes) => bytes.clone(),
            Self::Symbol(name) => name.clone().into_bytes(),
            Self::Region(region) => region.to_string().into_bytes(),
            Self::Java(_, text) => text.clone(),
            Self::Module(name) => name.clone().into_bytes(),
            Self::Exception(_, message) => message.clone().into_bytes(),
            Self::Range(ends, is_open) => {
                let dots = if *is_open { "..." } else { ".." };
                [ends.0.to_bytes(), dots.into(), ends.1.to_bytes()].concat()
            }
            other => other.inspect().into_bytes(),
        }
    }

    /// [`Value::to_bytes`] for people.
    pub(crate) fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }

    /// The value in JSON. What JSON has no form for is the text that the shell prints.
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Nil => Json::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(number) => (*number).into(),
            Self::Float(number) if number.is_finite() => (*number).into(),
            Self::String(bytes) => to_string_binary(bytes).into(),
            Self::Array(items) => items.iter().map(Self::to_json).collect(),
            Self::Hash(hash) => hash
                .iter()
                .map(|(key, value)| (to_string_binary(&key.to_bytes()), value.to_json()))
                .collect(),
            Self::Symbol(name) => name.as_str().into(),
            Self::Table(name) => name.to_string().into(),
            other => other.inspect().into(),
        }
    }

    /// The text of a string or symbol.
    pub(crate) fn as_name(&self) -> Option<String> {
        match self {
            Self::String(_) | Self::Symbol(_) => Some(self.to_text()),
            Self::Table(name) => Some(name.to_string()),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Ruby's name for the kind of value.
    pub(crate) fn class_name(&self) -> &'static str {
        match self {
            Self::Nil => "NilClass",
            Self::Bool(true) => "TrueClass",
            Self::Bool(false) => "FalseClass",
            Self::Integer(_) => "Integer",
            Self::Float(_) => "Float",
            Self::String(_) => "String",
            Self::Symbol(_) => "Symbol",
            Self::Array(_) => "Array",
            Self::Hash(_) => "Hash",
            Self::Table(_) => "Hbase::Table",
            Self::Location(_) => "Java::OrgApacheHadoopHbase::HRegionLocation",
            Self::Region(_) => "Java::OrgApacheHadoopHbaseClient::RegionInfo",
            Self::Range(..) => "Range",
            Self::Pattern(_) => "Regexp",
            Self::Module(_) => "Class",
            Self::Java(..) => "Java::JavaObject",
            Self::Time(_) => "Time",
            Self::Exception(..) => "Exception",
        }
    }

    /// The value as the console prints results.
    pub(crate) fn inspect(&self) -> String {
        match self {
            Self::Nil => "nil".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => format!("{value:?}"),
            Self::String(bytes) => inspect_string(bytes),
            Self::Symbol(name) => format!(":{name}"),
            Self::Array(items) => {
                let items: Vec<_> = items.iter().map(Self::inspect).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Hash(hash) => {
                let pairs: Vec<_> = hash
                    .iter()
                    .map(|(key, value)| format!("{}=>{}", key.inspect(), value.inspect()))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Self::Table(name) => format!("Hbase::Table - {name}"),
            Self::Location(location) => object(self.class_name(), &location.region),
            Self::Region(region) => object(self.class_name(), region),
            Self::Range(ends, is_open) => {
                let dots = if *is_open { "..." } else { ".." };
                format!("{}{dots}{}", ends.0.inspect(), ends.1.inspect())
            }
            Self::Pattern(pattern) => format!("/{}/", String::from_utf8_lossy(pattern)),
            Self::Module(name) => name.clone(),
            Self::Java(_, text) => format!("#<{}>", String::from_utf8_lossy(text)),
            Self::Time(millis) => crate::format::ruby_time(*millis, 0),
            Self::Exception(class, message) => format!("#<{class}: {message}>"),
        }
    }
}

/// A Java object: its class and a number that tells objects apart.
fn object(class: &str, region: &RegionInfo) -> String {
    let id = region.encoded_name();
    format!("#<{class}:0x{}>", id.get(..8).unwrap_or(id))
}

/// A string between double quotes, with Ruby's escapes.
fn inspect_string(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for chunk in bytes.utf8_chunks() {
        let mut characters = chunk.valid().chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                // Between double quotes these begin an interpolation.
                '#' if matches!(characters.peek(), Some('{' | '$' | '@')) => text.push_str("\\#"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\x1b' => text.push_str("\\e"),
                c if c.is_control() => {
                    let _ = write!(text, "\\u{:04X}", c as u32);
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_ruby() {
        let mut hash = Hash::default();
        hash.insert(Value::from("NAME"), Value::Integer(1));
        hash.insert(Value::Symbol("NAME".into()), Value::Float(2.0));
        hash.insert(Value::from("b"), Value::Nil);
        assert_eq!(Value::Hash(hash).inspect(), r#"{"NAME"=>2.0, "b"=>nil}"#);
        let split = Value::from("@\\x00\"\n");
        assert_eq!(Value::Array(vec![split]).inspect(), r#"["@\\x00\"\n"]"#);
        assert_eq!(Value::from("#{#a#").inspect(), r##""\#{#a#""##);
        assert_eq!(Value::String(b"\xff\x01a".to_vec()).inspect(), r#""\xFF\u0001a""#);
    }
}
