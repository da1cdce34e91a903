//! How aggregates read the values of cells (`ColumnInterpreter`): as 8 bytes of a whole number or
//! of a floating one. Cells of other widths count as having no value.

use bytes::Bytes;
use hblite_wire::{RemoteException, pb};
use prost::Message as _;

const PACKAGE: &str = "org.apache.hadoop.hbase.client.coprocessor.";

/// What a client says its column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpreter {
    Long,
    Double,
}

/// A value of a cell, or what became of several.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Number {
    Long(i64),
    Double(f64),
}

impl Interpreter {
    /// The interpreter of this Java class.
    ///
    /// # Errors
    /// As HBase if it cannot load the class.
    pub(super) fn of_class(class: &str) -> Result<Self, RemoteException> {
        match class.strip_prefix(PACKAGE) {
            Some("LongColumnInterpreter") => Ok(Self::Long),
            Some("DoubleColumnInterpreter") => Ok(Self::Double),
            _ => Err(RemoteException::do_not_retry(format!(
                "java.lang.ClassNotFoundException: {class}"
            ))),
        }
    }

    pub(super) fn value(self, bytes: &[u8]) -> Option<Number> {
        let bytes: [u8; 8] = bytes.try_into().ok()?;
        Some(match self {
            Self::Long => Number::Long(i64::from_be_bytes(bytes)),
            Self::Double => Number::Double(f64::from_be_bytes(bytes)),
        })
    }
}

impl Number {
    /// The sum; whole numbers wrap, as Java's.
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Long(one), Self::Long(two)) => Self::Long(one.wrapping_add(two)),
            (Self::Double(one), Self::Double(two)) => Self::Double(one + two),
            // An interpreter gives numbers of one kind.
            _ => self,
        }
    }

    pub(super) fn squared(self) -> Self {
        match self {
            Self::Long(number) => Self::Long(number.wrapping_mul(number)),
            Self::Double(number) => Self::Double(number * number),
        }
    }

    /// The number as the message that the client's interpreter reads.
    pub(super) fn encoded(self) -> Bytes {
        match self {
            Self::Long(long_msg) => pb::LongMsg { long_msg }.encode_to_vec().into(),
            Self::Double(double_msg) => pb::DoubleMsg { double_msg }.encode_to_vec().into(),
        }
    }
}

/// The sum of what is there.
pub(super) fn sum(one: Option<Number>, other: Option<Number>) -> Option<Number> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.plus(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_eight_bytes_wide() {
        assert_eq!(Interpreter::Long.value(&7_i64.to_be_bytes()), Some(Number::Long(7)));
        let half = Interpreter::Double.value(&0.5_f64.to_be_bytes());
        assert_eq!(half, Some(Number::Double(0.5)));
        assert_eq!(Interpreter::Long.value(b"7"), None);
        assert_eq!(Number::Long(i64::MAX).plus(Number::Long(1)), Number::Long(i64::MIN));
        let sum = sum(None, Some(Number::Long(2))).map(Number::squared);
        assert_eq!(sum, Some(Number::Long(4)));
    }

    #[test]
    fn classes_of_ones_own_are_refused_by_name() {
        assert!(Interpreter::of_class(&format!("{PACKAGE}LongColumnInterpreter")).is_ok());
        let error = Interpreter::of_class("mine.Interpreter").expect_err("it is not there");
        assert!(error.message.contains("ClassNotFoundException: mine.Interpreter"));
    }
}
