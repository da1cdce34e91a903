//! Values of columns as text and numbers, in both directions: HBase's `Bytes.toBytes` and back.
//!
//! Numbers are big-endian and have the width of their type; an `i64` is what counters hold.

use crate::bytes::to_string_binary;
use crate::cell::CellRef;
use crate::error::{Error, Result};

/// What can be stored as a value: bytes and text as they are, `i64` and `f64` in 8 bytes.
///
/// Other integers are converted by the caller (`i64::from(n)`, or `n.to_be_bytes()` for a width of
/// its own), so that a literal never decides how many bytes a column has.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::{IntoValue, Put};
/// let put = Put::new("u1").add("info", "name", "Ada").add("info", "visits", 7);
/// assert_eq!(7_i64.into_value(), [0, 0, 0, 0, 0, 0, 0, 7]);
/// # let _ = put;
/// ```
pub trait IntoValue {
    /// The value's bytes.
    type Bytes: AsRef<[u8]>;

    /// The value.
    fn into_value(self) -> Self::Bytes;
}

impl<'a, T: AsRef<[u8]> + ?Sized> IntoValue for &'a T {
    type Bytes = &'a [u8];

    #[inline]
    fn into_value(self) -> &'a [u8] {
        self.as_ref()
    }
}

macro_rules! bytes_as_they_are {
    ($($type:ty)*) => { $(
        impl IntoValue for $type {
            type Bytes = Self;

            fn into_value(self) -> Self {
                self
            }
        }
    )* };
}

bytes_as_they_are! { String Vec<u8> Box<[u8]> std::borrow::Cow<'_, [u8]> }

impl<const N: usize> IntoValue for [u8; N] {
    type Bytes = Self;

    fn into_value(self) -> Self {
        self
    }
}

macro_rules! big_endian_value {
    ($($type:ty)*) => { $(
        impl IntoValue for $type {
            type Bytes = [u8; size_of::<$type>()];

            fn into_value(self) -> Self::Bytes {
                self.to_be_bytes()
            }
        }
    )* };
}

big_endian_value! { i64 f64 }

/// What a value can be read as.
pub trait FromValue: Sized {
    /// The name of the type in errors.
    const NAME: &'static str;

    /// The bytes as this type; `None` if they are not a value of it.
    fn from_value(bytes: &[u8]) -> Option<Self>;
}

impl FromValue for Vec<u8> {
    const NAME: &'static str = "bytes";

    fn from_value(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

impl FromValue for String {
    const NAME: &'static str = "UTF-8 text";

    fn from_value(bytes: &[u8]) -> Option<Self> {
        Self::from_utf8(bytes.to_vec()).ok()
    }
}

macro_rules! from_big_endian {
    ($($type:ty)*) => { $(
        impl FromValue for $type {
            const NAME: &'static str = stringify!($type);

            fn from_value(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_be_bytes)
            }
        }
    )* };
}

from_big_endian! { i8 u8 i16 u16 i32 u32 i64 u64 f32 f64 }

/// The value of a cell as this type.
pub(super) fn typed<T: FromValue>(cell: &CellRef<'_>) -> Result<T> {
    T::from_value(cell.value()).ok_or_else(|| unreadable(cell, T::NAME))
}

/// The error for a cell whose value is not of the requested type.
pub(super) fn unreadable(cell: &CellRef<'_>, name: &str) -> Error {
    Error::illegal_argument(format!(
        "the value of {}:{} in row {} is not {name}: it has {} bytes",
        to_string_binary(cell.family()),
        to_string_binary(cell.qualifier()),
        to_string_binary(cell.row()),
        cell.value().len()
    ))
}

#[cfg(test)]
mod tests {
    use crate::{CellBuffer, Increment, Put, RowResult};

    fn row(put: &Put) -> RowResult {
        let mut cells = CellBuffer::new();
        put.as_mutation().cells().iter().for_each(|cell| cells.push(&cell));
        RowResult::new(cells)
    }

    #[test]
    fn values_come_back_as_what_they_were() {
        let put = Put::new("r")
            .add("f", "array", [1_u8, 2])
            .add("f", "bytes", vec![3_u8])
            .add("f", "float", 0.5)
            .add("f", "number", -7)
            .add("f", "owned", "text".to_owned())
            .add("f", "small", 300_u16.to_be_bytes())
            .add("f", "text", "text");
        let row = row(&put);
        assert_eq!(row.value_as::<Vec<u8>>("f", "array").unwrap(), Some(vec![1, 2]));
        assert_eq!(row.value("f", "bytes"), Some(&[3][..]));
        assert_eq!(row.value_as::<f64>("f", "float").unwrap(), Some(0.5));
        assert_eq!(row.value_as::<i64>("f", "number").unwrap(), Some(-7));
        assert_eq!(row.value_as::<u16>("f", "small").unwrap(), Some(300));
        assert_eq!(row.text("f", "owned").unwrap(), Some("text"));
        assert_eq!(row.value_as::<String>("f", "text").unwrap().as_deref(), Some("text"));
        assert_eq!(row.value_as::<i64>("f", "none").unwrap(), None);
        let counter = Increment::new("r").add("f", "number", -7);
        let amount = counter.as_mutation().cells().get(0).unwrap().value().to_vec();
        assert_eq!(row.value("f", "number"), Some(amount.as_slice()), "counters are i64");
    }

    #[test]
    fn a_value_of_another_type_is_named() {
        let row = row(&Put::new("r").add("f", "q", [0xff_u8, 1, 2]));
        let error = row.value_as::<i64>("f", "q").unwrap_err();
        let expected = "the value of f:q in row r is not i64: it has 3 bytes";
        assert_eq!(error.message(), expected);
        let error = row.text("f", "q").unwrap_err();
        assert_eq!(error.message(), expected.replace("i64", "UTF-8 text"));
        assert_eq!(error.kind(), crate::ErrorKind::InvalidArgument);
    }
}
