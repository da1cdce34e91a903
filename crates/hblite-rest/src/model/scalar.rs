//! Scalars in JSON as Jackson reads them for HBase: a text may stand for a number or a truth value,
//! a number for a text, and a fraction for a whole number, which it becomes by truncation.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// A value that may be written as another type of scalar; `None` for null, a missing field, or, of
/// other types than text, the text `""` or `"null"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scalar<T>(pub(super) Option<T>);

impl<T> Default for Scalar<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// What a scalar can be read as. `None` if it does not represent such a value.
pub(super) trait FromScalar: Sized {
    fn from_bool(value: bool) -> Option<Self>;
    fn from_int(value: i64) -> Option<Self>;
    fn from_float(value: f64) -> Option<Self>;
    /// The outer `None` for a text that is no such value.
    fn from_text(text: &str) -> Option<Option<Self>>;
}

/// As `from_text`, of a text that is not empty.
fn parse<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match text.trim() {
        "" | "null" => Some(None),
        text => parse(text).map(Some),
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl FromScalar for $type {
            fn from_bool(_: bool) -> Option<Self> {
                None
            }

            fn from_int(value: i64) -> Option<Self> {
                value.try_into().ok()
            }

            fn from_float(value: f64) -> Option<Self> {
                let range = <$type>::MIN as f64..=<$type>::MAX as f64;
                range.contains(&value).then_some(value as $type)
            }

            fn from_text(text: &str) -> Option<Option<Self>> {
                parse(text, |text| text.parse().ok())
            }
        }
    )*};
}

whole_numbers!(i32 i64);

impl FromScalar for f32 {
    fn from_bool(_: bool) -> Option<Self> {
        None
    }

    fn from_int(value: i64) -> Option<Self> {
        Some(value as f32)
    }

    fn from_float(value: f64) -> Option<Self> {
        Some(value as f32)
    }

    fn from_text(text: &str) -> Option<Option<Self>> {
        parse(text, |text| text.parse().ok())
    }
}

impl FromScalar for bool {
    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }

    fn from_int(value: i64) -> Option<Self> {
        Some(value != 0)
    }

    fn from_float(_: f64) -> Option<Self> {
        None
    }

    fn from_text(text: &str) -> Option<Option<Self>> {
        parse(text, |text| match text {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        })
    }
}

impl FromScalar for String {
    fn from_bool(value: bool) -> Option<Self> {
        Some(value.to_string())
    }

    fn from_int(value: i64) -> Option<Self> {
        Some(value.to_string())
    }

    fn from_float(value: f64) -> Option<Self> {
        Some(value.to_string())
    }

    fn from_text(text: &str) -> Option<Option<Self>> {
        Some(Some(text.to_owned()))
    }
}

impl<'de, T: FromScalar> Deserialize<'de> for Scalar<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor(PhantomData)).map(Self)
    }
}

/// A field of a type that null leaves at zero or false.
pub(super) fn or_zero<'de, D: Deserializer<'de>, T: FromScalar + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Scalar::deserialize(deserializer).map(|scalar| scalar.0.unwrap_or_default())
}

struct ScalarVisitor<T>(PhantomData<T>);

impl<T: FromScalar> ScalarVisitor<T> {
    fn needed<E: Error>(value: Option<T>, given: impl fmt::Display) -> Result<Option<T>, E> {
        let problem = || E::custom(format!("{given} is not the kind of value needed here"));
        value.map(Some).ok_or_else(problem)
    }
}

impl<T: FromScalar> Visitor<'_> for ScalarVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true or false")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Self::needed(T::from_bool(value), value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Self::needed(T::from_int(value), value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Self::needed(i64::try_from(value).ok().and_then(T::from_int), value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Self::needed(T::from_float(value), value)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let problem = || E::custom(format!("{text:?} is not the kind of value needed here"));
        T::from_text(text).ok_or_else(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FromScalar>(json: &str) -> Option<Option<T>> {
        serde_json::from_str::<Scalar<T>>(json).ok().map(|scalar| scalar.0)
    }

    #[test]
    fn scalars_become_the_type_that_is_needed() {
        for (json, expected) in [
            ("7", Some(Some(7))),
            ("\" 7 \"", Some(Some(7))),
            ("7.9", Some(Some(7))),
            ("-7.9", Some(Some(-7))),
            ("null", Some(None)),
            ("\"\"", Some(None)),
            ("\"null\"", Some(None)),
            ("\"7.5\"", None),
            ("\"x\"", None),
            ("true", None),
            ("[7]", None),
            ("{}", None),
            ("3000000000", None),
            ("3e9", None),
        ] {
            assert_eq!(read::<i32>(json), expected, "{json}");
        }
        assert_eq!(read::<i64>("3000000000"), Some(Some(3_000_000_000)));
        assert_eq!(read::<i64>("9223372036854775808"), None);
        assert_eq!(read::<i64>("1e30"), None);
        for (json, expected) in [
            ("true", Some(Some(true))),
            ("\"False\"", Some(Some(false))),
            ("0", Some(Some(false))),
            ("2", Some(Some(true))),
            ("0.5", None),
            ("\"yes\"", None),
        ] {
            assert_eq!(read::<bool>(json), expected, "{json}");
        }
        assert_eq!(read::<f32>("\"0.5\""), Some(Some(0.5)));
        assert_eq!(read::<f32>("1"), Some(Some(1.0)));
        for (json, text) in [("5", "5"), ("7.5", "7.5"), ("true", "true"), ("\"\"", "")] {
            assert_eq!(read::<String>(json), Some(Some(text.to_owned())), "{json}");
        }
    }
}
