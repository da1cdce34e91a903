//! Values of columns as text and numbers, in both directions: HBase's `Bytes.toBytes` and back.
//!
//! Numbers are big-endian; an `i64` is what counters hold. The types that can be written can be
//! read, and the reverse.

use crate::bytes::to_string_binary;
use crate::cell::CellRef;
use crate::error::{Error, Result};

/// What can be stored as a value: bytes and text as they are, `i64` and `f64` in 8 bytes, `f32` in
/// 4, `bool` in one.
///
/// Other integers are converted by the caller, so that a literal never decides how many bytes a
/// column has: `i64::from(n)`, or `n.to_be_bytes()` for a width of its own.
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

big_endian_value! { i64 f64 f32 }

/// The byte of HBase's `Bytes.toBytes(true)`.
const TRUE: u8 = 0xff;

impl IntoValue for bool {
    type Bytes = [u8; 1];

    fn into_value(self) -> [u8; 1] {
        [if self { TRUE } else { 0 }]
    }
}

/// What a value can be read as: the types of [`IntoValue`].
///
/// Integers of another width than `i64` are read as an array:
///
/// ```
/// # use hblite_model as hblite;
/// # let mut cells = hblite::CellBuffer::new();
/// # cells.push_parts(b"u1", b"info", b"age", 1, 4, &36_i32.to_be_bytes());
/// # let row = hblite::RowResult::new(cells);
/// let age = row.value_as::<[u8; 4]>("info", "age")?.map(i32::from_be_bytes);
/// assert_eq!(age, Some(36));
/// # Ok::<(), hblite::Error>(())
/// ```
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

impl FromValue for Box<[u8]> {
    const NAME: &'static str = "bytes";

    fn from_value(bytes: &[u8]) -> Option<Self> {
        Some(bytes.into())
    }
}

impl<const N: usize> FromValue for [u8; N] {
    const NAME: &'static str = "an array of that length";

    fn from_value(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

impl FromValue for bool {
    const NAME: &'static str = "bool";

    /// As in HBase, every byte but 0 is true.
    fn from_value(bytes: &[u8]) -> Option<Self> {
        <[u8; 1]>::from_value(bytes).map(|[byte]| byte != 0)
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

from_big_endian! { i64 f64 f32 }

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
            .add("f", "boxed", vec![4_u8].into_boxed_slice())
            .add("f", "float", 0.5)
            .add("f", "no", false)
            .add("f", "number", -7)
            .add("f", "owned", "text".to_owned())
            .add("f", "small", 300_u16.to_be_bytes())
            .add("f", "text", "text")
            .add("f", "thin", 0.25_f32)
            .add("f", "yes", true);
        let row = row(&put);
        assert_eq!(row.value_as::<Box<[u8]>>("f", "boxed").unwrap().as_deref(), Some(&[4][..]));
        assert_eq!(row.value_as::<f32>("f", "thin").unwrap(), Some(0.25));
        assert_eq!(row.value_as::<bool>("f", "yes").unwrap(), Some(true));
        assert_eq!(row.value_as::<bool>("f", "no").unwrap(), Some(false));
        // The byte of HBase's `Bytes.toBytes(true)`.
        assert_eq!(row.value("f", "yes"), Some(&[0xff][..]));
        assert_eq!(row.value_as::<Vec<u8>>("f", "array").unwrap(), Some(vec![1, 2]));
        assert_eq!(row.value("f", "bytes"), Some(&[3][..]));
        assert_eq!(row.value_as::<f64>("f", "float").unwrap(), Some(0.5));
        assert_eq!(row.value_as::<i64>("f", "number").unwrap(), Some(-7));
        let small = row.value_as::<[u8; 2]>("f", "small").unwrap();
        assert_eq!(small.map(u16::from_be_bytes), Some(300));
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
        let error = row.value_as::<[u8; 4]>("f", "q").unwrap_err();
        assert_eq!(error.message(), expected.replace("i64", "an array of that length"));
        assert!(row.value_as::<bool>("f", "q").is_err());
        let error = row.text("f", "q").unwrap_err();
        assert_eq!(error.message(), expected.replace("i64", "UTF-8 text"));
        assert_eq!(error.kind(), crate::ErrorKind::InvalidArgument);
    }
}
